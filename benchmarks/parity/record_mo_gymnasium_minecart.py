"""Record episodes of mo-gymnasium's minecart, with the fronts that the package gives.

Installed as: the package mo-gymnasium from the registry. The arrays are described in tests/data/README.md.
"""

import argparse
from importlib.metadata import version
from pathlib import Path
from typing import Any

try:
    import mo_gymnasium
    import numpy as np
except ModuleNotFoundError as error:
    raise SystemExit(f"{error.name} is needed; the docstring of this script says how it is installed") from None

GAMMAS = (1.0, 0.99, 0.98)
DIG, LEFT, RIGHT, ACCELERATE, BRAKE, NONE = range(6)
EPISODES, STEPS = 24, 400
FORMS: dict[str, tuple[str, dict[str, Any]]] = {
    "deterministic": ("minecart-deterministic-v0", {}),
    "stochastic": ("minecart-v0", {}),
    "skip": ("minecart-deterministic-v0", {"frame_skip": 3, "incremental_frane_skip": False}),
}


def careless(rng: np.random.Generator, step: int, last: int) -> int:
    """Any action, often the last one again."""
    return last if rng.random() < 0.5 else int(rng.choice(6, p=(0.1, 0.2, 0.2, 0.2, 0.05, 0.25)))


def purposeful(bare: Any, mine: int, digs: int, haste: int) -> int:
    """To a mine, dig there, and home again."""
    cart = bare.cart
    wanted = bare.mines[mine].pos if digs > 0 else np.zeros(2)
    way = wanted - cart.pos
    if digs > 0 and np.sqrt(way @ way) < 0.12:
        return DIG if cart.speed == 0 else BRAKE
    off = (np.degrees(np.arctan2(way[1], way[0])) - cart.angle + 180.0) % 360.0 - 180.0
    if abs(off) > 20.0:
        return RIGHT if off > 0 else LEFT
    return ACCELERATE if cart.speed < 0.03 * haste - 0.01 else NONE


def dug(bare: Any, action: int, before: np.ndarray) -> bool:
    return action == DIG and bool((bare.cart.content != before).any())


def record(id: str, keywords: dict[str, Any], seed: int) -> dict[str, np.ndarray]:
    """Episodes one after the other: the state before each step, and what it gives. Every second one is purposeful."""
    rng = np.random.default_rng(seed)
    np.random.seed(seed)  # noqa: NPY002 -- the original draws ore from NumPy's global generator
    env: Any = mo_gymnasium.make(id, disable_env_checker=True, **keywords)
    bare = env.unwrapped
    rows: dict[str, list[Any]] = {key: [] for key in ("before", "action", "observation", "reward", "end", "after")}
    for episode in range(EPISODES):
        env.reset(seed=episode)
        digs, mine, haste, action = int(rng.integers(1, 4)), int(rng.integers(5)), int(rng.integers(1, 5)), NONE
        for step in range(STEPS):
            action = purposeful(bare, mine, digs, haste) if episode % 2 else careless(rng, step, action)
            cart, content = bare.cart, bare.cart.content.copy()
            rows["before"].append([*cart.pos, cart.speed, cart.angle, *content, cart.departed])
            observation, reward, terminated, truncated, _ = env.step(action)
            digs -= int(dug(bare, action, content))
            rows["action"].append(action)
            rows["observation"].append(observation)
            rows["reward"].append(reward)
            rows["end"].append(terminated)
            rows["after"].append([*cart.pos, cart.speed, cart.angle, *cart.content, cart.departed])
            if terminated or truncated:
                break
    types = {"action": np.int8, "observation": np.float32, "reward": np.float32, "end": bool}
    return {key: np.array(value, types.get(key, np.float64)) for key, value in rows.items()}


def main() -> None:
    """Play and write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("tests/data/mo_gymnasium_minecart.npz"))
    options = parser.parse_args()
    arrays: dict[str, np.ndarray] = {"version": np.array(version("mo-gymnasium")), "gammas": np.array(GAMMAS)}
    for seed, (name, (id, keywords)) in enumerate(FORMS.items()):
        arrays |= {f"{name}_{key}": value for key, value in record(id, keywords, seed).items()}
        bare: Any = mo_gymnasium.make(id, disable_env_checker=True, **keywords).unwrapped
        arrays[f"{name}_space"] = np.array([bare.observation_space.low, bare.observation_space.high])
        arrays[f"{name}_reward_space"] = np.array([bare.reward_space.low, bare.reward_space.high])
        for gamma in GAMMAS if name != "skip" else ():
            for kind, points in (
                ("front", bare.pareto_front(gamma)),
                ("corners", bare.convex_coverage_set(gamma)),
            ):
                arrays[f"{name}_{kind}_{gamma}"] = np.array(sorted(map(tuple, points), reverse=True))
    np.savez_compressed(options.out, **arrays)


if __name__ == "__main__":
    main()
