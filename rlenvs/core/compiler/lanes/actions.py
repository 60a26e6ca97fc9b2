"""A look at all actions of a batch at once."""

from __future__ import annotations

from typing import Any

from rlenvs.core.compiler.cache import compiled


@compiled()
def all_within(numbers: Any, least: Any, most: Any) -> bool:
    """Whether all numbers of an array are within bounds; NaN is not."""
    fine = True
    for j in range(numbers.size):
        fine = fine & (numbers[j] >= least) & (numbers[j] <= most)
    return fine
