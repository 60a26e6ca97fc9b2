"""The vector observation of CarRacing, and the racing line of its expert."""

import math

from rlenvs.core import kernel, maths
from rlenvs.robotics.racing.car import ANGLE, FRONT, GAS, GRIP, HULL, OMEGA, SPIN, WHEELS, speed_along

RAYS, FARTHEST = 11, 50.0  # from right to left over half a turn; m
AHEAD = (1, 2, 3, 4, 6, 8, 10, 13, 16, 20)  # gates
SPEED, SLIDE, TURN, WHEEL, REACH = 100.0, 50.0, 10.0, 200.0, 70.0  # units: m/s, m/s, rad/s, rad/s, m
BEHIND, BEFORE = 4, 20  # gates whose edges the lidar looks for
WINDOW, SWEEPS, MARGIN = 28, 40, 1.8  # of the line: gates, rounds of smoothing, m from the edge
BASE = 3.24  # m, between the axles
LOOK, LEAST_LOOK = 0.22, 7.0  # s, m
STEADY = 0.02  # s, of the spin that steering counters
CORNERING, BRAKING = 110.0, 80.0  # m/s^2
FASTEST = 85.0  # m/s


@kernel
def unit(x):
    """In [-1, 1]."""
    return min(max(x, -1.0), 1.0)


@kernel
def offset_of(s, c):
    """How far the car is to the right of the middle of the road [m], at its nearest gate."""
    k = s.place[c]
    sn, cs = maths.sin_cos(s.gate[k, 2])
    return (s.body[c, HULL, 0] - s.gate[k, 0]) * cs + (s.body[c, HULL, 1] - s.gate[k, 1]) * sn


@kernel
def ray_distance(s, x, y, dx, dy, place):
    """Distance [m] along a ray to the nearest edge of the road around the car."""
    nearest, n = FARTHEST, s.tiles
    for side in range(2):
        k = (place - BEHIND) % n
        ax, ay = s.edge[k, 2 * side] - x, s.edge[k, 2 * side + 1] - y
        for _ in range(BEHIND + BEFORE):
            k = k + 1 if k + 1 < n else 0
            bx, by = s.edge[k, 2 * side] - x, s.edge[k, 2 * side + 1] - y
            to_a, to_b = dx * ay - dy * ax, dx * by - dy * bx
            if (to_a > 0.0) != (to_b > 0.0):
                far = (ax * by - ay * bx) / (to_b - to_a)
                if 0.0 <= far < nearest:
                    nearest = far
            ax, ay = bx, by
    return nearest


@kernel
def sense(p, s, c, o):
    """The blocks of the vector form, in units that keep all of it in [-1, 1]."""
    along, aside = speed_along(s, c)
    o.motion[0], o.motion[1], o.motion[2] = unit(along / SPEED), unit(aside / SLIDE), unit(s.body[c, HULL, SPIN] / TURN)
    steered = 0.5 * (s.body[c, 1, ANGLE] + s.body[c, 2, ANGLE]) - s.body[c, HULL, ANGLE]
    o.controls[0], o.controls[1] = unit(steered), unit(s.wheel[c, 2, GAS] if p.drive != FRONT else s.wheel[c, 0, GAS])
    for w in range(WHEELS):
        o.wheels[w] = unit(s.wheel[c, w, OMEGA] / WHEEL)
        o.on_road[w] = 1.0 if s.wheel[c, w, GRIP] > 0.0 else 0.0
    k = s.place[c]
    sn, cs = maths.sin_cos(s.body[c, HULL, ANGLE])
    gate_sn, gate_cs = maths.sin_cos(s.gate[k, 2])
    o.road[0] = unit(0.5 * offset_of(s, c) / p.track_width)
    o.road[1], o.road[2] = sn * gate_cs - cs * gate_sn, cs * gate_cs + sn * gate_sn
    o.road[3] = s.visits[c] / s.tiles
    x, y = s.body[c, HULL, 0], s.body[c, HULL, 1]
    turn_sn, turn_cs = maths.sin_cos(math.pi / (RAYS - 1))
    dx, dy = cs, sn
    for j in range(RAYS):
        o.lidar[j] = ray_distance(s, x, y, dx, dy, k) / FARTHEST
        dx, dy = dx * turn_cs - dy * turn_sn, dy * turn_cs + dx * turn_sn
    for j in range(len(AHEAD)):
        g = (k + AHEAD[j]) % s.tiles
        gx, gy = s.gate[g, 0] - x, s.gate[g, 1] - y
        o.ahead[2 * j], o.ahead[2 * j + 1] = unit((gx * cs + gy * sn) / REACH), unit((gy * cs - gx * sn) / REACH)


