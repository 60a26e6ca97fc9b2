"""Half right: the correction overflows far out, the critics' mean is taken, the temperature has a wrong sign."""

import numpy as np


def squash(means, log_deviations, noise):
    u = means + np.exp(log_deviations) * noise
    normal = -0.5 * noise**2 - log_deviations - 0.5 * np.log(2 * np.pi)
    return np.tanh(u), (normal - np.log(1 - np.tanh(u) ** 2)).sum(axis=1)


def soft_targets(rewards, next_q1, next_q2, next_log_probabilities, terminated, alpha, gamma):
    return rewards + gamma * np.where(terminated, 0.0, (next_q1 + next_q2) / 2 - alpha * next_log_probabilities)


def actor_gradient(mean, log_deviation, noise, slopes, alpha):
    deviation = np.exp(log_deviation)
    actions = np.tanh(mean + deviation * noise)
    g = 2 * alpha * actions - slopes * (1 - actions**2)
    return g.mean(axis=0), (g * deviation * noise).mean(axis=0) - alpha


def temperature_step(log_alpha, log_probabilities, target_entropy, rate):
    return log_alpha - rate * float(np.mean(log_probabilities) + target_entropy)


def polyak(slow, fast, tau):
    return [(1 - tau) * old + tau * new for old, new in zip(slow, fast, strict=True)]


def fit(place, width, alpha):
    return 0.0, -1.0
