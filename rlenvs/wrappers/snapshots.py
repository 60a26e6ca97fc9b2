"""Episodes that begin at snapshots of a teacher, and what wrappers that set states share."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rlenvs.core.batch.kernel_batch import KernelBatch
from rlenvs.core.compiler.loops import compiled
from rlenvs.core.declare.errors import ParameterError, SnapshotError
from rlenvs.core.declare.ranges import check_states
from rlenvs.core.declare.renamed import renamed
from rlenvs.wrappers.banks import SnapshotBuffer, circumstances, classes_of
from rlenvs.wrappers.masked import put
from rlenvs.wrappers.randomness import bits_at, uniform_of
from rlenvs.wrappers.slots import stranger_on
from rlenvs.wrappers.wrapper import Wrapper

# --- what the wrappers share ------------------------------------------------------------------------------------------


def check_bottom(wrapper: Wrapper) -> KernelBatch:
    """The batch whose states a wrapper sets.

    Raises:
        ParameterError: not a world of this package, or something between it and the wrapper.
    """
    name = type(wrapper).__name__
    if wrapper.batch is None:
        raise ParameterError(f"{name}: {wrapper.name} is not a world of this package, so its state cannot be set")
    if wrapper.depth > 0:
        raise ParameterError(f"{name} sets the state of the world and must be the innermost wrapper")
    stranger = stranger_on(wrapper.env)
    if stranger is not None:
        raise ParameterError(
            f"{name} sets the state of the world; put it below {type(stranger).__name__}, which would not notice it"
        )
    return wrapper.batch


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


# --- episodes from a teacher's snapshots ------------------------------------------------------------------------------


@renamed
@dataclass
class SnapshotReset(Wrapper):
    """Start episodes from stored snapshots instead of the initial state distribution.

    After Snapshot RL and S3RL (Zhao et al., arXiv 2403.00673): only `reset` is changed. With `clusters` snapshots are
    drawn evenly over classes of states, so that what a teacher saw seldom is not seldom ("status classification"); with
    `max_steps` episodes from snapshots are short, so that more are visited ("student trajectory truncation"). Evaluate
    without this wrapper.

    The time limit goes on from the snapshot: an episode from step 30 of a teacher has `horizon` - 30 steps left.
    Snapshots at or behind the time limit, and in single-agent forms those without the first agent, are left out. The
    world keeps its own parameters. A world of several agents goes back as a whole. Must be the first wrapper.

    Args:
        bank: a `SnapshotBuffer` (of `rlenvs.collect_snapshots`, for example), a list of snapshots, or the path of a
            file that `SnapshotBuffer.save` wrote.
        probability: of beginning an episode at a snapshot, in [0, 1].
        clusters: classes of observations, by k-means, from which snapshots are drawn evenly; 0 draws evenly from all.
        max_steps: steps after which an episode from a snapshot is truncated; None for the time limit alone.
        disable_after_steps: steps that a slot makes in total before all its resets are plain; None for never.
        restore_rng: the world goes on with the random numbers of the teacher; otherwise with new ones.

    Info: "from_snapshot", bool.

    Raises:
        ParameterError: a setting out of range; more clusters than snapshots; snapshots of another world, of ended
            episodes, or none to use; `restore_rng` with other parameters than those of the bank; not the first
            wrapper; no file of snapshots.
    """

    bank: Any
    probability: float = 1.0
    clusters: int = 0
    max_steps: int | None = None
    disable_after_steps: int | None = None
    restore_rng: bool = False

    def prepare(self) -> None:
        self.check_number("probability", 0.0, 1.0)
        self.check_whole("clusters")
        for name in ("max_steps", "disable_after_steps"):
            if getattr(self, name) is not None:
                self.check_whole(name, 1)
        batch = check_bottom(self)
        self._states = self._check(self._find_bank(), batch)
        self._sort()
        self.allocate("from_snapshot", dtype=np.bool_)
        if self.disable_after_steps is not None:
            self.made = self.allocate("made", dtype=np.int64)
        if self.max_steps is not None:
            self.allocate("truncated", dtype=np.bool_)
        self._words = np.zeros((batch.num_envs, 4 if batch.world.players else 2), np.uint64)
        self._chosen = np.zeros(batch.num_envs, np.int64)

    def _find_bank(self) -> SnapshotBuffer:
        try:
            if isinstance(self.bank, (str, Path)):
                return SnapshotBuffer.load(self.bank)
            if isinstance(self.bank, (list, tuple)):
                self.bank = SnapshotBuffer.of(self.bank)
        except SnapshotError as error:
            raise ParameterError(f"SnapshotReset: bank: {error}") from error
        if not isinstance(self.bank, SnapshotBuffer):
            raise self.setting_error("bank", "must be a SnapshotBuffer, a list of snapshots, or the path of a file")
        return self.bank

    def _check(self, bank: SnapshotBuffer, batch: KernelBatch) -> np.ndarray:
        """The state records of a bank from which an episode can go on here."""
        if bank.world != batch.setup.fingerprint or (
            bank.states.shape[1],
            bank.params.shape[1],
        ) != (batch.states.itemsize, batch.param_rows.itemsize):
            raise self.setting_error("bank", f"does not fit {batch.setup.fingerprint}")
        if self.restore_rng and circumstances(bank.params.view(batch.param_rows.dtype)[:, 0]) != circumstances(
            batch.param_rows
        ):
            raise self.setting_error(
                "restore_rng", "requires a world with the same parameters and options as the snapshots"
            )
        states = bank.states.view(batch.states.dtype)[:, 0]
        try:
            check_states(batch.setup, states, bank.params.view(batch.param_rows.dtype)[:, 0])
        except SnapshotError as error:
            raise self.setting_error("bank", f"cannot be used: {error}") from error
        if states["over"].any():
            raise self.setting_error("bank", "contains snapshots of finished episodes; remove those")
        horizon = batch.setup.horizon
        usable = states["elapsed"] < horizon
        if not usable.any():
            raise self.setting_error(
                "bank", f"contains no snapshot from before step {horizon}, at which episodes end here"
            )
        if self.agents == 1:
            usable &= states["alive"][:, 0]
            if not usable.any():
                raise self.setting_error(
                    "bank", f"contains no snapshot in which the first agent of {self.name} is alive"
                )
        return states[usable]

    def _sort(self) -> None:
        """The snapshots in the order of their classes."""
        count = len(self._states)
        if self.clusters > count:
            raise self.setting_error("clusters", f"is more than the {count} usable snapshots")
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
            batch.states[0] = state
            batch.sync_from_state(np.zeros(1, np.int64))
            seen.append(batch.observations[0].ravel().astype(np.float64))
        self.below.set_state(before, 0)
        return np.array(seen)

    def begin_episode(self, slots: np.ndarray) -> None:
        batch, agents = self.batch, self.agents
        asked, keys = slots[::agents], self.key[::agents]
        if self.disable_after_steps is not None:
            asked = asked & (self.made.reshape(-1, agents).max(axis=1) < self.disable_after_steps)
        choose_snapshots(
            keys, asked, self.probability, self._starts, self._sizes, self._order, self._chosen, self._words
        )
        begun = self._chosen >= 0
        worlds = np.flatnonzero(begun)
        begun = np.repeat(begun, agents) if agents > 1 else begun
        put(self.from_snapshot, begun, slots)
        if not len(worlds):
            return
        bytes_of(batch.states)[worlds] = bytes_of(self._states)[self._chosen[worlds]]
        if not self.restore_rng:
            batch.states["rng"][worlds] = self._words[worlds, :2]
            if batch.world.players:
                batch.states["players_rng"][worlds] = self._words[worlds, 2:]
        self.below.refresh_observation(begun)

    def after_step(self, slots: np.ndarray) -> None:
        if self.disable_after_steps is not None:
            self.made += slots
        if self.max_steps is not None:
            cut = self.below.truncated | (self.from_snapshot & (self.time >= self.max_steps))
            put(self.truncated, cut, slots)

    def entries(self) -> dict[str, Any]:
        return {"from_snapshot": self.from_snapshot}
