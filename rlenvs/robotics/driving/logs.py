"""Traffic logs: recorded from simulated drivers, or read from a file, and validated.

    python -m rlenvs.robotics.driving.logs my_log.npz --road winding --scenes 16 --log-seed 3

writes a log in the format for custom logs, an .npz file with

- `poses`, float (scenes, frames, cars, 4): x, y [m], heading [rad], speed [m/s], ten frames per second; x points
  forward and y to the right of it, all cars are 5 m long and 2 m wide;
- `present`, bool (scenes, frames, cars), if cars come and go; poses of absent cars can be anything;
- `lanes`, float (lanes, 4) or (lanes, 5), for a custom road: x and y [m] of the start and end of straight pieces of
  lanes, and their width, 4 m by default. A piece leads to those that start where it ends.
"""

import argparse
import functools
import os
from types import SimpleNamespace
from typing import Any

import numpy as np

from rlenvs.core import block, discrete, i8, kernel, maths, term, world
from rlenvs.core.declare.errors import ParameterError, RlenvsError, shortened
from rlenvs.core.declare.inputs import numbers
from rlenvs.core.declare.rng import below, uniform
from rlenvs.core.declare.user_files import open_file, read_arrays, reason
from rlenvs.kits.roads.lanes import LENGTH, ROAD_DATA, lane_count
from rlenvs.kits.roads.network import Network, highway, winding
from rlenvs.kits.traffic.cars import CAR_LENGTH, CAR_WIDTH, CARS, car_sizes, put_on_lane
from rlenvs.kits.traffic.drivers import (
    AGGRESSIVE,
    DEFENSIVE,
    DRIVER_DATA,
    POLITE,
    act_all,
    become_driver,
    driver_table,
)
from rlenvs.kits.traffic.lane_lists import locate
from rlenvs.kits.traffic.simulation import move_all
from rlenvs.robotics.driving.town_cars import overlap

STEP = 0.1  # s between frames
STEPS = 32  # of an episode, as in DriverGym
FRAMES, WARM_UP = 100, 50  # of a recorded scene, and those before it that are not recorded
X, Y, HEADING, SPEED, PRESENT = range(5)  # columns of a log
ROADS = ("winding", "highway")
LANES = 3
SLOWEST, QUICKEST = 0.75, 1.0  # of the speed limit, what drivers want
MOST_JUMP = 10.0  # m between two frames
FARTHEST = 1e6  # m
LARGEST = 1 << 30  # bytes of a log's arrays
NUMBERS = {"scenes": (1, 1000), "frames": (STEPS + 2, 100_000), "cars": (1, 200)}


def named_road(name: str) -> Network:
    """A road on which logs are recorded."""
    return winding(LANES) if name == "winding" else highway(LANES, length=2000.0, speed_limit=25.0)


# --- recording --------------------------------------------------------------------------------------------------------


@functools.cache
def traffic(road: str, cars: int) -> Any:
    """The world in which logs are recorded: drivers of three types, nobody else."""
    network = named_road(road)
    made = world(
        "LogTraffic-v0",
        doc="Traffic to record.",
        state={**CARS, "frame": i8},
        data={**ROAD_DATA, **DRIVER_DATA},
        sizes=lambda values: {**network.sizes, **car_sizes(cars, 1, network.sizes["lanes"]), "driver_types": 3},
        observation={"frame": block(low=0.0, high=1e6)},
        action=discrete("wait"),
        terms={"none": term(0.0, 1.0, 1.0)},
        horizon=1_000_000,
    )
    made.make_data(lambda values: {**network.arrays(), **driver_table(POLITE, AGGRESSIVE, DEFENSIVE)})
    made.reset(place_traffic)
    made.step(let_drive)
    made.observe(see_nothing)
    return made


