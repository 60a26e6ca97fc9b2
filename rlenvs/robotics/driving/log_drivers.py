"""Scripted experts of LogReplay: one replays the log; the other follows its lane with IDM, without the log."""

import math

from rlenvs.core import choice, kernel, maths
from rlenvs.kits.roads.lanes import LIMIT, wrapped
from rlenvs.kits.traffic.cars import CAR_LENGTH, slip_towards
from rlenvs.kits.traffic.drivers import idm
from rlenvs.kits.traffic.lane_lists import neighbours
from rlenvs.robotics.driving.logs import HEADING, STEP, X, Y
from rlenvs.robotics.driving.replay import MOST_FORCE, MOST_STEER

PREVIEW = 3  # frames that the expert of kinematic actions looks ahead
ACTIONS = choice("displacement", "kinematic", doc="the displacement to the next frame, or steering and acceleration")
(KINEMATIC,) = ACTIONS.codes("kinematic")
PLANNER = choice("log", "idm", doc="whether the scripted expert follows the log, or drives with IDM")
(IDM,) = PLANNER.codes("idm")


@kernel
def expert(p, s, a):
    """Drives as was logged, or by IDM along its lane."""
    if p.planner == IDM:
        idm_planner(p, s, a)
    elif p.actions == KINEMATIC:
        chase(p, s, a)
    else:
        row, ego = min(s.row + 1, s.last_row), s.ego
        turn = wrapped(p.log[row, ego, HEADING] - s.heading[ego])
        displace(p, s, a, p.log[row, ego, X], p.log[row, ego, Y], turn)


@kernel
def displace(p, s, a, x, y, turn):
    """The action that brings the ego car to a point and turns it."""
    ego = s.ego
    right, down = x - s.x[ego], y - s.y[ego]
    ahead = right * s.cosine[ego] + down * s.sine[ego]
    aside = down * s.cosine[ego] - right * s.sine[ego]
    a[0] = min(max((ahead - p.scaling[0, 0]) / p.scaling[1, 0], -1.0), 1.0)
    a[1] = min(max((aside - p.scaling[0, 1]) / p.scaling[1, 1], -1.0), 1.0)
    a[2] = min(max((turn - p.scaling[0, 2]) / p.scaling[1, 2], -1.0), 1.0)


@kernel
def chase(p, s, a):
    """Steers for where the log has the car some frames ahead, at the speed that brings it there."""
    ego, row = s.ego, min(s.row + PREVIEW, s.last_row)
    right, down = p.log[row, ego, X] - s.x[ego], p.log[row, ego, Y] - s.y[ego]
    way = right * s.cosine[ego] + down * s.sine[ego]
    pace = way / (max(row - s.row, 1) * STEP)
    turn = 0.0
    if right * right + down * down > 0.04:
        turn = wrapped(maths.atan2(down, right) - s.heading[ego])
    command(a, turn, pace - s.speed[ego])


@kernel
def command(a, turn, faster):
    """The kinematic action that turns the car by an angle and makes it faster, within a step."""
    a[0] = min(max(turn / (MOST_STEER * STEP), -1.0), 1.0)
    a[1] = min(max(faster / (MOST_FORCE * STEP), -1.0), 1.0)


@kernel
def idm_planner(p, s, a):
    """Follows its lane at the speed limit, and who is before it by IDM; it knows no log."""
    ego, k = s.ego, s.lane_of[s.ego]
    s_limit = p.lane[k, LIMIT]
    wanted = s.target_speed[ego]
    s.target_speed[ego] = s_limit
    front, _ = neighbours(p, s, ego, k)
    force = min(max(idm(p, p.drivers, s, ego, ego, front), -MOST_FORCE), MOST_FORCE)
    s.target_speed[ego] = wanted
    slip, speed = slip_towards(p, s, ego, k), s.speed[ego]
    turn = speed * slip / (0.5 * CAR_LENGTH) * STEP
    if p.actions == KINEMATIC:
        command(a, turn, force * STEP)
        return
    straight = math.sqrt(1.0 - slip * slip)
    way = max(speed + force * STEP, 0.0) * STEP
    x = s.x[ego] + way * (s.cosine[ego] * straight - s.sine[ego] * slip)
    y = s.y[ego] + way * (s.sine[ego] * straight + s.cosine[ego] * slip)
    displace(p, s, a, x, y, turn)
