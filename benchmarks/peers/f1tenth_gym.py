"""Steps of F1TENTH's simulator with two cars and their lidars, on the track "club" as an image, with random actions.

Installed as: a clone of f1tenth/f1tenth_gym (``--clone``); numpy, scipy, numba, pillow, pyyaml and gymnasium, and this
checkout on PYTHONPATH, for the track. Its imports of gym and pyglet, for which Python has outgrown the versions it
wants, are replaced by empty modules. Cars are put back when the first of them has crashed.
"""

import argparse
import os
import sys
import tempfile
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import worker


def load(clone: str) -> Any:
    """The simulator's package."""
    for name in ("gym", "gym.envs", "gym.envs.registration", "gym.utils", "gym.utils.seeding", "gym.error"):
        sys.modules[name] = ModuleType(name)
    for name in ("gym.spaces", "pyglet", "pyglet.gl"):
        sys.modules[name] = ModuleType(name)
    gym: Any = sys.modules["gym"]
    gym.Env, gym.error, gym.spaces, gym.utils = object, *(sys.modules[f"gym.{n}"] for n in ("error", "spaces", "utils"))
    sys.modules["gym.utils"].seeding = sys.modules["gym.utils.seeding"]  # type: ignore[attr-defined]
    sys.modules["gym.envs.registration"].register = lambda **keywords: None  # type: ignore[attr-defined]
    sys.modules["pyglet"].options = {}  # type: ignore[attr-defined]
    sys.modules["pyglet"].gl = sys.modules["pyglet.gl"]  # type: ignore[attr-defined]
    sys.path.insert(0, os.path.join(clone, "gym"))
    from f110_gym import envs

    return envs


def write_map(road: np.ndarray, folder: Path, resolution: float) -> str:
    """A road as the image and the text that the simulator reads: white where it is free. Returns the path's stem."""
    from PIL import Image, ImageDraw

    left, right = road[:-1, 2:4], road[:-1, 4:6]
    low = np.minimum(left.min(axis=0), right.min(axis=0)) - 1.0
    high = np.maximum(left.max(axis=0), right.max(axis=0)) + 1.0
    size = np.ceil((high - low) / resolution).astype(int)
    outer, inner = (left, right) if np.ptp(left[:, 0]) > np.ptp(right[:, 0]) else (right, left)
    image = Image.new("L", tuple(size), 0)
    pen = ImageDraw.Draw(image)
    pen.polygon([tuple(point) for point in (outer - low) / resolution - 0.5], fill=255)
    pen.polygon([tuple(point) for point in (inner - low) / resolution - 0.5], fill=0)
    image.transpose(Image.Transpose.FLIP_TOP_BOTTOM).save(folder / "track.png")
    origin = [float(low[0]), float(low[1]), 0.0]
    (folder / "track.yaml").write_text(f"image: track.png\nresolution: {resolution}\norigin: {origin}\n")
    return str(folder / "track")


def build(options: argparse.Namespace) -> worker.Peer:
    """Two cars on the club's track and random actions for them."""
    from rlenvs.kits.tracks.files import named_road
    from rlenvs.kits.tracks.road import place

    envs, road = load(os.path.abspath(options.clone)), named_road("club")
    from PIL import Image

    Image.FLIP_TOP_BOTTOM = Image.Transpose.FLIP_TOP_BOTTOM
    stem = write_map(road, Path(tempfile.mkdtemp()), 0.05)
    env = envs.F110Env(map=stem, map_ext=".png", num_agents=options.cars)
    poses = np.array([place(road, 1.0 + 1.0 * k, 0.4 * (-1) ** k) for k in range(options.cars)])
    rng = np.random.default_rng(0)
    low, high = np.array([-0.42, 0.0]), np.array([0.42, 8.0])
    draws = [rng.uniform(low, high, (options.cars, 2)) for _ in range(512)]
    return worker.Peer(lambda action: bool(env.step(action)[2]), lambda: env.reset(poses), draws, options.cars)


if __name__ == "__main__":
    parser = worker.parser(__doc__)
    parser.add_argument("--clone", required=True, help="where the repository was cloned to")
    parser.add_argument("--cars", type=int, default=2)
    worker.serve(build, parser.parse_args())
