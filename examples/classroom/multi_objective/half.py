"""Half right: takes domination for strictly better in all, and sums up the rectangles as if they did not overlap."""

import numpy as np


def pareto(points):
    points = np.asarray(points)
    return ~(points[:, None] > points[None]).all(axis=2).any(axis=0)


def best_for(points, weights):
    return int(np.argmax(np.asarray(points) @ np.asarray(weights)))


def supported(points, count):
    return sorted({best_for(points, (w, 1 - w)) for w in np.linspace(0, 1, count)})


def hypervolume(points, reference):
    return float(np.prod(np.maximum(np.asarray(points) - np.asarray(reference), 0.0), axis=1).sum())
