"""A scripted driver: along a shortest way over cells to the goal, straight where it can, and waiting for others."""

import math

from rlenvs.core import kernel, maths
from rlenvs.robotics.navigation.grid_walls import (
    DOWN,
    FAR,
    RIGHT,
    center_of,
    measure,
    nearest_step,
    reach_of,
    way_is_clear,
)

STOP_SHORT = 0.35  # m from the goal
STRAIGHT = 0.4  # rad: robots that are farther off turn in place
GAIN = 1.5  # 1/s, of turning


@kernel
def next_aim(p, s, k):
    """The farthest place on the way of robot k that it can see, and how far before it it stops; itself without a way."""
    x, y = s.place[k, 0], s.place[k, 1]
    measure(p, s, s.goal[k, 0], s.goal[k, 1], k)
    cell = nearest_step(p, s, x, y)
    if s.steps[cell] == FAR:
        return x, y, 0.0
    aim_x, aim_y = center_of(p, cell)
    while s.steps[cell] > 0:
        near = cell
        for j in range(4):
            other = cell + DOWN[j] * p.columns + RIGHT[j]
            if s.steps[other] == s.steps[cell] - 1:
                near = other
        to_x, to_y = center_of(p, near)
        if not way_is_clear(p, s, x, y, to_x, to_y, reach_of(p)):
            return aim_x, aim_y, 0.0
        cell, aim_x, aim_y = near, to_x, to_y
    return s.goal[k, 0], s.goal[k, 1], STOP_SHORT


@kernel
def must_wait(p, s, k):
    """Whether another robot is ahead within the way that braking takes, or one with a lower number comes close."""
    c, n, speed = maths.cos(s.heading[k]), maths.sin(s.heading[k]), s.velocity[k, 0]
    wide = 2.0 * reach_of(p)
    ahead = wide + 0.2 + 0.5 * speed * speed / p.acceleration
    for j in range(s.heading.size):
        dx, dy = s.place[j, 0] - s.place[k, 0], s.place[j, 1] - s.place[k, 1]
        along, across = c * dx + n * dy, c * dy - n * dx
        if j != k and 0.0 < along < ahead and abs(across) < wide + 0.05:
            return True
        if j < k and not s.arrived[j] and not s.crashed[j]:
            cj, nj = maths.cos(s.heading[j]), maths.sin(s.heading[j])
            x, y = dx + 0.5 * (cj - c), dy + 0.5 * (nj - n)
            if x * x + y * y < (wide + 0.2) * (wide + 0.2):
                return True
    return False


@kernel
def drive(p, s, k):
    """The speed [m/s] and the rate of turning [rad/s] of robot k."""
    if s.crashed[k] or s.arrived[k]:
        return 0.0, 0.0
    x, y, short = next_aim(p, s, k)
    dx, dy = x - s.place[k, 0], y - s.place[k, 1]
    distance = math.sqrt(dx * dx + dy * dy)
    if distance < 1e-6:
        return 0.0, 0.0
    error = maths.wrapped(maths.atan2(dy, dx) - s.heading[k])
    turn = min(max(GAIN * error, -p.top_turn), p.top_turn)
    if must_wait(p, s, k):
        return 0.0, turn
    speed = min(math.sqrt(2.0 * p.acceleration * max(distance - short, 0.0)), p.top_speed)
    return speed * max(1.0 - abs(error) / STRAIGHT, 0.0), turn
