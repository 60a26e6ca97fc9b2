"""From the options of a world to a network, its demand, and the arrays and sizes of both."""

from __future__ import annotations

import dataclasses
import functools
import json
import math
from typing import Any, NamedTuple

import numpy as np

from rlenvs.core import choice, data_option, integer, json_option, maths
from rlenvs.core.declare.errors import ParameterError
from rlenvs.core.declare.options import Choice
from rlenvs.core.declare.user_files import read_text, reason
from rlenvs.multi.traffic.fields import DATA, PICTURE
from rlenvs.multi.traffic.files import LARGEST, flows_from, network_from, parse
from rlenvs.multi.traffic.flat import Flat, flatten, mersenne
from rlenvs.multi.traffic.grids import arterial, city, grid, grid_flows
from rlenvs.multi.traffic.incidents import incident_arrays, incidents_from
from rlenvs.multi.traffic.networks import Flow, Network, Phase
from rlenvs.multi.traffic.plans import webster_plan

MOST_VEHICLES, MOST_DRAWS, LONGEST = 200_000, 3_000_000, 14_400.0
ROOM = 15.0  # m of lane per vehicle that may be there at a time
SPARE = 100  # more vehicles than that
RATE, TURNING = 400.0, 0.4  # vehicles per hour at the end of each street of a grid, and the share that turns


def parse_file(given: Any) -> str | None:
    """What an option takes for a file of CityFlow: None, a path, or the content as JSON has it. Returns a JSON text.

    Raises:
        ValueError: no such file, or no JSON.
    """
    if given is None:
        return None
    if isinstance(given, str):
        text = given
        if not given.lstrip().startswith(("{", "[")):
            try:
                text = read_text(given, LARGEST)
            except OSError as error:
                raise ValueError(f"cannot be read: {reason(error)}") from None
        json.loads(text)
        return text
    return json.dumps(given)


OPTIONS: dict[str, Any] = {
    "layout": data_option(choice("grid", "arterial", "city", doc="a grid, a main street, or a random city")),
    "rows": data_option(integer(2, 1, 30, "rows of a grid or city")),
    "columns": data_option(integer(2, 1, 30, "columns of a grid or city, or junctions of a main street")),
    "instance": data_option(integer(0, 0, 2**31 - 1, "which random city")),
    "network": data_option(json_option(None, parse_file, "a roadnet of CityFlow, a path or its content, instead")),
    "flows": data_option(json_option(None, parse_file, "flows of CityFlow, a path or their content, instead")),
    "incidents": data_option(
        json_option(None, parse_file, "where and when nobody passes a place on a lane, a path or its content")
    ),
    "walk": integer(0, 0, 120, "steps of the engine for which a phase lets people cross on foot; 0: there is none"),
    "plan": data_option(choice("stored", "webster", doc="that of the network, or one timed for its demand by Webster")),
    "phases": data_option(choice("green", "all", doc="phases to choose from: all, or without those for clearing")),
    "vehicles": data_option(
        integer(0, 0, MOST_VEHICLES, "most vehicles at a time, with those that wait to enter; 0: by length of lanes")
    ),
    "draws_seed": data_option(
        integer(-1, -1, 2**31 - 1, "take the random numbers of CityFlow with this seed; -1: those of the world")
    ),
}


class Chosen(NamedTuple):
    """The options from which a network and its demand follow."""

    layout: str
    rows: int
    columns: int
    instance: int
    network: str | None
    flows: str | None
    walk: int
    plan: str


@functools.lru_cache(maxsize=8)
def scenario_of(chosen: Chosen) -> tuple[Network, Flat]:
    """A network with its demand, as arrays.

    Raises:
        ParameterError: a malformed network or demand, or a network without demand.
    """
    network, flows = chosen.network, chosen.flows
    if network is None:
        roads, demand = _made(chosen)
    elif flows is None:
        raise ParameterError("network= needs flows= with the vehicles on its roads")
    else:
        roads, demand = network_from(parse(network)), ()
    if flows is not None:
        demand = flows_from(parse(flows), roads)
    if not roads.signals:
        raise ParameterError("the network has no junction with a signal")
    if chosen.plan == "webster":
        roads = webster_plan(roads, demand)
    if chosen.walk > 0:
        roads = with_walk(roads)
    return roads, flatten(roads, demand)


