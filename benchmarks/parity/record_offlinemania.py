"""Measure OfflineMania's two small data files: `python benchmarks/parity/record_offlinemania.py FOLDER`.

FOLDER holds basicSmall.h5 and mixSmall.h5 (github.com/ganjiro/OfflineMania, folder OfflineMania/Datasets). The program
itself is a Unity binary; these 10 000 steps are what is known of its numbers. It needs h5py (`pip install h5py`).
Writes tests/data/offlinemania.json, figures alone, with which tests/robotics/test_offline_racer.py and
benchmarks/offline_data.py compare ours.
"""

import argparse
import json
import math
from pathlib import Path

import numpy as np

NAMES = ("basicSmall", "mixSmall")
OUT = Path(__file__).parents[2] / "tests" / "data" / "offlinemania.json"
STEP = 0.1  # s
STANDING = 0.05  # m/s
BINS = ((0.7, 1.1), (1.1, 1.5), (1.5, 2.0), (2.0, 3.0), (3.0, 4.0), (4.0, 5.0))
BETWEEN = math.pi / 14.0  # rad between rays


def figures(data):
    """What rows say of a kart, by name; of too few rows None."""
    o, n, r = data["observations"], data["next_observations"], data["rewards"].ravel()
    action = np.clip(data["actions"], -1.0, 1.0)
    v, w = o[:, [30, 32]], n[:, [30, 32]]
    speed, after = np.hypot(*v.T), np.hypot(*w.T)
    free = r > -1.0
    # velocities are (right, up the map); turns to the right are positive
    turn = np.arctan2(w[:, 0], w[:, 1]) - np.arctan2(v[:, 0], v[:, 1])
    turn = (turn + math.pi) % (2.0 * math.pi) - math.pi
    rays, rays_after, flags = o[:, 1:30:2], n[:, 1:30:2], o[:, 0:30:2]
    moving, mean_speed = free & (speed > 0.5), 0.5 * (speed + after)
    found = {
        "rows": len(r),
        "mean_reward": r.mean(),
        "mean_progress": r[free].sum() / len(r),
        "contacts": int((~free).sum()),
        "contact_per_speed": (r[~free] / speed[~free]).tolist(),
        "standing": (speed < STANDING).mean(),
        "speed_of_moving": np.percentile(speed[speed >= STANDING], [25, 50, 75, 99]).tolist(),
        "reward_per_speed": np.percentile(r[moving] / mean_speed[moving], [50, 75, 90]).tolist(),
        "negative_without_contact": int((r[free] < 0.0).sum()),
        "flag_means_far": bool((rays[flags == 1.0] == 1.0).all()),
        "largest_up": float(np.abs(o[:, 31]).max()),
        "action_beyond_range": float((np.abs(data["actions"]) > 1.0).any(axis=1).mean()),
    }
    fit = moving & (speed < 3.0)
    drive, drag, _ = np.linalg.lstsq(
        np.c_[action[fit, 1], speed[fit], np.ones(fit.sum())], (after - speed)[fit] / STEP, rcond=None
    )[0]
    found |= {"acceleration": drive, "drag": -drag}
    found["turn_rate"] = {}
    for low, high in BINS:
        k = free & (speed > low) & (speed < high)
        if k.sum() > 30 and action[k, 0].std() > 0.02:
            found["turn_rate"][f"{low}-{high}"] = np.polyfit(action[k, 0], turn[k] / STEP, 1)[0]
    # the ray ahead shortens by the speed where the kart goes straight on at a wall
    straight = (np.abs(turn) < 0.01) & (speed > 1.0) & (flags[:, 0] + n[:, 0] == 0.0) & (rays_after[:, 0] > 0.05) & free
    shorter = rays[:, 0] - rays_after[:, 0]
    straight &= (np.abs(after - speed) < 0.2) & (shorter > 1e-4)
    found["reach"] = np.median(mean_speed[straight] * STEP / shorter[straight])
    parallel = np.abs(rays[:, [11, 12]] * math.cos(BETWEEN) - rays[:, [13, 14]]).max(axis=1) < 0.002
    found["width"] = np.median((rays[:, 13] + rays[:, 14])[parallel])
    found["shortest_side"] = rays[:, 13:].min()
    found["order_error"] = {name: order_error(rays, rays_after, turn, side, free & (speed > 1.5))
                            for name, side in (("right first", -1.0), ("left first", 1.0))}  # fmt: skip
    return json.loads(json.dumps(found, default=float))


def order_error(rays, after, turn, side, chosen):
    """How badly the rays before a turn, turned by it, predict those after it, where odd rays are on one side."""
    angles = np.array([0.0, *(s * k * BETWEEN for k in range(1, 8) for s in (side, -side))])  # positive to the left
    order = np.argsort(angles)
    inner, errors = order[2:-2], []
    for i in np.flatnonzero(chosen & (np.abs(turn) > 0.1)):
        seen = np.interp(angles[inner] - turn[i], angles[order], rays[i][order])
        errors.append(np.median(np.abs(seen - after[i][inner])))
    return float(np.mean(errors)) if errors else None


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("folder", type=Path)
    folder = options.parse_args().folder
    try:
        import h5py
    except ImportError as error:
        raise SystemExit(f"{error.name} is needed; the docstring of this script says how it is installed") from None
    found, parts = {}, []
    for name in NAMES:
        if not (folder / f"{name}.h5").is_file():
            raise SystemExit(f"{folder / name}.h5 is needed; the docstring of this script says where it is from")
        with h5py.File(folder / f"{name}.h5") as file:
            parts.append({key: np.asarray(file[key]) for key in file})
        found[name] = figures(parts[-1])
    found["both"] = figures({key: np.concatenate([part[key] for part in parts]) for key in parts[0]})
    OUT.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(found["both"], indent=1))


if __name__ == "__main__":
    main()
