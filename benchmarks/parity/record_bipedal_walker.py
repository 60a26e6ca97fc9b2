"""Records walks of Gymnasium's BipedalWalker-v3 with their ground, for tests/robotics/test_bipedal_walker.py.

    python -m venv box2d && box2d/bin/pip install gymnasium==1.4.0 box2d==2.3.10
    box2d/bin/python benchmarks/parity/record_bipedal_walker.py tests/data/bipedal_walker.npz

The ground and its obstacles are read from the original; the push of the first step is drawn by a second generator.
"""

from __future__ import annotations

import sys

try:
    import numpy as np
    from gymnasium.envs.box2d.bipedal_walker import BipedalWalker, BipedalWalkerHeuristics
except Exception as error:  # Gymnasium has an error of its own where Box2D is missing
    raise SystemExit(f"gymnasium with box2d is needed ({error}); the docstring of this script says how") from None

LONGEST, MOST_BLOCKS = 220, 45
CASES = ((0, False, "gait"), (1, False, "random"), (2, False, "idle"), (3, True, "gait"), (4, True, "random"))


class Pushed(BipedalWalker):
    """The original, which remembers with what force it was pushed."""

    force = 0.0

    def _generate_clouds(self) -> None:
        super()._generate_clouds()
        state = self.np_random.bit_generator.state
        self.force = float(self.np_random.uniform(-5, 5))
        self.np_random.bit_generator.state = state


def record(seed: int, hardcore: bool, policy: str) -> dict[str, np.ndarray]:
    env = Pushed(hardcore=hardcore)
    state, _ = env.reset(seed=seed)
    ground = np.column_stack([env.terrain_x, env.terrain_y])
    blocks = np.zeros((MOST_BLOCKS, 4))
    solid = [body for body in env.terrain if len(body.fixtures[0].shape.vertices) > 2]
    for i, body in enumerate(solid):
        corners = np.array(body.fixtures[0].shape.vertices)
        blocks[i] = *corners.min(0), *corners.max(0)
    gait, chosen = BipedalWalkerHeuristics(), np.random.default_rng(seed)
    rows, action, ended = [(0.0, 0.0, 0.0, 0.0, *state, 0.0)], np.zeros(4), False
    while not ended and len(rows) < LONGEST:
        if policy == "random":
            action = chosen.uniform(-1.0, 1.0, 4)
        elif policy == "gait" and len(rows) > 1:
            action = gait.step_heuristic(state).copy()
        state, reward, ended, _, _ = env.step(np.asarray(action, np.float32))
        rows.append((*np.asarray(action, np.float32), *state, reward))
    padded = np.full((LONGEST, 29), np.nan)
    padded[: len(rows)] = rows
    case = np.array([float(hardcore), env.force, len(solid), float(ended), len(rows)])
    return {"ground": ground, "blocks": blocks, "rows": padded, "case": case}


def main() -> None:
    found = [record(*case) for case in CASES]
    np.savez_compressed(sys.argv[1], **{name: np.stack([each[name] for each in found]) for name in found[0]})


if __name__ == "__main__":
    main()
