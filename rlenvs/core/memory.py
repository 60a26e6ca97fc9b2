"""The memory of a batch: arrays, the views that forms read, the table by which compiled code finds them, parameters."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode

from rlenvs.core import build
from rlenvs.core.errors import (
    ParameterError,
)
from rlenvs.core.setup import Setup
from rlenvs.core.spec import World

AUTORESET = {AutoresetMode.NEXT_STEP: 0, AutoresetMode.SAME_STEP: 1, AutoresetMode.DISABLED: 2}

# the arrays that copies and pickles take along
ARRAYS = (
    *("_states", "_params", "_results", "actions", "observations", "masks", "rewards", "costs", "reward_vectors"),
    *("terminated", "truncated", "final_observations", "final_masks", "_final_results", "final_costs"),
    *("_images", "_final_images", "_failed", "_final_failed", "_split_masks"),
)


class BatchMemory:
    """The arrays of `KernelBatch`, which says what they are."""

    world: World
    setup: Setup
    num_worlds: int
    agents: int
    autoreset: AutoresetMode
    first_decides: bool

    # --- memory -------------------------------------------------------------------------------------------------------

    def _allocate_or_refuse(self) -> None:
        """ParameterError, with the memory that was wanted, when there is not enough."""
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
                f"{self.num_worlds} environments of {self.world.name} want some "
                f"{self.num_worlds * each / 2**30:,.1f} GiB of memory, more than there is; choose fewer "
                f"({each / 2**10:.1f} KiB each)"
            ) from error

    def _allocate(self) -> None:
        setup, n, a = self.setup, self.num_worlds, self.agents
        sizes = build.all_sizes(setup)
        number = np.float64 if setup.continuous else np.int64
        self._states = np.zeros(n, setup.dtypes["state"])
        self._params = setup.params_row()
        self._allocate_outcome(n, a)
        self.actions = np.zeros((n, a, sizes["action_numbers"]), number)
        self.observations = np.zeros((n, a, *setup.observation_shape), np.float32)
        self.masks = np.ones((n, a, sizes["choices"]), np.int8)
        # what flat actions stand for, as kernels see it
        flat = n if setup.dimensions else 0
        self._split = np.zeros((flat, a, sizes["dimensions"]), np.int64)
        self._split_masks = np.ones((flat, a, sizes["split_choices"]), np.int8)
        self._dimensions = np.array(setup.dimensions, np.int64)
        self.reward_vectors = np.zeros((n, a, len(self.world.terms)), np.float32)
        pictured = n if setup.image_shapes else 0
        self._images = np.zeros((pictured, a), setup.dtypes["images"])
        self._begin, self._asleep = np.zeros((2, n), np.bool_)
        self._exponents = exponents_of(setup)
        self._graded = np.zeros(1, setup.dtypes["result"])
        self._blank = np.zeros(1, setup.dtypes["state"])
        self._mask_lengths = np.array(setup.mask_lengths, np.int64)
        self._seats = np.full((n, a), -1, np.int64)
        keeps_final = n if self.autoreset is AutoresetMode.SAME_STEP else 0
        self.final_observations = np.zeros((keeps_final, *self.observations.shape[1:]), np.float32)
        self._final_images = np.zeros((min(keeps_final, pictured), a), setup.dtypes["images"])
        self.final_masks = np.ones((keeps_final, a, sizes["choices"]), np.int8)
        self._final_results = np.zeros(keeps_final, setup.dtypes["result"])
        self._final_failed = np.zeros(keeps_final, np.uint8)
        self.final_costs = np.zeros((keeps_final, a))
        names = list(setup.world.params)
        self._random_ranges = np.array(
            [(names.index(name), low, high) for name, (low, high) in setup.random_ranges.items()],
            dtype=[("index", "i8"), ("low", "f8"), ("high", "f8")],
        )
        self._make_views()
        self._make_table(sizes)
        self._states["over"] = True

    def _allocate_outcome(self, n: int, a: int) -> None:
        """What a step gives, one array after the other in one piece of memory, so that `First` can read it at once."""
        result = self.setup.dtypes["result"]
        eight, one = 8 * n * a, -(-n * a // 8) * 8
        sizes = {"results": -(-n * result.itemsize // 8) * 8, "rewards": eight, "costs": eight}
        sizes |= {"terminated": one, "truncated": one, "failed": -(-n // 8) * 8}
        starts = dict(zip(sizes, accumulate(sizes.values(), initial=0), strict=False))
        self._outcome, self._outcome_starts = np.zeros(sum(sizes.values()), np.uint8), starts

        def piece(name: str, dtype: Any, shape: tuple[int, ...]) -> np.ndarray:
            return np.ndarray(shape, dtype, self._outcome.data, starts[name])

        self._results = piece("results", result, (n,))
        self.rewards, self.costs = piece("rewards", np.float64, (n, a)), piece("costs", np.float64, (n, a))
        self.terminated, self.truncated = (piece(name, np.bool_, (n, a)) for name in ("terminated", "truncated"))
        self._failed = piece("failed", np.uint8, (n,))

    def _make_views(self) -> None:
        if self.setup.alone:
            self.observations = self._images[self.setup.alone]
            self.final_observations = self._final_images[self.setup.alone]
        self.over = self._states["over"]
        self.terms, self.success = self._split_results(self._results)
        self.final_terms, self.final_success = self._split_results(self._final_results)
        self.images = {name: self._images[name] for name in self.setup.image_shapes}
        self.final_images = {name: self._final_images[name] for name in self.setup.image_shapes}
        if self.world.incremental:  # what a user changed would never be written again
            kept: list[np.ndarray] = [self.observations, self.masks, *self.images.values()]
            for array in kept:
                array.flags.writeable = False
        self._parts = self._split_observations(self.observations, self.images)
        self._final_parts = self._split_observations(self.final_observations, self.final_images)
        self._action_views = {shape: self.actions.reshape(shape) for shape in self._action_shapes()}
        self._choices, self._binary = self.setup.own_choices, self.setup.binary
        self._action_kinds = "fiu" if self.setup.continuous else "iu"
        self._bare_choices = (int, np.int64) if () in self._action_views else ()
        self.first = First(self, self._outcome, self._outcome_starts)
        self._all_seeded = False  # not known yet

    def _split_observations(self, vectors: np.ndarray, images: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """What the dictionary of an observation holds, as views; nothing where it is the vector alone."""
        parts = self.setup.vector_parts
        return {**{name: vectors[..., part] for name, part in parts.items()}, **images} if self.setup.in_parts else {}

    def _split_results(self, results: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Terms (N, terms, A) and success (N, A) as views on a results array."""
        parts = build.row_layouts(self.world, self.setup.action_kind)["parts"].dtype(build.all_sizes(self.setup))
        split = results.view(parts)
        return split["terms"], split["success"]

    def _make_table(self, sizes: dict[str, int]) -> None:
        """The record of addresses that the driver works from."""
        layouts = build.row_layouts(self.world, self.setup.action_kind)
        self._grade_type = layouts["grades"].dtype(sizes)
        self._barrier_type = layouts["barrier"].dtype(sizes)
        self._barriers: np.ndarray | None = None
        self._metas = {name: layout.meta(sizes) for name, layout in layouts.items()}
        self._table = np.zeros(1, build.BATCH.dtype({}))
        self._address = self._table.ctypes.data
        table = self._table[0]
        for name, value in {
            "worlds": self.num_worlds,
            "agents": self.agents,
            "autoreset": AUTORESET[self.autoreset],
            "action_numbers": sizes["action_numbers"],
            "scaled": self.setup.scaled,
            "cost_maximum": self.world.combine_costs == "max",
            "randomized": len(self._random_ranges),
            "first_decides": self.first_decides,
            "pictured": bool(self.setup.image_shapes),
        }.items():
            table[name] = value
        for name, (array, size) in self._rows().items():
            self._point(name, array, size)

    def _rows(self) -> dict[str, tuple[np.ndarray, int]]:
        """The array and the bytes per row behind every name of build.ROWS."""
        a = self.agents

        def by_world(array: np.ndarray) -> tuple[np.ndarray, int]:
            return array, array.strides[0]

        def by_agent(array: np.ndarray) -> tuple[np.ndarray, int]:
            return array, array.strides[1]

        state, result, action = by_world(self._states), by_world(self._results), by_world(self.actions)
        seen = action if not self.setup.dimensions else by_world(self._split)  # by kernels
        final = (self.final_observations, self.observations.strides[1])
        images = by_agent(self._images)
        final_images = (self._final_images, self._images.strides[1])
        return {
            "state": state,
            "episode_bytes": state,
            "params": (self._params, self._param_stride),
            "param_numbers": (self._params, self._param_stride),
            "result": result,
            "result_bytes": result,
            "parts": result,
            "action": seen,
            "advice": seen,
            "split_values": seen,
            "split_mask": by_agent(self._split_masks),
            "dimensions": (self._dimensions, 0),
            "action_values": action,
            "observation": by_agent(self.observations),
            "observation_values": by_agent(self.observations),
            "images": images,
            "image_bytes": images,
            "final_image_bytes": final_images,
            "mask": by_agent(self.masks),
            "words": state,
            "exponents": (self._exponents, 0),
            "scaling": (self.setup.scaling, 0),
            "random_range": (self._random_ranges, self._random_ranges.dtype.itemsize),
            "begin": by_world(self._begin),
            "reward": by_world(self.rewards),
            "cost": by_world(self.costs),
            "reward_vector": by_agent(self.reward_vectors),
            "terminated": by_world(self.terminated),
            "truncated": by_world(self.truncated),
            "final_observation": final,
            "final_mask": (self.final_masks, self.masks.strides[1]),
            "final_result": (self._final_results, self._final_results.dtype.itemsize),
            "final_cost": (self.final_costs, 8 * a),
            "choices": (self._choices, 0),
            "mask_length": (self._mask_lengths, 0),
            "seat": by_world(self._seats),
            "central_scaling": (self.setup.central_scaling, 0),
            "blank": (self._blank, 0),
            "failed": by_world(self._failed),
            "final_failed": (self._final_failed, 1),
            "asleep": by_world(self._asleep),
            "graded": by_world(self._graded),
            "graded_parts": by_world(self._graded),
        }

    def _point(self, name: str, array: np.ndarray, size: int) -> None:
        table = self._table[0]
        table[name] = array.ctypes.data
        table[f"{name}_size"] = size
        table[f"{name}_meta"] = self._metas[name].ctypes.data

    @property
    def _param_stride(self) -> int:
        return self._params.dtype.itemsize if len(self._params) > 1 else 0

    @property
    def nbytes(self) -> int:
        """Bytes held per batch, all arrays together."""
        return self._begin.nbytes + sum(getattr(self, name).nbytes for name in ARRAYS)

    @property
    def states(self) -> np.ndarray:
        """The live state records of the worlds, (N,), the world's fields by name; `refresh` worlds after writing."""
        return self._states

    @property
    def param_rows(self) -> np.ndarray:
        """The live parameter records: one for all worlds, or one per world (`own_params`)."""
        return self._params

    @property
    def results(self) -> np.ndarray:
        """The live records of the last step's terms, costs, success and termination, (N,)."""
        return self._results

    @property
    def barrier_count(self) -> int:
        """How many barriers a world has with these options."""
        return self._barrier_type["value"].shape[0]

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
        if len(self._params) < self.num_worlds:
            self._params = np.repeat(self._params, self.num_worlds)
            for name in ("params", "param_numbers"):
                self._point(name, self._params, self._param_stride)
        return self._params

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
            now = self._params[some] if len(self._params) > 1 else self._params
            self.setup.check_together({name: checked.get(name, now[name]) for name in self.world.params})
        params = self.own_params()
        for name, number in checked.items():
            params[name][some] = number

    def get_params(self, index: int = 0) -> dict[str, float]:
        """The physical parameters of one world."""
        row = self._params[index if len(self._params) > 1 else 0]
        return {name: float(row[name]) for name in self.world.params}


