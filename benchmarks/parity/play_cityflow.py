"""Play the baselines of traffic signals on CityFlow: the definitions of the players in plain Python.

Needs CityFlow, built as `record_cityflow.py` says, and this package. Networks are grids of this package with phases
added for the time between two phases, in which only what is green in both may go: for phases a and b of a junction with
n phases that is phase n (a + 1) + b. All junctions decide every `DECISION` seconds; a phase stays for MIN_GREEN seconds
at least, and CLEARING seconds lie between two phases. Written are counts and hashes of all vehicles after each
decision, as in `record_cityflow.py`, and the average travel time.

With `--libsignal` it plays on LibSignal's Hangzhou data instead and prints average travel times, by the timing of most
papers: a decision every 15 s, the first 5 of them in phase 0 if the phase changes.
"""

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

try:
    import cityflow
    import numpy as np
    from record_cityflow import PAUSE, digest, drivable_numbers, vehicles, write_config

    from rlenvs.multi.traffic.files import load_network, network_to, save_flows, save_network
    from rlenvs.multi.traffic.flat import flatten
    from rlenvs.multi.traffic.grids import grid, grid_flows
    from rlenvs.multi.traffic.networks import Junction, Network, Phase
except ModuleNotFoundError as error:
    raise SystemExit(f"{error.name} is needed; the docstring of this script says how it is installed") from None

DECISION, CLEARING, MIN_GREEN, SECONDS = 10, 5, 5, 3600
FEW_GREEN, MANY_RED = 5, 5
DETECTOR, LONGEST_GREEN = 40.0, 60.0  # m before the line, and s
GRIDS = {"1x1": (1, 1), "2x2": (2, 2), "1x3": (1, 3)}
RATE, TURNING = 400.0, 0.4


def with_pairs(network: Network) -> Network:
    """The network with a phase for each two phases of a junction, of what is green in both."""
    return replace(network, junctions=tuple(map(_paired, network.junctions)))


def _paired(junction: Junction) -> Junction:
    both = [
        Phase(5.0, tuple(gate for gate in one.green if gate in other.green))
        for one in junction.phases
        for other in junction.phases
    ]
    return replace(junction, phases=(*junction.phases, *both))


class Signal:
    """The signal of a junction, with what players see of it.

    Args:
        junction: without the phases for two.
    """

    def __init__(self, junction: Junction) -> None:
        self.id, self.phases = junction.id, junction.phases
        common = set.intersection(*(set(phase.green) for phase in junction.phases))
        self.choices = [n for n, phase in enumerate(junction.phases) if set(phase.green) != common]
        self.links = [
            [
                (f"{movement.start}_{link.start}", f"{movement.end}_{link.end}")
                for gate in phase.green
                for movement in [junction.movements[gate]]
                for link in movement.lane_links
            ]
            for phase in junction.phases
        ]
        self.coming = {
            f"{movement.start}_{link.start}" for movement in junction.movements for link in movement.lane_links
        }
        always = set.intersection(*(set(junction.phases[n].green) for n in self.choices))
        self.served = [
            {
                f"{junction.movements[gate].start}_{link.start}"
                for gate in phase.green
                if gate not in always
                for link in junction.movements[gate].lane_links
            }
            for phase in junction.phases
        ]
        self.phase = self.next = self.choices[0]
        self.clearing, self.green_for = 0, MIN_GREEN

    def may_change(self) -> bool:
        return self.phase == self.next and self.green_for >= MIN_GREEN

    def choose(self, phase: int) -> None:
        if phase != self.phase and self.may_change():
            self.next, self.clearing = phase, CLEARING

    def shown(self) -> int:
        """The phase that CityFlow has to show in the next second."""
        if self.phase == self.next:
            self.green_for += 1
        elif self.clearing > 0:
            self.clearing -= 1
        else:
            self.phase, self.green_for = self.next, 1
        count = len(self.phases)
        return self.phase if self.phase == self.next else count * (self.phase + 1) + self.next

    def allowed(self) -> list[int]:
        return self.choices if self.may_change() else [self.next]

    def after(self) -> int:
        """The phase after the present one, in a circle."""
        return self.choices[(self.choices.index(self.next) + 1) % len(self.choices)]


class View(NamedTuple):
    """What players see, by lane.

    Attributes:
        counts, waiting: vehicles, and those that wait.
        near: whether the first one is within `DETECTOR` of the line.
    """

    counts: dict[str, int]
    waiting: dict[str, int]
    near: dict[str, bool]


Player = Callable[[Signal, View], int]


def seen(engine: Any, lengths: dict[str, float]) -> View:
    """What players see now."""
    distance = engine.get_vehicle_distance()
    near = {
        lane: bool(names) and lengths[lane] - distance[names[0]] < DETECTOR
        for lane, names in engine.get_lane_vehicles().items()
    }
    return View(engine.get_lane_vehicle_count(), engine.get_lane_waiting_vehicle_count(), near)


def best(signal: Signal, worth: Callable[[int], float]) -> int:
    """The allowed phase that is worth most, the first of equal ones."""
    return max(signal.allowed(), key=worth)


def max_pressure(signal: Signal, view: View) -> int:
    """Vehicles before the green lane links minus those behind them."""
    counts = view.counts
    return best(signal, lambda phase: sum(counts[start] - counts[end] for start, end in signal.links[phase]))


def greedy(signal: Signal, view: View) -> int:
    """Vehicles that wait on the lanes that a phase serves: from which it opens a link that not all phases open."""
    return best(signal, lambda phase: sum(view.waiting[lane] for lane in signal.served[phase]))


