import numpy as np

import rlenvs
from rlenvs.classroom.disguise import Turned, rotation
from rlenvs.classroom.exercise import Exercise, Failed, array_like, close, credit, lower_bound

BUDGET = 15_000
exercise = Exercise("dqn", "Deep Q-learning", minutes=2, seconds=120.0)


def values(weights, seen):
    W1, b1, W2, b2 = weights
    hidden = seen @ W1 + b1
    return np.where(hidden > 0, hidden, 0.0) @ W2 + b2


def loss(weights, seen, actions, wanted):
    found = np.array([row[action] for row, action in zip(values(weights, seen), actions, strict=True)])
    return ((found - wanted) ** 2).mean() / 2


def network(rng, n=3, hidden=7, actions=4):
    return [rng.normal(size=shape) for shape in ((n, hidden), (hidden,), (hidden, actions), (actions,))]


def parts(found, count, what):
    """What a function returns, if it is so many things."""
    if not isinstance(found, list) or len(found) != count:
        raise Failed(f"{what} is to return {count} things, not {str(found)[:60]}")
    return found


def weights_of(found):
    """Weights that fit each other and the cart."""
    if not all(isinstance(each, np.ndarray) for each in parts(found, 4, "train")):
        raise Failed("train is to return four arrays, W1, b1, W2, b2")
    hidden = found[1].size
    shapes = (4, hidden), (hidden,), (hidden, 2), (2,)
    names = ("W1", "b1", "W2", "b2")
    return [array_like(each, shape, name) for each, shape, name in zip(found, shapes, names, strict=True)]


def return_of(weights, cart, draws):
    """Mean return of the best action by the weights."""
    seeds = [draws.seed() for _ in range(20)]
    act = lambda seen: cart.actions[values(weights, cart.turned(seen)).argmax(axis=1)]  # noqa: E731
    return rlenvs.evaluate("CartPole-v0", act, seeds=seeds).mean


@exercise.test("store in an empty memory", 1)
def first_step(submission, draws):
    memory, count = parts(submission.call("store", np.zeros((3, 2)), 0, np.array([1.0, 2.0])), 2, "store")
    close(memory, [[1, 2], [0, 0], [0, 0]], "the memory")
    close(count, 1, "the count")


@exercise.test("targets without ends", 1)
def without_ends(submission, draws):
    never = np.zeros(2, bool)
    ahead, other = np.array([[1.0, 3.0], [4.0, 2.0]]), np.array([[9.0, 0.0], [9.0, 0.0]])
    close(submission.call("targets", np.ones(2), ahead, never, never, 0.5), [2.5, 3.0], "targets")
    close(submission.call("double_targets", np.ones(2), other, ahead, never, never, 0.5), [1.5, 3.0], "double_targets")


@exercise.test("q_values", 1)
def forward(submission, draws):
    weights, seen = network(draws.rng), draws.rng.normal(size=(5, 3))
    close(submission.call("q_values", weights, seen), values(weights, seen), "q_values")


@exercise.test("store and sample: the oldest give way, and all that is there is drawn", 2, hidden=True)
def replay(submission, draws):
    capacity = int(draws.rng.integers(5, 12))
    memory, count = np.full((capacity, 2), -1.0), 0
    for step in range(capacity + int(draws.rng.integers(2, capacity))):
        memory, count = parts(submission.call("store", memory, count, np.array([step, 2.0 * step])), 2, "store")
        kept = set(range(max(0, step + 1 - capacity), step + 1))
        rows = array_like(submission.call("sample", memory, count, 400, draws.seed()), (400, 2), "sample")
        if not np.array_equal(rows[:, 1], 2 * rows[:, 0]):
            raise Failed("sample gives rows that were never stored")
        found = set(rows[:, 0])
        if found != kept:
            raise Failed(
                f"after {step + 1} steps and {capacity} places, sample finds {len(found)} of {len(kept)} steps"
            )


@exercise.test("targets with terminations and truncations", 2, hidden=True)
def with_ends(submission, draws):
    for _ in range(3):
        rewards, gamma = draws.rng.normal(size=40), draws.rng.uniform(0.5, 0.99)
        ahead, other = draws.rng.normal(size=(2, 40, 3))
        ends, cuts = draws.rng.random((2, 40)) < 0.3
        wanted = [r if end else r + gamma * max(row) for r, end, row in zip(rewards, ends, ahead, strict=True)]
        close(submission.call("targets", rewards, ahead, ends, cuts, gamma), wanted, "targets")
        best = [row[list(by).index(max(by))] for row, by in zip(ahead, other, strict=True)]
        wanted = [r if end else r + gamma * value for r, end, value in zip(rewards, ends, best, strict=True)]
        found = submission.call("double_targets", rewards, other, ahead, ends, cuts, gamma)
        close(found, wanted, "double_targets")


@exercise.test("gradient beside finite differences", 3, hidden=True)
def slopes(submission, draws):
    weights, seen = network(draws.rng), draws.rng.normal(size=(9, 3))
    actions, wanted = draws.rng.integers(0, 4, 9), draws.rng.normal(size=9)
    found = parts(submission.call("gradient", weights, seen, actions, wanted), 4, "gradient")
    for number, array in enumerate(weights):
        slope = np.zeros(array.shape)
        for place in np.ndindex(array.shape):
            kept, sides = array[place], []
            for shift in (1e-6, -1e-6):
                array[place] = kept + shift
                sides.append(loss(weights, seen, actions, wanted))
            array[place] = kept
            slope[place] = (sides[0] - sides[1]) / 2e-6
        close(found[number], slope, f"the gradient by {('W1', 'b1', 'W2', 'b2')[number]}", 1e-5)


@exercise.test("train: return of CartPole (lower bound over 4 trainings)", 4, hidden=True)
def played(submission, draws):
    """Chance reaches about 20 steps, the most are 500. The four numbers are turned by a rotation and actions have other
    numbers each time, so that weights that were learnt before are of no use."""
    found = []
    for _ in range(4):
        env = draws.env("CartPole-v0", BUDGET)
        env.env = cart = Turned(env.env, rotation(draws.rng, 4), draws.rng.permutation(2))
        found.append(return_of(weights_of(submission.call("train", env)), cart, draws))
    return credit(lower_bound(found), none=60.0, full=150.0)
