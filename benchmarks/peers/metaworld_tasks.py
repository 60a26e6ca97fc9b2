"""Steps of a task of metaworld with random actions, on the 50 goals of MT1 in turn.

metaworld 3.1.1 under Python 3.11, as benchmarks/parity/record_metaworld.py says how it is installed.
"""

import argparse
from itertools import cycle

import worker


def build(options: argparse.Namespace) -> worker.Peer:
    """The task and random actions for it."""
    import metaworld
    import numpy as np
    from metaworld.env_dict import ALL_V3_ENVIRONMENTS

    env = ALL_V3_ENVIRONMENTS[options.id]()
    goals = cycle(metaworld.MT1(options.id, seed=42).train_tasks)

    def reset() -> None:
        env.set_task(next(goals))
        env.reset()

    def step(action: object) -> bool:
        _, _, terminated, truncated, _ = env.step(action)
        return bool(terminated or truncated)

    actions = np.random.default_rng(0).uniform(-1.0, 1.0, (1024, 4)).astype(np.float32)
    return worker.Peer(step, reset, list(actions))


if __name__ == "__main__":
    parser = worker.parser(__doc__)
    parser.add_argument("--id", required=True, help="such as reach-v3")
    worker.serve(build, parser.parse_args())
