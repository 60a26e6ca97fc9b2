"""Social search: agents look for good solutions in a rugged landscape, alone and by copying each other.

## Description
Each agent proposes a solution of `loci` bits per step, and gets its score. It sees its own solution and those of a few
others, with their scores: copying the best one pays at once, but as soon as all have the same solution nobody finds a
better one. It is the landscape in which agents of Ha and Jeong ("Social learning spontaneously emerges by searching
optimal heuristics with deep reinforcement learning", arXiv 2204.12371, 2022) learn to learn from each other, after
Lazer and Friedman ("The Network Structure of Exploration and Exploitation", Administrative Science Quarterly, 2007).

Landscapes are Kauffman's NK model: each locus depends on itself and `links` others, drawn at random, and has a
contribution, uniform in [0, 1], for each combination of their bits. A score is the mean contribution divided by that of
the best solution, to the power of `sharpness`: 1 for the best solution, little for random ones. Rules are those of the
authors' code (SocialNet, with nkmodel), numbers at the level "published", with 100 agents and 15 loci. Recorded games
of it replay step for step, and with `selective=True` the players "explore", "copy" and "copy_or_explore" score as its
baselines IndvLearning, RandomCopy and FollowBest_indv. Different: every episode has another landscape; agents can sit
on a ring (`network="ring"`), other graphs than that and the complete one are missing.

Scripted players: "explore_then_copy" tries each bit of its best solution three times, then takes the best that it sees;
"copy_or_explore" takes what is better than the best that it had, and else changes one bit of that; "explore" changes
one bit of its best; "copy" copies the first of those that it sees.

## Action Space
The bits of the next solution.

## Observation Space
The own solution and its score; then the solutions and the scores of `seen` others: with `network="complete"` another
random choice in each step, on the ring the nearest on both sides.

## Rewards
`score` is that of the own solution. `group` is the mean of all agents; with `reward="group"` it has weight 1, and
`score` weight 0.

## Costs
None.

## Starting State
A random landscape and random solutions.

## Episode End
Truncation: 200 steps. Success: all agents have the best solution.

## Parameters
`sharpness` is the power. With `selective=True` an agent's solution stays what it was where the next one is no better.

## Reference Scores
Mean return of all agents together over seeds 0 to 99. The expert is "explore_then_copy".

## Version History
v0: first version.
"""

from typing import Any

import numpy as np

from rlenvs.core import (
    Score,
    below,
    block,
    choice,
    constraint,
    data_option,
    f4,
    f8,
    flag,
    i4,
    integer,
    kernel,
    maths,
    multi_binary,
    param,
    term,
    uniform,
    world,
)
from rlenvs.multi.dilemmas.render import draw_social_search

MOST_LOCI, MOST_LINKS, MOST_AGENTS, MOST_SEEN = 15, 10, 1000, 16
ROUNDS = 3  # of "explore_then_copy": how often it tries each bit
NETWORK = choice("complete", "ring", doc="whom agents see: random others, or the nearest on a ring")
RING = NETWORK.code("ring")


def sizes(values: Any) -> dict[str, int]:
    return {
        "agents": values.agents,
        "others": values.agents - 1,
        "seen": values.seen,
        "loci": values.loci,
        "entries": 2 ** (values.links + 1),
    }


