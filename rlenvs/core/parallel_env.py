"""pettingzoo.ParallelEnv: a batch of one world, seen by all its agents. AECEnv by PettingZoo's own conversion."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.utils.seeding import np_random as make_generator
from gymnasium.vector import AutoresetMode
from pettingzoo import AECEnv
from pettingzoo import ParallelEnv as PettingZooParallelEnv
from pettingzoo.utils.conversions import parallel_to_aec

from rlenvs.core.batch import Snapshot
from rlenvs.core.engines import new_batch
from rlenvs.core.errors import ActionError, EpisodeOverError, UnknownNameError, shortened
from rlenvs.core.info import InfoKeys
from rlenvs.core.inputs import actions_of, params_of, seed_of, truth
from rlenvs.core.render import Renderer, check_mode, render_modes
from rlenvs.core.spec import World, load_world


class ParallelEnv(PettingZooParallelEnv):
    """One multi-agent world behind PettingZoo's parallel API.

    Agents are called "agent_0", "agent_1", ..., or as the world's roles say. Observations of a world with action masks
    are dictionaries {"observation", "action_mask"}; otherwise they are plain arrays.

    Args:
        world: the world, or its address "module:name".
        render_mode: None, "human", "rgb_array" or, where a world has one, "ansi".
        vector_reward: rewards are vectors of the reward terms (float32).
        backend: "numba", or "python" to debug kernels.
        choices: parameters, options, level, horizon, weights, randomize.

    Raises:
        UnknownKeywordError, UnknownNameError, ParameterError: a keyword, level or value that the world does not have.
    """

    def __init__(
        self,
        world: World | str,
        *,
        render_mode: str | None = None,
        render_text: bool = True,
        vector_reward: bool = False,
        backend: str = "numba",
        **choices: Any,
    ) -> None:
        vector_reward = truth("vector_reward", vector_reward)
        world = load_world(world) if isinstance(world, str) else world
        check_mode(world, render_mode)
        self.batch = new_batch(world, autoreset=AutoresetMode.DISABLED, backend=backend, **choices)
        self.metadata = {
            "name": world.name.replace("-", "_"),
            "render_modes": render_modes(world),
            "render_fps": round(self.batch.setup.fps),
            "is_parallelizable": True,
        }
        self.render_mode = render_mode
        self.possible_agents = [role.name for role in self.batch.setup.roles]
        self.agents: list[str] = []
        self._index = {agent: k for k, agent in enumerate(self.possible_agents)}
        self._vector_reward = vector_reward
        self._keys = InfoKeys(self.batch)
        self._make_spaces()
        self._generator: np.random.Generator | None = None
        self._renderer = Renderer(render_mode, self.batch, render_text)

    def _make_spaces(self) -> None:
        self.observation_spaces: dict[str, spaces.Space] = {}
        self.action_spaces: dict[str, spaces.Space] = {}
        self.state_space = self.batch.setup.central_space
        for agent, k in self._index.items():
            observed, action = self.batch.setup.agent_spaces(k)
            if self._keys.has_mask:
                mask = spaces.Box(0, 1, (self.batch.setup.roles[k].action,), np.int8)
                observed = spaces.Dict({"observation": observed, "action_mask": mask})
            self.observation_spaces[agent], self.action_spaces[agent] = observed, action

    def observation_space(self, agent: str) -> spaces.Space:
        """The observation space of an agent, the same object on every call."""
        return self._own(self.observation_spaces, agent)

    def action_space(self, agent: str) -> spaces.Space:
        """The action space of an agent, the same object on every call."""
        return self._own(self.action_spaces, agent)

    def _own(self, spaces_by_agent: dict[str, spaces.Space], agent: str) -> spaces.Space:
        try:
            return spaces_by_agent[agent]
        except (KeyError, TypeError):
            raise UnknownNameError(
                f"{self.batch.world.name}: there is no agent {shortened(agent)}; there are {self.possible_agents}"
            ) from None

    def reward_space(self, agent: str) -> spaces.Box:
        """The space of the reward vector of an agent."""
        return self.batch.setup.reward_space

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Start an episode with all agents. Arguments as for the single-agent form."""
        batch = self.batch
        seed = seed_of(seed)
        params, others = params_of(options, *(options if isinstance(options, Mapping) else ()))
        batch.set_params(params)
        if others:  # PettingZoo's own tests pass options that no environment knows
            warnings.warn(f"{batch.world.name}: reset ignores the options {sorted(others)}", stacklevel=2)
        if seed is not None or self._generator is None:
            self._generator = make_generator(seed)[0]
            batch.seed_from(self._generator, 0)
        batch.reset()
        self.agents = list(self.possible_agents)
        if self.render_mode == "human":
            self._renderer.picture(0)
        return self._observations(self.agents), self._infos(self.agents)

    def step(self, actions: dict[str, Any]) -> tuple[dict, dict, dict, dict, dict]:
        """Advance by one step, with an action for every living agent.

        Raises:
            ActionError: an action is missing, or has the wrong shape or type, NaN, or is not a choice.
            EpisodeOverError: no agent is alive.
        """
        batch = self.batch
        if not self.agents:
            raise EpisodeOverError(
                f"{batch.world.name}: the episode is over, or never began; call reset() before step()"
            )
        self._load(actions)
        batch.step_loaded()
        acted = self.agents
        terminated, truncated = batch.terminated[0].tolist(), batch.truncated[0].tolist()
        rewards = self._rewards(acted)
        ends = {agent: terminated[self._index[agent]] for agent in acted}
        cuts = {agent: truncated[self._index[agent]] for agent in acted}
        self.agents = [agent for agent in acted if not (ends[agent] or cuts[agent])]
        if self.render_mode == "human":
            self._renderer.picture(0)
        return self._observations(acted), rewards, ends, cuts, self._infos(acted)

    def _load(self, actions: dict[str, Any]) -> None:
        batch, continuous = self.batch, self.batch.setup.continuous
        roles, name, kind = batch.setup.roles, batch.world.name, "real numbers" if continuous else "an integer"
        if not isinstance(actions, Mapping):
            raise ActionError(f"{name}: actions={shortened(actions)} must be a dictionary with an action by agent")
        if not self._index.keys() >= actions.keys():
            unknown = sorted(map(str, actions.keys() - self._index.keys()))
            raise ActionError(f"{name}: there are no agents {unknown}; there are {self.possible_agents}")
        for agent in self.agents:
            if agent not in actions:
                raise ActionError(f"{name}: no action was given for {agent}")
            value, k = actions_of(f"{name}, {agent}", actions[agent]), self._index[agent]
            shape = (roles[k].action,) if continuous else ()
            if value.shape != shape or value.dtype.kind not in ("fiu" if continuous else "iu"):
                raise ActionError(
                    f"{name}, {agent}: an action of shape {value.shape} and type {value.dtype} was given "
                    f"({shortened(actions[agent])}); needed: {kind} of shape {shape}"
                )
            batch.actions[0, k, : roles[k].action] = value

    def _rewards(self, agents: list[str]) -> dict[str, Any]:
        if self._vector_reward:
            vectors = self.batch.terms[0, : self._keys.rewards].astype(np.float32)
            return {agent: vectors[:, self._index[agent]].copy() for agent in agents}
        rewards = self.batch.rewards[0].tolist()
        return {agent: rewards[self._index[agent]] for agent in agents}

    def _observations(self, agents: list[str]) -> dict[str, Any]:
        batch = self.batch
        if batch.setup.vector_parts:
            found = {agent: batch.observed((0, self._index[agent])) for agent in agents}
        else:
            rows = batch.observations[0].copy()
            found = {agent: rows[self._index[agent]] for agent in agents}
            if batch.world.roles:
                roles = batch.setup.roles
                found = {agent: row[: roles[self._index[agent]].observation] for agent, row in found.items()}
        if not self._keys.has_mask:
            return found
        masks, roles = batch.masks[0].copy(), batch.setup.roles
        own = {agent: masks[k, : roles[k].action] for agent, k in self._index.items()}
        return {agent: {"observation": found[agent], "action_mask": own[agent]} for agent in agents}

    def _infos(self, agents: list[str]) -> dict[str, Any]:
        infos = self._keys.agents(self.batch, 0)
        return {agent: infos[self._index[agent]] for agent in agents}

    def state(self) -> np.ndarray:
        """What a central critic may see: the world's central state, or the observations of all agents, stacked, without
        pictures."""
        return self.batch.central()[0]

    def expert_actions(self) -> dict[str, Any]:
        """What the scripted expert would do now, for every living agent."""
        return self._actions(self.batch.advise()[0])

    def player_actions(self, player: str) -> dict[str, Any]:
        """What one of the world's scripted players would do now in the place of every living agent.

        Raises:
            UnknownNameError: the world has no player of this name.
        """
        return self._actions(self.batch.play(player)[0])

    def _actions(self, rows: np.ndarray) -> dict[str, Any]:
        if self.batch.setup.continuous:
            roles = self.batch.setup.roles
            return {
                agent: rows[k, : roles[k].action].astype(np.float32)
                for agent, k in self._index.items()
                if agent in self.agents
            }
        return {agent: int(rows[self._index[agent], 0]) for agent in self.agents}

    def render(self) -> Any:
        """The picture: an array (height, width, 3) uint8, a text, or None for a window, as `render_mode` says."""
        return self._renderer.picture(0)

    def close(self) -> None:
        """Close the window and the physics engine, if any. May be called twice."""
        self._renderer.close()
        self.batch.close()

    def get_state(self) -> Snapshot:
        """A picklable copy of the world, exact to the bit, generator and time limit included."""
        return self.batch.get_state()

    def set_state(self, snapshot: Snapshot) -> dict[str, Any]:
        """Go back to a snapshot; returns the observations of the agents alive in it."""
        self.batch.set_state(snapshot)
        state = self.batch.records(0)[1]
        self.agents = [agent for agent, k in self._index.items() if state["alive"][k] and not state["over"]]
        return self._observations(self.agents)


def parallel_env(**keywords: Any) -> ParallelEnv:
    """The parallel form; PettingZoo's name for its factory."""
    return ParallelEnv(**keywords)


def aec_env(**keywords: Any) -> AECEnv:
    """The agent-environment-cycle form, by PettingZoo's conversion."""
    return parallel_to_aec(ParallelEnv(**keywords))
