import itertools

import gymnasium
import numpy as np

import rlenvs  # noqa: F401  (registers the environments)
from rlenvs.classroom.exercise import Exercise, Failed, array_like, close, credit, lower_bound

GUESSED = (4.0 - 0.1) / 2  # what the best memoryless policy gets in the T-maze
exercise = Exercise("memory", "Memory", minutes=1, seconds=20.0)


def problem(rng, states, signs):
    """First probabilities, transitions that like to stay, and signs."""
    T = 0.7 * np.eye(states) + 0.3 * rng.dirichlet(np.ones(states), states)
    return rng.dirichlet(np.ones(states)), T, rng.dirichlet(np.ones(signs), states)


def chain(rng, first, T, Z, length):
    """States and signs."""
    states, seen = [int(rng.choice(len(first), p=first))], []
    for _ in range(length):
        seen.append(int(rng.choice(Z.shape[1], p=Z[states[-1]])))
        states.append(int(rng.choice(len(first), p=T[states[-1]])))
    return np.array(states[:-1]), np.array(seen)


def posterior(first, T, Z, seen):
    """The belief after all signs, by the sum over every sequence of states."""
    found = np.zeros(len(first))
    for way in np.ndindex(*[len(first)] * len(seen)):
        likely = first[way[0]] * np.prod([Z[s, o] for s, o in zip(way, seen, strict=True)])
        found[way[-1]] += likely * np.prod([T[a, b] for a, b in itertools.pairwise(way)])
    return found / found.sum()


def likeliest(first, T, Z, seen):
    belief, found = first, []
    for step, sign in enumerate(seen):
        belief = (T.T @ belief if step else belief) * Z[:, sign]
        belief = belief / belief.sum()
        found.append(belief.argmax())
    return np.array(found)


def return_in(submission, length, seed):
    """Of one episode in a T-maze."""
    env = gymnasium.make("rlenvs/TMaze-v0", length=length)
    observation, memory, total = env.reset(seed=seed)[0], None, 0.0
    while True:
        memory = submission.call("remember", memory, observation)
        action = int(array_like(submission.call("act", memory), (), "the action"))
        if not 0 <= action < 4:
            raise Failed(f"act gave {action}; the actions are 0 to 3")
        observation, reward, terminated, truncated, _ = env.step(action)
        total += float(reward)
        if terminated or truncated:
            return total


def returns(submission, draws, lengths):
    return [return_in(submission, length, draws.seed()) for length in lengths for _ in range(15)]


@exercise.test("stack", 1)
def stacked(submission, draws):
    found = submission.call("stack", np.array([[1.0], [2.0], [3.0]]), 2)
    close(found, [[1, 1], [1, 2], [2, 3]], "stack")


@exercise.test("belief_update of two states", 1)
def one_update(submission, draws):
    T, Z = np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([[0.7, 0.3], [0.4, 0.6]])
    wanted = np.array([0.55 * 0.3, 0.45 * 0.6])
    found = submission.call("belief_update", np.array([0.5, 0.5]), T, Z, 1)
    close(found, wanted / wanted.sum(), "belief_update")


@exercise.test("remember and act: return of a T-maze of length 3, over that of the best memoryless policy", 1)
def short_maze(submission, draws):
    return credit(lower_bound(returns(submission, draws, [3])), none=GUESSED, full=3.9)


@exercise.test("stack of several numbers", 1, hidden=True)
def many_stacked(submission, draws):
    for _ in range(3):
        steps, n, k = (int(number) for number in draws.rng.integers([3, 1, 1], [12, 4, 8]))
        data = draws.rng.normal(size=(steps, n))
        wanted = [np.concatenate([data[max(t - k + 1 + j, 0)] for j in range(k)]) for t in range(steps)]
        close(submission.call("stack", data, k), wanted, f"stack of {k}")


@exercise.test("belief_update beside the sum over all histories", 2, hidden=True)
def histories(submission, draws):
    for states in (2, 3):
        first, T, Z = problem(draws.rng, states, 4)
        seen = chain(draws.rng, first, T, Z, 6)[1]
        belief = first * Z[:, seen[0]] / (first @ Z[:, seen[0]])
        for sign in seen[1:]:
            belief = array_like(submission.call("belief_update", belief, T, Z, int(sign)), (states,), "the belief")
        close(belief, posterior(first, T, Z, seen), "the belief after 6 signs")


@exercise.test("filter_guesses", 2, hidden=True)
def guessed(submission, draws):
    for states in (2, 4):
        model = problem(draws.rng, states, 3)
        seen = chain(draws.rng, *model, 200)[1]
        close(submission.call("filter_guesses", *model, seen), likeliest(*model, seen), "filter_guesses")


@exercise.test("best_memoryless", 2, hidden=True)
def memoryless(submission, draws):
    """Beside all possible rules."""
    for _ in range(4):
        shares, _, Z = problem(draws.rng, 3, 4)
        worth = {rule: sum(shares[s] * Z[s, o] for o, s in enumerate(rule)) for rule in np.ndindex(3, 3, 3, 3)}
        best = max(worth, key=worth.get)
        found = submission.call("best_memoryless", shares, Z)
        if not isinstance(found, list) or len(found) != 2:
            raise Failed(f"best_memoryless is to return two things, not {str(found)[:60]}")
        close(found[0], best, "the guesses")
        close(found[1], worth[best], "the share of right guesses")


@exercise.test("remember and act in longer T-mazes (lower bound over 45 episodes)", 3, hidden=True)
def long_mazes(submission, draws):
    lengths = [int(length) for length in draws.rng.integers([1, 10, 40], [5, 20, 80])]
    return credit(lower_bound(returns(submission, draws, lengths)), none=GUESSED, full=3.9)
