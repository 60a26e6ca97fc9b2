"""Motion of the rally car: tires, slopes and collisions with walls."""

import math

from rlenvs.core import kernel, maths
from rlenvs.kits.tracks.road import AT, body_contact, body_gap, coordinates, grip_factor, locate
from rlenvs.kits.vehicles.drift import drift
from rlenvs.kits.vehicles.single_track import (
    GRAVITY,
    SLIP,
    SPEED,
    STATES,
    STEER,
    YAW,
    YAW_RATE,
    X,
    Y,
    acceleration_towards,
)

PARTS = 2  # steps of the physics between, of 0.005 s
CELLS = 256  # of the road
WAVES = 3  # of the ground
CLEAR = 1e-6  # m, between wall and car after a contact


@kernel
def note_slope(p, s):
    """How steep the ground is under the car, ahead and to the left: the height is a sum of waves."""
    east = north = 0.0
    for n in range(WAVES):
        steep = p.hills * maths.cos(s.waves[n, 0] * s.car[X] + s.waves[n, 1] * s.car[Y] + s.waves[n, 2])
        east, north = east + steep * s.waves[n, 0], north + steep * s.waves[n, 1]
    sn, c = maths.sin_cos(s.car[YAW])
    s.slope[0], s.slope[1] = c * east + sn * north, c * north - sn * east


@kernel
def roll_down(p, s, h):
    """What gravity does to the velocity in h seconds on a slope."""
    note_slope(p, s)
    sn, c = maths.sin_cos(s.car[SLIP])
    ahead = s.car[SPEED] * c - GRAVITY * s.slope[0] * h
    left = s.car[SPEED] * sn - GRAVITY * s.slope[1] * h
    set_velocity(s.car, ahead, left)


@kernel
def set_velocity(x, ahead, left):
    """Speed and slip of a velocity [m/s] ahead and to the left."""
    size = math.sqrt(ahead * ahead + left * left)
    if ahead < 0.0 and abs(left) < -ahead:  # backwards, as in `drift`
        x[SPEED], x[SLIP] = -size, maths.atan2(-left, -ahead)
    else:
        x[SPEED], x[SLIP] = size, maths.atan2(left, ahead) if size > 0.0 else 0.0


@kernel
def drive(p, s, steer, speed, h):
    """Move the car for h seconds. Returns the speed [m/s] across a wall at which it hit that, 0 where it hit none."""
    x = s.car
    for n in range(STATES):
        s.before[n] = x[n]
    grip = p.friction * grip_factor(s.patches, p.road[CELLS, AT], s.progress, s.offset)
    rate = min(max((steer - x[STEER]) / h, -p.steer_rate), p.steer_rate)
    s.steer_speed = rate
    drift(p, grip, x, rate, acceleration_towards(p, x, speed), h, PARTS, s.scratch)
    roll_down(p, s, h)
    x[STEER] = min(max(x[STEER], -p.max_steer), p.max_steer)
    x[YAW] = maths.wrapped(x[YAW])
    sn, c = maths.sin_cos(x[YAW])
    cell, hit = locate(p.road, s.cell, x[X], x[Y]), 0.0
    gap, along, left, out_ahead, out_left = body_contact(p.road, cell, x[X], x[Y], c, sn, p.body)
    if gap < 0.0:
        hit = bounce_off(p, x, along, left, out_ahead, out_left)
        x[X] += (CLEAR - gap) * (c * out_ahead - sn * out_left)
        x[Y] += (CLEAR - gap) * (sn * out_ahead + c * out_left)
        cell = locate(p.road, s.cell, x[X], x[Y])
        if body_gap(p.road, cell, x[X], x[Y], c, sn, p.body) < 0.0:  # another wall: not a step further
            x[X], x[Y], x[YAW], cell = s.before[X], s.before[Y], s.before[YAW], s.cell
    s.cell = cell
    s.progress, s.offset = coordinates(p.road, cell, x[X], x[Y])
    return hit


@kernel
def bounce_off(p, x, along, left, out_ahead, out_left):
    """Change velocity and rate of turn by the impulses of a wall at a point of the body: restitution across it,
    friction along it. Returns the speed [m/s] across it before.

    along, left: the point [m]; out_ahead, out_left: unit vector away from the wall; both in the frame of the car.
    """
    sn, c = maths.sin_cos(x[SLIP])
    u, v, turn = x[SPEED] * c, x[SPEED] * sn, x[YAW_RATE]
    hit = max(0.0, -((u - turn * left) * out_ahead + (v + turn * along) * out_left))
    arm = along * out_left - left * out_ahead
    push = (1.0 + p.bounce) * hit / (1.0 / p.mass + arm * arm / p.inertia)
    u, v, turn = u + push * out_ahead / p.mass, v + push * out_left / p.mass, turn + push * arm / p.inertia
    slide = (v + turn * along) * out_ahead - (u - turn * left) * out_left
    arm = along * out_ahead + left * out_left
    rub = min(max(-slide / (1.0 / p.mass + arm * arm / p.inertia), -p.wall_friction * push), p.wall_friction * push)
    set_velocity(x, u - rub * out_left / p.mass, v + rub * out_ahead / p.mass)
    x[YAW_RATE] = turn + rub * arm / p.inertia
    return hit
