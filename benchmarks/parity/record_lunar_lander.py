"""Records flights of Gymnasium's LunarLander-v3 with all that chance drew, for tests/robotics/test_lunar_lander.py.

    python -m venv box2d && box2d/bin/pip install gymnasium==1.4.0 box2d==2.3.10
    box2d/bin/python benchmarks/parity/record_lunar_lander.py tests/data/lunar_lander.npz

The original draws from one generator in a fixed order, so a second one with the same seed says what it drew.
"""

from __future__ import annotations

import sys

try:
    import gymnasium
    import numpy as np
    from gymnasium.envs.box2d.lunar_lander import heuristic
    from gymnasium.utils.seeding import np_random
except Exception as error:  # Gymnasium has an error of its own where Box2D is missing
    raise SystemExit(f"gymnasium with box2d is needed ({error}); the docstring of this script says how") from None

LONGEST = 400
CASES = (  # seed, keywords, policy
    (0, {}, "idle"),
    (1, {}, "random"),
    (2, {}, "controller"),
    (3, {}, "controller"),
    (4, {"continuous": True}, "controller"),
    (5, {"continuous": True}, "random"),
    (6, {"enable_wind": True}, "controller"),
    (7, {"enable_wind": True, "wind_power": 20.0, "turbulence_power": 2.0, "gravity": -5.0}, "random"),
)


def powers(action: np.ndarray | int, continuous: bool) -> tuple[float, float]:
    """Of the main and the side engines."""
    if not continuous:
        return float(action == 2), float(action - 2) if action in (1, 3) else 0.0
    main, side = np.clip(np.asarray(action, np.float64), -1.0, 1.0)
    return (main + 1.0) / 2.0 if main > 0.0 else 0.0, side if abs(side) > 0.5 else 0.0


def record(seed: int, keywords: dict, policy: str) -> dict[str, np.ndarray]:
    env = gymnasium.make("LunarLander-v3", **keywords).unwrapped
    draws, _ = np_random(seed)
    heights = draws.uniform(0, 400 / 30 / 2, size=(12,))
    heights[3:8] = 400 / 30 / 4
    force = np.array([draws.uniform(-1000.0, 1000.0), draws.uniform(-1000.0, 1000.0)])
    wind = [draws.integers(-9999, 9999) for _ in range(2)] if keywords.get("enable_wind") else [0, 0]
    draws.uniform(-1.0, 1.0, 2)  # of the step in the reset
    state, _ = env.reset(seed=seed)
    chosen = np.random.default_rng(seed)
    rows, ends = [(0.0, 0.0, 0.0, 0.0, *state, 0.0)], False
    while not ends and len(rows) < LONGEST:
        if policy == "controller":
            action = heuristic(env, state)
        elif policy == "idle":
            action = 0
        else:
            action = chosen.uniform(-1.0, 1.0, 2) if env.continuous else int(chosen.integers(4))
        if env.continuous:
            action = np.asarray(action, np.float32)
        main, side = powers(action, env.continuous)
        across, along = draws.uniform(-1.0, 1.0), draws.uniform(-1.0, 1.0)
        state, reward, ends, _, _ = env.step(action)
        rows.append((main, side, across, along, *state, reward))
    table = np.array(rows)
    padded = np.full((LONGEST, table.shape[1]), np.nan)
    padded[: len(table)] = table
    gravity = keywords.get("gravity", -10.0)
    power, torque = keywords.get("wind_power", 15.0), keywords.get("turbulence_power", 1.5)
    numbers = (gravity, float(keywords.get("enable_wind", False)), power, torque, float(ends), len(table))
    return {"heights": heights, "force": force, "wind": np.array(wind), "rows": padded, "case": np.array(numbers)}


def main() -> None:
    found = [record(*case) for case in CASES]
    np.savez_compressed(sys.argv[1], **{name: np.stack([each[name] for each in found]) for name in found[0]})


if __name__ == "__main__":
    main()
