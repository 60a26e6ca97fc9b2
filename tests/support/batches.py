"""Batches that have begun."""

import rlenvs


def begun(id, worlds=1, seed=0, **keywords):
    """A batch after its reset; world i is seeded with seed + i."""
    batch = rlenvs.make_batch(id, worlds, **keywords)
    batch.seed(range(seed, seed + worlds))
    batch.reset()
    return batch
