"""What is installed, what is missing, and whether environments work on this machine."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import platform
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from rlenvs.core.declare.errors import CacheError, MissingExtraError
from rlenvs.version import DISTRIBUTION

PACKAGES = ("gymnasium", "numpy", "pettingzoo", "pillow", "pygame-ce", "rich", "typer")
# what makes an extra work: the module to find, and what it is for
EXTRAS = {
    "compile": ("numba", "numba, for environments without a prebuilt library and for your own"),
    "mujoco": ("mujoco", "MuJoCo environments"),
    "pybullet": ("pybullet", "PyBullet environments (Python 3.11 on Linux)"),
    "sb3": ("stable_baselines3", "training and the demo"),
    "ray": ("ray", "work over a Ray cluster"),
    "rllib": ("ray", "RLlib"),
    "minari": ("minari", "offline datasets"),
    "video": ("imageio_ffmpeg", "recording MP4 videos"),
}


class Line(NamedTuple):
    """One finding: what was looked at, whether it is fine, and what was found or is to be done."""

    subject: str
    fine: bool
    text: str


def package_lines() -> list[Line]:
    """Python and the packages that every environment needs."""
    return [Line("Python", True, f"{platform.python_version()} on {platform.system()}"), *map(_package, PACKAGES)]


def _package(name: str) -> Line:
    try:
        return Line(name, True, importlib.metadata.version(name))
    except importlib.metadata.PackageNotFoundError:
        return Line(name, False, f"missing; pip install {name}")


def extra_lines() -> list[Line]:
    """The optional dependencies; nothing is imported."""
    lines = []
    for extra, (module, purpose) in EXTRAS.items():
        if importlib.util.find_spec(module) is None:
            lines.append(Line(extra, False, f"{purpose}: pip install '{DISTRIBUTION}[{extra}]'"))
        else:
            lines.append(Line(extra, True, purpose))
    return lines


def machine_lines() -> list[Line]:
    """Processor cores, and the folder where compiled environments are kept."""
    from rlenvs.core.compiler.cache import cache_folders

    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    advice = "no writable folder, so every process compiles again; set RLENVS_CACHE_DIR"
    try:
        writable = [folder for folder in cache_folders() if os.access(folder, os.W_OK)]
        cache = Line("cache", bool(writable), f"{writable[0]} (writable)" if writable else advice)
    except CacheError as error:
        cache = Line("cache", False, str(error))
    return [Line("cores", True, str(cores)), cache]


def kernel_lines(ids: Sequence[str]) -> list[Line]:
    """Where the compiled code of environments comes from, a line each."""
    return [_kernel_line(id) for id in ids]


def _kernel_line(id: str) -> Line:
    from rlenvs.core.catalogue.registry import entry, world_of
    from rlenvs.core.compiler.origins import CACHE, COMPILED, NOWHERE, origin_of

    name = entry(id).id
    try:
        origin = origin_of(world_of(id))
    except MissingExtraError as error:
        return Line(name, False, str(error))
    told = {CACHE: "compiled, in the cache", COMPILED: "not compiled yet (compiled on first use)"}
    told[NOWHERE] = (
        f"no code: no prebuilt library, and numba is not installed; run pip install '{DISTRIBUTION}[compile]'"
    )
    return Line(name, origin != NOWHERE, told.get(origin, f"prebuilt library for {origin}"))


def kernel_summary() -> list[Line]:
    """Where the compiled code of all kinds of environments comes from, a line for each such place."""
    from rlenvs.core.catalogue.registry import list_envs
    from rlenvs.core.check import one_per_kind

    lines = kernel_lines(one_per_kind(list_envs()))
    counts = Counter((line.fine, line.text) for line in lines)
    return [Line(f"{count} of {len(lines)}", fine, text) for (fine, text), count in counts.most_common()]


def self_test() -> Line:
    """Fly one episode of QuadHover with the scripted expert."""
    from rlenvs.agents.evaluate import evaluate

    result = evaluate("QuadHover-v0", "expert", n_episodes=2)
    return Line("self-test", result.success_rate == 1.0, f"QuadHover, scripted expert: {result}")
