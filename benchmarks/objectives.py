"""Steps per second of the worlds with several objectives beside mo-gymnasium 1.3.2, timed in turn.

    python benchmarks/objectives.py --peers peers.toml --cpu --write

"single" leaves out resets; "vector", with two threads, counts its own. Random actions.
"""

from pathlib import Path

from run import WIDE, Case, write_beside_peers

# our id, theirs in peers.toml
PEERS = {
    "mo-DeepSeaTreasure-v0": "mo-deep-sea",
    "mo-ResourceGathering-v0": "mo-resources",
    "mo-Fishwood-v0": "mo-fishwood",
    "mo-FruitTree-v0": "mo-fruit-tree",
    "mo-BreakableBottles-v0": "mo-bottles",
    "mo-FourRoomsShapes-v0": "mo-four-room",
}
CASES = [
    *(Case(id, "single", peer, 1) for id, peer in PEERS.items()),
    Case("mo-Minecart-v0", "single", "mo-minecart", 5),
    *(Case(id, peer=peer, goal=100, **WIDE) for id, peer in PEERS.items()),
    Case("mo-Minecart-v0", peer="mo-minecart", goal=300, **WIDE),
]
NOTES = "Random actions; resets count in vectors alone."

if __name__ == "__main__":
    write_beside_peers(CASES, __doc__, "Worlds with several objectives", NOTES, Path(__file__).with_suffix(".md"))
