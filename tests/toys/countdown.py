"""A small multi-agent world for tests: agent k dies after k + 1 steps."""

from rlenvs.core import block, discrete, i8, term, world

SPEC = world(
    "Countdown-v0",
    doc=__doc__,
    agents=True,
    sizes=lambda values: {"agents": 3},
    state={"clock": i8},
    observation={"clock": block(1, low=0.0, high=10.0)},
    action=discrete("wait", "wait too"),
    terms={"alive": term(0.0, 1.0)},
    horizon=10,
    same_start=True,
)


@SPEC.reset
def reset(p, s, rng):
    s.clock = 0


@SPEC.step
def step(p, s, a, rng, r):
    s.clock += 1
    for k in range(s.alive.shape[0]):
        if s.alive[k]:
            r.alive[k] = 1.0
            r.terminated[k] = s.clock == k + 1


@SPEC.observe
def observe(p, s, k, o):
    o.clock[0] = s.clock
