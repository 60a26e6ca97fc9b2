"""Steps per second of the planar worlds beside Box2D and pymunk, timed in turn, as their packages run them.

    python benchmarks/planar.py --peers benchmarks/peers.toml --rounds 5

Peers: Gymnasium 1.4 with box2d 2.3.10, one environment, EnvPool 1.2.5, 64 environments in one thread, and PettingZoo
1.27, one environment (agent-steps; its Pistonball without rendering, so without pictures). All on Box2D ask for 180
iterations of velocities and 60 of positions; ours stop when they change nothing any more. Resets of batches count.
`--write` puts the table into benchmarks/planar.md.
"""

from pathlib import Path

from run import Case, write_beside_peers

CASES = [
    Case("LunarLander-v0", "single", "gymnasium-lander", 3),
    Case("LunarLander-v0", "batch", "envpool-lander", 3, num=64),
    Case("LunarLander-v0", "batch", "envpool-lander", 3, num=64, keywords={"level": "fast"}),
    Case("BipedalWalker-v0", "single", "gymnasium-walker", 3),
    Case("BipedalWalker-v0", "batch", "envpool-walker", 3, num=64),
    Case("BipedalWalker-v0", "batch", "envpool-walker", 3, num=64, keywords={"level": "fast"}),
    Case("MultiWalker-v0", "parallel", "pettingzoo-multiwalker", 3),
    Case("MultiWalker-v0", "batch", "pettingzoo-multiwalker", 3, num=64),
    Case("Pistonball-v0", "parallel", "pettingzoo-pistonball", 3),
    Case("Pistonball-v0", "batch", "pettingzoo-pistonball", 30, num=64),
]

NOTES = """Random actions, one thread. At the level `fast` at most 12 and 6 iterations."""

if __name__ == "__main__":
    write_beside_peers(CASES, __doc__, "Lander and walker", NOTES, Path(__file__).with_suffix(".md"))
