"""Steps of a MiniGrid environment with random actions.

Installed as: the package minigrid (3.2) from the registry.
"""

import argparse

import worker


def build(options: argparse.Namespace) -> worker.Peer:
    """The environment and random actions for it."""
    import gymnasium
    import minigrid  # noqa: F401 - registers the environments
    import numpy as np

    env = gymnasium.make(options.id)
    actions = np.random.default_rng(0).integers(env.action_space.n, size=4096).tolist()
    return worker.single(env, actions)


if __name__ == "__main__":
    parser = worker.parser(__doc__)
    parser.add_argument("--id", default="MiniGrid-DoorKey-8x8-v0")
    worker.serve(build, parser.parse_args())
