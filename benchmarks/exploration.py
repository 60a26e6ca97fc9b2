"""Steps per second of the exploration worlds beside MarsExplorer, MiniGrid and Crafter, timed in turn.

    python benchmarks/exploration.py --peers benchmarks/peers.toml --rounds 3
    python benchmarks/exploration.py --peers benchmarks/peers.toml --write

`--write` puts the table into benchmarks/exploration.md.
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
WIDE = {"form": "vector", "num": 256, "threads": 2}
CORE = {"form": "vector", "num": 256, "threads": 1}
CASES = [
    Case("MarsExplorer-v0", "single", "mars-explorer", 10),
    Case("MarsExplorer-v0", peer="mars-explorer", goal=250, **CORE),
    Case("MarsExplorer-v0", peer="mars-explorer", goal=500, **WIDE),
    Case("MiniGridDoorKey8x8-v0", "single", "minigrid-doorkey", 5),
    Case("MiniGridDoorKey8x8-v0", peer="minigrid-doorkey", goal=50, **CORE),
    Case("MiniGridDoorKey8x8-v0", peer="minigrid-doorkey", goal=50, **WIDE),
    Case("MiniGridFourRooms-v0", peer="minigrid-fourrooms", goal=50, **WIDE),
    Case("Crafting-v0", "single", "crafter", 5),
    Case("Crafting-v0", peer="crafter", goal=30, **CORE),
    Case("Crafting-v0", peer="crafter", goal=30, **WIDE),
    Case("Crafting-v0", peer="crafter", goal=30, keywords={"pixels": True}, **WIDE),
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", type=Path, required=True, help="a file like peers.example.toml")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1.0, help="per turn")
    parser.add_argument("--only", help="part of an id")
    parser.add_argument("--write", action="store_true", help="write benchmarks/exploration.md")
    options = parser.parse_args()
    peers = tomllib.loads(options.peers.read_text())
    lines = [
        "# Exploration: steps per second beside others",
        "",
        f"Measured on {date.today()}: {platform.machine()}, {os.cpu_count()} cores, Python {sys.version.split()[0]}.",
        f"{options.rounds} turns of {options.seconds} s; medians. Random actions of all choices, legal or not. Resets",
        "count in batches; on the peers' side as their command in the file of peers says (--with-resets).",
        "",
        *rates_beside_peers(CASES, peers, options.rounds, options.seconds, options.only),
        "",
    ]
    if options.write:
        (HERE / "exploration.md").write_text("\n".join(lines))


if __name__ == "__main__":
    main()
