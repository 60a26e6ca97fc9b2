"""Does PPO with a simple reward gain from large mini-batches where a shaped one loses? CaRL's claim in miniature.

    python benchmarks/reward_comparison.py
    python benchmarks/reward_comparison.py --steps 1000000 --seeds 5 --keep benchmarks/reward_comparison.json --write

Stable-Baselines3's PPO (two layers of 64) drives RouteDrive without other cars and pedestrians, past lights and stop
signs (`--level` takes another level, `default` the whole town). It learns from each reward with mini-batches of several
sizes and from the same number of samples; the learning rate grows with the root of the mini-batch (`--rate constant`:
it does not). All are judged over the same 50 starts, whatever they were paid for: the completed part of the way, in
percent; the driving score, which is that part times CARLA's factor for what ended the episode (pedestrian 0.5, car 0.6,
red light 0.7, stop sign 0.8); and how many ways were completed without an infraction. Intervals are Student's over
seeds. With `--keep` a run that is done is not done again.
"""

import argparse
import json
import math
import shlex
import statistics
import sys
import time
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
RATE = 2.5e-4  # of learning, CaRL's, with mini-batches of SIZES[0]
FACTORS = {"pedestrian": 0.5, "collision": 0.6, "red_light": 0.7, "stop_sign": 0.8}  # of CARLA's leaderboard
STUDENT = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262)  # 97.5 %, by degrees of freedom from 1 on
Found = dict[str, float]


def learn(reward: str, size: int, seed: int, steps: int, rate: float, keywords: dict[str, Any]) -> Found:
    """Train once, and judge the mean action."""
    env = sb3_vec_env(ID, ENVS, reward=reward, **keywords)
    agent = PPO(
        "MlpPolicy",
        env,
        n_steps=ROLLOUT,
        batch_size=size,
        n_epochs=3,
        learning_rate=lambda left: rate * max(left, 0.0),
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


def judge(agent: PPO, keywords: dict[str, Any]) -> Found:
    """Means over episodes, in percent: the completed part of the way, the driving score, successes."""
    batch = rlenvs.make_batch(ID, JUDGED, autoreset=AutoresetMode.DISABLED, **keywords)
    batch.seed(list(range(10_000, 10_000 + JUDGED)))
    batch.reset()
    alive, made, success = np.ones(JUDGED, bool), np.zeros(JUDGED), np.zeros(JUDGED, bool)
    factor = np.ones(JUDGED)
    while alive.any():
        batch.load_actions(agent.predict(batch.observations[:, 0], deterministic=True)[0])
        batch.step_inplace(only=alive)
        made[alive] = batch.states["made"][alive] / batch.setup.values.route_length
        success[alive] = batch.success[alive, 0]
        for name, part in FACTORS.items():
            factor[alive & (batch.results[name] > 0.0)] *= part
        alive &= ~(batch.terminated | batch.truncated)[:, 0]
    found = {"way": made, "score": made * factor, "success": success}
    return {name: 100.0 * float(values.mean()) for name, values in found.items()}


def half_width(values: list[float]) -> float:
    """Half of the 95 % interval of a mean."""
    if len(values) < 2:
        return math.nan
    factor = STUDENT[len(values) - 2] if len(values) - 2 < len(STUDENT) else 1.96
    return factor * statistics.stdev(values) / math.sqrt(len(values))


def shown(values: list[float]) -> str:
    """Mean and half of the 95 % interval."""
    mean = f"{statistics.fmean(values):.1f}"
    return mean if len(values) < 2 else f"{mean} ± {half_width(values):.1f}"


def table(runs: dict[str, Found], given: argparse.Namespace) -> list[str]:
    """Rows of Markdown, of what is done."""
    rows = ["| reward | mini-batch | seeds | percent of the way | driving score | success, percent |"]
    rows.append("|---|---|---|---|---|---|")
    for reward in given.rewards:
        for size in given.sizes:
            done = [runs[key] for seed in range(given.seeds) if (key := key_of(reward, size, seed)) in runs]
            if done:
                texts = (shown([one[name] for one in done]) for name in ("way", "score", "success"))
                rows.append(f"| {reward} | {size} | {len(done)} | {' | '.join(texts)} |")
    return rows


def gains(runs: dict[str, Found], given: argparse.Namespace) -> list[str]:
    """What each reward gains from the smallest to the largest mini-batch, paired by seeds."""
    lines = []
    for reward in given.rewards:
        small, large = (
            [key_of(reward, size, n) for n in range(given.seeds)] for size in (given.sizes[0], given.sizes[-1])
        )
        pairs = [(runs[a], runs[b]) for a, b in zip(small, large, strict=True) if a in runs and b in runs]
        if pairs:
            texts = [f"{name} {shown([b[name] - a[name] for a, b in pairs])}" for name in ("way", "score", "success")]
            lines.append(f"- {reward}, from {given.sizes[0]} to {given.sizes[-1]}: {', '.join(texts)}")
    return lines


def key_of(reward: str, size: int, seed: int) -> str:
    """The name of a run."""
    return f"{reward} {size} {seed}"


def main() -> None:
    """Learn all cases and print, or write, the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=300_000)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--rewards", nargs="+", default=REWARDS[:2], choices=REWARDS)
    parser.add_argument("--sizes", nargs="+", type=int, default=SIZES)
    parser.add_argument("--rate", choices=("root", "constant"), default="root", help="learning rate by mini-batch")
    parser.add_argument("--level", default="empty", help="another level than a town without others")
    parser.add_argument("--keep", type=Path, help="file of the runs that are done, to go on from")
    parser.add_argument("--write", action="store_true", help="into benchmarks/reward_comparison.md")
    given = parser.parse_args()
    torch.set_num_threads(1)
    keywords = {} if given.level == "default" else {"level": given.level}
    kept = given.keep is not None and given.keep.exists()
    runs: dict[str, Found] = json.loads(given.keep.read_text(encoding="utf-8")) if kept else {}
    for seed in range(given.seeds):
        for size in given.sizes:
            for reward in given.rewards:
                key = key_of(reward, size, seed)
                if key in runs:
                    continue
                rate = RATE * math.sqrt(size / SIZES[0]) if given.rate == "root" else RATE
                began = time.process_time()
                runs[key] = learn(reward, size, seed, given.steps, rate, keywords)
                runs[key]["seconds"] = time.process_time() - began
                print(key, {name: round(value, 1) for name, value in runs[key].items()}, flush=True)
                if given.keep is not None:
                    given.keep.parent.mkdir(parents=True, exist_ok=True)
                    given.keep.write_text(json.dumps(runs, indent=1), encoding="utf-8")
    rows, ends = table(runs, given), gains(runs, given)
    print("\n".join([*rows, "", *ends]))
    if given.write:
        command = shlex.join(["python", "benchmarks/reward_comparison.py", *sys.argv[1:]])
        minutes = sum(run["seconds"] for run in runs.values()) / 60.0
        head = f"# Simple and shaped rewards beside mini-batches\n\nMeasured on {date.today()}: `{command}`"
        about = "\n\n".join((__doc__ or "").split("\n\n")[2:]).strip()
        parts = [f"{head}, {minutes:.0f} minutes of one core.", about, "\n".join(rows)]
        parts += ["From the smallest to the largest mini-batches, paired by seeds:", "\n".join(ends)]
        Path(__file__).with_suffix(".md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
