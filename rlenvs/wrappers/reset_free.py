"""Episodes that go on where the last one ended."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rlenvs.core.batch.kernel_batch import KernelBatch
from rlenvs.core.compiler.loops import compiled
from rlenvs.core.declare.errors import ParameterError
from rlenvs.wrappers.masked import put
from rlenvs.wrappers.outcomes import came_to
from rlenvs.wrappers.snapshots import bytes_of, check_bottom
from rlenvs.wrappers.wrapper import Wrapper

NEVER = 1 << 62  # steps


@dataclass
class ResetFree(Wrapper):
    """Reset-free learning: the next episode starts in the state where the last one ended.

    Reset-free, or autonomous, learning alternates two tasks, "forward" and "backward", the second of which undoes the
    first (Eysenbach et al., "Leave no Trace", arXiv 1711.06782; Sharma et al., "Autonomous Reinforcement Learning",
    arXiv 2112.09605). An episode is one phase of one task. `reset` begins the next phase in the present state: the
    clock of the time limit starts anew, all else is as it was.

    A real reset is an intervention. It comes when the world has ended by itself without success (a crash), when its
    engine failed, when `stuck` says so and after `manual_reset_every` steps; the phase after it is a forward one. The
    first reset, and one with a seed, are real as well and set the count to 0; one with options is an intervention.

    Success ends a phase as terminated, with `switch="success"`; the time limit ends it as truncated. A new goal is one
    that the world draws for a fresh start: where it happens to be reached already, its phase ends with the first step.

    Args:
        forward: None for the world's own task, with a new goal in every phase where it has goals; a fixed goal, as
            many numbers as goals have, in their units; or a function (or its address "module:name") from
            observations (slots, ...) to the rewards (slots,) of these and whether they are a success, bool (slots,).
        backward: "home", which is the goal to be where the last real reset began; None for forward phases only; a
            fixed goal; or a function as above. Goals require a world with goals (PandaPush-v0, for example).
        steps: longest phase; None for the world's time limit.
        switch: "success", which ends a phase, or "time", where phases last their steps.
        manual_reset_every: steps between real resets; None for never.
        stuck: a function (or address) from observations (slots, ...) to bool (slots,): nothing can be done any more.

    Info: "phase", 0 forward and 1 backward; "interventions" since the last seed; "steps_since_reset", a real one. The
    usual figure of merit is interventions per 1e5 steps, beside the returns of evaluations with resets.

    Raises:
        ParameterError: goals for a world without goals, or of another length; steps beyond the time limit; a world of
            several agents; not the first wrapper.
    """

    forward: Any = None
    backward: Any = "home"
    steps: int | None = None
    switch: str = "success"
    manual_reset_every: int | None = None
    stuck: Any = None

    def prepare(self) -> None:
        batch = check_bottom(self)
        if batch.agents > 1:
            raise ParameterError(f"ResetFree: {self.name} has {batch.agents} agents; single-agent worlds are required")
        if self.steps is not None:
            self.check_whole("steps", 1, batch.setup.horizon)
        if self.manual_reset_every is not None:
            self.check_whole("manual_reset_every", 1)
        self.check_choice("switch", ("success", "time"))
        self._stuck = None if self.stuck is None else self.function("stuck")
        self._prepare_tasks(batch)
        self.allocate("phase", dtype=np.int64)
        self.allocate("interventions", dtype=np.int64)
        self.since = self.allocate("since", dtype=np.int64)
        self.allocate("due", dtype=np.bool_, fill=True)  # the next reset is a real one
        self.allocate("terminated", dtype=np.bool_)
        self.allocate("truncated", dtype=np.bool_)
        self.success, self.broken = np.zeros((2, self.count), np.bool_)
        self._judged = self._stuck is not None or any(callable(task) for task in self._tasks)
        self.lasts = hasattr(self.below, "came")

    def _prepare_tasks(self, batch: KernelBatch) -> None:
        """Of both phases: the goal, "home", or the function that judges them."""
        self._achieved, self._desired = batch.world.goal or ("", "")
        self._tasks = [self._task("forward"), self._task("backward")]
        if any(callable(task) for task in self._tasks):
            if self.below.reward.ndim > 1:
                raise ParameterError(f"ResetFree: {self.name} has vector rewards, but functions return scalars")
            self.allocate("reward")
        self.allocate("home", (batch.setup.goal_size if self._desired else 0,))

    def _task(self, setting: str) -> Any:
        value = getattr(self, setting)
        if value is None or callable(value):
            return value
        if isinstance(value, str) and ":" in value:
            return self.function(setting)
        if not self._desired:
            raise self.setting_error(setting, f"requires a world with goals, and {self.name} has none; give a function")
        if isinstance(value, str):
            if setting == "backward" and value == "home":
                return value
            raise self.setting_error(setting, "is neither a goal nor a function")
        self.check_number(setting, -np.inf)
        goal = np.asarray(value, np.float64)
        if goal.shape != (self.batch.setup.goal_size,):
            raise self.setting_error(setting, f"must be {self.batch.setup.goal_size} numbers")
        return goal

    def reset(self, slots: np.ndarray, seeds: Sequence[int | None] | None = None, options: Any = None) -> None:
        """Start phases, in the current state or by a real reset."""
        batch = self.batch
        seeded = slots & [seed is not None for seed in seeds] if seeds is not None else np.zeros_like(slots)
        real = slots & (self.due | seeded | bool(options))
        staying = np.flatnonzero(slots & ~real)
        states = bytes_of(batch.states)[staying].view(batch.states.dtype)
        own = len(batch.param_rows) == batch.num_envs  # parameters, which a reset may draw anew
        params = batch.param_rows[staying] if own else None
        self.below.reset(slots, seeds, options)  # of all slots: it draws the new goals
        self._start(slots, seeds)
        if len(staying):
            self._resume(states, staying)
            if params is not None:
                batch.param_rows[staying] = params
        self._count(slots, real)
        self._set_goals(slots)
        self.due[slots] = False
        if len(staying) or self._desired:
            self.below.refresh_observation(slots)

    def _resume(self, states: np.ndarray, worlds: np.ndarray) -> None:
        """Put worlds back to states, but at the beginning of an episode, and with what a reset drew for it."""
        live = self.batch.states
        states["elapsed"], states["over"], states["alive"] = 0, False, True
        for name in ("rng", "players_rng") if self.batch.world.players else ("rng",):
            states[name] = live[name][worlds]
        if self._desired:
            move_goals(states, self._desired, live[self._desired][worlds])
        bytes_of(live)[worlds] = bytes_of(states)

    def _count(self, slots: np.ndarray, real: np.ndarray) -> None:
        """Phases and counts; where real resets began is home."""
        self.phase[slots] = (1 - self.phase[slots]) if self._tasks[1] is not None else 0
        self.phase[real] = 0
        self.since[real] = 0
        self.interventions[real] += 1
        self.interventions[slots & (self.episode == 1)] = 0
        if self._desired:
            self.home[real] = self.batch.states[self._achieved][real]

    def _set_goals(self, slots: np.ndarray) -> None:
        """The goals that do not come from a reset."""
        for phase, task in enumerate(self._tasks):
            chosen = np.flatnonzero(slots & (self.phase == phase))
            if len(chosen) and (isinstance(task, (str, np.ndarray))):
                states = self.batch.states[chosen]
                goals = self.home[chosen] if isinstance(task, str) else np.tile(task, (len(chosen), 1))
                move_goals(states, self._desired, goals)
                self.batch.states[chosen] = states

    def after_step(self, slots: np.ndarray) -> None:
        if self._judged:
            self._judge(slots)
        super().after_step(slots)

    @property
    def looks_in_python(self) -> bool:
        """Whether Python functions are used."""
        return self._judged or not self.lasts

    def _judge(self, slots: np.ndarray) -> None:
        """Which slots have reached what their phase is for, and which are stuck; the rewards of phases with functions
        of their own."""
        came = self._came()
        self.success[...], self.broken[...] = came["success"], came["failures"]
        if "reward" in self.kept:
            put(self.reward, self.below.reward, slots)
        for phase, task in enumerate(self._tasks):
            here = slots & (self.phase == phase)
            if callable(task) and here.any():
                rewards, reached = task(self.below.observation)
                put(self.reward, np.asarray(rewards), here)
                put(self.success, np.asarray(reached), here)
        if self._stuck is not None:
            self.broken |= np.asarray(self._stuck(self.below.observation), np.bool_)

    def _came(self) -> dict[str, np.ndarray]:
        """What the step below came to."""
        return getattr(self.below, "came", None) or came_to(self.batch)

    def looking(self, slots: np.ndarray) -> Iterator[tuple[Any, ...]]:
        """Find phases that end, and those that need a real reset."""
        came, below = self._came(), self.below
        reached = self.success if self._judged else came["success"]
        broken = self.broken if self._judged else came["failures"]
        found = below.terminated, below.truncated, reached, broken, self.time
        rules = self.steps or NEVER, self.manual_reset_every or NEVER, self.switch == "success"
        yield end_phases, slots, *found, *rules, self.since, self.due, self.terminated, self.truncated

    def entries(self) -> dict[str, Any]:
        return {"phase": self.phase, "interventions": self.interventions, "steps_since_reset": self.since}


@compiled(nogil=True)
def end_phases(  # 13 parameters: arrays of all slots, which compiled code takes one by one
    slots: np.ndarray,
    ended: np.ndarray,
    late: np.ndarray,
    reached: np.ndarray,
    broken: np.ndarray,
    time: np.ndarray,
    steps: int,
    real_every: int,
    success_ends: bool,
    since: np.ndarray,
    due: np.ndarray,
    terminated: np.ndarray,
    truncated: np.ndarray,
) -> None:
    """Which phases end, and how; which real resets are due."""
    for i in range(slots.size):
        if slots[i]:
            since[i] += 1
            crashed = ended[i] and not reached[i]
            due[i] = crashed or broken[i] != 0 or since[i] >= real_every
            terminated[i] = ended[i] or (success_ends and reached[i])
            truncated[i] = (late[i] or time[i] >= steps or due[i]) and not terminated[i]


def move_goals(states: np.ndarray, name: str, goals: np.ndarray) -> None:
    """Give state records other goals, and move the markers in the image that stood at the old ones."""
    old = states[name].copy()
    states[name] = goals
    if "mocap_pos" in (states.dtype.names or ()) and old.shape[1] % 3 == 0:
        markers = states["mocap_pos"]
        for part in range(0, old.shape[1], 3):
            here = np.abs(markers - old[:, None, part : part + 3]).max(axis=2) < 1e-6
            world, marker = np.nonzero(here)
            markers[world, marker] = states[name][world, part : part + 3]
