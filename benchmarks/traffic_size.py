"""A large world of SignalGrid: a grid is filled until there are so many vehicles on its roads, then timed.

    python benchmarks/traffic_size.py [--side 30] [--vehicles 50000] [--interval 40]

From every road of the grid a flow leads straight on to the end of the street. Printed are the time that it takes to
make the world, its memory, and the rates of one thread. Seconds are those that the processor worked.
"""

import argparse
import time

import rlenvs
from rlenvs.multi.traffic.files import flows_to, network_to
from rlenvs.multi.traffic.grids import grid
from rlenvs.multi.traffic.networks import Flow, Vehicle
from rlenvs.multi.traffic.signal_grid import SPEC

LONGEST, TIMED = 10_000, 20  # s in which the roads have to fill, and steps of 10 s that are timed


def straight_flows(side: int, interval: float) -> list[Flow]:
    """From each road of a grid that does not leave it, to the end of its street."""
    flows = []
    for road in grid(side, side).roads:
        _, column, row, way = road.id.split("_")
        last = {"0": (side, row), "1": (column, side), "2": (1, row), "3": (column, 1)}[way]
        end = f"road_{last[0]}_{last[1]}_{way}"
        if road.id != end:
            flows.append(Flow(Vehicle(), (road.id, end), interval))
    return flows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--side", type=int, default=30, help="rows and columns of junctions")
    parser.add_argument("--vehicles", type=int, default=50_000, help="on the roads")
    parser.add_argument("--interval", type=float, default=40.0, help="seconds between vehicles of a flow")
    options = parser.parse_args()
    start = time.process_time()
    files = {
        "network": network_to(grid(options.side, options.side)),
        "flows": flows_to(straight_flows(options.side, options.interval)),
    }
    batch = rlenvs.make_batch(SPEC.name, threads=1, horizon=LONGEST, **files)
    batch.seed([0])
    batch.reset()
    p, s = batch.records(0)
    print(f"{s.phase.size} junctions, {p.lane_road.size} lanes, {p.link_end.size} links, {s.rate.size} flows")
    print(f"made in {time.process_time() - start:.1f} s")
    print(f"state: {batch.states.nbytes / 1e6:.1f} MB, of {s.drivable.size} places for vehicles", flush=True)
    while s.running < options.vehicles and s.ticks < LONGEST:
        batch.step(batch.player_actions("fixed"))
    print(f"{s.running} vehicles on the roads, {s.present - s.running} outside, after {s.ticks} s", flush=True)
    spent, updates = 0.0, 0
    for _ in range(TIMED):
        actions = batch.player_actions("fixed")
        start = time.process_time()
        batch.step(actions)
        spent += time.process_time() - start
        updates += 10 * int(s.running)
    print(f"{10 * TIMED / spent:.0f} steps/s, {updates / spent / 1e6:.2f} million updates of vehicles per second")


if __name__ == "__main__":
    main()
