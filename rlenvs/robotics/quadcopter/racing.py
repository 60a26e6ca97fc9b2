"""The common parts of the racing tasks: courses as options, gates to pass, two fidelities, observations.

The task follows common practice in learned gate racing (Song et al., "Autonomous Drone Racing with Deep Reinforcement
Learning", IROS 2021): progress towards the next gate is rewarded, body rates are penalized, frames must not be hit. The
two fidelities are in the spirit of Ryou et al., "Multi-Fidelity RL for Time-Optimal Quadrotor Re-planning", 2024.
"""

import math
from dataclasses import replace
from typing import Any

import numpy as np

from rlenvs.core import b1, block, choice, f8, flag, i8, integer, json_option, kernel, maths, param, uniform
from rlenvs.core.declare.errors import ParameterError
from rlenvs.robotics.quadcopter.control import limited
from rlenvs.robotics.quadcopter.courses import (
    MOST_GATES,
    Course,
    check_random_course,
    named_course,
    parse_gates,
    parse_rows,
)
from rlenvs.robotics.quadcopter.dynamics import constants, cosine_and_sinc, wrench
from rlenvs.robotics.quadcopter.flight import (
    OPTIONS,
    THRUST_RATES,
    distance_to,
    flight_data,
    take_off,
)
from rlenvs.robotics.quadcopter.gates import HIT, PASSED, crossing, random_course
from rlenvs.robotics.quadcopter.scene import GATE_ROWS, clearance, put_gate

COURSE_NAMES = ("eight", "circle", "straight", "cpc", "random")
START = choice("line", "any_gate", doc="where flights start: at the start, or before a random gate")
(ANY_GATE,) = START.codes("any_gate")
FIDELITY = choice(
    *("high", "low"),
    doc="'low': body rates follow instantly, without rotor lag and drag",
    sets={"low": {"lag_time": 0.0, "drag_xy": 0.0, "drag_z": 0.0}},
)
(LOW,) = FIDELITY.codes("low")
ARENA = (8.0, 8.0, 4.0)  # m, of given and of random courses
HALF_OPENING, HALF_OUTER = 0.6, 0.8  # m, of their gates
MAX_TURN = 2.0  # rad, between two legs of a random course
MARGIN = 1.0  # m, that the frames of a random course keep from the walls and the ceiling
GATE_SECONDS = 5.0  # s that an episode lasts for each gate to pass
SAFE_TILT, FENCE = 1.4, 0.3  # rad; m from the walls and the ceiling
START_ROOM = 0.3  # m, clear of frames around a start
BEHIND = 2.0  # m behind its gate that a course of one or two gates starts
FASTEST_RATE = 100.0  # rad/s, bound of the term `rates`
LONGEST_FLIGHT = 1e4  # s, the longest of the term `finish_time`
LONGEST_STEP = 20.0  # m, bound of the term `progress`, which only unphysical parameters reach

RACE_PARAMS = {
    "action_range": param(0.5, 0.01, 1.0, "", "rpm actions: change of rotor speed at full action, relative to hover"),
    "rate_limit": param(10.0, 0.5, 20.0, "rad/s", "thrust_rates actions: rate at full action"),
    "gate_scale": param(1.0, 0.5, 1.3, "", "size of the gates, relative to the course's own", limit=True),
    "start_spread": param(0.2, 0.0, 0.5, "m", "half width of the box of start positions"),
}


def _gates(given: Any) -> list[list[float]] | None:
    return None if given is None else parse_rows(given, "gate", ("x", "y", "z", "yaw"), 1, MOST_GATES)


def _arena(given: Any) -> tuple[float, float, float] | None:
    if given is None:
        return None
    sizes = [float(size) for size in given]
    if len(sizes) != 3 or not all(1.0 <= size <= 20.0 for size in sizes):
        raise ValueError(f"needed: half sizes along x and y, and height, each in [1, 20] m, not {given!r}")
    return sizes[0], sizes[1], sizes[2]


