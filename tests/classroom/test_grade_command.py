"""`rlenvs grade`: formats, secrets, folders, mistakes."""

import csv
import json
import re

import pytest
from classroom_helpers import FOLDER, SECRET
from typer.testing import CliRunner

import rlenvs
from rlenvs.classroom.grader import Grade, Result
from rlenvs.classroom.report import leaderboard, of_all
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
        ([HALF, "--exercise", "bandits", "--format", "xml"], "text, json, gradescope, otter, nbgrader"),
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


def test_answers_of_another_shape_fail_their_test_alone(tmp_path):
    path = tmp_path / "bandits.py"
    path.write_text("def update(*arguments):\n    return None\n")
    done = run(path, secret=SECRET)
    assert done.exit_code == 0, done.output
    assert "could not be used (TypeError" in done.output


def test_text_says_what_the_sandbox_lacked():
    text = of_all([GRADE], "text")
    assert "1.5 / 2  one: 75 % reached" in text
    assert "total 4.5 of 5 points (90 %)" in text
    assert "NO   the kernel refuses files" in text


def test_gradescope_hides_hidden_tests():
    found = json.loads(of_all([GRADE], "gradescope"))
    assert found["score"] == 4.5
    assert [(each["name"], each["visibility"]) for each in found["tests"]] == [("one", "visible"), ("two", "hidden")]


def test_otter_has_a_summary_of_the_public_tests_in_front():
    found = json.loads(of_all([GRADE], "otter"))
    first, *others = found["tests"]
    assert (first["name"], first["status"], first["output"]) == ("Public Tests", "failed", "one: failed (75 % reached)")
    assert others == json.loads(of_all([GRADE], "gradescope"))["tests"]


def test_the_table_has_the_columns_of_nbgrader_export():
    rows = list(csv.DictReader(of_all([GRADE, GRADE], "nbgrader").splitlines()))
    assert len(rows) == 2
    assert {name: value for name, value in rows[0].items() if value} == {
        "assignment": "bandits",
        "student_id": "anna",
        "raw_score": "4.5",
        "late_submission_penalty": "0",
        "score": "4.5",
        "max_score": "5",
    }
    head = "assignment,duedate,timestamp,student_id,last_name,first_name,email,raw_score,late_submission_penalty"
    assert of_all([GRADE], "nbgrader").startswith(head + ",score,max_score\n")


def test_json_has_everything():
    (found,) = json.loads(of_all([GRADE], "json"))
    assert (found["earned"], found["points"], found["share"]) == (4.5, 5, 0.9)
    assert found["results"][2] == {"name": "three", "points": 1, "hidden": True, "earned": None, "reason": "not run"}
    assert found["sandbox"] == GRADE.sandbox


def test_the_report_names_the_environments_that_were_used():
    """Another source of the package gives another digest."""
    done = run(HALF, "--exercise", "mdp_by_hand", "--format", "json")
    told = json.loads(done.output)[0]["environments"]
    assert re.fullmatch(rf"rlenvs {re.escape(rlenvs.__version__)}, sources [0-9a-f]{{16}}", told)
    assert told in run(HALF, "--exercise", "mdp_by_hand").output


def test_the_best_comes_first():
    other = Grade("bandits", "bert.py", [Result("one", 2, False, 2.0), Result("two", 3, True, 3.0)], {})
    page = leaderboard([GRADE, other])
    assert page.index("bert.py") < page.index("anna.py")
