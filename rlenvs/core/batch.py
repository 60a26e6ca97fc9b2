"""The hub: N worlds of one kind in preallocated arrays, stepped together. Every API form is a view on a batch."""

from __future__ import annotations

import hashlib
import operator
import os
import time
import zlib
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any, NamedTuple, Self

import numpy as np
from gymnasium.utils.seeding import np_random as make_generator
from gymnasium.vector import AutoresetMode

from rlenvs.core import build
from rlenvs.core.driver import ACT, BEGIN, CHECK, EPISODE_OVER, NOT_A_CHOICE, NOT_A_NUMBER, OBSERVE, ROLL, STEP
from rlenvs.core.errors import (
    ActionError,
    EpisodeOverError,
    ParameterError,
    SnapshotError,
    UnknownNameError,
    shortened,
)
from rlenvs.core.inputs import actions_of, positive, seeds_of, switches_of, threads_of
from rlenvs.core.rng import seed_words
from rlenvs.core.setup import Setup
from rlenvs.core.spec import World

AUTORESET = {AutoresetMode.NEXT_STEP: 0, AutoresetMode.SAME_STEP: 1, AutoresetMode.DISABLED: 2}
# below this time of a serial step, handing work to threads costs more than it saves
WORTH_THREADS = 300e-6
# calls that are timed; the first may compile
TRIALS = 5
FEW = 1 / 64  # part of the worlds; fewer ones begin sooner in one thread


class Snapshot(NamedTuple):
    """One world at one moment: state, random generator, physical parameters, time limit and reward weights. Picklable,
    comparable, exact.

    world: name, layout and sizes of what it was taken from. state, params: records as bytes. checksum: of all three.
    """

    world: str
    state: bytes
    params: bytes
    checksum: int

    @staticmethod
    def of(world: str, state: bytes, params: bytes) -> Snapshot:
        """A snapshot of these records, with their checksum."""
        return Snapshot(world, state, params, _checksum(world, state, params))

    @property
    def is_whole(self) -> bool:
        """Whether it is as it was taken: types and checksum are right."""
        kinds = [type(part) for part in self]
        return kinds == [str, bytes, bytes, int] and self.checksum == _checksum(*self[:3])


def _checksum(world: str, state: bytes, params: bytes) -> int:
    return zlib.crc32(params, zlib.crc32(state, zlib.crc32(world.encode())))


NO_REASON = np.array("", object)
# why the episode of a world was broken off, by the driver's codes
REASONS = (
    "",
    "the state stopped being finite (NaN or infinity)",
    "the reward stopped being finite (NaN or infinity)",
    "the observation stopped being finite (NaN)",
    "the physics engine could not move the world",
)
# what a batch is apart from its arrays
PLAIN = ("world", "setup", "num_worlds", "agents", "autoreset", "threads", "backend", "first_decides", "tally")

# and its arrays, which copies and pickles take along
ARRAYS = (
    *("_states", "_params", "_results", "actions", "observations", "masks", "rewards", "costs", "reward_vectors"),
    *("terminated", "truncated", "final_observations", "final_masks", "_final_results", "final_costs"),
    *("_images", "_final_images", "_failed", "_final_failed", "_split_masks"),
)


