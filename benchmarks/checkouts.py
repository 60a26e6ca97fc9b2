"""Steps per second of this checkout beside another one of this package, such as the commit before a change.

    git worktree add ../before COMMIT
    python benchmarks/checkouts.py ../before QuadHover-v0 Battle-v0 --num 4096 16384 --threads 1 2

Both step the same environments in processes of their own, in turn, slice by slice, and every turn begins with the
other one, so that what else the machine does falls on both. A ratio above 1 says that this checkout is faster. The
median over the slices comes with the quartiles of the ratios of neighbouring slices: where these are far apart, the
machine was too noisy to tell.
"""

import argparse
import itertools
import json
import os
import statistics
import sys
from pathlib import Path

import numpy as np

from run import HERE, Worker

HEAD = "{:22} {:8} {:>6} {:>7} {:>7} {:>7} {:>7}".format(
    "Environment", "form", "worlds", "threads", "ratio", "25 %", "75 %"
)


def stepper(checkout: Path, target: str, form: list[str]) -> Worker:
    """A worker that steps an environment of a checkout, by libraries for a target, or the best ones."""
    settings = [f"PYTHONPATH={checkout}", *([f"RLENVS_TARGET={target}"] if target else [])]
    return Worker(["env", *settings, sys.executable, "ours.py", *form])


def compare(other: Path, target: str, form: list[str], slices: int, seconds: float) -> tuple[float, float, float]:
    """The ratio of the median rates, and the quartiles of the ratios of neighbours."""
    sides = [stepper(HERE.parent, "", form), stepper(other, target, form)]
    rates: list[list[float]] = [[], []]
    for turn in range(slices):
        for side in (0, 1) if turn % 2 else (1, 0):
            rates[side].append(sides[side].rate(seconds))
    for side in sides:
        side.close()
    low, high = np.percentile(np.divide(*rates), (25, 75))
    return statistics.median(rates[0]) / statistics.median(rates[1]), low, high


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("other", type=Path, help="the other checkout")
    options.add_argument("names", nargs="+", help="environments")
    options.add_argument("--form", choices=("single", "parallel", "vector", "batch"), default="batch")
    options.add_argument("--num", type=int, nargs="*", default=[4096], help="environments of a batch")
    options.add_argument("--threads", type=int, nargs="*", default=[1])
    options.add_argument("--slices", type=int, default=40)
    options.add_argument("--seconds", type=float, default=0.2, help="of a slice")
    options.add_argument("--keywords", type=json.loads, default={}, help="of make, as JSON")
    options.add_argument("--target", default="", help="RLENVS_TARGET of the other one, which may be this checkout, too")
    options.add_argument("--cpu", action="store_true", help="count the time that processors worked")
    given = options.parse_args()
    if not (given.other / "rlenvs").is_dir():
        raise SystemExit(f"{given.other} is no checkout of this package")
    os.environ.setdefault("RLENVS_QUIET", "1")
    alone = given.form in ("single", "parallel")
    sizes = itertools.product(given.names, [1] if alone else given.num, [1] if alone else given.threads)
    print(HEAD)
    for name, num, threads in sizes:
        form = ["--id", name, "--form", given.form, "--num", str(num), "--threads", str(threads)]
        form += ["--with-resets", "--keywords", json.dumps(given.keywords), *["--cpu"] * given.cpu]
        numbers = " ".join(
            f"{ratio:7.3f}" for ratio in compare(given.other.resolve(), given.target, form, given.slices, given.seconds)
        )
        print(f"{name:22} {given.form:8} {num:6} {threads:7} {numbers}", flush=True)


if __name__ == "__main__":
    main()
