import numpy as np

from rlenvs.classroom.exercise import Exercise, Failed, array_like, close

exercise = Exercise("multi_objective", "Several goals at once", minutes=1, seconds=20.0)


def undominated(points):
    return [not any((other >= x).all() and (other > x).any() for other in points) for x in points]


def area(points, reference):
    """By the cells of the grid that the points draw."""
    xs, ys = (np.unique(np.append(points[:, i], reference[i])) for i in (0, 1))
    xs, ys = xs[xs >= reference[0]], ys[ys >= reference[1]]
    inside = (points[:, None, None, 0] >= xs[None, 1:, None]) & (points[:, None, None, 1] >= ys[None, None, 1:])
    return float((inside.any(axis=0) * np.diff(xs)[:, None] * np.diff(ys)[None]).sum())


def unreached(points):
    """By many weights: what none of them picks."""
    angles = np.linspace(0.0, np.pi / 2, 20_001)
    sums = points @ np.stack([np.cos(angles), np.sin(angles)])
    return (sums < sums.max(axis=0) - 1e-9).all(axis=1)


def a_front(rng, count):
    """Points that do not dominate each other."""
    return np.stack([np.sort(rng.uniform(0, 10, count)), -np.sort(rng.uniform(0, 10, count))], axis=1)


def check_front(submission, points):
    found = array_like(submission.call("front", points), (len(points),), "front")
    if (found.astype(bool) != undominated(points)).any():
        raise Failed("front marks the wrong points")


@exercise.test("front of five points", 1)
def five(submission, draws):
    check_front(submission, np.array([[1.0, 5.0], [2.0, 4.0], [2.0, 3.0], [0.0, 5.0], [3.0, 1.0]]))


@exercise.test("hypervolume of two points", 1)
def two(submission, draws):
    close(submission.call("hypervolume", np.array([[1.0, 2.0], [2.0, 1.0]]), np.zeros(2)), 3.0, "hypervolume")


@exercise.test("front with equal points", 2, hidden=True)
def equal(submission, draws):
    for _ in range(4):
        check_front(submission, draws.rng.integers(0, 3, (20, 2)).astype(float))


@exercise.test("hypervolume of random points, some below the reference", 3, hidden=True)
def volumes(submission, draws):
    for _ in range(4):
        points, reference = draws.rng.normal(size=(15, 2)), draws.rng.normal(size=2) - 0.5
        close(submission.call("hypervolume", points, reference), area(points, reference), "hypervolume")


@exercise.test("best_by_weights", 1, hidden=True)
def weighted(submission, draws):
    for _ in range(5):
        points, weights = a_front(draws.rng, 12), draws.rng.random(2)
        close(submission.call("best_by_weights", points, weights), np.argmax(points @ weights), "best_by_weights")


@exercise.test("out_of_reach", 2, hidden=True)
def reached(submission, draws):
    for _ in range(4):
        points = a_front(draws.rng, 6)
        found = array_like(submission.call("out_of_reach", points), (6,), "out_of_reach")
        if (found.astype(bool) != unreached(points)).any():
            raise Failed("out_of_reach marks the wrong points")
