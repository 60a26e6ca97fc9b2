"""The body of Gymnasium's BipedalWalker-v3: a hull on two legs of two links each, four motors, a lidar; and a gait."""

import math

from rlenvs.core import f8, i8, kernel, maths
from rlenvs.kits import planar
from rlenvs.kits.planar.biped import (
    FAN,
    HIP_0,
    HIP_1,
    KNEE_0,
    KNEE_1,
    RAYS,
    SCALE,
    add_hinge,
    add_hull,
    add_link,
    drive,
    hull_numbers,
    leg_numbers,
)

GROUND, HULL, LEG_0, LOWER_0, LEG_1, LOWER_1 = range(6)  # bodies
TERRAIN, WALKER = 0x1, 0x20  # categories
STAY, PUT_DOWN, PUSH_OFF = 1, 2, 3  # what the gait does: stands on one leg, puts the other down, pushes off
PACE = 0.29  # of the gait, in units of the observation
KNEE = 0.1  # rad, of the leg that carries

STATE = {
    **planar.fields(bodies=6, shapes="shapes", vertices="vertices", joints=4, contacts=56, events=96, strips=64),
    "first_shape": i8,  # of the walker, its hull
    "lidar": f8(RAYS),
    "place": f8,  # m, at the step before
    "lean": f8,
    "hull_touched": i8,
    "foot_touches": i8(2),
    "phase": i8,  # of the gait; 0 before the first step
    "moving_leg": i8,
    "carrying_knee": f8,
    "hip_target": f8(2),  # rad; 0: none
    "knee_target": f8(2),
}


@kernel
def hip(leg):
    return HIP_0 if leg == 0 else HIP_1


@kernel
def knee(leg):
    return KNEE_0 if leg == 0 else KNEE_1


@kernel
def build_walker(p, s):
    """Hull and legs above the middle of the start, the legs apart by a tenth of a radian."""
    x = p.terrain_step * p.terrain_startpad / 2.0
    y = p.terrain_height + 2.0 * p.leg_h
    s.first_shape = add_hull(s, x, y, 5.0, WALKER, TERRAIN)
    half = 0.5 * p.leg_h
    for side in (-1, 1):
        add_link(s, x, y - half - p.leg_down, 0.05 * side, 0.5 * p.leg_w, half, WALKER, TERRAIN)
        add_link(s, x, y - 3.0 * half - p.leg_down, 0.05 * side, 0.4 * p.leg_w, half, WALKER, TERRAIN)
    add_hinge(s, LEG_1, LOWER_1, -half, half, -1.6, -0.1)
    add_hinge(s, HULL, LEG_1, p.leg_down, half, -0.8, 1.1)
    add_hinge(s, HULL, LEG_0, p.leg_down, half, -0.8, 1.1)
    add_hinge(s, LEG_0, LOWER_0, -half, half, -1.6, -0.1)
    planar.prepare(s)


@kernel
def read_contacts(s):
    """A foot forgets the ground when one of the pieces it touches lets it go, as in the original."""
    for e in range(s.event_count):
        for n in range(2):
            part = s.events[e, n] - s.first_shape
            if part == 0 and s.events[e, 2] > 0:
                s.hull_touched = 1
            elif part in (2, 4):
                s.foot_touches[part // 2 - 1] = 1 if s.events[e, 2] > 0 else 0


@kernel
def look(p, s):
    x, y = planar.origin(s, HULL)
    for i in range(RAYS):
        sn, c = maths.sin_cos(FAN * i / RAYS)
        s.lidar[i] = planar.cast_ray(s, x, y, x + sn * p.lidar_range, y - c * p.lidar_range, TERRAIN)


@kernel
def walk(p, s, hip_0, knee_0, hip_1, knee_1):
    """One step with these actions of the motors."""
    drive(s, HIP_0, p.speed_hip, p.motors_torque, hip_0)
    drive(s, KNEE_0, p.speed_knee, p.motors_torque, knee_0)
    drive(s, HIP_1, p.speed_hip, p.motors_torque, hip_1)
    drive(s, KNEE_1, p.speed_knee, p.motors_torque, knee_1)
    often, again = p.velocity_iterations, p.position_iterations
    planar.advance(s, 1.0 / p.fps, 0.0, p.gravity, often, again, planar.SETTLED)
    read_contacts(s)
    look(p, s)


@kernel
def hull_seen(p, s):
    """Angle, angular velocity, horizontal and vertical velocity, as the original scales them."""
    return hull_numbers(s, HULL, p.fps)


@kernel
def leg_seen(p, s, leg):
    """Hip angle and speed, knee angle and speed, and whether the foot touches the ground."""
    return leg_numbers(p, s, hip(leg), knee(leg), s.foot_touches[leg])


# --- the gait ---------------------------------------------------------------------------------------------------------


@kernel
def plan_gait(p, s):
    """What the joints are to do next, with the phases and numbers of Gymnasium's own controller: one leg carries while
    the other swings forwards; when the carrying leg is behind, the other comes down, and the first pushes off."""
    pace = hull_seen(p, s)[2]
    moving = s.moving_leg
    carrying = 1 - moving
    if s.phase == 0:
        s.phase, s.carrying_knee = STAY, KNEE
    for leg in range(2):
        s.hip_target[leg], s.knee_target[leg] = 0.0, 0.0
    if s.phase == STAY:
        s.hip_target[moving], s.knee_target[moving] = 1.1, -0.6
        s.carrying_knee += 0.06 if pace > PACE else 0.03
        s.carrying_knee = min(s.carrying_knee, KNEE)
        s.knee_target[carrying] = s.carrying_knee
        if leg_seen(p, s, carrying)[0] < 0.1:
            s.phase = PUT_DOWN
    if s.phase == PUT_DOWN:
        s.hip_target[moving], s.knee_target[moving] = 0.1, KNEE
        s.knee_target[carrying] = s.carrying_knee
        if s.foot_touches[moving]:
            s.phase = PUSH_OFF
            s.carrying_knee = min(leg_seen(p, s, moving)[2], KNEE)
    if s.phase == PUSH_OFF:
        s.knee_target[moving], s.knee_target[carrying] = s.carrying_knee, 1.0
        if leg_seen(p, s, carrying)[2] > 0.88 or pace > 1.2 * PACE:
            s.phase, s.moving_leg = STAY, carrying


@kernel
def follow_gait(p, s, leg):
    """Actions of the hip and the knee of a leg: towards their targets, the hull level, the rise slow."""
    if s.phase == 0:
        return 0.0, 0.0
    lean, turning, _, rising = hull_seen(p, s)
    hip_angle, hip_speed, knee_angle, knee_speed, _ = leg_seen(p, s, leg)
    hips, knees = 0.9 * lean + 1.5 * turning, -15.0 * rising
    if s.hip_target[leg] != 0.0:
        hips += 0.9 * (s.hip_target[leg] - hip_angle) - 0.25 * hip_speed
    if s.knee_target[leg] != 0.0:
        knees += 4.0 * (s.knee_target[leg] - knee_angle) - 0.25 * knee_speed
    return min(max(0.5 * hips, -1.0), 1.0), min(max(0.5 * knees, -1.0), 1.0)


@kernel
def progress_of(p, s):
    """What the original's reward for progress is the difference of: 130 for 30 metres."""
    return 130.0 * planar.origin(s, HULL)[0] / SCALE


@kernel
def lean_of(s):
    return math.fabs(s.angle[HULL])
