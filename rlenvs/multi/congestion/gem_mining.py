"""Gem mining: villages send their workers to shared mines to find two kinds of gems.

## Description
Each agent is a village on a road with mines along it. A van takes all workers of the village to one of the mines within
reach: the one with the village's own number, or one of the next. Each mine yields at most one gem of each kind a day,
with a probability that grows with the number of workers, and all gems are shared. It is the mining day of Roijers,
Whiteson and Oliehoek ("Computing convex coverage sets for faster multi-objective coordination", JAIR 2015), a one-step
multi-agent bandit, and MOMAland's gem mining. Villages that can meet form a coordination graph along the road, so
`rlenvs.pareto.pareto_front` gives the exact front of expected gems by variable elimination, each point with the choices
that attain it. Different from MOMAland (0.2): probabilities are not truncated to integers, which makes them all 0
there, so nothing is ever found; a mine with w workers has the probability min(0.9, base 1.03^(w - 1)) as in the paper
and MOMAland's text, not with w as in its code; `instance` selects the villages and mines, the same in every episode.

## Action Space
Which mine: the first one that the village reaches, or one of the next; 2 to 4 choices, one for each mine within reach.

## Observation Space
A 1, and the agent's index divided by the number of agents. Both are constant: there is nothing to observe.

## Rewards
`rubies` and `sapphires` are the gems of each kind found by all villages together, the same for all agents.

## Costs
None.

## Starting State
There is only one state.

## Episode End
Termination: after 1 step. Success is not defined.

## Parameters
`instance` gives each village 1 to 5 workers and 2 to 4 mines, and each mine two base probabilities in [0.01, 0.5],
with `correlated=True` such that they sum to at most 0.5: mines with many rubies have few sapphires.

## Reference Scores
Mean return of all agents together over seeds 0 to 99. The bound is the best expected sum, by variable elimination.

## Version History
v0: first version.
"""

import random
from typing import Any

import numpy as np

from rlenvs.core import (
    PublishedFront,
    Score,
    block,
    discrete,
    f8,
    flag,
    i4,
    integer,
    kernel,
    param,
    role,
    term,
    uniform,
    world,
)
from rlenvs.multi.congestion.mines import Mining, exact_front
from rlenvs.multi.congestion.render import draw_mines

MOST_AGENTS, MOST_WORKERS = 200, 5
FEWEST_MINES, MOST_MINES = 2, 4  # that a village reaches
KINDS = 2
LEAST_BASE, MOST_BASE = 0.01, 0.5
MEMORIES = MOST_MINES ** (MOST_MINES - 1)  # choices of the villages before one that reach its first mine


def drawn(values: Any) -> dict[str, np.ndarray]:
    """Workers and reach of the villages, base probabilities of the mines."""
    chooser = random.Random(values.instance)
    workers = [1 + int(MOST_WORKERS * chooser.random()) for _ in range(values.agents)]
    some = MOST_MINES - FEWEST_MINES + 1
    reach = [FEWEST_MINES + int(some * chooser.random()) for _ in range(values.agents)]
    base = []
    for _ in range(values.agents + MOST_MINES - 1):
        highest = MOST_BASE - LEAST_BASE if values.correlated else MOST_BASE
        first = chooser.uniform(LEAST_BASE, highest)
        second = chooser.uniform(LEAST_BASE, MOST_BASE - first if values.correlated else MOST_BASE)
        base.append((first, second) if chooser.random() < 0.5 else (second, first))
    return {"workers": np.array(workers, np.int32), "reach": np.array(reach, np.int32), "seam": np.array(base)}


def sizes(values):
    mines = values.agents + MOST_MINES - 1
    return {"agents": values.agents, "mines": mines, "choices": int(drawn(values)["reach"].max())}


