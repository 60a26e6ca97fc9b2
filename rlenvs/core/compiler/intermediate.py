"""How kernels are compiled: to LLVM's intermediate code alone.

numba optimises every function by itself and makes machine code of it, then again of the whole loop that calls it.
Kernels are called by such loops alone, so only the loops need that: a third less time to compile.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from types import FunctionType
from typing import Any

import rlenvs.core.compiler.bits
import rlenvs.core.compiler.copies
import rlenvs.core.compiler.runs  # noqa: F401  these compile `bits_of`, `float_of`, `copied` and `combine_run`
from rlenvs.core.compiler.jit import (
    BaseFunction,
    CompilerBase,
    DefaultPassBuilder,
    Function,
    FunctionPass,
    JITCodeLibrary,
    NativeLowering,
    PassManager,
    RewriteSemanticConstants,
    _dynfunc,
    _LowerResult,
    binding,
    event,
    get_definition,
    global_compiler_lock,
    guard,
    register_jitable,
    register_pass,
)
from rlenvs.core.compiler.jit import numba_ir as ir

ALLOCATION = ("NRT_Allocate", "NRT_MemInfo_alloc", "NRT_MemInfo_new")  # how names of numba's functions for it begin

# numba's counters of references: kernels allocate nothing, so that there is nothing to count
COUNTERS = ("NRT_incref", "NRT_decref")
NOTHING = "".join(f"define void @{name}(ptr %object) {{\n  ret void\n}}\n" for name in COUNTERS)


def allocates(library: Any) -> bool:
    """Whether what numba just compiled asks for memory while it runs."""
    return any(function.name.startswith(ALLOCATION) for function in library._final_module.functions)


class EntryLibrary(JITCodeLibrary):
    """The code of an entry point with all kernels, in which references are not counted."""

    def _optimize_final_module(self) -> None:
        module = self._final_module
        names = [function.name for function in module.functions if function.name in COUNTERS]
        if names:
            module.link_in(binding.parse_assembly(NOTHING))
            for name in COUNTERS:
                module.get_function(name).linkage = "internal"
        super()._optimize_final_module()


class IntermediateLibrary(JITCodeLibrary):
    """Intermediate code that is linked into that of callers, and optimised there.

    Attributes:
        kernel: the function whose code it is.
    """

    kernel: Any

    def _optimize_final_module(self) -> None:
        return

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


def allocating(library: Any) -> list[FunctionType]:
    """The kernels in a library that ask for memory as they are written, each before those that call it."""
    seen: set[Any] = set()
    found: list[FunctionType] = []

    def visit(linked: Any) -> None:
        seen.add(linked)
        for inner in linked._linking_libraries:
            if inner not in seen:
                visit(inner)
        if isinstance(linked, IntermediateLibrary) and allocates(linked):
            found.append(linked.kernel)

    visit(library)
    return found


@register_pass(mutates_CFG=True, analysis_only=False)
class KernelLowering(NativeLowering):
    """numba's lowering without the machine code. What stands for the function in numba's tables cannot be called."""

    _name = "kernel_lowering"

    def run_pass(self, state: Any) -> bool:
        library = state.library = IntermediateLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        super().run_pass(state)
        library.kernel = state.func_id.func
        done = state.cr
        name = done.fndesc.qualname.split(".")[-1]
        key = _dynfunc.make_function(done.fndesc.lookup_module(), name, "a kernel", 0, done.env, (library,))
        state.targetctx.insert_user_function(key, done.fndesc, [library])
        state.reload_init.extend(library._reload_init)
        state["cr"] = _LowerResult(done.fndesc, done.call_helper, cfunc=key, env=done.env)
        state.type_annotation = None  # the whole function once more, kept for a display that nobody asks for
        return True


@register_pass(mutates_CFG=True, analysis_only=False)
class EntryLowering(NativeLowering):
    """numba's lowering into an `EntryLibrary`."""

    _name = "entry_lowering"

    def run_pass(self, state: Any) -> bool:
        state.library = EntryLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return bool(super().run_pass(state))


