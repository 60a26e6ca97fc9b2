"""Choices that the action mask forbids, in every form: counted, or refused before anything moves."""

import functools
import pickle

import numpy as np
import pytest
from toys import countdown
from toys.traffic_light import SPEC

import rlenvs
from rlenvs.core.declare.errors import ActionError, EpisodeOverError, ParameterError
from rlenvs.core.forms.gym_env import Env
from rlenvs.core.forms.parallel_env import ParallelEnv
from rlenvs.core.forms.vector_env import VectorEnv
from rlenvs.integrations.sb3 import SB3VecEnv, as_sb3
from rlenvs.wrappers import ActionRepeat

WAIT, GO = 0, 2
MASKED = ["Battle-v0", "DeepSeaTreasure-v0", "Generals-v0", "PathFinding-v0"]
FORMS = {
    "env": functools.partial(Env, SPEC, others="idle"),
    "vector": functools.partial(VectorEnv, SPEC, 2, others="idle"),
    "parallel": functools.partial(ParallelEnv, SPEC),
    "sb3": functools.partial(SB3VecEnv, SPEC, 2),
}


def begin(env, form):
    return env.reset() if form == "sb3" else env.reset(seed=0)


def act(env, form, choice):
    """One step in which everybody makes the same choice; the infos, by row or agent."""
    if form == "env":
        return [env.step(choice)[4]]
    if form == "parallel":
        return list(env.step(dict.fromkeys(env.agents, choice))[4].values())
    if form == "sb3":
        return env.step(np.full(4, choice))[3]
    infos = env.step(np.full(2, choice))[4]
    return [{"illegal_actions": count} for count in infos["illegal_actions"]]


@pytest.mark.parametrize("form", ["env", "vector", "parallel"])
def test_counts_grow_with_illegal_choices_alone(form):
    env = FORMS[form]()
    infos = begin(env, form)[1]
    assert np.all(infos["agent_0"]["illegal_actions"] == 0 if form == "parallel" else infos["illegal_actions"] == 0)
    for choice, count in ((GO, 0), (GO, 1), (GO, 1), (WAIT, 1), (GO, 1), (GO, 2)):
        told = act(env, form, choice)
        assert [info["illegal_actions"] for info in told] == [count] * len(told)
    infos = begin(env, form)[1]
    assert np.all(infos["agent_0"]["illegal_actions"] == 0 if form == "parallel" else infos["illegal_actions"] == 0)


def test_what_is_illegal_is_played_as_the_world_says():
    env = FORMS["env"]()
    begin(env, "env")
    assert [env.step(GO)[1] for _ in range(4)] == [1.0] * 4


@pytest.mark.parametrize("form", FORMS)
def test_refused(form):
    env = FORMS[form](illegal="error")
    begin(env, form)
    act(env, form, GO)
    batch = env.batch
    before = [batch.get_state(i) for i in range(batch.num_envs)]
    with pytest.raises(ActionError, match=r"TrafficLight-v0.*agent_0: .*forbids choice 2 now; it allows 0, 1 \("):
        act(env, form, GO)
    assert [batch.get_state(i) for i in range(batch.num_envs)] == before
    with pytest.raises(ActionError, match="is not one of 0 "):
        act(env, form, 3)
    with pytest.raises(ActionError, match="is not one of 0 "):
        act(env, form, -1)
    act(env, form, WAIT)
    act(env, form, GO)


@pytest.mark.parametrize("form", FORMS)
def test_refused_for_another_reason_is_not_counted(form):
    env = FORMS[form]()
    begin(env, form)
    act(env, form, GO)
    batch = env.batch
    before = [batch.get_state(i) for i in range(batch.num_envs)]
    wrong = {
        "env": None,
        "vector": np.array([GO, 3]),
        "parallel": {"agent_0": GO, "agent_1": 3},
        "sb3": np.array([GO, GO, GO, -1]),
    }[form]
    if wrong is None:
        return
    with pytest.raises(ActionError, match="is not one of"):
        env.step(wrong)
    assert [batch.get_state(i) for i in range(batch.num_envs)] == before


def test_the_end_comes_before_the_mask():
    env = FORMS["env"](illegal="error", horizon=1)
    env.reset(seed=0)
    env.step(GO)
    with pytest.raises(EpisodeOverError):
        env.step(GO)


def test_choices_of_the_team_do_not_count():
    env = Env(SPEC, others="careless", illegal="error")
    env.reset(seed=0)
    for _ in range(4):
        info = env.step(WAIT)[4]
    assert info["illegal_actions"] == 0


