"""Options that are lists of whole numbers, of which each episode draws one, and what the worlds share of sizes."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from rlenvs.core import below, json_option, kernel
from rlenvs.single.memory.agent import SIDE

MOST = 16  # numbers in a list


def drawn(default: list[int], low: int, high: int, doc: str, empty: bool = False) -> Any:
    """An option: whole numbers in [low, high], one of which is drawn at every reset."""
    return json_option(default, _parser(low, high, empty), f"{doc}: a list, of which each episode draws one number")


def _parser(low: int, high: int, empty: bool) -> Callable[[Any], list[int]]:
    def parse(value: Any) -> list[int]:
        if isinstance(value, (str, bytes, Mapping)):
            raise ValueError("it must be a list of whole numbers")
        numbers = [value] if isinstance(value, (int, np.integer)) and not isinstance(value, bool) else list(value)
        whole = all(isinstance(n, (int, np.integer)) and not isinstance(n, bool) for n in numbers)
        if not whole or len(numbers) > MOST or any(not low <= n <= high for n in numbers):
            raise ValueError(f"it must be a list of at most {MOST} whole numbers in [{low}, {high}]")
        if not numbers and not empty:
            raise ValueError("the list must not be empty")
        return [int(n) for n in numbers]

    return parse


@kernel
def draw_one(numbers, rng):
    """One of the numbers of a list; no random number is used up where there is but one."""
    return int(numbers[below(rng, numbers.size) if numbers.size > 1 else 0])


def screen_side(values: Any) -> int:
    """Pixels of a side of the image; none where the observation is a vector."""
    return SIDE if values.observation == "pixels" else 0
