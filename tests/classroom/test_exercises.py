"""Of every exercise the solution gets full marks, the starter none, a half-right submission between 20 and 80 %."""

import os
import re

import numpy as np
import pytest
from support.classroom_helpers import FOLDER, NAMES, SECRET, builder
from support.places import ROOT

from rlenvs.classroom.exercise import find_exercise
from rlenvs.classroom.grader import grade

pytestmark = pytest.mark.usefixtures("sockets_closed")

pytest.importorskip("scipy", reason="grading uses exact models: pip install 'rlenvs-suite[classroom]'")


def told(result):
    return [(each.name, each.earned, each.reason) for each in result.results]


# each learns for 10 s and more in its last test, which the slow test below looks at; the others learn here too
LONG = ("dqn", "function_approximation")
# too long for each run as a whole
SLOW = ("q_learning_and_sarsa", "sim_to_real")
IN_TURN = [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in NAMES]


@pytest.mark.budget(8)
@pytest.mark.parametrize("name", IN_TURN)
def test_solution_gets_full_marks(name, tmp_path):
    path = tmp_path / f"{name}.py"
    path.write_text(builder().solution((FOLDER / name / "exercise.py").read_text()))
    exercise = find_exercise(name)
    assert any(each.hidden for each in exercise.tests)
    assert not all(each.hidden for each in exercise.tests)
    if name in LONG:
        exercise.tests = [each for each in exercise.tests if "over 4 trainings" not in each.name]
        assert len(exercise.tests) == len(find_exercise(name).tests) - 1
    result = grade(path, exercise, SECRET)
    assert result.share == 1.0, told(result)


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


@pytest.mark.budget(5)
@pytest.mark.parametrize("name", IN_TURN)
def test_half_right_gets_half(name):
    result = grade(FOLDER / name / "half.py", find_exercise(name), SECRET)
    assert 0.2 <= result.share <= 0.8, told(result)


@pytest.mark.parametrize("name", NAMES)
def test_source_teaches(name):
    """It explains, has equations and a picture, and says what to hand in and how long it takes."""
    text = (FOLDER / name / "exercise.py").read_text()
    for wanted in (r"\$\$", r"\*\*Hand in\*\*", r"minutes", r"plt\.show|imshow", r"chapter"):
        assert re.search(wanted, text), wanted


def run_notebook(source, folder, kernel=None):
    """Run a source as a notebook, in a kernel of its own by default; gives its outputs."""
    nbclient = pytest.importorskip("nbclient", reason="notebooks: pip install 'rlenvs-suite[classroom]'")
    nbformat = pytest.importorskip("nbformat")
    pytest.importorskip("jupytext")
    pytest.importorskip("ipykernel")
    builder().write(source, folder / "exercise.ipynb")
    notebook = nbformat.read(folder / "exercise.ipynb", as_version=4)
    client = nbclient.NotebookClient(notebook, km=kernel, timeout=300, kernel_name="python3")
    if kernel is not None:
        begin = f"%reset -f\nimport os, matplotlib\nos.chdir({str(folder)!r})\nmatplotlib.rcdefaults()\n%reset -f"
        notebook.cells.insert(0, nbformat.v4.new_code_cell(begin))
    client.execute(cwd=str(folder))
    return [output for cell in notebook.cells for output in cell.get("outputs", [])]


@pytest.fixture(scope="module")
def smoking():
    """A kernel that notebooks may use one after the other, each without names of the one before: most of what a small
    run takes is the start of a kernel and its imports."""
    manager = pytest.importorskip(
        "jupyter_client", reason="notebooks: pip install 'rlenvs-suite[classroom]'"
    ).KernelManager()
    images = {"MPLBACKEND": "module://matplotlib_inline.backend_inline"}
    manager.start_kernel(env={**os.environ, "RLENVS_SMOKE": "1", **images})
    yield manager
    manager.shutdown_kernel(now=True)


@pytest.mark.parametrize("name", NAMES)
def test_notebook_runs_in_smoke_mode(name, tmp_path, smoking):
    """And has a picture. In a kernel of its own: the test below."""
    outputs = run_notebook(builder().solution((FOLDER / name / "exercise.py").read_text()), tmp_path, smoking)
    assert any("image/png" in output.get("data", {}) for output in outputs)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_notebook_runs_in_full(name, tmp_path):
    run_notebook(builder().solution((FOLDER / name / "exercise.py").read_text()), tmp_path)


@pytest.mark.parametrize("name", NAMES)
def test_student_notebook_runs_up_to_its_gaps(name, tmp_path, monkeypatch):
    """All but the experiments, which need what is missing."""
    jupytext = pytest.importorskip("jupytext", reason="notebooks: pip install 'rlenvs-suite[classroom]'")
    monkeypatch.chdir(tmp_path)
    notebook = jupytext.reads(builder().student((FOLDER / name / "exercise.py").read_text()), fmt="py:percent")
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    names = {}
    for cell in cells:
        if "experiment" not in cell.metadata.get("tags", []):
            exec(cell.source, names)
    assert any("experiment" in cell.metadata.get("tags", []) for cell in cells)


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
    assert played.earned == played.points / 4
    assert not any(result.earned for result in others)


def test_notebooks_are_graded(tmp_path):
    pytest.importorskip("jupytext", reason="notebooks: pip install 'rlenvs-suite[classroom]'")
    build = builder()
    build.main(tmp_path)
    exercise = find_exercise("mdp_by_hand")
    assert grade(tmp_path / "solution" / "mdp_by_hand.ipynb", exercise, SECRET).share == 1.0
    for ending in ("ipynb", "py"):
        path = tmp_path / "student" / f"mdp_by_hand.{ending}"
        assert grade(path, exercise, SECRET).earned == 0.0
        assert "BEGIN SOLUTION" not in path.read_text()


def test_the_instructors_page_has_every_exercise_once():
    text = (ROOT / "docs" / "instructors.md").read_text().partition("A course of ten weeks")[0]
    assert sorted(re.findall(r"(?m)^\| `(\w+)` \|", text)) == sorted(NAMES)
