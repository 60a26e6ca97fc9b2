"""Insert a peg into a hole with a robot arm, keeping contact forces low.

## Description

The peg insertion of SERL (Luo et al., arXiv 2401.16013, there with a real Franka arm), on MuJoCo: a square peg, fixed
in the hand, has to reach the bottom of a square hole in a board. The controller, its gains and the limits of its spring
extensions are the published ones: the hand can push with at most `stiffness` times `reach`, 20 N, along the fingers and
6 N across them. Different from the original: 25 control steps per second instead of 10, with proportionally smaller
steps; an episode lasts 4 s, not 10 (`horizon=250` gives 10 s); the board is at a random position in each episode;
states are observed, with images as an option; the clearance between peg and hole and the costs are ours.

## Action Space

The target of the hand moves by up to 8 mm and turns by up to 0.04 rad about the axes of the world, but never farther
from the hand than the limits of the springs. It stays in a box around the hole, as wide as the square of starts, from 1
cm below the bottom of the hole to 1 cm above the start, and tilts by up to `tilt`. It is not observed.

## Observation Space

The peg's tip, the contact force and the torque at the wrist, the position of the hole relative to the tip, and last the
goals: position and attitude (quaternion w, x, y, z with x >= 0) of the tip now, and when inserted.

## Rewards

`sparse`: -1 in every step that does not end in success. `dense`: the negative distance to the goal, and a tenth of
the negative angle to it. Success means that at the end of the step all three coordinates are within the threshold, and
all three components of the rotation vector within `turn_threshold`.

## Costs

`force` is the excess of the contact force of hand and peg over `force_limit`, measured in the last physics step of the
control step.

## Starting State

The hole is uniform in a square around the middle of the table, with uniform rotation. The peg starts `start_height`
above the bottom of the hole, offset by up to half of `start_width` along x and y, and rotated by up to `start_turn`
relative to the hole.

## Episode End

After 100 steps (4 s), or, with `ends_at_success`, at success.

## Parameters

Parameters are refused when the hole is not deeper than 1.5 thresholds (a peg standing on the board would count as
inserted), or when the peg starts less than 1 cm above the board.

## Reference Scores

Mean return over seeds 0 to 99.

## Version History

v0: first version.
"""

import math
from dataclasses import replace
from types import SimpleNamespace

from rlenvs.core import block, choice, continuous, cost, f4, f8, kernel, maths, param, term, uniform, world
from rlenvs.core.declare.errors import ParameterError
from rlenvs.kits.engines.cameras import CAMERA, IMAGES
from rlenvs.kits.engines.mujoco import ENGINE, STATE
from rlenvs.kits.engines.mujoco_parts import add_camera, add_sensor
from rlenvs.kits.engines.overlays import View, Way, draw_ways
from rlenvs.robotics.manipulation import arm, panda, rotations

STEP, TURN = 0.008, 0.04  # m and rad per control step at full action: SERL's 0.02 m and 0.1 rad at 10 Hz
OUT, INSIDE = 0.05, 0.02  # m, of the peg below and above the grip
PEG_MASS = 0.05  # kg; carried by the arm like the hand
BOARD = 0.06  # m, half its width
MARGIN = 0.01  # m, of the target's box below and above
FARTHEST, STRONGEST, STRONGEST_TURN = 2.0, 1000.0, 20.0  # m, N, N m: bounds of what is reported
# of the arm, in this task: it measures forces, and its fingers do nothing
FIXED = {name: option.default for name, option in arm.OPTIONS.items()}
FIXED |= {"touch": True, "finger_friction": 1.0, "grip_force": 40.0}

# the expert's
ALIGNED = 0.0015  # m, close enough to go down to the board
STRAIGHT = 0.3  # the same for the turn, times clearance by side in rad
OVER, EDGE = 0.005, 0.001  # m, from the board, where the peg is aligned, and where it stands on the edge of the hole
PRESS = 0.002  # m, how far ahead of the hand the target goes down; times the stiffness it is the force
GAIN = 0.3  # of what the peg misses, per step
SPIRAL, ROUND, TURNS = 0.001, 24, 0.8  # m, radius of the search; steps of it; rad per step


