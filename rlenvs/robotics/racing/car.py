"""The car of CarRacing: a hull with four wheels on hinges, pushed by friction at the wheels (Gymnasium 1.4,
car_dynamics.py, by Oleg Klimov; vehicles from CARL's parking garage, by Andre Biedenkapp).

Gymnasium moves the five bodies with Box2D, whose 180 iterations of impulses converge to the solution of linear
equations. Since the hinges are at the wheels' centers, these are small: velocities are those of one rigid body with a
point mass at each hinge, and each wheel turns relative to the hull as commanded by its motor. `solve_velocities`
computes that solution directly. Positions are corrected as in Box2D, one hinge after the other.
"""

import math

import numpy as np

from rlenvs.core import choice, f8, kernel, maths
from rlenvs.robotics.racing.car_track import holds, wheel_touches

SIZE = 0.02  # m per unit of the shapes below
WHEELS, PARTS, CORNERS = 4, 4, 8
DT = 1.0 / 50.0
HULL = 0  # bodies: the hull, then wheels, front left, front right, rear left, rear right
X, Y, ANGLE, VX, VY, SPIN = range(6)
OMEGA, PHASE, GAS, HELD, GRIP = range(5)  # of a wheel: rad/s, rad, share, N m s, friction below it (0: grass)
STEER_GAIN, STEER_SPEED = 50.0, 3.0  # 1/s, rad/s
MOTOR = 180.0 * 900.0 * SIZE * SIZE  # N m
ITERATIONS = 180
IDLE_SPEED = 5.0  # rad/s, keeps the engine's torque finite at rest
BLOCKING = 0.9  # brakes above stop a wheel at once
SLIP = 205000.0 * SIZE * SIZE  # N s/m
FARTHEST = 2.0  # m, that Box2D moves a body in a step
SLOP, ANGULAR_SLOP, LARGEST_TURN = 0.005, 2.0 / 180.0 * math.pi, 8.0 / 180.0 * math.pi  # m, rad, rad
MOST_CORRECTIONS = 60
DRIVE = choice("rear", "front", "all", doc="driven wheels")
REAR, FRONT, ALL = DRIVE.codes("rear", "front", "all")

VEHICLES = {  # wheels' places, half width and radius; parts of the hull with their densities
    "race car": (
        [(-55, 80), (55, 80), (-55, -82), (55, -82)],
        (14, 27),
        [
            ([(-60, 130), (60, 130), (60, 110), (-60, 110)], 1.0),
            ([(-15, 120), (15, 120), (20, 20), (-20, 20)], 1.0),
            ([(25, 20), (50, -10), (50, -40), (20, -90), (-20, -90), (-50, -40), (-50, -10), (-25, 20)], 1.0),
            ([(-50, -120), (50, -120), (50, -90), (-50, -90)], 1.0),
        ],
    ),
    "street car": (
        [(-60, 140), (60, 140), (-60, -30), (60, -30)],
        (10, 27),
        [
            ([(-40, 180), (40, 180), (55, 160), (-55, 160)], 1.0),
            ([(-55, 160), (55, 160), (55, -60), (-55, -60)], 1.0),
            ([(55, -40), (-55, -40), (-65, -75), (65, -75)], 1.0),
        ],
    ),
    "bus": (
        [(-85, 650), (85, 650), (-85, -30), (85, -30)],
        (20, 27),
        [
            ([(-70, 700), (70, 700), (80, 550), (-80, 550)], 0.66),
            ([(-90, 550), (90, 550), (90, -60), (-90, -60)], 0.2),
        ],
    ),
}
SHAPES = {
    "build": f8(6),  # mass, centre (x, y) and inertia of the hull; half width and radius of wheels
    "hinge": f8(WHEELS, 2),  # m, from the hull's centre of mass
    "part": f8(PARTS, CORNERS, 2),  # m, from the centre of mass; parts with fewer corners repeat their last
}


def bodies(cars: int | str) -> dict:
    return {"body": f8(cars, 1 + WHEELS, 6), "wheel": f8(cars, WHEELS, 5)}


def moments(points: np.ndarray) -> tuple[float, np.ndarray, float]:
    """Area, center and second moment about the origin of a polygon."""
    a, b = points, np.roll(points, -1, axis=0)
    cross = a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]
    area = cross.sum() / 2.0
    centre = (cross[:, None] * (a + b)).sum(axis=0) / (6.0 * area)
    second = (cross[:, None] * (a * a + a * b + b * b)).sum() / 12.0
    return abs(area), centre, abs(second)


