"""SignalGrid's lane changes beside CityFlow's, whose runs differ from each other: by their distributions."""

import numpy as np
import pytest
from support.batches import begun
from support.crossroads import EXAMPLE, PLAN, measured, vehicles_on
from support.tree import ROOT

from rlenvs.multi.traffic.files import flows_to, network_to
from rlenvs.multi.traffic.grids import Streets, generator_flows, grid

ID = "SignalGrid-v0"
WIDE = Streets(left=2, straight=2, right=2)
SCENARIOS = {
    "lanes": EXAMPLE,
    "lanes_2x2": {
        "network": network_to(grid(2, 2, streets=WIDE)),
        "flows": flows_to(generator_flows(2, 2, 3.0, True)),
    },
}
STEPS, EVERY, SEEDS = 1800, 60, 20


def played(name, seed):
    """Counts, waiting vehicles and travel times by minute, and mean vehicles by lane, as they are recorded."""
    batch = begun(
        ID, **SCENARIOS[name], **{**PLAN, "draws_seed": seed}, lane_change=True, vehicles=20_000, horizon=4000
    )
    p, s = batch.records(0)
    found, lanes = [], np.zeros(p.lane_road.size)
    for step in range(5, STEPS + 1, 5):
        batch.step(batch.player_actions("fixed"))
        if step % EVERY == 0:
            told = measured(batch)
            found.append((int(s.count.sum()), told["waiting"], told["travel_time"]))  # CityFlow counts shadows
            lanes += [len(vehicles_on(s, lane)) for lane in range(lanes.size)]
    return np.array(found).T, lanes * EVERY / STEPS


@pytest.mark.slow
@pytest.mark.parametrize("name", SCENARIOS)
def test_traffic_flows_as_in_cityflow(name):
    """Means of 20 runs of each, half an hour long: vehicles on the roads, waiting ones and travel times differ by less
    than four standard errors or 1 %, and vehicles on each lane are as many."""
    recorded = np.load(ROOT / "tests/data/cityflow_lanes.npz")
    runs = [played(name, seed) for seed in range(SEEDS)]
    for n, key in enumerate(("count", "waiting", "travel")):
        ours = np.array([run[n].mean() for run, _ in runs])
        theirs = recorded[f"{name}.{key}"].mean(axis=1)
        error = np.sqrt(ours.var(ddof=1) / SEEDS + theirs.var(ddof=1) / SEEDS)
        assert abs(ours.mean() - theirs.mean()) < max(4.0 * error, 0.01 * theirs.mean()), key
    lanes, their_lanes = (np.mean(each, axis=0) for each in ([lane for _, lane in runs], recorded[f"{name}.lanes"]))
    busy = their_lanes > 0.5
    assert np.corrcoef(lanes[busy], their_lanes[busy])[0, 1] > 0.98
