# %% [markdown]
# # Policy gradient
#
# About 60 minutes of work; the notebook runs in about a minute. Sutton and Barto, 2nd edition, chapter 13.
#
# A policy with parameters $\theta$ can be improved without values of actions: climb the expected return $J(\theta)$ along
#
# $$\nabla J(\theta) = \mathbb{E}\Big[ \sum_t (G_t - b)\, \nabla \log \pi_\theta(A_t \mid S_t) \Big].$$
#
# The baseline $b$ changes nothing on average, but much of the variance. Here the policy is linear: with
# observations $x$ and one column of $\theta$ per action,
#
# $$\pi_\theta(a \mid x) = \frac{e^{z_a}}{\sum_b e^{z_b}}, \quad z = x^\top \theta, \qquad
# \nabla \log \pi_\theta(a \mid x) = x\, (e_a - \pi_\theta(\cdot \mid x))^\top.$$
#
# **Hand in** this notebook, or a script with `probabilities`, `log_gradient`, `rewards_to_go` and `train`. A file of weights
# (`np.savez("policy_gradient.npz", theta=theta)`) is played too, but shows nothing of how it was found: it earns a quarter of the
# points for playing.

# %%
import numpy as np


# %% [markdown]
# ## 1. The policy and its gradient
#
# Take care of large numbers: $e^{1000}$ is infinite. What changes if all $z$ are shifted?


# %%
def probabilities(theta, observation):
    """Probabilities (actions,), for theta (numbers, actions) and an observation (numbers,)."""
    ### BEGIN SOLUTION
    scores = observation @ theta
    powers = np.exp(scores - scores.max())
    return powers / powers.sum()
    ### END SOLUTION


def log_gradient(theta, observation, action):
    """Gradient of log pi(action | observation) by theta, in its shape."""
    ### BEGIN SOLUTION
    chosen = np.zeros(theta.shape[1])
    chosen[action] = 1.0
    return np.outer(observation, chosen - probabilities(theta, observation))
    ### END SOLUTION


# %% [markdown]
# ## 2. What came after
#
# An action cannot change rewards of the past, so each is weighed by the rewards from then on, without discount.


# %%
def rewards_to_go(rewards):
    """Sums (T,) of the rewards from each step to the last."""
    ### BEGIN SOLUTION
    return np.cumsum(np.asarray(rewards)[::-1])[::-1]
    ### END SOLUTION


# %% [markdown]
# ## 3. Train
#
# `env` is a cart with a pole: four numbers, two actions, 1 for each step that the pole stands, at most 500. You may take
# `env.budget` steps: `env.reset()` gives `(observation, info)`, `env.step(action)` gives `(observation, reward, terminated,
# truncated, info)`. Return $\theta$. It is graded by the return of the best action by $\theta$ in every state.
#
# In hidden tests the four numbers are mixed by a rotation, another one for each training, and actions may be exchanged: a
# $\theta$ that was found at home is of no use there.


# %%
def train(env):
    """theta (4, 2)."""
    ### BEGIN SOLUTION
    rng, theta, steps = np.random.default_rng(0), np.zeros((4, 2)), 0
    while steps < env.budget:
        gradients, sums = [], []
        for _ in range(5):
            observation, rewards, over = env.reset()[0], [], False
            while not over and steps < env.budget:
                action = int(rng.random() < probabilities(theta, observation)[1])
                gradients.append(log_gradient(theta, observation, action))
                observation, reward, terminated, truncated, _ = env.step(action)
                rewards.append(reward)
                over, steps = terminated or truncated, steps + 1
            sums += list(rewards_to_go(rewards))
        weights = (sums - np.mean(sums)) / (np.std(sums) + 1e-8)
        gradient = np.mean(weights[:, None, None] * np.array(gradients), axis=0)
        theta += 0.5 * gradient / (np.linalg.norm(gradient) + 1e-8)
    return theta
    ### END SOLUTION


# %% [markdown]
# ## Look at it
#
# Does the baseline lower the variance? Gradients of single episodes of the same policy, with and without. And what a
# trained policy does.

# %% tags=["experiment"]
import os

import gymnasium
import matplotlib.pyplot as plt
import rlenvs  # registers the environments

episodes, budget = (3, 300) if os.environ.get("RLENVS_SMOKE") else (300, 10_000)
env = gymnasium.make("rlenvs/CartPole-v0", render_mode="rgb_array")
rng, theta = np.random.default_rng(0), np.zeros((4, 2))


def gradient_of_episode(seed, baseline):
    observation, gradients, rewards, over = env.reset(seed=seed)[0], [], [], False
    while not over:
        action = int(rng.integers(2))
        gradients.append(log_gradient(theta, observation, action))
        observation, reward, terminated, truncated, _ = env.step(action)
        rewards.append(reward)
        over = terminated or truncated
    return np.sum((rewards_to_go(rewards) - baseline)[:, None, None] * np.array(gradients), axis=0)[2, 1]


figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4))
left.hist([[gradient_of_episode(seed, b) for seed in range(episodes)] for b in (0.0, 10.0)], label=["b = 0", "b = 10"])
left.set_xlabel("gradient by the angle's weight")
left.legend()


class Budgeted:
    """What `train` is graded with."""

    def __init__(self):
        self.budget, self.reset, self.step = budget, env.reset, env.step


env.reset(seed=0)
theta = train(Budgeted())
print(rlenvs.evaluate("CartPole-v0", lambda seen: (seen @ theta).argmax(axis=1), 20))
right.imshow(env.render())
plt.show()
