"""Record steps of mo-gymnasium's finite worlds, with the fronts that the package gives.

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

STEPS = 1000
GAMMAS = (1.0, 0.99, 0.98)
WORLDS: dict[str, tuple[str, dict[str, Any]]] = {
    "resources": ("resource-gathering-v0", {}),
    "fishwood": ("fishwood-v0", {}),
    "breakable": ("breakable-bottles-v0", {"prob_drop": 0.5}),
    "unbreakable": ("breakable-bottles-v0", {"prob_drop": 0.5, "unbreakable_bottles": True}),
    "rooms": ("four-room-v0", {}),
    **{f"fruit{depth}": ("fruit-tree-v0", {"depth": depth}) for depth in (5, 6, 7)},
}

LIKELY = {"rooms": (0.15, 0.35, 0.35, 0.15)}  # to the goal, right and up


def numbers_of(observation: Any) -> list[float]:
    """An observation as a row of numbers."""
    if isinstance(observation, dict):
        observation = [*list(observation.values())[:3], *observation["bottles_dropped"]]
    return [float(number) for number in np.ravel(observation)]


class Drawing:
    """A generator that draws one number."""

    def __init__(self, number: float) -> None:
        self.number = number

    def random(self) -> float:
        return self.number


def fated_step(env: Any, action: int, happens: bool) -> tuple[Any, ...]:
    """A step in which what may happen by chance does happen, or does not."""
    bare = env.unwrapped
    generator = bare.np_random
    bare.np_random = Drawing(0.0 if happens else 1.0 - 1e-12)
    found = env.step(action)
    bare.np_random = generator
    return found


def record(name: str, seed: int) -> dict[str, np.ndarray]:
    """Episodes of random actions, often the last one again; each row is a step from a state to the next."""
    rng, (id, keywords) = np.random.default_rng(seed), WORLDS[name]
    env = mo_gymnasium.make(id, disable_env_checker=True, **keywords)
    rows: dict[str, list[Any]] = {key: [] for key in ("before", "action", "happens", "after", "reward", "end")}
    before, _ = env.reset(seed=seed)
    action = 0
    for _ in range(STEPS):
        action = action if rng.random() < 0.6 else int(rng.choice(env.action_space.n, p=LIKELY.get(name)))
        happens = bool(rng.random() < 0.3)
        after, reward, terminated, truncated, _ = fated_step(env, action, happens)
        row = numbers_of(before), action, happens, numbers_of(after), reward, (terminated, truncated)
        for key, value in zip(rows, row, strict=True):
            rows[key].append(value)
        before = env.reset()[0] if terminated or truncated else after
    types = {"before": np.int16, "action": np.int8, "after": np.int16, "reward": np.float32}
    return {key: np.array(value, types.get(key, bool)) for key, value in rows.items()}


def main() -> None:
    """Play and write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("tests/data/mo_gymnasium.npz"))
    options = parser.parse_args()
    arrays: dict[str, np.ndarray] = {"version": np.array(version("mo-gymnasium")), "gammas": np.array(GAMMAS)}
    for seed, (name, (id, keywords)) in enumerate(WORLDS.items()):
        arrays |= {f"{name}_{key}": value for key, value in record(name, seed).items()}
        bare = mo_gymnasium.make(id, disable_env_checker=True, **keywords).unwrapped
        arrays[f"{name}_reward_space"] = np.array([bare.reward_space.low, bare.reward_space.high])
        if hasattr(bare, "pareto_front"):
            fronts = [sorted(map(tuple, bare.pareto_front(gamma)), reverse=True) for gamma in GAMMAS]
            arrays[f"{name}_front"] = np.array(fronts)
        if hasattr(bare.observation_space, "low"):
            arrays[f"{name}_space"] = np.array([bare.observation_space.low, bare.observation_space.high])
    np.savez_compressed(options.out, **arrays)


if __name__ == "__main__":
    main()
