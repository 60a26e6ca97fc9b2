"""From a world to callable loops: compiled and cached on disk, or as plain Python.

numba caches a function by its own file alone, so a driver kept in this package would go stale when a kernel elsewhere
changes. The driver of a world is therefore written as a module whose path is a hash of all that it is made of: the
sources of the world and of the core, the values of the constants they import, and the versions of numba and Python.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import importlib.util
import inspect
import os
import platform
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from rlenvs.core import rng
from rlenvs.core.kernels import marked
from rlenvs.core.layout import Kind, Layout, b1, f4, f8, i1, i8, u1
from rlenvs.core.setup import Setup
from rlenvs.core.spec import Continuous, World

TEMPLATE = Path(__file__).with_name("driver.py")
# the modules of this package that compiled code depends on
CORE_SOURCES = ("build", "driver", "kernels", "layout", "records", "rng", "spec")


# --- the rows that the driver reads and writes ------------------------------------------------------------------------

SCALARS = (
    *("worlds", "agents", "horizon", "autoreset", "action_numbers", "scaled", "cost_maximum", "randomized"),
    *("first_decides", "pictured", "plan_steps"),
)


def row_layouts(world: World, action: Any) -> dict[str, Layout]:
    """The layout of every array of a batch, by name. A batch holds one row per world (per agent where noted)."""
    number = f8 if isinstance(action, Continuous) else i8
    per_agent = ("agents",) if world.agents else ()
    per_action = ("action_numbers",) if isinstance(action, Continuous) else ()
    advice = Kind(number.code, (*per_agent, *per_action) or (1,))
    fields: dict[str, dict[str, Kind]] = {
        "episode_bytes": {"value": u1("episode_bytes")},
        "blank": {"value": u1("episode_bytes")},
        "param_numbers": {"value": f8("param_numbers")},
        "action": {"value": Kind(number.code, (*per_agent, *per_action))},
        "advice": {"value": advice},
        "action_values": {"value": number("actions")},
        "observation_values": {"value": f4("observation_numbers")},
        "mask": {"value": i1("choices")},
        "parts": {"terms": f8("terms", "agents"), "success": b1("agents"), "terminated": b1("agents")},
        "result_bytes": {"value": u1("result_bytes")},
        "image_bytes": {"value": u1("image_bytes")},
        "final_image_bytes": {"value": u1("image_bytes")},
        "weights": {"value": f8("reward_terms")},
        "scaling": {name: f4("observation_numbers") for name in ("gain", "offset", "low", "high")},
        "central_values": {"value": f4("central_numbers")},
        "central_scaling": {name: f4("central_numbers") for name in ("gain", "offset", "low", "high")},
        "choices": {"value": i8("agents")},
        "seat": {"value": i8("agents")},
        "random_range": {"index": i8, "low": f8, "high": f8},
        "begin": {"value": b1},
        "asleep": {"value": b1},
        "reward": {"value": f8("agents")},
        "cost": {"value": f8("agents")},
        "reward_vector": {"value": f4("reward_terms")},
        "terminated": {"value": b1("agents")},
        "truncated": {"value": b1("agents")},
        "final_observation": {"value": f4("observation_numbers")},
        "final_mask": {"value": i1("choices")},
        "final_result": {"value": u1("result_bytes")},
        "final_cost": {"value": f8("agents")},
        "failed": {"value": b1},
        "graded_parts": {"terms": f8("terms", "agents"), "success": b1("agents"), "terminated": b1("agents")},
        "goals": {"achieved": f4("goal_numbers"), "desired": f4("goal_numbers")},
        "grades": {"reward": f8, "terminated": b1},
        "plan_action": {"value": number("actions")},
        "plan_reward": {"value": f8("agents")},
        "plan_cost": {"value": f8("agents")},
        "proposal": {"value": f8("action_numbers")},
        "barrier": {
            "value": f8(world.barriers),
            "drift": f8(world.barriers),
            "slope": f8(world.barriers, "action_numbers"),
            **{name: f8("action_numbers") for name in ("low", "high", "brake")},
        },
    }
    known = constant_sizes(world)
    rows = {
        name: Layout(name, {f: kind.fixed(known) for f, kind in kinds.items()}, packed=True)
        for name, kinds in fields.items()
    }
    return {**world.layouts, "graded": world.layouts["result"], **rows}


ROWS = (
    *("state", "params", "observation", "images", "result", "episode_bytes", "param_numbers", "action", "advice"),
    *("action_values", "image_bytes", "final_image_bytes", "observation_values", "mask", "parts", "result_bytes"),
    *("weights", "scaling", "random_range", "begin", "reward", "cost", "reward_vector", "terminated", "truncated"),
    *("final_observation", "final_mask", "final_result", "final_cost", "plan_action", "plan_reward", "plan_cost"),
    *("blank", "asleep", "failed", "graded", "graded_parts", "goals", "grades", "choices", "seat"),
    *("central", "central_values", "central_scaling", "proposal", "barrier"),
)

BATCH = Layout(
    "batch", dict.fromkeys((*SCALARS, *(f"{row}{part}" for row in ROWS for part in ("", "_size", "_meta"))), i8)
)


def constant_sizes(world: World) -> dict[str, int]:
    """Those of `all_sizes` that every batch of the world shares; the compiler unrolls loops over constants."""
    sizes = {"terms": len(world.terms) + len(world.costs), "reward_terms": len(world.terms)}
    if not world.agents:
        sizes["agents"] = 1
    layouts = world.layouts
    if not layouts["state"].size_names:
        sizes["episode_bytes"] = layouts["state"].bytes_before_last({})
    if not layouts["images"].size_names:
        sizes["image_bytes"] = len(world.images) and layouts["images"].dtype({}).itemsize
    if not layouts["result"].size_names:
        sizes["result_bytes"] = layouts["result"].dtype({}).itemsize
    if not layouts["observation"].size_names:
        sizes["observation_numbers"] = layouts["observation"].dtype({}).itemsize // 4
    return sizes


def all_sizes(setup: Setup) -> dict[str, int]:
    """The world's sizes and those that follow from its layouts."""
    return {
        **setup.sizes,
        "episode_bytes": setup.world.layouts["state"].bytes_before_last(setup.sizes),
        "image_bytes": setup.dtypes["images"].itemsize if setup.image_shapes else 0,
        "result_bytes": setup.dtypes["result"].itemsize,
        "param_numbers": max(len(setup.world.params), 1),
        "action_numbers": setup.action_size if setup.continuous else 1,
        "actions": setup.agents * (setup.action_size if setup.continuous else 1),
        "choices": 1 if setup.continuous else setup.action_size,
        "observation_numbers": setup.scaling.shape[1],
        "central_numbers": setup.central_scaling.shape[1],
        "goal_numbers": setup.goal_size,
        "terms": len(setup.world.terms) + len(setup.world.costs),
        "reward_terms": len(setup.world.terms),
    }


