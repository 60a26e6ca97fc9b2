"""Lattice dilemma: agents on a lattice cooperate or defect with their neighbors, in local conditions that change.

## Description
In every round each agent chooses once, against all of its neighbors on a ring, or on a square lattice without borders
(`lattice="torus"`), and gets the mean of what a table says for each of them: R if both cooperate, S for a cooperator
with a defector, T for a defector with a cooperator, P if both defect. The default, R = 4, S = 0, T = 3, P = 2, is a
stag hunt: that all cooperate is an equilibrium, and pays most, but defecting is the safer choice (Harsanyi and Selten,
"A General Theory of Equilibrium Selection in Games", 1988). The conditions of each agent are good or bad, and change
with a probability of `change` per round. Bad ones subtract `hardship` from what a cooperator gets there. As long as
`hardship` is less than R - T, cooperation of all remains an equilibrium, and pays most, in all conditions.

It is a world for the claim of Weng and Lee ("How Exploration Breaks Cooperation in Shared-Policy Multi-Agent
Reinforcement Learning", arXiv 2601.05509, 2026), that agents who explore and share one network stop to cooperate, where
agents with networks of their own do not, because agents see little and are in different states. The rules follow the
abstract; lattice, payoffs and conditions are this package's own, since the numbers of the paper were not at hand. In an
experiment with it (benchmarks/lattice.md) agents with networks of their own cooperate less, not more.

Scripted players: "cooperate" and "defect" always do so, "majority" cooperates if at least half of the neighbors did (in
the first round too), "imitate" does what the one of oneself and the neighbors did that got most in the last round
(Nowak and May, "Evolutionary games and spatial chaos", Nature 1992).

## Action Space
0 cooperates, 1 defects.

## Observation Space
The own last choice, whether the own conditions are bad, and the last choices of the neighbors, from the left one on; on
the torus left, right, up, down. Choices are 0 for to cooperate, 1 for to defect and -1 before the first round.

## Rewards
`payoff` as above. `cooperation`, with weight 0, is the share of all agents that cooperated in the round. `social` as in
MatrixGame-v0.

## Costs
None.

## Starting State
No round was played; the conditions of each agent are good or bad with equal probability.

## Episode End
Truncation: after 50 rounds. Success is not defined.

## Parameters
`both`, `sucker`, `tempted` and `neither` are R, S, T and P. On the torus the number of agents is a product of two
numbers of at least 3, of which the most equal ones are the sides.

## Reference Scores
Mean return of all agents together over seeds 0 to 99. The expert is "cooperate".

## Version History
v0: first version.
"""

from typing import Any

from rlenvs.core import (
    block,
    choice,
    discrete,
    f8,
    i1,
    i4,
    integer,
    kernel,
    param,
    term,
    uniform,
    world,
)
from rlenvs.core.declare.errors import ParameterError
from rlenvs.kits.boards.drawing import pressed_move
from rlenvs.multi.dilemmas import preferences
from rlenvs.multi.dilemmas.preferences import add_social
from rlenvs.multi.dilemmas.render import draw_lattice

COOPERATE, DEFECT, NOT_YET = 0, 1, -1
MOST_AGENTS, MOST_REACH, LARGEST = 1024, 8, 100.0
LATTICE = choice("ring", "torus", doc="a ring, or a square lattice that is closed in both directions")


def sides(values: Any) -> tuple[int, int]:
    """Rows and columns of the lattice; a ring has one row.

    Raises:
        ParameterError: the agents make no torus, or the neighborhood goes around the ring.
    """
    agents = values.agents
    if values.lattice == "ring":
        if 2 * values.neighbors >= agents:
            raise ParameterError(
                f"agents={agents} on a ring have at most {(agents - 1) // 2} neighbors on each side, not "
                f"neighbors={values.neighbors}; give more agents or fewer neighbors"
            )
        return 1, agents
    rows = max((n for n in range(3, int(agents**0.5) + 1) if agents % n == 0), default=0)
    if not rows:
        raise ParameterError(
            f"agents={agents} make no torus: their number must be a product of two numbers of at least 3, such as 16"
        )
    return rows, agents // rows


def sizes(values: Any) -> dict[str, int]:
    sides(values)
    around = 2 * values.neighbors if values.lattice == "ring" else 4
    return {"agents": values.agents, "around": around}


