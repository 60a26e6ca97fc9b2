"""The Franka Emika Panda with its gripper on a table, built for MuJoCo in code.

Kinematics, joint ranges and torque limits are the manufacturer's; masses and inertias are those that Gaz et al.
identified ("Dynamic identification of the Franka Emika Panda robot with retrieval of feasible parameters", RA-L 2019).
The shapes are capsules and boxes along the links. As on the real arm, gravity is compensated.

The arm stands at (-0.6, 0, 0) m and looks along x; the table's surface is z = 0. Its end effector, the site `grip`,
is between the finger tips.

The hand is driven by Cartesian impedance control, with MuJoCo actuators, at every physics step: a spring with clipped
extension pulls it to the mocap body `target`, a damper brakes it,

    F = stiffness * clip(target - grip, -reach, reach) - damping * velocity,   torque = J^T F.

Clipping bounds the force of a contact (SERL, Luo et al., arXiv 2401.16013). In joint control each joint has a servo.
"""

from __future__ import annotations

import math
from typing import Any

from rlenvs.kits.engines.mujoco_parts import add_camera, add_contact_sensor, add_sensor
from rlenvs.kits.engines.overlays import View

PHYSICS_HZ = 200
CONTROL_HZ = 25  # as panda-gym's: 20 steps at 500 Hz

BASE = (-0.6, 0.0, 0.0)
SECOND_BASE = (0.9, 0.0, 0.0)  # of the arm that stands opposite; what both reach lies around x = 0.15
NEUTRAL = (0.0, 0.41, 0.0, -1.85, 0.0, 2.26, 0.79)  # rad, panda-gym's
LOW_NEUTRAL = (0.0, 0.681331, 0.0, -1.845419, 0.0, 2.52675, 0.785398)  # the hand near the table, as Fetch's
LOW_GRIP = (0.04, 0.0, 0.05)  # m, where that puts the grip
NEUTRAL_GRIP = (0.03843966, 0.0, 0.19900014)  # m, where that puts the grip
DOWN = (0.0, 1.0, 0.0, 0.0)  # w, x, y, z: fingers down
SECOND_DOWN = (0.0, 0.0, 1.0, 0.0)  # the same, of the arm that stands opposite
FINGER_OPEN = 0.04  # m, per finger
FINGER_SPEED = 0.2  # m/s, per finger
FINGER_REACH = 0.01  # m from its target a finger presses with its full force
OVERVIEW = View((0.56, -0.60, 0.58), (-0.11, 0.0, 0.20), 48.0)  # all of the arm, and the table in front of it
TABLE = (-0.7, 0.4)  # m, along x
JOINTS = 7
FINGERS = 2
ARM_QPOS = JOINTS + FINGERS
# actuators of an arm: fingers first, then the springs and dampers of the hand, or the servos of the joints
HAND_ACTUATORS, JOINT_ACTUATORS = 13, 8

