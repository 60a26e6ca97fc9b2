"""Mean travel times of the scripted players of SignalGrid at equal timing, and how fast the engine is.

    python benchmarks/traffic.py --write [--seeds 10] [--only single]

A travel time is that of CityFlow after an hour: vehicles that are still there count with their time so far. Intervals
are 95 %. With --write the tables go to benchmarks/traffic.md.
"""

import argparse
import math
import time
from pathlib import Path

import numpy as np

import rlenvs
from rlenvs.core.batch.kernel_batch import KernelBatch
from rlenvs.multi.traffic.signal_grid import SPEC, metrics

TABLE = Path(__file__).with_suffix(".md")
LEVELS = ("single", "", "arterial", "4x4", "city")
SPEEDS: dict[str, dict[str, object]] = {"2 x 2": {}, "4 x 4": {"level": "4x4"}, "16 x 16": {"rows": 16, "columns": 16}}
TICKS = 600  # of the engine, that are timed


def batch_of(count: int, **keywords: object) -> KernelBatch:
    batch = rlenvs.make_batch(SPEC.name, count, **keywords)
    batch.seed(range(count))
    batch.reset()
    return batch


def travel_times(level: str, player: str, seeds: int) -> np.ndarray:
    """Seconds, of each seed, when the hour is over."""
    plan = {"plan": "webster"} if player == "webster" else {}
    batch = batch_of(seeds, **({"level": level} if level else {}), **plan)
    batch.disable_autoreset()
    chooser = np.random.default_rng(0)
    for _ in range(batch.setup.horizon):
        if player == "random":
            batch.step(chooser.integers(0, batch.setup.action_size, batch.actions.shape))
        else:
            batch.step(batch.player_actions("fixed" if plan else player))
    return np.array([metrics(*batch.records(index))["travel_time"] for index in range(seeds)])


def cell(times: np.ndarray) -> str:
    return f"{times.mean():.1f} ± {1.96 * times.std(ddof=1) / math.sqrt(len(times)):.1f}"


def speed_row(name: str, keywords: dict[str, object]) -> str:
    """Steps and vehicle updates per second of processor time, one world, once its roads have filled for 20 minutes."""
    batch = batch_of(1, threads=1, **keywords)
    for _ in range(120):
        batch.step(batch.player_actions("fixed"))
    vehicles, spent = 0, 0.0
    for _ in range(TICKS // 10):
        actions = batch.player_actions("fixed")
        start = time.process_time()
        batch.step(actions)
        spent += time.process_time() - start
        vehicles += int(batch.records(0)[1].running)
    return f"| {name} | {vehicles // (TICKS // 10)} | {TICKS / spent:,.0f} | {10 * vehicles / spent / 1e6:.2f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--only", nargs="*", default=LEVELS, help="levels")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    seeds = options.seeds
    players = ("random", "fixed", "webster", *reversed(SPEC.players[:-1]))
    lines = [
        "# Traffic",
        "",
        f"Mean travel time in seconds after an hour, over {seeds} seeds, with its 95 % interval.",
        "",
    ]
    lines += ["| level | " + " | ".join(players) + " |", "|---" * (len(players) + 1) + "|"]
    print("\n".join(lines))
    for level in options.only:
        cells = [cell(travel_times(level, player, seeds)) for player in players]
        lines.append(f"| {level or '(default)'} | " + " | ".join(cells) + " |")
        print(lines[-1], flush=True)
    lines += [
        "",
        "One world on one thread: steps of the engine, and millions of vehicle updates, per second of processor time.",
        "",
    ]
    lines += ["| grid | vehicles | steps/s | updates/s |", "|---|---|---|---|"]
    for name, keywords in SPEEDS.items() if options.only == LEVELS else ():
        lines.append(speed_row(name, keywords))
        print(lines[-1], flush=True)
    if options.write:
        TABLE.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
