"""pettingzoo.AECEnv: by PettingZoo's conversion; where agents move in turns, only the one that moves is asked."""

from __future__ import annotations

from typing import Any

import numpy as np
from pettingzoo import AECEnv
from pettingzoo.utils.conversions import parallel_to_aec

from rlenvs.core.batch.snapshots import Snapshot
from rlenvs.core.declare.errors import EpisodeOverError
from rlenvs.core.declare.spec import load_world
from rlenvs.core.forms.parallel_env import ParallelEnv


class TurnEnv(AECEnv):
    """One world with turns behind PettingZoo's AEC API.

    `agent_selection` is the agent whose turn it is, as the world's state says; a step is its move, and the agents that
    wait make their only choice, 0, by themselves. When the episode is over, each agent gets its last reward and takes
    its leave with the action None.

    Args:
        keywords: as for `ParallelEnv`, which it is in `parallel`.

    Raises:
        What `ParallelEnv` raises.
    """

    metadata = {**ParallelEnv.metadata, "is_parallelizable": False}

    def __init__(self, **keywords: Any) -> None:
        super().__init__()
        self.parallel = ParallelEnv(**keywords)
        self.batch = self.parallel.batch
        self.metadata = {**self.parallel.metadata, "is_parallelizable": False}
        self.render_mode = self.parallel.render_mode
        self.possible_agents = self.parallel.possible_agents
        self.observation_spaces = self.parallel.observation_spaces
        self.action_spaces = self.parallel.action_spaces
        self.agents: list[str] = []
        self._observations: dict[str, Any] = {}

    def observation_space(self, agent: str) -> Any:
        """The observation space of an agent, the same object on every call."""
        return self.parallel.observation_space(agent)

    def action_space(self, agent: str) -> Any:
        """The action space of an agent, the same object on every call."""
        return self.parallel.action_space(agent)

    def reward_space(self, agent: str) -> Any:
        """The space of the reward vector of an agent."""
        return self.parallel.reward_space(agent)

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Start an episode. Arguments as for the parallel form."""
        self._observations, infos = self.parallel.reset(seed, options)
        self._begin(infos)

    def _begin(self, infos: dict[str, Any]) -> None:
        """All agents are in the game, and have got nothing yet."""
        self.agents, self.infos = list(self.parallel.agents), infos
        self.terminations, self.truncations = dict.fromkeys(self.agents, False), dict.fromkeys(self.agents, False)
        self.rewards = dict.fromkeys(self.agents, self._nothing())
        self._cumulative_rewards = {agent: self._nothing() for agent in self.agents}
        self._skip_agent_selection = None
        self._select(self.agents[-1] if self.agents else "")

    def _nothing(self) -> Any:
        """No reward, in the form of rewards."""
        space = self.batch.setup.reward_space
        return np.zeros(space.shape, space.dtype) if self.parallel.vector_reward else 0.0

    def _select(self, last: str) -> None:
        """Ask the agent whose turn it is; where nobody is to move any more, the one that comes after the last."""
        turn, order = int(self.batch.records(0)[1]["turn"]), self.possible_agents
        if turn >= 0 and not self.batch.over[0]:
            self.agent_selection = order[turn]
            self._deads_step_first()
        elif last in order:
            after = order.index(last) + 1
            self.agent_selection = next(agent for agent in order[after:] + order[:after] if agent in self.agents)

    def observe(self, agent: str) -> Any:
        """What an agent sees now."""
        return self._observations[agent]

    def step(self, action: Any) -> None:
        """The move of `agent_selection`; None from an agent whose episode has ended.

        Raises:
            ActionError: as the parallel form raises it; nothing has moved then.
            EpisodeOverError: no agent is left, or there was no reset.
        """
        if not self.agents:
            raise EpisodeOverError(f"{self.batch.world.name}: the episode is over; call reset() before step()")
        mover = self.agent_selection
        if self.terminations[mover] or self.truncations[mover]:
            self._was_dead_step(action)
            return
        actions = {agent: self.parallel.idle_action(agent) for agent in self.parallel.agents}
        seen, rewards, ends, cuts, infos = self.parallel.step({**actions, mover: action})
        self._cumulative_rewards[mover] = self._nothing()
        self._observations = {**self._observations, **seen}
        self.rewards, self.terminations, self.truncations, self.infos = rewards, ends, cuts, infos
        for agent, reward in rewards.items():
            self._cumulative_rewards[agent] = self._cumulative_rewards[agent] + reward
        self._select(mover)

    def render(self) -> Any:
        """The image, as `render_mode` says."""
        return self.parallel.render()

    @property
    def state_space(self) -> Any:
        """The space of `state`."""
        return self.parallel.state_space

    def state(self) -> Any:
        """What a central critic may see."""
        return self.parallel.state()

    def close(self) -> None:
        """Close the window, if any. Can be called twice."""
        self.parallel.close()

    def get_state(self) -> Snapshot:
        """A picklable copy of the world, exact to the bit."""
        return self.parallel.get_state()

    def set_state(self, snapshot: Snapshot) -> None:
        """Go back to a snapshot; nobody has got a reward yet."""
        self.parallel.set_state(snapshot)
        self._observations, infos = self.parallel.sync_from_state()
        self._begin({agent: infos[agent] for agent in self.parallel.agents})


def aec_env(**keywords: Any) -> AECEnv:
    """The agent-environment-cycle form: by PettingZoo's conversion, or where agents take turns, of these alone."""
    if load_world(keywords["world"]).turns:
        return TurnEnv(**keywords)
    return parallel_to_aec(ParallelEnv(**keywords))
