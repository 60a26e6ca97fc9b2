"""Round-robin tournaments between scripted or trained players, in worlds with competing teams."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rlenvs.agents.matches import AT_ONCE, Games, Player, played, resolve
from rlenvs.agents.ratings import aligned, elo, wilson
from rlenvs.core.catalogue.registry import entry, world_of
from rlenvs.core.declare.errors import ParameterError, UnknownNameError, nearest
from rlenvs.core.declare.inputs import first_seed_of, positive
from rlenvs.core.declare.options import Choice
from rlenvs.core.declare.progress import progress
from rlenvs.core.declare.setup import Setup
from rlenvs.core.declare.spec import World

__all__ = ["Tournament", "tournament"]


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
        head = [
            f"{self.id}{chosen}",
            f"{self.games} games per {each}, seeds from {self.seed}; columns: won-drawn-lost against",
        ]
        return "\n".join([*head, "", *aligned(table)])


# --- playing ----------------------------------------------------------------------------------------------------------


def tournament(
    id: str,
    players: Mapping[str, Player] | Sequence[str] | None = None,
    games: int = 100,
    seed: int = 0,
    threads: int | None = None,
    make: Mapping[str, Any] | None = None,
    ray: str | None = None,
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
        ray: the address of a Ray cluster, which plays the games of each line-up; see `rlenvs.agents.cluster`.
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
    known = resolve(setup, players)
    teams, names = _teams(setup), sorted(known)
    rounds = -(-games // teams)
    orders = _slot_orders(names, teams)
    wins, draws = np.zeros((2, len(names), len(names)), np.int64)
    pieces = [
        Games(id, choices, threads, known, slots, seed + start, min(AT_ONCE, rounds - start))
        for slots, start in itertools.product(orders, range(0, rounds, AT_ONCE))
    ]
    with progress(f"{world.name}: playing games", total=len(orders) * rounds) as tell:
        for piece, places, _ in played(pieces, ray, tell):
            _count(wins, draws, [names.index(name) for name in piece.slots], places)
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
        raise ParameterError(
            f"{world.name}: all agents are on one team with {choices}; a tournament needs two teams, and cross_play "
            "says how well players of one team work together"
        )
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
