"""A small world with turns, for the tests: three take one to three matches each, and who takes the last one wins."""

from rlenvs.core import below, block, discrete, flag, i8, term, world


def declare(name="Nim-v0", waits_with_choices=False, reads_all=False, turn_of_nobody=False):
    """The world, or one with a fault."""
    spec = world(
        name,
        doc="Take matches.",
        agents=True,
        turns=True,
        sizes=lambda values: {"agents": 3},
        teams=lambda values: [0, 1, 2],
        options={"fault": flag(False, "not used")},
        state={"turn": i8, "left": i8},
        observation={"left": block(1, low=0, high=60, raw=True, whole=True)},
        action=discrete("one", "two", "three"),
        terms={"win": term(-1.0, 1.0, doc="1 for who takes the last match")},
        horizon=60,
    )

    @spec.reset
    def reset(p, s, rng):
        s.left = 40 + below(rng, 20)

    @spec.step
    def step(p, s, a, rng, r):
        mover = max(s.turn, 0)
        s.left = max(s.left - 1 - a[mover], 0)
        if reads_all:
            s.left = max(s.left - a[(mover + 1) % 3], 0)
        s.turn = (mover + 1) % 3
        if turn_of_nobody and s.left < 20:
            s.turn = -1
        if s.left == 0:
            s.turn = -1
            for k in range(3):
                r.win[k] = 1.0 if k == mover else -1.0
                r.success[k] = k == mover
                r.terminated[k] = True

    @spec.mask
    def mask(p, s, k, m):
        for j in range(3):
            m[j] = 1 if j == 0 or (s.turn == k and s.left > j) or waits_with_choices else 0

    @spec.observe
    def observe(p, s, k, o):
        o.left[0] = s.left

    return spec
