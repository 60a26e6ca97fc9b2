"""Vases: light boxes on the floor that slide when they are pushed."""

import math

from rlenvs.core import kernel, maths
from rlenvs.robotics.navigation.point import BALL, NOSE, NOSE_AT

HALF = 0.1  # m, half side of a vase
FRICTION = 9.81  # m/s^2, deceleration on the floor: friction coefficient 1
# friction coefficient between robot and vase. It is 1 in MuJoCo, where a vase that is pushed off centre turns away and
# slips off; here vases do not turn, and this number gives them the same mean cost as there (0.036 per step at level 2).
GRIP = 0.35


@kernel
def push(s, j, radius, ahead):
    """Push vase j out of the disc of the robot whose centre lies `ahead` of the robot's; return whether it was touched.

    The vase takes over the disc's speed along the line of contact and, as far as friction reaches, across it. It weighs
    8e-6 kg, the robot 650 times as much: the robot feels nothing.
    """
    cosine, sine = maths.cos(s.heading), maths.sin(s.heading)
    dx = s.vases[j, 0] - s.position[0] - ahead * cosine
    dy = s.vases[j, 1] - s.position[1] - ahead * sine
    if dx * dx + dy * dy > (radius + 1.5 * HALF) ** 2:
        return False
    # the point of the vase that is nearest to the centre of the disc, in the vase's axes
    c, d = s.vase_axis[j, 0], s.vase_axis[j, 1]
    along, across = -c * dx - d * dy, d * dx - c * dy
    u, v = min(max(along, -HALF), HALF) - along, min(max(across, -HALF), HALF) - across
    gap = math.sqrt(u * u + v * v)
    if gap >= radius:
        return False
    if gap > 1e-9:
        nx, ny = (c * u - d * v) / gap, (d * u + c * v) / gap
    else:  # the centre of the disc lies inside the vase: push along the line of centres
        length = math.sqrt(dx * dx + dy * dy) + 1e-9
        nx, ny = dx / length, dy / length
    s.vases[j, 0] += (radius - gap) * nx
    s.vases[j, 1] += (radius - gap) * ny
    vx, vy = s.velocity[0] - s.spin * ahead * sine, s.velocity[1] + s.spin * ahead * cosine
    vx, vy = vx - s.vase_velocity[j, 0], vy - s.vase_velocity[j, 1]
    closing = vx * nx + vy * ny
    if closing > 0.0:
        slipping = min(max(vy * nx - vx * ny, -GRIP * closing), GRIP * closing)
        s.vase_velocity[j, 0] += closing * nx - slipping * ny
        s.vase_velocity[j, 1] += closing * ny + slipping * nx
    return True


@kernel
def slide_vases(s, duration):
    """Let all vases slide for `duration` seconds and be pushed by the robot; return the number of them touched."""
    touched = 0
    for j in range(s.vases.shape[0]):
        vx, vy = s.vase_velocity[j, 0], s.vase_velocity[j, 1]
        speed = math.sqrt(vx * vx + vy * vy)
        if speed > 0.0:
            kept = max(0.0, speed - FRICTION * duration) / speed
            s.vases[j, 0] += duration * 0.5 * (1.0 + kept) * vx
            s.vases[j, 1] += duration * 0.5 * (1.0 + kept) * vy
            s.vase_velocity[j, 0], s.vase_velocity[j, 1] = kept * vx, kept * vy
        ball = push(s, j, BALL, 0.0)
        nose = push(s, j, NOSE, NOSE_AT)
        if ball or nose:
            touched += 1
    return touched
