"""Steps per second of Meta-World's tasks beside EnvPool's and metaworld's, timed in turn in one run.

    python benchmarks/metaworld_speed.py --peers benchmarks/peers.toml [--only Reach] [--cpu] [--write]

All decide 80 times a second, with 5 physics steps each. `--write` puts the table into benchmarks/metaworld_speed.md.
"""

from pathlib import Path

from run import Case, write_beside_peers

TABLE = Path(__file__).with_suffix(".md")
TASKS = {  # and what the file of peers calls them
    "MetaWorldReach-v0": "reach",
    "MetaWorldPush-v0": "push",
    "MetaWorldPegInsertSide-v0": "peg-insert-side",
    "MetaWorldDrawerOpen-v0": "drawer-open",
    "MetaWorldWindowOpen-v0": "window-open",
}
CASES = [
    case
    for id, task in TASKS.items()
    for case in (
        Case(id, "vector", f"envpool-metaworld-{task}", 3, num=64, threads=1),
        Case(id, "vector", f"metaworld-{task}", 15, num=64, threads=1),
        Case(id, "single", f"metaworld-{task}", 4),
    )
]
NOTES = (
    "Random actions. EnvPool: 64 environments, a thread. metaworld: one environment, which is what it has. Resets are "
    "counted in vectors and in EnvPool, not in single ones and in metaworld. Of a vector step of 64 worlds 95 % passes "
    "in MuJoCo's own step (2026-11-29): five physics steps of 7.1 us (window-open) to 10.8 us (reach), and 4 us for "
    "the readings at the end. The solver needs one iteration; a pyramidal cone, a looser tolerance and fewer shapes "
    "that can touch save at most 4 %. Without any contact a physics step still costs 5.3 us, so the whole step of 7.5 "
    "us that 15 times metaworld asks for is out of the reach of five of them."
)

if __name__ == "__main__":
    write_beside_peers(CASES, __doc__, "Meta-World", NOTES, TABLE)
