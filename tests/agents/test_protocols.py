"""Protocols of battles: LLM-PySC2's tasks and levels, wins with intervals, sequences of tasks and their measures."""

import numpy as np
import pytest

import rlenvs
from rlenvs.agents.battle_protocols import MACRO_TASKS, STAND_INS, playable
from rlenvs.agents.protocols import PROTOCOLS, Lifelong, Protocol
from rlenvs.core.declare.errors import ParameterError, UnknownNameError
from rlenvs.multi.battle.scenarios import parse_scenario, scenario_of
from rlenvs.multi.battle.units import SMAC
from rlenvs.wrappers import ActionRepeat

# docs/experiments.md of LLM-PySC2: seconds, units of ours and of theirs at each level
PUBLISHED = {
    "task1": (90, 2, (2, 6, 6)),
    "task2": (90, 3, (2, 3, 3)),
    "task3": (60, 7, (24, 24, 24)),
    "task4": (90, 12, (16, 18, 21)),
    "task5": (90, 21, (35, 36, 38)),
    "task6": (90, 23, (97, 99, 103)),
    "task7": (90, 25, (32, 38, 45)),
    "task8": (120, 14, (22, 25, 25)),
}
TWO = {name: ("Battle-v0", {"scenario": name, "rules": "smac", "backend": "python"}) for name in ("2m_vs_1z", "3m")}


def count(units):
    return sum(int(part.split()[0]) for part in units.split(", "))


@pytest.mark.parametrize("name", PUBLISHED)
def test_macro_tasks_are_the_published_ones(name):
    seconds, ours, theirs = PUBLISHED[name]
    task = MACRO_TASKS[name]
    assert (task.seconds, count(task.ours[0]), tuple(map(count, task.theirs))) == (seconds, ours, theirs)
    for level in range(3):
        id, keywords = PROTOCOLS["llm-pysc2"].tasks[f"{name}-level{level + 1}"]
        assert (id, keywords["rules"]) == ("Battle-v0", "smac")
        assert keywords["horizon"] == {60: 168, 90: 252, 120: 336}[seconds]  # 22.4 ticks a second, 8 a step
        scenario = scenario_of(parse_scenario(keywords["scenario"]))
        assert set(scenario.units) <= set(SMAC)


def test_units_that_battle_has_stand_for_themselves():
    assert not set(STAND_INS) & set(SMAC)
    assert set(STAND_INS.values()) <= {"", *SMAC}
    named = {
        part.split()[1]
        for task in MACRO_TASKS.values()
        for side in (*task.ours, *task.theirs)
        for part in side.split(", ")
    }
    assert named - set(SMAC) == set(STAND_INS)
    assert playable("15 roach, 3 ravager, 2 queen, 1 overseer") == "18 roach, 2 hydralisk"


def test_protocols_have_the_published_tasks():
    assert len(PROTOCOLS["llm-pysc2"].tasks) == 24
    assert len(PROTOCOLS["llm-smac"].tasks) == 9
    assert {len(PROTOCOLS[name].tasks) for name in ("l2rlcf-condensed", "l2rlcf-dispersed")} == {5}
    for each in PROTOCOLS.values():
        assert set(each.blocks) <= set(each.tasks)


def test_wins_ties_and_losses():
    short = Protocol("short", TWO)
    found = short.evaluate("kiting", 3)
    for task in found.tasks.values():
        assert task.wins + task.ties + task.losses == 3
        share, low, high = task.win_rate
        assert low <= share <= high
        assert share == task.wins / 3 == (task.played.successes > 0).mean()
    idle = short.evaluate("idle", 2, tasks=["3m"], horizon=4)
    assert idle.protocol == {"protocol": "short", "episodes": 2, "horizon": 4}
    assert (idle.tasks["3m"].wins, idle.tasks["3m"].ties, idle.tasks["3m"].losses) == (0, 2, 0)
    beaten = short.evaluate("idle", 2, tasks=["3m"]).tasks["3m"]
    assert (beaten.wins, beaten.ties, beaten.losses) == (0, 0, 2)
    assert "0.00 (0.00 - 0.66)" in str(idle)
    assert idle.to_dict()["tasks"]["3m"]["win_rate_interval"][1] == pytest.approx(0.6576, abs=1e-3)


