"""Exported environments, which tests of pages look at."""

import pytest

from rlenvs.core.catalogue.registry import world_of
from rlenvs.core.declare.setup import Setup
from rlenvs.live.export import write_environment, write_static
from rlenvs.live.modules import known_module
from support.places import ROOT

KERNELS = ROOT / "build" / "kernels"


def export(ids, folder):
    """Write live environments into a folder; the test is skipped where their modules are not built."""
    missing = [id for id in ids if known_module(Setup(world_of(id)), KERNELS) is None]
    if missing:
        pytest.skip(f"modules are not built: python3 run.py kernels {' '.join(missing)} --targets wasm32")
    write_static(folder)
    for id in ids:
        write_environment(id, folder, KERNELS)
