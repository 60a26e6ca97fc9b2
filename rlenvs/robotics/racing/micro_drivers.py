"""Scripted drivers of MicroRacerRace: the line of MicroRacer's expert, with overtaking."""

import math
from typing import Any

from rlenvs.core import kernel, maths
from rlenvs.robotics.racing.micro_racer import FARTHEST, NEAREST, SAFE, seen_thickness, turn_limit
from rlenvs.robotics.racing.track import GATE_ANGLE, GATES, INNER, OUTER, free_middle, sees

SEEN = 0.15  # m ahead in which other cars matter
SPARE = 0.003  # m between two cars that pass each other, and between a car and an edge
YIELD = 0.02  # m/s, how much slower than a car that is beside and before it a driver is
FOLLOW = 0.012  # m, how much more than touching a driver keeps behind a car that it cannot pass


@kernel
def blocker(p: Any, s: Any, k: int, radius: float) -> tuple[int, float]:
    """The nearest slower car in the way to a radius [m] of the track ahead, -1 for none, and how far ahead it is."""
    found, nearest = -1, SEEN
    for j in range(s.gone.size):
        if j == k or s.gone[j]:
            continue
        ahead = maths.wrapped(s.angle[k] - s.angle[j]) * radius
        if ahead <= 0.0 or ahead >= nearest or s.speed[j] > s.speed[k] + 0.01:
            continue
        found, nearest = j, ahead
    return found, nearest


@kernel
def free_of(p: Any, s: Any, j: int, radius: float) -> float:
    """The radius [m] in the middle of what car j leaves free, on the side with more room; `radius` where it is."""
    gate = math.floor(s.angle[j] / GATE_ANGLE) & (GATES - 1)
    inner, outer = float(s.border[gate, INNER]), float(s.border[gate, OUTER])
    at = math.sqrt(s.position[j, 0] * s.position[j, 0] + s.position[j, 1] * s.position[j, 1])
    # a wall takes a side: the free middle tells which half is left
    middle = free_middle(s.border, s.walls, seen_thickness(p), s.angle[j])
    low, high = inner, outer
    if middle > inner + 0.6 * (outer - inner):
        low = inner + 0.5 * (outer - inner)
    elif middle < inner + 0.4 * (outer - inner):
        high = inner + 0.5 * (outer - inner)
    room_in, room_out = at - p.car_size - low, high - at - p.car_size
    if max(room_in, room_out) < 2.0 * SPARE:
        return radius
    if room_in > room_out:
        return max(at - p.car_size - 2.0 * SPARE, low + SPARE)
    return min(at + p.car_size + 2.0 * SPARE, high - SPARE)


@kernel
def in_the_way(p: Any, s: Any, k: int, j: int, tx: float, ty: float) -> bool:
    """Whether car j is nearer to the straight way of car k to a point than it may be."""
    x, y = s.position[k, 0], s.position[k, 1]
    dx, dy = tx - x, ty - y
    ex, ey = s.position[j, 0] - x, s.position[j, 1] - y
    size = math.sqrt(dx * dx + dy * dy)
    return abs(dx * ey - dy * ex) < (p.car_size + SPARE) * size and dx * ex + dy * ey > 0.0


@kernel
def target_of(p: Any, s: Any, k: int) -> tuple[float, float, float]:
    """The farthest point of the free middle that car k sees, and its polar angle [rad] ahead."""
    x, y, thickness = s.position[k, 0], s.position[k, 1], seen_thickness(p)
    ahead = FARTHEST
    while True:
        radius = free_middle(s.border, s.walls, thickness, s.angle[k] - ahead)
        tx, ty = radius * maths.cos(s.angle[k] - ahead), radius * maths.sin(s.angle[k] - ahead)
        if ahead < NEAREST or sees(s, x, y, s.angle[k], thickness, SAFE, tx, ty):
            return tx, ty, ahead
        ahead *= 0.85


@kernel
def room_for(p: Any, s: Any, k: int) -> float:
    """The speed [m/s] at which car k lets those get away that are beside it and before it."""
    speed = 1e9
    for j in range(s.gone.size):
        if j != k and not s.gone[j] and s.driven[j] > s.driven[k]:
            dx, dy = s.position[j, 0] - s.position[k, 0], s.position[j, 1] - s.position[k, 1]
            if dx * dx + dy * dy < (p.car_size + 2.0 * SPARE) * (p.car_size + 2.0 * SPARE):
                speed = min(speed, s.speed[j] - YIELD)
    return speed


@kernel
def pass_by(p: Any, s: Any, k: int, a: Any, top_speed: float) -> None:
    """The action of car k: MicroRacer's expert, past the next slower car or behind it."""
    x, y = s.position[k, 0], s.position[k, 1]
    tx, ty, ahead = target_of(p, s, k)
    target = min(top_speed, p.min_speed + 0.03 + 0.6 * ahead)
    radius = math.sqrt(x * x + y * y)
    j, away = blocker(p, s, k, radius)
    if j >= 0 and in_the_way(p, s, k, j, tx, ty):
        beside = free_of(p, s, j, radius)
        bx, by = beside * maths.cos(s.angle[j]), beside * maths.sin(s.angle[j])
        if beside != radius and sees(s, x, y, s.angle[k], seen_thickness(p), SPARE, bx, by):
            tx, ty = bx, by
        # until it is free of the other, a car comes no nearer than it can brake
        if in_the_way(p, s, k, j, x + maths.cos(s.heading[k]), y + maths.sin(s.heading[k])):
            free = max(away - p.car_size - FOLLOW, 0.0)
            target = min(target, math.sqrt(s.speed[j] * s.speed[j] + p.acceleration * free))
            if free == 0.0:
                target = min(target, s.speed[j] - 0.01)
    target = max(min(target, room_for(p, s, k)), p.min_speed + 0.01)
    error = maths.wrapped(maths.atan2(ty - y, tx - x) - s.heading[k])
    a[0] = min(max((target - s.speed[k]) / (p.acceleration * p.dt), -1.0), 1.0)
    a[1] = min(max(-error / turn_limit(p, s.speed[k]), -1.0), 1.0)
