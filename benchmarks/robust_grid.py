"""What a grid of bodies costs: steps of a batch in which every world has its own body, beside one of equal bodies.

    python benchmarks/robust_grid.py
    python benchmarks/robust_grid.py --robot hopper --worlds 1000

The worlds of both batches get the same actions. In the first every world has one of the 1000 bodies of RRLS's grid of
three parameters, in the second all have the body of the grid's middle, also as parameters of their own. Blocks of steps
alternate; the figure is the median over pairs of blocks. Episodes do not end within them (`ends_when_unhealthy=False`),
since robots that fall earlier would be reset more often.
"""

import argparse
import statistics
import time

import numpy as np

import rlenvs
from rlenvs.agents.rrls import ROBOTS
from rlenvs.wrappers.robustness import RRLS_SETS

STEPS = 20


def batch_of(id, contexts, names):
    """A batch whose world i has the parameters of row i."""
    own = {name: contexts[:, j] for j, name in enumerate(names)}
    choices = {} if id == "HalfCheetah-v0" else {"ends_when_unhealthy": False}
    start = time.perf_counter()
    batch = rlenvs.make_batch(id, len(contexts), threads=1, **choices, **own)
    batch.seed(0)
    batch.reset()
    return batch, time.perf_counter() - start


def block(batch, actions):
    """Processor time of some steps, s."""
    start = time.process_time()
    for some in actions:
        batch.step(some)
    return time.process_time() - start


def measure(robot, worlds, blocks):
    """Print what a step costs of different and of equal bodies."""
    id, region = ROBOTS[robot], RRLS_SETS[f"rrls-{robot}-3"]
    grid = region.grid(10)
    grid = grid[np.linspace(0, len(grid) - 1, worlds).round().astype(int)]
    middle = np.tile(region.at(np.zeros(3)), (worlds, 1))
    middle[0] *= 1.000001  # so that the parameters are not shared
    (different, making), (equal, _) = (batch_of(id, contexts, region.names) for contexts in (grid, middle))
    generator = np.random.default_rng(0)
    times = []
    for _ in range(blocks):
        actions = generator.uniform(-1.0, 1.0, (STEPS, *equal.actions.shape))
        times.append((block(different, actions), block(equal, actions)))
    ours, same = (statistics.median(column) / STEPS / worlds * 1e6 for column in zip(*times, strict=True))
    ratio = statistics.median(a / b for a, b in times)
    print(
        f"{id}: {worlds} different bodies {ours:.1f} us a step and world, equal ones {same:.1f}: {ratio:.2f} times; "
        f"{making:.1f} s to make the first batch",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--robot", choices=ROBOTS, help="of one robot alone")
    parser.add_argument("--worlds", type=int, default=1000)
    parser.add_argument("--blocks", type=int, default=9, help="pairs of blocks of steps")
    options = parser.parse_args()
    for robot in [options.robot] if options.robot else ROBOTS:
        measure(robot, options.worlds, options.blocks)


if __name__ == "__main__":
    main()
