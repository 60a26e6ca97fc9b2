"""Motion, progress and contacts of the F1TENTH cars."""

import numpy as np

from rlenvs.core import choice, kernel, maths
from rlenvs.kits.tracks.road import AT, body_gap, coordinates, gained, grip_factor, locate
from rlenvs.kits.vehicles import drift, single_track
from rlenvs.kits.vehicles.bodies import bodies_gap
from rlenvs.kits.vehicles.single_track import YAW, X, Y
from rlenvs.robotics.racing.driver import BRUSH, LINEAR

SHAPE = np.array([0.29, 0.29, 0.155])  # m from the car's place: body of 0.58 m x 0.31 m
FAR_CAR, SAME_LEVEL = 1.2, 3.0  # m
SLIDE_PARTS = 2  # steps of the sliding tyres within dt
INTEGRATOR = choice("rk4", "euler", doc="integration method for linear tires")
(EULER,) = INTEGRATOR.codes("euler")
RACING, FINISHED, BORDER, CAR_CONTACT = range(4)


@kernel
def move(p, s, k, steer, speed):
    """One step of the physics of a car towards a steering angle [rad] and a speed [m/s]."""
    x = s.car[k]
    if p.delay > 0:
        steer = single_track.delayed(s.delayed[k], s.ticks, steer)
    rate = single_track.steer_rate_towards(p, x, steer)
    acceleration = single_track.acceleration_towards(p, x, speed)
    grip = p.friction
    if s.patch.shape[0] > 0:
        grip *= grip_factor(s.patch, s.road[s.road.shape[0] - 1, AT], s.progress[k], s.offset[k])
    if p.dynamics == BRUSH:
        drift.drift(p, grip, x, rate, acceleration, p.dt, SLIDE_PARTS, s.work)
    elif p.dynamics == LINEAR and p.integrator == EULER:
        single_track.euler(p, grip, x, rate, acceleration, p.dt, s.work)
    elif p.dynamics == LINEAR:
        single_track.runge_kutta(p, grip, x, rate, acceleration, p.dt, s.work)
    else:
        single_track.roll(p, x, rate, acceleration, p.dt, s.work)
    single_track.wrap_yaw(x)


@kernel
def follow(p, s, k):
    """Where on the road the car is now, and what it gained."""
    x = s.car[k]
    s.cell[k] = locate(s.road, s.cell[k], x[X], x[Y])
    progress, offset = coordinates(s.road, s.cell[k], x[X], x[Y])
    length = s.road[s.road.shape[0] - 1, AT]
    s.travelled[k] += gained(length, s.progress[k], progress)
    s.progress[k], s.offset[k] = progress, offset
    if s.travelled[k] >= (s.laps_done[k] + 1) * length:
        now = (s.ticks + 1) * p.dt
        s.last_lap[k] = now - s.lap_began[k]
        best = s.best_lap[k]
        s.best_lap[k] = s.last_lap[k] if best == 0.0 else min(best, s.last_lap[k])
        s.lap_began[k] = now
        s.laps_done[k] += 1
        if s.laps_done[k] >= p.laps:
            s.end[k] = FINISHED


@kernel
def border_gap(s, k):
    """Distance [m] of a car's body from the borders, negative where it touches them."""
    x = s.car[k]
    sn, c = maths.sin_cos(x[YAW])
    return body_gap(s.road, s.cell[k], x[X], x[Y], c, sn, SHAPE)


@kernel
def nearest_car(s, k):
    """Gap [m] to the body of the nearest other car, at most FAR_CAR; negative where they touch."""
    x, gap = s.car[k], FAR_CAR
    length = s.road[s.road.shape[0] - 1, AT]
    sn, c = maths.sin_cos(x[YAW])
    for j in range(s.gone.size):
        if j != k and not s.gone[j] and abs(gained(length, s.progress[k], s.progress[j])) < SAME_LEVEL:
            y = s.car[j]
            dx, dy = y[X] - x[X], y[Y] - x[Y]
            if dx * dx + dy * dy < (FAR_CAR + 0.7) * (FAR_CAR + 0.7):
                other_s, other_c = maths.sin_cos(y[YAW])
                gap = min(gap, bodies_gap(dx, dy, c, sn, SHAPE, other_c, other_s, SHAPE))
    return gap


@kernel
def tick(p, s, a):
    """One step of the physics of all cars that still race."""
    for k in range(s.gone.size):
        if not s.gone[k] and s.end[k] == RACING:
            limit = p.top_speed if a[k, 1] >= 0.0 else p.reverse_speed
            move(p, s, k, a[k, 0] * p.max_steer, a[k, 1] * limit)
            follow(p, s, k)
            s.gap[k] = border_gap(s, k)
            if s.gap[k] <= 0.0:
                s.end[k] = BORDER
    if s.gone.size > 1:
        for k in range(s.gone.size):
            if not s.gone[k] and s.end[k] in (RACING, CAR_CONTACT) and nearest_car(s, k) <= 0.0:
                s.end[k] = CAR_CONTACT
    s.ticks += 1
