"""The solution in plain Python, as it can be written in a page."""

import random

ARGUMENTS = "lists"


def sarsa_update(Q, state, action, reward, next_state, next_action, terminated, alpha, gamma):
    Q = [list(row) for row in Q]
    ahead = 0.0 if terminated else Q[next_state][next_action]
    Q[state][action] += alpha * (reward + gamma * ahead - Q[state][action])
    return Q


def q_update(Q, state, action, reward, next_state, terminated, alpha, gamma):
    Q = [list(row) for row in Q]
    ahead = 0.0 if terminated else max(Q[next_state])
    Q[state][action] += alpha * (reward + gamma * ahead - Q[state][action])
    return Q


def learn(env, gamma):
    random.seed(0)
    Q = [[0.0] * env.n_actions for _ in range(env.n_states)]
    state, _ = env.reset()
    for _ in range(env.budget):
        action = random.randrange(env.n_actions) if random.random() < 0.2 else Q[state].index(max(Q[state]))
        next_state, reward, terminated, truncated, _ = env.step(action)
        ahead = 0.0 if terminated else max(Q[next_state])
        Q[state][action] += 0.5 * (reward + gamma * ahead - Q[state][action])
        state = env.reset()[0] if terminated or truncated else next_state
    return [row.index(max(row)) for row in Q]
