"""Steps of EnvPool's MuJoCo worlds with random actions; resets are counted, one step each.

envpool 1.2.5 under Python 3.11, or 1.2.7 under 3.12, as pip installs it.
"""

import argparse

import worker


def build(options: argparse.Namespace) -> worker.Peer:
    """The pool and random actions for it."""
    import envpool
    import numpy as np

    threads = {"num_envs": options.num, "num_threads": options.threads}
    envs = envpool.make(options.id, env_type="gymnasium", seed=0, **threads)
    space, generator = envs.action_space, np.random.default_rng(0)
    actions = [generator.uniform(space.low, space.high, (options.num, *space.shape)) for _ in range(64)]
    peer = worker.vector(envs, options.num, actions)
    peer.threads = options.threads
    return peer


if __name__ == "__main__":
    parser = worker.parser(__doc__)
    parser.add_argument("--id", required=True)
    parser.add_argument("--num", type=int, default=64, help="environments")
    parser.add_argument("--threads", type=int, default=2)
    worker.serve(build, parser.parse_args())
