"""Place one cube at a goal on the table and stack another on top of it with a robot arm.

## Description
PandaStack of panda-gym (Gallouédec et al., arXiv 2106.13687), on MuJoCo: a Panda moves a cube of 2 kg to a goal on the
table and stacks a cube of 1 kg on it. Different from the original: actions move a target ahead of the hand, not the
hand relative to its current position; the friction is 0.5 and that of the fingers 1, where Bullet multiplies frictions
to 0.25 and 0.5; the cubes never start overlapping, nor at their goals; the published success rule (two cubes near two
points) also accepts cubes side by side on the table, or one falling past the other, so here one has to stand on the
other, at rest (`rule="published"` restores the published rule); the cubes' positions relative to the hand are also
observed, and their attitudes are quaternions; an episode continues after success (`ends_at_success` changes that);
contacts are MuJoCo's. `level="panda-gym"` has the original's actions, frictions, rule and termination.

## Action Space
Depending on `control`: the target of the hand in world axes, the same with three rotations, seven joints, or
displacements of the hand; the last number controls the fingers. The action also moves a target of the fingers: closed
fingers keep holding with an action of 0, except with `control="panda-gym"`, where they let go, as in the original. They
move at up to 0.2 m/s each. Targets are observed only with `target`.

## Observation Space
The hand, then each cube and its position relative to the hand, and last the goals: the achieved goal is the positions
of the lower and the upper cube, six numbers.

## Rewards
With `reward="sparse"` -1 for each step that ends without reaching the goal, otherwise 0. The goal is reached when the
Euclidean norm of the error of the six numbers is within the threshold, and the upper cube is on the lower one: its
center is one side higher (within 5 mm) and offset by less than half a side. With `reward="dense"` the negative norm, in
meters. With `reward="shaped"`, the sparse reward plus, for the lower cube until it is within 0.3 thresholds of its
place and then for the upper one, 0.1 for a hand at the cube, 0.1 for holding it, 0.3 for a cube at its goal, the first
and the last decreasing with the distance; plus 0.5 once the lower cube is in place. At the goal, holding is no longer
rewarded, but having released the cube is.

## Costs
None.

## Starting State
The arm is in panda-gym's neutral pose, fingers open. The cubes and the place of the stack are on the table, uniform in
squares around the middle, redrawn until the three are at least `apart` from each other; the cubes are rotated by up to
`yaw` to either side. With start="placed" the lower cube is already in place; with "held" the hand also holds the upper
one, 0.2 m above the table; with "any" one of the three is drawn. The level "put" starts this way, with the published
rule and a threshold of 3 cm: the cube has to be in place, and may be held there.

## Episode End
Truncation: 100 steps (4 s). Termination: with `ends_at_success`, at success. Success means that the goal is reached at
the end of a step, with both cubes slower than 5 cm/s and the fingers open: a falling or held cube does not count.

## Parameters
`apart` leaves room for the open fingers. It has to be at least one and a half sides, so that rotated cubes do not
overlap, and the square of starts has to be at least two and a half times as wide.

## Reference Scores
Mean return over fixed seeds.

## Version History
v0: first version.
"""

import math

from rlenvs.core import below, block, choice, f4, kernel, maths, param, term, uniform
from rlenvs.core.declare.errors import ParameterError
from rlenvs.kits.engines.mujoco_parts import add_goal
from rlenvs.kits.engines.overlays import Way, apart, draw_ways
from rlenvs.robotics.manipulation import arm, held, panda

FARTHEST = 2.0  # m, farther than the cubes get from their goals
LOWER, UPPER = panda.ARM_QPOS, panda.ARM_QPOS + 7  # where the cubes' free joints begin in qpos
LEVEL = 0.005  # m, by which the height of the stack may be off
REST = 0.05  # m/s
PLACED = 0.3  # thresholds, beside its place: near enough for the lower cube
NONE = {"reached": 0.0, "distance": 0.0, "near": 0.0, "held": 0.0, "placed": 0.0, "based": 0.0}

RULE = choice(
    "stacked", "published", doc="whether one cube has to stand on the other, or both only have to be near the two goals"
)
STACKED, PUBLISHED = RULE.codes("stacked", "published")
START = choice(
    *("table", "placed", "held", "any"),
    doc="start: both cubes on the table, the lower cube in place, also the upper cube in the hand, or any of these",
)
PLACED_START, HELD_START, ANY_START = START.codes("placed", "held", "any")

