"""Scripted steering: the straightest free direction, at a speed that allows to stop in time."""

import math

from rlenvs.core import kernel
from rlenvs.robotics.navigation.point import clipped
from rlenvs.robotics.navigation.vases import HALF

DIRECTIONS = 64
LOOK_AHEAD = 0.8  # m
HAZARD_MARGIN, VASE_MARGIN = 0.03, 0.17  # m; a vase must not touch the body, a hazard only the centre of the robot


@kernel
def free_way(x, y, dx, dy, radius, reach):
    """How far one can go from the origin in direction (dx, dy), at most `reach`, before a disc at x, y."""
    ahead = x * dx + y * dy
    if ahead <= 0.0:
        return reach  # leaving it, or past it
    offset = x * x + y * y - ahead * ahead
    if offset >= radius * radius:
        return reach
    return min(reach, max(0.0, ahead - math.sqrt(radius * radius - offset)))


@kernel
def clear_way(p, s, dx, dy, reach):
    """How far one can go from the robot in direction (dx, dy), at most `reach`, before any hazard or guarded vase."""
    way = reach
    for j in range(s.hazards.shape[0]):
        x, y = s.hazards[j, 0] - s.position[0], s.hazards[j, 1] - s.position[1]
        way = free_way(x, y, dx, dy, p.hazard_radius + HAZARD_MARGIN, way)
    if p.constrain_vases:
        for j in range(s.vases.shape[0]):
            x, y = s.vases[j, 0] - s.position[0], s.vases[j, 1] - s.position[1]
            way = free_way(x, y, dx, dy, HALF + VASE_MARGIN, way)
    return way


@kernel
def steer(p, s, a):
    """Fill the action that leads to the goal around hazards and guarded vases."""
    gx, gy = s.goal[0, 0] - s.position[0], s.goal[0, 1] - s.position[1]
    distance = math.sqrt(gx * gx + gy * gy)
    reach = min(distance, LOOK_AHEAD)
    towards = math.atan2(gy, gx)
    best, wx, wy, way = -1e9, 0.0, 0.0, 0.0
    for k in range(DIRECTIONS):
        turn = 2.0 * math.pi * k / DIRECTIONS
        dx, dy = math.cos(towards + turn), math.sin(towards + turn)
        clear = clear_way(p, s, dx, dy, reach)
        keeping = s.velocity[0] * dx + s.velocity[1] * dy
        score = math.cos(turn) + 3.0 * clear / reach + 0.3 * keeping
        if score > best:
            best, wx, wy, way = score, dx, dy, clear

    mass = p.body_mass + p.nose_mass
    brake = 0.5 * p.thrust / mass
    speed = 1.5 if way >= distance - 1e-9 else math.sqrt(2.0 * brake * way)
    # the force that brings the velocity to the wanted one; the drive works in both directions, so turn by a quarter at most
    fx = mass * 4.0 * (speed * wx - s.velocity[0]) + p.drag * speed * wx
    fy = mass * 4.0 * (speed * wy - s.velocity[1]) + p.drag * speed * wy
    cosine, sine = math.cos(s.heading), math.sin(s.heading)
    forward, left = cosine * fx + sine * fy, cosine * fy - sine * fx
    error = math.atan2(left, forward) if forward >= 0.0 else math.atan2(-left, -forward)
    a[0] = p.saturation * clipped(forward / p.thrust)
    a[1] = clipped(8.0 * error / p.turn_rate)
