# %% [markdown]
# # Generalized advantage estimation
#
# About 40 minutes of work; the notebook runs in seconds. Sutton and Barto, 2nd edition, chapter 12; Schulman and others,
# "High-dimensional continuous control using generalized advantage estimation", ICLR 2016.
#
# An actor-critic asks how much better an action was than expected. With the error of a step,
#
# $$\delta_t = R_{t+1} + \gamma\,(1 - \text{terminated}_{t+1})\,V(S_{t+1}) - V(S_t),$$
#
# the advantage sums the errors that follow in the same episode,
#
# $$\hat A_t = \delta_t + \gamma \lambda\, (1 - \text{done}_{t+1})\, \hat A_{t+1}.$$
#
# $\lambda = 0$ is the one-step error, little variance but biased by $V$; $\lambda = 1$ is the return minus $V$. Two different
# masks: *terminated* stops the bootstrap, *done* (terminated or truncated) stops the sum.
#
# **Hand in** this notebook, or a script with `deltas`, `gae` and `normalized`.

# %%
import numpy as np


# %% [markdown]
# ## 1. Errors of steps


# %%
def deltas(rewards, values, next_values, terminated, gamma):
    """Errors (T, N), of arrays (T, N): T steps of N environments side by side."""
    ### BEGIN SOLUTION
    return rewards + gamma * np.where(terminated, 0.0, next_values) - values
    ### END SOLUTION


# %% [markdown]
# ## 2. Advantages
#
# One pass from the last step to the first, all environments at once. `next_values` are those of the true next state, also
# where an episode was cut off.


# %%
def gae(rewards, values, next_values, terminated, truncated, gamma, lam):
    """Advantages (T, N)."""
    ### BEGIN SOLUTION
    errors, done = deltas(rewards, values, next_values, terminated, gamma), terminated | truncated
    found, ahead = np.zeros(rewards.shape), np.zeros(rewards.shape[1])
    for t in reversed(range(len(rewards))):
        ahead = errors[t] + gamma * lam * np.where(done[t], 0.0, ahead)
        found[t] = ahead
    return found
    ### END SOLUTION


# %% [markdown]
# ## 3. Normalized
#
# PPO subtracts the mean of a batch and divides by its standard deviation (`np.std`), plus `1e-8`.


# %%
def normalized(advantages):
    """Advantages of mean 0 and standard deviation 1, in the same shape."""
    ### BEGIN SOLUTION
    return (advantages - advantages.mean()) / (advantages.std() + 1e-8)
    ### END SOLUTION


# %% [markdown]
# ## Look at it: a pendulum
#
# A random policy, a crude critic. As $\lambda$ grows, what happens to the spread of the advantages?

# %% tags=["experiment"]
import os

import gymnasium
import matplotlib.pyplot as plt
import rlenvs  # registers the environments

T = 50 if os.environ.get("RLENVS_SMOKE") else 2000
env = gymnasium.make("rlenvs/Pendulum-v0", render_mode="rgb_array")
env.action_space.seed(0)
observations, rewards, ends = [env.reset(seed=0)[0]], [], []
next_observations = []
for _ in range(T):
    observation, reward, terminated, truncated, _ = env.step(env.action_space.sample())
    rewards.append(reward)
    ends.append((terminated, truncated))
    next_observations.append(observation)
    observations.append(env.reset()[0] if terminated or truncated else observation)


def critic(seen):
    return -60.0 + 40.0 * np.array(seen)[:, :1]


terminated, truncated = np.array(ends)[:, :1], np.array(ends)[:, 1:]
lambdas = np.linspace(0.0, 1.0, 11)
spread = [
    gae(
        np.array(rewards)[:, None],
        critic(observations[:-1]),
        critic(next_observations),
        terminated,
        truncated,
        0.98,
        lam,
    ).std()
    for lam in lambdas
]
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4))
left.plot(lambdas, spread, marker="o")
left.set_xlabel("lambda")
left.set_ylabel("standard deviation of the advantages")
right.imshow(env.render())
plt.show()
