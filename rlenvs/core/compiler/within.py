"""A look at all actions of a batch at once."""

from __future__ import annotations

from typing import Any

from rlenvs.core.compiler.installed import numba_is_installed
from rlenvs.core.compiler.loops import compiled


@compiled()
def _all_within(numbers: Any, least: Any, most: Any) -> bool:
    fine = True
    for j in range(numbers.size):
        fine = fine & (numbers[j] >= least) & (numbers[j] <= most)
    return fine


def _extremes_within(numbers: Any, least: Any, most: Any) -> bool:
    """The same, which takes NumPy 2 us more."""
    return bool(numbers.min() >= least and numbers.max() <= most)


def all_within(numbers: Any, least: Any, most: Any) -> bool:
    """Whether all numbers of an array are within bounds; NaN is not."""
    return _all_within(numbers, least, most)