RACE_OPTIONS: dict[str, Any] = {
    "vehicle": OPTIONS["vehicle"].defaulting("racer"),
    "action": OPTIONS["action"].defaulting("thrust_rates"),
    "attitude": OPTIONS["attitude"].defaulting("matrix"),
    "physics_hz": integer(500, 30, 4000, "physics steps per second"),
    "control_hz": integer(50, 1, 1000, "actions per second; must divide physics_hz"),
    "history": integer(1, 0, 120, "number of past actions in the observation"),
    "drag": flag(True, "whether the rotors cause drag"),
    "rotor_lag": flag(True, "whether rotors follow their commands with a lag"),
    "course": choice(*COURSE_NAMES, doc="the course; 'random' draws a new one for every episode"),
    "gates": json_option(None, _gates, "a custom course: a list of [x, y, z] or [x, y, z, yaw] (m, rad)"),
    "random_gates": integer(6, 4, 20, "number of gates of a random course, whose frames keep 1 m from the walls"),
    "arena": json_option(
        None, _arena, "half sizes along x and y and height [m] around custom and random gates; (8, 8, 4)"
    ),
    "laps": integer(0, 0, 50, "laps to fly; 0 for the course's default: all of 'cpc', one of the others"),
    "start": START,
    "fidelity": FIDELITY,
}
RACE_DATA = {
    "places": f8("gates", 4),
    "drawn": b1,  # whether gates are drawn for every episode
    "room": f8(3),  # half sizes along x and y, and height [m]
    "line": f8(3),  # start
    "frame": f8(2),  # half opening and half outer side at gate_scale 1 [m]
    "passes": i8,  # gates to pass
}


# --- courses ----------------------------------------------------------------------------------------------------------


def course_of(values: Any) -> Course:
    """The course that the options ask for, its `passes` filled in; of a random one the gates' places mean nothing.

    A course that ends at rest somewhere gets a gate there, unless it has one: racers need not stop.

    Raises:
        ParameterError: gates that do not fit, see `courses.py`; gates too small for the vehicle.
    """
    scale, arena = values.gate_scale, values.arena or ARENA
    if values.gates is not None:
        gates = parse_gates(values.gates, arena, scale * HALF_OPENING, scale * HALF_OUTER)
        course = Course(gates, (0.0, 0.0, 0.0), arena, None, None, HALF_OPENING, HALF_OUTER)
    elif values.course == "random":
        x, y, z = arena
        check_random_course(values.random_gates, (x - MARGIN, y - MARGIN, z - MARGIN), scale * HALF_OUTER, MAX_TURN)
        gates = ((0.0, 0.0, 0.0, 0.0),) * values.random_gates
        course = Course(gates, (0.0, 0.0, 0.0), arena, None, None, HALF_OPENING, HALF_OUTER)
    else:
        course = with_finish(named_course(values.course))
    passes = values.laps * len(course.gates) if values.laps else course.passes or len(course.gates)
    return replace(course, passes=passes)


def with_finish(course: Course) -> Course:
    """The course with a gate where it ends: the one that stands there, or a new one after the last."""
    if course.end is None or course.passes is None:
        return course
    gates, passes = course.gates, course.passes
    if gates[passes % len(gates)][:3] != course.end:
        (x0, y0, _, _), (x1, y1, z1) = gates[-1], course.end
        gates = (*gates, (x1, y1, z1, maths.atan2(y1 - y0, x1 - x0)))
    return replace(course, gates=gates, passes=passes + 1, end=None)


def race_sizes(values: Any) -> dict[str, int]:
    """The named sizes that a race adds.

    Raises:
        ParameterError: an engine at low fidelity; a course that `course_of` refuses.
    """
    if values.fidelity == "low" and values.physics != "kernel":
        raise ParameterError(
            f"fidelity='low' leaves out what physics={values.physics!r} computes; use physics='kernel', or "
            f"fidelity='high'"
        )
    count = len(course_of(values).gates)
    return {"gates": count, "shapes": GATE_ROWS * count}


