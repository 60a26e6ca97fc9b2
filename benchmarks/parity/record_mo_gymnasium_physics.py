"""Record steps of mo-gymnasium's water reservoir and mountain cars from states that were set, in float64.

The originals round states and rewards to float32; here they are made to count in float64, and beside that they count
as they are. Installed as: the package mo-gymnasium from the registry. The arrays are described in tests/data/README.md.
"""

import argparse
import importlib
from importlib.metadata import version
from pathlib import Path
from typing import Any

try:
    import mo_gymnasium
    import numpy as np
except ModuleNotFoundError as error:
    raise SystemExit(f"{error.name} is needed; the docstring of this script says how it is installed") from None

ROWS = 150
RESERVOIRS: dict[str, dict[str, Any]] = {
    "plain": {},
    "penalized": {"penalize": True},
    "normalized": {"normalized_action": True},
}
CARS = {
    "car": "mo-mountaincar-v0",
    "car3d": "mo-mountaincar-3d-v0",
    "timemove": "mo-mountaincar-timemove-v0",
    "timespeed": "mo-mountaincar-timespeed-v0",
    "continuous": "mo-mountaincarcontinuous-v0",
}
MODULES = ("water_reservoir.dam_env", "mountain_car.mountain_car", "continuous_mountain_car.continuous_mountain_car")


class Wide:
    """NumPy whose float32 is float64."""

    float32 = np.float64

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)


class Raining:
    """A generator that draws one number."""

    def __init__(self, rain: float) -> None:
        self.rain = rain

    def normal(self, mean: float, deviation: float, size: int) -> np.ndarray:
        return np.full(size, self.rain)


def widen(wide: bool) -> None:
    """Make the originals count in float64, or as they are."""
    for name in MODULES:
        importlib.import_module(f"mo_gymnasium.envs.{name}").np = Wide() if wide else np


def reservoir(keywords: dict[str, Any], rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Steps from any level, with any action and rain."""
    env = mo_gymnasium.make("water-reservoir-v0", nO=4, disable_env_checker=True, **keywords).unwrapped
    env.reset(seed=0)
    before, rain = rng.uniform(0.0, 230.0, ROWS), rng.uniform(0.0, 80.0, ROWS)
    action = rng.uniform(0.0, 1.0 if env.normalized_action else 200.0, ROWS)
    after, rewards = np.zeros((2, ROWS)), np.zeros((2, ROWS, 4))
    for number, kind in enumerate((np.float64, np.float32)):
        widen(number == 0)
        for t in range(ROWS):
            env.state, env.np_random = np.array([before[t]], kind), Raining(rain[t])
            seen, rewards[number, t], *_ = env.step(np.array([action[t]], kind))
            after[number, t] = seen[0]
    return {"before": before, "rain": rain, "action": action, "after": after, "reward": rewards}


def car(name: str, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Steps from anywhere in the valley, many of them near the wall and the goal; actions too large among them."""
    env = mo_gymnasium.make(CARS[name], disable_env_checker=True).unwrapped
    env.reset(seed=0)
    x = np.where(rng.random(ROWS) < 0.4, rng.choice([-1.19, 0.44, 0.49], ROWS), rng.uniform(-1.2, 0.45, ROWS))
    v = rng.uniform(-0.07, 0.07, ROWS)
    action = rng.uniform(-2.0, 2.0, ROWS) if name == "continuous" else rng.integers(0, 3, ROWS)
    after, rewards, ends = np.zeros((ROWS, 2)), np.zeros((ROWS, env.reward_dim)), np.zeros(ROWS, bool)
    widen(True)
    for t in range(ROWS):
        env.state = np.array([x[t], v[t]])
        given = np.array([action[t]]) if name == "continuous" else int(action[t])
        _, rewards[t], ends[t], _, _ = env.step(given)
        after[t] = env.state
    space = np.array([env.reward_space.low, env.reward_space.high])
    found = {"before": np.stack([x, v], axis=1), "action": action, "after": after, "reward": rewards, "end": ends}
    return {**found, "reward_space": space}


def main() -> None:
    """Step and write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("tests/data/mo_gymnasium_physics.npz"))
    options = parser.parse_args()
    arrays: dict[str, Any] = {"version": version("mo-gymnasium")}
    for seed, (name, keywords) in enumerate(RESERVOIRS.items()):
        found = reservoir(keywords, np.random.default_rng(seed))
        arrays |= {f"{name}_{key}": value for key, value in found.items()}
    for seed, name in enumerate(CARS, 10):
        arrays |= {f"{name}_{key}": value for key, value in car(name, np.random.default_rng(seed)).items()}
    np.savez_compressed(options.out, **arrays)


if __name__ == "__main__":
    main()
