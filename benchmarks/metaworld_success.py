"""In how many episodes Meta-World's scripted experts, and random actions, do the tasks at any step of 500.

    python benchmarks/metaworld_success.py [TASK ...] [--seeds 500] [--random 100] [--write]

On seeds from 0 on. Intervals are Wilson's, 95 %. With --write the rows that were measured replace those in
benchmarks/metaworld_success.md. What is done at the last step is in `scores.json`.
"""

import argparse
from pathlib import Path

import numpy as np
from arms_success import percent
from gymnasium.vector import AutoresetMode

import rlenvs
from rlenvs.agents.benchmark_tasks import MT50
from rlenvs.agents.benchmarks import BENCHMARKS
from rlenvs.agents.evaluate import Policy, chooser

TABLE = Path(__file__).with_suffix(".md")
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


def row(task: str, seeds: int, random: int) -> str:
    """Of the table."""
    mine, of_random = success(IDS[task], "expert", seeds), success(IDS[task], "random", random)
    return f"| {task} | {percent(mine, seeds)} | {seeds} | {percent(of_random, random)} | {random} |"


def written(rows: list[str]) -> str:
    """The page with these rows in place of those of the same task."""
    page = TABLE.read_text(encoding="utf-8").splitlines() if TABLE.exists() else []
    known = {line.split(" | ")[0][2:]: line for line in [*page, *rows] if line.count(" | ") == 4}
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