def race_data(values: Any) -> dict[str, Any]:
    """The arrays of DATA and RACE_DATA.

    Raises:
        ParameterError: as `course_of`; a vehicle that is too large for the openings; given gates without room to start.
    """
    course, data = course_of(values), flight_data(values)
    drawn = values.gates is None and values.course == "random"
    half, radius = values.gate_scale * course.half_opening, float(data["hull"][0])
    if radius >= half:
        raise ParameterError(
            f"the vehicle's radius of {radius:g} m is not smaller than half the opening of the gates, {half:g} m; "
            f"raise gate_scale or use a smaller vehicle or hull"
        )
    places = np.array(course.gates)
    start = np.array(course.start)
    if values.gates is not None:
        start = given_start(places, course, values.gate_scale, radius)
    return {
        **data,
        "places": places,
        "drawn": drawn,
        "room": np.array(course.arena),
        "line": start,
        "frame": np.array([course.half_opening, course.half_outer]),
        "passes": course.passes,
    }


def given_start(places: np.ndarray, course: Course, scale: float, radius: float) -> np.ndarray:
    """Where a course of given gates starts: on the leg from the last gate to the first one, or behind the first one.

    Raises:
        ParameterError: there is no room.
    """
    shapes, start = np.zeros((GATE_ROWS * len(places), 12)), np.zeros(3)
    put_gates(shapes, places, scale * course.half_opening, scale * course.half_outer)
    start_place(shapes, places, 0, start)
    inside = (abs(start[:2]) <= np.array(course.arena[:2]) - radius).all()
    if not inside or clearance(shapes, *start) < radius:
        x, y, z = start
        raise ParameterError(
            f"the course would start at ({x:.3g}, {y:.3g}, {z:.3g}) m, which is outside the arena or too close to a "
            "frame; move the first or the last gate, or make the arena larger"
        )
    return start


@kernel
def put_gates(shapes, gates, half_opening, half_outer):
    """Fill the rows of shapes with the frames of gates (G, 4)."""
    for g in range(gates.shape[0]):
        x, y, z, yaw = gates[g, 0], gates[g, 1], gates[g, 2], gates[g, 3]
        put_gate(shapes, GATE_ROWS * g, x, y, z, yaw, half_opening, half_outer - half_opening, 0.9, 0.45, 0.1)


@kernel
def start_place(shapes, gates, g, place):
    """Fill place (3,) with where a flight to gate g begins: on the leg to it, where that is farthest from all frames.

    Courses of one or two gates are no loops: their first gate is flown to from behind.
    """
    count = gates.shape[0]
    last = (g + count - 1) % count
    x, y, z = gates[g, 0], gates[g, 1], gates[g, 2]
    from_x, from_y, from_z = gates[last, 0], gates[last, 1], gates[last, 2]
    if count < 3 and g == 0:
        from_x, from_y = x - 2.0 * BEHIND * maths.cos(gates[0, 3]), y - 2.0 * BEHIND * maths.sin(gates[0, 3])
        from_z = z
    best = -1e9
    for tenth in (5, 4, 6, 3, 7):
        part = 0.1 * tenth
        px, py, pz = from_x + part * (x - from_x), from_y + part * (y - from_y), from_z + part * (z - from_z)
        room = min(clearance(shapes, px, py, pz), 2.0 * START_ROOM)
        if room > best:
            best = room
            place[0], place[1], place[2] = px, py, pz


# --- episodes ---------------------------------------------------------------------------------------------------------


def race_state(drones: int | str) -> dict[str, Any]:
    """What a race remembers, beside `flight_state`; a row per vehicle."""
    return {
        "gates": f8("gates", 4),
        "place": f8(3),  # where flights begin
        "passed": i8(drones),  # gates
        "distance": f8(drones),  # m, to the centre of the next gate
        "before": f8(drones, 3),  # position before the step
    }


