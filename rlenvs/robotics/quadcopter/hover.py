"""Hover: fly a quadcopter to a goal and keep it there.

## Description
A Crazyflie 2.x flies in a room of 3 m x 3 m x 2 m with a floor. It starts level, near the middle, and has to reach a
goal position and stay there. The task and the vehicle are HoverAviary's of gym-pybullet-drones (Panerati et al.,
"Learning to Fly", IROS 2021), explicit dynamics, 240 Hz physics and 30 Hz control. Different from the original: the
reward depends on reaching the goal and not on hovering anywhere, the goal is in the observation and varies, reaching it
does not end the episode, leaving the room is a termination (not a truncation), a floor exists, an episode has 240 steps
(not 242), and everything is seeded.

## Action Space
With action="rpm", one number per rotor: speed = hover speed x (1 + action_range x a). With action="one_d_rpm" or
"one_d_position" one number moves the vehicle up and down, and the goal is straight above or below the start.
docs/quadcopters.md describes the other action types, vehicles, effects and engines.

## Observation Space
Position, attitude, velocity, body rates and the vector to the goal; with `history` also the last actions, newest last;
with `camera`, images.

## Rewards
`hover` is 2 exp(-5 d) at distance d [m] from the goal: 2 at the goal, 1.21 at 0.1 m, 0.16 at 0.5 m. With
reward="original", as on level "original", it is the original's max(0, 2 - d^4), which is 1.94 at 0.5 m: there doing
nothing scores 93 % of the expert's return, and 0.1 m is hardly distinguished from 0.2 m. `distance` and `effort` have
weight 0 by default.

## Costs
Both are indicators per step: tilted by more than 0.2 rad, and more than 1 m away from the axis of the room.

With action="velocity" there is a barrier [m] for `BarrierFilter`, which keeps the vehicle inside the geofence: the
distance from it at which the vehicle comes to rest.

## Starting State
Start and goal are uniform in boxes of half width `start_spread` and `goal_spread` around (0, 0, `start_height`) and
(0, 0, 1). Level and at rest, unless `start_tilt`, `start_speed` and `start_rate` are set (as at level "wild"). With a
camera, there are four landmarks around the middle, as in the original.

## Episode End
Termination: |x| or |y| > 1.5 m, z > 2 m, |roll| or |pitch| > `crash_tilt`. Truncation: 8 s, 240 steps.

## Parameters
Hover speed and largest speed follow from mass, gravity and the coefficients. Level "original" has HoverAviary's start,
goal and reward, "wild" starts tumbling, with half of the thrust as reserve, "real" has all aerodynamic effects.

## Reference Scores
Mean return over seeds 0 to 99.

## Version History
v0: first version.
"""

import math

from rlenvs.core import Score, block, choice, cost, f8, kernel, maths, param, term, uniform
from rlenvs.robotics.quadcopter import control, dynamics, flight, geofence, render, scene, tasks, vehicle

GOAL_HEIGHT = 1.0
ROOM, CEILING = 1.5, 2.0
LANDMARKS = 4
SAFE_RADIUS, SAFE_TILT, CLOSE = 1.0, 0.2, 0.1
FAR = 5.0  # m, the largest observed distance
REWARD = choice("goal", "original", doc="whether `hover` rewards only closeness to the goal, or is the original's")
(ORIGINAL,) = REWARD.codes("original")
NARROW = 5.0  # 1/m
MOST = 2.0  # m/s^2, sideways acceleration of the expert

SPEC = tasks.solo(
    "QuadHover-v0",
    doc=__doc__,
    source='gym-pybullet-drones HoverAviary (Panerati et al., "Learning to Fly", IROS 2021)',
    params={
        "start_spread": param(0.3, 0.0, 0.45, "m", "half width of the box of start positions"),
        "goal_spread": param(0.3, 0.0, 0.8, "m", "half width of the box of goals"),
        "start_height": param(0.6, 0.05, 1.5, "m", "middle of the box of start positions"),
        "start_tilt": param(0.0, 0.0, 1.0, "rad", "largest roll and pitch at the start"),
        "start_speed": param(0.0, 0.0, 1.0, "m/s", "largest velocity along each axis at the start"),
        "start_rate": param(0.0, 0.0, 3.0, "rad/s", "largest rate about each axis at the start"),
        "crash_tilt": param(0.4, 0.1, 3.2, "rad", "roll or pitch that ends the episode"),
    },
    options={"reward": REWARD},
    sizes=lambda v: {"shapes": LANDMARKS if v.camera != "none" else 0, "fences": geofence.fences(v)},
    state={"goal": f8(3)},
    observation={
        **flight.kinematics(2.0, 2.0, tilt=math.pi / 4),
        "to_goal": block(3, low=-1.0, high=1.0, unit="m", doc="goal minus position"),
        **flight.past_actions(),
    },
    terms={
        "hover": term(0.0, 2.0, 1.0, "2 exp(-5 d), d the distance to the goal in meters; see the text"),
        "distance": term(-FAR, 0.0, 0.0, "minus the distance to the goal in meters"),
        "effort": term(-1.0, 0.0, 0.0, "minus the mean square of the action"),
    },
    costs={
        "tilt": cost(25.0, doc="1 while |roll| or |pitch| exceeds 0.2 rad"),
        "geofence": cost(25.0, doc="1 while more than 1 m away from the axis of the room"),
    },
    horizon=flight.lasting(8.0),
    barriers="fences",
    levels={
        "original": {
            "start_spread": 0.0,
            "goal_spread": 0.0,
            "start_height": 0.1125,
            "history": 15,
            "reward": "original",
        },
        "easy": {"start_spread": 0.1, "goal_spread": 0.0},
        "hard": {"start_spread": 0.45, "goal_spread": 0.8, "action_range": 0.1},
        "real": {**vehicle.ALL_EFFECTS, "action_range": 0.2},
        "wild": {
            "action_range": 0.5,
            "start_tilt": 0.5,
            "start_speed": 0.5,
            "start_rate": 2.0,
            "crash_tilt": 1.2,
            "attitude": "matrix",
        },
    },
    probe={"thrust_to_weight": {"action_range": 0.5}},  # the limit lies outside the usual range
    scores={"bound": Score(480, 0, "at the goal in every step")},
)


