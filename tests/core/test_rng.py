import math

import numpy as np

from rlenvs.core.declare.rng import below, next_word, normal, seed_words, uniform

MASK = 2**64 - 1


def reference(words):
    """xoroshiro128++ on Python integers, after Blackman and Vigna's description."""

    def rotate(value, by):
        return ((value << by) | (value >> (64 - by))) & MASK

    first, second = words
    while True:
        yield (rotate((first + second) & MASK, 17) + first) & MASK
        second ^= first
        first, second = rotate(first, 49) ^ second ^ ((second << 21) & MASK), rotate(second, 28)


def test_words_are_those_of_the_published_generator():
    rng = np.array([1, 2], np.uint64)
    expected = reference((1, 2))
    with np.errstate(over="ignore"):
        for _ in range(1000):
            assert int(next_word(rng)) == next(expected)


def test_moments():
    rng = seed_words(np.random.default_rng(0))
    with np.errstate(over="ignore"):
        uniforms = np.array([uniform(rng, -2.0, 3.0) for _ in range(20000)])
        normals = np.array([normal(rng) for _ in range(20000)])
        integers = np.array([below(rng, 7) for _ in range(20000)])
    assert -2.0 <= uniforms.min() < uniforms.max() < 3.0
    assert abs(uniforms.mean() - 0.5) < 5 * 5 / math.sqrt(12 * 20000)
    assert abs(normals.mean()) < 5 / math.sqrt(20000)
    assert abs(normals.std() - 1) < 0.03
    assert (np.bincount(integers, minlength=7) > 20000 / 7 * 0.9).all()
