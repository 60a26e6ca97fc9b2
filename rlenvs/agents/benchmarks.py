"""Benchmarks: tasks that are measured together, under one protocol that every result states."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from rlenvs.agents.benchmark_tasks import ALSO_HELD_OUT, COMPAT, META_WORLD, SINGLE
from rlenvs.agents.evaluate import Evaluation, Policy, check_seeds, evaluate, normalized_score
from rlenvs.agents.mixed_vector import MixedVectorEnv
from rlenvs.core.declare.errors import ParameterError, UnknownNameError, nearest, shortened
from rlenvs.core.declare.inputs import truth
from rlenvs.version import __version__

__all__ = ["Benchmark", "BenchmarkResult", "benchmark"]

SEEDS = tuple(range(50))  # the goals of a task
OTHER_SEEDS = tuple(range(50, 100))  # the goals on which ML1 tests
HEAD = ("Task", "Success ever", "at the end", "Mean return", "Score")
MULTI_TASK = {"reward": "v2", "goal_visible": True, "horizon": 500}
META_LEARNING = {**MULTI_TASK, "goal_visible": False}
# keywords of the reference scores, which do not depend on whether goals are observed
SCORED: tuple[dict[str, Any], ...] = (MULTI_TASK, META_LEARNING, {})
REFUSED = {  # keywords of `evaluate` that would change what is measured
    "ends_at_success": "plays episodes both ways",
    "task": "has tasks of its own",
    "weights": "has one version of the reward",
    "n_episodes": "plays an episode per seed",
}


@dataclass(frozen=True)
class Task:
    """What a policy did in one task: the same episodes to their ends, and until each first succeeds.

    Attributes:
        whole: episodes to their time limits.
        until_success: the same episodes, ended at success.
        score: mean return, 0 for random actions and 1 for the scripted expert; None with keywords other than those with
            which these were measured.
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
        protocol: name, versions, seeds, keywords.
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
        """Half width of the 95 % confidence interval of `ever` over goals, for this policy and these tasks (Agresti and
        Coull's: with two successes and two failures more in each task)."""
        counts = [len(task.whole.seeds) + 4 for task in self.tasks.values()]
        shares = [(task.ever * (n - 4) + 2.0) / n for task, n in zip(self.tasks.values(), counts, strict=True)]
        parts = [share * (1.0 - share) / n for share, n in zip(shares, counts, strict=True)]
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

    def to_dict(self) -> dict[str, Any]:
        """The result in JSON types."""
        tasks = {
            id: {
                "success_ever": task.ever,
                "success_at_end": task.at_end,
                "mean_return": task.whole.mean,
                "score": task.score,
            }
            for id, task in self.tasks.items()
        }
        means = {"success_ever": self.ever, "half_width": self.half_width, "success_at_end": self.at_end}
        protocol = {
            name: value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value
            for name, value in self.protocol.items()
        }
        return {"protocol": protocol, "tasks": tasks, **means}

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
        held_out_seeds: of their episodes; empty for `seeds`.

    Raises:
        ParameterError: no ids.
    """

    name: str
    ids: tuple[str, ...]
    seeds: tuple[int, ...] = SEEDS
    keywords: Mapping[str, Any] = field(default_factory=lambda: dict(MULTI_TASK))
    held_out: tuple[str, ...] = ()
    held_out_seeds: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if not self.ids:
            raise ParameterError(f"{self.name} has no tasks; give at least one id")

    def evaluate(
        self,
        policy: Policy | Mapping[str, Policy],
        *,
        one_hot: bool = False,
        held_out: bool = False,
        seeds: int | Sequence[int] | None = None,
        **keywords: Any,
    ) -> BenchmarkResult:
        """Play an episode per task and seed, twice: to the time limit, and until success.

        Args:
            policy: as for `rlenvs.evaluate`, one for all tasks, or one per id.
            one_hot: a function gets the task's code after the observation, (N, numbers + tasks); beside images, after
                "state".
            held_out: play the tasks that are held out, which have no codes.
            seeds: other ones than the benchmark's, or how many from 0 on.
            keywords: other ones of all tasks, such as `reward="v1"`, which the result states.

        Raises:
            ParameterError: policies for other ids than those of the tasks; `ends_at_success`, `task`, `weights` or
                `n_episodes`, which would change what is measured; no time limit; `held_out` where no task is, or with
                `one_hot`.
        """
        ids = self._chosen(held_out, one_hot)
        for name in REFUSED.keys() & keywords.keys():
            raise ParameterError(f"{self.name} {REFUSED[name]}; leave out {name}")
        own = (self.held_out_seeds if held_out else ()) or self.seeds
        played = check_seeds(own if seeds is None else seeds)
        chosen = {**self.keywords, **keywords}
        found = {id: self._task(id, self._of(policy, id, ids, one_hot), played, chosen) for id in ids}
        import mujoco

        versions = {"rlenvs": __version__, "mujoco": mujoco.__version__}
        return BenchmarkResult(
            {"benchmark": self._title(held_out), **versions, "seeds": _told(played), **chosen}, found
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
        if "task" in keywords:
            raise ParameterError(f"{self.name} {REFUSED['task']}; leave out task")
        return MixedVectorEnv(self._title(held_out), ids, num_envs, one_hot=one_hot, recurrent=recurrent, **chosen)

    def _title(self, held_out: bool) -> str:
        return f"{self.name}, held out" if held_out else self.name

    def _chosen(self, held_out: bool, one_hot: bool) -> tuple[str, ...]:
        """The ids of the tasks to learn, or of those that are held out."""
        held_out, one_hot = truth("held_out", held_out), truth("one_hot", one_hot)
        if held_out and (one_hot or not self.held_out):
            reason = "tasks that are held out have no codes" if self.held_out else f"{self.name} holds no task out"
            raise ParameterError(f"{reason}; leave out {'one_hot' if self.held_out else 'held_out'}")
        return self.held_out if held_out else self.ids

    def _task(self, id: str, policy: Policy, seeds: Sequence[int], chosen: Mapping[str, Any]) -> Task:
        whole = evaluate(id, policy, seeds=seeds, **chosen)
        until_success = evaluate(id, policy, seeds=seeds, ends_at_success=True, **chosen)
        return Task(whole, until_success, normalized_score(id, whole.mean) if chosen in SCORED else None)

    def _of(self, policy: Policy | Mapping[str, Policy], id: str, ids: Sequence[str], one_hot: bool) -> Policy:
        """The policy of one of these tasks."""
        if isinstance(policy, Mapping):
            if set(policy) != set(ids):
                raise ParameterError(f"{self.name} needs a policy for each of {', '.join(ids)}, and no other")
            policy = policy[id]
        if not one_hot or isinstance(policy, str):
            return policy
        return _with_code(policy, np.eye(len(ids), dtype=np.float32)[ids.index(id)])


def _with_code(policy: Callable[[Any], Any], code: np.ndarray) -> Callable[[Any], Any]:
    """A policy that is shown the code of its task after the numbers of each observation."""

    def choose(seen: Any) -> Any:
        numbers = seen["state"] if isinstance(seen, dict) else seen
        longer = np.hstack([numbers, np.broadcast_to(code, (len(numbers), len(code)))])
        return policy({**seen, "state": longer} if isinstance(seen, dict) else longer)

    return choose


def _told(seeds: Sequence[int]) -> str:
    """Such as "0 to 49"."""
    first, last = seeds[0], seeds[-1]
    return f"{first} to {last}" if list(seeds) == list(range(first, last + 1)) else ", ".join(map(str, seeds))


def _ids(tasks: Sequence[str]) -> tuple[str, ...]:
    return tuple(f"MetaWorld{task.title().replace('-', '')}-v0" for task in tasks)


BENCHMARKS = {
    name: Benchmark(name, _ids(tasks), held_out=_ids(held_out), keywords=META_LEARNING if held_out else MULTI_TASK)
    for name, (tasks, held_out) in META_WORLD.items()
}


def benchmark(name: str, *, task: str | None = None, compat: str = "none") -> Benchmark:
    """One of Meta-World's benchmarks by its name: "MT1", "MT10", "MT25", "MT50", "ML1", "ML10", "ML25" or "ML45".

    All have the reward v2, 500 steps and 50 goals per task, those of the seeds 0 to 49. MT have goals that are
    observed; ML hidden ones, and tasks that are held out from learning: in ML1 the same task with other goals, those of
    the seeds 50 to 99.

    Args:
        name: of the benchmark.
        task: of MT1 and ML1, which have one: its name there, such as "drawer-open", or its id here.
        compat: "metaworld": with the original's mistake in ML25, where basketball is learnt and held out as well. The
            name of the benchmark, which results state, says so.

    Raises:
        UnknownNameError: no such benchmark, or no such task.
        ParameterError: another `compat`; no `task` where one is needed, or one where none is.
    """
    if not isinstance(name, str) or name not in (*BENCHMARKS, *SINGLE):
        raise UnknownNameError(f"there is no benchmark {shortened(name)}. {nearest(name, (*BENCHMARKS, *SINGLE))}")
    if compat not in COMPAT:
        raise ParameterError(f"compat={shortened(compat)}: allowed are {' and '.join(map(repr, COMPAT))}")
    if name in SINGLE:
        return _single(name, task)
    if task is not None:
        raise ParameterError(f"{name} has tasks of its own; leave out task, or take MT1 or ML1")
    found, also = BENCHMARKS[name], ALSO_HELD_OUT.get(name, ()) if compat == "metaworld" else ()
    found = replace(found, keywords=dict(found.keywords))  # which the caller may change
    if not also:
        return found
    return replace(found, name=f"{name} (compat=metaworld)", held_out=(*_ids(also), *found.held_out))


def _single(name: str, task: Any) -> Benchmark:
    """MT1 or ML1 of a task."""
    ids = dict(zip(META_WORLD["MT50"][0], BENCHMARKS["MT50"].ids, strict=True))
    if task is None:
        raise ParameterError(f"{name} is of one task; give its name, such as task='drawer-open'")
    short = str(task).removeprefix("rlenvs/").removesuffix("-v3")
    id = short if short in ids.values() else ids.get(short)
    if id is None:
        raise UnknownNameError(f"Meta-World has no task {shortened(task)}. {nearest(short, ids)}")
    if name == "MT1":
        return Benchmark(f"MT1 of {id}", (id,), keywords=dict(MULTI_TASK))
    return Benchmark(f"ML1 of {id}", (id,), keywords=dict(META_LEARNING), held_out=(id,), held_out_seeds=OTHER_SEEDS)
