# %% [markdown]
# # Truncation is not termination
#
# About 40 minutes of work; the notebook runs in seconds. Sutton and Barto, 2nd edition, chapters 3.3 and 6.
#
# An episode can end for two reasons. It *terminates*: the world has nothing more to give. It is *truncated*: a time limit
# cut it off, and the world would have gone on. The target of a step is
#
# $$y_t = R_{t+1} + \gamma\, (1 - \text{terminated}_{t+1})\, V(S_{t+1}),$$
#
# whether it was truncated or not. Who writes $1 - \text{done}$, with $\text{done} = \text{terminated} \lor
# \text{truncated}$, teaches that time limits are death. It is among the most frequent faults in learners.
#
# **Hand in** this notebook, or a script with `targets`, `n_step_targets` and `evaluate`.

# %%
import numpy as np


# %% [markdown]
# ## 1. Targets of single steps


# %%
def targets(rewards, next_values, terminated, truncated, gamma):
    """One-step targets (T,), of arrays (T,)."""
    ### BEGIN SOLUTION
    return rewards + gamma * np.where(terminated, 0.0, next_values)
    ### END SOLUTION


# %% [markdown]
# ## 2. Targets of several steps
#
# Add up rewards for up to $n$ steps, then bootstrap. Stop early where the episode ends: after a termination nothing
# follows; at a truncation, and at the end of the arrays, bootstrap from the value there. With $m \le n$ steps,
#
# $$y_t = \sum_{k=0}^{m-1} \gamma^k R_{t+k+1} + \gamma^m\, (1 - \text{terminated}_{t+m})\, V(S_{t+m}).$$
#
# What comes after an end in the arrays is another episode. `next_values[t]` is $V(S_{t+1})$ of the same episode.


# %%
def n_step_targets(rewards, next_values, terminated, truncated, gamma, n):
    """n-step targets (T,), of arrays (T,)."""
    ### BEGIN SOLUTION
    found = np.zeros(len(rewards))
    for t in range(len(rewards)):
        factor = 1.0
        for k in range(t, min(t + n, len(rewards))):
            found[t] += factor * rewards[k]
            factor *= gamma
            if terminated[k] or truncated[k]:
                break
        if not terminated[k]:
            found[t] += factor * next_values[k]
    return found
    ### END SOLUTION


# %% [markdown]
# ## 3. A value that time limits do not spoil
#
# `env` pays in every step and is cut off early. Estimate by TD(0) the discounted values of the policy that takes action 1 in
# every state, **as if there were no time limit**. `env` has `n_states` and a `budget` of steps; `env.reset()` gives
# `(state, info)`, `env.step(action)` gives `(state, reward, terminated, truncated, info)`. What counts are the values of all
# states, in worlds that are drawn for each grading: where a step leads, what it pays, and whether there is an end at all.


# %%
def evaluate(env, gamma):
    """Values (n_states,)."""
    ### BEGIN SOLUTION
    values = np.zeros(env.n_states)
    state, _ = env.reset()
    for _ in range(env.budget):
        next_state, reward, terminated, truncated, _ = env.step(1)
        values[state] += 0.3 * (reward + gamma * (not terminated) * values[next_state] - values[state])
        state = env.reset()[0] if terminated or truncated else next_state
    return values
    ### END SOLUTION


# %% [markdown]
# ## Look at it
#
# A chain whose last state pays 1 for ever, cut off after `length + 9` steps. Its true value there is $1 / (1 - \gamma)$. The
# wrong target believes that it ends.

# %% tags=["experiment"]
import os

import gymnasium
import matplotlib.pyplot as plt
import rlenvs

steps, gamma = (200, 0.9) if os.environ.get("RLENVS_SMOKE") else (20_000, 0.9)
env = gymnasium.make("rlenvs/Chain-v0", length=6)
truth = rlenvs.solve_mdp(env, gamma=gamma).values
for name, wrong in {"1 - terminated": False, "1 - done": True}.items():
    values, (state, _) = np.zeros(6), env.reset(seed=0)
    for _ in range(steps):
        next_state, reward, terminated, truncated, _ = env.step(1)
        end = np.array([terminated or (wrong and truncated)])
        target = targets(np.array([reward]), values[[next_state]], end, np.array([truncated]), gamma)[0]
        values[state] += 0.05 * (target - values[state])
        state = env.reset()[0] if terminated or truncated else next_state
    plt.plot(values, marker="o", label=name)
plt.plot(truth, "k--", label="exact")
plt.xlabel("state")
plt.ylabel("value")
plt.legend()
plt.show()
