"""From a world to callable loops: of a library made ahead, compiled and cached on disk, or as plain Python.

The loops of `rlenvs.core.compiler.driver` are compiled for one world at a time, with its kernels in front of them. The
key under which the result is kept follows from the kernels' source, the constants that they use and the layouts of
the records; comments, doc strings and names change nothing.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import multiprocessing
import sys
import weakref
from collections.abc import Callable, Iterator, Mapping
from types import FunctionType, ModuleType
from typing import Any

from rlenvs.core.compiler.cache import code_cache
from rlenvs.core.compiler.compiling import signals_held
from rlenvs.core.compiler.digest import ONCE, Digest
from rlenvs.core.compiler.driver import ENTRY_POINTS, INLINED
from rlenvs.core.compiler.entry_points import ARGUMENTS, LANES, entry_names
from rlenvs.core.compiler.explain import explain_allocation, explain_compile_error
from rlenvs.core.compiler.installed import need_numba
from rlenvs.core.compiler.kernel_names import kernel_names
from rlenvs.core.compiler.keys import code_key, digest_of, lane_key, library_key
from rlenvs.core.compiler.plain import python_driver, run_template
from rlenvs.core.compiler.ready import library
from rlenvs.core.declare.arrays import batch_layout, row_layouts
from rlenvs.core.declare.errors import RlenvsError
from rlenvs.core.declare.inputs import one_of
from rlenvs.core.declare.kernels import marked
from rlenvs.core.declare.progress import progress
from rlenvs.core.declare.setup import Setup
from rlenvs.core.declare.spec import World

NOT_OF_KERNELS = (RlenvsError, MemoryError, OSError)  # errors while a kernel is compiled that are none of the kernel


# --- compiled ---------------------------------------------------------------------------------------------------------


class CompiledDriver:
    """The entry points of the driver, for all worlds with the same kernels and layouts; each is compiled, or found on
    disk, when it is first asked for.

    Args:
        world: one of these worlds.
        kind: of action, see `Setup.action_kind`.
        names: its kernels, see `kernel_names`.
        key: see `code_key`.
        digest: see `digest_of`.
    """

    lanes = True

    def __init__(self, world: World, kind: str, names: Mapping[str, Any], key: str, digest: Digest) -> None:
        self.world = world
        self.digest = digest
        self.check_unchanged = digest.check_unchanged
        self.kind = kind
        self.key = key
        self._key_again = functools.partial(code_key, world, kind, names)
        self._blocks: dict[bool, Any] = {}
        # linked by name with what other processes compiled: functions of two drivers must not share a name
        module = ModuleType(f"rlenvs.core.driver_{key}")
        sys.modules[module.__name__] = module
        for function in names.values():
            if isinstance(function, FunctionType) and "<locals>" in function.__qualname__:  # made by `kernel_names`
                function.__module__ = module.__name__
        self._template = template = vars(module)
        template.update(_compilable_names(names, world, kind))
        run_template(template)
        self.functions = {
            name: function
            for name, function in template.items()
            if isinstance(function, FunctionType) and function.__globals__ is template
        }
        self._make_compilable()

    def run_blocks(self, own: bool) -> Any:
        """The entry point for several worlds at a time.

        Args:
            own: whether every world has parameters of its own.
        """
        if own not in self._blocks:
            self._blocks[own] = self._compiled_lanes(own)
        return self._blocks[own]

    def lane_names(self, own: bool) -> dict[str, Any]:
        """The names of a new module for lanes: the kernels and the template, without what `add_names` puts there.

        Args:
            own: whether every world has parameters of its own.
        """
        module = ModuleType(f"{self._template['__name__']}_lanes{int(own)}")
        sys.modules[module.__name__] = module
        scope = vars(module)
        scope.update({name: value for name, value in self._template.items() if not name.startswith("__")})
        run_template(scope)
        return scope

    def _compiled_lanes(self, own: bool) -> Any:
        from rlenvs.core.compiler.intermediate import EntryCompiler
        from rlenvs.core.compiler.jit import njit
        from rlenvs.core.compiler.lanes.driver import add_names

        scope = self.lane_names(own)
        entry: Any = njit(nogil=True, error_model="numpy", pipeline_class=EntryCompiler)(scope["run_blocks"])
        entry._cache = code_cache(lambda: lane_key(self._key_again(), own), "run_blocks")
        return self._finished(entry, lambda: add_names(scope, self.world, self.kind, own))

    def _make_compilable(self) -> None:
        from rlenvs.core.compiler.intermediate import make_compilable

        for name, function in self.functions.items():
            if name not in ENTRY_POINTS:
                make_compilable(function, inline=name in INLINED)

    def __getattr__(self, name: str) -> Any:
        """An entry point, which is a plain attribute from then on."""
        if name.startswith("_") or name not in ENTRY_POINTS:
            raise AttributeError(name)
        entry = self._compiled(name)
        setattr(self, name, entry)
        return entry

    def _compiled(self, name: str) -> Any:
        from rlenvs.core.compiler.intermediate import EntryCompiler
        from rlenvs.core.compiler.jit import njit

        entry: Any = njit(nogil=True, error_model="numpy", pipeline_class=EntryCompiler)(self.functions[name])
        entry._cache = code_cache(self._key_again, name)
        return self._finished(entry)

    def _finished(self, entry: Any, prepare: Callable[[], object] = lambda: None) -> Any:
        """An entry point, compiled or found on disk.

        Args:
            entry: of numba, with a `code_cache`.
            prepare: what has to be done before it is compiled.
        """
        from rlenvs.core.compiler.intermediate import allocates

        with contextlib.ExitStack() as telling:

            def begin() -> None:
                telling.enter_context(_told(self.world.name))
                prepare()

            entry._cache.when_missing = begin
            entry._cache.may_keep = lambda library: not allocates(library)
            self.compile_entry(entry)
        return entry

    def compile_entry(self, entry: Any) -> None:
        """Compile a function of numba's for whole numbers.

        Raises:
            KernelError: a kernel cannot be compiled; the message names the line.
        """
        from rlenvs.core.compiler.intermediate import allocates, allocating, shortcuts
        from rlenvs.core.compiler.jit import types

        with signals_held(), _no_collection(), shortcuts():
            try:
                entry.compile((types.int64,) * entry.py_func.__code__.co_argcount)
            except BaseException as error:
                _drivers.pop(self.key, None)  # the same kernels in another file are to be told with their own lines
                if not isinstance(error, Exception) or isinstance(error, NOT_OF_KERNELS):
                    raise
                # numba has errors of other classes for what it cannot read
                raise explain_compile_error(error, self.world) from None
        (compiled,) = entry.overloads.values()
        if allocates(compiled.library):
            _drivers.pop(self.key, None)
            raise explain_allocation(self.world, allocating(compiled.library))


def _told(name: str) -> Any:
    """Tell that a world is being compiled, for as long as that takes; workers of other processes keep quiet."""
    if multiprocessing.parent_process() is not None:
        return contextlib.nullcontext()
    return progress(f"compiling {name} for its first use on this machine (5 to 30 s)")


@contextlib.contextmanager
def _no_collection() -> Iterator[None]:
    """Compiling makes millions of objects and leaves few behind: looking for those takes a tenth of its time."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


