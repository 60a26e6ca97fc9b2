"""Records walks of PettingZoo's multiwalker_v9 with their ground, for tests/multi/test_multi_walker.py.

    python -m venv teams && teams/bin/pip install "pettingzoo[sisl]==1.27.0" box2d==2.3.10
    teams/bin/python benchmarks/parity/record_multi_walker.py tests/data/multi_walker.npz

Without noise; the ground is read from the original, the push of the first step drawn by a second generator.
"""

from __future__ import annotations

import sys

try:
    import numpy as np
    from pettingzoo.sisl import multiwalker_v9
except Exception as error:  # PettingZoo has an error of its own where Box2D is missing
    raise SystemExit(f"pettingzoo[sisl] is needed ({error}); the docstring of this script says how") from None

LONGEST, WALKERS, NUMBERS = 130, 3, 31
CASES = ((0, "idle"), (1, "random"), (2, "own"))  # own: random actions, each walker paid for itself


def record(seed: int, policy: str) -> dict[str, np.ndarray]:
    env = multiwalker_v9.parallel_env(position_noise=0.0, angle_noise=0.0, shared_reward=policy != "own")
    seen, _ = env.reset(seed=seed)
    game = env.unwrapped.env
    ground = np.column_stack([game.terrain_x, game.terrain_y])
    force = float(np.random.Generator(np.random.PCG64(game.seed_val)).uniform(-5, 5))
    names, chosen = list(env.agents), np.random.default_rng(seed)
    rows = np.full((LONGEST, WALKERS, 4 + NUMBERS + 1), np.nan)
    rows[0] = [[0.0] * 4 + [*seen[name], 0.0] for name in names]
    length, ended = 1, False
    while env.agents and length < LONGEST:
        actions = np.zeros((WALKERS, 4), np.float32)
        if policy != "idle":
            actions = np.float32(chosen.uniform(-1.0, 1.0, (WALKERS, 4)))
        seen, paid, done, _, _ = env.step(dict(zip(names, actions, strict=True)))
        rows[length] = [[*actions[k], *seen[name], paid[name]] for k, name in enumerate(names)]
        length, ended = length + 1, all(done.values())
    return {"ground": ground, "rows": rows, "case": np.array([force, length, float(ended)])}


def main() -> None:
    found = [record(*case) for case in CASES]
    np.savez_compressed(sys.argv[1], **{name: np.stack([each[name] for each in found]) for name in found[0]})


if __name__ == "__main__":
    main()