# position and attitude (w, x, y, z) in the parent, joint range [rad], torque limit [N m], servo stiffness [N m/rad]
ROOT = math.sqrt(0.5)
LINKS = (
    ((0.0, 0.0, 0.333), (1.0, 0.0, 0.0, 0.0), (-2.8973, 2.8973), 87.0, 1200.0),
    ((0.0, 0.0, 0.0), (ROOT, -ROOT, 0.0, 0.0), (-1.7628, 1.7628), 87.0, 1200.0),
    ((0.0, -0.316, 0.0), (ROOT, ROOT, 0.0, 0.0), (-2.8973, 2.8973), 87.0, 1000.0),
    ((0.0825, 0.0, 0.0), (ROOT, ROOT, 0.0, 0.0), (-3.0718, -0.0698), 87.0, 1000.0),
    ((-0.0825, 0.384, 0.0), (ROOT, -ROOT, 0.0, 0.0), (-2.8973, 2.8973), 12.0, 400.0),
    ((0.0, 0.0, 0.0), (ROOT, ROOT, 0.0, 0.0), (-0.0175, 3.7525), 12.0, 400.0),
    ((0.088, 0.0, 0.0), (ROOT, ROOT, 0.0, 0.0), (-2.8973, 2.8973), 12.0, 400.0),
)
RANGES = tuple(link[2] for link in LINKS)
# controls by servos in the joints: how much stiffer these are than in LINKS, and their lag, s
SERVOED = {"joints": (1.0, 0.1), "panda-gym": (10.0, 0.025)}
# mass [kg], centre of mass [m], inertia xx, yy, zz, xy, xz, yz [kg m^2]
INERTIAS = (
    (4.970684, (0.003875, 0.002081, -0.04762), (0.70337, 0.70661, 0.0091170, -0.000139, 0.006772, 0.019169)),
    (0.646926, (-0.003141, -0.02872, 0.003495), (0.007962, 0.02811, 0.025995, -0.003925, 0.010254, 0.000704)),
    (3.228604, (0.027518, 0.039252, -0.066502), (0.037242, 0.036155, 0.01083, -0.004761, -0.011396, -0.012805)),
    (3.587895, (-0.05317, 0.104419, 0.027454), (0.025853, 0.019552, 0.028323, 0.007796, -0.001332, 0.008641)),
    (1.225946, (-0.011953, 0.041065, -0.038437), (0.035549, 0.029474, 0.008627, -0.002117, -0.004037, 0.000229)),
    (1.666555, (0.060149, -0.014117, -0.010517), (0.001964, 0.004354, 0.005433, 0.000109, -0.001158, 0.000341)),
    (0.735522, (0.010517, -0.004252, 0.061597), (0.012516, 0.010027, 0.004815, -0.000428, -0.001196, -0.000741)),
)
# capsules by link: from, to [m], radius [m]
SHAPES = (
    (((0.0, 0.0, -0.19), (0.0, 0.0, -0.02), 0.07), ((0.0, -0.06, 0.0), (0.0, 0.06, 0.0), 0.065)),
    (((0.0, -0.07, 0.0), (0.0, -0.20, 0.0), 0.065),),
    (((0.0, 0.0, -0.13), (0.0, 0.0, -0.05), 0.065), ((0.05, 0.05, 0.0), (0.0825, -0.03, 0.0), 0.06)),
    (((0.0, 0.0, -0.04), (0.0, 0.0, 0.05), 0.06), ((-0.0825, 0.08, 0.0), (-0.0825, 0.14, 0.0), 0.06)),
    (((0.0, 0.03, -0.24), (0.0, 0.06, -0.08), 0.05), ((0.0, 0.0, -0.04), (0.0, 0.03, 0.0), 0.055)),
    (((0.0, 0.0, 0.0), (0.088, 0.0, 0.0), 0.05),),
    (((0.0, 0.0, 0.03), (0.0, 0.0, 0.08), 0.045),),
)
HIDDEN = (0.0, 0.0, 0.0, 0.0)
WHITE, DARK, BLUE = (0.92, 0.93, 0.94, 1.0), (0.22, 0.23, 0.25, 1.0), (0.34, 0.71, 0.91, 1.0)
# who collides with whom: arms with the world and its objects, not with themselves
ARM_BITS = {"contype": 2, "conaffinity": 4}
FIRST_BITS, SECOND_BITS = {"contype": 10, "conaffinity": 4}, {"contype": 2, "conaffinity": 12}  # and with each other
WORLD_BITS = {"contype": 5, "conaffinity": 3}


def scene(values: Any, arms: int = 1, table: tuple[float, float] = TABLE, side_reach: float | None = None) -> Any:
    """A table with light, cameras and one or two arms, as an `MjSpec` to which a task adds its objects.

    Args:
        values: parameters and options of `arm.PARAMS` and `arm.OPTIONS`.
        arms: 1, or 2 that face each other.
        table: where it begins and ends along x, m.
        side_reach: the `reach` across the fingers, m, where it is not that along them.
    """
    import mujoco

    spec = mujoco.MjSpec()
    spec.compiler.degree = False
    spec.option.timestep = 1.0 / PHYSICS_HZ
    spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_ISLAND  # with so few bodies, finding them costs more
    if values.control in SERVOED:  # the servos' damping is too strong for explicit steps, the hand's is not
        spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    spec.option.impratio = 100.0  # stiff friction: what is held does not creep out of the fingers
    _add_surroundings(spec, table)
    for k in range(arms):
        _add_arm(spec, values, k, values.reach if side_reach is None else side_reach)
    _add_sensors(spec, values, arms)
    if arms == 2:
        _let_arms_collide(spec)
    return spec


