"""Two robot arms: one picks up a bar and hands it to the other, which moves it to a goal.

## Description

Two Pandas face each other at two tables with a gap between them. Agent 0, the giver, picks up a bar and holds it over
the gap; agent 1, the receiver, takes it there and moves its center to a goal on its own side. With its fingers down the
giver cannot reach any goal, and the receiver cannot reach the initial position of the bar. The task is modeled on the
object handover of HIL-SERL (Luo et al., arXiv 2410.21845); dimensions and goals are this package's, the control of the
arms is that of the other Panda tasks. All moments of inertia of the bar are set to the largest one; with the true
values it would gain energy in the air.

## Action Space

Per agent: its own hand, in the axes of the world (x points from the giver to the receiver). Its target is observed only
with `target`.

## Observation Space

Per agent: its own arm, the other hand relative to its own, the bar, which hands hold it, and the goal. A hand holds the
bar when its fingers press on it from both sides with at least 1 N.

## Rewards

Both agents receive the same reward. `reward="sparse"`: -1 until the bar is at the goal. `"dense"`: minus its distance
to the goal. `"shaped"`: the terms `giver_near`, `receiver_near`, `handed` and `place`, each in [0, 1].

## Costs

Indicators per step, the same for both agents. `drop`: the bar falls faster than 1 m/s, which happens after a fall of 5
cm, or is below the tables. `clash`: the arms push each other harder than `clash_force`.

## Starting State

Both arms are in their neutral poses with open fingers. The bar is on the giver's table, uniform in a square around
(-0.13, 0) m, rotated by up to `turn` to either side. With start="held" the giver holds it at its end 0.2 m above the
table, with "handed" the receiver does, with "any" one of the three is drawn. The goal is uniform in a box out of the
giver's reach.

## Episode End

After 100 steps (4 s), or, with `ends_at_success` (as at level="bring"), when the bar's center is within the threshold
of the goal.

## Parameters

The nearest goal follows from `length` and `threshold`. `fingers=False` is refused.

## Reference Scores

Mean return over seeds 0 to 99.

## Version History

v0: first version.
"""

import math

from rlenvs.core import below, block, choice, cost, f8, kernel, maths, param, term, uniform, world
from rlenvs.core.declare.errors import ParameterError
from rlenvs.kits.engines.mujoco import ENGINE
from rlenvs.kits.engines.mujoco_parts import add_camera, add_contact_sensor, add_goal
from rlenvs.kits.engines.overlays import View, Way, apart, draw_ways
from rlenvs.robotics.manipulation import arm, held, panda

FIRST_TABLE, SECOND_TABLE = (-0.7, 0.07), (0.23, 1.0)  # m, along x
MIDDLE, START = 0.15, -0.13  # m, along x: where the bar changes hands, and around where it lies at first
HANDING_HEIGHT = 0.25  # m
HOLD = 0.018  # m from an end of the bar to the middle of the fingers that hold it there
GIVER_REACH = 0.24  # m, farthest x of the giver's grip with its fingers down
FALLING = 1.0  # m/s; an arm that moves the bar is slower
PRESSED = 1.0  # N, by each finger that holds
FARTHEST = 3.0  # m
BAR = 2 * panda.ARM_QPOS  # where the bar's free joint begins in qpos
ORANGE = (0.90, 0.62, 0.0, 1.0)
BEGIN = choice(
    *("table", "held", "handed", "any"),
    doc="where the bar starts: on the table, in the giver's hand, in the receiver's, or any of these",
)
HELD_START, HANDED_START, ANY_START = BEGIN.codes("held", "handed", "any")
VIEW = View((0.15, -1.35, 0.95), (0.15, 0.0, 0.17), 45.0)

