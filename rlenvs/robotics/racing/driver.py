"""Scripted drivers: they follow a line at speeds that friction allows, and overtake slower cars.

A driver acts for the position of its car at the end of the steering delay. It turns as the line does there, corrected
for the errors in position and direction (`steer`); its speed is that of the line's profile, plus an offset for the
proportional motor controller (`speed_command`).
"""

import math
from typing import Any

from rlenvs.core import choice, kernel, maths
from rlenvs.kits.tracks import line
from rlenvs.kits.tracks.road import AT, LEFT, RIGHT, cell_at, gained
from rlenvs.kits.vehicles.single_track import (
    GAIN_FORWARD,
    GRAVITY,
    SLIP,
    SPEED,
    YAW,
    YAW_RATE,
    X,
    Y,
)

# numbers of the driver follow from a search on three named and forty random circuits
DYNAMICS = choice("linear", "brush", "kinematic", doc="the original's linear tires, tires that slide, or no slip")
BRUSH, LINEAR = DYNAMICS.codes("brush", "linear")
SERVO = 0.0057  # s that the servo takes for a usual change of the steering angle, beyond delay and half a step
PREVIEW = 0.023  # s, how much further ahead the line's curvature is read
BACK, BACK_TIME, DAMPING = 0.2684, 0.1438, 1.3236  # m, s of driving, damping: how a driver comes back to its line
CATCH = 0.0442  # s, steering angle against a yaw rate that is not the way's
ROLLING = 2.0  # m/s below which the slip of tyres does not matter
SWERVE = 0.2698  # m off the line, beyond which a driver steers no harder
SOON = 0.0927  # s over which a driver reads the acceleration that the profile asks for
SEEN = 5.0  # m ahead in which other cars matter
BESIDE, ASIDE = 1.0, 0.5  # m along the road within which cars keep so many metres to the side of each other
ROOM = 0.42  # m of the middle of a car from the borders, beside the line
CLOSE, CLOSE_TIME, BRAKES = 0.9, 0.08, 2.5  # m, s of driving behind a car, and m/s^2 with which a driver comes there
SLOW = 0.85  # share of what its place allows below which a car is passed,
SETTLED = 2.5  # s after the start, when all have gathered speed
PASSING, FASTER = 2.0, 2.5  # s of the other's driving in which there must be room; m/s, how much faster one passes
GIVE_WAY = 0.8  # m/s, how much slower than a car that is abreast and ahead a driver goes
AMONG, OFF_PACE = 0.93, 0.94  # share of the line's speeds beside it


@kernel
def speed_on_line(s: Any, progress: float) -> float:
    """m/s that friction allows on the line at a progress [m]."""
    i, part = cell_at(s.road, progress)
    return s.speeds[i] + part * (s.speeds[i + 1] - s.speeds[i])


@kernel
def offset_of_line(s: Any, progress: float) -> float:
    """Offset [m] of the line at a progress [m]."""
    i, part = cell_at(s.road, progress)
    return s.line[i] + part * (s.line[i + 1] - s.line[i])


@kernel
def bend_of_way(s: Any, progress: float) -> float:
    """Curvature [1/m] of the line at a progress [m]."""
    i, part = cell_at(s.road, progress)
    bend = line.bend_of_line(s.road, s.line, i)
    return bend + part * (line.bend_of_line(s.road, s.line, i + 1) - bend)


@kernel
def shift_of(s: Any, k: int) -> float:
    """Metres to the left of the line at which car k is: two cars abreast are as far from each other as their shifts."""
    return s.offset[k] - offset_of_line(s, s.progress[k])


@kernel
def room(s: Any, progress: float, way: float) -> tuple[float, float]:
    """The least and the largest shift [m] for which there is road from a place on, for `way` metres; 0 is between."""
    low, high = -1e9, 1e9
    for n in range(6):
        i, part = cell_at(s.road, progress + 0.2 * n * way)
        offset = s.line[i] + part * (s.line[i + 1] - s.line[i])
        low, high = max(low, ROOM - s.road[i, RIGHT] - offset), min(high, s.road[i, LEFT] - ROOM - offset)
    return min(low, 0.0), max(high, 0.0)


@kernel
def past(s: Any, k: int, j: int, mine: float, theirs: float) -> float:
    """The shift [m] at which car k, now at `mine`, passes car j; its own where there is no room."""
    left, right = theirs + ASIDE + 0.05, theirs - ASIDE - 0.05
    low, high = room(s, s.progress[j], PASSING * max(s.car[j, SPEED], 1.0))
    goes_left, goes_right = left <= high, right >= low
    if goes_left and (not goes_right or mine > theirs):
        return left
    return right if goes_right else mine


@kernel
def plan(p: Any, s: Any, k: int, pace: float) -> tuple[float, float]:
    """The shift [m] from the line for car k, and the speed [m/s] at most, among the others.

    Cars that are abreast keep apart; who is behind follows, comes to the line behind those on it, or passes a slow car.
    """
    length, speed, mine = s.road[s.road.shape[0] - 1, AT], max(s.car[k, SPEED], 0.0), shift_of(s, k)
    low, high, shift, limit, nearest = -1e9, 1e9, 0.0, 1e9, SEEN
    for j in range(s.gone.size):
        ahead = gained(length, s.progress[k], s.progress[j])
        if j == k or s.gone[j] or abs(ahead) > SEEN:
            continue
        theirs, other = shift_of(s, j), max(s.car[j, SPEED], 0.0)
        first = ahead > 0.0 or (ahead == 0.0 and j < k)
        if abs(ahead) < BESIDE:
            if mine > theirs or (mine == theirs and j < k):
                low = max(low, theirs + ASIDE)
            else:
                high = min(high, theirs - ASIDE)
        if not first:
            continue
        slow = other < SLOW * pace * speed_on_line(s, s.progress[j]) and s.ticks * p.dt > SETTLED
        if slow and ahead < nearest:
            nearest, shift = ahead, past(s, k, j, mine, theirs)
            limit = min(limit, other + FASTER)
        if abs(mine - theirs) < (ASIDE - 0.1 if slow else ASIDE + 0.15):
            free = ahead - CLOSE - CLOSE_TIME * speed
            way = math.sqrt(2.0 * BRAKES * free) if free > 0.0 else 2.0 * free
            limit = min(limit, other + way)
        elif ahead < BESIDE + 0.2 and not slow:
            limit = min(limit, other - GIVE_WAY)
    shift = max(min(shift, high), low)
    return shift, max(limit, 0.3)


