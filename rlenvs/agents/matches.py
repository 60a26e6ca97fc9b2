"""Games between players, side by side in a batch, and what a player may be."""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from rlenvs.agents.agent import Agent
from rlenvs.agents.agent import Player as Learnt
from rlenvs.agents.cluster import spread
from rlenvs.agents.files import load_agent
from rlenvs.agents.models import MaskedPolicy, load_model, policy_of
from rlenvs.core.batch.engines import new_batch
from rlenvs.core.batch.kernel_batch import KernelBatch
from rlenvs.core.catalogue.registry import world_of
from rlenvs.core.declare.errors import ActionError, ParameterError, UnknownNameError, nearest
from rlenvs.core.declare.progress import Task
from rlenvs.core.declare.setup import Setup

Player = str | Path | MaskedPolicy | Any

RANDOM = "random"
AT_ONCE = 256  # games side by side in one batch
DRAWN_AHEAD = 64  # steps for which the random player draws at once


class Match:
    """The games of one line-up, side by side: the game in world i has the seed `seed` + i.

    Args:
        batch: the worlds.
        slots: the name of the player in each slot.
        players: by name.
        seed: of the first game.
        seats: the slot of each agent; its team by default.

    Attributes:
        returns: the return of each game so far, the mean over its agents, (N,).
    """

    def __init__(
        self,
        batch: KernelBatch,
        slots: Sequence[str],
        players: Mapping[str, str | MaskedPolicy],
        seed: int,
        seats: Sequence[int] | None = None,
    ) -> None:
        self.batch = batch
        self.teams = np.array(batch.setup.teams if seats is None else seats, np.int64)
        self.returns = np.zeros(batch.num_envs)
        self.alive = np.ones((batch.num_envs, batch.agents), np.bool_)
        own = batch.world.players
        held = [players[slots[team]] for team in self.teams.tolist()]
        self.scripted = [player if isinstance(player, str) and player in own else None for player in held]
        self.movers: list[Callable[[], None]] = []
        for team, name in enumerate(slots):
            player, agents = players[name], np.flatnonzero(self.teams == team)
            key = [team, *(zlib.crc32(slot.encode()) for slot in slots)]
            if callable(player):
                generator = np.random.default_rng([seed, *key])
                groups = agents[:, None] if batch.world.roles else [agents]
                self.movers += [
                    partial(self._ask, name, self._in_role(player, group), group, generator) for group in groups
                ]
            elif player not in own:
                generators = [np.random.default_rng([seed + i, *key]) for i in range(batch.num_envs)]
                self.movers.append(partial(self._random, agents, self._drawn(generators, len(agents))))
        batch.seed(range(seed, seed + batch.num_envs))
        batch.reset()

    def play(self, tell: Task | None = None) -> np.ndarray:
        """Step until all games are through, the others going on uncounted.

        Args:
            tell: called with the number of finished games; None for no reports.

        Returns:
            how each team came out, float64 (N, teams): the larger the better.
        """
        batch, members = self.batch, [self.teams == team for team in range(self.teams.max() + 1)]
        places = np.zeros((batch.num_envs, len(members)))
        tell = tell or Task("")
        playing, before = np.ones(batch.num_envs, np.bool_), tell.done
        for step in itertools.count(1):
            self._act()
            batch.step_inplace()
            self.returns += np.where(playing, batch.rewards.mean(axis=1), 0.0)
            ended = playing & batch.over
            survived = self.alive & ~batch.terminated
            if "placing" in batch.world.functions:
                for i in np.flatnonzero(ended).tolist():
                    places[i] = self._placed(i, members)
            else:
                self._rank(places, members, ended, survived, step)
            playing &= ~batch.over
            self.alive = survived & ~batch.truncated
            tell(before + batch.num_envs - np.count_nonzero(playing))
            if not playing.any():
                break
        return places

    def _rank(
        self, places: np.ndarray, members: Sequence[np.ndarray], ended: np.ndarray, survived: np.ndarray, step: int
    ) -> None:
        """Note which teams won, and who of the others still lives."""
        for team, own in enumerate(members):
            if len(members) > 2:  # who did not win is ranked by how long it lived
                places[survived[:, own].any(axis=1), team] = step
            places[ended & self.batch.success[:, own].any(axis=1), team] = np.inf

    def _placed(self, i: int, members: Sequence[np.ndarray]) -> list[float]:
        """How the teams of world i, whose game is over, came out: as the best of its agents."""
        agents = np.array(self.batch.world.functions["placing"](*self.batch.records(i)), np.float64)
        return [float(agents[own].max()) for own in members]

    def _act(self) -> None:
        self.batch.actions[...] = self.batch.setup.idle
        if any(self.scripted):
            self.batch.player_actions(self.scripted)
        for move in self.movers:
            move()

    def _in_role(self, player: MaskedPolicy, agents: np.ndarray) -> MaskedPolicy:
        """A player as it plays these agents; one that was learned may have to know whom."""
        if isinstance(player, Learnt) and self.batch.world.roles:
            return replace(player, role=self.batch.setup.roles[agents[0]].name)
        return player

    def _ask(self, name: str, policy: MaskedPolicy, agents: np.ndarray, generator: np.random.Generator) -> None:
        """Load the actions of a function for those of the agents that play."""
        batch = self.batch
        rows, columns = np.nonzero(self.alive[:, agents])
        if not len(rows):
            return
        setup, size = batch.setup, batch.setup.roles[agents[0]].action
        who = agents[0] if batch.world.roles else agents[columns]
        masks = batch.masks[rows, who, : setup.mask_lengths[agents[0]]] if "mask" in batch.world.kernels else None
        actions = policy(batch.get_observations((rows, who)), masks, generator)
        if setup.continuous:
            batch.actions[rows, who, :size] = _check_numbers(batch.world.name, name, actions, len(rows), size)
        else:
            shape = (len(rows),) if setup.single_choice else (len(rows), setup.numbers)
            chosen = _check_choices(batch.world.name, name, actions, shape, setup.own_choices[agents[0]])
            batch.actions[rows, who] = chosen.reshape(len(rows), -1)

    def _random(self, agents: np.ndarray, numbers: Iterator[np.ndarray]) -> None:
        """Load random actions: uniform in the box, or over the choices that the mask allows."""
        batch, drawn = self.batch, next(numbers)
        if batch.setup.continuous:
            batch.actions[:, agents] = batch.setup.spread_action(2.0 * drawn - 1.0)
            return
        for j, part in enumerate(batch.setup.parts_of_mask(batch.masks[:, agents])):
            allowed = np.cumsum(part, axis=2, dtype=np.int64)
            batch.actions[:, agents, j] = np.argmax(allowed > drawn[:, :, j : j + 1] * allowed[:, :, -1:], axis=2)

    def _drawn(self, generators: Sequence[np.random.Generator], agents: int) -> Iterator[np.ndarray]:
        """Numbers in [0, 1), (N, agents, numbers per action), each game's from a generator of its own."""
        shape = (DRAWN_AHEAD, agents, self.batch.actions.shape[2])
        while True:
            yield from np.stack([generator.random(shape) for generator in generators], axis=1)