# --- the driver as text -----------------------------------------------------------------------------------------------

HEADER = '''"""Generated by rlenvs from {template} for {name}; safe to delete."""

from rlenvs.core.build import driver_names

globals().update(driver_names({address!r}, {continuous}))
'''

FOOTER = """

compile_driver(globals(), cache=True)
"""


def _do_nothing_to_action(p: Any, s: Any, a: Any) -> None:
    return


def _allow_all(p: Any, s: Any, k: Any, m: Any) -> None:
    for j in range(m.size):
        m[j] = 1


def _show_nothing(p: Any, s: Any, k: Any, i: Any) -> None:
    return


def _act_nothing(p: Any, s: Any, a: Any, rng: Any) -> None:
    return


def _change_nothing(p: Any, s: Any, rng: Any) -> None:
    return


def _grade_nothing(p: Any, achieved: Any, desired: Any, r: Any) -> None:
    return


def _judge_nothing(p: Any, s: Any, a: Any, rng: Any, r: Any) -> None:
    return


def _describe_nothing(p: Any, s: Any, o: Any) -> None:
    return


def _bar_nothing(p: Any, s: Any, a: Any, b: Any) -> None:
    return


def _players_of(world: World) -> Any:
    """One function (which, p, s, k, a, rng) for all scripted players of a world. Made from text, so that it calls each
    of them by name."""
    scope = {f"player{n}": world.kernels[f"player {name}"] for n, name in enumerate(world.players)}
    calls = [f"    if which == {n}:\n        {name}(p, s, k, a, rng)\n" for n, name in enumerate(scope)]
    exec("def play(which, p, s, k, a, rng):\n" + "".join(calls) + "    return\n", scope)
    return scope["play"]


