"""Does training with drawn bodies make PPO robust? Worst case and average over a grid of RRLS, trained both ways.

    python benchmarks/robust_training.py rrls-hopper-2           train what is left, and play the finished runs
    python benchmarks/robust_training.py rrls-hopper-2 --write   the same, and write robust_training.md

PPO with the settings of `locomotion.toml`: with the robot's own body, and with one drawn from the set for each episode;
equally many steps and seeds. The same command goes on after an interruption (Ctrl+C). Runs lie in
runs/robust/SET/METHOD/seed-K. Every agent plays the same episodes with each body of the grid.
"""

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

from rlenvs.agents.files import load_agent
from rlenvs.agents.hyperparameters import settings_for
from rlenvs.agents.hyperparameters.settings import Settings
from rlenvs.agents.rrls import HEAD, checked_set, robot_of, rrls, score_rows
from rlenvs.agents.runs import AGENT, is_complete, run, run_folder, stopped_by_signals
from rlenvs.wrappers.robustness import RRLS_SETS

PAGE = Path(__file__).with_suffix(".md")
METHODS = ("own body", "drawn bodies")


def settings_of(set: str, method: str, steps: int | None) -> Settings:
    """The settings of a run."""
    own, region = settings_for(robot_of(set), algorithm="PPO", steps=steps), RRLS_SETS[set]
    if method == METHODS[0]:
        return own
    ranges = {name: [float(values[0]), float(values[-1])] for name, values in region.ranges.items()}
    return replace(own, training={**own.training, "randomize": ranges})


def train(set: str, options: argparse.Namespace) -> bool:
    """Do what is left of the runs of a set; whether all have come to their ends."""
    for seed in range(options.seeds):
        for method in METHODS:
            folder, settings = folder_of(options.output, set, method, seed), settings_of(set, method, options.steps)
            if is_complete(folder):
                continue
            with stopped_by_signals() as stop:
                done = run(robot_of(set), settings, folder, seed=seed, resume=True, stop=stop)
            print(f"{set}, {method}, seed {seed}: {done.steps:,} of {done.total:,} steps", flush=True)
            if done.stopped:
                return False
    return True


def folder_of(output: Path, set: str, method: str, seed: int) -> Path:
    return run_folder(output / set / method.replace(" ", "-"), seed)


def played(set: str, options: argparse.Namespace) -> list[tuple[str, ...]]:
    """Rows of the table: an agent each, and the mean of each method with its interval over seeds."""
    rows = []
    for method in METHODS:
        agents: dict[str, Any] = {
            f"{method}, seed {seed}": load_agent(folder_of(options.output, set, method, seed) / AGENT)
            for seed in range(options.seeds)
        }
        found = score_rows(rrls(set, agents, n_episodes=options.episodes, points=options.points))
        rows += [(row[0], f"{method}, {row[1]}" if row[1].startswith("mean") else row[1], *row[2:]) for row in found]
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="+", metavar="SET", help="such as rrls-hopper-2")
    parser.add_argument("--seeds", type=int, default=2, help="of each training")
    parser.add_argument("--steps", type=int, help="of each training; those of the settings if left out")
    parser.add_argument("--episodes", type=int, default=10, help="with each body")
    parser.add_argument("--points", type=int, default=10, help="of the grid, for each parameter")
    parser.add_argument("--output", type=Path, default=Path("runs/robust"), help="folder of the runs")
    parser.add_argument("--write", action="store_true", help=f"write benchmarks/{PAGE.name}")
    options = parser.parse_args()
    sets = [checked_set(name) for name in options.sets]
    if not all(train(set, options) for set in sets):
        return
    table = [HEAD, ("---",) * len(HEAD), *(row for set in sets for row in played(set, options))]
    lines = ["| " + " | ".join(cell.strip() for cell in row) + " |" for row in table]
    print("\n".join(lines))
    if options.write:
        command = f"`python benchmarks/robust_training.py {' '.join(sets)} --write`"
        told = f"{command}: mean returns of {options.episodes} episodes with each body."
        PAGE.write_text("\n".join(["# PPO with drawn bodies", "", told, "", *lines, ""]))


if __name__ == "__main__":
    main()
