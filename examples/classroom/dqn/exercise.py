# %% [markdown]
# # Deep Q-learning
#
# About 75 minutes of work; the notebook runs in about a minute. Sutton and Barto, 2nd edition, chapters 9.7, 11 and 16.5;
# Mnih and others, "Human-level control through deep reinforcement learning", Nature 2015; van Hasselt and others, "Deep
# reinforcement learning with double Q-learning", AAAI 2016.
#
# Q-learning with a neural network: make the squared error between $Q_\theta(S, A)$ and a target small,
#
# $$L(\theta) = \frac{1}{2B} \sum_{i=1}^{B} \big( Q_\theta(s_i, a_i) - y_i \big)^2, \qquad
# y = R + \gamma\,(1 - \text{terminated}) \max_a Q_{\theta^-}(S', a).$$
#
# Two things keep it from falling over. *Replay*: steps that follow each other look alike, so batches are drawn from a memory
# of many. *Target network*: $\theta^-$ is a copy of $\theta$ that is renewed now and then, so that the target stands still
# between.
#
# **Hand in** this notebook, or a script with `store`, `sample`, `targets`, `double_targets`, `q_values`, `gradient` and
# `train`.

# %%
import numpy as np


# %% [markdown]
# ## 1. A memory of steps
#
# The memory is an array with a row for each step. Row number `count % capacity` is written next, so that the oldest
# step gives way when the memory is full. Batches are drawn uniformly, with replacement, from the rows that have been
# written.


# %%
def store(memory, count, row):
    """The memory (capacity, n) with the row (n,) written to where it belongs, in place, and the new count of all steps."""
    ### BEGIN SOLUTION
    memory[count % len(memory)] = row
    return memory, count + 1
    ### END SOLUTION


def sample(memory, count, size, rng):
    """Rows (size, n) of the memory, after `count` steps were stored; `rng` is a generator, or a seed of one."""
    rng = np.random.default_rng(rng)
    ### BEGIN SOLUTION
    return memory[rng.integers(min(count, len(memory)), size=size)]
    ### END SOLUTION


# %% [markdown]
# ## 2. Targets
#
# `next_q` holds the target network's values of the next states. Which of the two kinds of end cuts off what is ahead?
#
# A maximum over noisy values is too large on average: it picks what was overrated. *Double* Q-learning lets the
# online network choose the action and the target network say what it is worth,
#
# $$y = R + \gamma\,(1 - \text{terminated})\, Q_{\theta^-}\big(S', \arg\max_a Q_\theta(S', a)\big).$$


# %%
def targets(rewards, next_q, terminated, truncated, gamma):
    """Targets (B,), for rewards and ends (B,) and next values (B, actions)."""
    ### BEGIN SOLUTION
    return rewards + gamma * np.where(terminated, 0.0, next_q.max(axis=1))
    ### END SOLUTION


def double_targets(rewards, next_online, next_target, terminated, truncated, gamma):
    """Targets (B,), for next values (B, actions) of the online and of the target network."""
    ### BEGIN SOLUTION
    chosen = next_target[np.arange(len(rewards)), next_online.argmax(axis=1)]
    return rewards + gamma * np.where(terminated, 0.0, chosen)
    ### END SOLUTION


# %% [markdown]
# ## 3. A network and its gradient
#
# The weights are a list $[W_1, b_1, W_2, b_2]$ of shapes $(n, H)$, $(H,)$, $(H, A)$, $(A,)$. For observations $x$ in rows,
#
# $$h = \max(x W_1 + b_1, 0), \qquad Q = h W_2 + b_2.$$
#
# Backwards: let $e$ be zero but for the action that was taken, where it is $(Q - y) / B$. Then the gradient of the loss by $W_2$ is
# $h^\top e$, and that by $h$ is $e W_2^\top$, of which only what $h > 0$ let through goes on to $W_1$. The targets are constants.


# %%
def q_values(weights, observations):
    """Values (B, A) of observations (B, n)."""
    ### BEGIN SOLUTION
    W1, b1, W2, b2 = weights
    return np.maximum(observations @ W1 + b1, 0.0) @ W2 + b2
    ### END SOLUTION


