"""SignalGrid: signals, what agents see and get, players, files, refusals."""

import json

import numpy as np
import pytest
from support.batches import begun
from support.crossroads import EXAMPLE, PLAN, measured, vehicles_on

import rlenvs
from rlenvs.core.declare.errors import ParameterError, SnapshotError

ID = "SignalGrid-v0"


def open_links(batch):
    """Kinds of movements that may go at the first junction: 3 straight on, 2 left, 1 right."""
    from rlenvs.multi.traffic.crossing import is_open

    p, s = batch.records(0)
    return [int(p.gate_kind[p.link_gate[link]]) for link in range(p.link_end.size) if is_open(p, s, link)]


# --- signals ----------------------------------------------------------------------------------------------------------


def test_between_two_phases_only_right_turns_go():
    batch = begun(ID, level="single", decision=1, yellow=3, min_green=4)
    seen = []
    for n in range(12):
        batch.step([[[1 if n else 0]]])
        seen.append(set(open_links(batch)) == {1})
    assert seen == [False] + [True] * 3 + [False] * 8
    assert batch.records(0)[1].green_for[0] == 8


def test_a_phase_stays_for_its_minimum():
    batch = begun(ID, level="single", decision=1, yellow=2, min_green=5)
    batch.step([[[1]]])
    masks = []
    for _ in range(9):
        masks.append(batch.masks[0, 0].astype(int).tolist())
        batch.step([[[2]]])
    only = [0, 1, 0, 0, 0, 0, 0, 0]
    assert masks[:6] == [only] * 6
    assert masks[6] == [1] * 8
    assert batch.records(0)[1].next_phase[0] == 3


def test_the_phases_of_a_grid_are_those_of_a_plan_without_the_clearing_one():
    assert rlenvs.make_batch(ID).setup.action_size == 8
    assert rlenvs.make_batch(ID, phases="all").setup.action_size == 9


# --- what agents see and get ------------------------------------------------------------------------------------------


def around(p, s, j):
    """Vehicles on each lane that leads to a junction, and on each that leads away."""
    return tuple([vehicles_on(s, lane) for lane in lanes[j].tolist() if lane >= 0] for lanes in (p.in_lane, p.out_lane))


@pytest.fixture(params=("density", "count", "pressure"))
def busy(request):
    batch = begun(ID, observation=request.param, demand=2.0)
    chooser = np.random.default_rng(1)
    for _ in range(40):
        batch.step(chooser.integers(0, 8, batch.actions.shape))
    return batch


def test_what_agents_see(busy):
    p, s = busy.records(0)
    for j in range(4):
        seen = busy.observations[0, j].tolist()
        coming, leaving = around(p, s, j)
        counts = [len(each) for each in coming]
        assert seen[:8] == [float(n + 1 == s.next_phase[j]) for n in range(8)]
        if busy.setup.values.observation == "density":
            queues = [sum(s.speed[v] < 0.1 for v in each) for each in coming]
            lanes = [*p.in_lane[j]] * 2
            wanted = [min(n * 7.5 / p.length[lane], 1.0) for n, lane in zip((*counts, *queues), lanes, strict=True)]
        elif busy.setup.values.observation == "count":
            wanted = counts
        else:
            wanted = [*counts, *(len(each) for each in leaving)]
        assert sum(counts) > 0
        np.testing.assert_allclose(seen[9:], wanted, rtol=1e-6)


def test_lanes_are_in_the_same_order_at_all_junctions():
    """By direction, from the innermost."""
    p, _ = begun(ID).records(0)
    for lanes in (p.in_lane, p.out_lane):
        assert p.lane_index[lanes].tolist() == [[0, 1, 2] * 4] * 4
    headings = [[p.line[p.line_begins[lane] + 1] - p.line[p.line_begins[lane]] for lane in row] for row in p.in_lane]
    ways = np.sign(np.round(np.array(headings), 6))
    assert (ways == ways[0]).all()


