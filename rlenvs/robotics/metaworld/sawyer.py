"""The Sawyer arm over Meta-World's table, built for MuJoCo in code.

Link frames, joint ranges, masses and inertias are the manufacturer's (Rethink Robotics, sawyer_description). What
determines the motion of the hand is Meta-World's (Yu et al., arXiv 1910.10897; package metaworld 3.1.1): the weld that
pulls the hand to the mocap body `mocap`, joint dampings, fingers, solver settings. Gravity acts on the arm, so the hand
hangs half a centimeter lower than the mocap body. The shapes are capsules and boxes.

The arm stands at the origin and looks along y; the table's surface is z = 0. The fingers of the hand `hand` are 10 cm
apart when open and point down; `tips` are their ends, and `tcp`, the point between these, is 4.5 cm below the hand.
"""

from __future__ import annotations

import math
from typing import Any

from rlenvs.kits.engines.mujoco_parts import add_camera, add_contact_sensor, add_goal, add_sensor
from rlenvs.kits.engines.overlays import View

PHYSICS_HZ = 400
CONTROL_HZ = 80
JOINTS = 7
ARM_QPOS = JOINTS + 2  # with the fingers
ROOT = math.sqrt(0.5)
DOWN = (ROOT, 0.0, ROOT, 0.0)  # w, x, y, z: the hand's attitude, fingers down
HALF_GAP = 0.05  # m, of the open fingers
FINGER_RANGES = ((0.0, 0.04), (-0.03, 0.0))  # m, right and left; both move along y
OVERVIEW = View((1.05, -0.25, 0.95), (-0.02, 0.62, 0.10), 42.0)
FRONT = ((0.0, 1.3, 0.7), (0.0, 0.66, 0.04), 50.0)  # a camera that looks at the arm: eye, focus [m], degrees

