"""Images per second of Mortar Mayhem, Mystery Path and Searing Spotlights beside Memory Gym, timed in turn.

    python benchmarks/memory.py --peer-python /path/to/memory_gym/bin/python
    python benchmarks/memory.py --peer-python /path/to/memory_gym/bin/python --output benchmarks/memory.md

Random actions. Three forms of ours: a single environment behind `gymnasium.make`, a batch on one core, a batch on two.
Resets are counted in our batches, and nowhere else. Without `--peer-python` ours alone are timed. The docstring of
peers/memory_gym_worlds.py says how the peer is installed.
"""

import argparse
import os
import platform
import statistics
import sys
from datetime import date
from pathlib import Path

from run import Case, Worker, ours

# our id, the peer's id
WORLDS = {
    "MortarMayhem-v0": "MortarMayhem-v0",
    "MortarMayhemGrid-v0": "MortarMayhem-Grid-v0",
    "MortarMayhemB-v0": "MortarMayhemB-v0",
    "MortarMayhemBGrid-v0": "MortarMayhemB-Grid-v0",
    "EndlessMortarMayhem-v0": "Endless-MortarMayhem-v0",
    "MysteryPath-v0": "MysteryPath-v0",
    "MysteryPathGrid-v0": "MysteryPath-Grid-v0",
    "EndlessMysteryPath-v0": "Endless-MysteryPath-v0",
    "SearingSpotlights-v0": "SearingSpotlights-v0",
    "EndlessSearingSpotlights-v0": "Endless-SearingSpotlights-v0",
}
FORMS = [("single", 1, 1, 0.0), ("batch", 64, 1, 20.0), ("batch", 64, 2, 40.0)]  # form, worlds, threads, aim


def compare(id: str, peer: Worker | None, rounds: int, seconds: float) -> list[str]:
    """Rows of one world: medians of rates, and of the ratios of turns that follow each other."""
    rows = []
    for form, num, threads, goal in FORMS:
        case = Case(id, form, "memory-gym", goal, num=num, threads=threads)
        mine = ours(id, form, num, threads, {}, False)
        pairs = [(mine.rate(seconds), peer.rate(seconds) if peer else float("nan")) for _ in range(rounds)]
        mine.close()
        a, b = (statistics.median(column) for column in zip(*pairs, strict=True))
        ratios = sorted(a / b for a, b in pairs)
        told = f"{statistics.median(ratios):,.3g} ({ratios[0]:,.3g} - {ratios[-1]:,.3g})" if peer else "-"
        aim = f"{goal:g}" if goal else "-"
        rows.append(
            f"| {id} | {case.label} | memory-gym | {a:,.0f} | {f'{b:,.0f}' if peer else '-'} | {told} | {aim} |"
        )
        print(rows[-1], flush=True)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer-python", help="an interpreter that has memory-gym")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.5, help="per turn")
    parser.add_argument("--only", default="", help="part of an id")
    parser.add_argument("--output", type=Path, help="where to write the table")
    options = parser.parse_args()
    lines = [
        "# Memory Gym's games: images per second",
        "",
        f"Measured on {date.today()}: {platform.machine()}, {os.cpu_count()} cores, Python {sys.version.split()[0]}.",
        f"Random actions; {options.rounds} turns of {options.seconds} s; medians.",
        "",
        "| id | form | peer | ours | theirs | ratio (min - max) | aim |",
        "|---|---|---|---|---|---|---|",
    ]
    print(*lines[-2:], sep="\n")
    for id, theirs in WORLDS.items():
        if options.only in id:
            command = [options.peer_python, "memory_gym_worlds.py", "--id", theirs]
            peer = Worker(command) if options.peer_python else None
            lines += compare(id, peer, options.rounds, options.seconds)
            if peer:
                peer.close()
    if options.output:
        options.output.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
