"""Benchmarks: tasks that are measured together, under one protocol that every result states."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rlenvs.agents.evaluate import Evaluation, Policy, evaluate, normalized_score
from rlenvs.core.declare.errors import ParameterError, UnknownNameError, nearest, shortened
from rlenvs.version import __version__

__all__ = ["Benchmark", "BenchmarkResult", "benchmark"]

SEEDS = tuple(range(50))  # the goals of a task
HEAD = ("Task", "Success ever", "at the end", "Mean return", "Score")
MULTI_TASK = {"reward": "v2", "goal_visible": True, "horizon": 500}


@dataclass(frozen=True)
class Task:
    """What a policy did in one task: the same episodes to their ends, and until each first succeeds.

    Attributes:
        whole: episodes to their time limits.
        until_success: the same episodes, ended at success.
        score: mean return, 0 for random actions and 1 for the scripted expert; None where these were measured with
            another reward.
    """

    whole: Evaluation
    until_success: Evaluation
    score: float | None

    @property
    def ever(self) -> float:
        """Fraction of episodes that succeed at any step, what the original reports."""
        return self.until_success.success_rate

    @property
    def at_end(self) -> float:
        """Fraction of episodes that are a success at their last step."""
        return self.whole.success_rate


@dataclass(frozen=True)
class BenchmarkResult:
    """Results by id, with the protocol.

    Attributes:
        protocol: name, versions, number of seeds, keywords.
        tasks: by id.
    """

    protocol: Mapping[str, Any]
    tasks: Mapping[str, Task]

    @property
    def ever(self) -> float:
        """Mean over tasks of the success at any step."""
        return float(np.mean([task.ever for task in self.tasks.values()]))

    @property
    def at_end(self) -> float:
        """Mean over tasks of the success at the last step."""
        return float(np.mean([task.at_end for task in self.tasks.values()]))

    @property
    def half_width(self) -> float:
        """Half width of the 95 % confidence interval of `ever` over goals, for this policy and these tasks (normal
        approximation)."""
        parts = [task.ever * (1.0 - task.ever) / len(task.whole.seeds) for task in self.tasks.values()]
        return 1.96 * math.sqrt(sum(parts)) / len(parts)

    def rows(self) -> list[tuple[str, ...]]:
        """Of a table: task, success at any step, at the last one, mean return, score; last the mean over tasks."""
        found = [
            (id, f"{task.ever:.2f}", f"{task.at_end:.2f}", f"{task.whole.mean:.4g}", _number(task.score))
            for id, task in self.tasks.items()
        ]
        scores = [task.score for task in self.tasks.values()]
        mean = None if None in scores else float(np.mean([score for score in scores if score is not None]))
        return [*found, ("mean", f"{self.ever:.3f} ± {self.half_width:.3f}", f"{self.at_end:.3f}", "", _number(mean))]

    def __str__(self) -> str:
        told = ", ".join(f"{name}={value}" for name, value in self.protocol.items())
        return "\n".join([told, *("  ".join(row) for row in self.rows())])


def _number(score: float | None) -> str:
    return "" if score is None else f"{score:.3f}"


@dataclass(frozen=True)
class Benchmark:
    """Tasks with one protocol.

    Attributes:
        name: such as "MT10".
        ids: of the tasks, in the order of their one-hot codes.
        seeds: of the episodes of every task; a seed is a goal.
        keywords: of `rlenvs.make_batch`, of all tasks.
    """

    name: str
    ids: tuple[str, ...]
    seeds: tuple[int, ...] = SEEDS
    keywords: Mapping[str, Any] = field(default_factory=lambda: dict(MULTI_TASK))

    def evaluate(
        self, policy: Policy | Mapping[str, Policy], *, one_hot: bool = False, **keywords: Any
    ) -> BenchmarkResult:
        """Play an episode per task and seed, twice: to the time limit, and until success.

        Args:
            policy: as for `rlenvs.evaluate`, one for all tasks, or one per id.
            one_hot: a function gets the task's code after the observation, (N, numbers + tasks).
            keywords: other ones of all tasks, such as `reward="v1"`, which the result states.

        Raises:
            ParameterError: policies for other ids than those of the tasks; `ends_at_success`, which is measured anyway.
        """
        if "ends_at_success" in keywords:
            raise ParameterError(f"{self.name} plays episodes both ways; leave out ends_at_success")
        chosen = {**self.keywords, **keywords}
        found = {id: self._task(id, self._of(policy, id, one_hot), chosen) for id in self.ids}
        import mujoco

        versions = {"rlenvs": __version__, "mujoco": mujoco.__version__}
        return BenchmarkResult({"benchmark": self.name, **versions, "seeds": len(self.seeds), **chosen}, found)

    def _task(self, id: str, policy: Policy, chosen: Mapping[str, Any]) -> Task:
        whole = evaluate(id, policy, seeds=self.seeds, **chosen)
        until_success = evaluate(id, policy, seeds=self.seeds, ends_at_success=True, **chosen)
        score = normalized_score(id, whole.mean) if chosen == self.keywords else None
        return Task(whole, until_success, score)

    def _of(self, policy: Policy | Mapping[str, Policy], id: str, one_hot: bool) -> Policy:
        """The policy of a task."""
        if isinstance(policy, Mapping):
            if set(policy) != set(self.ids):
                raise ParameterError(f"{self.name} needs a policy for each of {', '.join(self.ids)}, and no other")
            policy = policy[id]
        if not one_hot or isinstance(policy, str):
            return policy
        return _with_code(policy, np.eye(len(self.ids), dtype=np.float32)[self.ids.index(id)])


def _with_code(policy: Callable[[np.ndarray], Any], code: np.ndarray) -> Callable[[np.ndarray], Any]:
    """A policy that is shown the code of its task after each observation."""
    return lambda seen: policy(np.hstack([seen, np.broadcast_to(code, (len(seen), len(code)))]))


BENCHMARKS = {
    "MT10": Benchmark(
        "MT10",
        (
            *("MetaWorldReach-v0", "MetaWorldPush-v0", "MetaWorldPickPlace-v0", "MetaWorldDoorOpen-v0"),
            *("MetaWorldDrawerOpen-v0", "MetaWorldDrawerClose-v0", "MetaWorldButtonPressTopdown-v0"),
            *("MetaWorldPegInsertSide-v0", "MetaWorldWindowOpen-v0", "MetaWorldWindowClose-v0"),
        ),
    ),
}


def benchmark(name: str) -> Benchmark:
    """A benchmark by its name: "MT10", Meta-World's ten tasks for one policy, with the reward v2, goals observed, 500
    steps and 50 goals per task, those of the seeds 0 to 49.

    Raises:
        UnknownNameError: no such benchmark.
    """
    if name not in BENCHMARKS:
        raise UnknownNameError(f"there is no benchmark {shortened(name)}. {nearest(name, BENCHMARKS)}")
    return BENCHMARKS[name]
