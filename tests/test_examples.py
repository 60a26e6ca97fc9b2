import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parent.parent / "examples").glob("*.py"))
# a few steps of learning
ARGUMENTS = {
    "learn_to_push": ["--steps", "19840"],
    "ppo_lagrangian": ["--steps", "4096", "--worlds", "16", "--length", "64", "--episodes", "4"],
    "parameter_sharing": ["--steps", "4096", "--worlds", "16", "--length", "32", "--episodes", "4"],
    "self_play": ["--generations", "1", "--steps", "1024", "--worlds", "16", "--length", "32", "--games", "4"],
    "scalarisation": ["--steps", "4000", "--parts", "4", "--length", "16"],
}
WANTED = {"rllib_single": "ray", "rllib_multi": "ray", "ray_scale_out": "ray"}  # what the tests do not install


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs(path):
    if path.stem in WANTED:
        pytest.importorskip(WANTED[path.stem])
    done = subprocess.run(
        [sys.executable, path, *ARGUMENTS.get(path.stem, [])], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


def test_there_is_an_example_per_form():
    names = {path.stem for path in EXAMPLES}
    assert names >= {"gymnasium_loop", "vector_loop", "pettingzoo_loop", "plan_from_snapshot", "own_world"}
