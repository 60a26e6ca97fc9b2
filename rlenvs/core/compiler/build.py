"""From a world to callable loops: compiled and cached on disk, or as plain Python.

The loops of `rlenvs.core.compiler.driver` are compiled for one world at a time, with its kernels in front of them. The
key under which the result is kept follows from the kernels' bytecode, the constants that they use and the layouts of
the records; comments, doc strings and names change nothing.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import gc
import multiprocessing
import operator
import sys
import weakref
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from rlenvs.core.compiler.cache import code_cache
from rlenvs.core.compiler.compiling import signals_held
from rlenvs.core.compiler.digest import Digest, versions
from rlenvs.core.compiler.driver import ENTRY_POINTS, INLINED
from rlenvs.core.compiler.explain import explain_compile_error
from rlenvs.core.declare import rng
from rlenvs.core.declare.arrays import all_sizes, batch_layout, row_layouts
from rlenvs.core.declare.errors import RlenvsError
from rlenvs.core.declare.inputs import one_of
from rlenvs.core.declare.kernels import marked, prefetch
from rlenvs.core.declare.progress import progress
from rlenvs.core.declare.setup import Setup
from rlenvs.core.declare.spec import World

TEMPLATE = Path(__file__).with_name("driver.py")
# the modules of this package that make machine code themselves
CORE_SOURCES = ("intermediate", "records", "threads")
NOT_OF_KERNELS = (RlenvsError, MemoryError, OSError)  # errors while a kernel is compiled that are none of the kernel
MOST_ROWS = 4096  # of an array that plain Python keeps at hand


# --- a world's kernels as the driver calls them ---------------------------------------------------------------------


def _do_nothing_to_action(p: Any, s: Any, a: Any) -> None:
    return


def _allow_all(p: Any, s: Any, k: Any, m: Any) -> None:
    for j in range(m.size):
        m[j] = 1


def _show_nothing(p: Any, s: Any, k: Any, i: Any) -> None:
    return


def _act_nothing(p: Any, s: Any, a: Any, rng: Any) -> None:
    return


def _fetch_nothing(p: Any, s: Any) -> None:
    return


def _change_nothing(p: Any, s: Any, rng: Any) -> None:
    return


def _no_goal_outcome(p: Any, achieved: Any, desired: Any, r: Any) -> None:
    return


def _no_outcome(p: Any, s: Any, a: Any, rng: Any, r: Any) -> None:
    return


def _describe_nothing(p: Any, s: Any, o: Any) -> None:
    return


def _observe_nothing(p: Any, s: Any, k: Any, o: Any) -> None:
    return


def _bar_nothing(p: Any, s: Any, a: Any, b: Any) -> None:
    return


def _players_of(world: World) -> Any:
    """One function (which, p, s, k, a, rng) for all scripted players of a world. Made from text, so that it calls each
    of them by name."""
    scope: dict[str, Any] = {f"player{n}": world.kernels[f"player {name}"] for n, name in enumerate(world.players)}
    calls = [f"    if which == {n}:\n        {name}(p, s, k, a, rng)\n" for n, name in enumerate(scope)]
    exec("def play(which, p, s, k, a, rng):\n" + "".join(calls) + "    return\n", scope)
    scope["play"].__qualname__ = "_players_of.<locals>.play"
    return scope["play"]


def _players_generator(s: Any) -> Any:
    return s.players_rng


def _world_generator(s: Any) -> Any:
    return s.rng


def _note_shown(s: Any, shown: Any) -> None:
    s.shown = shown


def _keep_nothing(s: Any, shown: Any) -> None:
    return


def _step_of(kernels: Mapping[str, Any], engine: bool) -> Any:
    """The whole step: the world's own, or its three parts in turn; none where an engine moves the bodies."""
    if engine:
        return _no_outcome
    if "step" in kernels:
        return kernels["step"]
    act, move, outcome = kernels["act"], kernels["move"], kernels["outcome"]

    def step(p: Any, s: Any, a: Any, rng: Any, r: Any) -> None:
        act(p, s, a, rng)
        move(p, s, rng)
        outcome(p, s, a, rng, r)

    return step


