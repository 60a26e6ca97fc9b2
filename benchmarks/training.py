"""How soon Stable-Baselines3's PPO reaches a score: on our vector form, and on DummyVecEnv of our single environments.

    python benchmarks/training.py
    python benchmarks/training.py --rounds 3 --peers peers.toml --write

Both learn with the same hyper-parameters, on the same number of environments, from the same seeds. After every few
rollouts the policy, without exploration, is evaluated on the default reward, with the clock stopped; the time is that
at which the mean of 50 episodes first reaches the goal. `--peers` adds gym-pybullet-drones: its one-dimensional hover
with the settings of its own example, against the same task of this package, to the score that its example stops at.
"""

import argparse
import os
import platform
import shlex
import statistics
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Any

import gymnasium
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.env_util import make_vec_env

import rlenvs

HERE = Path(__file__).parent
PEER = "pybullet-drones-hover"
WIDE = {"n_steps": 32, "batch_size": 4096, "n_epochs": 1, "gamma": 0.98, "gae_lambda": 0.95}


@dataclass
class Task:
    """What is learnt, and what counts as learnt."""

    id: str
    goal: float  # mean return, with the keywords and without the weights below
    most: int  # environment steps
    num_envs: int = 512
    settings: dict[str, Any] = field(default_factory=lambda: dict(WIDE))
    learning_rate: float = 2e-3
    units: int = 32  # of each of two wrappers
    log_std: float = -0.5
    keywords: dict[str, Any] = field(default_factory=dict)
    weights: dict[str, float] | None = None  # of reward terms, in training alone
    every: int = 4  # rollouts between two looks


TASKS = {
    "QuadHover": Task(
        "QuadHover-v0",
        470.0,
        6_000_000,
        learning_rate=3e-3,
        units=64,
        keywords={"reward": "original"},
        weights={"distance": 1.0},
    ),
    "SafePointGoal": Task("SafePointGoal-v0", 20.0, 4_000_000),
    "MicroRacer": Task("MicroRacer-v0", 4.0, 6_000_000),
}
# against gym-pybullet-drones: the scripted expert has 470 of 480 here, and the peer's example stops at 474 of 484
ONE_D = Task(
    "QuadHover-v0", 468.0, 250_000, 32,
    {"n_steps": 64, "batch_size": 512, "n_epochs": 8, "gamma": 0.98, "gae_lambda": 0.95}, 4e-3,
    keywords={"level": "original", "action": "one_d_rpm"}, every=1,
)  # fmt: skip


class Clock(BaseCallback):
    """Stops the clock to look at the policy, and training when it is good enough."""

    def __init__(self, task: Task) -> None:
        super().__init__()
        self.task, self.seconds, self.rollouts, self.reached = task, 0.0, 0, False

    def _on_training_start(self) -> None:
        self.start = time.perf_counter()

    def _on_step(self) -> bool:
        return not self.reached

    def _on_rollout_start(self) -> None:
        """The policy has been updated."""
        self.seconds += time.perf_counter() - self.start
        if self.rollouts % self.task.every == 0 and self.rollouts:
            greedy = lambda seen: self.model.predict(seen, deterministic=True)[0]  # noqa: E731
            result = rlenvs.evaluate(self.task.id, greedy, 50, **self.task.keywords)
            self.reached = result.mean >= self.task.goal
            if self.verbose:
                print(f"    {self.num_timesteps:>9,} steps {self.seconds:7.1f} s  {result}", flush=True)
        self.rollouts += 1
        self.start = time.perf_counter()


def learn(task: Task, make: Callable[[Task], Any], seed: int, verbose: bool = False) -> tuple[float, int, bool]:
    """Seconds and steps until the goal is reached, and whether it is."""
    envs = make(task)
    rate = lambda remaining: task.learning_rate * max(remaining, 0.1)  # noqa: E731
    network = {"net_arch": [task.units] * 2, "activation_fn": torch.nn.ReLU, "log_std_init": task.log_std}
    model = PPO("MlpPolicy", envs, seed=seed, device="cpu", learning_rate=rate, policy_kwargs=network, **task.settings)
    clock = Clock(task)
    clock.verbose = int(verbose)
    model.learn(task.most, callback=clock)
    envs.close()
    return clock.seconds, model.num_timesteps, clock.reached


def chosen(task: Task) -> dict[str, Any]:
    return {**task.keywords, **({"weights": task.weights} if task.weights else {})}


def native(task: Task) -> Any:
    return rlenvs.sb3_vec_env(task.id, task.num_envs, **chosen(task))


