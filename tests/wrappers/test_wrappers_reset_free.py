"""ResetFree: phases that alternate, interventions, judges of phases, all forms."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.wrapper_helpers import assert_forms_agree

import rlenvs
from rlenvs.core.check.playing import difference
from rlenvs.core.declare.errors import ParameterError
from rlenvs.wrappers.forms import wrap
from rlenvs.wrappers.reset_free import ResetFree

QUAD, TEAM, REACH = "QuadHover-v0", "ParticleSpread-v0", "PandaReach-v0"
TUMBLE = np.array([1, -1, -1, 1], np.float32)  # ends an episode of QuadHover in a crash


def body(env):
    """The parts of the arm's state that move."""
    state = env.unwrapped.batch.states[0]
    return {name: state[name].copy() for name in ("qpos", "qvel") if name in state.dtype.names} or bytes(state)


def test_phases_alternate_and_the_world_stays_where_it_is():
    pytest.importorskip("mujoco")
    env = wrap(rlenvs.make(REACH), ResetFree(steps=6))
    env.action_space.seed(0)
    _, info = env.reset(seed=3)
    home = env.unwrapped.batch.states["achieved"][0].copy()
    goals = [env.unwrapped.batch.states["desired"][0].copy()]
    assert (info["phase"], info["interventions"], info["steps_since_reset"]) == (0, 0, 0)
    total = 0
    for phase in (1, 0, 1, 0):
        made, terminated, truncated = 0, False, False
        while not (terminated or truncated):
            seen, _, terminated, truncated, info = env.step(env.action_space.sample())
            made += 1
        total += made
        assert truncated == (made == 6) != terminated
        before, end = body(env), env.unwrapped.batch.states["achieved"][0].copy()
        seen, info = env.reset()
        assert not difference(before, body(env))
        assert np.array_equal(env.unwrapped.batch.states["achieved"][0], end)
        assert env.unwrapped.batch.states["elapsed"][0] == 0
        assert env.observation_space.contains(seen)
        assert (info["phase"], info["interventions"], info["steps_since_reset"]) == (phase, 0, total)
        goals.append(env.unwrapped.batch.states["desired"][0].copy())
        assert np.array_equal(goals[-1], home) == (phase == 1)
        assert np.array_equal(seen[-3:], goals[-1])
        assert np.array_equal(env.unwrapped.batch.states["mocap_pos"][0, 1].astype(np.float32), goals[-1])
    assert len({tuple(goal) for goal in goals[::2]}) == 3  # drawn anew


@pytest.mark.parametrize("ends_at_success", [False, True])
def test_success_ends_a_phase_and_the_way_back_begins(ends_at_success):
    pytest.importorskip("mujoco")
    env = wrap(rlenvs.make(REACH, ends_at_success=ends_at_success), ResetFree())
    _, info = env.reset(seed=0)
    phases = []
    for _ in range(6):
        over, steps = False, 0
        while not over:
            _, _, terminated, truncated, last = env.step(env.expert_action())
            over, steps = terminated or truncated, steps + 1
        phases.append((info["phase"], terminated, last["is_success"], steps < 50))
        _, info = env.reset()
    assert phases == [(k % 2, True, True, True) for k in range(6)]
    assert info["interventions"] == 0
    patient = wrap(rlenvs.make(REACH), ResetFree(steps=20, switch="time"))
    patient.reset(seed=0)
    ends = [patient.step(patient.expert_action())[2:4] for _ in range(20)]
    assert ends == [(False, False)] * 19 + [(False, True)]


def test_fixed_goals():
    pytest.importorskip("mujoco")
    there, back = [0.1, 0.1, 0.2], [0.0, -0.1, 0.15]
    env = wrap(rlenvs.make(REACH), ResetFree(forward=there, backward=back, steps=2, switch="time"))
    for phase in (0, 1, 0):
        seen, info = env.reset(seed=1 if phase == 0 and not env._ready else None)
        assert info["phase"] == phase
        assert np.allclose(seen[-3:], back if phase else there)
        for _ in range(2):
            env.step(np.zeros(3, np.float32))


def test_crashes_are_interventions():
    env = wrap(rlenvs.make(QUAD), ResetFree(backward=None))
    env.reset(seed=0)
    crashes, steps = 0, 0
    while crashes < 3:
        _, _, terminated, truncated, info = env.step(TUMBLE)
        steps += 1
        assert info["interventions"] == crashes
        assert info["steps_since_reset"] == steps
        if terminated:
            assert not truncated
            crashes, steps = crashes + 1, 0
            _, info = env.reset()
            assert info["interventions"] == crashes
            assert info["steps_since_reset"] == 0
            assert info["phase"] == 0
    assert env.reset(seed=0)[1]["interventions"] == 0


def test_the_real_reset_is_the_worlds_own():
    free, plain = wrap(rlenvs.make(QUAD), ResetFree(backward=None)), rlenvs.make(QUAD)
    for seed in (5, None):
        assert np.array_equal(free.reset(seed=seed)[0], plain.reset(seed=seed)[0])
        over = False
        while not over:
            ours, theirs = (env.step(TUMBLE) for env in (free, plain))
            over = ours[2]
            assert not difference(list(ours[:4]), list(theirs[:4]))


