"""Learning the Panda's tasks with SAC and hindsight experience replay, by Stable-Baselines3 on the native vector form.

    python benchmarks/learn_arms.py                          all tasks, three seeds each; curves to benchmarks/curves/
    python benchmarks/learn_arms.py --task reach --seeds 1   one of them, once

For pushing, two things are added, without which the hand learns to keep off the cube. The scripted expert plays in a
quarter of the environments until the first update. Virtual goals at which the cube is from the start are not used
(Manela and Biess, "Bias-Reduced Hindsight Experience Replay", arXiv 1905.05498).

Observations are brought to mean 0 and deviation 1 (VecNormalize). Success is that of an episode's last step, over 200
episodes without exploration whose seeds are not trained on. Seconds are of the processor, looks left out.
"""

import argparse
import csv
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from stable_baselines3 import SAC, HerReplayBuffer
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import VecNormalize

import rlenvs

CURVES = Path(__file__).parent / "curves"
EPISODES = range(100_000, 100_200)  # the seeds on which a policy is judged


@dataclass
class Task:
    """What is learnt, how long, how often it is looked at.

    Attributes:
        id: the environment.
        aim: the success rate that we want.
        steps: of all environments together.
        every: steps between two looks.
        environments: side by side.
        warm_up: random steps in each of them before the first update; hindsight needs whole episodes.
        updates: gradient steps for each step of all the environments.
        batch: transitions in an update.
        shown: share of the environments in which the expert plays, with noise, in the warm-up.
        apart: m, between a virtual goal and what was achieved at the start; 0 takes all goals.
        network: units of the wrappers of policy and critics.
        entropy: its weight; "auto" lets SAC tune it.
        color: of the curve.
    """

    id: str
    aim: float
    steps: int
    every: int
    environments: int
    warm_up: int
    updates: int
    batch: int
    shown: float
    apart: float
    network: list[int]
    entropy: str | float
    color: str


TASKS = {
    "reach": Task(
        "PandaReach-v0",
        aim=0.95,
        steps=8_000,
        every=2_000,
        environments=8,
        warm_up=100,
        updates=4,
        batch=256,
        shown=0.0,
        apart=0.0,
        network=[64, 64],
        entropy="auto",
        color="#0072B2",
    ),
    "push": Task(
        "PandaPush-v0",
        aim=0.90,
        steps=256_000,
        every=25_600,
        environments=64,
        warm_up=300,
        updates=6,
        batch=256,
        shown=0.25,
        apart=0.05,
        network=[256, 256],
        entropy=0.03,  # "auto" ends exploring before the cube is found
        color="#D55E00",
    ),
}


class ShownSAC(SAC):
    """SAC that is shown how in some of its environments before it learns."""

    shown = 0.0

    def _sample_action(self, learning_starts: int, action_noise: Any = None, n_envs: int = 1) -> Any:
        actions, stored = super()._sample_action(learning_starts, action_noise, n_envs)
        rows = int(self.shown * n_envs)
        if rows and self.num_timesteps < learning_starts:
            advice = self.get_env().venv.batch.expert_actions()[:rows, 0]
            noise = np.random.normal(0.0, 0.1, advice.shape)  # noqa: NPY002 - SB3 seeds this generator
            actions[:rows] = stored[:rows] = np.clip(advice + noise, -1.0, 1.0)
        return actions, stored


class ApartHerReplayBuffer(HerReplayBuffer):
    """Hindsight that keeps the episode's own goal where the virtual one was reached from the start."""

    def __init__(self, *args: Any, apart: float, **keywords: Any) -> None:
        super().__init__(*args, **keywords)
        self.apart = apart

    def _sample_goals(self, batch_indices: np.ndarray, env_indices: np.ndarray) -> np.ndarray:
        goals = super()._sample_goals(batch_indices, env_indices)
        starts = self.ep_start[batch_indices, env_indices]
        before = self.observations["achieved_goal"][starts, env_indices]
        own = self.observations["desired_goal"][batch_indices, env_indices]
        near = np.linalg.norm(goals - before, axis=1) < self.apart
        return np.where(near[:, None], own, goals)


class Watch(BaseCallback):
    """Evaluates the policy without exploration from time to time."""

    def __init__(self, task: Task, rows: list[tuple[float, ...]]) -> None:
        super().__init__()
        self.task, self.rows, self.next, self.spent = task, rows, task.every, 0.0

    def _on_training_start(self) -> None:
        self.start = time.process_time()

    def _on_step(self) -> bool:
        if self.num_timesteps >= self.next:
            self.next += self.task.every
            self.look()
        return True

    def look(self) -> None:
        """One row: steps, seconds of training, return, success rate."""
        before = time.process_time()
        result = rlenvs.evaluate(self.task.id, self.choose, n_episodes=EPISODES, form="goal")
        self.rows.append((self.num_timesteps, before - self.start - self.spent, result.mean, result.success_rate))
        self.spent += time.process_time() - before
        print(
            f"{self.num_timesteps:9,.0f} steps, return {result.mean:6.2f}, success {result.success_rate:.1%}",
            flush=True,
        )

    def choose(self, observations: Any) -> np.ndarray:
        normalizer = self.model.get_vec_normalize_env()
        return self.model.predict(normalizer.normalize_obs(observations), deterministic=True)[0]


