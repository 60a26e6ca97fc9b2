"""Agent-steps per second of Hanabi and the switch riddle beside JaxMARL on the processor, timed in turn.

    python benchmarks/hanabi_speed.py --peers peers.toml --write

Ours: legal random moves, chosen by the world's player "random", which is not counted. JaxMARL: any moves, drawn before;
a scan of compiled steps that carries the observations along.
"""

from pathlib import Path

from run import Case, write_beside_peers

BATCH = {"form": "batch", "num": 256, "threads": 1, "goal": 10}
CASES = [
    Case("Hanabi-v0", peer="jaxmarl-hanabi", keywords={"level": "belief"}, legal=True, **BATCH),
    Case("Hanabi-v0", peer="jaxmarl-hanabi", legal=True, **BATCH),
    Case("SwitchRiddle-v0", peer="jaxmarl-switch-riddle", legal=True, **BATCH),
]
NOTES = (
    "Legal random moves in ours, not counted, any in JaxMARL; resets count in both. Ours come with masks. A step is "
    "one move on both sides: in JaxMARL all agents choose in each step, but one of them acts. A step of the riddle is "
    "a few operations, which JaxMARL does for many worlds in one vector, and ours for eight."
)

if __name__ == "__main__":
    write_beside_peers(CASES, __doc__, "Hanabi and the switch riddle", NOTES, Path(__file__).with_suffix(".md"))