def shapes_of(vehicle: str) -> dict[str, np.ndarray]:
    """The data of `SHAPES`."""
    hinges, wheel, parts = VEHICLES[vehicle]
    mass, moment, second = 0.0, np.zeros(2), 0.0
    for outline, density in parts:
        area, middle, inertia = moments(np.array(outline, float) * SIZE)
        mass, moment, second = mass + density * area, moment + density * area * middle, second + density * inertia
    centre = moment / mass
    corners = np.zeros((PARTS, CORNERS, 2))
    for k in range(PARTS):
        points = np.array(parts[min(k, len(parts) - 1)][0], float) * SIZE - centre
        corners[k] = points[np.minimum(np.arange(CORNERS), len(points) - 1)]
    inertia = second - mass * float((centre * centre).sum())
    build = np.array([mass, *centre, inertia, wheel[0] * SIZE, wheel[1] * SIZE])
    return {"build": build, "hinge": np.array(hinges, float) * SIZE - centre, "part": corners}


@kernel
def masses(p):
    """Mass and inertia of the hull and of a wheel."""
    width, radius = p.build[4], p.build[5]
    wheel = p.wheel_density * 4.0 * width * radius
    return (
        p.hull_density * p.build[0],
        p.hull_density * p.build[3],
        wheel,
        wheel * (width * width + radius * radius) / 3.0,
    )


@kernel
def place_car(p, s, c, x, y, angle):
    """A car at rest, with its origin at (x, y). Its wheels are put down unturned, as in the original, and the
    hinges pull them into their places in the first step."""
    sn, cs = maths.sin_cos(angle)
    cx, cy = p.build[1], p.build[2]
    body = s.body
    for b in range(1 + WHEELS):
        for j in range(6):
            body[c, b, j] = 0.0
        body[c, b, ANGLE] = angle
    body[c, HULL, X], body[c, HULL, Y] = x + cs * cx - sn * cy, y + sn * cx + cs * cy
    for w in range(WHEELS):
        body[c, 1 + w, X] = x + p.hinge[w, 0] + cx
        body[c, 1 + w, Y] = y + p.hinge[w, 1] + cy
        for j in range(5):
            s.wheel[c, w, j] = 0.0


@kernel
def hull_origin(p, s, c):
    """Where the origin of the hull's shapes is."""
    sn, cs = maths.sin_cos(s.body[c, HULL, ANGLE])
    cx, cy = p.build[1], p.build[2]
    return s.body[c, HULL, X] - cs * cx + sn * cy, s.body[c, HULL, Y] - sn * cx - cs * cy


@kernel
def speed_along(s, c):
    """Velocity of the hull along its heading and to its right [m/s]."""
    sn, cs = maths.sin_cos(s.body[c, HULL, ANGLE])
    vx, vy = s.body[c, HULL, VX], s.body[c, HULL, VY]
    return vy * cs - vx * sn, vx * cs + vy * sn


@kernel
def push_wheels(p, s, c, gas, brake):
    """What the driver does to the wheels, and the friction that follows, added to their velocities."""
    mass = masses(p)[2]
    radius, body, wheel = p.build[5], s.body, s.wheel
    gas = min(max(gas, 0.0), 1.0)
    for w in range(WHEELS):
        driven = p.drive == ALL or (p.drive == REAR and w > 1) or (p.drive == FRONT and w < 2)
        if driven:
            wheel[c, w, GAS] += min(gas - wheel[c, w, GAS], p.gas_rise)
        sn, cs = maths.sin_cos(body[c, 1 + w, ANGLE])
        vx, vy = body[c, 1 + w, VX], body[c, 1 + w, VY]
        along, aside = vy * cs - vx * sn, vx * cs + vy * sn
        omega = wheel[c, w, OMEGA]
        omega += DT * p.engine_power * wheel[c, w, GAS] / p.wheel_inertia / (abs(omega) + IDLE_SPEED)
        pressed = brake * (p.front_brake if w < 2 else p.rear_brake)
        if pressed >= BLOCKING:
            omega = 0.0
        elif pressed > 0.0:
            omega -= math.copysign(min(p.brake_force * pressed, abs(omega)), omega)
        wheel[c, w, PHASE] += omega * DT
        forward, sideways = SLIP * (omega * radius - along), -SLIP * aside
        force = math.sqrt(forward * forward + sideways * sideways)
        limit = p.friction_limit * max(p.grass_friction, wheel[c, w, GRIP])
        if force > limit:
            forward, sideways = forward / force * limit, sideways / force * limit
        wheel[c, w, OMEGA] = omega - DT * forward * radius / p.wheel_inertia
        body[c, 1 + w, VX] += DT / mass * (sideways * cs - forward * sn)
        body[c, 1 + w, VY] += DT / mass * (sideways * sn + forward * cs)


