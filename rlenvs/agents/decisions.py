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
from gymnasium import spaces

from rlenvs.core.declare.errors import ParameterError

__all__ = ["decision_buffer", "learning_decisions"]

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
        self._decided = np.zeros((self.buffer_size, self.n_envs), np.bool_)
        self._seen: list[Any] = []  # of each step the observations of agents with a choice

    def add(
        self,
        obs: Any,
        action: np.ndarray,
        reward: np.ndarray,
        episode_start: np.ndarray,
        value: Any,
        log_prob: Any,
        action_masks: np.ndarray,
    ) -> None:
        """Add a step of all slots, as `MaskableRolloutBuffer.add` does."""
        step, slots = self.pos, self.n_envs
        self.action_masks[step] = np.reshape(action_masks, (slots, -1))
        self.actions[step] = np.reshape(action, (slots, self.action_dim))
        self.rewards[step], self.episode_starts[step] = reward, episode_start
        self.values[step], self.log_probs[step] = np.reshape(value, slots), np.reshape(log_prob, slots)
        rows = self._decided[step] = has_choice(self.action_masks[step], self.action_dim)
        self._seen.append(self._shaped(obs, rows))
        self.pos += 1
        self.full = self.pos == self.buffer_size

    def _shaped(self, observations: Any, rows: np.ndarray) -> Any:
        """Some rows of observations, in the form in which the buffer has them."""
        shape, slots = self.obs_shape, self.n_envs
        if isinstance(observations, dict):
            return {name: np.reshape(part, (slots, *shape[name]))[rows] for name, part in observations.items()}
        return np.reshape(observations, (slots, *shape))[rows]

    def compute_returns_and_advantage(self, last_values: Any, dones: np.ndarray) -> None:
        """Advantages by GAE and returns, decision by decision; then decisions alone stay in the buffer, as one column.

        Args:
            last_values: not used: those of agents that wait are values of states from which nothing is learned.
            dones: bool (slots,), where the last step ended an episode.
        """
        learned = self._estimate(self._decided, dones)
        self.returns = self.advantages + self.values
        for name in COLUMNS:
            setattr(self, name, getattr(self, name)[learned, None])
        kept, seen = learned[self._decided], self._seen
        if isinstance(seen[0], dict):
            self.observations = {name: np.concatenate([part[name] for part in seen])[kept, None] for name in seen[0]}
        else:
            self.observations = np.concatenate(seen)[kept, None]
        self._seen = []
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


def has_choice(masks: np.ndarray, dimensions: int) -> np.ndarray:
    """Which rows of masks allow more than one choice in some dimension, bool (rows,)."""
    return masks.sum(axis=1) > dimensions


def first_choices(masks: np.ndarray, space: Any) -> np.ndarray:
    """The first choice that is allowed in each dimension of an action space with choices, int64 (rows, *shape)."""
    counts = [space.n] if isinstance(space, spaces.Discrete) else getattr(space, "nvec", None)
    counts = [2] * math.prod(space.shape) if counts is None else counts
    parts = np.split(masks, np.cumsum(counts)[:-1], axis=1)
    return np.stack([part.argmax(axis=1) for part in parts], axis=1).reshape(-1, *space.shape)


def collect_decisions(
    self: Any, env: Any, callback: Any, rollout_buffer: Any, n_rollout_steps: int, use_masking: bool = True
) -> bool:
    """A rollout as `MaskablePPO.collect_rollouts` plays it, except that its networks see agents with a choice alone.

    Args:
        env, callback, rollout_buffer, n_rollout_steps: as there.
        use_masking: not used: turns are masks.
    """
    self.policy.set_training_mode(False)
    rollout_buffer.reset()
    callback.on_rollout_start()
    for _ in range(n_rollout_steps):
        masks = np.stack(env.env_method("action_masks"))
        actions, values, log_probs = _decide(self, masks)
        new_obs, rewards, dones, infos = env.step(actions)
        self.num_timesteps += env.num_envs
        callback.update_locals(locals())
        if not callback.on_step():
            return False
        ended = np.flatnonzero(dones)
        self._update_info_buffer([infos[slot] for slot in ended], dones[ended])
        for slot in ended:
            if infos[slot].get("TimeLimit.truncated") and "terminal_observation" in infos[slot]:
                rewards[slot] += self.gamma * _value(self, infos[slot]["terminal_observation"])
        starts = self._last_episode_starts
        rollout_buffer.add(self._last_obs, actions, rewards, starts, values, log_probs, action_masks=masks)
        self._last_obs, self._last_episode_starts = new_obs, dones
    rollout_buffer.compute_returns_and_advantage(last_values=None, dones=dones)
    callback.on_rollout_end()
    return True


def _decide(model: Any, masks: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Actions, values and logarithms of probabilities of all slots; the latter two are 0 where there is no choice."""
    import torch

    space, seen = model.action_space, model._last_obs  # noqa: SLF001 (the algorithm's own loop reads it)
    actions = first_choices(masks, space)
    values, log_probs = np.zeros((2, len(masks)), np.float32)
    rows = np.flatnonzero(has_choice(masks, math.prod(space.shape)))
    if len(rows):
        shown = {name: part[rows] for name, part in seen.items()} if isinstance(seen, dict) else seen[rows]
        with torch.no_grad():
            chosen, value, log_prob = model.policy(model.policy.obs_to_tensor(shown)[0], action_masks=masks[rows])
        actions[rows], values[rows], log_probs[rows] = chosen.numpy(), value.numpy()[:, 0], log_prob.numpy()
    return actions, values, log_probs


def _value(model: Any, observation: Any) -> float:
    import torch

    with torch.no_grad():
        return float(model.policy.predict_values(model.policy.obs_to_tensor(observation)[0])[0])


def learning_decisions(algorithm: Any, envs: Any) -> Any:
    """The class of an algorithm as it plays rollouts of worlds with turns; the class itself where `decision_buffer` has
    nothing to say."""
    if not _has_decisions(algorithm, envs):
        return algorithm
    return type(algorithm.__name__, (algorithm,), {"collect_rollouts": collect_decisions})


def _has_decisions(algorithm: Any, envs: Any) -> bool:
    setup = envs.batch.setup
    if setup.agents == 1 or not setup.world.turns:
        return False
    from sb3_contrib import MaskablePPO

    return issubclass(algorithm, MaskablePPO)


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
    if not _has_decisions(algorithm, envs):
        return {}
    from sb3_contrib.common.maskable.buffers import MaskableDictRolloutBuffer, MaskableRolloutBuffer

    setup = envs.batch.setup
    if n_steps is not None and n_steps <= setup.agents:
        raise ParameterError(
            f"n_steps={n_steps} is too small: {setup.agents} agents take turns in {setup.world.name}; needed: at least "
            f"{setup.agents + 1}"
        )
    own = MaskableDictRolloutBuffer if hasattr(envs.observation_space, "spaces") else MaskableRolloutBuffer
    return {"rollout_buffer_class": type("DecisionBuffer", (Decisions, own), {"__doc__": Decisions.__doc__})}
