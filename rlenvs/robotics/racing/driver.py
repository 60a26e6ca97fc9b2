"""How scripted drivers race: pure pursuit of a line at speeds that friction allows, and the way past slower cars."""

import math
from typing import Any

from rlenvs.core import choice, kernel, maths
from rlenvs.kits.tracks import line
from rlenvs.kits.tracks.road import AT, LEFT, RIGHT, cell_at, gained
from rlenvs.kits.vehicles.single_track import GAIN_FORWARD, GRAVITY, SLIP, SPEED, YAW, YAW_RATE, X, Y

DYNAMICS = choice("linear", "brush", "kinematic", doc="the original's linear tyres, tyres that slide, or no slip")
BRUSH, LINEAR = DYNAMICS.codes("brush", "linear")
LOOK, LOOK_TIME = 0.4, 0.12  # m, s: how far ahead the point lies that a driver steers at
CATCH = 0.12  # s, steering angle against a yaw rate that is not the way's
ROLLING = 2.0  # m/s below which the slip of tyres does not matter
NEAREST = 1.3  # m, the least of it
SHIFT = 0.2  # m by which the point that a driver steers at may be nearer to the line than the car is
REACTION = 0.06  # s ahead at which a driver reads the speed to drive
SEEN = 3.5  # m ahead in which other cars matter
ASIDE, ROOM = 0.5, 0.32  # m to the side at which a car is passed; of a car's middle from the borders
CLOSE = 0.9  # m behind a car at which its speed is the limit


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
def way_past(p: Any, s: Any, k: int, offset: float) -> tuple[float, float]:
    """The offset [m] and the speed [m/s] at which car k passes, or follows, the cars ahead; offset: of its line."""
    length, speed = s.road[s.road.shape[0] - 1, AT], 1e9
    nearest = SEEN
    for j in range(s.gone.size):
        if j == k or s.gone[j]:
            continue
        ahead = gained(length, s.progress[k], s.progress[j])
        if 0.0 < ahead < nearest and s.car[j, SPEED] < s.car[k, SPEED] + 1.0:
            i, _ = cell_at(s.road, s.progress[j])
            left = s.offset[j] + ASIDE <= s.road[i, LEFT] - ROOM
            right = s.offset[j] - ASIDE >= ROOM - s.road[i, RIGHT]
            if abs(offset - s.offset[j]) < ASIDE and (left or right):
                nearest = ahead
                go_left = left and (not right or s.offset[k] > s.offset[j])
                offset = s.offset[j] + (ASIDE if go_left else -ASIDE)
            aside = abs(s.offset[k] - s.offset[j])
            if aside < ASIDE - 0.1:
                free = max(ahead - CLOSE, 0.0)
                speed = min(
                    speed, max(s.car[j, SPEED], 0.0) + math.sqrt(2.0 * 3.0 * free) - (0.5 if free == 0.0 else 0.0)
                )
    return offset, max(speed, 0.3)


@kernel
def aim(p: Any, s: Any, k: int, progress: float, offset: float) -> float:
    """Steering angle [rad] with which car k comes to a place of the road on an arc."""
    i, part = cell_at(s.road, progress)
    ax, ay = line.on_rung(s.road, i, offset)
    bx, by = line.on_rung(s.road, i + 1, offset)
    x = s.car[k]
    dx, dy = ax + part * (bx - ax) - x[X], ay + part * (by - ay) - x[Y]
    sn, c = maths.sin_cos(x[YAW] + x[SLIP])
    left, away = c * dy - sn * dx, dx * dx + dy * dy
    bend = 2.0 * left / max(away, 1e-6)
    angle = maths.atan(bend * (p.front_axle + p.rear_axle))
    if x[SPEED] < ROLLING:
        return angle
    # what understeer takes, and against a tail that comes round
    share = min(abs(bend) * x[SPEED] * x[SPEED] / (p.friction * GRAVITY), 0.9)
    slip = 3.0 * (1.0 - maths.power(1.0 - share, 1.0 / 3.0)) if p.dynamics == BRUSH else share
    slip *= max(1.0 / p.front_stiffness - 1.0 / p.rear_stiffness, 0.0)
    return angle + math.copysign(slip, bend) + CATCH * (x[SPEED] * bend - x[YAW_RATE])


@kernel
def drive(p: Any, s: Any, k: int, a: Any, pace: float, overtakes: bool) -> None:
    """The action of car k that follows the line at a share of the speeds that friction allows."""
    x = s.car[k]
    speed = max(x[SPEED], 0.0)
    ahead = s.progress[k] + max(LOOK + LOOK_TIME * speed, NEAREST)
    offset, limit = offset_of_line(s, ahead), 1e9
    if overtakes:
        offset, limit = way_past(p, s, k, offset)
    # no swerves: beyond what the line itself does, the car goes to the side little by little
    drifted = s.offset[k] - offset_of_line(s, s.progress[k])
    offset = min(max(offset, offset_of_line(s, ahead) + drifted - SHIFT), offset_of_line(s, ahead) + drifted + SHIFT)
    i, _ = cell_at(s.road, ahead)
    offset = min(max(offset, ROOM - s.road[i, RIGHT]), s.road[i, LEFT] - ROOM)
    steer = aim(p, s, k, ahead, offset)
    now = speed_on_line(s, s.progress[k] + REACTION * speed)
    soon = speed_on_line(s, s.progress[k] + (REACTION + 0.1) * speed)
    gain = GAIN_FORWARD * p.max_acceleration / p.top_speed
    wanted = pace * now
    if soon > now:  # the motor's controller needs an error to accelerate
        wanted += pace * (soon - now) / (0.1 * gain)
    wanted = min(wanted, limit)
    a[0] = min(max(steer / p.max_steer, -1.0), 1.0)
    a[1] = min(max(wanted / p.top_speed, 0.0), 1.0)