# position and attitude (w, x, y, z) in the parent, joint range [rad]
LINKS = (
    ((0.0, 0.0, 0.08), (1.0, 0.0, 0.0, 0.0), (-3.0503, 3.0503)),
    ((0.081, 0.05, 0.237), (0.5, -0.5, 0.5, 0.5), (-3.8, -0.5)),
    ((0.0, -0.14, 0.1425), (ROOT, ROOT, 0.0, 0.0), (-3.0426, 3.0426)),
    ((0.0, -0.042, 0.26), (ROOT, -ROOT, 0.0, 0.0), (-3.0439, 3.0439)),
    ((0.0, -0.125, -0.1265), (ROOT, ROOT, 0.0, 0.0), (-2.9761, 2.9761)),
    ((0.0, 0.031, 0.275), (ROOT, -ROOT, 0.0, 0.0), (-2.9761, 2.9761)),
    ((0.0, -0.11, 0.1053), (0.0616248, 0.06163, -0.704416, 0.704416), (-4.7124, 4.7124)),
)
# mass [kg], center of mass [m], attitude of the principal axes, moments about these [kg m^2]
INERTIAS = (
    (
        *(5.3213, (0.024366, 0.010969, 0.14363), (0.894823, 0.00899958, -0.170275, 0.412573)),
        (0.0651588, 0.0510944, 0.0186218),
    ),
    (
        *(4.505, (-0.0030849, -0.026811, 0.092521), (0.424888, 0.891987, 0.132364, -0.0794296)),
        (0.0224339, 0.0221624, 0.0097097),
    ),
    (
        *(1.745, (-0.00016044, -0.014967, 0.13582), (0.707831, -0.0524761, 0.0516007, 0.702537)),
        (0.0257928, 0.025506, 0.00292515),
    ),
    (
        *(2.5097, (-0.0048135, -0.0281, -0.084154), (0.902999, 0.385391, -0.0880901, 0.168247)),
        (0.0102404, 0.0096997, 0.00369622),
    ),
    (
        *(1.1136, (-0.0018844, 0.0069001, 0.1341), (0.803612, 0.031257, -0.0298334, 0.593582)),
        (0.0136549, 0.0135493, 0.00127353),
    ),
    (
        *(1.5625, (0.0061133, -0.023697, 0.076416), (0.404076, 0.9135, 0.0473125, 0.00158335)),
        (0.00474131, 0.00422857, 0.00190672),
    ),
    (
        *(0.3292, (-8.0726e-06, 0.0085838, -0.0049566), (0.479044, 0.515636, -0.513069, 0.491322)),
        (0.000360258, 0.000311068, 0.000214974),
    ),
)
HEAD = (
    *(1.5795, (0.0053207, -2.6549e-05, 0.1021), (0.999993, 7.08405e-05, -0.00359857, -0.000626247)),
    (0.0118334, 0.00827089, 0.00496574),
)
WEIGHTLESS = (1e-8, (0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0), (1e-8, 1e-8, 1e-8))
# capsules by link, which nothing collides with: from, to [m], radius [m]
SHAPES = (
    (((0.0, 0.0, 0.0), (0.0, 0.0, 0.237), 0.075), ((0.02, 0.0, 0.237), (0.081, 0.03, 0.237), 0.07)),
    (((0.0, 0.0, 0.0), (0.0, 0.0, 0.12), 0.065), ((0.0, 0.0, 0.1425), (0.0, -0.14, 0.1425), 0.06)),
    (((0.0, 0.0, 0.0), (0.0, 0.0, 0.24), 0.055), ((0.0, 0.0, 0.26), (0.0, -0.042, 0.26), 0.058)),
    (((0.0, 0.0, 0.0), (0.0, 0.0, -0.11), 0.052), ((0.0, 0.0, -0.1265), (0.0, -0.125, -0.1265), 0.048)),
    (((0.0, 0.0, 0.0), (0.0, 0.0, 0.25), 0.045), ((0.0, 0.0, 0.275), (0.0, 0.031, 0.275), 0.048)),
    (((0.0, 0.0, 0.0), (0.0, 0.0, 0.09), 0.043), ((0.0, 0.0, 0.1053), (0.0, -0.09, 0.1053), 0.04)),
    (((0.0, 0.0, -0.01), (0.0, 0.0, 0.02), 0.042),),
)
RED, DARK, WHITE = (0.62, 0.17, 0.15, 1.0), (0.22, 0.23, 0.25, 1.0), (0.93, 0.93, 0.94, 1.0)
WOOD, METAL, HIDDEN = (0.80, 0.74, 0.64, 1.0), (0.72, 0.74, 0.76, 1.0), (0.0, 0.0, 0.0, 0.0)
UNTOUCHED: dict[str, Any] = {"contype": 0, "conaffinity": 0, "mass": 0.0}
STANDING = {"contype": 0, "conaffinity": 1}  # of what stands still: touched by what moves


def scene(values: Any) -> Any:
    """The table with the arm, light and a camera, as an `MjSpec` to which a task adds its objects. The first mocap body
    pulls the hand, the second marks the goal.

    Args:
        values: parameters and options of the world.
    """
    import mujoco

    spec = mujoco.MjSpec()
    spec.compiler.degree = False
    option = spec.option
    option.timestep, option.iterations, option.tolerance = 1.0 / PHYSICS_HZ, 50, 1e-10
    option.cone, option.jacobian = mujoco.mjtCone.mjCONE_ELLIPTIC, mujoco.mjtJacobian.mjJAC_DENSE
    option.disableflags |= mujoco.mjtDisableBit.mjDSBL_ISLAND  # with so few bodies, finding them costs more
    _add_surroundings(spec)
    hand = _add_arm(spec)
    _add_fingers(spec, hand)
    spec.worldbody.add_body(name="mocap", mocap=True, quat=DOWN)
    add_goal(spec, "goal", 0.02, (0.0, 0.62, 0.45, 0.6))
    _add_weld(spec)
    add_camera(spec, "overview", *OVERVIEW)
    add_camera(spec, "front", *FRONT)
    hand.add_camera(name="hand", pos=(-0.02, 0.0, 0.1), quat=(0.678, -0.201, -0.201, 0.678), fovy=75.0)  # to the tips
    add_sensor(spec, "hand", "FRAMEPOS", "hand")
    for name, kind in (("claws", "claw"), ("pads", "pad"), ("tips", "tip")):
        for k, side in enumerate(("right", "left")):
            add_sensor(spec, f"{name}/{k}", "FRAMEPOS", f"{side}{kind}", "SITE" if kind == "tip" else "BODY")
    for k, side in enumerate(("right", "left")):
        add_sensor(spec, f"pressed/{k}", "TOUCH", f"{side}press", "SITE")
    add_contact_sensor(spec, "force", "wrist")
    add_contact_sensor(spec, "table_force", "wrist", "table", "GEOM")
    return spec