@kernel
def off_line(p: Any, s: Any, k: int, late: float) -> tuple[float, float]:
    """How far [m] to the left of its line car k will be in `late` seconds, and in which direction [rad] beside it."""
    x, here = s.car[k], s.progress[k]
    speed = max(x[SPEED], 0.0)
    i, part = cell_at(s.road, here)
    ax, ay = line.on_rung(s.road, i, s.line[i])
    bx, by = line.on_rung(s.road, i + 1, s.line[i + 1])
    size = math.sqrt((bx - ax) * (bx - ax) + (by - ay) * (by - ay))
    c, sn = (bx - ax) / size, (by - ay) / size
    off = c * (x[Y] - ay) - sn * (x[X] - ax)
    way = maths.atan2(sn, c) + (part - 0.5) * size * bend_of_way(s, here)
    course = maths.wrapped(x[YAW] + x[SLIP] - way)
    turned = late * (x[YAW_RATE] - speed * bend_of_way(s, here + 0.5 * late * speed))
    return off + late * speed * (course + 0.5 * turned), course + turned


@kernel
def slip_of_bend(p: Any, bend: float, speed: float, push: float) -> float:
    """Steering angle [rad] that the tyres take on a bend [1/m] beyond what a rolling car needs, at an acceleration."""
    lf, lr = p.front_axle, p.rear_axle
    load_f = max(GRAVITY * lr - push * p.cg_height, 0.1)
    load_r = max(GRAVITY * lf + push * p.cg_height, 0.1)
    across = speed * speed * bend / p.friction
    front, rear = lr * across / load_f, lf * across / load_r
    if p.dynamics == BRUSH:
        front, rear = stretched(front), stretched(rear)
    return front / p.front_stiffness - rear / p.rear_stiffness


@kernel
def stretched(share: float) -> float:
    """Of a tyre that slides: how much slip it takes, relative to a linear one, for a share of its friction."""
    return math.copysign(3.0 * (1.0 - maths.power(1.0 - min(abs(share), 0.95), 1.0 / 3.0)), share)


@kernel
def steer(p: Any, s: Any, k: int, shift: float, push: float) -> float:
    """Steering angle [rad] with which car k follows its line, `shift` metres to the left, and accelerates by `push`."""
    x = s.car[k]
    speed = max(x[SPEED], 0.0)
    late = p.dt * (p.delay + 0.5 * p.substeps) + SERVO
    off, course = off_line(p, s, k, late)
    back = BACK + BACK_TIME * speed
    off = min(max(off - shift, -SWERVE), SWERVE)
    bend = bend_of_way(s, s.progress[k] + (late + PREVIEW) * speed)
    bend -= off / (back * back) + 2.0 * DAMPING * course / back
    angle = maths.atan(bend * (p.front_axle + p.rear_axle))
    if speed < ROLLING or not (p.dynamics == LINEAR or p.dynamics == BRUSH):  # a car that rolls turns as it steers
        return angle
    return angle + slip_of_bend(p, bend, speed, push) + CATCH * (speed * bend - x[YAW_RATE])


@kernel
def speeds_to_come(p: Any, s: Any, k: int, pace: float, limit: float) -> tuple[float, float]:
    """Speed [m/s] that car k should have when the motor answers, and the acceleration [m/s^2] then."""
    speed = max(s.car[k, SPEED], 0.0)
    late = 0.5 * p.substeps * p.dt
    now = min(pace * speed_on_line(s, s.progress[k] + late * speed), limit)
    soon = min(pace * speed_on_line(s, s.progress[k] + (late + SOON) * speed), limit)
    return now, min(max((soon - now) / SOON, -p.max_acceleration), p.max_acceleration)


@kernel
def drive(p: Any, s: Any, k: int, a: Any, pace: float, overtakes: bool) -> None:
    """The action of car k that follows the line at a share of the speeds that friction allows."""
    limit, shift = 1e9, 0.0
    speed = max(s.car[k, SPEED], 0.0)
    if s.patch.shape[0] > 0:  # it knows that there are patches, not where
        pace *= math.sqrt(p.patch_grip)
    if overtakes:
        pace *= AMONG
        shift, limit = plan(p, s, k, pace)
        low, high = room(s, s.progress[k], 0.5 + 0.4 * speed)
        shift = min(max(shift, low), high)
        if abs(shift) > 0.2:
            pace *= OFF_PACE
    now, push = speeds_to_come(p, s, k, pace, limit)
    # the motor's controller is proportional: what it needs to accelerate, it has to be asked for
    gain = GAIN_FORWARD * p.max_acceleration / (p.top_speed if push > 0.0 else p.reverse_speed)
    a[0] = min(max(steer(p, s, k, shift, push) / p.max_steer, -1.0), 1.0)
    a[1] = min(max((now + push / gain) / p.top_speed, 0.0), 1.0)
