"""Worlds' `draw` functions as JavaScript, from the one source in Python.

`draw_module(world)` follows all functions and constants that the function under `@SPEC.draw` uses, across modules, and
writes them as one module of JavaScript. What is plainly a number or a text becomes an operator; all else is left to
the runtime in `static/python.js`, which has Python's semantics. What cannot be translated is refused, with file and
line.
"""

from __future__ import annotations

from rlenvs.core.declare.spec import World
from rlenvs.live.translate.program import Program
from rlenvs.live.translate.scope import TranslationError

__all__ = ["TranslationError", "draw_module"]


def draw_module(world: World, runtime: str = "../static/") -> str:
    """The JavaScript module of a world's image: `export function draw(canvas, p, s)`.

    Args:
        world: the declaration, with a function under `@SPEC.draw`.
        runtime: where `static/` lies, from the module's own place.

    Raises:
        TranslationError: something that cannot be translated, with its file and line.
    """
    text = Program().translate(world.functions["draw"])
    imports = [f'import * as py from "{runtime}python.js";\n'] + (
        [f'import * as np from "{runtime}numpy.js";\n'] if "np." in text else []
    )
    return "".join(imports) + text
