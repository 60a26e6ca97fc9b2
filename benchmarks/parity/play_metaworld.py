"""Plays metaworld's scripted policies in this package's tasks, and this package's in metaworld's.

    python benchmarks/parity/play_metaworld.py theirs metaworld/lib/python3.11/site-packages
    PYTHONPATH=. metaworld/bin/python benchmarks/parity/play_metaworld.py ours
    PYTHONPATH=. metaworld/bin/python benchmarks/parity/play_metaworld.py original
    PYTHONPATH=. metaworld/bin/python benchmarks/parity/play_metaworld.py random
    python benchmarks/parity/play_metaworld.py original metaworld/lib/python3.11/site-packages

`original` and `random` play metaworld's policies, and random actions, in metaworld; the last line does so on this
interpreter's MuJoCo. `record_metaworld.py` says how metaworld is installed. Prints, for each task, in how many of 50
episodes the task was done at any step, and at the last: here of seeds 0 to 49, there of the 50 goals of MT1 with seed
42, and of the next seeds' where --goals asks for more.
"""

from __future__ import annotations

import argparse
import importlib
import pickle
import sys
import types
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from rlenvs.robotics.metaworld import carried, fixtures
from rlenvs.robotics.metaworld.all_tasks import ROWS, WORLDS
from rlenvs.robotics.metaworld.rows import numbers

EPISODES, STEPS = 50, 500


def policy_map(packages: Path) -> dict[str, Callable[[], Any]]:
    """metaworld's policies by task, without the rest of metaworld, which needs another MuJoCo."""
    bare = types.ModuleType("metaworld")
    bare.__path__ = [str(packages / "metaworld")]
    sys.modules["metaworld"] = bare
    found: dict[str, Callable[[], Any]] = importlib.import_module("metaworld.policies").ENV_POLICY_MAP
    return found


def theirs(task: str, packages: Path, episodes: int) -> np.ndarray:
    """Success of metaworld's policy in this package's task, (steps, episodes)."""
    from rlenvs.core.catalogue.make import new_batch

    policy = policy_map(packages)[f"{task}-v3"]()
    world = WORLDS[task]
    worlds = new_batch(world, episodes)
    worlds.seed(range(episodes))
    worlds.reset()
    done = []
    for _ in range(STEPS - 1):  # the last step would begin a new episode
        actions = [policy.get_action(seen.copy()) for seen in worlds.observations[:, 0]]
        worlds.step(np.clip(actions, -1.0, 1.0).reshape(episodes, 1, 4))
        done.append(worlds.terms[:, list(world.terms).index("sparse"), 0] > 0.0)
    return np.array(done)


def readings(env: Any, seen: np.ndarray, place: np.ndarray) -> SimpleNamespace:
    """What this package's policy reads of a state, of metaworld's."""
    claws = np.array([env.data.body(f"{side}claw").xpos for side in ("right", "left")])
    qpos = env.data.qpos[7 if "coffee" in env.model_name else 0 :]  # the mug comes first there
    found = {"hand": seen[:3], "thing": seen[4:7], "goal": env._target_pos, "claws": claws, "qpos": qpos}
    found["mocap_pos"] = env.data.mocap_pos
    if "stick" in env.model_name:  # its end
        found["mark"] = env.data.site("stick_end").xpos
    return SimpleNamespace(**found, second=seen[11:14], place=place)


def chooser(task: str, whose: str) -> Callable[[Any, np.ndarray, np.ndarray], Any]:
    """Actions in metaworld's task, for its environment, an observation and the place that was drawn."""
    if whose == "random":
        generator = np.random.default_rng(0)
        return lambda env, seen, place: generator.uniform(-1.0, 1.0, 4)
    if whose == "original":
        from metaworld.policies import ENV_POLICY_MAP

        policy = ENV_POLICY_MAP[f"{task}-v3"]()
        return lambda env, seen, place: np.clip(policy.get_action(seen), -1.0, 1.0)
    kind = next(each for each in (carried, fixtures) if task in each.TASKS)
    p = SimpleNamespace(**numbers(kind.TASKS[task], kind.DATA), task=list(kind.TASKS).index(task))
    action = np.zeros(4)

    def choose(env: Any, seen: np.ndarray, place: np.ndarray) -> np.ndarray:
        kind.expert(p, readings(env, seen, place), action)
        return action

    return choose


def weld(self: Any) -> None:
    """In the place of metaworld's method, which writes 11 numbers: a constraint of MuJoCo 4 has 12."""
    self.model.eq_data[:, :11] = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -1.0, 0.0, 0.0, 0.0, 5.0)


def goals_of(task: str, count: int) -> Iterator[Any]:
    """Goals of MT1, 50 of each seed, from 42 on."""
    from metaworld import MT1

    for seed in range(42, 42 - (-count // EPISODES)):
        yield from MT1(f"{task}-v3", seed=seed).train_tasks[: count - (seed - 42) * EPISODES]


def episodes_of_original(task: str, goals: int, whose: str) -> Iterator[list[bool]]:
    """Success in metaworld's task, step by step: of this package's policy, of metaworld's, or of random actions."""
    from metaworld.env_dict import ALL_V3_ENVIRONMENTS
    from metaworld.sawyer_xyz_env import SawyerMocapBase

    SawyerMocapBase.reset_mocap_welds = weld
    env, choose = ALL_V3_ENVIRONMENTS[f"{task}-v3"](), chooser(task, whose)
    for goal in goals_of(task, goals):
        env.set_task(goal)
        seen, _ = env.reset()
        place, done = pickle.loads(goal.data)["rand_vec"], []
        for _ in range(STEPS):
            seen, _, _, _, info = env.step(np.asarray(choose(env, seen, place), np.float32))
            done.append(info["success"] > 0.0)
        yield done


def main() -> None:
    """Play all tasks, or those named."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("whose", choices=("theirs", "ours", "original", "random"), help="policies")
    options.add_argument("packages", nargs="?", type=Path, help="where metaworld is installed, in another interpreter")
    options.add_argument("--tasks", nargs="+", default=list(ROWS), choices=list(ROWS), metavar="TASK")
    options.add_argument("--goals", type=int, default=EPISODES, help="of a task; for theirs, seeds")
    given = options.parse_args()
    warnings.filterwarnings("ignore")  # policies ask for more than actions can be
    if given.packages and given.whose != "theirs":
        sys.path.append(str(given.packages))
    for task in given.tasks:
        if given.whose == "theirs":
            done = theirs(task, given.packages, given.goals)
        else:
            done = np.array(list(episodes_of_original(task, given.goals, given.whose))).T
        any_step, last = done.any(axis=0), done[-1]
        print(f"{task:22} {any_step.sum():2} of {any_step.size} at any step, {last.sum():2} at the last", flush=True)


if __name__ == "__main__":
    main()
