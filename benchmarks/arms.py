"""Steps per second of arms beside the packages that have such worlds, timed in turn in one run.

    python benchmarks/arms.py --peers benchmarks/peers.toml

panda-gym (PyBullet), Gymnasium-Robotics' Fetch (MuJoCo), EnvPool's Fetch (MuJoCo in C++ threads). All decide 25 times a
second and give dictionaries of observation and goals. The table goes to benchmarks/arms.md.
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
GOAL = {"form": "goal"}
WIDE = {"form": "vector", "num": 64, "threads": 2, "keywords": GOAL}
CASES = [
    Case("PandaReach-v0", "single", "panda-gym-reach", 5, keywords=GOAL),
    Case("PandaReach-v0", peer="panda-gym-reach-8", goal=10, **WIDE),
    Case("PandaReach-v0", peer="fetch-reach-8", goal=3, **WIDE),
    Case("PandaReach-v0", peer="envpool-fetch-reach", goal=3, **WIDE),
    Case("PandaPickAndPlace-v0", "single", "panda-gym-pick-and-place", 5, keywords=GOAL),
    Case("PandaPickAndPlace-v0", peer="panda-gym-pick-and-place-8", goal=10, **WIDE),
    Case("PandaPickAndPlace-v0", peer="fetch-pick-and-place-8", goal=3, **WIDE),
    Case("PandaPickAndPlace-v0", peer="envpool-fetch-pick-and-place", goal=3, **WIDE),
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", type=Path, required=True, help="a file like peers.example.toml")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.7, help="per turn")
    parser.add_argument("--only", help="part of an id")
    parser.add_argument("--output", type=Path, default=HERE / "arms.md")
    options = parser.parse_args()
    peers = tomllib.loads(options.peers.read_text())
    lines = [
        "# Arms: steps per second beside others",
        "",
        f"Measured on {date.today()}: {platform.machine()}, {os.cpu_count()} cores, Python {sys.version.split()[0]}.",
        f"Random actions; {options.rounds} turns of {options.seconds} s; medians. -8: eight processes (Gymnasium's",
        "AsyncVectorEnv). EnvPool: 64 environments, 2 threads. Resets are counted in vectors, not in single ones.",
        "",
        "A step of an arm is 0.04 s everywhere: 20 physics steps of 2 ms in all peers, 8 of 5 ms here.",
        "",
        *rates_beside_peers(CASES, peers, options.rounds, options.seconds, options.only),
        "",
    ]
    options.output.write_text("\n".join(lines))


if __name__ == "__main__":
    main()
