# %% [markdown]
# # Safe RL: as much as you can, within a limit
#
# About 75 minutes of work; the notebook runs in seconds. Beside Sutton and Barto, 2nd edition, chapter 3; Altman,
# *Constrained Markov Decision Processes* (1999).
#
# A *constrained* decision process pays a reward $R$ and charges a cost $C$, and the expected discounted cost may not exceed a
# limit $d$:
#
# $$\max_\pi J_R(\pi) \quad \text{subject to} \quad J_C(\pi) \le d, \qquad
# J_R(\pi) = \mathbb{E}_\pi \Big[\sum_t \gamma^t R_{t+1}\Big], \quad J_C(\pi) = \mathbb{E}_\pi \Big[\sum_t \gamma^t C_{t+1}\Big].$$
#
# The *Lagrangian* gives the limit a price $\lambda \ge 0$. For a fixed price it is an ordinary process, with the reward
# $R - \lambda C$. The *dual problem* looks for the price:
#
# $$L(\pi, \lambda) = J_R(\pi) - \lambda\, (J_C(\pi) - d), \qquad \min_{\lambda \ge 0} \; \max_\pi \; L(\pi, \lambda).$$
#
# As in other exercises, `P[a, s, s']` are the probabilities that the episode goes on in $s'$ (a row may sum to less than 1),
# `R[s, a]` and `C[s, a]` the expected reward and cost, `start[s]` the probabilities of the first state.
#
# **Hand in** this notebook, or a script with `worth`, `best_for`, `dual_ascent`, `best_mixture` and `one_policy`.

# %%
import numpy as np


# %% [markdown]
# ## 1. What a policy earns and costs
#
# Policies are random here: `policy[s, a]` is the probability of $a$ in $s$. `worth` gives $J_R$ for `R`, and $J_C$ if it is given
# `C`: solve $v = R_\pi + \gamma P_\pi v$, and weigh by the start.


# %%
def worth(P, R, start, gamma, policy):
    """The expected discounted sum, a number, for a policy (n, actions)."""
    ### BEGIN SOLUTION
    stepped = np.einsum("sa,ast->st", policy, P)
    return float(start @ np.linalg.solve(np.eye(len(R)) - gamma * stepped, (policy * R).sum(axis=1)))
    ### END SOLUTION


# %% [markdown]
# ## 2. The best policy for a price
#
# `best_for` maximises $J_R - \lambda J_C$ for a given $\lambda$. One of the best policies is deterministic: return it as a table of zeros
# and ones. Take policy iteration (change an action only if another is better by more than rounding), or 3000 sweeps of value
# iteration.


# %%
def best_for(P, R, C, gamma, price):
    """A deterministic policy (n, actions)."""
    ### BEGIN SOLUTION
    rewards, rows = R - price * C, np.arange(len(R))
    actions = np.zeros(len(R), dtype=int)
    while True:
        values = np.linalg.solve(np.eye(len(R)) - gamma * P[actions, rows], rewards[rows, actions])
        q = rewards + gamma * np.einsum("ast,t->sa", P, values)
        better = q.max(axis=1) > q[rows, actions] + 1e-9
        if not better.any():
            return np.eye(R.shape[1])[actions]
        actions = np.where(better, q.argmax(axis=1), actions)
    ### END SOLUTION


# %% [markdown]
# ## 3. Dual ascent
#
# Whoever breaks the limit makes it dearer. From $\lambda_0 = 0$, with a step size $\eta$ (the `rate`):
#
# $$\pi_k = \arg\max_\pi L(\pi, \lambda_k), \qquad \lambda_{k+1} = \max\big(0,\; \lambda_k + \eta\, (J_C(\pi_k) - d)\big).$$
#
# No single $\pi_k$ need keep the limit, but their average does, nearly: adding up the updates gives
# $\frac1K \sum_k J_C(\pi_k) - d \le \lambda_K / (\eta K)$. Learners such as PPO-Lagrangian do the same, with estimates in the place of exact
# costs.