def _players_generator(s: Any) -> Any:
    return s.players_rng


def _world_generator(s: Any) -> Any:
    return s.rng


def _note_shown(s: Any, shown: Any) -> None:
    s.shown = shown


def _keep_nothing(s: Any, shown: Any) -> None:
    return


def _step_of(kernels: Mapping[str, Any]) -> Any:
    """The whole step: the world's own, or its three parts one after the other."""
    if "step" in kernels:
        return kernels["step"]
    act, move, judge = kernels["act"], kernels.get("move", _change_nothing), kernels["judge"]

    def step(p: Any, s: Any, a: Any, rng: Any, r: Any) -> None:
        act(p, s, a, rng)
        move(p, s, rng)
        judge(p, s, a, rng, r)

    return step


def _check_roles(world: World) -> None:
    kernels = world.kernels
    stepping: tuple[str, ...] = ("step",)
    if world.engine:
        stepping = ("act", "judge")
    elif world.engines or "act" in kernels:
        stepping = ("act", "move", "judge")
    grading = ("grade",) if world.goal else ()
    central = ("central",) if world.central else ()
    playing = [f"player {name}" for name in world.players]
    barring = ("barrier",) if world.barriers else ()
    wanted = ("reset", *stepping, *grading, "observe", *central, *barring, *playing)
    missing = [role for role in wanted if role not in kernels]
    if world.engine and world.model_function is None:
        missing.append("model")
    if missing:
        raise TypeError(f"{world.name} has no {' and no '.join(missing)}; add a function under @SPEC.{missing[0]}")


def kernel_names(world: World, action: Any) -> dict[str, Any]:
    """The world's kernels under the names and signatures that the driver uses."""
    _check_roles(world)
    kernels = world.kernels
    observe, mask, look = kernels["observe"], kernels.get("mask"), kernels.get("look")

    def observe_one(p: Any, s: Any, k: Any, o: Any) -> None:
        observe(p, s, o)

    def mask_one(p: Any, s: Any, k: Any, m: Any) -> None:
        mask(p, s, m)  # type: ignore[misc]

    def look_one(p: Any, s: Any, k: Any, i: Any) -> None:
        look(p, s, i)  # type: ignore[misc]

    return {
        "reset": kernels["reset"],
        "step": _step_of(kernels),
        "act": kernels.get("act", _act_nothing),
        "load": kernels.get("load", _change_nothing),
        "placed": kernels.get("placed", _change_nothing),
        "grade": kernels.get("grade", _grade_nothing),
        "judge": kernels.get("judge", _judge_nothing),
        "expert": kernels.get("expert", _do_nothing_to_action),
        "play": _players_of(world),
        "players_rng": _players_generator if world.players else _world_generator,
        "central": kernels.get("central", _describe_nothing),
        "bar": kernels.get("barrier", _bar_nothing),
        "note_shown": _note_shown if world.incremental else _keep_nothing,
        "observe_agent": observe if world.agents else observe_one,
        "mask_agent": _allow_all if mask is None else (mask if world.agents else mask_one),
        "look_agent": _show_nothing if look is None else (look if world.agents else look_one),
        "uniform": rng.uniform,
        "ALONE": not world.agents,
        "CONTINUOUS": isinstance(action, Continuous),
    }


