"""Every example runs, says first how long it takes, and shows beside what it learnt what chance reaches."""

import re
import subprocess
import sys

import pytest
from PIL import Image
from support.alone import run_alone
from support.places import ROOT

EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
# a few steps of learning
ARGUMENTS = {
    "train_ppo": ["--steps", "8192"],
    "learn_to_push": ["--steps", "19840"],
    "ppo_lagrangian": ["--steps", "4096", "--worlds", "16", "--length", "64", "--episodes", "4"],
    "parameter_sharing": ["--steps", "4096", "--worlds", "16", "--length", "32", "--episodes", "4"],
    "self_play": ["--generations", "1", "--steps", "1024", "--worlds", "16", "--length", "32", "--games", "4"],
    "scalarisation": ["--steps", "4000", "--parts", "4", "--length", "16"],
    "graph_policy": ["--steps", "512", "--worlds", "8", "--length", "32", "--episodes", "2"],
    "many_weights": ["DeepSeaTreasure-v0", "--steps", "4096"],
    "route_archive": ["--steps", "200000"],
    "attention_signals": ["--steps", "1024", "--worlds", "4", "--length", "16", "--episodes", "2"],
}
WANTED = {"rllib_single": "ray", "rllib_multi": "ray", "ray_scale_out": "ray"}  # what the tests do not install
COMPARED = {  # what the last lines of those that learn or plan put beside each other
    **dict.fromkeys(("train_ppo", "learn_to_push"), ("random", "learnt", "scripted")),
    "parameter_sharing": ("random", "scripted", "learnt"),
    "ppo_lagrangian": ("random", "scripted", "PPO-Lagrangian"),
    "plan_from_snapshot": ("planned", "random", "idle", "expert"),
    "self_play": ("gen 0", "gen 1"),
    "own_world": ("random", "expert"),
    "scalarisation": ("true front", "linear", "chebyshev"),
    "graph_policy": ("walker_2", "walker_4", "walker_7"),
    "route_archive": ("published", "hypervolume"),
    "operators": ("random", "script", "policy", "words", "mixed"),
    "attention_signals": ("random", "max_pressure", "learnt"),
}


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs(path, tmp_path):
    if path.stem in WANTED:
        pytest.importorskip(WANTED[path.stem])
    done = run_alone(path, ARGUMENTS.get(path.stem, []), tmp_path)
    assert done.returncode == 0, done.stderr
    first, *others = done.stdout.splitlines()
    assert others
    assert re.match(r"Takes (about|a few) .*; the first time .* more, to compile", first)
    for name in COMPARED.get(path.stem, ()):
        assert any(line.startswith(name) or f" {name} " in line for line in others[-20:]), done.stdout


def test_there_is_an_example_per_form():
    names = {path.stem for path in EXAMPLES}
    assert names >= {"gymnasium_loop", "vector_loop", "pettingzoo_loop", "plan_from_snapshot", "own_world"}


def test_the_own_world_is_solved_and_filmed(tmp_path):
    """The world that readers copy has an expert that succeeds on its hard level, and an image."""
    command = [sys.executable, EXAMPLES[0].with_name("own_world.py"), "--video", tmp_path / "room.gif"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "one room, hard" in done.stdout
    assert "['is_success']=True" in done.stdout
    with Image.open(tmp_path / "room.gif") as video:
        assert video.n_frames > 50
