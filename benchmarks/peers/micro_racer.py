"""Steps of MicroRacer's car on one shared track (chicanes and obstacles off unless asked for), with random actions.

Installed as: a clone of asperti/MicroRacer (``--clone``), with numpy, scipy, cython, setuptools and a C compiler; its
lidar is compiled on the first import, inside the clone. Its plotting imports are replaced by empty modules.
The track is generated once and only the car is put back on it. With ``--tracks`` each counted step generates one track.
"""

import argparse
import os
import sys
from types import ModuleType
from typing import Any

import worker


def load(clone: str) -> Any:
    """MicroRacer's one module, without matplotlib and without its prints."""
    if not os.path.isdir(clone):
        raise SystemExit(f"--clone {clone} is no folder")
    for name in ("matplotlib", "matplotlib.pyplot", "matplotlib.animation", "matplotlib.transforms"):
        sys.modules[name] = ModuleType(name)
    os.chdir(clone)
    sys.path.insert(0, clone)
    import tracks

    tracks.print = lambda *words: None
    return tracks


def build(options: argparse.Namespace) -> worker.Peer:
    """The car on its track and random actions for it."""
    import numpy as np

    tracks = load(os.path.abspath(options.clone))
    np.random.seed(0)  # noqa: NPY002 - MicroRacer draws from the global generator
    racer = tracks.Racer(obstacles=options.obstacles, chicanes=options.chicanes)
    if options.tracks:
        return worker.Peer(lambda action: bool(racer.reset() is None), lambda: None, [None])
    racer.reset()
    shared = (racer.cs, racer.map, racer.obs_pos, options.speed)
    actions = np.random.default_rng(0).uniform(-1.0, 1.0, (4096, 2)).tolist()
    return worker.Peer(lambda action: bool(racer.step(action)[2]), lambda: racer.reset(shared), actions)


if __name__ == "__main__":
    parser = worker.parser(__doc__)
    parser.add_argument("--clone", required=True, help="where the repository was cloned to")
    parser.add_argument("--obstacles", action="store_true")
    parser.add_argument("--chicanes", action="store_true")
    parser.add_argument("--speed", type=float, default=0.2, help="speed at the start of every episode")
    parser.add_argument("--tracks", action="store_true", help="count generated tracks instead of steps of the car")
    worker.serve(build, parser.parse_args())
