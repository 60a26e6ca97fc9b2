"""Benchmarks of several tasks: both success rates, one-hot codes, the protocol, refusals."""

import numpy as np
import pytest

import rlenvs
from rlenvs.agents.benchmarks import BENCHMARKS, Benchmark
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
    assert (result.ever, result.at_end, result.half_width) == (1.0, 1.0, 0.0)
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
    assert result.protocol["seeds"] == 2
    assert result.tasks[TWO[0]].score is None  # the reference scores are of the reward v2
    assert "reward=v1" in str(result)


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


def test_the_originals_mistake_can_be_asked_for():
    found, usual = rlenvs.benchmark("ML25", compat="metaworld"), rlenvs.benchmark("ML25")
    assert found.held_out == ("MetaWorldBasketball-v0", *usual.held_out)
    assert found.held_out[0] in found.ids
    assert "compat=metaworld" in found.name
    assert rlenvs.benchmark("MT10", compat="metaworld") is rlenvs.benchmark("MT10")
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
