"""Race: fly a quadcopter through the gates of a course, in order and fast.

## Description
A racing quadcopter flies through square gates. They are numbered and have a direction of flight; hitting a frame ends
the flight. The setup follows common practice in learned gate racing (Song et al., "Autonomous Drone Racing with Deep
Reinforcement Learning", IROS 2021), with this package's courses, physics and numbers: 500 Hz physics, 50 Hz actions,
rotor lag and drag.

Courses: "eight", a figure eight of six gates; "circle", four gates in a room; "straight", 10 m with a gate half way and
one at the end; "cpc", the track of Foehn et al., "Time-Optimal Planning for Quadrotor Waypoint Flight", 2021, with its
19 points and a gate at the end, where the original stops; "random", a new loop in every episode. `gates` takes a custom
list: three or more gates form a loop that starts between the last gate and the first; with fewer, flights start before
the first. `courses.lower_bound_time` gives a lower bound on the flight time.

With fidelity="low" the vehicle is a point mass under its thrust, whose body rates follow the action instantly, without
lag and drag unless `lag_time`, `drag_xy`, `drag_z` are given. Actions that command rotors instead of rates keep the
rigid body.

## Action Space
By default thrust and body rates: -1, 0 and 1 are no thrust, the weight, and the largest thrust; rates are fractions of
`rate_limit`. A rate loop follows them in every physics step.

## Observation Space
Position, attitude as a rotation matrix, velocity, body rates, the vectors to the next two gates and their directions,
the fraction of gates left, and the last action.

## Rewards
`progress` is the decrease of the distance to the center of the next gate. `rates` keeps the flight smooth. `time` is -1
per step, which amounts to -1.5 per second at 50 Hz: the distance is the same for all flights, so without it slow
flights, with lower rates, would have the highest return. `finish_time`, with weight 0, is the time of the whole flight,
in the step in which it ends in success.

## Costs
Indicators per step: a frame or the floor was hit; closer than 0.3 m to a wall or the ceiling, or outside; tilted by
more than 1.4 rad, the limit in MFRL's controller.

## Starting State
Level and at rest, facing the first gate, uniform in a box of half width `start_spread` around the start. With
start="any_gate" the first gate is random, those before it count as passed, and the flight starts on the leg to it.

## Episode End
Termination: the last gate is passed (a success), a frame or the floor is hit, or the vehicle leaves the arena. A gate
counts as passed when the motion in a step crosses its plane in the direction of flight, with the whole vehicle within
the opening; its frame is hit when the vehicle crosses the plane touching the frame. Truncation: 5 s for each gate to
pass.

## Parameters
The defaults of the vehicle depend on `vehicle`; to randomize them use, for example, `randomize={"mass": (0.75, 0.9)}`.

## Reference Scores
Mean return over seeds 0 to 99.

## Version History
v0: first version.
"""

from rlenvs.core import cost, term
from rlenvs.robotics.quadcopter import dynamics, flight, racing, racing_expert, render, tasks, vehicle


def race_horizon(values):
    return max(1, round(racing.GATE_SECONDS * racing.course_of(values).passes * values.control_hz))


SPEC = tasks.solo(
    "QuadRace-v0",
    doc=__doc__,
    source='Song et al., "Autonomous Drone Racing with Deep Reinforcement Learning", IROS 2021',
    params=racing.RACE_PARAMS,
    options=racing.RACE_OPTIONS,
    sizes=racing.race_sizes,
    data=racing.RACE_DATA,
    state={**racing.race_state(1)},
    observation={**flight.kinematics(15.0, 20.0, rate=10.0), **racing.course_blocks(), **flight.past_actions()},
    terms={
        "progress": term(
            -racing.LONGEST_STEP,
            racing.LONGEST_STEP,
            1.0,
            "decrease of the distance to the center of the next gate, in meters",
        ),
        "gate": term(0.0, 1.0, 1.0, "1 for passing the next gate"),
        "rates": term(-racing.FASTEST_RATE, 0.0, 0.01, "minus the body rate in rad/s"),
        "crash": term(-1.0, 0.0, 10.0, "-1 for a hit frame, the floor, or leaving the arena"),
        "time": term(-1.0, 0.0, 0.03, "-1 for every step"),
        "finish_time": term(0.0, racing.LONGEST_FLIGHT, 0.0, "seconds flown, in the step that finishes the course"),
    },
    costs={
        "collision": cost(0.1, doc="1 when a frame or the floor is hit"),
        "geofence": cost(25.0, doc="1 while less than 0.3 m from a wall or the ceiling"),
        "tilt": cost(25.0, doc="1 while tilted by more than 1.4 rad"),
    },
    horizon=race_horizon,
    levels={
        "easy": {"gate_scale": 1.3, "rate_limit": 5.0},
        "hard": {"course": "random", "gate_scale": 0.75, "wind": True, "gust": 1.0},
        "real": vehicle.ALL_EFFECTS,
    },
)
SPEC.make_data(racing.race_data)


@SPEC.reset
def reset(p, s, rng):
    first = racing.set_course(p, s, rng)
    racing.line_up(p, s, 0, first, s.place[0], s.place[1], s.place[2], rng)


@SPEC.act
def act(p, s, a, rng):
    dynamics.blow(p, s, rng)
    racing.note_place(s, 0)
    flight.command(p, s, 0, a, max(p.room[0], p.room[1]), p.room[2])


@SPEC.move
def move(p, s, rng):
    if racing.at_low_fidelity(p):
        racing.glide(p, s, 0)
    else:
        dynamics.fly(p, s, rng)


@SPEC.outcome
def outcome(p, s, a, rng, r):
    vehicle.euler_angles(s, 0)
    r.progress, passed, hit = racing.pass_gates(p, s, 0)
    room = racing.wall_distance(p, s, 0)
    finished = s.passed[0] >= p.passes
    r.gate = 1.0 if passed else 0.0
    r.rates = -racing.rate_size(s, 0)
    r.crash = -1.0 if hit or room < 0.0 else 0.0
    r.time = -1.0
    r.finish_time = min((s.elapsed + 1) / p.control_hz, racing.LONGEST_FLIGHT) if finished else 0.0
    r.collision = 1.0 if hit else 0.0
    r.geofence = 1.0 if room < racing.FENCE else 0.0
    r.tilt = 1.0 if vehicle.tilt_of(s, 0) > racing.SAFE_TILT else 0.0
    r.success = finished
    r.terminated = finished or hit or room < 0.0


@SPEC.observe
def observe(p, s, o):
    flight.observe_motion(p, s, 0, o)
    racing.observe_course(p, s, 0, o)


@SPEC.expert
def expert(p, s, a):
    ax, ay, az = racing_expert.race_pull(p, s, 0, racing_expert.race_speed(p, s, 0))
    racing_expert.pull_to_action(p, s, 0, a, ax, ay, az, max(p.room[0], p.room[1]), p.room[2])


@SPEC.draw
def draw(canvas, p, s):
    half_opening, half_outer = p.gate_scale * p.frame
    render.draw_course_flight(
        canvas,
        p,
        s,
        gates=s.gates,
        half_opening=half_opening,
        half_outer=half_outer,
        next_gate=racing.next_gate(s, 0, 0),
        arena=p.room,
        wind=s.wind,
    )
    speed = (s.velocity[0] ** 2).sum() ** 0.5
    canvas.caption(
        f"{s.elapsed / p.control_hz:.1f} s   {speed:.1f} m/s",
        f"{s.passed[0]} of {p.passes} gates",
    )
