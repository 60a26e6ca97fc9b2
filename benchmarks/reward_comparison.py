"""Does PPO with a simple reward gain from large mini-batches where a shaped one loses? CaRL's claim in miniature.

    python benchmarks/reward_comparison.py
    python benchmarks/reward_comparison.py --steps 3000000 --seeds 5 --write

Stable-Baselines3's PPO drives RouteDrive without other cars, pedestrians and signals (`--level` takes another level);
it learns from each reward with mini-batches of several sizes, all else the same, and is judged by what it was not paid
for: the completed part of the way, in percent, and whether it got there, over the same starts. CaRL's mini-batches are
larger and its samples are 300 million, so what a short run says is about short runs.
"""

import argparse
import math
import shlex
import statistics
import sys
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import torch
from gymnasium.vector import AutoresetMode
from stable_baselines3 import PPO

import rlenvs
from rlenvs.integrations.sb3 import sb3_vec_env

ID = "RouteDrive-v0"
ENVS, ROLLOUT, JUDGED = 64, 256, 50  # worlds, steps of each between two updates (16384 samples), episodes
REWARDS, SIZES = ("simple", "shaped", "composed"), (256, 1024, 4096, 16384)
STUDENT = {2: 4.303, 3: 3.182, 4: 2.776, 9: 2.262}  # 97.5 % of Student's distribution, by degrees of freedom


def learn(reward: str, size: int, seed: int, steps: int, keywords: dict[str, Any]) -> tuple[float, float]:
    """Train once; percent of the way, and share of ways to their end, of the mean action."""
    env = sb3_vec_env(ID, ENVS, reward=reward, **keywords)
    agent = PPO(
        "MlpPolicy",
        env,
        n_steps=ROLLOUT,
        batch_size=size,
        n_epochs=3,
        learning_rate=lambda left: 2.5e-4 * left,
        gamma=0.99,
        gae_lambda=0.95,
        clip_range=0.1,
        ent_coef=0.01,
        policy_kwargs={"log_std_init": -0.7},
        seed=seed,
        device="cpu",
    )
    agent.learn(steps)
    env.close()
    return judge(agent, keywords)


def judge(agent: PPO, keywords: dict[str, Any]) -> tuple[float, float]:
    """Percent of the way that is completed at the end of an episode, and share of successes."""
    batch = rlenvs.make_batch(ID, JUDGED, autoreset=AutoresetMode.DISABLED, **keywords)
    batch.seed(list(range(10_000, 10_000 + JUDGED)))
    batch.reset()
    alive, made, success = np.ones(JUDGED, bool), np.zeros(JUDGED), np.zeros(JUDGED, bool)
    while alive.any():
        batch.load_actions(agent.predict(batch.observations[:, 0], deterministic=True)[0])
        batch.step_loaded(only=alive)
        made[alive] = 100.0 * batch.states["made"][alive] / batch.setup.values.route_length
        success[alive] = batch.success[alive, 0]
        alive &= ~(batch.terminated | batch.truncated)[:, 0]
    return float(made.mean()), float(success.mean())


def interval(values: list[float]) -> str:
    """Mean and half of the 95 % interval."""
    mean = f"{statistics.fmean(values):.1f}"
    if len(values) < 2:
        return mean
    factor = STUDENT.get(len(values) - 1, 1.96 if len(values) > 10 else 12.706 if len(values) == 2 else 2.6)
    return f"{mean} ± {factor * statistics.stdev(values) / math.sqrt(len(values)):.1f}"


def main() -> None:
    """Learn all cases and print, or write, the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=300_000)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--rewards", nargs="+", default=REWARDS[:2], choices=REWARDS)
    parser.add_argument("--sizes", nargs="+", type=int, default=SIZES)
    parser.add_argument("--level", help="another level than an empty town without signals")
    parser.add_argument("--write", action="store_true", help="into benchmarks/reward_comparison.md")
    given = parser.parse_args()
    torch.set_num_threads(1)
    keywords = {"level": given.level} if given.level else {"level": "empty", "signals": False}
    rows = ["| reward | mini-batch | percent of the way | ways to their end, percent |", "|---|---|---|---|"]
    for reward in given.rewards:
        for size in given.sizes:
            found = [learn(reward, size, seed, given.steps, keywords) for seed in range(given.seeds)]
            ways, ends = ([one[n] for one in found] for n in range(2))
            rows.append(f"| {reward} | {size} | {interval(ways)} | {interval([100.0 * end for end in ends])} |")
            print(rows[-1], flush=True)
    if given.write:
        command = shlex.join(["python", "benchmarks/reward_comparison.py", *sys.argv[1:]])
        head = f"# Simple and shaped rewards beside mini-batches\n\nMeasured on {date.today()}: `{command}`"
        about = "\n\n".join((__doc__ or "").split("\n\n")[2:]).strip()
        text = f"{head}, {given.seeds} seed(s) of {given.steps:,} steps.\n\n{about}\n\n" + "\n".join(rows) + "\n"
        Path(__file__).with_suffix(".md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
