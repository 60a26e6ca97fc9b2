"""The library of the loops outside of worlds: of wrappers, solvers and tables, for the types that they are called with.

All lie in one file, which the manifest names under the key of each loop.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any, NamedTuple, cast

from rlenvs.core.compiler.ahead import memory
from rlenvs.core.compiler.ahead.code import Entry, joined, portable
from rlenvs.core.compiler.ahead.libraries import Library, make_libraries
from rlenvs.core.compiler.ahead.targets import TARGETS
from rlenvs.core.compiler.arguments import described, function_name, words_of
from rlenvs.core.compiler.cache import make_callable
from rlenvs.core.compiler.compiling import signals_held
from rlenvs.core.compiler.digest import names_in
from rlenvs.core.compiler.intermediate import KernelCompiler, shortcuts
from rlenvs.core.compiler.jit import global_compiler_lock, njit, types
from rlenvs.core.compiler.loop_entries import entry_function, kind_of, let_loops_call
from rlenvs.core.compiler.loops import Loop
from rlenvs.core.compiler.ready import MEMORY
from rlenvs.core.declare.errors import KernelError

BARE: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "pipeline_class": KernelCompiler}


class Call(NamedTuple):
    """A loop with types of arguments.

    Attributes:
        module, name: where the loop is.
        types: of the arguments, see `described`.
        kind: the same as a tuple of numba's.
        size: bytes of the arguments.
        shared: whether a range of slots comes before them.
    """

    module: str
    name: str
    types: str
    kind: Any
    size: int
    shared: bool

    @property
    def loop(self) -> Loop:
        """That is called."""
        found: Any = import_module(self.module)
        for name in self.name.split("."):
            found = getattr(found, name)
        return cast("Loop", found)

    @property
    def function(self) -> str:
        """The name of the library's function."""
        return function_name(self.loop.key, self.types, self.shared)


def call_of(loop: Loop, arguments: Sequence[Any], shared: bool) -> Call | None:
    """A loop with the types of its arguments; None where libraries have no form of one."""
    words = described(arguments)
    if words is None:
        return None
    kind = types.Tuple([kind_of(each) for each in arguments])
    return Call(loop.__module__, loop.__qualname__, words, kind, len(words_of(arguments)), shared)


def functions_of(calls: Collection[Call]) -> dict[str, list[str]]:
    """By the key of a loop, the functions that the library has for it."""
    found: dict[str, list[str]] = {}
    for call in calls:
        found.setdefault(call.loop.key, [MEMORY]).append(call.function)
    return {key: sorted(names) for key, names in sorted(found.items())}


def build_loops_library(calls: Sequence[Call], targets: Collection[str], folder: Any) -> Iterator[Library]:
    """Make the libraries of some calls that are missing.

    Args:
        calls: each once.
        targets: names of TARGETS; WebAssembly, where nothing calls loops, is left out.
        folder: of all libraries; there is one in it for each target.

    Raises:
        KernelError: a loop's code cannot be kept, or holds addresses of this process. MissingExtraError: ziglang is not
            installed. BuildError: a library cannot be linked.
    """
    names = {call: call.function for call in sorted(calls, key=str)}
    key = hashlib.sha256(" ".join(names.values()).encode()).hexdigest()[:24]
    chosen = [name for name in targets if TARGETS[name].linker != "wasm"]
    shown = [*names.values(), MEMORY]
    yield from make_libraries(f"loops-{key}", shown, lambda: _intermediate_code(names), chosen, folder)


def _intermediate_code(names: Mapping[Call, str]) -> bytes:
    done: set[Loop] = set()
    for call in names:
        _prepare(call.loop, done)
    return joined([memory.entry(), *(_entry(call, name) for call, name in names.items())])


def _prepare(loop: Loop, done: set[Loop]) -> None:
    """Let a loop, and those that it calls, be compiled to intermediate code."""
    if loop in done:
        return
    done.add(loop)
    make_callable(loop.py_func, **BARE)
    loop.dispatcher = njit(**loop.options, **BARE)(loop.py_func)
    for name in names_in(loop.py_func.__code__, ()):
        inner = loop.py_func.__globals__.get(name.name)
        if isinstance(inner, Loop):
            _prepare(inner, done)


def _entry(call: Call, name: str) -> Entry:
    count = 3 if call.shared else 1
    let_loops_call(Loop)
    entry: Any = njit(**BARE)(entry_function(call.loop, call.kind, call.size, call.shared))
    with signals_held(), shortcuts():
        entry.compile((types.int64,) * count)
    (found,) = entry.overloads.values()
    with global_compiler_lock:
        if found.library.has_dynamic_globals:
            raise KernelError(f"{call.module}.{call.name}: its code holds addresses of this process")
        code = found.library.get_llvm_str()
    return Entry(name, found.fndesc.llvm_func_name, count, memory.counting(portable(code)))
