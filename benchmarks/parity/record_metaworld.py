"""Records episodes of metaworld's tasks, for tests/robotics/test_metaworld.py.

    python3.11 -m venv metaworld && metaworld/bin/pip install metaworld==3.1.1 packaging "numpy<2.4"
    metaworld/bin/python benchmarks/parity/record_metaworld.py tests/data/metaworld.npz
    metaworld/bin/python benchmarks/parity/record_metaworld.py tests/data/metaworld_fixtures.npz --tasks door-close ...

Of each task one goal of MT1 with seed 42: 100 random actions, and 100 of the scripted policy.
"""

from __future__ import annotations

import argparse
import pickle
import warnings
from collections.abc import Callable
from typing import Any

try:
    import metaworld
    import numpy as np
    from metaworld.env_dict import ALL_V3_ENVIRONMENTS
    from metaworld.policies import ENV_POLICY_MAP
except ImportError as error:
    raise SystemExit(f"metaworld is needed ({error}); the docstring of this script says how") from None

MT10 = (
    *("reach", "push", "pick-place", "door-open", "drawer-open", "drawer-close", "button-press-topdown"),
    *("peg-insert-side", "window-open", "window-close"),
)
STEPS = 100
SEEN = 18  # numbers that are observed of one step
GOALS = {
    "door-lock": 5,
    "door-unlock": 5,
    "handle-press": 5,
    "handle-pull": 5,
}  # of MT1; at the first, which others have, the hand touches something


def begin(name: str, task: Any) -> tuple[Any, np.ndarray]:
    """An environment at a goal, and its first observation."""
    env = ALL_V3_ENVIRONMENTS[name]()
    env.set_task(task)
    env.reward_function_version = "v1"  # which at a reset measures what it needs
    return env, env.reset()[0]


def play(name: str, task: Any, choose: Callable[[np.ndarray], np.ndarray], steps: int) -> dict[str, np.ndarray]:
    """An episode: what is observed of single steps, actions, rewards of both versions, success, from step to step."""
    env, seen = begin(name, task)
    rows: dict[str, list[Any]] = {"seen": [seen[:SEEN]], "actions": [], "v2": [], "v1": [], "success": []}
    for _ in range(steps):
        env.reward_function_version = "v2"
        action = np.clip(choose(seen.copy()), -1.0, 1.0).astype(np.float32)
        seen, reward, _, _, info = env.step(action)
        env.reward_function_version = "v1"
        old, _ = env.evaluate_state(seen, action)
        news = {"seen": seen[:SEEN], "actions": action, "v2": reward, "v1": old, "success": info["success"]}
        for key, value in news.items():
            rows[key].append(value)
    return {key: np.asarray(values, np.float32) for key, values in rows.items()} | {"goal": seen[36:]}


def main() -> None:
    """Record the tasks of MT10, or those named."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("file", help="where to write")
    options.add_argument("--tasks", nargs="+", default=MT10)
    options.add_argument("--steps", type=int, default=STEPS, help="of the scripted policies")
    given = options.parse_args()
    warnings.filterwarnings("ignore")  # policies ask for more than actions can be
    found: dict[str, Any] = {}
    for task in given.tasks:
        name = f"{task}-v3"
        first = metaworld.MT1(name, seed=42).train_tasks[GOALS.get(task, 0)]
        found[f"{task}/place"] = pickle.loads(first.data)["rand_vec"]
        rng = np.random.default_rng(0)
        policies = {"random": lambda seen: rng.uniform(-1.0, 1.0, 4), "policy": ENV_POLICY_MAP[name]().get_action}  # noqa: B023
        for kind, choose in policies.items():
            for key, values in play(name, first, choose, STEPS if kind == "random" else given.steps).items():
                found[f"{task}/{kind}/{key}"] = values
    np.savez_compressed(given.file, **found)


if __name__ == "__main__":
    main()