def touch_once(spec: Any) -> None:
    """Let shapes that overlap have one contact, as in the original's MuJoCo: more of them change how fingers hold."""
    import mujoco

    spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_MULTICCD


def _add_surroundings(spec: Any) -> None:
    """Table, floor and the low walls around the table."""
    import mujoco

    world, kinds = spec.worldbody, mujoco.mjtGeom
    spec.visual.headlight.ambient = (0.35, 0.35, 0.35)
    spec.visual.headlight.diffuse = (0.3, 0.3, 0.3)
    spec.visual.quality.shadowsize = 2048
    spec.visual.map.znear = 0.02
    sky = spec.add_texture(name="sky", type=mujoco.mjtTexture.mjTEXTURE_SKYBOX, width=64, height=64)
    sky.builtin, sky.rgb1, sky.rgb2 = mujoco.mjtBuiltin.mjBUILTIN_GRADIENT, (0.93, 0.95, 0.97), (0.80, 0.85, 0.90)
    world.add_light(pos=(0.8, -0.6, 1.8), dir=(-0.5, 0.6, -1.0), diffuse=(0.55, 0.55, 0.55), castshadow=True)
    add_box(world, (0.0, 0.6, -0.46), (0.7, 0.4, 0.46), WOOD, name="table", **STANDING)
    for y in (0.21, 0.99):
        add_box(world, (0.0, y, 0.06), (0.7, 0.01, 0.06), METAL, **STANDING)
    for x in (-0.69, 0.69):
        add_box(world, (x, 0.6, 0.06), (0.01, 0.38, 0.06), METAL, **STANDING)
    world.add_geom(type=kinds.mjGEOM_PLANE, size=(4.0, 4.0, 0.1), pos=(0.0, 0.0, -0.913), rgba=(0.62, 0.64, 0.66, 1.0))


def add_box(body: Any, place: tuple[float, ...], size: tuple[float, ...], color: Any, **more: Any) -> Any:
    """A box in a body, with its center there, m, of these half sizes, m, and more attributes of the geom."""
    import mujoco

    return body.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, pos=place, size=size, rgba=color, **more)


