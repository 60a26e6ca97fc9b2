"""Steps per second of classic control beside EnvPool and Gymnasium, timed in turn.

    python benchmarks/classic.py --peer-python ../peers/bin/python
    python benchmarks/classic.py --peer-python ../peers/bin/python --only CartPole --rounds 15

The interpreter is one in which EnvPool 1.2.5 and Gymnasium 1.4 are installed; without it our own side alone is timed.
Both sides are workers in processes of their own, ours, theirs, ours, ...; a ratio is taken within each turn, and its
median and quartiles are printed. Random actions; resets are counted everywhere but in single environments. "batch" is
our batch beside EnvPool, with as many threads; "vector" our vector form, infos included.
"""

import argparse
import statistics
import sys

import numpy as np

from run import Worker, ours

IDS = {
    "CartPole-v0": "CartPole-v1",
    "Pendulum-v0": "Pendulum-v1",
    "MountainCar-v0": "MountainCar-v0",
    "MountainCarContinuous-v0": "MountainCarContinuous-v0",
    "Acrobot-v0": "Acrobot-v1",
}
# our form and threads; the peer's package and form; the ratio that we aim for
CASES = [
    ("batch", 1, "envpool", "vector", 1),
    ("batch", 2, "envpool", "vector", 1),
    ("vector", 1, "gymnasium", "vector", 3),
    ("vector", 2, "gymnasium", "vector", 3),
    ("vector", 1, "gymnasium", "sync", 100),
    ("single", 1, "gymnasium", "single", 1),
]
NATIVE = "CartPole-v0"  # what has a native vector form in Gymnasium


def peer(python: str, id: str, package: str, form: str, num: int, threads: int) -> Worker:
    options = ["--id", IDS[id], "--package", package, "--form", form, "--num", str(num), "--threads", str(threads)]
    return Worker([python, "classic_control.py", *options])


def row(id: str, case: tuple[str, int, str, str, int], given: argparse.Namespace) -> str:
    """A row of the table: medians of both sides, median and quartiles of the ratio."""
    form, threads, package, theirs, aim = case
    mine = ours(id, form, given.num, threads, {})
    label = form if form == "single" else f"{form} of {given.num}, {threads} thread(s)"
    if not given.peer_python:
        rate = statistics.median(mine.rate(given.seconds) for _ in range(given.rounds))
        mine.close()
        return f"| {id} | {label} | {rate / 1e6:.3g} | | | |"
    other = peer(given.peer_python, id, package, theirs, given.num, threads)
    pairs = [(mine.rate(given.seconds), other.rate(given.seconds)) for _ in range(given.rounds)]
    mine.close()
    other.close()
    a, b = (statistics.median(column) for column in zip(*pairs, strict=True))
    low, middle, high = np.quantile([x / y for x, y in pairs], [0.25, 0.5, 0.75])
    named = f"{package} {theirs}" if package == "gymnasium" else f"{package}, {threads} thread(s)"
    return (
        f"| {id} | {label} | {a / 1e6:.3g} | {named} | {b / 1e6:.3g} | {middle:.3g} ({low:.3g} to {high:.3g}), {aim} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer-python", help="an interpreter that has EnvPool and Gymnasium")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=0.5, help="per turn")
    parser.add_argument("--num", type=int, default=1024, help="worlds of batches and vectors")
    parser.add_argument("--only", default="", help="part of an id")
    parser.add_argument("--form", default="", help="one of our forms alone: batch, vector, single")
    given = parser.parse_args()
    print(f"Python {sys.version.split()[0]}, {given.rounds} turns of {given.seconds} s", flush=True)
    print("| id | ours | M steps/s | theirs | M steps/s | ratio (quartiles), aim |\n|---|---|---|---|---|---|")
    seen = set()
    for id in IDS:
        for case in CASES:
            form, threads, _, theirs, _ = case
            unwanted = given.only not in id or given.form not in form
            if unwanted or (theirs == "vector" and form == "vector" and id != NATIVE):
                continue
            if not given.peer_python and (id, form, threads) in seen:
                continue
            seen.add((id, form, threads))
            print(row(id, case, given), flush=True)


if __name__ == "__main__":
    main()