class First:
    """Views on the rows of the first agent of the first world: what a single environment reads at every step."""

    def __init__(self, batch: BatchMemory, outcome: np.ndarray, starts: dict[str, int]) -> None:
        self.observation = batch.observations[0, 0]
        self.reward_vector = batch.reward_vectors[0, 0]
        self.mask = batch.masks[0, 0, : batch.setup.mask_lengths[0]]
        self.outcome = self._overlay(batch, outcome, starts)

    def _overlay(self, batch: BatchMemory, outcome: np.ndarray, starts: dict[str, int]) -> np.ndarray:
        """One record over the first agent's terms, success, cost, reward, terminated, truncated and failed, in this
        order."""
        terms = [*batch.world.terms, *batch.world.costs]
        names = [*terms, "success", "cost", "reward", "terminated", "truncated", "failed"]
        agents = batch.agents
        offsets = [8 * agents * t for t in range(len(terms))] + [8 * agents * len(terms)]
        offsets += [starts[name] for name in ("costs", "rewards", "terminated", "truncated", "failed")]
        formats = ["f8"] * len(terms) + ["?", "f8", "f8", "?", "?", "u1"]
        names = [f"{i} {name}" for i, name in enumerate(names)]  # a term may have the name of a later field
        dtype = np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": len(outcome)})
        return outcome.view(dtype)


def exponents_of(setup: Setup) -> np.ndarray:
    """One record: where the exponents of the state's floats lie, see `Layout.exponents`."""
    bits = setup.world.layouts["state"].exponents(setup.sizes)
    found = np.zeros(1, [("mask", "u4", bits.shape), ("full", "u4", bits.shape)])
    found["mask"], found["full"] = bits, np.where(bits, bits, 1)
    return found
