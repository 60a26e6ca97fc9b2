# %% [markdown]
# # Your own world
#
# About 90 minutes of work; the notebook runs in under a minute. Sutton and Barto, 2nd edition, chapter 3.
#
# Most problems come without an environment. Here you write one, a shop, as a class that every library can use, and find
# out what its users rely on without saying so.
#
# > **The shop.** In the evening of day $t$ there are $S_t$ crates on the shelf, at most 20. You order $A_t$ crates, 0 to 5,
# > which come overnight; what does not fit is thrown away. Next day $D_t$ crates are asked for, Poisson distributed with
# > mean 2 on days 0 to 4 of a week and 5 on days 5 and 6, the days counted from 0 on. Sold is what is there:
#
# $$B_t = \min(S_t + A_t,\, 20), \qquad S_{t+1} = \max(B_t - D_t,\, 0), \qquad D_t \sim \text{Poisson}(\lambda_{t \bmod 7}).$$
#
# > Pay has three terms: 2 for each crate sold, -1 for each crate ordered, -0.1 for each crate that is left,
#
# $$R_{t+1} = 2 \min(B_t, D_t) - A_t - 0.1\, S_{t+1}.$$
#
# > After three days in a row with more demand than crates, the customers stay away and the shop is closed for ever. If not,
# > the episode is over after four weeks, since you look no further.
#
# **Hand in** this notebook, or a script with the class and the three functions below it.

# %%
import gymnasium
import numpy as np


# %% [markdown]
# ## 1. The class
#
# - **Spaces**: the observation is `[stock, day of the week]`, float32, with the bounds that these have; the action is one
#   of six.
# - **`reset(seed, options)`** begins with day 0 and a stock of `self.np_random.integers(5, 11)`, or with the one in
#   `options={"stock": 3}`, which draws nothing. Call `super().reset(seed=seed)` first: it seeds `self.np_random`, or lets it
#   go on if there is no seed.
# - **`step(action)`** draws the demand by `self.np_random.poisson(mean)`, once. The info has the terms by name: `sales`,
#   `order` and `storage`, which add up to the reward.
# - **An end is no time limit**: which of both is `terminated`, which is `truncated`? May both be true?
# - **Snapshots**: `get_state()` gives everything that the future depends on, in a form that later steps do not change;
#   `set_state` goes back to it. What belongs to it that is easily forgotten?


# %%
class Shop(gymnasium.Env):
    """A shop that orders crates. Observations: stock and day of the week. Actions: crates to order."""

    MOST, DAYS, PATIENCE = 20, 28, 3

    def __init__(self):
        ### BEGIN SOLUTION
        self.observation_space = gymnasium.spaces.Box(np.float32([0, 0]), np.float32([self.MOST, 6]))
        self.action_space = gymnasium.spaces.Discrete(6)
        ### END SOLUTION

    def reset(self, *, seed=None, options=None):
        """The first observation, and an info, which may be empty."""
        ### BEGIN SOLUTION
        super().reset(seed=seed)
        given = (options or {}).get("stock")
        self.stock = int(self.np_random.integers(5, 11)) if given is None else given
        self.day, self.short = 0, 0
        return self.observed(), {}
        ### END SOLUTION

    def step(self, action):
        """Observation, reward, terminated, truncated, and the terms."""
        ### BEGIN SOLUTION
        there = min(self.stock + int(action), self.MOST)
        demand = int(self.np_random.poisson(5.0 if self.day % 7 in (5, 6) else 2.0))
        self.stock = max(there - demand, 0)
        self.short = self.short + 1 if demand > there else 0
        self.day += 1
        terms = {"sales": 2.0 * min(there, demand), "order": -float(action), "storage": -0.1 * self.stock}
        closed = self.short == self.PATIENCE
        return self.observed(), sum(terms.values()), closed, self.day == self.DAYS and not closed, terms
        ### END SOLUTION

    def get_state(self):
        """Everything that the future depends on."""
        ### BEGIN SOLUTION
        return self.stock, self.day, self.short, self.np_random.bit_generator.state
        ### END SOLUTION

    def set_state(self, state):
        """Go back to a state."""
        ### BEGIN SOLUTION
        self.stock, self.day, self.short, generator = state
        self.np_random.bit_generator.state = generator
        ### END SOLUTION

    def observed(self):
        """The observation of the present state."""
        ### BEGIN SOLUTION
        return np.array([self.stock, self.day % 7], np.float32)
        ### END SOLUTION


# %% [markdown]
# ## 2. How it is played
#
# These three functions are how the shop is graded. Leave them as they are; the grader takes its own.


# %%
def told_spaces():
    """The bounds of the observations, their type, and the number of actions."""
    env = Shop()
    space = env.observation_space
    return {"low": space.low, "high": space.high, "type": str(space.dtype), "actions": int(env.action_space.n)}


