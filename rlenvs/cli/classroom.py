"""Commands for teaching: grade submissions, run class tournaments."""

from __future__ import annotations

import os
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Annotated

import typer

from rlenvs.cli.common import Id, Level, Seed, Set, app, check_output, checked, keywords_from, say, say_written
from rlenvs.core.declare.errors import ParameterError

if TYPE_CHECKING:
    from rlenvs.classroom.exercise import Exercise

SECRET = "RLENVS_GRADE_SECRET"


def _secret(file: Path | None) -> str | None:
    """The instructor's secret; removed from the environment variables so that no subprocess inherits it."""
    given = os.environ.pop(SECRET, None)
    if file is None:
        return given
    if not file.is_file():
        raise ParameterError(f"--secret-file {file}: file not found")
    return file.read_text(encoding="utf-8").strip()


@app.command(rich_help_panel="Classroom")
def grade(
    submission: Annotated[
        Path,
        typer.Argument(
            metavar="SUBMISSION", help="Submitted .py, .ipynb, .npz or .safetensors file, or a folder of them."
        ),
    ],
    exercise: Annotated[
        str | None, typer.Option(metavar="NAME", help="Exercise. Default: the name of the file.")
    ] = None,
    exercises: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Folder of the exercises. Default: examples/classroom.")
    ] = None,
    secret_file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help=f"File with the secret of the hidden tests; or set {SECRET}. Without a secret only public tests run.",
        ),
    ] = None,
    format: Annotated[
        str, typer.Option(metavar="FORMAT", help="Report format: text, json, gradescope, otter or nbgrader.")
    ] = "text",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Output file. Default: print the report.")
    ] = None,
    leaderboard: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="For a folder: also write the points of the class as an HTML page."),
    ] = None,
    trial: Annotated[
        bool, typer.Option("--trial", help="Also play the exercise's trial on seeds 0 to 99, as its page does.")
    ] = False,
) -> None:
    """Grade submissions to an exercise with public and hidden tests, each in a separate process."""
    from rlenvs.classroom import report
    from rlenvs.classroom.exercise import find_exercise
    from rlenvs.classroom.grader import checked_secret, grade_apart
    from rlenvs.classroom.source import KINDS, check_there, submissions_in

    if format not in report.FORMATS:
        raise ParameterError(f"--format {format} is unknown; use one of {', '.join(report.FORMATS)}")
    if submission.is_dir() and exercise is None:
        raise ParameterError(f"{submission} is a folder; give the exercise with --exercise NAME")
    if submission.is_dir() and format in report.SINGLE:
        raise ParameterError(f"--format {format} takes a single submission, and {submission} is a folder")
    if leaderboard is not None and not submission.is_dir():
        raise ParameterError(f"--leaderboard requires a folder of submissions; {submission} is not a folder")
    if trial and (submission.is_dir() or format != "text"):
        raise ParameterError("--trial requires a single submission and the format text")
    for path in filter(None, (output, leaderboard)):
        check_output(path)
    found = find_exercise(exercise or submission.stem, exercises)
    secret = checked_secret(_secret(secret_file))
    files = submissions_in(submission) if submission.is_dir() else [submission]
    if not files:
        raise ParameterError(f"{submission} contains no submissions; expected files ending in {', '.join(KINDS)}")
    if not submission.is_dir():
        check_there(submission)
    grades = []
    try:
        for file in files:
            grades.append(grade_apart(file, found, secret))
            # at once: whatever happens to the next one, these are kept
            if output is not None:
                output.write_text(report.of_all(grades, format), encoding="utf-8")
            elif format == "text":
                say(report.as_text(grades[-1]).rstrip("\n"))
            if leaderboard is not None:
                leaderboard.write_text(report.leaderboard(grades), encoding="utf-8")
    finally:
        if output is None and format != "text":
            say(report.of_all(grades, format).rstrip("\n"))
    for path in filter(None, (leaderboard, output)):
        say_written(path)
    if trial:
        _say_trial(submission, found)


def _say_trial(submission: Path, exercise: Exercise) -> None:
    from rlenvs.classroom.process import SubmissionError
    from rlenvs.classroom.trials import trial_returns

    try:
        returns = trial_returns(submission, exercise)
    except SubmissionError as error:
        say(f"trial: {error}")
    else:
        mean = f"mean return {fmean(returns):.4g}" if returns else "no episode was played to its end"
        say(f"trial: {mean} ({len(returns)} episodes)")


@app.command("class-tournament", rich_help_panel="Classroom")
def class_tournament_command(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="Folder of files that define act(observations, masks).")
    ],
    id: Id,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="Output page.")] = Path(
        "tournament.html"
    ),
    games: Annotated[int, typer.Option(min=1, metavar="N", help="Games per pair of players.")] = 20,
    seed: Seed = 0,
    set: Set = None,
    level: Level = None,
) -> None:
    """Run a tournament between the submissions in a folder, and write the ratings as an HTML page."""
    from rlenvs.classroom.matches import class_tournament, page

    if not folder.is_dir():
        raise ParameterError(f"folder {folder} not found; give a folder of submissions")
    check_output(output)
    found, failed = class_tournament(folder, id, games, seed=seed, make=checked(id, keywords_from(set, level)))
    output.write_text(page(found, failed), encoding="utf-8")
    say(str(found))
    for name, reason in failed.items():
        say(f"{name} failed: {reason}")
    say_written(output)
