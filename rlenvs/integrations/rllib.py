"""RLlib support for multi-agent environments: a `MultiAgentEnv` for its new API stack, and registration with Ray Tune.

Single-agent forms need nothing from here: RLlib takes the id itself, and makes the batch in each of its env runners.

    config.environment("rlenvs:rlenvs/QuadHover-v0").env_runners(
        num_envs_per_env_runner=64, gym_env_vectorize_mode="vector_entry_point"
    )
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from gymnasium import spaces
from gymnasium.utils.seeding import np_random

from rlenvs.core.catalogue.make import parallel_env
from rlenvs.core.catalogue.registry import NAMESPACE, Entry, catalogue, entry
from rlenvs.core.declare.errors import MissingExtraError, ParameterError

try:
    from ray.rllib.env.multi_agent_env import MultiAgentEnv
    from ray.tune.registry import register_env
except ImportError as error:
    raise MissingExtraError("The RLlib form of an environment", "rllib") from error

__all__ = ["RLlibEnv", "forget_infos", "register"]

APART = 1 << 24  # between the seeds of two env runners: RLlib seeds them with consecutive numbers


class RLlibEnv(MultiAgentEnv):
    """One multi-agent world behind RLlib's multi-agent API.

    Agents, spaces, rewards and infos are those of `rlenvs.parallel_env`, but for three things.

    - How an episode ends. An agent whose episode ends alone has its own flag. When the last ones end, RLlib takes a
      flag of each agent's own for a termination, and learns that no reward would have followed; so what the time
      limit cuts off is reported by `truncateds["__all__"]` alone.
    - With action masks, observations are {"observations", "action_mask"}: the names that RLlib's
      `ActionMaskingTorchRLModule` knows.
    - `agents` names those of whom the last `reset` or `step` told, also those who died in it, as RLlib's checks ask.

    Args:
        id: with or without "rlenvs/".
        masks: False leaves the action masks out of observations, for modules that take plain arrays.
        first_seed: added to the seeds of `reset`.
        wrappers: wrappers of `rlenvs.wrappers`, or their recipes, the first one next to the world.
        keywords: as for `rlenvs.parallel_env`.

    Raises:
        UnknownNameError, UnknownKeywordError, ParameterError: as `rlenvs.parallel_env`; ParameterError too for vector
            rewards, which RLlib cannot take.
    """

    def __init__(
        self, id: str, *, masks: bool = True, first_seed: int = 0, wrappers: Sequence[Any] = (), **keywords: Any
    ) -> None:
        super().__init__()
        row = entry(id)
        if keywords.get("vector_reward") or row.id.startswith(f"{NAMESPACE}/mo-"):
            raise ParameterError(
                f"{row.id}: RLlib does not support vector rewards; use {row.id.replace('/mo-', '/')!r} with "
                f"weights={{...}}"
            )
        self.parallel: Any = parallel_env(id, **keywords)
        if wrappers:
            from rlenvs.wrappers.forms import wrap

            self.parallel = wrap(self.parallel, *wrappers)
        self.metadata = dict(self.parallel.metadata)  # RLlib writes into it
        self.render_mode = self.parallel.render_mode
        self.possible_agents = list(self.parallel.possible_agents)
        self.agents = list(self.possible_agents)
        self._first_seed = first_seed
        self._begun = False
        first = self.parallel.observation_space(self.possible_agents[0])
        self._has_masks = isinstance(first, spaces.Dict) and "action_mask" in first.spaces
        self._masks = masks
        self.observation_spaces = {agent: self._space(agent) for agent in self.possible_agents}
        self.action_spaces = {agent: self.parallel.action_space(agent) for agent in self.possible_agents}
        self.observation_space = spaces.Dict(self.observation_spaces)
        self.action_space = spaces.Dict(self.action_spaces)

    def _space(self, agent: str) -> spaces.Space:
        space: Any = self.parallel.observation_space(agent)
        if not self._has_masks:
            return space
        if not self._masks:
            return space["observation"]
        return spaces.Dict({"action_mask": space["action_mask"], "observations": space["observation"]})

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Start an episode with all agents; returns observations and infos by agent.

        Args:
            seed: seeds the world, with `first_seed` added; None goes on with its generator.
            options: {"params": {name: number}}, as for the other forms.

        Raises:
            ParameterError: an unknown parameter, or a value outside its range.
        """
        if options is None and not self._begun:  # the check that RLlib runs gives options, and one seed to all worlds
            self._begun = True
            if seed is None:
                seed = np_random()[1]
        if seed is not None:
            seed += self._first_seed
        observations, infos = self.parallel.reset(seed=seed, options=options)
        self.agents = list(self.possible_agents)
        return self._renamed(observations), infos

    def step(
        self, action_dict: dict[str, Any]
    ) -> tuple[dict[str, Any], dict[str, float], dict[str, bool], dict[str, bool], dict[str, Any]]:
        """Advance by one step, with an action for every living agent.

        Returns:
            observations, rewards, terminated, truncated and infos of the agents that acted; terminated and truncated
            have "__all__", and at most one of the two is True: truncated, where the time limit ended anybody's episode.

        Raises:
            ActionError: an action is missing, or has the wrong shape or type, NaN, or is not a choice.
            EpisodeOverError: no agent is alive.
        """
        self.agents = list(self.parallel.agents)
        observations, rewards, terminated, truncated, infos = self.parallel.step(action_dict)
        over = not self.parallel.agents
        cut = over and any(truncated.values())
        if cut:
            truncated = dict.fromkeys(truncated, False)
        terminated["__all__"], truncated["__all__"] = over and not cut, cut
        return self._renamed(observations), rewards, terminated, truncated, infos

    def _renamed(self, observations: dict[str, Any]) -> dict[str, Any]:
        if not self._has_masks:
            return observations
        if not self._masks:
            return {agent: seen["observation"] for agent, seen in observations.items()}
        return {
            agent: {"action_mask": seen["action_mask"], "observations": seen["observation"]}
            for agent, seen in observations.items()
        }

    def render(self) -> Any:
        """The image: an array (height, width, 3) uint8, a text, or None for a window, as `render_mode` says."""
        return self.parallel.render()

    def close(self) -> None:
        """Close the window and the physics engine, if any. Can be called twice."""
        self.parallel.close()


