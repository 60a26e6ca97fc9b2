"""What forms read of a batch's arrays: observations as the space has them, terms and success, reasons of failures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rlenvs.core.compiler.driver import NOT_MOVED
from rlenvs.core.compiler.table import Table
from rlenvs.core.declare.setup import Setup

NO_REASON = np.array("", object)
# why the episode of a world was broken off, by the driver's codes
REASONS = (
    "",
    "the state is no longer finite (NaN or infinity)",
    "the reward is no longer finite (NaN or infinity)",
    "the observation is no longer finite (NaN)",
    "the physics engine failed to simulate the world",
)


def images_of(setup: Setup, images: np.ndarray) -> dict[str, np.ndarray]:
    """The images of an observation by name, as views; none where it has no images."""
    return {name: images[name] for name in setup.image_shapes}


def parts_of(setup: Setup, vectors: np.ndarray, images: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """What the dictionary of an observation holds, as views; nothing where it is the vector alone."""
    if not setup.in_parts:
        return {}
    return {**{name: vectors[..., part] for name, part in setup.vector_parts.items()}, **images}


def split_results(table: Table, results: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Terms (N, terms, A) and success (N, A), as views on a results array."""
    parts = results.view(table.layouts["parts"].dtype(table.sizes))
    return parts["terms"], parts["success"]


def observed(setup: Setup, vectors: np.ndarray, parts: Mapping[str, np.ndarray], at: Any, copy: bool) -> Any:
    """See `KernelBatch.get_observations`.

    Args:
        vectors: the observations, (N, A, ...).
        parts: their `parts_of`.
    """
    one_role = setup.world.roles and setup.world.observation and isinstance(at, tuple) and len(at) > 1
    seen = slice(setup.roles[at[1]].observation if one_role else None)
    if not parts:
        found = vectors[at]
        found = found[..., seen] if one_role else found
        if setup.encode is not None:
            return setup.encode(found)
        return found.copy() if copy else found
    views = {name: array[at] for name, array in parts.items()}
    if one_role and "state" in views:
        views["state"] = views["state"][..., seen]
    if setup.encode is not None:
        for name, part in setup.vector_parts.items():
            views[name] = setup.encode(views[name], part)
    return {name: view.copy() if copy else view for name, view in views.items()}


class Reasons:
    """Why episodes were broken off.

    Attributes:
        by_engine: why an engine could not move a world, by the world's index.
    """

    def __init__(self) -> None:
        self.by_engine: Mapping[int, str] = {}

    def of(self, codes: np.ndarray) -> np.ndarray:
        """The reason of each world by its code, empty where there is none."""
        if not codes.any():
            return np.broadcast_to(NO_REASON, len(codes))
        found = np.full(len(codes), "", object)
        for i in np.flatnonzero(codes).tolist():
            found[i] = self.by_engine.get(i, REASONS[NOT_MOVED]) if codes[i] == NOT_MOVED else REASONS[codes[i]]
        return found
