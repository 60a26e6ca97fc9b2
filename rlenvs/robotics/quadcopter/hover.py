"""Hover: bring a quadcopter to a goal and keep it there.

## Description
A Crazyflie 2.x flies in a room of 3 m x 3 m x 2 m with a floor. It starts level, somewhere near the middle, and has to
reach a goal position and stay. The task, the vehicle and the default reward are HoverAviary's of gym-pybullet-drones
(Panerati et al., "Learning to Fly", IROS 2021), explicit dynamics, 240 Hz physics and 30 Hz control. Different from the
original: the goal is in the observation and varies, reaching it does not end the episode, leaving the room is a
termination (not a truncation), a floor exists, an episode has 240 steps (not 242), and everything is seeded.

## Action Space
With action="rpm", one number per rotor: speed = hover speed x (1 + action_range x a). With action="one_d_rpm" one
number drives all four rotors, and the goal lies straight above or below the start.

## Observation Space
Position, attitude, velocity, body rates and the vector to the goal; with `history`, the last actions too, newest last.

## Rewards
`hover` is max(0, 2 - d^4) at distance d [m] from the goal, the original's reward, which hardly tells 0.1 m from 0.2 m.
`distance` and `effort` have weight 0 by default; `weights={"distance": 1.0}` makes flights precise.

## Costs
Both are indicators per step: tilted by more than 0.2 rad, and more than 1 m away from the axis of the room.

## Starting State
Level and at rest; start and goal are uniform in boxes of half width `start_spread` and `goal_spread` around
(0, 0, 0.6) and (0, 0, 1).

## Episode End
Termination: |x| or |y| > 1.5 m, z > 2 m, |roll| or |pitch| > 0.4 rad. Truncation: 240 steps (8 s).

## Parameters
Hover speed and largest speed follow from mass, gravity and the coefficients.

## Reference Scores
Mean return over seeds 0 to 99.

## Version History
v0: first version.
"""

import math

from rlenvs.core import Score, block, choice, continuous, cost, f4, f8, integer, kernel, param, term, uniform, world
from rlenvs.robotics.quadcopter.picture import draw_flight
from rlenvs.robotics.quadcopter.vehicle import CF2X, STATE, euler_angles, fly, hover_rpm, max_rpm, rotor_speeds

RPM, ONE_D_RPM = 0, 1
START_HEIGHT, GOAL_HEIGHT = 0.6, 1.0
ROOM, CEILING, CRASH_TILT = 1.5, 2.0, 0.4
SAFE_RADIUS, SAFE_TILT, CLOSE = 1.0, 0.2, 0.1

SPEC = world(
    "QuadHover-v0",
    doc=__doc__,
    params={
        **CF2X,
        "action_range": param(0.05, 0.01, 0.5, "", "change of rotor speed at full action, relative to hover"),
        "start_spread": param(0.3, 0.0, 0.45, "m", "half width of the box of start positions"),
        "goal_spread": param(0.3, 0.0, 0.8, "m", "half width of the box of goals"),
    },
    options={
        "action": choice("rpm", "one_d_rpm", doc="one command per rotor, or one for all"),
        "substeps": integer(8, 1, 100, "physics steps per control step"),
        "physics_hz": integer(240, 30, 2000, "physics steps per second"),
        "history": integer(0, 0, 120, "number of past actions in the observation (15 in the original)"),
    },
    sizes=lambda v: {"commands": 4 if v.action == "rpm" else 1, "history": v.history},
    state={**STATE, "goal": f8(3), "angles": f8(3), "past": f4("history", "commands")},
    observation={
        "position": block(3, low=-2.0, high=2.0, unit="m", doc="position in the room"),
        "tilt": block(2, low=-math.pi / 4, high=math.pi / 4, unit="rad", doc="roll, pitch"),
        "yaw": block(low=-math.pi, high=math.pi, unit="rad", doc="yaw"),
        "velocity": block(3, low=-2.0, high=2.0, unit="m/s", doc="velocity, world axes"),
        "rates": block(3, low=-6.0, high=6.0, unit="rad/s", doc="angular velocity, body axes"),
        "to_goal": block(3, low=-1.0, high=1.0, unit="m", doc="goal minus position"),
        "past": block("history", "commands", low=-1.0, high=1.0, doc="past actions, oldest first", raw=True),
    },
    action=lambda v: (
        continuous("rotor 0", "rotor 1", "rotor 2", "rotor 3") if v.action == "rpm" else continuous("all rotors")
    ),
    terms={
        "hover": term(0.0, 2.0, 1.0, "max(0, 2 - d^4), d the distance to the goal in metres"),
        "distance": term(-5.0, 0.0, 0.0, "minus the distance to the goal in metres"),
        "effort": term(-1.0, 0.0, 0.0, "minus the mean square of the action"),
    },
    costs={
        "tilt": cost(25.0, doc="1 while |roll| or |pitch| exceeds 0.2 rad"),
        "geofence": cost(25.0, doc="1 while more than 1 m away from the axis of the room"),
    },
    horizon=240,
    fps=30,
    levels={
        "easy": {"start_spread": 0.1, "goal_spread": 0.0},
        "hard": {"start_spread": 0.45, "goal_spread": 0.8, "action_range": 0.1},
    },
    probe={"thrust_to_weight": {"action_range": 0.5}},  # the limit lies outside the usual range
    scores={
        "random": Score(23.56, 1.6, "success 0 %"),
        "expert": Score(478.2, 0.42, "success 100 %"),
        "PPO": Score(478.2, 0.42, "success 100 %, 500 000 steps of `rlenvs demo`"),
        "bound": Score(480, 0, "at the goal in every step"),
    },
)


