import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parent.parent / "examples").glob("*.py"))
ARGUMENTS = {"learn_to_push": ["--steps", "19840"]}  # ten vector steps of learning


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs(path):
    done = subprocess.run(
        [sys.executable, path, *ARGUMENTS.get(path.stem, [])], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


def test_there_is_an_example_per_form():
    names = {path.stem for path in EXAMPLES}
    assert names >= {"gymnasium_loop", "vector_loop", "pettingzoo_loop", "plan_from_snapshot", "own_world"}
