"""Search the gait of Walker2d-v0's expert: `python benchmarks/gaits.py [--seconds 100] [--seed 1]`.

Evolution of a normal distribution over the gait's numbers by the adaptation of its covariance (Hansen, "The CMA
evolution strategy: a tutorial", 2016): of 24 gaits, each walked for an episode from one start, the better half moves
the mean and shapes the distribution. At the end the mean, rounded to hundredths, is walked from ten other starts and
printed: it is what the world file holds, since the best gait of the search falls from more starts.

The gait of the world took 104 s of a processor and 100 generations, with the seed 1.
"""

import argparse
import time

import numpy as np

import rlenvs
from rlenvs.core.compiler.loops import compiled
from rlenvs.robotics.locomotion.gaits import COURSE, FEEDBACK, JOINTS, walk
from rlenvs.robotics.locomotion.walker2d import DT

POPULATION = 24
# where the search begins: of each joint a mean angle, a small swing, a spring with a damper, no feedback
BEGIN = np.array(
    [
        *[8.0],
        *[-0.3, 0.2, 0.2, 0, 0, 1.5, 0.08, 0, 0, 0, 0, 0],
        *[-0.5, 0.2, 0.2, 0, 0, 1.5, 0.08, 0, 0, 0, 0, 0],
        *[0.0, 0.0, 0.0, 0, 0, 1.0, 0.05, 0, 0, 0, 0, 0],
    ]
)
SCALE = np.array([4.0, *[0.3, 0.3, 0.3, 0.15, 0.15, 1.0, 0.05, 0.5, 0.1, 0.1, 0.5, 0.5] * JOINTS])


@compiled()
def act(gaits, positions, velocities, seconds, actions):
    for i in range(len(gaits)):
        walk(gaits[i], positions[i], velocities[i], seconds, actions[i])


def returns_of(batch, gaits, seeds):
    """Returns and lengths of an episode of each gait."""
    batch.seed(seeds)
    batch.reset()
    count = len(gaits)
    going, total, lasted = np.ones(count, bool), np.zeros(count), np.zeros(count, int)
    actions = np.zeros((count, 2 * JOINTS))
    for step in range(batch.setup.horizon):
        positions, velocities = (np.ascontiguousarray(batch.states[name]) for name in ("qpos", "qvel"))
        act(gaits, positions, velocities, DT * step, actions)
        batch.load_actions(actions[:, None])
        batch.step_inplace(only=going)
        total[going] += batch.rewards[going, 0]
        lasted[going] += 1
        going &= ~(batch.terminated[:, 0] | batch.truncated[:, 0])
        if not going.any():
            break
    return total, lasted


def search(returns_of, begin, scale, seconds, seed, step=0.5):
    """The mean of the distribution after so many seconds of a processor.

    Args:
        returns_of: from gaits, a row each, and the number of the generation to their returns and lengths.
        begin, scale: where the search begins, and how far it goes at first, in steps.
        seconds, seed, step: of a processor; of the draws; the size of the first steps.
    """
    chooser, n, half = np.random.default_rng(seed), len(begin), POPULATION // 2
    shares = np.log(half + 0.5) - np.log(np.arange(1, half + 1))
    shares /= shares.sum()
    many = 1.0 / (shares**2).sum()
    slow = (4 + many / n) / (n + 4 + 2 * many / n)
    fast = (many + 2) / (n + many + 5)
    one = 2 / ((n + 1.3) ** 2 + many)
    rank = min(1 - one, 2 * (many - 2 + 1 / many) / ((n + 2) ** 2 + many))
    damping = 1 + 2 * max(0.0, np.sqrt((many - 1) / (n + 1)) - 1) + fast
    usual = np.sqrt(n) * (1 - 1 / (4 * n) + 1 / (21 * n * n))
    mean, covariance, path, step_path = np.zeros(n), np.eye(n), np.zeros(n), np.zeros(n)
    start, generation = time.process_time(), 0
    while time.process_time() - start < seconds:
        squares, axes = np.linalg.eigh(covariance)
        lengths = np.sqrt(np.maximum(squares, 1e-20))
        moves = (chooser.standard_normal((POPULATION, n)) * lengths) @ axes.T
        found, lasted = returns_of(begin + scale * (mean + step * moves), generation)
        order = np.argsort(-found)
        better = moves[order[:half]]
        move = shares @ better
        mean = mean + step * move
        step_path = (1 - fast) * step_path + np.sqrt(fast * (2 - fast) * many) * (axes @ ((axes.T @ move) / lengths))
        longer = np.linalg.norm(step_path) / np.sqrt(1 - (1 - fast) ** (2 * (generation + 1))) / usual
        held = longer < 1.4 + 2 / (n + 1)
        path = (1 - slow) * path + held * np.sqrt(slow * (2 - slow) * many) * move
        covariance = (
            (1 - one - rank) * covariance
            + one * (np.outer(path, path) + (1 - held) * slow * (2 - slow) * covariance)
            + rank * (better.T * shares) @ better
        )
        step *= np.exp((fast / damping) * (np.linalg.norm(step_path) / usual - 1))
        generation += 1
        if generation % 10 == 0:
            print(f"{generation} generations: best {found[order[0]]:.0f}, {lasted[order[0]]} steps", flush=True)
    return begin + scale * mean


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=104.0, help="of a processor")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    batch = rlenvs.make_batch("Walker2d-v0", POPULATION)

    def walk_one(gaits, generation):
        return returns_of(batch, gaits, [1000 * generation + options.seed] * POPULATION)

    gait = np.round(search(walk_one, BEGIN, SCALE, options.seconds, options.seed), 2)
    found, lasted = returns_of(rlenvs.make_batch("Walker2d-v0", 10), np.repeat(gait[None], 10, axis=0), list(range(10)))
    print(f"mean {found.mean():.0f}, least {found.min():.0f}; steps {lasted.min()} and more")
    for joint in range(JOINTS):
        first = 1 + joint * (COURSE + FEEDBACK)
        print(gait[:1] if joint == 0 else "", gait[first : first + COURSE + FEEDBACK].tolist())


if __name__ == "__main__":
    main()