SPEC = arm.task(
    "PandaStack-v0",
    doc=__doc__,
    source="panda-gym PandaStack (Gallouédec et al., arXiv 2106.13687)",
    params={
        "mass_lower": param(2.0, 0.1, 2.0, "kg", "of the lower cube"),
        "mass_upper": param(1.0, 0.1, 2.0, "kg", "of the upper cube"),
        "friction": param(0.5, 0.1, 1.0, "", "sliding friction of cubes on the table and on each other"),
        "side": param(0.04, 0.03, 0.06, "m", "of the cubes"),
        "threshold": param(0.1, 0.02, 0.15, "m", "norm of the six errors at which the goal counts as reached"),
        "start_width": param(0.3, 0.24, 0.34, "m", "side of the square in which the cubes start"),
        "goal_width": param(0.3, 0.0, 0.34, "m", "side of the square of places for the stack"),
        "apart": param(
            0.09, 0.06, 0.12, "m", "smallest initial distance between the cubes and to the place of the stack"
        ),
        "yaw": param(0.0, 0.0, 0.5, "rad", "largest rotation of the cubes at the start"),
    },
    options={
        "reward": choice(
            *("sparse", "dense", "shaped"),
            doc="-1 until the goal is reached, the negative distance to it, or terms for reaching, holding and placing",
            sets={
                "sparse": {**NONE, "reached": 1.0},
                "dense": {**NONE, "distance": 1.0},
                "shaped": {**NONE, "reached": 1.0, "near": 0.1, "held": 0.1, "placed": 0.3, "based": 0.5},
            },
        ),
        "rule": RULE,
        "start": START,
        "ends_at_success": arm.ENDS,
    },
    state={
        **arm.state(),
        **arm.object_state("lower"),
        **arm.object_state("upper"),
        "achieved": f4(6),
        "desired": f4(6),
    },
    observation={
        **arm.ARM_BLOCKS,
        **arm.object_blocks("lower", "the lower cube"),
        "lower_offset": block(3, low=-0.5, high=0.5, unit="m", doc="from the hand to the lower cube"),
        **arm.object_blocks("upper", "the upper cube"),
        "upper_offset": block(3, low=-0.5, high=0.5, unit="m", doc="from the hand to the upper cube"),
        "achieved": block(6, low=-2.0, high=2.0, unit="m", doc="positions of the lower and the upper cube", raw=True),
        "desired": block(6, low=-2.0, high=2.0, unit="m", doc="their goals", raw=True, constant=True),  # heights are
    },
    goal=("achieved", "desired"),
    terms={
        **arm.goal_terms(FARTHEST),
        "near": term(0.0, 1.0, 0.0, "1 if the hand is at the current cube, decreasing with the distance"),
        "held": term(0.0, 1.0, 0.0, "1 while the fingers hold that cube, and once the stack stands by itself"),
        "placed": term(0.0, 1.0, 0.0, "1 if that cube is at its goal, decreasing with the distance"),
        "based": term(0.0, 1.0, 0.0, "1 while the lower cube is in its place"),
    },
    horizon=100,
    levels={
        "easy": {"start_width": 0.26, "goal_width": 0.1},
        "medium": {},
        "hard": {"threshold": 0.03, "yaw": 0.3},
        "second": {"start": "placed"},
        "last": {"start": "held", "goal_width": 0.0},
        "panda-gym": {**arm.AS_PUBLISHED, "friction": 0.25, "rule": "published"},
        "put": {"start": "held", "goal_width": 0.0, "rule": "published", "threshold": 0.03},
    },
    probe={"side": {"apart": 0.1}, "threshold": {"rule": "published"}},
)


