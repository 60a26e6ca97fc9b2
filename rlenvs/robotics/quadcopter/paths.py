"""Reference trajectories, and the rotor thrusts that they require.

The kernels fill an array `out`, a row each for position, velocity, acceleration, jerk and snap (m, s, world axes), up
to the number of rows: out (2, 3) gets position and velocity. Custom waypoints are joined by minimum-snap polynomials
(Mellinger and Kumar, ICRA 2011), whose coefficients are computed once in plain Python. The circle is that of
gym-pybullet-drones' example `pid.py`. Rotor thrusts follow by differential flatness: the force gives thrust and
attitude, its derivatives give body rates and torques.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from rlenvs.core import kernel, maths
from rlenvs.core.declare.algebra import solve
from rlenvs.core.declare.errors import ParameterError
from rlenvs.robotics.quadcopter.courses import Point, check_inside, parse_rows

PID_RADIUS, PID_PERIOD = 0.3, 10.0  # m, s of a lap
PID_HEIGHT, PID_HEIGHT_STEP = 0.1, 0.05  # m, of the first drone, and from one to the next
MOST_WAYPOINTS = 64
ROWS = 8  # coefficients of a segment: degree 7, which minimum snap needs
SAMPLES = 40  # points per segment at which thrusts are checked (MFRL's low fidelity)

# --- kernels ----------------------------------------------------------------------------------------------------------


@kernel
def _swing(out, axis, middle, amplitude, frequency, phase):
    """middle + amplitude sin(phase), phase growing by `frequency` [rad/s]; each derivative is a quarter turn ahead."""
    size = amplitude
    for row in range(out.shape[0]):
        out[row, axis] = size * maths.sin(phase + 0.5 * math.pi * row)
        size *= frequency
    out[0, axis] += middle


@kernel
def helix(out, t, x, y, z, radius, period, phase, climb):
    """Counter-clockwise around (x, y), at angle `phase` [rad] and height z at t = 0, climbing by `climb` [m/s]."""
    frequency = 2.0 * math.pi / period
    angle = phase + frequency * t
    _swing(out, 0, x, radius, frequency, angle + 0.5 * math.pi)
    _swing(out, 1, y, radius, frequency, angle)
    for row in range(out.shape[0]):
        out[row, 2] = 0.0
    out[0, 2] = z + climb * t
    if out.shape[0] > 1:
        out[1, 2] = climb


@kernel
def pid_circle(out, t, k):
    """The circle of drone k in gym-pybullet-drones' `pid.py`: a sixth of a lap ahead of drone k - 1, and above it."""
    height = PID_HEIGHT + PID_HEIGHT_STEP * k
    helix(out, t, 0.0, -PID_RADIUS, height, PID_RADIUS, PID_PERIOD, 0.5 * math.pi + math.pi / 3.0 * k, 0.0)


@kernel
def lemniscate(out, t, x, y, z, half_x, half_y, period):
    """Gerono's figure eight: x = half_x sin(a), y = half_y sin(2 a), in its middle at t = 0, at height z."""
    frequency = 2.0 * math.pi / period
    _swing(out, 0, x, half_x, frequency, frequency * t)
    _swing(out, 1, y, half_y, 2.0 * frequency, 2.0 * frequency * t)
    _swing(out, 2, z, 0.0, 0.0, 0.0)


@kernel
def line(out, t, x0, y0, z0, x1, y1, z1, duration):
    """Straight and at constant speed from point 0 at t = 0 to point 1 at t = duration, and on."""
    part = t / duration
    for row in range(out.shape[0]):
        out[row, 0], out[row, 1], out[row, 2] = 0.0, 0.0, 0.0
    out[0, 0], out[0, 1], out[0, 2] = x0 + part * (x1 - x0), y0 + part * (y1 - y0), z0 + part * (z1 - z0)
    if out.shape[0] > 1:
        out[1, 0], out[1, 1], out[1, 2] = (x1 - x0) / duration, (y1 - y0) / duration, (z1 - z0) / duration


@kernel
def polynomial(out, t, coefficients, durations):
    """A path of segments, at rest before its beginning and after its end.

    coefficients (S, 3, 8), durations (S,) [s]: in segment i, lasting T, x = sum over j of c[i, 0, j] (t' / T)^j.
    """
    i, last = 0, durations.shape[0] - 1
    before = t
    while i < last and before > durations[i]:
        before -= durations[i]
        i += 1
    part = min(max(before / durations[i], 0.0), 1.0)
    for axis in range(3):
        for row in range(out.shape[0]):
            value = 0.0
            for j in range(ROWS - 1, row - 1, -1):
                factor = 1.0
                for k in range(row):
                    factor *= (j - k) / durations[i]
                value = value * part + factor * coefficients[i, axis, j]
            out[row, axis] = value if row == 0 or 0.0 <= before <= durations[i] else 0.0


# --- from waypoints to polynomials ------------------------------------------------------------------------------------