@kernel
def turn_speed(p, s, c, w, steer, inertia):
    """How fast a wheel turns against the hull, and at which limit it stands (-1, 0, 1).

    Motor and limit push against each other, with an impulse that Box2D lets grow from iteration to iteration and takes
    along to the next step; so a wheel comes off its limit late if the motor pulls gently."""
    angle = s.body[c, 1 + w, ANGLE] - s.body[c, HULL, ANGLE]
    wanted = steer if w < 2 else 0.0
    error = wanted - angle
    speed = min(STEER_GAIN * abs(error), STEER_SPEED)
    speed = math.copysign(speed, error) if error != 0.0 else 0.0
    side = -1 if angle <= -p.steer_limit else (1 if angle >= p.steer_limit else 0)
    held = s.wheel[c, w, HELD]
    if side == 0:
        s.wheel[c, w, HELD] = 0.0
        return speed, side
    held = min(max(held + ITERATIONS * inertia * speed * side, 0.0), DT * MOTOR)
    s.wheel[c, w, HELD] = held
    return (0.0 if held > 0.0 else speed), side


@kernel
def solve_velocities(p, s, c, turns):
    """Velocities that fit the hinges, with the momentum and the angular momentum that there were."""
    heavy, inertia, light, small = masses(p)
    body = s.body
    sn, cs = maths.sin_cos(body[c, HULL, ANGLE])
    px, py, spin = heavy * body[c, HULL, VX], heavy * body[c, HULL, VY], inertia * body[c, HULL, SPIN]
    sx, sy, square = 0.0, 0.0, 0.0
    for w in range(WHEELS):
        rx, ry = cs * p.hinge[w, 0] - sn * p.hinge[w, 1], sn * p.hinge[w, 0] + cs * p.hinge[w, 1]
        vx, vy = body[c, 1 + w, VX], body[c, 1 + w, VY]
        px, py = px + light * vx, py + light * vy
        spin += light * (rx * vy - ry * vx) + small * (body[c, 1 + w, SPIN] - turns[w])
        sx, sy, square = sx + rx, sy + ry, square + rx * rx + ry * ry
    total = heavy + WHEELS * light
    spin -= light * (sx * py - sy * px) / total
    spin /= inertia + light * square + WHEELS * small - light * light * (sx * sx + sy * sy) / total
    vx, vy = (px + light * spin * sy) / total, (py - light * spin * sx) / total
    body[c, HULL, VX], body[c, HULL, VY], body[c, HULL, SPIN] = vx, vy, spin
    for w in range(WHEELS):
        rx, ry = cs * p.hinge[w, 0] - sn * p.hinge[w, 1], sn * p.hinge[w, 0] + cs * p.hinge[w, 1]
        body[c, 1 + w, VX], body[c, 1 + w, VY] = vx - spin * ry, vy + spin * rx
        body[c, 1 + w, SPIN] = spin + turns[w]


@kernel
def correct_positions(p, s, c, sides):
    """One round over the hinges. Returns whether all were good enough before."""
    heavy, inertia, light, small = masses(p)
    body, good = s.body, True
    ih, iw, mh, mw = 1.0 / inertia, 1.0 / small, 1.0 / heavy, 1.0 / light
    for w in range(WHEELS):
        b = 1 + w
        if sides[w] != 0:
            beyond = sides[w] * (body[c, b, ANGLE] - body[c, HULL, ANGLE]) - p.steer_limit
            good = good and beyond <= ANGULAR_SLOP
            back = sides[w] * min(max(beyond - ANGULAR_SLOP, 0.0), LARGEST_TURN) / (ih + iw)
            body[c, HULL, ANGLE] += ih * back
            body[c, b, ANGLE] -= iw * back
        sn, cs = maths.sin_cos(body[c, HULL, ANGLE])
        rx, ry = cs * p.hinge[w, 0] - sn * p.hinge[w, 1], sn * p.hinge[w, 0] + cs * p.hinge[w, 1]
        dx, dy = body[c, b, X] - body[c, HULL, X] - rx, body[c, b, Y] - body[c, HULL, Y] - ry
        good = good and math.sqrt(dx * dx + dy * dy) <= SLOP
        k11, k12, k22 = mh + mw + ih * ry * ry, -ih * rx * ry, mh + mw + ih * rx * rx
        scale = 1.0 / (k11 * k22 - k12 * k12)
        jx, jy = -scale * (k22 * dx - k12 * dy), -scale * (k11 * dy - k12 * dx)
        body[c, HULL, X] -= mh * jx
        body[c, HULL, Y] -= mh * jy
        body[c, HULL, ANGLE] -= ih * (rx * jy - ry * jx)
        body[c, b, X] += mw * jx
        body[c, b, Y] += mw * jy
    return good


