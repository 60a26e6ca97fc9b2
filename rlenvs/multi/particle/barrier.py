"""Barrier functions for particles that must not touch: any two can always coast to rest apart, and past obstacles.

A particle at x with velocity v, which loses the fraction d of its velocity per step of dt, coasts to rest on a straight
line: at R = x + v dt / d if a step moves it first, at R = x + v dt (1 - d) / d if it changes the velocity first. Only a
force F per mass changes R, by F dt^2 / d per step. Relative to one particle, the other moves on the segment from x to R
of their differences; the barrier is the distance of that segment from zero, minus the sum of the radii. Without forces
it never decreases. Two moving particles are each responsible for half of the allowed decrease, so the guarantee holds
if all agents are filtered, in the parallel API; next to an obstacle the moving particle is responsible for all of it.

A speed limit shortens the new velocity. For obstacles this only shortens the segment. For another particle it can
reduce the speed of an evasive motion, by at most the excess of the new speed over the limit; a margin covers the
resulting shift of R.
"""

import math

from rlenvs.core import kernel
from rlenvs.multi.particle.physics import MOVES, PUSH_RIGHT, PUSH_UP, SCALED

MARGIN = 0.005  # m, at which contact forces are not felt yet
LEAST_DAMPING = 0.01  # below, particles hardly come to rest
MOST = 64  # barriers of an agent


def count(values, others, obstacles=0):
    """How many barriers an agent has: one per other agent that it must not touch and one per obstacle, where actions
    are numbers; none where there are more than MOST."""
    found = others + obstacles
    return found if values.actions == "continuous" and found <= MOST else 0


@kernel
def gliding(p, velocity_first):
    """How far a particle glides per speed until it rests [s]."""
    damping = max(p.damping, LEAST_DAMPING)
    return p.time_step * (1.0 - velocity_first * p.damping) / damping


@kernel
def keep_clear(p, b, at, x, y, right, up, clear, share, push):
    """Fill the barrier of what is (x, y) away and glides on by (right, up), less a clearance [m], of which the agent
    keeps a share; a full force moves it by `push`. Returns the direction away from it."""
    along = -(x * right + y * up) / max(right**2 + up**2, 1e-12)
    along = min(max(along, 0.0), 1.0)
    near_x, near_y = x + along * right, y + along * up
    apart = math.sqrt(near_x * near_x + near_y * near_y)
    away_x, away_y = near_x / max(apart, 1e-9), near_y / max(apart, 1e-9)
    b.value[at] = share * (apart - clear)
    b.drift[at] = share * (away_x * (x + right) + away_y * (y + up) - clear) - b.value[at]
    push_by(p, b, at, push * away_x, push * away_y)
    return away_x, away_y


@kernel
def keep_apart(p, s, k, b, at, first, last, reach, acceleration, fastest, velocity_first):
    """Fill half the barrier of agent k against each other body of first ... last - 1, from number `at` on.

    Args:
        reach: at which they touch, m. acceleration: of the agent at full force, m/s^2. fastest: it can be, m/s.
        velocity_first: whether the velocity changes before bodies move, 0 or 1.

    Returns:
        The next number.
    """
    glide = gliding(p, velocity_first)
    impulse, push = acceleration * p.time_step, acceleration * p.time_step**2 / max(p.damping, LEAST_DAMPING)
    kept_x, kept_y = (1.0 - p.damping) * s.velocity[k, 0], (1.0 - p.damping) * s.velocity[k, 1]
    above = math.sqrt(kept_x * kept_x + kept_y * kept_y) + math.sqrt(2.0) * impulse - fastest
    for j in range(first, last):
        if j == k:
            continue
        x, y = s.position[k, 0] - s.position[j, 0], s.position[k, 1] - s.position[j, 1]
        right, up = glide * (s.velocity[k, 0] - s.velocity[j, 0]), glide * (s.velocity[k, 1] - s.velocity[j, 1])
        away_x, away_y = keep_clear(p, b, at, x, y, right, up, reach + MARGIN, 0.5, push)
        fleeing = max(kept_x * away_x + kept_y * away_y, 0.0)
        b.drift[at] -= max(above, 0.0) / fastest * fleeing * p.time_step / max(p.damping, LEAST_DAMPING)
        at += 1
    return at


@kernel
def keep_off(p, s, k, b, at, obstacles, count, reach, acceleration, velocity_first):
    """Fill the barrier of agent k against each of the first `count` obstacles, which do not move, from number `at` on.
    Arguments as for `keep_apart`. Returns the next number."""
    glide = gliding(p, velocity_first)
    push = acceleration * p.time_step**2 / max(p.damping, LEAST_DAMPING)
    for j in range(count):
        x, y = s.position[k, 0] - obstacles[j, 0], s.position[k, 1] - obstacles[j, 1]
        right, up = glide * s.velocity[k, 0], glide * s.velocity[k, 1]
        keep_clear(p, b, at, x, y, right, up, reach + MARGIN, 1.0, push)
        at += 1
    return at


@kernel
def keep_from_own_side(p, s, k, b, velocity_first):
    """Fill all barriers of agent k of a world with hunters and hunted: against its own side, and against obstacles."""
    hunters, bodies = p.adversaries, s.position.shape[0]
    hunts = k < hunters
    first, last = (0, hunters) if hunts else (hunters, bodies)
    own = p.adversary_radius if hunts else p.good_radius
    push = p.adversary_acceleration if hunts else p.good_acceleration
    fastest = p.adversary_speed if hunts else p.good_speed
    at = keep_apart(p, s, k, b, 0, first, last, 2.0 * own, push, fastest, velocity_first)
    at = keep_off(p, s, k, b, at, s.landmark, p.obstacles, own + p.obstacle_radius, push, velocity_first)
    no_more(b, at)


@kernel
def no_more(b, at):
    """There are no barriers from number `at` on."""
    for i in range(at, b.value.size):
        b.value[i] = math.nan


@kernel
def push_by(p, b, at, right, up):
    """What each number of an action changes of a barrier, which a full force to the right, or upwards, changes by so
    much. Words change nothing."""
    if p.motion == SCALED:
        b.slope[at, 0], b.slope[at, 1] = right, up
    else:
        for move in range(len(MOVES)):
            b.slope[at, move] = right * PUSH_RIGHT[move] + up * PUSH_UP[move]
            b.low[move] = 0.0
    for word in range(p.motion, b.low.size):
        b.slope[at, word] = 0.0
        b.low[word] = 0.0
