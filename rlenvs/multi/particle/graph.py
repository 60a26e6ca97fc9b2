"""The parts of a graph observation of ParticleNavigation-v0."""

import math
from typing import NamedTuple

import numpy as np

__all__ = ["Graph", "graph"]

OWN, FEATURES = 6, 7


class Graph(NamedTuple):
    """Views of an observation: the agent's own part, the nodes, and the edges between them."""

    own: np.ndarray
    nodes: np.ndarray
    edges: np.ndarray


def graph(observation: np.ndarray) -> Graph:
    """Split observations, with any leading axes, into the parts of the graph.

    Args:
        observation: (..., 6 + 7 N + N * N).

    Returns:
        own (..., 6), nodes (..., N, 7), edges (..., N, N).

    Raises:
        ValueError: the length fits no number of nodes; make the environment with `observation="graph"`.
    """
    numbers = observation.shape[-1] - OWN
    count = (math.isqrt(max(FEATURES * FEATURES + 4 * numbers, 0)) - FEATURES) // 2
    if count < 1 or count * (FEATURES + count) != numbers:
        raise ValueError(
            f"an observation of {observation.shape[-1]} numbers contains no graph, which has 6 + 7 N + N * N; "
            'make the environment with observation="graph"'
        )
    own, rest = observation[..., :OWN], observation[..., OWN:]
    leading = observation.shape[:-1]
    nodes = rest[..., : FEATURES * count].reshape(*leading, count, FEATURES)
    return Graph(own, nodes, rest[..., FEATURES * count :].reshape(*leading, count, count))
