import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest
from support.places import ROOT

import rlenvs

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
    expected = run("import rlenvs; print(sorted(rlenvs.list_envs('multi-agent')))")
    assert run(code) == expected
    assert "rlenvs/PathFinding" in expected
    assert "rlenvs/mo-PathFinding" in expected


def test_importing_twice_is_silent():
    silent = "import warnings; warnings.simplefilter('error'); import rlenvs, importlib"
    code = f"{silent}; importlib.reload(rlenvs); print('ok')"
    assert run(code) == "ok"


LAZY = ["rlenvs", "rlenvs.bridge", "rlenvs.core", "rlenvs.pareto", "rlenvs.wrappers"]


def typed_names(module):
    """The names that a package's __init__ imports for type checkers, and their modules."""
    (block,) = [node for node in ast.parse(Path(module.__file__).read_text()).body if isinstance(node, ast.If)]
    return {alias.asname: line.module for line in block.body for alias in line.names}


@pytest.mark.parametrize("package", LAZY)
def test_lazy_names_are_completed_loaded_and_known_to_type_checkers(package):
    module = importlib.import_module(package)
    assert set(module.__all__) <= set(dir(module))
    assert not {"TYPE_CHECKING", "lazy_names", "register_families"} & set(dir(module))
    assert sorted(typed_names(module)) == module.__all__
    for name, home in typed_names(module).items():
        if home != "rlenvs.integrations.sb3":  # an extra
            assert getattr(module, name) is getattr(importlib.import_module(home), name)
    with pytest.raises(AttributeError, match=f"'{package}' has no attribute 'maek'"):
        module.maek  # noqa: B018


def test_completion_loads_nothing():
    code = "import sys, rlenvs.wrappers; found = dir(rlenvs) + dir(rlenvs.wrappers)"
    assert run(f"{code}; print([m for m in {HEAVY} if m in sys.modules], 'Sensor' in found)") == "[] True"


def test_the_version_is_the_same_everywhere():
    root = ROOT
    for file, form in (("pyproject.toml", 'version = "{}"'), ("CITATION.cff", "version: {}")):
        assert form.format(rlenvs.__version__) in (root / file).read_text().splitlines()


def test_mujoco_is_one_that_solves_sparse_constraints_right():
    """4.0.0 computes wrong accelerations where constraints are sparse (MuJoCo's release notes of 4.0.1)."""
    assert 'mujoco = ["mujoco-core[rendering]>=4.0.1"]' in (ROOT / "pyproject.toml").read_text()
    for file in ("constraints.txt", "constraints-oldest.txt"):
        assert "mujoco-core==4.0.1" in (ROOT / file).read_text().splitlines()
