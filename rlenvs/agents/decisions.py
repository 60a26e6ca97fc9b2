"""Rollouts of worlds with turns, from which only decisions are learned.

Where agents move one after the other, those that wait have one choice, which does nothing. An agent's episode is the
sequence of its decisions: the reward of one is all that the agent gets until its next one, and the discount is per
decision. Players, their order and their number are arbitrary; in a league the moves of rivals are such waiting steps.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from rlenvs.core.declare.errors import ParameterError

__all__ = ["decision_buffer"]

COLUMNS = ("actions", "values", "log_probs", "advantages", "returns", "action_masks")
_Buffer: Any = object  # `decision_buffer` puts sb3-contrib's class behind it


class Decisions(_Buffer):
    """A buffer of rollouts with masks that keeps the steps in which an agent had a choice.

    Decisions whose next one lies beyond the rollout are left out: their value is not known yet.

    Args:
        buffer_size, args, n_envs, kwargs: as for `MaskableRolloutBuffer`.
    """

    observations: Any

    def __init__(self, buffer_size: int, *args: Any, n_envs: int = 1, **kwargs: Any) -> None:
        self._rollout = buffer_size, n_envs
        super().__init__(buffer_size, *args, n_envs=n_envs, **kwargs)

    def reset(self) -> None:
        """Begin a rollout: room for all steps again."""
        self.buffer_size, self.n_envs = self._rollout
        super().reset()

    def compute_returns_and_advantage(self, last_values: Any, dones: np.ndarray) -> None:
        """Advantages by GAE and returns, decision by decision; then decisions alone stay in the buffer, as one column.

        Args:
            last_values: not used: those of agents that wait are values of states from which nothing is learned.
            dones: bool (slots,), where the last step ended an episode.
        """
        decided = self.action_masks.sum(axis=2) > self.action_dim  # more than one choice in some dimension
        learned = self._estimate(decided, dones)
        self.returns = self.advantages + self.values
        for name in COLUMNS:
            setattr(self, name, getattr(self, name)[learned, None])
        seen = self.observations
        by_name = isinstance(seen, dict)
        self.observations = {k: part[learned, None] for k, part in seen.items()} if by_name else seen[learned, None]
        self.buffer_size, self.n_envs = len(self.actions), 1

    def _estimate(self, decided: np.ndarray, dones: np.ndarray) -> np.ndarray:
        """Fill `advantages` at decisions, and say at which of them they are known, bool (steps, slots)."""
        learned = np.zeros_like(decided)
        reward, value, advantage = np.zeros((3, self.n_envs))  # from the agent's next decision on
        known = np.zeros(self.n_envs, np.bool_)
        ended = dones.astype(np.bool_)
        for step in reversed(range(self.buffer_size)):
            known |= ended
            reward, value, advantage = (np.where(ended, 0.0, part) for part in (reward, value, advantage))
            reward = reward + self.rewards[step]
            now = decided[step]
            error = reward + self.gamma * value - self.values[step]
            self.advantages[step] = np.where(known, error + self.gamma * self.gae_lambda * advantage, 0.0)
            learned[step] = now & known
            reward = np.where(now, 0.0, reward)
            value = np.where(now, self.values[step], value)
            advantage = np.where(now, self.advantages[step], advantage)
            known |= now
            ended = self.episode_starts[step].astype(np.bool_)
        return learned

    def get(self, batch_size: int | None = None) -> Iterator[Any]:
        """Minibatches of nearly `batch_size` decisions, all of about the same size, in random order."""
        count = self.buffer_size
        batches = 1 if batch_size is None else max(1, round(count / batch_size))
        return super().get(math.ceil(count / batches))


def decision_buffer(algorithm: Any, envs: Any, n_steps: int | None) -> dict[str, Any]:
    """The keyword of an algorithm that makes it learn from decisions; none with one agent, without turns, or for
    algorithms without masks.

    Args:
        algorithm: a class of Stable-Baselines3 or sb3-contrib.
        envs: an `SB3VecEnv`, or a wrapper around one.
        n_steps: of a rollout; None for as many as the algorithm takes.

    Raises:
        ParameterError: rollouts in which agents do not move twice.
    """
    setup = envs.batch.setup
    if setup.agents == 1 or not setup.world.turns:
        return {}
    from sb3_contrib import MaskablePPO
    from sb3_contrib.common.maskable.buffers import MaskableDictRolloutBuffer, MaskableRolloutBuffer

    if not issubclass(algorithm, MaskablePPO):
        return {}
    if n_steps is not None and n_steps <= setup.agents:
        raise ParameterError(
            f"n_steps={n_steps} is too small: {setup.agents} agents take turns in {setup.world.name}; needed: at least "
            f"{setup.agents + 1}"
        )
    own = MaskableDictRolloutBuffer if hasattr(envs.observation_space, "spaces") else MaskableRolloutBuffer
    return {"rollout_buffer_class": type("DecisionBuffer", (Decisions, own), {"__doc__": Decisions.__doc__})}