@SPEC.model
def model(values):
    if not values.fingers:
        raise ParameterError("fingers=False: nothing can be stacked without them; leave them on")
    if values.form == "goal" and values.ends_at_success and values.rule == "stacked":
        raise ParameterError(
            "form='goal', ends_at_success=True: whether a stack stands at rest without the fingers does not follow "
            "from the goals, so compute_terminated cannot tell; leave out ends_at_success, or use rule='published'"
        )
    if values.apart < 1.5 * values.side - 1e-9 or values.start_width < 2.5 * values.apart - 1e-9:
        raise ParameterError(
            f"apart={values.apart:g} must be at least one and a half sides, side={values.side:g}, and at most 0.4 of "
            f"the starts' width, start_width={values.start_width:g}; change one of them"
        )
    spec = panda.scene(values)
    half = 0.5 * values.side
    for name, mass, color in (
        ("lower", values.mass_lower, (0.0, 0.45, 0.70)),
        ("upper", values.mass_upper, (0.90, 0.62, 0.0)),
    ):
        panda.add_object(spec, name, "BOX", (half, half, half), mass, values.friction, rgba=(*color, 1.0))
    for name, color in (("goal_lower", (0.0, 0.45, 0.70)), ("goal_upper", (0.90, 0.62, 0.0))):
        add_goal(spec, name, half, (*color, 0.3), "BOX")
    return spec


@kernel
def between(x, y, thing):
    """Horizontal distance, m."""
    return maths.hypot(x - thing[0], y - thing[1])


@kernel
def spot(rng, thing, width):
    """A place in a square around the middle."""
    for j in range(2):
        thing[j] = uniform(rng, -0.5 * width, 0.5 * width)


@SPEC.reset
def reset(p, s, rng):
    arm.pose(p, s, 0)
    lower, upper, half = s.qpos[LOWER : LOWER + 3], s.qpos[UPPER : UPPER + 3], 0.5 * p.side
    for _ in range(arm.TRIES):
        spot(rng, s.desired, p.goal_width)
        spot(rng, lower, p.start_width)
        spot(rng, upper, p.start_width)
        nearest = min(between(lower[0], lower[1], s.desired), between(upper[0], upper[1], s.desired))
        if min(nearest, between(lower[0], lower[1], upper)) >= p.apart:
            break
    arm.put(s, LOWER, lower[0], lower[1], half, uniform(rng, -p.yaw, p.yaw))
    arm.put(s, UPPER, upper[0], upper[1], half, uniform(rng, -p.yaw, p.yaw))
    begin_later(p, s, rng)
    s.desired[2], s.desired[5] = half, half + p.side
    for j in range(2):
        s.desired[3 + j] = s.desired[j]
    for j in range(3):
        s.mocap_pos[1, j], s.mocap_pos[2, j] = s.desired[j], s.desired[3 + j]


@kernel
def begin_later(p, s, rng):
    """Do what is done at first."""
    done = below(rng, ANY_START) if p.start == ANY_START else p.start
    if done >= PLACED_START:
        s.qpos[LOWER], s.qpos[LOWER + 1] = s.desired[0], s.desired[1]
    if done == HELD_START:
        held.give(s, 0, 0.5 * p.side, UPPER, 0.0)


@SPEC.after_reset
def after_reset(p, s, rng):
    held.start(s, 0)
    achieve(s)


@kernel
def achieve(s):
    for j in range(3):
        s.achieved[j] = min(max(s.lower[j], -2.0), 2.0)
        s.achieved[3 + j] = min(max(s.upper[j], -2.0), 2.0)


@SPEC.act
def act(p, s, a, rng):
    arm.drive(p, s, a, 0)


@kernel
def stacked(p, lower, upper):
    """Whether the upper cube is where it is when it stands on the lower one."""
    beside = between(lower[0], lower[1], upper)
    return beside < 0.5 * p.side and abs(upper[2] - lower[2] - p.side) < LEVEL


@SPEC.goal_outcome
def goal_outcome(p, achieved, desired, r):
    first, second = arm.distance(achieved[:3], desired[:3]), arm.distance(achieved[3:], desired[3:])
    distance = maths.hypot(first, second)
    r.success = distance <= p.threshold and (p.rule == PUBLISHED or stacked(p, achieved[:3], achieved[3:]))
    r.reached = 0.0 if r.success else -1.0
    r.distance = -min(distance, FARTHEST)
    r.terminated = p.ends_at_success == 1 and r.success


@kernel
def based(p, s):
    """Whether the lower cube is in its place."""
    beside = between(s.lower[0], s.lower[1], s.desired)
    return beside < PLACED * p.threshold and abs(s.lower[2] - s.desired[2]) < LEVEL


