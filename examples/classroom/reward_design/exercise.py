# %% [markdown]
# # Reward design, and how agents hack it
#
# About 60 minutes of work; the notebook runs in seconds. Sutton and Barto, 2nd edition, chapter 17.4; Ng, Harada and Russell,
# "Policy invariance under reward transformations" (1999).
#
# A reward that is easier to learn from may be solved by something else than what was meant. *Potential-based shaping* cannot:
#
# $$R'(s, a, s') = R(s, a, s') + \gamma\, \Phi(s') - \Phi(s)$$
#
# has the same best policies for any $\Phi$, because along a path the potentials cancel: $v'_*(s) = v_*(s) - \Phi(s)$. A plain
# *bonus* for being somewhere has no such guarantee.
#
# As before, `P[a, s, s']` are the probabilities that the episode goes on in $s'$; after the end the potential is 0.
#
# **Hand in** this notebook, or a script with `shaped`, `best_policy`, `worth` and `loss`.

# %%
import numpy as np


# %% [markdown]
# ## 1. Shaping


# %%
def shaped(P, R, potential, gamma):
    """The expected shaped rewards R'[s, a]."""
    ### BEGIN SOLUTION
    return R + gamma * np.einsum("ast,t->sa", P, potential) - np.asarray(potential)[:, None]
    ### END SOLUTION


# %% [markdown]
# ## 2. What would an agent do, and what is that worth?
#
# `best_policy` gives an optimal deterministic policy for rewards `R`, for example by 2000 sweeps of value iteration. `worth` gives the
# exact values of a policy (n,) of whole numbers.


# %%
def best_policy(P, R, gamma):
    """Actions (n,)."""
    ### BEGIN SOLUTION
    values = np.zeros(len(R))
    for _ in range(2000):
        q = R + gamma * np.einsum("ast,t->sa", P, values)
        values = q.max(axis=1)
    return q.argmax(axis=1)
    ### END SOLUTION


def worth(P, R, gamma, policy):
    """Values (n,)."""
    ### BEGIN SOLUTION
    rows = np.arange(len(R))
    return np.linalg.solve(np.eye(len(R)) - gamma * P[policy, rows], R[rows, policy])
    ### END SOLUTION


# %% [markdown]
# ## 3. The price of a wrong reward
#
# An agent is given the rewards `designed` and learns perfectly. How much of the `true` value does it lose in each state, against one that
# was given the true rewards?


# %%
def loss(P, true, designed, gamma):
    """What is lost (n,)."""
    ### BEGIN SOLUTION
    right, hacked = best_policy(P, true, gamma), best_policy(P, designed, gamma)
    return worth(P, true, gamma, right) - worth(P, true, gamma, hacked)
    ### END SOLUTION


# %% [markdown]
# ## Look at it
#
# On the frozen lake, a bonus for the cells near the goal is meant to help. Where is the reward hacked, and how?

# %% tags=["experiment"]
import gymnasium
import matplotlib.pyplot as plt
import rlenvs

lake = gymnasium.make("rlenvs/FrozenLake-v0", is_slippery=False)
model = lake.unwrapped.model
P, R = np.stack([matrix.toarray() for matrix in model.P]), model.R
nearness = np.add.outer(np.arange(4), np.arange(4)).ravel() / 6
bonus = R + 0.3 * np.einsum("ast,t->sa", P, nearness)
figure, axes = plt.subplots(1, 3, figsize=(12, 4))
for axis, (name, rewards) in zip(axes, {"true": R, "bonus": bonus, "shaped": shaped(P, R, nearness, 0.95)}.items()):
    axis.imshow(loss(P, R, rewards, 0.95).reshape(4, 4), vmin=0, vmax=1)
    for state, action in enumerate(best_policy(P, rewards, 0.95)):
        axis.text(state % 4, state // 4, "←↓→↑"[action], ha="center", va="center", color="white", fontsize=16)
    axis.set_title(f"{name}: colour is what is lost")
plt.show()
