"""Steps of arms that other packages register with Gymnasium, with random actions: one of them, or several in processes.

``--module panda_gym`` (panda-gym 3.0.7) or ``--module gymnasium_robotics`` (Gymnasium-Robotics 1.4.2, whose Fetch tasks
need mujoco 3.4 or older), with Gymnasium 1.4 under Python 3.11, as pip installs them. ``--num`` environments in as many
processes are an AsyncVectorEnv, whose resets are counted, one step each.
"""

import argparse
import importlib

import worker


def build(options: argparse.Namespace) -> worker.Peer:
    """The environment, or the vector of them, and random actions for it."""
    import gymnasium

    gymnasium.register_envs(importlib.import_module(options.module))
    if options.num > 1:
        envs = gymnasium.make_vec(options.id, options.num, vectorization_mode="async")
        envs.action_space.seed(0)
        actions = [envs.action_space.sample() for _ in range(256)]
        return worker.vector(envs, options.num, actions, lambda: envs.reset(seed=0))

    env = gymnasium.make(options.id)
    env.action_space.seed(0)
    return worker.single(env, [env.action_space.sample() for _ in range(1024)])


if __name__ == "__main__":
    parser = worker.parser(__doc__)
    parser.add_argument("--module", required=True, help="the package that registers the id")
    parser.add_argument("--id", required=True)
    parser.add_argument("--num", type=int, default=1, help="environments")
    worker.serve(build, parser.parse_args())
