"""A few actions of every kind of action space, for who looks for a way out of danger, and random ones."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np
from gymnasium import spaces

from rlenvs.wrappers.stage import Stage

MOST = 16  # actions that are compared


class Ways:
    """Actions of the slots of a stage: all combinations of the lowest number, none and the highest, or of the choices,
    where these are 16 at most; else what does nothing but in one number. 16 of them, evenly spaced, where more.

    Args:
        stage: the stage; its idle actions are those that do nothing.
        actions: an array of its actions, (slots, ...).
    """

    def __init__(self, stage: Stage, actions: np.ndarray) -> None:
        self._stage, self._like = stage, actions[: stage.agents]
        idle = np.atleast_2d(stage.idle_slots(self._like).reshape(stage.agents, -1))
        own = [_actions_of(space, idle[agent]) for agent, space in enumerate(stage.action_spaces)]
        count = max(map(len, own))
        self._ways = np.array([[ways[i % len(ways)] for ways in own] for i in range(count)], actions.dtype)

    def __iter__(self) -> Iterator[np.ndarray]:
        """The actions, of all slots each."""
        worlds = self._stage.count // self._stage.agents
        for way in self._ways:
            yield np.tile(way.reshape(self._like.shape), (worlds, *(1,) * (self._like.ndim - 1)))

    def allowed(self, actions: np.ndarray, masks: np.ndarray) -> np.ndarray:
        """Which slots' choices their masks (slots, choices) allow, bool (slots,)."""
        allowed = np.ones(len(actions), np.bool_)
        for slot, mask in enumerate(masks):
            space = self._stage.action_spaces[slot % self._stage.agents]
            counts, first = _choices_of(space)
            places = np.cumsum([0, *counts[:-1]]) + np.ravel(actions[slot])[: len(counts)] - first
            allowed[slot] = mask[places].all()
        return allowed

    def random(self, rng: np.random.Generator, worlds: int) -> np.ndarray:
        """Random actions for the slots of so many worlds; numbers without a bound between -1 and 1."""
        actions = np.zeros((worlds * len(self._like), *self._like.shape[1:]), self._like.dtype)
        for slot in range(len(actions)):
            space = self._stage.action_spaces[slot % self._stage.agents]
            if isinstance(space, spaces.Box):
                own = rng.uniform(*_bounds_of(space)).astype(space.dtype)
            else:
                counts, first = _choices_of(space)
                own = first + rng.integers(counts)
            actions[slot : slot + 1].reshape(-1)[: own.size] = own
        return actions


def _bounds_of(space: spaces.Box) -> tuple[np.ndarray, np.ndarray]:
    low, high = (edge.ravel().astype(np.float64) for edge in (space.low, space.high))
    return np.where(np.isfinite(low), low, -1.0), np.where(np.isfinite(high), high, 1.0)


def _choices_of(space: spaces.Space) -> tuple[np.ndarray, np.ndarray]:
    """How many choices there are for each number of an action, and the first of them."""
    if isinstance(space, spaces.MultiDiscrete):
        return space.nvec.ravel(), space.start.ravel()
    if isinstance(space, spaces.MultiBinary):
        return np.full(space.shape, 2).ravel(), np.zeros(space.shape, np.int64).ravel()
    assert isinstance(space, spaces.Discrete)
    return np.array([space.n]), np.array([space.start])


def _actions_of(space: spaces.Space, idle: np.ndarray) -> list[np.ndarray]:
    """The actions to compare, as rows of the length of `idle`."""
    if isinstance(space, spaces.Box):
        low, high = _bounds_of(space)
        values = [list(three) for three in zip(low, idle[: low.size], high, strict=True)]
    else:
        counts, first = _choices_of(space)
        values = [list(range(start, start + count)) for count, start in zip(counts, first, strict=True)]
    if math.prod(map(len, values)) <= MOST:
        rows = list(itertools.product(*values))
    else:
        rows = [
            (*idle[:j], value, *idle[j + 1 : len(values)])
            for j, own in enumerate(values)
            for value in own
            if value != idle[j]
        ]
    chosen = np.unique(np.linspace(0, len(rows) - 1, min(MOST, len(rows))).astype(int))
    numbers = np.tile(idle, (len(chosen), 1))
    numbers[:, : len(values)] = np.array(rows)[chosen]
    return list(numbers.astype(space.dtype))
