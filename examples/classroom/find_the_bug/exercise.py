# %% [markdown]
# # Find the bug
#
# About 40 minutes of work; the notebook runs in seconds. Sutton and Barto, 2nd edition, chapter 3.
#
# A learner that does not learn often has nothing wrong with it: the environment has. You are given a *corridor* as a black
# box, and find by playing whether it does what its description says.
#
# > Cells 0 to 9 in a row. `reset()` begins in cell 4. Action 0 goes left, 1 goes right; to the left of cell 0 is a
# > wall, where a step stays. A step into cell 9 pays 1 and terminates the episode; all other steps pay 0. An episode that
# > is not over after 20 steps is truncated, not terminated, in step 20.
#
# $$R_{t+1} = \begin{cases} 1 & S_{t+1} = 9 \\ 0 & \text{else.} \end{cases}$$
#
# These faults may be in it, none, one or several:
#
# | fault | what is wrong |
# | --- | --- |
# | `leaky_reset` | a later episode begins where the last one stopped, unless that was the end |
# | `limit_is_end` | at the time limit the step says terminated, not truncated |
# | `late_limit` | the episode is cut off in step 21 |
# | `early_reward` | 1 is paid for stepping right into cell 8 too |
# | `no_wall` | a step to the left of cell 0 comes out in cell 8 |
#
# **Hand in** this notebook, or a script with `diagnose`.

# %%
import numpy as np


# %% [markdown]
# ## Diagnose
#
# `env.reset()` gives `(cell, info)`, `env.step(action)` gives `(cell, reward, terminated, truncated, info)`. You may take
# `env.budget` steps, which is plenty. Once an episode is over, a step is refused until the next reset. An answer that
# names a fault that is not there earns nothing, nor does one that misses one. Mind that one fault may hide another.


# %%
def diagnose(env):
    """The names of the faults, a list."""
    ### BEGIN SOLUTION
    found = []
    # to the right until the end: what is paid on the way?
    cell, _ = env.reset()
    paid, over = {}, False
    while not over:
        cell, reward, terminated, truncated, _ = env.step(1)
        paid[cell] = reward
        over = terminated or truncated
    if paid.get(8, 0.0) != 0.0:
        found.append("early_reward")
    # an episode that was left in the middle, at cell 3
    env.reset()
    env.step(0)
    if env.reset()[0] != 4:
        found.append("leaky_reset")
    # to the left wall, and against it
    cell, _ = env.reset()
    while cell > 0:
        cell, *_ = env.step(0)
    if env.step(0)[0] != 0:
        found.append("no_wall")
    # to and fro until the limit
    env.reset()
    steps, over = 0, False
    while not over:
        _, _, terminated, truncated, _ = env.step(steps % 2)
        steps, over = steps + 1, terminated or truncated
    if terminated:
        found.append("limit_is_end")
    if steps == 21:
        found.append("late_limit")
    return found
    ### END SOLUTION


# %% [markdown]
# ## Try it
#
# The same corridor, for you to break. What does a fault do to a learner? Values by TD(0) of walking at random, whole and
# with `early_reward`.

# %% tags=["experiment"]
import os

import matplotlib.pyplot as plt


class Corridor:
    def __init__(self, *faults):
        self.faults, self.cell, self.budget = faults, 4, 2000

    def reset(self):
        if "leaky_reset" not in self.faults or self.cell == 9:
            self.cell = 4
        self.steps = 0
        return self.cell, {}

    def step(self, action):
        before, self.steps = self.cell, self.steps + 1
        self.cell += 1 if action == 1 else -1
        if self.cell < 0:
            self.cell = 8 if "no_wall" in self.faults else 0
        reward = float(self.cell == 9 or ("early_reward" in self.faults and (before, self.cell) == (7, 8)))
        ended = self.cell == 9
        late = not ended and self.steps >= (21 if "late_limit" in self.faults else 20)
        dies = "limit_is_end" in self.faults
        return self.cell, reward, ended or (late and dies), late and not dies, {}


for faults in [(), ("no_wall",), ("leaky_reset", "late_limit")]:
    print(faults, "->", diagnose(Corridor(*faults)))

episodes = 20 if os.environ.get("RLENVS_SMOKE") else 3000
for faults in [(), ("early_reward",)]:
    env, rng, values = Corridor(*faults), np.random.default_rng(0), np.zeros(10)
    for _ in range(episodes):
        (cell, _), over = env.reset(), False
        while not over:
            after, reward, terminated, truncated, _ = env.step(rng.integers(2))
            values[cell] += 0.05 * (reward + 0.9 * (not terminated) * values[after] - values[cell])
            cell, over = after, terminated or truncated
    plt.plot(values, marker="o", label=", ".join(faults) or "whole")
plt.xlabel("cell")
plt.ylabel("value")
plt.legend()
plt.show()
