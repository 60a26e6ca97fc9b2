# %% [markdown]
# # Memory
#
# About 50 minutes of work; the notebook runs in seconds. Sutton and Barto, 2nd edition, chapter 17.3; Kaelbling and others,
# "Planning and acting in partially observable stochastic domains", Artificial Intelligence 1998; Bakker, "Reinforcement learning with long
# short-term memory", NeurIPS 2001.
#
# What is seen is seldom the whole state. Then the best action may depend on what was seen before,
#
# $$A_t \sim \pi(\cdot \mid O_0, O_1, \dots, O_t),$$
#
# and a policy of the present observation alone, a *memoryless* one, can be far from the best. Three ways to keep the past: the last few
# observations, the probabilities of the hidden states, or a summary of one's own.
#
# **Hand in** this notebook, or a script with `stack`, `belief_update`, `filter_guesses`, `best_memoryless`, `remember` and `act`.

# %%
import numpy as np


# %% [markdown]
# ## 1. The last few observations
#
# *Frame stacking*: in step $t$ the agent sees $O_{t-k+1}, \dots, O_t$, side by side, the oldest first. Where the episode is not so
# old, the first observation takes the place of those that are missing.


# %%
def stack(observations, k):
    """Stacked observations (T, k * n), of the observations (T, n) of an episode."""
    ### BEGIN SOLUTION
    places = np.arange(len(observations))[:, None] + np.arange(1 - k, 1)
    return np.asarray(observations)[places.clip(0)].reshape(len(observations), -1)
    ### END SOLUTION


# %% [markdown]
# ## 2. The belief
#
# A machine is well or ill, $S_t \in \{0, 1\}$ (or has more states). It changes by $T_{s s'} = P(S_{t+1} = s' \mid S_t = s)$. We
# see a noisy sign of it, with $Z_{s o} = P(O_t = o \mid S_t = s)$. The *belief* $b_t(s) = P(S_t = s \mid O_0, \dots, O_t)$ is all
# that the past tells. By Bayes' rule, first predict, then weigh by what is seen, and normalise:
#
# $$b_{t+1}(s') = \frac{Z_{s' o} \sum_s b_t(s)\, T_{s s'}}{\sum_{r} Z_{r o} \sum_s b_t(s)\, T_{s r}}.$$


# %%
def belief_update(belief, T, Z, seen):
    """The belief (S,) one step later, when the observation `seen` is made then; T (S, S), Z (S, observations)."""
    ### BEGIN SOLUTION
    weighed = (belief @ T) * Z[:, seen]
    return weighed / weighed.sum()
    ### END SOLUTION


# %% [markdown]
# The best guess of the state is the likeliest one. The first observation is made before the state has moved: it weighs the
# probabilities `first` of $S_0$, without a prediction.


# %%
def filter_guesses(first, T, Z, seen):
    """The likeliest state (N,) after each of the observations `seen` (N,)."""
    ### BEGIN SOLUTION
    belief = first * Z[:, seen[0]]
    belief = belief / belief.sum()
    guesses = [int(belief.argmax())]
    for each in seen[1:]:
        belief = belief_update(belief, T, Z, each)
        guesses.append(int(belief.argmax()))
    return np.array(guesses)
    ### END SOLUTION


# %% [markdown]
# And without a memory? Who knows but the present observation, and how often the states come up in the long run, `shares`, makes the same guess
# for the same observation, always. Which are the best guesses, and how often are they right?


# %%
def best_memoryless(shares, Z):
    """The best guess (observations,) for each observation, and the share of right guesses, for shares (S,) of states."""
    ### BEGIN SOLUTION
    together = shares[:, None] * Z
    return together.argmax(axis=0), float(together.max(axis=0).sum())
    ### END SOLUTION


# %% [markdown]
# ## 3. A memory of one's own
#
# The T-maze: a sign in the first cell says whether the goal is in the north or the south; then a corridor, the same
# everywhere; then a junction. Observations are `0 1 1` at a sign to the north, `1 1 0` at one to the south, `1 0 1` in the corridor, `0 1 0`
# at the junction. Actions 0 to 3 go north, east, south, west. The goal pays 4; the wrong side, and a step against a wall, $-0.1$. Who
# forgets the sign can only guess, and gets $(4 - 0.1) / 2 = 1.95$ on average, at best.
#
# `remember` makes of the old memory and an observation the new memory, and `act` chooses by the memory. At the start of an episode the memory is
# `None`; you make it what you like of numbers, lists and arrays (a tuple may come back as a list). Keep it small: it should
# take few different values, as further down an agent learns a table by it. The corridor of the test has a length that
# you do not know.


# %%
def remember(memory, seen):
    """The new memory, after an observation (3,)."""
    ### BEGIN SOLUTION
    first, last = int(seen[0]), int(seen[2])
    if first != last:
        return [first, 0]  # at the sign
    return [memory[0] if memory else 0, 1 if first == 0 else 0]
    ### END SOLUTION


def act(memory):
    """An action."""
    ### BEGIN SOLUTION
    south, junction = memory
    return (2 if south else 0) if junction else 1
    ### END SOLUTION


