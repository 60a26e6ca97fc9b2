"""Random numbers as a function of where they are used: no generator to carry along, and none to get out of step.

A number follows from the key of an episode (of one slot: one agent of one world), the time step and the place within
the step. The same seed therefore gives the same noise whatever a policy does, in every API form, in any order. The
mixing function is the finalizer of SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators",
OOPSLA 2014).
"""

from __future__ import annotations

from statistics import NormalDist
from typing import Any

import numpy as np

from rlenvs.core.compiler.loops import compiled, helper
from rlenvs.core.declare.splitmix import FIRST, GOLDEN, SECOND

Word = Any  # np.uint64; kernels are compiled for it

PLACES = np.uint64(1 << 20)  # numbers that a step may use
HALF = np.uint64(0xFFFFFFFF)
SIGN, SIZE = np.uint32(0x80000000), np.uint32(0x7FFFFFFF)
PIECES = 128  # straight pieces per octave of the normal distribution's tail probability


def _tail_table() -> np.ndarray:
    """Lines that give z where the upper tail of the normal distribution holds the probability f / 2**32.

    One line per cell of f, 128 cells from each power of two to the next, so that they are as fine in the tail as in the
    middle (hierarchical segmentation: Lee, Luk, Villasenor and Cheung, IEEE Transactions on Computers 53, 2004). A line
    is one word, its value at f = 0 and its slope, both float32: one look at memory for each number.
    """
    powers, parts = np.ldexp(1.0, np.arange(-1, 32)), 1.0 + np.arange(PIECES) / PIECES
    edges = np.outer(powers, parts).reshape(-1)[: 32 * PIECES + 2]
    z = np.array([-NormalDist().inv_cdf(edge / 2.0**32) for edge in edges])
    slope = np.diff(z) / np.diff(edges)
    lines = np.stack([z[:-1] - slope * edges[:-1], slope]).astype(np.float32).view(np.uint32).astype(np.uint64)
    return lines[0] << np.uint64(32) | lines[1]


LINES = _tail_table()
FIRST_LINE = np.uint32(126 * PIECES)  # of f = 0.5, whose exponent is 126 in a float32
BELOW_LINE = np.uint32(16)  # bits of a float32 behind those that choose the line


@helper(inline="always")
def mix(x: Word) -> Word:
    """64 bits that depend on all bits of x."""
    x = np.uint64(x) + GOLDEN
    x = (x ^ (x >> np.uint64(30))) * FIRST
    x = (x ^ (x >> np.uint64(27))) * SECOND
    return x ^ (x >> np.uint64(31))


@helper(inline="always")
def start_of(key: Word, time: Any) -> Word:
    """Where the numbers of a time step begin, for `bits_from`."""
    return np.uint64(key) + GOLDEN * (np.uint64(time) * PLACES)


@helper(inline="always")
def bits_from(start: Word, place: Any) -> Word:
    """64 random bits at a place below PLACES."""
    return mix(np.uint64(start) + GOLDEN * np.uint64(place))


@helper(inline="always")
def bits_at(key: Word, time: Any, place: Any) -> Word:
    """64 random bits of an episode's key, at a time step and a place below PLACES."""
    return bits_from(start_of(key, time), place)


@helper(inline="always")
def uniform_of(bits: Word) -> float:
    """Uniform in [0, 1), from 64 bits."""
    return float(np.uint64(bits) >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@helper(inline="always")
def normal_of(bits: Word) -> Any:
    """Standard normal, from the lower 32 bits: its sign, and its size by the inverse of the distribution function.

    The probability of anything further out is right to 1e-5 of itself; the largest number is 6.3.
    """
    word = np.uint32(np.uint64(bits) & HALF)
    f = np.float32(np.float32(np.int32(word & SIZE)) + np.float32(0.5))
    line = LINES[np.uint32((np.float32(f).view(np.uint32) >> BELOW_LINE) - FIRST_LINE)]
    slope = np.uint32(line & HALF).view(np.float32)
    z = np.float32(np.uint32(line >> np.uint64(32)).view(np.float32) + np.float32(slope * f))
    return np.uint32(np.float32(z).view(np.uint32) ^ (word & SIGN)).view(np.float32)


@helper
def add_normals(starts: np.ndarray, place: Word, scale: np.ndarray, out: np.ndarray) -> None:
    """Add scale[j] times a standard normal to out[j, i], for number j of the step that begins at starts[i]; two numbers
    from each place. One number after the other for all slots, words before numbers: loops that a compiler does fast."""
    words = np.empty(starts.size, np.uint64)
    for j in range(scale.size):
        if j % 2 == 0:
            at = place + np.uint64(j // 2)
            for i in range(starts.size):
                words[i] = bits_from(starts[i], at)
        factor, shift = scale[j], np.uint64(32 * (j % 2))
        for i in range(starts.size):
            out[j, i] += factor * normal_of(words[i] >> shift)


def mix_all(x: np.ndarray) -> np.ndarray:
    """`mix` of every number of a one-dimensional uint64 array."""
    out = np.empty_like(x)
    _mix_all(x, out)
    return out


@compiled()
def _mix_all(x: np.ndarray, out: np.ndarray) -> None:
    for i in range(x.size):
        out[i] = mix(x[i])


@compiled()
def begin_episodes(slots: np.ndarray, base: np.ndarray, episode: np.ndarray, key: np.ndarray, time: np.ndarray) -> None:
    """The next episode of the slots in a mask: its number, its key, time 0."""
    for i in range(slots.size):
        if slots[i]:
            episode[i] += np.uint64(1)
            key[i] = mix(base[i] ^ mix(episode[i]))
            time[i] = 0
