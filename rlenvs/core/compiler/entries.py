"""Compiled functions of whole numbers: how they are called from Python, and by their address."""

from __future__ import annotations

from typing import Any

_entries: dict[Any, int] = {}


def entry_of(loop: Any, arguments: int) -> int:
    """The address of a compiled function of so many int64, which returns one, or nothing."""
    if hasattr(loop, "address"):  # of a library
        address: int = loop.address
        return address
    if loop not in _entries:
        from rlenvs.core.compiler.jit import types

        signature = (types.int64,) * arguments
        loop.compile(signature)
        compiled = loop.overloads[signature]
        _entries[loop] = compiled.library.get_pointer_to_function(compiled.fndesc.llvm_cfunc_wrapper_name)
    return _entries[loop]


def direct(entry: Any) -> Any:
    """An entry point for who calls it with Python's own integers alone: compiled code without numba's look at types,
    which takes a third of the time of a call."""
    overloads = getattr(entry, "overloads", None)
    return next(iter(overloads.values())).entry_point if overloads else entry
