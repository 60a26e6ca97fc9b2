"""Scripted steering: by way of one waypoint to the goal, slowly enough to stay clear of hazards."""

import math

from rlenvs.core import kernel
from rlenvs.robotics.navigation.point import clipped
from rlenvs.robotics.navigation.vases import HALF

DIRECTIONS, STRIDE, STRIDES = 32, 0.3, 4  # waypoints around the robot: directions, distance between rings [m], rings
HAZARD_MARGIN, VASE_MARGIN = 0.06, 0.17  # m; the robot's body must stay clear of vases, only its centre of hazards
DANGER = 20.0  # one metre inside obstacles is as bad as this many metres of detour
CRUISE, TOP_SPEED = 0.7, 1.4  # m/s


@kernel
def chord(x, y, dx, dy, length, radius):
    """The length inside a disc at x, y of the segment from the origin in direction (dx, dy)."""
    along = x * dx + y * dy
    square = radius * radius - (x * x + y * y - along * along)
    if square <= 0.0:
        return 0.0
    half = math.sqrt(square)
    return max(0.0, min(along + half, length) - max(along - half, 0.0))


@kernel
def exposure(p, s, x, y, dx, dy, length):
    """The length inside hazards and guarded vases, with a margin, of the segment from x, y in direction (dx, dy)."""
    total = 0.0
    for j in range(s.hazards.shape[0]):
        radius = p.hazard_radius + HAZARD_MARGIN
        total += chord(s.hazards[j, 0] - x, s.hazards[j, 1] - y, dx, dy, length, radius)
    if p.constrain_vases:
        for j in range(s.vases.shape[0]):
            total += chord(s.vases[j, 0] - x, s.vases[j, 1] - y, dx, dy, length, HALF + VASE_MARGIN)
    return total


@kernel
def effort(p, s, x, y, gx, gy):
    """The length of the straight way from x, y to gx, gy, with a surcharge for the part inside obstacles."""
    length = math.sqrt((gx - x) ** 2 + (gy - y) ** 2)
    return length + DANGER * exposure(p, s, x, y, (gx - x) / (length + 1e-9), (gy - y) / (length + 1e-9), length)


@kernel
def steer(p, s, a):
    """Fill the action that leads to the goal around hazards and guarded vases."""
    x, y, gx, gy = s.position[0], s.position[1], s.goal[0, 0], s.goal[0, 1]
    wx, wy = gx, gy
    least = effort(p, s, x, y, gx, gy)
    if least > s.distance:
        for k in range(DIRECTIONS):
            cosine, sine = math.cos(2.0 * math.pi * k / DIRECTIONS), math.sin(2.0 * math.pi * k / DIRECTIONS)
            for ring in range(1, STRIDES + 1):
                vx, vy = x + ring * STRIDE * cosine, y + ring * STRIDE * sine
                total = effort(p, s, x, y, vx, vy)
                if total < least:
                    total += effort(p, s, vx, vy, gx, gy)
                    if total < least:
                        least, wx, wy = total, vx, vy

    # full speed only when the way is clear for long
    dx, dy = wx - x, wy - y
    length = math.sqrt(dx * dx + dy * dy) + 1e-9
    speed = CRUISE if s.hazards.shape[0] > 0 else TOP_SPEED
    mass = p.body_mass + p.nose_mass
    # the force that brings the velocity to the wanted one
    fx = mass * 4.0 * (speed * dx / length - s.velocity[0]) + p.drag * s.velocity[0]
    fy = mass * 4.0 * (speed * dy / length - s.velocity[1]) + p.drag * s.velocity[1]
    cosine, sine = math.cos(s.heading), math.sin(s.heading)
    forward, left = cosine * fx + sine * fy, cosine * fy - sine * fx
    # the drive works in both directions, so a quarter turn is the most that is needed
    error = math.atan2(left, forward) if forward >= 0.0 else math.atan2(-left, -forward)
    a[0] = p.saturation * clipped(forward / p.thrust)
    a[1] = clipped(8.0 * error / p.turn_rate)
