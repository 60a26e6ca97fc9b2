"""How often Meta-World's scripted experts, and random actions, do the tasks, at any step and at the last.

    python benchmarks/metaworld_success.py [TASK ...] [--seeds 500] [--random 100] [--write]

Whole episodes of 500 steps, on seeds from 0 on. Intervals are Wilson's, 95 %. With --write the rows that were measured
replace those in benchmarks/metaworld_success.md.
"""

import argparse
from pathlib import Path

import numpy as np
from arms_success import wilson
from gymnasium.vector import AutoresetMode

import rlenvs
from rlenvs.agents.benchmark_tasks import MT50
from rlenvs.agents.benchmarks import BENCHMARKS
from rlenvs.agents.evaluate import Policy, chooser

TABLE = Path(__file__).with_suffix(".md")
IDS = dict(zip(MT50, BENCHMARKS["MT50"].ids, strict=True))
HEAD = """# Success at Meta-World's tasks

`python benchmarks/metaworld_success.py --write`: in % of the episodes, with its 95 % interval; at any step, as
Meta-World counts, and at the last one. The seeds are those from 0 on.

| task | seeds | expert: ever | at the end | random: ever | at the end | seeds |
|---|---|---|---|---|---|---|
"""


def successes(id: str, policy: Policy, seeds: int) -> tuple[float, float]:
    """The share of episodes that are a success at any step, and at the last."""
    batch = rlenvs.make_batch(id, seeds, autoreset=AutoresetMode.DISABLED, threads=1)
    batch.seed(range(seeds))
    batch.reset()
    choose, ever = chooser(batch, policy, range(seeds)), np.zeros(seeds, np.bool_)
    while not batch.over.all():
        batch.step(choose())
        ever |= batch.success[:, 0]
    at_end = float(batch.success[:, 0].mean())
    batch.close()
    return float(ever.mean()), at_end


def cell(share: float, seeds: int) -> str:
    low, high = wilson(share, seeds)
    return f"{100 * share:.1f} ({100 * low:.1f} - {100 * high:.1f})"


def row(task: str, seeds: int, random: int) -> str:
    """Of the table."""
    mine = [cell(share, seeds) for share in successes(IDS[task], "expert", seeds)]
    of_random = [cell(share, random) for share in successes(IDS[task], "random", random)]
    return f"| {task} | {seeds} | {' | '.join(mine)} | {' | '.join(of_random)} | {random} |"


def written(rows: list[str]) -> str:
    """The page with these rows in place of those of the same task."""
    page = TABLE.read_text(encoding="utf-8").splitlines() if TABLE.exists() else []
    known = {line.split(" | ")[0][2:]: line for line in [*page, *rows] if line.count(" | ") == 6}
    return HEAD + "".join(f"{known[task]}\n" for task in MT50 if task in known)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tasks", nargs="*", help=f"of {', '.join(MT50)}; all by default")
    parser.add_argument("--seeds", type=int, default=500, help="of the expert")
    parser.add_argument("--random", type=int, default=100, help="seeds of random actions")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    if not set(options.tasks) <= set(MT50):
        parser.error(f"tasks are {', '.join(MT50)}")
    for task in options.tasks or MT50:
        line = row(task, options.seeds, options.random)
        print(line, flush=True)
        if options.write:
            TABLE.write_text(written([line]), encoding="utf-8")


if __name__ == "__main__":
    main()