@kernel
def set_course(p, s, rng):
    """Put up the gates of an episode and say where its flights begin. Returns the gate that comes first."""
    if p.drawn:
        half_x, half_y, height = p.room[0] - MARGIN, p.room[1] - MARGIN, p.room[2] - MARGIN
        random_course(rng, s.gates, half_x, half_y, height, p.gate_scale * p.frame[1], MAX_TURN)
    else:
        for g in range(s.gates.shape[0]):
            for j in range(4):
                s.gates[g, j] = p.places[g, j]
    put_gates(s.shapes, s.gates, p.gate_scale * p.frame[0], p.gate_scale * p.frame[1])
    first = 0
    if p.start == ANY_GATE:
        first = int(uniform(rng, 0.0, 1.0) * min(s.gates.shape[0], p.passes))
    if first > 0 or p.drawn:
        start_place(s.shapes, s.gates, first, s.place)
    else:
        for j in range(3):
            s.place[j] = p.line[j]
    return first


@kernel
def heading_to(s, g, x, y):
    """The direction [rad] from a place to gate g; the gate's own above or below its centre."""
    dx, dy = s.gates[g, 0] - x, s.gates[g, 1] - y
    return maths.atan2(dy, dx) if dx * dx + dy * dy > 0.01 else s.gates[g, 3]


@kernel
def line_up(p, s, k, first, x, y, z, rng):
    """Put vehicle k near a place, facing gate `first`, the next that it has to pass."""
    x += uniform(rng, -p.start_spread, p.start_spread)
    y += uniform(rng, -p.start_spread, p.start_spread)
    z += uniform(rng, -p.start_spread, p.start_spread)
    take_off(p, s, k, x, y, z, heading_to(s, first, x, y))
    s.passed[k] = first
    s.distance[k] = distance_to(s, k, s.gates[first, 0], s.gates[first, 1], s.gates[first, 2])


@kernel
def note_place(s, k):
    """Keep where vehicle k is before a step."""
    for j in range(3):
        s.before[k, j] = s.position[k, j]


@kernel
def next_gate(s, k, ahead):
    """The gate that vehicle k has to pass next, or the one `ahead` gates after it."""
    return (s.passed[k] + ahead) % s.gates.shape[0]


@kernel
def pass_gates(p, s, k):
    """Judge the last step of vehicle k on the course, and count the gate that it passed.

    Returns:
        progress towards the gate that was next [m], whether it was passed, whether a frame or the floor was hit.
    """
    inner, outer = p.gate_scale * p.frame[0] - p.hull[0], p.gate_scale * p.frame[1] + p.hull[0]
    x0, y0, z0 = s.before[k, 0], s.before[k, 1], s.before[k, 2]
    x1, y1, z1 = s.position[k, 0], s.position[k, 1], s.position[k, 2]
    target = next_gate(s, k, 0)
    passed, hit = False, bool(s.touching[k])
    for g in range(s.gates.shape[0]):
        event = crossing(s.gates, g, inner, outer, x0, y0, z0, x1, y1, z1)
        if event == HIT:
            hit = True
        elif event == PASSED and g == target:
            passed = True
    progress = s.distance[k] - distance_to(s, k, s.gates[target, 0], s.gates[target, 1], s.gates[target, 2])
    if passed:
        s.passed[k] += 1
        target = next_gate(s, k, 0)
    s.distance[k] = distance_to(s, k, s.gates[target, 0], s.gates[target, 1], s.gates[target, 2])
    return limited(progress, LONGEST_STEP), passed, hit


@kernel
def wall_distance(p, s, k):
    """Distance [m] of vehicle k from the nearest wall or the ceiling, negative outside."""
    x, y, z = s.position[k, 0], s.position[k, 1], s.position[k, 2]
    return min(p.room[0] - abs(x), p.room[1] - abs(y), p.room[2] - z)


@kernel
def rate_size(s, k):
    """The size of the angular velocity of vehicle k [rad/s], at most FASTEST_RATE."""
    x, y, z = s.rates[k, 0], s.rates[k, 1], s.rates[k, 2]
    return min(math.sqrt(x * x + y * y + z * z), FASTEST_RATE)


# --- low fidelity -----------------------------------------------------------------------------------------------------


