"""Lists of contexts: drawn from distributions, and split into those for training and those for evaluation."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rlenvs.core.declare.errors import ParameterError, nearest
from rlenvs.core.declare.inputs import positive

Context = Mapping[str, float]
Range = tuple[float, float]
DISTRIBUTIONS = ("uniform", "normal", "log")


def sample_contexts(
    features: Mapping[str, Sequence[Any]], count: int, seed: int = 0, ranges: Mapping[str, Range] | None = None
) -> list[dict[str, float]]:
    """Draw random contexts. A feature's values depend only on the seed and its name.

    Args:
        features: by parameter ("uniform", low, high), ("normal", mean, std) or ("log", low, high): uniform in the
            logarithm. In the parameter's unit.
        count: how many.
        ranges: [low, high] by parameter; normal draws outside are drawn again.

    Raises:
        ParameterError: an unknown distribution, impossible numbers, or a range that is hardly ever hit.
    """
    count = positive("count", count)
    columns = {}
    for name, feature in features.items():
        kind, a, b = _feature(name, feature)
        rng = np.random.default_rng([seed, *name.encode()])
        if kind == "normal":
            columns[name] = _truncated(rng, a, b, count, name, (ranges or {}).get(name, (-math.inf, math.inf)))
        elif kind == "log":
            columns[name] = np.clip(np.exp(rng.uniform(math.log(a), math.log(b), count)), a, b)
        else:
            columns[name] = rng.uniform(a, b, count)
    return [{name: float(column[i]) for name, column in columns.items()} for i in range(count)]


def _feature(name: str, feature: Sequence[Any]) -> tuple[str, float, float]:
    """A feature's distribution and its two numbers."""
    shape = 'must be ("uniform", low, high), ("normal", mean, std) or ("log", low, high)'
    if isinstance(feature, str) or len(feature) != 3 or feature[0] not in DISTRIBUTIONS:
        raise ParameterError(f"features[{name!r}]={feature!r} {shape}")
    kind, a, b = feature
    if not all(isinstance(x, (int, float, np.number)) and math.isfinite(x) for x in (a, b)):
        raise ParameterError(f"features[{name!r}]={feature!r} {shape}, with finite numbers")
    if kind == "normal" and b < 0:
        raise ParameterError(f"features[{name!r}]={feature!r}: the standard deviation must not be negative")
    if kind != "normal" and (a > b or (kind == "log" and a <= 0)):
        raise ParameterError(f"features[{name!r}]={feature!r} needs {'0 < ' if kind == 'log' else ''}low <= high")
    return kind, float(a), float(b)


def _truncated(rng: np.random.Generator, mean: float, std: float, count: int, name: str, within: Range) -> np.ndarray:
    """Normal numbers within a range."""
    values = np.full(count, math.nan)
    for _ in range(100):
        wrong = ~((values >= within[0]) & (values <= within[1]))
        if not wrong.any():
            return values
        values[wrong] = rng.normal(mean, std, wrong.sum())
    raise ParameterError(
        f"features[{name!r}]: normal({mean}, {std}) is hardly ever within {name}'s range {list(within)}"
    )


def split(
    contexts: Sequence[Context] | Mapping[str, Context], mode: str, fraction: float = 0.2, seed: int = 0
) -> tuple[Any, Any]:
    """Split contexts into training and test sets (CARL; Kirk et al., "A survey of zero-shot generalisation", 2023).

    - "interpolation": random ones are for testing. Each of their values lies between two values of training.
    - "extrapolation": the outermost ones are for testing. At least one value lies outside all values of training.
    - "combinatorial": those in which two values or more are high. Each is met in training, but not together.

    Args:
        contexts: all with the same parameters.
        fraction: share for testing, in (0, 1); somewhat more or less where contexts tie.
        seed: for "interpolation".

    Returns:
        training and testing contexts, lists or dictionaries as given.

    Raises:
        ParameterError: an unknown mode, contexts that differ in their parameters, or one part would be empty.
    """
    items = list(contexts.items()) if isinstance(contexts, Mapping) else list(enumerate(contexts))
    if mode not in SPLITS:
        raise ParameterError(f"mode={mode!r} is not one of {list(SPLITS)}. {nearest(str(mode), SPLITS)}")
    if not 0.0 < fraction < 1.0:
        raise ParameterError(f"fraction={fraction!r} must be within (0, 1)")
    if not items or any(context.keys() != items[0][1].keys() for _, context in items):
        raise ParameterError("contexts: at least one is needed, and all must have the same parameters")
    table = np.array([[context[name] for name in items[0][1]] for _, context in items], np.float64)
    table = table[:, np.ptp(table, axis=0) > 0]
    test = SPLITS[mode](table, fraction, seed)
    if not test.any() or test.all():
        raise ParameterError(
            f"mode={mode!r} with fraction={fraction}: too few different contexts, {len(items)}, to split"
        )
    parts = [[item for item, own in zip(items, test == which, strict=True) if own] for which in (False, True)]
    if isinstance(contexts, Mapping):
        return dict(parts[0]), dict(parts[1])
    return [context for _, context in parts[0]], [context for _, context in parts[1]]


def _inside(table: np.ndarray, fraction: float, seed: int) -> np.ndarray:
    """Random slots, but not the outermost of a column."""
    test = np.zeros(len(table), np.bool_)
    extreme = set(np.argmin(table, axis=0).tolist()) | set(np.argmax(table, axis=0).tolist())
    order = np.random.default_rng(seed).permutation(len(table))
    inner = [i for i in order.tolist() if i not in extreme]
    test[inner[: round(fraction * len(table))]] = table.shape[1] > 0
    return test


def _outside(table: np.ndarray, fraction: float, seed: int) -> np.ndarray:
    """The slots farthest from the middle of the box around all, in the maximum norm."""
    low, high = table.min(axis=0), table.max(axis=0)
    scaled = (2.0 * table - low - high) / (high - low)
    return _highest(np.round(abs(scaled).max(axis=1, initial=0.0), 9), fraction)


def _together(table: np.ndarray, fraction: float, seed: int) -> np.ndarray:
    """The slots whose second-highest value is highest, among ranks within columns."""
    if table.shape[1] < 2:
        raise ParameterError('mode="combinatorial" requires contexts of two parameters that vary, or more')
    ranks = np.array([[np.mean(column <= value) for value in column] for column in table.T]).T
    return _highest(np.sort(ranks, axis=1)[:, -2], fraction)


def _highest(scores: np.ndarray, fraction: float) -> np.ndarray:
    """About this share of the slots, those with the highest scores; ties stay together."""
    ordered = np.sort(scores)
    edge = ordered[max(len(scores) - round(fraction * len(scores)) - 1, 0)]
    if edge == ordered[-1]:
        edge = max(ordered[ordered < edge], default=edge)
    return scores > edge


SPLITS = {"interpolation": _inside, "extrapolation": _outside, "combinatorial": _together}
