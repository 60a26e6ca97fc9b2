"""Gate: fly a quadcopter through a gate and hover behind it.

## Description
A Crazyflie 2.x in a room of 5 m x 5 m x 2 m has to fly through a square gate, 1 m ahead to its right, and to stay at a
goal 1 m behind it. Timing and the term `fly_through` are those of FlyThruGateAviary in gym-pybullet-drones (Panerati et
al., "Learning to Fly", IROS 2021, branch paper): 240 Hz physics, 30 Hz control.

The original does not check whether the vehicle flew through the gate, and its reference at a height of 0.75 m leads
over the gate, whose opening ends 0.525 m above the floor. Here the gate is a window around the reference, and passing
it counts. Also different: gate and start vary, the gate is in the observation, hitting it or leaving the room ends an
episode. It lasts 10 s (not 5); in the second half the reference of `fly_through` waits at its end.

## Action Space
With action="rpm", one number per rotor: speed = hover speed x (1 + action_range x a).

## Observation Space
Position, attitude, velocity, body rates; the vectors to the gate and to the goal, the gate's direction of flight as
cosine and sine of its yaw, and whether it was passed. With `history` also the last actions, newest last.

## Rewards
`way` is exp(-w), where w [m] is the remaining distance to the goal, through the center of the gate until it is passed.
`gate` and `crash` mark the events. The others have weight 0 by default. `fly_through` is the original's: -10 d^2, where
d [m] is the distance to a reference that moves in 5 s from 1 m before the gate through its center to 1 m behind it;
there 2 m along -y at a height of 0.75 m.

## Costs
Indicators per step: the gate or the floor was hit; |x| or |y| > 2.2 m or z > 1.8 m; tilted by more than 0.4 rad.

## Starting State
Level and at rest, uniform in a box of half width `start_spread` around (0, 0, 0.75). The gate is at (0, -1, 0.75) and
has to be flown through along -y; its x and z vary by `gate_spread`, its yaw by `gate_turn`.

## Episode End
Termination: the gate or the floor is hit, |x| or |y| > 2.5 m, z > 2 m, |roll| or |pitch| > 1 rad. Truncation: 10 s.
Success means that the gate was passed and the vehicle is within 0.1 m of the goal.

## Parameters
The gate's frame is 0.1 m wide and outside the opening. Velocity actions reach `speed_limit`, by default 0.25 m/s.

## Reference Scores
Mean return over seeds 0 to 99.

## Version History
v0: first version.
"""

import math
from typing import Any

from rlenvs.core import b1, block, cost, f8, maths, param, term, uniform
from rlenvs.robotics.quadcopter import dynamics, flight, gates, racing, render, scene, tasks, vehicle

ROOM, CEILING, CRASH_TILT = 2.5, 2.0, 1.0
SAFE_RADIUS, SAFE_HEIGHT, SAFE_TILT, CLOSE = 2.2, 1.8, 0.4, 0.1
GATE_Y, HEIGHT, YAW = -1.0, 0.75, -0.5 * math.pi  # of the gate
FRAME = 0.1  # m, width of its bars
BEFORE, BEHIND, REFERENCE_TIME = 1.0, 1.0, 5.0  # m, m, s: the reference's way, and the goal
MOST = 2.0  # m/s^2, sideways acceleration of the expert


def gate_sizes(values: Any) -> dict[str, int]:
    """The named sizes."""
    return {"shapes": scene.GATE_ROWS}


SPEC = tasks.solo(
    "QuadGate-v0",
    doc=__doc__,
    source='gym-pybullet-drones FlyThruGateAviary (Panerati et al., "Learning to Fly", IROS 2021)',
    params={
        "action_range": param(0.2, 0.01, 1.0, "", "rpm actions: change of rotor speed at full action"),
        "half_opening": param(0.25, 0.12, 0.35, "m", "half side of the gate's opening", limit=True),
        "start_spread": param(0.2, 0.0, 0.3, "m", "half width of the box of start positions"),
        "gate_spread": param(0.2, 0.0, 0.25, "m", "largest shift of the gate along x and z"),
        "gate_turn": param(0.3, 0.0, 0.6, "rad", "largest rotation of the gate"),
    },
    sizes=gate_sizes,
    state={"gate": f8(1, 4), "goal": f8(3), "before": f8(1, 3), "passed": b1},
    observation={
        **flight.kinematics(2.5, 2.0, tilt=math.pi / 4),
        "to_gate": block(3, low=-4.0, high=4.0, unit="m", doc="center of the gate minus position"),
        "to_goal": block(3, low=-4.0, high=4.0, unit="m", doc="goal minus position"),
        "facing": block(2, low=-1.0, high=1.0, doc="the gate's direction of flight: cosine and sine of its yaw"),
        "passed": block(low=0.0, high=1.0, doc="1 once the gate is passed"),
        **flight.past_actions(),
    },
    terms={
        "way": term(0.0, 1.0, 1.0, "exp(-w), w the remaining distance in meters, through the gate until it is passed"),
        "gate": term(0.0, 1.0, 10.0, "1 for passing the gate"),
        "crash": term(-1.0, 0.0, 10.0, "-1 for hitting the gate or the floor, or leaving the room"),
        "fly_through": term(-500.0, 0.0, 0.0, "the original's reward: -10 d^2, d the distance to its moving reference"),
        "effort": term(-1.0, 0.0, 0.0, "minus the mean square of the action"),
    },
    costs={
        "collision": cost(0.1, doc="1 when the gate or the floor is hit"),
        "geofence": cost(10.0, doc="1 while |x| or |y| exceeds 2.2 m or z exceeds 1.8 m"),
        "tilt": cost(10.0, doc="1 while |roll| or |pitch| exceeds 0.4 rad"),
    },
    horizon=flight.lasting(10.0),
    levels={
        "easy": {"half_opening": 0.35, "gate_spread": 0.0, "gate_turn": 0.0},
        "hard": {"half_opening": 0.15, "gate_spread": 0.25, "gate_turn": 0.6, "start_spread": 0.3},
        "real": vehicle.ALL_EFFECTS,
    },
    probe={
        "thrust_to_weight": {"action_range": 0.5},  # the limit lies outside the usual range
        "half_opening": {"vehicle": "hb"},  # the expert flies a Crazyflie through the smallest gate, too
    },
)


