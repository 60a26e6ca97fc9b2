"""MuJoCo's models of bodies made of limbs: all bodies of a tree have models of one shape, for one batch."""

from __future__ import annotations

from typing import Any

from rlenvs.robotics.locomotion.limb_trees import Body, Hinge, Limb, Shape, Surface, Tree, parents_of, slots
from rlenvs.robotics.locomotion.robots import SKY, SQUARES, watch

STUB = 1e-12  # kg, kg m^2, of a place that a body leaves empty: MuJoCo needs some
LOOK = {"place": "FRAMEPOS", "turn": "FRAMEQUAT", "velocity": "FRAMELINVEL", "spin": "FRAMEANGVEL"}
NOTHING = 2  # bit of contacts that nothing answers; without any the shape would be in no table of MuJoCo's
ORANGE, BROWN, HIDDEN = (0.87, 0.62, 0.36, 1.0), (0.60, 0.40, 0.22, 1.0), (0.0, 0.0, 0.0, 0.0)


def model_of(tree: Tree, bodies: dict[str, Body], body: Body, values: Any) -> Any:
    """The `MjSpec` of a body, with a stub of no weight, which touches nothing, in each place that it leaves empty.

    Sensors `place/i`, `turn/i`, `velocity/i` and `spin/i` tell where limb i of the whole tree is, and how it moves.

    Args:
        tree, bodies, body: the whole tree, which has the places, its bodies by name, and one of them, whose own tree
            has the physics.
        values: parameters of `limb_worlds.CONTEXTS`.
    """
    import mujoco

    spec, own = mujoco.MjSpec(), body.tree
    spec.compiler.degree = False
    spec.option.timestep, spec.option.gravity = own.timestep, (0.0, 0.0, -values.gravity)
    spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_ISLAND  # one body alone: faster, same numbers
    if own.runge_kutta:
        spec.option.integrator = mujoco.mjtIntegrator.mjINT_RK4
    _add_floor(spec, own.floor, values)
    filled = dict(zip(slots(tree, body), body.limbs, strict=True))
    counts = _shapes_per_place(tree, bodies)
    torso = _add_torso(spec, body)
    parts = {"": spec.worldbody, filled[0].name: torso}
    hosts = [torso]
    for i, whole in enumerate(tree.limbs[1:], 1):
        limb = filled.get(i)
        host = parts[limb.parent] if limb else hosts[parents_of(tree)[i]]
        part = _add_part(spec, own, host, whole, limb, values)
        hosts.append(part)
        if limb:
            parts[limb.name] = part
    for i, part in enumerate(hosts):
        _add_shapes(part, filled[i].shapes if i in filled else (), counts[i], own.surface, values)
    _add_sensors(spec, hosts)
    return spec


def _shapes_per_place(tree: Tree, bodies: dict[str, Body]) -> list[int]:
    """The most shapes that any body has in each place."""
    counts = [0] * len(tree.limbs)
    for body in bodies.values():
        for i, limb in zip(slots(tree, body), body.limbs, strict=True):
            counts[i] = max(counts[i], len(limb.shapes))
    return counts


def _add_floor(spec: Any, floor: Surface, values: Any) -> None:
    import mujoco

    checker = spec.add_texture(name="squares", type=mujoco.mjtTexture.mjTEXTURE_2D, width=100, height=100)
    checker.builtin, checker.rgb1, checker.rgb2 = mujoco.mjtBuiltin.mjBUILTIN_CHECKER, *SQUARES
    sky = spec.add_texture(name="sky", type=mujoco.mjtTexture.mjTEXTURE_SKYBOX, width=64, height=64)
    sky.builtin, sky.rgb1, sky.rgb2 = mujoco.mjtBuiltin.mjBUILTIN_GRADIENT, *SKY
    squares = spec.add_material(name="squares", texrepeat=(0.5, 0.5), texuniform=True)
    squares.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = "squares"
    spec.visual.headlight.ambient = (0.32, 0.32, 0.32)
    plane = spec.worldbody.add_geom(name="floor", type=mujoco.mjtGeom.mjGEOM_PLANE, size=(0.0, 0.0, 1.0))
    plane.material, plane.rgba = "squares", (0.9, 0.9, 0.9, 1.0)
    _soften(plane, floor, floor.friction[0] * values.friction)
    plane.contype = plane.conaffinity = 1


def _soften(geom: Any, surface: Surface, sliding: float) -> None:
    geom.friction = (sliding, *surface.friction[1:])
    geom.condim, geom.margin = surface.dimensions, surface.margin
    geom.solref, geom.solimp = surface.solref, surface.solimp