def _row_function(name: str, at: Callable[..., Any], sharing: bool = False) -> Callable[[Any, int], Any]:
    """A function (b, i) to row i of the named array. Made from text, since numba wants attribute names in the code."""
    common = f", b.{name}" if sharing else ""
    source = f"def {name}_of(b, i):\n    return at(b.{name} + i * b.{name}_size, b.{name}_meta{common})\n"
    scope: dict[str, Any] = {"at": at}
    exec(source, scope)
    return scope[f"{name}_of"]


# --- compiled ---------------------------------------------------------------------------------------------------------


def driver_names(address: str | World, continuous: bool) -> dict[str, Any]:
    """All names that the compiled driver of a world needs in front of the template."""
    from numba.extending import register_jitable

    from rlenvs.core.records import accessor
    from rlenvs.core.spec import load_world

    world = load_world(address) if isinstance(address, str) else address
    action = Continuous((), 0, "") if continuous else None
    names = kernel_names(world, action)
    for function in [*marked, *names.values()]:
        if isinstance(function, FunctionType) and not hasattr(function, "_compiled_by_numba"):
            register_jitable(error_model="numpy")(function)
            function._compiled_by_numba = True  # type: ignore[attr-defined]
    for name, layout in row_layouts(world, action).items():
        names[f"{name}_of"] = register_jitable(error_model="numpy")(
            _row_function(name, accessor(layout), bool(layout.shared))
        )
    names["batch_at"] = accessor(BATCH)
    names["compile_driver"] = compile_driver
    return names


def compile_driver(module: dict[str, Any], cache: bool) -> None:
    """Replace the entry points among a driver's functions by compiled ones; the others are compiled into them."""
    from numba import njit
    from numba.extending import register_jitable

    entries = module["ENTRY_POINTS"]
    own = [f for f in module.values() if isinstance(f, FunctionType) and f.__globals__ is module]
    for function in own:
        if function.__name__ in entries:
            module[function.__name__] = njit(nogil=True, error_model="numpy", cache=cache)(function)
        else:
            register_jitable(error_model="numpy")(function)


@functools.cache
def _compiled_driver(world: World, continuous: bool) -> Mapping[str, Any]:
    if not _has_file(world):
        return _driver_in_memory(world, continuous)
    header = HEADER.format(template=TEMPLATE.name, name=world.name, address=world.address, continuous=continuous)
    source = header + TEMPLATE.read_text() + FOOTER
    digest = hashlib.sha256((source + source_digest(world)).encode()).hexdigest()[:20]
    path = cache_folder() / f"{world.name.replace('-', '_')}_{digest}.py"
    if not path.exists():
        _write_atomically(path, source)
    name = f"rlenvs_driver_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return vars(module)


def _driver_in_memory(world: World, continuous: bool) -> Mapping[str, Any]:
    """For worlds typed into a notebook or a console: nothing on disk to cache by."""
    module: dict[str, Any] = driver_names(world, continuous)
    exec(compile(TEMPLATE.read_text(), str(TEMPLATE), "exec"), module)
    compile_driver(module, cache=False)
    return module


def _has_file(world: World) -> bool:
    module = sys.modules.get(world.module)
    if world.module == "__main__" or not getattr(module, "__file__", None):
        return False
    return all(sys.modules.get(k.__module__) is not None and k.__module__ != "__main__" for k in world.kernels.values())


# --- plain Python -----------------------------------------------------------------------------------------------------


def python_driver(setup: Setup) -> Mapping[str, Any]:
    """The same loops, uncompiled: breakpoints and print work inside kernels. Some 1000 times slower."""
    sizes = all_sizes(setup)
    module: dict[str, Any] = kernel_names(setup.world, setup.action)
    for name, layout in row_layouts(setup.world, setup.action).items():
        module[f"{name}_of"] = _row_function(name, _python_accessor(layout.dtype(sizes)))
    module["batch_at"] = _python_accessor(BATCH.dtype({}))
    exec(compile(TEMPLATE.read_text(), str(TEMPLATE), "exec"), module)
    entries = {name: _quiet(module[name]) for name in module["ENTRY_POINTS"]}
    return {**entries, "ENTRY_POINTS": module["ENTRY_POINTS"]}


