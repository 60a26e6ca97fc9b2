"""Scripted steering: via one waypoint to the goal, slowly enough to stay clear of hazards."""

import math

from rlenvs.core import kernel, maths
from rlenvs.robotics.navigation.point import clipped
from rlenvs.robotics.navigation.vases import HALF

CORNERS, WIDER = 8, 1.15  # waypoints around an obstacle, and their distance from it, relative to its radius with margin
HAZARD_MARGIN, VASE_MARGIN = 0.08, 0.19  # m; the robot's body must stay clear of vases, only its centre of hazards
SLACK = 0.03  # m; less margin is enough on the way that the robot is on already, or it would never leave a waypoint
DANGER = 20.0  # one metre inside obstacles is as bad as this many metres of detour
CRUISE, TOP_SPEED = 0.8, 1.4  # m/s


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
def exposure(p, s, x, y, dx, dy, length, slack):
    """The length inside hazards and guarded vases of the segment from x, y in direction (dx, dy).

    They count with their margins less `slack`.
    """
    total = 0.0
    for j in range(s.hazards.shape[0]):
        radius = p.hazard_radius + HAZARD_MARGIN - slack
        total += chord(s.hazards[j, 0] - x, s.hazards[j, 1] - y, dx, dy, length, radius)
    if p.constrain_vases:
        for j in range(s.vases.shape[0]):
            total += chord(s.vases[j, 0] - x, s.vases[j, 1] - y, dx, dy, length, HALF + VASE_MARGIN - slack)
    return total


@kernel
def effort(p, s, x, y, gx, gy, slack):
    """The length of the straight way from x, y to gx, gy, with a surcharge for the part inside obstacles."""
    length = math.sqrt((gx - x) ** 2 + (gy - y) ** 2)
    dx, dy = (gx - x) / (length + 1e-9), (gy - y) / (length + 1e-9)
    return length + DANGER * exposure(p, s, x, y, dx, dy, length, slack)


@kernel
def steer(p, s, a):
    """Fill the action that leads to the goal around hazards and guarded vases."""
    x, y, gx, gy = s.position[0], s.position[1], s.goal[0, 0], s.goal[0, 1]
    wx, wy = gx, gy
    least = effort(p, s, x, y, gx, gy, SLACK)
    hazards = s.hazards.shape[0]
    obstacles = hazards + (s.vases.shape[0] if p.constrain_vases else 0)
    # the waypoints lie fixed around the obstacles, so that a robot on its way to one does not change its mind
    for k in range(obstacles * CORNERS if least > s.distance else 0):
        j = k // CORNERS
        cosine, sine = maths.cos(2.0 * math.pi * k / CORNERS), maths.sin(2.0 * math.pi * k / CORNERS)
        if j < hazards:
            reach = WIDER * (p.hazard_radius + HAZARD_MARGIN)
            vx, vy = s.hazards[j, 0] + reach * cosine, s.hazards[j, 1] + reach * sine
        else:
            reach = WIDER * (HALF + VASE_MARGIN)
            vx, vy = s.vases[j - hazards, 0] + reach * cosine, s.vases[j - hazards, 1] + reach * sine
        total = effort(p, s, x, y, vx, vy, SLACK)
        if total < least:
            total += effort(p, s, vx, vy, gx, gy, 0.0)
            if total < least:
                least, wx, wy = total, vx, vy

    dx, dy = wx - x, wy - y
    length = math.sqrt(dx * dx + dy * dy) + 1e-9
    speed = CRUISE if obstacles > 0 else TOP_SPEED
    mass = p.body_mass + p.nose_mass
    # the force that brings the velocity to the wanted one
    fx = mass * 4.0 * (speed * dx / length - s.velocity[0]) + p.drag * s.velocity[0]
    fy = mass * 4.0 * (speed * dy / length - s.velocity[1]) + p.drag * s.velocity[1]
    cosine, sine = maths.cos(s.heading), maths.sin(s.heading)
    forward, left = cosine * fx + sine * fy, cosine * fy - sine * fx
    # the drive works in both directions, so a quarter turn is the most that is needed
    error = maths.atan2(left, forward) if forward >= 0.0 else maths.atan2(-left, -forward)
    a[0] = p.saturation * clipped(forward / p.thrust)
    a[1] = clipped(8.0 * error / p.turn_rate)
