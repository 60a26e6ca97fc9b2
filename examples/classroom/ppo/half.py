"""Half right: clips without the minimum, and takes the log of the ratio for the ratio less one."""

import numpy as np


def log_probability(actions, means, log_deviations):
    scaled = (actions - means) / np.exp(log_deviations)
    return -(0.5 * scaled**2 + log_deviations + 0.5 * np.log(2 * np.pi)).sum(axis=1)


def clipped_objective(new, old, advantages, clip):
    return float((np.clip(np.exp(new - old), 1 - clip, 1 + clip) * advantages).mean())


def clip_fraction(new, old, clip):
    return float((np.abs(new - old) > clip).mean())


def explained_variance(values, returns):
    return float(1 - np.var(returns - values) / np.var(returns))
