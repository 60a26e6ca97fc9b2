"""Track: fly a quadcopter along a path, following a moving reference.

## Description
A reference point moves along a path through a room of 3 m x 3 m x 2 m, and a Crazyflie 2.x has to stay with it. The
path "helix" with climb=0 is the circle of gym-pybullet-drones' example pid.py (radius 0.3 m, a lap in 10 s, episodes of
12 s; Panerati et al., "Learning to Fly", IROS 2021), which flies it at a height of 0.1 m. The term `squared` is the
reward of that package's TuneControlAviary (branch paper); here the actions command the rotors instead of tuning gains.
Physics at 240 Hz, control at 30 Hz. Different from the original: the reference and its future are in the observation,
the start of the path and of the vehicle vary, and leaving the room is a termination.

The paths have the radius or half length `radius` and a lap takes `lap_time`: "helix" around the axis of the room,
climbing by `climb` up to 1.7 m and then level; "lemniscate", a figure eight of half width radius / 2; "line", to and
fro along x, and "vertical", up and down, both as a sine. `waypoints` replaces them: a list of 2 to 64 [x, y, z] in
meters, joined by a minimum-snap path (Mellinger and Kumar, ICRA 2011), from rest to rest in one `lap_time`. If the last
waypoint equals the first, the path repeats, otherwise the reference waits at the end. Consecutive waypoints must
differ, and the path must keep |x| and |y| within 1.3 m and z between 0.05 m and 1.8 m; otherwise a ParameterError names
the problem.

## Action Space
With action="rpm", one number per rotor: speed = hover speed x (1 + action_range x a). The action types with one number
can only follow path="vertical". Velocity actions reach `speed_limit`, by default 0.25 m/s, which the path must not
exceed; position actions set a target at most 1 m away, which the PID controller tracks well up to about 0.4 m/s.

## Observation Space
Position, attitude, velocity, body rates; the vector to the reference, its velocity minus the vehicle's, and vectors to
the reference in 0.2 s, 0.4 s, ... (`preview` of them). With `history` also the last actions, newest last.

## Rewards
`track` is exp(-4 d) at distance d [m] from the reference. `squared`, the original's -d^2, is never positive, so ending
early is an advantage, and hardly distinguishes 0.1 m from 0; it and `effort` have weight 0 by default.

## Costs
Indicators per step: |roll| or |pitch| > 0.4 rad; |x| or |y| > 1.3 m, or z > 1.8 m; more than 0.3 m off the reference.

## Starting State
Level, at rest, uniform in a box of half width `start_spread` around the reference, which starts at a random point of
its lap, with waypoints at the first one.

## Episode End
Termination: |x| or |y| > 1.5 m, z > 2 m, |roll| or |pitch| > 1 rad. Truncation: 12 s. Success means that the vehicle
has been within 0.1 m of the reference for two seconds.

## Parameters
The fastest acceleration on a helix is radius x (2 pi / lap_time)^2. Hover speed and largest speed follow from mass,
gravity and the coefficients.

## Reference Scores
Mean return over seeds 0 to 99.

## Version History
v0: first version.
"""

import math
from typing import Any

import numpy as np

from rlenvs.core import block, choice, cost, f8, i8, integer, json_option, kernel, maths, param, term, uniform
from rlenvs.core.declare.errors import ParameterError
from rlenvs.robotics.quadcopter import control, dynamics, flight, paths, render, tasks, vehicle

PATH = choice("helix", "lemniscate", "line", "vertical", doc="the path, if no waypoints are given")
HELIX, LEMNISCATE, VERTICAL = PATH.codes("helix", "lemniscate", "vertical")
ROOM, CEILING, CRASH_TILT = 1.5, 2.0, 1.0
SAFE_RADIUS, SAFE_HEIGHT, SAFE_TILT, OFF_PATH = 1.3, 1.8, 0.4, 0.3
LOWEST, HIGHEST = 0.1, 1.7  # m, heights of the paths that are not given
FLOOR, ROUNDING = 0.05, 1e-9  # m, the lowest height of a given path; slack of its limits
PREVIEW_STEP = 0.2  # s between the points of the preview
CLOSE, HOLD = 0.1, 2.0  # m and s of following that make a success
MOST = 5.0  # m/s^2, sideways acceleration of the expert's feedback
LEAD = 0.2  # s that the expert's tilt lags behind its command