@kernel
def place_traffic(p, s, rng):
    """Put drivers on random lanes, one before the other."""
    cars, lanes = s.x.size, lane_count(p, 0)
    s.movers, s.bodies, s.linked = cars, cars, 1
    farthest = 60.0
    for i in range(cars):
        k, wanted = below(rng, lanes), uniform(rng, SLOWEST, QUICKEST) * 25.0
        at = farthest
        while at > p.lane[k, LENGTH] and k + lanes < p.lane.shape[0]:
            at -= p.lane[k, LENGTH]
            k += lanes
        put_on_lane(p, s, i, k, at, min(wanted, 21.0))
        become_driver(p.drivers, s, i, below(rng, 3), rng)
        s.target_speed[i] = wanted
        farthest += (12.0 + wanted) * maths.exp(-0.125 * lanes) * uniform(rng, 0.9, 1.1)
    locate(p, s)


@kernel
def let_drive(p, s, a, rng, r):
    act_all(p, p.drivers, s)
    move_all(p, s, STEP)
    s.frame += 1


@kernel
def see_nothing(p, s, o):
    o.frame = s.frame


def record(road: str = "winding", scenes: int = 16, cars: int = 24, seed: int = 0, frames: int = FRAMES) -> np.ndarray:
    """Poses of traffic, float64 (scenes, frames, cars, 4); the same numbers always come of the same arguments."""
    from rlenvs.core.batch.engines import new_batch

    batch = new_batch(traffic(road, cars), scenes)
    batch.seed([1_000_003 * seed + n for n in range(scenes)])
    batch.reset()
    poses = np.zeros((scenes, frames, cars, 4))
    idle = np.zeros(scenes, np.int64)
    for n in range(-WARM_UP, frames):
        if n >= 0:
            for column, name in enumerate(("x", "y", "heading", "speed")):
                poses[:, n, :, column] = batch.states[name]
        batch.step(idle)
    return poses


# --- files ------------------------------------------------------------------------------------------------------------


def read(path: str) -> dict[str, np.ndarray]:
    """The arrays of a log file.

    Raises:
        ParameterError: what is wrong with it, and where.
    """
    name = f"log={shortened(path)}"
    try:
        found = read_arrays(path, ("poses", "present", "lanes"), LARGEST)
    except OSError as error:
        raise ParameterError(f"{name} cannot be read as an .npz file: {reason(error)}") from None
    if "poses" not in found:
        raise ParameterError(f"{name} has no array 'poses' of shape (scenes, frames, cars, 4)")
    return checked(found, name)


def checked(found: dict[str, Any], name: str = "the log") -> dict[str, np.ndarray]:
    """The arrays of a log, float64 and bool, if they are sound.

    Raises:
        ParameterError: shapes that do not fit, numbers that are not finite, scenes that are too short, cars that jump
            or overlap, no car that stays long enough, lanes of no length or of an impossible width.
    """
    try:
        poses = numbers("poses", found["poses"]).copy()
    except ParameterError:
        raise ParameterError(f"{name}: 'poses' must be real numbers") from None
    if poses.ndim != 4 or poses.shape[-1] != 4:
        raise ParameterError(f"{name}: 'poses' have shape {poses.shape}; needed: (scenes, frames, cars, 4)")
    for (what, (low, high)), count in zip(NUMBERS.items(), poses.shape, strict=False):
        if not low <= count <= high:
            raise ParameterError(f"{name}: {count} {what}; needed: {low} to {high}")
    present = np.asarray(found.get("present", np.ones(poses.shape[:3], bool)))
    if present.shape != poses.shape[:3] or present.dtype != np.bool_:
        raise ParameterError(
            f"{name}: 'present' is {present.dtype} of shape {present.shape}; needed: bool of shape {poses.shape[:3]}"
        )
    _refuse_where(present & ~np.isfinite(poses).all(-1), name, "is not finite")
    poses[~present] = 0.0
    _refuse_where(np.abs(poses[..., :2]).max(-1) > FARTHEST, name, f"is farther than {FARTHEST:g} m from the origin")
    _refuse_where(np.abs(poses[..., SPEED]) > 10.0 * MOST_JUMP, name, f"is faster than {10.0 * MOST_JUMP:g} m/s")
    there = present[:, 1:] & present[:, :-1]
    jump = np.zeros_like(present)
    jump[:, 1:] = there & (np.hypot(*np.moveaxis(np.diff(poses[..., :2], axis=1), -1, 0)) > MOST_JUMP)
    _refuse_where(jump, name, f"jumps more than {MOST_JUMP:g} m from the frame before")
    _refuse_overlaps(poses, present, name)
    if not len(starts_of(present)):
        raise ParameterError(f"{name}: no car is present for {STEPS + 2} frames in a row, as required for an ego car")
    return {"poses": poses, "present": present, **({"lanes": _lanes(found["lanes"], name)} if "lanes" in found else {})}


