"""Episodes, recorded side by side: of a policy, one per seed, and of a training run, as it goes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from rlenvs.agents.agent import Agent, Seen
from rlenvs.agents.hyperparameters.settings import Settings
from rlenvs.agents.kinds import names_in
from rlenvs.core.catalogue.make import make_vec
from rlenvs.core.declare.action_form import counts_of
from rlenvs.core.declare.errors import ParameterError
from rlenvs.core.declare.progress import Task, progress
from rlenvs.core.forms.info import InfoKeys
from rlenvs.integrations.minari import Episode
from rlenvs.wrappers import wrap

SIDE_BY_SIDE = 256  # episodes at once
MEMORY = 2**28  # bytes of episodes at once

# from a vector environment and the seeds of its worlds, a function from observations and infos to actions
Chooser = Callable[[Any, dict[str, Any]], np.ndarray]
Player = Callable[[gymnasium.vector.VectorEnv, Sequence[int]], Chooser]


@dataclass(frozen=True)
class Played:
    """Episodes, and their returns: sums of the scalar reward."""

    episodes: list[Episode]
    returns: list[float]


def rollouts(
    id: str,
    policy: Player,
    seeds: Sequence[int],
    keywords: Mapping[str, Any],
    wrappers: Sequence[Mapping[str, Any]] = (),
) -> Iterator[Played]:
    """Play one episode per seed, as many side by side as memory allows."""
    probe = wrapped(make_vec(id, 1, **keywords), wrappers)
    at_once = max(1, min(SIDE_BY_SIDE, MEMORY // (step_bytes(probe) * probe.batch.setup.horizon)))
    probe.close()
    for start in range(0, len(seeds), at_once):
        chosen = list(seeds[start : start + at_once])
        env = wrapped(make_vec(id, len(chosen), autoreset_mode="NEXT_STEP", **keywords), wrappers)
        try:
            with progress(f"{env.batch.world.name}: recording episodes", total=len(seeds)) as tell:
                tell(start)
                found = _play(env, policy(env, chosen), chosen, tell)
            yield found
        finally:
            env.close()


def wrapped(env: Any, wrappers: Sequence[Mapping[str, Any]]) -> Any:
    """An environment, in wrappers where there are any."""
    return wrap(env, *wrappers) if wrappers else env


def _play(env: Any, choose: Chooser, seeds: list[int], tell: Task) -> Played:
    """Step until every world has ended its first episode; what comes after is left out."""
    observations, infos = env.reset(seed=seeds)
    track = Track(observations, _recorded(infos))
    lengths, returns = np.zeros(len(seeds), np.int64), np.zeros(len(seeds))
    playing, before = np.ones(len(seeds), np.bool_), tell.done
    while playing.any():
        actions = within(env.single_action_space, choose(observations, infos))
        observations, rewards, terminated, truncated, infos = env.step(actions)
        track.add(actions, rewards, terminated, truncated, observations, _recorded(infos))
        returns[playing] += env.batch.rewards[playing, 0]
        lengths[playing] += 1
        playing &= ~(terminated | truncated)
        tell(before + len(seeds) - np.count_nonzero(playing), f"step {lengths.max()}")
    track.stack()
    cut = [track.cut(row, 0, int(length), seed) for row, (length, seed) in enumerate(zip(lengths, seeds, strict=True))]
    return Played(cut, returns.tolist())


def within(space: spaces.Space, actions: np.ndarray) -> np.ndarray:
    """Actions as environments take them, which clip what is out of range."""
    return np.clip(actions, space.low, space.high).astype(space.dtype) if isinstance(space, spaces.Box) else actions


class Track:
    """What rows of environments saw and did, step by step, to be cut into episodes."""

    def __init__(self, observations: Any, infos: dict[str, np.ndarray]) -> None:
        self._seen: list[Any] = [observations]
        self._told: list[dict[str, np.ndarray]] = [infos]
        self._done: list[tuple[np.ndarray, ...]] = []

    def add(
        self,
        actions: np.ndarray,
        rewards: np.ndarray,
        terminated: np.ndarray,
        truncated: np.ndarray,
        observations: Any,
        infos: dict[str, np.ndarray],
    ) -> None:
        """A step of all rows."""
        self._done.append((actions, rewards, terminated, truncated))
        self._seen.append(observations)
        self._told.append(infos)

    def stack(self) -> None:
        """Make arrays (steps, rows, ...) of all that was added."""
        self.observations = stacked(self._seen)
        self.infos = stacked(self._told)
        self.steps = [np.stack(column) for column in zip(*self._done, strict=True)]

    def cut(self, row: int, start: int, stop: int, seed: int | None) -> Episode:
        """The steps from start to stop of a row."""
        actions, rewards, terminated, truncated = (column[start:stop, row].copy() for column in self.steps)
        observations = mapped(self.observations, lambda array: array[start : stop + 1, row].copy())
        infos = mapped(self.infos, lambda array: array[start : stop + 1, row].copy())
        return Episode(observations, actions, rewards, terminated, truncated, infos, seed)


def with_last(kept: Any, last: Any) -> Any:
    """Arrays, or dictionaries of arrays, whose last row is another one, in place."""
    if isinstance(kept, dict):
        for name, array in kept.items():
            array[-1] = last[name]
    else:
        kept[-1] = last
    return kept


def stacked(entries: list[Any]) -> Any:
    """Arrays, or dictionaries of arrays, along a new first axis."""
    if isinstance(entries[0], dict):
        return {name: np.stack([entry[name] for entry in entries]) for name in entries[0]}
    return np.stack(entries)


def mapped(found: Any, function: Callable[[np.ndarray], np.ndarray]) -> Any:
    """A function of an array, or of every array of a dictionary."""
    return {name: function(array) for name, array in found.items()} if isinstance(found, dict) else function(found)


def _recorded(infos: dict[str, Any]) -> dict[str, np.ndarray]:
    """The entries of info that are numbers; those with an underscore say which worlds have them. What
    wrappers hide from learners is not recorded."""
    own = {key: np.asarray(value) for key, value in infos.items() if not key.startswith(("_", "final_", "true_"))}
    return {key: array for key, array in own.items() if array.dtype.kind in "bfiu"}


def step_bytes(env: Any) -> int:
    """The memory that a step of one world takes in a record."""
    observations, infos = env.reset(seed=0)
    arrays = [*_recorded(infos).values(), np.zeros(env.action_space.shape, env.action_space.dtype)]
    arrays.extend(observations.values() if isinstance(observations, dict) else [observations])
    return sum(array.nbytes for array in arrays) // env.num_envs + 16


# --- policies ---------------------------------------------------------------------------------------------------------


def random_player(env: Any, seeds: Sequence[int]) -> Chooser:
    """Uniform over the allowed actions; a world's do not depend on which worlds are beside it."""
    space, horizon = env.single_action_space, env.batch.setup.horizon
    size = space.shape or ()
    numbers = np.stack([np.random.default_rng([seed, 1]).random((horizon, *size), np.float32) for seed in seeds], 1)
    step = -1

    def choose(observations: Any, infos: dict[str, Any]) -> np.ndarray:
        nonlocal step
        step = min(step + 1, horizon - 1)
        if isinstance(space, spaces.Box):
            return space.low + numbers[step] * (space.high - space.low)
        counts = counts_of(space)
        if "action_mask" not in infos:
            return (numbers[step] * (np.array(counts) if size else space.n)).astype(space.dtype)
        masks = infos["action_mask"]
        drawn = numbers[step].reshape(len(masks), -1)
        found = np.empty((len(masks), len(counts)), np.int64)
        for j, part in enumerate(np.split(masks, np.cumsum(counts)[:-1], axis=1)):
            allowed = part.cumsum(axis=1, dtype=np.int64)
            which = (drawn[:, j] * allowed[:, -1]).astype(np.int64)
            found[:, j] = np.argmax(allowed > which[:, None], axis=1)
        return found if size else found[:, 0]

    return choose


