"""Open a drawer by its handle, or close it, with a robot arm.

## Description

A cabinet stands on the table; its drawer has a handle, a rod in front of the drawer's face with a gap behind it. The
hand has to reach behind the rod and pull until the handle is at the goal. With `task="close"` the drawer is open at
first and has to be closed. After drawer-open and drawer-close of Meta-World (Yu et al., arXiv 1910.10897), with a Panda
instead of the Sawyer and this package's dimensions; success thresholds and the shape of the reward are theirs.
Different: the target opening is random, and the episode is shorter.

## Action Space

The fingers can stay closed: hooking the handle is enough. The target of the hand is observed only with `target`.

## Observation Space

The arm, how far the drawer is open and how fast the handle moves, the position of the handle when the drawer is closed,
its current position, and its goal.

## Rewards

`reward="sparse"`: -1 until the handle is at the goal. `"dense"`: minus its distance to the goal. `"shaped"`,
Meta-World's: 5 times `hook`, for the hand behind the handle, plus 5 times `pull`, for the handle at the goal. Both
decrease from 1 inside a tolerance t to 0.1 at a distance of t plus the initial distance: 1 / (1 + 9 x^2).

## Costs

None.

## Starting State

The arm is in its neutral pose. The cabinet's position is uniform in a rectangle, 4 cm deep and `place_width` wide, its
rotation uniform up to `turn` to either side. The drawer is closed and the target opening uniform between
`least_opening` and `most_opening`; with `task="close"` it is open by that much, and the goal is to close it.

## Episode End

After 50 steps (2 s), or, with `ends_at_success`, when the handle is within the threshold of the goal.

## Parameters

`friction` is dry: the drawer moves only if it is pulled harder than that. The mass of the handle's rod follows from its
length. With `task="close"` the threshold is 0.065 m by default.

## Reference Scores

Mean return over seeds 0 to 99.

## Version History

v0: first version.
"""

import math
from typing import Any

from rlenvs.core import block, choice, f4, f8, kernel, maths, param, term, uniform
from rlenvs.core.declare.errors import ParameterError
from rlenvs.kits.engines.mujoco_parts import add_camera, add_goal, add_sensor
from rlenvs.kits.engines.overlays import View, Way, apart, draw_ways
from rlenvs.robotics.manipulation import arm, panda

FARTHEST = 2.0  # m
FRONT, PLACE_DEPTH = 0.12, 0.04  # m, along x: where the cabinet's front is on average, and how much that varies
DEPTH, WIDTH, HEIGHT, BOARD = 0.3, 0.3, 0.15, 0.01  # m, of the cabinet; half the thickness of its boards
TRAVEL = 0.25  # m
FACE, HANDLE_HEIGHT, ROD = 0.015, 0.1, 0.008  # m: thickness of the drawer's face, height and radius of the rod
HOOK_TOLERANCE, PULL_TOLERANCE = 0.01, 0.02  # m, Meta-World's
ALOFT = 0.18  # m, height of the grip at which closed fingers pass over the drawer
SLIDE = panda.ARM_QPOS  # where the drawer's joint lies in qpos
# the cabinet stands still and its drawer runs on rails: they need to touch arms only
TOUCHES_ARMS = {"contype": 4, "conaffinity": 2}
BLUE, PALE, DARK = (0.0, 0.45, 0.70, 1.0), (0.55, 0.72, 0.84, 1.0), (0.90, 0.62, 0.0, 1.0)
VIEW = View((-0.6, -0.95, 0.65), (-0.1, 0.0, 0.15), 45.0)

TASK = choice(*("open", "close"), doc="what to do with the drawer", sets={"open": {}, "close": {"threshold": 0.065}})
(CLOSE,) = TASK.codes("close")

