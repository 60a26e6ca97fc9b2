"""Environments in disguise: drawn for each grading, so that what was found elsewhere is of no use in them."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces


class Renamed(gymnasium.Wrapper):
    """A finite environment whose states and actions have other numbers and whose rewards another scale.

    Attributes:
        states: the number that each state has here. actions: the environment's own number of each action.
        scale: of the rewards.
    """

    def __init__(self, env: gymnasium.Env, rng: np.random.Generator, scale: float = 1.0) -> None:
        super().__init__(env)
        assert isinstance(env.observation_space, spaces.Discrete)
        assert isinstance(env.action_space, spaces.Discrete)
        self.states = rng.permutation(int(env.observation_space.n))
        self.actions = rng.permutation(int(env.action_space.n))
        self.scale = scale

    def reset(self, **keywords: Any) -> tuple[Any, dict[str, Any]]:
        """Begin an episode."""
        state, info = self.env.reset(**keywords)
        return int(self.states[state]), info

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Take a step."""
        state, reward, terminated, truncated, info = self.env.step(int(self.actions[action]))
        return int(self.states[state]), self.scale * float(reward), terminated, truncated, info

    def values(self, values: np.ndarray) -> np.ndarray:
        """The environment's own values of states, as they are here."""
        found = np.empty(len(values))
        found[self.states] = self.scale * np.asarray(values)
        return found

    def policy(self, policy: np.ndarray) -> np.ndarray:
        """A policy of here, an action for each state, in the environment's own numbers."""
        return self.actions[policy[self.states]]


class Turned(gymnasium.Wrapper):
    """An environment whose observations are turned within a box, and whose actions have other numbers.

    Attributes:
        matrix: (n, n), by which an observation, scaled from the box to [-1, 1], is multiplied from the right.
        middle, half: of the box. actions: the environment's own number of each action.
    """

    def __init__(
        self, env: gymnasium.Env, matrix: np.ndarray, actions: np.ndarray, low: Any = None, high: Any = None
    ) -> None:
        super().__init__(env)
        assert isinstance(env.observation_space, spaces.Box)
        n = len(matrix)
        low, high = (-np.ones(n), np.ones(n)) if low is None else (np.asarray(low), np.asarray(high))
        self.matrix, self.actions, self.middle, self.half = matrix, actions, (low + high) / 2, (high - low) / 2
        self.observation_space = spaces.Box(-np.inf, np.inf, (n,), np.float64)

    def reset(self, **keywords: Any) -> tuple[Any, dict[str, Any]]:
        """Begin an episode."""
        seen, info = self.env.reset(**keywords)
        return self.turned(seen), info

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Take a step."""
        seen, *rest = self.env.step(int(self.actions[action]))
        return self.turned(seen), *rest  # type: ignore[return-value]

    def turned(self, seen: np.ndarray) -> np.ndarray:
        """Observations (..., n) as they are here."""
        return self.middle + self.half * (((seen - self.middle) / self.half) @ self.matrix)


def rotation(rng: np.random.Generator, n: int) -> np.ndarray:
    """A random orthogonal matrix (n, n), uniformly distributed (Haar)."""
    q, r = np.linalg.qr(rng.normal(size=(n, n)))
    return q * np.sign(np.diag(r))


def signed_permutation(rng: np.random.Generator, n: int) -> np.ndarray:
    """A random matrix (n, n) that puts numbers into another order, with other signs."""
    return np.eye(n)[rng.permutation(n)] * rng.choice([-1.0, 1.0], n)
