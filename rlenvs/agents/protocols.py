"""Named protocols: tasks that a policy plays, with its wins per task, and sequences in which a learner meets them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from rlenvs.agents.battle_protocols import CONDENSED, DISPERSED, PROTOCOL_NAMES, lifelong_rows, macro_rows, smac_rows
from rlenvs.agents.evaluate import Evaluation, Policy, check_policy, episode_seeds, evaluate, normalized_score
from rlenvs.agents.ratings import wilson
from rlenvs.core.catalogue.registry import world_of
from rlenvs.core.declare.errors import ParameterError, UnknownNameError, nearest, shortened
from rlenvs.core.declare.setup import Setup

__all__ = ["Lifelong", "Outcome", "Protocol", "ProtocolResult", "protocol"]

HEAD = ("Task", "Wins", "Ties", "Losses", "Win rate, 95 % interval", "Return", "Steps")
OF_BATCHES = ("backend", "threads")  # keywords that do not change what is played
EPISODES = 20  # LLM-PySC2's number of games per task


@dataclass(frozen=True)
class Outcome:
    """The episodes of one task.

    Attributes:
        wins: episodes that were a success. ties: others that lasted to the time limit. losses: the rest.
        played: returns, lengths and the like.
    """

    wins: int
    ties: int
    losses: int
    played: Evaluation

    @property
    def win_rate(self) -> tuple[float, float, float]:
        """Share of the episodes that were won, and its 95 % interval (Wilson)."""
        total = self.wins + self.ties + self.losses
        return (self.wins / total, *wilson(self.wins, total))


@dataclass(frozen=True)
class ProtocolResult:
    """Outcomes by task, and under which protocol."""

    protocol: Mapping[str, Any]
    tasks: Mapping[str, Outcome]

    def rows(self) -> list[tuple[str, ...]]:
        """Of a table, see HEAD."""
        found = []
        for name, task in self.tasks.items():
            share, low, high = task.win_rate
            rate = f"{share:.2f} ({low:.2f} - {high:.2f})"
            counts = (str(count) for count in (task.wins, task.ties, task.losses))
            found.append((name, *counts, rate, f"{task.played.mean:.4g}", f"{task.played.mean_length:.1f}"))
        return found

    def to_dict(self) -> dict[str, Any]:
        """The result in JSON types."""
        tasks = {
            name: {
                **{count: getattr(task, count) for count in ("wins", "ties", "losses")},
                "win_rate": task.win_rate[0],
                "win_rate_interval": list(task.win_rate[1:]),
                "mean_return": task.played.mean,
                "mean_length": task.played.mean_length,
            }
            for name, task in self.tasks.items()
        }
        return {"protocol": dict(self.protocol), "tasks": tasks}

    def __str__(self) -> str:
        told = ", ".join(f"{name}={value}" for name, value in self.protocol.items())
        return "\n".join([told, *("  ".join(row) for row in (HEAD, *self.rows()))])


@dataclass(frozen=True)
class Lifelong:
    """How a learner did on all tasks, before the first block and after each.

    Attributes:
        tasks: names. blocks: the task of each block.
        scores: float64 (blocks + 1, tasks): mean return, 0 for random actions and 1 for the scripted expert.
        wins: the share of episodes won, likewise.
    """

    tasks: tuple[str, ...]
    blocks: tuple[str, ...]
    scores: np.ndarray
    wins: np.ndarray

    def _met(self, task: str) -> list[int]:
        """The rows after each block of a task."""
        return [1 + b for b, block in enumerate(self.blocks) if block == task]

    @property
    def performance_maintenance(self) -> float:
        """Mean change of a task's score, from the block that last taught it to each later block that did not; negative
        where tasks are forgotten. NaN where no block follows another task's."""
        changes = []
        for k, task in enumerate(self.tasks):
            met = self._met(task)
            for row in range(met[0] + 1, len(self.scores)):
                if row not in met:
                    last = max(taught for taught in met if taught < row)
                    changes.append(self.scores[row, k] - self.scores[last, k])
        return float(np.mean(changes)) if changes else float("nan")

    @property
    def forward_transfer(self) -> float:
        """Mean change of a task's score, from before all blocks to just before its own first one. NaN for one task."""
        firsts = [(k, self._met(task)[0] - 1) for k, task in enumerate(self.tasks)]
        changes = [self.scores[row, k] - self.scores[0, k] for k, row in firsts if row > 0]
        return float(np.mean(changes)) if changes else float("nan")

    @property
    def backward_transfer(self) -> float:
        """Mean change of a task's score, from after its own last block to the end. NaN for one task."""
        lasts = [(k, self._met(task)[-1]) for k, task in enumerate(self.tasks)]
        changes = [self.scores[-1, k] - self.scores[row, k] for k, row in lasts if row < len(self.scores) - 1]
        return float(np.mean(changes)) if changes else float("nan")

    @property
    def relative_performance(self) -> float:
        """Mean score at the end, as a share of the scripted expert's."""
        return float(self.scores[-1].mean())


