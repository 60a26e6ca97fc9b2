"""Half right: TD looks behind the end of episodes, returns are right, and nothing is predicted."""

import numpy as np


def td_update(values, state, reward, next_state, terminated, alpha, gamma):
    values = np.array(values, dtype=float)
    values[state] += alpha * (reward + gamma * values[next_state] - values[state])
    return values


def returns(rewards, gamma):
    found, ahead = np.zeros(len(rewards)), 0.0
    for t in reversed(range(len(rewards))):
        ahead = rewards[t] + gamma * ahead
        found[t] = ahead
    return found


def monte_carlo_update(values, states, rewards, alpha, gamma):
    values = np.array(values, dtype=float)
    for state, target in zip(states, returns(rewards, gamma), strict=True):
        values[state] += alpha * (target - values[state])
    return values


def predict(env, episodes):
    return np.zeros(env.n_states)
