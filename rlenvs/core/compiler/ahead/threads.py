"""The library of what threads do that share the worlds of a batch."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from rlenvs.core.compiler.ahead.code import NOTHING, Entry, _portable
from rlenvs.core.compiler.ahead.libraries import RUNTIMES, Library
from rlenvs.core.compiler.ahead.targets import TARGETS, link, object_code
from rlenvs.core.compiler.jit import binding, global_compiler_lock, njit, types
from rlenvs.core.compiler.keys import threads_key
from rlenvs.core.compiler.thread_loops import announce, close, help_out, look_out, work
from rlenvs.core.compiler.threads import FUNCTIONS

LOOPS: dict[str, Any] = {"work": work, "look_out": look_out, "help_out": help_out, "announce": announce, "close": close}


def build_threads_library(targets: Collection[str], folder: Path) -> Iterator[Library]:
    """Make the libraries of `thread_loops` that are missing, named by `threads_key`, with the functions FUNCTIONS.

    Args:
        targets: names of TARGETS; WebAssembly, which has no threads, is left out.
        folder: of all libraries; there is one in it for each target.

    Raises:
        MissingExtraError: ziglang is not installed.
    """
    key, code = threads_key(), b""
    for name in targets:
        target, start = TARGETS[name], time.monotonic()
        if target.linker == "wasm":
            continue
        path = folder / name / f"{key}{target.suffix}"
        if not path.exists():
            code = code or _intermediate_code()
            link(object_code(code, target), target, list(FUNCTIONS), folder / RUNTIMES, path)
        yield Library(name, path, path.stat().st_size, time.monotonic() - start)


def _intermediate_code() -> bytes:
    entries = [_entry(name, count) for name, count in FUNCTIONS.items()]
    module = binding.parse_assembly(NOTHING + "".join(entry.wrapper for entry in entries))
    for entry in entries:
        module.link_in(binding.parse_assembly(entry.code))
    for symbol in (*module.functions, *module.global_variables):
        if not symbol.is_declaration and symbol.name not in FUNCTIONS:
            symbol.linkage = "internal"
    module.name = ""
    module.verify()
    return bytes(module.as_bitcode())


def _entry(name: str, count: int) -> Entry:
    bare: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    loop: Any = njit(**bare)(LOOPS[name].py_func)
    loop.compile((types.int64,) * count)
    (found,) = loop.overloads.values()
    with global_compiler_lock:
        code = found.library.get_llvm_str()
    return Entry(name, found.fndesc.llvm_func_name, count, _portable(code))
