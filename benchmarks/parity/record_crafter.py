"""Record lives in Crafter's land without creatures: what actions do, the vitals, the inventory, the rewards.

Installed as: crafter 1.8.3 from the registry. Creatures move at random and are left out; so is taking grass, which
gives a sapling at random. Materials are scattered around the start. The arrays are described in tests/data/README.md.
"""

import argparse
from pathlib import Path
from typing import Any

try:
    import crafter
    import numpy as np
    from crafter import constants
except ModuleNotFoundError as error:
    raise SystemExit(f"{error.name} is needed; the docstring of this script says how it is installed") from None

NEAR = ["water", "stone", "stone", "tree", "coal", "iron", "diamond", "sand", "path", "table", "grass", "grass"]
LIVES, STEPS = 12, 700
DIRECTIONS = [(-1, 0), (1, 0), (0, -1), (0, 1)]
DO, SLEEP = 5, 6
RICH = {"sapling": 3, "wood": 9, "stone": 9, "coal": 5, "iron": 5, "diamond": 1}
TOOLS = {"wood_pickaxe": 1, "stone_pickaxe": 1, "iron_pickaxe": 1}


def prepare(seed: int) -> Any:
    """A land without creatures; every other player is rich."""
    env = crafter.Env(seed=seed)
    env._balance_chunk = lambda chunk, objects: None
    env._obs = lambda: None
    env.reset()
    for thing in env._world.objects:
        if thing is not env._player:
            env._world.remove(thing)
    rng = np.random.default_rng(seed)
    for x in range(18, 46):
        for y in range(18, 46):
            if (x, y) != (32, 32) and rng.random() < 0.35:
                env._world[x, y] = str(rng.choice(NEAR))
    if seed % 2:
        env._player.inventory.update(RICH)
    if seed % 4 == 1:
        env._player.inventory.update(TOOLS)
    if seed % 4 == 3:
        env._player.inventory.update({"food": 2, "drink": 1, "energy": 2})
    return env


def choose(env: Any, rng: np.random.Generator, idle: bool) -> int:
    """Mostly moves and work; never takes grass."""
    player = env._player
    material, thing = env._world[player.pos + np.array(player.facing)]
    if idle:
        return int(rng.choice([0, SLEEP, SLEEP, 1, 2, 3, 4]))
    weights = np.array([0.3, 2, 2, 2, 2, 0, 0.05, 0.3, 0.3, 0.3, 0.3, *[0.2] * 6])
    if material not in (None, "grass") or thing is not None:
        weights[DO] = 6.0
    return int(rng.choice(17, p=weights / weights.sum()))


def live(seed: int) -> dict[str, Any]:
    """One life, as long as it lasts; its rows are padded with the last one."""
    env, rng = prepare(seed), np.random.default_rng(seed)
    player, world = env._player, env._world
    start = {"land": world._mat_map.copy(), "first_items": list(player.inventory.values())}
    names = ("actions", "place", "facing", "items", "counts", "asleep", "rewards", "daylight", "done")
    rows: dict[str, list[Any]] = {name: [] for name in names}
    for t in range(STEPS):
        action = choose(env, rng, seed % 4 == 2 and t > 200)
        before = player.inventory["sapling"], player.achievements["collect_sapling"]
        _, reward, done, info = env.step(action)
        assert player.achievements["collect_sapling"] == before[1]
        for name, value in (
            ("actions", action),
            ("place", player.pos.tolist()),
            ("facing", DIRECTIONS.index(tuple(player.facing))),
            ("items", [info["inventory"][name] for name in constants.items]),
            ("counts", [info["achievements"][name] for name in constants.achievements]),
            ("asleep", player.sleeping),
            ("rewards", reward),
            ("daylight", world.daylight),
            ("done", done),
        ):
            rows[name].append(value)
        if done:
            break
    length = len(rows["actions"])
    padded = {name: values + [values[-1]] * (STEPS - length) for name, values in rows.items()}
    return {**start, **padded, "length": length, "last_land": world._mat_map.copy()}


def main() -> None:
    """Live and write the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("tests/data/crafter.npz"))
    options = parser.parse_args()
    lives = [live(seed) for seed in range(LIVES)]
    kinds = {"rewards": np.float64, "daylight": np.float64, "asleep": bool, "done": bool, "land": np.uint8}
    kinds |= {"last_land": np.uint8, "length": np.int16, "counts": np.int16}
    arrays = {name: np.array([each[name] for each in lives], kinds.get(name, np.int8)) for name in lives[0]}
    np.savez_compressed(options.out, **arrays)
    print(arrays["length"], (arrays["counts"][:, -1] > 0).sum(0))


if __name__ == "__main__":
    main()
