"""The coin game: whoever picks up the other's coin gains as much as with its own, and the other loses twice that.

## Description
Two agents walk on a small grid without borders, with a coin of each agent's color. An agent gets 1 for any coin; if it
is the other's, the other loses 2. Agents that only pick up their own coins earn 1 per coin together, greedy ones
nothing on average (Lerer and Peysakhovich, "Maintaining cooperation in complex social dilemmas using deep reinforcement
learning", arXiv 1707.01068; Foerster et al., "Learning with Opponent-Learning Awareness", AAMAS 2018). Moves, rewards
and observations are those of JaxMARL's coin_game (Rutherford et al., NeurIPS 2024), where recorded games of its version
0.2.0 are the same, move for move: every `round_steps` steps everything is put on random cells again, without a reward
in that step. Different: an episode consists of ten rounds and ends by truncation (in JaxMARL 0.1.0 every round was an
episode, in 0.2.0 all are one, and the end of a round is in `info`); weights of the terms take the place of the payoff
matrix; there are larger grids.

Scripted players: "fair" goes to its own coin, around the other's; where both are in one cell it waits beside it until
the other agent can take them in the same step; "greedy" goes to the nearest coin; "tit_for_tat" is fair until the other
picks up its coin, and then takes one in return; "spiteful" goes to the other's coin.

## Action Space
Move one cell right, left, down or up, or stay; the right border is next to the left one, the lower to the upper.

## Observation Space
Planes of 0 and 1 as the last axis: the agent itself, the other, the own coin, the other's coin. With
`egocentric=True` the grid is shifted such that the agent is in its middle.

## Rewards
`own` is 1 for the own coin, `other` 1 for the other's, and `lost` (weight 2) is -1 for a coin of the agent that the
other picked up. `social` as in MatrixGame-v0.

## Costs
None.

## Starting State
Agents and coins are on random cells, which may be the same. A coin that was picked up appears on a random cell.

## Episode End
Truncation: 100 steps, 10 rounds. Success is not defined.

## Parameters
They matter with `reward="inequity"` only, see MatrixGame-v0.

## Reference Scores
Mean return of both agents together over seeds 0 to 99. The expert is "fair".

## Version History
v0: first version.
"""

from rlenvs.core import below, block, discrete, flag, i4, i8, integer, kernel, term, world
from rlenvs.kits.boards.drawing import pressed_move
from rlenvs.multi.dilemmas import preferences
from rlenvs.multi.dilemmas.preferences import add_social
from rlenvs.multi.dilemmas.render import draw_coin_game

LARGEST, AGENTS = 9, 2
ACROSS, ALONG = (0, 0, 1, -1, 0), (1, -1, 0, 0, 0)  # of right, left, down, up, stay
STAY = 4
FAR = 1 << 20

SPEC = world(
    "CoinGame-v0",
    doc=__doc__,
    source="JaxMARL 0.2.0 coin_game (Rutherford et al., NeurIPS 2024); Lerer and Peysakhovich, arXiv 1707.01068",
    agents=True,
    params=preferences.PARAMS,
    options={
        "side": integer(3, 2, LARGEST, "rows and columns"),
        "round_steps": integer(10, 1, 10_000, "steps of a round"),
        "egocentric": flag(False, "whether the grid is shifted such that the agent is in its middle"),
        "reward": preferences.REWARD,
    },
    sizes=lambda values: {"agents": AGENTS, "side": values.side},
    state={
        "position": i4(AGENTS, 2).index_of("side"),
        "coin": i4(AGENTS, 2).index_of("side"),  # of each agent's color
        "debt": i8(AGENTS),  # coins that the other took, more than were taken in return
        **preferences.STATE,
    },
    observation={
        "planes": block(
            *("side", "side", 4),
            low=0.0,
            high=1.0,
            doc="itself, the other, own coin, the other's coin",
            raw=True,
            constant=True,
            whole=True,
        )
    },
    action=discrete("right", "left", "down", "up", "stay", idle=STAY),
    terms={
        "own": term(0.0, 1.0, 1.0, "1 for the own coin"),
        "other": term(0.0, 1.0, 1.0, "1 for the other's coin"),
        "lost": term(-1.0, 0.0, 2.0, "-1 for an own coin that the other picked up"),
        **preferences.TERMS,
    },
    horizon=100,
    lanes=True,
    fps=4,
    expert_sees="state",
    players=("fair", "tit_for_tat", "greedy", "spiteful"),
    probe=preferences.PROBE,
    levels={
        "egocentric": {"egocentric": True},
        "collective": {"reward": "collective"},
        "inequity": {"reward": "inequity"},
        "large": {"side": 5, "round_steps": 100},
    },
)


