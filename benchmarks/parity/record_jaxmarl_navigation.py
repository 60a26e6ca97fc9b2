"""Record episodes of JaxMARL's jaxnav: maps, starts, actions, motion, rewards and observations.

Installed as: jaxmarl 0.2.0 from the registry, with jax for the CPU, Python 3.11. Robots turn to their goals and drive,
with noise, so that some arrive and some crash. The arrays are described in tests/data/README.md.
"""

import argparse
from pathlib import Path
from typing import Any

try:
    import jax
    import numpy as np
    from jaxmarl import make
except ModuleNotFoundError as error:
    raise SystemExit(f"{error.name} is needed; the docstring of this script says how it is installed") from None

GRID = {"map_size": (11, 11), "fill": 0.3}
SMALL = {"map_size": (7, 7), "fill": 0.2}
CAVES = {"map_size": (33, 33), "fill": 0.3}
# name: robots, map, seed, other keywords
GAMES: dict[str, tuple[int, str, dict[str, Any], int, dict[str, Any]]] = {
    "pair": (2, "Grid-Rand-Poly", GRID, 0, {}),
    "four": (4, "Grid-Rand-Poly", SMALL, 1, {"act_type": "Discrete", "rew_lambda": 0.25}),
    "three": (3, "Grid-Rand-Poly", SMALL, 2, {}),
    "caves": (1, "Grid-Rand-Barn", CAVES, 3, {"rew_lambda": 1.0}),
}
STEPS = 150
FIELDS = {"place": "pos", "heading": "theta", "velocity": "vel", "arrived": "goal_reached", "crashed": "move_term"}


def chosen(dice: np.random.Generator, state: Any, discrete: bool) -> np.ndarray:
    """Speeds and rates of turning to the goals, sometimes others; or the nearest choices to them."""
    place, goal = np.asarray(state.pos), np.asarray(state.goal)
    to = goal - place
    error = np.arctan2(to[:, 1], to[:, 0]) - np.asarray(state.theta)
    error = (error + np.pi) % (2 * np.pi) - np.pi
    speed = np.where(np.abs(error) < 0.5, 1.0, 0.1) * dice.uniform(0.3, 1.2, len(place))
    turn = np.clip(2.0 * error, -0.7, 0.7) + dice.normal(0.0, 0.1, len(place))
    if not discrete:
        return np.stack([speed, turn], axis=1).astype(np.float32)
    return 5 * np.rint(2.0 * speed).clip(0, 2).astype(int) + np.rint(2.0 - 4.0 * turn).clip(0, 4).astype(int)


def played(agents: int, kind: str, size: dict[str, Any], seed: int, keywords: dict[str, Any]) -> dict[str, np.ndarray]:
    """One episode, or its first steps."""
    env = make("jaxnav", num_agents=agents, map_id=kind, map_params=size, **keywords)
    key = jax.random.PRNGKey(seed)
    seen, state = env.reset(key)
    step, dice = jax.jit(env.step_env), np.random.default_rng(seed)
    rows: dict[str, list] = {name: [] for name in (*FIELDS, "actions", "rewards", "beams", "rest")}
    walls, goal = np.asarray(state.map_data, np.uint8), np.asarray(state.goal)

    def note() -> None:
        for name, field in FIELDS.items():
            rows[name].append(np.asarray(getattr(state, field)))
        observed = np.stack([np.asarray(seen[agent]) for agent in env.agents])
        ranges = (observed[:, :-5] + 0.5) * 6.0
        rows["beams"].append(np.rint(ranges / (6.0 / 119)).astype(np.uint8))
        rows["rest"].append(observed[:, -5:])

    note()
    for _ in range(STEPS):
        actions = chosen(dice, state, keywords.get("act_type") == "Discrete")
        key, to_step = jax.random.split(key)
        seen, state, rewards, dones, _ = step(to_step, state, dict(zip(env.agents, actions, strict=True)))
        rows["actions"].append(actions)
        rows["rewards"].append([float(rewards[agent]) for agent in env.agents])
        note()
        if dones["__all__"]:
            break
    return {name: np.array(values) for name, values in rows.items()} | {"walls": walls, "goal": goal}


def main() -> None:
    """Write all episodes to one file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("tests/data/jaxmarl_navigation.npz"))
    out = parser.parse_args().out
    games = {name: played(*game) for name, game in GAMES.items()}
    for name, rows in games.items():
        print(
            name,
            len(rows["actions"]),
            "steps;",
            rows["arrived"][-1].sum(),
            "arrived,",
            rows["crashed"][-1].sum(),
            "crashed",
        )
    np.savez_compressed(
        out, **{f"{game}_{name}": array for game, rows in games.items() for name, array in rows.items()}
    )


if __name__ == "__main__":
    main()