def learn(task: Task, seed: int) -> list[tuple[float, ...]]:
    """Train once; the curve."""
    envs = VecNormalize(rlenvs.sb3_vec_env(task.id, task.environments, form="goal"), norm_reward=False)
    model = ShownSAC(
        "MultiInputPolicy",
        envs,
        replay_buffer_class=ApartHerReplayBuffer,
        replay_buffer_kwargs={"n_sampled_goal": 4, "goal_selection_strategy": "future", "apart": task.apart},
        learning_rate=1e-3,
        learning_starts=task.warm_up * task.environments,
        buffer_size=task.steps,
        batch_size=task.batch,
        gradient_steps=task.updates,
        gamma=0.95,
        tau=0.05,
        ent_coef=task.entropy,
        policy_kwargs={"net_arch": task.network},
        seed=seed,
        device="cpu",
    )
    model.shown = task.shown
    watch = Watch(task, [])
    model.learn(task.steps, callback=watch)
    if not watch.rows or watch.rows[-1][0] < model.num_timesteps:
        watch.look()
    return watch.rows


def save(name: str, curves: dict[int, list[tuple[float, ...]]], folder: Path) -> None:
    """The curves of a task, a row per look."""
    with (folder / f"panda_{name}.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("seed", "steps", "seconds", "return", "success"))
        for seed, rows in curves.items():
            writer.writerows((seed, int(s), f"{t:.1f}", f"{r:.2f}", f"{ok:.3f}") for s, t, r, ok in rows)


def draw(folder: Path) -> None:
    """The curves that there are, as one image."""
    from matplotlib import pyplot

    paths = {name: folder / f"panda_{name}.csv" for name in TASKS}
    paths = {name: path for name, path in paths.items() if path.exists()}
    figure, axes = pyplot.subplots(
        1, len(paths), figsize=(4.5 * len(paths), 3.2), sharey=True, squeeze=False, layout="constrained"
    )
    for axis, (name, path) in zip(axes[0], paths.items(), strict=True):
        task, rows = TASKS[name], np.genfromtxt(path, delimiter=",", skip_header=1, ndmin=2)
        for seed in np.unique(rows[:, 0]):
            steps, seconds, _, success = rows[rows[:, 0] == seed][:, 1:].T
            label = f"seed {seed:.0f}, {seconds[-1]:,.0f} s"
            axis.plot(steps / 1000, 100 * success, ".-", color=task.color, alpha=1.0 / (1.0 + seed), label=label)
        axis.legend(loc="lower right")
        axis.axhline(100 * task.aim, color="#000000", linewidth=0.8, linestyle=":")
        recipe = "SAC + HER + expert's start" if task.shown else "SAC + HER"
        axis.set(title=f"{task.id}, {recipe}", xlabel="thousand steps", ylim=(0, 102))
        axis.grid(alpha=0.3)
    axes[0, 0].set_ylabel("success (%)")
    figure.savefig(folder / "panda.png", dpi=90)
    pyplot.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--task", choices=TASKS, help="one task; all without it")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--output", type=Path, default=CURVES, help="folder of the curves")
    parser.add_argument("--quick", action="store_true", help="a few updates: to see that it runs")
    options = parser.parse_args()
    torch.set_num_threads(1)
    options.output.mkdir(exist_ok=True)
    for name in [options.task] if options.task else TASKS:
        task = TASKS[name]
        if options.quick:
            task = replace(task, steps=task.environments * (task.warm_up + 5), updates=1)
        curves: dict[int, list[tuple[float, ...]]] = {}
        for seed in range(options.seeds):
            curves[seed] = learn(task, seed)
            save(name, curves, options.output)
            steps, seconds, mean, success = curves[seed][-1]
            first = next((f"{row[0]:,.0f}" for row in curves[seed] if row[3] >= TASKS[name].aim), "never")
            aim = f"{TASKS[name].aim:.0%} first at {first} steps"
            print(
                f"{name:5} seed {seed}: {steps:9,.0f} steps in {seconds:5.0f} s, return {mean:6.2f}, "
                f"success {success:.1%} ({aim})",
                flush=True,
            )
    draw(options.output)


if __name__ == "__main__":
    main()