def gradient(weights, observations, actions, wanted):
    """Gradients of the loss L, in the shapes of the weights, for actions (B,) and targets `wanted` (B,)."""
    ### BEGIN SOLUTION
    W1, b1, W2, b2 = weights
    hidden = np.maximum(observations @ W1 + b1, 0.0)
    rows, error = np.arange(len(actions)), np.zeros((len(actions), len(b2)))
    error[rows, actions] = ((hidden @ W2 + b2)[rows, actions] - wanted) / len(actions)
    back = (error @ W2.T) * (hidden > 0)
    return [observations.T @ back, back.sum(axis=0), hidden.T @ error, error.sum(axis=0)]
    ### END SOLUTION


# %% [markdown]
# Adam is given: `weights = adam.step(weights, gradients)` gives new weights.


# %%
class Adam:
    """Steps down the gradient, scaled by how large the gradients have been."""

    def __init__(self, rate):
        self.rate, self.count, self.means, self.squares = rate, 0, None, None

    def step(self, weights, gradients):
        if self.means is None:
            self.means, self.squares = ([np.zeros_like(w) for w in weights] for _ in range(2))
        self.count += 1
        self.means = [0.9 * m + 0.1 * g for m, g in zip(self.means, gradients)]
        self.squares = [0.999 * s + 0.001 * g**2 for s, g in zip(self.squares, gradients)]
        first, second = 1 - 0.9**self.count, 1 - 0.999**self.count
        moves = [m / first / (np.sqrt(s / second) + 1e-8) for m, s in zip(self.means, self.squares)]
        return [w - self.rate * move for w, move in zip(weights, moves)]


# %% [markdown]
# ## 4. Train
#
# `env` is a cart with a pole: four numbers, two actions, 1 for each step that the pole stands; an episode is truncated after
# 500. You may take `env.budget` steps: `env.reset()` gives `(observation, info)`, `env.step(action)` gives `(observation, reward,
# terminated, truncated, info)`. Return weights as above, with as many hidden units as you like. They are graded by the
# return of the best action in every state, over several trainings; so do not trust one lucky run.
#
# In hidden tests the four numbers are mixed by a rotation, another one for each training, and actions may be exchanged: weights
# that were learnt at home are of no use there.
#
# What works: 64 hidden units with $W_1 \sim \mathcal{N}(0, 2 / n)$ and $W_2 \sim \mathcal{N}(0, 2 / H)$, $\gamma = 0.99$, Adam at
# a rate of 0.001, a batch of 64 after each step once a few hundred are stored, $\theta^-$ renewed every 200 updates, random actions with a
# probability that falls from 1 to 0.05 over the first third.


# %%
def train(env, capacity=20_000, renewal=200):
    """Weights [W1, b1, W2, b2], with a memory of so many steps, and a target network renewed after so many updates."""
    ### BEGIN SOLUTION
    rng, adam = np.random.default_rng(0), Adam(0.001)
    weights = [rng.normal(scale=np.sqrt(2 / 4), size=(4, 64)), np.zeros(64)]
    weights += [rng.normal(scale=np.sqrt(2 / 64), size=(64, 2)), np.zeros(2)]
    memory, count, old = np.zeros((capacity, 12)), 0, weights
    observation, _ = env.reset()
    for step in range(env.budget):
        chance = max(0.05, 1 - 3 * step / env.budget)
        explore = rng.random() < chance
        action = int(rng.integers(2)) if explore else int(q_values(weights, observation[None]).argmax())
        following, reward, terminated, truncated, _ = env.step(action)
        row = np.concatenate([observation, [action, reward], following, [terminated, truncated]])
        memory, count = store(memory, count, row)
        observation = env.reset()[0] if terminated or truncated else following
        if count < 500:
            continue
        batch = sample(memory, count, 64, rng)
        ahead = q_values(weights, batch[:, 6:10]), q_values(old, batch[:, 6:10])
        wanted = double_targets(batch[:, 5], *ahead, batch[:, 10] > 0, batch[:, 11] > 0, 0.99)
        weights = adam.step(weights, gradient(weights, batch[:, :4], batch[:, 4].astype(int), wanted))
        if step % renewal == 0:
            old = weights
    return weights
    ### END SOLUTION


