"""Matrix games, repeated: by default the prisoner's dilemma; any payoff table for two or more players.

## Description
In every round all players choose at the same time, and a table says what each gets. The default is the prisoner's
dilemma with R = 3, S = 0, T = 5, P = 1: both cooperate (R), both defect (P), or a defector (T) meets a cooperator (S).
It is a social dilemma in the sense of Macy and Flache ("Learning dynamics in social dilemmas", PNAS 2002): R > P,
R > S, 2 R > T + S, and T > R (greed) or P > S (fear). Chicken-v0 has greed alone, StagHunt-v0 fear alone;
PublicGoods-v0 is the dilemma of n players. `payoffs` takes any table: (m, m), the payoff of each of two players by its
own choice and the other's; (2, n), the payoff of each of n players by its own choice and the number of others with
choice 1; or (m_1, ..., m_n, n), the payoffs of all players by the choices of all. Tables of other shapes are refused.

Scripted players, where choice 0 is to cooperate and 1 to defect: "tit_for_tat" defects after a round in which another
player did (Axelrod, "The Evolution of Cooperation", 1984), "grim" after any such round, "pavlov" unless all did the
same in the last round (Nowak and Sigmund, Nature 1993); "cooperate" and "defect" always do so.

## Action Space
One of the player's choices; with two, 0 cooperates and 1 defects.

## Observation Space
A 1, and for each of the last `memory` rounds, the latest first, and each player, oneself first, the choice as zeros and
a 1; all zeros before the first round.

## Rewards
`payoff` as in the table. `social` adds the payoffs of the others (`reward="collective"`), or subtracts inequity
(`reward="inequity"`; Hughes et al., "Inequity aversion improves cooperation in intertemporal social dilemmas", NeurIPS
2018): with the payoffs e smoothed over time, `envy` / (n - 1) times the sum of max(e_j - e_k, 0), and `guilt` / (n - 1)
times the sum of max(e_k - e_j, 0).

## Costs
None.

## Starting State
No round was played.

## Episode End
Truncation: after 100 rounds. Success is not defined.

## Parameters
They matter with `reward="inequity"` only. `smoothing=0` compares payoffs of the last round alone.

## Reference Scores
Mean return of all players together over seeds 0 to 99; the expert is "tit_for_tat" against itself.

## Version History
v0: first version.
"""

from typing import Any

import numpy as np

from rlenvs.core import (
    Score,
    block,
    discrete,
    f8,
    i1,
    i4,
    i8,
    integer,
    json_option,
    kernel,
    role,
    term,
    world,
)
from rlenvs.kits.boards.drawing import pressed_move
from rlenvs.multi.dilemmas import preferences
from rlenvs.multi.dilemmas.preferences import add_social
from rlenvs.multi.dilemmas.render import draw_matrix_game
from rlenvs.multi.dilemmas.tables import LARGEST, MOST_CHOICES, parse_payoffs, public_goods, table_of, two_by_two

COOPERATE, DEFECT = range(2)
MOST_ROUNDS = 20  # in memory
PRISONERS_DILEMMA = two_by_two(3.0, 0.0, 5.0, 1.0)
CHICKEN = two_by_two(3.0, 1.0, 4.0, 0.0)
STAG_HUNT = two_by_two(4.0, 0.0, 3.0, 1.0)


def sizes(values: Any) -> dict[str, int]:
    table = table_of(values.payoffs)
    agents, most = len(table.choices), max(table.choices)
    return {
        "agents": agents,
        "most": most,
        "entries": table.payoffs.size,
        "rounds": max(values.memory, 1),
        "seen": 1 + values.memory * agents * most,
    }


def choice_names(values: Any) -> tuple[str, ...]:
    most = sizes(values)["most"]
    return ("cooperate", "defect") if most == 2 else tuple(f"choice {n + 1}" for n in range(most))


def roles(values: Any) -> list[Any]:
    seen = sizes(values)["seen"]
    return [role(f"agent_{k}", seen, count) for k, count in enumerate(table_of(values.payoffs).choices)]


SPEC = world(
    "MatrixGame-v0",
    doc=__doc__,
    source="Macy and Flache, PNAS 2002; Leibo et al., AAMAS 2017; Hughes et al., NeurIPS 2018",
    agents=True,
    params=preferences.PARAMS,
    options={
        "payoffs": json_option(PRISONERS_DILEMMA, parse_payoffs, "payoff table, as nested lists"),
        "memory": integer(1, 0, MOST_ROUNDS, "rounds that players observe"),
        "reward": preferences.REWARD,
    },
    sizes=sizes,
    roles=roles,
    data={"table": f8("entries"), "choices": i4("agents"), "counted": i8},  # see `Table`
    state={
        "past": i1("rounds", "agents").within(-1, MOST_CHOICES - 1),  # choices, the latest first; -1 for none
        "betrayed": i1("agents").within(0, 1),  # whether another player has ever defected
        "total": f8("agents"),
        **preferences.STATE,
    },
    observation={
        "rounds": block(
            "seen", low=0.0, high=1.0, doc="1, and the choices of the last rounds", raw=True, constant=True, whole=True
        )
    },
    action=lambda values: discrete(
        *choice_names(values), size="most", doc="with two choices, 0 cooperates and 1 defects", idle=DEFECT
    ),
    terms={"payoff": term(-LARGEST, LARGEST, 1.0, "what the table says"), **preferences.TERMS},
    horizon=100,
    fps=4,
    same_start=True,
    expert_sees="state",
    players=("tit_for_tat", "grim", "pavlov", "cooperate", "defect"),
    probe=preferences.PROBE,
    levels={
        "memory": {"memory": 3},
        "collective": {"reward": "collective"},
        "inequity": {"reward": "inequity"},
    },
    scores={"bound": Score(600, 0, "both cooperate")},
)

