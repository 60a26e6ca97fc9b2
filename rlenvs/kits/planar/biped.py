"""The walker of Gymnasium's BipedalWalker-v3, which is that of PettingZoo's multiwalker_v9 too: a hull on two legs of
two links each, four motors; what it senses of itself."""

import math

from rlenvs.core import block, kernel
from rlenvs.kits.planar.bodies import DYNAMIC, add_body
from rlenvs.kits.planar.joints import add_revolute, joint_angle, joint_speed, set_limits, set_motor
from rlenvs.kits.planar.shapes import add_box, finish_polygon, set_filter, set_material, set_vertex, start_polygon

SCALE = 30.0  # px/m, of the hull's vertices
VIEWPORT_W, VIEWPORT_H = 600.0, 400.0  # px, of the originals' viewport, by which they scale velocities
KNEE_1, HIP_1, HIP_0, KNEE_0 = range(4)  # joints of a walker, in the order in which Box2D solves them
RAYS, FAN = 10, 1.5  # of the lidar; rad, from below forwards
HULL_X = (-30.0, -30.0, 34.0, 34.0, 6.0)  # px, counter-clockwise
HULL_Y = (9.0, -8.0, -8.0, 1.0, 9.0)
ROUGHNESS = 1.0 / 30.0  # m per step of the ground, of its slope, drawn anew at every step
BACK = 0.01  # m per step, by which the slope leads back to the middle


def blocks_of_leg(name):
    """The blocks of an observation that `leg_numbers` fills."""
    return {
        f"{name}_hip": block(low=-math.pi, high=math.pi, unit="rad", doc="angle"),
        f"{name}_hip_speed": block(low=-5.0, high=5.0, doc="in units of the motor's speed"),
        f"{name}_knee": block(low=-math.pi, high=math.pi, unit="rad", doc="angle, and 1"),
        f"{name}_knee_speed": block(low=-5.0, high=5.0, doc="in units of the motor's speed"),
        f"{name}_foot": block(low=0.0, high=1.0, doc="touches something"),
    }


@kernel
def add_hull(s, x, y, scale, density, category, mask):
    """A body with the hull; its shape."""
    k = start_polygon(s, add_body(s, DYNAMIC, x, y, 0.0), 5)
    for j in range(5):
        set_vertex(s, k, j, HULL_X[j] / scale, HULL_Y[j] / scale)
    finish_polygon(s, k, density)
    set_material(s, k, 0.1, 0.0)
    set_filter(s, k, category, mask)
    return k


@kernel
def add_link(s, x, y, angle, half_width, half_height, category, mask):
    """A body with a link of a leg."""
    body = add_body(s, DYNAMIC, x, y, angle)
    set_filter(s, add_box(s, body, half_width, half_height, 1.0), category, mask)


@kernel
def add_hinge(s, a, b, below_a, above_b, lower, upper):
    """A hip or a knee at these heights in both bodies, with a motor that rests."""
    j = add_revolute(s, a, b, 0.0, below_a, 0.0, above_b)
    set_motor(s, j, 0.0, 0.0)
    set_limits(s, j, lower, upper)


@kernel
def drive(s, j, speed, torque, a):
    """A motor in the direction of an action, with a share of its torque."""
    s.motor_speed[j] = speed * ((1.0 if a > 0.0 else 0.0) - (1.0 if a < 0.0 else 0.0))
    s.motor_limit[j] = torque * min(abs(a), 1.0)


@kernel
def hull_numbers(s, b, fps, wide, high):
    """Angle, angular velocity, horizontal and vertical velocity of a hull, as the originals scale them: by the sides
    of their viewport [m]."""
    vx, vy = s.velocity[b, 0], s.velocity[b, 1]
    return s.angle[b], 2.0 * s.spin[b] / fps, 0.3 * vx * wide / fps, 0.3 * vy * high / fps


@kernel
def leg_numbers(p, s, hip, knee, touches):
    """Hip angle and speed, knee angle and speed, and whether the foot touches something."""
    return (
        joint_angle(s, hip),
        joint_speed(s, hip) / p.speed_hip,
        joint_angle(s, knee) + 1.0,
        joint_speed(s, knee) / p.speed_knee,
        1.0 if touches else 0.0,
    )