def _refuse_where(wrong: np.ndarray, name: str, what: str) -> None:
    if wrong.any():
        scene, frame, car = (int(n) for n in np.argwhere(wrong)[0])
        raise ParameterError(f"{name}: car {car} in frame {frame} of scene {scene} {what}")


def _refuse_overlaps(poses: np.ndarray, present: np.ndarray, name: str) -> None:
    reach = float(np.hypot(CAR_LENGTH, CAR_WIDTH))
    for scene, (pose, there) in enumerate(zip(poses, present, strict=True)):
        apart = pose[:, None, :, :2] - pose[:, :, None, :2]
        sine, cosine = np.sin(pose[..., HEADING]), np.cos(pose[..., HEADING])
        near = (np.abs(apart) < reach).all(-1) & there[:, None, :] & there[:, :, None]
        for frame, i, j in np.argwhere(np.triu(near, 1)):
            cars = SimpleNamespace(x=pose[frame, :, X], y=pose[frame, :, Y], sine=sine[frame], cosine=cosine[frame])
            if overlap(cars, i, j):
                raise ParameterError(f"{name}: cars {i} and {j} overlap in frame {frame} of scene {scene}")


def _lanes(given: np.ndarray, name: str) -> np.ndarray:
    rows = np.asarray(given)
    if rows.ndim != 2 or rows.shape[1] not in (4, 5) or not len(rows) or rows.dtype.kind not in "fiu":
        raise ParameterError(f"{name}: 'lanes' have shape {rows.shape}; needed: rows of 4 or 5 numbers")
    rows = rows.astype(np.float64)
    for n, row in enumerate(rows):
        if not np.isfinite(row).all():
            raise ParameterError(f"{name}: lane {n} is not finite")
        if np.abs(row[:4]).max() > FARTHEST:
            raise ParameterError(f"{name}: lane {n} is farther than {FARTHEST:g} m from the origin")
        if np.hypot(row[2] - row[0], row[3] - row[1]) < 0.1:
            raise ParameterError(f"{name}: lane {n} is shorter than 0.1 m")
        if len(row) == 5 and not 1.0 <= row[4] <= 5.0:
            raise ParameterError(f"{name}: lane {n} is {row[4]:g} m wide; needed: 1 to 5 m")
    return rows


def network_of(lanes: np.ndarray) -> Network:
    """The road of a file's `lanes`."""
    network = Network()
    for row in lanes:
        start, end = (f"{x:.3f},{y:.3f}" for x, y in (row[:2], row[2:4]))
        width = float(row[4]) if len(row) == 5 else 4.0
        network.straight(start, end, row[:2].tolist(), row[2:4].tolist(), width=width, speed_limit=25.0)
    return network


# --- what a world reads -----------------------------------------------------------------------------------------------


def starts_of(present: np.ndarray) -> np.ndarray:
    """Where episodes may begin, int64 (starts, 3): the row of the first frame, the ego car, the last row in which it is
    there. A frame comes before the first, and `STEPS` after it."""
    frames = present.shape[1]
    found = []
    for scene, car in np.ndindex(present.shape[0], present.shape[2]):
        last = -1
        for frame in range(frames - 1, 0, -1):
            if not present[scene, frame, car]:
                last = -1
                continue
            last = frame if last < 0 else last
            if present[scene, frame - 1, car] and last - frame >= STEPS:
                found.append((scene * frames + frame, car, scene * frames + last))
    return np.array(sorted(found), np.int64).reshape(-1, 3)


