# %% [markdown]
# # The loss of PPO
#
# About 45 minutes of work; the notebook runs in seconds. Sutton and Barto, 2nd edition, chapter 13; Schulman et al.,
# "Proximal policy optimization algorithms" (2017).
#
# A policy gradient is right at the policy that the data came from. PPO takes several steps on the same data, and stops to push
# where the new policy has moved too far. With the ratio $\rho = \pi_{new}(a) / \pi_{old}(a)$ it maximises the mean of
#
# $$\min\big( \rho A,\; \mathrm{clip}(\rho, 1 - \epsilon, 1 + \epsilon)\, A \big).$$
#
# **Hand in** this notebook, or a script with `log_probability`, `clipped_objective`, `clip_fraction` and
# `explained_variance`.

# %%
import numpy as np


# %% [markdown]
# ## 1. How likely was an action?
#
# A Gaussian policy with independent numbers has
#
# $$\log \pi(a) = -\sum_i \Big[ \frac{(a_i - \mu_i)^2}{2 \sigma_i^2} + \log \sigma_i + \tfrac{1}{2} \log 2 \pi \Big].$$


# %%
def log_probability(actions, means, log_deviations):
    """Of actions (B, n), with means (B, n) and log standard deviations (n,): (B,)."""
    ### BEGIN SOLUTION
    scaled = (actions - means) / np.exp(log_deviations)
    return -(0.5 * scaled**2 + log_deviations + 0.5 * np.log(2 * np.pi)).sum(axis=1)
    ### END SOLUTION


# %% [markdown]
# ## 2. The objective


# %%
def clipped_objective(new, old, advantages, clip):
    """What PPO maximises, for log-probabilities `new` and `old` (B,)."""
    ### BEGIN SOLUTION
    ratio = np.exp(new - old)
    return float(np.minimum(ratio * advantages, np.clip(ratio, 1 - clip, 1 + clip) * advantages).mean())
    ### END SOLUTION


# %% [markdown]
# ## 3. Two numbers to watch
#
# The share of samples with $|\rho - 1| > \epsilon$ shows whether steps are too large. The *explained variance*
# $1 - \mathrm{Var}(G - V) / \mathrm{Var}(G)$ shows what the critic knows of the returns: 1 all, 0 nothing.


# %%
def clip_fraction(new, old, clip):
    """Share of samples whose ratio is outside the clip range."""
    ### BEGIN SOLUTION
    return float((np.abs(np.exp(new - old) - 1) > clip).mean())
    ### END SOLUTION


def explained_variance(values, returns):
    """Of returns (B,) by values (B,)."""
    ### BEGIN SOLUTION
    return float(1 - np.var(returns - values) / np.var(returns))
    ### END SOLUTION


# %% [markdown]
# ## Look at it
#
# The objective as a function of the ratio. On which side does PPO stop to push, and why not on the other?

# %% tags=["experiment"]
import matplotlib.pyplot as plt

ratios = np.linspace(0.5, 1.5, 101)
for advantage in (1.0, -1.0):
    heights = [clipped_objective(np.log([r]), np.zeros(1), np.array([advantage]), 0.2) for r in ratios]
    plt.plot(ratios, heights, label=f"A = {advantage:+.0f}")
plt.xlabel("ratio")
plt.ylabel("objective")
plt.legend()
plt.show()

# %% [markdown]
# A Gaussian policy on the pendulum, moved by a larger and larger step of its mean: how soon is everything clipped?

# %% tags=["experiment"]
import rlenvs

pendulums = rlenvs.make_vec("Pendulum-v0", 256)
observations, _ = pendulums.reset(seed=0)
means, logs = 0.1 * observations[:, :1], np.array([-0.5])
actions = means + np.exp(logs) * np.random.default_rng(0).normal(size=means.shape)
old = log_probability(actions, means, logs)
steps = np.linspace(0, 1, 21)
plt.plot(steps, [clip_fraction(log_probability(actions, means + step, logs), old, 0.2) for step in steps])
plt.xlabel("step of the mean")
plt.ylabel("clip fraction")
plt.show()
