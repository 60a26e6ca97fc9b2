"""Benchmarks of several tasks: both success rates, one-hot codes, the protocol, refusals."""

import json

import numpy as np
import pytest
from support.agent_helpers import run

import rlenvs
from rlenvs.agents import benchmarks
from rlenvs.agents.benchmark_tasks import META_WORLD
from rlenvs.agents.benchmarks import BENCHMARKS, Benchmark
from rlenvs.agents.evaluate import Evaluation
from rlenvs.core.catalogue.registry import world_of
from rlenvs.core.declare.errors import ParameterError, UnknownNameError

pytest.importorskip("mujoco")
TWO = ("MetaWorldReach-v0", "MetaWorldDrawerClose-v0")
SHORT = {"reward": "v2", "goal_visible": True, "horizon": 40, "backend": "python"}


def away_at_the_end():
    """Goes to the goal, and away from it from step 34 on."""
    steps = 0

    def choose(seen):
        nonlocal steps
        steps += 1
        actions = np.zeros((len(seen), 4), np.float32)
        actions[:, :3] = np.clip(15.0 * (seen[:, 36:39] + [0.0, 0.0, 0.045] - seen[:, :3]), -1.0, 1.0)
        return actions if steps % 40 < 34 else -np.ones_like(actions)

    return choose


def test_success_at_any_step_and_at_the_end():
    result = Benchmark("Short", TWO[:1], (0, 1, 2), SHORT).evaluate("expert")
    assert (result.ever, result.at_end) == (1.0, 1.0)
    assert result.half_width == pytest.approx(1.96 * (5.0 / 7.0 * 2.0 / 7.0 / 7.0) ** 0.5)  # three goals prove little
    both = Benchmark("Short", TWO[:1], (0,), SHORT)
    left = both.evaluate(away_at_the_end())
    assert (left.ever, left.at_end) == (1.0, 0.0)


def test_a_policy_sees_the_code_of_its_task():
    seen_codes = []

    def choose(seen):
        seen_codes.append(seen[:, 39:])
        return np.zeros((len(seen), 4), np.float32)

    Benchmark("Short", TWO, (0, 1), {**SHORT, "horizon": 2}).evaluate(choose, one_hot=True)
    codes = np.concatenate(seen_codes)
    assert codes.shape[1] == 2
    np.testing.assert_array_equal(np.unique(codes, axis=0), np.eye(2)[::-1])


def test_the_result_states_its_protocol():
    short = Benchmark("Short", TWO[:1], (0, 1), {**SHORT, "horizon": 2})
    result = short.evaluate("idle", reward="v1")
    assert result.protocol["reward"] == "v1"
    assert result.protocol["seeds"] == "0 to 1"
    assert result.tasks[TWO[0]].score is None  # the reference scores are of the reward v2
    assert "reward=v1" in str(result)
    others = short.evaluate("idle", seeds=(3, 8), mass=np.array([1.0, 2.0]))
    assert json.loads(json.dumps(others.to_dict()))["protocol"]["mass"] == [1.0, 2.0]
    assert others.protocol["seeds"] == "3, 8"
    assert others.tasks[TWO[0]].whole.seeds.tolist() == [3, 8]


def test_scores_are_of_the_keywords_with_which_the_references_were_measured(monkeypatch):
    """Whether other ones are the benchmark's or are given."""
    mean = world_of(TWO[0]).scores["expert"].mean
    played = Evaluation(*[np.full(1, mean)] * 5)
    monkeypatch.setattr(benchmarks, "evaluate", lambda *arguments, **keywords: played)
    own = {"reward": "v1", "goal_visible": True, "horizon": 500}
    for found, score in (
        (Benchmark("Own", TWO[:1]), 1.0),
        (rlenvs.benchmark("ML1", task="reach"), 1.0),
        (Benchmark("Own", TWO[:1], keywords=own), None),
        (Benchmark("Own", TWO[:1], keywords={**own, "reward": "v2", "horizon": 100}), None),
    ):
        assert found.evaluate("expert").tasks[TWO[0]].score == score
    assert Benchmark("Own", TWO[:1], keywords=own).evaluate("idle", reward="v2").tasks[TWO[0]].score == 1.0


def test_what_a_caller_changes_stays_with_its_benchmark():
    rlenvs.benchmark("MT10").keywords["reward"] = "v1"
    rlenvs.benchmark("MT1", task="push").keywords["reward"] = "v1"
    for found in (rlenvs.benchmark("MT10"), rlenvs.benchmark("MT50"), rlenvs.benchmark("MT1", task="push")):
        assert found.keywords["reward"] == "v2"


def test_codes_follow_the_numbers_beside_images():
    shapes = []

    def choose(seen):
        shapes.append({name: part.shape for name, part in seen.items()})
        return np.zeros((1, 4), np.float32)

    small = {"camera": "rgb", "camera_width": 8, "camera_height": 8, "horizon": 1}
    Benchmark("Short", TWO, (0,), SHORT).evaluate(choose, one_hot=True, **small)
    assert shapes[0] == {"state": (1, 41), "front": (1, 8, 8, 3), "hand": (1, 8, 8, 3)}


