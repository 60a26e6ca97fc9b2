"""Half right: the gradient is, but nothing is learnt with it, and large numbers overflow."""

import numpy as np


def probabilities(theta, observation):
    powers = np.exp(observation @ theta)
    return powers / powers.sum()


def log_gradient(theta, observation, action):
    return np.outer(observation, np.eye(theta.shape[1])[action] - probabilities(theta, observation))


def rewards_to_go(rewards):
    return np.cumsum(np.asarray(rewards)[::-1])[::-1]


def train(env):
    return np.zeros((4, 2))
