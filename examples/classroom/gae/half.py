"""Half right: the sum runs on over the ends of episodes that were cut off."""

import numpy as np


def deltas(rewards, values, next_values, terminated, gamma):
    return rewards + gamma * np.where(terminated, 0.0, next_values) - values


def gae(rewards, values, next_values, terminated, truncated, gamma, lam):
    errors = deltas(rewards, values, next_values, terminated, gamma)
    found, ahead = np.zeros(rewards.shape), np.zeros(rewards.shape[1])
    for t in reversed(range(len(rewards))):
        ahead = errors[t] + gamma * lam * np.where(terminated[t], 0.0, ahead)
        found[t] = ahead
    return found


def normalized(advantages):
    return advantages - advantages.mean()
