"""Two players: an agent, and an adversary that perturbs what it sees or does, as a PettingZoo environment."""

from __future__ import annotations

import copy
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from pettingzoo import ParallelEnv

from rlenvs.core.declare.errors import ActionError, EpisodeOverError, ParameterError
from rlenvs.wrappers.adversary_moves import Mover
from rlenvs.wrappers.forms import WrappedEnv, wrap
from rlenvs.wrappers.slot_values import slot_of

AGENT, ADVERSARY = "agent", "adversary"


class AdversarialGame(ParallelEnv):
    """The zero-sum game of an agent and an adversary: a PettingZoo parallel environment.

    "agent" plays the environment. "adversary" gives the moves, [-1, 1]^k, and is paid the opposite. Both move at once:
    an `ObservationAdversary`'s move decides on the observation that the step returns (the first one of an episode is
    perturbed by options["move"], or not at all), all others' on the step itself. The adversary observes what the agent
    would without it, flat, and then p_(t-1), of parameters the place in the cube: the game would be partially
    observable otherwise.

    Infos: the agent's are those of the environment with the wrapper; the adversary's hold `perturbation`.

    Args:
        env: a gymnasium.Env, of this package or not, with wrappers or not, with one reward.
        wrapper: the adversary; its `policy` does not count.

    Raises:
        TypeError: another form of environment, or a wrapper that is no adversary.
        ParameterError: a setting of the wrapper does not fit the environment, or rewards are vectors.
    """

    def __init__(self, env: gymnasium.Env, wrapper: Mover) -> None:
        if not isinstance(env, gymnasium.Env):
            raise TypeError(f"AdversarialGame requires a gymnasium.Env, not {type(env).__name__}")
        if not isinstance(wrapper, Mover):
            raise TypeError(
                f"AdversarialGame requires an adversary such as ObservationAdversary, not {type(wrapper).__name__}"
            )
        player = copy.deepcopy(wrapper)
        player.policy = "given"
        self.env: WrappedEnv = wrap(env, player)
        if self.env.top.reward.ndim > 1:
            raise ParameterError(f"{self.env.top.name}: a game requires one reward, not a vector")
        self.possible_agents: list[str] = [AGENT, ADVERSARY]
        self.agents: list[str] = []
        self.render_mode = env.render_mode
        self.metadata = {**env.metadata, "name": f"{self.env.top.name}, a game", "is_parallelizable": True}
        self._make_spaces()

    def _make_spaces(self) -> None:
        wrapper = self.wrapper
        seen, size = spaces.flatten_space(wrapper.below.observation_spaces[0]), len(wrapper.radius)
        assert isinstance(seen, spaces.Box)
        low = np.concatenate([seen.low, -wrapper.radius.astype(np.float32)])
        high = np.concatenate([seen.high, wrapper.radius.astype(np.float32)])
        self.observation_spaces = {
            AGENT: self.env.observation_space,
            ADVERSARY: spaces.Box(low, high, dtype=np.float32),
        }
        self.action_spaces = {AGENT: self.env.action_space, ADVERSARY: spaces.Box(-1.0, 1.0, (size,), np.float32)}

    @property
    def wrapper(self) -> Mover:
        """The adversary's wrapper."""
        return self.env.wrappers[-1]  # type: ignore[return-value]

    def observation_space(self, agent: str) -> spaces.Space:
        """The observation space of an agent, the same object on every call."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space:
        """The action space of an agent, the same object on every call."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[dict, dict]:
        """Start an episode. options: those of the environment, and "move", the adversary's first move."""
        options = dict(options or {})
        self._move(options.pop("move", np.zeros(len(self.wrapper.radius))))
        seen, info = self.env.reset(seed=seed, options=options or None)
        self.agents = [AGENT, ADVERSARY]
        return self._observations(seen), self._infos(info)

    def _move(self, move: Any) -> None:
        array, size = np.asarray(move), len(self.wrapper.radius)
        if array.shape != (size,) or array.dtype.kind not in "fiu" or not np.isfinite(array).all():
            raise ActionError(f"{self.metadata['name']}: the adversary's move {move!r} must be {size} finite numbers")
        self.wrapper.move[0] = np.clip(array, -1.0, 1.0)

    def step(self, actions: dict[str, Any]) -> tuple[dict, dict, dict, dict, dict]:
        """Advance by one step, with the agent's action and the adversary's move.

        Raises:
            ActionError: one is missing, or has the wrong shape or type, or is not finite.
            EpisodeOverError: the episode is over.
        """
        if not self.agents:
            raise EpisodeOverError(f"{self.metadata['name']}: the episode is over, or never began; call reset()")
        if {*actions} != {AGENT, ADVERSARY}:
            raise ActionError(
                f"{self.metadata['name']}: actions of {sorted(actions)} were given; needed: both players'"
            )
        self._move(actions[ADVERSARY])
        seen, reward, terminated, truncated, info = self.env.step(actions[AGENT])
        self.agents = [] if terminated or truncated else self.agents
        rewards = {AGENT: float(reward), ADVERSARY: -float(reward)}
        ends, cuts = dict.fromkeys(rewards, terminated), dict.fromkeys(rewards, truncated)
        return self._observations(seen), rewards, ends, cuts, self._infos(info)

    def _observations(self, seen: Any) -> dict[str, Any]:
        below = self.wrapper.below
        truth = spaces.flatten(below.observation_spaces[0], slot_of(below.observation, 0, below.observation_spaces[0]))
        noticed = np.concatenate([truth, self.wrapper.perturbation[0]]).astype(np.float32)
        return {AGENT: seen, ADVERSARY: noticed}

    def _infos(self, info: dict[str, Any]) -> dict[str, dict[str, Any]]:
        return {AGENT: info, ADVERSARY: {"perturbation": self.wrapper.perturbation[0].copy()}}

    def get_state(self) -> tuple[list[str], Any]:
        """A snapshot of the environment, its wrappers and the game."""
        return list(self.agents), self.env.get_state()

    def set_state(self, state: tuple[list[str], Any]) -> dict[str, Any]:
        """Go back to a snapshot; returns the observations."""
        self.agents = list(state[0])
        return self._observations(self.env.set_state(state[1]))

    def render(self) -> Any:
        """The environment's image."""
        return self.env.render()

    def close(self) -> None:
        """Close the environment."""
        self.env.close()