@dataclass(frozen=True)
class Games:
    """Games of one line-up: a piece of work (`rlenvs.agents.cluster`).

    Attributes:
        id, choices, threads: of the batch.
        slots, players, seed, seats: as for `Match`; count: how many games.
    """

    id: str
    choices: Mapping[str, Any]
    threads: int | None
    players: Mapping[str, str | MaskedPolicy]
    slots: tuple[str, ...]
    seed: int
    count: int
    seats: Sequence[int] | None = None

    def play(self, tell: Task | None = None) -> tuple[np.ndarray, np.ndarray]:
        """How each team came out, (count, teams), and the returns, (count,)."""
        batch = new_batch(world_of(self.id), self.count, threads=self.threads, **self.choices)
        match = Match(batch, self.slots, self.players, self.seed, self.seats)
        places = match.play(tell)
        batch.close()
        return places, match.returns


def played(games: Sequence[Games], ray: str | None, tell: Task) -> Iterator[tuple[Games, np.ndarray, np.ndarray]]:
    """Pieces of work with what `play` gives for each; `tell` has the number of games done."""
    play = Games.play if ray else partial(Games.play, tell=tell)
    done = 0
    for some, (places, returns) in zip(games, spread(play, [(some,) for some in games], ray), strict=True):
        done += some.count
        tell(done, " against ".join(some.slots))
        yield some, places, returns


