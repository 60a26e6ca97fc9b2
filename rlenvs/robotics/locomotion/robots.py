"""The common parts of the robots: their models, from the installed Gymnasium, and measurements of their motion."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rlenvs.core import choice, data_option, kernel, param, published, uniform
from rlenvs.core.declare.errors import ParameterError
from rlenvs.core.declare.maths import cos, sin
from rlenvs.core.declare.parts import Term

FPS = 20  # five physics steps of 10 ms per control step
DT = 0.05  # s
BOUND = 1000.0  # of every number observed, in its unit
FASTEST = 200.0  # m/s, bound of the speed in rewards
COST_LIMIT = 25.0

HEADING = param(0.0, -math.pi, math.pi, "rad", "direction in which `forward` counts, from the x axis")
EVEN_NOISE = param(0.005, 0.0, 0.05, "", "noise of the start: positions and velocities are uniform within it")
DENSITY = param(1000.0, 400.0, 2500.0, "kg/m^3", "of the robot")
DAMPING = param(1.0, 0.0, 5.0, "", "of the joints, as a multiple of the original's")
PARAMS = {
    "gravity": param(9.81, 1.0, 20.0, "m/s^2", "downwards"),
    "strength": param(1.0, 0.2, 2.0, "", "torques, as a multiple of the original's"),
    "noise": param(0.1, 0.0, 0.3, "", "noise of the start: range of positions, standard deviation of velocities"),
}

WIND = ("wind_x", "wind_y", "wind_z")
SURROUNDINGS = {
    "stiffness": param(0.0, 0.0, 20.0, "N m/rad", "of springs in all joints, beside the original's"),
    "air": param(0.0, 0.0, 5.0, "kg/m^3", "density of the air"),
    "viscosity": param(0.0, 0.0, 0.2, "Pa s", "of the air"),
    **{name: param(0.0, -10.0, 10.0, "m/s", f"along {name[-1]}, in air that is dense or viscous") for name in WIND},
}
WINDY: dict[str, dict[str, float]] = {name: {"air": 5.0} for name in WIND}  # where wind has an effect
PLANAR_SURROUNDINGS = {name: value for name, value in SURROUNDINGS.items() if name != "wind_y"}
PLANAR_WINDY = {name: value for name, value in WINDY.items() if name != "wind_y"}


def compat(**usual: float) -> Any:
    """The option that makes the body of RRLS.

    Args:
        usual: values of parameters that RRLS has, where they differ.
    """
    doc = (
        '"rrls": the body of RRLS (Zouitine et al., arXiv 2406.08406): explicit masses leave inertia as it is, and '
        "`friction` is what it is there"
    )
    return data_option(choice("none", "rrls", doc=doc, sets={"rrls": usual} if usual else None))


def as_rrls(values: Any) -> bool:
    """Whether the body of RRLS is asked for, by the option `compat` where there is one."""
    return getattr(values, "compat", "none") == "rrls"


SQUARES, SKY = ((0.90, 0.91, 0.89), (0.74, 0.77, 0.76)), ((0.95, 0.97, 0.98), (0.72, 0.80, 0.88))
EYE, DOWN = (0.0, -2.7, 1.05), 0.36  # m, from the torso to the camera; rad, by which that looks down


def robot(file: str, values: Any, eye: tuple[float, float, float] = EYE, down: float = DOWN) -> Any:
    """One of Gymnasium's models as an `MjSpec`, with a camera that follows the robot.

    Args:
        file: such as "ant.xml".
        values: parameters of `PARAMS`.
        eye: where the camera is, from the torso [m].
        down: by how much it looks down [rad].
    """
    import mujoco

    spec = asset(file)
    spec.option.gravity = (0.0, 0.0, -getattr(values, "gravity", 9.81))
    spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_ISLAND  # one body alone: a few percent faster, same numbers
    for motor in spec.actuators:
        motor.gear = motor.gear * values.strength
    floor = spec.geoms[0]
    squares = spec.material(floor.material)
    squares.texrepeat, squares.texuniform = (0.5 * squares.texrepeat[0] / floor.size[0],) * 2, True
    floor.size = (0.0, 0.0, floor.size[2])  # drawn without end: a good runner comes far
    floor.rgba = (0.9, 0.9, 0.9, 1.0)
    for texture in spec.textures:  # pale, so that one sees the robot and its shadow
        if texture.builtin in (mujoco.mjtBuiltin.mjBUILTIN_CHECKER, mujoco.mjtBuiltin.mjBUILTIN_GRADIENT):
            checker = texture.builtin == mujoco.mjtBuiltin.mjBUILTIN_CHECKER
            texture.rgb1, texture.rgb2 = SQUARES if checker else SKY
    for camera in spec.cameras:  # each costs time in every physics step
        spec.delete(camera)
    watch(spec.body("torso"), eye, down)
    above = spec.lights[0]  # goes along, so that shadows do
    sun = spec.body("torso").add_light(mode=mujoco.mjtCamLight.mjCAMLIGHT_TRACKCOM, type=above.type)
    sun.pos, sun.dir, sun.diffuse, sun.specular = (0.0, 0.0, 3.0), above.dir, above.diffuse, above.specular
    spec.delete(above)
    return spec


def asset(file: str) -> Any:
    """One of the models that lie in the installed Gymnasium, as an `MjSpec`."""
    import gymnasium
    import mujoco

    return mujoco.MjSpec.from_file(str(Path(gymnasium.__file__).parent / "envs" / "mujoco" / "assets" / file))


def watch(body: Any, eye: tuple[float, float, float], down: float, follow: bool = True) -> None:
    """Put the camera of images on a body, at `eye` [m] from it, looking north and `down` [rad]."""
    import mujoco

    mode = mujoco.mjtCamLight.mjCAMLIGHT_TRACKCOM if follow else mujoco.mjtCamLight.mjCAMLIGHT_FIXED
    camera = body.add_camera(name="overview", mode=mode, fovy=45.0)
    turn = 0.5 * (0.5 * math.pi - down)
    camera.pos, camera.quat = eye, (math.cos(turn), math.sin(turn), 0.0, 0.0)


def touch_floor_only(spec: Any, *others: tuple[str, str]) -> None:
    """Name the contacts that can be, between the floor and every other shape, so that none has to be looked for.

    The numbers of these contacts are those that MuJoCo makes of two shapes. Called when the shapes have theirs.

    Args:
        spec: the robot; its floor is the first shape.
        others: pairs of shapes that can touch as well.
    """
    floor, *shapes = spec.geoms
    for i, shape in enumerate(shapes):
        shape.name = shape.name or f"shape {i}"
    for one, two in [*((floor, shape) for shape in shapes), *((spec.geom(a), spec.geom(b)) for a, b in others)]:
        pair = spec.add_pair(geomname1=one.name, geomname2=two.name)
        slide, turn, roll = (max(numbers) for numbers in zip(one.friction, two.friction, strict=True))
        pair.friction, pair.condim = (slide, slide, turn, roll, roll), max(one.condim, two.condim)
        pair.solref, pair.solimp, pair.margin = two.solref, two.solimp, one.margin + two.margin
    for shape in spec.geoms:
        shape.contype = shape.conaffinity = 0


def refuse_no_height(values: Any) -> None:
    """ParameterError where no height of the torso is healthy."""
    if values.lowest >= values.highest:
        raise ParameterError(
            f"no height is healthy: lowest={values.lowest:g} m, highest={values.highest:g} m; lower the first"
        )


def damp(spec: Any, factor: float) -> None:
    """Multiply the damping of all joints."""
    for joint in spec.joints:
        joint.damping = joint.damping * factor


def surround(spec: Any, values: Any) -> None:
    """Springs in the joints, and the air around the robot: those parameters of `SURROUNDINGS` that there are."""
    given = {name: getattr(values, name, 0.0) for name in SURROUNDINGS}
    spec.option.density, spec.option.viscosity = given["air"], given["viscosity"]
    spec.option.wind = [given[name] for name in WIND]
    own = spec.body("torso").joints  # these let the torso move
    for joint in spec.joints:
        if joint not in own:
            joint.stiffness = (joint.stiffness[0] + given["stiffness"], *joint.stiffness[1:])


def rub(spec: Any, friction: float, usual: float, floor_only: bool = False) -> None:
    """Give feet a sliding friction, and everything else in proportion; or the floor alone.

    Args:
        usual: of the feet in the model.
    """
    for shape in spec.geoms[:1] if floor_only else spec.geoms:
        own = friction if floor_only else friction / usual * shape.friction[0]
        shape.friction = (own, *shape.friction[1:])


def lighten(spec: Any, ambient: float, sun: float) -> None:
    """More light from all sides, and so much from above."""
    spec.visual.headlight.ambient, spec.lights[0].diffuse = (ambient,) * 3, (sun,) * 3


def weigh(spec: Any, density: float, **masses: float) -> None:
    """Give all shapes of a robot a density, and bodies of one shape a mass where it is not 0.

    Their inertia is proportional to it.
    """
    for shape in spec.geoms[1:]:
        shape.density = density
    for body, own in masses.items():
        if own > 0.0:
            spec.body(body).first_geom().mass = own


class Reweighted:
    """A robot whose bodies get explicit masses, where they are not 0, after it was compiled.

    RRLS writes masses into the compiled model, so inertia and all else that follows from masses stay as they were.
    """

    def __init__(self, spec: Any, **masses: float) -> None:
        self.spec, self.masses = spec, masses

    def compile(self) -> Any:
        """The `MjModel`."""
        model = self.spec.compile()
        for body, own in self.masses.items():
            if own > 0.0:
                model.body(body).mass = own
        return model


def without_bounds(count: int) -> Callable[[Any], tuple[list[float], list[float]]]:
    """The ends of a space of so many rewards, as MO-Gymnasium's locomotion has them."""
    return lambda values: ([-math.inf] * count, [math.inf] * count)


