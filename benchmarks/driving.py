"""Steps per second of driving worlds beside highway-env and EnvPool's port of it, timed in turn.

    python benchmarks/driving.py --peers benchmarks/peers.toml --rounds 3

A step of Highway is a decision, a second of fifty cars in fifteen moments of simulation. Resets count in our batches
and in EnvPool. `--write` puts the table into benchmarks/driving.md.
"""

from pathlib import Path

from run import Case, write_beside_peers

CASES = [
    Case("Highway-v0", "single", "highway-env", 200),
    Case("Highway-v0", "single", "envpool-highway", 1),
    Case("Highway-v0", "batch", "envpool-highway-64", 5, num=64),
    Case("Merge-v0", "single", "highway-env-merge", 200),
    Case("Roundabout-v0", "single", "highway-env-roundabout", 200),
    Case("Intersection-v0", "single", "highway-env-intersection", 200),
]
NOTES = """Random actions, one thread each. Resets count in our batches and in EnvPool."""

if __name__ == "__main__":
    write_beside_peers(CASES, __doc__, "Driving", NOTES, Path(__file__).with_suffix(".md"))
