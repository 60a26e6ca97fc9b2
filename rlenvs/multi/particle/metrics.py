"""Metrics of an episode of ParticleNavigation-v0, as defined in InforMARL's paper."""

from typing import Any

import numpy as np

__all__ = ["metrics"]


def metrics(p: Any, s: Any) -> dict[str, float]:
    """Metrics of the episode so far; call it at the end of the episode, before the next reset.

    Args:
        p, s: parameters and state of a world, for example `env.batch.records(0)`.

    Returns:
        "T": share of the episode's steps that agents took to reach their goals, 1 for those that did not, mean.
        "collisions": contacts with agents and obstacles, summed over steps and agents; a contact of two agents is
        counted by both.
        "S": 1 when all agents have reached their goals, else 0.
    """
    steps = max(int(s.elapsed), 1)
    arrival = np.asarray(s.arrival)
    return {
        "T": float(np.mean(np.where(arrival > 0, arrival / steps, 1.0))),
        "collisions": float(np.sum(s.contacts)),
        "S": float(np.all(arrival > 0)),
    }
