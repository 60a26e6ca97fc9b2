"""Steps per second of classic control and toy text beside EnvPool and Gymnasium, timed in turn.

    python benchmarks/classic.py --peer-python ../peers/bin/python --write
    python benchmarks/classic.py --peer-python ../peers/bin/python --only CartPole --rounds 15

The interpreter is one in which EnvPool 1.2.5 and Gymnasium 1.4 are installed; without it our own side alone is timed.
Both sides are workers in processes of their own, ours, theirs, ours, ...; a ratio is taken within each turn, and its
median and quartiles are printed. Random actions; resets are counted everywhere but in single environments. "batch" is
our batch beside EnvPool, with as many threads; "vector" our vector form, infos included. `--write` puts the table into
benchmarks/classic.md.
"""

import argparse
import os
import platform
import statistics
import sys
from datetime import date
from pathlib import Path

import numpy as np

from run import Worker, ours

# our id: Gymnasium's, EnvPool's
IDS = {
    "CartPole-v0": ("CartPole-v1", "CartPole-v1"),
    "Pendulum-v0": ("Pendulum-v1", "Pendulum-v1"),
    "MountainCar-v0": ("MountainCar-v0", "MountainCar-v0"),
    "MountainCarContinuous-v0": ("MountainCarContinuous-v0", "MountainCarContinuous-v0"),
    "Acrobot-v0": ("Acrobot-v1", "Acrobot-v1"),
    "FrozenLake-v0": ("FrozenLake-v1", "FrozenLake-v1"),
    "CliffWalking-v0": ("CliffWalking-v1", "CliffWalking-v0"),
    "Taxi-v0": ("Taxi-v4", "Taxi-v3"),
    "Blackjack-v0": ("Blackjack-v1", "Blackjack-v1"),
}
USUAL = 1024  # worlds of batches and vectors
# our form and threads; the peer's package and form; the ratio that we aim for; worlds
CASES = [
    *(("batch", threads, "envpool", "vector", 1, USUAL) for threads in (1, 2)),
    *(("vector", threads, "gymnasium", "vector", 3, num) for num in (64, USUAL, 16 * USUAL) for threads in (1, 2)),
    ("vector", 1, "gymnasium", "sync", 100, USUAL),
    ("single", 1, "gymnasium", "single", 1, 1),
]
NATIVE = "CartPole-v0"  # what has a native vector form in Gymnasium, and does not end at once there
HEAD = "| id | form | peer | ours | theirs | ratio (quartiles) | aim |"


def peer(python: str, id: str, package: str, form: str, num: int, threads: int) -> Worker:
    named = ["--id", IDS[id][package == "envpool"], "--package", package, "--form", form]
    options = [*named, "--num", str(num), "--threads", str(threads)]
    return Worker([python, "classic_control.py", *options])


def row(id: str, case: tuple[str, int, str, str, int, int], given: argparse.Namespace) -> str:
    """A row of the table: medians of both sides, median and quartiles of the ratio."""
    form, threads, package, theirs, aim, num = case
    num = given.num or num
    mine = ours(id, form, num, threads, {})
    label = form if form == "single" else f"{form} of {num}, {threads} thread(s)"
    if not given.peer_python:
        rate = statistics.median(mine.rate(given.seconds) for _ in range(given.rounds))
        mine.close()
        return f"| {id} | {label} | | {rate:,.0f} | | | |"
    other = peer(given.peer_python, id, package, theirs, num, threads)
    pairs = [(mine.rate(given.seconds), other.rate(given.seconds)) for _ in range(given.rounds)]
    mine.close()
    other.close()
    a, b = (statistics.median(column) for column in zip(*pairs, strict=True))
    low, middle, high = np.quantile([x / y for x, y in pairs], [0.25, 0.5, 0.75])
    named = f"{package} {theirs}" if package == "gymnasium" else f"{package}, {threads} thread(s)"
    ratio = f"{middle:.3g} ({low:.3g} to {high:.3g})"
    return f"| {id} | {label} | {named} | {a:,.0f} | {b:,.0f} | {ratio} | {aim} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer-python", help="an interpreter that has EnvPool and Gymnasium")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=0.5, help="per turn")
    parser.add_argument("--num", type=int, help="worlds of batches and vectors, in place of those of the table")
    parser.add_argument("--only", default="", help="part of an id")
    parser.add_argument("--form", default="", help="one of our forms alone: batch, vector, single")
    parser.add_argument("--write", action="store_true", help="write benchmarks/classic.md")
    given = parser.parse_args()
    lines = [
        "# Classic control and toy text: steps per second beside others",
        "",
        f"Measured on {date.today()}: {platform.machine()}, {os.cpu_count()} cores, Python {sys.version.split()[0]}.",
        f"{given.rounds} turns of {given.seconds} s; medians. Random actions; resets count but in single environments.",
        "",
        HEAD,
        "|---|---|---|---|---|---|---|",
    ]
    print("\n".join(lines), flush=True)
    seen = set()
    for id in IDS:
        for case in CASES:
            form, threads, package, theirs, _, num = case
            unwanted = given.only not in id or given.form not in form
            if unwanted or (theirs == "vector" and form == "vector" and id != NATIVE):
                continue
            key = (id, form, threads, given.num or num, *((package, theirs) if given.peer_python else ()))
            if key in seen:
                continue
            seen.add(key)
            lines.append(row(id, case, given))
            print(lines[-1], flush=True)
    if given.write:
        Path(__file__).with_suffix(".md").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