def with_fixed(values):
    """The values with those that the other tasks of the arm have."""
    return SimpleNamespace(**{**vars(values), **FIXED})


SHARED = {name: arm.PARAMS[name] for name in arm.PARAMS if name not in FIXED}
VIEW = View((0.34, -0.36, 0.26), (-0.02, 0.0, 0.09), 45.0)

SPEC = world(
    "PandaPegInsertion-v0",
    doc=__doc__,
    source="SERL (Luo et al., arXiv 2401.16013)",
    params={
        **SHARED,
        "reach": replace(arm.PARAMS["reach"], default=0.01, low=0.004, high=0.02),
        "side_reach": param(0.003, 0.001, 0.02, "m", "`reach` across the fingers"),
        "turn_reach": replace(arm.PARAMS["turn_reach"], default=0.02, low=0.01, high=0.1),
        "tilt": param(0.01, 0.0, 0.1, "rad", "largest tilt of the target"),
        "side": param(0.02, 0.01, 0.03, "m", "of the peg"),
        "clearance": param(0.001, 0.0003, 0.005, "m", "clearance between hole and peg"),
        "depth": param(0.03, 0.015, 0.035, "m", "of the hole"),
        "friction": param(0.3, 0.0, 1.0, "", "sliding friction between peg and board"),
        "threshold": param(0.01, 0.002, 0.015, "m", "largest error of each coordinate at success"),
        "turn_threshold": param(
            0.2, 0.02, 0.3, "rad", "largest error of each component of the rotation at success", limit=True
        ),
        "start_width": param(0.1, 0.0, 0.12, "m", "side of the square in which the peg starts"),
        "start_height": param(0.1, 0.04, 0.15, "m", "of the tip above the bottom of the hole at the start"),
        "start_turn": param(
            math.pi / 6.0, 0.0, 0.8, "rad", "largest rotation of the peg relative to the hole at the start"
        ),
        "hole_width": param(0.1, 0.0, 0.2, "m", "side of the square of holes"),
        "hole_turn": param(math.pi / 6.0, 0.0, 0.8, "rad", "largest rotation of the board"),
        "force_limit": param(10.0, 1.0, 50.0, "N", "contact force above which there are costs"),
    },
    options={
        **CAMERA,
        "reward": choice(
            *("sparse", "dense"),
            doc="-1 until the peg is inserted, or the negative distance and angle to the inserted pose",
            sets={
                "sparse": {"reached": 1.0, "distance": 0.0, "angle": 0.0},
                "dense": {"reached": 0.0, "distance": 1.0, "angle": 0.1},
            },
        ),
        "ends_at_success": arm.ENDS,
    },
    state={
        **STATE,
        "grip": f8(1, 3),
        "force": f8(1, 3),
        "torque": f8(3),
        "tip": f8(3),
        "tip_attitude": f8(4),
        "tip_velocity": f8(3),
        "tip_spin": f8(3),
        "achieved": f4(7),
        "desired": f4(7),
    },
    observation={
        "force": block(3, low=-50.0, high=50.0, unit="N", doc="that hand and peg exert, world axes"),
        "torque": block(3, low=-5.0, high=5.0, unit="N m", doc="at the wrist, hand's axes"),
        "tip_velocity": block(3, low=-0.5, high=0.5, unit="m/s", doc="of the tip"),
        "tip_spin": block(3, low=-1.0, high=1.0, unit="rad/s", doc="angular velocity of the peg"),
        "offset": block(3, low=-0.15, high=0.15, unit="m", doc="from the tip to its position in the hole"),
        "turn": block(3, low=-1.0, high=1.0, unit="rad", doc="rotation vector from the peg to the hole"),
        "achieved": block(7, low=-2.0, high=2.0, doc="position [m] and attitude of the tip", raw=True),
        "desired": block(7, low=-2.0, high=2.0, doc="the same in the hole", raw=True, constant=True),
    },
    images=IMAGES,
    goal=("achieved", "desired"),
    action=continuous("dx", "dy", "dz", "rx", "ry", "rz", doc=f"up to {STEP} m per axis; up to {TURN} rad"),
    terms={
        "reached": term(-1.0, 0.0, doc="-1 while the peg is not inserted"),
        "distance": term(-FARTHEST, 0.0, weight=0.0, doc="negative distance of the tip to its position in the hole, m"),
        "angle": term(-math.pi, 0.0, weight=0.0, doc="negative angle between peg and hole, rad"),
    },
    costs={"force": cost(10.0, STRONGEST, "contact force above the limit, N")},
    horizon=100,
    fps=arm.FPS,
    sizes=lambda values: arm.sizes(with_fixed(values)),
    engine=ENGINE,
    expert_sees="state",  # the targets of the hands
    levels={"easy": {"clearance": 0.002}, "medium": {}, "hard": {"clearance": 0.0005}},
    # a peg gets deep before it is straight where the hole is wide and the hand turns slowly
    probe={
        "turn_threshold": {
            "clearance": 0.005,
            "depth": 0.015,
            "start_turn": 0.15,
            "turn_reach": 0.01,
            "turn_damping": 15.0,
        },
    },
)


