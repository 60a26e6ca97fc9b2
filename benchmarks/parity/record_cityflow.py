"""Record CityFlow: every vehicle after every step, under stored plans and under controllers.

CityFlow (github.com/cityflow-project/CityFlow, commit 81ee0f4) has no wheels. It was compiled with one command, for
Python 3.11, with pybind11 3.1.0 from the registry and rapidjson of commit 24b5e7a in `extern/rapidjson`:

    g++ -O2 -std=c++17 -shared -fPIC -pthread -DRAPIDJSON_HAS_STDSTRING=1 \
        -Isrc -Iextern/milo -Iextern/rapidjson/include $(python -m pybind11 --includes) \
        src/*.cpp src/*/*.cpp -o cityflow$(python3-config --extension-suffix)

Always one thread: CityFlow's results depend on the number of threads. Networks are its bundled example and those of its
own generator. Where vehicles change lanes, two runs differ after a few steps, since the order of changes follows from
addresses in memory: these recordings are not kept for tests. Whole recordings, some 60 MB, are left in the folder
`--raw`.
"""

import argparse
import hashlib
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

try:
    import cityflow
    import numpy as np
except ModuleNotFoundError as error:
    raise SystemExit(f"{error.name} is needed; the docstring of this script says how it is installed") from None

# name: rows, columns and flags of the generator, then what is changed
SCENARIOS: dict[str, dict[str, Any]] = {
    "example": {},
    "example_seed_7": {"seed": 7},
    "example_dense": {"every": 2.0, "steps": 1800},
    "example_half": {"interval": 0.5, "steps": 1800},
    "single": {"single": True, "steps": 60},
    "grid_2x2": {"grid": (2, 2), "flags": ["--turn"], "every": 4.0},
    "grid_2x2_plan": {"grid": (2, 2), "flags": ["--turn", "--tlPlan"], "every": 6.0, "mixed": True},
    "grid_3x3": {"grid": (3, 3), "flags": ["--turn"], "every": 8.0, "steps": 1800},
    "grid_2x3": {"grid": (2, 3), "flags": [], "every": 5.0, "steps": 1800, "seed": 3},
    "lanes": {"lane_change": True},
    "lanes_2x2": {
        "grid": (2, 2),
        "flags": ["--turn", "--numLeftLanes", "2", "--numStraightLanes", "2", "--numRightLanes", "2"],
        "every": 3.0,
        "lane_change": True,
        "steps": 1800,
    },
}
TRUCK = {
    "length": 12.0,
    "width": 2.5,
    "maxPosAcc": 1.2,
    "maxNegAcc": 4.0,
    "usualPosAcc": 1.0,
    "usualNegAcc": 3.0,
    "minGap": 3.0,
    "maxSpeed": 12.0,
    "headwayTime": 2.0,
}
STEPS = 3600
SAMPLES = (1, 10, 60, 100, 300, 600, 1200, 1799, 3599)  # steps of which all positions are kept
MEASURED = ("example", "grid_3x3", "lanes_2x2")  # scenarios whose geometry is kept
EVERY = 60  # steps between average travel times
PAUSE = 0.5  # s before an engine is dropped: its destructor waits for ever if its thread has not yet come to rest


def make_files(folder: Path, source: Path, scenario: dict[str, Any]) -> Path:
    """Write roadnet, flow and config files of a scenario; returns the config."""
    folder.mkdir(parents=True, exist_ok=True)
    if "grid" in scenario:
        size = [str(n) for n in scenario["grid"]]
        names = ["--dir", str(folder.resolve()), "--roadnetFile", "roadnet.json", "--flowFile", "flow.json"]
        script = source / "tools/generator/generate_grid_scenario.py"
        subprocess.run([sys.executable, script.name, *size, *scenario["flags"], *names], cwd=script.parent, check=True)
    else:
        for name in ("roadnet.json", "flow.json"):
            (folder / name).write_text((source / "examples" / name).read_text())
    flows = json.loads((folder / "flow.json").read_text())
    if scenario.get("single"):
        flows = [{**flows[0], "endTime": 0}]
    for number, flow in enumerate(flows):
        flow["interval"] = scenario.get("every", flow["interval"])
        if scenario.get("mixed") and number % 3 == 1:
            flow["vehicle"] = TRUCK
    (folder / "flow.json").write_text(json.dumps(flows))
    return write_config(folder, scenario)


def write_config(folder: Path, scenario: dict[str, Any], controlled: bool = False) -> Path:
    """The config file of a folder with a roadnet and a flow file."""
    config = {
        "interval": scenario.get("interval", 1.0),
        "seed": scenario.get("seed", 0),
        "dir": f"{folder.resolve()}/",
        "roadnetFile": "roadnet.json",
        "flowFile": "flow.json",
        "rlTrafficLight": controlled,
        "laneChange": scenario.get("lane_change", False),
        "saveReplay": False,
        "roadnetLogFile": "",
        "replayLogFile": "",
    }
    path = folder / "config.json"
    path.write_text(json.dumps(config))
    return path


def drivable_numbers(roadnet: dict[str, Any]) -> dict[str, int]:
    """Numbers of lanes and lane links in the order of the files, by CityFlow's names."""
    names = [f"{road['id']}_{lane}" for road in roadnet["roads"] for lane in range(len(road["lanes"]))]
    for junction in roadnet["intersections"]:
        for movement in [] if junction["virtual"] else junction["roadLinks"]:
            for link in movement["laneLinks"]:
                start, end = link["startLaneIndex"], link["endLaneIndex"]
                names.append(f"{movement['startRoad']}_{start}_TO_{movement['endRoad']}_{end}")
    return {name: number for number, name in enumerate(names)}


