"""What is checked: an environment in all its forms."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import gymnasium
from gymnasium.vector import AutoresetMode

from rlenvs.core.batch.engines import new_batch
from rlenvs.core.batch.kernel_batch import KernelBatch
from rlenvs.core.batch.simulate import batch_of
from rlenvs.core.catalogue.registry import entry
from rlenvs.core.check.playing import Chooser, Trajectory, roll
from rlenvs.core.declare.errors import ParameterError
from rlenvs.core.declare.setup import Setup
from rlenvs.core.declare.spec import World, load_world
from rlenvs.core.forms.gym_env import Env
from rlenvs.core.forms.vector_env import VectorEnv

SHORT = 12  # steps of a short episode, with the compiled backend
MOST_KEPT = 64_000_000  # bytes of a rollout that is kept for other rules
BESIDES = 400  # bytes of an agent's step beside its observation and its mask
LARGE = 100_000  # bytes of a state, with which steps begin to take long


def golden_file(world: World) -> Path | None:
    """Where the numbers of rule 16 are kept: beside the world's own file, so that a family keeps its own; None for
    worlds that no file holds."""
    file = getattr(sys.modules.get(world.address.partition(":")[0]), "__file__", None)
    return Path(file).with_name("golden.json") if file else None


@dataclass(frozen=True)
class Subject:
    """A world with keywords, and the classes of its API forms; `rewrap` puts wrappers on each form. Where
    `forms_only`, the world was checked already, and nobody plays batches of it."""

    name: str
    world: World
    choices: Mapping[str, Any]
    backend: str = "numba"
    golden: Path | None = None
    vector_reward: bool = False
    env_class: type[Env] = Env
    vector_class: type[VectorEnv] = VectorEnv
    parallel_class: type | None = None
    rewrap: Callable[[Any], Any] | None = None
    long: bool = False
    forms_only: bool = False
    tell: Callable[[str], None] = lambda text: None

    def having(self, **choices: Any) -> Subject:
        """The same with other keywords."""
        return replace(self, choices={**self.choices, **choices})

    @property
    def plain(self) -> Subject:
        """The same under the keywords that make plain Python quick, where nothing else was asked for."""
        return self if self.long or self.choices else self.having(**self.world.quick)

    def env(self, **choices: Any) -> Any:
        """A single environment; in a multi-agent world nobody else moves."""
        return self._dressed(self.env_class(self.world, **self._form(choices)))

    def vector(self, count: int, mode: AutoresetMode = AutoresetMode.NEXT_STEP, **choices: Any) -> Any:
        """The vector form."""
        return self._dressed(self.vector_class(self.world, count, autoreset_mode=mode, **self._form(choices)))

    def _dressed(self, env: Any) -> Any:
        return self.rewrap(env) if self.rewrap else env

    def _form(self, choices: Mapping[str, Any]) -> dict[str, Any]:
        form = {"backend": self.backend, "vector_reward": self.vector_reward, "others": "idle"}
        return {**form, **self.choices, **choices}

    def parallel(self, **choices: Any) -> Any:
        """The parallel form of a multi-agent world."""
        from rlenvs.core.forms.parallel_env import ParallelEnv

        make = self.parallel_class or ParallelEnv
        form = {"backend": self.backend, "vector_reward": self.vector_reward}
        return self._dressed(make(self.world, **{**form, **self.choices, **choices}))

    def batch(self, count: int, **choices: Any) -> KernelBatch:
        """The batch."""
        return new_batch(self.world, count, **{"backend": self.backend, **self.choices, **choices})

    def forms(self) -> list[tuple[str, Callable[..., Any]]]:
        """The API forms by name."""
        found: list[tuple[str, Callable[..., Any]]] = [
            ("Env", self.env),
            ("VectorEnv", functools.partial(self.vector, 3)),
        ]
        if self.for_agents:
            return [("ParallelEnv", self.parallel)]
        return [*found, ("ParallelEnv", self.parallel)] if self.world.agents else found

    @functools.cached_property
    def for_agents(self) -> bool:
        """Whether there are wrappers that take the parallel form alone."""
        return (
            self.rewrap is not None and bool(self.world.agents) and _refused(self.env) and not _refused(self.parallel)
        )

    @functools.cached_property
    def horizon(self) -> int:
        """Steps until truncation."""
        return Setup(self.world, **self.choices).horizon

    @functools.cached_property
    def short(self) -> int:
        """The horizon of short episodes; of longer ones where the wrappers refuse it."""
        steps = min(self.horizon, self.scale(SHORT, 8))
        if self.rewrap:
            make = self.forms()[0][1]
            while steps < self.horizon and _refused(make, horizon=steps):
                steps = min(2 * steps, self.horizon)
        return steps

    @property
    def policies(self) -> tuple[str, ...]:
        """The policies that play batches of the world."""
        if self.forms_only:
            return ()
        expert = ("expert",) if {"expert", "python_expert"} & set(self.world.kernels) else ()
        return ("random", *expert, *(name for name in self.world.players if name != "random"))

    def scale(self, many: int, few: int) -> int:
        """How much to do: the compiled backend is worth many, less with large states, the interpreted one few."""
        return max(few, many // self._slowness) if self.backend == "numba" else few

    @functools.cached_property
    def _slowness(self) -> int:
        """How many times as long as usual a step takes, judged by the size of a state; 1 in the long mode."""
        return 1 if self.long else max(1, Setup(self.world, **self.choices).dtypes["state"].itemsize // LARGE)

    @property
    def steps(self) -> int:
        """Steps of the rollouts that most rules look at: two episodes, or as many as may be asked for."""
        return min(2 * self.horizon, self.scale(300, 40))

    def rollout(self, policy: str) -> tuple[KernelBatch, Trajectory]:
        """What several rules look at: some worlds under a policy, from the seeds 0, 1, ..."""
        if policy in self._rollouts:
            return self._rollouts[policy]
        batch = self.batch(self._kept_worlds if policy == "random" else (self._kept_worlds + 1) // 2)
        found = batch, roll(batch, self.steps, policy)
        if sum(array.nbytes for array in found[1]) < MOST_KEPT:
            self._rollouts[policy] = found
        return found

    @functools.cached_property
    def _kept_worlds(self) -> int:
        """How many worlds a random rollout has, of other policies half as many: fewer where it would be too big to be
        kept, and be made three times."""
        one = self.batch(1)
        step = one.observations.nbytes + one.masks.nbytes + BESIDES * one.agents
        return max(self.scale(4, 3), min(self.scale(16, 3), MOST_KEPT // ((self.steps + 1) * step)))

    @functools.cached_property
    def _rollouts(self) -> dict[str, tuple[KernelBatch, Trajectory]]:
        return {}

    def states(
        self, count: int = 4, every: int = 12, worlds: int = 2, policies: Sequence[str] = ()
    ) -> Iterator[tuple[str, KernelBatch]]:
        """A batch under one policy after the other, in the midst of things: it is handed out again and again after some
        steps, and may be stepped and changed by who gets it."""
        stride = max(1, min(every, 2 * self.horizon // count))
        for policy in policies or self.policies:
            batch = self.batch(worlds)
            batch.seed(range(worlds))
            batch.reset()
            chooser = Chooser(batch, policy)
            for t in range(count * stride):
                chooser.load(t)
                batch.step_inplace()
                if t % stride == stride - 1:
                    yield policy, batch


def _refused(make: Callable[..., Any], **choices: Any) -> bool:
    """Whether wrappers refuse what they are put on."""
    try:
        make(**choices)
    except ParameterError:
        return True
    return False


def subject_of(given: Any, backend: str, golden: Path | None, choices: Mapping[str, Any]) -> Subject:
    """What to check, from an id, a world or an environment."""
    if isinstance(given, World):
        return Subject(given.name, given, choices, backend, golden)
    if isinstance(given, str):
        row = entry(given)
        vector_reward = bool(gymnasium.spec(row.id).kwargs.get("vector_reward", False))
        return Subject(row.id, load_world(row.address), choices, backend, golden, vector_reward)
    batch = batch_of(given)
    inner = getattr(given, "unwrapped", given)
    chosen = {**_choices_of(batch.setup), **choices}
    rewrap = getattr(given, "same_wrappers_on", None)
    subject = Subject(batch.world.name, batch.world, chosen, batch.backend, golden, rewrap=rewrap)
    if isinstance(inner, Env):
        return replace(subject, env_class=type(inner), vector_reward=inner.vector_reward)
    if isinstance(inner, VectorEnv):
        return replace(subject, vector_class=type(inner), vector_reward=inner.vector_reward)
    return subject if isinstance(inner, KernelBatch) else replace(subject, parallel_class=type(inner))


def _choices_of(setup: Setup) -> dict[str, Any]:
    """The keywords that a setup was made with, as far as they differ from the defaults."""
    usual = vars(Setup(setup.world, level=setup.level).values)
    values = {name: value for name, value in vars(setup.values).items() if value != usual[name]}
    weights = dict(zip(setup.world.terms, setup.weights.tolist(), strict=True))
    return {
        "level": setup.level,
        "horizon": setup.horizon,
        "weights": weights,
        "randomize": setup.random_ranges,
        **values,
    }