def with_walk(network: Network) -> Network:
    """The network with a last phase at each junction in which all gates are closed, for people on foot."""
    walk = Phase(0.0, ())
    return dataclasses.replace(
        network,
        junctions=tuple(
            each if each.virtual else dataclasses.replace(each, phases=(*each.phases, walk))
            for each in network.junctions
        ),
    )


def _made(chosen: Chosen) -> tuple[Network, tuple[Flow, ...]]:
    """A network of a layout, with demand from the ends of all streets."""
    rows, columns = chosen.rows, chosen.columns
    if chosen.layout == "arterial":
        return arterial(columns), grid_flows(1, columns, RATE, TURNING)
    flows = grid_flows(rows, columns, RATE, TURNING)
    if chosen.layout == "grid":
        return grid(rows, columns), flows
    # some streets are missing: the shortest way from end to end
    return city(chosen.instance, rows, columns), tuple(
        dataclasses.replace(flow, route=(flow.route[0], flow.route[-1])) for flow in flows
    )


def _chosen(values: Any) -> Chosen:
    return Chosen(*(getattr(values, name) for name in Chosen._fields))


def _scenario(values: Any) -> tuple[Network, Flat]:
    return scenario_of(_chosen(values))


def network_of(values: Any) -> Network:
    """The network of a batch with these values, `batch.setup.values`."""
    return _scenario(values)[0]


class Around(NamedTuple):
    """What belongs to a junction: lanes that lead to it and away, and the phases among which an agent chooses."""

    coming: list[int]
    leaving: list[int]
    choices: list[int]


@functools.lru_cache(maxsize=8)
def _around(chosen: Chosen, every: bool) -> tuple[Around, ...]:
    roads, flat = scenario_of(chosen)
    a = flat.arrays
    found = []
    for j, junction in enumerate(roads.signals):
        links = range(a["link_begins"][j], a["link_begins"][j + 1])
        coming = sorted({int(a["link_start"][link]) for link in links}, key=lambda lane: _bearing(a, lane, -1))
        leaving = sorted({int(a["link_end"][link]) for link in links}, key=lambda lane: _bearing(a, lane, 0))
        phases = [set(phase.green) for phase in junction.phases]
        if chosen.walk > 0:
            choices = [*_choices(phases[:-1], every), len(phases) - 1]
        else:
            choices = _choices(phases, every)
        found.append(Around(coming, leaving, choices))
    return tuple(found)


def _bearing(arrays: Any, lane: int, end: int) -> tuple[float, int, int]:
    """The direction of a lane at its end (-1) or its beginning (0), then its index: the order of lanes around a
    junction."""
    line = arrays["line"][arrays["line_begins"][lane] : arrays["line_begins"][lane + 1]]
    (x, y), (to_x, to_y) = (line[-2], line[-1]) if end else (line[0], line[1])
    angle = (
        maths.atan2(float(to_y - y), float(to_x - x)) + 0.75 * math.pi
    )  # from south west on: south, east, north, west
    return round(angle % (2.0 * math.pi), 6), int(arrays["lane_index"][lane]), lane


def _choices(phases: list[set[int]], every: bool) -> list[int]:
    """Phases to choose from: all, or without those whose gates are open in all others as well."""
    if not phases:
        raise ParameterError("a junction has no phase")
    common = set.intersection(*phases)
    green = [n for n, gates in enumerate(phases) if every or gates != common]
    return green or list(range(len(phases)))


def _all_around(values: Any) -> tuple[Around, ...]:
    return _around(_chosen(values), values.phases == "all")


def network_sizes(values: Any) -> dict[str, int]:
    """Of the arrays of a network and its demand, of vehicles, and of what is around junctions."""
    (_, flat), around = _scenario(values), _all_around(values)
    coming, leaving = (max(len(each[n]) for each in around) for n in range(2))
    length = float(flat.arrays["length"][: flat.sizes["lanes"]].sum())
    return {
        **flat.sizes,
        "vehicles": values.vehicles or min(int(length / ROOM) + SPARE, MOST_VEHICLES),
        "draws": _draws(flat) if values.draws_seed >= 0 else 0,
        "phase_choices": max(len(each.choices) for each in around),
        "incidents": int(_incidents(values)["incident_at"].size),
        "walks": int(values.walk > 0),
        "walkers": len(around) if values.walk > 0 else 0,
        "in_lanes": coming,
        "out_lanes": leaving,
    }