def expert_player(env: Any, seeds: Sequence[int]) -> Chooser:
    """The world's scripted expert."""
    return lambda observations, infos: env.expert_actions()


def agent_player(agent: Agent | Callable[[Any], Any]) -> Player:
    """An agent, or a function from observations to actions."""

    def player(env: Any, seeds: Sequence[int]) -> Chooser:
        space, shape = env.single_action_space, env.action_space.shape
        decide = (
            _with_memory(agent, env, seeds)
            if isinstance(agent, Agent)
            else lambda observations, infos: agent(observations)
        )

        def choose(observations: Any, infos: dict[str, Any]) -> np.ndarray:
            actions = np.asarray(decide(observations, infos))
            if actions.shape != shape or actions.dtype.kind not in ("fiu" if isinstance(space, spaces.Box) else "iu"):
                raise ParameterError(
                    f"the agent's actions are {actions.dtype} {actions.shape}; needed are {space.dtype} {shape}"
                )
            return actions

        return choose

    return player


def _with_memory(agent: Agent, env: Any, seeds: Sequence[int]) -> Chooser:
    """What an agent does in episodes that begin with the first call."""
    agent.check(env.batch.setup)
    first = names_in(env.batch.setup)[0]  # the one whose rows these are
    seen: list[Seen] = []
    decide = agent.chooser(lambda: seen[-1], seeds)

    def choose(observations: Any, infos: dict[str, Any]) -> np.ndarray:
        seen[:] = [Seen(observations, infos.get("action_mask"), np.full(env.num_envs, not seen), first)]
        return decide()

    return choose


