"""What a submission plays in the trial of an exercise: the same episodes as in a page."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from rlenvs.classroom.exercise import Exercise
from rlenvs.classroom.process import Limits, Submission
from rlenvs.classroom.source import submitted
from rlenvs.core.declare.errors import ParameterError


def trial_returns(path: Path, exercise: Exercise) -> list[float]:
    """The returns of the episodes, seed by seed.

    Raises:
        ParameterError: the exercise has no trial, or the file cannot be read.
        SubmissionError: the submission raised an error, or went over a limit.
    """
    if exercise.trial is None:
        raise ParameterError(f"the exercise {exercise.name} has no trial: nothing is played in it")
    trial, found = exercise.trial, submitted(path)
    env, practice = (world.hosted() for world in trial.worlds())
    limits = Limits(seconds=5 * exercise.seconds)
    with Submission(replace(found, source=f"{found.source}\n{trial.code}"), limits) as submission:
        submission.call("trial", env, practice, *trial.arguments)
    return env.returns
