"""Steps per second of puzzles beside the packages that have them, timed in turn.

    python benchmarks/puzzles.py --peers benchmarks/peers.toml --rounds 3

Peers: PushWorld's own Gym environment, which draws a frame in every step, and its rules alone; Jumanji's puzzles (JAX
on the CPU, compiled, as many threads as it takes), whose resets count. Ours are batches, whose resets count, in one
thread; observations, rewards and masks are made in every step. `--write` puts the table into benchmarks/puzzles.md.
"""

from pathlib import Path

from run import Case, write_beside_peers

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


NOTES = """Random actions. Resets count in our batches
and in Jumanji, which may use both cores; ours one."""

if __name__ == "__main__":
    write_beside_peers(CASES, __doc__, "Puzzles", NOTES, Path(__file__).with_suffix(".md"))
