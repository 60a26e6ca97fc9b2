"""What is in a dataset, as numbers: `card.json` and `card.md` beside the data.

- `sha256`: of the content, episode by episode: names, types, shapes and bytes (little-endian) of all arrays. Equal
  hashes mean equal data, whatever library wrote the files.
- `saco`: unique pairs of state and action, as a share of all steps (Schweighofer et al., "A Dataset Perspective on
  Offline Reinforcement Learning", 2021, divide by those of a reference dataset; Off-the-Grid MARL by the steps, as
  here). The state is the observation; of joint trajectories the central state, with the actions of all agents.
  Continuous states rarely repeat, so there it is about 1.
- `tq`: relative trajectory quality (same source), the mean return on a scale from 0, random actions, to 1, the best.
- `cost`: undiscounted sums per episode, with the limit, as DSRL (Liu et al., "Datasets and Benchmarks for Offline Safe
  Reinforcement Learning", 2023) has them, and `cost_and_return`, both of every episode, for its cost-return plot.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rlenvs.agents.rollouts import Played
from rlenvs.integrations.minari import Episode

__all__ = ["card_text"]

BINS = 20
BAR = 40  # characters


class Tally:
    """Counts what a dataset contains, as it is written.

    Attributes:
        returns, costs, lengths: of the episodes, in their order; costs are empty where there are none.
    """

    def __init__(self, limit: float | None = None) -> None:
        self.returns: list[float] = []
        self.costs: list[float] = []
        self.lengths: list[int] = []
        self.limit, self.nbytes = limit, 0
        self._hash = hashlib.sha256()
        self._pairs: set[bytes] = set()
        self._players: dict[str, list[int]] = {}

    def add(self, found: Played, player: str, stored: bool = True) -> None:
        """Count episodes; they are part of the hash where they are stored."""
        places = range(len(self.returns), len(self.returns) + len(found.episodes))
        self._players.setdefault(player, []).extend(places)
        for episode, value in zip(found.episodes, found.returns, strict=True):
            self.returns.append(value)
            self.lengths.append(len(episode.actions))
            if "cost" in episode.infos:
                costs = episode.infos["cost"][1:]
                self.costs.append(math.fsum(costs.reshape(len(costs), -1).mean(axis=1)))
            self._pairs.update(pairs_of(episode))
            if stored:
                self.hash_arrays(arrays_of(episode))

    def hash_arrays(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Let arrays be part of the hash and of the size."""
        for name, array in arrays.items():
            plain = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
            self._hash.update(f"{name} {plain.dtype.str} {plain.shape}\n".encode())
            self._hash.update(plain.data if plain.size else b"")
            self.nbytes += plain.nbytes

    @property
    def digest(self) -> str:
        """SHA-256 of what was counted."""
        return self._hash.hexdigest()

    def card(self, about: Mapping[str, Any], scale: Mapping[str, float | None]) -> dict[str, Any]:
        """The card.

        Args:
            about: name, id, keywords and the like, first on the card.
            scale: "random", "best" and "score"; empty where nothing is known.
        """
        steps = sum(self.lengths)
        card = {
            **about,
            "episodes": len(self.returns),
            "steps": steps,
            "bytes": self.nbytes,
            "sha256": self.digest,
            "saco": rounded(len(self._pairs) / steps),
            "tq": rounded(scale.get("score")),
            "return_of_random": rounded(scale.get("random")),
            "return_of_best": rounded(scale.get("best")),
            "players": {name: self._of(places) for name, places in self._players.items()},
            "return": spread(self.returns),
            "length": spread(self.lengths),
        }
        if self.costs:
            limit = self.limit
            within = None if limit is None else float(np.mean(np.array(self.costs) <= limit))
            card["cost"] = {**spread(self.costs), "limit": limit, "within_limit": rounded(within)}
            pairs = zip(self.costs, self.returns, strict=True)
            card["cost_and_return"] = [[rounded(cost), rounded(value)] for cost, value in pairs]
        return card

    def _of(self, places: list[int]) -> dict[str, Any]:
        """A player's episodes."""
        told: dict[str, Any] = {"episodes": len(places), "return": rounded(mean([self.returns[i] for i in places]))}
        if self.costs:
            told["cost"] = rounded(mean([self.costs[i] for i in places]))
        return told


