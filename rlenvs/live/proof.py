"""What a page has to compute to show that it plays as Python does: an episode's steps, and a hash of all they give."""

from __future__ import annotations

import hashlib
from typing import Any

from rlenvs.agents.evaluate import chooser
from rlenvs.core.batch.kernel_batch import KernelBatch
from rlenvs.core.declare.spec import World

SEED, STEPS = 0, 300
# the arrays that are hashed after each step, in this order
HASHED = (
    *("states", "observations", "_images", "masks", "results"),
    *("rewards", "costs", "terminated", "truncated", "reward_vectors"),
)


def proof_of(batch: KernelBatch) -> dict[str, Any]:
    """Steps of a world, with autoreset, and a hash of its arrays.

    Args:
        batch: of one world, with its usual values.

    Returns:
        seed: of world and policy; steps: how many; policy: "expert", or "random" where no kernel is an expert; hash:
        SHA-256 of HASHED after the reset and after each step, in hexadecimal digits.
    """
    policy = "expert" if has_kernel_expert(batch.world) else "random"
    batch.seed(SEED)
    batch.reset()
    choose, digest = chooser(batch, policy, [SEED]), hashlib.sha256()
    _add(digest, batch)
    for _ in range(STEPS):
        batch.step(choose())
        _add(digest, batch)
    return {"seed": SEED, "steps": STEPS, "policy": policy, "hash": digest.hexdigest()}


def has_kernel_expert(world: World) -> bool:
    """Whether compiled code chooses the expert's actions."""
    return "python_expert" not in world.kernels and ("expert" in world.kernels or bool(world.players))


def _add(digest: Any, batch: KernelBatch) -> None:
    rows = batch.loops.table.rows
    for name in HASHED:
        digest.update(rows[name].tobytes())
