"""What shows traffic: words, replays, diagrams."""

import json

import numpy as np
import pytest
from PIL import Image
from support.batches import begun
from support.crossroads import EXAMPLE, PLAN
from support.tree import ROOT
from typer.testing import CliRunner

import rlenvs
from rlenvs.agents.video import diagram
from rlenvs.cli import app
from rlenvs.core.declare.errors import UnknownNameError
from rlenvs.multi.traffic.diagrams import Queues, TimeSpace
from rlenvs.multi.traffic.replay import Replay, convex_hull
from rlenvs.multi.traffic.words import phase_names

ID = "SignalGrid-v0"
EIGHT = ["ETWT", "NTST", "ELWL", "NLSL", "WTWL", "ETEL", "STSL", "NTNL"]


# --- words ------------------------------------------------------------------------------------------------------------


def test_phases_have_their_letters():
    """CityFlow's generator: straight on and left turns of opposite sides, then all of one side each."""
    p, _ = begun(ID, walk=5).records(0)
    assert [phase_names(p, j) for j in range(4)] == [[*EIGHT, "WALK"]] * 4


def test_names_of_phases_differ():
    for level in ("city", "arterial"):
        batch = begun(ID, level=level)
        p, _ = batch.records(0)
        for j in range(batch.agents):
            names = phase_names(p, j)
            assert len(set(names)) == len(names) == int((p.choice[j] >= 0).sum())


def test_words_say_what_is_there():
    env = rlenvs.text_parallel_env(ID, level="single", incidents=[{"road": "road_0_1_0", "lane": 1, "at": 150}], walk=5)
    env.reset(seed=1)
    for _ in range(12):
        told, *_ = env.step({"agent_0": "<phase(nTsT)>"})
    _, s = env.numeric.batch.records(0)
    lines = told["agent_0"].splitlines()
    assert f"Phase NTST, for {int(s.green_for[0])} s." in lines
    (line,) = [line for line in lines if line.startswith("WT:")]
    assert ", closed 120 m before the line" in line
    waiting = sum(int(line.split()[1]) for line in lines if " waiting, approaching" in line)
    assert waiting == -env.numeric.batch.terms[0, 0, 0]
    assert f"People who wait to cross on foot: {int(s.people[0])}." in lines


def test_replies():
    env = rlenvs.text_parallel_env(ID, level="single", min_green=20)
    told, _ = env.reset(seed=1)
    assert "<phase(ETWT)>, <phase(NTST)>" in told["agent_0"]
    for reply, reason in (
        ("<phase(NTST)>", ""),
        ("<phase(ETWT)>", "not legal"),
        ("<phase(EEEE)>", "no phase"),
        ("<go()>", "no command"),
    ):
        *_, infos = env.step({"agent_0": reply})
        assert reason in infos["agent_0"]["illegal_reason"]
        assert bool(reason) == bool(infos["agent_0"]["illegal_reason"])
    assert env.numeric.batch.records(0)[1].next_phase[0] == 2


def test_neighbors_read_messages():
    env = rlenvs.text_parallel_env(ID, rows=1, columns=3, messages=40)
    env.reset(seed=0)
    told, *_ = env.step({agent: f"<phase(NTST)> <say(here is {agent})>" for agent in env.agents})
    assert [text.count(" says: here is agent_") for text in told.values()] == [1, 2, 1]
    assert "agent_1 says: here is agent_1" in told["agent_0"]


# --- replays ----------------------------------------------------------------------------------------------------------


def test_replays_are_those_of_cityflow(tmp_path):
    """The roads, and the first minutes of the example, beside the files that CityFlow writes."""
    batch = begun(ID, **EXAMPLE, **{**PLAN, "decision": 1})
    replay = Replay(batch)
    for _ in range(60):
        batch.step(batch.player_actions("fixed"))
        replay.note()
    replay.save(tmp_path)
    recorded = json.loads((ROOT / "tests/data/cityflow_replay.json").read_text())
    static = json.loads((tmp_path / "replay_roadnet.json").read_text())["static"]
    assert static["edges"] == recorded["static"]["edges"]
    for ours, theirs in zip(static["nodes"], recorded["static"]["nodes"], strict=True):
        assert {**ours, "outline": 0} == {**theirs, "outline": 0}
        if not ours["virtual"]:  # of some ends CityFlow's outline leaves out a corner
            assert corners(ours) == corners(theirs)
    lines = (tmp_path / "replay.txt").read_text().splitlines()
    for number, line in recorded["lines"].items():
        (cars, signals), (their_cars, their_signals) = (each.split(";") for each in (lines[int(number)], line))
        assert signals == their_signals
        ours, theirs = read(cars), read(their_cars)
        assert ours.keys() == theirs.keys()
        for name, numbers in ours.items():
            np.testing.assert_allclose(numbers, theirs[name], rtol=1e-13)


def corners(node):
    """Without points between corners, which CityFlow may keep."""
    return convex_hull([(x, y) for x, y in np.round(np.array(node["outline"]).reshape(-1, 2), 6).tolist()])


def read(cars):
    """By name, the numbers of each vehicle."""
    parts = [car.split() for car in cars.split(",") if car]
    return {part[3]: [float(number) for number in (*part[:3], *part[4:])] for part in parts}


# --- diagrams ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["queues", "time_space"])
def test_diagrams_show_the_episode(name):
    images = [diagram(ID, name, policy, 0, 40, level="arterial") for policy in ("expert", "random")]
    assert images[0].shape == (512, 512, 3)
    assert (images[0] != images[1]).any()
    with pytest.raises(UnknownNameError, match="queues"):
        diagram(ID, "queue", "expert")


def test_queues_are_counted():
    batch, drawing = begun(ID, demand=2.0), Queues()
    for _ in range(20):
        batch.step(batch.player_actions("fixed"))
        drawing.note(*batch.records(0))
        assert drawing._rows[-1] == [-value for value in batch.terms[0, 0, :4].tolist()]


def test_ways_of_vehicles_go_forward():
    batch, drawing = begun(ID, level="arterial", decision=1), TimeSpace()
    for _ in range(200):
        batch.step(batch.player_actions("fixed"))
        drawing.note(*batch.records(0))
    assert len(drawing._ways) > 20
    assert len(drawing._stops) == 6
    for way in drawing._ways.values():
        places = [place for _, place in way]
        assert (np.diff(places) >= 0.0).all()
    assert max(place for way in drawing._ways.values() for _, place in way) > 600.0


def test_diagrams_are_written(tmp_path):
    path = tmp_path / "new" / "queues.png"
    keywords = ("--level", "single", "--set", "decision=60", "--diagram", "queues")
    done = CliRunner().invoke(app, ["record", ID, *keywords, "--output", str(path)])
    assert done.exit_code == 0, done.output
    assert Image.open(path).size == (512, 512)
    done = CliRunner().invoke(app, ["record", ID, *keywords, "--output", str(tmp_path / "queues.gif")])
    assert done.exit_code == 2
    assert ".png" in done.stderr
