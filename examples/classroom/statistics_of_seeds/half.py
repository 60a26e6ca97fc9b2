"""Half right: the formulas are; the bootstrap gives the extremes, and one of the two variances is forgotten."""

import numpy as np


def interval(returns):
    half = 1.96 * np.std(returns, ddof=1) / np.sqrt(len(returns))
    return np.mean(returns) - half, np.mean(returns) + half


def iqm(returns):
    quarter = len(returns) // 4
    return float(np.mean(np.sort(returns)[quarter:-quarter]))


def bootstrap(returns, draws):
    return np.min(returns), np.max(returns)


def seeds_needed(s, d):
    return int(np.ceil((1.96 * s / d) ** 2))
