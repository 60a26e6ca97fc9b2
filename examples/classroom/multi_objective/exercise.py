# %% [markdown]
# # Two things at once: trade-offs
#
# About 45 minutes of work; the notebook runs in seconds. Beside Sutton and Barto, 2nd edition, chapter 3.2: is a goal always one
# number?
#
# In *deep sea treasure* a submarine wants much treasure and little time. A policy has a vector of returns,
# $v = (\text{treasure}, -\text{time})$. It *dominates* another if it is at least as good in every objective, and better in
# one. What nobody dominates is the *Pareto front*. A weighted sum
#
# $$\max_v \; w_1 v_1 + w_2 v_2$$
#
# finds points of the front, but only those on its convex hull. A front is measured by its *hypervolume*: the area of what it
# dominates above a reference point.
#
# **Hand in** this notebook, or a script with `pareto`, `best_for`, `hypervolume` and `supported`.

# %%
import numpy as np


# %% [markdown]
# ## 1. Who is dominated?


# %%
def pareto(points):
    """For points (n, k), all objectives to be maximised: True where no other point dominates, (n,)."""
    ### BEGIN SOLUTION
    points = np.asarray(points)
    no_worse = (points[:, None] >= points[None]).all(axis=2)
    better = (points[:, None] > points[None]).any(axis=2)
    return ~(no_worse & better).any(axis=0)
    ### END SOLUTION


# %% [markdown]
# ## 2. What a weighted sum finds
#
# `best_for` gives the number of the point with the largest weighted sum (the first of several). `supported` tries the weights
# $(w, 1 - w)$ for `count` values of $w$ from 0 to 1, evenly spaced, and gives the sorted numbers of the points that were found,
# each once.


# %%
def best_for(points, weights):
    """The number of the best point."""
    ### BEGIN SOLUTION
    return int(np.argmax(np.asarray(points) @ np.asarray(weights)))
    ### END SOLUTION


def supported(points, count):
    """Numbers of the points (n, 2) that weighted sums find."""
    ### BEGIN SOLUTION
    return sorted({best_for(points, (w, 1 - w)) for w in np.linspace(0, 1, count)})
    ### END SOLUTION


# %% [markdown]
# ## 3. How good is a set of points?
#
# The area of the union of the rectangles between the reference point and each of the points. Points that are not better than the
# reference in both objectives add nothing.


# %%
def hypervolume(points, reference):
    """Area that points (n, 2) dominate above a reference point (2,)."""
    ### BEGIN SOLUTION
    heights = np.asarray(points) - np.asarray(reference)
    heights = heights[(heights > 0).all(axis=1)]
    area, height = 0.0, 0.0
    for x, y in heights[np.argsort(-heights[:, 0])]:
        area += x * max(y - height, 0.0)
        height = max(height, y)
    return area
    ### END SOLUTION


# %% [markdown]
# ## Look at it
#
# The exact front of the environment. Which treasures does no weighted sum ever fetch?

# %% tags=["experiment"]
import gymnasium
import matplotlib.pyplot as plt
import rlenvs

sea = gymnasium.make("rlenvs/DeepSeaTreasure-v0", render_mode="rgb_array", map="concave")
sea.reset(seed=0)
front = sea.unwrapped.pareto_front()
found = supported(front, 1001)
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4))
left.imshow(sea.render())
right.plot(-front[:, 1], front[:, 0], "o", label="front")
right.plot(-front[found, 1], front[found, 0], "s", fillstyle="none", markersize=12, label="found by weighted sums")
right.set_xlabel("steps")
right.set_ylabel("treasure")
right.legend()
plt.show()
print("hypervolume:", hypervolume(front, (0, -25)), "of it by weighted sums:", hypervolume(front[found], (0, -25)))
