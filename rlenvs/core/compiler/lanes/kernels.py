"""Kernels for several worlds at a time, made from their source.

What a kernel does to one world, its lane form does to WIDTH worlds. Arithmetic needs no change, since it can act on
`rlenvs.core.compiler.lanes.vectors`. Control flow does, where worlds disagree: an `if` over what differs by lane
becomes both branches, each under a mask of the lanes that take it, and what is assigned there is chosen lane by lane. A
loop goes on while there is a lane in it; lanes that have returned, broken off or continued are taken out of the mask.

What is the same for all lanes (parameters, sizes, counters of loops over sizes) is found out first and stays as it is:
a real branch, a real loop, a number. So every function is made anew for each pattern of arguments that differ by lane,
and for use under a mask or without one.

Not possible, and refused with `LaneError`: what has no source, recursion, slices whose lengths differ, nested
functions, `try`, `with`, comprehensions, and writing to what the worlds share.
"""

from __future__ import annotations

import ast
import linecache
from collections.abc import Callable, Iterable, Mapping
from types import FunctionType
from typing import Any, NamedTuple

from rlenvs.core.compiler.lanes import masks, vectors, views
from rlenvs.core.compiler.lanes.statements import Translation
from rlenvs.core.compiler.lanes.trees import LaneError

# what the made functions call, by the names that they have for it
LANGUAGE = {
    "_mask": masks.mask_of,
    "_outside": masks.outside,
    "_some": masks.some,
    "_select": masks.select,
    "_nothing": masks.nothing,
    "_take": views.take,
    "_put": views.put,
    "_slice": views.part,
    "_window": views.window,
    "_float": vectors.as_float,
    "_int": vectors.as_integer,
    "_bool": vectors.as_flag,
}


class Form(NamedTuple):
    """A function that was made for one pattern of arguments.

    Attributes:
        name: under which it is called.
        varying: whether what it returns may differ by lane.
        masked: whether it depends on the mask under which it is called.
    """

    name: str
    varying: bool
    masked: bool


class LaneKernels:
    """The lane forms of functions, in one namespace.

    Args:
        name: of the namespace.
        varying: objects whose results differ by lane, as the accessors of records in a block.
        uniform: objects whose results do not, whatever their arguments.
        replaced: objects in whose place others are called.
        make_compilable: called with every function that is made.
    """

    def __init__(
        self,
        name: str,
        varying: Iterable[Any],
        uniform: Iterable[Any],
        make_compilable: Callable[[Any], None],
        replaced: Mapping[str, Any],
    ) -> None:
        self.varying = {id(each) for each in varying}
        self.uniform = {id(each) for each in uniform}
        self.replaced = replaced
        self.scope: dict[str, Any] = {"__name__": name, **LANGUAGE}
        self._make_compilable = make_compilable
        self._names: dict[int, str] = {}
        self._kept: list[Any] = []
        self._forms: dict[tuple[int, tuple[bool, ...], bool], Form | None] = {}

    def form(self, function: FunctionType, pattern: tuple[bool, ...], masked: bool) -> Form:
        """The lane form of a function, for arguments of which those in `pattern` differ by lane."""
        key = id(function), pattern, masked
        if key not in self._forms:
            self._kept.append(function)
            self._forms[key] = None
            self._forms[key] = self._make(function, pattern, masked)
        found = self._forms[key]
        if found is None:
            raise LaneError(f"{function.__qualname__} calls itself, which has no lane form")
        return found

    def _make(self, function: FunctionType, pattern: tuple[bool, ...], masked: bool) -> Form:
        if masked:
            unmasked = self.form(function, pattern, False)
            if not unmasked.masked:
                return unmasked
        name = (
            f"{function.__name__}_{''.join('uv'[each] for each in pattern)}{'_m' if masked else ''}_{len(self._forms)}"
        )
        translation = Translation(self, function, pattern, masked)
        tree = translation.translate(name)
        text = ast.unparse(tree)
        file = f"<lanes of {function.__module__}.{name}>"
        linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file  # for messages
        exec(compile(text, file, "exec"), self.scope)
        self._make_compilable(self.scope[name])
        return Form(name, translation.returns_varying, translation.sensitive)

    def bind(self, value: Any, name: str) -> str:
        """The name of an object of the kernels' modules in the common namespace."""
        if id(value) not in self._names:
            self._kept.append(value)
            self._names[id(value)] = bound = f"g{len(self._names)}_{name}"
            self.scope[bound] = value
        return self._names[id(value)]