_compilable: weakref.WeakSet[FunctionType] = weakref.WeakSet()


def _compilable_names(kernels: Mapping[str, Any], world: World, kind: str) -> dict[str, Any]:
    """All names that the compiled driver of a world needs in front of the template: its kernels, as numba requires
    them, and the accessors of its records."""
    from rlenvs.core.compiler.intermediate import make_compilable
    from rlenvs.core.compiler.records import accessor, row_accessor

    names = dict(kernels)
    for function in [*marked, *names.values()]:
        if isinstance(function, FunctionType) and function not in _compilable:
            make_compilable(function)
            _compilable.add(function)
    layouts = row_layouts(world, kind)
    for name, layout in layouts.items():
        names[f"{name}_of"] = row_accessor(name, layout)
    names["batch_at"] = accessor(batch_layout(tuple(layouts)))
    return names


_drivers: dict[str, CompiledDriver] = {}  # by key


def _compiled(world: World, kind: str, names: Mapping[str, Any], digest: Digest) -> CompiledDriver:
    need_numba(world.name)
    key = digest.key(world.name)
    if key not in _drivers:
        _drivers[key] = CompiledDriver(world, kind, names, key, digest)
    return _drivers[key]


def compiled_driver(setup: Setup) -> CompiledDriver:
    """The driver of a setup whose bodies no engine moves, to be compiled for another target.

    Raises:
        MissingExtraError: numba is not installed. KernelError: as `driver`.
    """
    names = kernel_names(setup.world, setup.action_kind, False)
    return _compiled(setup.world, setup.action_kind, names, digest_of(setup.world, setup.action_kind, names))


