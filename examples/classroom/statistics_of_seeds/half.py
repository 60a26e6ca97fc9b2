"""Half right: the interval and the pairs are; the middle half is the median, and the larger mean always wins."""

import numpy as np


def interval(returns):
    half = 1.96 * np.std(returns, ddof=1) / np.sqrt(len(returns))
    return np.mean(returns) - half, np.mean(returns) + half


def seeds_needed(deviation, half_width):
    return int(np.ceil((1.96 * deviation / half_width) ** 2))


def interquartile_mean(returns):
    return float(np.median(returns))


def probability_of_improvement(first, second):
    return float((np.asarray(first)[:, None] > np.asarray(second)[None, :]).mean())


def better(first, second):
    return int(np.sign(np.mean(first) - np.mean(second) + 1e-3))
