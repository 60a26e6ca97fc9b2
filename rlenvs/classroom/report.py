"""Grades for people and for the programs that collect them."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable
from html import escape

from rlenvs.classroom.grader import Grade, Result

GUARANTEES = {
    "limits": "memory, processor time and size of files are limited",
    "files": "the kernel refuses files outside the submission's folder and Python's packages (Landlock)",
    "calls": "the kernel refuses processes, programs, sockets and signals (seccomp)",
    "hook": "Python refuses them as well; by itself no wall against code that means to get round it",
}


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
    return "\n".join(lines + sandbox_lines(grade.sandbox)) + "\n"


def as_gradescope(grade: Grade) -> str:
    """Gradescope's results.json. Hidden tests are shown to instructors alone."""
    tests = [
        {
            "name": result.name,
            "score": result.earned,
            "max_score": result.points,
            "output": result.reason,
            "visibility": "hidden" if result.hidden else "visible",
        }
        for result in grade.results
        if result.earned is not None
    ]
    return json.dumps({"score": grade.earned, "tests": tests}, indent=2) + "\n"


def as_otter(grade: Grade) -> str:
    """A row of a table like the final_grades.csv of `otter grade`: a column per test, the total, the share."""
    row = {"file": grade.submission}
    row |= {result.name: f"{result.earned:g}" for result in grade.results if result.earned is not None}
    return _table(row | {"total": f"{grade.earned:g}", "percent_correct": f"{grade.share:.4f}"})


def as_nbgrader(grade: Grade) -> str:
    """A row of a table like that of `nbgrader export`; the student is the submission's name."""
    student = grade.submission.rpartition(".")[0]
    row = {"assignment": grade.exercise, "student_id": student}
    return _table(row | {"score": f"{grade.earned:g}", "max_score": f"{grade.points:g}"})


FORMATS: dict[str, Callable[[Grade], str]] = {
    "text": as_text,
    "gradescope": as_gradescope,
    "otter": as_otter,
    "nbgrader": as_nbgrader,
}


def of_all(grades: list[Grade], format: str) -> str:
    """Several grades in one text; tables have one head."""
    texts = [FORMATS[format](each) for each in grades]
    if format in ("otter", "nbgrader"):
        texts[1:] = [text.partition("\n")[2] for text in texts[1:]]
    return "".join(texts)


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


def _table(row: dict[str, str]) -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, list(row), lineterminator="\n")
    writer.writeheader()
    writer.writerow(row)
    return out.getvalue()
