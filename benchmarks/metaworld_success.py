"""In how many episodes Meta-World's scripted experts, and random actions, do the tasks at any step of 500.

    python benchmarks/metaworld_success.py [TASK ...] [--policies expert random] [--seeds 500] [--write]

On seeds from 0 on. Intervals are Wilson's, 95 %. With --write what was measured replaces what is in
benchmarks/metaworld_success.md. What is done at the last step is in `scores.json`.
"""

import argparse
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from arms_success import percent
from gymnasium.vector import AutoresetMode

import rlenvs
from rlenvs.agents.benchmark_tasks import MT50
from rlenvs.agents.benchmarks import BENCHMARKS
from rlenvs.agents.evaluate import Policy, chooser

TABLE = Path(__file__).with_suffix(".md")
POLICIES = ("expert", "random")
IDS = dict(zip(MT50, BENCHMARKS["MT50"].ids, strict=True))
HEAD = """# Success at Meta-World's tasks

`python benchmarks/metaworld_success.py --write`: in % of the episodes, at any step of 500, as Meta-World counts, with
the 95 % interval. The seeds are those from 0 on. [Scores](../docs/scores.md) have the success at the last step.

| task | expert | seeds | random | seeds |
|---|---|---|---|---|
"""


def success(id: str, policy: Policy, seeds: int) -> int:
    """How many episodes are a success at any step; each is played until then, or to its end."""
    batch = rlenvs.make_batch(id, seeds, autoreset=AutoresetMode.DISABLED, threads=1)
    batch.seed(range(seeds))
    batch.reset()
    choose, ever = chooser(batch, policy, range(seeds)), np.zeros(seeds, np.bool_)
    while (going := ~(ever | batch.over)).any():
        batch.load_actions(choose())
        batch.step_inplace(going)
        ever |= batch.success[:, 0]
    batch.close()
    return int(ever.sum())


def written(task: str, found: Mapping[str, list[str]]) -> str:
    """The page with new cells of a task, by policy: its success and the number of seeds."""
    page = TABLE.read_text(encoding="utf-8").splitlines() if TABLE.exists() else []
    rows = {cells[0]: cells[1:] for line in page if len(cells := line[2:-2].split(" | ")) == 5}
    old = rows.get(task, [""] * 4)
    rows[task] = found.get("expert", old[:2]) + found.get("random", old[2:])
    return HEAD + "".join(f"| {' | '.join([name, *rows[name]])} |\n" for name in MT50 if name in rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tasks", nargs="*", help=f"of {', '.join(MT50)}; all by default")
    parser.add_argument("--policies", nargs="+", default=list(POLICIES), choices=POLICIES)
    parser.add_argument("--seeds", type=int, default=500)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    if not set(options.tasks) <= set(MT50):
        parser.error(f"tasks are {', '.join(MT50)}")
    for task in options.tasks or MT50:
        seeds = options.seeds
        counts = {policy: success(IDS[task], policy, seeds) for policy in options.policies}
        found = {policy: [percent(count, seeds), str(seeds)] for policy, count in counts.items()}
        print(task, *(f"{policy} {' of '.join(cells)}" for policy, cells in found.items()), sep=", ", flush=True)
        if options.write:
            TABLE.write_text(written(task, found), encoding="utf-8")


if __name__ == "__main__":
    main()
