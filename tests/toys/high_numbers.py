"""A small world of sides for the tests of tournaments: whoever names the higher numbers wins."""

from rlenvs.core import below, block, choice, discrete, flag, i8, integer, term, world

SIDES = {"random": 1, "self": 2}


def sides_of(values):
    count = 1 if values.opponent == "random" else values.slots
    return [side for side in range(count) for _ in range(values.mates)]


SPEC = world(
    "HighNumbers-v0",
    doc="Name a number in each of four rounds; the highest sum wins.",
    options={
        "opponent": choice("random", "self", doc="who plays the other side"),
        "slots": integer(2, 2, 4, doc="sides, in self-play"),
        "mates": integer(1, 1, 2, doc="agents per side"),
        "start": integer(0, 0, 20, doc="what the first side has at the start"),
        "knockout": flag(False, doc="after each round the agents with the lowest sum leave"),
    },
    sizes=lambda values: {"agents": len(sides_of(values))},
    teams=sides_of,
    players=("high", "any", "low"),
    agents=True,
    state={"sums": i8("agents"), "bonus": i8},
    observation={
        "sums": block("agents", low=0, high=100, raw=True, doc="sums so far"),
        "bonus": block(low=0, high=4, raw=True, doc="the number that may not be named"),
    },
    action=discrete("0", "1", "2", "3", "4"),
    terms={"named": term(0, 4, doc="the number")},
    horizon=4,
)


@SPEC.reset
def reset(p, s, rng):
    for k in range(p.mates):
        s.sums[k] = p.start
    s.bonus = below(rng, 4)


@SPEC.step
def step(p, s, a, rng, r):
    lowest = 1000
    for k in range(s.sums.size):
        if s.alive[k]:
            if a[k] != s.bonus:
                s.sums[k] += a[k]
            r.named[k] = a[k]
            lowest = min(lowest, s.sums[k])
    highest = below(rng, 5) + s.sums[0] if p.opponent == 0 else 0
    for k in range(s.sums.size):
        highest = max(highest, s.sums[k])
    best = 0
    for k in range(s.sums.size):
        if p.knockout and s.sums[k] == lowest:
            r.terminated[k] = True
        if s.sums[k] == highest:
            best += 1
    for k in range(s.sums.size):
        r.success[k] = best == p.mates and s.sums[k] == highest


@SPEC.observe
def observe(p, s, k, o):
    for j in range(s.sums.size):
        o.sums[j] = s.sums[j]
    o.bonus = s.bonus


@SPEC.mask
def mask(p, s, k, m):
    for j in range(m.size):
        m[j] = j != s.bonus


@SPEC.player("high")
def high(p, s, k, a, rng):
    a[k] = 4


@SPEC.player("low")
def low(p, s, k, a, rng):
    a[k] = 0


@SPEC.player("any")
def anything(p, s, k, a, rng):
    a[k] = below(rng, 5)
