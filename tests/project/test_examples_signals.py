"""The example of signals that attend to each other: who hears whom, and a few updates."""

import importlib.util

import numpy as np
import pytest
from support.batches import begun
from support.places import ROOT

torch = pytest.importorskip("torch")

spec = importlib.util.spec_from_file_location("attention_signals", ROOT / "examples" / "attention_signals.py")
signals = importlib.util.module_from_spec(spec)
spec.loader.exec_module(signals)

ID = "SignalGrid-v0"
TINY = ["--steps", "512", "--worlds", "2", "--length", "16"]


@pytest.fixture(autouse=True)
def _one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def test_neighbors_are_those_whose_roads_lead_here():
    grid = [[1, 1, 1, 0], [1, 1, 0, 1], [1, 0, 1, 1], [0, 1, 1, 1]]
    assert signals.neighbors_of(begun(ID)).tolist() == grid
    line = begun(ID, layout="arterial", columns=3)
    assert signals.neighbors_of(line).tolist() == [[1, 1, 0], [1, 1, 1], [0, 1, 1]]


@pytest.mark.parametrize("heads", [0, 4])
def test_junctions_hear_their_neighbors_alone(heads):
    torch.manual_seed(0)
    agent = signals.Agent(begun(ID), heads)
    seen = torch.rand(5, 4, 33)
    other = seen.clone()
    other[:, 0] += 1.0  # the first junction, whose neighbors are the second and the third
    changed = (agent.value(seen) - agent.value(other)).abs().amax(0) > 1e-6
    assert changed.tolist() == [True, heads > 0, heads > 0, False]


@pytest.mark.budget(6)
def test_what_pays_is_chosen_more_often():
    """One step; the reward is 1 for the first phase and 0 for others, the same at all junctions."""
    torch.manual_seed(0)
    arguments = signals.parser.parse_args([])
    agent = signals.Agent(begun(ID), 4)
    optimizer = torch.optim.Adam(agent.parameters(), 1e-3)
    seen, masks = torch.zeros(2, 256, 4, 33), torch.ones(1, 256, 4, 8, dtype=torch.bool)
    before = agent.policy(seen[:1], masks).probs.mean((0, 1, 2))[0].item()
    chosen = agent.policy(seen[:1], masks).sample()
    done, counted = torch.ones(2, 1, 256, dtype=torch.bool)
    arguments.gamma = 0.0
    signals.update(agent, optimizer, arguments, 1.0, seen, masks, chosen, (chosen == 0).float(), done, counted)
    assert agent.policy(seen[:1], masks).probs.mean((0, 1, 2))[0].item() > before + 0.05


def test_steps_that_begin_an_episode_do_not_count(monkeypatch):
    told = {}

    def update(*arguments):
        told["counted"] = arguments[-1].clone()
        return 1.0

    monkeypatch.setattr(signals, "update", update)
    signals.learn(signals.parser.parse_args([*TINY[2:], "--steps", "1"]), {"horizon": 5})
    assert told["counted"].all(1).tolist() == [(t % 6) != 5 for t in range(16)]


@pytest.mark.budget(4)
def test_the_same_seed_teaches_the_same():
    arguments = signals.parser.parse_args(TINY)
    first, second = (signals.learn(arguments, {}).state_dict() for _ in range(2))
    assert all(torch.equal(first[name], second[name]) for name in first)


def test_travel_times_are_those_of_the_metrics():
    times = signals.travel_times(lambda batch: batch.player_actions("fixed"), 2, {"level": "single", "horizon": 30})
    batch = begun(ID, 2, seed=10_000, level="single", horizon=30)
    for _ in range(30):
        batch.step(batch.player_actions("fixed"))
    np.testing.assert_array_equal(times, [signals.metrics(*batch.records(n))["travel_time"] for n in range(2)])
