# %% [markdown]
# # Temporal differences and Monte Carlo
#
# About 60 minutes of work; the notebook runs in about a minute. Sutton and Barto, 2nd edition, chapters 5 to 7.
#
# How good is a state, if nobody tells $P$ and $R$? *Monte Carlo* waits for the end of the episode and moves towards the
# return, *TD(0)* moves at once towards a guess:
#
# $$V(S_t) \leftarrow V(S_t) + \alpha \,[\, G_t - V(S_t) \,], \qquad
# V(S_t) \leftarrow V(S_t) + \alpha \,[\, R_{t+1} + \gamma V(S_{t+1}) - V(S_t) \,].$$
#
# The first target is right on average but varies much; the second varies little but is wrong as long as $V$ is.
#
# **Hand in** this notebook, or a script with `td_update`, `returns`, `monte_carlo_update` and `predict`.

# %%
import numpy as np


# %% [markdown]
# ## 1. TD(0)
#
# After an end there is nothing more to come: the value of the state behind a terminated step is 0.


# %%
def td_update(values, state, reward, next_state, terminated, alpha, gamma):
    """The new values (n,) after a step; the array that is given stays as it is."""
    values = np.array(values, dtype=float)
    ### BEGIN SOLUTION
    ahead = 0.0 if terminated else values[next_state]
    values[state] += alpha * (reward + gamma * ahead - values[state])
    ### END SOLUTION
    return values


# %% [markdown]
# ## 2. Returns
#
# $G_t = R_{t+1} + \gamma G_{t+1}$, from the back. In linear time.


# %%
def returns(rewards, gamma):
    """G (T,) of the rewards (T,) of an episode that ended."""
    ### BEGIN SOLUTION
    found, ahead = np.zeros(len(rewards)), 0.0
    for t in reversed(range(len(rewards))):
        ahead = rewards[t] + gamma * ahead
        found[t] = ahead
    return found
    ### END SOLUTION


# %% [markdown]
# ## 3. Monte Carlo, at every visit
#
# Go through the episode from its first state to its last and move towards the return of each visit.


# %%
def monte_carlo_update(values, states, rewards, alpha, gamma):
    """The new values (n,) after an episode: in states[t] a step was taken, which paid rewards[t]."""
    values = np.array(values, dtype=float)
    ### BEGIN SOLUTION
    for state, target in zip(states, returns(rewards, gamma)):
        values[state] += alpha * (target - values[state])
    ### END SOLUTION
    return values


# %% [markdown]
# ## 4. Predict
#
# `env` is a random walk of unknown length, with `n_states` states. `env.reset()` gives `(state, info)`, `env.step(0)`
# gives `(state, reward, terminated, truncated, info)`. Play `episodes` episodes and estimate the values as well as you
# can, without discount. You are graded by the root of the mean squared error in the states between the ends.
#
# In hidden tests states have other numbers, in no order, and ends pay other amounts: what `env` shows is all that you know.


# %%
def predict(env, episodes):
    """Values (n_states,)."""
    ### BEGIN SOLUTION
    values = np.zeros(env.n_states)
    for episode in range(episodes):
        alpha = max(0.2 * 0.99**episode, 0.01)
        state, _ = env.reset()
        over = False
        while not over:
            next_state, reward, terminated, truncated, _ = env.step(0)
            values = td_update(values, state, reward, next_state, terminated, alpha, 1.0)
            state, over = next_state, terminated or truncated
    return values
    ### END SOLUTION


# %% [markdown]
# ## Look at it
#
# The error of both methods while they learn, over several walks. Which step sizes suit which?

# %% tags=["experiment"]
import os

import gymnasium
import matplotlib.pyplot as plt
import rlenvs

runs, episodes = (2, 10) if os.environ.get("RLENVS_SMOKE") else (20, 100)
env = gymnasium.make("rlenvs/RandomWalk-v0")
truth = rlenvs.solve_mdp(env, gamma=1.0).values


def errors(method, alpha, run):
    values, found = np.zeros(len(truth)), []
    for episode in range(episodes):
        states, rewards, over = [env.reset(seed=1000 * run + episode)[0]], [], False
        while not over:
            state, reward, terminated, truncated, _ = env.step(0)
            rewards.append(reward)
            if method == "TD":
                values = td_update(values, states[-1], reward, state, terminated, alpha, 1.0)
            states.append(state)
            over = terminated or truncated
        if method == "Monte Carlo":
            values = monte_carlo_update(values, states[:-1], rewards, alpha, 1.0)
        found.append(np.sqrt(np.mean((values - truth)[1:-1] ** 2)))
    return found


for method, alpha in [("TD", 0.05), ("TD", 0.15), ("Monte Carlo", 0.01), ("Monte Carlo", 0.03)]:
    plt.plot(np.mean([errors(method, alpha, run) for run in range(runs)], axis=0), label=f"{method}, alpha {alpha}")
plt.xlabel("episode")
plt.ylabel("root mean squared error")
plt.legend()
plt.show()