SPEC = world(
    "GemMining-v0",
    doc=__doc__,
    source="MOMAland mo-gem-mining-v0 (Felten et al., arXiv 2407.16312); Roijers et al., JAIR 2015",
    agents=True,
    params={
        "growth": param(1.03, 1.0, 1.2, "", "factor of the probability for each additional worker"),
        "cap": param(0.9, 0.0, 1.0, "", "largest probability", limit=True),
    },
    options={
        "agents": integer(20, 2, MOST_AGENTS, "number of villages"),
        "instance": integer(6, 0, 2**31 - 1, "random instance of villages and mines"),
        "correlated": flag(False, "whether the probabilities of a mine sum to at most 0.5"),
    },
    sizes=sizes,
    roles=lambda values: [role(f"agent_{k}", 2, int(n)) for k, n in enumerate(drawn(values)["reach"])],
    data={"workers": i4("agents"), "reach": i4("agents"), "seam": f8("mines", KINDS)},
    state={
        "choice": i4("agents").index_of("mines", low=-1),  # of the last day; -1 before
        "crowd": i4("mines"),
        "found": i4("mines", KINDS),
        "value": f8(2, MEMORIES),  # scratch: of the best choices so far, by what the last villages chose
        "best": i4("agents", MEMORIES),  # the choice of the village that is forgotten
        "plan": i4("agents"),
    },
    scratch=("value", "best", "plan"),
    observation={
        "number": block(
            2, low=0.0, high=1.0, doc="1, and the own index divided by the number of agents", raw=True, constant=True
        )
    },
    action=lambda values: discrete(
        *(f"mine {n} on" if n else "the first mine" for n in range(sizes(values)["choices"])),
        size="choices",
        doc="one of the mines, starting with the village's own number",
    ),
    terms={
        "rubies": term(0.0, MOST_AGENTS + MOST_MINES - 1, 1.0, "found by all villages"),
        "sapphires": term(0.0, MOST_AGENTS + MOST_MINES - 1, 1.0, "found by all villages"),
    },
    horizon=2,  # never reached: the first step is the last
    fps=1,
    same_start=True,
    expert_sees="state",
    players=("planner", "richest"),
    levels={"small": {"agents": 5}, "correlated": {"correlated": True}, "large": {"agents": 100}},
    scores={"bound": Score(230.6, 0, "20 times the best expected sum")},
)


@SPEC.make_data
def data(values):
    return drawn(values)


@SPEC.reset
def reset(p, s, rng):
    for k in range(s.choice.size):
        s.choice[k] = -1


@kernel
def chance(p, mine, kind, workers):
    """The probability that a mine with so many workers yields a gem."""
    if workers == 0:
        return 0.0
    found = p.seam[mine, kind]
    for _ in range(workers - 1):
        found *= p.growth
    return min(found, p.cap)


@SPEC.step
def step(p, s, a, rng, r):
    agents, mines = s.choice.size, s.crowd.size
    for j in range(mines):
        s.crowd[j] = 0
    for k in range(agents):
        s.choice[k] = a[k]
        s.crowd[k + s.choice[k]] += p.workers[k]
    rubies, sapphires = 0.0, 0.0
    for j in range(mines):
        for kind in range(KINDS):
            s.found[j, kind] = 1 if uniform(rng, 0.0, 1.0) < chance(p, j, kind, s.crowd[j]) else 0
        rubies += s.found[j, 0]
        sapphires += s.found[j, 1]
    for k in range(agents):
        r.rubies[k] = rubies
        r.sapphires[k] = sapphires
        r.terminated[k] = True


@SPEC.observe
def observe(p, s, k, o):
    o.number[0] = 1.0
    o.number[1] = (k + 1.0) / s.choice.size


@kernel
def worth(p, mine, workers):
    """What is expected of a mine, under the weights."""
    return p.weights[0] * chance(p, mine, 0, workers) + p.weights[1] * chance(p, mine, 1, workers)


@kernel
def coming(p, village, memory, mine):
    """How many workers the villages in memory, those before `village`, send to a mine; the last one is the last digit
    of the memory."""
    total = 0
    for back in range(1, MOST_MINES):
        k = village - back
        if k >= 0 and k + memory % MOST_MINES == mine:
            total += p.workers[k]
        memory //= MOST_MINES
    return total


