"""The body of Gymnasium's BipedalWalker-v3: a hull on two legs of two links each, four motors, a lidar; and a gait."""

import math

from rlenvs.core import f8, i8, kernel, maths
from rlenvs.kits import planar
from rlenvs.kits.planar import gait
from rlenvs.kits.planar.biped import (
    FAN,
    HIP_0,
    HIP_1,
    KNEE_0,
    KNEE_1,
    RAYS,
    add_hinge,
    add_hull,
    add_link,
    drive,
    hull_numbers,
    leg_numbers,
)

GROUND, HULL, LEG_0, LOWER_0, LEG_1, LOWER_1 = range(6)  # bodies
TERRAIN, WALKER = 0x1, 0x20  # categories
GAIT = (  # of the expert: `benchmarks/planar_gaits.py` has searched it, from the gait of Gymnasium's controller
    *(0.307, 0.251, 1.144, -0.866, 0.082, 0.06, 0.998, 0.775, 0.016, 0.03),
    *(0.529, 0.141, 2.427, 0.102, 0.423, 0.616, 9.124, -0.026, -0.045, 0.0, 0.0),
)

STATE = {
    **planar.fields(bodies=6, shapes="shapes", vertices="vertices", joints=4, contacts=56, events=96, strips=64),
    "first_shape": i8,  # of the walker, its hull
    "lidar": f8(RAYS),
    "place": f8,  # m, at the step before
    "lean": f8,
    "hull_touched": i8,
    "foot_touches": i8(2),
    "gait": f8(gait.MEMORY),  # its memory
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
    s.first_shape = add_hull(s, x, y, p.scale, 5.0, WALKER, TERRAIN)
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
    planar.advance(s, 1.0 / p.fps, p.gravity_x, p.gravity, often, again, planar.SETTLED)
    read_contacts(s)
    look(p, s)


@kernel
def hull_seen(p, s):
    """Angle, angular velocity, horizontal and vertical velocity, as the original scales them."""
    return hull_numbers(s, HULL, p.fps, p.viewport_w / p.scale, p.viewport_h / p.scale)


@kernel
def leg_seen(p, s, leg):
    """Hip angle and speed, knee angle and speed, and whether the foot touches the ground."""
    return leg_numbers(p, s, hip(leg), knee(leg), s.foot_touches[leg])


# --- the gait ---------------------------------------------------------------------------------------------------------


@kernel
def plan_gait(p, s):
    """What the joints are to do next."""
    gait.plan(p.gait_numbers, s.gait, hull_seen(p, s)[2], leg_seen(p, s, 0), leg_seen(p, s, 1), 0.0, 0.0)


@kernel
def follow_gait(p, s, leg):
    """Actions of the hip and the knee of a leg."""
    return gait.follow(p.gait_numbers, s.gait, hull_seen(p, s), leg_seen(p, s, leg), leg)


@kernel
def progress_of(p, s):
    """What the original's reward for progress is the difference of: 130 for 30 metres."""
    return 130.0 * planar.origin(s, HULL)[0] / p.scale


@kernel
def lean_of(s):
    return math.fabs(s.angle[HULL])
