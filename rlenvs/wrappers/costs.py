"""Wrappers for constrained tasks: the cost of an episode as a budget, as a penalty, and as part of the state. A
constrained task asks for the largest return among policies whose episodes cost at most a limit on average.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rlenvs.core.compiler.loops import compiled
from rlenvs.core.declare.errors import ParameterError
from rlenvs.wrappers.appended import Appends
from rlenvs.wrappers.floors import (
    ConservativeExploration as ConservativeExploration,  # here by its address in older specs
)
from rlenvs.wrappers.guards import check_flag
from rlenvs.wrappers.masked import add_rows, clear, count_rows, flat, put, put_number
from rlenvs.wrappers.stage import horizon_of
from rlenvs.wrappers.wrapper import Wrapper

SAFETY_GYM_LIMIT = 25.0  # of environments of other packages
LARGEST = 1e6  # of a number in an observation


@dataclass
class CostSum(Wrapper):
    """Base of wrappers on the sum of an episode's costs.

    Args:
        limit: of the sum, in units of the cost; None for the limit that the world declares, or Safety Gym's 25 for
            environments of other packages.
        cost: the entry of info to sum up: "cost", the total, or one of the "cost_<name>".

    Info: `cost_sum`; of a single cost `cost_sum_<name>`, and so with all keys, that wrappers on several costs may be
    stacked.

    Raises (by `wrap`):
        ParameterError: the world has no such cost, or None was given and its costs have different limits.
    """

    limit: float | None = None
    cost: str = "cost"

    def prepare(self) -> None:
        """Check the settings."""
        self._check_cost()
        if self.limit is None:
            self.allowed = self._declared()
        else:
            self.check_one("limit")
            self.allowed = float(self.limit)
        self.lasts = self.lasting(self.cost) is not None
        name = self.cost.removeprefix("cost_")
        self.suffix = "" if name == "cost" else f"_{name}"
        self.cost_sum = self.allocate("cost_sum")

    def check_one(self, setting: str, low: float = 0.0, high: float = math.inf) -> None:
        """ParameterError unless a setting is a single number within [low, high]."""
        self.check_number(setting, low, high)
        if np.ndim(getattr(self, setting)):
            raise self.setting_error(setting, "must be one number")

    def _check_cost(self) -> None:
        if self.batch is None or (isinstance(self.cost, str) and self.below.read(self.cost) is not None):
            return  # other packages' infos are not known before the first step
        costs = self.batch.world.costs
        known = ["cost", *(f"cost_{name}" for name in costs)]
        if not costs:
            raise self.setting_error("cost", f"does not exist: {self.name} has no costs")
        self.check_choice("cost", known)

    def _declared(self) -> float:
        """The limit that the world declares."""
        costs = self.batch.world.costs if self.batch else {}
        name = self.cost.removeprefix("cost_")
        if name in costs:
            return float(costs[name].limit)
        limits = {name: float(cost.limit) for name, cost in costs.items()}
        if len(set(limits.values())) > 1:
            raise self.setting_error(
                "limit", f"is ambiguous: the costs of {self.name} have the limits {limits}. Give a number, or cost=..."
            )
        return next(iter(limits.values()), SAFETY_GYM_LIMIT)

    def begin_episode(self, slots: np.ndarray) -> None:
        """Nothing was spent yet."""
        clear(self.cost_sum, slots)

    def looking(self, slots: np.ndarray) -> Iterator[tuple[Any, ...]]:
        """Add the costs of the step, and do what `paying` says.

        Raises:
            ParameterError: an environment of another package says nothing about such a cost.
        """
        cost = self.below.read(self.cost)
        if cost is None:
            raise self.setting_error("cost", f"is not among the infos of {self.name}: {sorted(self.below.info())}")
        yield add_rows, flat(self.cost_sum), flat(cost), slots
        yield from self.paying(cost, slots)

    def paying(self, cost: np.ndarray, slots: np.ndarray) -> Iterable[tuple[Any, ...]]:
        """Compiled loops, (loop, *arguments), for what follows from the costs of a step, (slots,)."""
        return ()

    def entries(self) -> dict[str, Any]:
        """The sum."""
        return {f"cost_sum{self.suffix}": self.cost_sum}


@compiled(nogil=True)
def exceed(
    slots: np.ndarray,
    sums: np.ndarray,
    allowed: float,
    left: np.ndarray,
    ended: np.ndarray,
    over: np.ndarray,
    out: np.ndarray,
) -> None:
    """What is left of what is allowed; whose sum is more, over; and who has ended by that or before, out."""
    for i in range(slots.size):
        if slots[i]:
            left[i] = allowed - sums[i]
            over[i] = sums[i] > allowed
            out[i] = ended[i] or over[i]


@dataclass
class CostBudget(CostSum):
    """A budget for the cost of an episode; exceeding it terminates the episode, or is only flagged.

    The episode ends terminated, not truncated: that the budget is used up is an event of the task, after which no
    reward follows, and learners must not estimate one. The task is then a Markov decision process for an agent that
    knows what is
    left: put `Saute` above to have it in the observation.

    Args:
        end: whether the episode ends with the step after which the sum is larger than the limit.
        limit, cost: as for `CostSum`.

    Info: `cost_sum`, `cost_left` (limit - sum, below zero when exceeded), `over_budget`.
    """

    end: bool = True

    def prepare(self) -> None:
        """Check the settings."""
        super().prepare()
        check_flag(self, "end")
        self.over_budget = self.allocate("over_budget", dtype=np.bool_)
        self.cost_left = self.allocate("cost_left", fill=self.allowed)
        self.nowhere = np.zeros(self.count, np.bool_)  # for flags that do not count
        if self.end:
            self.terminated = self.allocate("terminated", dtype=np.bool_)

    def begin_episode(self, slots: np.ndarray) -> None:
        """A full budget."""
        super().begin_episode(slots)
        clear(self.over_budget, slots)
        put_number(self.cost_left, self.allowed, slots)
        if self.end:
            put(self.terminated, self.below.terminated, slots)

    def paying(self, cost: np.ndarray, slots: np.ndarray) -> Iterable[tuple[Any, ...]]:
        """Check whether the budget is used up."""
        ended = self.terminated if self.end else self.nowhere
        sums = self.cost_sum, self.allowed, self.cost_left
        yield exceed, slots, *sums, self.below.terminated, self.over_budget, ended

    def entries(self) -> dict[str, Any]:
        """The cost so far and the remaining budget."""
        left = {f"cost_left{self.suffix}": self.cost_left, f"over_budget{self.suffix}": self.over_budget}
        return {**super().entries(), **left}


@dataclass
class CostReward(CostSum):
    """Base of wrappers that put the cost into the reward. Info: `raw_reward`, before the lowest such wrapper."""

    def prepare(self) -> None:
        """Check that there is one reward."""
        super().prepare()
        if self.below.reward.ndim > 1:
            raise ParameterError(
                f"{type(self).__name__}: the reward of {self.name} is a vector here; put a scalarization below"
            )
        self.reward = self.allocate("reward")
        self._is_first = self.below.read("raw_reward") is None

    def entries(self) -> dict[str, Any]:
        """The sum, and the untouched reward."""
        return {**super().entries(), "raw_reward": self.below.reward} if self._is_first else super().entries()


@dataclass
class Lagrangian(CostReward):
    """Lagrangian penalty for costs: the reward becomes r' = (r - m c) / (1 + m), where the multiplier m >= 0 rises
    while episodes exceed the cost limit and falls while they stay below it.

    At the end of an episode that cost J in sum, with the limit d: m <- max(0, m + rate (J - d)), or with "softplus" of
    a parameter p, m = log(1 + exp(p)), p <- p + rate (J - d). An episode that was broken off, by a wrapper above or by
    a reset, counts when the next one begins. A reset with a seed puts the multiplier back to its initial value.

    Args:
        rate: of the multiplier's change, per unit of cost; 0 keeps it fixed.
        initial: its first value, at least 0.
        parametrization: "clip" or "softplus" (`initial` > 0).
        shared: False: each slot (environment, agent) has its own multiplier, and the numbers are those of single
            environments. True: one for all slots, changed by the mean J of those whose episodes end in the same step,
            as is usual in training; it couples slots, so numbers depend on how many there are and on who ends when.
        limit, cost: as for `CostSum`.

    Info: `multiplier` (of the next step), `cost_sum`, `raw_reward`.

    Source: Ray, Achiam and Amodei, "Benchmarking safe exploration in deep reinforcement learning" (2019), whose
    published settings are the defaults (there the updates are Adam's).
    """

    rate: float = 0.05
    initial: float = 1.0
    parametrization: str = "clip"
    shared: bool = False

    def prepare(self) -> None:
        """Check the settings."""
        super().prepare()
        self.check_one("rate")
        self.check_one("initial")
        check_flag(self, "shared")
        self.check_choice("parametrization", ["clip", "softplus"])
        self._first_parameter = float(self.initial)
        if self.parametrization == "softplus":
            if self._first_parameter == 0.0:
                raise self.setting_error("initial", 'must be above 0 with parametrization="softplus"')
            self._first_parameter += math.log(-math.expm1(-self._first_parameter))  # the inverse of log(1 + exp(p))
        self.parameter = self.allocate("parameter", fill=self._first_parameter)
        self.multiplier = self.allocate("multiplier")  # the price of a unit of cost
        self._set_parameter(self._first_parameter, np.ones(self.count, np.bool_))
        self.running = self.allocate("running", dtype=np.bool_)

    def begin_episode(self, slots: np.ndarray) -> None:
        """Count interrupted episodes; start over after a seed."""
        seeded = slots & (self.episode == 1)
        self._learn(slots & self.running & ~seeded)
        if seeded.any():
            self._set_parameter(self._first_parameter, np.ones_like(slots) if self.shared else seeded)
        clear(self.running, slots)
        super().begin_episode(slots)

    def after_step(self, slots: np.ndarray) -> None:
        """Update the multiplier from finished episodes."""
        super().after_step(slots)
        if not self.one_slot or not self.running.item():
            self._learn(slots & ~self.running)

    def paying(self, cost: np.ndarray, slots: np.ndarray) -> Iterable[tuple[Any, ...]]:
        """The price."""
        below = self.below
        ends = below.terminated, below.truncated
        yield charge, slots, below.reward, cost, self.multiplier, *ends, self.reward, self.running

    def _learn(self, ended: np.ndarray) -> None:
        """Change the multiplier by what these slots' episodes cost."""
        if not ended.any():
            return
        excess = self.cost_sum - self.allowed
        change = self.rate * (excess[ended].mean() if self.shared else excess)
        self._set_parameter(self.parameter + change, np.ones_like(ended) if self.shared else ended)

    def _set_parameter(self, values: Any, slots: np.ndarray) -> None:
        """The multipliers of some slots, and what is behind them."""
        if self.parametrization == "clip":
            values = np.maximum(values, 0.0)
        np.copyto(self.parameter, values, where=slots)
        np.copyto(self.multiplier, values if self.parametrization == "clip" else np.logaddexp(0.0, values), where=slots)

    def entries(self) -> dict[str, Any]:
        """The cost so far, the reward and the multiplier."""
        return {**super().entries(), f"multiplier{self.suffix}": self.multiplier}


@compiled(nogil=True)
def charge(
    slots: np.ndarray,
    rewards: np.ndarray,
    costs: np.ndarray,
    prices: np.ndarray,
    terminated: np.ndarray,
    truncated: np.ndarray,
    out: np.ndarray,
    running: np.ndarray,
) -> None:
    """(reward - price cost) / (1 + price); and whose episodes go on."""
    for i in range(slots.size):
        if slots[i]:
            out[i] = (rewards[i] - prices[i] * costs[i]) / (1.0 + prices[i])
            running[i] = not (terminated[i] or truncated[i])


@dataclass
class Saute(CostReward, Appends):
    """Safety-budget augmentation (Saute RL): append the remaining fraction of the cost budget to the observation, and
    replace the reward once it is used up. A policy that is optimal for this reward keeps the limit in (almost) every
    episode, not only on average.

    z_0 = 1, z_{t+1} = (z_t - c_t / limit) / discount. While z_{t+1} > 0 the reward is the world's, else
    `unsafe_reward`. The observation has z as one more number at its end, or, if it is a dictionary, as entry
    "safety_state". It is shown clipped to [-1, discount^-horizon]; below zero it has no way back, so nothing is lost.

    Args:
        discount: of costs, in (0, 1]; below 1 the limit is that of the discounted sum of costs.
        unsafe_reward: per step without budget; it should not be more than the world's worst reward.
        limit, cost: as for `CostSum`; the limit is above 0.

    Info: `safety_state` (z), `cost_sum`, `raw_reward`.

    Raises (by `wrap`):
        ParameterError: as `CostSum`; a discount with which z grows beyond 1e6 in an episode; observations that are
            neither vectors of real numbers nor dictionaries.

    Source: Sootla et al., "Saute RL: almost surely safe reinforcement learning using state augmentation", ICML 2022.
    """

    discount: float = 1.0
    unsafe_reward: float = -1.0

    def prepare(self) -> None:
        """Check the settings; add a number to the observation."""
        super().prepare()
        if self.allowed <= 0.0:
            raise ParameterError(
                f"{type(self).__name__}: limit={self.allowed:g} must be above 0, since z is a fraction of it"
            )
        self.check_one("discount", 0.0, 1.0)
        self.check_one("unsafe_reward", -math.inf)
        self._highest = self._bound()
        self.left = self.allocate(
            "left", fill=self.allowed
        )  # z in units of the cost, in which whole numbers stay exact
        self.allocate("safety_state")
        self.make_room("safety_state", [-1.0], [self._highest])

    def _bound(self) -> float:
        """The largest z."""
        if self.discount == 1.0:
            return 1.0
        horizon = horizon_of(self)
        if self.discount == 0.0 or horizon is None or -horizon * math.log(self.discount) > math.log(LARGEST):
            raise self.setting_error(
                "discount",
                f"lets z grow beyond {LARGEST:g} in an episode (horizon: {horizon} steps). Give a value nearer 1",
            )
        return float(self.discount) ** -horizon

    def begin_episode(self, slots: np.ndarray) -> None:
        """The whole budget."""
        super().begin_episode(slots)
        put_number(self.left, self.allowed, slots)
        self._show(slots)

    def looking(self, slots: np.ndarray) -> Iterator[tuple[Any, ...]]:
        """Update the budget, replace the reward when nothing is left, and append the rest to the observation."""
        yield from super().looking(slots)
        yield from self._showing(slots)

    def paying(self, cost: np.ndarray, slots: np.ndarray) -> Iterable[tuple[Any, ...]]:
        """Update the remaining budget and the reward."""
        rates = float(self.discount), float(self.unsafe_reward)
        yield use_up, slots, cost, self.below.reward, *rates, self.left, self.reward

    def _show(self, slots: np.ndarray) -> None:
        self.run_all("show", self._showing, slots)

    def _showing(self, slots: np.ndarray) -> Iterator[tuple[Any, ...]]:
        yield show_left, self.left, self.allowed, self._highest, self.shown, self.safety_state
        yield from self.joining(slots)

    def entries(self) -> dict[str, Any]:
        """The cost so far, the reward and z."""
        return {**super().entries(), f"safety_state{self.suffix}": self.safety_state}


@compiled(nogil=True)
def use_up(
    slots: np.ndarray,
    costs: np.ndarray,
    rewards: np.ndarray,
    discount: float,
    unsafe: float,
    left: np.ndarray,
    out: np.ndarray,
) -> None:
    """left <- (left - cost) / discount; the reward while there is some."""
    for i in range(slots.size):
        if slots[i]:
            left[i] = (left[i] - costs[i]) / discount
            out[i] = rewards[i] if left[i] > 0.0 else unsafe


@compiled(nogil=True)
def show_left(left: np.ndarray, allowed: float, highest: float, shown: np.ndarray, told: np.ndarray) -> None:
    """What is left, as part of what is allowed; and within what can be shown."""
    for i in range(left.size):
        told[i] = left[i] / allowed
        shown[i, 0] = min(max(told[i], -1.0), highest)


@dataclass
class Simmer(Saute):
    """Saute with a scheduled budget, which can grow or shrink over training: z_0 = budget / limit, everything else as
    in `Saute`.

    Args:
        schedule: pairs [count, budget], counts ascending: linear between them, constant before the first and after the
            last. Budgets are in (0, limit].
        unit: what is counted, for each slot by itself, since its last seed: "episodes" or "steps".
        limit, cost, discount, unsafe_reward: as for `Saute`.

    Info: as `Saute`; `budget`, this episode's.

    Source: Sootla et al., "Effects of safety state augmentation on safe exploration", NeurIPS 2022 (a schedule; not its
    controllers that choose the budget by the costs so far).
    """

    schedule: Sequence[Sequence[float]] = field(default_factory=list)
    unit: str = "episodes"

    def prepare(self) -> None:
        """Check the schedule."""
        super().prepare()
        self.check_choice("unit", ["episodes", "steps"])
        self.check_number("schedule")
        points = np.asarray(self.schedule, np.float64)
        if points.ndim != 2 or points.shape[1] != 2:
            raise self.setting_error("schedule", "must be pairs [count, budget]")
        self._counts, self._budgets = points.T
        if (np.diff(self._counts) <= 0.0).any():
            raise self.setting_error("schedule", "must have ascending counts")
        if (self._budgets <= 0.0).any() or (self._budgets > self.allowed).any():
            raise self.setting_error("schedule", f"must have budgets in (0, {self.allowed:g}], the limit")
        self.made = self.allocate("made", dtype=np.int64)
        self.budget = self.allocate("budget", fill=self._budgets[0])

    def begin_episode(self, slots: np.ndarray) -> None:
        """This episode's budget."""
        self.made[slots & (self.episode == 1)] = 0
        count = self.made if self.unit == "steps" else self.episode.astype(np.int64) - 1
        super().begin_episode(slots)
        some = np.flatnonzero(slots)
        self.left[some] = self.budget[some] = np.interp(count[some], self._counts, self._budgets)
        self._show(slots)

    def looking(self, slots: np.ndarray) -> Iterator[tuple[Any, ...]]:
        """Count, too."""
        yield from super().looking(slots)
        yield count_rows, self.made, slots

    def entries(self) -> dict[str, Any]:
        """As `Saute`, and the budget."""
        return {**super().entries(), f"budget{self.suffix}": self.budget}
