"""A small world for tests of what happens when numbers stop being finite: x grows by a factor that the action sets."""

import math

from rlenvs.core import block, continuous, f8, flag, param, term, uniform, world

SPEC = world(
    "Explosive-v0",
    doc=__doc__,
    params={"growth": param(1.0, 0.0, 1e308, "", "factor per step at full throttle")},
    options={
        "odd_reward": flag(False, "the reward is NaN in the third step"),
        "odd_view": flag(False, "the observation is NaN in the third step"),
    },
    state={"x": f8, "trail": f8(3), "steps": f8},
    observation={"x": block(low=-10.0, high=10.0), "steps": block(low=0.0, high=100.0)},
    action=continuous("throttle"),
    terms={"bulk": term(-1e9, 1e9)},
    horizon=20,
)


@SPEC.reset
def reset(p, s, rng):
    s.x = uniform(rng, 0.1, 0.2)


@SPEC.step
def step(p, s, a, rng, r):
    s.trail[2] = s.x
    s.x *= 1.0 + a[0] * p.growth
    s.steps += 1.0
    r.bulk = 1.0
    if p.odd_reward == 1 and s.steps == 3.0:
        r.bulk = math.nan
    r.success = True


@SPEC.observe
def observe(p, s, o):
    o.x = s.x
    o.steps = s.steps
    if p.odd_view == 1 and s.steps == 3.0:
        o.x = math.nan
