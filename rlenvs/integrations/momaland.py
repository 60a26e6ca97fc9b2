"""MOMAland's wrappers under their names, for multi-agent environments of this package with vector rewards.

    env = LinearizeReward(rlenvs.parallel_env("mo-ParticleSpread-v0"), {"agent_0": [1.0, 0.0], ...})

The first three take the parallel and the AEC form; they are wrappers of `rlenvs.wrappers` with other settings.
`CentraliseAgent` makes one Gymnasium environment of a parallel one. Nothing of MOMAland is needed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from rlenvs.core.declare.errors import ActionError, EpisodeOverError, ParameterError
from rlenvs.integrations.mo_gymnasium import PRIOR, PublishedLinear
from rlenvs.wrappers.forms import wrap
from rlenvs.wrappers.normalization import NormalizeRewards
from rlenvs.wrappers.statistics import EpisodeStatistics

__all__ = ["CentraliseAgent", "LinearizeReward", "NormalizeReward", "RecordEpisodeStatistics"]

MOST_CHOICES = 100_000  # of all agents together, as one


def LinearizeReward(env: Any, weights: Mapping[str, Sequence[float] | np.ndarray]) -> Any:  # noqa: N802
    """Linear scalarization: an agent's reward is the weighted sum of its vector.

    Args:
        env: in the parallel or the AEC form.
        weights: by agent, one per objective.
    """
    if not isinstance(weights, Mapping):
        raise ParameterError(f"weights={weights!r} must be a dictionary with the weights of each agent")
    return wrap(env, PublishedLinear({agent: np.asarray(own).tolist() for agent, own in weights.items()}))


def NormalizeReward(env: Any, agent: str, idx: int, gamma: float = 0.99, epsilon: float = 1e-8) -> Any:  # noqa: N802
    """Normalize one objective of one agent by the standard deviation of its discounted returns.

    Args:
        env: in the parallel or the AEC form.
        agent: whose.
        idx: number of the objective, or its name.
        gamma: discount of the returns.
        epsilon: added to the variance.
    """
    settings: Any = {"shared": False, "only": {agent: [idx]}, "prior": PRIOR, "carry": True}
    return wrap(env, NormalizeRewards(gamma, epsilon, **settings))


def RecordEpisodeStatistics(env: Any, buffer_length: int = 100, stats_key: str = "episode") -> Any:  # noqa: N802
    """Record the sum of an agent's reward vectors, with length and duration, in the info of the last step of its
    episode.

    Args:
        env: in the parallel or the AEC form.
        buffer_length: how many returns and lengths are kept in `return_queue` and `length_queue` of the wrapper.
        stats_key: of info.
    """
    return wrap(env, EpisodeStatistics(1.0, buffer_length, stats_key, at_end=True, clock=True))


class CentraliseAgent(gymnasium.Env):
    """Treat a team as one agent that observes and acts for all.

    Args:
        env: a parallel environment; of numbers that are arrays of one type.
        action_mapping: whether choices of all agents together are one `Discrete` choice, the last agent's running
            fastest; otherwise `MultiDiscrete`. Actions that are numbers are one vector.
        reward_type: "sum" or "average" of the agents' rewards, vectors or numbers.

    The observation is that of all agents, one after the other; an agent that has left shows zeros, and is paid nothing.
    An episode has ended when no agent is left: terminated if the last ones were, otherwise truncated. Info has the
    agents' own under "agents".

    Raises:
        ParameterError: another reward_type, no parallel environment, spaces that do not fit together.
    """

    def __init__(self, env: Any, action_mapping: bool = False, reward_type: str = "sum") -> None:
        if not hasattr(env, "possible_agents") or hasattr(env, "agent_iter"):
            raise ParameterError(f"{type(env).__name__} is not a parallel environment")
        if reward_type not in ("sum", "average"):
            raise ParameterError(f'reward_type={reward_type!r} is neither "sum" nor "average"')
        self.env, self.reward_type = env, reward_type
        self.metadata, self.render_mode = dict(env.metadata), getattr(env, "render_mode", None)
        self.possible_agents: list[str] = list(env.possible_agents)
        self.parts = [env.observation_space(agent) for agent in self.possible_agents]
        self.choices = [env.action_space(agent) for agent in self.possible_agents]
        self.observation_space = self._all_observations()
        self.action_mapping = bool(action_mapping)
        self.action_space = self._all_actions()
        space_of = getattr(env, "reward_space", None)
        vectors = getattr(
            env.unwrapped, "vector_reward", True
        )  # other packages' environments have the space for them alone
        own = space_of(self.possible_agents[0]) if callable(space_of) and vectors else None
        if own is not None:
            times = len(self.possible_agents) if reward_type == "sum" else 1
            low, high = np.minimum(times * own.low, 0.0), np.maximum(times * own.high, 0.0)
            self.reward_space = spaces.Box(low.astype(np.float32), high.astype(np.float32))
        self.objectives = None if own is None else own.shape

    def _all_observations(self) -> spaces.Box:
        if not all(isinstance(part, spaces.Box) for part in self.parts):
            raise ParameterError(
                f"CentraliseAgent requires observations that are arrays, not {self.parts[0]} "
                "(masks='info' takes masks out)"
            )
        low = np.concatenate([np.minimum(part.low, 0).ravel() for part in self.parts])  # zeros of who has left
        high = np.concatenate([np.maximum(part.high, 0).ravel() for part in self.parts])
        return spaces.Box(low, high, dtype=self.parts[0].dtype)

    def _all_actions(self) -> spaces.Space:
        if all(isinstance(space, spaces.Discrete) for space in self.choices):
            counts = [int(space.n) for space in self.choices]
            if not self.action_mapping:
                return spaces.MultiDiscrete(counts)
            if np.prod(counts, dtype=float) > MOST_CHOICES:
                raise ParameterError(f"action_mapping: {counts} choices have more than {MOST_CHOICES} combinations")
            return spaces.Discrete(int(np.prod(counts)))
        if self.action_mapping:
            raise ParameterError(f"action_mapping is for single choices, not {self.choices[0]}")
        if all(isinstance(space, spaces.Box) for space in self.choices):
            ends = (np.concatenate([getattr(space, end).ravel() for space in self.choices]) for end in ("low", "high"))
            low, high = ends
            return spaces.Box(low, high, dtype=self.choices[0].dtype)
        raise ParameterError(f"CentraliseAgent takes single choices or vectors as actions, not {self.choices}")

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[np.ndarray, dict]:
        """Begin an episode."""
        super().reset(seed=seed)
        seen, infos = self.env.reset(seed=seed, options=options)
        return self._joined(seen), {"agents": infos}

    def step(self, action: Any) -> tuple[np.ndarray, Any, bool, bool, dict[str, Any]]:
        """Advance the team by one step.

        Raises:
            ActionError: not an action of the space. EpisodeOverError: no agent is left.
        """
        if not self.env.agents:
            raise EpisodeOverError("the episode is over, or never began; call reset() before step()")
        own = self._split(action)
        acting = list(self.env.agents)
        seen, rewards, ends, _, infos = self.env.step({agent: own[agent] for agent in acting})
        paid = np.sum([np.asarray(rewards[agent], np.float64) for agent in acting], axis=0)
        if self.reward_type == "average":
            paid = paid / len(self.possible_agents)
        over = not self.env.agents
        terminated = over and all(ends[agent] for agent in acting)
        reward = float(paid) if self.objectives is None else paid.astype(np.float32)
        return self._joined(seen), reward, terminated, over and not terminated, {"agents": infos}

    def _joined(self, seen: Mapping[str, np.ndarray]) -> np.ndarray:
        rows = [
            np.ravel(seen[agent]) if agent in seen else np.zeros(int(np.prod(part.shape)), part.dtype)
            for agent, part in zip(self.possible_agents, self.parts, strict=True)
        ]
        return np.concatenate(rows).astype(self.observation_space.dtype)

    def _split(self, action: Any) -> dict[str, Any]:
        """The agents' own actions."""
        space, array = self.action_space, np.asarray(action)
        if isinstance(space, spaces.Box):
            if array.shape != space.shape or array.dtype.kind not in "fiu" or np.isnan(array).any():
                raise ActionError(f"the action {action!r} is not {space.shape[0]} numbers")
            ends = np.cumsum([int(np.prod(own.shape)) for own in self.choices])[:-1]
            parts = [
                part.reshape(own.shape).astype(own.dtype)
                for part, own in zip(np.split(array, ends), self.choices, strict=True)
            ]
            return dict(zip(self.possible_agents, parts, strict=True))
        if array.dtype.kind not in "iu" or not space.contains(array.astype(np.int64)[()]):
            raise ActionError(f"the action {action!r} is not one of {space}")
        counts = [int(own.n) for own in self.choices]
        numbers = np.unravel_index(int(array), counts) if self.action_mapping else array
        pairs = zip(self.possible_agents, self.choices, numbers, strict=True)
        return {agent: int(number) + int(own.start) for agent, own, number in pairs}

    def render(self) -> Any:
        """The team's image."""
        return self.env.render()

    def close(self) -> None:
        """Close the team's environment."""
        self.env.close()