def _add_surroundings(spec: Any, table: tuple[float, float]) -> None:
    import mujoco

    world, kinds = spec.worldbody, mujoco.mjtGeom
    spec.visual.headlight.ambient = (0.35, 0.35, 0.35)
    spec.visual.headlight.diffuse = (0.35, 0.35, 0.35)
    spec.visual.quality.shadowsize = 2048
    spec.visual.map.znear = 0.02
    sky = spec.add_texture(name="sky", type=mujoco.mjtTexture.mjTEXTURE_SKYBOX, width=64, height=64)
    sky.builtin, sky.rgb1, sky.rgb2 = mujoco.mjtBuiltin.mjBUILTIN_GRADIENT, (0.93, 0.95, 0.97), (0.80, 0.85, 0.90)
    world.add_light(pos=(-0.4, -0.8, 1.8), dir=(0.3, 0.5, -1.0), diffuse=(0.6, 0.6, 0.6), castshadow=True)
    add_table(spec, "table", *table)
    world.add_geom(name="floor", type=kinds.mjGEOM_PLANE, size=(3.0, 3.0, 0.1), pos=(0.0, 0.0, -0.4), **WORLD_BITS)
    spec.geom("floor").rgba = (0.62, 0.64, 0.66, 1.0)
    add_camera(spec, "overview", *OVERVIEW)
    add_camera(spec, "front", (0.95, 0.0, 0.65), (-0.05, 0.0, 0.12), 40.0)


def add_table(spec: Any, name: str, start: float, end: float) -> None:
    """A table that begins and ends at these places along x, m; its surface is z = 0."""
    import mujoco

    size, place = (0.5 * (end - start), 0.5, 0.2), (0.5 * (start + end), 0.0, -0.2)
    table = spec.worldbody.add_geom(name=name, type=mujoco.mjtGeom.mjGEOM_BOX, size=size, pos=place, **WORLD_BITS)
    table.rgba = (0.80, 0.79, 0.76, 1.0)
    table.friction = (0.0, 0.0, 0.0)  # of two shapes that touch, the rougher one counts


def _add_arm(spec: Any, values: Any, k: int, side_reach: float) -> None:
    """Arm k: 0 at BASE looking along x, 1 opposite to it."""
    import mujoco

    kinds, turned = mujoco.mjtGeom, (1.0, 0.0, 0.0, 0.0) if k == 0 else (0.0, 0.0, 0.0, 1.0)
    place, down = (BASE, DOWN) if k == 0 else (SECOND_BASE, SECOND_DOWN)
    body = spec.worldbody.add_body(name=f"base/{k}", pos=place, quat=turned)
    body.add_geom(type=kinds.mjGEOM_CYLINDER, size=(0.09, 0.07, 0.0), pos=(0.0, 0.0, 0.07), rgba=WHITE, **ARM_BITS)
    for j, (link, inertia, shapes) in enumerate(zip(LINKS, INERTIAS, SHAPES, strict=True)):
        position, attitude, limits, torque, _ = link
        body = body.add_body(name=f"link{j + 1}/{k}", pos=position, quat=attitude, gravcomp=1.0)
        _set_inertia(body, *inertia)
        joint = body.add_joint(
            name=f"joint{j + 1}/{k}", axis=(0.0, 0.0, 1.0), range=limits, armature=0.1, damping=values.joint_damping
        )
        joint.actfrclimited, joint.actfrcrange = True, (-torque, torque)
        for i, (start, end, radius) in enumerate(shapes):
            color = DARK if i == 1 and j in (2, 3) else WHITE
            body.add_geom(type=kinds.mjGEOM_CAPSULE, size=(radius, 0, 0), fromto=(*start, *end), rgba=color, **ARM_BITS)
    _add_hand(spec, body, values, k)
    target = spec.worldbody.add_body(name=f"target/{k}", mocap=True, pos=NEUTRAL_GRIP, quat=down)
    target.add_site(name=f"target/{k}", rgba=HIDDEN)
    _add_actuators(spec, values, k, side_reach)


def _let_arms_collide(spec: Any) -> None:
    """Arms collide with the world and its objects, not with themselves; two of them with each other, too."""
    for k, bits in enumerate((FIRST_BITS, SECOND_BITS)):
        for geom in spec.body(f"base/{k}").find_all("geom"):
            geom.contype, geom.conaffinity = bits["contype"], bits["conaffinity"]


def _set_inertia(body: Any, mass: float, centre: tuple[float, ...], inertia: tuple[float, ...]) -> None:
    body.explicitinertial = True
    body.mass, body.ipos = mass, centre
    if len(inertia) == 6:
        body.fullinertia = inertia
    else:
        body.inertia = inertia