@pytest.mark.parametrize("busy", ["density"], indirect=True)
def test_rewards(busy):
    p, s = busy.records(0)
    before = [sum(s.waited[v] for each in around(p, s, j)[0] for v in each) for j in range(4)]
    busy.step(np.zeros(busy.actions.shape, int))
    names = list(busy.world.terms)
    for j in range(4):
        terms = dict(zip(names, busy.terms[0, : len(names), j], strict=True))
        coming, leaving = around(p, s, j)
        there = [v for each in coming for v in each]
        assert terms["queue"] == -sum(s.speed[v] < 0.1 for v in there)
        assert terms["pressure"] == sum(map(len, leaving)) - len(there)
        assert terms["speed"] == pytest.approx(np.mean([s.speed[v] / 16.67 for v in there]))
        after = sum(s.waited[v] for v in there)
        assert terms["waiting"] == pytest.approx((before[j] - after) / 100.0)


def test_each_reward_is_one_term():
    for name in ("queue", "pressure", "waiting", "speed"):
        batch = begun(ID, level="single", reward=name)
        for _ in range(5):
            batch.step([[[0]]])
        assert batch.rewards[0, 0] == pytest.approx(batch.terms[0, list(batch.world.terms).index(name), 0])


# --- players ----------------------------------------------------------------------------------------------------------


@pytest.mark.budget(8)
def test_players_beat_the_stored_plan():
    times = {}
    for player in ("fixed", "max_pressure", "greedy", "sotl"):
        batch = begun(ID, 4)
        for _ in range(360):
            if (batch.records(0)[1].elapsed) == 359:
                times[player] = np.mean([measured(batch, index)["travel_time"] for index in range(4)])
            batch.step(batch.player_actions(player))
    assert all(times[player] < times["fixed"] for player in ("max_pressure", "greedy", "sotl")), times


@pytest.mark.budget(4)
def test_a_plan_for_the_demand_beats_the_stored_one():
    """Webster's plan has a phase for each pair of movements."""
    times = []
    for plan in ("stored", "webster"):
        batch = begun(ID, 4, plan=plan)
        for _ in range(359):
            batch.step(batch.player_actions("fixed"))
        times.append(np.mean([measured(batch, index)["travel_time"] for index in range(4)]))
    assert batch.setup.action_size == 4
    assert times[1] < 0.8 * times[0]


# --- files and refusals -----------------------------------------------------------------------------------------------


def test_files_and_their_content_are_the_same(tmp_path):
    paths = {}
    for name, content in EXAMPLE.items():
        paths[name] = str(tmp_path / f"{name}.json")
        (tmp_path / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
    digests = []
    for given in (EXAMPLE, paths):
        batch = begun(ID, **given, **PLAN)
        batch.step([[[0]]])
        digests.append(batch.digest())
    assert digests[0] == digests[1]


def test_networks_that_are_refused(tmp_path):
    with pytest.raises(ParameterError, match="needs flows="):
        rlenvs.make_batch(ID, network=EXAMPLE["network"])
    with pytest.raises(ParameterError, match="cannot be read"):
        rlenvs.make_batch(ID, network=str(tmp_path / "none.json"), flows=EXAMPLE["flows"])
    flow = {**EXAMPLE["flows"][0], "route": ["road_0_1_0", "nowhere"]}
    with pytest.raises(ParameterError, match="nowhere"):
        rlenvs.make_batch(ID, network=EXAMPLE["network"], flows=[flow])


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda s: s.behind.__setitem__(int(s.first[s.count.argmax()]), int(s.first[s.count.argmax()])), "list"),
        (lambda s: s.phase.__setitem__(0, 9), "phase"),
        (lambda s: s.leg.__setitem__(int(s.first[s.count.argmax()]), 0), "route"),
        (lambda s: s.new_drivable.__setitem__(0, 0), "between"),
    ],
)
def test_impossible_states_are_refused(change, reason):
    batch = begun(ID)
    for _ in range(20):
        batch.step(batch.player_actions("fixed"))
    other = begun(ID)
    other.set_state(batch.get_state())
    change(batch.records(0)[1])
    with pytest.raises(SnapshotError, match=reason):
        other.set_state(batch.get_state())