@SPEC.model
def model(values):
    if values.depth < 1.5 * values.threshold:
        raise ParameterError(
            f"a peg standing on the board would count as inserted: depth={values.depth:g} is less than 1.5 thresholds, "
            f"threshold={values.threshold:g}; make the hole deeper or lower the threshold"
        )
    if values.start_height < values.depth + 0.01:
        raise ParameterError(
            f"the peg would start inside the board: start_height={values.start_height:g} must be at least "
            f"depth={values.depth:g} plus 0.01 m; raise the start or reduce the depth"
        )
    spec = panda.scene(with_fixed(values), side_reach=values.side_reach)
    add_peg(spec, values)
    add_board(spec, values)
    spec.delete(spec.camera("overview"))
    add_camera(spec, "overview", *VIEW)
    return spec


def add_peg(spec, values):
    """A peg fixed in the hand, and its readings. It collides with what the arm collides with, not with the fingers."""
    import mujoco

    grip = spec.site("grip/0").pos[2]
    peg = spec.body("hand/0").add_body(name="peg", pos=(0.0, 0.0, grip), gravcomp=1.0)
    half, length = 0.5 * values.side, 0.5 * (OUT + INSIDE)
    shape = peg.add_geom(name="peg", type=mujoco.mjtGeom.mjGEOM_BOX, mass=PEG_MASS, **contact(values), **panda.ARM_BITS)
    shape.size, shape.pos, shape.rgba = (half, half, length), (0.0, 0.0, OUT - length), (0.84, 0.37, 0.0, 1.0)
    peg.add_site(name="wrist", rgba=panda.HIDDEN)
    peg.add_site(name="tip", pos=(0.0, 0.0, OUT), rgba=panda.HIDDEN)
    add_sensor(spec, "torque", "TORQUE", "wrist", "SITE")
    for suffix, kind in (("", "POS"), ("_attitude", "QUAT"), ("_velocity", "LINVEL"), ("_spin", "ANGVEL")):
        add_sensor(spec, f"tip{suffix}", f"FRAME{kind}", "tip", "SITE")


def add_board(spec, values):
    """A board on the table with a square hole: four boxes on a mocap body, which `reset` puts where the hole is."""
    import mujoco

    board = spec.worldbody.add_body(name="board", mocap=True)
    hole, height = 0.5 * (values.side + values.clearance), 0.5 * values.depth
    wall = 0.5 * (BOARD - hole)
    for along in (-1.0, 1.0):
        for place, size in (
            ((along * (hole + wall), 0.0, height), (wall, BOARD, height)),
            ((0.0, along * (hole + wall), height), (hole, wall, height)),
        ):
            box = board.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, pos=place, size=size, **contact(values))
            box.contype, box.conaffinity = panda.WORLD_BITS["contype"], panda.WORLD_BITS["conaffinity"]
            box.rgba = (0.34, 0.71, 0.91, 1.0)
    goal = (0.0, 0.62, 0.45, 0.5)
    board.add_site(
        type=mujoco.mjtGeom.mjGEOM_BOX, pos=(0.0, 0.0, height), size=(hole, hole, height + 0.0005), rgba=goal
    )


