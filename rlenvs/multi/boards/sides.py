"""Two sides that move in turn, one of which may be a scripted opponent."""

from typing import Any

from rlenvs.core import choice, kernel, uniform

SIDE = choice("first", "second", "random", doc="the side of the agent against a scripted opponent")
FIRST, SECOND, EITHER = SIDE.codes("first", "second", "random")


def agents_of(values: Any) -> int:
    """How many sides are agents."""
    return 2 if values.opponent == "self" else 1


@kernel
def seat_against(p, rng):
    """The side of the agent that plays a scripted opponent."""
    return 1 if p.side == SECOND or (p.side == EITHER and uniform(rng, 0.0, 1.0) < 0.5) else 0


@kernel
def side_of(s, k):
    """The side of an agent."""
    return s.seat if k == 0 else 1 - s.seat
