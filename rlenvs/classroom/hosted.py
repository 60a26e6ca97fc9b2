"""Environments that a submission plays in: they live here, with the grader, and count what is done in them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces


class WorldError(Exception):
    """A world failed by itself; who plays in it cannot help it."""


def _of_world(play: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:
    try:
        return play(*arguments, **keywords)
    except Exception as error:
        raise WorldError(f"the world failed, not the submission ({type(error).__name__}: {error})") from error


class HostedEnv:
    """An environment that a submission may step, through the pipe alone.

    Attributes:
        returns: of the episodes that were played to their end.
        steps: that were taken. resets: that were asked for. most_resets: that are allowed.
    """

    def __init__(self, env: gymnasium.Env, seed: int, budget: int, resets: int | None = None) -> None:
        """For so many steps and so many resets, by default one for each step."""
        self.env, self.seed, self.budget = env, seed, budget
        self.returns: list[float] = []
        self.steps, self.resets, self.most_resets = 0, 0, budget + 1 if resets is None else resets
        self._sum, self._over = 0.0, True

    def told(self) -> dict[str, Any]:
        """What the submission's side knows of it."""
        seen, done = self.env.observation_space, self.env.action_space
        return {
            "n_states": int(seen.n) if isinstance(seen, spaces.Discrete) else None,
            "n_actions": int(done.n) if isinstance(done, spaces.Discrete) else None,
            "budget": self.budget,
        }

    def reset(self) -> Any:
        """Begin an episode: the first with the seed, the others with what follows.

        Raises:
            ValueError: there were as many as are allowed. WorldError: the environment failed.
        """
        if self.resets >= self.most_resets:
            raise ValueError(f"{self.most_resets} resets at most are allowed here")
        self.resets += 1
        observation, _ = _of_world(self.env.reset, seed=self.seed)
        self.seed += 1
        self._sum, self._over = 0.0, False
        return observation

    def step(self, action: Any) -> list[Any]:
        """Take a step.

        Raises:
            ValueError: the budget is spent, the episode is over, or the action is not one. WorldError: the environment
                failed.
        """
        if self.steps >= self.budget:
            raise ValueError(f"the budget of {self.budget} steps is used up")
        if self._over:
            raise ValueError("the episode is over, or not started: call reset first")
        space = self.env.action_space
        taken = np.asarray(action, space.dtype) if isinstance(space, spaces.Box) else action
        if not space.contains(taken):
            raise ValueError(f"the action {str(action)[:60]} is not in {space}")
        observation, reward, terminated, truncated, _ = _of_world(self.env.step, taken)
        self.steps += 1
        self._sum += float(reward)
        if terminated or truncated:
            self.returns.append(self._sum)
            self._over = True
        return [observation, float(reward), bool(terminated), bool(truncated)]
