"""Takeoff: lift a quadcopter off the floor and hover at a given height.

## Description
A Crazyflie 2.x stands on the floor of a room of 3 m x 3 m x 2 m with its rotors off. It has to take off, climb straight
to a goal above it, and stay there. Timing and the term `takeoff` are those of TakeoffAviary in gym-pybullet-drones
(Panerati et al., "Learning to Fly", IROS 2021, branch paper): explicit dynamics, 240 Hz physics, 30 Hz control, 5 s.

The original's reward increases with height without limit, so the optimal flight goes straight up forever; and since it
is never positive, leaving the room would end the losses. It is included for comparison, with weight 0. The default
reward and success require hovering at the goal. Also different: the start and the goal vary, the goal is in the
observation, rotor speeds can change by 10 % (not 5 %), there is a floor, and leaving the room is a termination.

## Action Space
With action="rpm", one number per rotor: speed = hover speed x (1 + action_range x a). With action="one_d_rpm" one
number drives all four rotors. With rotor speeds, exploration makes the vehicle tip over soon after takeoff, and
learners end up staying on the floor; at level "rates", with thrust and body rates as actions, they do not.

## Observation Space
Position, attitude, velocity, body rates and the vector to the goal; with `history` also the last actions, newest last.

## Rewards
`goal` is exp(-2 d) at distance d [m] from the goal: 1 at the goal, decreasing with the distance. The others have weight
0 by default. `takeoff` is the original's: -5 while the center is below 0.02 m, else -1/(10 z) at height z [m].

## Costs
Indicators per step: |roll| or |pitch| > 0.2 rad; |x| or |y| > 1.3 m, or z > 1.8 m.

## Starting State
Level and at rest on the floor, with rotors off, uniform in a square of half width `start_spread`. The goal is straight
above, its height uniform within `height_spread` of `goal_height`. With start="anywhere" half of the episodes start in
the air, hovering between the floor and 0.3 m above the goal, at most at 1.8 m: learners that also see these learn to
fly before they learn to take off.

## Episode End
Termination: |x| or |y| > 1.5 m, z > 2 m, |roll| or |pitch| > 0.8 rad. Truncation: 5 s. Success means that the vehicle
has been within 0.1 m of the goal for half a second.

## Parameters
Hover speed and largest speed follow from mass, gravity and the coefficients. Velocity actions climb at `speed_limit`,
by default 0.25 m/s, which is just enough for the default heights in 5 s.

## Reference Scores
Mean return over seeds 0 to 99.

## Version History
v0: first version.
"""

import math

from rlenvs.core import block, choice, cost, f8, i8, maths, param, term, uniform
from rlenvs.robotics.quadcopter import dynamics, flight, render, tasks, vehicle

ROOM, CEILING, CRASH_TILT = 1.5, 2.0, 0.8
SAFE_RADIUS, SAFE_HEIGHT, SAFE_TILT = 1.3, 1.8, 0.2
LOW = 0.02  # m, the original's "still on the ground"
FAR = 5.0  # m, the largest observed distance
CLOSE, HOLD = 0.1, 0.5  # m and s of hovering that make a success
MOST = 3.0  # m/s^2, sideways acceleration of the expert
ABOVE = 0.3  # m above the goal: the highest start in the air

START = choice("floor", "anywhere", doc="where episodes start: on the floor, or half of them in the air")
(ANYWHERE,) = START.codes("anywhere")

