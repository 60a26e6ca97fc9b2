"""The table of air hockey as bodies of the planar kit, in decimetres.

The kit's contacts bounce above 1 m/s and overlap by up to 5 mm, which suits bodies of a meter. A puck is 3 cm, so
lengths are decimetres here: bounces begin at 0.1 m/s, and overlaps end at 0.5 mm.
"""

from __future__ import annotations

import math

from rlenvs.core import kernel
from rlenvs.kits import planar

UNIT = 10.0  # dm per metre
LENGTH, WIDTH = 1.948, 1.038  # m, of the table
PUCK, MALLET = 0.03165, 0.04815  # m, radii
BODIES, SHAPES, VERTICES = 4, 14, 48
RIM, RAIL, DISC, HANDLE = 1, 2, 4, 8  # what the puck, the mallets collide with; the puck, the mallets
TABLE, PUCK_BODY, FIRST = 0, 1, 2  # bodies: the mallets follow each other
FIELDS = planar.fields(bodies=BODIES, shapes=SHAPES, vertices=VERTICES, joints=1, contacts=24, strips=8)


@kernel
def wall(s, category, friction, restitution, x1, y1, x2, y2):
    """A side of the table, in metres."""
    k = planar.add_edge(s, TABLE, UNIT * x1, UNIT * y1, UNIT * x2, UNIT * y2)
    planar.set_material(s, k, friction, restitution)
    planar.set_filter(s, k, category, DISC if category == RIM else HANDLE)


@kernel
def disc(s, x, radius, mass, category, mask, friction, restitution):
    """A puck or a mallet on the middle line of the table."""
    b = planar.add_body(s, planar.DYNAMIC, UNIT * x, 0.0, 0.0)
    r = UNIT * radius
    k = planar.add_circle(s, b, r, 0.0, 0.0, mass / (math.pi * r * r))
    planar.set_material(s, k, friction, restitution)
    planar.set_filter(s, k, category, mask)
    return b


@kernel
def build(p, s, home):
    """Rims with goals for the puck; rails and a line across the middle for the mallets, which do not bounce there."""
    planar.add_body(s, planar.STATIC, 0.0, 0.0, 0.0)
    x, y, g = 0.5 * LENGTH, 0.5 * WIDTH, 0.5 * p.goal_width
    for turn in range(2):
        q = 1.0 if turn == 0 else -1.0
        wall(s, RIM, p.friction, p.restitution, -q * x, q * y, q * x, q * y)
        wall(s, RIM, p.friction, p.restitution, q * x, q * y, q * x, q * g)
        wall(s, RIM, p.friction, p.restitution, q * x, -q * g, q * x, -q * y)
        wall(s, RAIL, 0.0, 0.0, -q * x, q * y, q * x, q * y)
        wall(s, RAIL, 0.0, 0.0, q * x, q * y, q * x, -q * y)
    wall(s, RAIL, 0.0, 0.0, 0.0, y, 0.0, -y)
    disc(s, 0.0, PUCK, p.puck_mass, DISC, RIM | HANDLE, p.friction, 0.0)
    for k in range(2):
        b = disc(
            s, -home if k == 0 else home, MALLET, p.mallet_mass, HANDLE, RAIL | DISC, p.friction, p.mallet_restitution
        )
        planar.fix_rotation(s, b)
    s.damping[PUCK_BODY, 0], s.damping[PUCK_BODY, 1] = p.drag, p.drag
    planar.prepare(s)


@kernel
def put(s, b, x, y):
    """Put a body somewhere, at rest [m]."""
    planar.place(s, b, UNIT * x, UNIT * y, 0.0)
    s.velocity[b, 0], s.velocity[b, 1], s.spin[b] = 0.0, 0.0, 0.0


@kernel
def place_of(s, b):
    """Where a body is [m]."""
    return s.centre[b, 0] / UNIT, s.centre[b, 1] / UNIT


@kernel
def velocity_of(s, b):
    """Velocity of a body [m/s]."""
    return s.velocity[b, 0] / UNIT, s.velocity[b, 1] / UNIT


@kernel
def drive(s, b, vx, vy, acceleration, dt):
    """Push a mallet towards a velocity [m/s] with no more than an acceleration [m/s^2]."""
    ax, ay = (UNIT * vx - s.velocity[b, 0]) / dt, (UNIT * vy - s.velocity[b, 1]) / dt
    size, most = math.sqrt(ax * ax + ay * ay), UNIT * acceleration
    share = most / size if size > most else 1.0
    planar.push(s, b, s.mass[b] * ax * share, s.mass[b] * ay * share)


@kernel
def limit_speed(s, b, most):
    """Keep a body below a speed [m/s]."""
    speed = math.sqrt(s.velocity[b, 0] * s.velocity[b, 0] + s.velocity[b, 1] * s.velocity[b, 1])
    if speed > UNIT * most:
        share = UNIT * most / speed
        s.velocity[b, 0], s.velocity[b, 1] = s.velocity[b, 0] * share, s.velocity[b, 1] * share
