"""Bandit: find the arm with the highest mean reward by trying.

## Description
A machine with several arms. Each arm pays a random amount around its own unknown mean: exploration in its simplest form
(Sutton and Barto, "Reinforcement Learning", 2nd edition, chapter 2; its 10-armed testbed is the default). The means are
redrawn for each episode. With `contexts` the machine shows one of several pictures at each step, and every picture has
separate means: a contextual bandit. With `drift` the means follow a random walk (exercise 2.5), so estimates become
outdated. The means are a hidden part of the state, so there is no `model`; `metrics` gives the regret.

## Action Space
Which arm to pull.

## Observation Space
The index of the picture shown, 0 if there is only one. With `encoding="one_hot"` a one-hot vector. Past pulls and
payouts are not part of it, and the means are redrawn for every episode, so a policy that sees nothing else can only
play at random: a learner has to keep its own statistics. `recall` adds them:

- "last": after the index, the arm that was pulled last, one-hot, and its payout, both 0 at first; the observation of
  RL^2 (Duan et al., 2016; Wang et al., 2016), for policies with memory.
- "accounts": after the index, for each arm of the picture shown, its total payout divided by (pulls + 1), and 1 /
  sqrt(pulls + 1). With `spread` and `noise` 1 these are the mean and the standard deviation of the posterior of its
  mean, a sufficient statistic (Duff, "Optimal Learning", 2002): no memory is needed.

Payouts are clipped to [-10, 10] in both. An upper-confidence rule (posterior mean plus 1.5 standard deviations) scores
1520 in Bandit-v0 and 1390 in ContextualBandit-v0, over seeds 0 to 199.

## Rewards
`reward` is the payout of the arm: its mean plus Gaussian noise, or, with `payout="bernoulli"`, 1 with a probability
equal to its mean, else 0.

## Costs
None.

## Starting State
Gaussian means with a standard deviation of `spread`, or for "bernoulli" arms uniform means in [0, 1]; a random picture.

## Episode End
Truncation: 1000 steps. Success is not defined.

## Parameters
`drift` applies only to Gaussian means.

## Reference Scores
Mean return over seeds 0 to 99. The expert knows the means. The bound is the mean of the largest of ten normal numbers,
1.5388, in every step.

## Version History
v0: first version.
"""

import math
from typing import Any

from rlenvs.core import (
    Score,
    below,
    block,
    choice,
    discrete,
    discrete_block,
    f8,
    i4,
    integer,
    kernel,
    normal,
    param,
    term,
    uniform,
    world,
)
from rlenvs.single.tabular.bandit_pictures import draw_bandit

MOST_ARMS, MOST_CONTEXTS = 100, 100
LARGEST_SEEN = 10.0
LARGEST = 10_000.0  # of a mean or a payout; reached by drifts alone
GAUSSIAN, BERNOULLI = range(2)


def sizes(values: Any) -> dict[str, int]:
    return {
        "pictures": values.contexts,
        "hands": values.arms,
        "last_arms": values.arms if values.recall == "last" else 0,
        "last_payouts": 1 if values.recall == "last" else 0,
        "accounts": values.arms if values.recall == "accounts" else 0,
    }


SPEC = world(
    "Bandit-v0",
    doc=__doc__,
    source="Sutton and Barto, Reinforcement Learning, 2018",
    params={
        "spread": param(1.0, 0.0, 10.0, "", "standard deviation of the means of Gaussian arms"),
        "noise": param(1.0, 0.0, 10.0, "", "standard deviation of the payouts of a Gaussian arm"),
        "drift": param(0.0, 0.0, 1.0, "", "standard deviation of the change of each mean in a step"),
    },
    options={
        "payout": choice("gaussian", "bernoulli", doc="distribution of the payouts"),
        "arms": integer(10, 2, MOST_ARMS, "arms"),
        "contexts": integer(1, 1, MOST_CONTEXTS, "pictures that the machine may show"),
        "recall": choice("nothing", "last", "accounts", doc="what the observation includes of the past"),
    },
    sizes=sizes,
    state={
        "means": f8("pictures", "hands"),
        "picture": i4.index_of("pictures"),
        "regret": f8,
        "best_pulls": i4,
        "pulled": i4.up_to("hands"),  # the last arm, from 1 on; 0 before the first pull
        "paid": f8,  # by it
        "pulls": i4("pictures", "hands"),
        "sums": f8("pictures", "hands"),  # what arms have paid
    },
    observation={
        "picture": discrete_block(lambda values: values.contexts, doc="index of the picture", constant=True),
        "pulled": block("last_arms", low=0, high=1, raw=True, doc="the arm that was pulled last, one-hot"),
        "paid": block("last_payouts", low=-LARGEST_SEEN, high=LARGEST_SEEN, raw=True, doc="what it paid"),
        "estimates": block("accounts", low=-LARGEST_SEEN, high=LARGEST_SEEN, raw=True, doc="payouts / (pulls + 1)"),
        "doubts": block("accounts", low=0, high=1, raw=True, doc="1 / sqrt(pulls + 1)"),
    },
    action=lambda values: discrete(*(f"arm {arm}" for arm in range(values.arms))),
    terms={"reward": term(-2.0 * LARGEST, 2.0 * LARGEST, 1.0, "what the arm pays")},
    horizon=1000,
    fps=4,
    expert_sees="state",
    levels={"drifting": {"spread": 0.0, "drift": 0.01, "horizon": 10_000}},
    scores={
        "bound": Score(
            1539, 0, "1000 times the mean of the largest of ten normal numbers, for a policy that knows the means"
        )
    },
)

