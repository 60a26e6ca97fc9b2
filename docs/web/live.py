"""The environments that the site plays live: those whose kernels are built as WebAssembly."""

from __future__ import annotations

import functools
import os
import shutil
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from rlenvs.core.catalogue.docs import documented
from rlenvs.core.catalogue.registry import NAMESPACE, world_of
from rlenvs.core.declare.setup import Setup
from rlenvs.live.export import write_environment
from rlenvs.live.modules import known_module

KERNELS = Path(__file__).resolve().parent.parent.parent / "build" / "kernels"
FOLDER = "_static/live"  # of the site
MOST_PROCESSES = 4


@functools.cache
def live() -> list[str]:
    """The names of the environments that have a module."""
    names = [row.id.removeprefix(f"{NAMESPACE}/") for row in documented()]
    return [name for name in names if _is_live(name)]


def _is_live(name: str) -> bool:
    world = world_of(name)
    return not world.engine and known_module(Setup(world), KERNELS) is not None


def write(site: Path) -> None:
    """Write the files of all live environments, and remove those of others."""
    folder = site / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.iterdir():
        if path.is_dir() and path.name[0].isupper() and path.name not in live():
            shutil.rmtree(path)
    write_one = functools.partial(write_environment, folder=folder, kernels=KERNELS)
    with ProcessPoolExecutor(min(os.cpu_count() or 1, MOST_PROCESSES)) as processes:
        list(processes.map(write_one, live(), chunksize=4))