@kernel
def speed(velocity):
    return math.sqrt(velocity[0] ** 2 + velocity[1] ** 2 + velocity[2] ** 2)


@SPEC.outcome
def outcome(p, s, a, rng, r):
    achieve(s)
    goal_outcome(p, s.achieved, s.desired, r)
    if p.rule == STACKED:
        still = max(speed(s.lower_velocity), speed(s.upper_velocity)) < REST
        r.success = r.success and still and arm.width(s) > p.side + LEVEL
        r.terminated = r.terminated and r.success
    r.based = 1.0 if based(p, s) else 0.0
    if r.based:
        judge_turn(p, s, s.upper, s.desired[3:], r)
    else:
        judge_turn(p, s, s.lower, s.desired[:3], r)


@kernel
def judge_turn(p, s, cube, goal, r):
    """The shaped terms of the cube whose turn it is."""
    in_place = p.rule == STACKED and r.reached == 0.0  # what is to be learnt there is to let go
    r.near = 1.0 - maths.tanh(10.0 * arm.distance(s.grip[0], cube))
    r.held = 1.0 if (r.success if in_place else arm.holds(s, cube)) else 0.0
    r.placed = 1.0 - maths.tanh(5.0 * arm.distance(cube, goal))


@SPEC.observe
def observe(p, s, o):
    arm.observe_arm(p, s, 0, o)
    arm.observe_object(
        *(s.lower, s.lower_attitude, s.lower_velocity, s.lower_spin),
        *(o.lower, o.lower_attitude, o.lower_velocity, o.lower_spin),
    )
    arm.observe_object(
        *(s.upper, s.upper_attitude, s.upper_velocity, s.upper_spin),
        *(o.upper, o.upper_attitude, o.upper_velocity, o.upper_spin),
    )
    for j in range(3):
        o.lower_offset[j] = s.lower[j] - s.grip[0, j]
        o.upper_offset[j] = s.upper[j] - s.grip[0, j]
    for j in range(6):
        o.achieved[j] = s.achieved[j]
        o.desired[j] = s.desired[j]


@kernel
def landed(cube, velocity, z, off, most):
    """Whether a held cube is down at the height z, or stopped on an edge a little above it, not far off its place."""
    above = cube[2] - z
    return off < most and (above < 0.001 or (above < 0.012 and speed(velocity) < 0.01))


@SPEC.expert
def expert(p, s, a):
    clear, half = 2.0 * p.side, 0.5 * p.side
    beside = between(s.lower[0], s.lower[1], s.upper)
    if arm.holds(s, s.lower):
        off = between(s.lower[0], s.lower[1], s.desired)
        # nearer to its place than it has to be afterwards, since the fingers may shift it when they open
        if landed(s.lower, s.lower_velocity, half, off, 0.7 * PLACED * p.threshold):
            arm.glide(p, s, s.grip[0, 0], s.grip[0, 1], s.grip[0, 2], 1.0, a)
        else:
            arm.carry(p, s, s.lower, s.desired[0], s.desired[1], half, clear, a)
    elif arm.holds(s, s.upper):
        if landed(s.upper, s.upper_velocity, s.lower[2] + p.side, beside, 0.15 * p.side):
            arm.glide(p, s, s.grip[0, 0], s.grip[0, 1], s.grip[0, 2], 1.0, a)
        else:
            arm.carry(p, s, s.upper, s.lower[0], s.lower[1], half + p.side, clear + half, a)
    elif not based(p, s):
        arm.take(p, s, s.lower, clear, a)
    elif not stacked(p, s.lower, s.upper):
        arm.take(p, s, s.upper, clear, a)
    else:
        arm.glide(p, s, s.grip[0, 0], s.grip[0, 1], 2.0 * clear, 1.0, a)


@SPEC.draw
def draw(canvas, p, s):
    half = 0.5 * p.side
    lower, upper = s.desired[:3], s.desired[3:]
    ways = [Way(s.lower, lower, half, "blue", "blue"), Way(s.upper, upper, half, "orange", "orange")]
    legend = [("blue", "lower cube and its place"), ("orange", "upper cube and its place")]
    told = f"lower cube {apart(s.lower, lower)} off, upper cube {apart(s.upper, upper)} off"
    draw_ways(canvas, ways, legend, told, view=panda.OVERVIEW)