def _incidents(values: Any) -> dict[str, np.ndarray]:
    """The arrays of the incidents."""
    roads, flat = _scenario(values)
    found = () if values.incidents is None else incidents_from(json.loads(values.incidents), roads)
    return incident_arrays(found, flat.sizes["lanes"])


def _toward(arrays: Any, around: tuple[Around, ...], sizes: dict[str, int]) -> np.ndarray:
    """By lane and link, the junction to which a lane leads, or in which a link is; -1 for none."""
    found = np.full(sizes["drivables"], -1, np.int32)
    for j, each in enumerate(around):
        found[each.coming] = j
    found[sizes["lanes"] :] = arrays["gate_junction"][arrays["link_gate"]]
    return found


def _draws(flat: Flat) -> int:
    """Three random numbers for each vehicle of some hours."""
    total = 0
    for start, end, interval in zip(
        *(flat.arrays[f"flow_{name}"] for name in ("start", "end", "interval")), strict=True
    ):
        last = min(float(end), LONGEST) if end >= 0.0 else LONGEST
        total += 1 + max(int((last - float(start)) / float(interval)), 0)
    return min(3 * total, MOST_DRAWS)


def data_of(values: Any) -> dict[str, Any]:
    """The arrays of a network and its demand, and what belongs to each junction."""
    (_, flat), around, sizes = _scenario(values), _all_around(values), network_sizes(values)
    arrays = flat.arrays
    draws = mersenne(values.draws_seed, sizes["draws"]).astype(np.int64) if sizes["draws"] else np.zeros(0, np.int64)
    times = [
        [float(arrays["phase_time"][arrays["phase_begins"][j] + n]) for n in each.choices]
        for j, each in enumerate(around)
    ]
    room = arrays["length"][: flat.sizes["lanes"]] / (float((arrays["car_length"] + arrays["car_gap"]).max()))
    return {
        **{name: arrays[name] for name in {**DATA, **PICTURE} if name in arrays},
        "draws": draws,
        "toward": _toward(arrays, around, flat.sizes),
        **_incidents(values),
        "room": room,
        "choice": _padded([each.choices for each in around], sizes["phase_choices"], np.int32),
        "choice_time": _padded(times, sizes["phase_choices"], np.float64),
        "serves": _serves(arrays, around, sizes),
        "in_lane": _padded([each.coming for each in around], sizes["in_lanes"], np.int32),
        "out_lane": _padded([each.leaving for each in around], sizes["out_lanes"], np.int32),
    }


def _serves(arrays: Any, around: tuple[Around, ...], sizes: dict[str, int]) -> np.ndarray:
    """By junction, choice and lane that leads there, whether the choice opens a link of the lane that not all open."""
    found = np.zeros((len(around), sizes["phase_choices"], sizes["in_lanes"]), np.uint8)
    for j, each in enumerate(around):
        first = arrays["phase_begins"][j]
        rows = [
            arrays["green"][start : start + _gates(arrays, j)] for start in arrays["green_begins"][first:][each.choices]
        ]
        common = np.logical_and.reduce([row for row in rows if row.any()] or rows)  # without people on foot
        for i, lane in enumerate(each.coming):
            links = arrays["leaving"][arrays["leaving_begins"][lane] : arrays["leaving_begins"][lane + 1]]
            gates = arrays["link_gate"][links] - arrays["gate_begins"][j]
            found[j, : len(rows), i] = [(row.astype(bool) & ~common)[gates].any() for row in rows]
    return found


def _gates(arrays: Any, junction: int) -> int:
    return int(arrays["gate_begins"][junction + 1] - arrays["gate_begins"][junction])


def _padded(rows: list[Any], width: int, kind: Any) -> np.ndarray:
    """Rows of different lengths, with -1 behind them."""
    return np.array([[*row, *[-1] * (width - len(row))] for row in rows], kind)


def counted(*terms: str) -> Choice:
    """The option that says which of some terms counts."""
    weights = {name: {each: float(each == name) for each in terms} for name in terms}
    return choice(*terms, doc="which term counts", sets=weights)
