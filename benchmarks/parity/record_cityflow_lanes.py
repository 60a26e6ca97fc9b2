"""Record how traffic with lane changes flows in CityFlow: counts and travel times of many seeds.

    python benchmarks/parity/record_cityflow_lanes.py SOURCE [--out tests/data/cityflow_lanes.npz] [--seeds 20]

Two runs of CityFlow with one seed differ where vehicles change lanes (see `record_cityflow.py`, which also says how it
is built), so what is kept is compared by its distribution. Every run is a process of its own, begun again if it stands
still.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
from record_cityflow import SCENARIOS, make_files, write_config

NAMES = ("lanes", "lanes_2x2")
STEPS, EVERY, PATIENCE = 1800, 60, 300  # s until a run is begun again
RUN = """
import cityflow, json, sys
engine = cityflow.Engine(sys.argv[1], thread_num=1)
steps, every = int(sys.argv[2]), int(sys.argv[3])
told = {"count": [], "waiting": [], "travel": [], "lanes": {}}
for step in range(1, steps + 1):
    engine.next_step()
    if step % every == 0:
        told["count"].append(engine.get_vehicle_count())
        told["waiting"].append(sum(engine.get_lane_waiting_vehicle_count().values()))
        told["travel"].append(engine.get_average_travel_time())
        for lane, count in engine.get_lane_vehicle_count().items():
            told["lanes"][lane] = told["lanes"].get(lane, 0) + count
print(json.dumps(told), flush=True)
import os
os._exit(0)
"""


def run(config: Path) -> dict[str, list[float]]:
    """Numbers of a run, by minute."""
    while True:
        try:
            given = [sys.executable, "-c", RUN, str(config), str(STEPS), str(EVERY)]
            done = subprocess.run(given, capture_output=True, text=True, check=True, timeout=PATIENCE)
            return json.loads(done.stdout)
        except subprocess.TimeoutExpired:
            print("begun again", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=Path, help="CityFlow's sources")
    parser.add_argument("--out", type=Path, default=Path("tests/data/cityflow_lanes.npz"))
    parser.add_argument("--raw", type=Path, default=Path("raw"), help="folder for files")
    parser.add_argument("--seeds", type=int, default=20)
    chosen = parser.parse_args()
    arrays: dict[str, np.ndarray] = {}
    for name in NAMES:
        folder = chosen.raw / name
        make_files(folder, chosen.source, SCENARIOS[name])
        roads = json.loads((folder / "roadnet.json").read_text())["roads"]
        lanes = [f"{road['id']}_{lane}" for road in roads for lane in range(len(road["lanes"]))]
        runs = [run(write_config(folder, {**SCENARIOS[name], "seed": seed})) for seed in range(chosen.seeds)]
        for key in ("count", "waiting", "travel"):
            arrays[f"{name}.{key}"] = np.array([each[key] for each in runs])
        means = [[each["lanes"][lane] * EVERY / STEPS for lane in lanes] for each in runs]
        arrays[f"{name}.lanes"] = np.array(means, np.float32)
        print(name, arrays[f"{name}.travel"][:, -1].mean(), arrays[f"{name}.count"][:, -1].mean(), flush=True)
    np.savez_compressed(chosen.out, **arrays)


if __name__ == "__main__":
    main()