@SPEC.reset
def reset(p, s, rng):
    begin_round(p, s, rng)


@kernel
def begin_round(p, s, rng):
    """Everything on random cells."""
    for k in range(AGENTS):
        s.position[k, 0], s.position[k, 1] = below(rng, p.side), below(rng, p.side)
        drop_coin(p, s, k, rng)


@kernel
def wrapped(side, place):
    """A row or column on a grid without borders, from one that is off by less than a side."""
    return place + side if place < 0 else (place - side if place >= side else place)


@kernel
def drop_coin(p, s, owner, rng):
    s.coin[owner, 0], s.coin[owner, 1] = below(rng, p.side), below(rng, p.side)


@kernel
def stands_on(s, k, owner):
    """Whether agent k is where the coin of an agent is."""
    return s.position[k, 0] == s.coin[owner, 0] and s.position[k, 1] == s.coin[owner, 1]


@SPEC.step
def step(p, s, a, rng, r):
    for k in range(AGENTS):
        s.position[k, 0] = wrapped(p.side, s.position[k, 0] + ACROSS[a[k]])
        s.position[k, 1] = wrapped(p.side, s.position[k, 1] + ALONG[a[k]])
    for owner in range(AGENTS):
        own, taken = stands_on(s, owner, owner), stands_on(s, 1 - owner, owner)
        r.own[owner] = 1.0 if own else 0.0
        r.other[1 - owner] = 1.0 if taken else 0.0
        r.lost[owner] = -1.0 if taken else 0.0
        if own or taken:
            drop_coin(p, s, owner, rng)
    for owner in range(AGENTS):
        if r.lost[owner] < r.lost[1 - owner]:  # what both take in a step is even
            s.debt[owner] += 1
            s.debt[1 - owner] = max(s.debt[1 - owner] - 1, 0)
    rounds = (s.elapsed + 1.0) / p.round_steps  # a remainder would be found for one lane after the other
    if rounds == int(rounds):
        begin_round(p, s, rng)
        for k in range(AGENTS):
            r.own[k], r.other[k], r.lost[k] = 0.0, 0.0, 0.0
    for k in range(AGENTS):
        s.gain[k] = p.weights[0] * r.own[k] + p.weights[1] * r.other[k] + p.weights[2] * r.lost[k]
    add_social(p, s, r)


