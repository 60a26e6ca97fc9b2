"""pettingzoo.ParallelEnv: a batch of one world, for all its agents."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import compress
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.utils.seeding import np_random as make_generator
from gymnasium.vector import AutoresetMode
from pettingzoo import ParallelEnv as PettingZooParallelEnv

from rlenvs.core.batch.engines import new_batch
from rlenvs.core.batch.links import MARK, link_text
from rlenvs.core.batch.parameters import for_once
from rlenvs.core.batch.snapshots import Snapshot
from rlenvs.core.declare.errors import ActionError, EpisodeOverError, UnknownNameError, shortened
from rlenvs.core.declare.inputs import actions_of, one_of, params_of, seed_of, switches_of, truth
from rlenvs.core.declare.renamed import renamed
from rlenvs.core.declare.spec import World, load_world
from rlenvs.core.forms.attributes import Assigns, attribute_of
from rlenvs.core.forms.gym_env import refuse_closed
from rlenvs.core.forms.illegal_actions import action_checker_of
from rlenvs.core.forms.info import InfoKeys, TeamOutcome
from rlenvs.core.forms.render import RENDER_MODES, Renderer, check_mode


@renamed
class ParallelEnv(Assigns, PettingZooParallelEnv):
    """One multi-agent world behind PettingZoo's parallel API.

    Agents are called "agent_0", "agent_1", ..., or as the world's roles say. Observations of a world with action masks
    are dictionaries {"observation", "action_mask"} by default; otherwise they are plain arrays.

    With finished="keep" all agents act and are reported until the whole team's episode ends, for learners that require
    a constant team. An agent whose own episode has ended observes zeros, is paid 0, may choose 0 alone, and what it
    chooses does nothing; info["alive"] says who lives. Only in the last step of all is anybody done: truncated those
    whom the time limit cut off, terminated the others.

    Args:
        world: the world, or its address "module:name".
        render_mode: None, "human", "rgb_array" or "ansi".
        vector_reward: rewards are vectors of the reward terms (float32).
        masks: where the action masks of a world that has them are: "observation" (and info), "info" alone, or False for
            nowhere.
        finished: "remove" takes agents whose episode has ended out of the team, as PettingZoo says; "keep" leaves them
            in.
        pad: agents that differ in what they see and choose get equal spaces, those of the largest: zeros follow on
            shorter observations, and choices that an agent does not have are its choice 0.
        illegal: what becomes of a choice that the action mask forbids: "count" plays it as the world says and adds one
            to info["illegal_actions"], the agent's number in this episode; "error" refuses the step.
        backend: "numba", or "python" to debug kernels.
        choices: parameters, options, level, horizon, weights, randomize, encoding, flat_actions.

    Raises:
        UnknownKeywordError, UnknownNameError, ParameterError: a keyword, level or value that the world does not have.
    """

    metadata = {"render_modes": RENDER_MODES, "render_fps": 30, "is_parallelizable": True}

    def __init__(
        self,
        world: World | str,
        *,
        render_mode: str | None = None,
        render_text: bool = True,
        vector_reward: bool = False,
        masks: str | bool = "observation",
        finished: str = "remove",
        pad: bool = False,
        illegal: str = "count",
        backend: str = "numba",
        **choices: Any,
    ) -> None:
        vector_reward, self._padded = truth("vector_reward", vector_reward), truth("pad", pad)
        self._masks_in = one_of("masks", masks, ("observation", "info", False))
        self._keeps_finished = one_of("finished", finished, ("remove", "keep")) == "keep"
        world = load_world(world) if isinstance(world, str) else world
        check_mode(world, render_mode)
        self.batch = new_batch(world, autoreset=AutoresetMode.DISABLED, backend=backend, **choices)
        self.metadata = {
            "name": world.name.replace("-", "_"),
            "render_modes": list(RENDER_MODES),
            "render_fps": round(self.batch.setup.fps),
            "is_parallelizable": True,
        }
        self.render_mode = render_mode
        self.possible_agents = [role.name for role in self.batch.setup.roles]
        self.agents: list[str] = []
        self._living: list[str] = []
        self._index = {agent: k for k, agent in enumerate(self.possible_agents)}
        self.vector_reward = vector_reward
        self._keys = InfoKeys(self.batch)
        self._action_checker = action_checker_of(self.batch, illegal, self.batch.agents)
        setup = self.batch.setup
        whole = (setup.scaling.shape[1], setup.action_size)
        self._sizes = [whole if self._padded else (role.observation, role.action) for role in setup.roles]
        widest = max(setup.mask_lengths)
        self._mask_lengths = [widest if self._padded else length for length in setup.mask_lengths]
        self._make_spaces()
        self._generator: np.random.Generator | None = None
        self._closed = False
        self._renderer = Renderer(render_mode, self.batch, render_text)

    def _make_spaces(self) -> None:
        self.observation_spaces: dict[str, spaces.Space] = {}
        self.action_spaces: dict[str, spaces.Space] = {}
        self.state_space = self.batch.setup.central_space
        for agent, k in self._index.items():
            observed, action = self.batch.setup.agent_spaces(None if self._padded else k)
            if self._in_observation:
                mask = spaces.Box(0, 1, (self._mask_lengths[k],), np.int8)
                observed = spaces.Dict({"observation": observed, "action_mask": mask})
            self.observation_spaces[agent], self.action_spaces[agent] = observed, action

    @property
    def _in_observation(self) -> bool:
        return self._keys.has_mask and self._masks_in == "observation"

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
        """Start an episode with all agents. Arguments as for the single-agent environment."""
        batch = self.batch
        seed = seed_of(seed)
        params, once, _ = params_of(options, batch.world.drop_in.starts)
        batch.set_params(params)
        with for_once(batch, once):
            if seed is not None or self._generator is None:
                self._generator = make_generator(seed)[0]
                batch.seed_from(self._generator, 0)
            batch.reset()
        self.agents, self._living = list(self.possible_agents), list(self.possible_agents)
        if self.render_mode == "human":
            self._renderer.image(0)
        return self._observations(self.agents), self._infos(self.agents)

    def step(self, actions: dict[str, Any]) -> tuple[dict, dict, dict, dict, dict]:
        """Advance by one step, with an action for every living agent. After the end, a call without actions returns
        empty dictionaries.

        Raises:
            ActionError: an action is missing, or has the wrong shape or type, NaN, or is not a choice; with
                illegal="error" one that the action mask forbids. Nothing has moved then.
            EpisodeOverError: no agent is alive, or the environment is closed.
        """
        batch = self.batch
        if self._closed:
            refuse_closed(batch.world.name)
        if not self.agents:
            if self._generator is not None and isinstance(actions, Mapping) and not actions:
                return {}, {}, {}, {}, {}
            raise EpisodeOverError(
                f"{batch.world.name}: the episode is over, or never began; call reset() before step()"
            )
        self._load(actions)
        if self._action_checker is None:
            batch.step_inplace()
        else:
            self._action_checker.step()
        told, acted = self.agents, self._living
        self._count_living()
        if self.render_mode == "human":
            self._renderer.image(0)
        return self._observations(told, acted), *self._outcome(told, acted)

    def sync_from_state(self) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        """Recompute everything after the state was written from outside (`batch.states`); returns observations and
        infos of all possible agents, as from a reset."""
        self.batch.sync_from_state(np.zeros(1, np.int64))
        self._count_living()
        return self._observations(self.possible_agents), self._infos(self.possible_agents)

    def current(self) -> tuple[dict, dict, dict, dict, dict]:
        """The current observations, rewards, flags and infos of all possible agents."""
        everyone = self.possible_agents
        rewards, ends, cuts, _ = self._outcome(everyone, self._living)
        return self._observations(everyone), rewards, ends, cuts, self._infos(everyone)

    def _count_living(self) -> None:
        """See who lives, and so who acts next."""
        batch, own = self.batch, self.__dict__  # for speed: neither is an attribute of the world
        living = [] if batch.over.item(0) else list(compress(self.possible_agents, batch.first.alive.tolist()))
        own["_living"] = living
        own["agents"] = list(self.possible_agents if self._keeps_finished and living else living)

    def _outcome(self, agents: list[str], living: list[str]) -> TeamOutcome:
        """Rewards, who is terminated, who truncated, and infos of the last step. living: those who lived until then."""
        batch = self.batch
        told: Any = (batch.first.read_team or self._make_team_reader())()
        if len(agents) < len(self.possible_agents):
            told = tuple({agent: of[agent] for agent in agents} for of in told)
        rewards, ends, cuts, infos = told
        if self._keeps_finished and not batch.over[0]:
            ends, cuts = dict.fromkeys(agents, False), dict.fromkeys(agents, False)
        elif len(living) < len(agents):
            ends.update({agent: True for agent in agents if agent not in living})
        if self._masks_in != "observation" or self._keeps_finished or self._padded:
            self._fit(infos, living)
        return rewards, ends, cuts, infos

    def _make_team_reader(self) -> Callable[[], TeamOutcome]:
        """What gives rewards, flags and infos of the last step."""
        read = self._keys.team_reader(self.batch, self.possible_agents, self.vector_reward)
        self.batch.first.read_team = read
        return read

    def _load(self, actions: dict[str, Any]) -> None:
        batch, setup, name = self.batch, self.batch.setup, self.batch.world.name
        single, roles = setup.single_choice, setup.roles
        row: Any = batch.loader.row.data  # which takes an integer sooner
        if type(actions) is not dict and not isinstance(actions, Mapping):
            raise ActionError(
                f"{name}: actions={shortened(actions)} must be a dictionary with an action for each agent"
            )
        if not self._index.keys() >= actions.keys():
            unknown = sorted(map(str, actions.keys() - self._index.keys()))
            raise ActionError(f"{name}: there are no agents {unknown}; there are {self.possible_agents}")
        for agent in self._living:
            if agent not in actions:
                raise ActionError(f"{name}: no action was given for {agent}")
            given, k = actions[agent], self._index[agent]
            if type(given) is np.int64 and single and not self._padded:  # as spaces sample them
                row[k] = given
                continue
            value = actions_of(f"{name}, {agent}", given)
            value = switches_of(value) if setup.binary else value
            shape = () if single else self._sizes[k][1:]
            if value.shape != shape or value.dtype.kind not in ("fiu" if setup.continuous else "iu"):
                kind = "real numbers" if setup.continuous else "an integer" if single else "integers"
                raise ActionError(
                    f"{name}, {agent}: an action of shape {value.shape} and type {value.dtype} was given "
                    f"({shortened(actions[agent])}); needed: {kind} of shape {shape}"
                )
            if not single:
                batch.actions[0, k, : roles[k].action] = value[: roles[k].action]
            else:
                batch.actions[0, k, 0] = 0 if self._padded and roles[k].action <= value < self._sizes[k][1] else value

    def _observations(self, agents: list[str], living: list[str] | None = None) -> dict[str, Any]:
        """What agents see. living: those who lived until this step, all by default; the others see nothing."""
        batch, living = self.batch, agents if living is None else living
        if batch.setup.in_parts:
            parts = batch.get_observations(0)
            found = {agent: {name: rows[self._index[agent]] for name, rows in parts.items()} for agent in agents}
        elif len(agents) == len(self.possible_agents):
            found = dict(zip(agents, batch.get_observations(0)))  # noqa: B905 (equal)
        else:
            rows = batch.get_observations(0)
            found = {agent: rows[self._index[agent]] for agent in agents}
        if batch.world.roles and batch.world.observation and not self._padded:
            found = {agent: cut(seen, self._sizes[self._index[agent]][0]) for agent, seen in found.items()}
        if len(living) < len(agents):
            found.update({agent: blank(found[agent]) for agent in agents if agent not in living})
        if not self._in_observation:
            return found
        masks = self._masks()
        return {agent: {"observation": found[agent], "action_mask": masks[agent]} for agent in agents}

    def _masks(self) -> dict[str, np.ndarray]:
        masks = self.batch.masks[0].copy()
        if self._keeps_finished:
            firsts = np.concatenate([np.arange(count) == 0 for count in self.batch.setup.choices])
            masks[~self.batch.records(0)[1]["alive"]] = firsts
        return {agent: masks[k, : self._mask_lengths[k]] for agent, k in self._index.items()}

    def _infos(self, agents: list[str]) -> dict[str, Any]:
        """Infos of agents, all of whom live."""
        return self._outcome(agents, agents)[3]

    def _fit(self, infos: dict[str, dict[str, Any]], living: list[str]) -> None:
        """Change infos as `masks`, `finished` and `pad` want it. living: those who lived until the last step."""
        if self._keys.has_mask and not self._masks_in:
            for info in infos.values():
                del info["action_mask"]
        elif self._keys.has_mask and (self._keeps_finished or self._padded):
            masks = self._masks()
            for agent, info in infos.items():
                info["action_mask"] = masks[agent]
        if self._keeps_finished:
            alive = self.batch.records(0)[1]["alive"].tolist()
            for agent, info in infos.items():
                info["alive"] = alive[self._index[agent]]
                if agent not in living:
                    info["reward_vector"][:] = 0.0

    def __getattr__(self, name: str) -> Any:
        """Physical parameters, and the attributes of the published environment that the world's page names."""
        if "batch" in self.__dict__:
            return attribute_of(self.batch, 0, name, type(self).__name__)
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")

    def state(self) -> np.ndarray:
        """The input of a centralized critic: the world's central state, or the stacked observations of all agents,
        without images."""
        return self.batch.central()[0]

    def idle_action(self, agent: str) -> Any:
        """The no-op action of an agent."""
        k = self._index[agent]
        return self.batch.setup.shown_action(self.batch.setup.idle[k], k)

    def expert_actions(self) -> dict[str, Any]:
        """The scripted expert's actions for every living agent."""
        return self._actions(self.batch.expert_actions()[0])

    def player_actions(self, player: str | Sequence[str | None]) -> dict[str, Any]:
        """The actions of one of the world's scripted players for every living agent; or of one per possible agent, or
        None, whose action means nothing.

        Raises:
            UnknownNameError: the world has no player of this name.
        """
        return self._actions(self.batch.player_actions(player)[0])

    def _actions(self, rows: np.ndarray) -> dict[str, Any]:
        setup = self.batch.setup
        if self._padded and not setup.single_choice:
            return {agent: rows[self._index[agent]].astype(setup.action_space.dtype) for agent in self.agents}
        return {agent: setup.shown_action(rows[k], k) for agent, k in self._index.items() if agent in self.agents}

    def render(self) -> Any:
        """The image: an array (height, width, 3) uint8, a text, or None for a window, as `render_mode` says."""
        return self._renderer.image(0)

    def close(self) -> None:
        """Close the window and the physics engine, if any. Can be called twice; no step is possible afterwards."""
        self._renderer.close()
        self.batch.close()
        self._closed = True

    def link(self, page: str = "") -> str:
        """The address of a page in exactly this state, as `Env.link`."""
        return page + MARK + link_text(self.batch, None)

    def get_state(self) -> Snapshot:
        """A picklable, bit-exact copy of the world, including its generator and time limit."""
        return self.batch.get_state()

    def set_state(self, snapshot: Snapshot) -> dict[str, Any]:
        """Restore a snapshot; returns the observations of the agents alive in it, or of all with finished="keep"."""
        self.batch.set_state(snapshot)
        self._count_living()
        return self._observations(self.agents, self._living)


def cut(observation: Any, size: int) -> Any:
    """The part of an observation's vector that an agent sees."""
    if isinstance(observation, dict):
        return {**observation, "state": observation["state"][:size]}
    return observation[:size]


def blank(observation: Any) -> Any:
    """Zeros in the form of an observation."""
    if isinstance(observation, dict):
        return {name: blank(part) for name, part in observation.items()}
    return np.zeros_like(observation)[()]


def parallel_env(**keywords: Any) -> ParallelEnv:
    """The parallel form; PettingZoo's name for its factory."""
    return ParallelEnv(**keywords)
