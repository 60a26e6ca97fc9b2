"""Environments broken on purpose so that a first look misses it: late, seldom, for some only, behind a declaration."""

import numpy as np

from rlenvs.core import f8, i8, param, uniform
from toys.broken_habits import BOOST, reset_and_count
from toys.broken_worlds import (
    DECLARATION,
    HIDDEN,
    KERNELS,
    Env,
    ParallelEnv,
    Team,
    VectorEnv,
    expert,
    make,
    observe,
    reset,
    step,
    team_observe,
    team_step,
)

STATE, PARAMS = DECLARATION["state"], DECLARATION["params"]


# --- later than a short look lasts ------------------------------------------------------------------------------------


def step_without_end(p, s, a, rng, r):
    step(p, s, a, rng, r)
    s.x = min(max(s.x, -1.0), 1.0)
    r.terminated = False


def observe_nan_after_650(p, s, o):
    observe(p, s, o)
    if s.elapsed > 650:
        o.x = np.nan


def step_with_one_bonus(p, s, a, rng, r):
    step_without_end(p, s, a, rng, r)
    if s.elapsed == 647:
        r.near = 1.0


def step_until_tired(p, s, a, rng, r):
    step(p, s, a, rng, r)
    if s.episodes > 400:
        s.x -= 0.5 * s.speed


def step_with_late_overflow(p, s, a, rng, r):
    step_without_end(p, s, a, rng, r)
    huge = max(int(s.elapsed) - 296, 0) * 4611686018427387904  # beyond 2**63 from step 299 on: in Python, not compiled
    if huge > 9.3e18:
        r.near *= 0.5


def step_with_very_rare_refund(p, s, a, rng, r):
    step(p, s, a, rng, r)
    if abs(s.x - 0.123) < 1e-5:
        r.speeding = -0.5


LATE_OVERFLOW = make("LateOverflow", horizon=400, step=step_with_late_overflow)
VERY_RARE = make("VeryRareRefund", step=step_with_very_rare_refund)


# --- asking that is not harmless --------------------------------------------------------------------------------------


def expert_by_mood(p, s, a):
    expert(p, s, a)
    if HIDDEN.random() < 0.5:
        a[0] = 1


def text_that_hurries(p, s):
    if s.elapsed > 3:
        s.speed *= 1.1
    return "a line"


def draw_that_rolls_dice(canvas, p, s):
    uniform(s.rng, 0.0, 1.0)


def observe_by_the_third(p, s, k, o):
    team_observe(p, s, k, o)
    if k == 2:
        s.x[0] += 1e-3


def make_team(name, **changes):
    """The healthy team with other kernels."""
    declared = ("agents", "params", "options", "sizes", "state", "observation")
    kernels = {role: Team.kernels[role] for role in KERNELS}
    return make(name, **{part: getattr(Team, part) for part in declared}, costs={}, levels={}, **{**kernels, **changes})


Texts = make("Texts")
Texts.text(text_that_hurries)
Dice = make("Dice")
Dice.draw(draw_that_rolls_dice)


# --- ends -------------------------------------------------------------------------------------------------------------


def step_to_the_fifteenth(p, s, a, rng, r):
    step(p, s, a, rng, r)
    r.terminated = r.terminated or s.elapsed + 1 == 15


def reset_with_deadline(p, s, rng):
    reset(p, s, rng)
    s.left = uniform(rng, 10.0, 14.0)


def step_to_deadline(p, s, a, rng, r):
    step(p, s, a, rng, r)
    s.left -= 1.0
    r.terminated = r.terminated or s.left <= 0.0


def step_that_soon_succeeds(p, s, a, rng, r):
    step(p, s, a, rng, r)
    r.success = s.elapsed > 0


# --- actions, masks, experts ------------------------------------------------------------------------------------------


