"""Record games of JaxMARL's coin_game, storm and storm_2p: states, actions, rewards and observations.

Installed as: jaxmarl 0.2.0 from the registry, with jax for the CPU, Python 3.11. Agents zap more often than by chance,
when another one is in reach. The arrays are described in tests/data/README.md.
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

GAMES = {2: (0, 1, 2), 3: (3, 4, 5), 8: (6, 7)}  # seeds by number of agents
STEPS = 150
STORM = {
    "places": "agent_positions",
    "grid": "grid",
    "tokens": "agent_inventories",
    "frozen": "agent_freezes",
    "clock_of_cooperation": "coin_timer_coop",
    "clock_of_defection": "coin_timer_defect",
}
COINS = {"first": "red_pos", "second": "blue_pos", "first_coin": "red_coin_pos", "second_coin": "blue_coin_pos"}
PAIR = {"first": "red_pos", "second": "blue_pos", "grid": "grid", "first_tokens": "red_inventory",
        "second_tokens": "blue_inventory", "frozen": "freeze"}  # fmt: skip
TOKENS = (9, 10)
AHEAD = ((0, 1), (1, 0), (0, -1), (-1, 0))


def chosen(dice: np.random.Generator, places: np.ndarray, grid: np.ndarray, tokens: np.ndarray) -> list[int]:
    """What agents of STORM do: with a token, mostly zap if another one is in reach, and turn if one is near; go on to a
    token ahead; or else go on, turn, zap or stay."""
    actions = []
    for k, (x, y, facing) in enumerate(places.tolist()):
        (ax, ay), (bx, by) = AHEAD[facing], AHEAD[(facing + 1) % 4]
        reach = [(x + ax, y + ay), (x + 2 * ax, y + 2 * ay), (x + ax + bx, y + ay + by), (x + ax - bx, y + ay - by)]
        others = [(i, j) for n, (i, j, _) in enumerate(places.tolist()) if n != k]
        token = 0 <= x + ax < 8 and 0 <= y + ay < 8 and grid[x + ax, y + ay] in TOKENS
        odds = [0.15, 0.1, 0.6, 0.05, 0.1]
        rich = tokens[k].sum() > 0
        if rich and any(other in reach for other in others):
            odds = [0.06, 0.02, 0.02, 0.9, 0.0]
        elif rich and any(abs(i - x) + abs(j - y) <= 2 for i, j in others):
            odds = [0.4, 0.3, 0.2, 0.1, 0.0]
        elif token:
            odds = [0.0, 0.0, 1.0, 0.0, 0.0]
        actions.append(int(dice.choice(5, p=odds)))
    return actions


def storm(agents: int, seeds: tuple[int, ...]) -> dict[str, dict[str, np.ndarray]]:
    """Games of storm by name."""
    env = make("storm", num_agents=agents)
    step = jax.jit(env.step_env)
    return {f"storm_{agents}_{seed}": played(env, step, seed) for seed in seeds}


def played(env: Any, step: Any, seed: int) -> dict[str, np.ndarray]:
    """One game of storm."""
    key = jax.random.PRNGKey(seed)
    seen, state = env.reset(key)
    dice = np.random.default_rng(seed)
    rows: dict[str, list] = {name: [] for name in (*STORM, "actions", "rewards", "view", "inventory")}
    for _ in range(STEPS):
        note(rows, STORM, state)
        rows["view"].append(np.asarray(seen["observations"], np.uint8))
        rows["inventory"].append(np.asarray(seen["inventory"], np.int16))
        actions = chosen(
            dice, np.asarray(state.agent_positions), np.asarray(state.grid), np.asarray(state.agent_inventories)
        )
        key, to_step = jax.random.split(key)
        seen, state, rewards, _, _ = step(to_step, state, dict(enumerate(actions)))
        rows["actions"].append(actions)
        rows["rewards"].append(np.asarray(rewards))
    note(rows, STORM, state)
    return {name: np.array(values) for name, values in rows.items()}


def note(rows: dict[str, list], fields: dict[str, str], state: object) -> None:
    """Add the fields of a state."""
    for name, field in fields.items():
        rows[name].append(np.asarray(getattr(state, field)))


def pair(seed: int) -> dict[str, np.ndarray]:
    """What two agents of storm_2p see."""
    env = make("storm_2p")
    key = jax.random.PRNGKey(seed)
    seen, state = env.reset(key)
    step, dice = jax.jit(env.step_env), np.random.default_rng(seed)
    rows: dict[str, list] = {name: [] for name in (*PAIR, "view", "inventory")}
    for _ in range(STEPS):
        note(rows, PAIR, state)
        rows["view"].append([np.asarray(one["observation"], np.uint8) for one in seen])
        rows["inventory"].append([np.asarray(one["inventory"], np.int16) for one in seen])
        places = np.stack([np.asarray(state.red_pos), np.asarray(state.blue_pos)])
        tokens = np.stack([np.asarray(state.red_inventory), np.asarray(state.blue_inventory)])
        actions = chosen(dice, places, np.asarray(state.grid) + 6, tokens)  # tokens are 3 and 4 there
        key, to_step = jax.random.split(key)
        seen, state, _, _, _ = step(to_step, state, tuple(actions))
    return {name: np.array(values) for name, values in rows.items()}


def coins(seed: int, egocentric: bool) -> dict[str, np.ndarray]:
    """One episode of the coin game, ten rounds of ten steps."""
    env = make("coin_game", egocentric=egocentric, cnn=True)
    key = jax.random.PRNGKey(seed)
    seen, state = env.reset(key)
    step, dice = jax.jit(env.step_env), np.random.default_rng(seed)
    rows: dict[str, list] = {name: [] for name in (*COINS, "actions", "rewards", "seen")}
    for _ in range(100):
        note(rows, COINS, state)
        rows["seen"].append([np.asarray(seen[agent], np.uint8) for agent in env.agents])
        actions = dice.integers(5, size=2).tolist()
        key, to_step = jax.random.split(key)
        seen, state, rewards, _, _ = step(to_step, state, dict(zip(env.agents, actions, strict=True)))
        rows["actions"].append(actions)
        rows["rewards"].append([float(rewards[agent]) for agent in env.agents])
    note(rows, COINS, state)
    return {name: np.array(values) for name, values in rows.items()}


def main() -> None:
    """Write all games to one file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("tests/data/jaxmarl_dilemmas.npz"))
    out = parser.parse_args().out
    games = {name: rows for agents, seeds in GAMES.items() for name, rows in storm(agents, seeds).items()}
    games |= {"pair": pair(8), "coins_fixed": coins(9, False), "coins_egocentric": coins(10, True)}
    np.savez_compressed(
        out, **{f"{game}_{name}": array for game, rows in games.items() for name, array in rows.items()}
    )


if __name__ == "__main__":
    main()
