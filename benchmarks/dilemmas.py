"""Agent-steps per second of the coin game and STORM beside JaxMARL, and of Harvest and Cleanup beside the Python
original, timed in turn.

    python benchmarks/dilemmas.py --peers peers.toml --write

Random actions, drawn before. Resets count in batches and in JaxMARL.
"""

from pathlib import Path

from run import Case, write_beside_peers

WIDE = {"form": "batch", "num": 4096, "threads": 1}
CASES = [
    Case("CoinGame-v0", peer="jaxmarl-coin", goal=15, **WIDE),
    Case("Storm-v0", peer="jaxmarl-storm-pair", goal=15, **WIDE),
    Case("Storm-v0", peer="jaxmarl-storm-2", goal=15, **WIDE),
    Case("Storm-v0", peer="jaxmarl-storm-8", goal=15, keywords={"agents": 8}, **WIDE),
    Case("Harvest-v0", "parallel", "ssd-harvest", 100, keywords={"observation": "pixels"}),
    Case("Cleanup-v0", "parallel", "ssd-cleanup", 100, keywords={"observation": "pixels"}),
    Case("Harvest-v0", "batch", "ssd-harvest", 100, num=1, threads=1, keywords={"observation": "pixels"}),
    Case("Cleanup-v0", "batch", "ssd-cleanup", 100, num=1, threads=1, keywords={"observation": "pixels"}),
]
NOTES = (
    "Random actions, drawn before. Resets count in batches and in JaxMARL (compiled scans of 1024 to 4096 worlds, "
    "observations carried along), not in the parallel form and the Python original, of which there is one world. "
    "STORM is timed beside storm_2p, which is for a pair alone: JAX had not compiled JaxMARL's storm for two "
    "agents after 170 s of processor time."
)

if __name__ == "__main__":
    write_beside_peers(CASES, __doc__, "Social dilemmas", NOTES, Path(__file__).with_suffix(".md"))
