"""One policy for all tasks of a Meta-World benchmark, learnt by PPO: `python benchmarks/multi_task.py [--write]`.

The worlds are `rlenvs.benchmark(name).vector(num, one_hot=True)`: all tasks in every batch, with goals drawn anew in
every episode, where the original has 50 a task. Rewards are divided by the spread of the task's own returns, each task
has its own exploration, and episodes of training are shorter than those of evaluation. A training writes a checkpoint
into --output when its --minutes are over, and goes on from there when it is called again. Afterwards `evaluate` plays
the 50 goals of each task; `--write` puts the table of all --seeds into benchmarks/multi_task.md.
"""

import argparse
import math
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.policies import ActorCriticPolicy
from stable_baselines3.common.running_mean_std import RunningMeanStd
from stable_baselines3.common.vec_env import VecNormalize

import rlenvs
from rlenvs.agents.benchmarks import Benchmark, BenchmarkResult
from rlenvs.agents.mixed_vector import MixedVectorEnv
from rlenvs.agents.ratings import student

HORIZON = 200  # steps of an episode in training
GAMMA = 0.99
FIRST_SEED = 1_000_000  # of training: evaluation has other goals
LEARNER: dict[str, Any] = {
    "n_steps": 64,
    "batch_size": 1024,
    "n_epochs": 5,
    "gamma": GAMMA,
    "gae_lambda": 0.95,
    "max_grad_norm": 1.0,
}
LAYERS = [128, 128]
LOG_STD = -0.5  # at the start
PAGE = """# One policy for all tasks of {name}

`python benchmarks/multi_task.py --name {name} --steps {steps} --seeds {seeds} --write`: PPO with mixed batches and
one-hot codes, played without exploration on 50 goals of each task, 500 steps: the share of episodes that are a success
at any step (Meta-World's measure; ± of a seed: the 95 % interval over goals), and at the last one.

{protocol}

{rows}

{trained}

## Published

| what | reward | steps | success |
|---|---|---|---|
| soft modularization, PaCo, MOORE in Meta-World+ (a) | v2 | - | 84.9, 73.6, 83.2 % |
| multi-task SAC, and with a head per task, in T3S (b) | not said | 15 M | 36, 61 % |
| multi-task SAC, revised paper of Meta-World (c) | v2 | 20 M | 68 % |

(a) McLean et al., arXiv 2505.11289: interquartile means of 10 seeds, 50 goals of each task. Seen in a note on the
paper, not in the paper itself. (b) Yu et al., "T3S: Improving Multi-Task Reinforcement Learning with Task-Specific
Feature Selector and Scheduler", table 1, MT10-RAND: means of 3 seeds over the last 200,000 steps of training. (c)
Neither figure nor steps were seen in their source. A user of its code (Farama-Foundation/Metaworld, issue 352) expects
more than 60 % and reaches 40 %. In the original a task has 50 goals in training; here they are drawn anew.
"""


class TaskNormalize(VecNormalize):
    """Observations by running statistics of all tasks, rewards by the spread of the returns of their own task."""

    def __init__(self, vector: MixedVectorEnv) -> None:
        super().__init__(rlenvs.as_sb3(vector, monitor=False), gamma=GAMMA)
        self.task_of = vector.task_of
        self.of_tasks = [RunningMeanStd(shape=()) for _ in vector.ids]

    def _update_reward(self, reward: np.ndarray) -> None:
        self.returns = self.returns * self.gamma + reward
        for task, statistics in enumerate(self.of_tasks):
            statistics.update(self.returns[self.task_of == task])

    def normalize_reward(self, reward: np.ndarray) -> np.ndarray:
        """Rewards over the spread of their tasks' returns."""
        spread = np.sqrt([statistics.var + self.epsilon for statistics in self.of_tasks])
        return np.clip(reward / spread[self.task_of], -self.clip_reward, self.clip_reward).astype(np.float32)

    def numbers(self) -> list[list[Any]]:
        """All statistics, for `restore`."""
        return [
            [np.asarray(each.mean).tolist(), np.asarray(each.var).tolist(), float(each.count)]
            for each in (self.obs_rms, *self.of_tasks)
        ]

    def restore(self, numbers: Sequence[Sequence[Any]]) -> None:
        """Statistics as `numbers` gave them."""
        for each, (mean, var, count) in zip((self.obs_rms, *self.of_tasks), numbers, strict=True):
            each.mean, each.var, each.count = np.array(mean), np.array(var), count


