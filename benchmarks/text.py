"""Win rates of random admissible commands, and lengths of quests and plans, by level; and commands per second.

    python benchmarks/text.py --write [--episodes 1000]

Intervals are 95 % (Wilson). An episode has ten times the commands of its quest. With --write the tables go to
benchmarks/text.md.
"""

import argparse
import time
from pathlib import Path

import numpy as np

import rlenvs
from rlenvs.agents.ratings import wilson
from rlenvs.core.batch.kernel_batch import KernelBatch

TABLE = Path(__file__).with_suffix(".md")
ID = "TextAdventure-v0"
COINS = (1, 5, 10, 20, 50, 100, 105, 110, 120, 150, 205, 210, 220, 250)
HUNTS = (1, 5, 10, 11, 15, 20, 21, 25, 30)
OTHERS = (
    *("house", "cooking-1-1-2", "cooking-6-3-0", "cooking-12-5-0"),
    *(f"tidy-{level}-train" for level in ("easy", "medium", "hard")),
    *(f"seed-{name}-0" for name in ("cleaning", "garden", "supper", "tea")),
)
SPEEDS = ("coin-collector-20", "coin-collector-220", "treasure-hunter-10", "treasure-hunter-30", "cooking-6-3-0")
BATCH, STEPS = 256, 200  # of the speeds


def batch_of(game: str, count: int, **keywords: object) -> KernelBatch:
    batch = rlenvs.make_batch(ID, count, game=game, **keywords)
    batch.seed(range(count))
    batch.reset()
    return batch


def random_commands(batch: KernelBatch, chooser: np.random.Generator) -> np.ndarray:
    """A command of those that are possible, for each world."""
    keys = chooser.random(batch.masks[:, 0].shape, np.float32) * batch.masks[:, 0]
    return keys.argmax(axis=1)


def wins(game: str, episodes: int) -> int:
    """How many episodes of random admissible commands are won."""
    batch = batch_of(game, episodes)
    batch.disable_autoreset()
    chooser, won = np.random.default_rng(0), np.zeros(episodes, bool)
    playing = np.ones(episodes, bool)
    for _ in range(batch.setup.horizon):
        batch.load_actions(random_commands(batch, chooser))
        batch.step_inplace(playing)
        won |= playing & batch.success[:, 0] & batch.terminated[:, 0]
        playing &= ~(batch.terminated | batch.truncated)[:, 0]
        if not playing.any():
            break
    return int(won.sum())


def share(won: int, episodes: int) -> str:
    low, high = wilson(won, episodes)
    return f"{won / episodes:.3f} ({low:.3f} to {high:.3f})"


def row(game: str, episodes: int) -> str:
    """A game: rooms, commands, quest, plan, random wins."""
    batch = batch_of(game, min(episodes, 200), intermediate=True)
    plans = np.array([batch.records(k)[1].left for k in range(batch.num_envs)])
    p, s = batch.records(0)
    quest = int(p.levers[1]) or "-"
    rate = share(wins(game, episodes), episodes)
    return f"| {game} | {len(s.exit)} | {len(p.command)} | {quest} | {plans.mean():.2f} | {rate} |"


def speed(game: str, **keywords: object) -> float:
    """Commands per second of processor time, of random admissible ones, without the time that choosing them takes."""
    batch = batch_of(game, BATCH, threads=1, **keywords)
    chooser, spent = np.random.default_rng(0), 0.0
    for _ in range(STEPS):
        commands = random_commands(batch, chooser)
        start = time.process_time()
        batch.step(commands)
        spent += time.process_time() - start
    return BATCH * STEPS / spent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--episodes", type=int, default=1000)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    games = [
        *(f"coin-collector-{level}" for level in COINS),
        *(f"treasure-hunter-{level}" for level in HUNTS),
        *OTHERS,
    ]
    lines = [
        "# Text adventures",
        "",
        f"The share of {options.episodes} episodes that random admissible commands win, with its 95 % interval;",
        "commands of the quest, and of the expert's plan, mean over 200 seeds.",
        "",
        "| game | rooms | commands | quest | plan | random wins |",
        "|---|---|---|---|---|---|",
    ]
    print("\n".join(lines), flush=True)
    for game in games:
        lines.append(row(game, options.episodes))
        print(lines[-1], flush=True)
    lines += ["", f"Commands per second of processor time, {BATCH} worlds, one thread, resets among them.", ""]
    lines += ["| game | commands/s | with intermediate rewards |", "|---|---|---|"]
    for game in SPEEDS:
        lines.append(f"| {game} | {speed(game):,.0f} | {speed(game, intermediate=True):,.0f} |")
        print(lines[-1], flush=True)
    if options.write:
        TABLE.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