# %%
def dual_ascent(P, R, C, start, gamma, limit, rate, rounds):
    """The prices (rounds,) from lambda_0 = 0 on, and the costs (rounds,) of the policies that are best for them."""
    ### BEGIN SOLUTION
    prices, costs, price = [], [], 0.0
    for _ in range(rounds):
        prices.append(price)
        costs.append(worth(P, C, start, gamma, best_for(P, R, C, gamma, price)))
        price = max(0.0, price + rate * (costs[-1] - limit))
    return np.array(prices), np.array(costs)
    ### END SOLUTION


# %% [markdown]
# ## 4. The exact optimum: a mixture of two policies
#
# In the plane of costs and returns all policies fill a convex set, whose corners are deterministic policies. The best point with
# cost $d$ lies on an edge between two of them: toss a coin at the start of the episode, and play `bold` with the probability
# `share`, `safe` otherwise. To find the edge:
#
# 1. `bold` is best for $\lambda = 0$. If it keeps the limit, it is the answer (`share` 1, and `safe` the same).
# 2. `safe` is the policy with the least cost, whatever it earns. If it breaks the limit, no policy keeps it: return `None`.
# 3. The line through the two points has the slope $\lambda = \frac{J_R(\text{bold}) - J_R(\text{safe})}{J_C(\text{bold}) -
#    J_C(\text{safe})}$. Is there a policy with a larger $J_R - \lambda J_C$? If so it replaces `bold` if it breaks the limit,
#    else `safe`; repeat. If not, the edge is found, and the share follows from
#    $\text{share} \cdot J_C(\text{bold}) + (1 - \text{share}) \cdot J_C(\text{safe}) = d$.


# %%
def best_mixture(P, R, C, start, gamma, limit):
    """(bold, safe, share), or None."""

    ### BEGIN SOLUTION
    def point(policy):
        return worth(P, R, start, gamma, policy), worth(P, C, start, gamma, policy)

    bold, safe = best_for(P, R, C, gamma, 0.0), best_for(P, 0 * R, C, gamma, 1.0)
    if point(bold)[1] <= limit:
        return bold, bold, 1.0
    if point(safe)[1] > limit:
        return None
    while True:
        (earned, cost), (less, cheaper) = point(bold), point(safe)
        price = (earned - less) / (cost - cheaper)
        found = best_for(P, R, C, gamma, price)
        gains, costs = point(found)
        if gains - price * costs <= earned - price * cost + 1e-9:
            return bold, safe, (limit - cheaper) / (cost - cheaper)
        bold, safe = (found, safe) if costs > limit else (bold, found)
    ### END SOLUTION


# %% [markdown]
# ## 5. One policy instead of a coin
#
# A robot that is bold in every third episode may not be what you want. There is one random policy with the same return and cost.
# The *occupancy* $\rho(s, a) = \sum_t \gamma^t \Pr(S_t = s, A_t = a)$ of a policy solves
#
# $$\rho(s) = \text{start}(s) + \gamma \sum_{s', a} \rho(s', a)\, P(s \mid s', a), \qquad \rho(s, a) = \rho(s)\, \pi(a \mid s),$$
#
# and $J_R = \sum \rho R$, $J_C = \sum \rho C$. Mix the occupancies, and read the policy from
# $\pi(a \mid s) = \rho(s, a) / \rho(s)$. In states that are never visited take equal probabilities.


# %%
def one_policy(P, start, gamma, bold, safe, share):
    """The policy (n, actions) that does on average what the mixture of two does."""
    ### BEGIN SOLUTION
    mixed = np.zeros(bold.shape)
    for policy, weight in ((bold, share), (safe, 1 - share)):
        stepped = np.einsum("sa,ast->st", policy, P)
        visits = np.linalg.solve(np.eye(len(start)) - gamma * stepped.T, start)
        mixed += weight * visits[:, None] * policy
    total = mixed.sum(axis=1, keepdims=True)
    equal = np.full(mixed.shape, 1 / mixed.shape[1])
    return np.where(total > 1e-12, mixed / np.maximum(total, 1e-12), equal)
    ### END SOLUTION


# %% [markdown]
# ## Look at it: a penalty, or a limit?
#
# On a windy cliff every tenth step goes anywhere. The world pays -1 a step and -100 for a fall: that is a *penalty* with
# $\lambda = 99$, which somebody chose. Taken apart, a step pays $R = -1$, and a fall costs $C = 1$. How many falls does the
# penalty buy? A penalty says what a fall is worth, and leaves their number to the world; a limit says their number, and leaves
# the price to the algorithm. Why can no penalty at all reach a limit that lies between two corners? And with a large step size
# the price of dual ascent swings: does the average still keep the limit?