SPEC = world(
    "SocialSearch-v0",
    doc=__doc__,
    source="Ha and Jeong, arXiv 2204.12371, 2022 (SocialNet); Lazer and Friedman, 2007; Kauffman's NK model",
    agents=True,
    params={"sharpness": param(8.0, 1.0, 20.0, "", "power of the mean contribution, divided by the greatest one")},
    options={
        "agents": data_option(integer(16, 2, MOST_AGENTS, "number of agents")),
        "seen": data_option(integer(3, 1, MOST_SEEN, "how many others an agent sees")),
        "loci": data_option(integer(12, 2, MOST_LOCI, "bits of a solution")),
        "links": integer(5, 0, MOST_LINKS, "other bits on which the contribution of a bit depends"),
        "network": NETWORK,
        "selective": flag(False, "whether a solution that is no better is dropped"),
        "reward": data_option(
            choice(
                *("own", "group"),
                doc="the own score, or the mean of all",
                sets={"group": {"score": 0.0, "group": 1.0}},
            )
        ),
    },
    constraints=[
        constraint("seen", "agents", holds=lambda seen, agents: seen < agents, doc="seen is less than agents"),
        constraint("links", "loci", holds=lambda links, loci: links < loci, doc="links are fewer than loci"),
    ],
    sizes=sizes,
    state={
        "place": i4("loci", "loci").index_of("entries"),  # of a bit in the row of a locus: a power of 2, or 0
        "worth": f4("loci", "entries").within(0.0, 1.0),  # contributions of each locus
        "top": f8.within(0.0, float(MOST_LOCI)),  # of the best solution, all loci together
        "row": i4("loci").index_of("entries"),  # scratch
        "order": i4("loci").index_of("loci"),  # scratch
        "solution": i4("agents").within(0, 2**MOST_LOCI - 1),
        "score": f8("agents").within(0.0, 1.0),
        "best": i4("agents").within(0, 2**MOST_LOCI - 1),  # that the agent has had
        "best_score": f8("agents").within(0.0, 1.0),
        "offset": i4("others").within(0, MOST_AGENTS),  # from an agent to others, in the order of the last draws
        "watched": i4("agents", "seen").index_of("agents"),
    },
    scratch=("row", "order"),
    observation={
        "solution": block("loci", low=0.0, high=1.0, raw=True, whole=True, doc="the own one"),
        "score": block(low=0.0, high=1.0, raw=True, doc="of it"),
        "solutions": block("seen", "loci", low=0.0, high=1.0, raw=True, whole=True, doc="of the others that are seen"),
        "scores": block("seen", low=0.0, high=1.0, raw=True, doc="of these"),
    },
    action=multi_binary(size="loci", doc="the next solution"),
    terms={
        "score": term(0.0, 1.0, 1.0, "score of the own solution"),
        "group": term(0.0, 1.0, 0.0, "mean score of all agents"),
    },
    horizon=200,
    fps=8,
    players=("explore_then_copy", "copy_or_explore", "explore", "copy"),
    expert_sees="state",
    levels={
        "published": {"agents": 100, "loci": 15, "links": 7},
        "ring": {"network": "ring"},
        "smooth": {"links": 0},
        "selective": {"selective": True},
        "group": {"reward": "group"},
    },
    scores={"bound": Score(3200, 0, "the best solution from the first step on; nobody knows it then")},
)


@SPEC.reset
def reset(p, s, rng):
    draw_landscape(p, s, rng)
    s.top = worth_of(s, best_solution(s))
    for n in range(s.offset.size):
        s.offset[n] = n + 1
    for k in range(s.solution.size):
        s.solution[k] = below(rng, 1 << s.row.size)
        s.score[k] = score_of(p, s, s.solution[k])
        s.best[k], s.best_score[k] = s.solution[k], s.score[k]
    look_around(p, s, rng)


@kernel
def draw_landscape(p, s, rng):
    """Which bits each locus depends on, and its contributions."""
    loci = s.row.size
    for n in range(loci):
        for b in range(loci):
            s.order[b], s.place[n, b] = b, 0
        s.order[0], s.order[n] = n, 0  # a locus depends on itself
        for i in range(p.links + 1):
            j = i + below(rng, loci - i) if i > 0 else 0
            chosen = s.order[j]
            s.order[j], s.order[i] = s.order[i], chosen
            s.place[n, chosen] = 1 << i
        for entry in range(s.worth.shape[1]):
            s.worth[n, entry] = uniform(rng, 0.0, 1.0)


@kernel
def best_solution(s):
    """All solutions are tried, each of which differs from the one before by a bit."""
    loci, gray, best, ahead, most = s.row.size, 0, 0, 0.0, 0.0
    for n in range(loci):
        s.row[n] = 0
    for count in range(1, 1 << loci):
        bit = 0
        while not (count >> bit) & 1:
            bit += 1
        gray ^= 1 << bit
        for n in range(loci):
            if s.place[n, bit]:
                before = s.row[n]
                s.row[n] = before ^ s.place[n, bit]
                ahead += float(s.worth[n, s.row[n]]) - float(s.worth[n, before])
        if ahead > most:
            best, most = gray, ahead
    return best


