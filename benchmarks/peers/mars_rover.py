"""Steps of MarsExplorer with random moves, in its default configuration.

Installed as: a clone of dimikout3/MarsExplorer (``--clone``), with numpy, gymnasium and pygame. It is written for the
old gym and for NumPy before 1.24; what it takes from them is put in their place here, outside the clone, and
matplotlib, which it imports and does not use, is an empty module.
"""

import argparse
import os
import sys
from types import ModuleType
from typing import Any

import worker


def load(clone: str) -> Any:
    """MarsExplorer's module of environments, with what it needs of the old gym and the old NumPy."""
    import gymnasium
    import numpy as np

    gym: Any = ModuleType("gym")
    gym.Env, gym.spaces, gym.error, gym.utils = gymnasium.Env, gymnasium.spaces, gymnasium.error, gymnasium.utils
    registration: Any = ModuleType("gym.envs.registration")
    registration.register = lambda **keywords: None
    sys.modules |= {"gym": gym, "gym.utils": gymnasium.utils, "gym.envs": ModuleType("gym.envs")}
    sys.modules["gym.envs.registration"] = registration
    for name in ("matplotlib", "matplotlib.pyplot"):
        sys.modules[name] = ModuleType(name)
    np.int = int  # noqa: NPY001 - what NumPy no longer has
    sys.path.insert(0, os.path.join(os.path.abspath(clone), "mars-explorer"))
    import mars_explorer.envs

    return mars_explorer.envs


def build(options: argparse.Namespace) -> worker.Peer:
    """The environment and random moves for it."""
    import numpy as np

    env = load(options.clone).ExplorerConf()
    np.random.seed(0)  # noqa: NPY002 - MarsExplorer draws from the global generator
    actions = np.random.default_rng(0).integers(4, size=4096).tolist()
    return worker.Peer(lambda action: bool(env.step(action)[2]), env.reset, actions)


if __name__ == "__main__":
    parser = worker.parser(__doc__)
    parser.add_argument("--clone", required=True, help="where the repository was cloned to")
    worker.serve(build, parser.parse_args())
