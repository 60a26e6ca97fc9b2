from itertools import pairwise

import gymnasium
import numpy as np

import rlenvs  # noqa: F401  (registers the environments)
from rlenvs.classroom.exercise import Exercise, close

exercise = Exercise("multi_objective", "Two things at once: trade-offs", minutes=1, seconds=20.0)


def sea():
    """The exact front."""
    return gymnasium.make("rlenvs/DeepSeaTreasure-v0").unwrapped.pareto_front()


def undominated(points):
    return [not any((q >= p).all() and (q > p).any() for q in points) for p in points]


def area(points, reference):
    """On the grid of all coordinates, cell by cell."""
    xs, ys = (np.unique(np.append(points[:, k], reference[k])) for k in (0, 1))
    found = 0.0
    for x, right in pairwise(xs):
        for y, top in pairwise(ys):
            inside = x >= reference[0] and y >= reference[1]
            found += (right - x) * (top - y) * (inside and ((points[:, 0] >= right) & (points[:, 1] >= top)).any())
    return found


@exercise.test("pareto of four points", 1)
def four_points(submission, draws):
    points = np.array([[1.0, 1.0], [2.0, 2.0], [3.0, 0.0], [0.0, 0.5]])
    close(submission.call("pareto", points), [0, 1, 1, 0], "pareto")


@exercise.test("best_for two weights on the sea", 1)
def two_weights(submission, draws):
    close(submission.call("best_for", sea(), (1.0, 0.0)), 9, "best_for")
    close(submission.call("best_for", sea(), (0.0, 1.0)), 0, "best_for")


@exercise.test("hypervolume of one point", 1)
def one_point(submission, draws):
    close(submission.call("hypervolume", np.array([[2.0, 3.0]]), np.zeros(2)), 6.0, "hypervolume")


@exercise.test("pareto of points with ties", 2, hidden=True)
def ties(submission, draws):
    for objectives in (2, 3):
        points = draws.rng.integers(0, 5, (30, objectives)).astype(float)
        close(submission.call("pareto", points), undominated(points), "pareto")


@exercise.test("what weighted sums find", 2, hidden=True)
def sums(submission, draws):
    for _ in range(3):
        points = draws.rng.normal(size=(12, 2))
        wanted = sorted({int(np.argmax(points @ (w, 1 - w))) for w in np.linspace(0, 1, 51)})
        close(submission.call("supported", points, 51), wanted, "supported")


@exercise.test("hypervolume of random points and of the sea", 3, hidden=True)
def volumes(submission, draws):
    reference = np.array([0.0, -draws.rng.uniform(20.0, 60.0)])
    close(submission.call("hypervolume", sea(), reference), area(sea(), reference), "hypervolume of the sea", 1e-8)
    for _ in range(3):
        points, reference = draws.rng.normal(size=(10, 2)), np.array([-0.5, -0.5])
        close(submission.call("hypervolume", points, reference), area(points, reference), "hypervolume", 1e-8)