def _add_torso(spec: Any, body: Body) -> Any:
    """The torso, which moves freely, or slides along x and z and pitches."""
    import mujoco

    tree = body.tree
    torso = spec.worldbody.add_body(name=body.limbs[0].name, pos=(0.0, 0.0, body.start + tree.above))
    kinds = mujoco.mjtJoint
    root: dict[str, Any] = {"limited": mujoco.mjtLimited.mjLIMITED_FALSE, "armature": tree.root_armature}
    if tree.free:
        torso.add_joint(name="root", type=kinds.mjJNT_FREE, **root)
    else:
        torso.add_joint(name="x", type=kinds.mjJNT_SLIDE, axis=(1.0, 0.0, 0.0), **root)
        torso.add_joint(name="z", type=kinds.mjJNT_SLIDE, axis=(0.0, 0.0, 1.0), ref=body.start, **root)
        torso.add_joint(name="pitch", type=kinds.mjJNT_HINGE, axis=(0.0, 1.0, 0.0), pos=body.limbs[0].joint, **root)
    watch(torso, (0.0, -3.4, 0.1), 0.14)
    sun = torso.add_light(mode=mujoco.mjtCamLight.mjCAMLIGHT_TRACKCOM, type=mujoco.mjtLightType.mjLIGHT_DIRECTIONAL)
    sun.pos, sun.dir = (0.0, 0.0, 3.0), (0.0, 0.0, -1.0)
    sun.diffuse, sun.specular = (0.6, 0.6, 0.6), (0.0, 0.0, 0.0)
    return torso


def _add_part(spec: Any, tree: Tree, host: Any, whole: Limb, limb: Limb | None, values: Any) -> Any:
    """A limb, or a stub, in the place of a limb of the whole tree, whose name it has: so names are those of all bodies.

    A stub has as good as no mass, and hinges that nothing turns.
    """
    stub = {"explicitinertial": True, "mass": STUB, "inertia": (STUB, STUB, STUB)}
    part = host.add_body(name=whole.name, **({"pos": limb.at} if limb else stub))
    for k, hinge in enumerate(limb.hinges if limb else whole.hinges):
        _add_hinge(spec, tree, part, f"{whole.name}/{k}", hinge, limb, values)
    return part


def _add_hinge(spec: Any, tree: Tree, part: Any, name: str, hinge: Hinge, limb: Limb | None, values: Any) -> None:
    import mujoco

    limited = mujoco.mjtLimited
    joint = part.add_joint(name=name, type=mujoco.mjtJoint.mjJNT_HINGE, axis=hinge.axis)
    joint.limited, joint.armature = limited.mjLIMITED_FALSE, 1.0
    if limb:
        joint.pos, joint.limited, joint.range = limb.joint, limited.mjLIMITED_TRUE, hinge.range
        joint.armature, joint.solref_limit, joint.solimp_limit = hinge.armature, *tree.limits
        _set_first(joint, "damping", hinge.damping * values.damping)
        _set_first(joint, "stiffness", hinge.stiffness)
    _add_motor(spec, name, hinge.gear * values.strength if limb else 0.0)


def _set_first(part: Any, name: str, value: float) -> None:
    """Write a number, or the first of a polynomial's."""
    setattr(part, name, (value, *getattr(part, name)[1:]))


def _add_motor(spec: Any, joint: str, gear: float) -> None:
    import mujoco

    motor = spec.add_actuator(name=joint, target=joint, trntype=mujoco.mjtTrn.mjTRN_JOINT)
    motor.set_to_motor()
    motor.gear = (gear, 0.0, 0.0, 0.0, 0.0, 0.0)
    motor.ctrllimited, motor.ctrlrange = mujoco.mjtLimited.mjLIMITED_TRUE, (-1.0, 1.0)


def _add_shapes(part: Any, shapes: tuple[Shape, ...], count: int, surface: Surface, values: Any) -> None:
    """The shapes of a limb, and so many in all: the others have no mass, touch nothing and cannot be seen."""
    import mujoco

    ball, capsule = mujoco.mjtGeom.mjGEOM_SPHERE, mujoco.mjtGeom.mjGEOM_CAPSULE
    color = BROWN if part.name.startswith("left") else ORANGE
    for shape in shapes:
        geom = part.add_geom(type=capsule if shape.ends or shape.half else ball, rgba=color)
        geom.size = (shape.radius, shape.half, 0.0)
        if shape.ends:
            geom.fromto = shape.ends
        else:
            geom.pos = shape.center
            geom.alt.type, geom.alt.axisangle = mujoco.mjtOrientation.mjORIENTATION_AXISANGLE, (0, 1, 0, shape.angle)
        geom.density = values.density
        sliding = surface.friction[0] if shape.friction is None else shape.friction
        _soften(geom, surface, sliding * values.friction)
        geom.contype, geom.conaffinity = 1, int(surface.touch)
    for _ in range(count - len(shapes)):
        part.add_geom(type=ball, size=(0.01, 0.0, 0.0), mass=0.0, contype=NOTHING, conaffinity=0, rgba=HIDDEN)


def _add_sensors(spec: Any, parts: list[Any]) -> None:
    import mujoco

    for name, kind in LOOK.items():
        for i, part in enumerate(parts):
            sensor = spec.add_sensor(
                name=f"{name}/{i}", type=getattr(mujoco.mjtSensor, f"mjSENS_{kind}"), objname=part.name
            )
            sensor.objtype = mujoco.mjtObj.mjOBJ_XBODY
