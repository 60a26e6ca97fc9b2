"""Hit a puck so that it slides to a place out of reach.

## Description
PandaSlide of panda-gym (Gallouédec et al., arXiv 2106.13687), on MuJoCo: a Panda with closed fingers gives a puck of
6 cm and 1 kg on a slippery table a push; it has to come to a goal farther away than the hand reaches. Different from the
original: a goal never begins within 1.5 thresholds of the puck; the puck's place relative to the hand is observed too, and
its attitude is a quaternion; an episode goes on at success (`ends_at_success` changes that); contacts are MuJoCo's, where
the coefficient of friction is that between puck and table, not a factor of it.

## Action Space
By `control`: the target of the hand in world axes, the same with three turns, or seven joints. The target stays within
`reach` of the hand.

## Observation Space
The hand, then the puck, its place relative to the hand, and last the goals: what was achieved is where the puck is.

## Rewards
With `reward="sparse"` -1 for each step at whose end the goal is not reached, else 0. With `reward="dense"` the negative
distance from the puck to the goal, in metres. With `reward="shaped"`, 0.3 for a hand at the puck and 0.7 for a puck at
the goal, both falling off with the distance; a hand that follows its puck gets more than one that stays.

## Costs
None.

## Starting State
The arm is in panda-gym's neutral pose, fingers closed. The puck is uniform in a square around the middle of the table, the
goal in a rectangle beyond it, drawn together until they are 1.5 thresholds apart.

## Episode End
Truncation: 50 steps (2 s). Termination: with `ends_at_success`, when the puck is within the threshold of the goal.
Success is that it is there at the end of a step, sliding or not.

## Parameters
The table ends 5 cm behind the farthest goal that is allowed. A `goal_near` beyond `goal_far` is refused, and so are goals
and starts that cannot be three thresholds apart.

## Reference Scores
Mean return over fixed seeds, where measured.

## Version History
v0: first version.
"""

import math

from rlenvs.core import block, choice, f4, kernel, param, term, uniform, world
from rlenvs.core.errors import ParameterError
from rlenvs.robotics.engines.mujoco import ENGINE
from rlenvs.robotics.manipulation import arm, panda

TABLE = (-0.8, 0.6)  # m, along x, longer than for other tasks
FARTHEST = 2.0  # m, farther than the puck gets from its goal
PUCK = panda.ARM_QPOS  # where the puck's free joint begins in qpos
CLEAR = 1.5  # thresholds between the puck and its goal at the start
GRAVITY = 9.81  # m/s^2, MuJoCo's
NONE = {"reached": 0.0, "distance": 0.0, "near": 0.0, "placed": 0.0}
# the scripted expert's, m
HEIGHT = 0.02  # of the hand when it pushes
FINGER_X, FINGER_Y = 0.009, 0.01  # half sizes of the closed finger tips
AIM, EARLY, LAG, GAIN, BACK, SIDE, RUN, TIGHT, BRAKE, TURN, MORE, FIRST, LOW, NEAR, BIAS = 0.2, 0.01, 0.065, 0.03, 2.4, 0.028, 0.055, 0.002, 0.026, 0.032, 0.05, 0.6, 0.02, 0.0, 0.006