def register(id: str, **keywords: Any) -> str:
    """Register a multi-agent environment with Ray Tune, so that env runners on any machine can make it.

        config.environment(register("Battle-v0", scenario="3m"))

    Every env runner gets seeds of its own, also for worlds that are registered in this process alone. The world is made
    once here: what is wrong with the keywords is said here, and not by a runner that Ray starts again and again.

    Args:
        id: with or without "rlenvs/".
        keywords: of `RLlibEnv`. `env_config` in a configuration adds to them, or takes their place.

    Returns:
        the name to give to `AlgorithmConfig.environment`.

    Raises:
        UnknownNameError, UnknownKeywordError, ParameterError: as `RLlibEnv`.
    """
    RLlibEnv(id, **keywords).close()
    row = entry(id)
    name = row.id.replace("/", "/multi-")
    register_env(name, partial(_create, row, keywords))
    return name


def forget_infos(*, samples: Sequence[Any], **_: Any) -> None:
    """Drop infos from the samples that env runners send to the learner, which does not use them: they are most of the
    data.

        config.callbacks(on_sample_end=forget_infos)

    Callbacks at the steps and ends of episodes still see infos.

    Args:
        samples: the episodes, single- or multi-agent, that RLlib hands to the callback `on_sample_end`.
    """
    for episode in samples:
        for own in getattr(episode, "agent_episodes", {None: episode}).values():
            own.infos.data[:] = [{}] * len(own.infos.data)


def _create(row: Entry, keywords: dict[str, Any], context: Any) -> RLlibEnv:
    catalogue.setdefault(row.id, row)
    chosen = {"first_seed": APART * (context.worker_index or 0), **keywords, **context}
    return RLlibEnv(row.id, **chosen)
