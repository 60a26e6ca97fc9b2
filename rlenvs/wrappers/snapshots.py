"""Where episodes begin: at snapshots of a teacher, where a guide leads, or where the last one ended."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from rlenvs.core.batch import KernelBatch, Snapshot
from rlenvs.core.cache import compiled
from rlenvs.core.errors import ParameterError, SnapshotError
from rlenvs.wrappers.forms import check_actions
from rlenvs.wrappers.layer import Layer
from rlenvs.wrappers.masked import put
from rlenvs.wrappers.randomness import bits_at, uniform_of
from rlenvs.wrappers.rows import stranger_on

FORMAT = "rlenvs snapshots 1"
ITERATIONS = 100  # of k-means, which ends before when nothing changes
TRIES = 5  # episodes that a guide may end before the learner gets one from its beginning


# --- banks of snapshots -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class Bank:
    """Snapshots of one world, as a setting of `SnapshotReset` and as a file.

    Attributes:
        world: the fingerprint that all snapshots have.
        states, params: uint8 (number of snapshots, bytes).
        checksums: int64 (number of snapshots,).
    """

    world: str
    states: np.ndarray
    params: np.ndarray
    checksums: np.ndarray

    @classmethod
    def of(cls, snapshots: Iterable[Snapshot]) -> Bank:
        """A bank of snapshots, as `get_state` gives them.

        Raises:
            SnapshotError: none, a damaged one, or not all of one world.
        """
        snapshots = list(snapshots)
        if not snapshots or not all(isinstance(snapshot, Snapshot) for snapshot in snapshots):
            raise SnapshotError("a bank wants at least one snapshot, and snapshots only, as `get_state` gives them")
        if not all(snapshot.is_whole for snapshot in snapshots):
            raise SnapshotError("a snapshot is damaged: it is not what `get_state` gave")
        worlds = {snapshot.world for snapshot in snapshots}
        if len(worlds) > 1:
            raise SnapshotError(f"a bank wants snapshots of one world, not of {sorted(worlds)}")
        states, params = ([getattr(snapshot, part) for snapshot in snapshots] for part in ("state", "params"))
        checksums = np.array([snapshot.checksum for snapshot in snapshots])
        return cls(worlds.pop(), _matrix(states), _matrix(params), checksums)

    def save(self, path: str | Path) -> None:
        """Write a compressed .npz file, which holds arrays only."""
        with open(path, "wb") as file:
            np.savez_compressed(
                file,
                format=np.array(FORMAT),
                world=np.array(self.world),
                states=self.states,
                params=self.params,
                checksums=self.checksums,
            )

    @classmethod
    def load(cls, path: str | Path) -> Bank:
        """Read a file. Loading runs no code from it, and a damaged file is refused; but a state that somebody made up
        is taken as it is: use files you trust.

        Raises:
            SnapshotError: no file, or none that `save` wrote.
        """
        try:
            with np.load(path, allow_pickle=False) as file:
                if str(file["format"]) != FORMAT:
                    raise SnapshotError(f"{path} has the format {file['format']}; this package reads {FORMAT!r}")
                bank = cls(str(file["world"]), file["states"], file["params"], file["checksums"])
        except (OSError, EOFError, KeyError, TypeError, ValueError, AttributeError, zipfile.BadZipFile) as error:
            if isinstance(error, SnapshotError):
                raise
            raise SnapshotError(f"{path} is no file of snapshots ({error}); `Bank.save` writes them") from None
        arrays = (bank.states, bank.params, bank.checksums)
        kinds, counts = [(array.dtype, array.ndim) for array in arrays], {len(array) for array in arrays}
        if kinds != [(np.uint8, 2)] * 2 + [(np.int64, 1)] or len(counts) > 1 or not len(bank):
            raise SnapshotError(f"{path} is no file of snapshots; `Bank.save` writes them")
        if not all(snapshot.is_whole for snapshot in bank):
            raise SnapshotError(f"{path} is damaged")
        return bank

    def __len__(self) -> int:
        return len(self.states)

    def __getitem__(self, index: int) -> Snapshot:
        state, params = self.states[index].tobytes(), self.params[index].tobytes()
        return Snapshot(self.world, state, params, int(self.checksums[index]))

    def __iter__(self) -> Iterator[Snapshot]:
        return (self[i] for i in range(len(self)))

    def __deepcopy__(self, memo: Any) -> Bank:
        return self  # nothing changes it, and layers are copied often

    def __repr__(self) -> str:
        return f"<Bank: {len(self)} snapshots of {self.world}>"


def _circumstances(params: np.ndarray) -> set[bytes]:
    """What decides how the worlds of some records of parameters move; not when an episode ends, or what it pays."""
    names = [name for name in params.dtype.names or () if name not in ("horizon", "weights")]
    return {b"".join(row[name].tobytes() for name in names) for row in params}


def _matrix(rows: list[bytes]) -> np.ndarray:
    if len({len(row) for row in rows}) > 1:
        raise SnapshotError("the snapshots differ in length; they are not of one world")
    return np.frombuffer(b"".join(rows), np.uint8).reshape(len(rows), -1)


def classes_of(points: np.ndarray, count: int) -> np.ndarray:
    """k-means, begun as k-means++ does (Arthur and Vassilvitskii, SODA 2007), on columns of unit variance.

    Args:
        points: (n, numbers).
        count: classes, 1 ... n.

    Returns:
        the class of every point, int64 (n,); the same ones for the same points. Equal points leave classes empty.
    """
    rng = np.random.default_rng(0)
    spread = points.std(axis=0)
    points = points[:, spread > 0] / spread[spread > 0]
    centres = points[[rng.integers(len(points))]]
    for _ in range(count - 1):
        weights = _squares(points, centres).min(axis=1)
        total = weights.sum()
        chosen = rng.choice(len(points), p=weights / total) if total > 0 else 0
        centres = np.vstack([centres, points[chosen]])
    found = np.full(len(points), -1)
    for _ in range(ITERATIONS):
        before, found = found, _squares(points, centres).argmin(axis=1)
        if np.array_equal(before, found):
            break
        for k in np.unique(found):
            centres[k] = points[found == k].mean(axis=0)
    return found


def _squares(points: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """Squared distances, (points, centres)."""
    return np.stack([((points - centre) ** 2).sum(axis=1) for centre in centres], axis=1)


# --- what the layers share --------------------------------------------------------------------------------------------


def check_bottom(layer: Layer) -> KernelBatch:
    """The batch whose states a layer sets.

    Raises:
        ParameterError: not a world of this package, or something between it and the layer.
    """
    name = type(layer).__name__
    if layer.batch is None:
        raise ParameterError(f"{name}: {layer.name} is not a world of this package, and its state cannot be set")
    if layer.depth > 0:
        raise ParameterError(
            f"{name} sets the state of the world and must be the first layer, right on the environment"
        )
    stranger = stranger_on(layer.env)
    if stranger is not None:
        raise ParameterError(
            f"{name} sets the state of the world; put it below {type(stranger).__name__}, which would not know of it"
        )
    return layer.batch


def bytes_of(records: np.ndarray) -> np.ndarray:
    """Records as pieces of memory, (n,), which are copied many times faster than field by field."""
    return records.view(f"V{records.dtype.itemsize}")


@compiled(nogil=True)
def choose_snapshots(keys, asked, probability, starts, sizes, order, chosen, words):
    """Per world: the snapshot at which the episode begins, or -1, and what seeds the world's generators."""
    for i in range(keys.size):
        chosen[i] = -1
        if asked[i] and uniform_of(bits_at(keys[i], 0, 0)) < probability:
            k = int(uniform_of(bits_at(keys[i], 0, 1)) * starts.size)
            chosen[i] = order[starts[k] + int(uniform_of(bits_at(keys[i], 0, 2)) * sizes[k])]
            for j in range(words.shape[1]):
                words[i, j] = bits_at(keys[i], 0, 3 + j) | np.uint64(1)