def contact(values):
    """How peg and board touch: hard, as far as the time step allows."""
    return {"friction": (values.friction, 0.005, 0.0001), "solref": (0.008, 1.0), "condim": 3}


@SPEC.reset
def reset(p, s, rng):
    for j in range(2):
        s.desired[j] = uniform(rng, -0.5 * p.hole_width, 0.5 * p.hole_width)
    turn = uniform(rng, -p.hole_turn, p.hole_turn)
    s.mocap_quat[1, 0], s.mocap_quat[1, 3] = maths.cos(0.5 * turn), maths.sin(0.5 * turn)
    for j in range(3):
        s.mocap_pos[1, j] = s.desired[j]
    write_attitude(rotations.turned(turn, 0.0, 0.0), s.desired)
    x = s.desired[0] + uniform(rng, -0.5 * p.start_width, 0.5 * p.start_width)
    y = s.desired[1] + uniform(rng, -0.5 * p.start_width, 0.5 * p.start_width)
    hold(p, s, x, y, p.start_height + OUT, turn + uniform(rng, -p.start_turn, p.start_turn))


@kernel
def hold(p, s, x, y, z, turn):
    """The arm with its grip at (x, y, z), fingers down, turned about the vertical, and the peg between the fingers."""
    s.qpos[0] = maths.atan2(y - panda.BASE[1], x - panda.BASE[0])
    s.qpos[1], s.qpos[3] = arm.bends(x, y, z)
    s.qpos[2] = s.qpos[4] = 0.0
    s.qpos[5] = s.qpos[1] - s.qpos[3]
    s.qpos[6] = 0.25 * math.pi + s.qpos[0] - turn
    s.qpos[7] = s.qpos[8] = 0.5 * p.side
    attitude = rotations.turned(turn, 0.0, 0.0)
    for j in range(4):
        s.mocap_quat[0, j] = attitude[j]


@kernel
def write_attitude(q, goal):
    """Into the last numbers of a goal, with x >= 0."""
    sign = 1.0 if q[1] >= 0.0 else -1.0
    for j in range(4):
        goal[3 + j] = sign * q[j]


@SPEC.after_reset
def after_reset(p, s, rng):
    arm.start(s, 0)
    achieve(s)


@kernel
def achieve(s):
    for j in range(3):
        s.achieved[j] = s.tip[j]
    write_attitude(s.tip_attitude, s.achieved)


@SPEC.act
def act(p, s, a, rng):
    for j in range(3):
        reach = p.reach if j == 2 else p.side_reach
        wanted = s.mocap_pos[0, j] + STEP * a[j]
        wanted = min(max(wanted, s.grip[0, j] - reach), s.grip[0, j] + reach)
        low, high = s.desired[j] - 0.5 * p.start_width - MARGIN, s.desired[j] + 0.5 * p.start_width + MARGIN
        if j == 2:
            low, high = OUT - MARGIN, OUT + p.start_height + MARGIN
        s.mocap_pos[0, j] = min(max(wanted, low), high)
    turn_target(p, s, a)


@kernel
def turn_target(p, s, a):
    """The target turns ahead of the hand, but not farther than the spring answers, and hardly tilts."""
    turn = rotations.rotation(TURN * a[3], TURN * a[4], TURN * a[5])
    twist, x, y = rotations.twist_and_tilt(rotations.product(turn, s.mocap_quat[0]))
    ahead = rotations.wrapped(twist - rotations.twist_and_tilt(s.tip_attitude)[0])
    twist += min(max(ahead, -p.turn_reach), p.turn_reach) - ahead
    scale = min(p.tilt / max(math.sqrt(x * x + y * y), 1e-9), 1.0)
    target = rotations.turned(twist, scale * x, scale * y)
    for j in range(4):
        s.mocap_quat[0, j] = target[j]


