"""Parameters of a batch's worlds: values for each of them, and new ones, looked at before anything changes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from rlenvs.core.declare.errors import ParameterError
from rlenvs.core.declare.setup import Setup

if TYPE_CHECKING:
    from rlenvs.core.batch.kernel_batch import KernelBatch


def give_contexts(setup: Setup, rows: np.ndarray) -> None:
    """Write the values that `make` was given for each world into the records of parameters, one per world.

    Raises:
        ParameterError: there are more or fewer values than worlds.
    """
    for name, values in setup.contexts.items():
        if len(values) != len(rows):
            raise ParameterError(f"{name} has {len(values)} values for {len(rows)} environments")
        rows[name] = values


def checked_values(
    setup: Setup, rows: np.ndarray, values: Mapping[str, Any], num_envs: int, some: slice | np.ndarray
) -> dict[str, np.ndarray]:
    """New values of parameters, a number or one for each of some worlds; see `KernelBatch.set_params`.

    Args:
        rows: the records of parameters, one for all worlds or one per world.
        values: a number, or one for each of all worlds, by parameter.
        some: the worlds that get them.
    """
    world, checked = setup.world, {}
    for name, value in values.items():
        if name not in world.params:
            raise ParameterError(f"{world.name} has no parameter {name!r}; it has {sorted(world.params)}")
        number = world.params[name].check(name, value)
        if number.shape not in ((), (num_envs,)):
            raise ParameterError(f"{name} has the shape {number.shape}; needed: one number, or {num_envs}")
        checked[name] = number[some] if number.ndim else number
    if world.constraints and checked:
        now = rows[some] if len(rows) > 1 else rows
        setup.check_together({**vars(setup.values), **{name: checked.get(name, now[name]) for name in world.params}})
    return checked


@contextmanager
def for_once(batch: KernelBatch, values: dict[str, Any], worlds: np.ndarray | None = None) -> Iterator[None]:
    """Give some worlds other parameters, as `KernelBatch.set_params` does, until the end of the block."""
    if not values:
        yield
        return
    before = {name: batch.param_rows[name].copy() for name in values if name in batch.world.params}
    batch.set_params(values, worlds)
    try:
        yield
    finally:
        batch.set_params({name: numbers if len(numbers) > 1 else numbers[0] for name, numbers in before.items()})