@kernel
def move_bodies(s, c):
    """By their velocities, which are cut where they would go farther than Box2D lets them."""
    for b in range(1 + WHEELS):
        vx, vy = s.body[c, b, VX], s.body[c, b, VY]
        far = DT * math.sqrt(vx * vx + vy * vy)
        if far > FARTHEST:
            vx, vy = vx * (FARTHEST / far), vy * (FARTHEST / far)
            s.body[c, b, VX], s.body[c, b, VY] = vx, vy
        turn = DT * abs(s.body[c, b, SPIN])
        if turn > 0.5 * math.pi:
            s.body[c, b, SPIN] *= 0.5 * math.pi / turn
        s.body[c, b, X] += DT * vx
        s.body[c, b, Y] += DT * vy
        s.body[c, b, ANGLE] += DT * s.body[c, b, SPIN]


@kernel
def move_car(p, s, c, steer):
    """Hinges, motion and corrections of one step, after `push_wheels`."""
    inertia = masses(p)[3]
    t0, l0 = turn_speed(p, s, c, 0, steer, inertia)
    t1, l1 = turn_speed(p, s, c, 1, steer, inertia)
    t2, l2 = turn_speed(p, s, c, 2, steer, inertia)
    t3, l3 = turn_speed(p, s, c, 3, steer, inertia)
    solve_velocities(p, s, c, (t0, t1, t2, t3))
    move_bodies(s, c)
    for _ in range(MOST_CORRECTIONS):
        if correct_positions(p, s, c, (l0, l1, l2, l3)):
            break


@kernel
def touch_tiles(p, s, c):
    """Which tiles the car is on now. Marks them, sets the friction below the wheels, returns how many are new: a tile
    on which others were before counts less, by a share of all cars for each of them."""
    x, y = s.body[c, HULL, X], s.body[c, HULL, Y]
    reach = 5.0 + p.build[5] + abs(p.hinge[0, 1]) + p.track_width
    new = 0.0
    for w in range(WHEELS):
        s.wheel[c, w, GRIP] = 0.0
    for i in range(s.tiles):
        dx, dy = s.gate[i, 0] - x, s.gate[i, 1] - y
        if dx * dx + dy * dy < reach * reach:
            new += touch_tile(p, s, c, i)
    return new


@kernel
def touch_tile(p, s, c, i):
    touched = False
    for w in range(WHEELS):
        sn, cs = maths.sin_cos(s.body[c, 1 + w, ANGLE])
        if wheel_touches(s, i, s.body[c, 1 + w, X], s.body[c, 1 + w, Y], cs, sn, p.build[4], p.build[5]):
            s.wheel[c, w, GRIP] = p.road_friction
            touched = True
    if touched or (not s.painted[c, i] and hull_on(p, s, c, i)):
        s.painted[c, i] = 1
    if not touched:
        return 0.0
    new = s.visited[c, i] == 0
    s.visited[c, i] = 1
    s.visits[c] += 1 if new else 0
    if i == 0 and (new or p.close_lap) and s.visits[c] > p.lap_complete_percent * s.tiles:
        s.lap_closed[c] = 1
    if not new:
        return 0.0
    cars, earlier = s.visited.shape[0], -1
    for k in range(cars):
        earlier += int(s.visited[k, i])
    return 1.0 - earlier / cars


@kernel
def hull_on(p, s, c, i):
    """Whether a corner of the hull is on tile i."""
    sn, cs = maths.sin_cos(s.body[c, HULL, ANGLE])
    for k in range(PARTS):
        for j in range(CORNERS):
            u, v = p.part[k, j, 0], p.part[k, j, 1]
            if holds(s, i, s.body[c, HULL, X] + cs * u - sn * v, s.body[c, HULL, Y] + sn * u + cs * v):
                return True
    return False