def _add_arm(spec: Any) -> Any:
    """The arm; returns the body to which the hand belongs."""
    import mujoco

    capsule, cylinder = mujoco.mjtGeom.mjGEOM_CAPSULE, mujoco.mjtGeom.mjGEOM_CYLINDER
    base = spec.worldbody.add_body(name="base")
    base.add_geom(type=cylinder, size=(0.09, 0.46, 0.0), pos=(0.0, 0.0, -0.45), rgba=DARK, **UNTOUCHED)
    body = base
    for j, ((place, attitude, limits), inertia, shapes) in enumerate(zip(LINKS, INERTIAS, SHAPES, strict=True)):
        body = body.add_body(name=f"link{j}", pos=place, quat=attitude)
        set_inertia(body, *inertia)
        body.add_joint(name=f"joint{j}", axis=(0.0, 0.0, 1.0), range=limits, damping=10.0, armature=0.001)
        for i, (start, end, radius) in enumerate(shapes):
            color = DARK if i else RED
            body.add_geom(type=capsule, size=(radius, 0.0, 0.0), fromto=(*start, *end), rgba=color, **UNTOUCHED)
        if j == 0:
            head = body.add_body(name="head", pos=(0.0, 0.0, 0.2965))
            set_inertia(head, *HEAD)
            add_box(head, (0.03, 0.0, 0.105), (0.012, 0.12, 0.07), DARK, **UNTOUCHED)
    wrist = body.add_body(name="wrist", pos=(0.0, 0.0, 0.0245), quat=(ROOT, 0.0, 0.0, ROOT))
    set_inertia(wrist, *WEIGHTLESS)
    add_box(wrist, (0.006, 0.0, 0.054), (0.03, 0.0525, 0.0265), DARK)
    hand = wrist.add_body(name="hand", pos=(0.0, 0.0, 0.12), quat=(-ROOT, 0.0, ROOT, 0.0))
    # where MuJoCo judges how heavy the hand is to the weld, which determines how closely the hand follows
    set_inertia(hand, 0.0, (0.0, 0.0, 0.12), (-ROOT, 0.0, ROOT, 0.0), (0.0, 0.0, 0.0))
    add_box(hand, (-0.05, 0.0, 0.0), (0.005, 0.055, 0.005), METAL, **UNTOUCHED)
    return hand


def set_inertia(body: Any, mass: float, center: Any, axes: Any, moments: Any) -> None:
    """Mass, kg, its center, m, the attitude of the principal axes and the moments about them, kg m^2."""
    body.explicitinertial = True
    body.mass, body.ipos, body.iquat, body.inertia = mass, center, axes, moments


def _add_fingers(spec: Any, hand: Any) -> None:
    """Two fingers with pads, each a slide along y with a servo. The large armature makes them slow."""
    import mujoco

    size = (0.045, 0.003, 0.015)
    for side, outwards, limits in (("right", -1.0, FINGER_RANGES[0]), ("left", 1.0, FINGER_RANGES[1])):
        claw = hand.add_body(name=f"{side}claw", pos=(0.0, outwards * HALF_GAP, 0.0))
        slide = {"type": mujoco.mjtJoint.mjJNT_SLIDE, "axis": (0.0, 1.0, 0.0), "range": limits}
        claw.add_joint(name=side, **slide, damping=1000.0, armature=100.0)
        shell = add_box(claw, (0.0, 0.0, 0.0), size, WHITE, condim=4, margin=0.001)
        shell.solimp[:3] = (0.8, 0.9, 0.01)
        claw.add_site(name=f"{side}tip", pos=(0.045, 0.0, 0.0), rgba=HIDDEN)
        pad = claw.add_body(name=f"{side}pad", pos=(0.0, -outwards * 0.003, 0.0))
        set_inertia(pad, *WEIGHTLESS)
        skin = add_box(pad, (0.0, 0.0, 0.0), size, METAL, condim=4, margin=0.001)
        skin.friction, skin.solref, skin.solimp[:3] = (2.0, 0.1, 0.002), (0.01, 1.0), (0.95, 0.99, 0.01)
        # a little larger than the pad, so that its contacts lie inside
        pad.add_site(name=f"{side}press", type=skin.type, size=(0.046, 0.004, 0.016), rgba=HIDDEN)
        servo = spec.add_actuator(name=side, trntype=mujoco.mjtTrn.mjTRN_JOINT, target=side)
        servo.biastype, servo.gainprm[0], servo.biasprm[1] = mujoco.mjtBias.mjBIAS_AFFINE, 400.0, -400.0
        servo.ctrllimited, servo.ctrlrange = True, (-1.0, 1.0)


def _add_weld(spec: Any) -> None:
    """What pulls the hand to the mocap body, softly."""
    import mujoco

    weld = spec.add_equality(type=mujoco.mjtEq.mjEQ_WELD, objtype=mujoco.mjtObj.mjOBJ_BODY)
    weld.name1, weld.name2 = "mocap", "hand"
    weld.data[:11] = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -1.0, 0.0, 0.0, 0.0, 5.0)  # anchor, place, attitude, torque scale
