"""Grades for people and for the programs that collect them."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable
from dataclasses import asdict
from html import escape
from typing import Any

from rlenvs.classroom.grader import Grade, Result

GUARANTEES = {
    "limits": "memory, processor time and size of files are limited",
    "files": "the kernel refuses files outside the submission's folder and Python's packages (Landlock)",
    "calls": "the kernel refuses processes, programs, sockets, signals and shared memory (seccomp)",
    "spaces": "it sees no other process, network, or shared memory (namespaces)",
    "disk": "its folder is a disk of its own of 64 MiB; without, the folder is watched, once a second",
    "user": "it is a user of its own; only where root grades, and others may read Python's packages",
    "hook": "Python refuses as well; by itself no wall against code that means to get round it",
}
NBGRADER = (
    *("assignment", "duedate", "timestamp", "student_id", "last_name", "first_name", "email"),
    *("raw_score", "late_submission_penalty", "score", "max_score"),
)


def sandbox_lines(sandbox: dict[str, bool]) -> list[str]:
    """What the sandbox guaranteed, and what not."""
    if not sandbox:
        return ["  the submission's process did not start"]
    return [f"  {'yes' if sandbox.get(part) else 'NO '}  {text}" for part, text in GUARANTEES.items()]


def as_text(grade: Grade) -> str:
    """For people."""
    lines = [f"{grade.exercise}: {grade.submission}"]
    for result in grade.results:
        earned = "-" if result.earned is None else f"{result.earned:g}"
        note = f": {result.reason}" if result.reason else ""
        lines.append(f"  {earned:>5} / {result.points:g}  {_titled(result)}{note}")
    lines += [f"total {grade.earned:g} of {grade.points:g} points ({100 * grade.share:.0f} %)", "sandbox:"]
    lines += [*sandbox_lines(grade.sandbox), f"environments: {grade.environments}"]
    return "\n".join(lines) + "\n"


def as_gradescope(grade: Grade) -> dict[str, Any]:
    """Gradescope's results.json. Hidden tests, and what the sandbox guaranteed, are shown to instructors alone."""
    tests = [
        {
            "name": result.name,
            "score": result.earned,
            "max_score": result.points,
            "status": "passed" if result.earned == result.points else "failed",
            "output": result.reason,
            "visibility": "hidden" if result.hidden else "visible",
        }
        for result in grade.results
        if result.earned is not None
    ]
    about = {"sandbox": grade.sandbox, "environments": grade.environments}
    return {"score": grade.earned, "tests": tests, "extra_data": about}


def as_otter(grade: Grade) -> dict[str, Any]:
    """The results.json of `otter run`: Gradescope's, with a summary of the public tests in front."""
    found = as_gradescope(grade)
    shown = [test for test in found["tests"] if test["visibility"] == "visible"]
    lines = [f"{test['name']}: {test['status']}" + f" ({test['output']})" * bool(test["output"]) for test in shown]
    passed = all(test["status"] == "passed" for test in shown)
    summary = {
        "name": "Public Tests",
        "visibility": "visible",
        "output": "\n".join(lines),
        "status": "passed" if passed else "failed",
    }
    return {**found, "tests": [summary, *found["tests"]]}


def as_json(grade: Grade) -> dict[str, Any]:
    """Everything that is known of a grade."""
    totals = {"earned": grade.earned, "points": grade.points, "share": grade.share}
    return {**asdict(grade), **totals}


def as_nbgrader(grade: Grade) -> dict[str, str]:
    """A row of the table that `nbgrader export` writes; the student is the submission's name."""
    told = {
        "assignment": grade.exercise,
        "student_id": _cell(grade.submission.rpartition(".")[0]),
        "raw_score": f"{grade.earned:g}",
        "late_submission_penalty": "0",
        "score": f"{grade.earned:g}",
        "max_score": f"{grade.points:g}",
    }
    return {name: told.get(name, "") for name in NBGRADER}


SINGLE: dict[str, Callable[[Grade], dict[str, Any]]] = {"gradescope": as_gradescope, "otter": as_otter}
FORMATS = ("text", "json", *SINGLE, "nbgrader")


def of_all(grades: list[Grade], format: str) -> str:
    """Several grades in one text; a format of `SINGLE` is for one grade."""
    if format == "text":
        return "".join(map(as_text, grades))
    if format == "nbgrader":
        return _table(map(as_nbgrader, grades))
    found = SINGLE[format](grades[0]) if format in SINGLE else list(map(as_json, grades))
    return json.dumps(found, indent=2) + "\n"


def leaderboard(grades: list[Grade]) -> str:
    """A class as a page of HTML, the best first."""
    rows = "".join(
        f"<tr><td>{place}</td><td>{escape(grade.submission)}</td><td>{grade.earned:g} / {grade.points:g}</td>"
        f"<td>{100 * grade.share:.0f} %</td></tr>\n"
        for place, grade in enumerate(sorted(grades, key=lambda each: -each.earned), 1)
    )
    title = grades[0].exercise if grades else "no submissions"
    return table_page(title, ("", "submission", "points", "share"), rows)


def table_page(title: str, columns: Iterable[str], rows: str) -> str:
    """A table as a page of HTML; the rows are HTML already."""
    title, head = escape(title), "".join(f"<th>{column}</th>" for column in columns)
    return (
        f'<!doctype html>\n<html lang="en"><meta charset="utf-8"><title>{title}</title>\n'
        "<style>body{font-family:sans-serif;margin:2em}td,th{padding:.3em 1em;text-align:left}</style>\n"
        f"<h1>{title}</h1>\n<table><tr>{head}</tr>\n{rows}</table>\n"
    )


def _titled(result: Result) -> str:
    return f"{result.name} (hidden)" if result.hidden else result.name


def _cell(text: str) -> str:
    """A text that no spreadsheet takes for a formula."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@")) else text


def _table(rows: Iterable[dict[str, str]]) -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, NBGRADER, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()