def _python_accessor(dtype: np.dtype) -> Callable[[int, int], Any]:
    memory = ctypes.c_char * dtype.itemsize

    def record_at(address: int, meta: int) -> Any:
        return np.frombuffer(memory.from_address(int(address)), dtype)[0]  # type: ignore[call-overload]

    return record_at


def _quiet(function: Callable[..., Any]) -> Callable[..., Any]:
    """Unsigned overflow is what the random generator wants; as in compiled code, dividing by zero gives inf."""

    @functools.wraps(function)
    def wrapped(*args: Any) -> Any:
        with np.errstate(all="ignore"):
            return function(*args)

    return wrapped


def driver(setup: Setup, backend: str) -> SimpleNamespace:
    """The entry points of the driver for a setup.

    Args:
        backend: "numba" or "python".
    """
    if backend == "python":
        names = python_driver(setup)
    elif backend == "numba":
        names = _compiled_driver(setup.world, setup.continuous)
    else:
        raise ValueError(f"backend={backend!r} is neither 'numba' nor 'python'")
    return SimpleNamespace(**{name: names[name] for name in names["ENTRY_POINTS"]})


# --- cache ------------------------------------------------------------------------------------------------------------


def source_digest(world: World) -> str:
    """A hash of everything that the compiled code of a world depends on."""
    import numba

    digest = hashlib.sha256()
    digest.update(f"{numba.__version__} {np.__version__} {platform.python_version()} {world.layouts}".encode())
    for layout in world.layouts.values():
        digest.update(repr(layout.places).encode())
    for name in CORE_SOURCES:
        digest.update(Path(__file__).with_name(f"{name}.py").read_bytes())
    for module in sorted(_modules_of(world), key=lambda m: m.__name__):
        digest.update(module.__name__.encode() + _module_source(module))
        for name, value in sorted(vars(module).items()):
            if isinstance(value, (bool, int, float, str, tuple)) and not name.startswith("__"):
                digest.update(f"{name}={value!r}".encode())
            elif isinstance(value, np.ndarray):
                digest.update(name.encode() + value.tobytes())
    return digest.hexdigest()


def _modules_of(world: World) -> set[ModuleType]:
    """The modules of the world's kernels, and those of their packages that they take functions or constants from."""
    roots = {kernel.__module__.split(".")[0] for kernel in world.kernels.values()} | {world.module.split(".")[0]}
    waiting = [sys.modules[world.module], *(sys.modules[k.__module__] for k in world.kernels.values())]
    found: set[ModuleType] = set()
    while waiting:
        module = waiting.pop()
        if module in found or module.__name__.startswith("rlenvs.core"):
            continue
        found.add(module)
        waiting += [m for m in _neighbours(module) if m.__name__.split(".")[0] in roots]
    return found


def _neighbours(module: ModuleType) -> Iterator[ModuleType]:
    for value in list(vars(module).values()):
        if isinstance(value, ModuleType):
            yield value
        elif isinstance(value, FunctionType) and value.__module__ in sys.modules:
            yield sys.modules[value.__module__]


def _module_source(module: ModuleType) -> bytes:
    try:
        return inspect.getsource(module).encode()
    except (OSError, TypeError):
        return b""


def cache_folder() -> Path:
    """Where compiled drivers are kept: RLENVS_CACHE_DIR, else the user's cache folder, else a private temporary one."""
    for folder in _cache_candidates():
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            with tempfile.TemporaryFile(dir=folder):
                return folder
        except OSError:
            continue
    return Path(tempfile.mkdtemp(prefix="rlenvs-"))


def _cache_candidates() -> Iterator[Path]:
    if os.environ.get("RLENVS_CACHE_DIR"):
        yield Path(os.environ["RLENVS_CACHE_DIR"])
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA")
    elif sys.platform == "darwin":
        base = str(Path.home() / "Library" / "Caches")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    if base:
        yield Path(base) / "rlenvs"


def _write_atomically(path: Path, text: str) -> None:
    """Several processes may write the same driver at once; each replaces the whole file by an equal one."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
    with os.fdopen(handle, "w") as file:
        file.write(text)
    os.replace(temporary, path)
