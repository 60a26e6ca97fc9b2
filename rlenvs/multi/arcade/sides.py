"""Two sides that play simultaneously, one of which may be a scripted opponent; and how a game on points ends."""

from __future__ import annotations

from typing import Any

from rlenvs.core import kernel


def agents_of(values: Any) -> int:
    """How many sides are agents."""
    return 2 if values.opponent == "self" else 1


@kernel
def judge(s, r, scorer, points):
    """Terms and ends of a step; `scorer` is the side that has just scored, -1 for nobody. Success: in the lead."""
    if scorer >= 0:
        s.score[scorer] += 1
    over = s.score[0] >= points or s.score[1] >= points
    for k in range(s.alive.size):
        r.goal[k] = 1.0 if scorer == k else 0.0
        r.concede[k] = -1.0 if scorer == 1 - k else 0.0
        r.success[k] = s.score[k] > s.score[1 - k]
        r.terminated[k] = over