def test_held_out_tasks():
    meta = Benchmark("Short", TWO[:1], (0,), {**SHORT, "goal_visible": False, "horizon": 2}, held_out=TWO[1:])
    assert list(meta.evaluate("idle").tasks) == [TWO[0]]
    result = meta.evaluate({TWO[1]: "idle"}, held_out=True)
    assert list(result.tasks) == [TWO[1]]
    assert result.protocol["benchmark"] == "Short, held out"
    with pytest.raises(ParameterError, match="have no codes"):
        meta.evaluate("idle", held_out=True, one_hot=True)
    with pytest.raises(ParameterError, match="holds no task out"):
        rlenvs.benchmark("MT10").evaluate("idle", held_out=True)


def test_what_is_refused():
    with pytest.raises(UnknownNameError, match="MT10"):
        rlenvs.benchmark("MT11")
    with pytest.raises(ParameterError, match="both ways"):
        rlenvs.benchmark("MT10").evaluate("expert", ends_at_success=True)
    with pytest.raises(ParameterError, match="policy for each"):
        Benchmark("Short", TWO, (0,), SHORT).evaluate({TWO[0]: "expert"})
    for keywords in ({"task": "push"}, {"weights": {"v1": 1.0}}, {"n_episodes": 3}):
        (name,) = keywords
        with pytest.raises(ParameterError, match=f"leave out {name}"):
            rlenvs.benchmark("MT10").evaluate("idle", **keywords)
    with pytest.raises(ParameterError, match="leave out task"):
        rlenvs.benchmark("MT10").vector(10, task="push")
    with pytest.raises(ParameterError, match="without a time limit"):  # it would never end
        rlenvs.benchmark("MT10").evaluate("idle", horizon=-1)
    with pytest.raises(ParameterError, match="one_hot='yes' must be True or False"):
        rlenvs.benchmark("MT10").evaluate("idle", one_hot="yes")
    for name in (["MT10"], None, 10):
        with pytest.raises(UnknownNameError, match="no benchmark"):
            rlenvs.benchmark(name)
    with pytest.raises(ParameterError, match="at least one id"):
        Benchmark("None", ())


def test_single_tasks():
    for task in ("drawer-open", "drawer-open-v3", "MetaWorldDrawerOpen-v0", "rlenvs/MetaWorldDrawerOpen-v0"):
        assert rlenvs.benchmark("MT1", task=task).ids == ("MetaWorldDrawerOpen-v0",)
    meta = rlenvs.benchmark("ML1", task="reach")
    assert meta.ids == meta.held_out == TWO[:1]
    assert meta.keywords == {"reward": "v2", "goal_visible": False, "horizon": 500}
    result = meta.evaluate("idle", held_out=True, horizon=1, backend="python")
    assert result.protocol["seeds"] == "50 to 99"  # other goals than those that are learnt
    with pytest.raises(ParameterError, match="give its name"):
        rlenvs.benchmark("MT1")
    with pytest.raises(ParameterError, match="leave out task"):
        rlenvs.benchmark("MT10", task="reach")
    for task in ("drawer", 3):
        with pytest.raises(UnknownNameError, match="no task"):
            rlenvs.benchmark("MT1", task=task)


def test_commands(tmp_path):
    small = ("--episodes", "2", "--set", "horizon=1", "--set", "backend=python")
    file = tmp_path / "result.json"
    assert "seeds=0 to 1" in run("benchmark", "MT1", "reach", "--policy", "agent", *small, "-o", file)
    (written,) = json.loads(file.read_text())
    assert written["protocol"]["seeds"] == "0 to 1"
    assert written["tasks"][TWO[0]]["success_ever"] == written["success_ever"] == 0.0
    assert "MT10 has tasks of its own" in run("benchmark", "MT10", "--set", "task=push", *small, code=2)
    assert "no reference agent for MetaWorldSoccer-v0" in run("benchmark", "ML1", "soccer", "-p", "agent", code=2)


def test_the_order_of_codes_is_the_originals():
    """Of ML45, in which it is not that of MT50 without some tasks."""
    codes = META_WORLD["ML45"][0]
    assert codes[24:27] == ("pick-out-of-hole", "push-back", "pick-place")
    assert codes[36:40] == ("push-wall", "push", "reach-wall", "reach")
    assert set(codes) == set(META_WORLD["MT50"][0]) - set(META_WORLD["ML45"][1])


def test_the_originals_mistake_can_be_asked_for():
    found, usual = rlenvs.benchmark("ML25", compat="metaworld"), rlenvs.benchmark("ML25")
    assert found.held_out == ("MetaWorldBasketball-v0", *usual.held_out)
    assert found.held_out[0] in found.ids
    assert "compat=metaworld" in found.name
    assert rlenvs.benchmark("MT10", compat="metaworld") == rlenvs.benchmark("MT10")
    for other in ("metaworlds", None, 3):
        with pytest.raises(ParameterError, match="'none' and 'metaworld'"):
            rlenvs.benchmark("ML25", compat=other)


@pytest.mark.parametrize(
    ("name", "tasks", "held_out"),
    [("MT10", 10, 0), ("MT25", 25, 0), ("MT50", 50, 0), ("ML10", 10, 5), ("ML25", 25, 4), ("ML45", 45, 5)],
)
def test_meta_worlds_benchmarks(name, tasks, held_out):
    found = BENCHMARKS[name]
    ids = (*found.ids, *found.held_out)
    assert (len(found.ids), len(found.held_out)) == (tasks, held_out)
    assert len(set(ids)) == tasks + held_out
    assert {f"rlenvs/{id}" for id in ids} <= set(rlenvs.list_envs())
    assert found.seeds == tuple(range(50))
    assert found.keywords == {"reward": "v2", "goal_visible": not held_out, "horizon": 500}