SPEC = arm.task(
    "PandaDrawer-v0",
    doc=__doc__,
    source="Meta-World drawer-open and drawer-close (Yu et al., arXiv 1910.10897)",
    params={
        "drawer_mass": param(1.0, 0.3, 4.0, "kg", "of the drawer without the handle"),
        "friction": param(5.0, 0.0, 30.0, "N", "dry friction of the drawer"),
        "drawer_damping": param(5.0, 0.0, 30.0, "N s/m", "of the drawer"),
        "handle_length": param(0.1, 0.05, 0.2, "m", "of the rod"),
        "handle_gap": param(0.05, 0.03, 0.07, "m", "between the rod and the face of the drawer"),
        "place_width": param(0.2, 0.0, 0.3, "m", "width of the area of cabinet positions"),
        "turn": param(0.0, 0.0, 0.3, "rad", "largest rotation of the cabinet"),
        "least_opening": param(0.1, 0.04, 0.2, "m", "smallest target opening; with `close`, at the start"),
        "most_opening": param(0.2, 0.1, 0.25, "m", "largest target opening; with `close`, at the start"),
        "threshold": param(0.03, 0.005, 0.09, "m", "distance at which the goal counts as reached"),
    },
    options={
        "task": TASK,
        "reward": choice(
            *("sparse", "dense", "shaped"),
            doc="-1 until the goal is reached, the negative distance to it, or Meta-World's terms",
            sets={
                "sparse": {},
                "dense": {"reached": 0.0, "distance": 1.0},
                "shaped": {"reached": 0.0, "hook": 5.0, "pull": 5.0},
            },
        ),
        "ends_at_success": arm.ENDS,
    },
    state={
        **arm.state(),
        "handle": f8(3),  # m
        "handle_velocity": f8(3),  # m/s
        "heading": f8,  # rad, of the way into the cabinet
        "shut": f8(2),  # m, where the handle is when the drawer is shut
        "first_hook": f8,  # m, weighted distance from the hand to the hook at the start
        "first_pull": f8,  # m, from the handle to the goal at the start
        "achieved": f4(3),
        "desired": f4(3),
    },
    observation={
        **arm.ARM_BLOCKS,
        "opening": block(low=0.0, high=TRAVEL, unit="m", doc="how far the drawer is open"),
        "handle_velocity": block(2, low=-2.0, high=2.0, unit="m/s", doc="of the handle, along x and y", constant=True),
        "shut": block(2, low=-0.5, high=0.5, unit="m", doc="x and y of the handle when the drawer is closed"),
        "achieved": block(3, low=-2.0, high=2.0, unit="m", doc="position of the handle", raw=True, constant=True),
        "desired": block(3, low=-2.0, high=2.0, unit="m", doc="goal of the handle", raw=True, constant=True),
    },
    goal=("achieved", "desired"),
    terms={
        **arm.goal_terms(FARTHEST),
        "hook": term(0.0, 1.0, 0.0, "closeness of the hand to the middle of the gap, with x and y weighted by 3"),
        "pull": term(0.0, 1.0, 0.0, "closeness of the handle to the goal"),
    },
    horizon=50,
    levels={
        "easy": {"friction": 2.0, "handle_length": 0.14, "handle_gap": 0.06, "most_opening": 0.15},
        "medium": {},
        "hard": {"friction": 20.0, "handle_length": 0.06, "handle_gap": 0.04, "most_opening": 0.23, "turn": 0.2},
    },
)


@SPEC.model
def model(values):
    if values.least_opening > values.most_opening:
        raise ParameterError(
            f"least_opening={values.least_opening:g} is above most_opening={values.most_opening:g}; lower the first or "
            "raise the second"
        )
    if values.least_opening <= values.threshold:
        raise ParameterError(
            f"the drawer could be at its goal at the start: least_opening={values.least_opening:g} has to be above "
            f"threshold={values.threshold:g}; raise it or lower the threshold"
        )
    spec = panda.scene(values)
    cabinet = spec.worldbody.add_body(name="cabinet", mocap=True)
    add_box(cabinet, (0.0, DEPTH), (-0.5 * WIDTH, 0.5 * WIDTH), (HEIGHT - 2.0 * BOARD, HEIGHT), PALE)
    for side in (-1.0, 1.0):
        y = 0.5 * side * WIDTH
        add_box(cabinet, (0.0, DEPTH), (y, y - 2.0 * side * BOARD), (0.0, HEIGHT - 2.0 * BOARD), PALE)
    add_drawer(cabinet, values)
    add_goal(spec, "goal", values.threshold)
    spec.delete(spec.camera("overview"))
    add_camera(spec, "overview", *VIEW)
    add_sensor(spec, "handle", "FRAMEPOS", "handle", "SITE")
    add_sensor(spec, "handle_velocity", "FRAMELINVEL", "handle", "SITE")
    return spec