@SPEC.reset
def reset(p, s, rng):
    x, yaw = uniform(rng, -p.gate_spread, p.gate_spread), YAW + uniform(rng, -p.gate_turn, p.gate_turn)
    z = HEIGHT + uniform(rng, -p.gate_spread, p.gate_spread)
    s.gate[0, 0], s.gate[0, 1], s.gate[0, 2], s.gate[0, 3] = x, GATE_Y, z, yaw
    s.goal[0], s.goal[1], s.goal[2] = x + BEHIND * maths.cos(yaw), GATE_Y + BEHIND * maths.sin(yaw), z
    racing.put_gates(s.shapes, s.gate, p.half_opening, p.half_opening + FRAME)
    x, y = uniform(rng, -p.start_spread, p.start_spread), uniform(rng, -p.start_spread, p.start_spread)
    flight.take_off(p, s, 0, x, y, HEIGHT + uniform(rng, -p.start_spread, p.start_spread), 0.0)


@SPEC.act
def act(p, s, a, rng):
    dynamics.blow(p, s, rng)
    racing.note_place(s, 0)
    flight.command(p, s, 0, a, ROOM, CEILING)


@SPEC.outcome
def outcome(p, s, a, rng, r):
    vehicle.euler_angles(s, 0)
    x0, y0, z0 = s.before[0, 0], s.before[0, 1], s.before[0, 2]
    x, y, z = s.position[0, 0], s.position[0, 1], s.position[0, 2]
    inner, outer = p.half_opening - p.hull[0], p.half_opening + FRAME + p.hull[0]
    event = gates.crossing(s.gate, 0, inner, outer, x0, y0, z0, x, y, z)
    hit = s.touching[0] or event == gates.HIT
    if event == gates.PASSED and not s.passed:
        r.gate = 1.0
        s.passed = True
    aside, tilt = max(abs(x), abs(y)), flight.largest_tilt(s, 0)
    outside = aside > ROOM or z > CEILING
    to_goal = flight.distance_to(s, 0, s.goal[0], s.goal[1], s.goal[2])
    left = to_goal if s.passed else flight.distance_to(s, 0, s.gate[0, 0], s.gate[0, 1], s.gate[0, 2]) + BEHIND
    r.way = maths.exp(-left)
    r.crash = -1.0 if hit or outside else 0.0
    share = min((s.elapsed + 1) / (p.control_hz * REFERENCE_TIME), 1.0)
    along = (BEFORE + BEHIND) * share - BEFORE
    ux, uy = maths.cos(s.gate[0, 3]), maths.sin(s.gate[0, 3])
    off = flight.distance_to(s, 0, s.gate[0, 0] + along * ux, s.gate[0, 1] + along * uy, s.gate[0, 2])
    r.fly_through = max(-500.0, -10.0 * off * off)
    r.effort = -flight.mean_square(a)
    r.collision = 1.0 if hit else 0.0
    r.geofence = 1.0 if aside > SAFE_RADIUS or z > SAFE_HEIGHT else 0.0
    r.tilt = 1.0 if tilt > SAFE_TILT else 0.0
    r.success = s.passed and to_goal < CLOSE
    r.terminated = hit or outside or tilt > CRASH_TILT


@SPEC.observe
def observe(p, s, o):
    flight.observe_motion(p, s, 0, o)
    for j in range(3):
        o.to_gate[j] = s.gate[0, j] - s.position[0, j]
        o.to_goal[j] = s.goal[j] - s.position[0, j]
    o.facing[0], o.facing[1] = maths.cos(s.gate[0, 3]), maths.sin(s.gate[0, 3])
    o.passed = 1.0 if s.passed else 0.0


@SPEC.expert
def expert(p, s, a):
    """Waits before the gate until it is on its axis, then flies along it."""
    ahead, left, up = gates.gate_frame(s.gate, 0, s.position[0, 0], s.position[0, 1], s.position[0, 2])
    on_axis = max(abs(left), abs(up)) < 0.04 + 0.2 * max(-ahead - 0.2, 0.0)
    along = min(ahead + 0.3, BEHIND) if s.passed or on_axis else -0.4
    x, y = s.gate[0, 0] + along * maths.cos(s.gate[0, 3]), s.gate[0, 1] + along * maths.sin(s.gate[0, 3])
    flight.fly_to(p, s, 0, a, x, y, s.gate[0, 2], 0.0, 0.0, 0.0, MOST, ROOM, CEILING)


@SPEC.draw
def draw(canvas, p, s):
    render.draw_room_flight(canvas, p, s, goals=[s.goal], room=ROOM, ceiling=CEILING, shapes=s.shapes, wind=s.wind)
    canvas.caption(
        f"{s.elapsed / p.control_hz:.1f} s",
        "gate passed" if s.passed else f"distance to gate {flight.distance_to(s, 0, *s.gate[0, :3]):.2f} m",
    )