SPEC = world(
    "LatticeDilemma-v0",
    doc=__doc__,
    source="Weng and Lee, How Exploration Breaks Cooperation in Shared-Policy MARL, arXiv 2601.05509, 2026",
    agents=True,
    params={
        "both": param(4.0, -LARGEST, LARGEST, "", "R, for a cooperator with a cooperator"),
        "sucker": param(0.0, -LARGEST, LARGEST, "", "S, for a cooperator with a defector"),
        "tempted": param(3.0, -LARGEST, LARGEST, "", "T, for a defector with a cooperator"),
        "neither": param(2.0, -LARGEST, LARGEST, "", "P, for a defector with a defector"),
        "hardship": param(0.5, 0.0, LARGEST, "", "what a cooperator loses in bad conditions"),
        "change": param(0.1, 0.0, 1.0, "", "probability that the conditions of an agent change in a round"),
        **preferences.PARAMS,
    },
    options={
        "agents": integer(16, 3, MOST_AGENTS, "number of agents"),
        "lattice": LATTICE,
        "neighbors": integer(1, 1, MOST_REACH, "neighbors on each side of a ring"),
        "reward": preferences.REWARD,
    },
    sizes=sizes,
    data={"near": i4("agents", "around"), "columns": i4},
    state={
        "last": i1("agents").within(NOT_YET, DEFECT),
        "bad": i1("agents").within(0, 1),
        "total": f8("agents"),
        **preferences.STATE,
    },
    observation={
        "own": block(low=-1.0, high=1.0, raw=True, whole=True, doc="own last choice"),
        "bad": block(low=0.0, high=1.0, raw=True, whole=True, doc="whether the own conditions are bad"),
        "neighbors": block("around", low=-1.0, high=1.0, raw=True, whole=True, doc="their last choices"),
    },
    action=discrete("cooperate", "defect", idle=DEFECT),
    terms={
        "payoff": term(-2.0 * LARGEST, LARGEST, 1.0, "mean of what the table says, less the hardship"),
        "cooperation": term(0.0, 1.0, 0.0, "share of all agents that cooperated"),
        **preferences.TERMS,
    },
    horizon=50,
    fps=4,
    players=("cooperate", "defect", "majority", "imitate"),
    expert_sees="state",
    probe=preferences.PROBE,
    levels={
        "torus": {"lattice": "torus"},
        "large": {"lattice": "torus", "agents": 100},
        "calm": {"change": 0.0, "hardship": 0.0},
        "dilemma": {"both": 3.0, "sucker": 0.0, "tempted": 5.0, "neither": 1.0},
        "collective": {"reward": "collective"},
    },
)


@SPEC.make_data
def data(values):
    rows, columns = sides(values)
    near = []
    for k in range(values.agents):
        row, column = divmod(k, columns)
        if rows == 1:
            far = range(1, values.neighbors + 1)
            near.append([(k + step) % columns for step in (*(-n for n in reversed(far)), *far)])
        else:
            around = ((0, -1), (0, 1), (-1, 0), (1, 0))
            near.append([(row + down) % rows * columns + (column + right) % columns for down, right in around])
    return {"near": near, "columns": columns}


@SPEC.reset
def reset(p, s, rng):
    for k in range(s.last.size):
        s.last[k] = NOT_YET
        s.bad[k] = 1 if uniform(rng, 0.0, 1.0) < 0.5 else 0


@kernel
def payoff(p, own, other):
    """What the table says for two choices."""
    if own == COOPERATE:
        return p.both if other == COOPERATE else p.sucker
    return p.tempted if other == COOPERATE else p.neither


@SPEC.step
def step(p, s, a, rng, r):
    agents, around = s.last.size, p.near.shape[1]
    cooperators = 0
    for k in range(agents):
        s.last[k] = a[k]
        cooperators += a[k] == COOPERATE
    for k in range(agents):
        total = 0.0
        for j in range(around):
            total += payoff(p, s.last[k], s.last[p.near[k, j]])
        s.gain[k] = total / around - (p.hardship if s.bad[k] and s.last[k] == COOPERATE else 0.0)
        s.total[k] += s.gain[k]
        r.payoff[k] = s.gain[k]
        r.cooperation[k] = cooperators / agents
    add_social(p, s, r)
    for k in range(agents):
        if uniform(rng, 0.0, 1.0) < p.change:
            s.bad[k] = 1 - s.bad[k]


@SPEC.observe
def observe(p, s, k, o):
    o.own = s.last[k]
    o.bad = s.bad[k]
    for j in range(o.neighbors.size):
        o.neighbors[j] = s.last[p.near[k, j]]


@SPEC.player("cooperate")
def cooperate(p, s, k, a, rng):
    a[k] = COOPERATE


@SPEC.player("defect")
def defect(p, s, k, a, rng):
    a[k] = DEFECT


@SPEC.player("majority")
def majority(p, s, k, a, rng):
    """Cooperate if at least half of the neighbors did."""
    defectors = 0
    for j in range(p.near.shape[1]):
        defectors += s.last[p.near[k, j]] == DEFECT
    a[k] = DEFECT if 2 * defectors > p.near.shape[1] else COOPERATE


@SPEC.player("imitate")
def imitate(p, s, k, a, rng):
    """What the one of oneself and the neighbors did that got most in the last round; cooperate in the first."""
    best = k
    for j in range(p.near.shape[1]):
        other = p.near[k, j]
        if s.gain[other] > s.gain[best]:
            best = other
    a[k] = max(s.last[best], COOPERATE)


@SPEC.draw
def draw(canvas, p, s):
    draw_lattice(canvas, p, s)


@SPEC.text
def text(p, s):
    marks = [
        "-cd"[int(choice) + 1].upper() if bad else "-cd"[int(choice) + 1]
        for choice, bad in zip(s.last, s.bad, strict=True)
    ]
    columns = int(p.columns)
    return "\n".join("".join(marks[n : n + columns]) for n in range(0, len(marks), columns))


@SPEC.keys
def keys(pressed, values):
    return pressed_move(pressed, ["1", "2"])
