"""Steps of the classic control environments of others with random actions; resets of vectors count as a step each.

``--package envpool``: EnvPool 1.2.5, ``--num`` environments in ``--threads`` threads, all stepped at a time.
``--package gymnasium`` (1.4): one environment, ``--form sync`` for `SyncVectorEnv`, or ``--form vector`` for the
native vector form of those that have one. Python 3.11, as pip installs them.
"""

import argparse

import worker

DRAWS = 64


def build(options: argparse.Namespace) -> worker.Peer:
    """The environments and random actions for them."""
    if options.package == "envpool":
        return pool(options)
    import gymnasium

    if options.form == "single":
        env = gymnasium.make(options.id)
        env.action_space.seed(0)
        return worker.single(env, [env.action_space.sample() for _ in range(1024)])
    mode = "sync" if options.form == "sync" else "vector_entry_point"
    envs = gymnasium.make_vec(options.id, options.num, vectorization_mode=mode)
    envs.action_space.seed(0)
    actions = [envs.action_space.sample() for _ in range(DRAWS)]
    return worker.vector(envs, options.num, actions, lambda: envs.reset(seed=0))


def pool(options: argparse.Namespace) -> worker.Peer:
    import envpool
    import numpy as np

    envs = envpool.make(options.id, "gymnasium", num_envs=options.num, num_threads=options.threads, seed=0)
    generator, space = np.random.default_rng(0), envs.action_space
    if hasattr(space, "n"):
        actions = [generator.integers(0, space.n, options.num) for _ in range(DRAWS)]
    else:
        shape = (options.num, *space.shape)
        actions = [generator.uniform(space.low, space.high, shape).astype(np.float32) for _ in range(DRAWS)]
    return worker.vector(envs, options.num, actions)


if __name__ == "__main__":
    parser = worker.parser(__doc__)
    parser.add_argument("--package", choices=("envpool", "gymnasium"), required=True)
    parser.add_argument("--id", required=True)
    parser.add_argument("--form", choices=("single", "sync", "vector"), default="single")
    parser.add_argument("--num", type=int, default=1024, help="environments")
    parser.add_argument("--threads", type=int, default=1, help="of EnvPool")
    worker.serve(build, parser.parse_args())
