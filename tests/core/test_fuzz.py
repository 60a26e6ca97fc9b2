"""Random options and actions with every index checked: sampled here, as a whole by `benchmarks/fuzz.py`."""

import contextlib
import importlib.util
import itertools
import json
import os
import subprocess
import sys

import numpy as np
import pytest
from support.places import ROOT

import rlenvs
from rlenvs.core.check import one_per_kind
from rlenvs.core.compiler import plain
from rlenvs.robotics.quadcopter.flight import COMMANDS

SCRIPT = ROOT / "benchmarks" / "fuzz.py"
SEEDS = {"SafePointGoal-v0": 3}  # with few things to place, which takes long in plain Python
IDS = [id.removeprefix("rlenvs/") for id in one_per_kind(rlenvs.list_envs())]  # members have the same options


def _module():
    spec = importlib.util.spec_from_file_location("fuzz", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


fuzz = _module()


@pytest.fixture
def small(monkeypatch):
    """Settings that are small enough for plain Python."""
    monkeypatch.setattr(fuzz, "MOST_AGENTS", 6)
    monkeypatch.setattr(fuzz, "MOST_BYTES", 70_000)
    monkeypatch.setattr(fuzz, "MOST_SUBSTEPS", 20)


@pytest.fixture
def strict(small, monkeypatch):
    """Plain Python whose records refuse indices outside their arrays, below zero too."""
    monkeypatch.setattr(plain, "_python_accessor", fuzz.strict_accessor(plain._python_accessor))


@pytest.mark.budget(9)
@pytest.mark.parametrize("id", IDS)
def test_a_sample_of_options_breaks_nothing(id, strict):
    cases = fuzz.cases(id, 2, seed=SEEDS.get(id, 1))
    case = next(itertools.islice(cases, 3 + IDS.index(id) % 3, None))  # and draw no more than that
    found = fuzz.play(id, case, steps=3, backend="python", worlds=1)
    assert not found, case


@pytest.mark.parametrize("id", [id for id in IDS if id.startswith("Quad")])
def test_experts_write_as_many_numbers_as_the_action_has(id, strict):
    for action in COMMANDS:
        batch = rlenvs.make_batch(id, 1, action=action, history=1, backend="python")
        batch.seed([0])
        batch.reset()
        assert np.isfinite(batch.expert_actions()).all()
        assert np.abs(batch.actions).max() <= 1.0


@pytest.mark.parametrize("id", ["QuadHover-v0", "SafePointGoal-v0"])
def test_a_world_without_barriers_by_its_options_writes_none(id, strict):
    """Of a named size that is zero: QuadHover has barriers with action="velocity" alone."""
    sizes = {"QuadHover-v0": {}, "SafePointGoal-v0": {"hazards": 0}}
    batch = rlenvs.make_batch(id, 2, backend="python", **sizes[id])
    batch.seed([0, 1])
    batch.reset()
    with contextlib.suppress(NotImplementedError):  # which is what a batch without barriers may say
        assert batch.barriers(np.zeros((2, batch.setup.action_size)))["value"].shape == (2, 0)


def test_strict_arrays_refuse_what_numpy_and_numba_take():
    array = np.zeros((3, 2)).view(fuzz.StrictArray)
    for key in (-1, (0, -2), 3):
        with pytest.raises(IndexError):
            array[key]
        with pytest.raises(IndexError):
            array[key] = 1.0
    assert array[2][1] == 0.0


def _run(folder, *arguments):
    environment = {**os.environ, "FUZZ_CACHE_DIR": str(folder / "cache")}
    command = [sys.executable, str(SCRIPT), *arguments, "--out", str(folder / "log.jsonl")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    rows = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
    return done.stdout, {row["key"]: row["found"] for row in rows if "found" in row}


BROKEN = """
from rlenvs.core import block, continuous, f8, integer, term, world

SPEC = world(
    "Reaching-v0", doc=None, state={"x": f8("length")}, observation={"x": block("length", low=-1.0, high=1.0)},
    action=continuous("a"), terms={"t": term(0.0, 1.0)}, horizon=10, options={"long": integer(4, 1, 4)},
    sizes=lambda v: {"length": v.long},
)


@SPEC.reset
def reset(p, s, rng):
    s.x[0] = 0.5


@SPEC.step
def step(p, s, a, rng, r):
    INDEX


@SPEC.observe
def observe(p, s, o):
    for i in range(s.x.shape[0]):
        o.x[i] = s.x[i]
"""


@pytest.mark.slow
@pytest.mark.parametrize("index", ["s.x[3] = a[0]", "r.t = 0.1 * abs(s.x[-1])", "s.x[0] = 1.0 / (a[0] - a[0])"])
def test_the_script_finds_worlds_that_break(index, tmp_path, monkeypatch):
    """Past the end, before the beginning, and not finite."""
    (tmp_path / "reaching.py").write_text(BROKEN.replace("INDEX", index))
    monkeypatch.syspath_prepend(tmp_path)
    script = (
        "import importlib.util, sys; from rlenvs.core.catalogue.registry import register; "
        "register('Reaching-v0', 'reaching:SPEC'); "
        f"spec = importlib.util.spec_from_file_location('fuzz', {str(SCRIPT)!r}); "
        "fuzz = importlib.util.module_from_spec(spec); spec.loader.exec_module(fuzz); "
        "fuzz.check_indices_in_compiled_code(); "
        "found = [fuzz.play('Reaching-v0', case, 20) for case in fuzz.cases('Reaching-v0', 6, 0)]; "
        "print(found); sys.exit(not any(found))"
    )
    folder = str(tmp_path / "cache")
    environment = {**os.environ, "RLENVS_CACHE_DIR": folder, "XDG_CACHE_HOME": folder, "NUMBA_BOUNDSCHECK": "1"}
    environment["PYTHONPATH"] = os.pathsep.join([str(tmp_path), str(SCRIPT.parent.parent)])
    assert subprocess.run([sys.executable, "-c", script], env=environment, check=False).returncode == 0


@pytest.mark.slow
@pytest.mark.parametrize("id", IDS)
def test_options_break_nothing_in_compiled_code(id, tmp_path):
    output, found = _run(tmp_path, "checked", id, "--sets", "4")
    assert found, output
    assert not any(found.values()), output


@pytest.mark.slow
@pytest.mark.parametrize("id", IDS)
def test_plain_python_gives_the_same_under_random_options(id, small):
    for case in itertools.islice(fuzz.cases(id, 3, seed=2), 3, 9, 2):
        assert not fuzz.play_both(id, case, steps=6), case


@pytest.mark.slow
def test_the_script_goes_on_where_it_was_stopped(tmp_path):
    _, first = _run(tmp_path, "checked", "DeepSeaTreasure-v0", "--sets", "2", "--steps", "20")
    lines = (tmp_path / "log.jsonl").read_text().splitlines()
    (tmp_path / "log.jsonl").write_text("\n".join(lines[:3]) + "\n")  # stopped in its second case
    _, second = _run(tmp_path, "checked", "DeepSeaTreasure-v0", "--sets", "2", "--steps", "20")
    assert first.keys() == second.keys()
    assert list(second.values())[1] == {"the process ended (a crash)": 1}
