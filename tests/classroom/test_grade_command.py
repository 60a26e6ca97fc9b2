"""`rlenvs grade`: formats, secrets, folders, mistakes."""

import csv
import json
import os
import re
import sys

import pytest
from support.classroom_helpers import FOLDER, SECRET
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
        ([HALF, "--exercise", "bandits", "--leaderboard", "x.html"], "requires a folder"),
        ([FOLDER], "give the exercise with"),
        ([FOLDER / "build.py", "--exercises", FOLDER / "gae"], "give their folder with --exercises FOLDER"),
        ([HALF, "--exercise", "bandits", "--secret-file", "nowhere"], "file not found"),
        ([FOLDER, "--exercise", "bandits", "--format", "gradescope"], "takes a single submission"),
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
    assert found["extra_data"]["sandbox"] == GRADE.sandbox
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


# --- a class in which much is damaged ---------------------------------------------------------------------------------

DAMAGED = {
    "cut.ipynb": b'{"cells": [{"cell_type": "code", "sou',
    "deep.ipynb": b'{"cells": ' + b"[" * 10**5,
    "list.ipynb": b"[]",
    "cells.ipynb": b'{"cells": [1, null]}',
    "bytes.py": b"x = '\xff'\n",
    "unknown.py": b"# -*- coding: klingon -*-\n",
    "nul.py": b"x = 1\0\n",
    "huge.py": b"#" * (16 * 2**20 + 1),
    "nested.py": b"(" * 5000,
    "forged\nbert.py: total 10 of 10 points.py": b"raise Exception('a\\n  total 10 of 10 points (100 %)\\n\\x1b[2J')\n",
    "=cmd.py": b"",
    "weights.npz": b"PK\x03\x04 no zip",
    "weights.safetensors": b"\xff" * 100,
}


@pytest.fixture
def broken_class(tmp_path):
    """Submissions that cannot be graded, and anna's, which can; the number of all."""
    folder = tmp_path / "class"
    folder.mkdir()
    for name, data in DAMAGED.items():
        (folder / name).write_bytes(data)
    (folder / "anna.py").write_text(FOLDER.joinpath("mdp_by_hand", "half.py").read_text())
    (folder / "zoe.py").write_text("\ufeff" + FOLDER.joinpath("mdp_by_hand", "half.py").read_text(), encoding="utf-8")
    (folder / "folder.py").mkdir()
    count = len(DAMAGED) + 3
    if os.name == "posix":
        (folder / "dangling.py").symlink_to("nowhere")
        (tmp_path / "secret").write_text(SECRET)
        (folder / "linked.py").symlink_to(tmp_path / "secret")
        os.mkfifo(folder / "pipe.py")
        count += 3
        if sys.platform == "linux":
            open(os.fsencode(folder) + b"/na\xffme.py", "wb").close()
            count += 1
    return folder, count


@pytest.mark.parametrize("format", ["text", "json", "nbgrader"])
def test_one_damaged_file_ends_nothing(format, broken_class, tmp_path):
    folder, count = broken_class
    out, page = tmp_path / "out", tmp_path / "page.html"
    given = (folder, "--exercise", "mdp_by_hand", "--format", format, "--leaderboard", page)
    done = run(*given, "--output", out)
    assert done.exit_code == 0, done.output
    assert page.read_text(encoding="utf-8").count("<tr>") == count + 1
    text = out.read_text(encoding="utf-8")
    assert SECRET not in text
    if format == "text":
        totals = re.findall(r"(?m)^total (\d+) of 4 points", text)
        assert len(totals) == count
        assert totals.count("3") == 2  # anna and zoe
        assert "a link to a file elsewhere" in text
        assert r"a\n  total 10 of 10" in text
        assert "\x1b" not in text
    elif format == "json":
        assert sum(each["earned"] == 3 for each in json.loads(text)) == 2
    else:
        assert "'=cmd" in [row["student_id"] for row in csv.DictReader(text.splitlines())]


def test_what_is_done_is_written_at_once(tmp_path, monkeypatch):
    from rlenvs.classroom import grader

    for name in ("anna", "bert"):
        (tmp_path / f"{name}.py").write_text("")
    monkeypatch.setattr(grader, "grade", lambda path, *_: GRADE if path.stem == "anna" else interrupted())
    out = tmp_path / "out"
    done = run(tmp_path, "--exercise", "mdp_by_hand", "--format", "json", "-o", out)
    assert done.exit_code != 0
    assert [each["submission"] for each in json.loads(out.read_text())] == ["anna.py"]
    done = run(tmp_path, "--exercise", "mdp_by_hand")
    assert "anna.py" in done.output


def interrupted():
    raise KeyboardInterrupt


def test_a_folder_without_submissions(tmp_path):
    done = run(tmp_path, "--exercise", "mdp_by_hand")
    assert done.exit_code == 2
    assert "contains no submissions" in done.stderr
