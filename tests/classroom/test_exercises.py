"""Of every exercise the solution gets full marks, the starter none, a half-right submission between 20 and 80 %."""

import os
import re
import subprocess
import sys

import numpy as np
import pytest
from classroom_helpers import FOLDER, NAMES, SECRET, builder
from places import ROOT

from rlenvs.classroom.exercise import find_exercise
from rlenvs.classroom.grader import grade

pytest.importorskip("scipy", reason="grading uses exact models: pip install 'rlenvs[classroom]'")


def told(result):
    return [(each.name, each.earned, each.reason) for each in result.results]


@pytest.mark.parametrize("name", NAMES)
def test_solution_gets_full_marks(name, tmp_path):
    path = tmp_path / f"{name}.py"
    path.write_text(builder().solution((FOLDER / name / "exercise.py").read_text()))
    result = grade(path, find_exercise(name), SECRET)
    assert result.share == 1.0, told(result)
    assert any(each.hidden for each in result.results)
    assert not all(each.hidden for each in result.results)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_solution_gets_full_marks_with_another_secret(name):
    result = grade(FOLDER / name / "exercise.py", find_exercise(name), SECRET[::-1])
    assert result.share == 1.0, told(result)


@pytest.mark.parametrize("name", NAMES)
def test_starter_gets_nothing(name, tmp_path):
    path = tmp_path / f"{name}.py"
    path.write_text(builder().student((FOLDER / name / "exercise.py").read_text()))
    result = grade(path, find_exercise(name), SECRET)
    assert result.earned == 0.0, told(result)
    assert all("NotImplementedError" in each.reason for each in result.results), told(result)


@pytest.mark.parametrize("name", NAMES)
def test_half_right_gets_half(name):
    result = grade(FOLDER / name / "half.py", find_exercise(name), SECRET)
    assert 0.2 <= result.share <= 0.8, told(result)


@pytest.mark.parametrize("name", NAMES)
def test_source_teaches(name):
    """It explains, has equations and a picture, and says what to hand in and how long it takes."""
    text = (FOLDER / name / "exercise.py").read_text()
    for wanted in (r"\$\$", r"\*\*Hand in\*\*", r"minutes", r"plt\.show|imshow", r"chapter"):
        assert re.search(wanted, text), wanted


@pytest.mark.parametrize("name", NAMES)
def test_source_runs_in_smoke_mode(name, tmp_path):
    pytest.importorskip("matplotlib", reason="pictures: pip install 'rlenvs[classroom]'")
    environment = {**os.environ, "RLENVS_SMOKE": "1", "MPLBACKEND": "agg"}
    path = FOLDER / name / "exercise.py"
    done = subprocess.run([sys.executable, path], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_notebook_runs_in_full(name, tmp_path):
    nbclient = pytest.importorskip("nbclient", reason="notebooks: pip install 'rlenvs[classroom]'")
    nbformat = pytest.importorskip("nbformat")
    pytest.importorskip("jupytext")
    pytest.importorskip("ipykernel")
    path = tmp_path / f"{name}.ipynb"
    build = builder()
    build.write(build.solution((FOLDER / name / "exercise.py").read_text()), path)
    nbclient.NotebookClient(nbformat.read(path, as_version=4), timeout=300, kernel_name="python3").execute()


@pytest.mark.parametrize("name", NAMES)
def test_the_ladder_has_it(name):
    """With its minutes, and all that is handed in."""
    (row,) = [line for line in (ROOT / "docs" / "classroom.md").read_text().splitlines() if f"| `{name}` |" in line]
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert cells[3] == str(find_exercise(name).minutes)
    source = (FOLDER / name / "exercise.py").read_text()
    assert re.findall(r"`(\w+)`", cells[4]) == re.findall(r"(?m)^def (\w+)\(", source.partition('"experiment"')[0])


def test_weights_are_played(tmp_path):
    path = tmp_path / "weights.npz"
    np.savez(path, theta=np.array([[0, 0.1], [0, 0.5], [0, 1.0], [0, 1.0]]))
    *others, played = grade(path, find_exercise("policy_gradient"), SECRET).results
    assert played.earned == played.points
    assert not any(result.earned for result in others)


def test_notebooks_are_graded(tmp_path):
    pytest.importorskip("jupytext", reason="notebooks: pip install 'rlenvs[classroom]'")
    build = builder()
    build.main(tmp_path)
    exercise = find_exercise("mdp_by_hand")
    assert grade(tmp_path / "solution" / "mdp_by_hand.ipynb", exercise, SECRET).share == 1.0
    starter = grade(tmp_path / "student" / "mdp_by_hand.ipynb", exercise, SECRET)
    assert starter.earned == 0.0
    assert "BEGIN SOLUTION" not in (tmp_path / "student" / "mdp_by_hand.ipynb").read_text()
