"""A world with its values and what follows from them alone: sizes, data, the ranges of numbers that kernels write."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np

from rlenvs.core.declare.declared_spaces import Block
from rlenvs.core.declare.errors import ParameterError
from rlenvs.core.declare.spec import World
from rlenvs.core.declare.values import load_engine


@dataclass(frozen=True)
class Chosen:
    """What the forms of actions and observations follow from.

    Attributes:
        world: the declaration.
        values: parameters and options.
        sizes: numbers behind the names of dimensions.
        scaled: whether spaces are those of this package's own worlds, and not of the published environment that the
            world re-implements.
    """

    world: World
    values: SimpleNamespace
    sizes: Mapping[str, int]
    scaled: bool

    def size(self, size: int | str) -> int:
        """A dimension's number."""
        return self.sizes[size] if isinstance(size, str) else size

    def shape(self, shape: tuple[int | str, ...]) -> tuple[int, ...]:
        """A shape's numbers."""
        return tuple(self.size(dimension) for dimension in shape)

    def range_of(self, part: Block) -> np.ndarray:
        """The physical range of each number of a block, float64 (2, numbers)."""
        return part.bounds(self.values, self.shape(part.shape)).reshape(2, -1)


def in_scaled_form(world: World, values: SimpleNamespace) -> bool:
    """Whether spaces are those of this package's own worlds; always where the world re-implements no other."""
    return bool(getattr(values, "scaled", True)) or world.published is None


def data_of(world: World, values: SimpleNamespace) -> dict[str, np.ndarray]:
    """The static data by name.

    Raises:
        ParameterError: the world's function gives other names than it declares.
    """
    function = world.functions.get("data")
    data = {name: np.asarray(value) for name, value in (function(values) if function else {}).items()}
    if set(data) != set(world.data):
        raise ParameterError(
            f"{world.name} declares the data {sorted(world.data)}, and its function under "
            f"@SPEC.make_data gives {sorted(data)}"
        )
    return data


def sizes_of(world: World, values: SimpleNamespace) -> dict[str, int]:
    """Numbers behind the names of dimensions, those of the world's engine included."""
    engine = load_engine(world.engine).sizes(world, values) if world.engine else {}
    return {"agents": 1, **world.sizes(values), **engine}
