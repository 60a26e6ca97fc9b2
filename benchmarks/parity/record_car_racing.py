"""Records drives of Gymnasium's CarRacing-v3, for tests/robotics/test_car_racing.py.

    python -m venv box2d && box2d/bin/pip install gymnasium==1.4.0 box2d==2.3.10 pygame
    box2d/bin/python benchmarks/parity/record_car_racing.py tests/data/car_racing.npz

The original draws the points of its track from one generator in a fixed order, so a second one with the same seed says
what it drew. Seeds are such that the first track closes.
"""

from __future__ import annotations

import math
import sys

try:
    import Box2D  # noqa: F401
    import numpy as np
    import pygame  # noqa: F401
except ModuleNotFoundError as error:
    raise SystemExit(f"{error.name} is needed; the docstring of this script says how it is installed") from None
from gymnasium.envs.box2d.car_racing import CarRacing
from gymnasium.utils.seeding import np_random

STEPS = 500
MANNERS = ("random", "weave", "full gas", "circle", "brake", "follow", "follow", "follow")
SHOWN = (0, 20, 60, 150)  # steps whose pictures are kept, of the last drive


def points_of(seed: int) -> np.ndarray:
    """The twelve points of the first track that a seed draws."""
    draws, _ = np_random(seed)
    rows = []
    for c in range(12):
        angle = 2 * math.pi * c / 12 + draws.uniform(0, 2 * math.pi / 12)
        radius = draws.uniform(50.0, 150.0)
        if c in (0, 11):
            angle, radius = 2 * math.pi * c / 12, 225.0
        rows.append((angle, radius * math.cos(angle), radius * math.sin(angle)))
    return np.array(rows)


def follow(env: CarRacing, speed: float) -> np.ndarray:
    """Steer at the fifth gate ahead."""
    x, y = env.car.hull.position
    gates = np.array(env.track)
    near = int(np.argmin((gates[:, 2] - x) ** 2 + (gates[:, 3] - y) ** 2))
    gate = gates[(near + 5) % len(gates)]
    turn = math.atan2(gate[3] - y, gate[2] - x) - math.pi / 2 - env.car.hull.angle
    turn = (turn + math.pi) % (2 * math.pi) - math.pi
    missing = speed - math.hypot(*env.car.hull.linearVelocity)
    return np.array([-turn, 0.05 * missing, -0.05 * missing])


def choose(env: CarRacing, manner: str, t: int, draws: np.random.Generator) -> np.ndarray:
    if manner == "random":
        return draws.uniform((-1.0, 0.0, 0.0), 1.0)
    if manner == "weave":
        return np.array([math.sin(0.05 * t), 0.1, 0.0])
    if manner == "full gas":
        return np.array([0.0, 1.0, 0.0])
    if manner == "circle":
        return np.array([0.3, 0.05, 0.0])
    if manner == "brake":
        return np.array([0.0, 0.5 * (t < 60), 0.8 * (t >= 60) + 0.2 * (t > 120)])
    return follow(env, 30.0 + 5.0 * (env.car.hull.position[0] > 0.0))


def state_of(env: CarRacing) -> list[float]:
    """Origin, angle, velocity and spin of the hull; rotation of the wheels; angle of a front hinge; tiles; reward."""
    hull = env.car.hull
    wheels = [w.omega for w in env.car.wheels]
    steer = env.car.wheels[0].joint.angle
    return [*hull.position, hull.angle, *hull.linearVelocity, hull.angularVelocity, *wheels, steer]


def record(seed: int, manner: str) -> dict[str, np.ndarray]:
    env = CarRacing()
    env.reset(seed=seed)
    draws = np.random.default_rng(seed)
    gates = np.full((512, 4), np.nan)
    gates[: len(env.track)] = env.track
    kerbs = np.full(512, -1)
    colors = [color for _, color in env.road_poly]
    kerbs[0] = sum(isinstance(color, tuple) for color in colors)
    rows, pictures = [(0.0, 0.0, 0.0, *state_of(env), 0.0, 0.0)], [env.state]
    for t in range(STEPS):
        action = np.clip(choose(env, manner, t, draws), (-1.0, 0.0, 0.0), 1.0).astype(np.float32)
        picture, reward, ended, _, _ = env.step(action)
        rows.append((*action, *state_of(env), reward, env.tile_visited_count))
        if t + 1 in SHOWN:
            pictures.append(picture)
        if ended:
            break
    table = np.full((STEPS + 1, len(rows[0])), np.nan)
    table[: len(rows)] = rows
    found = {
        "points": points_of(seed),
        "gates": gates,
        "kerbs": kerbs[:1],
        "rows": table,
        "length": np.array(len(rows)),
    }
    return found | ({"pictures": np.array(pictures)} if manner == "follow" else {})


def main() -> None:
    found = [record(seed, manner) for seed, manner in enumerate(MANNERS)]
    names = ("points", "gates", "kerbs", "rows", "length")
    np.savez_compressed(
        sys.argv[1],
        **{name: np.stack([each[name] for each in found]) for name in names},
        pictures=found[-1]["pictures"],
    )


if __name__ == "__main__":
    main()