def vehicles(engine: Any, numbers: dict[str, int]) -> tuple[np.ndarray, ...]:
    """Flow, number, drivable, distance and speed of all running vehicles, by flow and number."""
    distances, speeds = engine.get_vehicle_distance(), engine.get_vehicle_speed()
    rows = []
    for name, distance in distances.items():
        _, flow, number = name.removesuffix("_shadow").split("_")
        rows.append(
            (int(flow), int(number), numbers[engine.get_vehicle_info(name)["drivable"]], distance, speeds[name])
        )
    rows.sort()
    columns = list(zip(*rows, strict=True)) or [()] * 5
    kinds = (np.int32, np.int32, np.int32, np.float64, np.float64)
    return tuple(np.array(column, kind) for column, kind in zip(columns, kinds, strict=True))


def digest(row: tuple[np.ndarray, ...]) -> int:
    """32 bits of a hash of all vehicles."""
    content = b"".join(np.ascontiguousarray(column).tobytes() for column in row)
    return int.from_bytes(hashlib.blake2b(content, digest_size=4).digest(), "little")


def record(config: Path, steps: int) -> dict[str, np.ndarray]:
    """Everything after each step of a simulation."""
    engine = cityflow.Engine(str(config), thread_num=1)
    numbers = drivable_numbers(json.loads((config.parent / "roadnet.json").read_text()))
    counts, waiting, travel, rows = [], [], [], []
    for _ in range(steps):
        engine.next_step()
        counts.append(engine.get_vehicle_count())
        waiting.append(sum(engine.get_lane_waiting_vehicle_count().values()))
        travel.append(engine.get_average_travel_time())
        rows.append(vehicles(engine, numbers))
    time.sleep(PAUSE)
    columns = {
        name: np.concatenate([row[place] for row in rows])
        for place, name in enumerate(("flow", "number", "drivable", "distance", "speed"))
    }
    return {
        "count": np.array(counts, np.int32),
        "waiting": np.array(waiting, np.int32),
        "travel": np.array(travel),
        "begins": np.cumsum([0] + [len(row[0]) for row in rows]).astype(np.int64),
        "digest": np.array([digest(row) for row in rows], np.uint32),
        **columns,
    }


def compact(full: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """What the tests keep: counts and hashes of all steps, average travel times of some, all vehicles of few."""
    samples = np.array([step for step in SAMPLES if step < len(full["count"])])
    parts = [slice(full["begins"][step], full["begins"][step + 1]) for step in samples]
    return {
        "count": full["count"].astype(np.int16),
        "waiting": full["waiting"].astype(np.int16),
        "travel": full["travel"][EVERY - 1 :: EVERY],
        "digest": full["digest"],
        "samples": samples,
        "begins": np.cumsum([0] + [part.stop - part.start for part in parts]),
        **{name: np.concatenate([full[name][part] for part in parts]) for name in ("flow", "number", "drivable")},
        **{name: np.concatenate([full[name][part] for part in parts]) for name in ("distance", "speed")},
    }


def geometry(program: Path, roadnet: Path) -> dict[str, np.ndarray]:
    """Hashes of all lengths and of all crossings, as `cityflow_geometry.cpp` prints them."""
    lines = subprocess.run([program, roadnet], capture_output=True, text=True, check=True).stdout.splitlines()
    rows = [line.split() for line in lines]
    crossings = [row[1:] for row in rows if row[0] == "crossing"]
    links, places, others = zip(*crossings, strict=True)
    parts = (np.array(links, np.int32), np.array([float.fromhex(x) for x in places]), np.array(others, np.int32))
    lengths = np.array([float.fromhex(row[1]) for row in rows if row[0] == "length"])
    return {"lengths": np.uint32(digest((lengths,))), "crossings": np.uint32(digest(parts))}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=Path, help="CityFlow's sources")
    parser.add_argument("--out", type=Path, default=Path("tests/data/cityflow.npz"))
    parser.add_argument("--raw", type=Path, default=Path("raw"), help="folder for files and whole recordings")
    parser.add_argument("--only", nargs="*", default=list(SCENARIOS))
    parser.add_argument("--geometry", type=Path, required=True, help="the program of cityflow_geometry.cpp")
    chosen = parser.parse_args()
    arrays: dict[str, np.ndarray] = {}
    for name in chosen.only:
        scenario = SCENARIOS[name]
        config = make_files(chosen.raw / name, chosen.source, scenario)
        full = record(config, scenario.get("steps", STEPS))
        np.savez_compressed(chosen.raw / f"{name}.npz", **full)
        if not scenario.get("lane_change"):
            arrays |= {f"{name}.{key}": value for key, value in compact(full).items()}
        if name in MEASURED:
            found = geometry(chosen.geometry.resolve(), chosen.raw / name / "roadnet.json")
            arrays |= {f"{name}.{key}": value for key, value in found.items()}
        print(name, full["count"][-1], full["waiting"][-1], full["travel"][-1], flush=True)
    np.savez_compressed(chosen.out, **arrays)


if __name__ == "__main__":
    main()