def step_with_dead_hands(p, s, a, rng, r):
    team_step(p, s, a, rng, r)
    for k in range(s.x.shape[0]):
        if not s.alive[k]:
            for j in range(s.x.shape[0]):
                s.x[j] += 0.01 * a[k]


def mask_against_goal(p, s, m):
    m[0], m[1], m[2] = s.goal >= s.x, 1, s.goal < s.x


def expert_that_waits(p, s, a):
    a[0] = 1


def reset_with_secret(p, s, rng):
    reset(p, s, rng)
    s.secret = uniform(rng, -0.5, 0.5)


def step_to_secret(p, s, a, rng, r):
    step(p, s, a, rng, r)
    r.near = -min(abs(s.x - s.goal - s.secret), 3.0)


def expert_in_the_know(p, s, a):
    a[0] = 2 if s.goal + s.secret > s.x else 0


SECRET = {"state": {**STATE, "secret": f8}, "reset": reset_with_secret, "step": step_to_secret}


# --- parameters -------------------------------------------------------------------------------------------------------


def step_with_threshold(p, s, a, rng, r):
    step(p, s, a, rng, r)
    s.x += 0.01 * max(p.boost - 1.9, 0.0)


LIMIT = {**PARAMS, "boost": param(1.0, 0.5, 2.0, limit=True)}


def step_without_limit(p, s, a, rng, r):
    step(p, s, a, rng, r)


ATTACKS = {  # rule: worlds that break it
    10: [
        make("Threshold", params=BOOST, step=step_with_threshold),
        make("NoLimit", params=LIMIT, step=step_without_limit),
    ],
    20: [Texts, Dice, make_team("ThirdLook", observe=observe_by_the_third)],
    23: [
        make("Fifteen", step=step_to_the_fifteenth),
        make("Deadline", state={**STATE, "left": f8}, reset=reset_with_deadline, step=step_to_deadline),
        make("SoonGood", step=step_that_soon_succeeds),
    ],
    24: [make_team("DeadHands", step=step_with_dead_hands)],
    25: [make("Secret", **SECRET, expert=expert_in_the_know)],
}
LATE_ATTACKS = {  # rule: worlds that only the long mode finds
    22: [make("TiredLate", persistent={"episodes": i8}, reset=reset_and_count, step=step_until_tired)],
    26: [
        make("After650", horizon=700, step=step_without_end, observe=observe_nan_after_650),
        make("OneBonus", horizon=700, step=step_with_one_bonus),
    ],
}
MOOD = make("Mood", expert=expert_by_mood)
DECLARED = make("Declared", **SECRET, expert=expert_in_the_know, expert_sees="state")
AGAINST = make("Against", mask=mask_against_goal, expert=expert_that_waits)


# --- forms that reuse arrays ------------------------------------------------------------------------------------------


class Ring(Env):
    """4: what is returned is overwritten forty steps later."""

    def step(self, action):
        observation, *rest = super().step(action)
        self.buffers = self.__dict__.get("buffers") or [np.zeros_like(observation) for _ in range(40)]
        self.buffers.append(self.buffers.pop(0))
        self.buffers[0][...] = observation
        return self.buffers[0], *rest


class RewardPair(VectorEnv):
    """4: two arrays of rewards take turns."""

    def step(self, actions):
        observations, rewards, *rest = super().step(actions)
        self.buffers = self.__dict__.get("buffers") or [np.zeros_like(rewards) for _ in range(2)]
        self.buffers.reverse()
        self.buffers[0][...] = rewards
        return observations, self.buffers[0], *rest


class InfoPair(ParallelEnv):
    """4: the arrays in info are overwritten two steps later."""

    def step(self, actions):
        *rest, infos = super().step(actions)
        self.buffers = self.__dict__.get("buffers") or [{}, {}]
        self.buffers.reverse()
        for agent, info in infos.items():
            kept = self.buffers[0].setdefault(agent, info["reward_vector"])
            kept[...] = info["reward_vector"]
            info["reward_vector"] = kept
        return *rest, infos
