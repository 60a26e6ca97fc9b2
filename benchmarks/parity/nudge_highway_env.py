"""How far highway-env agrees with itself when the last bit of one number is another.

    python benchmarks/parity/nudge_highway_env.py roundabout --seeds 100

Runs where highway-env 1.12.1 is installed, without rlenvs. Each episode is played twice with the actions that
`record_highway_env.py` chooses; before the second time the ego car is moved to the next number of its x and y that a
computer has. It says after which step of each seed a position differs by more than the tolerance: no other program can
agree for longer, unless all its numbers are the same to the bit.
"""

import argparse

from record_highway_env import CONFIGS, IDS, bodies_of, chosen, gymnasium, np


def positions(env):
    return np.array([body.position for body in bodies_of(env)])


def played(world, seed, nudged, actions=None):
    """Positions behind each step, the ego's speeds, and the actions."""
    env = gymnasium.make(IDS[world], config=CONFIGS.get(world))
    env.reset(seed=seed)
    inner, rng = env.unwrapped, np.random.default_rng(seed)
    if nudged:
        inner.vehicle.position = np.nextafter(inner.vehicle.position, np.inf)
    told, speeds, taken, over = [], [], [], False
    while not over:
        action = chosen(env, rng, seed % 2 == 1) if actions is None else actions[len(taken)]
        _, _, terminated, truncated, _ = env.step(action)
        taken.append(action)
        told.append(positions(inner))
        speeds.append(abs(inner.vehicle.speed))
        over = terminated or truncated or len(taken) >= (199 if actions is None else len(actions))
    return told, speeds, taken


def first_difference(one, two, tolerance):
    """The first step after which positions differ; -1 for none."""
    for n, (a, b) in enumerate(zip(one, two, strict=False)):
        if a.shape != b.shape or np.abs(a - b).max() > tolerance:
            return n + 1
    return -1 if len(one) == len(two) else min(len(one), len(two)) + 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("world", choices=IDS)
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--tolerance", type=float, default=1e-9, help="m")
    asked = parser.parse_args()
    same = 0
    for seed in range(asked.seeds):
        one, speeds, actions = played(asked.world, seed, False)
        two, _, _ = played(asked.world, seed, True, actions)
        first = first_difference(one, two, asked.tolerance)
        same += first < 0
        if first >= 0:
            slowest = min(speeds[:first])
            print(f"seed {seed}: differs after step {first} of {len(one)}; ego car at {slowest:.3f} m/s", flush=True)
    print(f"{asked.world}: {same} of {asked.seeds} episodes agree with themselves to {asked.tolerance:g} m")


if __name__ == "__main__":
    main()
