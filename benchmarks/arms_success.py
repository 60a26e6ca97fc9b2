"""How often the scripted experts, and random actions, succeed at the tasks of the arm, at every level.

    python benchmarks/arms_success.py [ID ...] [--seeds 500]

An episode counts as a success when its last step is one. Intervals are Wilson's, 95 %. The table of all tasks goes to
benchmarks/arms_success.md.
"""

import argparse
from pathlib import Path

import rlenvs
from rlenvs.agents.evaluate import evaluate
from rlenvs.agents.ratings import wilson
from rlenvs.core.catalogue.registry import world_of

TABLE = Path(__file__).parent / "arms_success.md"


def cell(env_id: str, policy: str, level: str, seeds: int) -> str:
    return percent(round(seeds * evaluate(env_id, policy, seeds=seeds, level=level).success_rate), seeds)


def percent(count: int, seeds: int) -> str:
    """A share of episodes in percent, with its interval."""
    low, high = wilson(count, seeds)
    return f"{100 * count / seeds:.1f} ({100 * low:.1f} - {100 * high:.1f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ids", nargs="*", help="environments; all tasks of the arm by default")
    parser.add_argument("--seeds", type=int, default=500)
    options = parser.parse_args()
    lines = [f"Success, %, over {options.seeds} seeds, with its 95 % interval.", ""]
    lines += ["| task | level | expert | random |", "|---|---|---|---|"]
    print("\n".join(lines))
    for env_id in options.ids or [id for id in rlenvs.list_envs() if "/Panda" in id]:
        for level in world_of(env_id).levels:
            cells = [cell(env_id, policy, level, options.seeds) for policy in ("expert", "random")]
            lines.append(f"| {env_id.removeprefix('rlenvs/')} | {level} | {cells[0]} | {cells[1]} |")
            print(lines[-1], flush=True)
    if not options.ids:
        TABLE.write_text("# Success at the tasks of the arm\n\n" + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
