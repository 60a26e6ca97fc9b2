"""What layers cost: the batched step of QuadHover with a layer beside the same step without, timed in turn.

    python benchmarks/wrappers.py
    python benchmarks/wrappers.py --rounds 15 --write

Both are vector environments of 4096 worlds, with random actions and all resets counted. `--write` puts the table into
benchmarks/wrappers.md.
"""

import argparse
import os
import platform
import statistics
import sys
import time
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

import rlenvs
from rlenvs import wrappers as w

HERE = Path(__file__).parent
ID, WORLDS, STEPS = "QuadHover-v0", 4096, 40
LIMIT = 15.0  # percent

# name, layers, keywords of the environment
CASES: list[tuple[str, list[Any], dict[str, Any]]] = [
    ("Sensor, noise", [w.Sensor(noise=0.01)], {}),
]


class Turn:
    """One environment, stepped for a while at a time."""

    def __init__(self, layers: list[Any], keywords: dict[str, Any], threads: int | None) -> None:
        env = rlenvs.make_vec(ID, WORLDS, threads=threads, **keywords)
        self.env = w.wrap(env, *layers) if layers else env
        size = self.env.single_action_space.shape
        self.actions = np.random.default_rng(0).uniform(-1.0, 1.0, (STEPS, WORLDS, *size)).astype(np.float32)
        self.env.reset(seed=0)
        for _ in range(4):  # until starts and ends are spread out
            self.milliseconds()

    def milliseconds(self) -> float:
        """Per step."""
        start = time.perf_counter()
        for actions in self.actions:
            self.env.step(actions)
        return (time.perf_counter() - start) / STEPS * 1e3


def measure(layers: list[Any], keywords: dict[str, Any], rounds: int, threads: int | None) -> tuple[float, ...]:
    """Milliseconds of the bare step, and the percentage that the layers add: median, least, most."""
    bare, layered = Turn([], keywords, threads), Turn(layers, keywords, threads)
    pairs = []
    for k in range(rounds):
        first, second = (bare, layered) if k % 2 else (layered, bare)
        times = {first: first.milliseconds(), second: second.milliseconds()}
        pairs.append((times[bare], times[layered]))
    added = sorted(100.0 * (after / before - 1.0) for before, after in pairs)
    return statistics.median(before for before, _ in pairs), statistics.median(added), added[0], added[-1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--threads", type=int, help="of the batch; as a user gets it by default")
    parser.add_argument("--only", default="", help="part of a name")
    parser.add_argument("--write", action="store_true", help="write benchmarks/wrappers.md")
    options = parser.parse_args()
    lines = [
        "# What layers cost",
        "",
        f"`python benchmarks/wrappers.py --rounds {options.rounds} --write` on {date.today()}: {platform.machine()}, "
        f"{os.cpu_count()} cores, Python {sys.version.split()[0]}.",
        f"The step of {ID} in vector form, {WORLDS} worlds, random actions, resets counted: with the layer against "
        f"without, {options.rounds} turns of {STEPS} steps each, alternating. The aim is {LIMIT:g} % at most.",
        "",
        "| layer | bare step, ms | added, % (range) |",
        "|---|---|---|",
    ]
    print("\n".join(lines[-2:]), flush=True)
    for name, layers, keywords in CASES:
        if options.only in name:
            step, median, least, most = measure(layers, keywords, options.rounds, options.threads)
            lines.append(f"| {name} | {step:.2f} | {median:.1f} ({least:.1f} - {most:.1f}) |")
            print(lines[-1], flush=True)
    if options.write:
        (HERE / "wrappers.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