def _waypoints(given: Any) -> list[list[float]] | None:
    if given is None:
        return None
    rows = paths.parse_waypoints(given, (ROOM, ROOM, CEILING))
    path = paths.sample(*_smooth(rows))[:, 0]
    outside = np.abs(path[:, :2]).max(axis=1) > SAFE_RADIUS + ROUNDING
    outside |= (path[:, 2] < FLOOR - ROUNDING) | (path[:, 2] > SAFE_HEIGHT + ROUNDING)
    if outside.any():
        x, y, z = path[outside.argmax()]
        raise ParameterError(
            f"the path through them comes to ({x:.2f}, {y:.2f}, {z:.2f}); allowed is |x| and |y| up to {SAFE_RADIUS} m "
            f"and z from {FLOOR} m to {SAFE_HEIGHT} m; move the waypoints inwards, or add some where it overshoots"
        )
    return rows


def _smooth(waypoints: list[list[float]]) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients and durations of the minimum-snap path that lasts 1 s.

    A segment lasts as the root of its length, the first and the last, from and to rest, twice that: with less time for
    them the path swings out far beyond the waypoints.
    """
    times = np.sqrt(np.linalg.norm(np.diff(waypoints, axis=0), axis=1))
    times[0] *= 2.0
    times[-1] *= 2.0
    times /= times.sum()
    return paths.minimum_snap(waypoints, times), times


def _sizes(values: Any) -> dict[str, int]:
    segments = 0 if values.waypoints is None else len(values.waypoints) - 1
    return {"preview": values.preview, "segments": segments}


def _data(values: Any) -> dict[str, Any]:
    coefficients, durations, closed = np.zeros((0, 3, 8)), np.zeros(0), False
    if values.waypoints is not None:
        coefficients, durations = _smooth(values.waypoints)
        closed = values.waypoints[0] == values.waypoints[-1]
    return {**flight.flight_data(values), "snap": coefficients, "durations": durations, "closed": int(closed)}


SPEC = tasks.solo(
    "QuadTrack-v0",
    doc=__doc__,
    source='gym-pybullet-drones (Panerati et al., "Learning to Fly", IROS 2021)',
    params={
        "radius": param(0.3, 0.05, 1.2, "m", "radius or half length of the path; not for waypoints"),
        "lap_time": param(10.0, 2.0, 100.0, "s", "time of a lap; with waypoints, from the first to the last"),
        "height": param(1.0, 0.1, 1.6, "m", "height at which the path starts; not for waypoints"),
        "climb": param(0.05, 0.0, 0.5, "m/s", "upward speed of the helix"),
        "start_spread": param(0.1, 0.0, 0.3, "m", "half width of the box of start positions around the reference"),
    },
    options={
        "path": PATH,
        "waypoints": json_option(
            None, _waypoints, "a list of 2 to 64 [x, y, z] in meters to fly through instead of `path`"
        ),
        "preview": integer(4, 0, 50, "number of future positions of the reference in the observation, 0.2 s apart"),
    },
    sizes=_sizes,
    data={"snap": f8("segments", 3, 8), "durations": f8("segments"), "closed": i8},
    state={
        "begun": f8,  # share of a lap at which the reference begins
        "reference": f8(2, 3),  # position, velocity
        "soon": f8(3, 3),  # and acceleration, LEAD later; for the expert
        "ahead": f8("preview", 1, 3),  # positions
        "held": i8,
    },
    observation={
        **flight.kinematics(2.0, 3.0, tilt=1.0),
        "to_reference": block(3, low=-1.0, high=1.0, unit="m", doc="reference minus position"),
        "relative_velocity": block(3, low=-3.0, high=3.0, unit="m/s", doc="velocity of the reference minus velocity"),
        "to_preview": block("preview", 3, low=-2.0, high=2.0, unit="m", doc="future reference minus position"),
        **flight.past_actions(),
    },
    terms={
        "track": term(0.0, 1.0, 1.0, "exp(-4 d), d the distance to the reference in meters"),
        "squared": term(-25.0, 0.0, 0.0, "the original's reward: -d^2"),
        "effort": term(-1.0, 0.0, 0.0, "minus the mean square of the action"),
    },
    costs={
        "tilt": cost(25.0, doc="1 while |roll| or |pitch| exceeds 0.4 rad"),
        "geofence": cost(25.0, doc="1 while |x| or |y| exceeds 1.3 m or z exceeds 1.8 m"),
        "off_path": cost(25.0, doc="1 while more than 0.3 m off the reference"),
    },
    horizon=flight.lasting(12.0),
    levels={
        "easy": {"start_spread": 0.0, "lap_time": 20.0, "climb": 0.0},
        "hard": {"path": "lemniscate", "radius": 1.0, "lap_time": 5.0, "start_spread": 0.3, "action_range": 0.2},
        "real": {**vehicle.ALL_EFFECTS, "action_range": 0.2},
    },
    probe={"thrust_to_weight": {"action_range": 0.5}},  # the limit lies outside the usual range
)
SPEC.make_data(_data)


@kernel
def refer(p, s, t, out):
    """The reference t seconds after the start: position, velocity, ..., as far as `out`, (rows, 3), has rows."""
    if p.durations.shape[0] > 0:
        part = t / p.lap_time
        if p.closed:
            part -= math.floor(part)
        paths.polynomial(out, part, p.snap, p.durations)
        scale = 1.0
        for row in range(out.shape[0]):
            for j in range(3):
                out[row, j] *= scale
            scale /= p.lap_time
    elif p.path == HELIX:
        paths.helix(out, t, 0.0, 0.0, p.height, p.radius, p.lap_time, 2.0 * math.pi * s.begun, p.climb)
        if out[0, 2] > HIGHEST:
            out[0, 2] = HIGHEST
            if out.shape[0] > 1:
                out[1, 2] = 0.0
    elif p.path == VERTICAL:
        reach = min(p.radius, p.height - LOWEST, HIGHEST - p.height)
        paths.lemniscate(out, t + s.begun * p.lap_time, p.height, 0.0, 0.0, reach, 0.0, p.lap_time)
        for row in range(out.shape[0]):
            out[row, 0], out[row, 2] = out[row, 2], out[row, 0]
    else:
        half_width = 0.5 * p.radius if p.path == LEMNISCATE else 0.0
        paths.lemniscate(out, t + s.begun * p.lap_time, 0.0, 0.0, p.height, p.radius, half_width, p.lap_time)


@kernel
def refer_all(p, s, t):
    """Write the reference at t and what is ahead of it."""
    refer(p, s, t, s.reference)
    refer(p, s, t + LEAD, s.soon)
    for j in range(s.ahead.shape[0]):
        refer(p, s, t + PREVIEW_STEP * (j + 1), s.ahead[j])


@SPEC.reset
def reset(p, s, rng):
    s.begun = uniform(rng, 0.0, 1.0)
    refer_all(p, s, 0.0)
    x = s.reference[0, 0] + uniform(rng, -p.start_spread, p.start_spread)
    y = s.reference[0, 1] + uniform(rng, -p.start_spread, p.start_spread)
    z = s.reference[0, 2] + uniform(rng, -p.start_spread, p.start_spread)
    if p.action == flight.ONE_D_RPM or p.action == flight.ONE_D_POSITION:
        x, y = s.reference[0, 0], s.reference[0, 1]
    flight.take_off(p, s, 0, x, y, max(z, 0.5 * p.hull[1]), 0.0)


@SPEC.act
def act(p, s, a, rng):
    dynamics.blow(p, s, rng)
    flight.command(p, s, 0, a, ROOM, CEILING)


@SPEC.outcome
def outcome(p, s, a, rng, r):
    vehicle.euler_angles(s, 0)
    refer_all(p, s, (s.elapsed + 1) / p.control_hz)
    error = flight.distance_to(s, 0, s.reference[0, 0], s.reference[0, 1], s.reference[0, 2])
    aside, z = max(abs(s.position[0, 0]), abs(s.position[0, 1])), s.position[0, 2]
    tilt = flight.largest_tilt(s, 0)
    r.track = maths.exp(-4.0 * error)
    r.squared = -min(error * error, 25.0)
    r.effort = -flight.mean_square(a)
    r.tilt = 1.0 if tilt > SAFE_TILT else 0.0
    r.geofence = 1.0 if aside > SAFE_RADIUS or z > SAFE_HEIGHT else 0.0
    r.off_path = 1.0 if error > OFF_PATH else 0.0
    s.held = s.held + 1 if error < CLOSE else 0
    r.success = s.held >= HOLD * p.control_hz
    r.terminated = aside > ROOM or z > CEILING or tilt > CRASH_TILT


@SPEC.observe
def observe(p, s, o):
    flight.observe_motion(p, s, 0, o)
    for j in range(3):
        o.to_reference[j] = s.reference[0, j] - s.position[0, j]
        o.relative_velocity[j] = s.reference[1, j] - s.velocity[0, j]
        for i in range(s.ahead.shape[0]):
            o.to_preview[i, j] = s.ahead[i, 0, j] - s.position[0, j]


@SPEC.expert
def expert(p, s, a):
    """Feedback on place and velocity around the acceleration that the reference has when the vehicle has tilted."""
    x, y, z = s.reference[0, 0], s.reference[0, 1], s.reference[0, 2]
    vx, vy, vz = s.reference[1, 0], s.reference[1, 1], s.reference[1, 2]
    ax, ay, az = s.soon[2, 0], s.soon[2, 1], s.soon[2, 2]
    if p.action == flight.POSITION:  # lead the PID by so much that its force is what the reference needs
        x, y = (
            x + (control.FORCE_D * vx + control.MASS * ax) / control.FORCE_P,
            y + (control.FORCE_D * vy + control.MASS * ay) / control.FORCE_P,
        )
        z += (control.FORCE_D_Z * vz + control.MASS * az) / control.FORCE_P_Z
    elif p.action == flight.ONE_D_POSITION:
        z += (control.FORCE_D_Z * vz + control.MASS * az) / control.FORCE_P_Z
    elif p.action == flight.VELOCITY:
        vx, vy, vz = (
            vx + control.MASS * ax / control.FORCE_D,
            vy + control.MASS * ay / control.FORCE_D,
            vz + control.MASS * az / control.FORCE_D_Z,
        )
    else:
        ax += control.limited(4.0 * (x - s.position[0, 0]) + 3.5 * (vx - s.velocity[0, 0]), MOST)
        ay += control.limited(4.0 * (y - s.position[0, 1]) + 3.5 * (vy - s.velocity[0, 1]), MOST)
        az += control.limited(6.0 * (z - s.position[0, 2]) + 4.0 * (vz - s.velocity[0, 2]), 0.5 * MOST)
        flight.steer_rotors(p, s, 0, a, ax, ay, az)
        return
    flight.fly_to(p, s, 0, a, x, y, z, vx, vy, vz, MOST, ROOM, CEILING)


@SPEC.draw
def draw(canvas, p, s):
    now = s.elapsed / p.control_hz
    path = np.zeros((100, 1, 3))
    for i, out in enumerate(path):
        refer(p, s, now + p.lap_time * i / len(path), out)
    render.draw_room_flight(
        canvas, p, s, goals=[s.reference[0]], room=ROOM, ceiling=CEILING, path=path[:, 0], wind=s.wind
    )
    error = flight.distance_to(s, 0, *s.reference[0])
    canvas.caption(f"{now:.1f} s", f"{error:.2f} m off the reference")
