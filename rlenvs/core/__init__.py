"""The contract of a world and everything that the core makes of it.

World files import from here: `world` and its parts, `kernel`, the random functions and the field types.
"""

from rlenvs.core.kernel import kernel
from rlenvs.core.layout import b1, f4, f8, i1, i2, i4, i8, u1, u8
from rlenvs.core.rng import below, normal, uniform
from rlenvs.core.spec import (
    Score,
    World,
    block,
    choice,
    continuous,
    cost,
    discrete,
    flag,
    free,
    integer,
    param,
    term,
    world,
)

__all__ = [
    "Score",
    "World",
    "b1",
    "below",
    "block",
    "choice",
    "continuous",
    "cost",
    "discrete",
    "f4",
    "f8",
    "flag",
    "free",
    "i1",
    "i2",
    "i4",
    "i8",
    "integer",
    "kernel",
    "normal",
    "param",
    "term",
    "u1",
    "u8",
    "uniform",
    "world",
]
