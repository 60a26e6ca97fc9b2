# %% [markdown]
# # Several goals at once
#
# About 45 minutes of work; the notebook runs in seconds. Sutton and Barto, 2nd edition, chapter 17.4 asks where rewards come from;
# here there are two, and nobody says how they weigh.
#
# A diver looks for treasure: the deeper, the more it is worth, and the longer it takes. A policy has a *vector* of returns,
# $(\text{treasure}, -\text{time})$. It *dominates* another if it is at least as good in all and better in one:
#
# $$x \succ y \iff \forall i: x_i \ge y_i \;\text{ and }\; \exists i: x_i > y_i.$$
#
# What nothing dominates is the *Pareto front*. Its *hypervolume* is the area of all points that it dominates, down to
# a reference point. A *weighted sum* $w^\top x$ picks one point of the front, but cannot pick all of them.
#
# **Hand in** this notebook, or a script with `front`, `hypervolume`, `best_by_weights` and `out_of_reach`.

# %%
import numpy as np


# %% [markdown]
# ## 1. The front


# %%
def front(points):
    """For points (n, 2), larger is better: a bool (n,), whether nothing dominates the point. Equal points stay both."""
    ### BEGIN SOLUTION
    points = np.asarray(points)
    least = (points[:, None] >= points[None]).all(axis=2)
    more = (points[:, None] > points[None]).any(axis=2)
    return ~(least & more).any(axis=0)
    ### END SOLUTION


# %% [markdown]
# ## 2. The hypervolume
#
# In two dimensions: sort the front by its first number, and add up rectangles. Points that do not exceed the reference in
# both numbers add nothing.


# %%
def hypervolume(points, reference):
    """Area that points (n, 2) dominate, down to the reference (2,)."""
    ### BEGIN SOLUTION
    points = np.asarray(points, dtype=float)
    points = points[(points > reference).all(axis=1)]
    area, height = 0.0, reference[1]
    for x, y in sorted(points.tolist(), reverse=True):
        if y > height:
            area += (x - reference[0]) * (y - height)
            height = y
    return area
    ### END SOLUTION


# %% [markdown]
# ## 3. Weighted sums, and what they cannot reach
#
# `out_of_reach` marks points of the front that are best by no weights $w \ge 0$, not even beside others that are as good. A
# point of the front is out of reach if it lies below a straight line between two other points of the front.


# %%
def best_by_weights(points, weights):
    """The number of the best point by the weighted sum; the first of equal ones."""
    ### BEGIN SOLUTION
    return int(np.argmax(np.asarray(points) @ weights))
    ### END SOLUTION


def out_of_reach(points):
    """For points (n, 2) that are a front, without equal ones: a bool (n,)."""
    ### BEGIN SOLUTION
    points = np.asarray(points, dtype=float)
    found = np.zeros(len(points), dtype=bool)
    for k, (x, y) in enumerate(points):
        left, right = points[points[:, 0] < x], points[points[:, 0] > x]
        for x0, y0 in left:
            for x1, y1 in right:
                found[k] |= y < y0 + (y1 - y0) * (x - x0) / (x1 - x0) - 1e-12
    return found
    ### END SOLUTION


# %% [markdown]
# ## Look at it: deep sea treasure
#
# Random dives, the best of them, and the scripted expert. Which treasures do weighted sums find?

# %% tags=["experiment"]
import os

import gymnasium
import matplotlib.pyplot as plt
import rlenvs  # registers the environments

dives = 20 if os.environ.get("RLENVS_SMOKE") else 500
env = gymnasium.make("rlenvs/mo-DeepSeaTreasure-v0", render_mode="rgb_array")
found, rng = [], np.random.default_rng(0)
for dive in range(dives):
    (_, info), total, over = env.reset(seed=dive), np.zeros(2), False
    down = rng.uniform(0.1, 0.9)
    while not over:
        open_actions = np.flatnonzero(info["action_mask"])
        action = rng.choice([1, 3], p=[down, 1 - down])
        _, reward, terminated, truncated, info = env.step(action if action in open_actions else open_actions[-1])
        total, over = total + reward, terminated or truncated
    found.append(total)
points = np.array(found)
best = front(points)
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4))
left.plot(*points.T, ".", label="dives")
left.plot(*points[best].T, "o", label="front")
left.set_xlabel("treasure")
left.set_ylabel("time")
left.legend()
right.imshow(env.render())
plt.show()
print("hypervolume:", hypervolume(points, np.array([0.0, -25.0])))