@pytest.mark.parametrize("mode", ["NEXT_STEP", "SAME_STEP", "DISABLED"])
def test_autoreset(mode):
    envs = VectorEnv(SPEC, 2, others="idle", autoreset_mode=mode, horizon=4)
    envs.reset(seed=0)
    choices = [np.array([GO, WAIT])] * 4
    for actions in choices:
        _, _, _, truncated, infos = envs.step(actions)
    assert truncated.all()
    if mode == "SAME_STEP":
        assert infos["final_info"]["illegal_actions"].tolist() == [2, 0]
        assert infos["final_info"]["_illegal_actions"].tolist() == [True, True]
        assert infos["illegal_actions"].tolist() == [0, 0]
        return
    assert infos["illegal_actions"].tolist() == [2, 0]
    if mode == "NEXT_STEP":  # the actions of the step that resets mean nothing
        assert envs.step(np.array([GO, GO]))[4]["illegal_actions"].tolist() == [0, 0]
        strict = VectorEnv(SPEC, 2, others="idle", illegal="error", horizon=2)
        strict.reset(seed=0)
        strict.step(np.array([GO, GO]))
        strict.step(np.array([WAIT, WAIT]))
        strict.step(np.array([GO, GO]))
    else:
        envs.reset(options={"reset_mask": np.array([True, False])})
        assert envs.batch.get_state(0) != envs.batch.get_state(1)


def test_rows_of_stable_baselines():
    """Agent 1 ends after four steps; its row counts no longer then."""
    venv = FORMS["sb3"]()
    begin(venv, "sb3")
    told = [act(venv, "sb3", GO) for _ in range(6)]
    assert [info.get("illegal_actions") for info in told[3]] == [None, 2, None, 2]
    assert [info.get("illegal_actions") for info in told[5]] == [3, None, 3, None]
    assert all("illegal_actions" not in info for step in (0, 1, 2, 4) for info in told[step])


def test_the_finished_do_not_count():
    env = ParallelEnv(SPEC, finished="keep", illegal="error")
    env.reset(seed=0)
    for choice in (GO, WAIT, GO, WAIT, GO):
        infos = env.step({"agent_0": choice, "agent_1": choice})[4]
    infos = env.step({"agent_0": WAIT, "agent_1": GO})[4]
    assert [info["illegal_actions"] for info in infos.values()] == [0, 0]


def test_snapshots_and_copies_have_the_counts():
    env = FORMS["env"]()
    env.reset(seed=0)
    env.step(GO)
    env.step(GO)
    snapshot, copy = env.get_state(), pickle.loads(pickle.dumps(env))
    for other in (copy, FORMS["env"]()):
        other.reset(seed=1) if other is not copy else None
        other.set_state(snapshot)
        other.step(WAIT)
        assert other.step(GO)[4]["illegal_actions"] == 2
    assert env.step(WAIT)[4]["illegal_actions"] == 1


def test_wrappers_above():
    for form in ("env", "vector", "parallel"):
        env = rlenvs.wrap(FORMS[form](), ActionRepeat(1))
        begin(env, form)
        for _ in range(2):
            told = act(env, form, GO)
        assert {int(info["illegal_actions"]) for info in told} == {1}
        strict = rlenvs.wrap(FORMS[form](illegal="error"), ActionRepeat(1))
        begin(strict, form)
        act(strict, form, GO)
        with pytest.raises(ActionError, match="forbids choice 2"):
            act(strict, form, GO)
    envs = FORMS["vector"](autoreset_mode="SAME_STEP", horizon=2)
    venv = as_sb3(rlenvs.wrap(envs, ActionRepeat(1)))
    venv.reset()
    venv.step(np.array([GO, GO]))
    assert [info["illegal_actions"] for info in venv.step(np.array([GO, WAIT]))[3]] == [1, 0]


def test_worlds_without_masks_say_nothing():
    env = ParallelEnv(countdown.SPEC, illegal="error")
    assert "illegal_actions" not in env.reset(seed=0)[1]["agent_0"]
    with pytest.raises(ParameterError, match="illegal='forbid' is not one of 'count', 'error'"):
        ParallelEnv(countdown.SPEC, illegal="forbid")


@pytest.mark.parametrize("id", MASKED)
def test_worlds_with_masks(id):
    """Legal choices are never refused; the first illegal one is."""
    env, strict = rlenvs.make(id), rlenvs.make(id, illegal="error")
    rng, counted = np.random.default_rng(0), 0
    mask = env.reset(seed=0)[1]["action_mask"]
    strict.reset(seed=0)
    for _ in range(30):
        illegal = np.flatnonzero(mask == 0)
        if len(illegal):
            choice = int(rng.choice(illegal))
            with pytest.raises(ActionError, match=f"forbids choice {choice} now"):
                strict.step(choice)
        choice = int(rng.choice(np.flatnonzero(mask)))
        one, two = env.step(choice), strict.step(choice)
        assert np.array_equal(one[0], two[0])
        mask, counted = one[4]["action_mask"], counted + len(illegal)
        if one[2] or one[3]:
            break
    assert counted
    assert one[4]["illegal_actions"] == two[4]["illegal_actions"] == 0