# %% [markdown]
# ## Look at it: a maximum of noise
#
# All actions are worth 0, and two networks know it up to independent noise of standard deviation 1. What do the two targets believe?

# %% tags=["experiment"]
import os

import gymnasium
import matplotlib.pyplot as plt
import rlenvs  # registers the environments

smoke = bool(os.environ.get("RLENVS_SMOKE"))
rng, draws = np.random.default_rng(0), 100 if smoke else 10_000
nothing, never = np.zeros(draws), np.zeros(draws, bool)
counts = [2, 3, 5, 10, 20, 50]
single, double = [], []
for actions in counts:
    online, target = rng.normal(size=(2, draws, actions))
    single.append(targets(nothing, target, never, never, 1.0).mean())
    double.append(double_targets(nothing, online, target, never, never, 1.0).mean())
figure, axes = plt.subplots(1, 3, figsize=(14, 4))
axes[0].plot(counts, single, "o-", label="maximum")
axes[0].plot(counts, double, "o-", label="double")
axes[0].axhline(0.0, color="gray")
axes[0].set_xlabel("actions")
axes[0].set_ylabel("mean target; the truth is 0")
axes[0].legend()

# %% [markdown]
# Networks that learn from the same data have noise that is not independent, so in practice double Q-learning removes a part only.
#
# ## Look at it: what replay and the target network are for
#
# Returns while learning, smoothed, over a few trainings each: with both, with a memory of the last 64 steps alone, and with a
# target network that is renewed at once. Which of them matters more here? A problem so small shows that rules of thumb are to be
# measured: what helps on screens of pixels need not help everywhere.

# %% tags=["experiment"]
env = gymnasium.make("rlenvs/CartPole-v0", render_mode="rgb_array")


class Budgeted:
    """What `train` is graded with; it writes down when episodes ended."""

    def __init__(self, seed):
        self.budget, self.reset, self.ends, self.steps = 600 if smoke else 15_000, env.reset, [0], 0
        env.reset(seed=seed)

    def step(self, action):
        found = env.step(action)
        self.steps += 1
        if found[2] or found[3]:
            self.ends.append(self.steps)
        return found

    def curve(self):
        """Length of the episode that each step lies in, smoothed."""
        lengths = np.repeat(np.diff(self.ends), np.diff(self.ends))
        lengths = np.pad(lengths, (0, self.budget - len(lengths)), mode="edge")
        return np.convolve(np.pad(lengths, 250, mode="edge"), np.ones(501) / 501, mode="valid")


cases = {"both": {}, "memory of 64 steps": {"capacity": 64}, "no target network": {"renewal": 1}}
for name, keywords in cases.items():
    curves = []
    for seed in range(1 if smoke else 5):
        recorded = Budgeted(seed)
        trained = train(recorded, **keywords)
        curves.append(recorded.curve())
        if name == "both" and seed == 0:
            weights = trained
    axes[1].plot(np.mean(curves, axis=0), label=name)
axes[1].set_xlabel("step")
axes[1].set_ylabel("length of the episode")
axes[1].legend()
print(rlenvs.evaluate("CartPole-v0", lambda seen: q_values(weights, seen).argmax(axis=1), 20))

# %% [markdown]
# What the network thinks of a pole that stands still at an angle: which way to push, and how long it will last.

# %% tags=["experiment"]
angles = np.linspace(-0.3, 0.3, 61)
seen = np.zeros((61, 4))
seen[:, 2] = angles
axes[2].plot(angles, q_values(weights, seen), label=["push left", "push right"])
axes[2].set_xlabel("angle of the pole (rad)")
axes[2].set_ylabel("value")
axes[2].legend()
plt.show()
