# %% [markdown]
# # Statistics of seeds
#
# About 40 minutes of work; the notebook runs in seconds. Sutton and Barto, 2nd edition, chapter 2 (averages over runs); Agarwal and
# others, "Deep reinforcement learning at the edge of the statistical precipice", NeurIPS 2021.
#
# One training is an anecdote. From $n$ seeds with returns $x_1, \dots, x_n$, the mean is known up to about
#
# $$\bar x \pm 1.96\, \frac{s}{\sqrt n}, \qquad s^2 = \frac{1}{n-1} \sum_i (x_i - \bar x)^2.$$
#
# The *interquartile mean* leaves out the lowest and the highest quarter. The *bootstrap* gives an interval of any
# number: draw $n$ of the $n$ seeds with replacement, many times, and see where the number falls.
#
# **Hand in** this notebook, or a script with `interval`, `iqm`, `bootstrap` and `seeds_needed`.

# %%
import numpy as np


# %% [markdown]
# ## 1. The mean and its interval


# %%
def interval(returns):
    """Lower and upper end of the 95 % interval of the mean, by the formula above."""
    ### BEGIN SOLUTION
    half = 1.96 * np.std(returns, ddof=1) / np.sqrt(len(returns))
    return np.mean(returns) - half, np.mean(returns) + half
    ### END SOLUTION


# %% [markdown]
# ## 2. The interquartile mean
#
# The number of returns is a multiple of four.


# %%
def iqm(returns):
    """Mean of the middle half."""
    ### BEGIN SOLUTION
    quarter = len(returns) // 4
    return float(np.mean(np.sort(returns)[quarter:-quarter]))
    ### END SOLUTION


# %% [markdown]
# ## 3. The bootstrap
#
# The 2.5 % and 97.5 % percentiles of the interquartile mean of `draws` resamples. You choose the generator; with many draws the ends
# hardly depend on it.


# %%
def bootstrap(returns, draws):
    """Lower and upper end of the 95 % interval of the interquartile mean."""
    ### BEGIN SOLUTION
    rng = np.random.default_rng(0)
    returns = np.asarray(returns)
    found = [iqm(returns[rng.integers(0, len(returns), len(returns))]) for _ in range(draws)]
    return np.percentile(found, 2.5), np.percentile(found, 97.5)
    ### END SOLUTION


# %% [markdown]
# ## 4. How many seeds?
#
# To see a difference $d$ between two algorithms, both with standard deviation $s$ and $n$ seeds each, let the interval of the
# difference of means, $\pm 1.96 \sqrt{2 s^2 / n}$, be no wider than $\pm d$.


# %%
def seeds_needed(s, d):
    """The smallest whole number of seeds."""
    ### BEGIN SOLUTION
    return int(np.ceil(2 * (1.96 * s / d) ** 2))
    ### END SOLUTION


# %% [markdown]
# ## Look at it
#
# The return of the same random policy, on samples of 4, 16 and 64 seeds, five times each.

# %% tags=["experiment"]
import os

import matplotlib.pyplot as plt
import rlenvs

counts = (4, 8) if os.environ.get("RLENVS_SMOKE") else (4, 16, 64)
place = 0
for count in counts:
    for repetition in range(5):
        seeds = range(1000 * repetition, 1000 * repetition + count)
        returns = rlenvs.evaluate("CartPole-v0", "random", seeds=seeds).returns
        low, high = interval(returns)
        plt.plot([place, place], [low, high], "C0")
        plt.plot(place, iqm(returns), "C1o")
        place += 1
    place += 2
plt.ylabel("mean return: interval; interquartile mean: dot")
plt.xlabel(f"five repetitions with {', '.join(map(str, counts))} seeds")
plt.show()