# %% [markdown]
# ## Look at it: a machine that is well or ill
#
# The sign is right in seven of ten steps, and the machine changes in one of twenty. The belief needs some steps to
# change its mind. Why does a single wrong sign hardly move it?

# %% tags=["experiment"]
import os

import gymnasium
import matplotlib.pyplot as plt
import rlenvs  # registers the environments

smoke = bool(os.environ.get("RLENVS_SMOKE"))
rng, N = np.random.default_rng(0), 500 if smoke else 50_000
T, Z, first = np.array([[0.95, 0.05], [0.05, 0.95]]), np.array([[0.7, 0.3], [0.3, 0.7]]), np.array([0.5, 0.5])
states = np.cumsum(rng.random(N) < 0.05) % 2
seen = np.where(rng.random(N) < 0.7, states, 1 - states)

beliefs = [first * Z[:, seen[0]] * 2]
for each in seen[1:120]:
    beliefs.append(belief_update(beliefs[-1], T, Z, each))
figure, axes = plt.subplots(1, 3, figsize=(15, 4))
axes[0].step(range(120), states[:120], "k", lw=0.8, where="mid", label="ill")
axes[0].plot(seen[:120], ".", color="gray", label="sign")
axes[0].plot(np.array(beliefs)[:, 1], label="belief")
axes[0].set_xlabel("step")
axes[0].set_ylabel("probability of ill")
axes[0].set_ylim(-0.1, 1.3)
axes[0].legend(loc="upper center", ncol=3)

# %% [markdown]
# How often is the guess right, without a memory, with the last $k$ signs, with the whole past? The guesses by $k$ signs are the most frequent
# states that came with these signs in the first half of the data, and are scored on the second half. Why is a second sign of
# no use, but a third one is?

# %% tags=["experiment"]
half, windows, right = N // 2, range(1, 9), []
for k in windows:
    numbers = stack(seen[:, None], k) @ 2 ** np.arange(k)
    table = np.zeros((2**k, 2))
    np.add.at(table, (numbers[:half], states[:half]), 1)
    right.append((table.argmax(axis=1)[numbers[half:]] == states[half:]).mean())
axes[1].plot(windows, right, "o-", label="last k signs")
axes[1].axhline(best_memoryless(first, Z)[1], color="C1", label="best without a memory")
axes[1].axhline((filter_guesses(first, T, Z, seen) == states)[half:].mean(), color="C2", label="belief")
axes[1].set_xlabel("k")
axes[1].set_ylabel("share of right guesses")
axes[1].legend()

# %% [markdown]
# ## Look at it: learning in the T-maze
#
# The same Q-learning each time, on a table with a row for each different thing that the agent goes by: the present observation, the last four, or
# your memory. The corridor takes six steps. How many observations would have to be stacked at least?
#
# Q-learning takes what it goes by for a state. The present observation is none, as the corridor's cells look alike, and so
# Q-learning on it may end below even the best policy without a memory. Where does it get stuck, and why?

# %% tags=["experiment"]
env = gymnasium.make("rlenvs/TMaze-v0", length=6, render_mode="rgb_array")


def window(k):
    """A memory of the last k observations."""
    return lambda memory, seen: ((memory or []) + [[int(number) for number in seen]])[-k:]


def returns_of(remembers, seed, episodes):
    """Returns while learning by a memory."""
    rng, Q, found = np.random.default_rng(seed), {}, []
    for episode in range(episodes):
        memory = remembers(None, env.reset(seed=10_000 * seed + episode)[0])
        total, over = 0.0, False
        while not over:
            values = Q.setdefault(str(memory), np.zeros(4))
            best = np.flatnonzero(values == values.max())
            action = int(rng.integers(4) if rng.random() < 0.1 else rng.choice(best))
            observation, reward, terminated, truncated, _ = env.step(action)
            memory = remembers(memory, observation)
            ahead = 0.0 if terminated else Q.setdefault(str(memory), np.zeros(4)).max()
            values[action] += 0.1 * (reward + 0.9 * ahead - values[action])
            total, over = total + reward, terminated or truncated
        found.append(total)
    return found


episodes, runs = (20, 1) if smoke else (2000, 5)
for name, remembers in {"present": window(1), "last four": window(4), "your memory": remember}.items():
    curve = np.mean([returns_of(remembers, seed, episodes) for seed in range(runs)], axis=0)
    axes[2].plot(np.convolve(curve, np.ones(20) / 20, mode="valid"), label=name)
axes[2].axhline(1.95, color="gray", ls="--", label="best without a memory")
axes[2].set_xlabel("episode")
axes[2].set_ylabel("return while exploring")
axes[2].set_ylim(-0.5, 5.5)
axes[2].legend(loc="upper center", ncol=2)
plt.show()

# %% [markdown]
# The maze, which the agent never sees like this.

# %% tags=["experiment"]
memory, over = remember(None, env.reset(seed=1)[0]), False
while not over:
    observation, reward, terminated, truncated, _ = env.step(act(memory))
    memory, over = remember(memory, observation), terminated or truncated
print("the last reward:", reward)
plt.imshow(env.render())
plt.axis("off")
plt.show()