@register_pass(mutates_CFG=False, analysis_only=False)
class AxesKnown(FunctionPass):
    """`a.ndim` as a constant, so that branches for other numbers of axes go away; numba does so for its arrays."""

    _name = "axes_known"

    def __init__(self) -> None:
        FunctionPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        found = state.func_ir
        for block in found.blocks.values():
            for statement in block.find_insts(ir.Assign):
                value = statement.value
                if not (isinstance(value, ir.Expr) and value.op == "getattr" and value.attr == "ndim"):
                    continue
                given = guard(get_definition, found, value.value)
                ndim = getattr(state.args[given.index], "ndim", None) if isinstance(given, ir.Arg) else None
                if ndim is not None:
                    known = ir.Const(ndim, statement.loc)
                    definitions = found._definitions[statement.target.name]
                    definitions[definitions.index(value)] = known
                    statement.value = known
        return True


class KernelCompiler(CompilerBase):
    """numba's passes with `KernelLowering` in the place of its lowering, and `AxesKnown`."""

    def define_pipelines(self) -> list[PassManager]:
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        replaced = [(KernelLowering if each is NativeLowering else each, why) for each, why in passes.passes]
        manager = PassManager("nopython")
        manager.passes.extend(replaced)
        manager.add_pass_after(AxesKnown, RewriteSemanticConstants)
        manager.finalize()
        return [manager]


class EntryCompiler(CompilerBase):
    """numba's passes with `EntryLowering` in the place of its lowering."""

    def define_pipelines(self) -> list[PassManager]:
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        manager = PassManager("nopython")
        manager.passes.extend((EntryLowering if each is NativeLowering else each, why) for each, why in passes.passes)
        manager.finalize()
        return [manager]


def make_compilable(function: Any, inline: bool = False) -> None:
    """Let compiled code call a function as a kernel; Python calls it as it is.

    Args:
        function: to be compiled.
        inline: whether it becomes a part of who calls it, however long it is.
    """
    options = {"error_model": "numpy", "no_cfunc_wrapper": True, "forceinline": inline}
    register_jitable(pipeline_class=KernelCompiler, **options)(function)


@contextlib.contextmanager
def shortcuts() -> Iterator[None]:
    """For as long as this lasts, numba leaves out work that changes nothing in the code.

    It looks up the type of an operation once for each combination of types, where it tries all definitions that it has
    of an operator, some ten for a sum, at each of its thousands of uses: a third of the time to compile. It makes no
    lists of lists to find the variables of a statement, and tells nobody of each of its locks: a tenth.
    """
    with global_compiler_lock, contextlib.ExitStack() as stack:
        for place, name, instead in (
            (BaseFunction, "get_call_type", _call_types_remembered(BaseFunction.get_call_type)),
            (ir.Inst, "_rec_list_vars", _variables_in),
            (event, "start_event", _tell_nobody),
            (event, "end_event", _tell_nobody),
        ):
            stack.callback(setattr, place, name, getattr(place, name))
            setattr(place, name, instead)
        yield


def _call_types_remembered(find: Any) -> Any:
    found: dict[Any, Any] = {}

    def find_once(function: Any, context: Any, args: Any, kws: Any) -> Any:
        if type(function) is not Function or kws:
            return find(function, context, args, kws)
        key = (id(function), context, args)
        if key not in found:
            found[key] = function, find(function, context, args, kws)  # kept, so that no other one gets its id
        return found[key][1]

    return find_once


def _variables_in(statement: Any, value: Any) -> list[Any]:
    """The variables in a part of a statement, in order, as numba's own function gives them."""
    found: list[Any] = []
    _add_variables(value.values() if isinstance(value, dict) else (value,), found)
    return found


def _add_variables(values: Iterable[Any], found: list[Any]) -> None:
    for value in values:
        if type(value) in (str, ir.Loc):
            continue
        if isinstance(value, ir.Var):
            found.append(value)
        elif isinstance(value, ir.Inst):
            found.extend(value.list_vars())
        elif isinstance(value, (list, tuple)):
            _add_variables(value, found)
        elif isinstance(value, dict):
            _add_variables(value.values(), found)


def _tell_nobody(*event: Any, **details: Any) -> None:
    pass
