"""A reflex: a controller that is faster than the policy, and acts where there is danger."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium import spaces

from rlenvs.wrappers.guards import Guard, ask
from rlenvs.wrappers.masked import add, clear, count, put


@dataclass
class Reflex(Guard):
    """A reflex at a higher rate than the policy: the policy's action is held for some steps of the environment, and in
    those in which the predicate calls it dangerous the controller acts instead, until the danger has passed.

    Rewards, costs and reward terms in info are sums over the steps; the time between two actions of the policy is
    shorter where the episode ends. Wrappers below see all steps, wrappers above one for each action of the policy.

    Args:
        unsafe: a predicate (stage, actions, slots), or its address; it is asked before every step of the environment.
        times: steps of the environment per action of the policy; with 1, the policy is as fast as the reflex.
        fallback: the controller, as for `Guard`.

    Info: as `Guard`, with `interventions` counted in steps of the environment, and `action` the last of them;
    `reflexes`, the steps of the environment since the policy's last action in which the reflex acted.

    Source: the multi-rate scheme of Bresa (a task policy, and a safety critic with reflexive actions at k times its
    rate), with a predicate in place of the learned critic.
    """

    unsafe: Any = None
    fallback: Any = "idle"
    times: int = 4

    @property
    def seconds(self) -> float | None:
        """Of all steps in one."""
        below = self.below.seconds
        return below * self.times if below else None

    def prepare(self) -> None:
        """Check the settings."""
        super().prepare()
        self._predicate = self.function("unsafe")
        self.check_whole("times", 1)
        self.reflexes = self.keep("reflexes", dtype=np.int64)
        self.reward = self.keep("reward", self.below.reward.shape[1:])
        if self.below.reward_space is not None:
            low, high = self.below.reward_space.low, self.below.reward_space.high
            self.reward_space = spaces.Box(np.minimum(low, self.times * low), np.maximum(high, self.times * high))
        self._told: list[str] = []  # those of the sums that the info below has
        self._summed = {"cost": "total_cost"}
        self.keep("total_cost")
        if self.batch:
            world = self.batch.world
            for key in (*(f"cost_{name}" for name in world.costs), *(f"reward_{name}" for name in world.terms)):
                self._summed[key] = f"total_{key}"
                self.keep(f"total_{key}")
            self._summed["reward_vector"] = "total_reward_vector"
            self.keep("total_reward_vector", (len(world.terms),), np.float32)

    def begin_episode(self, slots: np.ndarray) -> None:
        """Nothing was done yet."""
        super().begin_episode(slots)
        self._info_below()
        for name in ("reflexes", *self._summed.values()):
            clear(getattr(self, name), slots)

    def step(self, actions: np.ndarray, slots: np.ndarray) -> None:
        """Some steps of the environment, with the reflex on watch."""
        put(self.raw_action, actions, slots)
        clear(self.intervened, slots)
        clear(self.reflexes, slots)
        live = slots
        for k in range(self.times):
            self._step_once(actions, live)
            self._sum_up(live, put if k == 0 else add)
            live = live & ~self.below.over
            if not live.any():
                break
        count(self.time, slots)

    def _step_once(self, actions: np.ndarray, live: np.ndarray) -> None:
        """One step of the environment."""
        below = self.below
        dangerous = ask(self, "unsafe", self._predicate, below, actions, live)
        executed = self.instead(below, actions, dangerous) if dangerous.any() else actions
        put(self.action, executed, live)
        below.step(executed, live)
        self.reflexes += dangerous
        lower = below.read("intervened") if self._guarded else None
        acted = dangerous if lower is None else dangerous | (live & lower)
        self.intervened |= acted
        self.interventions += acted

    def _sum_up(self, live: np.ndarray, take: Callable[..., None]) -> None:
        """Rewards and costs."""
        take(self.reward, self.below.reward, live)
        for key, value in self._info_below():
            take(getattr(self, self._summed[key]), value, live)

    def _info_below(self) -> list[tuple[str, np.ndarray]]:
        """The entries of info that are summed."""
        found = [(key, value) for key, value in self.below.info().items() if key in self._summed]
        self._told = [key for key, _ in found]
        return found

    def extra_info(self) -> dict[str, Any]:
        """The counts, and the sums."""
        sums = {key: getattr(self, self._summed[key]) for key in self._told}
        return {**super().extra_info(), **sums, "reflexes": self.reflexes}
