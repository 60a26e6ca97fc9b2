"""The info dictionaries, from a batch: the same keys on reset and on every step.

Only `simulation_error`, a text, is there where an episode was broken off, and nowhere else.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from rlenvs.core.batch.kernel_batch import KernelBatch

TeamOutcome = tuple[dict[str, Any], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]


class InfoKeys:
    """The names under which a world's terms and costs appear in info."""

    def __init__(self, batch: KernelBatch) -> None:
        world = batch.world
        self.terms = tuple([f"reward_{name}" for name in world.terms] + [f"cost_{name}" for name in world.costs])
        self.rewards = len(world.terms)
        self.has_costs = bool(world.costs)
        self.has_mask = "mask" in world.kernels
        self.choices = batch.setup.mask_lengths[0]  # of the first agent

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

    def team_reader(self, batch: KernelBatch, agents: Sequence[str], vector_reward: bool) -> Callable[[], TeamOutcome]:
        """What gives the last step of the first world as all agents saw it: rewards, who is terminated, who truncated,
        infos; by agent, in plain Python numbers and fresh arrays.

        Args:
            batch: whose worlds. agents: their names. vector_reward: see `ParallelEnv`.
        """
        count, rows = len(agents), len(self.terms) + 1
        outcome, vectors = batch.first.outcome_of(count), batch.reward_vectors[0]
        own = [slice(k, rows * count, count) for k in range(count)]  # an agent's terms and success
        rewards, ends, cuts = (slice(n * count, (n + 1) * count) for n in (rows, rows + 2, rows + 3))
        costs = (rows + 1) * count
        leading, has_costs, has_mask = (*self.terms, "is_success"), self.has_costs, self.has_mask

        def read() -> TeamOutcome:
            values, fresh = outcome(), vectors.copy()
            infos: dict[str, dict[str, Any]] = {}
            for k, agent in enumerate(agents):
                infos[agent] = info = dict(zip(leading, values[own[k]]))  # noqa: B905 (equal)
                if has_costs:
                    info["cost"] = values[costs + k]
                info["reward_vector"] = fresh[k]
            if has_mask:
                self._add_masks(batch, infos)
            if values[-1]:
                for info in infos.values():
                    info["simulation_error"] = batch.error(0)
            paid = vectors.copy() if vector_reward else values[rewards]
            return (
                dict(zip(agents, paid)),  # noqa: B905
                dict(zip(agents, values[ends])),  # noqa: B905
                dict(zip(agents, values[cuts])),  # noqa: B905
                infos,
            )

        return read

    @staticmethod
    def _add_masks(batch: KernelBatch, infos: dict[str, dict[str, Any]]) -> None:
        """Add what all agents of the first world may choose, and how often they chose something else."""
        counts, lengths = batch.states["illegal"][0].tolist(), batch.setup.mask_lengths
        for info, mask, length, count in zip(infos.values(), batch.masks[0].copy(), lengths, counts):  # noqa: B905
            info["action_mask"] = mask[:length]
            info["illegal_actions"] = count

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