@SPEC.goal_outcome
def goal_outcome(p, achieved, desired, r):
    rest = rotations.vector(rotations.product(desired[3:7], rotations.inverse(achieved[3:7])))
    near = True
    for j in range(3):
        near = near and abs(desired[j] - achieved[j]) <= p.threshold and abs(rest[j]) <= p.turn_threshold
    r.success = near
    r.reached = 0.0 if near else -1.0
    r.distance = -min(arm.distance(achieved, desired), FARTHEST)
    r.angle = -min(math.sqrt(rest[0] ** 2 + rest[1] ** 2 + rest[2] ** 2), math.pi)
    r.terminated = p.ends_at_success == 1 and near


@SPEC.outcome
def outcome(p, s, a, rng, r):
    achieve(s)
    goal_outcome(p, s.achieved, s.desired, r)
    r.force = min(max(strength(s) - p.force_limit, 0.0), STRONGEST)


@kernel
def strength(s):
    """The contact force of hand and peg, N."""
    return math.sqrt(s.force[0, 0] ** 2 + s.force[0, 1] ** 2 + s.force[0, 2] ** 2)


@SPEC.observe
def observe(p, s, o):
    rest = rotations.vector(rotations.product(s.desired[3:7], rotations.inverse(s.tip_attitude)))
    for j in range(3):
        o.force[j] = s.force[0, j]
        o.torque[j] = s.torque[j]
        o.tip_velocity[j] = s.tip_velocity[j]
        o.tip_spin[j] = s.tip_spin[j]
        o.offset[j] = s.desired[j] - s.tip[j]
        o.turn[j] = rest[j]
    for j in range(7):
        o.achieved[j] = s.achieved[j]
        o.desired[j] = s.desired[j]


@SPEC.keys
def keys(pressed, values):
    """Arrows move the hand over the table, w and s up and down, a and d turn it."""
    along, across = ("up" in pressed) - ("down" in pressed), ("left" in pressed) - ("right" in pressed)
    up, turn = ("w" in pressed) - ("s" in pressed), ("a" in pressed) - ("d" in pressed)
    return [0.4 * along, 0.4 * across, 0.4 * up, 0.0, 0.0, 0.4 * turn]


# --- expert -----------------------------------------------------------------------------------------------------------


@SPEC.expert
def expert(p, s, a):
    """Align the peg over the hole, lower it, search along a spiral where it stands on the edge, and push it in."""
    x, y = s.desired[0] - s.tip[0], s.desired[1] - s.tip[1]
    rest = rotations.vector(rotations.product(s.desired[3:7], rotations.inverse(s.tip_attitude)))
    over = s.tip[2] - p.depth  # of the tip above the board
    aside, down = math.sqrt(x * x + y * y), -PRESS
    if over > -EDGE and (aside > ALIGNED or abs(rest[2]) > STRAIGHT * p.clearance / p.side):
        down = min(max(0.5 * (OVER - over), -p.reach), p.reach)
    if abs(over) < EDGE and aside < ALIGNED:
        radius = SPIRAL * (s.elapsed % ROUND) / ROUND
        x += radius * maths.cos(TURNS * s.elapsed)
        y += radius * maths.sin(TURNS * s.elapsed)
    # the target is led by what the peg still misses, so that no error stays
    a[0] = min(max(GAIN * x / STEP, -1.0), 1.0)
    a[1] = min(max(GAIN * y / STEP, -1.0), 1.0)
    a[2] = min(max((s.grip[0, 2] + down - s.mocap_pos[0, 2]) / STEP, -1.0), 1.0)
    for j in range(3):
        a[3 + j] = min(max(GAIN * rest[j] / TURN, -1.0), 1.0)


@SPEC.draw
def draw(canvas, p, s):
    legend = [("red", "peg"), ("sky", "board"), ("green", "mouth of the hole", "ring")]
    mouth = s.desired[:3] + (0.0, 0.0, p.depth)
    told = f"tip {1000.0 * arm.distance(s.tip, s.desired):.1f} mm from its goal, force {strength(s):.0f} N"
    draw_ways(canvas, [Way(s.tip, mouth, p.threshold, "red")], legend, told, view=VIEW)
