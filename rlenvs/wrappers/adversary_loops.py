"""Compiled loops of adversaries: what a perturbation does to observations, actions and parameters."""

from __future__ import annotations

import numpy as np

from rlenvs.core.compiler.loops import compiled
from rlenvs.wrappers.randomness import bits_at, uniform_of

SWITCHING = 1 << 19  # place of the number that decides whether the adversary acts


@compiled(nogil=True)
def add_everywhere(
    slots: np.ndarray,
    values: np.ndarray,
    p: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    out: np.ndarray,
) -> None:
    """out = values + p, clipped; what is not perturbed stays as it is, to the bit."""
    for i in range(len(slots)):
        if slots[i]:
            for j in range(low.size):
                x = low.dtype.type(values[i, j] + p[i, j])
                x = low[j] if x < low[j] else x
                x = high[j] if x > high[j] else x
                out[i, j] = values[i, j] if p[i, j] == 0.0 else x


@compiled(nogil=True)
def add_at(
    slots: np.ndarray,
    values: np.ndarray,
    places: np.ndarray,
    p: np.ndarray,
    columns: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    out: np.ndarray,
) -> None:
    """As `add_everywhere`, of some columns of p at some places; the others of these slots are left as they are."""
    for i in range(len(slots)):
        if slots[i]:
            for j in range(places.size):
                k, added = places[j], p[i, columns[j]]
                x = low.dtype.type(values[i, k] + added)
                x = low[k] if x < low[k] else x
                x = high[k] if x > high[k] else x
                out[i, k] = values[i, k] if added == 0.0 else x


@compiled(nogil=True)
def switch(
    slots: np.ndarray,
    choices: np.ndarray,
    p: np.ndarray,
    acting: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    raw: np.ndarray,
    out: np.ndarray,
) -> None:
    """The choice that p, a number of [-1, 1], stands for where the adversary acts; raw = choice."""
    count = high[0] - low[0] + 1.0
    for i in range(len(slots)):
        if slots[i]:
            raw[i] = np.int64(choices[i, 0])
            step = min(np.floor(0.5 * (p[i, 0] + 1.0) * count), count - 1.0)
            out[i] = np.int64(low[0] + step) if acting[i] else raw[i]


@compiled(nogil=True)
def decide(slots: np.ndarray, key: np.ndarray, time: np.ndarray, probability: float, out: np.ndarray) -> None:
    """Whether the adversary acts."""
    for i in range(len(slots)):
        if slots[i]:
            out[i] = uniform_of(bits_at(key[i], time[i], SWITCHING)) < probability


@compiled(nogil=True)
def add_to_actions(
    slots: np.ndarray,
    actions: np.ndarray,
    p: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    raw: np.ndarray,
    out: np.ndarray,
) -> None:
    """out = action + p, clipped; raw = action."""
    for i in range(len(slots)):
        if slots[i]:
            for j in range(low.size):
                x = actions[i, j] + p[i, j]
                x = low[j] if x < low[j] else x
                x = high[j] if x > high[j] else x
                raw[i, j] = actions[i, j]
                out[i, j] = actions[i, j] if p[i, j] == 0.0 else x


@compiled(nogil=True)
def blend(
    slots: np.ndarray,
    actions: np.ndarray,
    p: np.ndarray,
    acting: np.ndarray,
    weight: float,
    low: np.ndarray,
    high: np.ndarray,
    raw: np.ndarray,
    out: np.ndarray,
) -> None:
    """out = (1 - weight) * action + weight * b where the adversary acts, b being the point p of the cube in the box
    [low, high]; raw = action."""
    for i in range(len(slots)):
        if slots[i]:
            share = weight if acting[i] else 0.0
            for j in range(low.size):
                own = min(max(actions[i, j], low[j]), high[j])
                other = 0.5 * (low[j] + high[j]) + 0.5 * (high[j] - low[j]) * p[i, j]
                raw[i, j] = actions[i, j]
                out[i, j] = (1.0 - share) * own + share * other if share > 0.0 else actions[i, j]


@compiled(nogil=True)
def place_parameters(
    slots: np.ndarray,
    p: np.ndarray,
    home: np.ndarray,
    nominal: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    out: np.ndarray,
) -> None:
    """The parameters at the places p of the cube, of which `home` is the place of the nominal ones."""
    for i in range(len(slots)):
        if slots[i]:
            for j in range(low.size):
                value = nominal[j] + 0.5 * (high[j] - low[j]) * (p[i, j] - home[j])
                value = low[j] if p[i, j] <= -1.0 else value
                out[i, j] = high[j] if p[i, j] >= 1.0 else min(max(value, low[j]), high[j])
