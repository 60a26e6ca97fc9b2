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
    "counted in vectors and in EnvPool, not in single ones and in metaworld. Of a vector step of 64 worlds of reach "
    "91 % passes in MuJoCo's own step (2026-11-29)."
)

if __name__ == "__main__":
    write_beside_peers(CASES, __doc__, "Meta-World", NOTES, TABLE)
