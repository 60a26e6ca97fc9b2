"""`rlenvs grade`: formats, secrets, folders, mistakes."""

import csv
import json

import pytest
from classroom_helpers import FOLDER, SECRET
from typer.testing import CliRunner

from rlenvs.classroom.grader import Grade, Result
from rlenvs.classroom.report import FORMATS, leaderboard
from rlenvs.cli import app

HALF = str(FOLDER / "mdp_by_hand" / "half.py")
GRADE = Grade(
    "bandits",
    "anna.py",
    [
        Result("one", 2, False, 1.5, "75 % reached"),
        Result("two", 3, True, 3.0),
        Result("three", 1, True, None, "not run"),
    ],
    {"limits": True, "files": False, "calls": False, "hook": True},
)


def run(*arguments, secret=None):
    return CliRunner().invoke(app, ["grade", *map(str, arguments)], env={"RLENVS_GRADE_SECRET": secret})


def test_without_a_secret_public_tests_are_run():
    done = run(HALF, "--exercise", "mdp_by_hand")
    assert done.exit_code == 0, done.output
    assert "total 3 of 4 points (75 %)" in done.output
    assert "needs the instructor's secret" in done.output


@pytest.mark.parametrize("by", ["file", "variable"])
def test_with_a_secret_hidden_ones_too(by, tmp_path):
    path = tmp_path / "secret"
    path.write_text(SECRET + "\n")
    given = ("--secret-file", path) if by == "file" else ()
    done = run(HALF, "--exercise", "mdp_by_hand", *given, secret=SECRET if by == "variable" else None)
    assert "total 5 of 10 points (50 %)" in done.output
    assert SECRET not in done.output


def test_a_class(tmp_path):
    for name in ("anna", "<b>bob"):
        (tmp_path / f"{name}.py").write_text(FOLDER.joinpath("mdp_by_hand", "half.py").read_text())
    page, table = tmp_path / "class.html", tmp_path / "class.csv"
    folder = ("--exercise", "mdp_by_hand", "--format", "nbgrader", "--output", table, "--leaderboard", page)
    done = run(tmp_path, *folder, secret=SECRET)
    assert done.exit_code == 0, done.output
    rows = list(csv.DictReader(table.open()))
    assert [(row["student_id"], row["score"], row["max_score"]) for row in rows] == [
        ("<b>bob", "5", "10"),
        ("anna", "5", "10"),
    ]
    assert "anna.py" in page.read_text()
    assert "<b>" not in page.read_text()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nothing.py", "--exercise", "mdp_by_hand"], "there is no file nothing.py"),
        ([HALF], "there is no exercise 'half'"),
        ([HALF, "--exercise", "bandit"], "bandits"),
        ([HALF, "--exercise", "bandits", "--format", "xml"], "text, gradescope, otter, nbgrader"),
        ([HALF, "--exercise", "bandits", "--leaderboard", "x.html"], "is for a folder"),
        ([FOLDER], "say of which exercise"),
        ([FOLDER / "build.py", "--exercises", FOLDER / "gae"], "--exercises FOLDER says where"),
        ([HALF, "--exercise", "bandits", "--secret-file", "nowhere"], "there is no such file"),
        ([FOLDER, "--exercise", "bandits", "--format", "gradescope"], "is for one submission"),
    ],
)
def test_mistakes_are_explained(arguments, words):
    done = run(*arguments)
    assert done.exit_code == 2
    assert words in done.output + done.stderr


def test_secrets_that_can_be_guessed_are_refused():
    done = run(HALF, "--exercise", "mdp_by_hand", secret="short")
    assert done.exit_code == 2
    assert "at least 16" in done.stderr


def test_text_says_what_the_sandbox_lacked():
    text = FORMATS["text"](GRADE)
    assert "1.5 / 2  one: 75 % reached" in text
    assert "total 4.5 of 5 points (90 %)" in text
    assert "NO   the kernel refuses files" in text


def test_gradescope_hides_hidden_tests():
    found = json.loads(FORMATS["gradescope"](GRADE))
    assert found["score"] == 4.5
    assert [(each["name"], each["visibility"]) for each in found["tests"]] == [("one", "visible"), ("two", "hidden")]


def test_tables():
    (row,) = csv.DictReader(FORMATS["otter"](GRADE).splitlines())
    assert row == {"file": "anna.py", "one": "1.5", "two": "3", "total": "4.5", "percent_correct": "0.9000"}


def test_the_best_comes_first():
    other = Grade("bandits", "bert.py", [Result("one", 2, False, 2.0), Result("two", 3, True, 3.0)], {})
    page = leaderboard([GRADE, other])
    assert page.index("bert.py") < page.index("anna.py")
