"""Worlds' `draw` functions as JavaScript, from the one source in Python.

`draw_module(world)` follows all functions and constants that the function under `@SPEC.draw` uses, across modules, and
writes them as one module of JavaScript. What is plainly a number or a text becomes an operator; all else is left to
the runtime in `static/python.js`, which has Python's semantics. What cannot be translated is refused, with file and
line.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from rlenvs.core.declare.spec import World
from rlenvs.live.translate.program import Program
from rlenvs.live.translate.scope import TranslationError as TranslationError


def draw_module(world: World, runtime: str = "../static/") -> str:
    """The JavaScript module of a world's image: `export function draw(canvas, p, s)`.

    Args:
        world: the declaration, with a function under `@SPEC.draw`.
        runtime: where `static/` lies, from the module's own place.

    Raises:
        TranslationError: something that cannot be translated, with its file and line.
    """
    return _module(world.functions["draw"], "draw", runtime)


def fault_module(world: World, runtime: str = "../static/") -> str:
    """The JavaScript module that says what is wrong with a state from outside: `export function fault(p, s)`, which
    gives a text, empty where nothing is.

    Args:
        world: the declaration, with a function under `@SPEC.state_fault`.
        runtime: as for `draw_module`.

    Raises:
        TranslationError: something that cannot be translated, with its file and line.
    """
    return _module(world.functions["state_fault"], "fault", runtime)


def places_module(world: World, runtime: str = "../static/") -> str:
    """The JavaScript module that says where in the image choices lie: `export function places(canvas, p, s)`.

    Args:
        world: the declaration, with a function under `@SPEC.places`.
        runtime: as for `draw_module`.

    Raises:
        TranslationError: something that cannot be translated, with its file and line.
    """
    return _module(world.functions["places"], "places", runtime)


@functools.cache  # worlds of a kind share their functions
def _module(function: Callable[..., Any], shown: str, runtime: str) -> str:
    text = Program().translate(function, shown)
    imports = [f'import * as py from "{runtime}python.js";\n'] + (
        [f'import * as np from "{runtime}numpy.js";\n'] if "np." in text else []
    )
    return "".join(imports) + text
