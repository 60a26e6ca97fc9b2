"""Steps of Safety-Gymnasium's SafetyPointGoal1 with random actions.

Installed as, under Python 3.10 (3.11 refuses its dataclasses): safety-gymnasium 1.0.0, gymnasium 0.28.1 and mujoco 2.3.3 from the registry, all with ``--no-deps``, and
then numpy 1.26, jax-jumpy, farama-notifications, cloudpickle, typing_extensions, absl-py, glfw, pyopengl, xmltodict,
pyyaml, imageio and pygame. gymnasium-robotics is left out: its plugin fails on import.
"""

import argparse

import worker


def build(options: argparse.Namespace) -> worker.Peer:
    """The environment and random actions for it."""
    import numpy as np
    import safety_gymnasium

    env = safety_gymnasium.make(options.id)
    shape = env.action_space.shape
    actions = np.random.default_rng(0).uniform(-1.0, 1.0, (4096, *shape))

    def step(action: object) -> bool:
        _, _, _, terminated, truncated, _ = env.step(action)
        return bool(terminated or truncated)

    return worker.Peer(step, env.reset, list(actions))


if __name__ == "__main__":
    parser = worker.parser(__doc__)
    parser.add_argument("--id", default="SafetyPointGoal1-v0")
    worker.serve(build, parser.parse_args())
