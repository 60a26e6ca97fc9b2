"""Stepping a batch: seeds, resets, actions that are checked before anything moves, threads that share the worlds."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from gymnasium.utils.seeding import np_random as make_generator
from gymnasium.vector import AutoresetMode

from rlenvs.core.batch.memory import BatchMemory
from rlenvs.core.compiler.build import direct
from rlenvs.core.compiler.driver import ACT, BEGIN, CHECK, EPISODE_OVER, NOT_A_NUMBER, ROLL, STEP
from rlenvs.core.compiler.lanes.blocks import WIDTH
from rlenvs.core.declare.errors import (
    ActionError,
    EpisodeOverError,
    shortened,
)
from rlenvs.core.declare.inputs import actions_of, seeds_of, switches_of
from rlenvs.core.declare.rng import seed_words

# below this time of a serial step, handing work to threads costs more than it saves
WORTH_THREADS = 300e-6
# calls that are timed; the first may compile
TRIALS = 5
LEAST_IN_LANES = 4 * WIDTH  # fewer worlds are stepped one after the other
FEW = 1 / 64  # part of the worlds; fewer ones begin sooner in one thread
NO_REASON = np.array("", object)
# why the episode of a world was broken off, by the driver's codes
REASONS = (
    "",
    "the state stopped being finite (NaN or infinity)",
    "the reward stopped being finite (NaN or infinity)",
    "the observation stopped being finite (NaN)",
    "the physics engine could not move the world",
)


class BatchStepping(BatchMemory):
    """What moves the worlds of `KernelBatch`."""

    backend: str
    threads: int | None
    moved_by_engine: bool

    # counts returns and costs for images, where there are any: a `render.EpisodeTotals`
    totals: Any = None

    # --- stepping -----------------------------------------------------------------------------------------------------

    def seed(self, seeds: int | Sequence[int | None]) -> None:
        """Seed the generators of the worlds: with seeds[i], where None leaves one as it is, or with seeds + i.

        Raises:
            ParameterError: not an integer of 0 or more, or another number of seeds. Nothing has changed then.
        """
        for i, seed in enumerate(seeds_of(seeds, self.num_worlds) or ()):
            if seed is not None:
                self.seed_from(make_generator(seed)[0], i)

    def seed_from(self, generator: np.random.Generator, index: int) -> None:
        """Seed one world's generator from a NumPy generator."""
        self.states["rng"][index] = seed_words(generator)
        if self.world.players:
            self.states["players_rng"][index] = seed_words(generator)

    def seed_unseeded(self, generator: np.random.Generator) -> None:
        """Seed those worlds that never were."""
        if self._all_seeded:
            return
        for i in np.flatnonzero(~self.states["rng"].any(axis=1)):
            self.seed_from(generator, int(i))
        self._all_seeded = True

    @property
    def all_seeded(self) -> bool:
        """Whether all worlds are known to have had a seed."""
        return self._all_seeded

    @property
    def seeded(self) -> bool:
        """Whether any world has had a seed, and so can have had a reset."""
        return self._all_seeded or bool(self.states["rng"].any())

    @property
    def at_start(self) -> np.ndarray:
        """Which worlds are at the beginning of an episode, no step of it behind them, (N,) bool, a new array: after a
        reset, and after a step that ended an episode and began the next at once (SAME_STEP)."""
        return self.states["elapsed"] == 0

    def reset(self, mask: np.ndarray | None = None) -> None:
        """Start new episodes in all worlds, or in those that the boolean mask selects."""
        self._begin[:] = True if mask is None else mask
        if mask is not None and np.count_nonzero(mask) < FEW * len(mask):
            self._driver.run_worlds(self._address, 0, self.num_worlds, BEGIN)
        else:
            self._run(BEGIN)

    def step(self, actions: Any) -> None:
        """Advance every world by one step.

        Args:
            actions: (N, A, ...) or, for one agent, (N, ...): numbers (clipped to the bounds of their space) or choices.

        Raises:
            ActionError: wrong shape or type, NaN, not a choice. No world has moved then.
            EpisodeOverError: an episode has ended and autoreset is disabled, or there was no reset yet.
        """
        self.load_actions(actions)
        self.step_loaded()

    def short_step(self, read: Callable[[], Any], refuses: bool) -> Callable[[Any], Any]:
        """`Env.step` of the sole agent of the sole world. All that it needs is looked up here, once, which halves its
        time. It gives None, and has done nothing, where an action of a world with masks needs a closer look.

        Args:
            read: gives what the step returns.
            refuses: whether choices that the mask forbids are an error.
        """
        first, run, address = self.first, direct(self._driver.run_worlds), self._address
        row, allowed = self._action_row.data, first.mask.data  # which give Python's numbers sooner
        bare, choices, illegal = self._bare_choices, self.setup.action_size, first.illegal

        def advance() -> None:
            code = run(address, 0, 1, ACT)
            if code:
                self._refuse(code)
            if self.totals is not None:
                self.totals.see_step(self, None)

        def step(action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]] | None:
            forbidden = False
            if type(action) in bare and 0 <= action < choices:
                forbidden = not allowed[action]
                if forbidden and refuses:
                    return None
                row[0] = action
            elif illegal is not None:
                return None
            else:
                self.load_action(action)
            code = run(address, 0, 1, ACT)
            if code:
                self._refuse(code)
            if forbidden:
                illegal[0] += 1
            if self.totals is not None:
                self.totals.see_step(self, None)
            return read()

        first.advance = advance if illegal is None else None
        return step

    def step_loaded(self, only: np.ndarray | None = None) -> None:
        """Advance every world by the actions that lie in `actions`.

        Args:
            only: bool (N,): the worlds to advance. All else stays as it is: states, observations, rewards, flags.
        """
        if only is None:
            self._advance()
        else:
            np.logical_not(only, out=self._asleep)
            try:
                self._advance()
            finally:
                self._asleep[:] = False
        if self.totals is not None:
            self.totals.see_step(self, only)

    def _advance(self) -> None:
        """One step of the worlds that are awake."""
        if self.num_worlds == 1:
            code = self._driver.run_worlds(self._address, 0, 1, ACT)
        elif self.in_lanes:
            code = 0 if self._all_can_step else self._driver.run_worlds(self._address, 0, 0, CHECK)
            if not code:
                self._step_blocks()
        elif self.thread_count() == 1:
            code = self._timed(self._driver.run_worlds, ACT)
        else:
            code = self._driver.run_worlds(self._address, 0, 0, CHECK)
            if not code:
                self._run(STEP)
        if code:
            self._refuse(code)

    @property
    def in_lanes(self) -> bool:
        """Whether several worlds are stepped at a time."""
        return (
            self.num_worlds >= LEAST_IN_LANES
            and WIDTH > 1
            and self.world.lanes
            and self.backend == "numba"
            and not self.moved_by_engine
            and not self.setup.image_shapes
        )

    @property
    def _all_can_step(self) -> bool:
        """Whether no action has to be refused or clipped, found out in a fraction of the time that CHECK takes."""
        from rlenvs.core.compiler.lanes.actions import all_within  # numba takes long to import

        if self.autoreset is AutoresetMode.DISABLED:
            return False
        self._all_seeded = self._all_seeded or bool(self.states["rng"].any(axis=1).all())
        return self._all_seeded and all_within(self._action_row, self._least_action, self._most_action)

    def _step_blocks(self) -> None:
        self._make_blocks(self.thread_count())
        self._share(self._driver.run_blocks(len(self.param_rows) > 1), STEP)

    @property
    def broken(self) -> np.ndarray:
        """By world, whether its episode was broken off in the last step; `errors` says why."""
        return self._failed != 0

    @property
    def failures(self) -> np.ndarray:
        """By world, a code of why its episode was broken off in the last step, 0 where it was not: the batch's own."""
        return self._failed

    @property
    def any_broken(self) -> bool:
        """Whether one was."""
        return bool(np.count_nonzero(self._failed))  # in a fraction of the time that `any` takes

    @property
    def errors(self) -> np.ndarray:
        """By world, why its episode was broken off in the last step, truncated; empty where it was not."""
        return self._reasons(self._failed)

    @property
    def final_errors(self) -> np.ndarray:
        """By world, why the episode that was set aside was broken off (SAME_STEP)."""
        return self._reasons(self._final_failed)

    def error(self, index: int, final: bool = False) -> str:
        """One world's of `errors`, or of `final_errors`."""
        codes = self._final_failed if final else self._failed
        return self._reasons(codes)[index] if codes[index] else ""

    def _reasons(self, codes: np.ndarray) -> np.ndarray:
        if not codes.any():
            return np.broadcast_to(NO_REASON, len(codes))
        found = np.full(len(codes), "", object)
        for i in np.flatnonzero(codes).tolist():
            found[i] = REASONS[codes[i]]
        return found

    def load_action(self, action: Any) -> None:
        """Copy the action of the sole agent of the sole world into the batch, in the shape that its space has, and
        no other; ActionError when its shape or type is wrong."""
        array = action if type(action) is np.ndarray else actions_of(self.world.name, action)
        if array.shape != self._action_shape:
            raise ActionError(self._action_complaint(action, array))
        self.load_actions(array)

    def load_actions(self, actions: Any) -> None:
        """Copy actions into the batch; ActionError when their shape or type is wrong."""
        if type(actions) in self._bare_choices and 0 <= actions < self.setup.action_size:
            self.actions[0, 0, 0] = actions  # a third of the time that np.asarray would take
            return
        array = actions if type(actions) is np.ndarray else actions_of(self.world.name, actions)
        array = switches_of(array) if self._binary else array
        view = self._action_views.get(array.shape)
        if view is None or array.dtype.kind not in self._action_kinds:
            raise ActionError(self._action_complaint(actions, array))
        view[...] = array

    def _action_complaint(self, actions: Any, array: np.ndarray) -> str:
        wanted: tuple[int, ...] = self.actions.shape[:2] if self.setup.single_choice else self.actions.shape
        if self.agents == 1:
            wanted = wanted[:1] + wanted[2:]
        kind = "real numbers" if self.setup.continuous else "integers"
        return (
            f"{self.world.name}: an action of shape {array.shape} and type {array.dtype} was given "
            f"({shortened(actions)}); needed: {kind} of shape {wanted[1:] if self.num_worlds == 1 else wanted}"
        )

    def _real(self, value: Any, dtype: Any) -> np.ndarray:
        """Real numbers in a new type; ActionError for anything else."""
        return self._numbers_in(value).astype(dtype)

    def _numbers_in(self, value: Any) -> np.ndarray:
        """Real numbers as they are; ActionError for anything else."""
        array = actions_of(self.world.name, value)
        if array.dtype.kind not in "fiu":
            raise ActionError(f"{self.world.name}: {shortened(value)} is not made of real numbers")
        return array

    def _refuse(self, code: int, given: list[Any] | None = None) -> None:
        """Raise the error of a driver's code; `given` is the action, where it does not lie in `actions`."""
        reason = code % 4
        index, agent = divmod(code // 4, self.agents)
        where = self.world.name + (f", environment {index}" if self.num_worlds > 1 else "")
        where += f", agent {agent}" if self.agents > 1 else ""
        if reason == EPISODE_OVER:
            raise EpisodeOverError(f"{where}: the episode is over, or never began; call reset() before step()")
        value = self.actions[index, agent].tolist() if given is None else given
        if reason == NOT_A_NUMBER:
            raise ActionError(f"{where}: action {value} contains NaN")
        raise ActionError(f"{where}: {self.choice_complaint(value, agent)}")

    def choice_complaint(self, value: list[int], agent: int) -> str:
        """What is wrong with an action that is not made of choices."""
        counts = self._choices[agent].tolist()
        if self.setup.single_choice:
            return f"action {value[0]} is not one of 0 ... {counts[0] - 1}"
        j = next(j for j, (number, count) in enumerate(zip(value, counts, strict=False)) if not 0 <= number < count)
        return f"action {value}: {value[j]} is not one of 0 ... {counts[j] - 1} of {self.setup.number_name(j)}"

    # --- threads ------------------------------------------------------------------------------------------------------

    def _run(self, job: int) -> None:
        """Do one of the jobs of `run_worlds` on all worlds."""
        self._share(self._driver.run_worlds, job)

    def _run_entry(self, function: Any, only: np.ndarray | None = None) -> None:
        """Call another loop on all worlds, or on those that the boolean mask selects."""
        if only is None or only.all():
            self._share(function, None)
            return
        for start, stop in np.flatnonzero(np.diff(only, prepend=False, append=False)).reshape(-1, 2).tolist():
            function(self._address, start, stop)

    def _share(self, function: Any, job: int | None) -> None:
        threads = self.thread_count()
        if threads > 1:
            from rlenvs.core.compiler.threads import pool  # numba takes long to import, and one thread does not need it

            if pool(threads).run(function, self._address, self.num_worlds, job):
                return
        if job is None:
            function(self._address, 0, self.num_worlds)
        else:
            self._timed(function, job)

    def _start_trials(self) -> None:
        self._serial_time = np.inf
        self._trials = TRIALS if self.threads is None and self.num_worlds > 1 else 0

    def _timed(self, run: Any, job: int) -> int:
        """Do a job in this thread; the first steps tell whether threads are worth their while."""
        if self._trials == 0 or job not in (ACT, STEP, ROLL):
            return run(self._address, 0, self.num_worlds, job)
        start = time.perf_counter()
        code = run(self._address, 0, self.num_worlds, job)
        self._serial_time = min(self._serial_time, time.perf_counter() - start)
        self._trials -= 1
        return code

    def thread_count(self) -> int:
        """How many threads share the loops over worlds at present."""
        if self.num_worlds == 1 or self.backend == "python":
            return 1
        if self.threads is not None:
            return min(self.threads, self.num_worlds)
        if self._trials > 0 or self._serial_time < WORTH_THREADS:
            return 1
        return min(cores(), self.num_worlds)


def cores() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