@kernel
def cell_of(p, s, k, places, j):
    """The cell of what place j of some is, as agent k sees it."""
    row, column = places[j, 0], places[j, 1]
    if p.egocentric:
        row = wrapped(p.side, row + p.side // 2 - s.position[k, 0])
        column = wrapped(p.side, column + p.side // 2 - s.position[k, 1])
    return row * p.side + column


@SPEC.observe
def observe(p, s, k, o):
    planes, other, side = o.planes, 1 - k, p.side
    me, you = cell_of(p, s, k, s.position, k), cell_of(p, s, k, s.position, other)
    mine, yours = cell_of(p, s, k, s.coin, k), cell_of(p, s, k, s.coin, other)
    for i in range(planes.shape[0]):  # comparisons: in lanes sooner than writes at four places that differ
        for j in range(planes.shape[1]):
            cell = i * side + j
            planes[i, j, 0] = 1.0 if me == cell else 0.0
            planes[i, j, 1] = 1.0 if you == cell else 0.0
            planes[i, j, 2] = 1.0 if mine == cell else 0.0
            planes[i, j, 3] = 1.0 if yours == cell else 0.0


@kernel
def apart(side, here, there):
    """Distance along a border that closes."""
    gap = abs(here - there)
    return min(gap, side - gap)


@kernel
def distance(p, row, column, s, owner):
    """Steps from a cell to the coin of an agent."""
    return apart(p.side, row, s.coin[owner, 0]) + apart(p.side, column, s.coin[owner, 1])


@kernel
def detour(p, row, column, s, owner, avoided):
    """Steps more from a cell to the coin of an agent where that of `avoided` is on the way, or in the cell."""
    aside = distance(p, row, column, s, avoided)
    if aside == 0:
        return 2 * p.side
    straight = row == s.coin[owner, 0] or column == s.coin[owner, 1]
    here = distance(p, row, column, s, owner)
    between = distance(p, s.coin[owner, 0], s.coin[owner, 1], s, avoided)
    return 2 if straight and aside + between == here and between > 0 else 0


@kernel
def towards(p, s, k, owner, avoided):
    """The move that brings agent k nearest to the coin of an agent, not onto the coin of `avoided` (-1 for none)."""
    best, nearest = STAY, FAR
    for move in range(5):
        row, column = wrapped(p.side, s.position[k, 0] + ACROSS[move]), wrapped(p.side, s.position[k, 1] + ALONG[move])
        far = distance(p, row, column, s, owner)
        if avoided >= 0:
            far += detour(p, row, column, s, owner, avoided)
        if far < nearest:
            best, nearest = move, far
    return best


@kernel
def fairly(p, s, k):
    """The move to the own coin, around the other's; to both in one cell when the other agent gets there, too."""
    if distance(p, s.coin[k, 0], s.coin[k, 1], s, 1 - k) > 0:
        return towards(p, s, k, k, 1 - k)
    mine = distance(p, s.position[k, 0], s.position[k, 1], s, k)
    theirs = distance(p, s.position[1 - k, 0], s.position[1 - k, 1], s, k)
    if mine <= 1 and theirs > 1:
        return STAY if mine == 1 else 0  # off the cell: who stays takes the coins
    return towards(p, s, k, k, -1)


@SPEC.player("fair")
def fair(p, s, k, a, rng):
    """To the own coin, around the other's."""
    a[k] = fairly(p, s, k)


@SPEC.player("tit_for_tat")
def tit_for_tat(p, s, k, a, rng):
    """Fair, and to the other's coin after a loss."""
    a[k] = towards(p, s, k, 1 - k, -1) if s.debt[k] > 0 else fairly(p, s, k)


@SPEC.player("greedy")
def greedy(p, s, k, a, rng):
    """To the nearest coin."""
    row, column = s.position[k, 0], s.position[k, 1]
    own = distance(p, row, column, s, k) <= distance(p, row, column, s, 1 - k)
    a[k] = towards(p, s, k, k if own else 1 - k, -1)


@SPEC.player("spiteful")
def spiteful(p, s, k, a, rng):
    """To the other's coin."""
    a[k] = towards(p, s, k, 1 - k, -1)


@SPEC.draw
def draw(canvas, p, s):
    draw_coin_game(canvas, p, s)


@SPEC.text
def text(p, s):
    side = int(p.side)
    rows = [["." for _ in range(side)] for _ in range(side)]
    for marks, places in (("ab", s.coin), ("AB", s.position)):
        for mark, (row, column) in zip(marks, places.tolist(), strict=True):
            rows[row][column] = mark
    return "\n".join("".join(row) for row in rows)


@SPEC.keys
def keys(pressed, values):
    move = pressed_move(pressed, (("right", "d"), ("left", "a"), ("down", "s"), ("up", "w")))
    return STAY if move is None else move
