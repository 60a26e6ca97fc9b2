"""Scenes for tests of the planar kit: one world, compiled once; the option `scene` says what is in it."""

import math

from rlenvs.core import block, choice, continuous, f8, integer, kernel, param, term, uniform, world
from rlenvs.core.catalogue.make import new_batch
from rlenvs.core.declare.maths import sin_cos
from rlenvs.kits import planar

SCENE = choice(
    "fall", "pendulum", "slope", "stack", "bullet", "gas", "chain", "slider", "sensor", "rays", "track", "empty"
)
FALL, PENDULUM, SLOPE, STACK, BULLET, GAS, CHAIN, SLIDER, SENSOR, RAYS, TRACK, EMPTY = range(12)
RAYS_CAST = 40

SPEC = world(
    "PlanarScenes-v0",
    doc="Scenes of rigid bodies.",
    params={
        "gravity": param(10.0, 0.0, 100.0, "m/s^2", "gravity"),
        "dt": param(0.02, 0.001, 0.1, "s", "time step"),
        "tilt": param(0.3, 0.0, 1.5, "rad", "of the slope"),
        "friction": param(0.5, 0.0, 10.0, "", "friction"),
        "restitution": param(0.0, 0.0, 1.0, "", "restitution"),
        "speed": param(1.0, -200.0, 200.0, "m/s", "of what moves at first"),
        "ratio": param(1.0, 0.001, 1000.0, "", "of masses"),
    },
    options={
        "scene": SCENE,
        "count": integer(10, 1, 60, "bodies"),
        "velocity_iterations": integer(8, 1, 180, "per step"),
        "position_iterations": integer(3, 1, 60, "per step"),
    },
    state={**planar.fields(64, 200, 1000, 16, 400, strips=32), "ray": f8(RAYS_CAST, 4), "hit": f8(RAYS_CAST)},
    observation={"x": block(low=-1e3, high=1e3, doc="of body 1")},
    action=continuous("force"),
    terms={"none": term(0.0, 0.0)},
    horizon=100_000,
)


def scene(name, worlds=1, **keywords):
    """A batch of worlds with this scene, and a function that steps it."""
    batch = new_batch(SPEC, worlds, scene=name, **keywords)
    batch.seed(0)
    batch.reset()

    def step(times=1):
        for _ in range(times):
            batch.step([[0.0]] * worlds)

    return batch, step


@SPEC.reset
def reset(p, s, rng):
    ground = planar.add_body(s, planar.STATIC, 0.0, 0.0, 0.0)
    if p.scene == PENDULUM:
        body = planar.add_body(s, planar.DYNAMIC, 1.0, 0.0, 0.0)
        planar.add_circle(s, body, 0.1, 0.0, 0.0, 1.0)
        planar.add_revolute(s, ground, body, 0.0, 0.0, -1.0, 0.0)
    elif p.scene == FALL:
        body = planar.add_body(s, planar.DYNAMIC, 0.0, 100.0, 0.0)
        planar.add_box(s, body, 0.5, 0.5, 1.0)
        s.velocity[body, 0], s.spin[body] = p.speed, 1.0
    elif p.scene == SLOPE:
        sn, c = sin_cos(p.tilt)
        k = planar.add_edge(s, ground, -50.0 * c, 50.0 * sn, 50.0 * c, -50.0 * sn)
        planar.set_material(s, k, p.friction, 0.0)
        body = planar.add_body(s, planar.DYNAMIC, 0.515 * sn, 0.515 * c, -p.tilt)
        planar.set_material(s, planar.add_box(s, body, 1.0, 0.5, 1.0), p.friction, 0.0)
    elif p.scene == STACK:
        planar.add_edge(s, ground, -10.0, 0.0, 10.0, 0.0)
        for i in range(p.count):
            body = planar.add_body(s, planar.DYNAMIC, 0.02 * (i % 3), 0.55 + 1.05 * i, 0.0)
            planar.add_box(s, body, 0.5, 0.5, p.ratio if i == p.count - 1 else 1.0)
    elif p.scene == BULLET:
        planar.add_edge(s, ground, 5.0, -10.0, 5.0, 10.0)
        body = planar.add_body(s, planar.DYNAMIC, 0.0, 0.0, 0.3)
        planar.add_box(s, body, 0.05, 0.02, 1.0)
        s.velocity[body, 0] = p.speed
    elif p.scene == GAS:
        set_gas(p, s, ground, rng)
    elif p.scene == CHAIN:
        last = ground
        for i in range(10):
            body = planar.add_body(s, planar.DYNAMIC, 0.5 + i, 0.0, 0.0)
            planar.add_box(s, body, 0.5, 0.1, p.ratio if i == 9 else 1.0)
            planar.add_revolute(s, last, body, 0.5 if i > 0 else 0.0, 0.0, -0.5, 0.0)
            last = body
        planar.set_limits(s, 0, -0.5, 0.5)
    elif p.scene == SLIDER:
        body = planar.add_body(s, planar.DYNAMIC, 0.0, 0.0, 0.0)
        planar.add_box(s, body, 0.2, 0.2, 25.0)  # 4 kg
        planar.add_prismatic(s, ground, body, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)
        planar.set_limits(s, 0, -1.0, 2.0)
        planar.set_motor(s, 0, p.speed, 60.0)
    elif p.scene == SENSOR:
        planar.set_sensor(s, planar.add_box(s, ground, 1.0, 1.0, 0.0))
        body = planar.add_body(s, planar.DYNAMIC, -3.0, 0.0, 0.0)
        planar.add_circle(s, body, 0.25, 0.0, 0.0, 1.0)
        s.velocity[body, 0] = p.speed
    elif p.scene == RAYS:
        set_rays(s, ground, rng)
    elif p.scene == TRACK:
        for i in range(40):
            planar.add_edge(s, ground, 20.0 - i, 0.0, 19.0 - i, 0.0)
        planar.link_edges(s, 0, 39)
        body = planar.add_body(s, planar.DYNAMIC, -15.0, 0.515, 0.0)
        planar.set_material(s, planar.add_box(s, body, 0.5, 0.5, 1.0), 0.0, 0.0)
        s.velocity[body, 0] = p.speed
    planar.prepare(s)
    for i in range(RAYS_CAST):
        s.hit[i] = planar.cast_ray(s, s.ray[i, 0], s.ray[i, 1], s.ray[i, 2], s.ray[i, 3], 1)


