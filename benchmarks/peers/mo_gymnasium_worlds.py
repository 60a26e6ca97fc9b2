"""Steps of mo-gymnasium's environments with random choices, with the time limit that each is registered with.

Installed as: the package mo-gymnasium from the registry. ``--unwrapped`` leaves Gymnasium's checking and time-limit
wrappers out: the bare environment, with our own count of steps.
"""

import argparse
from itertools import count

import worker

LONG = 10**9  # steps of an episode without a time limit


def build(options: argparse.Namespace) -> worker.Peer:
    """The environment and random actions for it."""
    import mo_gymnasium
    import numpy as np

    made = mo_gymnasium.make(options.id)
    env = made.unwrapped if options.unwrapped else made
    ticks = count(1)
    limit = made.spec.max_episode_steps or LONG

    def step(action: object) -> bool:
        _, _, terminated, truncated, _ = env.step(action)
        return terminated or truncated

    def step_bare(action: object) -> bool:
        return env.step(action)[2] or next(ticks) >= limit

    def reset_bare() -> None:
        nonlocal ticks
        ticks = count(1)
        env.reset()

    actions = np.random.default_rng(0).integers(env.action_space.n, size=4096).tolist()
    if options.unwrapped:
        return worker.Peer(step_bare, reset_bare, actions)
    return worker.Peer(step, env.reset, actions)


if __name__ == "__main__":
    parser = worker.parser(__doc__)
    parser.add_argument("--id", default="deep-sea-treasure-v0")
    parser.add_argument("--unwrapped", action="store_true", help="without the registered wrappers")
    worker.serve(build, parser.parse_args())