@compiled(nogil=True)
def draw_lengths(keys, most, lengths):
    """Per world, uniform in 0 ... most."""
    for i in range(keys.size):
        lengths[i] = int(uniform_of(bits_at(keys[i], 0, 0)) * (most + 1))


# --- episodes from a teacher's snapshots ------------------------------------------------------------------------------


@dataclass
class SnapshotReset(Layer):
    """Episodes that begin at stored snapshots instead of the world's initial distribution.

    After Snapshot RL and S3RL (Zhao et al., arXiv 2403.00673): only `reset` is changed. With `clusters` snapshots are
    drawn evenly over classes of states, so that what a teacher saw seldom is not seldom ("status classification"); with
    `cut` episodes from snapshots are short, so that more are visited ("student trajectory truncation"). Evaluate
    without this layer.

    The time limit goes on from the snapshot: an episode from step 30 of a teacher has `horizon` - 30 steps left.
    Snapshots at or behind the time limit, and in single-agent forms those without the first agent, are left out. The
    world keeps its own parameters. A world of several agents goes back as a whole. Must be the first layer.

    Args:
        bank: a `Bank` (of `rlenvs.collect_snapshots`, for example), a list of snapshots, or the path of a file that
            `Bank.save` wrote.
        probability: of beginning an episode at a snapshot, in [0, 1].
        clusters: classes of observations, by k-means, from which snapshots are drawn evenly; 0 draws evenly from all.
        cut: steps after which an episode from a snapshot is truncated; None for the time limit alone.
        until: steps that a row makes in total before all its resets are plain; None for never.
        exact: the world goes on with the random numbers of the teacher; otherwise with new ones.

    Info: "from_snapshot", bool.

    Raises:
        ParameterError: a setting out of range; more clusters than snapshots; snapshots of another world, of ended
            episodes, or none to use; `exact` with other parameters than those of the bank; not the first
            layer; no file of snapshots.
    """

    bank: Any
    probability: float = 1.0
    clusters: int = 0
    cut: int | None = None
    until: int | None = None
    exact: bool = False

    def prepare(self) -> None:
        self.check_number("probability", 0.0, 1.0)
        self.check_whole("clusters")
        for name in ("cut", "until"):
            if getattr(self, name) is not None:
                self.check_whole(name, 1)
        batch = check_bottom(self)
        self._states = self._check(self._find_bank(), batch)
        self._sort()
        self.keep("from_snapshot", dtype=np.bool_)
        if self.until is not None:
            self.made = self.keep("made", dtype=np.int64)
        if self.cut is not None:
            self.keep("truncated", dtype=np.bool_)
        self._words = np.zeros((batch.num_worlds, 4 if batch.world.players else 2), np.uint64)
        self._chosen = np.zeros(batch.num_worlds, np.int64)

    def _find_bank(self) -> Bank:
        try:
            if isinstance(self.bank, (str, Path)):
                return Bank.load(self.bank)
            if isinstance(self.bank, (list, tuple)):
                self.bank = Bank.of(self.bank)
        except SnapshotError as error:
            raise ParameterError(f"SnapshotReset: bank: {error}") from error
        if not isinstance(self.bank, Bank):
            raise self.refuse("bank", "must be a Bank, a list of snapshots, or the path of a file")
        return self.bank

    def _check(self, bank: Bank, batch: KernelBatch) -> np.ndarray:
        """The state records of a bank from which an episode can go on here."""
        if bank.world != batch.setup.fingerprint or (
            bank.states.shape[1],
            bank.params.shape[1],
        ) != (batch._states.itemsize, batch._params.itemsize):
            raise self.refuse("bank", f"does not fit {batch.setup.fingerprint}")
        if self.exact and _circumstances(bank.params.view(batch._params.dtype)[:, 0]) != _circumstances(batch._params):
            raise self.refuse("exact", "wants a world with the very parameters and options of the snapshots")
        states = bank.states.view(batch._states.dtype)[:, 0]
        if states["over"].any():
            raise self.refuse("bank", "holds snapshots of episodes that have ended; leave those out")
        horizon = batch.setup.horizon
        usable = states["elapsed"] < horizon
        if not usable.any():
            raise self.refuse("bank", f"holds no snapshot of a step before {horizon}, at which episodes end here")
        if self.agents == 1:
            usable &= states["alive"][:, 0]
            if not usable.any():
                raise self.refuse("bank", f"holds no snapshot in which the first agent of {self.name} is alive")
        return states[usable]

    def _sort(self) -> None:
        """The snapshots in the order of their classes."""
        count = len(self._states)
        if self.clusters > count:
            raise self.refuse("clusters", f"is more than the {count} snapshots that can be used")
        classes = np.zeros(count, np.int64)
        if self.clusters:
            classes = classes_of(self._observations(), self.clusters)
        self._order = np.argsort(classes, kind="stable")
        _, self._starts, self._sizes = np.unique(classes[self._order], return_index=True, return_counts=True)

    def _observations(self) -> np.ndarray:
        """What all agents see in the snapshots, (snapshots, numbers)."""
        batch, before = self.batch, self.below.get_state(0)
        seen = []
        for state in self._states:
            batch._states[0] = state
            batch.refresh(np.zeros(1, np.int64))
            seen.append(batch.observations[0].ravel().astype(np.float64))
        self.below.set_state(before, 0)
        return np.array(seen)

    def begin(self, rows: np.ndarray) -> None:
        batch, agents = self.batch, self.agents
        asked, keys = rows[::agents], self.key[::agents]
        if self.until is not None:
            asked = asked & (self.made.reshape(-1, agents).max(axis=1) < self.until)
        choose_snapshots(
            keys, asked, self.probability, self._starts, self._sizes, self._order, self._chosen, self._words
        )
        begun = self._chosen >= 0
        worlds = np.flatnonzero(begun)
        begun = np.repeat(begun, agents) if agents > 1 else begun
        put(self.from_snapshot, begun, rows)
        if not len(worlds):
            return
        bytes_of(batch._states)[worlds] = bytes_of(self._states)[self._chosen[worlds]]
        if not self.exact:
            batch._states["rng"][worlds] = self._words[worlds, :2]
            if batch.world.players:
                batch._states["players_rng"][worlds] = self._words[worlds, 2:]
        self.below.look_again(begun)

    def after(self, rows: np.ndarray) -> None:
        if self.until is not None:
            self.made += rows
        if self.cut is not None:
            cut = self.below.truncated | (self.from_snapshot & (self.time >= self.cut))
            put(self.truncated, cut, rows)

    def told(self) -> dict[str, Any]:
        return {"from_snapshot": self.from_snapshot}


