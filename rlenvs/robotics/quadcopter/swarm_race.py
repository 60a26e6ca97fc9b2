"""Swarm race: several quadcopters race each other through the gates of one course.

## Description
QuadRace for several vehicles: all fly the same course at the same time, through the same gates, and observe the nearest
others. Racers start in rows. A racer that hits a frame, the floor, a wall or another racer is out; racers that are out
or have finished are removed. Courses, gates, fidelities, timing: see QuadRace-v0.

## Action Space
Per racer. By default thrust and body rates: -1, 0 and 1 are no thrust, the weight, and the largest thrust; rates are
fractions of `rate_limit`.

## Observation Space
Position, attitude as a rotation matrix, velocity, body rates, the vectors to the next two gates and their directions,
the fraction of gates left, position and velocity of the nearest others relative to the racer, and the last action.

## Rewards
Per racer. `progress`, `gate`, `rates`, `crash`, `time` and `finish_time` are those of QuadRace-v0. `rank` is 1 for the
first racer that finishes, 1/2 for the second, 1/3 for the third; racers that finish in the same step share the better
rank. `lead`, with weight 0, is 1 in every step in which no other racer has passed more gates.

## Costs
Indicators per step: a frame or the floor was hit; another racer was touched; another hull is closer than `gap`; closer
than 0.3 m to a wall or the ceiling, or outside; tilted by more than 1.4 rad.

## Starting State
Level and at rest, facing the first gate, on a grid around the start of the course, whose spacing is 4 hull radii and
twice `start_spread`, at least 0.5 m; with start="any_gate" before a random gate, the same for all. Places near walls or
frames, or with a gate between them and the first one, are left out. If a course has no room for all racers, a
ParameterError tells how many fit.

## Episode End
Termination, of each racer: the last gate is passed (a success), a frame or the floor is hit, the racer leaves the
arena, or another racer is touched (unless collisions_end=False). Truncation: 5 s for each gate to pass and 1 s for each
racer.

## Parameters
The defaults of the vehicle depend on `vehicle`; all racers fly the same one.

## Reference Scores
Mean return over seeds 0 to 99.

## Version History
v0: first version.
"""

from types import SimpleNamespace
from typing import Any

import numpy as np

from rlenvs.core import b1, cost, f8, i8, integer, kernel, maths, param, term
from rlenvs.core.declare.errors import ParameterError
from rlenvs.core.declare.rng import seed_words
from rlenvs.robotics.quadcopter import (
    dynamics,
    flight,
    formation,
    racing,
    racing_expert,
    render,
    scene,
    swarm,
    tasks,
    vehicle,
)
from rlenvs.robotics.quadcopter.gates import MISSED, crossing, ring_course

MOST_RACERS = 16
RACER_SECONDS = 1.0  # s that an episode lasts longer for each racer
CLOSEST = 0.5  # m, least spacing of the starts
ROWS, COLUMNS_ASIDE = 6, 3  # of the grid of starts: rows one behind another, columns to either side
WAIT, SHY = 0.7, 10.0  # s between the expert's starts; m/s^2 per metre that it wants to be farther from others
HOLD = 4.0  # m/s^2, sideways acceleration of the waiting expert


def swarm_horizon(values):
    seconds = racing.GATE_SECONDS * racing.course_of(values).passes + RACER_SECONDS * values.agents
    return max(1, round(seconds * values.control_hz))


def swarm_sizes(values: Any) -> dict[str, int]:
    """The named sizes."""
    return {**racing.race_sizes(values), "agents": values.agents, "neighbours": values.neighbours}


# --- starts -----------------------------------------------------------------------------------------------------------


@kernel
def slot_fits(shapes, gates, first, room, x, y, z, clear, half_outer):
    """Whether a vehicle may start at a place: `clear` metres from everything, no other gate in the way to the first."""
    if abs(x) > room[0] - clear or abs(y) > room[1] - clear or z < clear or z > room[2] - clear:
        return False
    if scene.clearance(shapes, x, y, z) < clear:
        return False
    for g in range(gates.shape[0]):
        to_x, to_y, to_z = gates[first, 0], gates[first, 1], gates[first, 2]
        if g != first and crossing(gates, g, 0.0, half_outer + clear, x, y, z, to_x, to_y, to_z) != MISSED:
            return False
    return True


