"""The info dictionaries, from a batch: the same keys on reset and on every step."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlenvs.core.batch import KernelBatch

FLOAT32 = np.dtype(np.float32)  # made once: astype is twice as fast with it as with np.float32


class InfoKeys:
    """The names under which a world's terms and costs appear in info."""

    def __init__(self, batch: KernelBatch, vector_reward: bool) -> None:
        world = batch.world
        self.terms = tuple([f"reward_{name}" for name in world.terms] + [f"cost_{name}" for name in world.costs])
        self.rewards = len(world.terms)
        self.has_costs = bool(world.costs)
        self.has_mask = "mask" in world.kernels
        self.vector_reward = vector_reward
        self.leading = (*self.terms, "is_success", *(["cost"] if world.costs else []))

    def first(self, batch: KernelBatch, outcome: tuple[Any, ...]) -> dict[str, Any]:
        """`one` for the first agent of the first world, from `First.outcome`: a single step is short."""
        info: dict[str, Any] = dict(zip(self.leading, outcome))  # noqa: B905 (the outcome is longer)
        info["reward_vector"] = batch.first.reward_terms.astype(FLOAT32)
        if self.has_mask:
            info["action_mask"] = batch.first.mask.copy()
        return info

    def one(self, batch: KernelBatch, index: int, agent: int) -> dict[str, Any]:
        """The info of one agent of one world, in plain Python numbers and fresh arrays."""
        values = batch.terms[index, :, agent]
        info: dict[str, Any] = dict(zip(self.terms, values.tolist(), strict=True))
        info["is_success"] = batch.success.item(index, agent)
        info["reward_vector"] = values[: self.rewards].astype(FLOAT32)
        if self.has_costs:
            info["cost"] = batch.costs.item(index, agent)
        if self.has_mask:
            info["action_mask"] = batch.masks[index, agent].copy()
        return info

    def all(
        self, terms: np.ndarray, success: np.ndarray, costs: np.ndarray, masks: np.ndarray, copy: bool
    ) -> dict[str, Any]:
        """The infos of the first agents of all worlds, as arrays."""
        columns = terms[:, :, 0].T
        if copy:
            columns, success, costs = columns.copy(), success.copy(), costs.copy()
        infos: dict[str, Any] = dict(zip(self.terms, columns, strict=True))
        infos["is_success"] = success[:, 0]
        infos["reward_vector"] = columns[: self.rewards].T.astype(FLOAT32)
        if self.has_costs:
            infos["cost"] = costs[:, 0]
        if self.has_mask:
            infos["action_mask"] = masks[:, 0].copy() if copy else masks[:, 0]
        return infos
