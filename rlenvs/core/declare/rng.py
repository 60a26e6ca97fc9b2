"""The random generator that lives in a world's state: xoroshiro128++, two unsigned 64-bit words.

Source: Blackman and Vigna, "Scrambled Linear Pseudorandom Number Generators", ACM TOMS 2021 (rotations 49, 21, 28, 17).
The words come from the `np_random` of the environment at `reset(seed)`; after that a world draws from its own words
only, so that its future does not depend on the batch around it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from rlenvs.core import maths
from rlenvs.core.declare.kernels import kernel

_11, _15, _17, _21, _28, _36, _47, _49 = (np.uint64(n) for n in (11, 15, 17, 21, 28, 36, 47, 49))
_UNIT = 1.0 / 9007199254740992.0  # 2^-53


@kernel
def next_word(rng: Any) -> Any:
    """The next 64 random bits."""
    first, second = rng[0], rng[1]
    total = first + second
    word = ((total << _17) | (total >> _47)) + first
    second ^= first
    rng[0] = ((first << _49) | (first >> _15)) ^ second ^ (second << _21)
    rng[1] = (second << _28) | (second >> _36)
    return word


@kernel
def uniform(rng: Any, low: float, high: float) -> float:
    """A float in [low, high)."""
    return low + (high - low) * (float(next_word(rng) >> _11) * _UNIT)


@kernel
def below(rng: Any, count: int) -> int:
    """An integer in 0 ... count - 1."""
    return int(float(next_word(rng) >> _11) * _UNIT * count)


@kernel
def between(rng: Any, low: int, high: int) -> int:
    """An integer in low ... high - 1."""
    return low + below(rng, high - low)


@kernel
def drawn_from(rng: Any, least: int, most: int) -> int:
    """An integer in least ... most, both ends included; `most`, and nothing is drawn, where `least` is 0. So an option
    gets a lower bound that is off by default; the constraint `at_most` goes with it."""
    return between(rng, least, most + 1) if 0 < least < most else most


@kernel
def normal(rng: Any) -> float:
    """A float of the standard normal distribution (Box and Muller, one of the pair)."""
    radius = math.sqrt(-2.0 * maths.log(1.0 - float(next_word(rng) >> _11) * _UNIT))
    return radius * maths.cos(2.0 * math.pi * (float(next_word(rng) >> _11) * _UNIT))


def seed_words(generator: np.random.Generator) -> np.ndarray:
    """Two words for a world's generator, drawn from a NumPy generator."""
    return generator.integers(1, 2**64 - 1, size=2, dtype=np.uint64)