@kernel
def throw(p, s, rng):
    """Start in motion: a random tilt, velocity and rates."""
    roll = 0.5 * uniform(rng, -p.start_tilt, p.start_tilt)
    pitch = 0.5 * uniform(rng, -p.start_tilt, p.start_tilt)
    s.attitude[0, 0], s.attitude[0, 1] = maths.sin(roll) * maths.cos(pitch), maths.cos(roll) * maths.sin(pitch)
    s.attitude[0, 2], s.attitude[0, 3] = -maths.sin(roll) * maths.sin(pitch), maths.cos(roll) * maths.cos(pitch)
    vehicle.euler_angles(s, 0)
    for j in range(3):
        s.velocity[0, j] = uniform(rng, -p.start_speed, p.start_speed)
        s.rates[0, j] = uniform(rng, -p.start_rate, p.start_rate)
    control.start_control(s, 0)


@kernel
def put_landmarks(shapes):
    """Four things around the room's middle for the camera to see, as the original has them."""
    scene.put_box(shapes, 0, 1.0, 0.0, 0.1, 0.1, 0.1, 0.1, 0.0, 0.85, 0.30, 0.25)
    scene.put_box(shapes, 1, 0.0, 1.0, 0.05, 0.05, 0.05, 0.05, 0.5, 0.25, 0.45, 0.85)
    scene.put_sphere(shapes, 2, -1.0, 0.0, 0.1, 0.1, 0.95, 0.80, 0.25)
    scene.put_cylinder(shapes, 3, 0.0, -1.0, 0.15, 0.07, 0.15, 0.55, 0.35, 0.20)


@SPEC.reset
def reset(p, s, rng):
    x = uniform(rng, -p.start_spread, p.start_spread)
    s.goal[0] = uniform(rng, -p.goal_spread, p.goal_spread)
    y = uniform(rng, -p.start_spread, p.start_spread)
    s.goal[1] = uniform(rng, -p.goal_spread, p.goal_spread)
    z = uniform(rng, -p.start_spread, p.start_spread)
    s.goal[2] = GOAL_HEIGHT + uniform(rng, -p.goal_spread, p.goal_spread)
    if p.action == flight.ONE_D_RPM or p.action == flight.ONE_D_POSITION:
        s.goal[0], s.goal[1] = x, y
    flight.take_off(p, s, 0, x, y, max(p.start_height + z, 0.5 * p.hull[1]), 0.0)
    if p.start_tilt > 0.0 or p.start_speed > 0.0 or p.start_rate > 0.0:
        throw(p, s, rng)
    if s.shapes.shape[0] > 0:
        put_landmarks(s.shapes)


@SPEC.act
def act(p, s, a, rng):
    dynamics.blow(p, s, rng)
    flight.command(p, s, 0, a, ROOM, CEILING)


@SPEC.outcome
def outcome(p, s, a, rng, r):
    vehicle.euler_angles(s, 0)
    distance = flight.distance_to(s, 0, s.goal[0], s.goal[1], s.goal[2])
    tilt = flight.largest_tilt(s, 0)
    r.effort = -flight.mean_square(a)
    r.hover = max(0.0, 2.0 - distance**4) if p.reward == ORIGINAL else 2.0 * maths.exp(-NARROW * distance)
    r.distance = -min(distance, FAR)
    r.tilt = 1.0 if tilt > SAFE_TILT else 0.0
    r.geofence = 1.0 if math.sqrt(s.position[0, 0] ** 2 + s.position[0, 1] ** 2) > SAFE_RADIUS else 0.0
    r.success = distance < CLOSE
    outside = abs(s.position[0, 0]) > ROOM or abs(s.position[0, 1]) > ROOM or s.position[0, 2] > CEILING
    r.terminated = outside or tilt > p.crash_tilt


@SPEC.observe
def observe(p, s, o):
    flight.observe_motion(p, s, 0, o)
    for j in range(3):
        o.to_goal[j] = s.goal[j] - s.position[0, j]


@SPEC.expert
def expert(p, s, a):
    flight.fly_to(p, s, 0, a, s.goal[0], s.goal[1], s.goal[2], 0.0, 0.0, 0.0, MOST, ROOM, CEILING)


@SPEC.barrier
def barrier(p, s, a, b):
    geofence.stay_inside(p, s, 0, a, b, SAFE_RADIUS)


@SPEC.draw
def draw(canvas, p, s):
    render.draw_room_flight(canvas, p, s, goals=[s.goal], room=ROOM, ceiling=CEILING, shapes=s.shapes, wind=s.wind)
    canvas.caption(
        f"{s.elapsed / p.control_hz:.1f} s",
        f"distance to goal {flight.distance_to(s, 0, *s.goal):.2f} m",
    )