def play(seed, actions, stock=None, episodes=1):
    """Episodes with the same actions, one after the other; only the first is seeded. What was seen and paid, and how it
    ended."""
    env, played = Shop(), []
    for number in range(episodes):
        options = None if stock is None else {"stock": stock}
        seen, _ = env.reset(seed=seed if number == 0 else None, options=options)
        told = {"seen": [seen], "types": [str(seen.dtype)], "rewards": [], "terms": []}
        for action in actions:
            seen, reward, terminated, truncated, info = env.step(action)
            told["seen"].append(seen)
            told["types"].append(str(seen.dtype))
            told["rewards"].append(float(reward))
            told["terms"].append([float(info[name]) for name in ("sales", "order", "storage")])
            if terminated or truncated:
                break
        played.append({**told, "terminated": bool(terminated), "truncated": bool(truncated)})
    return played


def futures(seed, actions, at):
    """Stocks after a snapshot in step `at`: as it went on first, and again from the snapshot."""
    env = Shop()
    env.reset(seed=seed)
    for action in actions[:at]:
        env.step(action)
    state, found = env.get_state(), []
    for _ in range(2):
        found.append([float(env.step(action)[0][0]) for action in actions[at:]])
        env.set_state(state)
    return found


# %% [markdown]
# ## Look at it
#
# An episode by a simple rule: fill up to a level that depends on the day. Then the same shop, as this package writes worlds:
# declared, and compiled. What you wrote by hand (spaces, seeds, terms, limits, snapshots) follows from the declaration, and so
# do vectors, and a check of it all.

# %% tags=["experiment"]
import os
import time

import matplotlib.pyplot as plt
import rlenvs
from gymnasium.utils.env_checker import check_env
from rlenvs.core import block, discrete, f8, i8, kernel, term, world
from rlenvs.core import maths, uniform

check_env(Shop(), skip_render_check=True)
env, level = Shop(), (7, 7, 7, 7, 10, 10, 7)
seen, _ = env.reset(seed=0)
stocks, returns = [seen[0]], [0.0]
for _ in range(28):
    order = min(max(level[int(seen[1])] - int(seen[0]), 0), 5)
    seen, reward, terminated, truncated, info = env.step(order)
    stocks.append(seen[0])
    returns.append(returns[-1] + reward)
    if terminated or truncated:
        break

SPEC = world(
    "Shop-v0",
    doc="A shop that orders crates.",
    params={},
    state={"stock": i8, "short": i8},
    observation={
        "stock": block(low=0, high=20, unit="crates", doc="on the shelf"),
        "weekday": block(low=0, high=6, unit="days", doc="of the week"),
    },
    action=discrete("0", "1", "2", "3", "4", "5"),
    terms={
        "sales": term(0, 50, weight=1.0, doc="2 for each crate sold"),
        "order": term(-5, 0, weight=1.0, doc="-1 for each crate ordered"),
        "storage": term(-2, 0, weight=1.0, doc="-0.1 for each crate left"),
    },
    costs={},
    horizon=28,
)


@kernel
def poisson(rng, mean):
    """Multiply uniform numbers until their product falls below exp(-mean)."""
    count, product, least = 0, uniform(rng, 0.0, 1.0), maths.exp(-mean)
    while product > least:
        count += 1
        product *= uniform(rng, 0.0, 1.0)
    return count


@SPEC.reset
def reset(p, s, rng):
    s.stock, s.short = int(uniform(rng, 5.0, 11.0)), 0


@SPEC.step
def step(p, s, a, rng, r):
    there = min(s.stock + a, 20)
    weekday = (s.elapsed - 1) % 7
    demand = poisson(rng, 5.0 if weekday >= 5 else 2.0)
    s.stock = max(there - demand, 0)
    s.short = s.short + 1 if demand > there else 0
    r.sales, r.order, r.storage = 2.0 * min(there, demand), -float(a), -0.1 * s.stock
    r.terminated = s.short == 3


@SPEC.observe
def observe(p, s, o):
    o.stock, o.weekday = s.stock, s.elapsed % 7


def speed(advance, count, seconds=0.5):
    """Steps per second."""
    steps, start = 0, time.perf_counter()
    while time.perf_counter() - start < seconds:
        advance()
        steps += count
    return steps / seconds


by_hand = Shop()
by_hand.reset(seed=0)


def one_step():
    *_, terminated, truncated, _ = by_hand.step(2)
    if terminated or truncated:
        by_hand.reset()


speeds = {"by hand": speed(one_step, 1)}
if not os.environ.get("RLENVS_SMOKE"):  # compiling takes some seconds
    rlenvs.register("Shop-v0", SPEC)
    many = rlenvs.make_vec("Shop-v0", 1000)
    many.reset(seed=0)
    orders = np.full(1000, 2)
    many.step(orders)
    speeds["1000 declared ones"] = speed(lambda: many.step(orders), 1000)

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4))
left.step(range(len(stocks)), stocks, where="post", label="crates on the shelf")
left.plot(returns, label="return so far")
left.set_xlabel("day")
left.legend()
right.barh(list(speeds), list(speeds.values()))
right.set_xscale("log")
right.set_xlabel("steps per second")
figure.tight_layout()
plt.show()
