"""A small world with barriers: a cart that may not be faster than 1 m/s, in either direction."""

from rlenvs.core import block, continuous, cost, f8, flag, param, term, uniform, world

DOC = __doc__
SPEC = world(
    "DoubleIntegrator-v0",
    doc=DOC,
    params={"dt": param(0.1, 0.01, 1.0, "s", "time step")},
    options={"watched": flag(True, "whether there are barriers"), "braking": flag(False, "whether it knows to brake")},
    sizes=lambda v: {"limits": 2 if v.watched else 0},
    state={"place": f8, "speed": f8},
    observation={"speed": block(low=-2.0, high=2.0, doc="speed"), "place": block(low=-50.0, high=50.0, doc="place")},
    action=continuous("force"),
    terms={"place": term(-100.0, 100.0, doc="where it is")},
    costs={"fast": cost(0.0, doc="1 while too fast")},
    horizon=200,
    barriers="limits",
)


@SPEC.reset
def reset(p, s, rng):
    s.speed = uniform(rng, -1.0, 1.0)


@SPEC.step
def step(p, s, a, rng, r):
    s.speed += p.dt * a[0]
    s.place += p.dt * s.speed
    r.place = s.place
    r.fast = 1.0 if abs(s.speed) > 1.0 + 1e-6 else 0.0


@SPEC.observe
def observe(p, s, o):
    o.speed = s.speed
    o.place = s.place


@SPEC.barrier
def barrier(p, s, a, b):
    b.value[0], b.value[1] = 1.0 - s.speed, 1.0 + s.speed
    for k in range(2):
        b.drift[k] = 0.0
    b.slope[0, 0], b.slope[1, 0] = -p.dt, p.dt
    if p.braking:
        b.brake[0] = 0.25
