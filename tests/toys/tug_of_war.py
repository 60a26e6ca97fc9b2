"""A small world of sides with continuous actions, for the tests of tournaments: pull a rope with two hands."""

from rlenvs.core import block, continuous, f8, flag, role, term, world

SPEC = world(
    "TugOfWar-v0",
    doc="Pull the rope to your side.",
    options={"handicap": flag(False, doc="the second agent has one hand, and does not see the rope")},
    sizes=lambda values: {"agents": 2},
    teams=lambda values: [0, 1],
    roles=lambda values: [
        role("first", 3, 2),
        role("second", 2 if values.handicap else 3, 1 if values.handicap else 2),
    ],
    agents=True,
    state={"rope": f8, "pulls": f8("agents")},
    observation={"seen": block(3, low=-10, high=10, raw=True, doc="own pull, the other's pull, the rope")},
    action=continuous("left hand", "right hand"),
    terms={"pull": term(-2, 2, doc="pull")},
    horizon=5,
)


@SPEC.reset
def reset(p, s, rng):
    s.rope = 0.0


@SPEC.step
def step(p, s, a, rng, r):
    for k in range(2):
        s.pulls[k] = a[k, 0]
        r.pull[k] = a[k, 0]
    s.rope += s.pulls[0] - s.pulls[1]
    r.success[0] = s.rope > 0.5
    r.success[1] = s.rope < -0.5


@SPEC.observe
def observe(p, s, k, o):
    o.seen[0] = s.pulls[k]
    o.seen[1] = s.pulls[1 - k]
    o.seen[2] = s.rope
