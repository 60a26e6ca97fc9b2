"""Steps per second of the exploration worlds beside MarsExplorer, MiniGrid and Crafter, timed in turn.

    python benchmarks/exploration.py --peers benchmarks/peers.toml --rounds 3
    python benchmarks/exploration.py --peers benchmarks/peers.toml --write

`--write` puts the table into benchmarks/exploration.md.
"""

from pathlib import Path

from run import Case, write_beside_peers

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


NOTES = """Random actions of all choices, legal or not. Resets
count in batches; on the peers' side as their command in the file of peers says (--with-resets)."""

if __name__ == "__main__":
    write_beside_peers(CASES, __doc__, "Exploration", NOTES, Path(__file__).with_suffix(".md"))