def _check_choices(world: str, name: str, actions: Any, shape: tuple[int, ...], counts: np.ndarray) -> np.ndarray:
    """A player's choices, if they are some: of each number of an action as many as `counts` says; ActionError
    otherwise."""
    given = np.asarray(actions)
    if given.shape != shape or given.dtype.kind not in "iu":
        raise ActionError(
            f"{world}: the player {name!r} returned actions of shape {given.shape} and type {given.dtype}; needed: "
            f"integers of shape {shape}"
        )
    rows = given.reshape(len(given), -1)
    wrong = np.argwhere((rows < 0) | (rows >= counts))
    if len(wrong):
        row, j = wrong[0].tolist()
        raise ActionError(
            f"{world}: the player {name!r} chose {rows[row, j]}, which is not one of 0 ... {counts[j] - 1}"
        )
    return given


def _check_numbers(world: str, name: str, actions: Any, count: int, size: int) -> np.ndarray:
    """A player's numbers, if they are some; ActionError otherwise."""
    given = np.asarray(actions)
    if given.shape != (count, size) or given.dtype.kind not in "fiu" or np.isnan(given).any():
        raise ActionError(
            f"{world}: the player {name!r} returned actions of shape {given.shape} and type {given.dtype}; needed: "
            f"numbers "
            f"of shape {(count, size)}, none of them NaN"
        )
    return given


# --- policies ---------------------------------------------------------------------------------------------------------


def resolve(setup: Setup, players: Mapping[str, Player] | Sequence[str] | None) -> dict[str, str | MaskedPolicy]:
    """By name: a scripted player's name, "random", or a function."""
    if players is None:
        players = list(dict.fromkeys([*setup.world.players, RANDOM]))
        if players == [RANDOM]:
            raise ParameterError(f"{setup.world.name} has no scripted players; give two players or more")
    if isinstance(players, str) or not all(isinstance(name, str) for name in players):
        raise ParameterError(f"players={players!r} must be a mapping from names to players, or a sequence of names")
    if len(set(players)) < max(len(players), 2):
        raise ParameterError(f"players={list(players)}: a tournament needs at least two, of different names")
    named = players if isinstance(players, Mapping) else dict(zip(players, players, strict=True))
    return {name: player_of(setup, name, player) for name, player in named.items()}


def player_of(setup: Setup, name: str, player: Player) -> str | MaskedPolicy:
    """A player as `tournament` takes it: a scripted player's name, "random", or a function."""
    known = [*setup.world.players, RANDOM]
    if isinstance(player, (str, Path)) and str(player).endswith(".safetensors"):
        player = load_agent(player, id=setup.world.name)
    if isinstance(player, Agent):
        return player.player(setup, f"the player {name!r}")
    if isinstance(player, (str, Path)) and str(player).endswith(".zip"):
        player = load_model(player)
    if hasattr(player, "predict"):
        return policy_of(player, setup, f"the player {name!r}")
    if callable(player) or player in known:
        return player
    raise UnknownNameError(
        f"{setup.world.name} has no player {player!r}. {nearest(str(player), known)} Or give a function, or the file "
        "of an agent (.safetensors) or of a model (.zip)."
    )