SPEC = world(
    "PandaSlide-v0",
    doc=__doc__,
    params={
        **arm.PARAMS,
        "mass": param(1.0, 0.1, 2.0, "kg", "of the puck"),
        "friction": param(0.04, 0.02, 0.2, "", "sliding friction between puck and table"),
        "radius": param(0.03, 0.02, 0.04, "m", "of the puck"),
        "height": param(0.03, 0.02, 0.05, "m", "of the puck"),
        "threshold": param(0.05, 0.005, 0.1, "m", "distance at which the goal counts as reached"),
        "start_width": param(0.3, 0.0, 0.3, "m", "side of the square in which the puck starts"),
        "goal_near": param(0.25, 0.2, 0.55, "m", "x of the nearest goal"),
        "goal_far": param(0.55, 0.25, 0.55, "m", "x of the farthest goal"),
        "goal_width": param(0.3, 0.0, 0.6, "m", "by which goals spread along y"),
    },
    options={
        **arm.OPTIONS,
        **arm.CAMERA,
        "fingers": arm.NO_FINGERS,
        "reward": choice(
            *("sparse", "dense", "shaped"),
            doc="-1 until the goal is reached, the negative distance to it, or nearness of hand and puck, puck and goal",
            sets={
                "sparse": {**NONE, "reached": 1.0},
                "dense": {**NONE, "distance": 1.0},
                "shaped": {**NONE, "near": 0.3, "placed": 0.7},
            },
        ),
        "ends_at_success": arm.ENDS,
    },
    state={**arm.state(), **arm.object_state("puck"), "achieved": f4(3), "desired": f4(3)},
    observation={
        **arm.ARM_BLOCKS,
        **arm.object_blocks("puck", "the puck"),
        "offset": block(3, low=-1.0, high=1.0, unit="m", doc="from the hand to the puck"),
        "achieved": block(3, low=-2.0, high=2.0, unit="m", doc="position of the puck", raw=True),
        "desired": block(3, low=-2.0, high=2.0, unit="m", doc="goal", raw=True),
    },
    images=arm.IMAGES,
    goal=("achieved", "desired"),
    action=arm.action,
    terms={
        **arm.goal_terms(FARTHEST),
        "near": term(0.0, 1.0, 0.0, "1 where the hand is at the puck, less by its distance"),
        "placed": term(0.0, 1.0, 0.0, "1 where the puck is at the goal, less by its distance"),
    },
    horizon=50,
    fps=arm.FPS,
    sizes=arm.sizes,
    engine=ENGINE,
    levels={
        "easy": {"start_width": 0.2, "goal_far": 0.4, "goal_width": 0.2},
        "medium": {},
        "hard": {"threshold": 0.03},
    },
)


@SPEC.model
def model(values):
    if values.goal_near > values.goal_far:
        raise ParameterError(
            f"goal_near={values.goal_near:g} is beyond goal_far={values.goal_far:g}; the first must not exceed the second"
        )
    farthest = math.hypot(
        0.5 * values.start_width + values.goal_far, 0.5 * (values.start_width + values.goal_width)
    )
    if farthest < 2.0 * CLEAR * values.threshold:
        raise ParameterError(
            f"start_width={values.start_width:g}, goal_far={values.goal_far:g} and goal_width={values.goal_width:g} leave "
            f"at most {farthest:.3g} m between puck and goal, and {2.0 * CLEAR:g} thresholds are needed, "
            f"threshold={values.threshold:g}; widen them or lower the threshold"
        )
    spec = panda.scene(values, table=TABLE)
    size = (values.radius, 0.5 * values.height)
    panda.add_object(spec, "puck", "CYLINDER", size, values.mass, values.friction, rgba=(0.90, 0.62, 0.0, 1.0))
    panda.add_goal(spec, "goal", values.threshold)
    return spec


@SPEC.reset
def reset(p, s, rng):
    arm.pose(p, s, 0)
    x = y = 0.0
    for _ in range(arm.TRIES):
        x = uniform(rng, -0.5 * p.start_width, 0.5 * p.start_width)
        y = uniform(rng, -0.5 * p.start_width, 0.5 * p.start_width)
        s.desired[0] = uniform(rng, p.goal_near, p.goal_far)
        s.desired[1] = uniform(rng, -0.5 * p.goal_width, 0.5 * p.goal_width)
        if math.hypot(s.desired[0] - x, s.desired[1] - y) > CLEAR * p.threshold:
            break
    s.desired[2] = 0.5 * p.height
    arm.put(s, PUCK, x, y, 0.5 * p.height, 0.0)
    for j in range(3):
        s.mocap_pos[1, j] = s.desired[j]


@SPEC.placed
def placed(p, s, rng):
    arm.start(s, 0)
    for j in range(3):
        s.achieved[j] = s.puck[j]


