"""Half right: the shop is, but its time limit is an end, and a snapshot lacks the generator."""

import gymnasium
import numpy as np


class Shop(gymnasium.Env):
    def __init__(self):
        self.observation_space = gymnasium.spaces.Box(np.float32([0, 0]), np.float32([20, 6]))
        self.action_space = gymnasium.spaces.Discrete(6)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.stock, self.day, self.short = int(self.np_random.integers(5, 11)), 0, 0
        return np.array([self.stock, 0], np.float32), {}

    def step(self, action):
        there = min(self.stock + int(action), 20)
        demand = int(self.np_random.poisson(5.0 if self.day % 7 in (5, 6) else 2.0))
        self.stock = max(there - demand, 0)
        self.short = self.short + 1 if demand > there else 0
        self.day += 1
        terms = {"sales": 2.0 * min(there, demand), "order": -float(action), "storage": -0.1 * self.stock}
        over = self.short == 3 or self.day == 28
        return np.array([self.stock, self.day % 7], np.float32), sum(terms.values()), over, False, terms

    def get_state(self):
        return self.stock, self.day, self.short

    def set_state(self, state):
        self.stock, self.day, self.short = state


def told_spaces():
    """The bounds of the observations, their type, and the number of actions."""
    env = Shop()
    space = env.observation_space
    return {"low": space.low, "high": space.high, "type": str(space.dtype), "actions": int(env.action_space.n)}


def play(seed, actions, stock=None, episodes=1):
    """Episodes with the same actions, one after the other; only the first is seeded. What was seen and paid, and how it
    ended."""
    env, played = Shop(), []
    for number in range(episodes):
        options = None if stock is None else {"stock": stock}
        seen, _ = env.reset(seed=seed if number == 0 else None, options=options)
        told = {"seen": [seen], "types": [str(seen.dtype)], "rewards": [], "terms": []}
        for action in actions:
            seen, reward, terminated, truncated, info = env.step(action)
            told["seen"].append(seen)
            told["types"].append(str(seen.dtype))
            told["rewards"].append(float(reward))
            told["terms"].append([float(info[name]) for name in ("sales", "order", "storage")])
            if terminated or truncated:
                break
        played.append({**told, "terminated": bool(terminated), "truncated": bool(truncated)})
    return played


def futures(seed, actions, at):
    """Stocks after a snapshot in step `at`: as it went on first, and again from the snapshot."""
    env = Shop()
    env.reset(seed=seed)
    for action in actions[:at]:
        env.step(action)
    state, found = env.get_state(), []
    for _ in range(2):
        found.append([float(env.step(action)[0][0]) for action in actions[at:]])
        env.set_state(state)
    return found
