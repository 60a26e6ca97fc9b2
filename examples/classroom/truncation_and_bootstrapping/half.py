"""Half right: single steps are; several steps and the evaluation take a time limit for an end."""

import numpy as np


def targets(rewards, next_values, terminated, truncated, gamma):
    return rewards + gamma * np.where(terminated, 0.0, next_values)


def n_step_targets(rewards, next_values, terminated, truncated, gamma, n):
    found = np.zeros(len(rewards))
    for t in range(len(rewards)):
        factor = 1.0
        for k in range(t, min(t + n, len(rewards))):
            found[t] += factor * rewards[k]
            factor *= gamma
            if terminated[k] or truncated[k]:
                break
        else:
            found[t] += factor * next_values[k]
    return found


def evaluate(env, gamma):
    values = np.zeros(env.n_states)
    state, _ = env.reset()
    for _ in range(env.budget):
        next_state, reward, terminated, truncated, _ = env.step(1)
        done = terminated or truncated
        values[state] += 0.3 * (reward + gamma * (not done) * values[next_state] - values[state])
        state = env.reset()[0] if done else next_state
    return values