# --- made ahead -------------------------------------------------------------------------------------------------------


class ReadyDriver:
    """The entry points of a library.

    Args:
        functions: by name.
        digest: see `digest_of`.

    Attributes:
        lanes: whether it steps several worlds at a time; on processors with few registers it does not.
    """

    def __init__(self, functions: Mapping[str, Any], digest: Digest) -> None:
        self.check_unchanged = digest.check_unchanged
        self._blocks = {own: functions.get(name) for name, own in LANES.items()}
        self.lanes = None not in self._blocks.values()
        vars(self).update({name: functions.get(name) for name in ENTRY_POINTS if name != "run_blocks"})

    def run_blocks(self, own: bool) -> Any:
        """The entry point for several worlds at a time.

        Args:
            own: whether every world has parameters of its own.
        """
        return self._blocks[own]


def wanted_library(world: World, digest: Digest, engine: bool, images: bool) -> tuple[str, dict[str, int]]:
    """The key of a world's library, and the functions that it has, with the numbers that they take.

    Args:
        world: the declaration.
        digest: see `digest_of`.
        engine: whether an engine moves the bodies.
        images: whether observations hold images.
    """
    functions = {name: ARGUMENTS[name] for name in entry_names(world, engine, images)}
    return library_key(digest, functions), functions


def key_of_library(setup: Setup) -> str:
    """The key of the library of a setup that no engine moves."""
    world, kind = setup.world, setup.action_kind
    digest = digest_of(world, kind, kernel_names(world, kind, False))
    return wanted_library(world, digest, False, bool(setup.image_shapes))[0]


@functools.cache
def _best_driver(
    world: World, kind: str, engine: bool, images: bool, kernels: frozenset[tuple[str, Any]]
) -> CompiledDriver | ReadyDriver:
    """`kernels`: those of the world now, which may be hung on it at any time."""
    names = kernel_names(world, kind, engine)
    digest = digest_of(world, kind, names)
    key, functions = wanted_library(world, digest, engine, images)
    found = None if key.startswith(ONCE) else library(key, functions, world.name, LANES)
    return _compiled(world, kind, names, digest) if found is None else ReadyDriver(found, digest)


def driver(setup: Setup, backend: str, engine: bool) -> Any:
    """The entry points of the driver for a setup, as attributes: those of a library, if there is one for this
    processor; else compiled, or found on disk, when they are first asked for.

    Args:
        setup: the world with its choices made.
        backend: "numba" or "python".
        engine: whether an engine moves the bodies.

    Raises:
        ParameterError: another backend. KernelError: a global that a kernel uses has changed since it was used first.
        MissingExtraError: there is no library, and numba is not installed.
    """
    if one_of("backend", backend, ("numba", "python")) == "python":
        return python_driver(setup, engine)
    world, images = setup.world, bool(setup.image_shapes)
    found = _best_driver(world, setup.action_kind, engine, images, frozenset(world.kernels.items()))
    found.check_unchanged()
    return found