def sotl(signal: Signal, view: View) -> int:
    """The next phase once few vehicles are on the lanes served, and many on the others."""
    green = sum(view.counts[lane] for lane in signal.served[signal.next])
    red = sum(view.counts[lane] for lane in signal.coming) - green
    return signal.after() if signal.may_change() and green <= FEW_GREEN and red > MANY_RED else signal.next


def actuated(signal: Signal, view: View) -> int:
    """The next phase once no vehicle is near on the lanes served, or after the longest green."""
    held = signal.green_for < LONGEST_GREEN and any(view.near[lane] for lane in signal.served[signal.next])
    return signal.after() if signal.may_change() and not held else signal.next


def fixed(signal: Signal, view: View) -> int:
    """The stored plan, without phases that only clear the junction."""
    over = signal.may_change() and signal.green_for >= signal.phases[signal.next].time
    return signal.after() if over else signal.next


PLAYERS: dict[str, Player] = {
    "max_pressure": max_pressure,
    "greedy": greedy,
    "sotl": sotl,
    "actuated": actuated,
    "fixed": fixed,
}


def play(
    engine: Any, numbers: dict[str, int], lengths: dict[str, float], signals: list[Signal], player: Player
) -> dict[str, np.ndarray]:
    """An hour with all signals set by a player."""
    found: dict[str, list[Any]] = {"count": [], "waiting": [], "travel": [], "digest": []}
    for second in range(SECONDS):
        if second % DECISION == 0:
            view = seen(engine, lengths)
            for signal, phase in [(signal, player(signal, view)) for signal in signals]:
                signal.choose(phase)
        for signal in signals:
            engine.set_tl_phase(signal.id, signal.shown())
        engine.next_step()
        if second % DECISION == DECISION - 1:
            found["count"].append(engine.get_vehicle_count())
            found["waiting"].append(sum(engine.get_lane_waiting_vehicle_count().values()))
            found["travel"].append(engine.get_average_travel_time())
            found["digest"].append(digest(vehicles(engine, numbers)))
    time.sleep(PAUSE)
    kinds = {"count": np.int16, "waiting": np.int16, "travel": np.float64, "digest": np.uint32}
    return {name: np.array(values, kinds[name]) for name, values in found.items()}


def play_grids(out: Path, folder: Path) -> None:
    """All players on all grids."""
    arrays = {}
    for name, (rows, columns) in GRIDS.items():
        place, network = folder / name, grid(rows, columns)
        place.mkdir(parents=True, exist_ok=True)
        save_network(with_pairs(network), place / "roadnet.json")
        save_flows(grid_flows(rows, columns, RATE, TURNING), place / "flow.json")
        config, numbers = write_config(place, {}, controlled=True), drivable_numbers(network_to(network))
        lengths = dict(zip(numbers, flatten(load_network(place / "roadnet.json"), ()).arrays["length"], strict=True))
        for player, decide in PLAYERS.items():
            engine = cityflow.Engine(str(config), thread_num=1)
            found = play(engine, numbers, lengths, [Signal(junction) for junction in network.signals], decide)
            arrays |= {f"{name}.{player}.{key}": value for key, value in found.items()}
            print(name, player, found["count"][-1], found["waiting"][-1], found["travel"][-1], flush=True)
    np.savez_compressed(out, **arrays)


def play_libsignal(folder: Path, player: str) -> tuple[float, int]:
    """Average travel time and vehicles left on LibSignal's data, with the usual timing: "plan", "cycle" or
    "max_pressure"."""
    config = write_config(folder, {}, controlled=player != "plan")
    engine = cityflow.Engine(str(config), thread_num=1)
    junctions = [
        each for each in json.loads((folder / "roadnet.json").read_text())["intersections"] if not each["virtual"]
    ]
    links = {
        each["id"]: [_lane_pairs(each, n) for n in range(len(each["trafficLight"]["lightphases"]))]
        for each in junctions
    }
    phase = dict.fromkeys(links, 1)
    for second in range(SECONDS):
        if player != "plan" and second % 15 == 0:
            counts = engine.get_lane_vehicle_count()
            before, phase = phase, {}
            for name, pairs in links.items():
                if player == "cycle":
                    phase[name] = 1 + second // 30 % 4
                else:
                    worth = [sum(counts[a] - counts[b] for a, b in each) for each in pairs[1:]]
                    phase[name] = 1 + worth.index(max(worth))
        if player != "plan":
            for name in links:
                engine.set_tl_phase(name, 0 if second % 15 < 5 and phase[name] != before[name] else phase[name])
        engine.next_step()
    time.sleep(PAUSE)
    return engine.get_average_travel_time(), engine.get_vehicle_count()


def _lane_pairs(junction: dict[str, Any], phase: int) -> set[tuple[str, str]]:
    gates = junction["trafficLight"]["lightphases"][phase]["availableRoadLinks"]
    return {
        (f"{movement['startRoad']}_{link['startLaneIndex']}", f"{movement['endRoad']}_{link['endLaneIndex']}")
        for movement in (junction["roadLinks"][gate] for gate in gates)
        for link in movement["laneLinks"]
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("tests/data/cityflow_players.npz"))
    parser.add_argument("--raw", type=Path, default=Path("raw"), help="folder for the files of the grids")
    parser.add_argument("--libsignal", type=Path, nargs="*", help="folders with roadnet.json and flow.json")
    chosen = parser.parse_args()
    if not chosen.libsignal:
        play_grids(chosen.out, chosen.raw)
    for folder in chosen.libsignal or []:
        for player in ("plan", "max_pressure", "cycle"):
            travel, left = play_libsignal(folder, player)
            print(f"{folder.name} {player}: {travel:.2f} s, {left} left", flush=True)


if __name__ == "__main__":
    main()
