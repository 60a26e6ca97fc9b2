"""Record F1TENTH's simulator: a thousand steps of three drives, and scans on one of our tracks.

    PYTHONPATH=. python benchmarks/parity/record_f1tenth.py --clone /path/to/f1tenth_gym

Installed as in peers/f1tenth_gym.py. The arrays are described in tests/data/README.md.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "peers"))
from f1tenth_gym import load, write_map

STEPS, DRIVES = 1000, 3
RESOLUTION = 0.005  # m, of the image of the track
GRAIN = 1024  # actions are whole numbers of this fraction


def actions_of(drive: int) -> np.ndarray:
    """Steering and speed in [-1, 1], as our world has them: gentle ones, wild ones, and ones with stops.

    Backwards none goes faster than 0.45 m/s: from 0.5 m/s on the original's equations diverge.
    """
    rng = np.random.default_rng(drive)
    high, low, top, held = ((0.5, 0.1, 0.4, 40), (1.0, 0.0, 0.7, 15), (1.0, -0.09, 0.15, 60))[drive]
    draws = np.stack([rng.uniform(-high, high, STEPS), rng.uniform(low, top, STEPS)], 1)
    return np.round(np.repeat(draws[: -(-STEPS // held)], held, axis=0)[:STEPS] * GRAIN) / GRAIN


def drives(envs: Any) -> np.ndarray:
    """States of a car that nothing is in the way of, before and after each step."""
    states = np.zeros((DRIVES, STEPS + 1, 7))
    for drive in range(DRIVES):
        car = envs.RaceCar(PARAMS, 0, time_step=0.01, integrator=envs.Integrator.RK4)
        envs.RaceCar.scan_simulator.scan = lambda pose, rng, std_dev=0.01: np.full(1080, 30.0)
        car.reset(np.array([0.0, 0.0, 1.0]))
        states[drive, 0] = car.state
        for t, (steer, speed) in enumerate(actions_of(drive)):
            car.update_pose(steer * PARAMS["s_max"], speed * (PARAMS["v_max"] if speed >= 0.0 else -PARAMS["v_min"]))
            states[drive, t + 1] = car.state
    return states


def scans(envs: Any) -> dict[str, np.ndarray]:
    """Scans without noise from places on the track "club", and with another car in the way."""
    from rlenvs.kits.tracks.files import named_road
    from rlenvs.kits.tracks.road import place

    road, rng = named_road("club"), np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        stem = write_map(road, Path(folder), RESOLUTION)
        simulator = envs.ScanSimulator2D(1080, 4.7)
        simulator.set_map(stem + ".yaml", ".png")
    poses, seen, others, beyond = [], [], [], []
    for n in range(12):
        x, y, heading = place(road, 6.0 * n, rng.uniform(-0.6, 0.6))
        pose = np.array([x, y, heading + rng.uniform(-0.5, 0.5)])
        scan = simulator.scan(pose, None)
        other = np.array([*place(road, 6.0 * n + rng.uniform(1.0, 2.0), rng.uniform(-0.5, 0.5))])
        angles = -4.7 / 2 + np.arange(1080) * simulator.get_increment()
        blocked = envs.ray_cast(pose, scan.copy(), angles, envs.get_vertices(other, 0.58, 0.31))
        for rows, row in zip((poses, seen, others, beyond), (pose, scan, other, blocked), strict=True):
            rows.append(row)
    return {
        "poses": np.array(poses),
        "scans": np.array(seen, np.float32),
        "others": np.array(others),
        "blocked": np.array(beyond, np.float32),
        "road": road[:, :6],
    }


PARAMS = {
    "mu": 1.0489,
    "C_Sf": 4.718,
    "C_Sr": 5.4562,
    "lf": 0.15875,
    "lr": 0.17145,
    "h": 0.074,
    "m": 3.74,
    "I": 0.04712,
    "s_min": -0.4189,
    "s_max": 0.4189,
    "sv_min": -3.2,
    "sv_max": 3.2,
    "v_switch": 7.319,
    "a_max": 9.51,
    "v_min": -5.0,
    "v_max": 20.0,
    "width": 0.31,
    "length": 0.58,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clone", required=True, help="where the repository was cloned to")
    parser.add_argument("--output", type=Path, default=Path(__file__).parents[2] / "tests" / "data" / "f1tenth.npz")
    options = parser.parse_args()
    envs = load(os.path.abspath(options.clone))
    from PIL import Image

    Image.FLIP_TOP_BOTTOM = Image.Transpose.FLIP_TOP_BOTTOM
    commit = subprocess.run(
        ["git", "-C", options.clone, "rev-parse", "HEAD"], capture_output=True, text=True, check=True
    ).stdout.strip()
    actions = np.array([actions_of(drive) for drive in range(DRIVES)])
    found = scans(envs)
    np.savez_compressed(options.output, commit=commit, actions=actions, states=drives(envs), **found)


if __name__ == "__main__":
    main()
