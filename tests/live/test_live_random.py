"""Random numbers and hashes in pages are those of Python."""

import hashlib
import os

import numpy as np
import pytest
from gymnasium.utils.seeding import np_random
from support.node import needs_node, run_node

from rlenvs.core.declare.rng import seed_words

pytestmark = needs_node
SEEDS = [0, 1, 2, 7, 123, 2**31 - 1, 2**32 - 1, 2**32, 2**32 + 1, 2**52 + 12345, 2**53 - 1, *range(1000, 1040)]


def test_a_seed_gives_the_words_of_python():
    said = run_node(
        "const words = generator => [...generator.seedWords(), ...generator.seedWords()];"
        "tell(given[0].map(seed => words(new Generator(BigInt(seed)))));",
        [str(seed) for seed in SEEDS],
        imports=[("Generator", "random")],
    )
    for seed, words in zip(SEEDS, said, strict=True):
        generator = np_random(seed)[0]
        assert [int(word) for word in words] == [*seed_words(generator).tolist(), *seed_words(generator).tolist()], seed


@pytest.mark.parametrize("seed", [2**64, 2**128 + 1, 2**300 + 17])
def test_long_seeds_fill_the_pool_further(seed):
    said = run_node("tell(seedState([BigInt(given[0])]))", str(seed), imports=[("seedState", "random")])
    assert list(map(int, said)) == np.random.SeedSequence(seed).generate_state(4, np.uint64).tolist()


@pytest.mark.parametrize("seed", [-1, 0.5, 2**53])
def test_what_is_no_seed_is_refused(seed):
    said = run_node(
        "try { new Generator(given[0]); tell('') } catch (error) { tell(error.message) }",
        seed,
        imports=[("Generator", "random")],
    )
    assert "whole number" in said


def test_uniform_and_drawn_choices_follow_numpy():
    said = run_node(
        "const g = new Generator(5, 1), h = new Generator(5, 3);"
        "tell([Array.from({length: 100}, () => g.random()), Array.from({length: 100}, () => h.gumbel())])",
        imports=[("Generator", "random")],
    )
    assert said[0] == np.random.default_rng([5, 1]).random(100).tolist()
    np.testing.assert_allclose(said[1], np.random.default_rng([5, 3]).gumbel(size=100), rtol=1e-12)


def test_hashes_are_those_of_python():
    pieces = [os.urandom(n).hex() for n in (0, 1, 55, 56, 63, 64, 65, 119, 120, 1000)]
    said = run_node(
        "tell(given[0].map((_, k) => { const sha = new Sha256();"
        "given[0].slice(0, k + 1).forEach(hex => sha.update(Buffer.from(hex, 'hex'))); return sha.digest(); }))",
        pieces,
        imports=[("Sha256", "sha256")],
    )
    whole = b""
    for piece, digest in zip(pieces, said, strict=True):
        whole += bytes.fromhex(piece)
        assert digest == hashlib.sha256(whole).hexdigest(), len(whole)


@pytest.mark.parametrize("decimals", [0, 2])
def test_numbers_are_written_as_python_writes_them(decimals):
    values = [
        0.0,
        -0.0,
        0.125,
        -0.125,
        0.375,
        2.675,
        1.005,
        99.995,
        0.5,
        1.5,
        2.5,
        -2.5,
        123.5,
        -0.001,
        1e-9,
        1234567.5,
    ]
    values += np.random.default_rng(0).normal(0, 100, 300).tolist() + (np.arange(-40, 40) / 16).tolist()
    said = run_node("tell(given[0].map(v => fixed(v, given[1])))", values, decimals, imports=[("fixed", "head")])
    # JSON has no negative zero of its own in JavaScript's writing, but reads one
    assert said == [f"{value:.{decimals}f}" for value in values]
