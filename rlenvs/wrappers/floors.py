"""A wrapper that keeps the return of every episode near that of a baseline."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from rlenvs.core.compiler.loops import compiled
from rlenvs.core.declare.errors import ParameterError
from rlenvs.wrappers.guards import Guard, ask_numbers
from rlenvs.wrappers.masked import clear, put
from rlenvs.wrappers.stage import horizon_of


@dataclass
class ConservativeExploration(Guard):
    """Keep the return of every episode near that of a baseline: the policy may act only while the account (the return
    so far plus the baseline's expected return from here) cannot fall below a floor.

    With V the baseline's expected return from a state on, R_t the sum of rewards so far and floor =
    V(s_0) - alpha |V(s_0)|: the policy acts while R_t + V(s_t) - floor >= step_loss. Otherwise the fallback does, which
    has to be that baseline.

    What is guaranteed, if V is exact and no step of the policy lowers R + V by more than `step_loss` (on average, given
    the state): with until="end" the expected return of every episode, given what has happened when the fallback takes
    over, is at least the floor; in deterministic worlds the return itself is, and with until="step" too. What is not:
    anything where V is an estimate, as a number is, which is spread evenly over the horizon, or where `step_loss` is
    too small; in noisy worlds until="step" may spend what lucky steps of the baseline gained, and drift below the
    floor. Nothing is said about costs.

    Args:
        baseline: V: a function (stage, slots) that returns (slots,), or its address; or the number V(s_0), from which
            V(s_t) = V(s_0) (1 - t / horizon) is taken.
        alpha: the part of the baseline's return that may be lost, in [0, 1].
        step_loss: in units of the return, the most that one step of the policy can lose.
        until: "end", the fallback acts to the end of the episode, or "step", until the account allows the policy again.
        fallback: the baseline's policy, as for `Guard`.

    Info: as `Guard`; `floor_margin`, R_t + V(s_t) - floor (after the end R - floor).

    Raises (by `wrap`):
        ParameterError: no baseline; a number, and the horizon is not known; a reward that is a vector.

    Source: the episode-wise conservative constraint of Liu et al., "Near-optimal conservative exploration in
    reinforcement learning under episode-wise constraints", ICML 2023 (StepMix, EpsMix; here with V given, not learned).
    """

    baseline: Any = None
    alpha: float = 0.1
    step_loss: float = 0.0
    until: str = "end"

    def prepare(self) -> None:
        """Check the settings."""
        super().prepare()
        for setting, high in (("alpha", 1.0), ("step_loss", math.inf)):
            self.check_number(setting, 0.0, high)
            if np.ndim(getattr(self, setting)):
                raise self.setting_error(setting, "must be one number")
        self.check_choice("until", ["end", "step"])
        if self.below.reward.ndim > 1:
            raise ParameterError(
                f"ConservativeExploration: the reward of {self.name} is a vector here; put a scalarization below"
            )
        self._value = None
        if isinstance(self.baseline, (int, float)) and not isinstance(self.baseline, bool):
            self.check_number("baseline", -math.inf)
            if horizon_of(self) is None:
                raise self.setting_error("baseline", f"requires a horizon, and {self.name} has none; give a function")
        else:
            self._value = self.function("baseline")
        self._horizon = horizon_of(self)
        self.gained, self.floor, self.margin = (self.allocate(name) for name in ("gained", "floor", "margin"))
        self.handed_over = self.allocate("handed_over", dtype=np.bool_)
        self.to_come = np.zeros(self.count)  # what the baseline gains from here on

    def begin_episode(self, slots: np.ndarray) -> None:
        """The floor of this episode."""
        super().begin_episode(slots)
        clear(self.gained, slots)
        clear(self.handed_over, slots)
        value = self._value_now(slots)
        put(self.floor, value - self.alpha * np.abs(value), slots)
        put(self.margin, value - self.floor, slots)

    def _value_now(self, slots: np.ndarray) -> np.ndarray:
        """The baseline's expected return from here on, (slots,)."""
        if self._value is None:
            return float(self.baseline) * (1.0 - self.time / self._horizon)
        return ask_numbers(self, "baseline", self._value, self.below, slots)

    def act(self, actions: np.ndarray, slots: np.ndarray) -> np.ndarray:
        """The policy's actions if the account allows them."""
        self.run_all("hand over", self._handing_over, slots)
        return self.replaced(actions, slots, self.dangerous)

    def _handing_over(self, slots: np.ndarray) -> Iterator[tuple[Any, ...]]:
        rule = float(self.step_loss), self.until == "end"
        yield hand_over, slots, self.margin, *rule, self.handed_over, self.dangerous

    def after_step(self, slots: np.ndarray) -> None:
        """Query the baseline's expected return, then update the account."""
        if self._value is not None:
            self.to_come[...] = self._value_now(slots & ~self.below.over)
        super().after_step(slots)

    @property
    def looks_in_python(self) -> bool:
        """Where a function says what the baseline gains."""
        return self._value is not None or not self.lasts

    def looking(self, slots: np.ndarray) -> Iterator[tuple[Any, ...]]:
        """Add the reward to the account."""
        yield from super().looking(slots)
        if self._value is None:
            ends = self.below.terminated, self.below.truncated
            yield spread_value, float(self.baseline), self._horizon, self.time, *ends, self.to_come
        yield book, slots, self.below.reward, self.to_come, self.floor, self.gained, self.margin

    def entries(self) -> dict[str, Any]:
        """As `Guard`, and the account."""
        return {**super().entries(), "floor_margin": self.margin}


@compiled(nogil=True)
def hand_over(
    slots: np.ndarray,
    margin: np.ndarray,
    loss: float,
    to_the_end: bool,
    handed_over: np.ndarray,
    dangerous: np.ndarray,
) -> None:
    """Where the margin does not allow a step, and where it did not before: the fallback acts."""
    for i in range(slots.size):
        now = slots[i] and margin[i] < loss
        if to_the_end:
            handed_over[i] = handed_over[i] or now
            now = slots[i] and handed_over[i]
        dangerous[i] = now


@compiled(nogil=True)
def spread_value(
    baseline: float, horizon: int, time: np.ndarray, terminated: np.ndarray, truncated: np.ndarray, out: np.ndarray
) -> None:
    """What a baseline gains from here on, spread evenly over the horizon; 0 after the end."""
    for i in range(out.size):
        out[i] = 0.0 if terminated[i] or truncated[i] else baseline * (1.0 - time[i] / horizon)


@compiled(nogil=True)
def book(
    slots: np.ndarray,
    rewards: np.ndarray,
    to_come: np.ndarray,
    floor: np.ndarray,
    gained: np.ndarray,
    margin: np.ndarray,
) -> None:
    """What was gained, and the margin to the floor."""
    for i in range(slots.size):
        if slots[i]:
            gained[i] += rewards[i]
            margin[i] = gained[i] + to_come[i] - floor[i]