SPEC.member(
    "Chicken-v0",
    "The game of chicken, repeated: R = 3, S = 1, T = 4, P = 0, so that it pays to do the opposite of the other.",
    payoffs=CHICKEN,
    scores={"bound": Score(600, 0, "both cooperate")},
)
SPEC.member(
    "StagHunt-v0",
    "The stag hunt, repeated: R = 4, S = 0, T = 3, P = 1, so that it pays to do the same as the other.",
    payoffs=STAG_HUNT,
    scores={"bound": Score(800, 0, "both cooperate")},
)
SPEC.member(
    "PublicGoods-v0",
    "The public goods game, repeated: four players keep 1, or give it; gifts are doubled and shared by all.",
    payoffs=public_goods(4, 2.0),
    scores={"bound": Score(800, 0, "all cooperate")},
)


@SPEC.state_fault
def state_fault(p, s):
    return "a player made a choice that it does not have" if (s.past >= p.choices).any() else ""


@SPEC.make_data
def data(values):
    table = table_of(values.payoffs)
    return {"table": table.payoffs, "choices": np.array(table.choices, np.int32), "counted": int(table.counted)}


@SPEC.reset
def reset(p, s, rng):
    for n in range(s.past.shape[0]):
        for k in range(s.past.shape[1]):
            s.past[n, k] = -1


@SPEC.step
def step(p, s, a, rng, r):
    agents, defectors, joint = s.gain.size, 0, 0
    for n in range(s.past.shape[0] - 1, 0, -1):
        for k in range(agents):
            s.past[n, k] = s.past[n - 1, k]
    for k in range(agents):
        s.past[0, k] = a[k]
        defectors += a[k] != COOPERATE
        if not p.counted:
            joint = joint * p.choices[k] + a[k]
    for k in range(agents):
        others = defectors - (a[k] != COOPERATE)
        entry = a[k] * agents + others if p.counted else joint * agents + k
        s.gain[k] = p.table[entry]
        s.total[k] += s.gain[k]
        r.payoff[k] = s.gain[k]
        if others > 0:
            s.betrayed[k] = 1
    add_social(p, s, r)


@SPEC.observe
def observe(p, s, k, o):
    seen, agents = o.rounds, s.gain.size
    most = (seen.size - 1) // (agents * s.past.shape[0])
    for j in range(seen.size):
        seen[j] = 0.0
    seen[0] = 1.0
    if most == 0:  # no memory
        return
    for n in range(s.past.shape[0]):
        for j in range(agents):
            chosen = s.past[n, (k + j) % agents]
            if chosen >= 0:
                seen[1 + (n * agents + j) * most + chosen] = 1.0


@kernel
def others_defected(s, k):
    """How many other players defected in the last round."""
    count = 0
    for j in range(s.gain.size):
        count += j != k and s.past[0, j] > COOPERATE
    return count


@SPEC.player("tit_for_tat")
def tit_for_tat(p, s, k, a, rng):
    """Defect after a round in which another player did."""
    a[k] = DEFECT if others_defected(s, k) > 0 else COOPERATE


@SPEC.player("grim")
def grim(p, s, k, a, rng):
    """Defect as soon as another player has ever defected."""
    a[k] = DEFECT if s.betrayed[k] else COOPERATE


@SPEC.player("pavlov")
def pavlov(p, s, k, a, rng):
    """Cooperate if all did the same in the last round."""
    others = others_defected(s, k)
    same = others == 0 if s.past[0, k] <= COOPERATE else others == s.gain.size - 1
    a[k] = COOPERATE if same else DEFECT


@SPEC.player("cooperate")
def cooperate(p, s, k, a, rng):
    a[k] = COOPERATE


@SPEC.player("defect")
def defect(p, s, k, a, rng):
    a[k] = DEFECT


@SPEC.draw
def draw(canvas, p, s):
    draw_matrix_game(canvas, p, s)


@SPEC.text
def text(p, s):
    chosen = ["-" if choice < 0 else str(int(choice)) for choice in s.past[0]]
    return f"choices {' '.join(chosen)}\npayoffs {' '.join(f'{total:g}' for total in s.total)}"


@SPEC.keys
def keys(pressed, values):
    return pressed_move(pressed, [str(n + 1) for n in range(min(sizes(values)["most"], 9))])
