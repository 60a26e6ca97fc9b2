"""Steps of Crafter with random actions.

Installed as: the package crafter (1.8.3) from the registry.
"""

import argparse

import worker


def build(options: argparse.Namespace) -> worker.Peer:
    """The environment and random actions for it."""
    import crafter
    import numpy as np

    env = crafter.Env(seed=0)
    actions = np.random.default_rng(0).integers(17, size=4096).tolist()
    return worker.Peer(lambda action: bool(env.step(action)[2]), env.reset, actions)


if __name__ == "__main__":
    parser = worker.parser(__doc__)
    worker.serve(build, parser.parse_args())