@kernel
def at_low_fidelity(p):
    """Whether vehicles `glide`; actions that command rotors and not rates need a body that torques turn."""
    return p.fidelity == LOW and p.action == THRUST_RATES


@kernel
def glide(p, s, k):
    """Advance vehicle k by a control step: a point mass under its thrust, turned at the commanded rates at once."""
    dt, rest = 1.0 / p.physics_hz, 0.5 * p.hull[1]
    c = constants(p, dt)
    thrust = min(max(s.target_thrust[k], 0.0), p.thrust_to_weight * p.mass * p.gravity)
    for j in range(4):
        s.command[k, j] = math.sqrt(thrust / (4.0 * p.thrust_coefficient))
        s.rpm[k, j] = s.command[k, j]
    for j in range(3):
        s.rates[k, j] = s.target_rates[k, j]
    hx, hy, hz = 0.5 * dt * s.rates[k, 0], 0.5 * dt * s.rates[k, 1], 0.5 * dt * s.rates[k, 2]
    cosine, sine = cosine_and_sinc(hx * hx + hy * hy + hz * hz)
    hx, hy, hz = hx * sine, hy * sine, hz * sine
    q, v, x = s.attitude, s.velocity, s.position
    qx, qy, qz, qw = q[k, 0], q[k, 1], q[k, 2], q[k, 3]
    vx, vy, vz = v[k, 0], v[k, 1], v[k, 2]
    for _ in range(p.physics_hz // p.control_hz):
        qx, qy, qz, qw = (
            cosine * qx + (hz * qy - hy * qz + hx * qw),
            cosine * qy + (-hz * qx + hx * qz + hy * qw),
            cosine * qz + (hy * qx - hx * qy + hz * qw),
            cosine * qw - (hx * qx + hy * qy + hz * qz),
        )
        fx, fy, fz, _, _, _ = wrench(p, s, k, c, x[k, 2], qx, qy, qz, qw, vx, vy, vz)
        # t = 2 q_v x f, then f + q_w t + q_v x t turns the force into world axes
        tx, ty, tz = 2.0 * (qy * fz - qz * fy), 2.0 * (qz * fx - qx * fz), 2.0 * (qx * fy - qy * fx)
        vx += dt / p.mass * (fx + qw * tx + qy * tz - qz * ty)
        vy += dt / p.mass * (fy + qw * ty + qz * tx - qx * tz)
        vz += dt / p.mass * (fz + qw * tz + qx * ty - qy * tx) - dt * p.gravity
        x[k, 0] += dt * vx
        x[k, 1] += dt * vy
        x[k, 2] += dt * vz
    s.touching[k] = x[k, 2] < rest
    if s.touching[k]:
        x[k, 2] = rest
        vz = max(vz, 0.0)
    scale = 1.0 / math.sqrt(qx * qx + qy * qy + qz * qz + qw * qw)
    q[k, 0], q[k, 1], q[k, 2], q[k, 3] = qx * scale, qy * scale, qz * scale, qw * scale
    v[k, 0], v[k, 1], v[k, 2] = vx, vy, vz


# --- observations -----------------------------------------------------------------------------------------------------


def course_blocks() -> dict[str, Any]:
    """The observation blocks of the course."""
    return {
        "to_gates": block(2, 3, low=-20.0, high=20.0, unit="m", doc="centers of the next two gates minus position"),
        "facing": block(2, 2, low=-1.0, high=1.0, doc="direction of flight of these gates: cosine and sine of the yaw"),
        "left": block(low=0.0, high=1.0, doc="fraction of the gates still to pass"),
    }


@kernel
def observe_course(p, s, k, o):
    """Fill the blocks of `course_blocks` for vehicle k."""
    for i in range(2):
        g = next_gate(s, k, i)
        for j in range(3):
            o.to_gates[i, j] = s.gates[g, j] - s.position[k, j]
        o.facing[i, 0], o.facing[i, 1] = maths.cos(s.gates[g, 3]), maths.sin(s.gates[g, 3])
    o.left = (p.passes - s.passed[k]) / p.passes
