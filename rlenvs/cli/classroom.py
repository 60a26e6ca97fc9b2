"""Commands for classes: grade submissions."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from rlenvs.cli.common import app, say, say_written
from rlenvs.core.errors import ParameterError

SECRET = "RLENVS_GRADE_SECRET"


def _secret(file: Path | None) -> str | None:
    """The instructor's secret; out of the environment variables, so that no process inherits it."""
    given = os.environ.pop(SECRET, None)
    if file is None:
        return given
    if not file.is_file():
        raise ParameterError(f"--secret-file {file}: there is no such file")
    return file.read_text(encoding="utf-8").strip()


@app.command(rich_help_panel="Classroom")
def grade(
    submission: Annotated[
        Path,
        typer.Argument(metavar="SUBMISSION", help="A .py, .ipynb, .npz or .safetensors file, or a folder."),
    ],
    exercise: Annotated[
        str | None, typer.Option(metavar="NAME", help="Of the exercise. Default: the name of the file.")
    ] = None,
    exercises: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Where exercises are. Default: examples/classroom.")
    ] = None,
    secret_file: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help=f"With the secret of the hidden tests; or {SECRET}. Without: public tests."),
    ] = None,
    format: Annotated[str, typer.Option(metavar="FORMAT", help="text, gradescope, otter or nbgrader.")] = "text",
    output: Annotated[Path | None, typer.Option("--output", "-o", metavar="FILE", help="Default: say it.")] = None,
    leaderboard: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Of a folder: write the class's points as HTML.")
    ] = None,
) -> None:
    """Grade a submission of an exercise in a process of its own, with public and hidden tests."""
    from rlenvs.classroom import report
    from rlenvs.classroom.exercise import find_exercise
    from rlenvs.classroom.grader import grade as graded
    from rlenvs.classroom.source import KINDS

    if format not in report.FORMATS:
        raise ParameterError(f"--format {format}: there are {', '.join(report.FORMATS)}")
    if submission.is_dir() and exercise is None:
        raise ParameterError(f"{submission} is a folder; say of which exercise, with --exercise NAME")
    if submission.is_dir() and format == "gradescope":
        raise ParameterError(f"--format gradescope is for one submission; {submission} is a folder")
    if leaderboard is not None and not submission.is_dir():
        raise ParameterError(f"--leaderboard is for a folder of submissions; {submission} is none")
    found = find_exercise(exercise or submission.stem, exercises)
    secret = _secret(secret_file)
    files = sorted(p for p in submission.iterdir() if p.suffix in KINDS) if submission.is_dir() else [submission]
    grades = [graded(file, found, secret) for file in files]
    text = report.of_all(grades, format)
    if leaderboard is not None:
        leaderboard.write_text(report.leaderboard(grades), encoding="utf-8")
        say_written(leaderboard)
    if output is not None:
        output.write_text(text, encoding="utf-8")
        say_written(output)
    else:
        say(text.rstrip("\n"))