@SPEC.act
def act(p, s, a, rng):
    arm.drive(p, s, a, 0)


@SPEC.grade
def grade(p, achieved, desired, r):
    distance = arm.distance(achieved, desired)
    r.success = distance <= p.threshold
    r.reached = 0.0 if r.success else -1.0
    r.distance = -min(distance, FARTHEST)
    r.placed = 1.0 - math.tanh(5.0 * distance)
    r.terminated = p.ends_at_success == 1 and r.success


@SPEC.judge
def judge(p, s, a, rng, r):
    for j in range(3):
        s.achieved[j] = min(max(s.puck[j], -2.0), 2.0)
    grade(p, s.achieved, s.desired, r)
    r.near = 1.0 - math.tanh(10.0 * arm.distance(s.grip[0], s.puck))


@SPEC.observe
def observe(p, s, o):
    arm.observe_arm(p, s, 0, o)
    arm.observe_object(
        *(s.puck, s.puck_attitude, s.puck_velocity, s.puck_spin),
        *(o.puck, o.puck_attitude, o.puck_velocity, o.puck_spin),
    )
    for j in range(3):
        o.offset[j] = s.puck[j] - s.grip[0, j]
        o.achieved[j] = s.achieved[j]
        o.desired[j] = s.desired[j]


@SPEC.keys
def keys(pressed, values):
    return arm.keys(pressed, values)


# --- the scripted expert ----------------------------------------------------------------------------------------------


@SPEC.expert
def expert(p, s, a):
    """Go behind the puck, run up, and push until the puck has the speed with which it slides to the goal."""
    x, y = s.desired[0] - s.puck[0], s.desired[1] - s.puck[1]
    distance = math.hypot(x, y) + 1e-9
    nx, ny = x / distance, y / distance
    hx, hy = s.grip[0, 0] - s.puck[0] + FINGER_X, s.grip[0, 1] - s.puck[1]
    hy += FINGER_Y if hy < 0.0 or (hy == 0.0 and ny > 0.0) else -FINGER_Y
    ahead, across = hx * nx + hy * ny + p.radius, hy * nx - hx * ny
    speed = s.puck_velocity[0] * nx + s.puck_velocity[1] * ny
    drift = s.puck_velocity[1] * nx - s.puck_velocity[0] * ny
    wanted = math.sqrt(2.0 * p.friction * GRAVITY * max(distance + AIM * p.threshold, 0.0))
    hand = s.grip_velocity[0, 0] * nx + s.grip_velocity[0, 1] * ny
    low = s.grip[0, 2] < HEIGHT + LOW
    z = HEIGHT - BRAKE * min(s.grip_velocity[0, 2], 0.0)
    if speed > wanted - EARLY or distance < 0.8 * p.threshold or (speed > 0.05 and ahead < -0.03):
        arm.bring(p, s, s.grip[0, 0], s.grip[0, 1], HEIGHT, -1.0, a)
        return
    if low and -RUN - 0.02 < ahead < 0.01 and abs(across) < (TIGHT if hand < 0.15 else 0.012):
        side = s.grip_velocity[0, 1] * nx - s.grip_velocity[0, 0] * ny
        if speed < 0.02:
            wanted *= min(max(FIRST + 6.0 * (s.puck[0] - NEAR), FIRST), 1.2) 
        else:
            wanted += MORE
        forward = LAG * wanted + GAIN * (wanted - hand)
        sideways = LAG * drift - BACK * (across + BIAS * ny * ny * ny - TURN * drift) - SIDE * (side - drift)
    else:
        if low and hx * nx + hy * ny > -p.radius - 0.005:
            z = p.height + 0.035
        elif ahead > -0.012:
            z = p.height + 0.035
        forward, sideways = -ahead - RUN, -across
    x, y = forward * nx - sideways * ny, forward * ny + sideways * nx
    arm.bring(p, s, s.grip[0, 0] + x, s.grip[0, 1] + y, z, -1.0, a)