def scaling_of(poses: np.ndarray, present: np.ndarray) -> np.ndarray:
    """Mean and scale, (2, 3), of the way ahead, to the right, and of the turn [m, m, rad] from one frame to the next:
    ten standard deviations, as in DriverGym, or more where that would not reach what was driven."""
    there = present[:, 1:] & present[:, :-1]
    way, heading = np.diff(poses[..., :2], axis=1)[there], poses[:, :-1, :, HEADING][there]
    turn = np.diff(poses[..., HEADING], axis=1)[there]
    turn -= 2.0 * np.pi * np.round(turn / (2.0 * np.pi))
    cosine, sine = (np.array([f(float(h)) for h in heading]) for f in (maths.cos, maths.sin))
    moves = np.stack([way[:, 0] * cosine + way[:, 1] * sine, way[:, 1] * cosine - way[:, 0] * sine, turn])
    mean = moves.sum(1) / moves.shape[1]
    off = moves - mean[:, None]
    scale = np.maximum(10.0 * np.sqrt((off * off).sum(1) / moves.shape[1]), np.abs(off).max(1))
    return np.stack([mean, np.maximum(1.001 * scale, [0.1, 0.05, 0.02])])


def log_of(values: Any) -> dict[str, Any]:
    """What a world reads: "network", "log" (rows, cars, 5), "starts", "scaling" and "fastest" (scenes, cars)."""
    if values.log is None:
        return _prepared(values.road, values.scenes, values.logged_cars, values.log_seed)
    try:
        with open_file(values.log) as file:
            stamp = os.fstat(file.fileno())
    except OSError as error:
        raise ParameterError(f"log={shortened(values.log)} cannot be read: {reason(error)}") from None
    return _prepared_file(values.log, values.road, stamp.st_mtime_ns, stamp.st_size)


@functools.lru_cache(maxsize=8)
def _prepared(road: str, scenes: int, cars: int, seed: int) -> dict[str, Any]:
    return _prepare({"poses": record(road, scenes, cars, seed)}, named_road(road))


@functools.lru_cache(maxsize=4)
def _prepared_file(path: str, road: str, changed: int, size: int) -> dict[str, Any]:
    found = read(path)
    return _prepare(found, network_of(found["lanes"]) if "lanes" in found else named_road(road))


def _prepare(found: dict[str, np.ndarray], network: Network) -> dict[str, Any]:
    poses = found["poses"]
    present = found.get("present", np.ones(poses.shape[:3], bool))
    log = np.concatenate([poses, present[..., None].astype(np.float64)], -1)
    return {
        "network": network,
        "log": np.ascontiguousarray(log.reshape(-1, *log.shape[2:])),
        "frames": poses.shape[1],
        "starts": starts_of(present),
        "scaling": scaling_of(poses, present),
        "fastest": np.where(present, poses[..., SPEED], 0.0).max(1),
    }


def parse_log(given: Any) -> str | None:
    """The option `log`: None, or the path of a file, which is read when a world is made."""
    if given is None:
        return None
    if not isinstance(given, (str, os.PathLike)):
        raise ValueError("needed: the path of an .npz file")
    return os.fspath(given)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m rlenvs.robotics.driving.logs", description="Record a log.")
    parser.add_argument("out", help="the .npz file to write, or with --check to read")
    parser.add_argument("--check", action="store_true", help="only validate an existing file")
    parser.add_argument("--road", choices=ROADS, default=ROADS[0])
    parser.add_argument("--scenes", type=int, default=16)
    parser.add_argument("--cars", type=int, default=24)
    parser.add_argument("--log-seed", type=int, default=0)
    asked = parser.parse_args(arguments)
    try:
        if asked.check:
            shape = read(asked.out)["poses"].shape
        else:
            found = checked({"poses": record(asked.road, asked.scenes, asked.cars, asked.log_seed)})
            np.savez_compressed(asked.out, poses=found["poses"])
            shape = found["poses"].shape
    except RlenvsError as error:
        raise SystemExit(str(error)) from None
    print(f"{asked.out}: {shape[0]} scenes of {shape[1]} frames with {shape[2]} cars")


if __name__ == "__main__":
    main()