def mixture(policy: Player, share: float) -> Player:
    """A policy of which a share of the actions is random, chosen anew at every step."""

    def player(env: Any, seeds: Sequence[int]) -> Chooser:
        own, other = policy(env, seeds), random_player(env, seeds)
        horizon = env.batch.setup.horizon
        draws = np.stack([np.random.default_rng([seed, 2]).random(horizon, np.float32) for seed in seeds], 1)
        step = -1

        def choose(observations: Any, infos: dict[str, Any]) -> np.ndarray:
            nonlocal step
            step = min(step + 1, horizon - 1)
            good, bad = own(observations, infos), other(observations, infos)
            random = draws[step] < share
            return np.where(random.reshape(-1, *[1] * (good.ndim - 1)), bad, good)

        return choose

    return player


# --- what a training run sees -----------------------------------------------------------------------------------------


def watched_training(id: str, settings: Settings, episodes: int, seed: int) -> Iterator[Played]:
    """Train, and give what was seen: at most as many whole episodes, evenly spread over the run and in their order.

    Raises:
        ParameterError: no episode ended.
        MissingExtraError: Stable-Baselines3 or sb3-contrib is not installed.
    """
    from rlenvs.agents.train import learn, new_model, torch_threads

    model = new_model(id, settings, seed)
    recorder = _recorder(model)
    with torch_threads(1):
        learn(model, id, settings.steps)
    model.env.close()
    if not recorder.ends:
        raise ParameterError(f"{id}: no episode ended within {settings.steps} steps of training; train for longer")
    recorder.track.stack()
    count = min(episodes, len(recorder.ends))
    chosen = np.linspace(0, len(recorder.ends) - 1, count).round().astype(int)
    for first in range(0, count, SIDE_BY_SIDE):
        found = [recorder.episode(i) for i in chosen[first : first + SIDE_BY_SIDE]]
        yield Played(found, [float(episode.rewards.sum()) for episode in found])


def _recorder(model: Any) -> Any:
    """Put a wrapper around the innermost environments of a model, which keeps all that it hands through."""
    from stable_baselines3.common.vec_env import VecEnvWrapper

    class Recorder(VecEnvWrapper):
        """Attributes: track, and ends, a tuple (row, first step, one past the last step, final observation, final
        info) for every episode that has ended, in order."""

        venv: Any

        def reset(self) -> Any:
            observations = self.venv.reset()
            self.keys = InfoKeys(self.venv.batch)
            self.track = Track(observations, self._infos())
            self.ends: list[tuple[int, int, int, Any, dict[str, Any]]] = []
            self._starts, self._now = np.zeros(self.num_envs, np.int64), 0
            return observations

        def step_async(self, actions: np.ndarray) -> None:
            self._actions = within(self.action_space, np.array(actions))
            self.venv.step_async(actions)

        def step_wait(self) -> tuple[Any, np.ndarray, np.ndarray, list[dict[str, Any]]]:
            observations, rewards, dones, infos = self.venv.step_wait()
            self._now += 1
            truncated = np.zeros(self.num_envs, np.bool_)
            for row in np.flatnonzero(dones).tolist():
                truncated[row] = infos[row]["TimeLimit.truncated"]
                last = infos[row]["terminal_observation"]
                self.ends.append((row, int(self._starts[row]), self._now, last, infos[row]))
                self._starts[row] = self._now
            exact = self.venv.batch.rewards[:, 0].copy()  # rewards are rounded to float32
            self.track.add(self._actions, exact, dones & ~truncated, truncated, observations, self._infos())
            return observations, rewards, dones, infos

        def _infos(self) -> dict[str, np.ndarray]:
            return _recorded(self.keys.all(self.venv.batch, copy=True))

        def episode(self, index: int) -> Episode:
            row, start, stop, last, info = self.ends[index]
            found = self.track.cut(row, start, stop, None)
            # in the row of an end, the next episode's first observation and info follow at once
            return found._replace(observations=with_last(found.observations, last), infos=with_last(found.infos, info))

    if not isinstance(model.env, VecEnvWrapper):
        model.env = Recorder(model.env)
        return model.env
    above = model.env
    while isinstance(above.venv, VecEnvWrapper):
        above = above.venv
    above.venv = Recorder(above.venv)
    return above.venv
