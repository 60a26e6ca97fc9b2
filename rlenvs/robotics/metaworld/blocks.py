"""The blocks of Meta-World's rewards, versions v2 and v1, as in package metaworld 3.1.1.

A version v2 is between 0 and 10 and made of two blocks: tolerances, 1 within a bound and decreasing to 0.1 at a margin
beyond it, and Hamacher products of these, which are near 1 where both are. A version v1 has no bounds: it is the
negative distance to the thing, and pays for its way to the goal while the hand is there.
"""

from __future__ import annotations

import math

from rlenvs.core import kernel
from rlenvs.core.declare.maths import exp, hypot
from rlenvs.robotics.metaworld.rows import HAND, MARK, SECOND

TAIL, BELL = 9.0, -math.log(0.1)  # of the two shapes of tolerances: 0.1 at the margin


@kernel
def distance(a, b):
    return math.sqrt((a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2 + (a[2] - b[2]) ** 2)


@kernel
def beyond(x, low, high, margin):
    """How far x is outside of [low, high], in margins; -1 inside."""
    if low <= x <= high:
        return -1.0
    return (low - x if x < low else x - high) / margin if margin != 0.0 else 1e6


@kernel
def tail(x, low, high, margin):
    """Tolerance with a long tail."""
    far = beyond(x, low, high, margin)
    return 1.0 if far < 0.0 else 1.0 / (1.0 + TAIL * far * far)


@kernel
def bell(x, high, margin):
    """Tolerance of the shape of a normal distribution, above 0."""
    far = beyond(x, 0.0, high, margin)
    return 1.0 if far < 0.0 else exp(-BELL * far * far)


@kernel
def both(a, b):
    """The Hamacher product."""
    whole = a + b - a * b
    return a * b / whole if whole > 0.0 else 0.0


@kernel
def gap(s):
    """Opening of the fingers as observed: 0 to 1."""
    d = distance(s.claws[0], s.claws[1])
    return min(d / 0.1, 1.0)


@kernel
def tcp(s, k):
    """Coordinate k of the point between the finger tips, m."""
    return 0.5 * (s.tips[0, k] + s.tips[1, k])


@kernel
def from_tcp(s, point):
    """Distance of a point from that between the finger tips, m."""
    x, y, z = point[0] - tcp(s, 0), point[1] - tcp(s, 1), point[2] - tcp(s, 2)
    return math.sqrt(x * x + y * y + z * z)


@kernel
def measure(p, s):
    """Weighted distance of the measured point from the goal, m."""
    total = 0.0
    for k in range(3):
        at = s.thing[k]
        if p.measured == HAND:
            at = tcp(s, k)
        elif p.measured == MARK:
            at = s.mark[k]
        elif p.measured == SECOND:
            at = s.second[k]
        total += (p.axes[k] * (at - s.goal[k] - p.off[k])) ** 2
    return math.sqrt(total)


@kernel
def pads_around(s, y, start, radius, reach):
    """How well a thing at y, `start` in the beginning, lies between the pads: nearer than `reach`, but not closer than
    its radius."""
    right, left = s.pads[0, 1], s.pads[1, 1]
    return both(
        tail(abs(left - y), radius, reach, abs(abs(left - start) - reach)),
        tail(abs(right - y), radius, reach, abs(abs(right - start) - reach)),
    )


@kernel
def pads_around_puck(s, y, radius, reach):
    """The same for pick-place, in which the margin follows the pads."""
    right, left = y - s.pads[0, 1], s.pads[1, 1] - y
    return both(
        tail(left, radius, reach, abs(abs(left) - reach)),
        tail(right, radius, reach, abs(abs(right) - reach)),
    )


@kernel
def caged(s, start, around, xz):
    """How well the thing, which was at `start`, lies between the fingers: `around` for the pads, their tips nearer than
    `xz` in the plane across them."""
    return caged_at(s, s.thing[0], start, around, xz)


@kernel
def caged_at(s, x, start, around, xz):
    """The same of a part of the thing at this x."""
    off = hypot(x - tcp(s, 0), s.thing[2] - tcp(s, 2))
    margin = hypot(start[0] - s.tcp0[0], start[2] - s.tcp0[2]) - xz
    return both(around, tail(off, 0.0, xz, margin))


@kernel
def held(a, cage, effort):
    """How well a thing that is caged is held: with which part of this effort the fingers close."""
    return both(cage, min(max(a[3], 0.0), effort) / effort if cage > 0.97 else 0.0)


@kernel
def grasp(s, a, start, around, xz, effort):
    """The mean of how well the thing is caged and held."""
    cage = caged(s, start, around, xz)
    return 0.5 * (held(a, cage, effort) + cage)


@kernel
def way(span, left):
    """What version v1 pays for a way: `left` of `span`, m."""
    return 1000.0 * (span - left + exp(-left * left / 0.01) + exp(-left * left / 0.001))


@kernel
def flat(a, b):
    """Horizontal distance of two points, m."""
    return hypot(a[0] - b[0], a[1] - b[1])
