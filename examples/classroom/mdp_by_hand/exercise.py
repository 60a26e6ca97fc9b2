# %% [markdown]
# # A Markov decision process by hand
#
# About 30 minutes of work; the notebook runs in seconds. Sutton and Barto, 2nd edition, chapter 3.
#
# A finite Markov decision process is two tables. For states $s, s'$ and actions $a$,
#
# $$P_a(s, s') = \Pr(S_{t+1} = s' \mid S_t = s, A_t = a), \qquad R(s, a) = \mathbb{E}[R_{t+1} \mid S_t = s, A_t = a].$$
#
# The *chain* has $n$ states in a row. Action 0 goes left, action 1 goes right; at an end a step stays where it is. A
# step to the left in the first state pays 0.01, a step to the right in the last one pays 1, all others pay nothing.
#
# **Hand in** this notebook, or a script with the functions `transitions`, `rewards` and `policy_values`.

# %%
import numpy as np


# %% [markdown]
# ## 1. Where does a step lead?
#
# Fill in $P$ for a chain of `n` states, as an array `P[a, s, s']`. Every row is a distribution:
# $\sum_{s'} P_a(s, s') = 1$.


# %%
def transitions(n):
    """P[a, s, s'] of a chain of n states."""
    P = np.zeros((2, n, n))
    ### BEGIN SOLUTION
    for state in range(n):
        P[0, state, max(state - 1, 0)] = 1.0
        P[1, state, min(state + 1, n - 1)] = 1.0
    ### END SOLUTION
    return P


# %% [markdown]
# ## 2. What does a step pay?


# %%
def rewards(n):
    """R[s, a] of a chain of n states."""
    R = np.zeros((n, 2))
    ### BEGIN SOLUTION
    R[0, 0] = 0.01
    R[n - 1, 1] = 1.0
    ### END SOLUTION
    return R


# %% [markdown]
# ## 3. What is a policy worth?
#
# Under a policy $\pi(a \mid s)$ the process becomes a Markov chain with
# $P_\pi(s, s') = \sum_a \pi(a \mid s) P_a(s, s')$ and $r_\pi(s) = \sum_a \pi(a \mid s) R(s, a)$.
# Its values solve Bellman's equation, which is linear:
#
# $$v_\pi = r_\pi + \gamma P_\pi v_\pi \quad\Longleftrightarrow\quad (I - \gamma P_\pi)\, v_\pi = r_\pi.$$
#
# `np.linalg.solve` solves it. Use any $P$ and $R$ that you are given, not those of the chain alone.


# %%
def policy_values(P, R, policy, gamma):
    """Values (n,) of a policy[s, a], for P[a, s, s'] and R[s, a]."""
    ### BEGIN SOLUTION
    moves = np.einsum("sa,ast->st", policy, P)
    pay = (policy * R).sum(axis=1)
    return np.linalg.solve(np.eye(len(R)) - gamma * moves, pay)
    ### END SOLUTION


# %% [markdown]
# ## Look at it
#
# Values of going right always, and of a coin toss. Why is the coin so bad on a long chain?

# %% tags=["experiment"]
import matplotlib.pyplot as plt

n, gamma = 10, 0.95
for name, policy in {"always right": np.tile([0.0, 1.0], (n, 1)), "coin": np.full((n, 2), 0.5)}.items():
    plt.plot(policy_values(transitions(n), rewards(n), policy, gamma), marker="o", label=name)
plt.xlabel("state")
plt.ylabel("value")
plt.legend()
plt.show()

# %% [markdown]
# The environment has the same tables, and `rlenvs.solve_mdp` the best policy.

# %% tags=["experiment"]
import gymnasium
import rlenvs

chain = gymnasium.make("rlenvs/Chain-v0", length=10)
for action in (0, 1):
    print("equal:", np.array_equal(chain.unwrapped.model.P[action].toarray(), transitions(10)[action]))
print("best policy:", rlenvs.solve_mdp(chain, gamma=0.95).policy)
