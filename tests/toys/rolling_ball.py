"""A small MuJoCo world for tests: a ball on a slope, pushed along x, and an arm on a hinge. Actions can break it."""

import math

from rlenvs.core import block, choice, continuous, f8, image, integer, param, term, uniform, world
from rlenvs.core.declare.errors import ParameterError
from rlenvs.kits.engines.mujoco import ENGINE, STATE

BREAK = 1.0  # an action that makes the simulation impossible; random ones never are so large

SPEC = world(
    "RollingBall-v0",
    doc=__doc__,
    params={
        "mass": param(0.1, 0.01, 10.0, "kg"),
        "friction": param(0.5, 0.0, 2.0),
        "radius": param(0.05, 0.01, 0.2, "m"),
        "gain": param(1.0, 0.1, 10.0, "N"),
        "gravity": param(9.81, 0.0, 20.0, "m/s^2"),
        "pole": param(0.3, 0.1, 0.9, "m", "length of the arm"),
    },
    options={
        "fault": choice("position", "force", doc="how the simulation is made impossible"),
        "pixels": integer(0, 0, 64, "of an image"),
        "points": integer(0, 0, 64, "of a cloud"),
        "rate": integer(50, 1, 1000, "control steps per second"),
        "model": choice(
            "well",
            "odd",
            "refused",
            "short",
            "parts",
            doc="odd: a field of the wrong size; short: no long arms; parts: long arms have one more",
        ),
    },
    sizes=lambda v: {"pixels": v.pixels, "points": v.points, "odd": 2 if v.model == "odd" else 3},
    state={
        "ball": f8("odd"),
        "touch": f8(1),
        "xpos": f8("nbody", 3),
        "side_cloud": f8("points", 3),
        "start": f8(3),
        **STATE,
    },
    observation={
        "ball": block(3, low=-10.0, high=10.0, unit="m"),
        "velocity": block(3, low=-20.0, high=20.0, unit="m/s"),
        "angle": block(low=-20.0, high=20.0, unit="rad"),
        "touch": block(low=0.0, high=100.0, unit="N"),
        "cloud": block("points", 3, low=-4.0, high=4.0, unit="m", raw=True, constant=True),
    },
    images={"side": image("pixels", "pixels", 3), "side_depth": image("pixels", "pixels", 1)},
    action=continuous("push", "break"),
    terms={"height": term(-10.0, 10.0, doc="of the ball, m")},
    horizon=30,
    fps=lambda v: v.rate,
    engine=ENGINE,
)


@SPEC.model
def model(values):
    import mujoco

    if values.model == "short" and values.pole > 0.5:
        raise ParameterError(f"pole={values.pole:g} m is longer than 0.5 m; choose a shorter one")
    kinds, sensors = mujoco.mjtGeom, mujoco.mjtSensor
    spec = mujoco.MjSpec()
    spec.option.timestep = 0.005
    spec.option.gravity = (0.0, 0.0, -values.gravity)
    floor = spec.worldbody.add_geom(name="slope", type=kinds.mjGEOM_PLANE, size=(5, 5, 0.1))
    floor.quat, floor.friction = (math.cos(0.05), 0.0, math.sin(0.05), 0.0), (0.0, 0.0, 0.0)
    spec.worldbody.add_light(pos=(0, 0, 3))
    camera = spec.worldbody.add_camera(name="side", pos=(0.0, 0.0, 1.0), fovy=60.0)
    camera.quat = (1.0, 0.0, 0.0, 0.0)  # downwards
    ball = spec.worldbody.add_body(name="ball", pos=(0.0, 0.0, values.radius + 0.02))
    ball.add_freejoint(name="ball")
    ball.add_geom(
        name="ball", type=kinds.mjGEOM_SPHERE, size=(values.radius, 0, 0), mass=values.mass, rgba=(0.8, 0.4, 0.0, 1.0),
        friction=(values.friction, 0.005, 0.0001),
    )  # fmt: skip
    site = ball.add_site(name="ball", size=(values.radius * 1.05, 0, 0), rgba=(0, 0, 0, 0))
    site.type = kinds.mjGEOM_SPHERE
    arm = spec.worldbody.add_body(name="arm", pos=(0.0, 1.0, 0.5))
    arm.add_joint(name="arm", type=mujoco.mjtJoint.mjJNT_HINGE, axis=(0, 1, 0))
    arm.add_geom(
        type=kinds.mjGEOM_CAPSULE,
        size=(0.02, 0, 0),
        fromto=(0, 0, 0, values.pole * (values.model != "refused"), 0, 0),
        mass=0.1,
    )
    if values.model == "parts" and values.pole > 0.5:
        arm.add_body(name="part", pos=(0.0, 0.0, 0.1))
    motor = spec.add_actuator(name="push", trntype=mujoco.mjtTrn.mjTRN_JOINT, target="ball")
    motor.gear = (values.gain, 0, 0, 0, 0, 0)
    motor.ctrlrange = (-1, 1)
    place = spec.add_sensor(name="ball", type=sensors.mjSENS_FRAMEPOS, objname="ball")
    place.objtype = mujoco.mjtObj.mjOBJ_XBODY
    touch = spec.add_sensor(name="touch/0", type=sensors.mjSENS_TOUCH, objname="ball")
    touch.objtype = mujoco.mjtObj.mjOBJ_SITE
    return spec


@SPEC.reset
def reset(p, s, rng):
    s.qpos[0] = uniform(rng, -0.2, 0.2)
    s.qpos[2] = p.radius + 0.02 + 0.1 * abs(s.qpos[0])
    s.qpos[7] = uniform(rng, -1.0, 1.0)


@SPEC.after_reset
def after_reset(p, s, rng):
    for j in range(3):
        s.start[j] = s.ball[j]


@SPEC.act
def act(p, s, a, rng):
    s.ctrl[0] = a[0]
    if a[1] >= BREAK:
        if p.fault == 0:
            s.qpos[0] = math.nan
        else:
            s.qfrc_applied[0] = 1e30


@SPEC.outcome
def outcome(p, s, a, rng, r):
    r.height = min(max(s.ball[2], -10.0), 10.0)
    r.terminated = s.ball[0] > 1.0


@SPEC.observe
def observe(p, s, o):
    for j in range(3):
        o.ball[j] = s.ball[j]
        o.velocity[j] = s.qvel[j]
    o.angle = s.qpos[7]
    o.touch = s.touch[0]
    for i in range(p.points):
        for j in range(3):
            o.cloud[i, j] = s.side_cloud[i, j]
