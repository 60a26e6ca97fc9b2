"""Moves per second of board games beside MOMAland 0.2.0 and OpenSpiel 2.0.2, timed in turn.

    python benchmarks/boards.py --peers peers.toml --write

Random legal choices, whose choosing is not counted. Resets count in ours alone.
"""

from pathlib import Path

from run import Case, write_beside_peers

BATCH = {"form": "batch", "num": 4096, "threads": 2, "goal": 20, "legal": True}
CASES = [
    Case("ConnectFour-v0", peer="spiel-connect-four", **BATCH),
    Case("Breakthrough-v0", peer="spiel-breakthrough", **BATCH),
    Case("Breakthrough-v0", peer="momaland-breakthrough", **BATCH),
    Case("SameGame-v0", peer="momaland-samegame", **BATCH),
    Case("Ingenious-v0", peer="momaland-ingenious", **BATCH),
]
NOTES = "Random legal choices, not counted; resets count in ours alone. A move comes with what is seen and allowed."

if __name__ == "__main__":
    write_beside_peers(CASES, __doc__, "Board games", NOTES, Path(__file__).with_suffix(".md"))