# %% tags=["experiment"]
import os

import gymnasium
import matplotlib.pyplot as plt
import rlenvs

smoke = bool(os.environ.get("RLENVS_SMOKE"))
model, gamma, wind, limit = gymnasium.make("rlenvs/CliffWalking-v0").unwrapped.model, 0.99, 0.1, 0.15
P, start = np.stack([matrix.toarray() for matrix in model.P]), model.start
P = (1 - wind) * P + wind * P.mean(axis=0)
paid = (1 - wind) * model.R + wind * model.R.mean(axis=1, keepdims=True)
C = np.maximum(-1 - paid, 0) / 99
R = paid + 99 * C


def point(policy):
    return worth(P, C, start, gamma, policy), worth(P, R, start, gamma, policy)


figure, ((left, right), (lower_left, lower_right)) = plt.subplots(2, 2, figsize=(12, 7))
corners = [point(best_for(P, R, C, gamma, price)) for price in np.geomspace(0.1, 3000, 20 if smoke else 100)]
left.plot(*zip(*corners), ".-", color="grey", label="best for some price")
left.plot(*point(best_for(P, R, C, gamma, 99)), "s", label="penalty of 99")
bold, safe, share = best_mixture(P, R, C, start, gamma, limit)
policy = one_policy(P, start, gamma, bold, safe, share)
left.plot(*point(policy), "*", markersize=14, label=f"limit of {limit}")
left.set_xlabel("falls (discounted)")
left.set_ylabel("return of the steps (discounted)")
left.legend()
limits, slopes = np.linspace(0.03, 0.3, 10 if smoke else 100), []
for each in limits:
    (cost, earned), (cheaper, less) = (point(p) for p in best_mixture(P, R, C, start, gamma, each)[:2])
    slopes.append((earned - less) / (cost - cheaper) if cost > cheaper else 0.0)
right.plot(limits, slopes, drawstyle="steps-mid")
right.axvline(limit, color="grey", linestyle=":")
right.set_yscale("symlog")
right.set_xlabel("limit of falls")
right.set_ylabel("the price that belongs to it")
for rate in (1.0, 20.0):
    prices, costs = dual_ascent(P, R, C, start, gamma, limit, rate, 20 if smoke else 200)
    lower_left.plot(prices, label=f"step size {rate:g}")
    print(f"step size {rate:g}: on average {costs.mean():.3f} falls, limit {limit}")
lower_left.set_xlabel("round of dual ascent")
lower_left.set_ylabel("price")
lower_left.legend()
stepped = np.einsum("sa,ast->st", policy, P)
visits = np.linalg.solve(np.eye(48) - gamma * stepped.T, start)
lower_right.imshow(np.sqrt(visits).reshape(4, 12))
lower_right.set_title(f"where the best policy walks ({share:.0%} bold)")
plt.tight_layout()
plt.show()

# %% [markdown]
# ## The same in a world with costs of its own
#
# Worlds with the tag `constrained` report a cost per step in `info["cost"]`, and say the limit. `SafePointGoal-v0` has hazards to drive
# around. The bold driver goes straight for the goal; the package's expert goes around. Which share of bold episodes would keep the
# limit on average, and would you call that safe?

# %% tags=["experiment"]
seeds = 2 if os.environ.get("RLENVS_SMOKE") else 30


def straight(seen):
    """Turn to the brightest of the goal's 16 lidar rays, and drive."""
    angle = (seen[:, 12:28].argmax(axis=1) + 0.5) * 2 * np.pi / 16
    angle = (angle + np.pi) % (2 * np.pi) - np.pi
    return np.stack([np.abs(angle) < 0.5, np.clip(2 * angle, -1, 1)], axis=1)


world = gymnasium.make("rlenvs/SafePointGoal-v0").unwrapped.batch.world
print({name: cost.limit for name, cost in world.costs.items()})
for name, driver in {"straight": straight, "expert": "expert", "random": "random"}.items():
    print(name, rlenvs.evaluate("SafePointGoal-v0", driver, seeds=seeds))
