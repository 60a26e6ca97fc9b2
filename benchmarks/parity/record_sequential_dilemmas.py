"""Record steps of Harvest and Cleanup of the published Python original: maps, agents, actions, rewards, views.

Needs a checkout of https://github.com/eugenevinitsky/sequential_social_dilemma_games (commit 0207821); installed as
benchmarks/peers/sequential_dilemmas.py says. The arrays are described in tests/data/README.md.
"""

import argparse
import sys
from pathlib import Path
from typing import Any

try:
    import numpy as np
except ModuleNotFoundError as error:
    raise SystemExit(f"{error.name} is needed; the docstring of this script says how it is installed") from None

sys.path.insert(0, str(Path(__file__).parents[1] / "peers"))
from sequential_dilemmas import load

AGENTS, STEPS = 5, 200
FACINGS = ("UP", "RIGHT", "DOWN", "LEFT")
CHANCES = (0.12, 0.12, 0.26, 0.08, 0.06, 0.1, 0.1, 0.08, 0.08)  # of the actions; the last one cleans


def places(env: Any) -> list[list[int]]:
    """Row, column and direction of the agents."""
    return [[*map(int, agent.pos), FACINGS.index(agent.orientation)] for agent in env.agents.values()]


def record(clone: str, name: str) -> dict[str, np.ndarray]:
    """One episode; in Cleanup the agents start with half of the waste gone."""
    np.random.seed(0)  # noqa: NPY002 (the original's generator)
    env = load(clone, name, AGENTS)
    seen = env.reset()
    if name == "cleanup":
        for row, column in env.waste_start_points[::2]:
            env.single_update_map(row, column, b"R")
    choices = 8 if name == "harvest" else 9
    chances = np.array(CHANCES[:choices]) / sum(CHANCES[:choices])
    dice = np.random.default_rng(0)
    rows: dict[str, list] = {key: [] for key in ("ground", "places", "actions", "rewards", "views")}
    for _ in range(STEPS):
        rows["ground"].append(env.world_map.copy())
        rows["places"].append(places(env))
        actions = dice.choice(choices, size=AGENTS, p=chances).tolist()
        seen, rewards, _, _ = env.step({f"agent-{k}": action for k, action in enumerate(actions)})
        rows["actions"].append(actions)
        rows["rewards"].append([rewards[f"agent-{k}"] for k in range(AGENTS)])
        rows["views"].append([seen[f"agent-{k}"]["curr_obs"].copy() for k in range(AGENTS)])
    rows["ground"].append(env.world_map.copy())
    rows["places"].append(places(env))
    return {"map": np.array(env.base_map), **{key: np.array(values) for key, values in rows.items()}}


def main() -> None:
    """Write both episodes to one file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clone", required=True, help="the checkout")
    parser.add_argument("--out", type=Path, default=Path("tests/data/sequential_dilemmas.npz"))
    options = parser.parse_args()
    games = {name: record(options.clone, name) for name in ("harvest", "cleanup")}
    arrays = {f"{name}_{key}": array for name, rows in games.items() for key, array in rows.items()}
    np.savez_compressed(options.out, **arrays)


if __name__ == "__main__":
    main()
