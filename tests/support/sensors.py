"""What the tests of sensors share."""

import gymnasium
import numpy as np

from rlenvs.wrappers.forms import wrap


class Still(gymnasium.Env):
    """An environment whose observation counts steps, times a pace; the action does nothing."""

    metadata = {"render_fps": 10}

    def __init__(self, size=1, pace=0.0, dtype=np.float64, bound=1e9, horizon=10**9):
        self.observation_space = gymnasium.spaces.Box(-bound, bound, (size,), dtype)
        self.action_space = gymnasium.spaces.Discrete(2)
        self.pace, self.horizon = pace, horizon

    def _seen(self):
        return np.full(self.observation_space.shape, self.pace * self.steps, self.observation_space.dtype)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.steps = 0
        return self._seen(), {}

    def step(self, action):
        self.steps += 1
        return self._seen(), 0.0, False, self.steps >= self.horizon, {}

    def get_state(self):
        return self.steps

    def set_state(self, state):
        self.steps = state
        return self._seen()


def readings(sensor, steps=2000, *, size=200, pace=0.0, seed=3, action=0, **keywords):
    """What a sensor reads, (steps + 1, size)."""
    env = wrap(Still(size, pace, **keywords), *(sensor if isinstance(sensor, list) else [sensor]))
    seen = [env.reset(seed=seed)[0]]
    seen += [env.step(action)[0] for _ in range(steps)]
    return np.array(seen)


def starts(sensor, episodes=20, size=10_000):
    """First readings of episodes, (episodes, size)."""
    env = wrap(Still(size), sensor)
    return np.array([env.reset(seed=k)[0] for k in range(episodes)])