def objectives(id: str, **terms: Term) -> dict[str, Any]:
    """A level whose terms are the vector of MO-Gymnasium's id; what fills them is hung on the level."""
    reward = without_bounds(len(terms))
    spaces = published(f"MO-Gymnasium {id}", "float64", low=-math.inf, high=math.inf, reward=reward)
    return {"terms": terms, "published": spaces}


@kernel
def bounded(value):
    """A number as it is observed."""
    return min(max(value, -BOUND), BOUND)


@kernel
def observe_motion(s, o, hidden, fastest):
    """Positions but for the first `hidden`, which say how far the robot is from the start, and velocities, of at most
    `fastest`."""
    for j in range(o.positions.size):
        o.positions[j] = bounded(s.qpos[j + hidden])
    for j in range(o.velocities.size):
        o.velocities[j] = min(max(s.qvel[j], -fastest), fastest)


def tell(canvas: Any, s: Any, speed: float, limit: float) -> None:
    """How far the robot has run, and how fast it is, in the head of its image."""
    canvas.caption(f"{s.x:.1f} m run", f"{speed:.1f} m/s, limit {limit:.1f}")


@kernel
def turned(vx, vy, heading):
    """A velocity along a heading and to the left of it, each within the bounds of rewards."""
    c, s = cos(heading), sin(heading)
    ahead, aside = c * vx + s * vy, c * vy - s * vx
    return min(max(ahead, -FASTEST), FASTEST), min(max(aside, -FASTEST), FASTEST)


@kernel
def start_near(p, s, rng):
    """Positions and velocities uniform within `noise` of those of the model."""
    for j in range(s.qpos.size):
        s.qpos[j] += uniform(rng, -p.noise, p.noise)
    for j in range(s.qvel.size):
        s.qvel[j] = uniform(rng, -p.noise, p.noise)


@kernel
def turn_motors(s, a):
    """The action as it is."""
    for j in range(a.size):
        s.ctrl[j] = a[j]


@kernel
def effort(a):
    """Sum of the squares of the actions."""
    total = 0.0
    for j in range(a.size):
        total += a[j] * a[j]
    return total
