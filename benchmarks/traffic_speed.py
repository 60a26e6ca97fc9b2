"""Updates of vehicles per second of SignalGrid beside CityFlow and SUMO, on the same networks and demand.

    python benchmarks/traffic_speed.py --files FOLDER
    python benchmarks/traffic_speed.py --files FOLDER --peers benchmarks/peers.toml --rounds 3 [--cpu] [--write]

The first writes CityFlow's files of the networks, which workers of peers are given. Then the peers `cityflow-NAME` and
`sumo-NAME` of the file of peers are timed beside ours, in turn; a peer that it does not have is left out. `--write`
puts the table into benchmarks/traffic_speed.md.
"""

import argparse
import os
import platform
import shlex
import statistics
import sys
import tomllib
from datetime import date
from pathlib import Path
from typing import NamedTuple

from rlenvs.multi.traffic import files
from rlenvs.multi.traffic.grids import Streets, generator_flows, grid, grid_flows
from rlenvs.multi.traffic.networks import Flow, Network
from run import BY_CPU, Worker

HERE = Path(__file__).parent


class Case(NamedTuple):
    """A network with its demand, and how long it runs before it is timed."""

    network: Network
    flows: tuple[Flow, ...]
    warm_up: int


def example() -> Case:
    """CityFlow's bundled network, with as much demand."""
    streets = Streets(left=2, straight=3, right=2, plan=True)
    return Case(grid(1, 1, streets=streets), grid_flows(1, 1, 2160.0, 2.0 / 3.0), 1800)


def of_grid(size: int, flows: tuple[Flow, ...], warm_up: int) -> Case:
    """The streets of CityFlow's generator."""
    return Case(grid(size, size, streets=Streets(plan=True)), flows, warm_up)


CASES = {
    "example": example,
    "4x4": lambda: of_grid(4, generator_flows(4, 4, 8.0, turn=True), 1200),
    "16x16": lambda: of_grid(16, grid_flows(16, 16, 700.0, 0.3), 1500),
}


def write_files(folder: Path, cases: dict[str, Case]) -> None:
    """A folder for each case with its roadnet, flow and config files."""
    for name, case in cases.items():
        place = folder / name
        place.mkdir(parents=True, exist_ok=True)
        files.save_network(case.network, place / "roadnet.json")
        files.save_flows(case.flows, place / "flow.json")
        files.save_config(files.Config(dir=f"{place.resolve()}/"), place / "config.json")
        print(f"{place}: {len(case.network.signals)} signals, {len(case.flows)} flows")


def rates(workers: dict[str, Worker], rounds: int, seconds: float) -> list[str]:
    """Rows of the table: updates of vehicles per second, and ours as multiples of each peer's."""
    turns = [{label: each.rate(seconds) for label, each in workers.items()} for _ in range(rounds)]
    rows = []
    for label in workers:
        mine = statistics.median(turn[label] for turn in turns)
        ratios = sorted(turn["ours"] / turn[label] for turn in turns)
        rows.append(f"{label} | {mine:,.0f} | {statistics.median(ratios):.3g} ({ratios[0]:.3g} - {ratios[-1]:.3g}) |")
    return rows


def table(folder: Path, cases: dict[str, Case], peers: dict[str, str], options: argparse.Namespace) -> list[str]:
    rows = [
        "| network | program | updates of vehicles per second | ours is times as fast (min - max) |",
        "|---|---|---|---|",
    ]
    for name, case in cases.items():
        count = ["--cpu"] * options.cpu
        own = ["--folder", str((folder / name).resolve()), "--warm-up", str(case.warm_up), *count]
        workers = {"ours": Worker([sys.executable, "traffic_world.py", *own])}
        if name == "4x4":
            many = ["--num", "64", "--threads", "2"]
            workers["ours, 64 worlds, two threads"] = Worker([sys.executable, "traffic_world.py", *own, *many])
        for peer in (f"cityflow-{name}", f"sumo-{name}"):
            if peer in peers:
                workers[peer] = Worker([*shlex.split(peers[peer]), "--warm-up", str(case.warm_up), *count])
            else:
                print(f"{name}: the file of peers has no {peer}", flush=True)
        rows += [f"| {name} | {row}" for row in rates(workers, options.rounds, options.seconds)]
        print("\n".join(rows[-len(workers) :]), flush=True)
        for each in workers.values():
            each.close()
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=Path, required=True, help="folder for the files of the networks")
    parser.add_argument("--peers", type=Path, help="a file like peers.example.toml")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2.0, help="per turn")
    parser.add_argument("--only", choices=CASES, help="a network")
    parser.add_argument("--cpu", action="store_true", help="count the time that processors worked")
    parser.add_argument("--write", action="store_true", help="write benchmarks/traffic_speed.md")
    options = parser.parse_args()
    cases = {name: make() for name, make in CASES.items() if options.only in (None, name)}
    write_files(options.files, cases)
    if options.peers is None:
        return
    lines = [
        "# Traffic: updates of vehicles per second beside others",
        "",
        f"Measured on {date.today()}: {platform.machine()}, {os.cpu_count()} cores, Python {sys.version.split()[0]}.",
        f"{options.rounds} turns of {options.seconds} s, after the warm-up; medians. Stored plans, one thread if not",
        "said otherwise. Some 280, 1,600 and 10,700 vehicles on the roads; SUMO's signals have plans of its own.",
        *[BY_CPU] * options.cpu,
        "",
        *table(options.files, cases, tomllib.loads(options.peers.read_text()), options),
        "",
    ]
    if options.write:
        (HERE / "traffic_speed.md").write_text("\n".join(lines))


if __name__ == "__main__":
    main()
