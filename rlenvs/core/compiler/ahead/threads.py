"""The library of what threads do that share the worlds of a batch."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from rlenvs.core.compiler.ahead.code import Entry, joined, portable
from rlenvs.core.compiler.ahead.libraries import Library, make_libraries
from rlenvs.core.compiler.ahead.targets import TARGETS
from rlenvs.core.compiler.chains import run_all
from rlenvs.core.compiler.jit import global_compiler_lock, njit, types
from rlenvs.core.compiler.keys import threads_key
from rlenvs.core.compiler.thread_loops import announce, close, help_out, look_out, work
from rlenvs.core.compiler.threads import FUNCTIONS

LOOPS: dict[str, Any] = {loop.py_func.__name__: loop for loop in (work, look_out, help_out, announce, close, run_all)}


def build_threads_library(targets: Collection[str], folder: Path) -> Iterator[Library]:
    """Make the libraries of `thread_loops` that are missing, named by `threads_key`, with the functions FUNCTIONS.

    Args:
        targets: names of TARGETS; WebAssembly, which has no threads, is left out.
        folder: of all libraries; there is one in it for each target.

    Raises:
        MissingExtraError: ziglang is not installed. BuildError: a library cannot be linked.
    """
    able = [name for name in targets if TARGETS[name].linker != "wasm"]
    yield from make_libraries(threads_key(), list(FUNCTIONS), _intermediate_code, able, folder)


def _intermediate_code() -> bytes:
    return joined([_entry(name, count) for name, count in FUNCTIONS.items()])


def _entry(name: str, count: int) -> Entry:
    bare: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    loop: Any = njit(**bare)(LOOPS[name].py_func)
    loop.compile((types.int64,) * count)
    (found,) = loop.overloads.values()
    with global_compiler_lock:
        code = found.library.get_llvm_str()
    return Entry(name, found.fndesc.llvm_func_name, count, portable(code))