def _add_hand(spec: Any, flange: Any, values: Any, k: int) -> None:
    import mujoco

    box, eighth = mujoco.mjtGeom.mjGEOM_BOX, math.pi / 8.0
    # the hand is turned by -45 degrees against the flange
    attitude = (math.cos(eighth), 0.0, 0.0, -math.sin(eighth))
    hand = flange.add_body(name=f"hand/{k}", pos=(0.0, 0.0, 0.107), quat=attitude, gravcomp=1.0)
    _set_inertia(hand, 0.73, (-0.01, 0.0, 0.03), (0.001, 0.0025, 0.0017))
    hand.add_geom(type=box, size=(0.02, 0.1, 0.03), pos=(0.0, 0.0, 0.03), rgba=WHITE, **ARM_BITS)
    for side, turned in (("left", (1.0, 0.0, 0.0, 0.0)), ("right", (0.0, 0.0, 0.0, 1.0))):
        finger = hand.add_body(name=f"{side}/{k}", pos=(0.0, 0.0, 0.0584), quat=turned, gravcomp=1.0)
        _set_inertia(finger, 0.015, (0.0, 0.0, 0.027), (2.375e-6, 2.375e-6, 7.5e-7))
        slide = {"type": mujoco.mjtJoint.mjJNT_SLIDE, "axis": (0.0, 1.0, 0.0), "range": (0.0, FINGER_OPEN)}
        # the damping bounds the speed; in the actuator it would count towards the limit of the force, and chatter;
        # with less inertia the damping, which the solver of contacts does not see, would soften the contacts
        finger.add_joint(name=f"{side}/{k}", **slide, armature=1.0, damping=values.grip_force / FINGER_SPEED)
        pad = finger.add_geom(name=f"{side}_pad/{k}", type=box, size=(0.009, 0.005, 0.0225), pos=(0.0, 0.005, 0.0315))
        pad.rgba, pad.condim, pad.friction = DARK, 3, (values.finger_friction, 0.005, 0.0001)
        pad.contype, pad.conaffinity, pad.priority = ARM_BITS["contype"], ARM_BITS["conaffinity"], 1
        pad.solref = (0.01, 1.0)  # half as soft as usual: a held cube sinks in by less than a millimetre
        # a little larger than the pad, so that its contacts lie inside
        finger.add_site(name=f"{side}_pad/{k}", type=box, size=(0.01, 0.006, 0.0235), pos=pad.pos, rgba=HIDDEN)
    if k == 0:
        hand.add_camera(name="hand", pos=(0.09, 0.0, 0.04), quat=(0.0, 0.956, 0.0, 0.292), fovy=75.0)  # to the fingers
    hand.add_site(name=f"grip/{k}", pos=(0.0, 0.0, 0.1034), rgba=HIDDEN)
    # also where it is nothing, so that worlds with and without it have their place in one batch
    load = hand.add_body(name=f"payload/{k}", pos=(0.0, 0.0, 0.06))
    _set_inertia(load, values.payload, (0.0, 0.0, 0.0), (1e-4 * values.payload,) * 3)


