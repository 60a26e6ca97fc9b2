"""Which limbs hang at each other, for policies that pass messages between limbs."""

from __future__ import annotations

import numpy as np

from rlenvs.core.declare.errors import ParameterError
from rlenvs.robotics.locomotion import limb_bodies, limb_bodies_3d
from rlenvs.robotics.locomotion.limb_trees import adjacency

__all__ = ["graph_of"]


def graph_of(id: str) -> np.ndarray:
    """Which places of a world's limbs hang at each other: bool (places, places), symmetric.

    Args:
        id: a world of bodies made of limbs, such as "PlanarWalkers-v0". Where a body leaves a place empty, its
            observation `present` says so.

    Raises:
        ParameterError: another world.
    """
    trees = {**limb_bodies.TREES, **limb_bodies_3d.TREES}
    if id not in trees:
        raise ParameterError(f"{id} has no bodies made of limbs; these have: {', '.join(trees)}")
    return adjacency(trees[id][0])