def add_box(body, xs, ys, zs, color, mass=0.0):
    """A box with these edges, m, in the body's axes."""
    import mujoco

    place, size = zip(*((0.5 * (a + b), 0.5 * abs(a - b)) for a, b in (xs, ys, zs)), strict=True)
    box = body.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, pos=place, size=size, rgba=color, **TOUCHES_ARMS)
    box.mass = mass


def add_drawer(cabinet, values):
    """The drawer, on a slide, with the face and the handle towards the arm, which is where -x points."""
    import mujoco

    drawer = cabinet.add_body(name="drawer")
    slide: dict[str, Any] = {"type": mujoco.mjtJoint.mjJNT_SLIDE, "axis": (-1.0, 0.0, 0.0), "range": (0.0, TRAVEL)}
    slide["solimp_friction"] = (0.999, 0.999, 0.001, 0.5, 2.0)  # the usual ones let it creep under smaller forces
    drawer.add_joint(name="drawer", **slide, frictionloss=values.friction, damping=values.drawer_damping)
    inside = 0.5 * WIDTH - 2.0 * BOARD
    add_box(drawer, (-FACE, 0.0), (-0.5 * WIDTH, 0.5 * WIDTH), (0.01, HEIGHT - 0.01), BLUE, values.drawer_mass)
    add_box(drawer, (0.0, DEPTH), (-inside, inside), (0.01, 0.02), PALE)
    for side in (-1.0, 1.0):
        add_box(drawer, (0.0, DEPTH), (side * inside, side * (inside - BOARD)), (0.02, HEIGHT - 0.04), PALE)
    x, half = handle_offset(values), 0.5 * values.handle_length
    rod = drawer.add_geom(type=mujoco.mjtGeom.mjGEOM_CAPSULE, size=(ROD, 0.0, 0.0), density=2700.0, **TOUCHES_ARMS)
    rod.fromto, rod.rgba = (x, -half, HANDLE_HEIGHT, x, half, HANDLE_HEIGHT), DARK
    for side in (-1.0, 1.0):
        z = (HANDLE_HEIGHT - ROD, HANDLE_HEIGHT + ROD)
        add_box(drawer, (x, -FACE), (side * half, side * (half + 2.0 * ROD)), z, DARK)
    drawer.add_site(name="handle", pos=(x, 0.0, HANDLE_HEIGHT), rgba=panda.HIDDEN)


@kernel
def handle_offset(p):
    """Where the rod is along the way into the cabinet, from the cabinet's front, m."""
    return -(FACE + p.handle_gap + ROD)


@SPEC.reset
def reset(p, s, rng):
    arm.pose(p, s, 0)
    s.heading = uniform(rng, -p.turn, p.turn)
    x = FRONT + uniform(rng, -0.5 * PLACE_DEPTH, 0.5 * PLACE_DEPTH)
    y = uniform(rng, -0.5 * p.place_width, 0.5 * p.place_width)
    s.mocap_pos[1, 0], s.mocap_pos[1, 1], s.mocap_pos[1, 2] = x, y, 0.0
    s.mocap_quat[1, 0], s.mocap_quat[1, 3] = maths.cos(0.5 * s.heading), maths.sin(0.5 * s.heading)
    s.shut[0] = x + handle_offset(p) * maths.cos(s.heading)
    s.shut[1] = y + handle_offset(p) * maths.sin(s.heading)
    opening = s.first_pull = uniform(rng, p.least_opening, p.most_opening)
    if p.task == CLOSE:
        s.qpos[SLIDE] = opening
        opening = 0.0
    s.desired[0] = s.shut[0] - opening * maths.cos(s.heading)
    s.desired[1] = s.shut[1] - opening * maths.sin(s.heading)
    s.desired[2] = HANDLE_HEIGHT
    for j in range(3):
        s.mocap_pos[2, j] = s.desired[j]


