"""Record bsuite's cartpole_swingup for tests/single/test_classic.py.

Installed as: bsuite 0.3.6 on Python 3.11, as pip installs it. The one argument is the file to write. Half of the
episodes are random, with each push held for some steps; in the others the pole is swung up and balanced. The arrays
are described in tests/data/README.md.
"""

import sys
from importlib.metadata import version

try:
    import numpy as np
    from bsuite.experiments.cartpole_swingup.cartpole_swingup import CartpoleSwingup
except ModuleNotFoundError as error:
    raise SystemExit(f"{error.name} is needed; the docstring of this script says how it is installed") from None

EPISODES, STEPS = 4, 1001
FIELDS = ("x", "x_dot", "theta", "theta_dot")


def swinging(x, x_dot, theta, theta_dot):
    """A push that adds energy, or balances: -1, 0 or 1."""
    angle = (theta + np.pi) % (2 * np.pi) - np.pi
    if np.cos(theta) > 0.8:
        return np.sign(0.3 * x + 0.6 * x_dot + 8.0 * angle + 1.6 * theta_dot)
    energy = theta_dot**2 / 29.4 + np.cos(theta) - 1.0
    wanted = np.clip(3.0 * energy, -1, 1) * np.sign(theta_dot * np.cos(theta)) - 0.2 * x - 0.2 * x_dot
    return np.round(np.clip(wanted, -1, 1))


def record(episode):
    env = CartpoleSwingup(seed=episode)
    generator, held = np.random.default_rng(episode), 0
    env.reset()
    states = np.full((STEPS + 1, 4), np.nan)
    actions, rewards = np.full(STEPS, -1), np.full(STEPS, np.nan)
    states[0] = [getattr(env._state, name) for name in FIELDS]
    for t in range(STEPS):
        if episode % 2:
            held = swinging(*states[t])
        elif t % 10 == 0:
            held = generator.integers(-1, 2)
        actions[t] = int(held) + 1
        moved = env.step(actions[t])
        states[t + 1] = [getattr(env._state, name) for name in FIELDS]
        rewards[t] = moved.reward
        if moved.last():
            break
    return {"states": states, "actions": actions, "rewards": rewards, "length": t + 1}


def main():
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    records = [record(episode) for episode in range(EPISODES)]
    arrays = {name: np.array([each[name] for each in records]) for name in records[0]}
    np.savez_compressed(sys.argv[1], version=version("bsuite"), **arrays)
    print(arrays["length"], [np.nansum(each["rewards"]).round(2) for each in records])


if __name__ == "__main__":
    main()
