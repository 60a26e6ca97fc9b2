"""Record walks of MarsExplorer's two environments on random maps: maps, moves, what was seen, rewards, ends.

Installed as: a clone of dimikout3/MarsExplorer (``--clone``), with numpy, gymnasium and pygame; what it takes of the
old gym and of the old NumPy is put in their place at run time. The arrays are described in tests/data/README.md.
"""

import argparse
import copy
import sys
from collections import deque
from pathlib import Path
from typing import Any

try:
    import numpy as np
except ModuleNotFoundError as error:
    raise SystemExit(f"{error.name} is needed; the docstring of this script says how it is installed") from None

sys.path.insert(0, str(Path(__file__).parents[1] / "peers"))
from mars_rover import load

STEPS, EPISODES = 160, 12
LATTICE = {"number_rows": 3, "number_columns": 3, "noise": [3, 3], "obstacle_size": [4, 4]}
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "default": ("ExplorerConf", {}),
    "early": ("Explorer", {}),
    "lattice": ("ExplorerConf", {**LATTICE, "max_steps": 100}),
    "far": ("ExplorerConf", {"lidar_range": 9, "lidar_channels": 40, "initial": [10, 7]}),
}


def explore(view: np.ndarray, at: tuple[int, int], rng: np.random.Generator, bumps: float) -> int:
    """The first move of a shortest way to an unseen cell; now and then any, which may bump."""
    if rng.random() < bumps:
        return int(rng.integers(4))
    steps = ((1, 0), (-1, 0), (0, 1), (0, -1))
    before: dict[tuple[int, int], int] = {at: int(rng.integers(4))}
    queue = deque([at])
    while queue:
        cell = queue.popleft()
        if view[cell] == 0.0:
            return before[cell]
        for move in rng.permutation(4).tolist():
            near = (cell[0] + steps[move][0], cell[1] + steps[move][1])
            if min(near) >= 0 and max(near) < len(view) and view[near] != 1.0 and near not in before:
                before[near] = move if cell == at else before[cell]
                queue.append(near)
    return before[at]


def walk(env: Any, seed: int) -> dict[str, np.ndarray]:
    """One episode, padded to the same length."""
    np.random.seed(seed)  # noqa: NPY002 - MarsExplorer draws from the global generator
    rng = np.random.default_rng(seed)
    env.reset()
    while env.groundTruthMap[env.x, env.y] == 1.0:  # ours are never there
        env.reset()
    seen = np.zeros((STEPS + 1, 21, 21), np.float32)
    moves, rewards, done = np.zeros(STEPS, np.int8), np.zeros(STEPS, np.float32), np.zeros(STEPS, bool)
    seen[0] = env.exploredMap
    length = STEPS
    for t in range(STEPS):
        moves[t] = explore(env.exploredMap, (env.x, env.y), rng, 0.04 * (seed % 3 == 0))
        _, rewards[t], done[t], _ = env.step(int(moves[t]))
        seen[t + 1] = env.exploredMap
        if done[t]:
            length = t + 1
            break
    obstacles = env.groundTruthMap == 1.0
    return {
        "obstacles": obstacles,
        "seen": np.round(10 * seen).astype(np.int8),
        "moves": moves,
        "rewards": rewards,
        "done": done,
        "length": np.array(length),
    }


def main() -> None:
    """Walk and write the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clone", required=True, help="where the repository was cloned to")
    parser.add_argument("--out", type=Path, default=Path("tests/data/mars_explorer.npz"))
    options = parser.parse_args()
    try:
        envs = load(options.clone)
    except ModuleNotFoundError as error:
        raise SystemExit(f"{error.name} is not in {options.clone}; give a clone of dimikout3/MarsExplorer") from None
    from mars_explorer.envs.settings import DEFAULT_CONFIG

    arrays: dict[str, np.ndarray] = {"names": np.array(list(CASES))}
    for name, (kind, changes) in CASES.items():
        conf = {**copy.deepcopy(DEFAULT_CONFIG), **changes}
        env = envs.Explorer() if kind == "Explorer" else envs.ExplorerConf(conf)
        walks = [walk(env, seed) for seed in range(EPISODES)]
        arrays |= {f"{name}_{key}": np.stack([each[key] for each in walks]) for key in walks[0]}
    np.savez_compressed(options.out, **arrays)


if __name__ == "__main__":
    main()