@kernel
def make_plan(p, s):
    """The choices of all villages with the best expected sum under the weights, exactly: village after village, what is
    best for each of the choices that the last ones may have made; then back."""
    agents = s.choice.size
    for memory in range(MEMORIES):
        s.value[0, memory] = 0.0 if memory == 0 else -1e300
    for k in range(agents):
        old, new = s.value[k % 2], s.value[(k + 1) % 2]
        for memory in range(MEMORIES):
            new[memory] = -1e300
        for memory in range(MEMORIES):
            if old[memory] < -1e299:
                continue
            for choice in range(p.reach[k]):
                # nobody after this village reaches the mine with its number
                crowd = coming(p, k, memory, k) + (p.workers[k] if choice == 0 else 0)
                found = old[memory] + worth(p, k, crowd)
                after = (memory * MOST_MINES + choice) % MEMORIES
                if found > new[after]:
                    new[after] = found
                    s.best[k, after] = memory // (MEMORIES // MOST_MINES)
    last, most = 0, -1e300
    for memory in range(MEMORIES):
        found = s.value[agents % 2, memory]
        if found > -1e299:
            for mine in range(agents, s.crowd.size):
                found += worth(p, mine, coming(p, agents, memory, mine))
            if found > most:
                last, most = memory, found
    for k in range(agents - 1, -1, -1):
        s.plan[k] = last % MOST_MINES
        last = s.best[k, last] * (MEMORIES // MOST_MINES) + last // MOST_MINES


@SPEC.expert
def expert(p, s, a):
    """The choices with the best expected sum under the weights."""
    make_plan(p, s)
    for k in range(s.choice.size):
        a[k] = s.plan[k]


@SPEC.player("planner")
def planner(p, s, k, a, rng):
    """Its part of the best plan for all."""
    make_plan(p, s)
    a[k] = s.plan[k]


@SPEC.player("richest")
def richest(p, s, k, a, rng):
    """To the mine that would be best for its workers alone."""
    a[k] = 0
    for choice in range(1, p.reach[k]):
        if worth(p, k + choice, p.workers[k]) > worth(p, k + a[k], p.workers[k]):
            a[k] = choice


def gems_of(values: Any) -> np.ndarray:
    """What each mine is expected to give to 0, 1, ... workers: (mines, workers + 1, kinds)."""
    base = drawn(values)["seam"]
    gems = np.zeros((len(base), MOST_MINES * MOST_WORKERS + 1, KINDS))
    grown = base
    for workers in range(1, gems.shape[1]):
        gems[:, workers] = np.minimum(grown, values.cap)
        grown = grown * values.growth
    return gems


def expected(values: Any, choices: Any) -> np.ndarray:
    """The expected gems of each kind, when the villages choose so."""
    made, gems = drawn(values), gems_of(values)
    crowd = np.zeros(len(gems), np.int64)
    np.add.at(crowd, np.arange(values.agents) + np.asarray(choices), made["workers"])
    return gems[np.arange(len(gems)), crowd].sum(axis=0)


def front_of(values: Any, convex: bool = False) -> list[Mining]:
    """The exact Pareto front of expected gems, each point with the choices that attain it.

    Args:
        values: of the parameters and options.
        convex: only the corners, which are the best for some weights.

    Raises:
        ParameterError: too many points.
    """
    made = drawn(values)
    return exact_front(made["workers"], made["reach"], gems_of(values), convex)


@SPEC.pareto_routes
def front(values, horizon, gamma):
    """One step, so neither the discount nor the horizon matters."""
    points = front_of(values)
    return np.array([point.value for point in points]), [point.choices[None] for point in points]


@SPEC.published_front
def published_front(values, gamma):
    return PublishedFront(None, (0.0, 0.0), "no front has been published for these mines; the reference point is ours")


@SPEC.draw
def draw(canvas, p, s):
    draw_mines(canvas, p, s)


@SPEC.text
def text(p, s):
    rows = [
        f"village {k}: {int(count)} workers, mines {k} to {k + int(reach) - 1}"
        + (f", went to {k + int(choice)}" if choice >= 0 else "")
        for k, (count, reach, choice) in enumerate(zip(p.workers, p.reach, s.choice, strict=True))
    ]
    return "\n".join([*rows, f"rubies {int(s.found[:, 0].sum())}, sapphires {int(s.found[:, 1].sum())}"])


@SPEC.keys
def keys(pressed, values):
    return next((n for n in range(MOST_MINES) if str(n + 1) in pressed), 0)