def dummy(task: Task) -> Any:
    return make_vec_env(lambda: gymnasium.make(f"rlenvs/{task.id}", **chosen(task)), task.num_envs)


def peer_hover(command: str, seed: int) -> tuple[float, int, bool]:
    """The same for the peer, in its own interpreter; it prints seconds, steps and whether the goal was reached."""
    line = [*shlex.split(command), "--seed", str(seed), "--goal", str(ONE_D.goal)]
    answer = subprocess.run(line, cwd=HERE / "peers", capture_output=True, text=True, check=True).stdout.split()
    return float(answer[-3]), int(answer[-2]), answer[-1] == "True"


def row(name: str, task: Task, ours: list[Any], theirs: list[Any]) -> str:
    """A line of the table: medians, and the ratio of each pair."""
    for seed, (a, b) in enumerate(zip(ours, theirs, strict=True)):
        print(f"  {name}, seed {seed}: {a[0]:.1f} s, {a[1]:,} steps | {b[0]:.1f} s, {b[1]:,} steps", flush=True)
    ratios = sorted(b[0] / a[0] for a, b in zip(ours, theirs, strict=True))
    cells = [name, f"{task.goal:g}"]
    for runs in (ours, theirs):
        missed = sum(not reached for _, _, reached in runs)
        note = f", {missed} of {len(runs)} did not" if missed else ""
        seconds, steps = statistics.median(r[0] for r in runs), statistics.median(r[1] for r in runs)
        cells.append(f"{seconds:.1f} s ({steps / 1e3:,.0f}k steps{note})")
    cells.append(f"{statistics.median(ratios):.1f} ({ratios[0]:.1f} - {ratios[-1]:.1f})")
    return f"| {' | '.join(cells)} |"


def settings_of(name: str, task: Task) -> str:
    values = {**task.settings, "learning_rate": f"linear {task.learning_rate:g}", "log_std_init": task.log_std}
    told = ", ".join(f"{key}={value}" for key, value in (task.keywords | values).items())
    extra = f"; in training weights={task.weights}" if task.weights else ""
    return f"- {name}: {task.num_envs} environments, {told}, two wrappers of {task.units} ReLU{extra}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3, help="seeds; the two kinds take turns")
    parser.add_argument("--only", default="", help="part of a name")
    parser.add_argument("--threads", type=int, default=1, help="of torch, for all")
    parser.add_argument("--peers", type=Path, help="file that says how to run other packages")
    parser.add_argument("--look", action="store_true", help="print learning curves of our form alone")
    parser.add_argument("--write", action="store_true", help="write benchmarks/training.md")
    parser.add_argument("--quick", action="store_true", help="two rollouts: to see that it runs")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    tasks = {name: task for name, task in TASKS.items() if options.only in name}
    if options.quick:
        tasks = {name: replace(task, most=128, num_envs=4, every=1) for name, task in tasks.items()}
    if options.look:
        for name, task in {**tasks, "one_d": ONE_D}.items():
            if options.only in name:
                print(name, learn(task, native, 0, verbose=True), flush=True)
        return
    peers = tomllib.loads(options.peers.read_text()) if options.peers else {}
    lines = [
        "# How soon PPO learns",
        "",
        f"`{' '.join(['python', 'benchmarks/training.py', *sys.argv[1:]])}` on {date.today()}: {platform.machine()}, "
        f"{os.cpu_count()} cores, Python {sys.version.split()[0]}, torch on {options.threads} thread(s).",
        f"Seconds until Stable-Baselines3's PPO reaches a mean return, {options.rounds} seeds, in turns; medians, and",
        "the ratio of the times (range). Evaluations do not count.",
        "",
        "| | goal | our vector form | DummyVecEnv, or the peer | ratio |",
        "|---|---|---|---|---|",
    ]
    for name, task in tasks.items():
        ours, theirs = [], []
        for seed in range(options.rounds):
            ours.append(learn(task, native, seed))
            theirs.append(learn(task, dummy, seed))
        lines.append(row(name, task, ours, theirs))
        print(lines[-1], flush=True)
    if PEER in peers:
        ours, theirs = [], []
        for seed in range(options.rounds):
            ours.append(learn(ONE_D, native, seed))
            theirs.append(peer_hover(peers[PEER], seed))
        lines.append(row("one-dimensional hover, gym-pybullet-drones", ONE_D, ours, theirs))
        print(lines[-1], flush=True)
    lines += ["", *(settings_of(name, task) for name, task in tasks.items())]
    if PEER in peers:
        lines += [settings_of("one-dimensional hover, ours", ONE_D), "- gym-pybullet-drones: PPO's defaults, as there"]
    if options.write:
        (HERE / "training.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
