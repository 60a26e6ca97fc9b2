"""Loops over arrays outside of worlds: functions of a library made ahead, compiled by numba where that is installed, or
plain Python.

A loop is one function for all types of arguments that it is called with; a library has one for each, see
`rlenvs.core.compiler.arguments`.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Sequence
from functools import partial
from types import FunctionType
from typing import Any

import numpy as np

from rlenvs.core.compiler.arguments import RESULT, described, function_name, result_in, tuples_in, words_of
from rlenvs.core.compiler.digest import ONCE
from rlenvs.core.compiler.entries import direct, entry_of
from rlenvs.core.compiler.installed import ADVICE, numba_is_installed, tell_once
from rlenvs.core.compiler.keys import loop_key
from rlenvs.core.compiler.plain import SMALL, WideArray
from rlenvs.core.compiler.ready import caller_type, candidates, library
from rlenvs.core.compiler.threads import compiled_loops, pool

FEWEST = 1024  # slots: below, it takes longer to share them than to do them

# is told of each call: the loop, its arguments, and whether slots are shared. For who builds libraries
watch: list[Callable[[Loop, Sequence[Any], bool], None]] = []


def helper(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """A function that compiled loops call; Python calls it as it is.

    Args:
        function: as a decorator without arguments has it.
        options: of numba's `register_jitable`.
    """
    if function is None:
        return functools.partial(helper, **options)
    function.helps = options  # type: ignore[attr-defined]
    return function


def compiled(**options: Any) -> Any:
    """Makes a function a `Loop`, which may call kernels, helpers and other loops.

    Args:
        options: of numba's `njit`.
    """
    return lambda function: Loop(function, options)


class Loop:
    """A function that is looked for in libraries, compiled, or run as it is, when it is first called.

    Args:
        function: of numbers, arrays and (named) tuples of these, that returns a number or nothing.
        options: of numba's `njit`.

    Attributes:
        py_func: the function. options: as given.
    """

    __name__: str
    __qualname__: str

    def __init__(self, function: FunctionType, options: dict[str, Any]) -> None:
        functools.update_wrapper(self, function)
        self.py_func, self.options = function, options
        self._known: dict[tuple[str, bool], Any] = {}
        self._classes: list[type] = []  # of tuples, whose addresses a caller knows

    def __call__(self, *arguments: Any) -> Any:
        """The first call of all; those that follow take no detour by Python."""
        if watch:
            watch[0](self, arguments, False)
            return self.otherwise(*arguments)
        called = self._chosen()
        self.__class__ = type(Loop.__name__, (Loop,), {"__call__": staticmethod(called)})
        return called(*arguments)

    def __reduce__(self) -> str:
        return self.__qualname__

    def _chosen(self) -> Callable[..., Any]:
        """What is called from now on."""
        if not self.in_libraries:
            return self.otherwise
        caller = caller_type()
        return caller(np.ndarray, self._address_for, self._in_library, self._elsewhere) if caller else self._in_library

    @functools.cached_property
    def key(self) -> str:
        """Under which libraries have it."""
        return loop_key(self.py_func, self.options)

    @property
    def in_libraries(self) -> bool:
        """Whether a library has it for some arguments."""
        return not self.key.startswith(ONCE) and bool(candidates(self.key))

    @functools.cached_property
    def dispatcher(self) -> Any:
        """The loop as numba compiles it."""
        from rlenvs.core.compiler import cache
        from rlenvs.core.compiler.loop_entries import let_loops_call

        let_loops_call(Loop)
        return cache.compiled(**self.options)(self.py_func)

    @functools.cached_property
    def otherwise(self) -> Callable[..., Any]:
        """What is called where no library has the loop."""
        return self.dispatcher if numba_is_installed() else uncompiled(self.py_func)

    def _elsewhere(self, *arguments: Any) -> Any:
        return self.otherwise(*arguments)  # which may have to import numba

    def entry(self, arguments: Sequence[Any], shared: bool = False) -> Any:
        """What is called with the address of arguments: of a library, or compiled; None where there is neither.

        Args:
            arguments: of the loop, see `described`.
            shared: whether a range of slots comes before them, which is told with the address.
        """
        if watch:
            watch[0](self, arguments, shared)
        found = self._entry_of_library(arguments, shared)
        if found is None and numba_is_installed():
            from rlenvs.core.compiler.loop_entries import entry, let_loops_call

            let_loops_call(Loop)
            return entry(self, arguments, shared)
        return found

    def _entry_of_library(self, arguments: Sequence[Any], shared: bool = False) -> Any:
        types = described(arguments)
        if types is None:
            return None
        if (types, shared) not in self._known:
            self._known[types, shared] = self._opened(function_name(self.key, types, shared), 3 if shared else 1)
        return self._known[types, shared]

    def _opened(self, name: str, count: int) -> Any:
        """A function of a library; None where there is none."""
        there = self.in_libraries and any(name in found.functions for found in candidates(self.key))
        functions = library(self.key, {name: count}, self.__qualname__) if there else None
        return functions and functions[name]

    def _address_for(self, *arguments: Any) -> int:
        """The address of the library's function for arguments; 0 where there is none."""
        found = self._entry_of_library(arguments)
        self._classes += tuples_in(arguments)
        return found.address if found is not None else 0

    def _in_library(self, *arguments: Any) -> Any:
        """As the caller of the package of libraries does, where that is not installed."""
        found = self._entry_of_library(arguments)
        if found is None:
            return self.otherwise(*arguments)
        words = words_of(arguments)
        block = ctypes.create_string_buffer(words, len(words) + RESULT)
        if found(ctypes.addressof(block)):
            raise RuntimeError(f"{self.__qualname__}: the compiled loop has raised an error")
        return result_in(block.raw[-RESULT:])


