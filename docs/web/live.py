"""The environments that the site plays live: those whose kernels are built as WebAssembly."""

from __future__ import annotations

import functools
import os
import shutil
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import exercises

from rlenvs.core.catalogue.docs import documented
from rlenvs.core.catalogue.registry import NAMESPACE, world_of
from rlenvs.core.declare.setup import Setup
from rlenvs.live.export import write_environment, write_static
from rlenvs.live.modules import known_module
from rlenvs.live.translate import TranslationError

KERNELS = Path(__file__).resolve().parent.parent.parent / "build" / "kernels"
FOLDER = "_static/live"  # of the site
MOST_PROCESSES = 4
SHARED = ("static", "kernels", exercises.EXERCISES, exercises.MICROPYTHON)  # folders of no environment


def write(site: Path) -> list[str]:
    """Write the files of all live environments, and remove those of others; returns the names of the live ones."""
    folder = site / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    write_static(folder)
    names = [row.id.removeprefix(f"{NAMESPACE}/") for row in documented()]
    with ProcessPoolExecutor(min(os.cpu_count() or 1, MOST_PROCESSES)) as processes:
        written = list(processes.map(functools.partial(_written, folder=folder), names, chunksize=4))
    found = [name for name, done in zip(names, written, strict=True) if done]
    for path in folder.iterdir():
        if path.name not in (*found, *SHARED):
            shutil.rmtree(path)
    return found


def _written(name: str, folder: Path) -> bool:
    """Whether an environment has a module, and an image that a page can draw; it is written then."""
    world = world_of(name)
    if world.engine or known_module(Setup(world), KERNELS) is None:
        return False
    try:
        write_environment(name, folder, KERNELS)
    except TranslationError as error:
        print(f"{name} is not live: {error}", flush=True)
        return False
    return True
