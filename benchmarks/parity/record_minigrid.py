"""Record episodes of MiniGrid's environments: grids, starts, actions, views, rewards, ends.

Installed as: minigrid 3.2 from the registry. Environments whose balls move are left out, because what happens there is
drawn at random. The arrays are described in tests/data/README.md.
"""

import argparse
from importlib.metadata import version
from pathlib import Path
from typing import Any

try:
    import gymnasium
    import minigrid  # noqa: F401 - registers the environments
    import numpy as np
except ModuleNotFoundError as error:
    raise SystemExit(f"{error.name} is needed; the docstring of this script says how it is installed") from None

IDS = [
    "Empty-5x5-v0",
    "Empty-Random-5x5-v0",
    "Empty-Random-6x6-v0",
    "Empty-8x8-v0",
    "FourRooms-v0",
    "DoorKey-5x5-v0",
    "DoorKey-6x6-v0",
    "DoorKey-8x8-v0",
    "MultiRoom-N2-S4-v0",
    "MultiRoom-N4-S5-v1",
    "UnlockPickup-v0",
    "ObstructedMaze-1Dl-v0",
    "ObstructedMaze-1Dlh-v0",
    "ObstructedMaze-1Dlhb-v0",
    "ObstructedMaze-2Dl-v0",
    "ObstructedMaze-2Dlh-v0",
    "ObstructedMaze-2Dlhb-v1",
    "ObstructedMaze-1Q-v1",
    "ObstructedMaze-2Q-v1",
    "ObstructedMaze-Full-v1",
    "LavaCrossingS9N1-v0",
    "LavaCrossingS9N3-v0",
    "SimpleCrossingS9N2-v0",
    "SimpleCrossingS11N5-v0",
    "MemoryS7-v0",
    "MemoryS11-v0",
    "MemoryS13Random-v0",
]
EPISODES, SUCCESSES, LONGEST, TRIES = 5, 2, 300, 400


def code_of(thing: Any) -> int:
    """A cell as one number: kind, 16 times its colour, 128 times its state, 512 times 1 + the colour of its key."""
    if thing is None:
        return 1
    kind, colour, state = thing.encode()
    inside = 0 if thing.contains is None else 1 + thing.contains.encode()[1]
    return int(kind) + 16 * int(colour) + 128 * int(state) + 512 * inside


def lively(env: Any, rng: np.random.Generator) -> int:
    """Mostly forward; lifts, opens and drops what is in front, more often than not."""
    front = env.grid.get(*env.front_pos)
    if front is not None and front.type in ("key", "ball", "box", "door") and rng.random() < 0.6:
        lifts = front.type != "door" and not (front.type == "box" and front.contains) and rng.random() < 0.8
        return 3 if lifts else 5
    if env.carrying and env.carrying.type != "key" and front is None and rng.random() < 0.2:
        return 4
    return int(rng.choice(7, p=(0.19, 0.19, 0.54, 0.02, 0.02, 0.03, 0.01)))


def episode(id: str, seed: int) -> dict[str, Any]:
    """One episode, cut off after LONGEST steps."""
    env = gymnasium.make(f"MiniGrid-{id}").unwrapped
    rng = np.random.default_rng(seed)
    seen, _ = env.reset(seed=seed)
    start: dict[str, Any] = {
        "grid": [[code_of(env.grid.get(x, y)) for y in range(env.height)] for x in range(env.width)],
        "start": [*env.agent_pos, env.agent_dir],
        "wanted": code_of(env.obj) if hasattr(env, "obj") else 0,
        "ends": [*getattr(env, "success_pos", (-1, -1)), *getattr(env, "failure_pos", (-1, -1))],
        "limit": env.max_steps,
    }
    views, directions, actions, rewards = [seen["image"]], [seen["direction"]], [], []
    terminated = truncated = False
    while not (terminated or truncated or len(actions) == LONGEST):
        action = lively(env, rng)
        seen, reward, terminated, truncated, _ = env.step(action)
        actions.append(action)
        rewards.append(reward)
        views.append(seen["image"])
        directions.append(seen["direction"])
    ends = {"terminated": terminated, "truncated": truncated}
    return {**start, "views": views, "directions": directions, "actions": actions, "rewards": rewards, **ends}


def chosen(id: str) -> list[dict[str, Any]]:
    """Episodes of an environment: the first of all, and the first that succeed."""
    found = [episode(id, seed) for seed in range(EPISODES - SUCCESSES)]
    good = 0
    for seed in range(100, 100 + TRIES):
        if good == SUCCESSES:
            break
        played = episode(id, seed)
        if played["rewards"][-1] > 0:
            found.append(played)
            good += 1
    return found


def main() -> None:
    """Play and write the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("tests/data/minigrid.npz"))
    options = parser.parse_args()
    arrays: dict[str, np.ndarray] = {"version": np.array(version("minigrid")), "ids": np.array(IDS)}
    for id in IDS:
        played = chosen(id)
        arrays[f"{id} length"] = np.array([len(each["actions"]) for each in played], np.int16)
        for name, kind in (("grid", np.int16), ("start", np.int8), ("wanted", np.int16), ("ends", np.int8)):
            arrays[f"{id} {name}"] = np.array([each[name] for each in played], kind)
        for name, kind in (("limit", np.int16), ("terminated", bool), ("truncated", bool)):
            arrays[f"{id} {name}"] = np.array([each[name] for each in played], kind)
        for name, kind in (("views", np.uint8), ("directions", np.int8), ("actions", np.int8), ("rewards", np.float64)):
            arrays[f"{id} {name}"] = np.concatenate([np.array(each[name], kind) for each in played])
        print(id, arrays[f"{id} length"], "successes", sum(each["rewards"][-1] > 0 for each in played))
    np.savez_compressed(options.out, **arrays)


if __name__ == "__main__":
    main()
