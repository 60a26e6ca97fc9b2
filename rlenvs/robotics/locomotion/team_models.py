"""The models of bodies that several agents share: those of single agents, and longer or coupled ones made of them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from rlenvs.robotics.locomotion import ant, half_cheetah, swimmer
from rlenvs.robotics.locomotion.robots import robot, touch_floor_only

GEAR = 150.0  # N m, of a motor of the long swimmer and the long ant
TIMES = {  # what one agent has, by what is a multiple of it here
    "mass": ("mass", "density"),
    "friction": ("friction", "fluid"),
    "strength": ("strength",),
}
ROPE = (1.5, 3.5)  # m, length of the rope between two cheetahs
SLACK = 0.1  # N/m, stiffness of the rope
LEG_COLOR = (0.8, 0.6, 0.4, 1.0)


def single(world: Any, values: Any) -> Any:
    """The model of a body of one agent, with the parameters of several agents."""
    own = {name: part.default for name, part in (*world.params.items(), *world.options.items())}
    for name, names in TIMES.items():
        own |= {each: own[each] * getattr(values, name) for each in names if each in own}
    return world.functions["model"](SimpleNamespace(**own))


def coupled_cheetahs(values: Any) -> Any:
    """Two cheetahs side by side, with a rope from torso to torso. Together they weigh as much as one in the usual
    model."""
    import mujoco

    spec, other = (robot("half_cheetah.xml", values, eye=(0.0, -3.6, 1.6), down=0.42) for _ in range(2))
    for part in (*other.cameras, *other.lights):
        other.delete(part)
    for i, torso in enumerate((spec.body("torso"), other.body("torso"))):
        torso.pos = (0.0, 2.0 * i - 1.0, torso.pos[2])
        torso.add_site(name=f"rope {i}")
    spec.worldbody.add_frame().attach_body(other.body("torso"), "second ", "")
    rope = spec.add_tendon(name="rope", range=ROPE, stiffness=SLACK, rgba=(0.85, 0.30, 0.25, 1.0), width=0.03)
    rope.limited = mujoco.mjtLimited.mjLIMITED_TRUE
    for site in ("rope 0", "second rope 1"):
        rope.wrap_site(site)
    spec.compiler.settotalmass = half_cheetah.SPEC.params["mass"].default * values.mass
    for shape in spec.geoms:
        shape.friction = (values.friction * shape.friction[0], *shape.friction[1:])
    touch_floor_only(spec)
    return spec


def long_swimmer(values: Any, joints: int) -> Any:
    """A swimmer with so many joints."""
    spec = single(swimmer.SPEC, values)
    bare(spec)
    far = max(1.0, 0.3 * (joints + 1))  # times what the camera is away from three rods
    spec.camera("overview").pos = (1.0 - 0.5 * joints, -3.2 * far, 4.2 * far)
    density = swimmer.SPEC.params["density"].default * values.mass
    rod, x = spec.body("torso"), 0.5
    for i in range(joints):
        rod = rod.add_body(name=f"rod {i}", pos=(x, 0.0, 0.0))
        capsule(rod, (0.0, 0.0, 0.0), (-1.0, 0.0, 0.0), 0.1, density=density)
        last = i == joints - 1
        sign = 1.0 if i == 0 or last else (-1.0) ** (i + 1)  # the original's joints turn to alternating sides
        hinge(spec, rod, f"rot{i}", (0.0, 0.0, sign), (-100.0, 100.0), values.strength)
        x = -1.0
    return spec


def long_ant(values: Any, segments: int) -> Any:
    """An ant of so many segments in a row, each with a pair of legs; the first has no trunk."""
    far = max(1.0, 0.25 * (segments + 1))
    spec = robot("ant.xml", values, eye=(0.5 - 0.5 * segments, -4.6 * far, 2.6 * far), down=0.5)
    bare(spec)
    segment = spec.body("torso")
    for shape in segment.geoms:
        spec.delete(shape)
    for i in range(segments):
        if i:
            segment = segment.add_body(name=f"torso {i}", pos=(-1.0, 0.0, 0.0))
            capsule(segment, (1.0, 0.0, 0.0), (0.0, 0.0, 0.0), 0.1, density=100.0)
        back, bends = (-1.0, (-70.0, -30.0)) if i else (1.0, (30.0, 70.0))  # legs of the first segment point forwards
        for side, name in ((1.0, "1"), (-1.0, "2")):
            out = (0.2 * (i == 0), 0.2 * side, 0.0)
            trunk = segment.add_body(name=f"side{name}_{i}")
            capsule(trunk, (0.0, 0.0, 0.0), out, 0.08)
            leg = trunk.add_body(name=f"leg{name}_{i}", pos=out)
            capsule(leg, (0.0, 0.0, 0.0), (0.2 * back, 0.2 * side, 0.0), 0.08)
            hinge(spec, leg, f"hip{name}_{i}", (0.0, 0.0, 1.0), (-30.0, 30.0), values.strength)
            foot = leg.add_body(name=f"foot{name}_{i}", pos=(0.2 * back, 0.2 * side, 0.0))
            capsule(foot, (0.0, 0.0, 0.0), (0.4 * back, 0.4 * side, 0.0), 0.08)
            axis = (-side * back, 1.0, 0.0)
            hinge(spec, foot, f"ankle{name}_{i}", axis, bends, values.strength)
    for shape in spec.geoms[1:]:
        shape.density = shape.density * values.mass
    for shape in spec.geoms:
        shape.friction = (values.friction * shape.friction[0], *shape.friction[1:])
    touch_floor_only(spec)
    ant.feel_contacts(spec)
    return spec


def bare(spec: Any) -> None:
    """Nothing of a robot but its torso."""
    for part in (*spec.actuators, *spec.body("torso").bodies):
        spec.delete(part)


def capsule(body: Any, start: tuple[float, ...], end: tuple[float, ...], radius: float, **choices: Any) -> None:
    """Add a capsule from one point to another [m]."""
    import mujoco

    size = (radius, 0.0, 0.0)
    body.add_geom(type=mujoco.mjtGeom.mjGEOM_CAPSULE, fromto=(*start, *end), size=size, rgba=LEG_COLOR, **choices)


def hinge(spec: Any, body: Any, name: str, axis: tuple[float, ...], ends: tuple[float, float], strength: float) -> None:
    """Add a joint with a motor, which turns between two angles [degrees]."""
    import mujoco

    joint = body.add_joint(name=name, type=mujoco.mjtJoint.mjJNT_HINGE, axis=axis, range=ends)
    joint.limited = mujoco.mjtLimited.mjLIMITED_TRUE
    motor = spec.add_actuator(name=name, target=name, trntype=mujoco.mjtTrn.mjTRN_JOINT, ctrlrange=(-1.0, 1.0))
    motor.ctrllimited = mujoco.mjtLimited.mjLIMITED_TRUE
    motor.gear = (GEAR * strength, 0.0, 0.0, 0.0, 0.0, 0.0)
