"""SignalGrid beside recordings of CityFlow: every vehicle after every step, to the last bit."""

import hashlib
from dataclasses import replace

import numpy as np
import pytest
from support.batches import begun
from support.crossroads import EXAMPLE, PLAN, measured
from support.tree import ROOT

from rlenvs.multi.traffic.bounds import average_bound
from rlenvs.multi.traffic.files import flows_from, flows_to, network_from, network_to
from rlenvs.multi.traffic.grids import Streets, generator_flows, grid, grid_flows
from rlenvs.multi.traffic.networks import Vehicle

ID = "SignalGrid-v0"
TRUCK = Vehicle(12.0, 2.5, 1.2, 4.0, 1.0, 3.0, 3.0, 12.0, 2.0)
EVERY = 60  # steps between recorded average travel times


def of_grid(rows, columns, interval, turn=True, streets=None, mixed=False):
    """A grid with the flows of CityFlow's generator; if mixed, every third one with trucks."""
    flows = generator_flows(rows, columns, interval, turn)
    if mixed:
        flows = tuple(replace(flow, vehicle=TRUCK) if n % 3 == 1 else flow for n, flow in enumerate(flows))
    return {"network": network_to(grid(rows, columns, streets=streets)), "flows": flows_to(flows)}


def of_example(**changes):
    return {**EXAMPLE, "flows": [{**flow, **changes} for flow in EXAMPLE["flows"]]}


# scenario: keywords, how many of the recorded steps are played
SCENARIOS = {
    "example": (EXAMPLE, 3600),
    "example_seed_7": ({**EXAMPLE, "draws_seed": 7}, 900),
    "example_dense": (of_example(interval=2.0), 900),
    "example_half": ({**EXAMPLE, "interval": 0.5}, 900),
    "single": ({**EXAMPLE, "flows": [{**EXAMPLE["flows"][0], "endTime": 0}]}, 60),
    "grid_2x2": (of_grid(2, 2, 4.0), 900),
    "grid_2x2_plan": (of_grid(2, 2, 6.0, streets=Streets(plan=True), mixed=True), 900),
    "grid_3x3": (of_grid(3, 3, 8.0), 900),
    "grid_2x3": ({**of_grid(2, 3, 5.0, turn=False), "draws_seed": 3}, 900),
}


@pytest.fixture(scope="module")
def recorded():
    return np.load(ROOT / "tests/data/cityflow.npz")


def vehicles_of(s):
    """Flow, number, drivable, distance and speed of the vehicles on the roads, by flow and number."""
    there = np.asarray(s.drivable) >= 0
    for lane in np.flatnonzero(s.queue_first >= 0):
        v = s.queue_first[lane]
        while v >= 0:
            there[v] = False
            v = s.behind[v]
    order = np.lexsort((s.number, s.flow))
    order = order[there[order]]
    return [np.asarray(s[name])[order] for name in ("flow", "number", "drivable", "position", "speed")]


def digest(columns):
    content = b"".join(np.ascontiguousarray(column).tobytes() for column in columns)
    return int.from_bytes(hashlib.blake2b(content, digest_size=4).digest(), "little")


@pytest.mark.budget(12)
@pytest.mark.parametrize("name", SCENARIOS)
def test_every_vehicle_is_where_cityflow_has_it(recorded, name):
    """Under the stored plan, with CityFlow's random numbers."""
    keywords, steps = SCENARIOS[name]
    batch = begun(ID, **{**PLAN, "decision": 1, "vehicles": 4000, "horizon": 4000, **keywords})
    _, s = batch.records(0)
    samples = {int(step): n for n, step in enumerate(recorded[f"{name}.samples"])}
    begins = recorded[f"{name}.begins"]
    for step in range(steps):
        batch.step(batch.player_actions("fixed"))
        found = vehicles_of(s)
        if step in samples:
            part = slice(begins[samples[step]], begins[samples[step] + 1])
            for column, key in zip(found, ("flow", "number", "drivable", "distance", "speed"), strict=True):
                np.testing.assert_array_equal(column, recorded[f"{name}.{key}"][part], f"{key} after step {step}")
        assert digest(found) == recorded[f"{name}.digest"][step], f"after step {step}"
        assert s.running == recorded[f"{name}.count"][step]
        if step % EVERY == EVERY - 1:
            assert measured(batch)["waiting"] == recorded[f"{name}.waiting"][step]
            assert measured(batch)["travel_time"] == pytest.approx(recorded[f"{name}.travel"][step // EVERY], rel=1e-13)


@pytest.mark.parametrize("name", SCENARIOS)
def test_no_recording_is_below_the_bound_of_travel_times(recorded, name):
    keywords, _ = SCENARIOS[name]
    network, interval = network_from(keywords["network"]), keywords.get("interval", 1.0)
    flows, travel = flows_from(keywords["flows"], network), recorded[f"{name}.travel"]
    for n in (0, len(travel) // 2, len(travel) - 1):
        least = average_bound(network, flows, EVERY * (n + 1) * interval, interval)
        assert 0.0 < least <= travel[n] * (1.0 + 1e-12)


# --- players ----------------------------------------------------------------------------------------------------------

GRIDS, RATE, TURNING = {"1x1": (1, 1), "2x2": (2, 2), "1x3": (1, 3)}, 400.0, 0.4
TIMING = {"decision": 10, "yellow": 5, "min_green": 5, "arrivals": "regular", "spread": 0.0, "draws_seed": 0}


@pytest.mark.budget(6)
@pytest.mark.parametrize("player", ["max_pressure", "greedy", "sotl", "actuated", "fixed"])
@pytest.mark.parametrize("name", GRIDS)
def test_players_do_what_their_definitions_do_on_cityflow(name, player):
    """The players in plain Python set CityFlow's signals, with the same times between phases."""
    recorded = np.load(ROOT / "tests/data/cityflow_players.npz")
    rows, columns = GRIDS[name]
    flows = flows_to(grid_flows(rows, columns, RATE, TURNING))
    batch = begun(ID, network=network_to(grid(rows, columns)), flows=flows, vehicles=4000, **TIMING)
    _, s = batch.records(0)
    for step in range(359):
        batch.step(batch.player_actions(player))
        assert digest(vehicles_of(s)) == recorded[f"{name}.{player}.digest"][step], f"after decision {step}"
        assert s.running == recorded[f"{name}.{player}.count"][step]
    found, travel = measured(batch), recorded[f"{name}.{player}.travel"][358]
    assert found["waiting"] == recorded[f"{name}.{player}.waiting"][358]
    assert found["travel_time"] == pytest.approx(travel, rel=1e-13)