def uncompiled(loop: Callable[..., Any]) -> Callable[..., Any]:
    """A loop as plain Python that computes as compiled code does: unsigned overflow and division by zero are silent,
    and small whole numbers are computed with in 64 bits. Said once on standard error, as it is slow."""

    @functools.wraps(loop)
    def run(*arguments: Any) -> Any:
        tell_once(f"loops of wrappers, solvers and tables run as plain Python, which is slow. {ADVICE}")
        with np.errstate(all="ignore"):
            return loop(*map(_widened, arguments))

    return run


def _widened(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.view(WideArray) if value.dtype.type in SMALL and value.dtype != np.bool_ else value
    if isinstance(value, tuple):
        parts = map(_widened, value)
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return value


# --- several ----------------------------------------------------------------------------------------------------------


def bound(loops: Sequence[tuple[Any, ...]]) -> Callable[[], None]:
    """A function that calls loops, one after the other; in one call of compiled code where there is such code.

    Args:
        loops: (loop, *arguments) each: loops without a result, which must not raise. The arrays are read and written
            where they are now.
    """
    return chained([_bound(loop, arguments) for loop, *arguments in loops])


def _bound(loop: Loop, arguments: Sequence[Any]) -> Callable[[], None]:
    """A call; where it is one of compiled code, with where that and its arguments lie."""
    entry = loop.entry(arguments)
    if entry is None:
        return partial(loop, *arguments)
    words = words_of(arguments)
    block = np.frombuffer(words + bytes(RESULT), np.int64).copy()
    return _at(entry, block, [entry_of(entry, 1), block.ctypes.data], arguments)


def _at(entry: Any, block: np.ndarray, places: list[int], alive: Any) -> Callable[[], None]:
    """Compiled code with its arguments, which lie in a block; what they point to stays alive as long as this."""
    call = partial(direct(entry), block.ctypes.data)
    call.__dict__.update(places=places, alive=(entry, block, alive))
    return call


def asking(loop: Loop, *arguments: Any) -> Callable[[], bool] | None:
    """A function that calls a loop whose result is a flag, and gives that; None where there is no compiled code.

    Args:
        loop: must not raise.
        arguments: the arrays are read where they are now.
    """
    call = _bound(loop, arguments)
    if not hasattr(call, "places"):
        return None
    words = call.__dict__["alive"][1].data

    def ask() -> bool:
        call()
        return words[-1] != 0

    return ask


def chained(calls: Sequence[Callable[[], None]]) -> Callable[[], None]:
    """A function that makes calls of `bound`, one after the other, in one call of compiled code where all are."""
    if len(calls) == 1:
        return calls[0]
    together = compiled_loops()
    if together is None or not all(hasattr(call, "places") for call in calls):
        return partial(_call_all, list(calls))
    places = [place for call in calls for place in call.__dict__["places"]]
    block = np.array([len(places) // 2, *places], np.int64)
    return _at(together.run_all, block, places, list(calls))


def _call_all(calls: Sequence[Callable[[], None]]) -> None:
    for call in calls:
        call()


def share(kernel: Loop, threads: int, slots: int, *arguments: Any) -> None:
    """Call `kernel(start, stop, *arguments)` for pieces that together are all slots.

    Args:
        kernel: compiled with nogil, without a result; it must not raise. Slots must not depend on each other.
        threads: at most how many.
        slots: how many.
        arguments: arrays, numbers, and (named) tuples of these.
    """
    entry = kernel.entry(arguments, shared=True) if threads > 1 and slots >= FEWEST and compiled_loops() else None
    if entry is not None:
        block = np.frombuffer(words_of(arguments), np.int64)
        if pool(threads).run(entry, block.ctypes.data, slots):
            return
    kernel(0, slots, *arguments)
