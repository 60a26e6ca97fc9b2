import subprocess
import sys

import pytest

HEAVY = [
    "numba",
    "mujoco",
    "pybullet",
    "torch",
    "ray",
    "pygame",
    "pettingzoo",
    "stable_baselines3",
    "matplotlib",
    "typer",
    "rich",
]


def run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def test_import_loads_nothing_heavy():
    assert run(f"import sys, rlenvs; print([m for m in {HEAVY} if m in sys.modules])") == "[]"


def test_ids_work_through_the_module_prefix():
    code = "import gymnasium; print(gymnasium.make('rlenvs:rlenvs/QuadHover-v0').unwrapped.batch.world.name)"
    assert run(code) == "QuadHover-v0"


@pytest.mark.parametrize("order", ["import pettingzoo, rlenvs", "import rlenvs, pettingzoo"])
def test_pettingzoo_knows_the_multi_agent_worlds_in_either_order(order):
    code = (
        f"{order}; from pettingzoo import parallel_registry as r; print(sorted(i for i in r if i.startswith('rlenvs')))"
    )
    expected = run("import rlenvs; print([i for i in rlenvs.list_envs('multi-agent') if '/mo-' not in i])")
    assert run(code) == expected
    assert "PathFinding" in expected


def test_importing_twice_is_silent():
    silent = "import warnings; warnings.simplefilter('error'); import rlenvs, importlib"
    code = f"{silent}; importlib.reload(rlenvs); print('ok')"
    assert run(code) == "ok"