SPEC = tasks.solo(
    "QuadTakeoff-v0",
    doc=__doc__,
    source='gym-pybullet-drones TakeoffAviary (Panerati et al., "Learning to Fly", IROS 2021)',
    params={
        "action_range": param(
            0.1, 0.01, 1.0, "", "rpm actions: change of rotor speed at full action, relative to hover"
        ),
        "start_spread": param(0.5, 0.0, 1.2, "m", "half width of the square of start positions"),
        "goal_height": param(0.75, 0.4, 1.5, "m", "mean height of the goal"),
        "height_spread": param(0.2, 0.0, 0.3, "m", "largest difference of the goal from its mean height"),
    },
    options={"start": START},
    state={"goal": f8(3), "held": i8},
    observation={
        **flight.kinematics(2.0, 2.0, tilt=0.8),
        "to_goal": block(3, low=-2.0, high=2.0, unit="m", doc="goal minus position"),
        **flight.past_actions(),
    },
    terms={
        "goal": term(0.0, 1.0, 1.0, "exp(-2 d), d the distance to the goal in meters"),
        "takeoff": term(-5.0, 0.0, 0.0, "the original's reward: -5 below 0.02 m, else -1/(10 z)"),
        "height": term(-FAR, 0.0, 0.0, "minus the difference in height from the goal in meters"),
        "drift": term(-FAR, 0.0, 0.0, "minus the distance from the vertical above the start in meters"),
        "effort": term(-1.0, 0.0, 0.0, "minus the mean square of the action"),
    },
    costs={
        "tilt": cost(10.0, doc="1 while |roll| or |pitch| exceeds 0.2 rad"),
        "geofence": cost(10.0, doc="1 while |x| or |y| exceeds 1.3 m or z exceeds 1.8 m"),
    },
    horizon=flight.lasting(5.0),
    levels={
        "easy": {"start_spread": 0.0, "height_spread": 0.0},
        "hard": {"start_spread": 1.2, "goal_height": 1.2, "height_spread": 0.3, "action_range": 1.0},
        "real": {**vehicle.ALL_EFFECTS, "action_range": 0.2},
        "rates": {"action": "thrust_rates"},  # a rate loop keeps it upright while its actions are explored
    },
    probe={"thrust_to_weight": {"action_range": 0.5}},  # the limit lies outside the usual range
)


@SPEC.reset
def reset(p, s, rng):
    s.goal[0] = uniform(rng, -p.start_spread, p.start_spread)
    s.goal[1] = uniform(rng, -p.start_spread, p.start_spread)
    s.goal[2] = p.goal_height + uniform(rng, -p.height_spread, p.height_spread)
    floor = 0.5 * p.hull[1]
    if p.start == ANYWHERE and uniform(rng, 0.0, 1.0) < 0.5:
        highest = min(s.goal[2] + ABOVE, SAFE_HEIGHT)
        flight.take_off(p, s, 0, s.goal[0], s.goal[1], uniform(rng, floor, highest), 0.0)
        return
    flight.take_off(p, s, 0, s.goal[0], s.goal[1], floor, 0.0)
    for j in range(4):
        s.rpm[0, j], s.command[0, j] = 0.0, 0.0


@SPEC.act
def act(p, s, a, rng):
    dynamics.blow(p, s, rng)
    flight.command(p, s, 0, a, ROOM, CEILING)


@SPEC.outcome
def outcome(p, s, a, rng, r):
    vehicle.euler_angles(s, 0)
    x, y, z = s.position[0, 0], s.position[0, 1], s.position[0, 2]
    aside, distance = max(abs(x), abs(y)), flight.distance_to(s, 0, s.goal[0], s.goal[1], s.goal[2])
    tilt = flight.largest_tilt(s, 0)
    r.goal = maths.exp(-2.0 * distance)
    r.takeoff = -5.0 if z < LOW else -1.0 / (10.0 * z)
    r.height = -min(abs(s.goal[2] - z), FAR)
    r.drift = -min(math.sqrt((s.goal[0] - x) ** 2 + (s.goal[1] - y) ** 2), FAR)
    r.effort = -flight.mean_square(a)
    r.tilt = 1.0 if tilt > SAFE_TILT else 0.0
    r.geofence = 1.0 if aside > SAFE_RADIUS or z > SAFE_HEIGHT else 0.0
    s.held = s.held + 1 if distance < CLOSE else 0
    r.success = s.held >= HOLD * p.control_hz
    r.terminated = aside > ROOM or z > CEILING or tilt > CRASH_TILT


@SPEC.observe
def observe(p, s, o):
    flight.observe_motion(p, s, 0, o)
    for j in range(3):
        o.to_goal[j] = s.goal[j] - s.position[0, j]


@SPEC.expert
def expert(p, s, a):
    flight.fly_to(p, s, 0, a, s.goal[0], s.goal[1], s.goal[2], 0.0, 0.0, 0.0, MOST, ROOM, CEILING)


@SPEC.draw
def draw(canvas, p, s):
    render.draw_room_flight(canvas, p, s, goals=[s.goal], room=ROOM, ceiling=CEILING, wind=s.wind)
    canvas.caption(f"{s.elapsed / p.control_hz:.1f} s", f"height {s.position[0, 2]:.2f} m of {s.goal[2]:.2f} m")
