"""Closed-loop evaluation of a policy on LogReplay: the metrics of l5kit's evaluation plan.

    python -m rlenvs.robotics.driving.replay_metrics idm --scenes 100 --traffic reactive

A policy is a function of observations (N, ...) that gives actions (N, ...), or "log", "idm" (the experts), "idle",
"random".
"""

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np

from rlenvs.core.catalogue.make import make_batch

NAMES = (
    *("ade", "fde", "miss_rate", "yaw_error", "collision_front", "collision_rear", "collision_side"),
    *("offroad", "off_path", "passed", "driven_metres"),
)


def closed_loop_metrics(policy: str | Callable[[np.ndarray], Any], episodes: int = 100, **keywords: Any) -> Any:
    """Play episodes with seeds 0, 1, ... side by side.

    Args:
        policy: as above.
        episodes: how many.
        keywords: options and parameters of LogReplay.

    Returns:
        by name: ade and fde, the mean average and final displacement error [m]; miss_rate, share of episodes that end
        2 m from the logged place or more; yaw_error, the mean [rad]; collision_front, collision_rear, collision_side,
        offroad, off_path, shares of episodes in which it ever happens (l5kit's validators); passed, the share in which
        none of these does; driven_metres, the mean.
    """
    from gymnasium.vector import AutoresetMode

    if policy in ("log", "idm"):
        keywords = {**keywords, "planner": policy}
    batch = make_batch("LogReplay-v0", episodes, autoreset=AutoresetMode.DISABLED, **keywords)
    batch.seed(list(range(episodes)))
    batch.reset()
    dice = np.random.default_rng(0)
    shape = (episodes, 2 if keywords.get("actions") == "kinematic" else 3)
    told = []
    over = np.zeros(episodes, bool)
    while not over.all():
        if policy in ("log", "idm"):
            actions = np.array(batch.expert_actions()).reshape(shape)
        elif policy == "random":
            actions = dice.uniform(-1.0, 1.0, shape)
        else:
            actions = np.zeros(shape) if isinstance(policy, str) else np.asarray(policy(batch.observations))
        batch.load_actions(actions.astype(np.float32))
        batch.step_inplace(only=~over)
        told.append(np.where(over[:, None], 0.0, batch.terms.reshape(episodes, -1)))
        over |= (batch.terminated | batch.truncated)[:, 0]
    count = len(batch.world.terms)
    named = dict(zip(batch.world.terms, np.array(told)[..., :count].sum(0).T, strict=True))
    happened = dict(zip(batch.world.costs, (np.array(told)[..., count:].max(0) > 0.0).T, strict=True))
    found = {
        "ade": -named["ade"].mean(),
        "fde": -named["fde"].mean(),
        "miss_rate": (named["fde"] <= -2.0).mean(),
        "yaw_error": -named["yaw"].mean() / len(told),
        **{name: one.mean() for name, one in happened.items()},
        "passed": (~np.array(list(happened.values())).any(0)).mean(),
        "driven_metres": named["driven"].mean(),
    }
    return {name: float(found[name]) for name in NAMES}


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m rlenvs.robotics.driving.replay_metrics")
    parser.add_argument("policy", choices=("log", "idm", "idle", "random"))
    parser.add_argument("--scenes", type=int, default=100, help="episodes")
    parser.add_argument("--traffic", choices=("replayed", "reactive"), default="replayed")
    parser.add_argument("--loop", choices=("closed", "open"), default="closed")
    parser.add_argument("--actions", choices=("displacement", "kinematic"), default="displacement")
    parser.add_argument("--log", help="a custom log file")
    asked = parser.parse_args(arguments)
    keywords = {"traffic": asked.traffic, "loop": asked.loop, "actions": asked.actions, "log": asked.log}
    for name, number in closed_loop_metrics(asked.policy, asked.scenes, **keywords).items():
        print(f"{name:16} {number:.4g}")


if __name__ == "__main__":
    main()