@kernel
def fill_slots(shapes, gates, first, room, place, heading, spacing, half_outer, slots):
    """Fill slots (A, 3) with starts on a grid around a place, the foremost first. Returns how many were found."""
    found, clear = 0, 0.5 * spacing
    ux, uy = maths.cos(heading), maths.sin(heading)
    for level in range(3):
        up = spacing * (0, 1, -1)[level]
        for row in range(ROWS):
            for column in range(2 * COLUMNS_ASIDE + 1):
                left = spacing * ((column + 1) // 2) * (1.0 if column % 2 == 1 else -1.0)
                x = place[0] - spacing * row * ux - left * uy
                y = place[1] - spacing * row * uy + left * ux
                z = place[2] + up
                if found < slots.shape[0] and slot_fits(shapes, gates, first, room, x, y, z, clear, half_outer):
                    slots[found, 0], slots[found, 1], slots[found, 2] = x, y, z
                    found += 1
    return found


def swarm_data(values: Any) -> dict[str, Any]:
    """The arrays of `race_data` and the spacing of the starts.

    Raises:
        ParameterError: as `race_data`; too many racers for the room around a start.
    """
    data = racing.race_data(values)
    spacing = max(CLOSEST, 4.0 * float(data["hull"][0])) + 2.0 * values.start_spread
    courses = [data["places"]]
    if data["drawn"]:
        courses = [_ring(values, data, seed) for seed in range(8)]
    firsts = range(min(len(data["places"]), int(data["passes"]))) if values.start == "any_gate" else (0,)
    room = min(_slots(values, data, gates, first, spacing) for gates in courses for first in firsts)
    if values.agents > room:
        raise ParameterError(
            f"agents={values.agents} do not fit around the start of this course with these hulls; at most {room} do. "
            f"Use fewer, another course, a smaller start_spread, or a smaller vehicle or hull"
        )
    return {**data, "spacing": spacing}


def _ring(values: Any, data: dict[str, Any], seed: int) -> np.ndarray:
    """The course that stands in for a random one that cannot be drawn."""
    gates, (x, y, z) = np.zeros((values.random_gates, 4)), np.array(data["room"]) - racing.MARGIN
    with np.errstate(over="ignore"):  # the generator's words wrap around
        ring_course(seed_words(np.random.default_rng(seed)), gates, x, y, z, values.gate_scale * data["frame"][1])
    return gates


def _slots(values: Any, data: dict[str, Any], gates: np.ndarray, first: int, spacing: float) -> int:
    """How many racers can start before a gate."""
    shapes, slots, place = (
        np.zeros((scene.GATE_ROWS * len(gates), scene.COLUMNS)),
        np.zeros((MOST_RACERS, 3)),
        data["line"].copy(),
    )
    half_opening, half_outer = values.gate_scale * data["frame"]
    racing.put_gates(shapes, gates, half_opening, half_outer)
    if first > 0 or data["drawn"]:
        racing.start_place(shapes, gates, first, place)
    dx, dy = gates[first, :2] - place[:2]
    heading = maths.atan2(dy, dx) if dx * dx + dy * dy > 0.01 else float(gates[first, 3])
    return fill_slots(shapes, gates, first, data["room"], place, heading, spacing, half_outer, slots)


# --- the world --------------------------------------------------------------------------------------------------------

SPEC = tasks.team(
    "QuadSwarmRace-v0",
    doc=__doc__,
    source='Song et al., "Autonomous Drone Racing with Deep Reinforcement Learning", IROS 2021',
    params={
        **racing.RACE_PARAMS,
        **swarm.WASH,
        "start_spread": param(0.03, 0.0, 0.1, "m", "half width of the boxes of start positions"),
        "gap": param(0.2, 0.0, 1.0, "m", "distance between hulls below which the cost `proximity` is 1", limit=True),
    },
    options={
        **racing.RACE_OPTIONS,
        **swarm.SWARM_EFFECTS,
        "agents": integer(4, 1, MOST_RACERS, "number of racers"),
        **swarm.SWARM_OPTIONS,
    },
    sizes=swarm_sizes,
    data={**racing.RACE_DATA, "spacing": f8},
    state={
        **racing.race_state("agents"),
        "slots": f8("agents", 3),  # where they start [m]
        "finished": i8,  # racers
        "gone": b1("agents"),  # who is out or has finished
    },
    observation={
        **flight.kinematics(15.0, 20.0, rate=10.0),
        **racing.course_blocks(),
        **swarm.neighbour_blocks(10.0, 20.0),
        **flight.past_actions(),
    },
    terms={
        "progress": term(
            -racing.LONGEST_STEP,
            racing.LONGEST_STEP,
            1.0,
            "decrease of the distance to the center of the next gate, in meters",
        ),
        "gate": term(0.0, 1.0, 1.0, "1 for passing the next gate"),
        "rank": term(0.0, 1.0, 10.0, "1 over the rank, in the step that finishes the course"),
        "rates": term(-racing.FASTEST_RATE, 0.0, 0.01, "minus the body rate in rad/s"),
        "crash": term(-1.0, 0.0, 10.0, "-1 for a hit frame, the floor, another racer, or leaving the arena"),
        "time": term(-1.0, 0.0, 0.03, "-1 for every step"),
        "lead": term(0.0, 1.0, 0.0, "1 while no other racer has passed more gates"),
        "finish_time": term(0.0, racing.LONGEST_FLIGHT, 0.0, "seconds flown, in the step that finishes the course"),
    },
    costs={
        "collision": cost(0.1, doc="1 when a frame or the floor is hit"),
        "contact": cost(0.1, doc="1 while touching another racer"),
        "proximity": cost(25.0, doc="1 while the hull of another racer is closer than `gap`"),
        "geofence": cost(25.0, doc="1 while less than 0.3 m from a wall or the ceiling"),
        "tilt": cost(25.0, doc="1 while tilted by more than 1.4 rad"),
    },
    horizon=swarm_horizon,
    levels={
        "easy": {"agents": 2, "gate_scale": 1.3, "rate_limit": 5.0, "collisions_end": False},
        "hard": {"agents": 6, "course": "random", "gate_scale": 0.75, "wind": True, "gust": 1.0},
        "real": {**vehicle.ALL_EFFECTS, "downwash": True},
        "straight": {
            "course": "straight",
            "agents": 2,
            "gate_scale": 1.3,
            "rate_limit": 3.0,
            "control_hz": 20,
            "collisions_end": False,
        },
    },
    probe={**swarm.SWARM_SHOWN_BY},
)
SPEC.make_data(swarm_data)


@SPEC.reset
def reset(p, s, rng):
    first = racing.set_course(p, s, rng)
    heading = racing.heading_to(s, first, s.place[0], s.place[1])
    half_outer = p.gate_scale * p.frame[1]
    fill_slots(s.shapes, s.gates, first, p.room, s.place, heading, p.spacing, half_outer, s.slots)
    for k in range(s.slots.shape[0]):
        racing.line_up(p, s, k, first, s.slots[k, 0], s.slots[k, 1], s.slots[k, 2], rng)


@SPEC.act
def act(p, s, a, rng):
    dynamics.blow(p, s, rng)
    for k in range(s.slots.shape[0]):
        if s.alive[k]:
            racing.note_place(s, k)
            flight.command(p, s, k, a[k], max(p.room[0], p.room[1]), p.room[2])


@SPEC.move
def move(p, s, rng):
    if not racing.at_low_fidelity(p):
        swarm.fly_swarm(p, s, rng)
        return
    if p.downwash:
        swarm.wash_all(p, s)
    for k in range(s.slots.shape[0]):
        if s.alive[k]:
            racing.glide(p, s, k)


@SPEC.outcome
def outcome(p, s, a, rng, r):
    rank = s.finished + 1
    for k in range(s.slots.shape[0]):
        if s.alive[k]:
            judge_racer(p, s, k, rank, r)
    most = 0
    for k in range(s.slots.shape[0]):
        if s.alive[k]:
            most = max(most, s.passed[k])
    for k in range(s.slots.shape[0]):
        r.lead[k] = 1.0 if s.alive[k] and s.passed[k] == most else 0.0


@kernel
def judge_racer(p, s, k, rank, r):
    """Fill what one racer gains and spends in a step; `rank` is the next that is free."""
    vehicle.euler_angles(s, k)
    progress, passed, hit = racing.pass_gates(p, s, k)
    gap, room = formation.smallest_gap(p, s, k), racing.wall_distance(p, s, k)
    finished = s.passed[k] >= p.passes
    touched = gap < formation.TOUCH
    out = hit or room < 0.0 or (touched and p.collisions_end == 1)
    r.progress[k] = progress
    r.gate[k] = 1.0 if passed else 0.0
    r.rates[k] = -racing.rate_size(s, k)
    r.crash[k] = -1.0 if out else 0.0
    r.time[k] = -1.0
    r.collision[k] = 1.0 if hit else 0.0
    r.contact[k] = 1.0 if touched else 0.0
    r.proximity[k] = 1.0 if gap < p.gap else 0.0
    r.geofence[k] = 1.0 if room < racing.FENCE else 0.0
    r.tilt[k] = 1.0 if vehicle.tilt_of(s, k) > racing.SAFE_TILT else 0.0
    if finished:
        s.finished += 1
        r.rank[k] = 1.0 / rank
        r.finish_time[k] = min((s.elapsed + 1) / p.control_hz, racing.LONGEST_FLIGHT)
    r.success[k] = finished
    s.gone[k] = finished or out
    r.terminated[k] = s.gone[k]


@SPEC.observe
def observe(p, s, k, o):
    flight.observe_motion(p, s, k, o)
    racing.observe_course(p, s, k, o)
    swarm.observe_neighbours(s, k, o)


@SPEC.expert
def expert(p, s, a):
    """Racers set off one after another, and keep clear of each other."""
    half = max(p.room[0], p.room[1])
    for k in range(s.slots.shape[0]):
        if not s.alive[k]:
            continue
        if s.elapsed < k * WAIT * p.control_hz:
            x, y, z = s.slots[k, 0], s.slots[k, 1], s.slots[k, 2]
            flight.fly_to(p, s, k, a[k], x, y, z, 0.0, 0.0, 0.0, HOLD, half, p.room[2])
            continue
        ax, ay, az = racing_expert.race_pull(p, s, k, racing_expert.race_speed(p, s, k))
        dx, dy, dz = formation.dodge(p, s, k)
        racing_expert.pull_to_action(p, s, k, a[k], ax + SHY * dx, ay + SHY * dy, az + SHY * dz, half, p.room[2])


@SPEC.draw
def draw(canvas, p, s):
    there = [k for k in range(len(s.gone)) if not s.gone[k]] or [0]
    leader = max(there, key=lambda k: (s.passed[k], -s.distance[k]))
    fleet = SimpleNamespace(**{name: getattr(s, name)[there] for name in ("position", "velocity", "attitude")})
    fleet.numbers = there
    half_opening, half_outer = p.gate_scale * p.frame
    render.draw_course_flight(
        canvas,
        p,
        fleet,
        gates=s.gates,
        half_opening=half_opening,
        half_outer=half_outer,
        next_gate=racing.next_gate(s, leader, 0),
        arena=p.room,
        wind=s.wind,
        follow=there.index(leader),
    )
    canvas.caption(
        f"{s.elapsed / p.control_hz:.1f} s",
        f"racer {leader} leads: {s.passed[leader]} of {p.passes} gates",
        f"{s.finished} finished",
    )
