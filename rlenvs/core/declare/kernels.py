"""The mark of functions that are compiled into the batch driver."""

from __future__ import annotations

import dis
from collections.abc import Callable, Iterable
from types import FunctionType, ModuleType
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., object])

marked: list[Callable[..., object]] = []
RUN = 8  # numbers of `combine_run`


def kernel(function: Function) -> Function:
    """Mark a function as part of a world's dynamics.

    It stays a plain Python function (call it, debug it, test it); other kernels and the batch driver call its compiled
    form. Allowed inside: numbers, records, array views, calls to other kernels and to `math`. Not allowed: allocation,
    Python objects, exceptions, globals that change.
    """
    marked.append(function)
    function.is_kernel = True  # type: ignore[attr-defined]
    return function


def attributes_written(function: Callable[..., object]) -> frozenset[str]:
    """Names of the attributes that a function writes, and those that the functions it calls by name do."""
    return _written(function, {id(function)})


def _written(function: Any, seen: set[int]) -> frozenset[str]:
    found: set[str] = set()
    holder: Any = None  # the module whose attribute comes next
    for line in dis.get_instructions(function):
        value: Any = None
        if line.opname == "STORE_ATTR":
            found.add(line.argval)
        elif line.opname == "LOAD_GLOBAL":
            value = function.__globals__.get(line.argval)
        elif line.opname in ("LOAD_ATTR", "LOAD_METHOD") and isinstance(holder, ModuleType):
            value = getattr(holder, line.argval, None)
        if isinstance(value, FunctionType) and id(value) not in seen:
            seen.add(id(value))
            found |= _written(value, seen)
        holder = value
    return frozenset(found)


def prefetch(rows: Any, i: int) -> None:
    """In a kernel: prefetch the beginning of rows[i] into the cache; has no other effect.

    Pays where a world's state is larger than the caches keep and what will be read of it is known before it is needed.
    """


prefetch.made_by = "bits.py"  # type: ignore[attr-defined] # which compiles it, see `rlenvs.core.compiler.digest.Digest`


def combine_run(out: Any, first: int, a: Any, u: float, b: Any, v: float) -> None:
    """In a kernel: out[j] = a[j] u + b[j] v for the RUN numbers starting at `first`, all of which must exist.

    For loops that are too short for compilers to do several numbers at a time. The rows a and b are float64.
    """
    for j in range(first, first + RUN):
        out[j] = a[j] * u + b[j] * v


combine_run.made_by = "runs.py"  # type: ignore[attr-defined]


def copied(s: Any) -> Any:
    """In a kernel: a copy of a world's state that can be modified, for example by an expert that simulates a plan.

    It is gone when the kernel that asked for it returns, and takes place on the stack: ask for it once in a kernel, not
    in a loop. Fields that rows share are not copied.
    """
    return s.copy()


copied.made_by = "copies.py"  # type: ignore[attr-defined]


def mark_again(functions: Iterable[Callable[..., Any]]) -> None:
    """Mark unpickled kernels, and those that they call."""
    for function in functions:
        if isinstance(function, FunctionType) and function not in marked:
            marked.append(function)
            called = [value for value in function.__globals__.values() if getattr(value, "is_kernel", False)]
            mark_again(called)
