"""A reward of its own for an adversary within a team."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rlenvs.core.declare.errors import ParameterError, nearest
from rlenvs.wrappers.masked import put
from rlenvs.wrappers.wrapper import Wrapper


@dataclass
class MinorityReward(Wrapper):
    """Reward some agents of a team for its failure, as in adversarial minority influence (DIG-Beihang/AMI), where one
    agent is trained against the others with fixed policies.

    For parallel forms. The others, the victims, are paid as before.

    Attributes:
        adversaries: names of the agents that are paid otherwise.
        terms: weights of the world's reward terms: an adversary is paid their weighted sum, each term as the mean over
            the victims; such as {"run": -1.0}, without what control costs. None: minus the mean reward of the victims.
        bonus: a function (stage, slots) -> numbers (agents,) that are added for adversaries, such as the influence on
            the victims' actions; or its address "module:name". `stage` is the one below, `slots` who stepped.

    Info: `raw_reward`, what the environment pays.

    Raises:
        ParameterError: not the parallel form of a multi-agent world, an unknown agent or term, no victim left, rewards
            that are vectors.
    """

    adversaries: Sequence[str] = ()
    terms: Mapping[str, float] | None = None
    bonus: Callable[..., Any] | str | None = None

    def prepare(self) -> None:
        """Check the settings."""
        if self.agents < 2:
            raise self.setting_error(
                "adversaries", f"requires a parallel multi-agent environment; {self.name} is not one"
            )
        if self.below.reward.ndim > 1:
            raise ParameterError(f"MinorityReward: rewards of {self.name} are vectors; needed: numbers")
        self.paid = self._paid()
        self.weights = self._weights()
        self.extra = None if self.bonus is None else self.function("bonus")
        self.allocate("reward")

    def _paid(self) -> np.ndarray:
        """Which agents are adversaries, bool (agents,)."""
        known = list(self.env.possible_agents)
        if isinstance(self.adversaries, str) or not self.adversaries:
            raise self.setting_error("adversaries", f"must be a list of agents of {known}")
        for name in self.adversaries:
            if name not in known:
                raise self.setting_error(
                    "adversaries", f"contains {name!r}, which is not an agent. {nearest(str(name), known)}"
                )
        found = np.array([name in self.adversaries for name in known])
        if found.all():
            raise self.setting_error("adversaries", "leaves no agent to attack")
        return found

    def _weights(self) -> dict[str, float]:
        known = list(self.batch.world.terms) if self.batch else []
        for name, weight in (self.terms or {}).items():
            if name not in known:
                raise self.setting_error(
                    "terms",
                    f"contains {name!r}, which is not a reward term of {self.name}. {nearest(str(name), known)}",
                )
            if isinstance(weight, bool) or not isinstance(weight, (int, float, np.number)) or not np.isfinite(weight):
                raise self.setting_error("terms", "must have finite numbers")
        return {name: float(weight) for name, weight in (self.terms or {}).items()}

    def after_step(self, slots: np.ndarray) -> None:
        """Pay."""
        put(self.reward, self.below.reward, slots)
        own = slots & self.paid
        if own.any():
            self.reward[own] = self._earned()
            if self.extra is not None:
                self.reward[own] += self._added(slots)[own]

    def _earned(self) -> float:
        victims = ~self.paid
        if self.terms is None:
            return -float(self.below.reward[victims].mean())
        told = self.below.info()
        return sum(weight * float(told[f"reward_{name}"][victims].mean()) for name, weight in self.weights.items())

    def _added(self, slots: np.ndarray) -> np.ndarray:
        assert self.extra is not None
        numbers = np.asarray(self.extra(self.below, slots), np.float64)
        if numbers.shape != (self.count,) or not np.isfinite(numbers).all():
            raise self.setting_error("bonus", f"gives {numbers!r}; needed: {self.count} finite numbers, one per agent")
        return numbers

    def entries(self) -> dict[str, Any]:
        """The environment's reward."""
        return {"raw_reward": self.below.reward}
