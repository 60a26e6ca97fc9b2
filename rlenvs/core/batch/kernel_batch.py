"""The hub: N worlds of one kind in preallocated arrays, stepped together. Every API form is a view on a batch."""

from __future__ import annotations

import hashlib
import operator
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Self

import numpy as np
from gymnasium.vector import AutoresetMode

from rlenvs.core.batch.snapshots import Snapshot, checked_snapshot
from rlenvs.core.batch.stepping import BatchStepping
from rlenvs.core.compiler import build
from rlenvs.core.compiler.driver import NOT_A_CHOICE, NOT_A_NUMBER, OBSERVE, ROLL
from rlenvs.core.declare.errors import (
    ActionError,
    ParameterError,
    SnapshotError,
    UnknownNameError,
    shortened,
)
from rlenvs.core.declare.inputs import actions_of, positive, switches_of, threads_of
from rlenvs.core.declare.ranges import check_states
from rlenvs.core.declare.setup import Setup
from rlenvs.core.declare.spec import World

# what a batch is apart from its arrays
PLAIN = ("world", "setup", "num_worlds", "agents", "autoreset", "threads", "backend", "first_decides", "totals")


class KernelBatch(BatchStepping):
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
        observations: float32, (N, A, *observation shape); float64 where the published environment that a world
            re-implements has that; uint8 where an image is the whole observation.
        actions: float64 or int64, (N, A, numbers per action); what the last step used.
        rewards, costs: float64, (N, A). terminated, truncated: bool, (N, A).
        reward_vectors: float32, (N, A, reward terms), unweighted.
        terms: float64, (N, terms and costs, A), unweighted. success: bool, (N, A).
        images: uint8, (N, A, height, width, channels), by name; empty where the observation has no images. An image
            that is the whole observation is `observations` too.
        masks: int8, (N, A, choices), those of all numbers of an action one after the other.
        over: bool, (N,): the episode of this world has ended.
        at_start: bool, (N,): the world is at the beginning of an episode; a new array at each reading.
        states: records, (N,): the worlds' states, fields by name; `refresh` worlds after writing.
        param_rows: records of parameters, options and weights: one for all worlds, or one per world (`own_params`).
        results: records, (N,): terms, costs, success and termination as the kernels wrote them.
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
        self.setup = Setup(world, **choices)
        self.world = self.setup.world
        self.num_worlds = num_worlds
        self.agents = self.setup.agents
        self.autoreset = autoreset
        self.threads = threads_of(threads)
        self.backend = backend
        self.first_decides = first_decides
        self._driver = build.driver(self.setup, backend, self.moved_by_engine)
        self._allocate_or_refuse()
        self._bind()
        self._load_contexts()
        self._start_trials()
        self._open()

    def _open(self) -> None:
        """Get what lies outside Python's memory."""

    moved_by_engine = False  # whether an engine moves the bodies, between the two halves of a step

    # --- queries ------------------------------------------------------------------------------------------------------

    def load_first(self, actions: Any, others: str) -> None:
        """Load the actions of every world's first agent; the others are played by `others`: "expert", one of the
        world's players, or "idle", who does nothing."""
        if type(actions) in self._bare_first and 0 <= actions < self._choices.item(0):
            first = actions  # in a fifth of the time
        else:
            first = self._first_actions([actions] if type(actions) in self._bare_first else actions)
        self.actions[...] = self.setup.idle
        if others in self.world.players:
            self._play_all(others)
        elif others == "expert":
            self._advise()
        self.actions[:, 0, : self._first_numbers] = first

    def _first_actions(self, actions: Any) -> np.ndarray:
        """Actions of the first agents, (N, numbers); refused is what a step would refuse, before anybody's turn: the
        team's players draw random numbers."""
        array = actions_of(self.world.name, actions)
        array = switches_of(array) if self._binary else array
        size = self._first_numbers
        wanted = (self.num_worlds,) if self.setup.single_choice else (self.num_worlds, size)
        if array.shape != wanted or array.dtype.kind not in self._action_kinds:
            raise ActionError(
                f"{self.world.name}: actions of shape {array.shape} and type {array.dtype} were given; needed for the "
                f"first agents: {'real numbers' if self._continuous else 'integers'} of shape {wanted}"
            )
        array = array.reshape(-1, size)
        if self._continuous:
            wrong, reason = np.isnan(array), NOT_A_NUMBER
        else:
            wrong, reason = (array < 0) | (array >= self._choices[0, :size]), NOT_A_CHOICE
        if np.count_nonzero(wrong):  # takes less time than `any`
            rows = np.flatnonzero(wrong.any(axis=1) & ~self.over & self.states["alive"][:, 0])
            for index in rows[:1].tolist():
                self._refuse(4 * index * self.agents + reason, array[index].tolist())
        return array

    def observed(self, at: Any = (), final: bool = False, copy: bool = True) -> Any:
        """The observations of some agents, as the observation space has them.

        Args:
            at: index into the leading axes (N, A): a number, a slice, an array or a tuple of these. One agent's own
                observation where agents have roles, if its number is the second part.
            final: those set aside at the end of an episode (SAME_STEP).
            copy: False gives the batch's own arrays where `at` is made of numbers and slices, and observations are not
                encoded.

        Returns:
            an array; in goal form, or with images beside numbers, a dictionary of arrays.
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
            ParameterError: the reward does not follow from goals alone.
        """
        if not self.world.goal:
            raise ActionError(f"{self.world.name} has no goals, and so no compute_reward")
        self.setup.check_goal_reward("compute_reward", "leave it out")
        size = self.setup.goal_size
        goals = [self._real(goal, np.float32) for goal in (achieved, desired)]
        if goals[0].shape != goals[1].shape or goals[0].shape[-1:] != (size,):
            raise ActionError(
                f"{self.world.name}: goals of shape {goals[0].shape} and {goals[1].shape} were given; "
                f"needed: two arrays (..., {size})"
            )
        pairs = np.ascontiguousarray(np.stack([goal.reshape(-1, size) for goal in goals], axis=1))
        grades = np.zeros(len(pairs), self._arrays["grades"].dtype(self._sizes))
        self._point("goals", pairs)
        self._point("grades", grades)
        self._driver.grade_goals(self._address, len(pairs))
        shape = goals[0].shape[:-1]
        return grades["reward"].reshape(shape), grades["terminated"].reshape(shape)

    def camera_image(self, index: int, width: int, height: int) -> np.ndarray | None:
        """One world as an engine images it, uint8 (height, width, 3); None where the world is drawn by itself."""
        return None

    def close(self) -> None:
        """Give back what lies outside Python's memory. May be called twice."""

    def advise(self, only: np.ndarray | None = None) -> np.ndarray:
        """The actions of the scripted expert, or of the first player where there is none, (N, A, numbers per action), a
        copy; they also lie in `actions` then.

        Args:
            only: bool (N,): the worlds that are asked for; the actions of the others are what lay in `actions`.

        Raises:
            NotImplementedError: the world has neither.
        """
        self._advise(only)
        return self.actions.copy()

    def advice(self, index: int) -> np.ndarray:
        """Where the expert of a world writes its action, as kernels take it; live."""
        rows = self._split[index] if len(self._split) else self.actions[index]
        if self.setup.action_kind == "discrete":
            return rows[:, 0]
        return rows if self.world.agents else rows[0]

    def _advise(self, only: np.ndarray | None = None) -> None:
        """Write the scripted expert's actions into `actions`."""
        kernels = self.world.kernels
        if "python_expert" in kernels:
            for i in range(self.num_worlds) if only is None else np.flatnonzero(only).tolist():
                kernels["python_expert"](*self.records(i), self.advice(i))
            if self.setup.converted:
                gain, offset = self.setup.action_scaling[:2]
                self.actions[...] = (self._split - offset) / gain
            elif self.setup.dimensions:
                self.actions[..., 0] = np.ravel_multi_index(np.moveaxis(self._split, -1, 0), self.setup.dimensions)
        elif "expert" in kernels:
            self._run_entry(self._driver.advise_worlds, only)
        else:
            if not self.world.players:
                raise NotImplementedError(f"{self.world.name} has no scripted expert")
            self._play_all(self.world.players[0], only)
        if self._continuous:
            self.actions.clip(*self.setup.action_scaling[2:], out=self.actions)  # as a step would

    def play(self, slots: str | Sequence[str | None]) -> np.ndarray:
        """Actions by scripted players, (N, A, numbers per action), a copy; they also lie in `actions` then.

        Args:
            slots: the name of one of the world's players, for all agents, or a name per agent; None leaves what lies
                in `actions` for this agent.

        Raises:
            UnknownNameError: the world has no player of this name.
            ParameterError: neither a name nor one per agent.
        """
        self._play([slots] * self.agents if isinstance(slots, str) else slots)
        return self.actions.copy()

    def _play_all(self, player: str, only: np.ndarray | None = None) -> None:
        """Let one of the world's players choose for all agents."""
        names = (player,) * self.agents
        if names == self._seated:
            self._run_entry(self._driver.play_worlds, only)
        else:
            self._play(names, only)

    def _play(self, names: Sequence[str | None], only: np.ndarray | None = None) -> None:
        if not isinstance(names, Sequence):
            raise ParameterError(f"{self.world.name}: slots={shortened(names)} must be a player's name, or a list")
        if len(names) != self.agents:
            raise ParameterError(f"{self.world.name}: {len(names)} slots were given for {self.agents} agents")
        players = self.world.players
        for name in names:
            if name is not None and not (isinstance(name, str) and name in players):
                raise UnknownNameError(f"{self.world.name} has no player {shortened(name)}; it has {players}")
        self._slots[:] = [-1 if name is None else players.index(name) for name in names]
        self._seated = tuple(names)
        self._run_entry(self._driver.play_worlds, only)

    def central(self) -> np.ndarray:
        """The central states, (N, *shape) of `setup.central_space`: the world's own, or the observations of all agents.
        New arrays."""
        if not self.world.central:
            return self.setup.central_of(self.observations)
        states = np.zeros((self.num_worlds, *self.setup.central_space.shape), np.float32)
        self._point("central", states)
        self._run_entry(self._driver.central_worlds)
        return states

    def barriers(self, actions: np.ndarray, believed: np.ndarray | None = None) -> np.ndarray:
        """The barriers of all worlds for proposed actions: how safe each is, and what an action would change.

        Args:
            actions: float64, (N, numbers per action); of a world with agents (N, A, numbers per action).
            believed: one record of parameters, to be taken in place of the worlds' own.

        Returns:
            records (N,), of a world with agents (N, A), the batch's own, of the next call too: "value" and "drift"
            (K,), "slope" (K, numbers per action), "low", "high" and "brake" (numbers per action). `World.barrier` says
            what they mean.

        Raises:
            NotImplementedError: the world has no barriers, or none with its options.
            ActionError: actions of another shape.
        """
        if not self.barrier_count:
            options = " with these options" if self.world.barriers else ""
            raise NotImplementedError(f"{self.world.name} has no barriers{options}")
        proposals, wanted = self._numbers_in(actions), self.proposal_shape
        if proposals.shape != wanted:
            raise ActionError(
                f"{self.world.name}: proposed actions of shape {proposals.shape} were given; needed: {wanted}"
            )
        if self._barriers is None:
            self._make_barriers()
        self._proposals[...] = proposals.swapaxes(0, 1) if self.world.agents else proposals
        if believed is None:
            self._fill_barriers()
            return self._found_barriers
        blocks = self._blocks  # those of the worlds' own parameters stay good
        self._point("param_rows", believed)
        self._fill_barriers()
        self._point("param_rows", self.param_rows)
        self._blocks = blocks
        return self._found_barriers

    def _make_barriers(self) -> None:
        """Room for what `barriers` returns, the agents one after the other."""
        self._barriers = np.zeros((self.agents, self.num_worlds), self._arrays["barrier"].dtype(self._sizes))
        self._proposals = np.zeros((*self._barriers.shape, self.setup.action_size))
        if self.world.agents:
            self._barriers["agent"] = np.arange(self.agents)[:, None]
        self._found_barriers = self._barriers.T if self.world.agents else self._barriers[0]

    def _fill_barriers(self) -> None:
        assert self._barriers is not None
        for barriers, proposals in zip(self._barriers, self._proposals, strict=True):
            self._point("barrier", barriers)
            self._point("proposal", proposals)
            self._run_entry(self._driver.bar_worlds)

    # --- snapshots ----------------------------------------------------------------------------------------------------

    def get_state(self, index: int = 0) -> Snapshot:
        """A copy of one world, exact to the bit.

        Raises:
            IndexError: there is no such world.
        """
        index = int(self._worlds(index)[0])
        params = self.param_rows[index if len(self.param_rows) > 1 else 0]
        return Snapshot.of(self.setup.fingerprint, self.states[index].tobytes(), params.tobytes())

    def set_state(self, snapshot: Snapshot, index: int | slice = 0) -> None:
        """Put a world (or a slice of worlds) back to a snapshot, its parameters, time limit and reward weights among
        it, and observe it again.

        Raises:
            SnapshotError: the snapshot was damaged, belongs to another environment, to other sizes or to other options,
                or holds numbers that the world never has. Nothing is changed then.
            IndexError: there is no such world.
        """
        worlds = self._worlds(index)
        row = self.check_snapshot(snapshot, len(worlds))
        if len(self.param_rows) > 1 or self.param_rows.tobytes() != row.tobytes():
            self.own_params()[worlds] = row
        self.states[worlds] = np.frombuffer(snapshot.state, self.states.dtype)[0]
        self._all_seeded = False
        self.refresh(worlds)

    def refresh(self, worlds: np.ndarray) -> None:
        """Observe worlds, given by their indices, again, after their states were set from outside; the outcome of the
        last step is cleared."""
        for array in (self.results.view(np.uint8).reshape(self.num_worlds, -1), self.rewards, self.costs):
            array[worlds] = 0
        for array in (self.reward_vectors, self.terminated, self.truncated):
            array[worlds] = 0
        for start, stop in neighbours(worlds):
            self.observe(start, stop)
        if self.totals is not None:
            self.totals.forget(worlds)

    def observe(self, start: int = 0, stop: int | None = None) -> None:
        """Write the observations and masks of the worlds start ... stop - 1 again, of all by default; what came of the
        last step stays."""
        self._driver.run_worlds(self._address, start, self.num_worlds if stop is None else stop, OBSERVE)

    def _worlds(self, index: int | slice) -> np.ndarray:
        """The ascending indices of some worlds."""
        everyone = np.arange(self.num_worlds)
        if isinstance(index, slice):
            return np.sort(everyone[index])
        return everyone[[operator.index(index)]]

    def check_snapshot(self, snapshot: Any, worlds: int = 1) -> Any:
        """SnapshotError unless a snapshot fits so many worlds of this batch; its record of parameters."""
        return checked_snapshot(self, snapshot, worlds)

    def records(self, index: int) -> tuple[Any, Any]:
        """Parameters and state of one world as records, for drawing and debugging. They are live, not copies."""
        return self.param_rows[index if len(self.param_rows) > 1 else 0], self.states[index]

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
        for name, rows in {"plan_action": actions, "plan_reward": rewards, "plan_cost": costs}.items():
            self._point(name, rows)
        self._record[0]["plan_steps"] = steps
        self._run(ROLL)
        return rewards, costs

    def arrays(self) -> dict[str, np.ndarray]:
        """All that decides how the worlds go on, exact to the bit: their arrays as bytes, by name; for `restore`."""
        return {name: np.frombuffer(getattr(self, name).tobytes(), np.uint8) for name in self._kept}

    def restore(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Put all worlds where those of another batch of the same setup and size were.

        Args:
            arrays: what `arrays` gave.

        Raises:
            SnapshotError: arrays of another size, or no states of this world; nothing has changed then.
        """
        found = {}
        for name in self._kept:
            own, given = getattr(self, name), arrays.get(name)
            rows = (
                (1, self.num_worlds) if name == "param_rows" else (len(own),)
            )  # parameters: one row, or one per world
            if given is None or len(given) not in [own.nbytes // max(len(own), 1) * count for count in rows]:
                raise SnapshotError(f"{self.world.name}: the arrays are of other worlds, or of another number of them")
            array = np.frombuffer(bytearray(given), own.dtype)
            found[name] = array if name == "param_rows" else array.reshape(own.shape)
        check_states(self.setup, found["states"], found["param_rows"])
        plain = self.__getstate__()["plain"]
        self.close()
        self.__setstate__({"plain": plain, "arrays": found})

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
        return {"plain": plain, "arrays": {name: getattr(self, name).copy() for name in self._kept}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state["plain"])
        self._driver = build.driver(self.setup, self.backend, self.moved_by_engine)
        self._start_trials()
        self._allocate_or_refuse()
        for name, array in state["arrays"].items():
            if name == "param_rows":  # one row, or one per world
                self.param_rows = array
            else:
                getattr(self, name)[...] = array
        self._bind()
        self._open()

    def digest(self) -> str:
        """A hash of all states, for golden tests."""
        return hashlib.sha256(self.states.tobytes()).hexdigest()[:16]


def neighbours(worlds: np.ndarray) -> Iterator[tuple[int, int]]:
    """The runs of consecutive numbers in ascending indices: first of each, and the one after its last."""
    if len(worlds):
        for run in np.split(worlds, np.flatnonzero(np.diff(worlds) > 1) + 1):
            yield int(run[0]), int(run[-1]) + 1
