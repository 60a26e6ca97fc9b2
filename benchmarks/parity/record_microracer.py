"""Record three of MicroRacer's tracks and drives on them, the third track with a chicane and obstacles.

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

STEPS = 200
LAP_STEPS = 2000
TRACKS = ((5, False), (6, False), (7, True))  # seed; whether chicane and obstacles are on
RUNS = ("drive", "leave", "brake", "turn")
SAMPLES = 200
RASTER = 1300


def steer(view: np.ndarray, top_speed: float) -> np.ndarray:
    """Towards the longest ray, at a speed that its length allows."""
    direction, _, longest, _, speed = view
    accelerate = 1.0 if speed < max(0.1, min(top_speed, 0.8 * longest)) else -1.0
    return np.array([accelerate, np.clip(-direction / (np.pi / 12), -1.0, 1.0)])


def car(racer: Any) -> list[float]:
    """x, y, heading, speed, polar angle."""
    speed = np.hypot(racer.carvx, racer.carvy)
    return [racer.carx, racer.cary, np.arctan2(racer.carvy, racer.carvx), speed, racer.cartheta]


def drive(tracks: Any, racer: Any, shared: tuple[Any, ...], run: str, steps: int) -> dict[str, np.ndarray]:
    """One run from the start, padded with NaN; after an end no further rows are filled."""
    rng = np.random.default_rng(RUNS.index(run) if run in RUNS else 0)
    view = racer.reset(shared)
    rows = {
        "actions": np.full((steps, 2), np.nan),
        "states": np.full((steps + 1, 5), np.nan),
        "rewards": np.full(steps, np.nan),
        "done": np.zeros(steps, dtype=bool),
        "lidar": np.full((steps + 1, 19), np.nan),
        "obs": np.full((steps + 1, 5), np.nan),
        "end": np.int8(0),
        "length": np.int16(steps),
    }

    def note(t: int) -> None:
        rows["states"][t] = car(racer)
        rows["obs"][t] = view
        rows["lidar"][t] = tracks.lidar_grid(racer.carx, racer.cary, racer.carvx, racer.carvy, racer.map)

    note(0)
    for t in range(steps):
        action = steer(view, 0.2)
        if run == "drive":
            action = np.clip(action * 0.9 + rng.normal(0.0, 0.2, 2), -1.0, 1.0)
        elif run == "leave" and t >= 20:
            action = np.array([1.0, 0.0])
        elif run == "brake" and t >= 5:
            action = np.array([-1.0, action[1]])
        elif run == "turn":
            action = np.array([-0.2, 1.0])
        rows["actions"][t] = action
        view, rows["rewards"][t], rows["done"][t] = racer.step(action)
        if rows["done"][t]:
            rows["end"], rows["length"] = np.int8(racer.completation), np.int16(t + 1)
            if len(view) == 5:
                note(t + 1)
            break
        note(t + 1)
    return rows


def main() -> None:
    """Generate, drive and write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clone", required=True, help="where the repository was cloned to")
    parser.add_argument("--out", type=Path, default=Path("tests/data/microracer.npz"))
    options = parser.parse_args()
    out = options.out.resolve()
    tracks = load(os.path.abspath(options.clone))
    commit = subprocess.run(["git", "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
    arrays: dict[str, Any] = {"commit": commit, "runs": np.array(RUNS)}
    angles = 2 * np.pi * np.arange(SAMPLES) / SAMPLES
    for index, (seed, extras) in enumerate(TRACKS):
        np.random.seed(seed)  # noqa: NPY002 - MicroRacer draws from the global generator
        racer = tracks.Racer(obstacles=extras, chicanes=extras)
        racer.reset()
        shared = (racer.cs, racer.map, racer.obs_pos, racer.sinit_v)
        plays = [drive(tracks, racer, shared, run, STEPS) for run in RUNS]
        track = {
            "seed": seed,
            "draws": np.random.RandomState(seed).rand(racer.curves),
            "control_angle": racer.cs.x,
            "control_point": racer.cs(racer.cs.x),
            "inner_knot": np.column_stack([racer.csin.x, racer.csin(racer.csin.x)]),
            "outer_knot": np.column_stack([racer.csout.x, racer.csout(racer.csout.x)]),
            "inner": racer.csin(angles),
            "outer": racer.csout(angles),
            "obstacles": np.array(racer.obs_pos).reshape(-1, 4),
            "raster": np.packbits(racer.map),
            "start_speed": racer.sinit_v,
        }
        track |= {key: np.stack([play[key] for play in plays]) for key in plays[0]}
        if index == 0:
            lap = drive(tracks, racer, shared, "lap", LAP_STEPS)
            kept = {"actions": lap["length"], "states": lap["length"] + 1, "rewards": lap["length"]}
            track |= {f"lap_{key}": lap[key][:length] for key, length in kept.items()} | {"lap_end": lap["end"]}
        arrays |= {f"track{index}_{key}": value for key, value in track.items()}
        assert racer.map.shape == (RASTER, RASTER)
    np.savez_compressed(out, **arrays)


if __name__ == "__main__":
    main()