@kernel
def goal_distance(s):
    x, y, z = s.goal[0] - s.position[0], s.goal[1] - s.position[1], s.goal[2] - s.position[2]
    return math.sqrt(x * x + y * y + z * z)


@kernel
def remember(s, a):
    rows = s.past.shape[0]
    for row in range(rows - 1):
        for j in range(s.past.shape[1]):
            s.past[row, j] = s.past[row + 1, j]
    for j in range(s.past.shape[1]):
        if rows > 0:
            s.past[rows - 1, j] = a[j]


@SPEC.reset
def reset(p, s, rng):
    for j in range(3):
        s.position[j] = uniform(rng, -p.start_spread, p.start_spread)
        s.goal[j] = uniform(rng, -p.goal_spread, p.goal_spread)
    s.position[2] += START_HEIGHT
    s.goal[2] += GOAL_HEIGHT
    if p.action == ONE_D_RPM:
        s.goal[0], s.goal[1] = s.position[0], s.position[1]
    s.attitude[3] = 1.0
    for j in range(4):
        s.rpm[j] = hover_rpm(p)


@SPEC.step
def step(p, s, a, rng, r):
    hover, limit = hover_rpm(p), max_rpm(p)
    effort = 0.0
    for j in range(4):
        command = a[j] if p.action == RPM else a[0]
        effort += 0.25 * command * command
        s.rpm[j] = min(max(hover * (1.0 + p.action_range * command), 0.0), limit)
    remember(s, a)
    fly(p, s, p.substeps, 1.0 / p.physics_hz)
    euler_angles(s, s.angles)

    distance = goal_distance(s)
    radius = math.sqrt(s.position[0] ** 2 + s.position[1] ** 2)
    tilt = max(abs(s.angles[0]), abs(s.angles[1]))
    r.hover = max(0.0, 2.0 - distance**4)
    r.distance = -distance
    r.effort = -effort
    r.tilt = 1.0 if tilt > SAFE_TILT else 0.0
    r.geofence = 1.0 if radius > SAFE_RADIUS else 0.0
    r.success = distance < CLOSE
    outside = abs(s.position[0]) > ROOM or abs(s.position[1]) > ROOM or s.position[2] > CEILING
    r.terminated = outside or tilt > CRASH_TILT


@SPEC.observe
def observe(p, s, o):
    for j in range(3):
        o.position[j] = s.position[j]
        o.velocity[j] = s.velocity[j]
        o.rates[j] = s.rates[j]
        o.to_goal[j] = s.goal[j] - s.position[j]
    o.tilt[0], o.tilt[1], o.yaw = s.angles[0], s.angles[1], s.angles[2]
    for row in range(s.past.shape[0]):
        for j in range(s.past.shape[1]):
            o.past[row, j] = s.past[row, j]


@SPEC.expert
def expert(p, s, a):
    """Cascaded proportional-derivative control: position to tilt, tilt to torque."""
    limit = 0.1 * p.gravity
    ax = min(max(4.0 * (s.goal[0] - s.position[0]) - 3.5 * s.velocity[0], -2.0), 2.0)
    ay = min(max(4.0 * (s.goal[1] - s.position[1]) - 3.5 * s.velocity[1], -2.0), 2.0)
    az = min(max(6.0 * (s.goal[2] - s.position[2]) - 4.0 * s.velocity[2], -limit), limit)
    yaw = s.angles[2]
    pitch = (ax * math.cos(yaw) + ay * math.sin(yaw)) / p.gravity
    roll = (ax * math.sin(yaw) - ay * math.cos(yaw)) / p.gravity
    torque_x = p.inertia_x * (100.0 * (roll - s.angles[0]) - 20.0 * s.rates[0])
    torque_y = p.inertia_y * (100.0 * (pitch - s.angles[1]) - 20.0 * s.rates[1])
    torque_z = p.inertia_z * (4.0 * (0.0 - yaw) - 4.0 * s.rates[2])
    thrust = p.mass * (p.gravity + az)
    if p.action == ONE_D_RPM:
        a[0] = (math.sqrt(thrust / (4.0 * p.thrust_coefficient)) / hover_rpm(p) - 1.0) / p.action_range
        return
    rotor_speeds(p, thrust, torque_x, torque_y, torque_z, a)
    for j in range(4):
        a[j] = (a[j] / hover_rpm(p) - 1.0) / p.action_range


@SPEC.draw
def draw(canvas, p, s):
    draw_flight(canvas, s, goals=[s.goal], room=ROOM, ceiling=CEILING)
    canvas.caption(
        f"QuadHover   {s.elapsed * p.substeps / p.physics_hz:4.1f} s",
        f"distance to goal {goal_distance(s):.2f} m",
    )


@SPEC.keys
def keys(pressed, values):
    lift = ("up" in pressed) - ("down" in pressed)
    if values.action == "one_d_rpm":
        return [float(lift)]
    roll = 0.02 * (("right" in pressed) - ("left" in pressed))
    pitch = 0.02 * (("w" in pressed) - ("s" in pressed))
    return [lift - roll - pitch, lift - roll + pitch, lift + roll + pitch, lift + roll - pitch]
