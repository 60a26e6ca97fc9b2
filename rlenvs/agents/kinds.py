"""Kinds of agents: what tells a network that all agents share which of them it plays.

In worlds whose agents differ, the same number of a row means one thing to a hunter and another to its prey. A kind is
what the names of agents share in front of their numbers: adversary_0 and adversary_1 are of the kind adversary. A
network that knows kinds sees a block for each of them: an agent's row, and behind it a 1, in the block of its own kind,
and zeros in all others.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

import numpy as np

from rlenvs.core.declare.setup import Setup


@lru_cache(maxsize=1024)
def kind_of(name: str) -> str:
    """The kind of an agent by its name."""
    return re.sub(r"_?\d+$", "", name) or name


def kinds_in(setup: Setup) -> list[dict[str, Any]]:
    """The kinds of a world's agents in their order, as an architecture says them: {"name": ..., "size": how many
    numbers of a row such an agent sees}."""
    sizes = {kind_of(role.name): role.observation for role in setup.roles}
    return [{"name": name, "size": size} for name, size in sizes.items()]


def names_in(setup: Setup) -> list[str]:
    """The names of a world's agents."""
    return [role.name for role in setup.roles]


def blocks_width(size: int, count: int) -> int:
    """How many numbers `in_blocks` gives for a row of so many, with so many kinds."""
    return count * (size + 1)


def in_blocks(rows: np.ndarray, kinds: np.ndarray, count: int) -> np.ndarray:
    """Rows in the blocks of their kinds, of the same type.

    Args:
        rows: (n, size), padded with zeros.
        kinds: the number of each row's kind, (n,), below count.
        count: of kinds.

    Returns:
        (n, count (size + 1)).
    """
    places, size = np.arange(len(rows)), rows.shape[1]
    blocks = np.zeros((len(rows), count, size + 1), rows.dtype)
    blocks[places, kinds, :size] = rows
    blocks[places, kinds, size] = 1
    return blocks.reshape(len(rows), blocks_width(size, count))


def in_words(kinds: dict[str, int]) -> str:
    """Kinds by name, and how long their rows are, for messages."""
    return ", ".join(f"{name} ({size} numbers)" for name, size in kinds.items())
