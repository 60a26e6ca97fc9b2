"""One time limit, under several names, in every form: the world's own."""

import copy
import functools
import pickle

import gymnasium
import numpy as np
import pytest
from gymnasium.envs.registration import EnvSpec
from gymnasium.vector import AsyncVectorEnv
from gymnasium.wrappers import ClipReward, TimeLimit

import rlenvs
from rlenvs.core.declare.errors import ParameterError
from rlenvs.core.forms.time_limit import LimitSpec

IDS = ("rlenvs/QuadHover-v0", "rlenvs/DeepSeaTreasure-v0", "rlenvs/mo-DeepSeaTreasure-v0")
HOVER, SEA, MO_SEA = IDS
OWN = {HOVER: 240, SEA: 100, MO_SEA: 100}
UP = {HOVER: np.zeros(4, np.float32), SEA: 0, MO_SEA: 0}  # against the border of the sea: nothing ends
WISHES = ({"horizon": 1000}, {"max_episode_steps": 1000}, {"max_episode_steps": 1000, "horizon": 1000})


def limit_of(env):
    return env.unwrapped.batch.setup.horizon


def stacked_in(env):
    found = []
    while env is not env.unwrapped:
        found.append(type(env).__name__)
        env = env.env
    return found


@pytest.mark.parametrize("id", IDS)
@pytest.mark.parametrize("wish", [{}, {"max_episode_steps": -1}, *WISHES], ids=str)
def test_every_form_has_one_limit_and_shows_it(id, wish):
    env = gymnasium.make(id, **wish)
    limit = 2**62 if -1 in wish.values() else 1000 if wish else OWN[id]  # -1: none
    shown = None if -1 in wish.values() else limit
    assert (limit_of(env), env.spec.max_episode_steps) == (limit, shown)
    assert stacked_in(env) == []
    native = gymnasium.make_vec(id, num_envs=2, **wish)
    assert (limit_of(native), native.spec.max_episode_steps) == (limit, shown)
    assert limit_of(rlenvs.make_vec(id, 2, **wish)) == limit
    if id != MO_SEA:  # gymnasium's own vector forms have no room for a vector reward
        sync = gymnasium.make_vec(id, num_envs=2, vectorization_mode="sync", **wish)
        assert {limit_of(one) for one in sync.envs} == {limit}


@pytest.mark.parametrize("wish", WISHES, ids=str)
def test_forms_for_teams_and_learners_take_the_same_names(wish):
    assert rlenvs.make_batch("DeepSeaTreasure-v0", **wish).setup.horizon == 1000
    assert rlenvs.parallel_env("ParticleSimple-v0", **wish).batch.setup.horizon == 1000
    assert rlenvs.parallel_env("ParticleSimple-v0", max_cycles=1000).batch.setup.horizon == 1000
    assert rlenvs.text_env("Battle-v0", **wish).numeric.batch.setup.horizon == 1000
    assert rlenvs.sb3_vec_env("DeepSeaTreasure-v0", 2, **wish).batch.setup.horizon == 1000


@pytest.mark.parametrize("make", [gymnasium.make, functools.partial(gymnasium.make_vec, num_envs=2)])
def test_names_that_differ_are_refused(make):
    with pytest.raises(ParameterError, match=r"horizon=3 and max_episode_steps=4 .*give one of them"):
        make(SEA, horizon=3, max_episode_steps=4)


def test_the_limit_follows_from_options_unless_it_is_wished():
    env = gymnasium.make(HOVER, control_hz=60)
    assert env.spec.max_episode_steps == limit_of(env) != OWN[HOVER]
    slower = gymnasium.make(env.spec, control_hz=30)
    assert limit_of(slower) == OWN[HOVER]
    assert limit_of(gymnasium.make_vec(env.spec, num_envs=2, control_hz=30)) == OWN[HOVER]
    assert limit_of(gymnasium.make(HOVER, control_hz=60, max_episode_steps=50)) == 50
    level = next(iter(rlenvs.make_batch(HOVER).world.levels))
    assert limit_of(gymnasium.make(HOVER, level=level, max_episode_steps=50)) == 50


@pytest.mark.parametrize("id", IDS)
@pytest.mark.parametrize("wish", [{}, {"horizon": 7}, {"max_episode_steps": 7}], ids=str)
def test_specs_make_the_same_again(id, wish):
    env = gymnasium.make(id, **wish)
    spec, limit = env.spec, limit_of(env)
    text = spec.to_json()
    copies = copy.deepcopy(spec), pickle.loads(pickle.dumps(spec)), LimitSpec.from_json(text), EnvSpec.from_json(text)
    for same in (spec, *copies):
        assert same == spec
        again = gymnasium.make(same)
        assert limit_of(again) == again.spec.max_episode_steps == limit
        assert stacked_in(again) == []
        if isinstance(same, LimitSpec):
            assert limit_of(gymnasium.make_vec(same, num_envs=2)) == limit
        elif id != MO_SEA:
            envs = gymnasium.make_vec(same, num_envs=2, vectorization_mode="sync")
            assert [limit_of(one) for one in envs.envs] == [limit] * 2
    assert limit_of(gymnasium.make(spec.id, **{k: v for k, v in spec.kwargs.items() if k != "world"})) == limit
    name = next(iter(wish), "horizon")
    assert limit_of(gymnasium.make(spec, **{name: 9})) == 9
    assert gymnasium.make(id, horizon=8).spec != gymnasium.make(id, horizon=9).spec