CONTEXTUAL = SPEC.member(
    "ContextualBandit-v0",
    "Contextual bandit: find the arm with the highest mean reward for the picture shown.",
    contexts=5,
)


def metrics(p: Any, s: Any) -> dict[str, float]:
    """Scores of the episode so far; call it before the next reset.

    Args:
        p, s: parameters and state of a world, for example `env.batch.records(0)`.

    Returns:
        "regret": what the best arms would have paid more on average, summed over steps; "best": share of the steps
        with a best arm.
    """
    return {"regret": float(s.regret), "best": int(s.best_pulls) / max(int(s.elapsed), 1)}


@kernel
def largest(means):
    """The largest of some numbers."""
    found = means[0]
    for arm in range(1, means.size):
        found = max(found, means[arm])
    return found


@SPEC.reset
def reset(p, s, rng):
    for c in range(s.means.shape[0]):
        for arm in range(s.means.shape[1]):
            if p.payout == GAUSSIAN:
                s.means[c, arm] = p.spread * normal(rng)
            else:
                s.means[c, arm] = uniform(rng, 0.0, 1.0)
    s.picture = below(rng, s.means.shape[0])


@SPEC.step
def step(p, s, a, rng, r):
    mean, best = s.means[s.picture, a], largest(s.means[s.picture])
    if p.payout == GAUSSIAN:
        r.reward = mean + p.noise * normal(rng)
    else:
        r.reward = 1.0 if uniform(rng, 0.0, 1.0) < mean else 0.0
    s.pulled, s.paid = a + 1, r.reward
    s.pulls[s.picture, a] += 1
    s.sums[s.picture, a] += r.reward
    s.regret += best - mean
    s.best_pulls += int(mean == best)
    if p.payout == GAUSSIAN and p.drift > 0.0:
        for c in range(s.means.shape[0]):
            for arm in range(s.means.shape[1]):
                moved = s.means[c, arm] + p.drift * normal(rng)
                s.means[c, arm] = min(max(moved, -LARGEST), LARGEST)
    s.picture = below(rng, s.means.shape[0])


@kernel
def clipped(payout):
    return min(max(payout, -LARGEST_SEEN), LARGEST_SEEN)


@SPEC.observe
def observe(p, s, o):
    o.picture = s.picture
    for arm in range(o.pulled.size):
        o.pulled[arm] = 1.0 if s.pulled == arm + 1 else 0.0
    for k in range(o.paid.size):
        o.paid[k] = clipped(s.paid)
    for arm in range(o.estimates.size):
        pulls = s.pulls[s.picture, arm] + 1.0
        o.estimates[arm] = clipped(s.sums[s.picture, arm] / pulls)
        o.doubts[arm] = 1.0 / math.sqrt(pulls)


@SPEC.expert
def expert(p, s, a):
    best = largest(s.means[s.picture])
    for arm in range(s.means.shape[1]):
        if s.means[s.picture, arm] == best:
            a[0] = arm
            return


@SPEC.draw
def draw(canvas, p, s):
    draw_bandit(canvas, p, s, p.payout == GAUSSIAN)


@SPEC.text
def text(p, s):
    return f"picture {s.picture}"


@SPEC.keys
def keys(pressed, values):
    return next((arm for arm in range(min(values.arms, 10)) if str(arm) in pressed), None)