@kernel
def set_gas(p, s, ground, rng):
    """Balls and boxes in a box, none of which begins inside of another."""
    for i in range(4):
        sn, c = (2 - i) * (i % 2), (1 - i) * (1 - i % 2)
        k = planar.add_edge(s, ground, 10.0 * (c - sn), 10.0 * (sn + c), 10.0 * (-c - sn), 10.0 * (c - sn))
        planar.set_material(s, k, p.friction, p.restitution)
    for i in range(p.count):
        x, y = -8.5 + 2.0 * (i % 8), -8.5 + 2.0 * (i // 8)
        body = planar.add_body(s, planar.DYNAMIC, x, y, uniform(rng, -3.0, 3.0))
        density = p.ratio if i % 4 == 0 else 1.0
        if i % 2:
            k = planar.add_circle(s, body, 0.5, 0.0, 0.0, density)
        else:
            k = planar.add_box(s, body, 0.4, 0.5, density)
        planar.set_material(s, k, p.friction, p.restitution)
        s.velocity[body, 0], s.velocity[body, 1] = uniform(rng, -5.0, 5.0), uniform(rng, -5.0, 5.0)


@kernel
def set_rays(s, ground, rng):
    """Shapes of all kinds, standing and not, and rays through them."""
    for i in range(30):
        body = ground
        x, y, angle = uniform(rng, -10.0, 10.0), uniform(rng, -5.0, 5.0), uniform(rng, -3.0, 3.0)
        if i >= 20:
            body = planar.add_body(s, planar.DYNAMIC, x, y, angle)
            x, y = 0.1, 0.2
        if i % 3 == 0:
            planar.add_circle(s, body, 0.4, x, y, 1.0)
        elif i % 3 == 1:
            planar.add_box_at(s, body, 0.5, 0.3, x, y, 0.7, 1.0)
        else:
            planar.add_edge(s, body, x, y, x + 1.0, y + 0.5)
    for i in range(RAYS_CAST):
        s.ray[i, 0], s.ray[i, 1] = uniform(rng, -12.0, 12.0), uniform(rng, -7.0, 7.0)
        s.ray[i, 2], s.ray[i, 3] = uniform(rng, -12.0, 12.0), uniform(rng, -7.0, 7.0)


@SPEC.step
def step(p, s, a, rng, r):
    planar.push(s, 1, a[0], 0.0)
    planar.advance(s, p.dt, 0.0, -p.gravity, p.velocity_iterations, p.position_iterations, planar.SETTLED)


@SPEC.observe
def observe(p, s, o):
    o.x = s.centre[1, 0]


def corners(records, k):
    """The vertices of a shape in the world, as a list of points."""
    s = records
    b, f = s["shape_body"][k], s["shape_first"][k]
    x, y, c, sn = s["frame"][b]
    points = s["vertex"][f : f + s["shape_size"][k]]
    return [(x + c * u - sn * v, y + sn * u + c * v) for u, v in points]


def crossing(a, b, c, d):
    """The share of a-b at which it crosses c-d, 1.0 if it does not."""
    across = (b[0] - a[0]) * (d[1] - c[1]) - (b[1] - a[1]) * (d[0] - c[0])
    if across == 0.0:
        return 1.0
    t = ((c[0] - a[0]) * (d[1] - c[1]) - (c[1] - a[1]) * (d[0] - c[0])) / across
    u = ((c[0] - a[0]) * (b[1] - a[1]) - (c[1] - a[1]) * (b[0] - a[0])) / across
    return t if 0.0 <= t <= 1.0 and 0.0 <= u <= 1.0 else 1.0


def inside(point, polygon):
    """Whether a point lies in a convex polygon."""
    return all(
        (q[0] - p[0]) * (point[1] - p[1]) - (q[1] - p[1]) * (point[0] - p[0]) >= 0.0
        for p, q in zip(polygon, polygon[1:] + polygon[:1], strict=True)
    )


def period(length, gravity, amplitude):
    """Of a mathematical pendulum, by the arithmetic-geometric mean."""
    a, g = 1.0, math.cos(amplitude / 2.0)
    while abs(a - g) > 1e-15:
        a, g = (a + g) / 2.0, math.sqrt(a * g)
    return 2.0 * math.pi * math.sqrt(length / gravity) / a