# --- episodes that a guide begins -------------------------------------------------------------------------------------


@dataclass
class JumpStart(Layer):
    """A guide acts first: episodes of the learner begin where `steps` steps of the guide have led.

    After Jump-Start RL (Uchendu et al., arXiv 2204.02372). The guide acts inside `reset`: its rewards and costs are
    nobody's, its steps count for the time limit. Where it ends the episode a new one begins, up to 5 times; then the
    learner gets an episode from its start. `steps` may be changed while training, `env.layers[i].steps = 20`, for
    all episodes that begin afterwards; `GuideCurriculum` says when.

    Args:
        guide: "expert" (the scripted one), the name of one of the world's scripted players, or a function (or its
            address "module:name") from the observations of all rows, (rows, ...), to their actions, (rows, ...).
        steps: h, at least 0 and less than the time limit.
        random: draw h anew for each episode, uniform in 0 ... `steps`.

    Info: "guide_steps", int: the steps that the guide made in this episode.

    Raises:
        ParameterError: no such guide, steps beyond the time limit, or a layer below with other actions than those that
            the scripted guide gives.
        ActionError: the function's actions do not fit.
    """

    guide: Any = "expert"
    steps: int = 0
    random: bool = False

    def prepare(self) -> None:
        most = self.batch.setup.horizon - 1 if self.batch is not None else np.inf
        self.check_whole("steps", 0, most)
        if not isinstance(self.random, bool):
            raise self.refuse("random", "must be True or False")
        self._scripted = isinstance(self.guide, str) and ":" not in self.guide
        if self._scripted:
            self._check_scripted()
        else:
            self._policy, _ = self.function("guide"), self.action_space
        self.guide_steps = self.keep("guide_steps", dtype=np.int64)

    def _check_scripted(self) -> None:
        if self.batch is None:
            raise self.refuse("guide", f"is known in worlds of this package only; give {self.name} a function")
        world = self.batch.world
        self.check_choice("guide", [*(["expert"] if world.has_expert else []), *world.players])
        own = [self.batch.setup.agent_spaces(k)[1] for k in range(self.agents)]
        if own != self.action_spaces:
            raise self.refuse("guide", "acts as the world wants it; put it below the layer that changes the actions")

    def reset(self, rows: np.ndarray, seeds: Sequence[int | None] | None = None, options: Any = None) -> None:
        """Begin episodes, and let the guide act."""
        super().reset(rows, seeds, options)
        self.guide_steps[rows] = 0
        if self.steps == 0:
            return
        lengths = self._lengths()
        waiting = rows.copy()
        for _ in range(TRIES):
            self._play(waiting, lengths)
            waiting = rows & np.repeat(self.below.over.reshape(-1, self.agents).all(axis=1), self.agents)
            if not waiting.any():
                break
            self.below.reset(waiting)
            self.guide_steps[waiting] = 0
        led = rows & (self.guide_steps > 0)
        if led.any():
            self.below.look_again(led)

    def _lengths(self) -> np.ndarray:
        """How long the guide acts in every row; the rows of a world agree."""
        lengths = np.full(self.count // self.agents, self.steps)
        if self.random:
            draw_lengths(self.key[:: self.agents], self.steps, lengths)
        return np.repeat(lengths, self.agents)

    def _play(self, rows: np.ndarray, lengths: np.ndarray) -> None:
        for done in range(int(lengths[rows].max())):
            acting = rows & (lengths > done) & ~self.below.over
            if not acting.any():
                return
            self.below.step(self._actions(acting), acting)
            self.guide_steps += acting

    def _actions(self, rows: np.ndarray) -> np.ndarray:
        """The guide's actions, in the precision of the action space."""
        if not self._scripted:
            found = self._policy(self.below.observation)
            found = check_actions(found, self.action_spaces[0], rows, f"{self.name}, guide")
        else:
            found = self.batch.advise() if self.guide == "expert" else self.batch.play(self.guide)
            found = found.reshape(self.count, -1) if self.agents > 1 else found[:, 0]
            found = found if self.continuous else found[:, 0]
        return found.astype(self.action_spaces[0].dtype)

    def told(self) -> dict[str, Any]:
        return {"guide_steps": self.guide_steps}


@dataclass
class GuideCurriculum:
    """When the guide of `JumpStart` gives way: `steps` follows a falling list (Uchendu et al., arXiv 2204.02372).

    The next entry is taken when the mean of the last `window` evaluations since the last change is at least
    best - tolerance |best|, where best is the highest such mean so far, of the guide itself to begin with. For returns
    above 0 that is the published best (1 - tolerance).

        curriculum = GuideCurriculum([40, 20, 10, 0], guide_return=rlenvs.evaluate(id, "expert").mean)
        env.layers[0].steps = curriculum.update(mean_return_of_an_evaluation)

    Args:
        lengths: whole numbers, falling.
        guide_return: mean return of the guide alone.
        tolerance: beta, in [0, 1).
        window: evaluations per mean, at least 1.

    Attributes:
        steps: the current entry.

    Raises:
        ParameterError: a wrong setting.
    """

    lengths: Sequence[int]
    guide_return: float
    tolerance: float = 0.1
    window: int = 3
    stage: int = field(default=0, init=False)
    recent: list[float] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        lengths = list(self.lengths)
        if not lengths or any(b >= a for a, b in pairwise(lengths)) or lengths[-1] < 0:
            raise ParameterError(f"GuideCurriculum: lengths={lengths} must be whole numbers that fall, at least 0")
        if not 0.0 <= self.tolerance < 1.0:
            raise ParameterError(f"GuideCurriculum: tolerance={self.tolerance!r} must be in [0, 1)")
        if self.window < 1 or not np.isfinite(self.guide_return):
            raise ParameterError(
                f"GuideCurriculum: window={self.window!r} must be at least 1, guide_return={self.guide_return!r} finite"
            )
        self.best = self.guide_return

    @property
    def steps(self) -> int:
        """What `JumpStart.steps` should be now."""
        return self.lengths[self.stage]

    def update(self, evaluation: float) -> int:
        """Take in the mean return of an evaluation of guide and learner together; returns `steps`."""
        self.recent = [*self.recent, float(evaluation)][-self.window :]
        if len(self.recent) == self.window:
            mean = float(np.mean(self.recent))
            passed = mean >= self.best - self.tolerance * abs(self.best)
            self.best = max(self.best, mean)
            if passed and self.stage < len(self.lengths) - 1:
                self.stage += 1
                self.recent = []
        return self.steps


# --- episodes that go on where the last one ended ---------------------------------------------------------------------


@dataclass
class ResetFree(Layer):
    """A world that is not put back: the next episode begins where the last one ended.

    Reset-free, or autonomous, learning alternates two tasks, "forward" and "backward", the second of which undoes the
    first (Eysenbach et al., "Leave no Trace", arXiv 1711.06782; Sharma et al., "Autonomous Reinforcement Learning",
    arXiv 2112.09605). An episode is one phase of one task. `reset` begins the next phase in the present state: the
    clock of the time limit starts anew, all else is as it was.

    A real reset is an intervention. It comes when the world has ended by itself without success (a crash), when its
    engine failed, when `stuck` says so and after `manual_reset_every` steps; the phase after it is a forward one. The
    first reset, and one with a seed, are real as well and set the count to 0; one with options is an intervention.

    Success ends a phase as terminated, with `switch="success"`; the time limit ends it as truncated. A new goal is one
    that the world draws for a fresh start: where it happens to be reached already, its phase ends with the first step.

    Args:
        forward: None for the world's own task, with a new goal in every phase where it has goals; a fixed goal, as
            many numbers as goals have, in their units; or a function (or its address "module:name") from
            observations (rows, ...) to the rewards (rows,) of these and whether they are a success, bool (rows,).
        backward: "home", which is the goal to be where the last real reset began; None for forward phases only; a
            fixed goal; or a function as above. Goals want a world with goals (PandaPush-v0, for example).
        steps: longest phase; None for the world's time limit.
        switch: "success", which ends a phase, or "time", where phases last their steps.
        manual_reset_every: steps between real resets; None for never.
        stuck: a function (or address) from observations (rows, ...) to bool (rows,): nothing can be done any more.

    Info: "phase", 0 forward and 1 backward; "interventions" since the last seed; "steps_since_reset", a real one. The
    usual figure of merit is interventions per 1e5 steps, beside the returns of evaluations with resets.

    Raises:
        ParameterError: goals for a world without goals, or of another length; steps beyond the time limit; a world of
            several agents; not the first layer.
    """

    forward: Any = None
    backward: Any = "home"
    steps: int | None = None
    switch: str = "success"
    manual_reset_every: int | None = None
    stuck: Any = None

    def prepare(self) -> None:
        batch = check_bottom(self)
        if batch.agents > 1:
            raise ParameterError(f"ResetFree: {self.name} has {batch.agents} agents; worlds of one agent are wanted")
        if self.steps is not None:
            self.check_whole("steps", 1, batch.setup.horizon)
        if self.manual_reset_every is not None:
            self.check_whole("manual_reset_every", 1)
        self.check_choice("switch", ("success", "time"))
        self._stuck = None if self.stuck is None else self.function("stuck")
        self._prepare_tasks(batch)
        self.keep("phase", dtype=np.int64)
        self.keep("interventions", dtype=np.int64)
        self.since = self.keep("since", dtype=np.int64)
        self.keep("due", dtype=np.bool_, fill=True)  # the next reset is a real one
        self.keep("terminated", dtype=np.bool_)
        self.keep("truncated", dtype=np.bool_)

    def _prepare_tasks(self, batch: KernelBatch) -> None:
        """Of both phases: the goal, "home", or the function that judges them."""
        self._achieved, self._desired = batch.world.goal or ("", "")
        self._tasks = [self._task("forward"), self._task("backward")]
        if any(callable(task) for task in self._tasks):
            if self.below.reward.ndim > 1:
                raise ParameterError(f"ResetFree: {self.name} has vector rewards; functions give single ones")
            self.keep("reward")
        self.keep("home", (batch.setup.goal_size if self._desired else 0,))

    def _task(self, setting: str) -> Any:
        value = getattr(self, setting)
        if value is None or callable(value):
            return value
        if isinstance(value, str) and ":" in value:
            return self.function(setting)
        if not self._desired:
            raise self.refuse(setting, f"wants a world with goals, and {self.name} has none; give a function")
        if isinstance(value, str):
            if setting == "backward" and value == "home":
                return value
            raise self.refuse(setting, "is no goal, and no function either")
        self.check_number(setting, -np.inf)
        goal = np.asarray(value, np.float64)
        if goal.shape != (self.batch.setup.goal_size,):
            raise self.refuse(setting, f"must be {self.batch.setup.goal_size} numbers")
        return goal

    def reset(self, rows: np.ndarray, seeds: Sequence[int | None] | None = None, options: Any = None) -> None:
        """Begin phases: in the present state, or by a real reset."""
        batch = self.batch
        seeded = rows & [seed is not None for seed in seeds] if seeds is not None else np.zeros_like(rows)
        real = rows & (self.due | seeded | bool(options))
        staying = np.flatnonzero(rows & ~real)
        states = bytes_of(batch._states)[staying].view(batch._states.dtype)
        own = len(batch._params) == batch.num_worlds  # parameters, which a reset may draw anew
        params = batch._params[staying] if own else None
        self.below.reset(rows, seeds, options)  # of all rows: it draws the new goals
        self._start(rows, seeds)
        if len(staying):
            self._resume(states, staying)
            if params is not None:
                batch._params[staying] = params
        self._count(rows, real)
        self._set_goals(rows)
        self.due[rows] = False
        if len(staying) or self._desired:
            self.below.look_again(rows)

    def _resume(self, states: np.ndarray, worlds: np.ndarray) -> None:
        """Put worlds back to states, but at the beginning of an episode, and with what a reset drew for it."""
        live = self.batch._states
        states["elapsed"], states["over"], states["alive"] = 0, False, True
        for name in ("rng", "players_rng") if self.batch.world.players else ("rng",):
            states[name] = live[name][worlds]
        if self._desired:
            move_goals(states, self._desired, live[self._desired][worlds])
        bytes_of(live)[worlds] = bytes_of(states)

    def _count(self, rows: np.ndarray, real: np.ndarray) -> None:
        """Phases and counts; where real resets began is home."""
        self.phase[rows] = (1 - self.phase[rows]) if self._tasks[1] is not None else 0
        self.phase[real] = 0
        self.since[real] = 0
        self.interventions[real] += 1
        self.interventions[rows & (self.episode == 1)] = 0
        if self._desired:
            self.home[real] = self.batch._states[self._achieved][real]

    def _set_goals(self, rows: np.ndarray) -> None:
        """The goals that do not come from a reset."""
        for phase, task in enumerate(self._tasks):
            chosen = np.flatnonzero(rows & (self.phase == phase))
            if len(chosen) and (isinstance(task, (str, np.ndarray))):
                states = self.batch._states[chosen]
                goals = self.home[chosen] if isinstance(task, str) else np.tile(task, (len(chosen), 1))
                move_goals(states, self._desired, goals)
                self.batch._states[chosen] = states

    def after(self, rows: np.ndarray) -> None:
        below = self.below
        success = self._judge(rows)
        broken = below.terminated & ~success
        broken = broken | self.batch.broken
        if self._stuck is not None:
            broken = broken | np.asarray(self._stuck(below.observation), np.bool_)
        self.since += rows
        if self.manual_reset_every is not None:
            broken = broken | (self.since >= self.manual_reset_every)
        late = below.truncated if self.steps is None else below.truncated | (self.time >= self.steps)
        terminated = below.terminated | success if self.switch == "success" else below.terminated
        put(self.due, broken, rows)
        put(self.terminated, terminated, rows)
        put(self.truncated, (late | broken) & ~terminated, rows)

    def _judge(self, rows: np.ndarray) -> np.ndarray:
        """Which rows have reached what their phase is for; the rewards of phases with functions of their own."""
        success = self.batch.success[:, 0].copy()
        if "reward" in self.kept:
            put(self.reward, self.below.reward, rows)
        for phase, task in enumerate(self._tasks):
            here = rows & (self.phase == phase)
            if callable(task) and here.any():
                rewards, reached = task(self.below.observation)
                put(self.reward, np.asarray(rewards), here)
                put(success, np.asarray(reached), here)
        return success

    def told(self) -> dict[str, Any]:
        return {"phase": self.phase, "interventions": self.interventions, "steps_since_reset": self.since}


def move_goals(states: np.ndarray, name: str, goals: np.ndarray) -> None:
    """Give state records other goals, and move the markers in the picture that stood at the old ones."""
    old = states[name].copy()
    states[name] = goals
    if "mocap_pos" in (states.dtype.names or ()) and old.shape[1] % 3 == 0:
        markers = states["mocap_pos"]
        for part in range(0, old.shape[1], 3):
            here = np.abs(markers - old[:, None, part : part + 3]).max(axis=2) < 1e-6
            world, marker = np.nonzero(here)
            markers[world, marker] = states[name][world, part : part + 3]
