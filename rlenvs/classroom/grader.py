"""Grading: every test of an exercise on a submission."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from rlenvs.classroom.exercise import PUBLIC, Draws, Exercise, Failed, Test
from rlenvs.classroom.hosted import WorldError
from rlenvs.classroom.process import Limits, Submission, SubmissionError
from rlenvs.classroom.source import submitted
from rlenvs.core.declare.errors import ParameterError, printable
from rlenvs.version import __version__

SHORTEST = 16  # characters of a secret


@dataclass(frozen=True)
class Result:
    """What came of a test. Attributes: name, points, hidden: of the test. earned: points; None: it was not run, for
    want of the secret. reason: why not all of them."""

    name: str
    points: float
    hidden: bool
    earned: float | None
    reason: str = ""


@dataclass(frozen=True)
class Grade:
    """What a submission earned. Attributes: exercise: its name. submission: the file's name. results: by test.
    sandbox: by part, whether it was in force; empty if the process never got so far. environments: version and digest
    of the package that the environments came from."""

    exercise: str
    submission: str
    results: list[Result]
    sandbox: dict[str, bool]
    environments: str = ""

    @property
    def earned(self) -> float:
        """Points."""
        return sum(result.earned or 0.0 for result in self.results)

    @property
    def points(self) -> float:
        """Points of the tests that were run."""
        return sum(result.points for result in self.results if result.earned is not None)

    @property
    def share(self) -> float:
        """Of the points, in [0, 1]."""
        return self.earned / self.points if self.points else 0.0


def checked_secret(secret: str | None) -> str | None:
    """A secret that is long enough.

    Raises:
        ParameterError: it is short enough to be guessed.
    """
    if secret is not None and len(secret) < SHORTEST:
        raise ParameterError(f"the secret has {len(secret)} characters; at least {SHORTEST} are needed")
    return secret


def grade(path: Path, exercise: Exercise, secret: str | None = None, limits: Limits | None = None) -> Grade:
    """Run the tests, the hidden ones too if there is a secret.

    Raises:
        ParameterError: no such file, it cannot be read, or a secret that is short enough to be guessed.
        WorldError: an environment failed by itself.
    """
    checked_secret(secret)
    found = submitted(path)
    if found.kind == "code" and exercise.given:
        found = replace(found, source=f"{found.source}\n{exercise.given}\n")
    submission = Submission(found, limits or Limits(seconds=exercise.seconds))
    try:
        reason = ""
        try:
            submission.start()
        except SubmissionError as error:
            reason = str(error)
        results = [_result(exercise, test, submission, secret, reason) for test in exercise.tests]
    finally:
        submission.close()
    return Grade(exercise.name, line_of(path.name), results, submission.sandbox, environments())


def grade_apart(path: Path, exercise: Exercise, secret: str | None = None, limits: Limits | None = None) -> Grade:
    """As `grade`; but whatever goes wrong is the reason of a grade of 0, so that others are graded all the same."""
    try:
        return grade(path, exercise, secret, limits)
    except Exception as error:
        kind = "" if isinstance(error, ParameterError) else f"{type(error).__name__}: "
        results = [_failed(test, secret, f"not graded: {kind}{error}") for test in exercise.tests]
        return Grade(exercise.name, line_of(path.name), results, {}, environments())


def line_of(text: str, length: int = 500) -> str:
    """A text as one line that can neither forge other lines nor steer a terminal: what cannot be seen is written as
    \\n, \\x1b and the like."""
    return printable(text).replace("\n", "\\n").replace("\t", "\\t")[:length]


@cache
def environments() -> str:
    """Version of this package and SHA-256 of its source files: grades with another one may come from other worlds."""
    digest = hashlib.sha256()
    root = Path(__file__).parents[1]
    for path in sorted(root.rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return f"rlenvs {__version__}, sources {digest.hexdigest()[:16]}"


def _failed(test: Test, secret: str | None, reason: str) -> Result:
    if test.hidden and secret is None:
        return Result(test.name, test.points, True, None, "not run: it needs the instructor's secret")
    return Result(test.name, test.points, test.hidden, 0.0, line_of(reason))


def _result(exercise: Exercise, test: Test, submission: Submission, secret: str | None, reason: str) -> Result:
    if reason or (test.hidden and secret is None):
        return _failed(test, secret, reason)
    key = secret.encode() if test.hidden and secret is not None else PUBLIC
    try:
        share = test.judge(submission, Draws(key, f"{exercise.name}/{test.name}"))
    except (Failed, SubmissionError) as error:
        return _failed(test, secret, str(error))
    except WorldError:
        raise
    except Exception as error:  # an answer may be anything, and a test cannot foresee it all
        told = f"the result of the submission could not be used ({type(error).__name__}: {error})"
        return _failed(test, secret, told)
    share = 1.0 if share is None else float(share)
    if share >= 1.0:
        return Result(test.name, test.points, test.hidden, test.points)
    if not share >= 0.0:
        return _failed(test, secret, "nothing reached")
    return Result(test.name, test.points, test.hidden, round(test.points * share, 3), f"{100 * share:.0f} % reached")
