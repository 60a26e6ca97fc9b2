"""The base of wrappers that act in the policy's place now and then, and what these ask of predicates.

A predicate decides what is dangerous: a function (stage, actions, slots) that returns bool (slots,), where `stage` is a
`Stage` (`stage.observation`, `stage.batch`, `stage.read("cost")`, ...), `actions` are (slots, ...) and `slots`, bool
(slots,), says which slots are asked for; the others are not looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from rlenvs.core.compiler.loops import compiled
from rlenvs.core.declare.errors import ParameterError
from rlenvs.wrappers.masked import any_of, clear, flat, put, put_rows
from rlenvs.wrappers.stage import Stage
from rlenvs.wrappers.wrapper import Wrapper


@dataclass
class Guard(Wrapper):
    """Base of wrappers that act in the policy's place now and then.

    Args:
        fallback: the policy that acts then: "expert" (the world's scripted one), "idle" (who does nothing), or a
            function (stage, actions, slots) that returns actions (slots, ...), also by its address "module:name".

    Info: `raw_action`, what was asked for, and `action`, what was done; `intervened`, whether they come from different
    hands, and `interventions`, the number of such steps in the episode. With guards stacked, `raw_action` is what the
    topmost was given, `action` what the lowest passed on, and an intervention of any is one.
    """

    fallback: Any = "expert"

    def prepare(self) -> None:
        """Check the fallback."""
        self._choose = self._chooser()
        kind = np.float64 if self.continuous else np.int64
        shape = max((space.shape or ()) for space in self.action_spaces)
        self.raw_action = self.allocate("raw_action", shape, kind)
        self.action = self.allocate("action", shape, kind)
        self.intervened = self.allocate("intervened", dtype=np.bool_)
        self.interventions = self.allocate("interventions", dtype=np.int64)
        self.asked = np.zeros((self.count, *shape), kind)  # actions of this step
        self.dangerous = np.zeros(self.count, np.bool_)  # and in which slots the fallback acts instead
        self._guarded = self.below.read("intervened") is not None
        self.lasts = not self._guarded or self.lasting("intervened") is not None
        self._is_lowest = self.below.read("action") is None

    def _chooser(self) -> Callable[[Stage, np.ndarray, np.ndarray], Any]:
        """What `fallback` stands for."""
        if self.fallback == "expert":
            self._check_expert()
            return expert_actions
        if self.fallback == "idle":
            return self._idle_actions
        if callable(self.fallback) or (isinstance(self.fallback, str) and ":" in self.fallback):
            return self.function("fallback")
        raise self.setting_error(
            "fallback", 'must be "expert", "idle", a function, or the address "module:name" of one'
        )

    def _idle_actions(self, stage: Stage, actions: np.ndarray, slots: np.ndarray) -> np.ndarray:
        """What does nothing, for every slot."""
        return self.idle_slots(actions)

    def _check_expert(self) -> None:
        """ParameterError unless there is a scripted expert, and its actions are the wrapper's."""
        if self.batch is None:
            raise self.setting_error(
                "fallback", f"requires a scripted policy, and {self.name} is not an environment of rlenvs"
            )
        if not self.has_expert():
            raise self.setting_error("fallback", f"requires a scripted expert, and {self.name} has none")
        check_own_actions(self, "fallback")

    def has_expert(self) -> bool:
        """Whether the world has scripted experts."""
        world = self.batch.world
        return bool({"expert", "python_expert"} & set(world.kernels) or world.players)

    def instead(self, stage: Stage, actions: np.ndarray, slots: np.ndarray) -> np.ndarray:
        """The actions, with the fallback's in some slots, rounded to the type of the action space: so they are equal in
        all forms.

        Raises:
            ParameterError: the fallback returns anything but finite actions of the same shape.
        """
        chosen = np.asarray(self._choose(stage, actions, slots))
        if chosen.shape != actions.shape or not np.isfinite(chosen[slots]).all():
            raise ParameterError(
                f"{type(self).__name__}: fallback={self.fallback!r} returned an array of shape {chosen.shape}; "
                f"needed: finite actions of shape {actions.shape}"
            )
        replaced = actions.copy()
        put(replaced, chosen.astype(self.action_spaces[0].dtype), slots)
        return replaced

    def begin_episode(self, slots: np.ndarray) -> None:
        """Reset the counters."""
        for name in ("raw_action", "action", "intervened", "interventions"):
            clear(getattr(self, name), slots)

    def replaced(self, actions: np.ndarray, slots: np.ndarray, dangerous: np.ndarray) -> np.ndarray:
        """The actions, with the fallback's in dangerous slots. Both are noted down."""
        executed = self.instead(self.below, actions, dangerous) if any_of(dangerous) else actions
        self.note(actions, executed, slots, dangerous)
        return executed

    def note(self, actions: np.ndarray, executed: np.ndarray, slots: np.ndarray, intervened: np.ndarray) -> None:
        """Note down what was asked for, what is done, and in which slots they come from different hands."""
        if self.one_slot:  # what loops are bound to
            self.asked[...], self.dangerous[...] = actions, intervened
        else:
            self.asked, self.dangerous = actions, intervened
        self.run_all("note", self._noting, slots)
        if executed is not actions:
            put(self.action, executed, slots)

    def _noting(self, slots: np.ndarray) -> Iterator[tuple[Any, ...]]:
        yield put_rows, flat(self.raw_action), flat(self.asked), slots
        yield put_rows, flat(self.action), flat(self.asked), slots
        yield put_rows, flat(self.intervened), flat(self.dangerous), slots

    def looking(self, slots: np.ndarray) -> Iterator[tuple[Any, ...]]:
        """Count."""
        if self._guarded:
            yield raise_flags, slots, self.below.read("intervened"), self.intervened
        yield count_flags, slots, self.intervened, self.interventions

    def entries(self) -> dict[str, Any]:
        """What was asked for, and what was done."""
        told = {"raw_action": self.raw_action, "intervened": self.intervened, "interventions": self.interventions}
        return {**told, "action": self.action} if self._is_lowest else told


@compiled(nogil=True)
def count_flags(slots: np.ndarray, flags: np.ndarray, counter: np.ndarray) -> None:
    """counter[slots] += flags[slots]."""
    for i in range(slots.size):
        if slots[i] and flags[i]:
            counter[i] += 1


@compiled(nogil=True)
def raise_flags(slots: np.ndarray, flags: np.ndarray, out: np.ndarray) -> None:
    """out[slots] |= flags[slots]."""
    for i in range(slots.size):
        if slots[i] and flags[i]:
            out[i] = True


def check_flag(wrapper: Wrapper, setting: str) -> None:
    """ParameterError unless a setting is True or False."""
    if not isinstance(getattr(wrapper, setting), bool):
        raise wrapper.setting_error(setting, "must be True or False")


def check_own_actions(wrapper: Wrapper, setting: str) -> None:
    """ParameterError where something below has changed the action space of the world."""
    for agent, space in enumerate(wrapper.action_spaces):
        if space != wrapper.batch.setup.agent_spaces(agent)[1]:
            raise wrapper.setting_error(
                setting,
                f"applies to the original actions of {wrapper.name}; put wrappers that change the action space above",
            )


def expert_actions(stage: Stage, actions: np.ndarray, slots: np.ndarray) -> np.ndarray:
    """The scripted expert's actions, in the worlds of these slots; anything in others. Asking changes nothing, not even
    the generators of players."""
    states, worlds = stage.batch.states, slots.reshape(-1, stage.agents).any(axis=1)
    drawn = states["players_rng"].copy() if stage.batch.world.players else None
    advice = stage.batch.expert_actions(worlds)[:, : stage.agents].reshape(stage.count, -1).copy()
    if drawn is not None:
        states["players_rng"] = drawn
    return advice if stage.action_spaces[0].shape else advice[:, 0]


def ask(wrapper: Wrapper, setting: str, unsafe: Callable[..., Any], *about: Any) -> np.ndarray:
    """A predicate's verdict, bool (slots,), False outside the mask; ParameterError when it has another shape."""
    verdict = np.asarray(unsafe(*about))
    slots = about[-1]
    if verdict.shape != slots.shape or verdict.dtype.char != "?":
        raise ParameterError(
            f"{type(wrapper).__name__}: {setting}={getattr(wrapper, setting)!r} returned {verdict.dtype} of shape "
            f"{verdict.shape}; needed: bool of shape {slots.shape}"
        )
    return verdict if len(slots) == 1 and slots.item() else verdict & slots


def ask_numbers(
    wrapper: Wrapper, setting: str, function: Callable[..., Any], stage: Stage, slots: np.ndarray
) -> np.ndarray:
    """A function's numbers, float64 (slots,), 0 outside the mask; ParameterError when they are not finite numbers."""
    numbers = np.asarray(function(stage, slots))
    if numbers.shape != (wrapper.count,) or numbers.dtype.kind not in "fiu" or not np.isfinite(numbers[slots]).all():
        raise ParameterError(
            f"{type(wrapper).__name__}: {setting}={getattr(wrapper, setting)!r} returned {numbers.dtype} of shape "
            f"{numbers.shape}; needed: finite numbers of shape ({wrapper.count},)"
        )
    return np.where(slots, numbers, 0.0)
