"""Cross-play: how much each pair of players reaches together, in worlds whose agents are one team."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rlenvs.agents.matches import AT_ONCE, Games, Player, played, resolve
from rlenvs.agents.ratings import aligned
from rlenvs.core.catalogue.registry import entry, world_of
from rlenvs.core.declare.errors import ParameterError, UnknownNameError, nearest
from rlenvs.core.declare.inputs import first_seed_of, positive
from rlenvs.core.declare.progress import progress
from rlenvs.core.declare.setup import Setup

__all__ = ["CrossPlay", "cross_play"]

Z = 1.959964  # of a 95 % interval


@dataclass(frozen=True)
class CrossPlay:
    """What P players reach with each other: with themselves on the diagonal, with strangers elsewhere.

    Attributes:
        id: the environment.
        choices: the keywords it was made with.
        seed: of the first game; every pair plays the same seeds.
        games: how many games each pair played.
        players: names; the first one has the highest mean over all partners.
        returns: mean return, the mean over agents, where the player of the row is the first agent and that of the
            column all others, float64 (P, P).
        half_widths: of their 95 % intervals, which take games as independent, (P, P); infinite for one game.
    """

    id: str
    choices: dict[str, Any]
    seed: int
    games: int
    players: tuple[str, ...]
    returns: np.ndarray
    half_widths: np.ndarray

    def pair(self, player: str, other: str) -> tuple[float, float]:
        """Mean return of a player, as the first agent, with another, and the half width of its 95 % interval."""
        i, j = self._index(player), self._index(other)
        return float(self.returns[i, j]), float(self.half_widths[i, j])

    @property
    def self_play(self) -> float:
        """Mean return of players with themselves."""
        return float(np.diag(self.returns).mean())

    @property
    def with_strangers(self) -> float:
        """Mean return of different players with each other."""
        return float(self.returns[~np.eye(len(self.players), dtype=bool)].mean())

    def _index(self, player: str) -> int:
        if player not in self.players:
            raise UnknownNameError(f"there is no player {player!r}. {nearest(player, self.players)}")
        return self.players.index(player)

    def to_dict(self) -> dict[str, Any]:
        """The result in JSON types; half widths are None where one game was played."""
        head = {name: getattr(self, name) for name in ("id", "choices", "seed", "games", "self_play", "with_strangers")}
        widths = [[width if math.isfinite(width) else None for width in row] for row in self.half_widths.tolist()]
        return {**head, "players": list(self.players), "returns": self.returns.tolist(), "half_widths": widths}

    def save(self, file: str | Path) -> None:
        """Write `to_dict()` as JSON."""
        Path(file).write_text(json.dumps(self.to_dict(), indent=1) + "\n")

    def __str__(self) -> str:
        chosen = "".join(f", {name}={value}" for name, value in self.choices.items())
        table = [["", "mean", *self.players]]
        for i, name in enumerate(self.players):
            widths = [f" ± {width:.1f}" if math.isfinite(width) else "" for width in self.half_widths[i]]
            cells = [f"{mean:.1f}{width}" for mean, width in zip(self.returns[i], widths, strict=True)]
            table.append([name, f"{(self.returns[i].mean() + self.returns[:, i].mean()) / 2:.1f}", *cells])
        head = [
            f"{self.id}{chosen}",
            f"{self.games} game{'s' if self.games > 1 else ''} per pair, seeds from {self.seed}; mean return of all "
            "agents, of whom the first plays as the row says, the others as the column says",
        ]
        tail = f"with themselves {self.self_play:.1f}, with others {self.with_strangers:.1f}"
        return "\n".join([*head, "", *aligned(table), "", tail])


def is_one_team(id: str) -> bool:
    """Whether the agents of a world are never on different teams."""
    world = world_of(id)
    return world.agents and not world.teams


def cross_play(
    id: str,
    players: Mapping[str, Player] | Sequence[str] | None = None,
    games: int = 100,
    seed: int = 0,
    threads: int | None = None,
    make: Mapping[str, Any] | None = None,
    ray: str | None = None,
    **choices: Any,
) -> CrossPlay:
    """Play every ordered pair of players, themselves included, on the same seeds: the first agent is of the one, all
    others are of the other.

    Args:
        id: the environment.
        players: by name, or the names alone, as for `rlenvs.tournament`; all of the world's scripted players and
            "random" by default.
        games: per pair.
        seed: of the first game; game g has the seed seed + g.
        threads: of the batch, as for `KernelBatch`.
        make: keywords of `make` whose names are taken here.
        ray: the address of a Ray cluster, which plays the games of each pair; see `rlenvs.agents.cluster`.
        choices: the other keywords of `make`.

    Raises:
        UnknownNameError: an id, player or keyword that does not exist.
        ParameterError: fewer than two players or agents, no games, a world whose teams play against each other, a model
            that does not fit.
        ActionError: a player's actions have the wrong shape or type, or are no choices; the message names the player.
    """
    world = world_of(id)
    games, seed = positive("games", games), first_seed_of(seed)
    choices = {**choices, **(make or {})}
    setup = Setup(world, **choices)
    agents = len(setup.teams)
    if world.teams or agents < 2:
        reason = "teams play against each other; hold a tournament" if world.teams else "there is one agent"
        raise ParameterError(f"{world.name}: cross-play needs agents of one team, and here {reason}")
    known = resolve(setup, players)
    names, seats = sorted(known), [min(k, 1) for k in range(agents)]
    returns = np.zeros((len(names), len(names), games))
    pairs = list(itertools.product(range(len(names)), repeat=2))
    pieces = [
        Games(id, choices, threads, known, (names[i], names[j]), seed + start, min(AT_ONCE, games - start), seats)
        for (i, j), start in itertools.product(pairs, range(0, games, AT_ONCE))
    ]
    with progress(f"{world.name}: playing games", total=len(pairs) * games) as tell:
        for piece, _, found in played(pieces, ray, tell):
            i, j = (names.index(name) for name in piece.slots)
            returns[i, j, piece.seed - seed : piece.seed - seed + piece.count] = found
    return CrossPlay(entry(id).id, choices, int(seed), games, **_ordered(names, returns))


def _ordered(names: Sequence[str], returns: np.ndarray) -> dict[str, Any]:
    """What a `CrossPlay` says of its players, from returns by pair and game, (P, P, games)."""
    means, games = returns.mean(axis=2), returns.shape[2]
    spread = returns.std(axis=2, ddof=1) if games > 1 else np.full_like(means, np.inf)
    order = np.argsort(-(means.mean(axis=1) + means.mean(axis=0)), kind="stable")
    return {
        "players": tuple(names[i] for i in order),
        "returns": means[np.ix_(order, order)],
        "half_widths": (Z * spread / np.sqrt(games))[np.ix_(order, order)],
    }
