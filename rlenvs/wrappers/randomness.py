"""Random numbers as a function of where they are used: no generator to carry along, and none to get out of step.

A number follows from the key of an episode (of one row: one agent of one world), the time step and the place within the
step. The same seed therefore gives the same noise whatever a policy does, in every API form, in any order. The mixing
function is the finaliser of SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators",
OOPSLA 2014).
"""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
from numba import njit

GOLDEN, FIRST, SECOND = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
PLACES = np.uint64(1 << 20)  # numbers that a step may use
HALF = np.uint64(0xFFFFFFFF)
CELLS = 4096


def _quantiles() -> np.ndarray:
    """The normal distribution's quantiles at k / CELLS; the outermost are not used."""
    inside = [NormalDist().inv_cdf(k / CELLS) for k in range(1, CELLS)]
    return np.array([inside[0], *inside, inside[-1]], np.float32)


QUANTILES = _quantiles()


@njit(inline="always")
def mix(x: int) -> int:
    """64 bits that depend on all bits of x."""
    x = np.uint64(x) + GOLDEN
    x = (x ^ (x >> np.uint64(30))) * FIRST
    x = (x ^ (x >> np.uint64(27))) * SECOND
    return x ^ (x >> np.uint64(31))


@njit(inline="always")
def bits_at(key: int, time: int, place: int) -> int:
    """64 random bits of an episode's key, at a time step and a place below PLACES."""
    return mix(np.uint64(key) + GOLDEN * (np.uint64(time) * PLACES + np.uint64(place)))


@njit(inline="always")
def uniform_of(bits: int) -> float:
    """Uniform in [0, 1), from 64 bits."""
    return float(np.uint64(bits) >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@njit
def tail(u: float) -> float:
    """The normal quantile at u in (0, 1), for the two outermost cells: an initial guess, and Newton's method."""
    sign, p = (-1.0, u) if u < 0.5 else (1.0, 1.0 - u)
    p = max(p, 1e-12)
    t = np.sqrt(-2.0 * np.log(p))
    z = t - (np.log(t * t) + 1.8378770664093453) / (2.0 * t)
    for _ in range(4):
        upper = 0.5 * math.erfc(z * 0.7071067811865476)
        z += (upper - p) * 2.5066282746310002 * np.exp(0.5 * z * z)
    return sign * z


@njit(inline="always")
def normal_of(bits: int) -> float:
    """Standard normal, from 32 bits: by the inverse of the distribution function, linear within 4096 cells of equal
    probability, exact in the two outermost. The distribution function is off by less than 1e-5 everywhere."""
    bits = np.uint64(bits) & HALF
    cell = np.int64(bits >> np.uint64(20))
    if cell == 0 or cell == CELLS - 1:
        return tail((float(bits) + 0.5) * (1.0 / 4294967296.0))
    part = float(bits & np.uint64(0xFFFFF)) * (1.0 / 1048576.0)
    low = QUANTILES[cell]
    return low + part * (QUANTILES[cell + 1] - low)


@njit(cache=True)
def mix_all(x: np.ndarray) -> np.ndarray:
    """`mix` of every number of a one-dimensional uint64 array."""
    out = np.empty_like(x)
    for i in range(x.size):
        out[i] = mix(x[i])
    return out


@njit(cache=True)
def begin_episodes(rows: np.ndarray, base: np.ndarray, episode: np.ndarray, key: np.ndarray, time: np.ndarray) -> None:
    """The next episode of the rows in a mask: its number, its key, time 0."""
    for i in range(rows.size):
        if rows[i]:
            episode[i] += np.uint64(1)
            key[i] = mix(base[i] ^ mix(episode[i]))
            time[i] = 0
