"""Loops over arrays outside of worlds: compiled by numba where that is installed, plain Python where it is not."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from rlenvs.core.compiler.installed import ADVICE, numba_is_installed, tell_once
from rlenvs.core.compiler.plain import SMALL, WideArray

FEWEST = 1024  # slots: below, it takes longer to share them than to do them


def helper(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """A function that compiled loops call: numba's `njit`, or the function as it is.

    Args:
        function: as a decorator without arguments has it.
        options: of `njit`.
    """
    if function is None:
        return functools.partial(helper, **options)
    if not numba_is_installed():
        return function
    from rlenvs.core.compiler.jit import njit

    return njit(**options)(function) if options else njit(function)


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


def bound(loops: Sequence[tuple[Any, ...]]) -> Callable[[], None]:
    """A function that calls loops, one after the other; in one call of compiled code where there is numba.

    Args:
        loops: (loop, *arguments) each: see `rlenvs.core.compiler.bound.bound`.
    """
    if numba_is_installed():
        from rlenvs.core.compiler.bound import bound as bound_there

        return bound_there(loops)
    return functools.partial(_call_all, [functools.partial(loop, *arguments) for loop, *arguments in loops])


def chained(calls: Sequence[Callable[[], None]]) -> Callable[[], None]:
    """A function that makes calls of `bound`, one after the other."""
    if numba_is_installed():
        from rlenvs.core.compiler.bound import chained as chained_there

        return chained_there(calls)
    return functools.partial(_call_all, list(calls))


def _call_all(calls: Sequence[Callable[[], None]]) -> None:
    for call in calls:
        call()


def share(kernel: Callable[..., None], threads: int, slots: int, *arguments: Any) -> None:
    """Call `kernel(start, stop, *arguments)` for pieces that together are all slots.

    Args:
        kernel: compiled with nogil, without a result; it must not raise. Slots must not depend on each other.
        threads: at most how many.
        slots: how many.
        arguments: arrays, numbers, and (named) tuples of these.
    """
    if threads < 2 or slots < FEWEST or not numba_is_installed():
        kernel(0, slots, *arguments)
        return
    from rlenvs.core.compiler.slot_loops import share_compiled

    share_compiled(kernel, threads, slots, *arguments)
