"""Small worlds that have the spaces of a published environment by default: a pendulum whose torque is in N m, which
observes float32 or float64, and two walkers that see whole numbers."""

import math

from rlenvs.core import (
    below,
    block,
    continuous,
    discrete,
    f8,
    i8,
    maths,
    param,
    published,
    role,
    term,
    uniform,
    world,
)

FASTEST, STRONGEST = 8.0, 2.0
LANE = 5


def swing(name, dtype, **more):
    """A pendulum with the spaces of Gymnasium's, which observes numbers of this type; `more` as for `world`."""
    made = world(
        name,
        doc="Swing a pendulum up.",
        params={"torque": param(1.0, 0.1, 2.0, "", "that reaches the pendulum")},
        state={"angle": f8, "speed": f8},
        observation={
            "direction": block(2, low=-1.0, high=1.0, doc="cosine and sine of the angle"),
            "speed": block(low=-FASTEST, high=FASTEST, unit="rad/s"),
        },
        action=continuous("torque", low=-STRONGEST, high=STRONGEST),
        terms={"upright": term(-(math.pi**2 + 0.1 * FASTEST**2 + 0.001 * STRONGEST**2), 0.0)},
        horizon=12,
        published=published("Gymnasium Pendulum-v1", dtype, low=[-1.0, -1.0, -FASTEST], high=[1.0, 1.0, FASTEST]),
        expert_sees="state",
        **more,
    )

    @made.reset
    def reset(p, s, rng):
        s.angle = uniform(rng, -math.pi, math.pi)
        s.speed = uniform(rng, -1.0, 1.0)

    @made.step
    def step(p, s, a, rng, r):
        off = (s.angle + math.pi) % (2.0 * math.pi) - math.pi
        r.upright = -(off * off + 0.1 * s.speed * s.speed + 0.001 * a[0] * a[0])
        speed = s.speed + (15.0 * maths.sin(s.angle) + 3.0 * p.torque * a[0]) * 0.05
        s.speed = min(max(speed, -FASTEST), FASTEST)
        s.angle += s.speed * 0.05

    @made.observe
    def observe(p, s, o):
        o.direction[0] = maths.cos(s.angle)
        o.direction[1] = maths.sin(s.angle)
        o.speed = s.speed

    @made.expert
    def expert(p, s, a):
        a[0] = 3.0 * maths.sin(s.angle) + s.speed  # beyond the bounds at times

    @made.keys
    def keys(pressed, values):
        return [STRONGEST * (("left" in pressed) - ("right" in pressed))]

    return made


SWING = swing("Swing-v0", "float32")
SWING64 = swing("Swing64-v0", "float64")

WALKERS = world(
    "Walkers-v0",
    doc="Two agents walk along a lane; the second does not see how loud the first one is.",
    agents=True,
    sizes=lambda values: {"agents": 2},
    roles=lambda values: [role("talker", 3, 3), role("walker", 2, 3)],
    state={"place": i8("agents"), "loud": i8},
    observation={"cells": block(3, low=0.0, high=LANE - 1.0, raw=True, whole=True, constant=True)},
    action=discrete("left", "stay", "right", idle=1),
    players=("polite",),
    terms={"together": term(-LANE, 0.0)},
    horizon=10,
    published=published(
        "mpe2 walkers_v0",
        "int32",
        low=0,
        high=lambda values: LANE,
        reward=lambda values: ([-LANE + 1.0], [0.0]),
        state="joined",
    ),
)


@WALKERS.reset
def reset_walkers(p, s, rng):
    for k in range(2):
        s.place[k] = below(rng, LANE)
    s.loud = below(rng, LANE)


@WALKERS.step
def step_walkers(p, s, a, rng, r):
    for k in range(2):
        s.place[k] = min(max(s.place[k] + a[k] - 1, 0), LANE - 1)
    s.loud = (s.loud + 1) % LANE
    for k in range(2):
        r.together[k] = -abs(s.place[0] - s.place[1])
        r.success[k] = s.place[0] == s.place[1]


@WALKERS.observe
def observe_walkers(p, s, k, o):
    o.cells[0] = s.place[k]
    o.cells[1] = s.place[1 - k]
    o.cells[2] = s.loud if k == 0 else 0


@WALKERS.player("polite")
def polite(p, s, k, a, rng):
    """To the other one."""
    a[k] = 1 + (s.place[1 - k] > s.place[k]) - (s.place[1 - k] < s.place[k])