def arrays_of(episode: Episode) -> dict[str, np.ndarray]:
    """All arrays of an episode by name, in a fixed order."""
    seen = episode.observations if isinstance(episode.observations, dict) else {"": episode.observations}
    return {
        **{f"observations/{name}": seen[name] for name in sorted(seen)},
        "actions": episode.actions,
        "rewards": episode.rewards,
        "terminated": episode.terminated,
        "truncated": episode.truncated,
        **{f"infos/{name}": episode.infos[name] for name in sorted(episode.infos)},
    }


def pairs_of(episode: Episode) -> list[bytes]:
    """A hash of state and action for each step."""
    seen = episode.observations
    states = (
        [episode.infos["state"]]
        if "state" in episode.infos
        else list(seen.values())
        if isinstance(seen, dict)
        else [seen]
    )
    count = len(episode.actions)
    rows = [
        np.ascontiguousarray(array[:count]).reshape(count, -1).view(np.uint8) for array in (*states, episode.actions)
    ]
    return [hashlib.blake2b(row.tobytes(), digest_size=16).digest() for row in np.concatenate(rows, axis=1)]


def mean(values: Sequence[float]) -> float:
    """Mean, from the exact sum."""
    return math.fsum(values) / len(values)


def rounded(value: float | None) -> float | None:
    """Six digits, so that a card does not depend on the last bit of a sum; None for what is not a number."""
    return None if value is None or not math.isfinite(value) else float(f"{value:.6g}")


def spread(values: Sequence[float]) -> dict[str, Any]:
    """Mean, standard deviation, least, largest, and a histogram of equal bins."""
    middle = mean(values)
    counts, edges = np.histogram(np.asarray(values, np.float64), BINS)
    return {
        "mean": rounded(middle),
        "std": rounded(math.sqrt(math.fsum((value - middle) ** 2 for value in values) / len(values))),
        "min": rounded(min(values)),
        "max": rounded(max(values)),
        "edges": [rounded(edge) for edge in edges.tolist()],
        "counts": counts.tolist(),
    }


def card_json(card: Mapping[str, Any]) -> str:
    """The card as JSON, a line for each entry."""
    entries = [f" {json.dumps(name)}: {json.dumps(value, sort_keys=False)}" for name, value in card.items()]
    return "{\n" + ",\n".join(entries) + "\n}\n"


def card_text(card: Mapping[str, Any]) -> str:
    """A card as Markdown, with its histograms.

    Args:
        card: the content of `card.json`.
    """
    plain = [
        name for name, value in card.items() if not isinstance(value, (dict, list)) or name in ("keywords", "wrappers")
    ]
    lines = [f"# {card['name']}", "", "| | |", "|---|---|"]
    lines += [
        f"| {name} | {card[name] if isinstance(card[name], str) else json.dumps(card[name])} |" for name in plain[1:]
    ]
    lines += ["", "| player | episodes | mean return | mean cost |", "|---|---|---|---|"]
    for name, told in card["players"].items():
        lines.append(f"| {name} | {told['episodes']} | {told['return']} | {told.get('cost', '')} |")
    for name in ("return", "cost", "length"):
        if name in card:
            lines += ["", *_histogram(name, card[name])]
    return "\n".join(lines) + "\n"


def _histogram(name: str, found: Mapping[str, Any]) -> list[str]:
    head = ", ".join(f"{key} {found[key]}" for key in ("mean", "std", "min", "max"))
    limit = (
        f"; limit {found['limit']}, {found['within_limit']} of the episodes within"
        if found.get("limit") is not None
        else ""
    )
    most = max(found["counts"])
    bars = [
        f"{edge:>12} {count:>7} {'#' * math.ceil(BAR * count / most)}".rstrip()
        for edge, count in zip(found["edges"], found["counts"], strict=False)
    ]
    return [f"{name}: {head}{limit}", "", "```text", *bars, "```"]