def test_wrapped_specs_make_the_same_again():
    env = ClipReward(gymnasium.make(HOVER, max_episode_steps=7, disable_env_checker=False), -1.0, 1.0)
    for spec in (env.spec, EnvSpec.from_json(env.spec.to_json())):
        again = gymnasium.make(spec)
        assert stacked_in(again) == stacked_in(env) == ["ClipReward", "PassiveEnvChecker"]
        assert limit_of(again) == again.spec.max_episode_steps == 7


@pytest.mark.parametrize("id", IDS)
@pytest.mark.parametrize("wish", [{}, {"horizon": 7}, {"max_episode_steps": 7}], ids=str)
@pytest.mark.parametrize("load", [None, LimitSpec.from_json, EnvSpec.from_json])
def test_another_limit_in_a_spec_is_the_one(id, wish, load):
    for change in ("in the spec", "in the call"):
        made = gymnasium.make(id, **wish).spec
        spec = load(made.to_json()) if load else made
        if change == "in the spec":
            spec.max_episode_steps = 9
            env = gymnasium.make(spec)
        else:
            env = gymnasium.make(spec, max_episode_steps=9)
        assert limit_of(env) == env.spec.max_episode_steps == 9
        assert stacked_in(env) == []
        env.reset(seed=0)
        for _ in range(4):
            env.step(UP[id])
        snapshot = env.unwrapped.get_state()
        env.step(UP[id])
        env.unwrapped.set_state(snapshot)
        assert steps_left(functools.partial(env.step, UP[id])) == 5


@pytest.mark.parametrize("id", IDS)
def test_registered_specs_show_the_limit(id):
    assert gymnasium.spec(id).max_episode_steps == OWN[id]
    assert gymnasium.spec(id).kwargs.keys() <= {"world", "vector_reward"}


def test_specs_of_vector_forms_show_the_limit():
    for mode in ("sync", "vector_entry_point"):
        for wish in WISHES:
            envs = gymnasium.make_vec(SEA, num_envs=2, vectorization_mode=mode, **wish)
            assert envs.spec.max_episode_steps == 1000
            again = gymnasium.make_vec(EnvSpec.from_json(envs.spec.to_json()))
            assert again.spec.max_episode_steps == 1000
            assert again.num_envs == 2
        assert gymnasium.make_vec(SEA, num_envs=2, vectorization_mode=mode).spec.max_episode_steps == OWN[SEA]
        faster = gymnasium.make_vec(HOVER, num_envs=2, vectorization_mode=mode, control_hz=60)
        assert faster.spec.max_episode_steps == 2 * OWN[HOVER]


def test_a_wrapper_put_on_by_hand_stays():
    assert stacked_in(TimeLimit(gymnasium.make(HOVER), 5)) == ["TimeLimit"]


def steps_left(step, at_most=2000):
    """How many steps until the time is over."""
    for count in range(1, at_most + 1):
        _, _, terminated, truncated, _ = step()
        assert not np.any(terminated)
        if np.any(truncated):
            return count
    raise AssertionError("the time never ends")


@pytest.mark.parametrize("id", IDS)
@pytest.mark.parametrize("name", ["horizon", "max_episode_steps"])
def test_a_restored_snapshot_has_the_time_that_was_left(id, name):
    env = gymnasium.make(id, **{name: 20})
    step = functools.partial(env.step, UP[id])
    env.reset(seed=0)
    for _ in range(6):
        step()
    snapshot = env.unwrapped.get_state()
    assert steps_left(step) == 14
    env.unwrapped.set_state(snapshot)
    assert steps_left(step) == 14
    env.reset()
    for _ in range(2):
        step()
    env.unwrapped.set_state(snapshot)
    assert steps_left(step) == 14


@pytest.mark.parametrize("mode", ["sync", "vector_entry_point"])
def test_a_restored_snapshot_in_vector_forms(mode):
    envs = gymnasium.make_vec(SEA, num_envs=2, vectorization_mode=mode, max_episode_steps=20)
    step = functools.partial(envs.step, np.zeros(2, np.int64))

    def restore():
        if mode == "sync":
            for env, snapshot in zip(envs.envs, snapshots, strict=True):
                env.unwrapped.set_state(snapshot)
        else:
            envs.set_state(snapshots)

    envs.reset(seed=0)
    for _ in range(6):
        step()
    snapshots = [env.unwrapped.get_state() for env in envs.envs] if mode == "sync" else envs.get_state()
    for _ in range(3):
        step()
    restore()
    assert steps_left(step) == 14


def test_worker_processes():
    make = functools.partial(gymnasium.make, f"rlenvs:{SEA}", max_episode_steps=4)
    for envs in (
        AsyncVectorEnv([make, make], context="spawn"),
        gymnasium.make_vec(SEA, num_envs=2, vectorization_mode="async", max_episode_steps=4),
    ):
        try:
            envs.reset(seed=0)
            assert steps_left(functools.partial(envs.step, np.zeros(2, np.int64))) == 4
        finally:
            envs.close()
