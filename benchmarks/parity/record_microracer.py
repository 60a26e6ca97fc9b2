"""Record twenty of MicroRacer's tracks, with and without chicane and obstacles, and drives on them.

Installed as: a clone of asperti/MicroRacer (``--clone``), with numpy, scipy, cython, setuptools and a C compiler; its
lidar is compiled on the first import, inside the clone. The arrays are described in tests/data/README.md.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "peers"))
from micro_racer import load

# seed, chicane, obstacles; tolerances of the tests were set from the first ten, and hold on the others
TUNED = ((5, 0, 0), (6, 0, 0), (105, 0, 0), (206, 0, 0), (411, 1, 0), (412, 1, 0), (421, 0, 1), (422, 0, 1))
TUNED += ((7, 1, 1), (307, 1, 1))
HELD_OUT = ((501, 0, 0), (502, 0, 0), (503, 1, 0), (504, 1, 0), (505, 0, 1), (506, 0, 1))
HELD_OUT += ((507, 1, 1), (508, 1, 1), (509, 1, 1), (510, 1, 1))
RUNS = {"drive": 200, "leave": 200, "brake": 200, "turn": 200, "lap": 2000}  # largest numbers of steps
SAMPLES = 100
RASTER = 1300
GRAIN = 64  # actions are whole numbers of this fraction
KINDS = {"length": np.int16, "end": np.int8, "actions": np.int8, "noted": np.int16}
KINDS |= {"states": np.float64, "lidar": np.int16, "obs": np.float32}


def steer(view: np.ndarray, top_speed: float) -> np.ndarray:
    """Towards the longest ray, at a speed that its length allows."""
    direction, _, longest, _, speed = view
    accelerate = 1.0 if speed < max(0.1, min(top_speed, 0.8 * longest)) else -1.0
    return np.array([accelerate, np.clip(-direction / (np.pi / 12), -1.0, 1.0)])


def choose(run: str, t: int, view: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The next action of a run, as whole numbers."""
    action = steer(view, 0.2)
    if run == "drive":
        action = np.clip(action * 0.9 + rng.normal(0.0, 0.2, 2), -1.0, 1.0)
    elif run == "leave" and t >= 20:
        action = np.array([1.0, 0.0])
    elif run == "brake" and t >= 5:
        action = np.array([-1.0, action[1]])
    elif run == "turn":
        action = np.array([-0.2, 1.0])
    return np.round(action * GRAIN).astype(np.int8)


def drive(tracks: Any, racer: Any, shared: tuple[Any, ...], run: str) -> dict[str, Any]:
    """One run from the start; some of its states, the first and the last among them."""
    rng = np.random.default_rng(list(RUNS).index(run))
    every = 50 if run == "lap" else 4
    view = racer.reset(shared)
    actions, noted, end = [], {}, 0

    def note() -> None:
        speed, heading = np.hypot(racer.carvx, racer.carvy), np.arctan2(racer.carvy, racer.carvx)
        lidar = tracks.lidar_grid(racer.carx, racer.cary, racer.carvx, racer.carvy, racer.map)
        noted[len(actions)] = ([racer.carx, racer.cary, heading, speed, racer.cartheta], lidar, view)

    while len(actions) < RUNS[run] and end == 0:
        if len(actions) % every == 0:
            note()
        actions.append(choose(run, len(actions), view, rng))
        after, _, done = racer.step(actions[-1] / GRAIN)
        end = racer.completation if done else 0
        if end <= 1:  # a failure leaves the car where it was
            view = after
    note()
    states, lidar, views = zip(*noted.values(), strict=True)
    return {
        "length": [len(actions)],
        "end": [end],
        "actions": actions,
        "noted": list(noted),
        "states": states,
        "lidar": np.round(1000.0 * np.array(lidar)),
        "obs": views,
    }


def record(tracks: Any, seed: int, chicane: int, obstacles: int) -> dict[str, Any]:
    """A track and the runs on it."""
    np.random.seed(seed)  # noqa: NPY002 - MicroRacer draws from the global generator
    racer = tracks.Racer(obstacles=bool(obstacles), chicanes=bool(chicane))
    racer.reset()
    assert racer.map.shape == (RASTER, RASTER)
    shared = (racer.cs, racer.map, racer.obs_pos, racer.sinit_v)
    angles = 2 * np.pi * np.arange(SAMPLES) / SAMPLES
    found: dict[str, Any] = {
        "seed": seed,
        "draws": np.random.RandomState(seed).rand(racer.curves),
        "control_angle": racer.cs.x,
        "control_point": racer.cs(racer.cs.x),
        "obstacles": np.array(racer.obs_pos).reshape(-1, 4),
        "raster": np.packbits(racer.map),
    }
    for name, border in (("inner", racer.csin), ("outer", racer.csout)):
        found[f"{name}_knot"] = border(border.x)[::6]
        found[name] = border(angles).astype(np.float32)
    plays = [drive(tracks, racer, shared, run) for run in RUNS]
    for key, kind in KINDS.items():
        found[key] = np.concatenate([np.asarray(play[key], kind) for play in plays])
    return found


def main() -> None:
    """Generate, drive and write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clone", required=True, help="where the repository was cloned to")
    parser.add_argument("--out", type=Path, default=Path("tests/data/microracer.npz"))
    parser.add_argument("--seeds", type=int, nargs=2, help="other tracks: seeds FROM to UNTIL, the four kinds in turn")
    options = parser.parse_args()
    out = options.out.resolve()
    tracks = load(os.path.abspath(options.clone))
    commit = subprocess.run(["git", "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
    chosen = TUNED + HELD_OUT
    if options.seeds:
        chosen = tuple((seed, seed // 2 % 2, seed % 2) for seed in range(*options.seeds))
    arrays: dict[str, Any] = {"commit": commit, "runs": np.array(list(RUNS)), "tracks": len(chosen)}
    for index, (seed, chicane, obstacles) in enumerate(chosen):
        arrays |= {f"track{index}_{key}": value for key, value in record(tracks, seed, chicane, obstacles).items()}
    np.savez_compressed(out, **arrays)


if __name__ == "__main__":
    try:
        main()
    except ModuleNotFoundError as error:
        raise SystemExit(f"{error.name} is needed; the docstring of this script says how it is installed") from None
