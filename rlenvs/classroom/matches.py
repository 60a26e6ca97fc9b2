"""Tournaments between submissions, in worlds whose teams play against each other."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from rlenvs.agents.tournament import Tournament, tournament
from rlenvs.classroom.exercise import Failed, array_like
from rlenvs.classroom.grader import line_of
from rlenvs.classroom.process import Limits, Submission, SubmissionError
from rlenvs.classroom.report import table_page
from rlenvs.classroom.source import KINDS, submissions_in, submitted
from rlenvs.core.declare.errors import ParameterError

CALLS = 100  # as many times the seconds of one call are those of a tournament


@dataclass
class Rival:
    """A submission's `act(observations, masks)` as a player; one that fails plays the lowest choice that is allowed.

    Attributes:
        submission: in its process; None: it never came so far. reason: why it failed, empty if it did not.
    """

    submission: Submission | None = None
    reason: str = ""

    def __call__(self, observations: Any, masks: Any, rng: np.random.Generator) -> np.ndarray:
        if not self.reason:
            try:
                return self._asked(observations, masks)
            except Exception as error:  # an answer may be anything
                self.reason = line_of(str(error))
        rows = len(observations)
        return np.zeros(rows, np.int64) if masks is None else np.argmax(masks, axis=1)

    def _asked(self, observations: Any, masks: Any) -> np.ndarray:
        assert self.submission is not None
        rows = len(observations)
        actions = array_like(self.submission.call("act", observations, masks), (rows,), "what act returns")
        chosen = actions.astype(np.int64)
        if masks is not None and ((chosen < 0) | (chosen >= masks.shape[1])).any():
            raise Failed(f"act returned a choice that is not in 0 to {masks.shape[1] - 1}")
        if masks is not None and not masks[np.arange(rows), chosen].all():
            raise Failed("act returned a choice that the mask forbids")
        return chosen


def class_tournament(
    folder: Path, id: str, games: int = 20, seconds: float = 20.0, **keywords: Any
) -> tuple[Tournament, dict[str, str]]:
    """Let all submissions of a folder play each other and the random player.

    Args:
        folder: with files that define `act(observations, masks)`, of M agents at once: arrays (M, ...) and (M, choices)
            or None, to whole numbers (M,).
        id: the environment. games: per pair. seconds: for one call, and a hundredfold for all calls together.
        keywords: of `rlenvs.tournament`.

    Returns:
        The tournament, and why some failed, by name.

    Raises:
        ParameterError: no submissions in the folder.
    """
    files = submissions_in(folder)
    if not files:
        raise ParameterError(f"{folder} contains no submissions; expected files ending in {', '.join(KINDS)}")
    with ExitStack() as stack:
        rivals: dict[str, Rival] = {}
        for path in files:
            name = line_of(path.name if path.stem in {"random", *rivals} else path.stem)
            rivals[name] = rival = Rival()
            try:
                rival.submission = Submission(submitted(path), Limits(seconds, CALLS * seconds), package=True)
                stack.callback(rival.submission.close)
                rival.submission.start()
            except (SubmissionError, ParameterError) as error:
                rival.reason = line_of(str(error))
        found = tournament(id, {**rivals, "random": "random"}, games, **keywords)
        failed = {name: rival.reason for name, rival in rivals.items() if rival.reason}
    return found, failed


def page(found: Tournament, failed: Mapping[str, str]) -> str:
    """A tournament as a page of HTML, the strongest first."""
    rows = "".join(
        f"<tr><td>{place}</td><td>{escape(row['name'])}</td><td>{row['elo']:.0f} ± {row['elo_half_width']:.0f}</td>"
        f"<td>{row['wins']}</td><td>{row['draws']}</td><td>{row['losses']}</td>"
        f"<td>{escape(failed.get(row['name'], ''))}</td></tr>\n"
        for place, row in enumerate(found.to_dict()["players"], 1)
    )
    return table_page(found.id, ("", "submission", "Elo", "wins", "draws", "losses", "failed"), rows)
