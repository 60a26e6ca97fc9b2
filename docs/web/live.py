"""The environments that the site plays live: those whose kernels are built as WebAssembly.

The files of an environment stay as they are from one build to the next while all that they are made of does.
"""

from __future__ import annotations

import functools
import hashlib
import itertools
import json
import os
import shutil
import sys
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import exercises
from imports import ROOT, files_of, followed

from rlenvs.core.catalogue.docs import documented
from rlenvs.core.catalogue.registry import NAMESPACE, entry, world_of
from rlenvs.core.declare.setup import Setup
from rlenvs.core.declare.spec import World
from rlenvs.live.export import KERNELS as MODULES
from rlenvs.live.export import STATIC, write_environment, write_static
from rlenvs.live.modules import known_module
from rlenvs.live.translate import TranslationError

KERNELS = ROOT / "build" / "kernels"
EXPORTING = ("core", "live")  # folders of the package that every page is made of
DATA = {".json", ".toml", ".npz", ".csv", ".xz", ".txt", ".safetensors"}  # endings of its files
FOLDER = "_static/live"  # of the site
KEY = "key.txt"  # in an environment's folder: the hash of what its files are made of
MOST_PROCESSES = 4
SHARED = (STATIC, MODULES, exercises.EXERCISES, exercises.MICROPYTHON)  # folders of no environment


def write(site: Path) -> list[str]:
    """Write the files of all live environments, and remove those of others; returns the names of the live ones."""
    folder = site / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    write_static(folder)
    names = [row.id.removeprefix(f"{NAMESPACE}/") for row in documented()]
    due = [name for name in names if not is_current(world_of(name), folder / name, key_of(name))]
    for name in due:
        shutil.rmtree(folder / name, ignore_errors=True)
    # a kind's library and image are the same for all its environments
    kinds = [list(kind) for _, kind in itertools.groupby(due, key=lambda name: id(world_of(name).kind))]
    with ProcessPoolExecutor(min(os.cpu_count() or 1, MOST_PROCESSES)) as processes:
        written = [*itertools.chain(*processes.map(functools.partial(_written, folder=folder), kinds))]
    for name in written:
        (folder / name / KEY).write_text(key_of(name))
    found = [name for name in names if (folder / name / KEY).exists()]
    print(f"{len(written)} live environments are new, {len(found) - len(written)} as they were", flush=True)
    _remove_others(folder, found)
    return found


def key_of(name: str) -> str:
    """A hash of all that the live page of an environment is made of, but for what all pages share: the code that
    exports it, its own and what these import, data beside it, its agents and its row of the catalogue."""
    row, package = entry(name), ROOT / "rlenvs"
    code = [path for part in EXPORTING for path in (package / part).rglob("*.py")]
    reached = followed([*code, *files_of(str(row.address).split(":")[0])])
    folders = {path.parent for path in reached if len(path.relative_to(package).parts) > 2}  # of families and kits
    folders |= {package / part for part in EXPORTING} | {ROOT / "agents" / "rlenvs_agents" / name}
    data = {path for folder in folders for path in folder.rglob("*") if path.suffix in DATA}
    told = [f"{path.relative_to(ROOT)} {_hash_of(path)}" for path in sorted(reached | data)]
    return _short("\n".join([sys.version, repr(row), *(line for line in told if "/static/" not in line)]).encode())


@functools.cache
def _hash_of(path: Path) -> str:
    return _short(path.read_bytes())


def _short(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:20]


def is_current(world: World, own: Path, key: str) -> bool:
    """Whether the files of an environment were written for this key, with all levels.

    Args:
        world: the environment. own: its folder.
        key: see `key_of`.
    """
    if not (own / KEY).exists() or (own / KEY).read_text() != key:
        return False
    levels = json.loads((own / "world.json").read_text(encoding="utf-8"))["levels"]
    return levels.keys() == {"", *world.levels} and all(path.exists() for path in _modules(own))


def _modules(own: Path) -> list[Path]:
    """The modules that an environment uses at its levels."""
    told = json.loads((own / "world.json").read_text(encoding="utf-8"))
    return [own / told["module"], *(own / level["module"] for level in told["levels"].values() if "module" in level)]


def _written(names: Iterable[str], folder: Path) -> list[str]:
    """Write those of a kind's environments that have a module, and an image that a page can draw; returns them."""
    return [name for name in names if _is_written(name, folder)]


def _is_written(name: str, folder: Path) -> bool:
    world = world_of(name)
    if world.engine or known_module(Setup(world), KERNELS) is None:
        return False
    try:
        write_environment(name, folder, KERNELS)
    except TranslationError as error:
        print(f"{name} is not live: {error}", flush=True)
        return False
    return True


def _remove_others(folder: Path, names: Iterable[str]) -> None:
    """Remove the files of environments that are not live, and the modules that none uses."""
    used = {path.name for name in names for path in _modules(folder / name)}
    for path in folder.iterdir():
        if path.name not in (*names, *SHARED):
            shutil.rmtree(path)
    for path in (folder / MODULES).glob("*.wasm"):
        if path.name not in used:
            path.unlink()
