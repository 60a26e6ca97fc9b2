"""Steps of highway-env's worlds with random actions, its own or EnvPool's.

highway-env 1.12.1 and envpool 1.2.5 under Python 3.11, as pip installs them. EnvPool's resets are counted, a step each.
"""

import argparse

import worker


def pool(options: argparse.Namespace) -> worker.Peer:
    """EnvPool's port and random actions for it."""
    import envpool
    import numpy as np

    sizes = {"num_envs": options.num, "num_threads": options.threads}
    envs = envpool.make(options.id, env_type="gymnasium", seed=0, **sizes)
    generator = np.random.default_rng(0)
    actions = [generator.integers(envs.action_space.n, size=options.num).astype(np.int32) for _ in range(64)]
    return worker.vector(envs, options.num, actions)


def build(options: argparse.Namespace) -> worker.Peer:
    """The environment and random actions for it."""
    if options.package == "envpool":
        return pool(options)
    import gymnasium
    import highway_env  # noqa: F401 - registers the environments
    import numpy as np

    env = gymnasium.make(options.id)
    actions = np.random.default_rng(0).integers(env.action_space.n, size=4096).tolist()
    return worker.single(env, actions)


if __name__ == "__main__":
    parser = worker.parser(__doc__)
    parser.add_argument("--id", default="highway-v0")
    parser.add_argument("--package", choices=("highway-env", "envpool"), default="highway-env")
    parser.add_argument("--num", type=int, default=1, help="environments of EnvPool")
    parser.add_argument("--threads", type=int, default=1)
    worker.serve(build, parser.parse_args())
