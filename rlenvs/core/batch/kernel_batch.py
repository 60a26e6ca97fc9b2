"""The batch: N worlds of one kind in preallocated arrays, stepped together. Every API is a view of a batch."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

import numpy as np
from gymnasium.vector import AutoresetMode

from rlenvs.core.batch.actions import ActionLoader
from rlenvs.core.batch.first import First, short_step
from rlenvs.core.batch.loops import Loops, fit_lanes, indices_of
from rlenvs.core.batch.memory import allocated
from rlenvs.core.batch.parameters import checked_values, give_contexts
from rlenvs.core.batch.players import Players
from rlenvs.core.batch.queries import Barriers, central_states, graded_goals
from rlenvs.core.batch.seeds import Seeds
from rlenvs.core.batch.snapshots import Snapshot, checked_arrays, checked_snapshot
from rlenvs.core.batch.views import Reasons, images_of, observed, parts_of, split_results
from rlenvs.core.compiler import build
from rlenvs.core.compiler.driver import ACT, CHECK, OBSERVE, STEP
from rlenvs.core.compiler.table import Table
from rlenvs.core.declare.errors import ParameterError
from rlenvs.core.declare.inputs import positive, threads_of
from rlenvs.core.declare.renamed import renamed
from rlenvs.core.declare.setup import Setup
from rlenvs.core.declare.spec import World

# what a batch is apart from its arrays
PLAIN = ("world", "setup", "num_envs", "agents", "autoreset", "threads", "backend", "first_decides", "totals")


@renamed
class KernelBatch:
    """N worlds advanced by compiled kernels.

    Args:
        world: what to run.
        num_envs: N, at least 1.
        autoreset: when a finished world starts its next episode.
        threads: threads per step; None decides by the time that a step takes.
        backend: "numba", or "python" for debugging.
        first_decides: an episode ends with its first agent's (the single-agent forms of multi-agent worlds need that)
            instead of with the last agent's.
        choices: keywords of `Setup`.

    Attributes (A agents; arrays are overwritten by the next step):
        observations: float32, (N, A, *observation shape); float64 where the published environment that a world
            re-implements has that; uint8 where an image is the whole observation.
        actions: float64 or int64, (N, A, numbers per action); what the last step used.
        rewards, costs: float64, (N, A). terminated, truncated: bool, (N, A).
        reward_vectors: float32, (N, A, reward terms), unweighted.
        terms: float64, (N, terms and costs, A), unweighted. success: bool, (N, A).
        images: uint8, (N, A, height, width, channels), by name; empty where the observation has no images. An image
            that is the whole observation is `observations` too.
        masks: int8, (N, A, choices), of all numbers of an action one after the other; read-only if they never change.
        over: bool, (N,): the episode of this world has ended.
        states: records, (N,): the worlds' states, fields by name; `sync_from_state` after writing.
        param_rows: records of parameters, options and weights: one for all worlds, or one per world (`own_params`).
        results: records, (N,): terms, costs, success and termination as the kernels wrote them.
        failures: uint8, (N,): a code of why an episode was broken off in the last step, 0 where none was.
        barrier_count: how many barriers a world has with these options; `barriers` takes actions of `proposal_shape`.
        loops, loader, seeds: the compiled loops over worlds, what takes actions in, the worlds' generators.
    """

    # counts returns and costs for images, where there are any: a `render.EpisodeTotals`
    totals: Any = None
    moved_by_engine = False  # whether an engine moves the bodies, between the two halves of a step

    def __init__(
        self,
        world: World,
        num_envs: int = 1,
        *,
        autoreset: AutoresetMode = AutoresetMode.NEXT_STEP,
        threads: int | None = None,
        backend: str = "numba",
        first_decides: bool = False,
        **choices: Any,
    ) -> None:
        num_envs = positive("number of environments", num_envs)
        if not isinstance(autoreset, AutoresetMode):
            raise ParameterError(f"autoreset_mode={autoreset!r} must be one of {[str(m) for m in AutoresetMode]}")
        self.setup = Setup(world, **choices)
        self.world, self.num_envs, self.agents = self.setup.world, num_envs, self.setup.agents
        self.autoreset, self.first_decides = autoreset, first_decides
        self.threads, self.backend = threads_of(threads), backend
        self._make({"param_rows": self.setup.params_row()})
        if self.setup.contexts or self.setup.random_ranges:
            give_contexts(self.setup, self.own_params())
        self._open_resources()

    def _make(self, contents: Mapping[str, np.ndarray]) -> None:
        """Make the arrays and the parts that work on them. `contents`: what some of the arrays hold, by name, and the
        rows of parameters."""
        setup, worlds = self.setup, self.num_envs
        driver = build.driver(setup, self.backend, self.moved_by_engine)
        rows, outcome = allocated(setup, worlds, self.autoreset, contents)
        self.states, self.param_rows, self.actions = rows["states"], rows["param_rows"], rows["actions"]
        self.observations, self.masks, self.results = rows["observations"], rows["masks"], rows["results"]
        self.rewards, self.costs, self.reward_vectors = rows["rewards"], rows["costs"], rows["reward_vectors"]
        self.terminated, self.truncated, self.failures = rows["terminated"], rows["truncated"], rows["_failed"]
        self.final_observations, self.final_masks = rows["final_observations"], rows["final_masks"]
        self.final_costs, self._final_failures = rows["final_costs"], rows["_final_failed"]
        self.images, self.final_images = (images_of(setup, rows[name]) for name in ("_images", "_final_images"))
        self.over = self.states["over"]
        self._parts = parts_of(setup, self.observations, self.images)
        self._final_parts = parts_of(setup, self.final_observations, self.final_images)
        table = Table(setup, rows, self.autoreset, self.first_decides)
        self.terms, self.success = split_results(table, self.results)
        self.final_terms, self.final_success = split_results(table, rows["_final_results"])
        self.loops = Loops(driver, table, worlds, self.threads, alone=worlds == 1 or self.backend == "python")
        self._lanes = not self.moved_by_engine and fit_lanes(setup, worlds, driver)
        self.loader = ActionLoader(setup, self.actions, self.states)
        self.first = First(setup, rows, outcome, self.terms, self.success)
        self.seeds, self._reasons = Seeds(self.states, bool(self.world.players)), Reasons()
        self._players, self._barriers = Players(setup, self.loops), Barriers(setup, self.loops)
        self.barrier_count, self.proposal_shape = self._barriers.count, self._barriers.shape

    def _open_resources(self) -> None:
        """Get what lies outside Python's memory."""

    def close(self) -> None:
        """Release memory outside Python. Can be called twice."""

    @property
    def nbytes(self) -> int:
        """Bytes held per batch, all arrays together."""
        return sum(rows.nbytes for rows in self.loops.table.rows.values())

    # --- stepping -----------------------------------------------------------------------------------------------------

    def seed(self, seeds: int | Sequence[int | None]) -> None:
        """Seed the generators of the worlds: with seeds[i], where None leaves a generator unchanged, or with seeds + i.

        Raises:
            ParameterError: not an integer of 0 or more, or another number of seeds. Nothing has changed then.
        """
        self.seeds.seed(seeds)

    def seed_from(self, generator: np.random.Generator, index: int) -> None:
        """Seed one world's generator from a NumPy generator."""
        self.seeds.seed_from(generator, index)

    def seed_unseeded(self, generator: np.random.Generator) -> None:
        """Seed the worlds that have never been seeded."""
        self.seeds.seed_unseeded(generator)

    @property
    def at_start(self) -> np.ndarray:
        """Which worlds are at the start of an episode, before its first step, (N,) bool, a new array: after a reset,
        and after a step that ended an episode and started the next (SAME_STEP)."""
        return self.states["elapsed"] == 0

    def reset(self, mask: np.ndarray | None = None) -> None:
        """Start new episodes in all worlds, or in those that the boolean mask selects."""
        self.loops.begin(mask)

    def step(self, actions: Any) -> None:
        """Advance every world by one step.

        Args:
            actions: (N, A, ...) or, for one agent, (N, ...): numbers (clipped to the bounds of their space) or choices.

        Raises:
            ActionError: wrong shape or type, NaN, not a choice. No world has moved then.
            EpisodeOverError: an episode has ended and autoreset is disabled, or there was no reset yet.
        """
        self.loader.load(actions)
        if self.num_envs > 1 or self.moved_by_engine:
            self._advance()
        elif code := self.loops.step_one():
            self.loader.refuse(code)
        if self.totals is not None:
            self.totals.see_step(self, None)

    def short_step(self, read: Callable[[], Any], refuses: bool) -> Callable[[Any], Any]:
        """`Env.step` for a single agent in a single world. Returns None, without stepping, if an action of a world with
        masks needs further checks.

        Args:
            read: gives what the step returns.
            refuses: whether choices that the mask forbids are an error.
        """
        return short_step(self, read, refuses)

    def step_inplace(self, only: np.ndarray | None = None) -> None:
        """Advance every world with the actions in `actions`.

        Args:
            only: bool (N,): the worlds to advance. All else stays as it is: states, observations, rewards, flags.
        """
        if only is None:
            self._advance()
        else:
            with self.loops.awake(only):
                self._advance()
        if self.totals is not None:
            self.totals.see_step(self, only)

    def _advance(self) -> None:
        """One step of the worlds that are awake."""
        loops = self.loops
        if self.num_envs == 1:
            code = loops.step_one()
        elif self.in_lanes:
            sure = self.autoreset is not AutoresetMode.DISABLED and self.seeds.all and self.loader.all_within
            code = 0 if sure else loops.driver.run_worlds(loops.address, 0, 0, CHECK)
            if not code:
                loops.step_blocks()
        elif loops.thread_count() == 1:
            code = loops.timed(loops.driver.run_worlds, ACT)
        else:
            code = loops.driver.run_worlds(loops.address, 0, 0, CHECK)
            if not code:
                loops.run(STEP)
        if code:
            self.loader.refuse(code)

    @property
    def in_lanes(self) -> bool:
        """Whether several worlds are stepped at a time (SIMD lanes)."""
        return self._lanes

    def thread_count(self) -> int:
        """The number of threads that share the loops over worlds."""
        return self.loops.thread_count()

    @property
    def broken(self) -> np.ndarray:
        """For each world, whether its episode was aborted in the last step; `errors` gives the reasons."""
        return self.failures != 0

    @property
    def errors(self) -> np.ndarray:
        """For each world, why its episode was aborted (truncated) in the last step; empty if it was not."""
        return self._reasons.of(self.failures)

    @property
    def final_errors(self) -> np.ndarray:
        """For each world, why its last finished episode was aborted (SAME_STEP)."""
        return self._reasons.of(self._final_failures)

    def error(self, index: int, final: bool = False) -> str:
        """The entry of one world in `errors`, or in `final_errors`."""
        codes = self._final_failures if final else self.failures
        return self._reasons.of(codes)[index] if codes[index] else ""

    # --- actions ------------------------------------------------------------------------------------------------------

    def load_actions(self, actions: Any) -> None:
        """Copy actions into the batch; ActionError if their shape or type is wrong."""
        self.loader.load(actions)

    def load_action(self, action: Any) -> None:
        """Copy the action of a single agent in a single world into the batch; ActionError if its shape or type does not
        match the space."""
        self.loader.load_one(action)

    def set_first_agent_action(self, actions: Any, others: str) -> None:
        """Load the actions of every world's first agent; the others are played by `others`: "expert", one of the
        world's players, or "idle" (no-op)."""
        first = self.loader.first_of(actions)
        self.actions[...] = self.setup.idle
        if others in self.world.players:
            self._players.play_all(others)
        elif others == "expert":
            self._players.advise()
        self.actions[:, 0, : self.loader.first_numbers] = first

    def expert_actions(self, only: np.ndarray | None = None) -> np.ndarray:
        """The actions of the scripted expert, or of the first player if there is none, (N, A, numbers per action), as a
        copy; they are also written to `actions`.

        Args:
            only: bool (N,): the worlds that are asked for; the actions of the others are what lay in `actions`.

        Raises:
            NotImplementedError: the world has neither.
        """
        self._players.advise(only)
        return self.actions.copy()

    def expert_buffer(self, index: int) -> np.ndarray:
        """The array to which the expert of a world writes its action, in the kernels' format; live."""
        return self._players.expert_buffer(index)

    def player_actions(self, players: str | Sequence[str | None]) -> np.ndarray:
        """Actions of scripted players, (N, A, numbers per action), as a copy; they are also written to `actions`.

        Args:
            players: the name of one of the world's players, for all agents, or a name per agent; None leaves what lies
                in `actions` for this agent.

        Raises:
            UnknownNameError: the world has no such player. ParameterError: neither a name nor one per agent.
        """
        self._players.play([players] * self.agents if isinstance(players, str) else players)
        return self.actions.copy()

    # --- queries ------------------------------------------------------------------------------------------------------

    def get_observations(self, at: Any = (), final: bool = False, copy: bool = True) -> Any:
        """The observations of some agents, in the observation space.

        Args:
            at: index into the leading axes (N, A): a number, a slice, an array or a tuple of these. One agent's own
                observation where agents have roles, if its number is the second part.
            final: those set aside at the end of an episode (SAME_STEP).
            copy: False gives the batch's own arrays where `at` is made of numbers and slices, and observations are not
                encoded.

        Returns:
            an array; in goal form, or with images beside numbers, a dictionary of arrays.
        """
        vectors = self.final_observations if final else self.observations
        return observed(self.setup, vectors, self._final_parts if final else self._parts, at, copy)

    def compute_reward(self, achieved: Any, desired: Any) -> tuple[np.ndarray, np.ndarray]:
        """Rewards for achieved and desired goals, with the parameters of the first world.

        Args:
            achieved, desired: (..., numbers of a goal), as in the observation.

        Returns:
            rewards, float64, and terminations, bool, both (...).

        Raises:
            ActionError: the world has no goals, or arrays of other shapes were given.
            ParameterError: the reward does not follow from goals alone.
        """
        return graded_goals(self.setup, self.loops, achieved, desired)

    def central(self) -> np.ndarray:
        """The central states, (N, *shape) of `setup.central_space`: the world's own, or the observations of all agents.
        New arrays."""
        return central_states(self.setup, self.loops, self.observations)

    def barriers(self, actions: np.ndarray, believed: np.ndarray | None = None) -> np.ndarray:
        """The barriers of all worlds for proposed actions: how safe each is, and the effect of actions.

        Args:
            actions: float64, of `proposal_shape`: (N, numbers per action), of a world with agents (N, A, numbers).
            believed: one record of parameters, to be taken in place of the worlds' own.

        Returns:
            records (N,), of a world with agents (N, A), the batch's own, of the next call too: "value" and "drift"
            (K,), "slope" (K, numbers per action), "low", "high" and "brake" (numbers per action), see `World.barrier`.

        Raises:
            NotImplementedError: the world has no barriers with its options. ActionError: actions of another shape.
        """
        return self._barriers.find(actions, believed)

    def camera_image(self, index: int, width: int, height: int) -> np.ndarray | None:
        """The engine's image of one world, uint8 (height, width, 3); None if the world draws its own image."""
        return None

    def records(self, index: int) -> tuple[Any, Any]:
        """Parameters and state of one world as records, for drawing and debugging. They are live, not copies."""
        return self.loops.table.records(index)

    def rollout(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Roll out planned actions in every world until the end of its episode, without autoreset.

        Args:
            actions: (N, T, A, numbers per action), float64 or int64, inside the action space.

        Returns:
            rewards and costs, (N, T, A); zero after the end of an episode.
        """
        return self.loops.roll(np.ascontiguousarray(actions, self.actions.dtype))

    # --- parameters ---------------------------------------------------------------------------------------------------

    def own_params(self) -> np.ndarray:
        """The parameter records, one per world; shared until a world has its own parameters."""
        if len(self.param_rows) < self.num_envs:
            self.param_rows = np.repeat(self.param_rows, self.num_envs)
            self.loops.table.point("param_rows", self.param_rows)
        return self.param_rows

    def set_params(self, values: dict[str, Any], worlds: np.ndarray | None = None) -> None:
        """Set the parameters of some worlds (all by default; a boolean mask), effective from their next step.

        Raises:
            ParameterError: an unknown parameter, a value outside its range, or one that contradicts the others; nothing
                is changed then.
        """
        some = slice(None) if worlds is None else np.flatnonzero(worlds)
        checked = checked_values(self.setup, self.param_rows, values, self.num_envs, some)
        for name, number in checked.items():
            self.own_params()[name][some] = number

    def get_params(self, index: int = 0) -> dict[str, float]:
        """The physical parameters of one world."""
        row, _ = self.records(index)
        return {name: float(row[name]) for name in self.world.params}

    # --- snapshots ----------------------------------------------------------------------------------------------------

    def get_state(self, index: int = 0) -> Snapshot:
        """A bit-exact copy of one world; IndexError if there is no such world."""
        params, state = self.records(int(indices_of(index, self.num_envs)[0]))
        return Snapshot.of(self.setup.fingerprint, state.tobytes(), params.tobytes())

    def set_state(self, snapshot: Snapshot, index: int | slice = 0) -> None:
        """Restore a world (or a slice of worlds) from a snapshot, including parameters, time limit and reward weights,
        and recompute its observations.

        Raises:
            SnapshotError: the snapshot was damaged, belongs to another environment, to other sizes or to other options,
                or holds numbers that the world never has. Nothing is changed then.
            IndexError: there is no such world.
        """
        worlds = indices_of(index, self.num_envs)
        row = self.check_snapshot(snapshot, len(worlds))
        if len(self.param_rows) > 1 or self.param_rows.tobytes() != row.tobytes():
            self.own_params()[worlds] = row
        self.states[worlds] = np.frombuffer(snapshot.state, self.states.dtype)[0]
        self.seeds.forget()
        self.sync_from_state(worlds)

    def sync_from_state(self, worlds: np.ndarray) -> None:
        """Recompute the observations of worlds, given by their indices, after their states were set from outside; the
        outcome of the last step is cleared."""
        self.results.view(np.uint8).reshape(self.num_envs, -1)[worlds] = 0
        for array in (self.rewards, self.costs, self.reward_vectors, self.terminated, self.truncated):
            array[worlds] = 0
        self.loops.run_some(OBSERVE, worlds)
        if self.totals is not None:
            self.totals.forget(worlds)

    def recompute_observations(self, start: int = 0, stop: int | None = None) -> None:
        """Recompute the observations and masks of the worlds start ... stop - 1, of all by default; the outcome of the
        last step is kept."""
        self.loops.driver.run_worlds(self.loops.address, start, self.num_envs if stop is None else stop, OBSERVE)

    def check_snapshot(self, snapshot: Any, worlds: int = 1) -> Any:
        """Check that a snapshot fits this number of worlds of this batch, or raise SnapshotError; returns its parameter
        record."""
        return checked_snapshot(self, snapshot, worlds)

    # --- copies -------------------------------------------------------------------------------------------------------

    def arrays(self) -> dict[str, np.ndarray]:
        """The complete state of all worlds, bit-exact: their arrays as bytes, by name; for `restore`."""
        return {name: np.frombuffer(array.tobytes(), np.uint8) for name, array in self.loops.table.kept().items()}

    def restore(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Restore all worlds from `arrays` of another batch with the same setup and size.

        Args:
            arrays: what `arrays` gave.

        Raises:
            SnapshotError: arrays of another size, or no states of this world; nothing has changed then.
        """
        self._remake(checked_arrays(self, arrays))

    def clone(self, num_envs: int | None = None, threads: int | None = None) -> Self:
        """A new batch with the same setup, for look-ahead. Its worlds have not started: use `set_state` to copy worlds
        of this batch. Finished worlds wait for a reset.

        Args:
            num_envs: how many; as many as here by default.
            threads: as for `KernelBatch`.
        """
        plain = {name: getattr(self, name) for name in ("world", "setup", "agents", "backend", "first_decides")}
        count = self.num_envs if num_envs is None else positive("num_envs", num_envs)
        own = {"num_envs": count, "threads": threads_of(threads), "autoreset": AutoresetMode.DISABLED}
        batch = type(self).__new__(type(self))
        batch.__setstate__({"plain": {**plain, **own}, "arrays": {"param_rows": self.setup.params_row()}})
        return batch

    def disable_autoreset(self) -> None:
        """Disable autoreset: finished worlds wait for a reset from now on. The arrays are new ones."""
        self.autoreset = AutoresetMode.DISABLED
        self._remake({name: array for name, array in self.loops.table.kept().items() if "final" not in name})

    def _remake(self, contents: Mapping[str, np.ndarray]) -> None:
        """Begin anew with arrays that hold this."""
        self.close()
        self._make(contents)
        self._open_resources()

    def __getstate__(self) -> dict[str, Any]:
        plain = {k: getattr(self, k) for k in PLAIN}
        return {"plain": plain, "arrays": {name: array.copy() for name, array in self.loops.table.kept().items()}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state["plain"])
        self._make(state["arrays"])
        self._open_resources()

    def digest(self) -> str:
        """A hash of all states, for golden tests."""
        return hashlib.sha256(self.states.tobytes()).hexdigest()[:16]