class WithCode(torch.nn.Module):
    """Layers of policy and value, with the code of the task put behind the policy's last one again."""

    def __init__(self, layers: torch.nn.Module, tasks: int) -> None:
        super().__init__()
        self.layers, self.tasks = layers, tasks
        self.latent_dim_pi, self.latent_dim_vf = layers.latent_dim_pi + tasks, layers.latent_dim_vf

    def forward(self, features: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Of both."""
        return self.forward_actor(features), self.forward_critic(features)

    def forward_actor(self, features: torch.Tensor) -> torch.Tensor:
        """Of the policy. Codes are normalized like all numbers; a task's own is the largest."""
        code = torch.nn.functional.one_hot(features[:, -self.tasks :].argmax(dim=1), self.tasks)
        return torch.cat([self.layers.forward_actor(features), code], dim=1)

    def forward_critic(self, features: torch.Tensor) -> torch.Tensor:
        """Of the value."""
        return self.layers.forward_critic(features)


class TaskPolicy(ActorCriticPolicy):
    """Each task has its own exploration: otherwise the tasks that are learnt first end that of the others."""

    def __init__(self, *args: Any, tasks: int, **keywords: Any) -> None:
        self.tasks = tasks
        super().__init__(*args, **keywords)

    def _build_mlp_extractor(self) -> None:
        super()._build_mlp_extractor()
        self.mlp_extractor = WithCode(self.mlp_extractor, self.tasks)  # type: ignore[assignment]

    def _build(self, lr_schedule: Any) -> None:
        self.log_std_of_tasks = torch.nn.Parameter(torch.full((self.tasks, self.action_space.shape[0]), LOG_STD))
        super()._build(lr_schedule)

    def _get_action_dist_from_latent(self, latent_pi: torch.Tensor) -> Any:
        log_std = latent_pi[:, -self.tasks :] @ self.log_std_of_tasks
        return self.action_dist.proba_distribution(self.action_net(latent_pi), log_std)


class Deadline(BaseCallback):
    """Ends a training when its time is over, and says how it goes."""

    def __init__(self, minutes: float, every: int = 50) -> None:
        super().__init__()
        self.end, self.every, self.rollouts = time.perf_counter() + 60.0 * minutes, every, 0

    def _on_rollout_end(self) -> None:
        self.rollouts += 1
        if self.rollouts % self.every == 0:
            buffer: Any = self.model.ep_success_buffer
            shares = "" if not buffer else f", success in training {np.mean(buffer):.2f}"
            print(f"{self.model.num_timesteps:,} steps{shares}", flush=True)

    def _on_step(self) -> bool:
        return time.perf_counter() < self.end


def learner(chosen: Benchmark, num: int, seed: int, rate: float) -> tuple[PPO, TaskNormalize]:
    """PPO before its first step, and its worlds."""
    vector = chosen.vector(num, one_hot=True, autoreset_mode="SAME_STEP", horizon=HORIZON, threads=1)
    envs = TaskNormalize(vector)
    policy = {"net_arch": LAYERS, "tasks": len(chosen.ids)}
    model = PPO(
        TaskPolicy,
        envs,
        learning_rate=lambda left: rate * left,
        seed=seed,
        policy_kwargs=policy,
        stats_window_size=num,
        device="cpu",
        **LEARNER,
    )
    return model, envs


def kept(model: PPO, envs: TaskNormalize, seconds: float) -> dict[str, Any]:
    """All that a training goes on from, but for the worlds, which start anew."""
    return {
        "parameters": model.get_parameters(),
        "steps": model.num_timesteps,
        "statistics": envs.numbers(),
        "seconds": seconds,
    }


def train(chosen: Benchmark, options: argparse.Namespace, seed: int) -> Path:
    """Learn until the steps are done or the time is over; the file of the checkpoint."""
    file = options.output / f"{chosen.name}-seed-{seed}.pt"
    model, envs = learner(chosen, options.num, seed, options.rate)
    before = 0.0
    if file.exists():
        old = torch.load(file, weights_only=True)
        model.set_parameters(old["parameters"])
        model.num_timesteps, before = old["steps"], old["seconds"]
        envs.restore(old["statistics"])
    envs.seed(FIRST_SEED * (1 + seed) + model.num_timesteps)
    left = options.steps - model.num_timesteps
    if left > 0:
        start = time.perf_counter()
        model.learn(left, Deadline(options.minutes), log_interval=None, reset_num_timesteps=not before)
        options.output.mkdir(parents=True, exist_ok=True)
        torch.save(kept(model, envs, before + time.perf_counter() - start), file)
    envs.close()
    return file


def act(model: PPO, envs: TaskNormalize, seen: np.ndarray) -> np.ndarray:
    """Actions without exploration."""
    return model.predict(envs.normalize_obs(seen), deterministic=True)[0]


def measured(chosen: Benchmark, file: Path) -> tuple[BenchmarkResult, int, float]:
    """What the policy of a checkpoint does in all tasks; its steps, and the seconds of its training."""
    old = torch.load(file, weights_only=True)
    model, envs = learner(chosen, len(chosen.ids), 0, 0.0)
    model.set_parameters(old["parameters"])
    envs.restore(old["statistics"])
    result = chosen.evaluate(partial(act, model, envs), one_hot=True)
    envs.close()
    return result, old["steps"], old["seconds"]


def table(results: Sequence[BenchmarkResult], seeds: Sequence[int]) -> list[str]:
    """A row per task: success at any step and at the end, of each seed of training."""
    head = [*(f"seed {seed}: ever | at the end" for seed in seeds)]
    lines = [f"| task | {' | '.join(head)} |", "|---" * (1 + 2 * len(results)) + "|"]
    for rows in zip(*(result.rows() for result in results), strict=True):
        lines.append(f"| {rows[0][0]} | {' | '.join(f'{row[1]} | {row[2]}' for row in rows)} |")
    return lines


def over_seeds(results: Sequence[BenchmarkResult]) -> str:
    """Both shares over seeds of training, with the 95 % interval of Student's t where there are several."""
    told = []
    for name in ("ever", "at_end"):
        found = np.array([getattr(result, name) for result in results])
        half = ""
        if len(found) > 1:
            half = f" ± {student(len(found) - 1) * found.std(ddof=1) / math.sqrt(len(found)):.3f}"
        told.append(f"{found.mean():.3f}{half}")
    return f"Mean over seeds of training ({len(results)}): **{told[0]}** at any step, {told[1]} at the end."


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--name", default="MT10", help="of the benchmark")
    parser.add_argument("--steps", type=int, default=8_000_000, help="of all worlds together")
    parser.add_argument("--num", type=int, default=160, help="worlds")
    parser.add_argument("--rate", type=float, default=5e-4, help="of learning, at the start; it falls to 0")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--minutes", type=float, default=600.0, help="after which a training is put off")
    parser.add_argument("--goals", type=int, default=50, help="of a task, in the evaluation")
    parser.add_argument("--output", type=Path, default=Path("runs/multi_task"))
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(1)
    chosen = replace(rlenvs.benchmark(options.name), seeds=tuple(range(options.goals)))
    found = [measured(chosen, train(chosen, options, seed)) for seed in options.seeds]
    results = [result for result, _, _ in found]
    rows = "\n".join([*table(results, options.seeds), "", over_seeds(results)])
    trained = "\n".join(
        f"Seed {seed}: {steps:,} of {options.steps:,} planned steps, all tasks together, "
        f"{seconds / 60.0:.0f} minutes on a thread."
        for seed, (_, steps, seconds) in zip(options.seeds, found, strict=True)
    )
    print(f"{rows}\n{trained}")
    if options.write:
        protocol = ", ".join(f"{name}={value}" for name, value in results[0].protocol.items())
        page = PAGE.format(
            name=options.name,
            steps=options.steps,
            seeds=" ".join(map(str, options.seeds)),
            protocol=f"{protocol}.",
            rows=rows,
            trained=trained,
        )
        Path(__file__).with_suffix(".md").write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