def parse_waypoints(given: Any, arena: Point) -> list[list[float]]:
    """Checked waypoints [x, y, z], at least two, no two neighbors equal, in an arena of these half sizes and height.

    Raises:
        ParameterError: wrong shape or numbers, or a waypoint outside the arena or equal to the one before.
    """
    rows = parse_rows(given, "waypoint", ("x", "y", "z"), 2, MOST_WAYPOINTS)
    for i, row in enumerate(rows):
        for name, value, low, high in zip("xyz", row, (-arena[0], -arena[1], 0.0), arena, strict=True):
            check_inside(f"waypoint {i}", name, value, low, high, "move it or make the arena larger")
        if i > 0 and math.dist(row, rows[i - 1]) < 1e-6:
            raise ParameterError(f"waypoints {i - 1} and {i} are both {row}; remove one of them")
    return rows


def trapezoid_times(waypoints: Any, speed: float, acceleration: float) -> np.ndarray:
    """Seconds (W - 1,) for each straight segment from rest to rest, with these largest speed and acceleration."""
    if not (0.0 < speed < math.inf and 0.0 < acceleration < math.inf):
        raise ParameterError(f"speed={speed} and acceleration={acceleration} must be finite and above 0")
    length = np.linalg.norm(np.diff(np.asarray(waypoints, float), axis=0), axis=1)
    cruise = length / speed + speed / acceleration
    return np.where(length < speed**2 / acceleration, 2.0 * np.sqrt(length / acceleration), cruise)


def _derivatives_at(part: float) -> np.ndarray:
    """Row r: the r-th derivative of 1, s, ..., s^7 at s = part."""
    table = np.zeros((ROWS, ROWS))
    for r in range(ROWS):
        for j in range(r, ROWS):
            table[r, j] = math.perm(j, r) * part ** (j - r)
    return table


def minimum_snap(waypoints: Any, durations: Any) -> np.ndarray:
    """Coefficients (S, 3, 8) for `polynomial`: the path through waypoints (S + 1, 3) with the least integral of snap^2.

    At rest at both ends (velocity, acceleration, jerk 0). Between two segments all derivatives up to the sixth are
    continuous, which is what the optimum asks for, so that one linear system gives it.

    Raises:
        ParameterError: durations that are not one number above 0 for each segment.
    """
    points, times = np.asarray(waypoints, float), np.asarray(durations, float)
    count = len(points) - 1
    if times.shape != (count,) or not (np.isfinite(times) & (times > 0.0)).all():
        raise ParameterError(f"durations={durations} must be {count} numbers above 0, one for each segment")
    begin, end = _derivatives_at(0.0), _derivatives_at(1.0)
    matrix, values = np.zeros((ROWS * count, ROWS * count)), np.zeros((ROWS * count, 3))
    matrix[:4, :ROWS], values[0] = begin[:4], points[0]
    matrix[-4:, -ROWS:], values[-4] = end[:4], points[-1]
    for i in range(1, count):
        row, column = ROWS * i - 4, ROWS * i
        matrix[row, column - ROWS : column], values[row] = end[0], points[i]
        matrix[row + 1, column : column + ROWS], values[row + 1] = begin[0], points[i]
        ratio = np.cumprod(np.full((6, 1), times[i - 1] / times[i]), axis=0)
        matrix[row + 2 : row + 8, column - ROWS : column] = end[1:7]
        matrix[row + 2 : row + 8, column : column + ROWS] = -ratio * begin[1:7]
    return solve(matrix, values).reshape(count, ROWS, 3).transpose(0, 2, 1)


# --- differential flatness --------------------------------------------------------------------------------------------


class Quad(NamedTuple):
    """What flatness needs to know of a vehicle. The defaults are the quadrotor of CPC (see `courses.py`)."""

    mass: float = 0.85  # kg
    inertia: Point = (0.001, 0.001, 0.0017)  # kg m^2
    rotor_x: Sequence[float] = (0.15, 0.15, -0.15, -0.15)  # m, ahead of the centre
    rotor_y: Sequence[float] = (0.15, -0.15, -0.15, 0.15)  # m, to its left
    spin: Sequence[float] = (1.0, -1.0, 1.0, -1.0)  # sign of the torque about body z
    torque_ratio: float = 0.05  # m, torque over thrust of a rotor
    thrust_to_weight: float = 3.3
    gravity: float = 9.8  # m/s^2

    @property
    def max_thrust(self) -> float:
        """The largest thrust of a rotor [N]."""
        return 0.25 * self.thrust_to_weight * self.mass * self.gravity