SPEC = world(
    "PandaHandover-v0",
    doc=__doc__,
    source="HIL-SERL (Luo et al., arXiv 2410.21845)",
    agents=True,
    params={
        **arm.PARAMS,
        "length": param(0.18, 0.16, 0.24, "m", "of the bar"),
        "width": param(0.024, 0.015, 0.04, "m", "of the bar, which is as high as wide"),
        "mass": param(0.1, 0.05, 0.3, "kg", "of the bar"),
        "friction": param(0.8, 0.2, 1.5, "", "sliding friction of the bar on the tables"),
        "turn": param(0.2, 0.0, 0.4, "rad", "largest rotation of the bar at the start"),
        "start_width": param(0.15, 0.05, 0.2, "m", "side of the square of starts"),
        "threshold": param(0.05, 0.01, 0.1, "m", "distance at which the bar counts as at the goal"),
        "goal_distance": param(0.3, 0.25, 0.35, "m", "of the farthest goal from the middle between the arms"),
        "goal_width": param(0.3, 0.05, 0.5, "m", "of the goals, across"),
        "goal_height": param(0.25, 0.1, 0.4, "m", "of the highest goal above the table"),
        "clash_force": param(5.0, 0.5, 50.0, "N", "force between the arms above which there is a cost", limit=True),
    },
    options={
        **arm.OPTIONS,
        "reward": choice(
            *("sparse", "dense", "shaped"),
            doc="-1 until the goal is reached, the negative distance to it, or terms for the stages of the task",
            sets={
                "sparse": {},
                "dense": {"reached": 0.0, "distance": 1.0},
                "shaped": {"reached": 0.0, "giver_near": 0.5, "receiver_near": 0.5, "handed": 1.0, "place": 2.0},
            },
        ),
        "start": BEGIN,
        "ends_at_success": arm.ENDS,
    },
    state={
        **arm.state(2),
        **arm.object_state("bar"),
        "pressure": f8(4, 3),  # N, on the bar by the fingers: left and right of the giver, of the receiver
        "clash": f8(3),  # N, by which the giver pushes the receiver
        "goal": f8(3),  # m
    },
    observation={
        **arm.ARM_BLOCKS,
        "other": block(3, low=-2.0, high=2.0, unit="m", doc="the other end effector minus the own"),
        "other_fingers": block(low=0.0, high=2.0 * panda.FINGER_OPEN, unit="m", doc="width between its fingers"),
        **arm.object_blocks("bar", "the bar's center"),
        "holds": block(2, low=0.0, high=1.0, doc="1 where the own and the other hand hold the bar", raw=True),
        "goal": block(3, low=-1.0, high=1.0, unit="m", doc="goal of the bar's center"),
    },
    action=arm.action,
    terms={
        **arm.goal_terms(FARTHEST),
        "giver_near": term(0.0, 1.0, 0.0, "1 - tanh(8 d), d [m] from the giver's hand to its end; 1 once taken"),
        "receiver_near": term(0.0, 1.0, 0.0, "1 - (tanh(8 d) + tanh(2 d)) / 2 for the receiver, while held"),
        "handed": term(
            0.0, 1.0, 0.0, "1/3 while the giver holds the bar, 2/3 while both do, 1 while only the receiver does"
        ),
        "place": term(0.0, 1.0, 0.0, "1 - tanh(4 d), d [m] from the bar to the goal, while the receiver holds it"),
    },
    costs={
        "drop": cost(1.0, 1.0, "1 while the bar falls, or is below the tables"),
        "clash": cost(1.0, 1.0, "1 while the arms push each other"),
    },
    horizon=100,
    fps=arm.FPS,
    sizes=lambda values: {"agents": 2, **arm.sizes(values)},
    engine=ENGINE,
    expert_sees="state",  # the targets of the hands
    levels={
        "easy": {"length": 0.16, "goal_distance": 0.28, "goal_width": 0.2, "turn": 0.0},
        "medium": {},
        "hard": {"length": 0.16, "goal_distance": 0.35, "goal_width": 0.5, "turn": 0.4, "threshold": 0.03},
        "receive": {"start": "held"},
        "bring": {"start": "handed", "ends_at_success": True},
    },
)


@SPEC.model
def model(values):
    if not values.fingers:
        raise ParameterError("fingers=False: the bar has to be grasped, so only fingers=True is allowed; leave it out")
    near, far = nearest_goal(values), MIDDLE + values.goal_distance
    if near > far:
        raise ParameterError(
            f"no goal is out of the giver's reach: with length={values.length:g} and threshold={values.threshold:g} "
            f"goals start at x = {near:.3f} m, with goal_distance={values.goal_distance:g} they end at {far:.3f} m; "
            "lower the first two or raise goal_distance"
        )
    spec = panda.scene(values, 2, FIRST_TABLE)
    panda.add_table(spec, "second table", *SECOND_TABLE)
    half = 0.5 * values.width
    panda.add_object(spec, "bar", "BOX", (0.5 * values.length, half, half), values.mass, values.friction, rgba=ORANGE)
    add_goal(spec, "goal", values.threshold)
    for i in range(4):
        add_contact_sensor(spec, f"pressure/{i}", f"{('left', 'right')[i % 2]}/{i // 2}", "bar")
    add_contact_sensor(spec, "clash", "base/0", "base/1")
    spec.delete(spec.camera("overview"))
    add_camera(spec, "overview", *VIEW)
    return spec


