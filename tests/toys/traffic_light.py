"""A small world for tests with a mask: going (choice 2) is forbidden at red, in every other step from the second on."""

from rlenvs.core import block, discrete, i8, term, world

SPEC = world(
    "TrafficLight-v0",
    doc=__doc__,
    agents=True,
    sizes=lambda values: {"agents": 2},
    state={"clock": i8, "gone": i8("agents")},
    observation={"light": block(2, low=0.0, high=10.0)},
    action=discrete("wait", "look", "go"),
    terms={"gone": term(0.0, 1.0)},
    players=("careless",),
    horizon=6,
    same_start=True,
)


@SPEC.reset
def reset(p, s, rng):
    s.clock = 0


@SPEC.step
def step(p, s, a, rng, r):
    s.clock += 1
    for k in range(2):
        if s.alive[k] and a[k] == 2:
            s.gone[k] += 1
            r.gone[k] = 1.0
    r.terminated[1] = s.clock == 4


@SPEC.observe
def observe(p, s, k, o):
    o.light[0] = s.clock
    o.light[1] = s.gone[k]


@SPEC.mask
def mask(p, s, k, m):
    m[0] = 1
    m[1] = 1
    m[2] = (s.clock + 1) % 2


@SPEC.player("careless")
def careless(p, s, k, a, rng):
    a[k] = 2
