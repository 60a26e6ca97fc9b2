"""Benchmarks: tasks that are measured together, under one protocol that every result states."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from rlenvs.agents.benchmark_tasks import ALSO_HELD_OUT, COMPAT, META_WORLD
from rlenvs.agents.evaluate import Evaluation, Policy, evaluate, normalized_score
from rlenvs.agents.mixed_vector import MixedVectorEnv
from rlenvs.core.declare.errors import ParameterError, UnknownNameError, nearest, shortened
from rlenvs.version import __version__

__all__ = ["Benchmark", "BenchmarkResult", "benchmark"]

SEEDS = tuple(range(50))  # the goals of a task
HEAD = ("Task", "Success ever", "at the end", "Mean return", "Score")
MULTI_TASK = {"reward": "v2", "goal_visible": True, "horizon": 500}
META_LEARNING = {**MULTI_TASK, "goal_visible": False}


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
        held_out: ids of tasks that are not learnt from.
    """

    name: str
    ids: tuple[str, ...]
    seeds: tuple[int, ...] = SEEDS
    keywords: Mapping[str, Any] = field(default_factory=lambda: dict(MULTI_TASK))
    held_out: tuple[str, ...] = ()

    def evaluate(
        self,
        policy: Policy | Mapping[str, Policy],
        *,
        one_hot: bool = False,
        held_out: bool = False,
        **keywords: Any,
    ) -> BenchmarkResult:
        """Play an episode per task and seed, twice: to the time limit, and until success.

        Args:
            policy: as for `rlenvs.evaluate`, one for all tasks, or one per id.
            one_hot: a function gets the task's code after the observation, (N, numbers + tasks).
            held_out: play the tasks that are held out, which have no codes.
            keywords: other ones of all tasks, such as `reward="v1"`, which the result states.

        Raises:
            ParameterError: policies for other ids than those of the tasks; `ends_at_success`, which is measured anyway;
                `held_out` where no task is, or with `one_hot`.
        """
        ids = self._chosen(held_out, one_hot)
        if "ends_at_success" in keywords:
            raise ParameterError(f"{self.name} plays episodes both ways; leave out ends_at_success")
        chosen = {**self.keywords, **keywords}
        found = {id: self._task(id, self._of(policy, id, ids, one_hot), chosen) for id in ids}
        import mujoco

        versions = {"rlenvs": __version__, "mujoco": mujoco.__version__}
        return BenchmarkResult(
            {"benchmark": self._title(held_out), **versions, "seeds": len(self.seeds), **chosen}, found
        )

    def vector(
        self,
        num_envs: int,
        *,
        one_hot: bool = False,
        recurrent: bool = False,
        held_out: bool = False,
        **keywords: Any,
    ) -> MixedVectorEnv:
        """A vector environment of all tasks, as evenly as `num_envs` allows, in their order.

        Args:
            num_envs: at least one per task.
            one_hot: a task's code follows the observation, (num_envs, numbers + tasks).
            recurrent: then follow the action before, its reward, and whether it ended the episode, as recurrent
                policies of meta reinforcement learning see them; zeros at the start of an episode.
            held_out: of the tasks that are held out, which have no codes.
            keywords: of `rlenvs.make_vec` for all tasks: `autoreset_mode`, `threads`, `ends_at_success`, `camera`, ...;
                they take the place of the protocol's.

        Raises:
            ParameterError: fewer worlds than tasks; `held_out` where no task is, or with `one_hot`; a wrong keyword.
        """
        ids, chosen = self._chosen(held_out, one_hot), {**self.keywords, **keywords}
        return MixedVectorEnv(self._title(held_out), ids, num_envs, one_hot=one_hot, recurrent=recurrent, **chosen)

    def _title(self, held_out: bool) -> str:
        return f"{self.name}, held out" if held_out else self.name

    def _chosen(self, held_out: bool, one_hot: bool) -> tuple[str, ...]:
        """The ids of the tasks to learn, or of those that are held out."""
        if held_out and (one_hot or not self.held_out):
            reason = "tasks that are held out have no codes" if self.held_out else f"{self.name} holds no task out"
            raise ParameterError(f"{reason}; leave out {'one_hot' if self.held_out else 'held_out'}")
        return self.held_out if held_out else self.ids

    def _task(self, id: str, policy: Policy, chosen: Mapping[str, Any]) -> Task:
        whole = evaluate(id, policy, seeds=self.seeds, **chosen)
        until_success = evaluate(id, policy, seeds=self.seeds, ends_at_success=True, **chosen)
        score = normalized_score(id, whole.mean) if chosen == self.keywords else None
        return Task(whole, until_success, score)

    def _of(self, policy: Policy | Mapping[str, Policy], id: str, ids: Sequence[str], one_hot: bool) -> Policy:
        """The policy of one of these tasks."""
        if isinstance(policy, Mapping):
            if set(policy) != set(ids):
                raise ParameterError(f"{self.name} needs a policy for each of {', '.join(ids)}, and no other")
            policy = policy[id]
        if not one_hot or isinstance(policy, str):
            return policy
        return _with_code(policy, np.eye(len(ids), dtype=np.float32)[ids.index(id)])


def _with_code(policy: Callable[[np.ndarray], Any], code: np.ndarray) -> Callable[[np.ndarray], Any]:
    """A policy that is shown the code of its task after each observation."""
    return lambda seen: policy(np.hstack([seen, np.broadcast_to(code, (len(seen), len(code)))]))


def _ids(tasks: Sequence[str]) -> tuple[str, ...]:
    return tuple(f"MetaWorld{task.title().replace('-', '')}-v0" for task in tasks)


BENCHMARKS = {
    name: Benchmark(name, _ids(tasks), held_out=_ids(held_out), keywords=META_LEARNING if held_out else MULTI_TASK)
    for name, (tasks, held_out) in META_WORLD.items()
}


def benchmark(name: str, *, compat: str = "none") -> Benchmark:
    """One of Meta-World's benchmarks by its name: "MT10", "MT25", "MT50", "ML10", "ML25" or "ML45".

    All have the reward v2, 500 steps and 50 goals per task, those of the seeds 0 to 49. MT have goals that are
    observed; ML hidden ones, and tasks that are held out from learning.

    Args:
        name: of the benchmark.
        compat: "metaworld": with the original's mistake in ML25, where basketball is learnt and held out as well. The
            name of the benchmark, which results state, says so.

    Raises:
        UnknownNameError: no such benchmark.
        ParameterError: another `compat`.
    """
    if name not in BENCHMARKS:
        raise UnknownNameError(f"there is no benchmark {shortened(name)}. {nearest(name, BENCHMARKS)}")
    if compat not in COMPAT:
        raise ParameterError(f"compat={shortened(compat)}: allowed are {' and '.join(map(repr, COMPAT))}")
    found, also = BENCHMARKS[name], ALSO_HELD_OUT.get(name, ()) if compat == "metaworld" else ()
    if not also:
        return found
    return replace(found, name=f"{name} (compat=metaworld)", held_out=(*_ids(also), *found.held_out))