@SPEC.after_reset
def after_reset(p, s, rng):
    arm.start(s, 0)
    for j in range(3):
        s.achieved[j] = s.handle[j]
    s.first_hook = to_hook(p, s)


@SPEC.act
def act(p, s, a, rng):
    arm.drive(p, s, a, 0)


@kernel
def to_hook(p, s):
    """Distance from the hand to the middle of the gap behind the rod, m, with x and y counted three times."""
    behind = ROD + 0.5 * p.handle_gap
    x = s.handle[0] + behind * maths.cos(s.heading) - s.grip[0, 0]
    y = s.handle[1] + behind * maths.sin(s.heading) - s.grip[0, 1]
    z = s.handle[2] - s.grip[0, 2]
    return math.sqrt(9.0 * x * x + 9.0 * y * y + z * z)


@kernel
def closeness(distance, tolerance, margin):
    """1 up to the tolerance, 0.1 at a margin behind it; Meta-World's long tail."""
    x = max(distance - tolerance, 0.0) / margin
    return 1.0 / (1.0 + 9.0 * x * x)


@SPEC.goal_outcome
def goal_outcome(p, achieved, desired, r):
    arm.goal_outcome(p, achieved, desired, FARTHEST, r)


@SPEC.outcome
def outcome(p, s, a, rng, r):
    for j in range(3):
        s.achieved[j] = s.handle[j]
    goal_outcome(p, s.achieved, s.desired, r)
    r.hook = closeness(to_hook(p, s), HOOK_TOLERANCE, s.first_hook)
    r.pull = closeness(arm.distance(s.achieved, s.desired), PULL_TOLERANCE, s.first_pull)


@SPEC.observe
def observe(p, s, o):
    arm.observe_arm(p, s, 0, o)
    o.opening = s.qpos[SLIDE]
    for j in range(2):
        o.handle_velocity[j] = s.handle_velocity[j]
        o.shut[j] = s.shut[j]
    for j in range(3):
        o.achieved[j] = s.achieved[j]
        o.desired[j] = s.desired[j]


@SPEC.expert
def expert(p, s, a):
    """Close the fingers, go over the rod, down behind it, and move the drawer with them."""
    if p.fingers:
        a[a.size - 1] = -1.0
    forward, sideways = maths.cos(s.heading), maths.sin(s.heading)
    behind = ROD + 0.5 * p.handle_gap
    x, y = s.handle[0] + behind * forward, s.handle[1] + behind * sideways
    off_x, off_y = s.grip[0, 0] - x, s.grip[0, 1] - y
    along, across = off_x * forward + off_y * sideways, off_y * forward - off_x * sideways
    inside = abs(along) < 0.5 * p.handle_gap and abs(across) < 0.5 * p.handle_length
    if inside and s.grip[0, 2] < HANDLE_HEIGHT + 0.01:
        pull_x, pull_y = s.desired[0] - s.handle[0], s.desired[1] - s.handle[1]
        arm.steer(s, 0, s.grip[0, 0] + pull_x, s.grip[0, 1] + pull_y, HANDLE_HEIGHT, a)
    elif abs(along) < 0.1 * p.handle_gap and abs(across) < 0.02:
        arm.steer(s, 0, x, y, HANDLE_HEIGHT, a)
    else:
        arm.steer(s, 0, x, y, ALOFT, a)


@SPEC.draw
def draw(canvas, p, s):
    legend = [("green", "goal of the handle", "ring"), ("orange", "handle", "disc")]
    told = f"handle {apart(s.handle, s.desired)} from its goal"
    draw_ways(canvas, [Way(s.handle, s.desired, p.threshold)], legend, told, view=VIEW)