def _add_actuators(spec: Any, values: Any, k: int, side_reach: float) -> None:
    import mujoco
    import numpy as np

    transmission, affine = mujoco.mjtTrn, mujoco.mjtBias.mjBIAS_AFFINE

    def add(name: str, stiffness: float, damping: float, limit: float, follows: bool, **target: Any) -> None:
        actuator = spec.add_actuator(name=f"{name}/{k}", **target)
        actuator.biastype, actuator.biasprm[1], actuator.biasprm[2] = affine, -stiffness, -damping
        actuator.gainprm[0] = stiffness if follows else 0.0
        if limit:
            actuator.forcelimited, actuator.forcerange = True, (-limit, limit)

    tendon = spec.add_tendon(name=f"fingers/{k}")
    for side in ("left", "right"):
        tendon.wrap_joint(f"{side}/{k}", 0.5)
    both = 2.0 * values.grip_force  # of the tendon, which halves it
    add("fingers", both / FINGER_REACH, 0.0, both, True, trntype=transmission.mjTRN_TENDON, target=f"fingers/{k}")
    joined = spec.add_equality(type=mujoco.mjtEq.mjEQ_JOINT, objtype=mujoco.mjtObj.mjOBJ_JOINT)
    joined.name1, joined.name2, joined.data[:5] = f"left/{k}", f"right/{k}", (0.0, 1.0, 0.0, 0.0, 0.0)
    joined.solimp, joined.solref = (0.95, 0.99, 0.001, 0.5, 2.0), (0.01, 1.0)
    if values.control in SERVOED:
        stiffer, lag = SERVOED[values.control]
        for j, (_, _, _, torque, stiffness) in enumerate(LINKS):
            joint = {"trntype": transmission.mjTRN_JOINT, "target": f"joint{j + 1}/{k}"}
            add(f"servo{j + 1}", stiffer * stiffness, lag * stiffer * stiffness, torque, True, **joint)
        return
    reach = (side_reach, side_reach, values.reach)
    for axis in range(6):
        moves = axis < 3
        stiffness, damping = (
            (values.stiffness, values.damping) if moves else (values.turn_stiffness, values.turn_damping)
        )
        limit = stiffness * (reach[axis] if moves else values.turn_reach)
        hand = {"trntype": transmission.mjTRN_SITE, "target": f"grip/{k}", "refsite": f"target/{k}"}
        hand["gear"] = np.eye(6)[axis]
        add(f"spring{axis}", stiffness, 0.0, limit, False, **hand)
        add(f"damper{axis}", 0.0, damping, 0.0, False, **hand)


def _add_sensors(spec: Any, values: Any, arms: int) -> None:
    """Readings of the arms; the state fields of `arm.state` are their names in this order."""
    for name, kind in (("grip", "FRAMEPOS"), ("grip_velocity", "FRAMELINVEL")):
        for k in range(arms):
            add_sensor(spec, f"{name}/{k}", kind, f"grip/{k}", "SITE")
    if values.touch:
        for k in range(arms):
            add_contact_sensor(spec, f"force/{k}", f"hand/{k}")
        for i in range(2 * arms):
            add_sensor(spec, f"touch/{i}", "TOUCH", f"{('left', 'right')[i % 2]}_pad/{i // 2}", "SITE")


def add_object(
    spec: Any, name: str, shape: str, size: tuple[float, ...], mass: float, friction: float, **look: Any
) -> Any:
    """A free body with one shape and its readings: the state fields `name` (position, m), `name`_attitude (w, x, y, z),
    `name`_velocity (m/s) and `name`_spin (rad/s), in this order, in world axes.

    Args:
        shape: BOX or CYLINDER.
        size: MuJoCo's half sizes, m.
        mass: kg.
        friction: sliding coefficient.
        look: more attributes of the shape, such as rgba.
    """
    import mujoco

    body = spec.worldbody.add_body(name=name)
    body.add_freejoint(name=name)
    kind = getattr(mujoco.mjtGeom, f"mjGEOM_{shape}")
    sizes = (*size, 0.0, 0.0, 0.0)[:3]
    contact = {"friction": (friction, 0.005, 0.0001), "condim": 3 if shape == "BOX" else 4, **WORLD_BITS}
    if mass < 1.0:
        contact |= hardness(mass)
    body.add_geom(name=name, type=kind, size=sizes, mass=mass, **contact, **look)
    _set_inertia(body, mass, (0.0, 0.0, 0.0), (mass * largest_moment(shape, size),) * 3)
    for suffix, sensor in (("", "POS"), ("_attitude", "QUAT"), ("_velocity", "LINVEL"), ("_spin", "ANGVEL")):
        add_sensor(spec, f"{name}{suffix}", f"FRAME{sensor}", name)
    return body


def hardness(mass: float) -> dict[str, Any]:
    """The contacts of an object below 1 kg: as hard as those of one of 1 kg. MuJoCo's yield by the force per mass, so
    that a hand would press one of 0.1 kg 7 mm into the table."""
    return {"solimp": (1.0 - 0.1 * mass, 1.0 - 0.05 * mass, 0.001, 0.5, 2.0), "solmix": 100.0}


def largest_moment(shape: str, size: tuple[float, ...]) -> float:
    """The largest moment of inertia of a box or a cylinder of 1 kg, m^2.

    Objects have it about every axis: others make the gyroscopic torque of a tumbling body, with which it would gain
    energy at the engine's steps, without bound, or lose it.
    """
    if shape == "BOX":
        first, second = sorted(size)[1:]
        return (first**2 + second**2) / 3.0
    radius, half = size
    return max(0.5 * radius**2, 0.25 * radius**2 + half**2 / 3.0)
