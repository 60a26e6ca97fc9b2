"""Coins and the exit of Searing Spotlights: where they are placed, which of them the agent has, and which is next."""

from rlenvs.core import below, kernel
from rlenvs.single.memory.agent import SIDE
from rlenvs.single.memory.spotlights import coin_radius, touches

EDGE = 7  # px, how far coins and exit are from the border at least
APART, APART_FROM_AGENT, TRIES = 21, 28, 10_000


@kernel
def inset(place):
    return max(EDGE, min(place, SIDE - EDGE))


@kernel
def is_free(s, x, y, others):
    """Whether a place is far enough from the agent and from the first of the other objects, which lie in `drafts`."""
    for k in range(others):
        apart = APART_FROM_AGENT if k == 0 else APART
        dx, dy = x - s.draft_x[k], y - s.draft_y[k]
        if dx * dx + dy * dy < apart * apart:
            return False
    return True


@kernel
def find_place(s, rng, others):
    """Draw a place apart from what is there; it is draft number `others`."""
    for _ in range(TRIES):
        x, y = below(rng, SIDE), below(rng, SIDE)
        if is_free(s, x, y, others):
            break
    s.draft_x[others], s.draft_y[others] = x, y


@kernel
def new_coin(s, rng, others):
    """One more coin, apart from the agent and so many other objects."""
    find_place(s, rng, others)
    s.coin_x[s.coins] = inset(s.draft_x[others] + 2 + below(rng, 2))
    s.coin_y[s.coins] = inset(s.draft_y[others] + 2 + below(rng, 2))
    s.coins += 1


@kernel
def collect(p, s, rng, r):
    """Coins that the agent touches are gone."""
    k = 0
    while k < s.coins:
        if not touches(p, s, s.coin_x[k], s.coin_y[k], float(coin_radius(p))):
            k += 1
            continue
        r.coin += 1.0
        s.collected += 1
        s.coins -= 1
        for j in range(k, s.coins):
            s.coin_x[j], s.coin_y[j] = s.coin_x[j + 1], s.coin_y[j + 1]
        if p.endless:
            s.draft_x[0], s.draft_y[0] = s.coin_x[0], s.coin_y[0]  # the new coin is far from the old one
            new_coin(s, rng, 1)
            s.coin_clock = 0
            break


@kernel
def goal_x(s):
    return int(s.coin_x[0]) if s.coins > 0 else int(s.exit_x)


@kernel
def goal_y(s):
    return int(s.coin_y[0]) if s.coins > 0 else int(s.exit_y)