def test_a_policy_per_task():
    short = Protocol("short", TWO)
    found = short.evaluate({"3m": "idle", "2m_vs_1z": lambda seen: np.zeros(seen.shape[:2], int)}, 1, horizon=2)
    assert set(found.tasks) == {"3m", "2m_vs_1z"}
    with pytest.raises(ParameterError, match="a policy for each of 2m_vs_1z, 3m"):
        short.evaluate({"3m": "idle"}, 1)


@pytest.mark.parametrize(
    ("keywords", "error", "words"),
    [
        ({"policy": "strongest"}, UnknownNameError, "no policy 'strongest'"),
        ({"policy": 7}, ParameterError, "must be one of"),
        ({"tasks": ["4m"]}, UnknownNameError, "no task"),
        ({"tasks": []}, ParameterError, "not a list of names"),
        ({"tasks": "3m"}, ParameterError, "not a list of names"),
        ({"n_episodes": 0}, ParameterError, "n_episodes"),
        ({"colour": "red"}, UnknownNameError, "colour"),
    ],
)
def test_what_is_refused_plays_nothing(keywords, error, words):
    chosen = {"policy": "idle", "n_episodes": 1, **keywords}
    with pytest.raises(error, match=words):
        Protocol("short", TWO).evaluate(chosen.pop("policy"), chosen.pop("n_episodes"), **chosen)


def test_unknown_protocols_and_those_without_blocks():
    with pytest.raises(UnknownNameError, match="llm-pysc2"):
        rlenvs.protocol("llm-pysc")
    with pytest.raises(ParameterError, match="l2rlcf-condensed, l2rlcf-dispersed"):
        rlenvs.protocol("llm-smac").learn(print, "idle")


def test_measures_of_lifelong_learning():
    scores = np.array([[0.0, 0.1], [0.8, 0.3], [0.6, 0.9], [0.9, 0.5]])
    found = Lifelong(("a", "b"), ("a", "b", "a"), scores, scores)
    assert found.performance_maintenance == pytest.approx(((0.6 - 0.8) + (0.5 - 0.9)) / 2)
    assert found.forward_transfer == pytest.approx(0.3 - 0.1)
    assert found.backward_transfer == pytest.approx(0.5 - 0.9)
    assert found.relative_performance == pytest.approx(0.7)
    alone = Lifelong(("a",), ("a",), np.array([[0.0], [1.0]]), np.zeros((2, 1)))
    assert np.isnan([alone.performance_maintenance, alone.forward_transfer, alone.backward_transfer]).all()


def test_a_learner_goes_through_the_blocks():
    game = ("MoveToBeacon-v0", {"backend": "python", "horizon": 3})
    short = Protocol("short", {"beacon": game, "again": game}, ("beacon", "again", "beacon"))
    taught = []
    found = short.learn(lambda id, keywords: taught.append((id, dict(keywords))), "idle", 1)
    assert taught == [(id, dict(keywords)) for id, keywords in [game] * 3]
    assert found.scores.shape == found.wins.shape == (4, 2)
    assert found.performance_maintenance == 0.0  # a policy that never changes


def test_scripted_players_are_policies():
    keywords = {"scenario": "3m", "backend": "python", "horizon": 40}
    strong = rlenvs.evaluate("Battle-v0", "kiting", 2, **keywords)
    assert strong.mean > rlenvs.evaluate("Battle-v0", "idle", 2, **keywords).mean
    with pytest.raises(ParameterError, match="does not see wrappers"):
        rlenvs.evaluate("Battle-v0", "kiting", 1, wrappers=[ActionRepeat(1)], **keywords)
