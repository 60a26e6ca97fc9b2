"""The memory of a batch: the arrays of the table in `rlenvs.core.declare.arrays`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import accumulate

import numpy as np
from gymnasium.vector import AutoresetMode

from rlenvs.core.declare.arrays import all_sizes, arrays_of
from rlenvs.core.declare.errors import ParameterError
from rlenvs.core.declare.setup import Setup


def allocated(
    setup: Setup, num_envs: int, autoreset: AutoresetMode, contents: Mapping[str, np.ndarray]
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """The arrays of a batch by name, and the piece of memory, uint8, in which lie those of a step's outcome.

    Args:
        contents: what some of them hold, by name. "param_rows", one or one per world, is needed, and taken as it is.

    Raises:
        ParameterError: there is not enough memory; the message says how much is wanted.
    """
    sizes = all_sizes(setup)
    try:
        rows, outcome = _arrays(setup, num_envs, autoreset, sizes)
    except (MemoryError, ValueError, OverflowError) as error:
        numbers = setup.scaling.shape[1] + setup.numbers + sum(setup.choices)
        of_agents = setup.agents * (setup.dtypes["images"].itemsize + 8 * numbers)
        each = setup.dtypes["state"].itemsize + setup.dtypes["result"].itemsize + of_agents
        raise ParameterError(
            f"{num_envs} environments of {setup.world.name} require about {num_envs * each / 2**30:,.1f} GiB of "
            f"memory, more than is available; use fewer ({each / 2**10:.1f} KiB each)"
        ) from error
    for name, array in contents.items():
        if name != "param_rows":
            rows[name][...] = array
    incremental, masked = setup.world.incremental, "mask" in setup.world.kernels
    for name, once in {"observations": incremental, "_images": incremental, "masks": incremental or not masked}.items():
        if once:  # what a user changed would never be written again
            rows[name].flags.writeable = False
    return {**rows, "param_rows": contents["param_rows"]}, outcome


def _arrays(
    setup: Setup, num_envs: int, autoreset: AutoresetMode, sizes: Mapping[str, int]
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    held = {
        "final": autoreset is AutoresetMode.SAME_STEP,
        "flat": bool(setup.dimensions),
        "converted": setup.converted,
        "images": bool(setup.image_shapes),
    }
    made = shared_values(setup)
    outcome = {}
    for name, array in arrays_of(setup.world, setup.action_kind).items():
        if array.per == "call" or name == "param_rows" or name in made:
            continue
        worlds = num_envs if all(held[need] for need in array.only) else 0
        shape, dtype = array.shape(worlds, setup.agents, sizes), array.dtype(sizes)
        if array.outcome:
            outcome[name] = shape, dtype
        else:
            made[name] = np.full(shape, array.fill, dtype) if array.fill else np.zeros(shape, dtype)
    piece, pieces = in_one_piece(outcome)
    made.update(pieces)
    for name, images in (("observations", made["_images"]), ("final_observations", made["_final_images"])):
        shape = (*made[name].shape[:2], *setup.observation_shape)
        made[name] = images[setup.alone] if setup.alone else made[name].reshape(shape)
    made["states"]["over"] = True
    made["masks"][:] = np.arange(made["masks"].shape[2]) < np.array(setup.mask_lengths)[:, None]
    return made, piece


def in_one_piece(arrays: Mapping[str, tuple[tuple[int, ...], np.dtype]]) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """A piece of memory, uint8, and arrays of zeros in it, by name, made from their shapes and types."""
    ends = list(accumulate(-(-math.prod(shape) * dtype.itemsize // 8) * 8 for shape, dtype in arrays.values()))
    piece = np.zeros(ends[-1], np.uint8)
    found = {}
    for start, (name, (shape, dtype)) in zip((0, *ends), arrays.items(), strict=False):
        found[name] = np.ndarray(shape, dtype, piece.data, start)
    return piece, found


def shared_values(setup: Setup) -> dict[str, np.ndarray]:
    """The arrays of the table that a setup decides and that never change."""
    names = list(setup.world.params)
    ranges = [(names.index(name), low, high) for name, (low, high) in setup.random_ranges.items()]
    return {
        "_exponents": exponents_of(setup),
        "_scaling": setup.scaling,
        "_action_scaling": setup.action_scaling,
        "_central_scaling": setup.central_scaling,
        "_random_ranges": np.array(ranges, [("index", "i8"), ("low", "f8"), ("high", "f8")]),
        "_choices": setup.own_choices,
        "_mask_lengths": np.array(setup.mask_lengths, np.int64),
        "_dimensions": np.array(setup.dimensions, np.int64),
    }


def exponents_of(setup: Setup) -> np.ndarray:
    """One record: where the exponents of the state's floats lie, see `Layout.exponents`."""
    bits = setup.world.layouts["state"].exponents(setup.sizes)
    found = np.zeros(1, [("mask", "u4", bits.shape), ("full", "u4", bits.shape)])
    found["mask"], found["full"] = bits, np.where(bits, bits, 1)
    return found
