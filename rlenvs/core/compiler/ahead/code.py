"""The entry points of a driver as one module of LLVM's intermediate code, for any processor.

numba makes the code, without its wrappers for Python, and optimises it function by function alone. The functions that
a library shows take whole numbers of 64 bits and return one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from rlenvs.core.compiler.build import CompiledDriver
from rlenvs.core.compiler.entry_points import LANES, RUN
from rlenvs.core.compiler.intermediate import COUNTERS, NOTHING, KernelCompiler
from rlenvs.core.compiler.jit import binding, cgutils, global_compiler_lock, intrinsic, ir, njit, types
from rlenvs.core.compiler.lanes.driver import add_names
from rlenvs.core.declare.errors import KernelError

machine_code: Any = intrinsic  # its type asks callers for the context, which numba gives


class Entry(NamedTuple):
    """What numba made of an entry point.

    Attributes:
        name: by which the library shows it.
        symbol: numba's name.
        arguments: how many.
        code: the module, as text.
    """

    name: str
    symbol: str
    arguments: int
    code: str

    @property
    def wrapper(self) -> str:
        """The function that the library shows: its result, 0 where it has none, or -1 where a kernel has raised an
        error. numba's own takes where to put result and error first."""
        numbers = ", ".join(f"i64 %a{n}" for n in range(self.arguments))
        return (
            f"declare i32 @{self.symbol}(ptr, ptr{', i64' * self.arguments})\n"
            f"define i64 @{self.name}({numbers}) {{\n"
            "  %result = alloca i64\n  %error = alloca ptr\n  store i64 0, ptr %result\n"
            f"  %status = call i32 @{self.symbol}(ptr %result, ptr %error, {numbers})\n"
            "  %fine = icmp eq i32 %status, 0\n  %value = load i64, ptr %result\n"
            "  %told = select i1 %fine, i64 %value, i64 -1\n  ret i64 %told\n}\n"
        )


def intermediate_code(driver: CompiledDriver, names: list[str]) -> bytes:
    """The bitcode of a module with some entry points of a driver.

    Args:
        driver: of a kind.
        names: see `entry_names`.

    Raises:
        KernelError: a kernel cannot be compiled, or its code holds addresses of this process.
    """
    return joined([_entry(driver, name) for name in names])


def joined(entries: Sequence[Entry]) -> bytes:
    """The bitcode of a module of entry points, each in its wrapper."""
    module = binding.parse_assembly(NOTHING + "".join(entry.wrapper for entry in entries))
    for entry in entries:
        module.link_in(binding.parse_assembly(entry.code))
    names = [entry.name for entry in entries]
    inner = [symbol for symbol in (*module.functions, *module.global_variables) if symbol.name not in names]
    for number, symbol in enumerate(inner):
        if not symbol.is_declaration:  # numba's names count what the process has compiled, and hold the driver's key
            symbol.name = f"inner.{number}"
    module.name = ""
    module.verify()
    return bytes(module.as_bitcode())


def _entry(driver: CompiledDriver, name: str) -> Entry:
    function = _lane_form(driver, LANES[name]) if name in LANES else driver.functions[name]
    bare: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    entry: Any = njit(pipeline_class=KernelCompiler, error_model="numpy", **bare)(function)
    driver.compile_entry(entry)
    (found,) = entry.overloads.values()
    with global_compiler_lock:
        if found.library.has_dynamic_globals:
            raise KernelError(f"{driver.world.name}: the code of {name} holds addresses of this process")
        code = found.library.get_llvm_str()
    return Entry(name, found.fndesc.llvm_func_name, len(found.signature.args), portable(code))


def _lane_form(driver: CompiledDriver, own: bool) -> Any:
    scope = driver.lane_names(own)
    add_names(scope, driver.world, driver.kind, own)
    scope["call_loop"] = call_linked
    return scope["run_blocks"]


@machine_code
def call_linked(context: Any, function: Any, batch: Any, start: Any, stop: Any, job: Any) -> Any:
    """`threads.call_loop` where the loop is `run_worlds` of the same library, whatever its address."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        word = ir.IntType(64)
        run = cgutils.get_or_insert_function(builder.module, ir.FunctionType(word, [word] * 4), RUN)
        builder.call(run, arguments[1:])
        return context.get_dummy_value()

    return types.void(*[types.int64] * 5), generate


def portable(code: str) -> str:
    """The text of a module without what is of one processor."""
    code = re.sub(r'^target (datalayout|triple) = "[^"]*"\n', "", code, flags=re.M)
    return re.sub(r'"(target-cpu|target-features)"="[^"]*"', "", "\n".join(_without_counters(code)))


def _without_counters(code: str) -> Iterator[str]:
    """The lines of a module with declarations in the place of the counters of references."""
    inside = False
    for line in code.split("\n"):
        counter = next((name for name in COUNTERS if f" @{name}(" in line), "")
        if line.startswith("define") and counter:
            inside = True
            yield f"declare void @{counter}(ptr)"
        if not inside:
            yield line
        inside = inside and line != "}"