@kernel
def worth_of(s, solution):
    """The sum of the contributions of all loci."""
    loci, total = s.row.size, 0.0
    for n in range(loci):
        entry = 0
        for b in range(loci):
            entry |= s.place[n, b] * ((solution >> b) & 1)
        total += float(s.worth[n, entry])
    return total


@kernel
def score_of(p, s, solution):
    return maths.power(min(worth_of(s, solution) / s.top, 1.0), p.sharpness)


@kernel
def look_around(p, s, rng):
    """Whom the agents see."""
    agents, others = s.solution.size, s.offset.size
    for k in range(agents):
        for j in range(s.watched.shape[1]):
            if p.network == RING:
                away = (j // 2 + 1) * (1 - 2 * (j % 2))
            else:
                i = j + below(rng, others - j)
                away = s.offset[i]
                s.offset[i], s.offset[j] = s.offset[j], away
            s.watched[k, j] = (k + away) % agents


@SPEC.step
def step(p, s, a, rng, r):
    agents, total, least = s.solution.size, 0.0, 1.0
    for k in range(agents):
        tried = 0
        for b in range(s.row.size):
            tried |= a[k, b] << b
        score = score_of(p, s, tried)
        if score > s.best_score[k]:
            s.best[k], s.best_score[k] = tried, score
        if not p.selective or score > s.score[k]:
            s.solution[k], s.score[k] = tried, score
        total += s.score[k]
        least = min(least, s.score[k])
    for k in range(agents):
        r.score[k] = s.score[k]
        r.group[k] = total / agents
        r.success[k] = least >= 1.0
    look_around(p, s, rng)


@SPEC.observe
def observe(p, s, k, o):
    o.score = s.score[k]
    for b in range(o.solution.size):
        o.solution[b] = (s.solution[k] >> b) & 1
    for j in range(o.scores.size):
        other = s.watched[k, j]
        o.scores[j] = s.score[other]
        for b in range(o.solution.size):
            o.solutions[j, b] = (s.solution[other] >> b) & 1


# --- players ----------------------------------------------------------------------------------------------------------


@kernel
def propose(a, k, solution):
    for b in range(a.shape[1]):
        a[k, b] = (solution >> b) & 1


@kernel
def best_known(s, k):
    """The best of what the agent has had and of what it sees."""
    best, score = s.best[k], s.best_score[k]
    for j in range(s.watched.shape[1]):
        other = s.watched[k, j]
        if s.score[other] > score:
            best, score = s.solution[other], s.score[other]
    return best


@SPEC.player("explore_then_copy")
def explore_then_copy(p, s, k, a, rng):
    """One bit after the other is tried, from another one on by each agent; then the best that is known."""
    if s.elapsed < ROUNDS * s.row.size:
        propose(a, k, s.best[k] ^ (1 << (s.elapsed + k) % s.row.size))
    else:
        propose(a, k, best_known(s, k))


@SPEC.player("copy_or_explore")
def copy_or_explore(p, s, k, a, rng):
    known = best_known(s, k)
    propose(a, k, known if known != s.best[k] else known ^ (1 << below(rng, s.row.size)))


@SPEC.player("explore")
def explore(p, s, k, a, rng):
    propose(a, k, s.best[k] ^ (1 << below(rng, s.row.size)))


@SPEC.player("copy")
def copy(p, s, k, a, rng):
    propose(a, k, s.solution[s.watched[k, 0]])


# --- images -----------------------------------------------------------------------------------------------------------


@SPEC.draw
def draw(canvas, p, s):
    draw_social_search(canvas, p, s)


@SPEC.text
def text(p, s):
    loci = len(s.row)
    lines = [
        "".join(str(int(solution) >> b & 1) for b in range(loci)) + f" {float(score):.3f}"
        for solution, score in zip(s.solution, s.score, strict=True)
    ]
    return "\n".join([f"mean score {float(np.mean(s.score)):.3f}", *lines])
