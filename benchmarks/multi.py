"""Agent-steps per second of battles, particles, kitchens, robots and generals beside packages that have them.

    python benchmarks/multi.py --peers benchmarks/peers.toml --rounds 3
    python benchmarks/multi.py --peers benchmarks/peers.toml --write

They are timed in turn. Peers: JaxMARL's SMAX with its heuristic enemy, particle worlds, kitchens and jaxnav (JAX on the
CPU, compiled), Overcooked-AI, mpe2, generals-bots in its NumPy and in its JAX version. `--write` puts the table into
benchmarks/multi.md. `--batch-sizes` times the JAX peers alone at several sizes, to find the best ones for peers.toml.
"""

import argparse
import os
import platform
import re
import shlex
import statistics
import sys
import tomllib
from datetime import date
from pathlib import Path

from run import BY_CPU, Case, Worker, rates_beside_peers

HERE = Path(__file__).parent
WIDE, ALONE = {"form": "batch", "threads": 2}, {"form": "batch"}
BOARD = {"height": 24, "width": 24, "opponent": "self", "horizon": 500}
CASES = [
    Case("Battle-v0", peer="smax-8m", goal=15, num=256, keywords={"scenario": "8m"}, legal=True, **WIDE),
    Case(
        "Battle-v0", peer="smax-27m_vs_30m", goal=15, num=256, keywords={"scenario": "27m_vs_30m"}, legal=True, **WIDE
    ),
    Case("ParticleSpread-v0", "parallel", "mpe2-spread", 10),
    Case("ParticleSpread-v0", peer="mpe2-spread-resets", goal=200, num=4096, **WIDE),
    Case("ParticleSpread-v0", peer="jaxmarl-spread", goal=5, num=4096, **WIDE),
    Case("Overcooked-v0", peer="jaxmarl-overcooked", goal=15, num=256, **ALONE),
    Case("Overcooked-v0", peer="jaxmarl-overcooked-ring", goal=15, num=256, keywords={"level": "coord_ring"}, **ALONE),
    Case("Overcooked-v0", "parallel", "overcooked-ai", 100),
    Case("Overcooked-v0", "batch", "overcooked-ai", 100, num=1, threads=1),
    Case("Overcooked-v0", "batch", "overcooked-ai-ring", 100, num=1, threads=1, keywords={"level": "coord_ring"}),
    Case("OvercookedV2-v0", peer="jaxmarl-overcooked-v2", goal=15, num=256, **ALONE),
    Case("LidarNavigation-v0", peer="jaxmarl-navigation", goal=15, num=256, keywords={"level": "discrete"}, **ALONE),
    Case("Generals-v0", "parallel", "generals-bots", 5, keywords=BOARD, legal=True),
    Case("Generals-v0", peer="generals-bots-resets", goal=50, num=96, keywords=BOARD, legal=True, **WIDE),
    Case("Generals-v0", peer="generals-jax", goal=5, num=96, keywords=BOARD, legal=True, **WIDE),
    Case("Generals-v0", peer="generals-jax-tensors", goal=5, num=96, keywords=BOARD, legal=True, **WIDE),
]
SIZES = {
    "smax-8m": (1024, 4096, 16384),
    "smax-27m_vs_30m": (256, 1024, 4096),
    "jaxmarl-spread": (1024, 4096, 16384),
    "jaxmarl-overcooked": (256, 1024, 4096),
    "jaxmarl-overcooked-ring": (256, 1024, 4096),
    "jaxmarl-overcooked-v2": (256, 1024, 4096),
    "jaxmarl-navigation": (4, 16, 64),
    "generals-jax": (128, 512, 2048),
}


def best_sizes(peers: dict[str, str], seconds: float, only: str | None) -> None:
    """Print the rates of the JAX peers at several batch sizes."""
    for name, sizes in SIZES.items():
        if name not in peers or (only and only not in name):
            continue
        for size in sizes:
            worker = Worker(shlex.split(re.sub(r"--num \d+", f"--num {size}", peers[name])))
            rate = statistics.median(worker.rate(seconds) for _ in range(3))
            worker.close()
            print(f"{name:20} {size:6}  {rate:12,.0f} agent-steps/s", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", type=Path, required=True, help="a file like peers.example.toml")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1.0, help="per turn")
    parser.add_argument("--only", help="part of an id, or of a peer's name with --batch-sizes")
    parser.add_argument(
        "--cpu", action="store_true", help="count the time that processors worked, for a machine that others use too"
    )
    parser.add_argument("--batch-sizes", action="store_true", help="find the best batch sizes of the JAX peers")
    parser.add_argument("--write", action="store_true", help="write benchmarks/multi.md")
    options = parser.parse_args()
    peers = tomllib.loads(options.peers.read_text())
    if options.batch_sizes:
        best_sizes(peers, options.seconds, options.only)
        return
    lines = [
        "# Battles, particles, kitchens and generals: agent-steps per second beside others",
        "",
        f"Measured on {date.today()}: {platform.machine()}, {os.cpu_count()} cores, Python {sys.version.split()[0]}.",
        f"{options.rounds} turns of {options.seconds} s; medians. Random actions; in Battle and Generals legal ones,",
        "chosen outside the count (in batches by the world's player random). Our steps give masks, and in Generals the",
        "planes that a network reads, which is counted; the JAX peers get any actions, and give neither but in",
        "-tensors. Resets count in batches and JAX peers, in single environments in -resets only.",
        "JAX peers: compiled scans at their best batch size, observations carried along. The scripted enemies in a",
        "battle do not count as agents.",
        *[BY_CPU] * options.cpu,
        "",
        *rates_beside_peers(CASES, peers, options.rounds, options.seconds, options.only, options.cpu),
        "",
    ]
    if options.write:
        (HERE / "multi.md").write_text("\n".join(lines))


if __name__ == "__main__":
    main()
