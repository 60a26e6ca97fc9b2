"""The speed laws of one vehicle: following a leader, stopping before a line, the time to reach a crossing.

The numbers are those of CityFlow to the last bit, so the order of operations matters, and comparisons are written as
CityFlow's are: where a quotient of zeros compares with a number, the second argument is the result.
"""

import math
from typing import Any

from rlenvs.core import kernel

UNSAFE = -100.0  # m/s, where no speed is without a collision
TINY = 1e-8  # m/s


@kernel
def lesser(a: float, b: float) -> float:
    """The lesser of two numbers; b if they cannot be compared."""
    return a if a < b else b


@kernel
def greater(a: float, b: float) -> float:
    """The greater of two numbers; b if they cannot be compared."""
    return a if a > b else b


@kernel
def braking_distance(p: Any, s: Any, v: int) -> float:
    """Distance [m] in which the vehicle can stop."""
    return 0.5 * s.speed[v] * s.speed[v] / p.car_slow_down[s.kind[v]]


@kernel
def sight(p: Any, kind: int) -> float:
    """How far [m] a vehicle looks ahead."""
    top = p.car_max_speed[kind]
    return top * top / p.car_usual_down[kind] / 2.0 + top * p.interval * 2.0


@kernel
def safe_speed(p: Any, ahead: float, ahead_down: float, speed: float, down: float, gap: float, spare: float) -> float:
    """The largest next speed [m/s] at which a vehicle still keeps a gap `spare` [m] if its leader brakes.

    Args:
        ahead, ahead_down: speed of the leader, and how hard it brakes [m/s^2].
        speed, down: of the vehicle.
        gap: to the leader's end [m].
    """
    c = speed * p.interval / 2.0 + spare - 0.5 * ahead * ahead / ahead_down - gap
    a = 0.5 / down
    b = 0.5 * p.interval
    if b * b < 4.0 * a * c:
        return UNSAFE
    first = 0.5 / a * (math.sqrt(b * b - 4.0 * a * c) - b)
    second = 2.0 * ahead - ahead_down * p.interval + 2.0 * (gap - spare) / p.interval
    return lesser(first, second)


@kernel
def following_speed(p: Any, s: Any, v: int) -> float:
    """The next speed [m/s] that the leader allows."""
    kind, leader = s.kind[v], s.leader[v]
    if leader < 0:
        return p.car_max_speed[kind]
    other, speed, ahead, gap = s.kind[leader], s.speed[v], s.speed[leader], s.gap[v]
    best = safe_speed(p, ahead, p.car_slow_down[other], speed, p.car_slow_down[kind], gap, 0.0)
    usual = safe_speed(p, ahead, p.car_usual_down[other], speed, p.car_usual_down[kind], gap, p.car_gap[kind])
    best = lesser(best, usual)
    faster = speed - ahead if speed > ahead else 0.0
    reach = gap + (ahead + faster / 2.0) * p.interval - speed * p.interval / 2.0
    return lesser(best, reach / (p.car_headway[kind] + p.interval / 2.0))


@kernel
def stopping_speed(p: Any, s: Any, v: int, distance: float) -> float:
    """The next speed [m/s] with which the vehicle stops within a distance [m]."""
    kind, speed = s.kind[v], s.speed[v]
    faster = speed + p.car_usual_up[kind] * p.interval
    if (speed + faster) * p.interval / 2.0 + (faster * faster / p.car_usual_down[kind] / 2.0) < distance:
        return faster
    steps = 2.0 * distance / (speed + TINY) / p.interval
    return speed - speed / math.floor(steps) if steps >= 1.0 else speed - speed / steps


@kernel
def steps_to(p: Any, s: Any, v: int, distance: float, kind_of_link: int) -> float:
    """In how many steps the vehicle can be at a place on a link, so far away [m]."""
    if distance <= 0.0:
        return 0.0
    kind, speed = s.kind[v], s.speed[v]
    up = p.car_usual_up[kind]
    top = p.car_turn_speed[kind] if kind_of_link == 1 or kind_of_link == 2 else p.car_max_speed[kind]
    if speed > top:
        return math.ceil(distance / speed)
    until = 0.0  # distance in which it reaches its top speed
    if top > speed:
        steps = math.floor((top - speed) / up / p.interval)
        reached = speed + steps * up / p.interval
        until = (speed + reached) * (steps * p.interval) / 2.0
        until = until + ((reached + top) * p.interval / 2.0 if reached < top else 0.0)
    if until > distance:
        return math.ceil((math.sqrt(speed * speed + 2.0 * up * distance) - speed) / up / p.interval)
    return math.ceil((top - speed) / up / p.interval) + math.ceil((distance - until) / top / p.interval)


@kernel
def can_yield(p: Any, s: Any, v: int, distance: float) -> bool:
    """Whether the vehicle can stop before a crossing so far away [m], or has left it behind."""
    kind = s.kind[v]
    if distance > 0.0:
        return braking_distance(p, s, v) < distance - p.car_yield[kind]
    return distance < 0.0 and distance + p.car_length[kind] < 0.0
