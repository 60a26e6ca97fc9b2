"""The solution in plain Python, as it can be written in a page."""

ARGUMENTS = "lists"


def td_update(values, state, reward, next_state, terminated, alpha, gamma):
    values = list(values)
    ahead = 0.0 if terminated else values[next_state]
    values[state] += alpha * (reward + gamma * ahead - values[state])
    return values


def returns(rewards, gamma):
    found, ahead = [0.0] * len(rewards), 0.0
    for t in reversed(range(len(rewards))):
        ahead = rewards[t] + gamma * ahead
        found[t] = ahead
    return found


def monte_carlo_update(values, states, rewards, alpha, gamma):
    values = list(values)
    for state, target in zip(states, returns(rewards, gamma)):
        values[state] += alpha * (target - values[state])
    return values


def predict(env, episodes):
    values = [0.0] * env.n_states
    for episode in range(episodes):
        alpha = max(0.2 * 0.99**episode, 0.01)
        state, _ = env.reset()
        over = False
        while not over:
            next_state, reward, terminated, truncated, _ = env.step(0)
            values = td_update(values, state, reward, next_state, terminated, alpha, 1.0)
            state, over = next_state, terminated or truncated
    return values