@given(every=st.integers(3, 20), steps=st.integers(2, 9), seed=st.integers(0, 100))
@settings(max_examples=15, deadline=None)
def test_manual_resets_come_in_time(every, steps, seed):
    wrapper = ResetFree(backward=None, steps=steps, manual_reset_every=every, switch="time")
    env = wrap(rlenvs.make_vec(QUAD, 2, autoreset_mode="SAME_STEP"), wrapper)
    _, info = env.reset(seed=seed)
    since, made, count = 0, 0, 0
    for _ in range(40):
        *_, terminated, truncated, info = env.step(env.expert_actions())
        since, made = since + 1, made + 1
        assert not terminated.any()
        assert truncated.all() == truncated.any() == (made == steps or since == every)
        if since == every:
            since, made, count = 0, 0, count + 1
        made = 0 if made == steps else made
        assert info["interventions"].tolist() == [count] * 2
        assert info["steps_since_reset"].tolist() == [since] * 2
        assert info["phase"].tolist() == [0, 0]


def high(observations):
    return observations[:, 2] * 2.0, observations[:, 2] > 0.9


def never(observations):
    return np.ones(len(observations)), np.zeros(len(observations), np.bool_)


def test_functions_judge_phases():
    env = wrap(rlenvs.make(QUAD), ResetFree(backward=never, steps=3, switch="time"))
    plain = rlenvs.make(QUAD)
    env.reset(seed=0), plain.reset(seed=0)
    action = np.zeros(4, np.float32)
    for _ in range(3):
        assert env.step(action)[1] == plain.step(action)[1]
    assert env.reset()[1]["phase"] == 1
    assert [env.step(action)[1] for _ in range(3)] == [1.0] * 3
    reached = wrap(rlenvs.make(QUAD), ResetFree(forward="test_wrappers_reset_free:sure", backward=None))
    reached.reset(seed=0)
    _, reward, terminated, truncated, _ = reached.step(action)
    assert (reward, terminated, truncated) == (5.0, True, False)
    reached.reset()
    assert reached.unwrapped.batch.states["elapsed"][0] == 0
    assert reached.wrappers[0].interventions[0] == 0


def sure(observations):
    return np.full(len(observations), 5.0), np.ones(len(observations), np.bool_)


def test_who_is_stuck_is_put_back():
    env = wrap(rlenvs.make(QUAD), ResetFree(backward=None, stuck=lambda o: np.ones(len(o), np.bool_)))
    env.reset(seed=0)
    _, _, terminated, truncated, _ = env.step(np.zeros(4, np.float32))
    assert truncated
    assert not terminated
    assert env.reset()[1]["interventions"] == 1


def test_parameters_drawn_at_real_resets_stay():
    env = wrap(rlenvs.make(QUAD, randomize={"mass": (0.02, 0.04)}), ResetFree(backward=None, steps=2, switch="time"))
    env.reset(seed=0)
    mass = env.unwrapped.batch.get_params()["mass"]
    for _ in range(2):
        env.step(np.zeros(4, np.float32))
    env.reset()
    assert env.unwrapped.batch.get_params()["mass"] == mass
    env.reset(seed=1)
    assert env.unwrapped.batch.get_params()["mass"] != mass


@pytest.mark.parametrize(
    ("id", "wrapper", "keywords"),
    [
        (QUAD, ResetFree(backward=None, manual_reset_every=17), {}),
        (QUAD, ResetFree(backward="test_wrappers_reset_free:high", steps=5), {}),
        (REACH, ResetFree(steps=5, manual_reset_every=17), {}),
        (REACH, ResetFree(steps=5), {"form": "goal"}),
    ],
)
def test_reset_free_is_the_same_in_single_and_vector_forms(id, wrapper, keywords):
    pytest.importorskip("mujoco")
    assert_forms_agree(id, wrapper, **keywords)


@pytest.mark.parametrize(
    ("id", "wrapper", "words"),
    [
        (QUAD, ResetFree(), ["backward='home'", "no", "goals"]),
        (QUAD, ResetFree([1.0], None), ["forward=[1.0]", "goals"]),
        (REACH, ResetFree([1.0]), ["forward=[1.0]", "3 numbers"]),
        (REACH, ResetFree("home"), ["forward='home'"]),
        (REACH, ResetFree(backward=[0.0, 0.0, float("inf")]), ["backward", "finite"]),
        (REACH, ResetFree(steps=51), ["steps=51", "50"]),
        (REACH, ResetFree(steps=0), ["steps=0"]),
        (REACH, ResetFree(manual_reset_every=0), ["manual_reset_every=0"]),
        (REACH, ResetFree(switch="never"), ["switch='never'", "success"]),
        (REACH, ResetFree(stuck=1), ["stuck=1", "function"]),
        (TEAM, ResetFree(backward=None), ["agents"]),
        ("mo-SafePointGoal-v0", ResetFree(never, None), ["vector rewards"]),
    ],
)
def test_impossible_reset_free_settings(id, wrapper, words):
    pytest.importorskip("mujoco")
    with pytest.raises(ParameterError) as error:
        wrap(rlenvs.make(id), wrapper)
    assert all(word in str(error.value) for word in words)
