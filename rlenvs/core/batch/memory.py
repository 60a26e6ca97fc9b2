"""The memory of a batch: arrays, the views that forms read, the table by which compiled code finds them, parameters."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Mapping
from functools import partial
from itertools import accumulate
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode

from rlenvs.core.compiler.lanes.blocks import make_blocks
from rlenvs.core.declare.arrays import all_sizes, arrays_of, batch_layout, row_layouts
from rlenvs.core.declare.errors import ParameterError
from rlenvs.core.declare.setup import Setup
from rlenvs.core.declare.spec import World

AUTORESET = {AutoresetMode.NEXT_STEP: 0, AutoresetMode.SAME_STEP: 1, AutoresetMode.DISABLED: 2}


class BatchMemory:
    """The memory of `KernelBatch`, which says what its public arrays are; `rlenvs.core.declare.arrays` lists all."""

    world: World
    setup: Setup
    num_worlds: int
    agents: int
    autoreset: AutoresetMode
    first_decides: bool

    states: np.ndarray
    param_rows: np.ndarray
    actions: np.ndarray
    observations: np.ndarray
    masks: np.ndarray
    results: np.ndarray
    rewards: np.ndarray
    costs: np.ndarray
    terminated: np.ndarray
    truncated: np.ndarray
    reward_vectors: np.ndarray
    final_observations: np.ndarray
    final_masks: np.ndarray
    final_costs: np.ndarray
    _split: np.ndarray
    _begin: np.ndarray
    _asleep: np.ndarray
    _slots: np.ndarray
    _images: np.ndarray
    _failed: np.ndarray
    _final_images: np.ndarray
    _final_results: np.ndarray
    _final_failed: np.ndarray
    _blank: np.ndarray
    _choices: np.ndarray
    _random_ranges: np.ndarray
    _driver: Any

    # --- memory -------------------------------------------------------------------------------------------------------

    def _allocate_or_refuse(self) -> None:
        """ParameterError, with the memory that was wanted, when there is not enough."""
        self._sizes = all_sizes(self.setup)
        try:
            self._allocate()
        except (MemoryError, ValueError, OverflowError) as error:
            dtypes, setup = self.setup.dtypes, self.setup
            numbers = setup.scaling.shape[1] + setup.numbers + sum(setup.choices)
            each = (
                dtypes["state"].itemsize
                + dtypes["result"].itemsize
                + self.agents * (dtypes["images"].itemsize + 8 * numbers)
            )
            raise ParameterError(
                f"{self.num_worlds} environments of {self.world.name} require some "
                f"{self.num_worlds * each / 2**30:,.1f} GiB of memory, more than there is; choose fewer "
                f"({each / 2**10:.1f} KiB each)"
            ) from error

    def _allocate(self) -> None:
        """Make the arrays of the table."""
        setup = self.setup
        self._arrays = arrays_of(self.world, setup.action_kind)
        self._layouts = row_layouts(self.world, setup.action_kind)  # by the driver's names
        held = {
            "final": self.autoreset is AutoresetMode.SAME_STEP,
            "flat": bool(setup.dimensions),
            "converted": setup.converted,
            "images": bool(setup.image_shapes),
        }
        made = {"param_rows": setup.params_row(), **shared_values(setup)}
        outcome = {}
        for name, array in self._arrays.items():
            if array.per == "call" or name in made:
                continue
            worlds = self.num_worlds if all(held[need] for need in array.only) else 0
            shape, dtype = array.shape(worlds, self.agents, self._sizes), array.dtype(self._sizes)
            if array.outcome:
                outcome[name] = shape, dtype
            else:
                made[name] = np.full(shape, array.fill, dtype) if array.fill else np.zeros(shape, dtype)
        self._outcome, pieces = in_one_piece(outcome)
        vars(self).update({**made, **pieces})
        for name, images in (("observations", self._images), ("final_observations", self._final_images)):
            shape = (*getattr(self, name).shape[:2], *setup.observation_shape)
            setattr(self, name, images[setup.alone] if setup.alone else getattr(self, name).reshape(shape))
        self.states["over"] = True
        self._seated: tuple[str | None, ...] | None = None  # the names behind `_slots`
        self._barriers: np.ndarray | None = None

    def _bind(self) -> None:
        """Make the views that forms read, and the record that the driver works from."""
        self._make_views()
        self._make_record()

    def _make_views(self) -> None:
        self.over = self.states["over"]
        self.terms, self.success = self._split_results(self.results)
        self.final_terms, self.final_success = self._split_results(self._final_results)
        self.images = {name: self._images[name] for name in self.setup.image_shapes}
        self.final_images = {name: self._final_images[name] for name in self.setup.image_shapes}
        if self.world.incremental:  # what a user changed would never be written again
            kept: list[np.ndarray] = [self.observations, self.masks, *self.images.values()]
            for array in kept:
                array.flags.writeable = False
        self._parts = self._split_observations(self.observations, self.images)
        self._final_parts = self._split_observations(self.final_observations, self.final_images)
        self._action_row = self.actions.reshape(-1)
        self._action_views = {shape: self.actions.reshape(shape) for shape in self._action_shapes()}
        self._action_shape = () if self.setup.single_choice else self.actions.shape[2:]  # as the action space has it
        self._binary, self._continuous = self.setup.binary, self.setup.continuous
        # numbers within these are allowed in all places
        if self._continuous:
            low, high = self.setup.action_scaling[2:]
            self._least_action, self._most_action = float(low.max()), float(high.min())
        else:
            self._least_action, self._most_action = 0, int(self._choices.min()) - 1
        self._action_kinds = "fiu" if self._continuous else "iu"
        self._first_numbers = 1 if self.setup.single_choice else self.setup.roles[0].action  # of the first agent
        bare = (int, np.int64) if self.num_worlds == 1 and self.setup.single_choice else ()
        # types of numbers that are taken as they are: for the sole agent, and for the first of several
        self._bare_choices, self._bare_first = bare if self.agents == 1 else (), bare
        self.first = First(self, self._outcome_reader())
        self._all_seeded = False  # not known yet

    def _outcome_reader(self) -> Callable[[], tuple[Any, ...]]:
        """What reads `First.outcome` in one go, which takes half the time of `item` of a record."""
        terms = [self.terms[0, t, :1] for t in range(self.terms.shape[1])]
        numbers = [*terms, self.success[0], self.rewards, self.costs, self.terminated, self.truncated, self._failed]
        form, end = "=", self._outcome.ctypes.data
        for array in numbers:  # in the order in which they lie in memory
            form += f"{array.ctypes.data - end}x{array.dtype.char}"
            end = array.ctypes.data + array.itemsize
        return partial(struct.Struct(form).unpack_from, self._outcome.data)

    def _split_observations(self, vectors: np.ndarray, images: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """What the dictionary of an observation holds, as views; nothing where it is the vector alone."""
        parts = self.setup.vector_parts
        return {**{name: vectors[..., part] for name, part in parts.items()}, **images} if self.setup.in_parts else {}

    def _split_results(self, results: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Terms (N, terms, A) and success (N, A) as views on a results array."""
        split = results.view(self._layouts["parts"].dtype(self._sizes))
        return split["terms"], split["success"]

    def _make_record(self) -> None:
        """The record of numbers and addresses that the driver works from."""
        self._metas = {name: layout.meta(self._sizes) for name, layout in self._layouts.items()}
        self._record = np.zeros(1, batch_layout(tuple(self._layouts)).dtype({}))
        self._address = self._record.ctypes.data
        self._blocks: np.ndarray | None = None  # made when they are needed
        record = self._record[0]
        for name, value in {
            "worlds": self.num_worlds,
            "agents": self.agents,
            "autoreset": AUTORESET[self.autoreset],
            "action_numbers": self._sizes["action_numbers"],
            "scaled": self.setup.scaled,
            "converted": self.setup.converted,
            "cost_maximum": self.world.combine_costs == "max",
            "randomized": len(self._random_ranges),
            "first_decides": self.first_decides,
            "has_images": bool(self.setup.image_shapes),
        }.items():
            record[name] = value
        for name, array in self._arrays.items():
            if array.per != "call":
                self._point(name, getattr(self, name))
        if self.setup.converted:
            record["action"] = record["advice"] = self._split.ctypes.data

    def _point(self, name: str, rows: np.ndarray) -> None:
        """Let the driver find the rows of one of the table's arrays there. One row of parameters is every world's."""
        array, record = self._arrays[name], self._record[0]
        shared = name == "param_rows" and len(rows) == 1
        if array.lanes:
            self._blocks = None
        if name == "param_rows":
            record["params_common"] = rows.ctypes.data
        elif name == "states":
            record["state_rows"] = rows.ctypes.data
        for view in array.views:
            record[view] = rows.ctypes.data
            record[f"{view}_size"] = 0 if shared else array.step(self._sizes)
            record[f"{view}_meta"] = self._metas[view].ctypes.data

    def _make_blocks(self, count: int) -> None:
        """Rooms for `count` threads that step several worlds at a time, where there are not as many."""
        if self._blocks is None or len(self._blocks) < count:
            from rlenvs.core.compiler.threads import entry_of  # numba takes long to import

            self._blocks = make_blocks(self, count)
            start, size = self._blocks.ctypes.data, self._blocks.shape[1]
            self._record["blocks"], self._record["block_bytes"] = start, size
            self._record["blocks_end"] = start + self._blocks.nbytes
            self._record["run_worlds"] = entry_of(self._driver.run_worlds, 4)
        self._blocks[:, 0] = 0  # a process that was forked in the midst of a step begins anew

    @property
    def _kept(self) -> list[str]:
        """The names of the arrays that copies, pickles and checkpoints take along."""
        return [name for name, array in self._arrays.items() if array.kept]

    @property
    def nbytes(self) -> int:
        """Bytes held per batch, all arrays together."""
        return sum(getattr(self, name).nbytes for name, array in self._arrays.items() if array.per != "call")

    @property
    def barrier_count(self) -> int:
        """How many barriers a world has with these options."""
        if self._barriers is not None:
            return self._barriers.dtype["value"].shape[0]
        return self._arrays["barrier"].dtype(self._sizes)["value"].shape[0]

    @property
    def proposal_shape(self) -> tuple[int, ...]:
        """The shape of the actions that `barriers` takes: (N, numbers), with agents (N, A, numbers)."""
        agents = (self.agents,) if self.world.agents else ()
        return self.num_worlds, *agents, self.setup.action_size

    def _action_shapes(self) -> frozenset[tuple[int, ...]]:
        """The shapes in which actions may come: axes of length one may be left out."""
        full: tuple[int, ...] = self.actions.shape
        shapes = [full[:2], full] if self.setup.single_choice else [full]
        if self.agents == 1:
            shapes += [shape[:1] + shape[2:] for shape in shapes]
        if self.num_worlds == 1:
            shapes += [shape[1:] for shape in shapes]
        return frozenset(shapes)

    # --- parameters ---------------------------------------------------------------------------------------------------

    def _load_contexts(self) -> None:
        for name, values in self.setup.contexts.items():
            if len(values) != self.num_worlds:
                raise ParameterError(f"{name} has {len(values)} values for {self.num_worlds} environments")
            self.own_params()[name] = values
        if self.setup.random_ranges:
            self.own_params()

    def own_params(self) -> np.ndarray:
        """The parameter records, one per world; shared until a world has parameters of its own."""
        if len(self.param_rows) < self.num_worlds:
            self.param_rows = np.repeat(self.param_rows, self.num_worlds)
            self._point("param_rows", self.param_rows)
        return self.param_rows

    def set_params(self, values: dict[str, Any], worlds: np.ndarray | None = None) -> None:
        """Give some worlds (all by default; a boolean mask) other parameters, from their next step on.

        Raises:
            ParameterError: an unknown parameter, a value outside its range, or one that contradicts the others; nothing
                is changed then.
        """
        checked = {}
        for name, value in values.items():
            if name not in self.world.params:
                raise ParameterError(f"{self.world.name} has no parameter {name!r}; it has {sorted(self.world.params)}")
            number = self.world.params[name].check(name, value)
            if number.shape not in ((), (self.num_worlds,)):
                raise ParameterError(f"{name} has the shape {number.shape}; needed: one number, or {self.num_worlds}")
            checked[name] = number
        if not checked:
            return
        some = slice(None) if worlds is None else np.flatnonzero(worlds)
        checked = {name: number[some] if number.ndim else number for name, number in checked.items()}
        if self.world.constraints:
            now = self.param_rows[some] if len(self.param_rows) > 1 else self.param_rows
            changed = {name: checked.get(name, now[name]) for name in self.world.params}
            self.setup.check_together({**vars(self.setup.values), **changed})
        params = self.own_params()
        for name, number in checked.items():
            params[name][some] = number

    def get_params(self, index: int = 0) -> dict[str, float]:
        """The physical parameters of one world."""
        row = self.param_rows[index if len(self.param_rows) > 1 else 0]
        return {name: float(row[name]) for name in self.world.params}


class First:
    """Views on the rows of the first agent of the first world: what a single environment reads at every step.

    Args:
        batch: the batch.
        outcome: gives terms, success, reward, cost, terminated, truncated, failed, in this order, as Python's numbers.
    """

    def __init__(self, batch: BatchMemory, outcome: Callable[[], tuple[Any, ...]]) -> None:
        self.observation = batch.observations[0, 0]
        self.reward_vector = batch.reward_vectors[0, 0]
        self.mask = batch.masks[0, 0, : batch.setup.mask_lengths[0]]
        self.illegal: Any = batch.states["illegal"][0, :1].data if "mask" in batch.world.kernels else None
        self.outcome = outcome
        # what an environment makes of these views, see `BatchStepping.short_step` and `InfoKeys.reader`
        self.step: Any = None
        self.advance: Any = None  # a step by the action that lies in the batch, not read; None where that takes more
        self.read: Any = None


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
