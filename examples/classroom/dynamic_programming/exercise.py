# %% [markdown]
# # Dynamic programming with the exact model
#
# About 60 minutes of work; the notebook runs in seconds. Sutton and Barto, 2nd edition, chapter 4.
#
# Who knows $P$ and $R$ needs no samples. With Bellman's optimality operator
#
# $$(T v)(s) = \max_a \Big[ R(s, a) + \gamma \sum_{s'} P_a(s, s')\, v(s') \Big]$$
#
# *value iteration* repeats $v \leftarrow T v$. It is a contraction, $\|Tv - Tw\|_\infty \le \gamma \|v - w\|_\infty$, so
# it converges to $v_*$ from anywhere. *Policy iteration* evaluates a policy and makes it greedy, until it stays.
#
# Here `P[a, s, s']` are the probabilities that the episode **goes on** in $s'$; what a row lacks to 1 is the probability
# that it ends, and after the end there is no reward. `R[s, a]` are expected rewards.
#
# **Hand in** this notebook, or a script with `backup`, `value_iteration`, `evaluate` and `policy_iteration`.

# %%
import numpy as np


# %% [markdown]
# ## 1. One backup


# %%
def backup(P, R, gamma, values):
    """Q[s, a] of taking an action first, and having `values` of the next state."""
    ### BEGIN SOLUTION
    return R + gamma * np.einsum("ast,t->sa", P, values)
    ### END SOLUTION


# %% [markdown]
# ## 2. Value iteration
#
# Begin with zeros. Stop after the sweep in which no value changed by more than `tolerance`; return the new values and the
# number of sweeps. By the contraction, the error that is left is at most $\gamma / (1 - \gamma)$ times the last change.


# %%
def value_iteration(P, R, gamma, tolerance):
    """Values (n,) and the number of sweeps."""
    ### BEGIN SOLUTION
    values, sweeps = np.zeros(len(R)), 0
    while True:
        new = backup(P, R, gamma, values).max(axis=1)
        sweeps += 1
        if np.abs(new - values).max() <= tolerance:
            return new, sweeps
        values = new
    ### END SOLUTION


# %% [markdown]
# ## 3. Policy iteration
#
# `evaluate` solves $(I - \gamma P_\pi) v = r_\pi$ for a deterministic policy. `policy_iteration` begins with action 0
# everywhere. Rounding must not let it swing between two actions that are equally good: change an action only where the
# new one is better by more than `1e-10`.


# %%
def evaluate(P, R, gamma, policy):
    """Values (n,) of a policy (n,) of whole numbers."""
    ### BEGIN SOLUTION
    rows = np.arange(len(R))
    return np.linalg.solve(np.eye(len(R)) - gamma * P[policy, rows], R[rows, policy])
    ### END SOLUTION


def policy_iteration(P, R, gamma):
    """A best policy (n,) and its values (n,)."""
    ### BEGIN SOLUTION
    rows, policy = np.arange(len(R)), np.zeros(len(R), dtype=int)
    while True:
        values = evaluate(P, R, gamma, policy)
        q = backup(P, R, gamma, values)
        better = q.max(axis=1) > q[rows, policy] + 1e-10
        if not better.any():
            return policy, values
        policy = np.where(better, q.argmax(axis=1), policy)
    ### END SOLUTION


# %% [markdown]
# ## Look at it: the frozen lake
#
# The ice is slippery: a step goes where it was meant to in one case of three. Where does the best policy step away from
# the goal, and why?

# %% tags=["experiment"]
import gymnasium
import matplotlib.pyplot as plt
import rlenvs

lake = gymnasium.make("rlenvs/FrozenLake-v0", render_mode="rgb_array")
lake.reset(seed=0)
model = lake.unwrapped.model
P, R = np.stack([matrix.toarray() for matrix in model.P]), model.R
policy, values = policy_iteration(P, R, 0.99)
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4))
left.imshow(lake.render())
right.imshow(values.reshape(4, 4), cmap="viridis")
for state, action in enumerate(policy):
    right.text(state % 4, state // 4, "←↓→↑"[action], ha="center", va="center", color="white", fontsize=16)
plt.show()
print("value at the start:", values[0], "by rlenvs.solve_mdp:", rlenvs.solve_mdp(lake, gamma=0.99).start_value)

# %% [markdown]
# How many sweeps does value iteration need as $\gamma$ grows?

# %% tags=["experiment"]
gammas = [0.5, 0.8, 0.9, 0.95, 0.99]
plt.plot(gammas, [value_iteration(P, R, gamma, 1e-8)[1] for gamma in gammas], marker="o")
plt.xlabel("gamma")
plt.ylabel("sweeps")
plt.show()
