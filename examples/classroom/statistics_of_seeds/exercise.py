# %% [markdown]
# # Statistics of seeds: is it better, or was it lucky?
#
# About 45 minutes of work; the notebook runs in less than a minute. Beside Sutton and Barto, 2nd edition, chapter 2.3,
# whose curves are means of 2000 runs: why so many?
#
# A learner's return is a random number: it depends on the seeds of network, exploration and world. With $n$ independent
# runs $x_1, \dots, x_n$ the mean $\bar x$ has a 95 % confidence interval of about
#
# $$\bar x \pm 1.96\, \frac{s}{\sqrt n}, \qquad s^2 = \frac{1}{n - 1} \sum_i (x_i - \bar x)^2.$$
#
# **Hand in** this notebook, or a script with `interval`, `seeds_needed`, `interquartile_mean`,
# `probability_of_improvement` and `better`.

# %%
import numpy as np


# %% [markdown]
# ## 1. How sure is a mean, and how many seeds make it sure?
#
# `seeds_needed` gives the smallest $n$ whose interval is at most `half_width` wide to each side.


# %%
def interval(returns):
    """Lower and upper end of the 95 % confidence interval of the mean."""
    ### BEGIN SOLUTION
    half = 1.96 * np.std(returns, ddof=1) / np.sqrt(len(returns))
    return np.mean(returns) - half, np.mean(returns) + half
    ### END SOLUTION


def seeds_needed(deviation, half_width):
    """How many runs with standard deviation `deviation` are needed."""
    ### BEGIN SOLUTION
    return int(np.ceil((1.96 * deviation / half_width) ** 2))
    ### END SOLUTION


# %% [markdown]
# ## 2. A mean that one bad run does not ruin
#
# The *interquartile mean* leaves out the lowest and the highest quarter of the runs: of $n$ sorted numbers the first and
# the last $\lfloor n / 4 \rfloor$.


# %%
def interquartile_mean(returns):
    """Mean of the middle half."""
    ### BEGIN SOLUTION
    middle, cut = np.sort(returns), len(returns) // 4
    return float(middle[cut : len(middle) - cut].mean())
    ### END SOLUTION


# %% [markdown]
# ## 3. Which is better?
#
# The *probability of improvement* asks what happens if one run of each is drawn,
#
# $$\Pr(X > Y) \approx \frac{1}{nm} \sum_{i, j} \Big( [x_i > y_j] + \tfrac{1}{2} [x_i = y_j] \Big).$$
#
# The difference of two means has the variance $s_x^2 / n + s_y^2 / m$. `better` says 1 if the first is better, -1 if the
# second is, 0 if the 95 % interval of the difference holds zero: nobody knows yet.


# %%
def probability_of_improvement(first, second):
    """The probability that a run of the first beats a run of the second."""
    ### BEGIN SOLUTION
    first, second = np.asarray(first)[:, None], np.asarray(second)[None, :]
    return float(((first > second) + 0.5 * (first == second)).mean())
    ### END SOLUTION


def better(first, second):
    """1, -1, or 0 where the runs do not tell."""
    ### BEGIN SOLUTION
    difference = np.mean(first) - np.mean(second)
    error = np.sqrt(np.var(first, ddof=1) / len(first) + np.var(second, ddof=1) / len(second))
    return int(np.sign(difference)) if abs(difference) > 1.96 * error else 0
    ### END SOLUTION


# %% [markdown]
# ## Look at it
#
# Random actions on the cart-pole, with more and more seeds. From how many seeds on would you
# publish? How often do *five* seeds say the wrong thing?

# %% tags=["experiment"]
import os

import matplotlib.pyplot as plt
import rlenvs

seeds = 50 if os.environ.get("RLENVS_SMOKE") else 400
returns = rlenvs.evaluate("CartPole-v0", "random", seeds).returns
counts = np.arange(3, seeds + 1)
bounds = np.array([interval(returns[:n]) for n in counts])
plt.fill_between(counts, bounds[:, 0], bounds[:, 1], alpha=0.3, label="95 % interval")
plt.axhline(returns.mean(), color="black", label=f"mean of all {seeds}")
plt.xlabel("seeds")
plt.ylabel("return of random actions")
plt.legend()
plt.show()

rng = np.random.default_rng(0)
calls = [better(rng.choice(returns, 5), rng.choice(returns, 5)) for _ in range(1000)]
print(f"five seeds each of the SAME policy: called different in {np.mean(np.abs(calls)):.1%} of 1000 comparisons")
