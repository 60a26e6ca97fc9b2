"""Half right: the front forgets that equal points do not dominate each other, the hypervolume adds up whole boxes."""

import numpy as np


def front(points):
    points = np.asarray(points)
    least = (points[:, None] >= points[None]).all(axis=2)
    np.fill_diagonal(least, False)
    return ~least.any(axis=0)


def hypervolume(points, reference):
    return float(np.prod(np.maximum(np.asarray(points) - reference, 0.0), axis=1).sum())


def best_by_weights(points, weights):
    return int(np.argmax(np.asarray(points) @ weights))


def out_of_reach(points):
    points = np.asarray(points, dtype=float)
    angles = np.linspace(0.0, np.pi / 2, 5001)
    sums = points @ np.stack([np.cos(angles), np.sin(angles)])
    return (sums < sums.max(axis=0) - 1e-6).all(axis=1)
