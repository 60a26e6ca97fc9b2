"""Records episodes of PettingZoo's pistonball_v6 for tests/multi/test_pistonball.py.

    python -m venv teams && teams/bin/pip install "pettingzoo[butterfly]==1.27.0" pymunk==7.3.1
    teams/bin/python benchmarks/parity/record_pistonball.py tests/data/pistonball.npz

The starts are read from the original. Actions are quarters, so that the original, which moves pistons in float32, moves
them exactly.
"""

from __future__ import annotations

import sys

try:
    import numpy as np
    from pettingzoo.butterfly import pistonball_v6
except ImportError as error:
    raise SystemExit(f"pettingzoo[butterfly] is needed ({error}); the docstring of this script says how") from None

STEPS = 60
CASES = ((0, "random"), (1, "slope"), (2, "walk"))


def record(seed: int, policy: str) -> dict[str, np.ndarray]:
    env = pistonball_v6.parallel_env()
    env.reset(seed=seed)
    game = env.unwrapped
    count = len(env.agents)
    body = game.ball
    start = np.array(
        [*body.position, body.angular_velocity, *(491.0 - piston.position[1] for piston in game.pistonList)]
    )
    chosen, mood = np.random.default_rng(seed), np.zeros(count)
    actions, motion, rewards, ends = [], [], [], []
    while env.agents and len(actions) < STEPS:
        middles = 60.0 + 40.0 * np.arange(count)
        mood = np.clip(mood + chosen.normal(0.0, 0.3, count), -1.0, 1.0)
        uniform = chosen.uniform(-1.0, 1.0, count)
        sloped = np.where(middles > body.position[0] + 10.0, 1.0, -1.0)
        action = np.float32({"random": uniform, "slope": sloped, "walk": mood}[policy])
        action = np.round(4.0 * action) / 4.0
        _, reward, ended, _, _ = env.step({name: action[k : k + 1] for k, name in enumerate(env.agents)})
        actions.append(action)
        motion.append([*body.position, *body.velocity, body.angle, body.angular_velocity])
        rewards.append(reward["piston_0"])
        ends.append(ended["piston_0"])
    length = len(actions)
    rows = np.full((STEPS, count + 8), np.nan)
    rows[:length] = np.column_stack([actions, motion, rewards, ends])
    return {"start": start, "rows": rows}


def main() -> None:
    found = [record(*case) for case in CASES]
    np.savez_compressed(sys.argv[1], **{name: np.stack([each[name] for each in found]) for name in found[0]})


if __name__ == "__main__":
    main()
