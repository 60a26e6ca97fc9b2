"""Mean travel times on LibSignal's networks, beside those of CityFlow on the same files, at the same timing.

    git clone https://github.com/DaRL-LibSignal/LibSignal
    python benchmarks/traffic_libsignal.py --data LibSignal/data/raw_data [--only hangzhou-4x4] [--write]

The files are not part of this package: they have no license. A run lasts 3600 s and begins in phase 1 with empty roads.
"plan" is the plan in the file. "cycle" shows phases 1 to 4 for 30 s each. "max pressure" chooses every 15 s the phase
with the most vehicles before its open lane links minus those behind them. In both, phase 0 is shown for 5 s before
another phase. CityFlow's figures are those that `python benchmarks/parity/play_cityflow.py --libsignal` prints. With
--write the table goes to benchmarks/traffic_libsignal.md.
"""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import rlenvs
from rlenvs.core.batch.kernel_batch import KernelBatch
from rlenvs.multi.traffic.bounds import average_bound
from rlenvs.multi.traffic.crossing import is_green
from rlenvs.multi.traffic.files import load_flows, load_network
from rlenvs.multi.traffic.signal_grid import SPEC, metrics

TABLE = Path(__file__).with_suffix(".md")
SECONDS, DECISION, CLEARING = 3600, 15, 5  # s, between decisions and in phase 0
EXACT = {
    "arrivals": "regular",
    "spread": 0.0,
    "draws_seed": 0,
    "phases": "all",
    "yellow": 0,
    "min_green": 0,
    "decision": CLEARING,
    "vehicles": 20_000,
}
Player = Callable[[int], list[int]]


class Case(NamedTuple):
    """Files in LibSignal's folder, and what CityFlow finds: travel time [s] and vehicles left, by player."""

    roadnet: str
    flow: str
    plan: tuple[float, int]
    cycle: tuple[float, int]
    max_pressure: tuple[float, int]


PLAYERS = Case._fields[2:]
HANGZHOU = "hangzhou_4x4_gudang_18041610_1h"


def crossroads(folder: str, *figures: tuple[float, int]) -> Case:
    """One of LibSignal's single junctions."""
    return Case(f"{folder}/roadnet.json", f"{folder}/flow.json", *figures)


CASES = {
    "hangzhou-1x1": crossroads("hangzhou_1x1_bc-tyc_18041610_1h", (412.41, 157), (543.13, 168), (165.52, 119)),
    "hangzhou-4x4": Case(
        f"{HANGZHOU}/roadnet_4X4.json", f"{HANGZHOU}/{HANGZHOU}.json", (525.28, 438), (568.87, 436), (360.85, 274)
    ),
    "uniform-800": crossroads("syn_1x1_uniform_800_1h", (98.71, 18), (95.34, 20), (79.11, 14)),
    "uniform-1600": crossroads("syn_1x1_uniform_1600_1h", (102.23, 42), (98.13, 42), (80.72, 32)),
    "uniform-2400": crossroads("syn_1x1_uniform_2400_1h", (109.35, 70), (101.61, 64), (420.44, 292)),
}


def pressures(p: Any, s: Any) -> Callable[[], list[int]]:
    """A function that gives the phase with the highest pressure at each junction, the first of equal ones."""
    pairs: list[list[np.ndarray]] = []
    for j in range(s.phase.size):
        links = range(p.link_begins[j], p.link_begins[j + 1])
        phases = range(1, p.phase_begins[j + 1] - p.phase_begins[j])
        green = [[link for link in links if is_green(p, j, n, p.link_gate[link])] for n in phases]
        ways = [np.stack([p.link_start[chosen], p.link_end[chosen]]) for chosen in green]
        pairs.append([np.unique(way, axis=1) for way in ways])

    def best() -> list[int]:
        worth = [[int((s.count[start] - s.count[end]).sum()) for start, end in phases] for phases in pairs]
        return [1 + int(np.argmax(each)) for each in worth]

    return best


def play(batch: KernelBatch, decide: Player) -> None:
    """An hour, with phases from a function of the second."""
    phase = [1] * batch.agents
    for second in range(0, SECONDS, DECISION):
        before, phase = phase, decide(second)
        clearing = [0 if new != old else new for new, old in zip(phase, before, strict=True)]
        for shown in (clearing, *[phase] * (DECISION // CLEARING - 1)):
            batch.step(np.array(shown).reshape(batch.actions.shape))


def measured(case: Case, data: Path, player: str) -> tuple[float, int]:
    """Mean travel time [s] and the vehicles left after an hour."""
    files = {"network": str(data / case.roadnet), "flows": str(data / case.flow)}
    batch = rlenvs.make_batch(SPEC.name, 1, threads=1, **EXACT, **files)
    batch.seed([0])
    batch.reset()
    p, s = batch.records(0)
    if player == "plan":
        for _ in range(SECONDS // CLEARING):
            batch.step(batch.player_actions("fixed"))
    elif player == "cycle":
        play(batch, lambda second: [1 + second // 30 % 4] * batch.agents)
    else:
        best = pressures(p, s)
        play(batch, lambda _: best())
    found = metrics(p, s)
    return found["travel_time"], int(found["running"])


def row(name: str, case: Case, data: Path) -> str:
    """Ours, with CityFlow's figures behind where they differ."""
    network = load_network(data / case.roadnet)
    flows = load_flows(data / case.flow, network)
    cells = [name, str(len(network.signals)), f"{average_bound(network, flows, SECONDS):.1f}"]
    for player in PLAYERS:
        (travel, left), (wanted, remain) = measured(case, data, player), getattr(case, player)
        same = f"{travel:.2f}" == f"{wanted:.2f}" and left == remain
        cells.append(f"{travel:.2f} ({left})" + ("" if same else f"; CityFlow {wanted:.2f} ({remain})"))
    return f"| {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="LibSignal's folder data/raw_data")
    parser.add_argument("--only", choices=CASES, nargs="*", default=list(CASES))
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    lines = [
        "# Traffic: LibSignal's networks",
        "",
        "Mean travel time in seconds after an hour, and in brackets the vehicles left on the roads; CityFlow's figures",
        "behind, where they differ. The bound is that of vehicles which no signal and no other vehicle stops.",
        "",
        "| network | signals | bound | " + " | ".join(PLAYERS).replace("_", " ") + " |",
        "|---" * (3 + len(PLAYERS)) + "|",
    ]
    print("\n".join(lines))
    for name in options.only:
        flow = options.data / CASES[name].flow
        if not flow.is_file():
            print(f"{name} is left out: {flow} is not there", flush=True)
            continue
        lines.append(row(name, CASES[name], options.data))
        print(lines[-1], flush=True)
    if options.write:
        TABLE.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
