"""What wrappers do by compiled loops alone: in the single form one call for wrappers that lie one upon the other.

A loop over one slot takes some 0.01 us, a call of it from Python 0.1 us and more, and that is what a wrapper costs
there. So a wrapper says which loops they are (`acting`, `looking`), with arrays that stay the same ones, and what
consecutive wrappers say is called together (`rlenvs.core.compiler.loops`). What a wrapper does in Python (`act`,
`after_step`) comes between, at its place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np

from rlenvs.core.compiler.loops import FEWEST, bound, chained, share
from rlenvs.wrappers.masked import count, count_rows, flat, put_rows
from rlenvs.wrappers.stage import Stage

SOLE = np.ones(1, np.bool_)  # the mask of a sole slot

Loops = Iterable[tuple[Any, ...]]  # (loop, *arguments)
Call = Callable[[], None]
Act = Callable[[np.ndarray, np.ndarray], np.ndarray]


class Looping(Stage):
    """The part of `Wrapper` that calls compiled loops.

    Attributes:
        one_slot: whether there is one slot, and all arrays below are lasting.
        wanted: float64 (slots, numbers), what `acting` starts from; None of wrappers that do not act by loops.
        passed: the actions that `acting` makes; None where it passes on what it was given, and leaves `wanted` so.
        lasts: whether `looking` reads and writes the same arrays in every step of a sole slot. entries_last: whether
            `entries` gives the same ones there.
    """

    one_slot: bool
    wanted: Any = None
    passed: np.ndarray | None = None
    lasts: bool = True
    entries_last: bool = True
    kept: list[str]
    above: Looping | None  # the wrapper on top of this one
    _advance: Callable[[np.ndarray], None] | None

    def acting(self, slots: np.ndarray) -> Loops:
        """Compiled loops that make `passed` of `wanted`, where a wrapper acts by such loops alone."""
        return ()

    def looking(self, slots: np.ndarray) -> Loops:
        """Compiled loops that follow a step, where nothing else does."""
        return ()

    def act(self, actions: np.ndarray, slots: np.ndarray) -> np.ndarray:
        """The actions to pass on; not the same array when they change."""
        if self.wanted is None:
            return actions
        self.wanted[...] = actions if actions.ndim == 2 else actions.reshape(self.wanted.shape)
        self.run_all("act", self.acting, slots)
        return actions if self.passed is None else self.passed

    def after_step(self, slots: np.ndarray) -> None:
        """Slots have made a step."""
        self.run_all("look", self.looking, slots, self.lasts)

    def step(self, actions: np.ndarray, slots: np.ndarray) -> None:
        """Pass on what `act` makes of the actions, and take in what came of it."""
        if self.one_slot:
            (self._advance or self._join())(actions)
            return
        self.below.step(self.act(actions, slots), slots)
        count(self.time, slots)
        self.after_step(slots)

    @property
    def acts_in_python(self) -> bool:
        """Whether `act` does more than to call the loops of `acting`."""
        return type(self).act is not Looping.act

    @property
    def looks_in_python(self) -> bool:
        """Whether `after_step` does more than to call the loops of `looking`, with the same arrays each time."""
        return type(self).after_step is not Looping.after_step or not self.lasts

    @property
    def passes_on(self) -> bool:
        """Whether each step is one of the stage below, by the same actions, which are not looked at."""
        return self.wanted is None and type(self).act is Looping.act and type(self).step is Looping.step

    # --- calls --------------------------------------------------------------------------------------------------------

    def in_threads(self, kernel: Any, slots: np.ndarray, *arguments: Any) -> None:
        """Call a compiled loop `kernel(start, stop, slots, *arguments)` on all slots, in as many threads as step the
        worlds, or in one where the mask has but few; see `rlenvs.core.compiler.loops.share`. Worth it for loops
        that take 200 us or more: to share them takes some 20 us, and wakes the other threads."""
        if self.count < FEWEST:
            kernel(0, self.count, slots, *arguments)
            return
        few = self.batch is None or np.count_nonzero(slots) < FEWEST
        share(kernel, 1 if few else self.batch.thread_count(), self.count, slots, *arguments)

    def run_all(self, name: str, loops: Callable[[np.ndarray], Loops], slots: np.ndarray, lasting: bool = True) -> None:
        """The loops (loop, *arguments) that `loops(slots)` gives, one after the other. With one slot, and arrays that
        are lasting, the same ones in every step, it is asked once, about that slot."""
        call = self._calls.get(name)
        if call is not None:
            call()
        elif self.one_slot and lasting:
            self.call_of(name, loops)()
        else:
            for loop, *arguments in loops(slots):
                loop(*arguments)

    def lasting(self, key: str) -> np.ndarray | None:
        """An entry of the info below, where it is known to be the same array in every step; otherwise None."""
        value, stage = self.below.read(key), self.below
        while isinstance(stage, Looping):
            if any(value is getattr(stage, name) for name in stage.kept):
                return value
            stage = stage.below
        return value if stage.keeps_arrays and value is stage.read(key) else None

    def unbind(self) -> None:
        """Bound loops take their arrays anew: to be called where an array was replaced by another."""
        self._calls.clear()
        self.unjoin()

    def unjoin(self) -> None:
        """Steps are joined anew, of this wrapper and those above."""
        self._advance = None
        if self.above is not None:
            self.above.unjoin()

    def __getstate__(self) -> dict[str, Any]:
        """All but what is bound to arrays."""
        return {**self.__dict__, "_calls": {}, "_advance": None} if "_calls" in self.__dict__ else self.__dict__

    def _begin(self, below: Stage) -> None:
        """Nothing is bound yet."""
        self.one_slot = self.count == 1 and below.keeps_arrays
        self._calls: dict[str, Call] = {}
        self._advance = None
        self.above = None
        if isinstance(below, Looping):
            below.above = self

    def call_of(self, name: str, loops: Callable[[np.ndarray], Loops]) -> Call:
        """What calls the loops of a sole slot."""
        if name not in self._calls:
            self._calls[name] = bound(list(loops(SOLE)))
        return self._calls[name]

    def _join(self) -> Callable[[np.ndarray], None]:
        """`step` of a sole slot, for this wrapper and those below down to one that steps in a way of its own."""
        stack: list[Looping] = [self]
        while isinstance(stack[-1].below, Looping) and type(stack[-1].below).step is Looping.step:
            stack.append(stack[-1].below)
        acts, looks, move = _acts(stack), _looks(stack[::-1]), stack[-1].below.step

        def advance(actions: np.ndarray) -> None:
            for act in acts:
                actions = act(actions, SOLE)
            move(actions, SOLE)
            for look in looks:
                look()

        self._advance = advance
        return advance


def _acts(downwards: Sequence[Looping]) -> list[Act]:
    """What makes of an action the one that wrappers, the topmost first, pass on."""
    acts: list[Act] = []
    together: list[Looping] = []
    for each in downwards:
        if each.acts_in_python:
            acts += [_act_together(together), each.act] if together else [each.act]
            together = []
        elif each.wanted is not None:
            together.append(each)
    return [*acts, _act_together(together)] if together else acts


def _act_together(stack: Sequence[Looping]) -> Act:
    given, passed, calls = stack[0].wanted, None, []
    for each in stack:
        if each is not stack[0]:
            calls.append(bound([(put_rows, each.wanted, flat(given if passed is None else passed), SOLE)]))
        calls.append(each.call_of("act", each.acting))
        passed = passed if each.passed is None else each.passed
    call, last = chained(calls), passed

    def act(actions: np.ndarray, slots: np.ndarray) -> np.ndarray:
        given[...] = actions if actions.ndim == 2 else actions.reshape(given.shape)
        call()
        return actions if last is None else last

    return act


def _looks(upwards: Sequence[Looping]) -> list[Call]:
    """What wrappers, the lowest first, do after a step."""
    looks: list[Call] = []
    calls: list[Call] = []
    for each in upwards:
        calls.append(bound([(count_rows, each.time, SOLE)]))
        if each.looks_in_python:
            looks += [chained(calls), partial(each.after_step, SOLE)]
            calls = []
        elif type(each).looking is not Looping.looking:
            calls.append(each.call_of("look", each.looking))
    return [*looks, chained(calls)] if calls else looks
