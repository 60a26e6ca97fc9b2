"""Round-robin tournaments between scripted or trained players, in worlds with competing teams."""

from __future__ import annotations

import itertools
import json
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from rlenvs.agents.agent import Agent
from rlenvs.agents.agent import Player as Learnt
from rlenvs.agents.files import load_agent
from rlenvs.agents.models import MaskedPolicy, load_model, policy_of
from rlenvs.agents.ratings import elo, wilson
from rlenvs.core.batch.engines import new_batch
from rlenvs.core.batch.kernel_batch import KernelBatch
from rlenvs.core.catalogue.registry import entry, world_of
from rlenvs.core.declare.errors import ActionError, ParameterError, UnknownNameError, nearest
from rlenvs.core.declare.inputs import first_seed_of, positive
from rlenvs.core.declare.options import Choice
from rlenvs.core.declare.progress import Task, progress
from rlenvs.core.declare.setup import Setup
from rlenvs.core.declare.spec import World

__all__ = ["Tournament", "tournament"]

Player = str | Path | MaskedPolicy | Any

RANDOM = "random"
AT_ONCE = 256  # games side by side in one batch
DRAWN_AHEAD = 64  # steps for which the random player draws at once


# --- the result -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Tournament:
    """The result of a round-robin tournament between P players.

    Where more than two teams play, a game counts once for every two of its slots that different players hold.

    Attributes:
        id: the environment.
        choices: the keywords it was made with.
        seed: of the first game.
        teams: how many players meet in a game.
        games: how many games each line-up played; with two teams, each pair of players.
        players: names, the strongest first.
        wins: how often player i came before player j, int64 (P, P).
        draws: how often neither did, int64 (P, P), symmetric.
        elo: ratings with mean 1500, float64 (P,).
        elo_half_width: half widths of their 95 % intervals, (P,). How they are found: `rlenvs.agents.ratings.elo`.
    """

    id: str
    choices: dict[str, Any]
    seed: int
    teams: int
    games: int
    players: tuple[str, ...]
    wins: np.ndarray
    draws: np.ndarray
    elo: np.ndarray
    elo_half_width: np.ndarray

    def win_rate(self, player: str, other: str | None = None) -> tuple[float, float, float]:
        """Fraction of games won, against one other player or all, with its 95 % interval (Wilson). Draws do not count
        as won."""
        i = self._index(player)
        rivals = slice(None) if other is None else [self._index(other)]
        won, total = int(self.wins[i, rivals].sum()), int(self._met[i, rivals].sum())
        return (won / total if total else 0.0, *wilson(won, total))

    @property
    def _met(self) -> np.ndarray:
        return self.wins + self.wins.T + self.draws

    def _index(self, player: str) -> int:
        if player not in self.players:
            raise UnknownNameError(f"there is no player {player!r}. {nearest(player, self.players)}")
        return self.players.index(player)

    def to_dict(self) -> dict[str, Any]:
        """The result in JSON types: a row per player and a row per pair."""
        rows = [
            {
                "name": name,
                "elo": float(self.elo[i]),
                "elo_half_width": float(self.elo_half_width[i]),
                "wins": int(self.wins[i].sum()),
                "draws": int(self.draws[i].sum()),
                "losses": int(self.wins[:, i].sum()),
            }
            for i, name in enumerate(self.players)
        ]
        head = {name: getattr(self, name) for name in ("id", "choices", "seed", "teams", "games")}
        pairs = [self._pair(i, j) for i, j in itertools.combinations(range(len(self.players)), 2)]
        return {**head, "players": rows, "pairs": pairs}

    def _pair(self, i: int, j: int) -> dict[str, Any]:
        share, low, high = self.win_rate(self.players[i], self.players[j])
        return {
            "players": [self.players[i], self.players[j]],
            "wins": int(self.wins[i, j]),
            "draws": int(self.draws[i, j]),
            "losses": int(self.wins[j, i]),
            "win_rate": share,
            "win_rate_interval": [low, high],
        }

    def save(self, file: str | Path) -> None:
        """Write `to_dict()` as JSON."""
        Path(file).write_text(json.dumps(self.to_dict(), indent=1) + "\n")

    def _record(self, i: int, j: int) -> str:
        return f"{self.wins[i, j]}-{self.draws[i, j]}-{self.wins[j, i]}" if self._met[i, j] else ""

    def __str__(self) -> str:
        each = "pair" if self.teams == 2 else "line-up"
        chosen = "".join(f", {name}={value}" for name, value in self.choices.items())
        table = [["", "Elo", "won, 95 % interval", *self.players]]
        for i, name in enumerate(self.players):
            share, low, high = (100 * number for number in self.win_rate(name))
            rating = f"{self.elo[i]:.0f} ± {self.elo_half_width[i]:.0f}"
            records = [self._record(i, j) for j in range(len(self.players))]
            table.append([name, rating, f"{share:.1f} % ({low:.1f} - {high:.1f})", *records])
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        lines = [
            row[0].ljust(widths[0])
            + "".join(f"  {cell:>{width}}" for cell, width in zip(row[1:], widths[1:], strict=True))
            for row in table
        ]
        head = [
            f"{self.id}{chosen}",
            f"{self.games} games per {each}, seeds from {self.seed}; columns: won-drawn-lost against",
        ]
        return "\n".join([*head, "", *(line.rstrip() for line in lines)])


