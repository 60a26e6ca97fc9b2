"""Steps per second of puzzles beside the packages that have them, timed in turn.

    python benchmarks/puzzles.py --peers benchmarks/peers.toml --rounds 3

Peers: PushWorld's own Gym environment, which draws a frame in every step, and its rules alone; Jumanji's puzzles (JAX
on the CPU, compiled, as many threads as it takes), whose resets count. Ours are batches, whose resets count, in one
thread; observations, rewards and masks are made in every step. `--write` puts the table into benchmarks/puzzles.md.
"""

import argparse
import os
import platform
import sys
import tomllib
from datetime import date
from pathlib import Path

from run import Case, rates_beside_peers

HERE = Path(__file__).parent
PIXELS = {"observation": "pixels"}
CASES = [
    Case("PushWorld-v0", "batch", "pushworld", 500, num=4096),
    Case("PushWorld-v0", "batch", "pushworld-rules", 1, num=4096),
    Case("PushWorld-v0", "batch", "pushworld", 20, num=64, keywords=PIXELS),
    Case("PushWorld-v0", "single", "pushworld", 20),
    Case("PushWorld-v0", "single", "pushworld", 20, keywords=PIXELS),
    Case("Game2048-v0", "batch", "jumanji-2048", 1, num=4096),
    Case("SlidingTiles-v0", "batch", "jumanji-tiles", 1, num=4096, keywords={"size": 5}),
    Case("Minesweeper-v0", "batch", "jumanji-mines", 1, num=4096),
    Case("RubiksCube-v0", "batch", "jumanji-cube", 1, num=4096, keywords={"one_hot": False}),
    Case("Sokoban-v0", "batch", "jumanji-sokoban", 1, num=4096),
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", type=Path, required=True, help="a file like peers.example.toml")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1.0, help="per turn")
    parser.add_argument("--only", help="part of an id")
    parser.add_argument("--write", action="store_true", help="write benchmarks/puzzles.md")
    options = parser.parse_args()
    peers = tomllib.loads(options.peers.read_text())
    lines = [
        "# Puzzles: steps per second beside others",
        "",
        f"Measured on {date.today()}: {platform.machine()}, {os.cpu_count()} cores, Python {sys.version.split()[0]}.",
        f"{options.rounds} turns of {options.seconds} s; medians. Random actions. Resets count in our batches",
        "and in Jumanji, which may use both cores; ours one.",
        "",
        *rates_beside_peers(CASES, peers, options.rounds, options.seconds, options.only),
        "",
    ]
    if options.write:
        (HERE / "puzzles.md").write_text("\n".join(lines))


if __name__ == "__main__":
    main()