def _unit(v: list[np.ndarray]) -> list[np.ndarray]:
    """A vector's direction and its first two derivatives, from the vector and its first two (each (..., 3))."""

    def dot(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return (a * b).sum(-1, keepdims=True)

    size = np.sqrt(dot(v[0], v[0]))
    u0 = v[0] / size
    rate = dot(u0, v[1])
    u1 = (v[1] - rate * u0) / size
    u2 = (v[2] - (dot(u1, v[1]) + dot(u0, v[2])) * u0 - 2.0 * rate * u1) / size
    return [u0, u1, u2]


def _cross(a: list[np.ndarray], b: list[np.ndarray]) -> list[np.ndarray]:
    """The cross product and its first two derivatives."""
    zero, one = np.cross(a[0], b[0]), np.cross(a[1], b[0]) + np.cross(a[0], b[1])
    return [zero, one, np.cross(a[2], b[0]) + 2.0 * np.cross(a[1], b[1]) + np.cross(a[0], b[2])]


def flat_outputs(motion: Any, quad: Quad, yaw: Any = (0.0, 0.0, 0.0)) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rotor thrusts, attitude and body rates along a trajectory; the exact inverse of a rigid body without drag.

    Args:
        motion: (..., 5, 3) position, velocity, acceleration, jerk, snap.
        quad: the vehicle.
        yaw: (..., 3) heading of body x [rad] and its first two derivatives.

    Returns:
        thrusts (..., 4) [N], rotation matrices (..., 3, 3) from body to world, body rates (..., 3) [rad/s]. Not finite
        in free fall, and where body z points along the heading: there the attitude is not defined.
    """
    motion, yaw = np.asarray(motion, float), np.asarray(yaw, float)
    up = np.array([0.0, 0.0, quad.gravity])
    force = [motion[..., 2, :] + up, motion[..., 3, :], motion[..., 4, :]]
    nothing = np.zeros_like(yaw[..., 0])
    ahead = np.stack([np.cos(yaw[..., 0]), np.sin(yaw[..., 0]), nothing], -1)
    aside = np.stack([-np.sin(yaw[..., 0]), np.cos(yaw[..., 0]), nothing], -1)
    first, second = yaw[..., 1, None], yaw[..., 2, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        z = _unit(force)
        y = _unit(_cross(z, [ahead, first * aside, second * aside - first**2 * ahead]))
        x = _cross(y, z)
    frames = [np.stack([x[k], y[k], z[k]], -1) for k in range(3)]
    transposed = np.swapaxes(frames[0], -1, -2)
    # R' = R W and R'' = R (W W + W'), W the skew matrix of the body rates; W W is symmetric
    rates, turns = _vee(transposed @ frames[1]), _vee(transposed @ frames[2])
    inertia = np.asarray(quad.inertia)
    torque = inertia * turns + np.cross(rates, inertia * rates)
    thrust = quad.mass * np.linalg.norm(force[0], axis=-1)
    mixer = np.array([np.ones(4), quad.rotor_y, np.negative(quad.rotor_x), quad.torque_ratio * np.array(quad.spin)])
    wrench = np.concatenate([thrust[..., None], torque], -1)
    return wrench @ np.linalg.inv(mixer).T, frames[0], rates


def _vee(matrix: np.ndarray) -> np.ndarray:
    """The vector of the skew part of matrices."""
    skew = 0.5 * (matrix - np.swapaxes(matrix, -1, -2))
    return np.stack([skew[..., 2, 1], skew[..., 0, 2], skew[..., 1, 0]], -1)


def feasible(thrusts: Any, max_thrust: float) -> bool:
    """Whether every rotor's thrust lies within [0, max_thrust], nan not: MFRL's test at low fidelity."""
    thrusts = np.asarray(thrusts)
    return bool(((thrusts >= 0.0) & (thrusts <= max_thrust)).all())


def sample(coefficients: np.ndarray, durations: np.ndarray) -> np.ndarray:
    """Position to snap (S x SAMPLES, 5, 3) at SAMPLES points of each segment, both of its ends among them."""
    parts = np.linspace(0.0, 1.0, SAMPLES)
    tables = np.stack([_derivatives_at(part)[:5] for part in parts])
    scaled = np.asarray(durations)[:, None, None, None] ** -np.arange(5.0)[:, None]
    motion = np.einsum("prj,iaj->ipra", tables, coefficients) * scaled
    return motion.reshape(-1, 5, 3)


def fastest_minimum_snap(waypoints: Any, durations: Any, quad: Quad) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients and durations of the minimum-snap path flown as fast as the rotors allow, to a thousandth.

    All durations are stretched alike, which leaves the way in space as it is.

    Raises:
        ParameterError: no stretch up to a thousandfold makes it feasible.
    """
    coefficients, times = minimum_snap(waypoints, durations), np.asarray(durations, float)

    def flies(stretch: float) -> bool:
        return feasible(flat_outputs(sample(coefficients, stretch * times), quad)[0], quad.max_thrust)

    low, high = 1e-3, 1e3
    if not flies(high):
        raise ParameterError(f"no speed makes these waypoints feasible at thrust_to_weight={quad.thrust_to_weight}")
    while high > 1.001 * low:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if flies(middle) else (middle, high)
    return coefficients, high * times
