"""Wrappers that change actions as little as safety needs: control barrier functions, and a fixed set of actions.

Both find the nearest allowed action by `rlenvs.wrappers.projections`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
from gymnasium import spaces

from rlenvs.core.declare.errors import ParameterError, nearest
from rlenvs.core.declare.options import Choice
from rlenvs.wrappers.projections import (
    AS_PROPOSED,
    INFEASIBLE,
    UNSOLVED,
    see_moved,
    settle,
    settle_barriers,
    settle_set,
    solve,
    solver,
)
from rlenvs.wrappers.wrapper import Wrapper

PARTS = "value", "drift", "slope", "low", "high", "brake"  # of a record of barriers


class _Corrector(Wrapper):
    """What the wrappers of this file remember and report."""

    def _make_room(self) -> None:
        if not self.continuous:
            raise ParameterError(f"{type(self).__name__}: {self.name} has discrete actions; it needs continuous ones")
        shape = self.action_space.shape or ()
        if len(shape) != 1:
            raise ParameterError(f"{type(self).__name__}: {self.name} has actions of shape {shape}, not vectors")
        self.numbers = shape[0]
        self.allocate("raw_action", shape)
        self.passed = self.allocate("action", shape)
        self.wanted = np.zeros((self.count, self.numbers))
        self.allocate("outcome", dtype=np.int8)
        self.allocate("interventions", dtype=np.int64)
        self.allocate("intervened", dtype=np.bool_)

    def begin_episode(self, slots: np.ndarray) -> None:
        """Reset the counters."""
        self.raw_action[slots], self.action[slots], self.outcome[slots], self.interventions[slots] = (
            0.0,
            0.0,
            AS_PROPOSED,
            0,
        )
        self.intervened[slots] = False

    def entries(self) -> dict[str, Any]:
        """The actions before and after, whether they differ, and how many did."""
        return {
            "raw_action": self.raw_action,
            "action": self.action,
            "intervened": self.intervened,
            "interventions": self.interventions,
        }


@dataclass
class BarrierFilter(_Corrector):
    """Replace each action by the nearest one that keeps control barrier functions from decreasing too fast.

    A barrier h_k is not negative where the state is safe. The filter asks for h_k(next state) >= (1 - rate) h_k(state),
    which keeps h_k >= 0 forever (the condition: Agrawal and Sreenath, "Discrete control barrier functions for
    safety-critical control of discrete systems", RSS 2017; the filter as a quadratic program: Ames et al., "Control
    barrier functions: theory and applications", ECC 2019). Worlds that come with barriers predict
    h_k(next state) = value + drift + slope . a; see the documentation of the world.

    Where no action meets all constraints (within 1e-6) the world's braking action is taken; where it has none, the one
    that misses the constraints least (smallest sum of squares). Such steps are counted.

    Args:
        rate: in (0, 1], what part of h may be lost in a step. At 1 the filter acts as late as it can.
        margin: what is taken off every h first, in its unit; for disturbances that the prediction does not know of.
        barrier: None for the world's own. Otherwise a function, or the address "module:name" of one, of the slots below
            (`.observation`, `.info()`, `.batch`) and the proposed actions (slots, m), that gives value and drift,
            (slots,) or (slots, K), and slope, (slots, m) or (slots, K, m).
        model: parameters by name that the filter believes in, with a world's own barriers. The others are then those
            that the environment was made with, whatever `randomize`, contexts or other wrappers have made of them. None
            for every world's true parameters.

    Info: "raw_action" and "action", before and after, (m,); "intervened"; "interventions" and "infeasible", counts of
    this episode; "barrier", the smallest h_k of the state in which the action was taken.

    Raises:
        ParameterError: the world has no barriers with its present options, or no continuous actions, or the wrappers
            below have changed its actions.
        MissingExtraError: several constraints, and the extra "safety" is not installed.
    """

    rate: float = 0.1
    margin: float = 0.0
    barrier: Any = None
    model: Any = None

    def prepare(self) -> None:
        """Check the settings."""
        self.check_number("rate", 0.0, 1.0)
        if np.ndim(self.rate) or self.rate == 0.0:
            raise self.setting_error("rate", "must be one number in (0, 1]")
        self.check_number("margin")
        if np.ndim(self.margin):
            raise self.setting_error("margin", "must be one number")
        self._make_room()
        self.allocate("infeasible", dtype=np.int64)
        self.allocate("least")
        self._share = float(self.rate), float(self.margin)
        self._found: Any = None
        if self.barrier is None:
            self._check_world()
            self._believed = self._belief()
            self._proposals = np.zeros(self.batch.proposal_shape)  # with agents; of those without a slot nothing
        else:
            if self.model is not None:
                raise self.setting_error(
                    "model", "applies only to the world's own barriers; a function has its own model"
                )
            self._function = self.function("barrier")
            space, shape = self.action_space, (self.count, self.numbers)
            assert isinstance(space, spaces.Box)
            self._low, self._high = (
                np.broadcast_to(edge.astype(np.float64), shape) for edge in (space.low, space.high)
            )
            self._brake = np.full(shape, math.nan)

    def _check_world(self) -> None:
        batch = self.batch
        if batch is None or not batch.world.barriers:
            raise ParameterError(
                f"BarrierFilter: {self.name} has no barriers; give a function, BarrierFilter(barrier=...)"
            )
        count = batch.barrier_count
        if count == 0:
            raise ParameterError(f"BarrierFilter: {self.name} has no barriers with these options{_way_out(batch)}")
        padded = batch.setup.agent_spaces(None)[1]  # of the parallel form with pad=True
        own = [(batch.setup.agent_spaces(agent)[1], padded) for agent in range(len(self.action_spaces))]
        if any(space not in known for space, known in zip(self.action_spaces, own, strict=True)):
            raise ParameterError(
                f"BarrierFilter: the wrappers below have changed the actions of {self.name}; put the filter innermost"
            )
        if count > 1:
            solver()

    def _belief(self) -> np.ndarray | None:
        """The record of parameters that the filter believes in."""
        if self.model is None:
            return None
        if not isinstance(self.model, Mapping):
            raise self.setting_error("model", "must be a dictionary of parameters")
        known, slot = self.batch.world.params, self.batch.setup.params_row()
        for name, value in self.model.items():
            if name not in known:
                raise ParameterError(f"BarrierFilter: {self.name} has no parameter {name!r}. {nearest(name, known)}")
            number = known[name].check(name, value)
            if number.ndim:
                raise self.setting_error("model", f"must give one number for {name}")
            slot[name] = number
        return slot

    def _terms(self, actions: np.ndarray) -> tuple[np.ndarray, ...]:
        """Value, drift, slope, low, high and brake of all slots."""
        if self.barrier is not None:
            return self._of_function(actions)
        if self.batch.world.agents:
            return self._of_agents(actions)
        found = self.batch.barriers(actions, self._believed)
        if found is not self._found:  # the same array in every step, but for copies of the batch
            self._found, self._parts = found, tuple(found[name] for name in PARTS)
            self.unbind()
        return self._parts

    def _of_agents(self, actions: np.ndarray) -> tuple[np.ndarray, ...]:
        """The same where a world has a slot per agent, or one for the first of a team that others play."""
        self._proposals[:, : self.agents] = actions.reshape(-1, self.agents, self.numbers)
        found = self.batch.barriers(self._proposals, self._believed)[:, : self.agents]
        return tuple(found[name].reshape(self.count, *found[name].shape[2:]) for name in PARTS)

    def _of_function(self, actions: np.ndarray) -> tuple[np.ndarray, ...]:
        value, drift, slope = (np.asarray(part, np.float64) for part in self._function(self.below, actions))
        if value.ndim == 1:
            value, drift, slope = value[:, None], drift[:, None], slope[:, None]
        shape = (self.count, value.shape[-1])
        if value.shape != shape or drift.shape != shape or slope.shape != (*shape, self.numbers):
            raise self.setting_error(
                "barrier",
                f"gave arrays of shapes {value.shape}, {drift.shape} and {slope.shape}; needed: (slots, K), (slots, K) "
                f"and (slots, K, m) with slots={self.count} and m={self.numbers}",
            )
        return value, drift, slope, self._low, self._high, self._brake

    def begin_episode(self, slots: np.ndarray) -> None:
        """Record how safe the first state is."""
        super().begin_episode(slots)
        self.infeasible[slots] = 0
        value = self._terms(np.zeros((self.count, self.numbers)))[0]
        self.least[slots] = np.fmin.reduce(value, axis=1, initial=math.inf)[slots]

    def act(self, actions: np.ndarray, slots: np.ndarray) -> np.ndarray:
        """The nearest safe actions."""
        self._now = self._terms(actions)
        self.wanted[...] = actions
        lasting = self.barrier is None and not self.batch.world.agents  # whether they are the same arrays each time
        self.run_all("settle", self._settling, slots, lasting)
        if self._now[0].shape[1] > 1:
            for i in np.flatnonzero(slots & (self.outcome == UNSOLVED)).tolist():
                self._finish(i, actions[i], *(part[i] for part in self._now))
        return self.action

    def _settling(self, slots: np.ndarray) -> Iterator[tuple[Any, ...]]:
        kept = self.raw_action, self.action, self.outcome, self.least, self.interventions, self.infeasible
        yield settle_barriers, slots, self.wanted, self._now, *self._share, *kept
        yield see_moved, self.outcome, self.intervened

    def _finish(self, i: int, proposed: np.ndarray, *barriers: np.ndarray) -> None:
        """A slot for the solver."""
        value, drift, slope, low, high, brake = barriers
        present = ~np.isnan(value)
        needs = self.rate * (self.margin - value[present]) - drift[present]
        found, feasible = solve(proposed, slope[present], needs, low, high)
        if not feasible:
            self.infeasible[i] += 1
            found = found if np.isnan(brake[0]) else brake
        self.action[i] = found.astype(np.float32)

    def entries(self) -> dict[str, Any]:
        """The executed action, how often there was no safe action, and how safe the state was."""
        return {**super().entries(), "infeasible": self.infeasible, "barrier": self.least}


def _way_out(batch: Any) -> str:
    """Which option would give the world barriers, as the end of a sentence."""
    world, values = batch.world, vars(batch.setup.values)
    for name, option in world.options.items():
        for value in option.values if isinstance(option, Choice) else ():
            if world.sizes(SimpleNamespace(**{**values, name: value}))[world.barriers]:
                return f"; it has with {name}={value!r}"
    return ""


@dataclass
class SafeActions(_Corrector):
    """Projection onto a fixed set of actions: bounds, and half-spaces normals . a <= offsets.

    Inside the set an action passes unchanged. With one half-space this is the closed form of the safety layer of Dalal
    et al., "Safe exploration in continuous action spaces", 2018, made exact at the bounds. For constraints that depend
    on the state, `BarrierFilter` takes a function.

    Args:
        low, high: bounds, one number or m, as float32; None for those of the action space, and never beyond them.
        normals: (K, m), or (m,) for one half-space. offsets: (K,), or a number.

    Info: "raw_action" and "action", before and after, (m,); "intervened"; "interventions", their count in this episode.

    Raises:
        ParameterError: shapes that do not fit, an empty set, or no continuous actions.
        MissingExtraError: several half-spaces, and the extra "safety" is not installed.
    """

    low: Any = None
    high: Any = None
    normals: Any = None
    offsets: Any = None

    def prepare(self) -> None:
        """Check the settings."""
        self._make_room()
        if (self.normals is None) != (self.offsets is None):
            raise ParameterError("SafeActions: normals and offsets must be given together")
        self._bounds = self._bound("low", np.maximum), self._bound("high", np.minimum)
        if (self._bounds[0] > self._bounds[1]).any():
            raise ParameterError(
                f"SafeActions: low={self.low!r} exceeds high={self.high!r}; there is no action in between"
            )
        self._slopes, self._needs = self._half_spaces()
        self._check_not_empty()

    def _bound(self, setting: str, tighter: Any) -> np.ndarray:
        own = np.asarray(getattr(self.action_space, setting), np.float64)
        value = getattr(self, setting)
        if value is None:
            return own
        self.check_number(setting, -math.inf)
        if np.shape(value) not in ((), (self.numbers,)):
            raise self.setting_error(setting, f"must be one number or {self.numbers}, as many as an action has")
        return tighter(own, np.float32(value)).astype(np.float64)

    def _half_spaces(self) -> tuple[np.ndarray, np.ndarray]:
        if self.normals is None:
            return np.zeros((0, self.numbers)), np.zeros(0)
        self.check_number("normals", -math.inf)
        self.check_number("offsets", -math.inf)
        normals, offsets = np.atleast_2d(np.asarray(self.normals, np.float64)), np.atleast_1d(self.offsets)
        if normals.shape != (len(offsets), self.numbers) or offsets.ndim != 1:
            raise self.setting_error(
                "normals", f"must have the shape {(len(offsets), self.numbers)}, a slot per offset"
            )
        if not normals.any(axis=1).all():
            raise self.setting_error("normals", "has a row of zeros, which is not a direction")
        return -normals, -offsets.astype(np.float64)

    def _check_not_empty(self) -> None:
        low, high = self._bounds
        zero, several = np.zeros(self.numbers), len(self._needs) > 1
        outcome = settle(zero, self._slopes, self._needs, low, high, np.clip(zero, low, high))
        empty = several and not solve(zero, self._slopes, self._needs, low, high)[1]
        if empty or outcome == INFEASIBLE:
            raise ParameterError(
                f"SafeActions: no action within the bounds meets normals={self.normals!r}, offsets={self.offsets!r}"
            )

    def act(self, actions: np.ndarray, slots: np.ndarray) -> np.ndarray:
        """The nearest actions in the set."""
        passed = super().act(actions, slots)
        if len(self._needs) > 1:
            for i in np.flatnonzero(slots & (self.outcome == UNSOLVED)).tolist():
                found, _ = solve(actions[i], self._slopes, self._needs, *self._bounds)
                self.action[i] = found.astype(np.float32)
        return passed

    def acting(self, slots: np.ndarray) -> Iterator[tuple[Any, ...]]:
        told = self.raw_action, self.action, self.outcome, self.interventions
        yield settle_set, slots, self.wanted, self._slopes, self._needs, *self._bounds, *told
        yield see_moved, self.outcome, self.intervened
