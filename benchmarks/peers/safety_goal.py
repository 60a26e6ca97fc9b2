"""Steps of Safety-Gymnasium's SafetyPointGoal1 with random actions.

Installed as: safety-gymnasium 1.0.0, gymnasium 0.28.1, gymnasium-robotics 1.2.2, pettingzoo 1.23.1, mujoco 2.3.3 and
numpy 1.26 under Python 3.10 (Python 3.11 refuses its dataclasses), all with pip's ``--no-deps``; likewise jax-jumpy,
farama-notifications, cloudpickle, typing_extensions, absl-py, glfw, pyopengl, xmltodict, pyyaml, imageio, pygame,
jinja2 and markupsafe. A reset rebuilds the model and takes about as long as a thousand steps.
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
