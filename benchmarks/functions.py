"""How exact and how fast the elementary functions of kernels are: `python benchmarks/functions.py` (minutes).

Errors are against mpmath, at the points of `tests/support/function_errors.py`: where a function is used, where its
method changes, where it ends. Times are those of a loop over many independent numbers, one by one, beside the same loop
with the functions of Python's `math`, which numba takes from the library of C. In lanes eight numbers share most of it.
"""

import argparse
import math
import os
import statistics
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import numpy as np

os.environ["NUMBA_LOOP_VECTORIZE"] = os.environ["NUMBA_SLP_VECTORIZE"] = "0"
sys.path.append(str(Path(__file__).parents[1] / "tests"))

from numba import njit
from support import function_errors as errors

from rlenvs.core import maths

RANGES = {"sin": 10, "cos": 10, "tan": 10, "asin": 1, "acos": 1, "exp": 20, "exp2": 20, "expm1": 20}  # other: 3
POSITIVE = ("log", "log2", "log10", "log1p", "power")
LIBRARY = {"power": "math.pow(x[i], y[i])"}


def loop(call: str) -> Callable[[np.ndarray, np.ndarray, np.ndarray], None]:
    scope = {"maths": maths, "math": math}
    exec(f"def run(x, y, out):\n    for i in range(x.size):\n        out[i] = {call}\n", scope)
    return njit(error_model="numpy")(scope["run"])


def nanoseconds(name: str, count: int, slices: int) -> tuple[float, float]:
    """Of one call of ours, and of the library's; medians of slices in turn."""
    arguments = "x[i], y[i]" if name in errors.OF_TWO else "x[i]"
    pair = [loop(f"maths.{name}({arguments})"), loop(LIBRARY.get(name, f"math.{name}({arguments})"))]
    reach = RANGES.get(name, 3)
    x = np.random.default_rng(0).uniform(0.01 if name in POSITIVE else -reach, reach, count)
    y = np.random.default_rng(1).uniform(-3, 3, count)
    spent: list[list[float]] = [[], []]
    for turn in range(slices + 1):
        for side, run in enumerate(pair):
            start = perf_counter()
            run(x, y, np.empty(count))
            if turn:  # the first one compiles
                spent[side].append((perf_counter() - start) / count * 1e9)
    return statistics.median(spent[0]), statistics.median(spent[1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(errors.NAMES)}; default: all")
    parser.add_argument("--points", type=int, default=10_000, help="in each range of a function")
    parser.add_argument("--slices", type=int, default=9, help="of time")
    given = parser.parse_args()
    if unknown := set(given.names) - set(errors.NAMES):
        parser.error(f"there is no {', '.join(sorted(unknown))}; there are {', '.join(errors.NAMES)}")
    print(
        "| function | bound, ulp | largest error | points | ns | library, ns | ratio |\n|---|---|---|---|---|---|---|"
    )
    for name in given.names or errors.NAMES:
        count = errors.columns(name, count=given.points)[0].size
        worst, _ = errors.worst_error(name, count=given.points)
        ours, theirs = nanoseconds(name, 100_000, given.slices)
        row = f"{errors.bound(name)} | {worst:.3f} | {count} | {ours:.1f} | {theirs:.1f} | {ours / theirs:.2f}"
        print(f"| {name} | {row} |", flush=True)


if __name__ == "__main__":
    main()
