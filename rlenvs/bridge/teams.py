"""A PettingZoo parallel environment over an engine outside: who is in the game, and what everybody is told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from pettingzoo import ParallelEnv

from rlenvs.bridge.actions import checked_actions
from rlenvs.core.declare.errors import ActionError, EpisodeOverError, ParameterError, UnknownNameError, shortened
from rlenvs.core.declare.inputs import OF_TESTS, seed_of


class Team(ParallelEnv):
    """The agents of one world. An agent whose episode has ended is no longer in `agents`.

    Args:
        name: of the environment.
        agents: their names.
        observed, acted: their spaces.
    """

    def __init__(
        self, name: str, agents: Sequence[str], observed: Sequence[spaces.Space], acted: Sequence[spaces.Space]
    ) -> None:
        self.metadata = {"name": name, "render_modes": [], "is_parallelizable": True}
        self.render_mode = None
        self.possible_agents = list(agents)
        self.agents: list[str] = []
        self.observation_spaces = dict(zip(agents, observed, strict=True))
        self.action_spaces = dict(zip(agents, acted, strict=True))
        self._index = {agent: k for k, agent in enumerate(agents)}

    def _begin(self, seed: int | None) -> None:
        raise NotImplementedError

    def _advance(self, actions: dict[int, dict[str, np.ndarray]]) -> None:
        raise NotImplementedError

    def _seen(self, k: int) -> Any:
        raise NotImplementedError

    def _outcome(self, k: int) -> tuple[float, bool, bool]:
        raise NotImplementedError

    def _info(self, k: int) -> dict[str, Any]:
        raise NotImplementedError

    def observation_space(self, agent: str) -> spaces.Space:
        """The observation space of an agent."""
        return self._own(self.observation_spaces, agent)

    def action_space(self, agent: str) -> spaces.Space:
        """The action space of an agent."""
        return self._own(self.action_spaces, agent)

    def _own(self, by_agent: dict[str, spaces.Space], agent: str) -> spaces.Space:
        if not isinstance(agent, str) or agent not in by_agent:
            raise UnknownNameError(f"there is no agent {shortened(agent)}; there are {self.possible_agents}")
        return by_agent[agent]

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Start an episode with all agents.

        Raises:
            ParameterError: an option, or a seed that is none.
            BridgeError: the engine refuses, or was lost.
        """
        if set(options or {}) - {OF_TESTS}:
            raise ParameterError(f"engines outside know no options; given: {shortened(options)}")
        self._begin(seed_of(seed))
        self.agents = list(self.possible_agents)
        everyone = self._index.items()
        return {agent: self._seen(k) for agent, k in everyone}, {agent: self._info(k) for agent, k in everyone}

    def step(self, actions: dict[str, Any]) -> tuple[dict, dict, dict, dict, dict]:
        """Advance by one step, with an action for each of `agents`.

        Raises:
            ActionError: an action is missing, or none. Nothing has moved then.
            EpisodeOverError: nobody is in the game.
            BridgeError: the engine refuses, or was lost.
        """
        if not self.agents:
            raise EpisodeOverError("the episode is over, or never began; call reset() before step()")
        if not isinstance(actions, Mapping) or set(actions) - self._index.keys() or set(self.agents) - set(actions):
            raise ActionError(
                f"actions={shortened(actions)} must be a dictionary with an action for each of {self.agents}"
            )
        told = {agent: self._index[agent] for agent in self.agents}
        self._advance({k: checked_actions(self.action_spaces[agent], actions[agent]) for agent, k in told.items()})
        outcomes = {agent: self._outcome(k) for agent, k in told.items()}
        self.agents = [agent for agent, (_, ended, cut) in outcomes.items() if not (ended or cut)]
        rewards, ends, cuts = ({agent: outcome[i] for agent, outcome in outcomes.items()} for i in range(3))
        seen, infos = ({agent: tell(k) for agent, k in told.items()} for tell in (self._seen, self._info))
        return seen, rewards, ends, cuts, infos
