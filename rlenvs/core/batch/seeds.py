"""Seeds of the generators in the states of a batch's worlds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from gymnasium.utils.seeding import np_random as make_generator

from rlenvs.core.declare.inputs import seeds_of
from rlenvs.core.declare.rng import seed_words


class Seeds:
    """The generators of a batch's worlds.

    Args:
        states: of the worlds.
        players: whether the worlds have players, who draw from generators of their own.
    """

    def __init__(self, states: np.ndarray, players: bool) -> None:
        self._words = states["rng"]
        self._words_of_players = states["players_rng"] if players else None
        self._all = False  # whether all worlds are known to have had a seed

    def seed(self, seeds: int | Sequence[int | None]) -> None:
        """See `KernelBatch.seed`."""
        for i, seed in enumerate(seeds_of(seeds, len(self._words)) or ()):
            if seed is not None:
                self.seed_from(make_generator(seed)[0], i)

    def seed_from(self, generator: np.random.Generator, index: int) -> None:
        """Seed one world's generators."""
        self._words[index] = seed_words(generator)
        if self._words_of_players is not None:
            self._words_of_players[index] = seed_words(generator)

    def seed_unseeded(self, generator: np.random.Generator) -> None:
        """Seed the worlds that have never been seeded."""
        if self._all:
            return
        for i in np.flatnonzero(~self._words.any(axis=1)):
            self.seed_from(generator, int(i))
        self._all = True

    def forget(self) -> None:
        """States came from outside: who has had a seed is no longer known."""
        self._all = False

    @property
    def any(self) -> bool:
        """Whether any world has had a seed."""
        return self._all or bool(self._words.any())

    @property
    def all(self) -> bool:
        """Whether all worlds have had a seed."""
        self._all = self._all or bool(self._words.any(axis=1).all())
        return self._all
