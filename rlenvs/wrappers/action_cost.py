"""What actions cost: their size and their change, taken off the reward."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium import spaces

from rlenvs.core.compiler.loops import compiled
from rlenvs.core.declare.errors import ParameterError
from rlenvs.wrappers.wrapper import Wrapper


@dataclass
class ActionCost(Wrapper):
    """Measure how smooth actions are, and optionally penalize large and changing actions.

    reward - magnitude |a_t|^2 - change |a_t - a_{t-1}|^2, in the action's units, and without the last part in the first
    step of an episode. Such costs make bang-bang control lose (Seyde et al., "Is Bang-Bang Control All You Need?",
    NeurIPS 2021). On top of an `Actuator` the policy's actions count, below it the executed ones.

    Attributes:
        magnitude: charge per squared unit of action.
        change: charge per squared unit of change.

    Info: `action_cost`, the charge; `continuity_cost`, 100 times the mean over channels of
    ((a_t - a_{t-1}) / (high - low))^2, 0 in the first step. Its mean over an episode is the continuity cost of Raffin
    et al. ("Smooth Exploration for Robotic Reinforcement Learning", CoRL 2021); smoother is lower.

    Raises:
        ParameterError: a negative charge; actions without finite bounds, or choices; a vector of rewards to charge.
    """

    magnitude: float = 0.0
    change: float = 0.0

    def prepare(self) -> None:
        """Check that actions are bounded numbers."""
        self.check_number("magnitude")
        self.check_number("change")
        space = self.action_space
        if not isinstance(space, spaces.Box) or not space.is_bounded("both"):
            raise ParameterError(f"ActionCost: {self.name} has the actions {space}; needed: a Box with finite bounds")
        if self.magnitude or self.change:
            if self.below.reward.ndim > 1:
                raise ParameterError(f"ActionCost: {self.name} has vector rewards; put a scalarization below")
            self.allocate("reward")
        self.span = (space.high - space.low).astype(np.float64).ravel()
        self.wanted = np.zeros((self.count, self.span.size))
        self.allocate("before", (self.span.size,))
        self.allocate("action_cost")
        self.allocate("continuity_cost")

    def begin_episode(self, slots: np.ndarray) -> None:
        """Nothing has been charged."""
        self.action_cost[slots] = self.continuity_cost[slots] = 0.0

    def acting(self, slots: np.ndarray) -> Iterator[tuple[Any, ...]]:
        """Measure the actions; they are passed on unchanged."""
        told = self.before, self.action_cost, self.continuity_cost
        charges = float(self.magnitude), float(self.change)
        yield charge, self.wanted, slots, self.time, self.span, *charges, *told

    def looking(self, slots: np.ndarray) -> Iterator[tuple[Any, ...]]:
        """Charge."""
        if "reward" in self.kept:
            yield subtract, self.below.reward, self.action_cost, slots, self.reward

    def entries(self) -> dict[str, Any]:
        """The measures."""
        return {"action_cost": self.action_cost, "continuity_cost": self.continuity_cost}


@compiled(nogil=True)
def subtract(numbers: np.ndarray, less: np.ndarray, slots: np.ndarray, out: np.ndarray) -> None:
    """out[slots] = numbers[slots] - less[slots]."""
    for i in range(slots.size):
        if slots[i]:
            out[i] = numbers[i] - less[i]


@compiled(nogil=True)
def charge(
    actions: np.ndarray,
    slots: np.ndarray,
    time: np.ndarray,
    span: np.ndarray,
    magnitude: float,
    change: float,
    before: np.ndarray,
    cost: np.ndarray,
    roughness: np.ndarray,
) -> None:
    """Charges and continuity costs of actions; `before` holds the last ones."""
    for i in range(slots.size):
        if not slots[i]:
            continue
        cost[i] = roughness[i] = 0.0
        for j in range(span.size):
            a = actions[i, j]
            step = a - before[i, j] if time[i] > 0 else 0.0
            cost[i] += magnitude * a * a + change * step * step
            roughness[i] += 100.0 / span.size * (step / span[j]) ** 2
            before[i, j] = a
