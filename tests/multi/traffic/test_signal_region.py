"""SignalRegion: the traffic of SignalGrid, seen by one agent through a part of the vehicles."""

import numpy as np
import pytest
from support.batches import begun
from support.crossroads import vehicles_on

ID = "SignalRegion-v0"


def test_it_is_the_traffic_of_signal_grid():
    """With the same seed and the same choices."""
    one, many = begun(ID, seed=5), begun("SignalGrid-v0", seed=5)
    for _ in range(60):
        one.step(one.expert_actions())
        many.step(many.player_actions("max_pressure"))
    ours, theirs = one.records(0)[1], many.records(0)[1]
    np.testing.assert_array_equal(ours.position, theirs.position)
    assert ours.finished == theirs.finished > 50
    costs = list(many.world.terms).index("queue")
    assert one.terms[0, list(one.world.terms).index("queue")] == pytest.approx(many.terms[0, costs].mean())


def test_the_estimate_is_the_number_of_late_vehicles():
    """Where all vehicles report."""
    batch = begun(ID, decision=1, probes=1.0, demand=1.5)
    p, s = batch.records(0)
    since = {}
    for _ in range(300):
        batch.step(batch.expert_actions())
        now = float(s.ticks)
        for j in range(4):
            for i, lane in enumerate(p.in_lane[j].tolist()):
                late = 0
                for v in vehicles_on(s, lane):
                    came = since.setdefault((lane, int(s.flow[v]), int(s.number[v])), now)
                    late += now - came > p.length[lane] / p.limit[lane]
                assert s.estimate[lane] == late
                assert batch.observations[0, 0, 4 * 8 + 4 + 12 * j + i] == late
    assert s.estimate.sum() > 3.0


def test_few_vehicles_are_enough_on_average():
    """The mean estimate of an hour hardly depends on the share that reports."""
    means = []
    for probes in (1.0, 0.2):
        batch = begun(ID, probes=probes)
        total = 0.0
        for _ in range(359):
            batch.step(batch.expert_actions())
            total -= batch.terms[0, 0].item()
        means.append(total / 359)
    assert means[1] == pytest.approx(means[0], rel=0.15)
    assert means[0] > 2.0


def test_the_agent_chooses_for_all_junctions():
    batch = begun(ID, rows=1, columns=3, walk=5, min_green=0)
    assert batch.setup.choices == (9, 9, 9)
    batch.step([[[1, 8, 2]]])
    p, s = batch.records(0)
    assert [int(phase) for phase in s.next_phase] == [int(p.choice[j, n]) for j, n in enumerate((1, 8, 2))]
    assert batch.masks.shape[-1] == 27


def test_growth_is_what_the_estimate_falls_by():
    batch = begun(ID, demand=2.0, reward="growth")
    before = 0.0
    for _ in range(30):
        batch.step(batch.expert_actions())
        now = float(batch.terms[0, 0].item())
        assert batch.rewards[0, 0] == pytest.approx(now - before, abs=1e-5)
        before = now
    assert before < -1.0
