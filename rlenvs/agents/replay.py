"""Replays: episodes as small JSON files that can be verified and watched.

A file holds what the episode follows from (the id, keywords, the two words of the generator, all actions), the start as
text where the world has a text image, and a digest of what came out. Loading plays it again and compares.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from gymnasium.utils.seeding import np_random
from gymnasium.vector import AutoresetMode

from rlenvs.core.batch.kernel_batch import KernelBatch
from rlenvs.core.catalogue.make import make_batch
from rlenvs.core.catalogue.registry import entry, world_of
from rlenvs.core.declare.errors import (
    ActionError,
    EpisodeOverError,
    ParameterError,
    ReplayError,
    UnknownNameError,
    shortened,
)
from rlenvs.core.declare.inputs import seed_of
from rlenvs.core.declare.rng import seed_words
from rlenvs.core.declare.setup import Setup
from rlenvs.core.declare.user_files import read_text, reason
from rlenvs.core.forms.render import Renderer

__all__ = ["Recorder", "Replay"]

FORMAT, VERSION = "rlenvs replay", 1
LARGEST = 1 << 28  # bytes of a file
FIELDS = {"id": str, "keywords": dict, "seed": list, "start": str, "actions": list, "digest": str}


@dataclass(frozen=True)
class Replay:
    """One episode.

    Attributes:
        id: the environment.
        keywords: of `rlenvs.make_batch`.
        seed: the two words of the world's generator before the episode.
        start: the first text image; empty where the world has none.
        actions: what every agent did, (T, A, numbers of an action), int64 or float64.
        digest: of actions, rewards and the last observations.
    """

    id: str
    keywords: dict[str, Any]
    seed: tuple[int, int]
    start: str
    actions: np.ndarray
    digest: str

    def __len__(self) -> int:
        return len(self.actions)

    def save(self, path: Path | str) -> None:
        """Write the JSON file."""
        table = {"format": FORMAT, "version": VERSION, "id": self.id, "keywords": self.keywords, "seed": self.seed}
        table |= {"start": self.start, "actions": self.actions.tolist(), "digest": self.digest}
        Path(path).write_text(json.dumps(table) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: Path | str) -> Replay:
        """Read a file and verify it by playing it.

        Raises:
            ReplayError: no replay, one of another version, or one whose episode comes out differently.
        """
        table = _read(path)
        try:
            actions = np.array(table["actions"])
            if actions.dtype.kind not in "iuf" or actions.ndim != 3:
                raise ParameterError("actions must be numbers, a list per step, agent and action")
            seed = tuple(table["seed"])
            if len(seed) != 2 or not all(type(word) is int and 0 <= word < 2**64 for word in seed) or not any(seed):
                raise ParameterError("seed must be two unsigned 64-bit integers, not both 0")
            if foreign := sorted({"num_envs", "autoreset", "threads", "backend"} & set(table["keywords"])):
                raise ParameterError(f"keywords contain {foreign}, which configure stepping, not the environment")
            found = cls(table["id"], table["keywords"], seed, table["start"], actions, table["digest"])
            start, digest = found._outcome()
        except (ParameterError, UnknownNameError, ActionError, EpisodeOverError, TypeError, ValueError) as error:
            raise ReplayError(f"{path} cannot be replayed: {error}") from None
        if start != found.start or digest != found.digest:
            what = "start" if start != found.start else "end"
            raise ReplayError(
                f"{path} or {found.id} was changed: in the replay, the {what} of the episode differs from the file"
            )
        return found

    def play(self) -> Iterator[KernelBatch]:
        """The batch of one world, at the start and after every step; always the same object."""
        batch = make_batch(self.id, 1, autoreset=AutoresetMode.DISABLED, **self.keywords)
        batch.states["rng"][0] = self.seed
        batch.reset()
        yield batch
        for actions in self.actions:
            batch.step(actions[None])
            yield batch

    def frames(self, every: int = 1) -> Iterator[np.ndarray]:
        """Images, uint8 (height, width, 3): of the start, of every `every` steps, and of the end."""
        renderer: Renderer | None = None
        for t, batch in enumerate(self.play()):
            renderer = renderer or Renderer("rgb_array", batch)
            if t % every == 0 or t == len(self):
                yield renderer.image(0)

    def watch(self) -> None:
        """Show the episode in a window, in real time."""
        renderer: Renderer | None = None
        for batch in self.play():
            renderer = renderer or Renderer("human", batch)
            renderer.image(0)
        assert renderer is not None
        renderer.close()

    @property
    def fps(self) -> float:
        """Steps per second of simulated time."""
        return Setup(world_of(self.id), **self.keywords).fps

    def _outcome(self) -> tuple[str, str]:
        """The start as text, and the digest."""
        start, digest = "", hashlib.sha256()
        for t, batch in enumerate(self.play()):
            if t == 0:
                start = _start_of(batch)
            else:
                _note(digest, batch)
        return start, _finish(digest, batch)


def _read(path: Any) -> dict[str, Any]:
    try:
        table = json.loads(read_text(path, LARGEST))
    except OSError as error:
        raise ReplayError(f"{shortened(path)} cannot be read: {reason(error)}") from None
    except (ValueError, RecursionError) as error:
        raise ReplayError(f"{path} is not JSON: {error}") from None
    if not isinstance(table, dict) or table.get("format") != FORMAT:
        raise ReplayError(f'{path} is not a replay: a replay is an object with "format": "{FORMAT}"')
    if table.get("version") != VERSION:
        raise ReplayError(f"{path} has version {table.get('version')!r} of the format; this package reads {VERSION}")
    for name, kind in FIELDS.items():
        if not isinstance(table.get(name), kind):
            raise ReplayError(f"{path}: {name!r} is missing or is not a {kind.__name__}")
    return table


class Recorder:
    """An environment that records its actions. Everything except `reset` and `step` is passed on.

    Args:
        env: an `Env` or a `ParallelEnv` of this package, wrapped or not.

    Raises:
        ParameterError: an environment of several worlds, or not of this package.
    """

    def __init__(self, env: Any) -> None:
        batch = getattr(getattr(env, "unwrapped", env), "batch", None)
        if not isinstance(batch, KernelBatch) or batch.num_envs != 1:
            raise ParameterError(f"{type(env).__name__} cannot be recorded: give an Env or a ParallelEnv of rlenvs")
        self.env, self.batch = env, batch
        self._actions: list[np.ndarray] | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self.env, name)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        """Reset the environment, and discard the previous recording."""
        seed = seed_of(seed)
        if seed is None and not self.batch.seeds.any:
            seed = int(np.random.SeedSequence().generate_state(1)[0])
        words = self.batch.states["rng"][0] if seed is None else seed_words(np_random(seed)[0])
        self._seed = (int(words[0]), int(words[1]))
        result = self.env.reset(seed=seed, options=options)
        self._keywords, self._start = _keywords_of(self.batch), _start_of(self.batch)
        self._actions, self._digest = [], hashlib.sha256()
        return result

    def step(self, actions: Any) -> Any:
        """Step the environment."""
        result = self.env.step(actions)
        if self._actions is not None:
            self._actions.append(self.batch.actions[0].copy())
            _note(self._digest, self.batch)
        return result

    def replay(self) -> Replay:
        """The episode so far.

        Raises:
            EpisodeOverError: there was no reset yet.
        """
        if self._actions is None:
            raise EpisodeOverError(f"{self.batch.world.name}: call reset() before replay()")
        actions = np.array(self._actions).reshape(len(self._actions), *self.batch.actions.shape[1:])
        digest = _finish(self._digest.copy(), self.batch)
        return Replay(entry(self.batch.world.name).id, self._keywords, self._seed, self._start, actions, digest)


def _keywords_of(batch: KernelBatch) -> dict[str, Any]:
    """Keywords that make the same environment again, where they differ from the defaults."""
    setup = batch.setup
    params = {name: value for name, value in batch.get_params().items() if name not in setup.random_ranges}
    now = {**vars(setup.values), **params}
    weights = dict(zip(setup.world.terms, setup.weights.tolist(), strict=True))
    usual = Setup(setup.world)
    found = {name: value for name, value in now.items() if value != vars(usual.values)[name]}
    found |= {"horizon": setup.horizon, "weights": weights}
    if setup.random_ranges:
        found["randomize"] = {name: list(bounds) for name, bounds in setup.random_ranges.items()}
    return json.loads(json.dumps(found))


def _start_of(batch: KernelBatch) -> str:
    text = batch.world.functions.get("text")
    return text(*batch.records(0)) if text else ""


def _note(digest: Any, batch: KernelBatch) -> None:
    digest.update(batch.actions[0].tobytes() + batch.rewards[0].tobytes())


def _finish(digest: Any, batch: KernelBatch) -> str:
    digest.update(batch.observations[0].tobytes())
    return digest.hexdigest()[:16]
