"""Phases and headings: their mean direction, whose length is the order parameter, and their bins."""

import math
from typing import Any

from rlenvs.core import f8, kernel, maths, normal, param, uniform
from rlenvs.multi.swarm import cells, sight

TURN = 2.0 * math.pi
ARC = param(TURN, 0.01, TURN, "rad", "length of the arc, around a random angle, in which angles start")
OWN_NOISE = param(0.0, 0.0, 3.0, "rad", "standard deviation of the noise on the own angle")
STATE = {"angle": f8("agents")}  # rad, in [-pi, pi)
SCRATCH_STATE = {"unit": f8("agents", 2), "center": f8(2)}  # vectors of the angles, and their mean


@kernel
def scatter_angles(p: Any, s: Any, rng: Any) -> None:
    """Angles uniform in an arc."""
    center = uniform(rng, -math.pi, math.pi)
    for k in range(s.angle.size):
        s.angle[k] = maths.wrapped(center + p.arc * uniform(rng, -0.5, 0.5))


@kernel
def take_mean(s: Any) -> float:
    """Fill s.unit and s.center. Returns the order parameter |1/N sum exp(i angle)|, 0 for disorder, 1 for order."""
    agents, x, y = s.angle.size, 0.0, 0.0
    for k in range(agents):
        sine, cosine = maths.sin_cos(s.angle[k])
        s.unit[k, 0] = cosine
        s.unit[k, 1] = sine
        x += cosine
        y += sine
    s.center[0] = x / agents
    s.center[1] = y / agents
    return min(maths.hypot(s.center[0], s.center[1]), 1.0)


@kernel
def agreement(s: Any, k: int) -> float:
    """The cosine of the angle between agent k's direction and the mean one, whose mean over agents is the order."""
    length = maths.hypot(s.center[0], s.center[1])
    along = s.unit[k, 0] * s.center[0] + s.unit[k, 1] * s.center[1]
    return min(max(along / length, -1.0), 1.0) if length > 0.0 else 0.0


@kernel
def take_bins(s: Any) -> None:
    """Fill s.bin: the bins divide the circle, from -pi on."""
    bins = s.counts.size
    for k in range(s.angle.size):
        s.bin[k] = min(max(int((s.angle[k] / TURN + 0.5) * bins), 0), bins - 1)


@kernel
def ahead(s: Any, k: int, x: float, y: float) -> float:
    """The angle from agent k's direction to that of a vector [rad], in [-pi, pi]; 0 to none."""
    along = x * s.unit[k, 0] + y * s.unit[k, 1]
    across = y * s.unit[k, 0] - x * s.unit[k, 1]
    return maths.atan2(across, along)


@kernel
def mean_near(p: Any, s: Any, k: int) -> tuple[float, float]:
    """The mean vector of the agents within the radius of agent k, itself included; opposite sides are the same."""
    found, x, y = cells.find_neighbors(p, s, k, sight.CLOSED), 0.0, 0.0
    for n in range(found):
        x += s.unit[s.near[n], 0]
        y += s.unit[s.near[n], 1]
    return x / found, y / found


@kernel
def show_angle(p: Any, s: Any, k: int, shown: Any) -> None:
    """Cosine and sine of agent k's angle, with noise."""
    shown[0] = s.unit[k, 0]
    shown[1] = s.unit[k, 1]
    if p.own_noise > 0.0:
        sine, cosine = maths.sin_cos(s.angle[k] + p.own_noise * normal(s.dice))
        shown[0] = cosine
        shown[1] = sine