class KernelBatch:
    """N worlds advanced by compiled kernels.

    Args:
        world: what to run.
        num_worlds: N, at least 1.
        autoreset: when a finished world starts its next episode.
        threads: threads per step; None decides by the time that a step takes.
        backend: "numba", or "python" for debugging.
        first_decides: an episode ends with its first agent's (the single-agent forms of multi-agent worlds need that)
            instead of with the last agent's.
        choices: keywords of `Setup`.

    Attributes (A agents; arrays are overwritten by the next step):
        observations: float32, (N, A, *observation shape); uint8 where an image is the whole observation.
        actions: float64 or int64, (N, A, numbers per action); what the last step used.
        rewards, costs: float64, (N, A). terminated, truncated: bool, (N, A).
        reward_vectors: float32, (N, A, reward terms), unweighted.
        terms: float64, (N, terms and costs, A), unweighted. success: bool, (N, A).
        images: uint8, (N, A, height, width, channels), by name; empty where the observation has no pictures. An image
            that is the whole observation is `observations` too.
        masks: int8, (N, A, choices), those of all numbers of an action one after the other.
        over: bool, (N,): the episode of this world has ended.
    """

    def __init__(
        self,
        world: World,
        num_worlds: int = 1,
        *,
        autoreset: AutoresetMode = AutoresetMode.NEXT_STEP,
        threads: int | None = None,
        backend: str = "numba",
        first_decides: bool = False,
        **choices: Any,
    ) -> None:
        num_worlds = positive("number of environments", num_worlds)
        if not isinstance(autoreset, AutoresetMode):
            raise ParameterError(f"autoreset_mode={autoreset!r} must be one of {[str(m) for m in AutoresetMode]}")
        self.world = world
        self.setup = Setup(world, **choices)
        self.num_worlds = num_worlds
        self.agents = self.setup.agents
        self.autoreset = autoreset
        self.threads = threads_of(threads)
        self.backend = backend
        self.first_decides = first_decides
        self._driver = build.driver(self.setup, backend, self.moved_by_engine)
        self._allocate_or_refuse()
        self._load_contexts()
        self._start_trials()
        self._open()

    # counts returns and costs for pictures, where there are any: a `render.Tally`
    tally: Any = None

    def _open(self) -> None:
        """Get what lies outside Python's memory."""

    moved_by_engine = False  # whether an engine moves the bodies, between the two halves of a step

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
        self.first = First(self)
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

    # --- stepping -----------------------------------------------------------------------------------------------------

    def seed(self, seeds: int | Sequence[int | None]) -> None:
        """Seed the generators of the worlds: with seeds[i], where None leaves one as it is, or with seeds + i.

        Raises:
            ParameterError: not an integer of 0 or more, or another number of seeds. Nothing has changed then.
        """
        for i, seed in enumerate(seeds_of(seeds, self.num_worlds) or ()):
            if seed is not None:
                self.seed_from(make_generator(seed)[0], i)

    def seed_from(self, generator: np.random.Generator, index: int) -> None:
        """Seed one world's generator from a NumPy generator."""
        self._states["rng"][index] = seed_words(generator)
        if self.world.players:
            self._states["players_rng"][index] = seed_words(generator)

    def seed_unseeded(self, generator: np.random.Generator) -> None:
        """Seed those worlds that never were."""
        if self._all_seeded:
            return
        for i in np.flatnonzero(~self._states["rng"].any(axis=1)):
            self.seed_from(generator, int(i))
        self._all_seeded = True

    @property
    def all_seeded(self) -> bool:
        """Whether all worlds are known to have had a seed."""
        return self._all_seeded

    @property
    def seeded(self) -> bool:
        """Whether any world has had a seed, and so can have had a reset."""
        return self._all_seeded or bool(self._states["rng"].any())

    def reset(self, mask: np.ndarray | None = None) -> None:
        """Start new episodes in all worlds, or in those that the boolean mask selects."""
        self._begin[:] = True if mask is None else mask
        if mask is not None and np.count_nonzero(mask) < FEW * len(mask):
            self._driver.run_worlds(self._address, 0, self.num_worlds, BEGIN)
        else:
            self._run(BEGIN)

    def step(self, actions: Any) -> None:
        """Advance every world by one step.

        Args:
            actions: (N, A, ...) or, for one agent, (N, ...): numbers in [-1, 1] (clipped) or choices.

        Raises:
            ActionError: wrong shape or type, NaN, not a choice. No world has moved then.
            EpisodeOverError: an episode has ended and autoreset is disabled, or there was no reset yet.
        """
        self.load_actions(actions)
        self.step_loaded()

    def step_loaded(self, only: np.ndarray | None = None) -> None:
        """Advance every world by the actions that lie in `actions`.

        Args:
            only: bool (N,): the worlds to advance. All else stays as it is: states, observations, rewards, flags.
        """
        if only is None:
            self._advance()
        else:
            np.logical_not(only, out=self._asleep)
            try:
                self._advance()
            finally:
                self._asleep[:] = False
        if self.tally is not None:
            self.tally.see_step(self, only)

    def _advance(self) -> None:
        """One step of the worlds that are awake."""
        if self.num_worlds == 1:
            code = self._driver.run_worlds(self._address, 0, 1, ACT)
        elif self.thread_count() == 1:
            code = self._timed(ACT)
        else:
            code = self._driver.run_worlds(self._address, 0, 0, CHECK)
            if not code:
                self._run(STEP)
        if code:
            self._refuse(code)

    @property
    def broken(self) -> np.ndarray:
        """By world, whether its episode was broken off in the last step; `errors` says why."""
        return self._failed != 0

    @property
    def final_broken(self) -> np.ndarray:
        """The same of the episodes that were set aside (SAME_STEP)."""
        return self._final_failed != 0

    @property
    def errors(self) -> np.ndarray:
        """By world, why its episode was broken off in the last step, truncated; empty where it was not."""
        return self._reasons(self._failed)

    @property
    def final_errors(self) -> np.ndarray:
        """The same of the episodes that were set aside (SAME_STEP)."""
        return self._reasons(self._final_failed)

    def error(self, index: int, final: bool = False) -> str:
        """One world's of `errors`, or of `final_errors`."""
        codes = self._final_failed if final else self._failed
        return self._reasons(codes)[index] if codes[index] else ""

    def _reasons(self, codes: np.ndarray) -> np.ndarray:
        if not codes.any():
            return np.broadcast_to(NO_REASON, len(codes))
        found = np.full(len(codes), "", object)
        for i in np.flatnonzero(codes).tolist():
            found[i] = REASONS[codes[i]]
        return found

    def load_actions(self, actions: Any) -> None:
        """Copy actions into the batch; ActionError when their shape or type is wrong."""
        if type(actions) in self._bare_choices and 0 <= actions < self.setup.action_size:
            self.actions[0, 0, 0] = actions  # a third of the time that np.asarray would take
            return
        array = actions_of(self.world.name, actions)
        array = switches_of(array) if self._binary else array
        view = self._action_views.get(array.shape)
        if view is None or array.dtype.kind not in self._action_kinds:
            raise ActionError(self._action_complaint(actions, array))
        view[...] = array

    def load_first(self, actions: Any, team: str) -> None:
        """Load the actions of every world's first agent; the others are played by `team`: "expert", one of the world's
        players, or "idle", who does nothing."""
        array = actions_of(self.world.name, actions)
        array = switches_of(array) if self._binary else array
        size = 1 if self.setup.single_choice else self.setup.roles[0].action
        wanted = (self.num_worlds,) if self.setup.single_choice else (self.num_worlds, size)
        if array.shape != wanted or array.dtype.kind not in self._action_kinds:
            raise ActionError(
                f"{self.world.name}: actions of shape {array.shape} and type {array.dtype} were given; needed for the "
                f"first agents: {'real numbers' if self.setup.continuous else 'integers'} of shape {wanted}"
            )
        self._check_first(array)
        self.actions[...] = self.setup.idle
        if team in self.world.players:
            self._play([team] * self.agents)
        elif team == "expert":
            self._advise()
        self.actions[:, 0, :size] = array.reshape(-1, size)

    def _check_first(self, array: np.ndarray) -> None:
        """Refuse what a step would refuse, before anybody's turn: the team's players draw random numbers."""
        array = array.reshape(self.num_worlds, -1)
        if self.setup.continuous:
            wrong, reason = np.isnan(array).any(axis=1), NOT_A_NUMBER
        else:
            first = self._choices[0, : array.shape[1]]
            wrong, reason = ((array < 0) | (array >= first)).any(axis=1), NOT_A_CHOICE
        wrong &= ~self.over & self._states["alive"][:, 0].astype(np.bool_)
        if wrong.any():
            index = int(np.flatnonzero(wrong)[0])
            self._refuse(4 * index * self.agents + reason, array[index].tolist())

    def _action_shapes(self) -> frozenset[tuple[int, ...]]:
        """The shapes in which actions may come: axes of length one may be left out."""
        full: tuple[int, ...] = self.actions.shape
        shapes = [full[:2], full] if self.setup.single_choice else [full]
        if self.agents == 1:
            shapes += [shape[:1] + shape[2:] for shape in shapes]
        if self.num_worlds == 1:
            shapes += [shape[1:] for shape in shapes]
        return frozenset(shapes)

    def _action_complaint(self, actions: Any, array: np.ndarray) -> str:
        wanted: tuple[int, ...] = self.actions.shape[:2] if self.setup.single_choice else self.actions.shape
        if self.agents == 1:
            wanted = wanted[:1] + wanted[2:]
        kind = "real numbers" if self.setup.continuous else "integers"
        return (
            f"{self.world.name}: an action of shape {array.shape} and type {array.dtype} was given "
            f"({shortened(actions)}); needed: {kind} of shape {wanted[1:] if self.num_worlds == 1 else wanted}"
        )

    def _real(self, value: Any, dtype: Any) -> np.ndarray:
        """Real numbers in a new type; ActionError for anything else."""
        array = actions_of(self.world.name, value)
        if array.dtype.kind not in "fiu":
            raise ActionError(f"{self.world.name}: {shortened(value)} is not made of real numbers")
        return array.astype(dtype)

    def _refuse(self, code: int, given: list[Any] | None = None) -> None:
        """Raise the error of a driver's code; `given` is the action, where it does not lie in `actions`."""
        reason = code % 4
        index, agent = divmod(code // 4, self.agents)
        where = self.world.name + (f", environment {index}" if self.num_worlds > 1 else "")
        where += f", agent {agent}" if self.agents > 1 else ""
        if reason == EPISODE_OVER:
            raise EpisodeOverError(f"{where}: the episode is over, or never began; call reset() before step()")
        value = self.actions[index, agent].tolist() if given is None else given
        if reason == NOT_A_NUMBER:
            raise ActionError(f"{where}: action {value} contains NaN")
        raise ActionError(f"{where}: {self.choice_complaint(value, agent)}")

    def choice_complaint(self, value: list[int], agent: int) -> str:
        """What is wrong with an action that is not made of choices."""
        counts = self._choices[agent].tolist()
        if self.setup.single_choice:
            return f"action {value[0]} is not one of 0 ... {counts[0] - 1}"
        j = next(j for j, (number, count) in enumerate(zip(value, counts, strict=False)) if not 0 <= number < count)
        return f"action {value}: {value[j]} is not one of 0 ... {counts[j] - 1} of {self.setup.number_name(j)}"

    def observed(self, at: Any = (), final: bool = False, copy: bool = True) -> Any:
        """The observations of some agents, as the observation space has them.

        Args:
            at: index into the leading axes (N, A): a number, a slice, an array or a tuple of these. One agent's own
                observation where agents have roles, if its number is the second part.
            final: those set aside at the end of an episode (SAME_STEP).
            copy: False gives the batch's own arrays where `at` is made of numbers and slices, and observations are not
                encoded.

        Returns:
            an array; in goal form, or with pictures beside numbers, a dictionary of arrays.
        """
        parts = self._final_parts if final else self._parts
        one_role = self.world.roles and self.world.observation and isinstance(at, tuple) and len(at) > 1
        seen = slice(self.setup.roles[at[1]].observation if one_role else None)
        if not parts:
            found = (self.final_observations if final else self.observations)[at]
            found = found[..., seen] if one_role else found
            if self.setup.encode is not None:
                return self.setup.encode(found)
            return found.copy() if copy else found
        views = {name: array[at] for name, array in parts.items()}
        if one_role and "state" in views:
            views["state"] = views["state"][..., seen]
        if self.setup.encode is not None:
            for name, part in self.setup.vector_parts.items():
                views[name] = self.setup.encode(views[name], part)
        return {name: view.copy() if copy else view for name, view in views.items()}

    def compute_reward(self, achieved: Any, desired: Any) -> tuple[np.ndarray, np.ndarray]:
        """What any achieved goals would be worth where others were desired, by the parameters of the first world.

        Args:
            achieved, desired: (..., numbers of a goal), as in the observation.

        Returns:
            rewards, float64, and terminations, bool, both (...).

        Raises:
            ActionError: the world has no goals, or arrays of other shapes were given.
        """
        if not self.world.goal:
            raise ActionError(f"{self.world.name} has no goals, and so no compute_reward")
        size = self.setup.goal_size
        goals = [self._real(goal, np.float32) for goal in (achieved, desired)]
        if goals[0].shape != goals[1].shape or goals[0].shape[-1:] != (size,):
            raise ActionError(
                f"{self.world.name}: goals of shape {goals[0].shape} and {goals[1].shape} were given; "
                f"needed: two arrays (..., {size})"
            )
        pairs = np.ascontiguousarray(np.stack([goal.reshape(-1, size) for goal in goals], axis=1))
        grades = np.zeros(len(pairs), self._grade_type)
        self._point("goals", pairs, 8 * size)
        self._point("grades", grades, grades.itemsize)
        self._driver.grade_goals(self._address, len(pairs))
        shape = goals[0].shape[:-1]
        return grades["reward"].reshape(shape), grades["terminated"].reshape(shape)

    def photo(self, index: int, width: int, height: int) -> np.ndarray | None:
        """One world as an engine pictures it, uint8 (height, width, 3); None where the world is drawn by itself."""
        return None

    def close(self) -> None:
        """Give back what lies outside Python's memory. May be called twice."""

    def advise(self) -> np.ndarray:
        """The scripted expert's actions, (N, A, numbers per action), a copy; they also lie in `actions` then.

        Raises:
            NotImplementedError: the world has no scripted expert.
        """
        self._advise()
        return self.actions.copy()

    def advice(self, index: int) -> np.ndarray:
        """Where the expert of a world writes its action, as kernels take it; live."""
        rows = self._split[index] if self.setup.dimensions else self.actions[index]
        if self.setup.action_kind == "discrete":
            return rows[:, 0]
        return rows if self.world.agents else rows[0]

    def _advise(self) -> None:
        """Write the scripted expert's actions into `actions`."""
        kernels = self.world.kernels
        if "python_expert" in kernels:
            for i in range(self.num_worlds):
                kernels["python_expert"](*self.records(i), self.advice(i))
            if self.setup.dimensions:
                self.actions[..., 0] = np.ravel_multi_index(np.moveaxis(self._split, -1, 0), self.setup.dimensions)
        elif "expert" in kernels:
            self._run_entry(self._driver.advise_worlds)
        else:
            if not self.world.players:
                raise NotImplementedError(f"{self.world.name} has no scripted expert")
            self._play([self.world.players[0]] * self.agents)
        if self.setup.continuous:
            np.clip(self.actions, -1.0, 1.0, out=self.actions)  # as a step would

    def play(self, seats: str | Sequence[str | None]) -> np.ndarray:
        """Actions by scripted players, (N, A, numbers per action), a copy; they also lie in `actions` then.

        Args:
            seats: the name of one of the world's players, for all agents, or a name per agent; None leaves what lies
                in `actions` for this agent.

        Raises:
            UnknownNameError: the world has no player of this name.
            ParameterError: neither a name nor one per agent.
        """
        self._play([seats] * self.agents if isinstance(seats, str) else seats)
        return self.actions.copy()

    def _play(self, names: Sequence[str | None]) -> None:
        if not isinstance(names, Sequence):
            raise ParameterError(f"{self.world.name}: seats={shortened(names)} must be a player's name, or a list")
        if len(names) != self.agents:
            raise ParameterError(f"{self.world.name}: {len(names)} seats were given for {self.agents} agents")
        players = self.world.players
        for name in names:
            if name is not None and not (isinstance(name, str) and name in players):
                raise UnknownNameError(f"{self.world.name} has no player {shortened(name)}; it has {players}")
        self._seats[:] = [-1 if name is None else players.index(name) for name in names]
        self._run_entry(self._driver.play_worlds)

    def central(self) -> np.ndarray:
        """The central states, float32 (N, *shape): the world's own, or the observations of all agents. New arrays."""
        if not self.world.central:
            return self.observations.copy()
        states = np.zeros((self.num_worlds, *self.setup.central_space.shape), np.float32)
        size = states.strides[0]
        for name in ("central", "central_values"):
            self._point(name, states, size)
        self._run_entry(self._driver.central_worlds)
        return states

    def barriers(self, actions: np.ndarray, believed: np.ndarray | None = None) -> np.ndarray:
        """The barriers of all worlds for proposed actions: how safe each is, and what an action would change.

        Args:
            actions: float64, (N, numbers per action).
            believed: one record of parameters, to be taken in place of the worlds' own.

        Returns:
            records (N,), the batch's own, of the next call too: "value" and "drift" (K,), "slope" (K, numbers per
            action), "low", "high" and "brake" (numbers per action). `World.barrier` says what they mean.

        Raises:
            NotImplementedError: the world has no barriers, or none with its options.
            ActionError: actions of another shape.
        """
        if not self.barrier_count:
            options = " with these options" if self.world.barriers else ""
            raise NotImplementedError(f"{self.world.name} has no barriers{options}")
        proposals = np.ascontiguousarray(self._real(actions, np.float64))
        if proposals.shape != (self.num_worlds, self.setup.action_size):
            raise ActionError(
                f"{self.world.name}: proposed actions of shape {proposals.shape} were given; "
                f"needed: {(self.num_worlds, self.setup.action_size)}"
            )
        if self._barriers is None:
            self._barriers = np.zeros(self.num_worlds, self._barrier_type)
            self._point("barrier", self._barriers, self._barrier_type.itemsize)
        self._point("proposal", proposals, proposals.strides[0])
        if believed is not None:
            self._point("params", believed, 0)
        self._run_entry(self._driver.bar_worlds)
        self._point("params", self._params, self._param_stride)
        return self._barriers

    # --- snapshots ----------------------------------------------------------------------------------------------------

    def get_state(self, index: int = 0) -> Snapshot:
        """A copy of one world, exact to the bit.

        Raises:
            IndexError: there is no such world.
        """
        index = int(self._worlds(index)[0])
        params = self._params[index if len(self._params) > 1 else 0]
        return Snapshot.of(self.setup.fingerprint, self._states[index].tobytes(), params.tobytes())

    def set_state(self, snapshot: Snapshot, index: int | slice = 0) -> None:
        """Put a world (or a slice of worlds) back to a snapshot, its parameters, time limit and reward weights among
        it, and observe it again.

        Raises:
            SnapshotError: the snapshot was damaged, or belongs to another environment, to other sizes or to other
                options. Nothing is changed then.
            IndexError: there is no such world.
        """
        worlds = self._worlds(index)
        row = self.check_snapshot(snapshot, len(worlds))
        if len(self._params) > 1 or self._params.tobytes() != snapshot.params:
            self.own_params()[worlds] = row
        self._states[worlds] = np.frombuffer(snapshot.state, self._states.dtype)[0]
        self._all_seeded = False
        self.refresh(worlds)

    def refresh(self, worlds: np.ndarray) -> None:
        """Observe worlds, given by their indices, again, after their states were set from outside; the outcome of the
        last step is cleared."""
        for array in (self._results.view(np.uint8).reshape(self.num_worlds, -1), self.rewards, self.costs):
            array[worlds] = 0
        for array in (self.reward_vectors, self.terminated, self.truncated):
            array[worlds] = 0
        run, address = self._driver.run_worlds, self._address
        for start, stop in neighbours(worlds):
            run(address, start, stop, OBSERVE)
        if self.tally is not None:
            self.tally.forget(worlds)

    def _worlds(self, index: int | slice) -> np.ndarray:
        """The ascending indices of some worlds."""
        everyone = np.arange(self.num_worlds)
        if isinstance(index, slice):
            return np.sort(everyone[index])
        return everyone[[operator.index(index)]]

    def check_snapshot(self, snapshot: Any, worlds: int = 1) -> Any:
        """SnapshotError unless a snapshot fits so many worlds of this batch; its record of parameters."""
        name = self.world.name
        if not isinstance(snapshot, Snapshot):
            raise SnapshotError(f"{name}: a snapshot is needed, as get_state gives it, not a {type(snapshot).__name__}")
        if not snapshot.is_whole:
            raise SnapshotError(f"{name}: the snapshot is damaged: it is not what get_state gave")
        if snapshot.world != self.setup.fingerprint:
            raise SnapshotError(f"a snapshot of {snapshot.world} does not fit {self.setup.fingerprint}")
        if (len(snapshot.state), len(snapshot.params)) != (self._states.itemsize, self._params.itemsize):
            raise SnapshotError(f"{name}: the snapshot has another size")
        row, own = np.frombuffer(snapshot.params, self._params.dtype)[0], self._params[0]
        coded = set(self.world.options) & set(self._params.dtype.names or ()) - set(self.world.data)
        other = sorted(option for option in coded if row[option] != own[option])
        if other:
            raise SnapshotError(
                f"{name}: the snapshot was made with another value of {', '.join(other)}; make the environment with it"
            )
        data = [field for field in self.world.data if not np.array_equal(row[field], own[field])]
        if data and worlds < self.num_worlds:
            raise SnapshotError(
                f"{name}: the snapshot was made with another {', '.join(data)}, which all worlds of a batch share; put "
                "it into all of them, or into a batch with its options"
            )
        return row

    def records(self, index: int) -> tuple[Any, Any]:
        """Parameters and state of one world as records, for drawing and debugging. They are live, not copies."""
        return self._params[index if len(self._params) > 1 else 0], self._states[index]

    def roll(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Play planned actions in every world up to the end of its episode, without autoreset.

        Args:
            actions: (N, T, A, numbers per action), float64 or int64, inside the action space.

        Returns:
            rewards and costs, (N, T, A); zero after the end of an episode.
        """
        actions = np.ascontiguousarray(actions, self.actions.dtype)
        steps = actions.shape[1]
        rewards, costs = np.zeros((2, self.num_worlds, steps, self.agents))
        self._point("plan_action", actions, self.actions.strides[0])
        self._point("plan_reward", rewards, 8 * self.agents)
        self._point("plan_cost", costs, 8 * self.agents)
        self._table[0]["plan_steps"] = steps
        self._run(ROLL)
        return rewards, costs

    # --- threads ------------------------------------------------------------------------------------------------------

    def _run(self, job: int) -> None:
        """Do one of the jobs of `run_worlds` on all worlds."""
        self._share(self._driver.run_worlds, job)

    def _run_entry(self, function: Any) -> None:
        """Call another loop on all worlds."""
        self._share(function, None)

    def _share(self, function: Any, job: int | None) -> None:
        threads = self.thread_count()
        if threads > 1:
            from rlenvs.core.team import team  # numba takes long to import, and one thread does not need it

            if team(threads).run(function, self._address, self.num_worlds, job):
                return
        if job is None:
            function(self._address, 0, self.num_worlds)
        else:
            self._timed(job)

    def _start_trials(self) -> None:
        self._serial_time = np.inf
        self._trials = TRIALS if self.threads is None and self.num_worlds > 1 else 0

    def _timed(self, job: int) -> int:
        """Do a job in this thread; the first steps tell whether threads are worth their while."""
        run = self._driver.run_worlds
        if self._trials == 0 or job not in (ACT, ROLL):
            return run(self._address, 0, self.num_worlds, job)
        start = time.perf_counter()
        code = run(self._address, 0, self.num_worlds, job)
        self._serial_time = min(self._serial_time, time.perf_counter() - start)
        self._trials -= 1
        return code

    def thread_count(self) -> int:
        """How many threads share the loops over worlds at present."""
        if self.backend == "python":
            return 1
        if self.threads is not None:
            return min(self.threads, self.num_worlds)
        if self.num_worlds == 1 or self._trials > 0 or self._serial_time < WORTH_THREADS:
            return 1
        return min(cores(), self.num_worlds)

    # --- copies -------------------------------------------------------------------------------------------------------

    def clone(self, num_worlds: int | None = None, threads: int | None = None) -> Self:
        """Worlds with the same setup and memory of their own, to try things in. They have not begun: `set_state` puts
        them where worlds of this batch are. Finished ones wait for a reset.

        Args:
            num_worlds: how many; as many as here by default.
            threads: as for `KernelBatch`.
        """
        plain = {name: getattr(self, name) for name in ("world", "setup", "agents", "backend", "first_decides")}
        count = self.num_worlds if num_worlds is None else positive("num_worlds", num_worlds)
        own = {"num_worlds": count, "threads": threads_of(threads), "autoreset": AutoresetMode.DISABLED}
        batch = type(self).__new__(type(self))
        batch.__setstate__({"plain": {**plain, **own}, "arrays": {}})
        return batch

    def leave_resets(self) -> None:
        """From now on finished worlds wait for a reset, whatever `autoreset` was. The arrays are new ones."""
        state = self.__getstate__()
        state["plain"]["autoreset"] = AutoresetMode.DISABLED
        state["arrays"] = {name: array for name, array in state["arrays"].items() if "final" not in name}
        self.close()
        self.__setstate__(state)

    def __getstate__(self) -> dict[str, Any]:
        plain = {k: getattr(self, k) for k in PLAIN}
        return {"plain": plain, "arrays": {name: getattr(self, name).copy() for name in ARRAYS}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state["plain"])
        self._driver = build.driver(self.setup, self.backend, self.moved_by_engine)
        self._start_trials()
        self._allocate_or_refuse()
        for name, array in state["arrays"].items():
            if name == "_params":  # one row, or one per world
                self._params = array
            else:
                own = getattr(self, name)
                if not own.flags.writeable:
                    own.flags.writeable = True  # until the views are made
                own[...] = array
        self._make_views()
        self._make_table(build.all_sizes(self.setup))
        self._open()

    def digest(self) -> str:
        """A hash of all states, for golden tests."""
        return hashlib.sha256(self._states.tobytes()).hexdigest()[:16]


class First:
    """Views on the rows of the first agent of the first world: what a single environment reads at every step."""

    def __init__(self, batch: KernelBatch) -> None:
        self.observation = batch.observations[0, 0]
        self.reward_vector = batch.reward_vectors[0, 0]
        self.mask = batch.masks[0, 0, : batch.setup.mask_lengths[0]]
        self.outcome = self._overlay(batch)

    def _overlay(self, batch: KernelBatch) -> np.ndarray:
        """One record over the first agent's terms, success, cost, reward, terminated, truncated and failed, in this
        order."""
        terms, starts = [*batch.world.terms, *batch.world.costs], batch._outcome_starts
        names = [*terms, "success", "cost", "reward", "terminated", "truncated", "failed"]
        agents = batch.agents
        offsets = [8 * agents * t for t in range(len(terms))] + [8 * agents * len(terms)]
        offsets += [starts[name] for name in ("costs", "rewards", "terminated", "truncated", "failed")]
        formats = ["f8"] * len(terms) + ["?", "f8", "f8", "?", "?", "u1"]
        names = [f"{i} {name}" for i, name in enumerate(names)]  # a term may have the name of a later field
        dtype = np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": len(batch._outcome)})
        return batch._outcome.view(dtype)


def exponents_of(setup: Setup) -> np.ndarray:
    """One record: where the exponents of the state's floats lie, see `Layout.exponents`."""
    bits = setup.world.layouts["state"].exponents(setup.sizes)
    found = np.zeros(1, [("mask", "u4", bits.shape), ("full", "u4", bits.shape)])
    found["mask"], found["full"] = bits, np.where(bits, bits, 1)
    return found


def neighbours(worlds: np.ndarray) -> Iterator[tuple[int, int]]:
    """The runs of consecutive numbers in ascending indices: first of each, and the one after its last."""
    if len(worlds):
        for run in np.split(worlds, np.flatnonzero(np.diff(worlds) > 1) + 1):
            yield int(run[0]), int(run[-1]) + 1


def cores() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