def _check_roles(world: World) -> None:
    kernels = world.kernels
    stepping: tuple[str, ...] = ("step",)
    if world.engine:
        stepping = ("act", "outcome")
    elif world.engines or "act" in kernels:
        stepping = ("act", "move", "outcome")
    grading = ("goal_outcome",) if world.goal else ()
    central = ("central",) if world.central else ()
    playing = [f"player {name}" for name in world.players]
    barring = ("barrier",) if world.barriers else ()
    observing = ("observe",) if world.observation else ()
    looking = ("observe_images",) if world.images and not world.observation and not world.engine else ()
    wanted = ("reset", *stepping, *grading, *observing, *looking, *central, *barring, *playing)
    missing = [role for role in wanted if role not in kernels]
    if world.engine and "model" not in world.functions:
        missing.append("model")
    if missing:
        raise TypeError(f"{world.name} has no {' and no '.join(missing)}; add a function under @SPEC.{missing[0]}")


def kernel_names(world: World, kind: str, engine: bool) -> dict[str, Any]:
    """The world's kernels under the names and signatures that the driver uses.

    Args:
        world: the declaration.
        kind: of action, see `Setup.action_kind`.
        engine: whether an engine moves the bodies, between the parts of a step, or the kernels do.
    """
    _check_roles(world)
    kernels = world.kernels
    observe, mask, look = kernels.get("observe"), kernels.get("mask"), kernels.get("observe_images")

    def observe_one(p: Any, s: Any, k: Any, o: Any) -> None:
        observe(p, s, o)  # type: ignore[misc]

    def mask_one(p: Any, s: Any, k: Any, m: Any) -> None:
        mask(p, s, m)  # type: ignore[misc]

    def look_one(p: Any, s: Any, k: Any, i: Any) -> None:
        look(p, s, i)  # type: ignore[misc]

    return {
        "reset": kernels["reset"],
        "step": _step_of(kernels, engine),
        "act": kernels.get("act", _act_nothing) if engine else _act_nothing,
        "before_physics": kernels.get("before_physics", _change_nothing) if engine else _change_nothing,
        "after_reset": kernels.get("after_reset", _change_nothing) if engine else _change_nothing,
        "goal_outcome": kernels.get("goal_outcome", _no_goal_outcome),
        "outcome": kernels.get("outcome", _no_outcome) if engine else _no_outcome,
        "expert": kernels.get("expert", _do_nothing_to_action),
        "play": _players_of(world),
        "players_rng": _players_generator if world.players else _world_generator,
        "central": kernels.get("central", _describe_nothing),
        "bar": kernels.get("barrier", _bar_nothing),
        "note_shown": _note_shown if world.incremental else _keep_nothing,
        "observe_agent": _observe_nothing if observe is None else (observe if world.agents else observe_one),
        "mask_agent": _allow_all if mask is None else (mask if world.agents else mask_one),
        "look_agent": _show_nothing if look is None else (look if world.agents else look_one),
        "uniform": rng.uniform,
        "ALONE": not world.agents,
        "MASKED": mask is not None,
        "FETCHES": "fetch" in kernels,
        "fetch": kernels.get("fetch", _fetch_nothing),
        "prefetch_row": prefetch,
        "IN_LANES": False,
        "INCREMENTAL": world.incremental,
        "CONTINUOUS": kind == "continuous",
        "FLAT": kind == "flat",
    }


# --- compiled ---------------------------------------------------------------------------------------------------------


