# %% [markdown]
# # Bandits: explore or exploit?
#
# About 45 minutes of work; the notebook runs in about a minute. Sutton and Barto, 2nd edition, chapter 2.
#
# A machine has $k$ arms. Arm $a$ pays $R_t \sim \mathcal{N}(q_*(a), 1)$, and nobody tells $q_*$. What is lost against
# the best arm is the *regret*
#
# $$\text{regret}(T) = \sum_{t=1}^{T} \big( \max_a q_*(a) - q_*(A_t) \big).$$
#
# **Hand in** this notebook, or a script with `update`, `epsilon_greedy`, `ucb` and `play`.

# %%
import numpy as np


# %% [markdown]
# ## 1. A mean, step by step
#
# The mean of all rewards of an arm needs no list of them:
#
# $$Q \leftarrow Q + \tfrac{1}{N} (R - Q).$$


# %%
def update(counts, means, arm, reward):
    """The new counts and means, two arrays (k,), after a pull of an arm; the arrays that are given stay as they are."""
    counts, means = np.array(counts), np.array(means, dtype=float)
    ### BEGIN SOLUTION
    counts[arm] += 1
    means[arm] += (reward - means[arm]) / counts[arm]
    ### END SOLUTION
    return counts, means


# %% [markdown]
# ## 2. Whom to pull?
#
# *Epsilon-greedy* pulls the best arm so far, but with probability $\epsilon$ any arm, uniformly. Return the
# **probabilities** of the arms; arms that are equally good share.
#
# *UCB* is optimistic about what it hardly knows,
#
# $$A_t = \arg\max_a \Big[ Q(a) + c \sqrt{\ln t / N(a)} \Big],$$
#
# where $t$ is the number of pulls so far, $t = \sum_a N(a)$. An arm that was never pulled comes first, the lowest number
# of them.


# %%
def epsilon_greedy(means, epsilon):
    """Probabilities (k,)."""
    ### BEGIN SOLUTION
    means = np.asarray(means)
    best = means == means.max()
    return epsilon / len(means) + (1 - epsilon) * best / best.sum()
    ### END SOLUTION


def ucb(counts, means, c):
    """The arm to pull."""
    ### BEGIN SOLUTION
    counts = np.asarray(counts)
    if (counts == 0).any():
        return int(np.argmax(counts == 0))
    return int(np.argmax(means + c * np.sqrt(np.log(counts.sum()) / counts)))
    ### END SOLUTION


# %% [markdown]
# ## 3. Play
#
# `env` has `n_actions` arms; `env.reset()` begins, once (a second one is refused: there is one machine only), and
# `env.step(arm)` gives `(observation, reward, terminated, truncated, info)`. Pull `steps` times, as well as you can. You are graded by the regret on machines that you have not
# seen: the arms' means are drawn from a normal distribution of mean 0 and standard deviation 1.


# %%
def play(env, steps):
    """Pull arms of a machine."""
    ### BEGIN SOLUTION
    env.reset()
    counts, means = np.zeros(env.n_actions), np.zeros(env.n_actions)
    for _ in range(steps):
        arm = ucb(counts, means, 1.0)
        counts, means = update(counts, means, arm, env.step(arm)[1])
    ### END SOLUTION


# %% [markdown]
# ## Look at it
#
# The mean reward of both rules over many machines. Which is better early, which late?

# %% tags=["experiment"]
import os

import gymnasium
import matplotlib.pyplot as plt
import rlenvs  # registers the environments

machines, steps = (5, 100) if os.environ.get("RLENVS_SMOKE") else (200, 1000)
env = gymnasium.make("rlenvs/Bandit-v0")
rng = np.random.default_rng(0)
rules = {
    "epsilon 0": lambda counts, means: rng.choice(10, p=epsilon_greedy(means, 0.0)),
    "epsilon 0.1": lambda counts, means: rng.choice(10, p=epsilon_greedy(means, 0.1)),
    "UCB, c = 1": lambda counts, means: ucb(counts, means, 1.0),
}
for name, rule in rules.items():
    rewards = np.zeros((machines, steps))
    for machine in range(machines):
        env.reset(seed=machine)
        counts, means = np.zeros(10), np.zeros(10)
        for t in range(steps):
            arm = rule(counts, means)
            rewards[machine, t] = env.step(arm)[1]
            counts, means = update(counts, means, arm, rewards[machine, t])
    plt.plot(rewards.mean(axis=0), label=name)
plt.xlabel("step")
plt.ylabel("mean reward")
plt.legend()
plt.show()
