"""Steps of one of Memory Gym's environments, with random actions.

Installed as: memory-gym 1.0.2 from the registry, with gymnasium 0.29.0 and pygame 2.4.0, which it pins, Python 3.11.
"""

import argparse
import importlib
import os

import worker

os.environ["SDL_VIDEODRIVER"] = "dummy"
os.environ["PYGAME_HIDE_SUPPORT_PROMPT"] = "1"


def build(options: argparse.Namespace) -> worker.Peer:
    """The environment and random actions for it."""
    importlib.import_module("memory_gym")
    import gymnasium

    env = gymnasium.make(options.id, disable_env_checker=True).unwrapped
    env.action_space.seed(0)
    env.reset(seed=0)
    actions = [env.action_space.sample() for _ in range(1024)]
    return worker.Peer(lambda action: bool(env.step(action)[2]), env.reset, actions)


if __name__ == "__main__":
    parser = worker.parser(__doc__)
    parser.add_argument("--id", default="MortarMayhem-v0")
    worker.serve(build, parser.parse_args())