class CompiledDriver:
    """The entry points of the driver, for all worlds with the same kernels and layouts; each is compiled, or found on
    disk, when it is first asked for.

    Args:
        world: one of these worlds.
        kind: of action, see `Setup.action_kind`.
        names: its kernels, see `kernel_names`.
        key: see `code_key`.
        digest: that the key comes from.
    """

    def __init__(self, world: World, kind: str, names: Mapping[str, Any], key: str, digest: Digest) -> None:
        self._world = world
        self.check_unchanged = digest.check_unchanged
        self._kind = kind
        self._key = key
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
        exec(_template_code(), template)
        self._functions = {
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

    def _compiled_lanes(self, own: bool) -> Any:
        from numba import njit

        from rlenvs.core.compiler.lanes.driver import add_names, key_of

        module = ModuleType(f"{self._template['__name__']}_lanes{int(own)}")
        sys.modules[module.__name__] = module
        scope = vars(module)
        scope.update({name: value for name, value in self._template.items() if not name.startswith("__")})
        exec(_template_code(), scope)
        entry: Any = njit(nogil=True, error_model="numpy")(scope["run_blocks"])
        entry._cache = code_cache(lambda: key_of(self._key_again(), own), "run_blocks")
        return self._finished(entry, lambda: add_names(scope, self._world, self._kind, own))

    def _make_compilable(self) -> None:
        from rlenvs.core.compiler.intermediate import make_compilable

        for name, function in self._functions.items():
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
        from numba import njit

        entry: Any = njit(nogil=True, error_model="numpy")(self._functions[name])
        entry._cache = code_cache(self._key_again, name)
        return self._finished(entry)

    def _finished(self, entry: Any, prepare: Callable[[], object] = lambda: None) -> Any:
        """An entry point, compiled or found on disk.

        Args:
            entry: of numba, with a `code_cache`.
            prepare: what has to be done before it is compiled.
        """
        from numba import types

        from rlenvs.core.compiler.intermediate import signatures_remembered

        with signals_held(), _no_collection(), signatures_remembered(), contextlib.ExitStack() as telling:

            def begin() -> None:
                telling.enter_context(_told(self._world.name))
                prepare()

            entry._cache.when_missing = begin
            try:
                entry.compile((types.int64,) * entry.py_func.__code__.co_argcount)
            except BaseException as error:
                _drivers.pop(self._key, None)  # the same kernels in another file are to be told with their own lines
                if not isinstance(error, Exception) or isinstance(error, NOT_OF_KERNELS):
                    raise
                # numba has errors of other classes for what it cannot read
                raise explain_compile_error(error, self._world) from None
        return entry


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


@functools.cache
def _template_code() -> Any:
    return compile(TEMPLATE.read_text(), str(TEMPLATE), "exec")


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


def code_key(world: World, kind: str, names: Mapping[str, Any]) -> str:
    """What decides the compiled code: kernels, the constants that they use, layouts, versions. No names, no texts.

    Args:
        world: the declaration.
        kind: of action, see `Setup.action_kind`.
        names: its kernels, see `kernel_names`.

    Raises:
        KernelError: a global that a kernel uses has changed since it was used first.
    """
    return _digest_of(world, kind, names).key(world.name)


def _digest_of(world: World, kind: str, names: Mapping[str, Any]) -> Digest:
    digest = Digest()
    digest.add(versions())
    for name in CORE_SOURCES:
        digest.add(Path(__file__).with_name(f"{name}.py").read_bytes())
    digest.add(TEMPLATE.read_bytes())
    layouts = row_layouts(world, kind)
    for name, layout in (*layouts.items(), ("", batch_layout(tuple(layouts)))):
        digest.add(f"{name} {layout.places}")
    for name, value in sorted(names.items()):
        digest.add(name)
        digest.add(value)
    return digest


_drivers: dict[str, CompiledDriver] = {}  # by key


@functools.cache
def _compiled_driver(world: World, kind: str, engine: bool) -> CompiledDriver:
    names = kernel_names(world, kind, engine)
    digest = _digest_of(world, kind, names)
    key = digest.key(world.name)
    if key not in _drivers:
        _drivers[key] = CompiledDriver(world, kind, names, key, digest)
    return _drivers[key]


# --- plain Python -----------------------------------------------------------------------------------------------------


def python_driver(setup: Setup, engine: bool) -> SimpleNamespace:
    """The same loops, uncompiled: breakpoints and print work inside kernels. Some 1000 times slower."""
    sizes, layouts = all_sizes(setup), row_layouts(setup.world, setup.action_kind)
    module: dict[str, Any] = kernel_names(setup.world, setup.action_kind, engine)
    for name, layout in layouts.items():
        module[f"{name}_of"] = _python_row_accessor(name, layout.dtype(sizes))
    module["batch_at"] = _python_accessor(batch_layout(tuple(layouts)).dtype({}))
    exec(_template_code(), module)
    return SimpleNamespace(**{name: _quiet(module[name]) for name in ENTRY_POINTS})


def _python_accessor(dtype: np.dtype) -> Callable[[int, int], Any]:
    memory, Row = ctypes.c_char * dtype.itemsize, _row_class(dtype)
    known: dict[int, Any] = {}  # by address

    def record_at(address: int, meta: int) -> Any:
        row = known.get(address)
        if row is None:
            if len(known) >= MOST_ROWS:
                known.clear()
            row = known[address] = Row(np.frombuffer(memory.from_address(int(address)), dtype))  # type: ignore[call-overload]
        return row

    return record_at


def _python_row_accessor(name: str, dtype: np.dtype) -> Callable[[Any, int], Any]:
    at, size = _python_accessor(dtype), f"{name}_size"

    def row_of(b: Any, i: int) -> Any:
        return at(getattr(b, name) + i * getattr(b, size), 0)

    return row_of


SMALL = frozenset({np.bool_, np.int8, np.int16, np.int32, np.uint8, np.uint16, np.uint32})


class WideArray(np.ndarray):
    """An array whose small whole numbers are read as Python's: compiled code computes with 64 bits of them, while NumPy
    would go on in theirs, and 250 + 10 of two bytes were 4."""

    def __getitem__(self, key: Any) -> Any:
        value = super().__getitem__(key)
        return value.item() if type(value) in SMALL else value


class _Row:
    """A record of live views: what `np.record` does, in a tenth of the time. `_row_class` adds the fields."""

    __slots__ = ("_record",)

    def __init__(self, row: np.ndarray) -> None:
        self._record = row[0]
        for field in _fields_of(row.dtype):
            value = row[field].reshape(row[field].shape[1:])
            setattr(self, f"_{field}", value.view(WideArray) if value.dtype.type in SMALL else value)

    def __getitem__(self, field: str) -> Any:
        return self._record[field]

    def __repr__(self) -> str:
        return repr(self._record)

    @property
    def dtype(self) -> np.dtype:
        """The type of the record."""
        return self._record.dtype

    def copy(self) -> Any:
        """A record of its own."""
        return type(self)(np.array([self._record], self._record.dtype))

    def tobytes(self) -> bytes:
        """The memory."""
        return bytes(self._record.tobytes())


def _fields_of(dtype: np.dtype) -> list[str]:
    return [name for name in dtype.names or () if not name.startswith("_gap")]


def _row_class(dtype: np.dtype) -> type:
    """Rows with the fields of a layout. Numbers can be set, arrays only written into, as in compiled code."""

    def number(place: str) -> property:
        def set_number(row: Any, value: Any) -> None:
            getattr(row, place)[()] = value

        return property(lambda row: getattr(row, place)[()], set_number)

    names = _fields_of(dtype)
    fields = {
        name: property(operator.attrgetter(f"_{name}")) if dtype[name].shape else number(f"_{name}") for name in names
    }
    return type("Row", (_Row,), {"__slots__": [f"_{name}" for name in names], **fields})


def _quiet(function: Callable[..., Any]) -> Callable[..., Any]:
    """Unsigned overflow is what the random generator requires; as in compiled code, dividing by zero gives inf."""

    @functools.wraps(function)
    def wrapped(*args: Any) -> Any:
        with np.errstate(all="ignore"):
            return function(*args)

    return wrapped


def direct(entry: Any) -> Any:
    """An entry point for who calls it with Python's own integers alone: compiled code without numba's look at types,
    which takes a third of the time of a call."""
    overloads = getattr(entry, "overloads", None)
    return next(iter(overloads.values())).entry_point if overloads else entry


def driver(setup: Setup, backend: str, engine: bool) -> Any:
    """The entry points of the driver for a setup, as attributes.

    Args:
        setup: the world with its choices made.
        backend: "numba" or "python".
        engine: whether an engine moves the bodies.

    Raises:
        ParameterError: another backend. KernelError: a global that a kernel uses has changed since it was used first.
    """
    if one_of("backend", backend, ("numba", "python")) == "python":
        return python_driver(setup, engine)
    found = _compiled_driver(setup.world, setup.action_kind, engine)
    found.check_unchanged()
    return found
