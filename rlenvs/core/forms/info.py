"""The info dictionaries, from a batch: the same keys on reset and on every step.

Only `simulation_error`, a text, is there where an episode was broken off, and nowhere else.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from rlenvs.core.batch.kernel_batch import KernelBatch


class InfoKeys:
    """The names under which a world's terms and costs appear in info."""

    def __init__(self, batch: KernelBatch) -> None:
        world = batch.world
        self.terms = tuple([f"reward_{name}" for name in world.terms] + [f"cost_{name}" for name in world.costs])
        self.rewards = len(world.terms)
        self.has_costs = bool(world.costs)
        self.has_mask = "mask" in world.kernels
        self.choices = batch.setup.mask_lengths[0]  # of the first agent
        self.leading = (*self.terms, "is_success", *(["cost"] if world.costs else []))

    def reader(
        self, batch: KernelBatch, observe: Callable[[], Any], vector_reward: bool
    ) -> Callable[[], tuple[Any, Any, bool, bool, dict[str, Any]]]:
        """What gives the last step as the first agent of the first world saw it: observation, reward, whether it is
        terminated, whether truncated, info.

        Args:
            batch: whose worlds. observe: gives the observation. vector_reward: see `Env`.
        """
        bind = reader_of(self.terms, self.has_costs, self.has_mask, vector_reward)
        return bind(batch.first, observe, batch.error)

    def agents(self, batch: KernelBatch, index: int) -> list[dict[str, Any]]:
        """The infos of all agents of one world, in plain Python numbers and fresh arrays; made together, for speed."""
        columns = [*batch.terms[index].tolist(), batch.success[index].tolist()]
        if self.has_costs:
            columns.append(batch.costs[index].tolist())
        infos: list[dict[str, Any]] = [dict(zip(self.leading, row)) for row in zip(*columns)]  # noqa: B905 (equal)
        for info, vector in zip(infos, batch.reward_vectors[index].copy()):  # noqa: B905
            info["reward_vector"] = vector
        if self.has_mask:
            counts = batch.states["illegal"][index].tolist()
            lengths = batch.setup.mask_lengths
            for info, mask, length, count in zip(infos, batch.masks[index].copy(), lengths, counts):  # noqa: B905
                info["action_mask"] = mask[:length]
                info["illegal_actions"] = count
        if batch.error(index):
            for info in infos:
                info["simulation_error"] = batch.error(index)
        return infos

    def all(self, batch: KernelBatch, copy: bool) -> dict[str, Any]:
        """The infos of the first agents of all worlds, as arrays: copies, or the batch's own."""
        infos = self.columns(batch.terms, batch.success, batch.costs, batch.reward_vectors, batch.masks, copy)
        if self.has_mask:
            counts = batch.states["illegal"][:, 0]
            infos["illegal_actions"] = counts.copy() if copy else counts
        return infos

    def columns(
        self,
        terms: np.ndarray,
        success: np.ndarray,
        costs: np.ndarray,
        vectors: np.ndarray,
        masks: np.ndarray,
        copy: bool,
    ) -> dict[str, Any]:
        """Infos from arrays with leading world and (but for the terms, where it comes last) agent axes."""
        kept = (lambda array: array.copy()) if copy else (lambda array: array)
        infos: dict[str, Any] = dict(zip(self.terms, kept(terms[:, :, 0].T), strict=True))
        infos["is_success"] = kept(success[:, 0])
        if self.has_costs:
            infos["cost"] = kept(costs[:, 0])
        infos["reward_vector"] = kept(vectors[:, 0])
        if self.has_mask:
            infos["action_mask"] = kept(masks[:, 0, : self.choices])
        return infos


@functools.cache
def reader_of(terms: tuple[str, ...], has_costs: bool, has_mask: bool, vector_reward: bool) -> Any:
    """A function (first, observe, error) to a reader, see `InfoKeys.reader`. Made from text, so that numbers go from an
    outcome to one dictionary display by names of their own, in half the time of a loop."""
    numbers = [f"number{i}" for i in range(len(terms) + 1)]
    items = [f"{name!r}: {number}" for name, number in zip((*terms, "is_success"), numbers, strict=True)]
    if has_costs:
        items.append("'cost': cost")
    items.append("'reward_vector': vector()")
    if has_mask:
        items += ["'action_mask': mask()", "'illegal_actions': illegal[0]"]
    scope: dict[str, Any] = {}
    exec(
        f"""
def bind(first, observe, error):
    outcome, vector, mask, illegal = first.outcome, first.reward_vector.copy, first.mask.copy, first.illegal

    def read():
        {", ".join(numbers)}, reward, cost, terminated, truncated, failed = outcome()
        info = {{{", ".join(items)}}}
        if failed:
            info["simulation_error"] = error(0)
        return observe(), {"vector()" if vector_reward else "reward"}, terminated, truncated, info

    return read
""",
        scope,
    )
    return scope["bind"]


def add_errors(infos: dict[str, Any], errors: np.ndarray, told: np.ndarray) -> None:
    """Say why worlds were broken off, with a mask of them, as Gymnasium's vector forms do for what only some tell.

    Args:
        infos: where to say it. errors: reasons, empty where there is none. told: bool, the worlds that `infos` is of.
    """
    broken = told & (errors != "")
    if broken.any():
        infos["simulation_error"] = np.full(len(broken), None, object)
        infos["simulation_error"][broken] = errors[broken]
        infos["_simulation_error"] = broken