# --- the expert -------------------------------------------------------------------------------------------------------


@kernel
def bend_line(p, s, c):
    """The line (m, m) through the next gates that bends least: each point moves across its gate to where it lies
    smoothly between its four neighbours, again and again, as far as the road goes."""
    n, k, room = s.tiles, s.place[c], max(p.track_width - MARGIN, 0.0)
    start = min(max(offset_of(s, c), -room), room)
    for j in range(WINDOW):
        g = (k + j) % n
        sn, cs = maths.sin_cos(s.gate[g, 2])
        off = start * max(0.0, 1.0 - 0.1 * j)
        s.line[j, 0], s.line[j, 1], s.line[j, 2] = off, cs, sn
        s.line[j, 3], s.line[j, 4] = s.gate[g, 0] + off * cs, s.gate[g, 1] + off * sn
    for _ in range(SWEEPS):
        for j in range(1, WINDOW - 1):
            b, d = j - 1, j + 1
            a, e = max(j - 2, 0), min(j + 2, WINDOW - 1)
            x = (4.0 * (s.line[b, 3] + s.line[d, 3]) - s.line[a, 3] - s.line[e, 3]) / 6.0
            y = (4.0 * (s.line[b, 4] + s.line[d, 4]) - s.line[a, 4] - s.line[e, 4]) / 6.0
            cs, sn, g = s.line[j, 1], s.line[j, 2], (k + j) % n
            off = (x - s.gate[g, 0]) * cs + (y - s.gate[g, 1]) * sn
            off = min(max(off, -room), room)
            s.line[j, 0], s.line[j, 3], s.line[j, 4] = off, s.gate[g, 0] + off * cs, s.gate[g, 1] + off * sn


@kernel
def speed_allowed(s, cornering, braking):
    """The largest speed [m/s] from which every bend of the line can still be reached slowly enough."""
    allowed, way = FASTEST * FASTEST, 0.0
    for j in range(1, WINDOW - 1):
        ax, ay = s.line[j, 3] - s.line[j - 1, 3], s.line[j, 4] - s.line[j - 1, 4]
        bx, by = s.line[j + 1, 3] - s.line[j, 3], s.line[j + 1, 4] - s.line[j, 4]
        la, lb = math.sqrt(ax * ax + ay * ay), math.sqrt(bx * bx + by * by)
        bend = 2.0 * abs(ax * by - ay * bx) / (max(la * lb * (la + lb), 1e-9))
        allowed = min(allowed, cornering / max(bend, 1e-6) + 2.0 * braking * way)
        way += la
    return math.sqrt(allowed)


@kernel
def plan(p, s, c):
    """Steering angle to the right [rad] and change of speed [m/s] that the expert wants."""
    bend_line(p, s, c)
    sn, cs = maths.sin_cos(s.body[c, HULL, ANGLE])
    along, _ = speed_along(s, c)
    x, y = s.body[c, HULL, 0], s.body[c, HULL, 1]
    look, j = max(LEAST_LOOK, LOOK * along), 1
    while j < WINDOW - 1:
        dx, dy = s.line[j, 3] - x, s.line[j, 4] - y
        if dx * dx + dy * dy >= look * look and dy * cs - dx * sn > 0.0:
            break
        j += 1
    dx, dy = s.line[j, 3] - x, s.line[j, 4] - y
    right, far = dx * cs + dy * sn, dx * dx + dy * dy
    wanted = maths.atan2(2.0 * BASE * right, max(far, 1e-9)) + STEADY * s.body[c, HULL, SPIN]
    share = p.friction_limit / 400.0 * (7.3 / (p.build[0] * p.hull_density + 0.24))
    return wanted, speed_allowed(s, CORNERING * share, BRAKING * share) - along
