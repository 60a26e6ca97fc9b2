"""What the last step of a batch's worlds came to, and snapshots of that: parts (snapshot, outcome, form, what the form
was told) of the stages at the bottom."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlenvs.core.batch.kernel_batch import KernelBatch
from rlenvs.core.declare.errors import SnapshotError

OUTCOME = ("results", "rewards", "costs", "reward_vectors", "terminated", "truncated")  # what the last step came to


def outcome_of(batch: KernelBatch | None, world: int) -> list[np.ndarray] | None:
    """What the last step of a world came to, which its snapshot does not hold; None for other packages' worlds."""
    return None if batch is None else [getattr(batch, name)[world].copy() for name in OUTCOME]


def put_outcome(batch: KernelBatch | None, world: int, outcome: list[np.ndarray] | None) -> None:
    """Write it back."""
    for name, value in zip(OUTCOME, outcome or (), strict=False):
        getattr(batch, name)[world] = value


def check_part(stage: Any, part: Any) -> None:
    """SnapshotError unless a part fits a stage."""
    name, batch = stage.name, stage.batch
    if not isinstance(part, tuple) or len(part) != 4:
        raise SnapshotError(f"{name}: the environment's part of the snapshot is damaged")
    snapshot, outcome, form, _ = part
    if batch is None:
        if form != stage.form:
            raise SnapshotError(f"{name}: a snapshot of the {form} form does not match the {stage.form} form here")
        return
    batch.check_snapshot(snapshot)
    own = outcome_of(batch, 0) or []
    if not isinstance(outcome, list) or [getattr(array, "dtype", None) for array in outcome] != [
        array.dtype for array in own
    ]:
        raise SnapshotError(f"{name}: the outcome of the last step in this snapshot is damaged")
    if [array.shape for array in outcome] != [array.shape for array in own]:
        raise SnapshotError(f"{name}: the outcome of the last step in this snapshot has a different size")


def came_to(batch: KernelBatch) -> dict[str, np.ndarray]:
    """What the last step came to for the first agents of a batch's worlds: the batch's own arrays (worlds, ...)."""
    return {
        "terms": batch.terms[:, :, 0],
        "cost": batch.costs[:, 0],
        "reward_vector": batch.reward_vectors[:, 0],
        "success": batch.success[:, 0],
        "failures": batch.failures,
    }