# --- playing ----------------------------------------------------------------------------------------------------------


def tournament(
    id: str,
    players: Mapping[str, Player] | Sequence[str] | None = None,
    games: int = 100,
    seed: int = 0,
    threads: int | None = None,
    make: Mapping[str, Any] | None = None,
    **choices: Any,
) -> Tournament:
    """Run a round-robin tournament on the same seeds and from all slots, and rate the players.

    With two teams every pair of players plays. With more, every line-up of as many players as there are teams does, in
    all rotations of the slots; fewer players than teams hold several slots. A team has won when `success` is set for
    one of its agents in the last step. Where more than two teams play, those that did not win are ranked by how long
    they lived; all who are alive at the end are equal. A world with a `placing`, such as a race, ranks them
    itself.

    Args:
        id: the environment.
        players: by name, or the names alone; all of the world's scripted players and "random" by default. A player is

            - the name of one of the world's scripted players;
            - "random": all that the mask allows is equally likely, unless the world has a "random" of its own;
            - a function (observations (M, ...), masks (M, choices) or None, rng) -> actions, (M,) integers or (M, n)
              numbers in [-1, 1], for M agents of M or fewer games. It has to draw from `rng` alone. Where observations
              are dictionaries, it gets a dictionary of arrays; agents with roles are asked for one by one;
            - an `Agent`, or its file (.safetensors), unless it has a memory;
            - a model of Stable-Baselines3 (PPO, A2C, DQN, SAC, TD3) or sb3-contrib's MaskablePPO, or the file where it
              was saved (.zip; loading it runs code that the file contains). It plays without exploration.
        games: per line-up, rounded up to whole rotations of the slots; game g has the seed seed + g // teams.
        seed: of the first game.
        threads: of the batch, as for `KernelBatch`.
        make: keywords of `make` whose names are taken here, such as {"players": 3}.
        choices: the other keywords of `make`. When all of them leave one team only, and one choice of an option gives
            several (opponent="self"), that choice is made.

    Raises:
        UnknownNameError: an id, player or keyword that does not exist.
        ParameterError: fewer than two players, no games, a world or choices without teams, a model that does not fit.
        ActionError: a player's actions have the wrong shape or type, or are no choices; the message names the player.
    """
    world = world_of(id)
    games, seed = positive("games", games), first_seed_of(seed)
    choices = _with_teams(world, {**choices, **(make or {})})
    setup = Setup(world, **choices)
    known = _resolve(setup, players)
    teams, names = _teams(setup), sorted(known)
    rounds = -(-games // teams)
    orders = _slot_orders(names, teams)
    wins, draws = np.zeros((2, len(names), len(names)), np.int64)
    with progress(f"{world.name}: playing games", total=len(orders) * rounds) as tell:
        for (n, slots), start in itertools.product(enumerate(orders), range(0, rounds, AT_ONCE)):
            tell(n * rounds + start, " against ".join(slots))
            batch = new_batch(world, min(AT_ONCE, rounds - start), threads=threads, **choices)
            match = _Match(batch, slots, known, seed + start)
            _count(wins, draws, [names.index(name) for name in slots], match.play(tell))
            batch.close()
    return Tournament(entry(id).id, choices, int(seed), teams, rounds * teams, **_rated(names, wins, draws))


def _rated(names: Sequence[str], wins: np.ndarray, draws: np.ndarray) -> dict[str, Any]:
    """What a `Tournament` says of its players, the strongest first."""
    ratings, half_widths = elo(wins, draws)
    order = sorted(range(len(names)), key=lambda i: (-ratings[i], names[i]))
    return {
        "players": tuple(names[i] for i in order),
        "wins": wins[np.ix_(order, order)],
        "draws": draws[np.ix_(order, order)],
        "elo": ratings[order],
        "elo_half_width": half_widths[order],
    }


def _teams(setup: Setup) -> int:
    return len(set(setup.teams))


def _with_teams(world: World, choices: dict[str, Any]) -> dict[str, Any]:
    """The choices, with the one added that lets teams play against each other, where that is needed."""
    if _teams(Setup(world, **choices)) > 1:
        return choices
    ways = [
        {name: value}
        for name, option in world.options.items()
        if world.teams and isinstance(option, Choice)
        for value in option.values
        if _gives_teams(world, {**choices, name: value})
    ]
    free = [way for way in ways if not set(way) & set(choices)]
    if len(free) == 1:
        return {**choices, **free[0]}
    if not ways:
        raise ParameterError(f"{world.name}: all agents are on one team with {choices}; a tournament needs two teams")
    advice = " or ".join(f"{name}={value!r}" for way in ways for name, value in way.items())
    raise ParameterError(f"{world.name}: all agents are on one team with {choices}; choose {advice}")


def _gives_teams(world: World, choices: dict[str, Any]) -> bool:
    try:
        return _teams(Setup(world, **choices)) > 1
    except ParameterError:
        return False


def _slot_orders(names: Sequence[str], teams: int) -> list[tuple[str, ...]]:
    """Who sits where: all line-ups, in all rotations. Fewer players than slots sit down in turn, each once first."""
    if len(names) >= teams:
        line_ups = list(itertools.combinations(names, teams))
    else:
        turns = (itertools.islice(itertools.cycle(names), first, first + teams) for first in range(len(names)))
        line_ups = sorted({tuple(sorted(turn)) for turn in turns})
    return [line_up[first:] + line_up[:first] for line_up in line_ups for first in range(teams)]


class _Match:
    """The games of one line-up, side by side: the game in world i has the seed `seed` + i.

    Args:
        batch: the worlds.
        slots: the name of the player on each team.
        players: by name.
        seed: of the first game.
    """

    def __init__(
        self, batch: KernelBatch, slots: Sequence[str], players: Mapping[str, str | MaskedPolicy], seed: int
    ) -> None:
        self.batch = batch
        self.teams = np.array(batch.setup.teams, np.int64)
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


def _resolve(setup: Setup, players: Mapping[str, Player] | Sequence[str] | None) -> dict[str, str | MaskedPolicy]:
    """By name: a scripted player's name, "random", or a function."""
    if players is None:
        players = list(dict.fromkeys([*setup.world.players, RANDOM]))
    if isinstance(players, str) or not all(isinstance(name, str) for name in players):
        raise ParameterError(f"players={players!r} must be a mapping from names to players, or a sequence of names")
    if len(set(players)) < max(len(players), 2):
        raise ParameterError(f"players={list(players)}: a tournament needs at least two, of different names")
    named = players if isinstance(players, Mapping) else dict(zip(players, players, strict=True))
    return {name: _player(setup, name, player) for name, player in named.items()}


def _player(setup: Setup, name: str, player: Player) -> str | MaskedPolicy:
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


def _count(wins: np.ndarray, draws: np.ndarray, slots: Sequence[int], places: np.ndarray) -> None:
    """Add the games of one line-up: slots are player numbers, places (N, teams)."""
    for first, second in itertools.combinations(range(len(slots)), 2):
        i, j = slots[first], slots[second]
        if i != j:
            wins[i, j] += np.count_nonzero(places[:, first] > places[:, second])
            wins[j, i] += np.count_nonzero(places[:, first] < places[:, second])
            even = np.count_nonzero(places[:, first] == places[:, second])
            draws[i, j] += even
            draws[j, i] += even
