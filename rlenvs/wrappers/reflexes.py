"""A reflex: a controller that is faster than the policy, and acts where there is danger."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium import spaces

from rlenvs.core.compiler.loops import compiled
from rlenvs.wrappers.guards import Guard, ask
from rlenvs.wrappers.masked import add_rows, any_of, clear, clear_rows, count_rows, flat, put, put_rows


@dataclass
class EmergencyOverride(Guard):
    """An emergency controller that runs at a higher rate than the policy: the policy's action is held for several
    steps, and while a predicate judges the state dangerous the fallback controller acts instead.

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
        """The duration of one action."""
        below = self.below.seconds
        return below * self.times if below else None

    def prepare(self) -> None:
        """Check the settings."""
        super().prepare()
        self._predicate = self.function("unsafe")
        self.check_whole("times", 1)
        self.reflexes = self.allocate("reflexes", dtype=np.int64)
        self.reward = self.allocate("reward", self.below.reward.shape[1:])
        if self.below.reward_space is not None:
            low, high = self.below.reward_space.low, self.below.reward_space.high
            self.reward_space = spaces.Box(np.minimum(low, self.times * low), np.maximum(high, self.times * high))
        self._summed = {"cost": "total_cost"}
        self.allocate("total_cost")
        if self.batch:
            world = self.batch.world
            for key in (*(f"cost_{name}" for name in world.costs), *(f"reward_{name}" for name in world.terms)):
                self._summed[key] = f"total_{key}"
                self.allocate(f"total_{key}")
            self._summed["reward_vector"] = "total_reward_vector"
            self.allocate("total_reward_vector", (len(world.terms),), np.float32)
        self._told = [key for key in self._summed if self.below.read(key) is not None]  # those that the info below has
        known = {self.lasting(key) is not None for key in self._told} == {True}
        self.lasts = known and (not self._guarded or self.lasting("intervened") is not None)
        self.entries_last = self.lasts

    def begin_episode(self, slots: np.ndarray) -> None:
        """Reset the counters."""
        super().begin_episode(slots)
        self._paid()
        for name in ("reflexes", *self._summed.values()):
            clear(getattr(self, name), slots)

    def _paid(self) -> dict[str, np.ndarray]:
        """What the info below has of that which is summed; what that is may show in the first step only."""
        if self.lasts:
            return {key: self.below.read(key) for key in self._told}  # type: ignore[misc]
        found = {key: value for key, value in self.below.info().items() if key in self._summed}
        self._told = list(found)
        return found

    def step(self, actions: np.ndarray, slots: np.ndarray) -> None:
        """Step the environment several times, monitored by the reflex."""
        if self.one_slot:  # what loops are bound to
            self.asked[...] = actions
        else:
            self.asked = actions
        live = slots
        for k in range(self.times):
            executed = self._step_once(actions, live)
            if k == 0:
                self.run_all("first", self._first, live, self.lasts)
            else:
                self.run_all("more", self._more, live, self.lasts)
            if executed is not actions:
                put(self.action, executed, live)
            if k + 1 < self.times:
                live = live & ~self.below.over
                if not any_of(live):
                    break

    def _step_once(self, actions: np.ndarray, live: np.ndarray) -> np.ndarray:
        """One step of the environment; returns what was done."""
        below = self.below
        dangerous = ask(self, "unsafe", self._predicate, below, actions, live)
        if self.one_slot:
            self.dangerous[...] = dangerous
        else:
            self.dangerous = dangerous
        executed = self.instead(below, actions, dangerous) if any_of(dangerous) else actions
        below.step(executed, live)
        return executed

    def _first(self, live: np.ndarray) -> Iterator[tuple[Any, ...]]:
        """What follows the first step below."""
        yield count_rows, self.time, live
        yield clear_rows, flat(self.intervened), live
        yield clear_rows, flat(self.reflexes), live
        yield put_rows, flat(self.raw_action), flat(self.asked), live
        yield from self._reacting(live)
        for total, paid in self._sums():
            yield put_rows, flat(total), flat(paid), live

    def _more(self, live: np.ndarray) -> Iterator[tuple[Any, ...]]:
        """What follows each step after the first."""
        yield from self._reacting(live)
        for total, paid in self._sums():
            yield add_rows, flat(total), flat(paid), live

    def _reacting(self, live: np.ndarray) -> Iterator[tuple[Any, ...]]:
        """What was done in a step, and who did: the reflex here, or one below."""
        yield put_rows, flat(self.action), flat(self.asked), live
        lower = self.below.read("intervened") if self._guarded else self.dangerous
        yield react, live, self.dangerous, lower, self.reflexes, self.intervened, self.interventions

    def _sums(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """The sums, and what the step below adds to them."""
        yield self.reward, self.below.reward
        for key, paid in self._paid().items():
            yield getattr(self, self._summed[key]), paid

    def entries(self) -> dict[str, Any]:
        """The counts, and the sums."""
        sums = {key: getattr(self, self._summed[key]) for key in self._told}
        return {**super().entries(), **sums, "reflexes": self.reflexes}


@compiled(nogil=True)
def react(
    live: np.ndarray,
    dangerous: np.ndarray,
    lower: np.ndarray,
    reflexes: np.ndarray,
    intervened: np.ndarray,
    interventions: np.ndarray,
) -> None:
    """Count the steps in which the reflex acted, and those in which it or a guard below did."""
    for i in range(live.size):
        reflexes[i] += np.int64(dangerous[i])
        if dangerous[i] or (live[i] and lower[i]):
            intervened[i] = True
            interventions[i] += 1
