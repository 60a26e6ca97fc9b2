"""Steps of SUMO through libsumo on a network of CityFlow's; agent-steps are updates of vehicles, those on the roads.

Installed as: libsumo 1.28.0 and eclipse-sumo 1.28.0 (for netconvert) from the registry. The roads, lanes, speed limits,
movements, vehicles and flows are those of the files that `python benchmarks/traffic_speed.py --files FOLDER` writes;
the signals are netconvert's own plans with a cycle of 140 s. Vehicles change lanes, as they have to in SUMO. The
simulation first runs for --warm-up seconds, uncounted.
"""

import argparse
import json
import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

import worker

CYCLE = 140  # s
LENGTHS = {"accel": "usualPosAcc", "decel": "usualNegAcc", "length": "length", "minGap": "minGap", "tau": "headwayTime"}


def element(name: str, **attributes: Any) -> str:
    """An element of a file, without content."""
    return f"<{name} {' '.join(f'{key}={quoteattr(str(value))}' for key, value in attributes.items())}/>"


def write(path: Path, root: str, lines: Iterable[str]) -> None:
    path.write_text("\n".join([f"<{root}>", *lines, f"</{root}>"]))


def write_network(folder: Path, roadnet: dict[str, Any], netconvert: str) -> Path:
    """SUMO's network: its lanes are counted from the outermost one."""
    nodes = [
        element(
            "node",
            id=each["id"],
            x=each["point"]["x"],
            y=each["point"]["y"],
            type="dead_end" if each["virtual"] else "traffic_light",
        )
        for each in roadnet["intersections"]
    ]
    lanes = {road["id"]: len(road["lanes"]) for road in roadnet["roads"]}
    edges = [
        element(
            "edge",
            id=road["id"],
            **{"from": road["startIntersection"], "to": road["endIntersection"]},
            numLanes=lanes[road["id"]],
            speed=road["lanes"][0]["maxSpeed"],
        )
        for road in roadnet["roads"]
    ]
    connections = {
        element(
            "connection",
            **{"from": movement["startRoad"], "to": movement["endRoad"]},
            fromLane=lanes[movement["startRoad"]] - 1 - link["startLaneIndex"],
            toLane=lanes[movement["endRoad"]] - 1 - min(link["startLaneIndex"], lanes[movement["endRoad"]] - 1),
        ): None
        for junction in roadnet["intersections"]
        for movement in ([] if junction["virtual"] else junction["roadLinks"])
        for link in movement["laneLinks"]
    }
    for name, root, lines in (("nod", "nodes", nodes), ("edg", "edges", edges), ("con", "connections", connections)):
        write(folder / f"grid.{name}.xml", root, lines)
    files = [f"--{kind}-files={folder / f'grid.{name}.xml'}" for kind, name in (("node", "nod"), ("edge", "edg"))]
    files += [f"--connection-files={folder / 'grid.con.xml'}", f"--output-file={folder / 'grid.net.xml'}"]
    options = ["--no-turnarounds", "--no-warnings", f"--tls.cycle.time={CYCLE}"]
    subprocess.run([netconvert, *files, *options], check=True, stdout=subprocess.DEVNULL)
    return folder / "grid.net.xml"


def write_routes(folder: Path, flows: list[dict[str, Any]]) -> Path:
    lines = []
    for number, flow in enumerate(flows):
        vehicle, last = flow["vehicle"], flow["endTime"] if flow["endTime"] >= 0 else 86_400
        kind = {ours: vehicle[theirs] for ours, theirs in LENGTHS.items()}
        lines += [
            element("vType", id=f"kind_{number}", maxSpeed=vehicle["maxSpeed"], sigma=0, **kind),
            element("route", id=f"route_{number}", edges=" ".join(flow["route"])),
            element(
                "flow",
                id=f"flow_{number}",
                type=f"kind_{number}",
                route=f"route_{number}",
                begin=flow["startTime"],
                end=last,
                period=flow["interval"],
                departLane="best",
            ),
        ]
    write(folder / "grid.rou.xml", "routes", lines)
    return folder / "grid.rou.xml"


def build(options: argparse.Namespace) -> worker.Peer:
    """The simulation after its warm-up; it runs on, so that the number of vehicles stays about the same."""
    import libsumo

    folder = Path(tempfile.mkdtemp())
    network = write_network(folder, json.loads((options.folder / "roadnet.json").read_text()), options.netconvert)
    routes = write_routes(folder, json.loads((options.folder / "flow.json").read_text()))
    arguments = ["-n", str(network), "-r", str(routes), "--step-length", "1", "--time-to-teleport", "-1"]
    libsumo.start(["sumo", *arguments, "--no-step-log", "--no-warnings"])

    def step(action: None) -> bool:
        libsumo.simulationStep()
        return False

    for _ in range(options.warm_up):
        step(None)
    return worker.Peer(step, lambda: None, [None], living=libsumo.vehicle.getIDCount)


if __name__ == "__main__":
    parser = worker.parser(__doc__)
    parser.add_argument("--folder", type=Path, required=True, help="with roadnet.json and flow.json")
    parser.add_argument("--netconvert", default="netconvert", help="the program")
    parser.add_argument("--warm-up", type=int, default=600, help="seconds")
    worker.serve(build, parser.parse_args())
