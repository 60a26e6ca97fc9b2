"""The barrier of particles that must not touch: each two can always glide to rest apart.

A particle at x with velocity v, of which a step of dt takes away the share d, comes to rest at R = x + v dt / d, on a
straight line. A force F per mass moves R by F dt^2 / d in a step, and nothing else does. Seen from one particle, the
other glides on the segment from x to R of their differences; the barrier is the distance of that segment from zero,
less the sum of the radii. Without forces it never falls. Each of the two has to keep half of what it may lose, so the
promise holds where all agents are filtered, in the parallel form.
"""

import math

from rlenvs.core import kernel
from rlenvs.multi.particle.physics import MOVES, PUSH_RIGHT, PUSH_UP, SCALED

MARGIN = 0.005  # m, at which contact forces are not felt yet
LEAST_DAMPING = 0.01  # below, particles hardly come to rest


def others(values):
    """How many barriers an agent has: one per other agent, where actions are numbers."""
    return values.agents - 1 if values.actions == "continuous" else 0


@kernel
def keep_apart(p, s, k, b, radius, acceleration):
    """Fill half the barrier [m] of agent k against every other agent, for actions that are numbers and bodies that
    move before their velocity changes.

    Args:
        radius: of all agents, m. acceleration: at full force, m/s^2.
    """
    glide = p.time_step / max(p.damping, LEAST_DAMPING)
    stride = acceleration * p.time_step * glide
    at = 0
    for j in range(b.value.size + 1):
        if j == k:
            continue
        x, y = s.position[k, 0] - s.position[j, 0], s.position[k, 1] - s.position[j, 1]
        onwards = glide * (s.velocity[k, 0] - s.velocity[j, 0]), glide * (s.velocity[k, 1] - s.velocity[j, 1])
        along = -(x * onwards[0] + y * onwards[1]) / max(onwards[0] ** 2 + onwards[1] ** 2, 1e-12)
        along = min(max(along, 0.0), 1.0)
        near_x, near_y = x + along * onwards[0], y + along * onwards[1]
        apart = math.sqrt(near_x * near_x + near_y * near_y)
        away_x, away_y = near_x / max(apart, 1e-9), near_y / max(apart, 1e-9)
        clear = 2.0 * radius + MARGIN
        b.value[at] = 0.5 * (apart - clear)
        b.drift[at] = 0.5 * (away_x * (x + onwards[0]) + away_y * (y + onwards[1]) - clear) - b.value[at]
        push_by(p, b, at, stride * away_x, stride * away_y)
        at += 1


@kernel
def push_by(p, b, at, right, up):
    """What each number of an action changes of a barrier, which a full force to the right, or upwards, changes by so
    much."""
    if p.motion == SCALED:
        b.slope[at, 0], b.slope[at, 1] = right, up
        return
    for move in range(len(MOVES)):
        b.slope[at, move] = right * PUSH_RIGHT[move] + up * PUSH_UP[move]
        b.low[move] = 0.0