@dataclass(frozen=True)
class Protocol:
    """Tasks that are played together.

    Attributes:
        name: such as "llm-pysc2".
        tasks: by name the id of the environment and its keywords.
        blocks: the tasks in the order in which a learner meets them; empty where the protocol has none.
    """

    name: str
    tasks: Mapping[str, tuple[str, Mapping[str, Any]]]
    blocks: tuple[str, ...] = ()

    def evaluate(
        self,
        policy: Policy | Mapping[str, Policy],
        n_episodes: int = EPISODES,
        *,
        tasks: tuple[str, ...] | list[str] | None = None,
        **keywords: Any,
    ) -> ProtocolResult:
        """Play episodes of each task, on the seeds from 0.

        Args:
            policy: as for `rlenvs.evaluate`, among them the names of the world's scripted players, such as "kiting";
                or one per task.
            tasks: names of those to play; all by default.
            keywords: other ones of all tasks, such as `opponent="kiting"`, which the result states.

        Raises:
            UnknownNameError: no such task, policy or keyword.
            ParameterError: no tasks, policies for other tasks than these, or no episodes.
        """
        chosen = self._chosen(tasks)
        if isinstance(policy, Mapping) and set(policy) != set(chosen):
            raise ParameterError(f"{self.name} needs a policy for each of {', '.join(chosen)}, and no other")
        policies = policy if isinstance(policy, Mapping) else dict.fromkeys(chosen, policy)
        for name in chosen:  # before the first is played
            id, own = self.tasks[name]
            check_policy(world_of(id), policies[name])
            _horizon(id, {**own, **keywords})
        seeds = episode_seeds(n_episodes, None)
        found = {name: self._play(name, policies[name], seeds, keywords) for name in chosen}
        return ProtocolResult({"protocol": self.name, "episodes": len(seeds), **keywords}, found)

    def learn(
        self, learn: Callable[[str, Mapping[str, Any]], Any], policy: Policy, n_episodes: int = EPISODES
    ) -> Lifelong:
        """Go through the blocks: a learner learns each, and all tasks are evaluated before the first and after each.

        Args:
            learn: called with the id and the keywords of each block; the length of a block is up to it.
            policy: what it has learnt so far, as for `rlenvs.evaluate`; it is frozen while it is evaluated. Names of
                tasks are not given to it.

        Raises:
            ParameterError: this protocol has no blocks.
        """
        if not self.blocks:
            sequences = [name for name, other in PROTOCOLS.items() if other.blocks]
            raise ParameterError(f"{self.name} has no blocks to learn; protocols with blocks: {', '.join(sequences)}")
        rows = [self.evaluate(policy, n_episodes)]
        for name in self.blocks:
            learn(*self.tasks[name])
            rows.append(self.evaluate(policy, n_episodes))
        scores = [
            [normalized_score(self.tasks[name][0], task.played.mean) for name, task in row.tasks.items()]
            for row in rows
        ]
        wins = [[task.win_rate[0] for task in row.tasks.values()] for row in rows]
        return Lifelong(tuple(self.tasks), self.blocks, np.array(scores, float), np.array(wins))

    def _chosen(self, tasks: tuple[str, ...] | list[str] | None) -> tuple[str, ...]:
        if tasks is None:
            return tuple(self.tasks)
        if isinstance(tasks, str) or not tasks:
            raise ParameterError(f"tasks={tasks!r} is not a list of names of tasks of {self.name}")
        for name in tasks:
            if name not in self.tasks:
                raise UnknownNameError(f"{self.name} has no task {shortened(name)}. {nearest(name, self.tasks)}")
        return tuple(dict.fromkeys(tasks))

    def _play(self, name: str, policy: Policy, seeds: list[int], keywords: Mapping[str, Any]) -> Outcome:
        id, own = self.tasks[name]
        chosen = {**own, **keywords}
        played = evaluate(id, policy, seeds=seeds, **chosen)
        won = played.successes > 0.0
        limit = played.lengths >= _horizon(id, chosen)
        return Outcome(int(won.sum()), int((limit & ~won).sum()), int((~limit & ~won).sum()), played)


def _horizon(id: str, keywords: Mapping[str, Any]) -> int:
    """The time limit with these keywords, which are checked."""
    return Setup(world_of(id), **{name: value for name, value in keywords.items() if name not in OF_BATCHES}).horizon


PROTOCOLS = {
    name: Protocol(name, tasks, blocks)
    for name, tasks, blocks in zip(
        PROTOCOL_NAMES,
        (macro_rows(), smac_rows(), lifelong_rows(), lifelong_rows()),
        ((), (), CONDENSED, DISPERSED),
        strict=True,
    )
}


def protocol(name: str) -> Protocol:
    """A protocol by its name: "llm-pysc2", "llm-smac", "l2rlcf-condensed" or "l2rlcf-dispersed".

    Raises:
        UnknownNameError: no such protocol.
    """
    if name not in PROTOCOLS:
        raise UnknownNameError(f"there is no protocol {shortened(name)}. {nearest(name, PROTOCOLS)}")
    return PROTOCOLS[name]
