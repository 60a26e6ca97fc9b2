"""Record pogema episodes for every collision system and goal mode, on small crowded maps.

Installed as: pogema 1.4.0 from the registry, with gymnasium 0.28.1 and numpy 1.26. The same episode is played at two
observation radii in step; the recorder asserts that everything but the observations agrees. The arrays are described in
tests/data/README.md.
"""

import argparse
import warnings
from importlib.metadata import version
from itertools import product
from pathlib import Path
from typing import Any

try:
    import numpy as np
    from pogema import GridConfig, pogema_v0
except ModuleNotFoundError as error:
    raise SystemExit(f"{error.name} is needed; the docstring of this script says how it is installed") from None

COLLISIONS = ("priority", "block_both", "soft")
MODES = ("finish", "nothing", "restart")
RADII = (2, 5)
STEPS = 40
OBSERVED = (0, 1, 10, 25, 40)
SEEDS = (3, 11)
MOVES = np.array([[0, 0], [-1, 0], [1, 0], [0, -1], [0, 1]])
NARROW = """
..#.......
....##..#.
.#......#.
.#..#.....
....#..##.
#.........
"""
METRICS = ("CSR", "ISR", "ep_length", "SoC", "makespan", "avg_throughput")


def bare_positions(env: Any) -> np.ndarray:
    """Agents' (row, column) on the map without its border."""
    return np.array(env.unwrapped.get_agents_xy(ignore_borders=True), dtype=np.int8)


def bare_goals(env: Any) -> np.ndarray:
    """Goals' (row, column) on the map without its border."""
    return np.array(env.unwrapped.get_targets_xy(ignore_borders=True), dtype=np.int8)


def occupancy(env: Any, radius: int) -> np.ndarray:
    """The grid's own plane of occupied cells, from which the observations are cut, without its border."""
    return env.unwrapped.grid.positions[radius:-radius, radius:-radius].astype(np.int8)


def half_guided(rng: np.random.Generator, positions: np.ndarray, goals: np.ndarray) -> list[int]:
    """Random actions; with probability one half an agent takes a step that shortens its distance on one axis."""
    actions = rng.integers(5, size=len(positions))
    for agent, offset in enumerate(goals - positions):
        axis = rng.integers(2)
        if offset[axis] and rng.random() < 0.5:
            step = np.zeros(2, dtype=int)
            step[axis] = np.sign(offset[axis])
            actions[agent] = int(np.flatnonzero((step == MOVES).all(axis=1))[0])
    return actions.tolist()


def episode(settings: dict[str, Any], seed: int, script: list[list[int]] | None = None) -> dict[str, np.ndarray]:
    """Play one episode at both radii; every array has the steps first (states have one entry more)."""
    steps = len(script) if script else STEPS
    envs = [pogema_v0(GridConfig(obs_radius=r, seed=seed, max_episode_steps=steps, **settings)) for r in RADII]
    views = [env.reset()[0] for env in envs]
    rng = np.random.default_rng(seed)
    agents = envs[0].unwrapped.grid_config.num_agents
    names = ("actions", "positions", "goals", "occupied", "rewards", "terminated", "truncated", "active")
    rows: dict[str, list[Any]] = {name: [] for name in names}
    seen: dict[int, list[np.ndarray]] = {radius: [] for radius in RADII}
    metrics: dict[str, float] = {}

    def note(t: int) -> None:
        for view, radius in zip(views, RADII, strict=True):
            if t in OBSERVED:
                seen[radius].append(np.array(view, dtype=np.int8))
        rows["positions"].append(bare_positions(envs[0]))
        rows["goals"].append(bare_goals(envs[0]))
        rows["occupied"].append(occupancy(envs[0], RADII[0]))
        rows["active"].append([envs[0].unwrapped.grid.is_active[agent] for agent in range(agents)])
        assert (bare_positions(envs[1]) == rows["positions"][-1]).all()
        assert (bare_goals(envs[1]) == rows["goals"][-1]).all()

    note(0)
    for t in range(steps):
        actions = script[t] if script else half_guided(rng, rows["positions"][-1], rows["goals"][-1])
        # each environment gets a copy: soft collisions overwrite the list they are given
        results = [env.step(list(actions)) for env in envs]
        views = [result[0] for result in results]
        assert all(result[1:4] == results[0][1:4] for result in results)
        _, rewards, terminated, truncated, infos = results[0]
        metrics = metrics or infos[0].get("metrics", {})  # of the first end; the play goes on after it
        for name, value in (("actions", actions), ("rewards", rewards), ("terminated", terminated)):
            rows[name].append(value)
        rows["truncated"].append(truncated)
        note(t + 1)
    grid = envs[0].unwrapped.get_obstacles(ignore_borders=True)
    kinds = {"rewards": np.float32, "terminated": bool, "truncated": bool, "active": bool}
    arrays = {name: np.array(values, dtype=kinds.get(name, np.int8)) for name, values in rows.items()}
    arrays |= {f"obs_r{radius}": np.array(views) for radius, views in seen.items()}
    arrays["obstacles"] = grid.astype(np.int8)
    arrays["metrics"] = np.array([metrics.get(name, np.nan) for name in METRICS])
    return arrays


def meeting() -> tuple[dict[str, Any], list[list[int]]]:
    """Two agents on a 3x4 map who reach their goals at different times, leave, and end on both goals together."""
    settings = {
        "map": [[0, 0, 0, 0], [0, 1, 1, 0], [0, 0, 0, 0]],
        "agents_xy": [[0, 0], [2, 3]],
        "targets_xy": [[0, 2], [2, 1]],
        "num_agents": 2,
    }
    return settings, [[4, 0], [4, 3], [3, 0], [0, 3], [0, 4], [4, 3], [0, 0], [3, 0]]


def main() -> None:
    """Play and write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("tests/data/pogema.npz"))
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    maps: dict[str, dict[str, Any]] = {
        "square": {"size": 8, "density": 0.2, "num_agents": 6},
        "narrow": {"map": NARROW, "num_agents": 8},
    }
    arrays: dict[str, np.ndarray] = {
        "version": np.array(version("pogema")),
        "observed_steps": np.array(OBSERVED),
        "metric_names": np.array(METRICS),
    }
    for name, settings in maps.items():
        cases = list(product(COLLISIONS, MODES, SEEDS))
        plays = [
            episode(settings | {"collision_system": collision, "on_target": mode}, seed)
            for collision, mode, seed in cases
        ]
        arrays[f"{name}_collision"] = np.array([case[0] for case in cases])
        arrays[f"{name}_on_target"] = np.array([case[1] for case in cases])
        arrays[f"{name}_seed"] = np.array([case[2] for case in cases])
        arrays |= {f"{name}_{key}": np.stack([play[key] for play in plays]) for key in plays[0]}
    settings, script = meeting()
    plays = [
        episode(settings | {"collision_system": "priority", "on_target": mode}, 0, script)
        for mode in ("nothing", "finish")
    ]
    arrays["meeting_on_target"] = np.array(["nothing", "finish"])
    arrays |= {f"meeting_{key}": np.stack([play[key] for play in plays]) for key in plays[0]}
    np.savez_compressed(options.out, **arrays)


if __name__ == "__main__":
    main()
