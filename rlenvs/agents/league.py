"""Self-play for competing teams: opponents are the current policy, past policies and scripted players.

A policy that meets itself alone forgets how to beat what it was. Past policies, drawn evenly, are met for that (Bansal
et al., "Emergent Complexity via Multi-Agent Competition", 2018), as in the leagues of Vinyals et al., "Grandmaster
level in StarCraft II using multi-agent reinforcement learning", 2019.

    [league]                # in the settings of PPO or MaskablePPO
    scripted = 0.25         # share of the worlds whose rival is a scripted player
    past = 0.5              # and a past policy, another one in every episode; the rest is against the present one
    size = 10               # past policies that are kept
    every = 50_000          # steps between two of them
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from gymnasium import spaces
from stable_baselines3.common.vec_env import VecEnvWrapper

from rlenvs.agents.checkpoint import wrappers_of
from rlenvs.agents.export import network_of
from rlenvs.agents.kinds import names_in
from rlenvs.agents.network import Network
from rlenvs.core.declare.errors import ParameterError

__all__ = ["League"]

SIZE, EVERY, SCRIPTED, PAST = 10, 50_000, 0.25, 0.5
PRESENT = -1  # in place of the number of a past policy


class League(VecEnvWrapper):
    """A `VecEnv` with the slots of one team per world; the other teams are played by opponents, without exploration.

    The learner is on the team i modulo the number of teams in world i, so that it learns to play all of them. Scripted
    players take turns.

    Args:
        venv: an `SB3VecEnv` of a world whose teams play against each other.
        size: past policies that are kept; a new one takes the place of the oldest.
        every: steps of the learner between two of them.
        scripted, past: shares of the worlds against these; the rest is against the present policy, and so are worlds
            against past ones while there are none.
        frames: how many of the last observations the policies see.

    Attributes:
        slots: the learner's, as numbers of slots of `venv`.
        past: networks of past policies.

    Raises:
        ParameterError: all agents are on one team, too few worlds for all teams, no scripted player where a share
            is against them, or several frames of what is not one array of numbers.
    """

    def __init__(
        self,
        venv: Any,
        size: int = SIZE,
        every: int = EVERY,
        scripted: float = SCRIPTED,
        past: float = PAST,
        frames: int = 1,
    ) -> None:
        self._check(venv.batch, scripted)
        if frames > 1 and not isinstance(venv.observation_space, spaces.Box):
            raise ParameterError(f"[league] with frames is for one array of numbers, not {venv.observation_space}")
        super().__init__(venv)
        batch = venv.batch
        teams, worlds = np.array(batch.setup.teams), np.arange(batch.num_envs)
        sides = int(teams.max()) + 1
        own = teams == (worlds % sides)[:, None]
        self.slots, self._foreign = np.flatnonzero(own), ~own
        self.num_envs = len(self.slots)
        turn = worlds // sides  # every kind of rival is met from all teams
        turns = int(turn[-1]) + 1
        self._scripted = turn < round(scripted * turns)
        self._learnt = ~self._scripted
        self._against_past = self._learnt & (turn < round((scripted + past) * turns))
        self._player = turn % max(1, len(batch.world.players))
        self.size, self.every, self._names = size, every, names_in(batch.setup)
        self.past: list[Network] = []
        self._kept, self._next = 0, every
        self._rival = np.full(batch.num_envs, PRESENT)
        shape = batch.num_envs, batch.agents, math.prod(venv.observation_space.shape or ()) if frames > 1 else 0
        self._before = np.zeros((frames - 1, *shape), np.float32)  # what networks saw in the last steps
        self._rng = np.random.default_rng(0)

    @staticmethod
    def _check(batch: Any, scripted: float) -> None:
        name, sides = batch.world.name, max(batch.setup.teams) + 1
        if sides == 1:
            raise ParameterError(f"[league] requires competing teams; with these keywords {name} has one team")
        if batch.num_envs < sides:
            raise ParameterError(f"num_envs={batch.num_envs} is too small for [league]; {name} has {sides} teams")
        if scripted and not batch.world.players:
            raise ParameterError(f"[league] scripted={scripted}: {name} has no scripted players; needed: 0")

    @property
    def _batch(self) -> Any:
        return self.venv.batch  # type: ignore[attr-defined]

    def seed(self, seed: int | None = None) -> Any:
        """Seed the worlds, and the draw of past policies."""
        self._rng = np.random.default_rng(seed)
        return self.venv.seed(seed)

    def meet(self, model: Any) -> None:
        """Set a model's policy as the current one, and store it if it is time; call between rollouts."""
        self._present = Network(*network_of(model))
        if model.num_timesteps >= self._next:
            self._next = (model.num_timesteps // self.every + 1) * self.every
            self.past[self._kept % self.size : self._kept % self.size + 1] = [self._present]
            self._kept += 1

    # --- the form -----------------------------------------------------------------------------------------------------

    def reset(self) -> Any:
        """Start episodes in all worlds."""
        observations = self.venv.reset()
        self._draw(np.flatnonzero(self._against_past))
        return self._own(observations)

    def step_async(self, actions: np.ndarray) -> None:
        """Take the learner's actions for the next step; the opponents choose theirs."""
        batch = self._batch
        all_actions = np.zeros((batch.num_envs, batch.agents, *actions.shape[1:]), actions.dtype)
        all_actions[~self._foreign] = actions
        for worlds, agents, chosen in (*self._of_players(), *self._of_networks()):
            all_actions[worlds, agents] = chosen
        self.venv.step_async(all_actions.reshape(-1, *actions.shape[1:]))

    def step_wait(self) -> tuple[Any, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Advance all worlds, as in `SB3VecEnv.step_wait`; returns the learner's results."""
        observations, rewards, dones, infos = self.venv.step_wait()
        self._draw(np.flatnonzero(self._batch.at_start & self._against_past))
        own = self.slots
        return self._own(observations), rewards[own], dones[own], [infos[slot] for slot in own]

    def env_method(self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any) -> list[Any]:
        """Call a method of `Slot` on the learner's slots; `action_masks` at once."""
        if method_name == "action_masks" and indices is None:
            return list(self.venv.action_masks()[self.slots])  # type: ignore[attr-defined]
        chosen = self.slots[list(self._get_indices(indices))].tolist()
        return self.venv.env_method(method_name, *method_args, indices=chosen, **method_kwargs)

    def _own(self, observations: Any) -> Any:
        if isinstance(observations, dict):
            return {name: part[self.slots] for name, part in observations.items()}
        return observations[self.slots]

    # --- rivals -------------------------------------------------------------------------------------------------------

    def _draw(self, worlds: np.ndarray) -> None:
        """Draw rivals among past policies."""
        if self.past:
            self._rival[worlds] = self._rng.integers(len(self.past), size=len(worlds))

    def _of_players(self) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Worlds, agents and actions of scripted players."""
        batch = self._batch
        for number in np.unique(self._player[self._scripted]):
            against = self._scripted & (self._player == number)
            worlds, agents = np.nonzero(self._foreign & against[:, None])
            actions = batch.setup.shown_action(batch.player_actions(batch.world.players[number]), None)
            yield worlds, agents, actions[worlds, agents]

    def _of_networks(self) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Worlds, agents and actions of the present policy and of past ones."""
        batch = self._batch
        seen, remembers = batch.get_observations(copy=False), len(self._before) > 0
        restarted = batch.at_start
        for number in np.unique(self._rival[self._learnt]):
            network = self._present if number == PRESENT else self.past[number]
            against = self._learnt & (self._rival == number)
            at = worlds, agents = np.nonzero(self._foreign & against[:, None])
            shown = {name: part[at] for name, part in seen.items()} if isinstance(seen, dict) else seen[at]
            masks, kinds = batch.masks[at] if network.masked else None, network.kinds_of(self._names)
            before = (self._before[:, worlds, agents],) if remembers else None
            starts = restarted[worlds] if remembers else None
            own = None if kinds is None else kinds[agents]
            chosen, recalled = network.act(shown, masks, before, starts, own)
            if recalled is not None:
                self._before[:, worlds, agents] = recalled[0]
            yield worlds, agents, chosen

    # --- checkpoints --------------------------------------------------------------------------------------------------

    @property
    def state(self) -> dict[str, Any]:
        """All state that changes during training, except the current policy, which belongs to the model. Setting it
        restores it."""
        return {
            "past": [[network.architecture, network.tensors] for network in self.past],
            "kept": self._kept,
            "next": self._next,
            "rival": self._rival,
            "before": self._before,
            "generator": self._rng.bit_generator.state,
        }

    @state.setter
    def state(self, state: dict[str, Any]) -> None:
        self.past = [Network(*parts) for parts in state["past"]]
        self._kept, self._next, self._rival = (state[name] for name in ("kept", "next", "rival"))
        self._before = state.get("before", self._before)  # those of earlier versions have none
        self._rng.bit_generator.state = state["generator"]


def in_league(algorithm: Any) -> Any:
    """The class of an algorithm that learns by rollouts, whose policy joins its `League` before each of them."""

    def collect(self: Any, *args: Any, **kwargs: Any) -> bool:
        (league,) = (wrapper for wrapper in wrappers_of(self) if isinstance(wrapper, League))
        league.meet(self)
        return bool(algorithm.collect_rollouts(self, *args, **kwargs))

    return type(algorithm.__name__, (algorithm,), {"collect_rollouts": collect})
