"""What lanes gain: `python benchmarks/lanes.py [ID ...]` (a minute, on an idle machine).

Steps of a batch that takes several worlds at a time, beside the same batch that takes one after the other, slice by
slice in turn, in one thread; medians, quartiles of the ratio.
"""

import argparse
import statistics
from time import perf_counter

import numpy as np
from core import random_actions

import rlenvs
from rlenvs.core.batch.kernel_batch import KernelBatch
from rlenvs.core.catalogue.registry import world_of


class OneByOne(KernelBatch):
    """A batch without lanes."""

    in_lanes = False


def prepared(kind: type[KernelBatch], id: str, worlds: int) -> KernelBatch:
    """A batch in the middle of its episodes."""
    batch = kind(world_of(id), worlds, threads=1)
    batch.seed(0)
    batch.reset()
    for _ in range(20):
        batch.step(random_actions(batch))
    return batch


def steps_per_second(batch: KernelBatch, actions: np.ndarray, seconds: float) -> float:
    start, count = perf_counter(), 0
    while perf_counter() - start < seconds or not count:
        batch.step(actions)
        count += 1
    return count * batch.num_envs * batch.agents / (perf_counter() - start)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ids", nargs="*", metavar="ID", help="default: all with lanes")
    parser.add_argument("--num", type=int, default=4096, help="worlds")
    parser.add_argument("--slices", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=0.2, help="per slice")
    given = parser.parse_args()
    ids = given.ids or [id for id in rlenvs.list_envs() if "/mo-" not in id and world_of(id).lanes]
    print("| id | one by one, M steps/s | in lanes | ratio (quartiles) |\n|---|---|---|---|")
    for id in ids:
        batches = [prepared(kind, id, given.num) for kind in (OneByOne, KernelBatch)]
        actions = random_actions(batches[0])
        slices = [[steps_per_second(batch, actions, given.seconds) for batch in batches] for _ in range(given.slices)]
        alone, lanes = (statistics.median(column) for column in zip(*slices, strict=True))
        ratios = np.quantile([after / before for before, after in slices], [0.25, 0.5, 0.75])
        name = id.removeprefix("rlenvs/")
        ratio = "{1:.2f} ({0:.2f} to {2:.2f})".format(*ratios)
        print(f"| {name} | {alone / 1e6:.2f} | {lanes / 1e6:.2f} | {ratio} |", flush=True)


if __name__ == "__main__":
    main()