@kernel
def nearest_goal(p):
    """Along x, m; the giver, with its fingers down at the end of the bar, cannot bring it within the threshold."""
    return GIVER_REACH + 0.5 * p.length + p.threshold


@SPEC.reset
def reset(p, s, rng):
    arm.pose(p, s, 0)
    arm.pose(p, s, 1)
    half = 0.5 * p.start_width
    x, y = START + uniform(rng, -half, half), uniform(rng, -half, half)
    arm.put(s, BAR, x, y, 0.5 * p.width, uniform(rng, -p.turn, p.turn))
    begin_later(p, s, rng)
    s.goal[0] = uniform(rng, nearest_goal(p), MIDDLE + p.goal_distance)
    s.goal[1] = uniform(rng, -0.5 * p.goal_width, 0.5 * p.goal_width)
    s.goal[2] = uniform(rng, 0.05, p.goal_height)
    for j in range(3):
        s.mocap_pos[2, j] = s.goal[j]


@kernel
def begin_later(p, s, rng):
    """Put the bar into the hand that has it at first."""
    begun = below(rng, ANY_START) if p.start == ANY_START else p.start
    reach = 0.5 * p.length - HOLD
    if begun == HELD_START:
        held.give(s, 0, 0.5 * p.width, BAR, reach)
    elif begun == HANDED_START:
        held.give(s, 1, 0.5 * p.width, BAR, -reach)


@SPEC.after_reset
def after_reset(p, s, rng):
    for k in range(2):
        held.start(s, k)


@SPEC.act
def act(p, s, a, rng):
    arm.drive(p, s, a[0], 0)
    arm.drive(p, s, a[1], 1)


@kernel
def along(s, j):
    """Component j of the bar's direction, which points to the receiver's end."""
    w, x, y, z = s.bar_attitude[0], s.bar_attitude[1], s.bar_attitude[2], s.bar_attitude[3]
    ahead = 1.0 - 2.0 * (y * y + z * z)
    value = ahead if j == 0 else (2.0 * (x * y + w * z) if j == 1 else 2.0 * (x * z - w * y))
    return value if ahead >= 0.0 else -value


@kernel
def handle(p, s, k, j):
    """Coordinate j of where hand k shall hold the bar."""
    reach = 0.5 * p.length - HOLD
    return s.bar[j] + (reach if k == 1 else -reach) * along(s, j)


@kernel
def to_handle(p, s, k):
    """Distance from hand k to where it shall hold the bar, m."""
    x, y = handle(p, s, k, 0) - s.grip[k, 0], handle(p, s, k, 1) - s.grip[k, 1]
    z = handle(p, s, k, 2) - s.grip[k, 2]
    return math.sqrt(x * x + y * y + z * z)


@kernel
def holds(s, k):
    """Whether the fingers of hand k press on the bar from both sides."""
    left, right = s.pressure[2 * k], s.pressure[2 * k + 1]
    return left[0] * right[0] + left[1] * right[1] + left[2] * right[2] < -PRESSED * PRESSED


@kernel
def receiver_near(p, s):
    """The wide part pays for the bar's way to the middle, the narrow one for the grasp."""
    d = to_handle(p, s, 1)
    return 1.0 - 0.5 * (maths.tanh(8.0 * d) + maths.tanh(2.0 * d))


@SPEC.outcome
def outcome(p, s, a, rng, r):
    given, taken = holds(s, 0), holds(s, 1)
    distance = arm.distance(s.bar, s.goal)
    falls = s.bar_velocity[2] < -FALLING or s.bar[2] < 0.0
    pushes = math.sqrt(s.clash[0] ** 2 + s.clash[1] ** 2 + s.clash[2] ** 2) > p.clash_force
    for k in range(2):
        r.success[k] = distance <= p.threshold
        r.terminated[k] = p.ends_at_success == 1 and r.success[k]
        r.reached[k] = 0.0 if r.success[k] else -1.0
        r.distance[k] = -min(distance, FARTHEST)
        r.giver_near[k] = 1.0 if taken else 1.0 - maths.tanh(8.0 * to_handle(p, s, 0))
        r.receiver_near[k] = receiver_near(p, s) if given or taken else 0.0
        r.handed[k] = ((2.0 if given else 3.0) if taken else (1.0 if given else 0.0)) / 3.0
        r.place[k] = 1.0 - maths.tanh(4.0 * distance) if taken else 0.0
        r.drop[k] = 1.0 if falls else 0.0
        r.clash[k] = 1.0 if pushes else 0.0


