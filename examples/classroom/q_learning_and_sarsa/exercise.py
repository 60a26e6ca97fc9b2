# %% [markdown]
# # Q-learning and SARSA
#
# About 60 minutes of work; the notebook runs in about two minutes. Sutton and Barto, 2nd edition, chapter 6.
#
# Both learn values of actions from steps. SARSA asks what the *next action that it takes* is worth, Q-learning what the
# *best* one would be:
#
# $$\text{SARSA:}\quad Q(S, A) \leftarrow Q(S, A) + \alpha\,[R + \gamma\, Q(S', A') - Q(S, A)],$$
# $$\text{Q-learning:}\quad Q(S, A) \leftarrow Q(S, A) + \alpha\,[R + \gamma \max_a Q(S', a) - Q(S, A)].$$
#
# At the end of an episode there is no next value. At a *time limit* (truncation) there is: the world goes on, only we
# stop looking.
#
# **Hand in** this notebook, or a script with `sarsa_update`, `q_update` and `learn`.

# %%
import numpy as np


# %% [markdown]
# ## 1. The two updates


# %%
def sarsa_update(Q, state, action, reward, next_state, next_action, terminated, alpha, gamma):
    """The new Q[s, a] after a step; the array that is given stays as it is."""
    Q = np.array(Q, dtype=float)
    ### BEGIN SOLUTION
    ahead = 0.0 if terminated else Q[next_state, next_action]
    Q[state, action] += alpha * (reward + gamma * ahead - Q[state, action])
    ### END SOLUTION
    return Q


def q_update(Q, state, action, reward, next_state, terminated, alpha, gamma):
    """The new Q[s, a] after a step; the array that is given stays as it is."""
    Q = np.array(Q, dtype=float)
    ### BEGIN SOLUTION
    ahead = 0.0 if terminated else Q[next_state].max()
    Q[state, action] += alpha * (reward + gamma * ahead - Q[state, action])
    ### END SOLUTION
    return Q


# %% [markdown]
# ## 2. Learn
#
# `env` has `n_states`, `n_actions`, and a `budget` of steps, all of which you may take: `env.reset()` gives
# `(state, info)`, `env.step(action)` gives `(state, reward, terminated, truncated, info)`. Return a policy: an action for
# each state. It is graded by the steps that it needs, here and in worlds where states and actions have other numbers.


# %%
def learn(env, gamma):
    """A policy (n_states,) of whole numbers."""
    ### BEGIN SOLUTION
    rng = np.random.default_rng(0)
    Q = np.zeros((env.n_states, env.n_actions))
    state, _ = env.reset()
    for _ in range(env.budget):
        action = rng.integers(env.n_actions) if rng.random() < 0.2 else int(np.argmax(Q[state]))
        next_state, reward, terminated, truncated, _ = env.step(action)
        ahead = 0.0 if terminated else Q[next_state].max()
        Q[state, action] += 0.5 * (reward + gamma * ahead - Q[state, action])
        state = env.reset()[0] if terminated or truncated else next_state
    return Q.argmax(axis=1)
    ### END SOLUTION


# %% [markdown]
# ## Look at it: the cliff
#
# Q-learning's greedy way runs along the edge, and its walker, who explores, falls. SARSA knows that it explores, and keeps
# away. Whose return is higher *while learning*? Whose way is shorter?

# %% tags=["experiment"]
import os

import gymnasium
import matplotlib.pyplot as plt
import rlenvs  # registers the environments

runs, episodes = (1, 20) if os.environ.get("RLENVS_SMOKE") else (10, 300)
env = gymnasium.make("rlenvs/CliffWalking-v0", render_mode="rgb_array")


def train(method, run):
    rng, Q, found = np.random.default_rng(run), np.zeros((48, 4)), []

    def choose(state):
        return int(rng.integers(4)) if rng.random() < 0.1 else int(np.argmax(Q[state]))

    for episode in range(episodes):
        state, _ = env.reset(seed=1000 * run + episode)
        action, total, over = choose(state), 0.0, False
        while not over:
            next_state, reward, terminated, truncated, _ = env.step(action)
            next_action = choose(next_state)
            if method == "SARSA":
                Q = sarsa_update(Q, state, action, reward, next_state, next_action, terminated, 0.5, 1.0)
            else:
                Q = q_update(Q, state, action, reward, next_state, terminated, 0.5, 1.0)
            state, action = next_state, next_action
            total, over = total + reward, terminated or truncated
        found.append(total)
    return found, Q


figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4))
for method in ("SARSA", "Q-learning"):
    trained = [train(method, run) for run in range(runs)]
    left.plot(np.mean([found for found, _ in trained], axis=0), label=method)
    print(method, *["".join("↑→↓←"[a] for a in row) for row in trained[0][1].argmax(axis=1).reshape(4, 12)], sep="\n")
left.set_ylim(-150, 0)
left.set_xlabel("episode")
left.set_ylabel("return")
left.legend()
right.imshow(env.render())
plt.show()