@SPEC.observe
def observe(p, s, k, o):
    arm.observe_arm(p, s, k, o)
    other = 1 - k
    for j in range(3):
        o.other[j] = s.grip[other, j] - s.grip[k, j]
        o.goal[j] = s.goal[j]
    first = panda.ARM_QPOS * other + panda.JOINTS
    o.other_fingers = s.qpos[first] + s.qpos[first + 1]
    arm.observe_object(
        s.bar, s.bar_attitude, s.bar_velocity, s.bar_spin, o.bar, o.bar_attitude, o.bar_velocity, o.bar_spin
    )
    o.holds[0] = 1.0 if holds(s, k) else 0.0
    o.holds[1] = 1.0 if holds(s, other) else 0.0


@kernel
def open_width(s, k):
    """How far a finger of hand k is open, m."""
    return s.qpos[panda.ARM_QPOS * k + panda.JOINTS]


@kernel
def give(p, s, a):
    """The giver: pick the bar up at its end, hold it over the gap, let go when the receiver holds it, step back."""
    fingers = a.size - 1
    x, y, z = handle(p, s, 0, 0), handle(p, s, 0, 1), handle(p, s, 0, 2)
    aside = math.sqrt((x - s.grip[0, 0]) ** 2 + (y - s.grip[0, 1]) ** 2)
    if holds(s, 1):
        a[fingers] = 1.0
        away = open_width(s, 0) > 0.5 * p.width + 0.008
        back = s.grip[0, 0] - 0.1 if away and s.grip[0, 0] > MIDDLE - 0.25 else s.grip[0, 0]
        arm.steer(s, 0, back, s.grip[0, 1], s.grip[0, 2], a)
    elif holds(s, 0):
        a[fingers] = -1.0
        if s.grip[0, 2] < 0.06:
            arm.steer(s, 0, s.grip[0, 0], s.grip[0, 1], HANDING_HEIGHT, a)
        else:
            arm.steer(s, 0, MIDDLE - 0.5 * p.length + HOLD, 0.0, HANDING_HEIGHT, a)
    elif aside < 0.01 or (aside < 0.02 and open_width(s, 0) < 0.03):
        a[fingers] = -1.0 if s.grip[0, 2] < z + 0.008 or open_width(s, 0) < 0.03 else 1.0
        arm.steer(s, 0, x, y, z, a)
    else:
        a[fingers] = 1.0
        arm.steer(s, 0, x, y, z + min(2.0 * aside, 0.08), a)


@kernel
def receive(p, s, a):
    """The receiver: wait behind the bar, close around its end when it rests, bring it to the goal when it is free."""
    fingers = a.size - 1
    x, y, z = handle(p, s, 1, 0), handle(p, s, 1, 1), handle(p, s, 1, 2)
    sideways = math.sqrt((y - s.grip[1, 1]) ** 2 + (z - s.grip[1, 2]) ** 2)
    speed = math.sqrt(s.bar_velocity[0] ** 2 + s.bar_velocity[1] ** 2 + s.bar_velocity[2] ** 2)
    if holds(s, 1):
        a[fingers] = -1.0
        if open_width(s, 0) > 0.5 * p.width + 0.008:
            to_x, to_y, to_z = s.goal[0] - s.bar[0], s.goal[1] - s.bar[1], s.goal[2] - s.bar[2]
            arm.steer(s, 1, s.grip[1, 0] + to_x, s.grip[1, 1] + to_y, s.grip[1, 2] + to_z, a)
    elif holds(s, 0) and s.bar[2] > HANDING_HEIGHT - 0.05 and abs(s.bar[0] - MIDDLE) < 0.03:
        if sideways < 0.012 and speed < 0.1:
            a[fingers] = -1.0 if abs(x - s.grip[1, 0]) < 0.01 else 1.0
            arm.steer(s, 1, x, y, z, a)
        else:
            a[fingers] = 1.0
            arm.steer(s, 1, x + 0.06, y, z, a)
    else:
        a[fingers] = 1.0
        arm.steer(s, 1, MIDDLE + 0.5 * p.length + 0.08, 0.0, HANDING_HEIGHT, a)


@SPEC.expert
def expert(p, s, a):
    give(p, s, a[0])
    receive(p, s, a[1])


@SPEC.draw
def draw(canvas, p, s):
    legend = [("green", "goal", "ring"), ("orange", "bar", "disc")]
    told = f"bar {apart(s.bar, s.goal)} from the goal"
    draw_ways(canvas, [Way(s.bar, s.goal, p.threshold)], legend, told, view=VIEW)


SPEC.keys(arm.keys)
