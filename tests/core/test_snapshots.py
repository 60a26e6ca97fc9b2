"""Snapshots: what they hold, and what is refused, with nothing written."""

import copy
import importlib.util
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.places import ROOT
from toys import explosive, pursuit, thermostat

import rlenvs
from rlenvs.core.batch.kernel_batch import KernelBatch
from rlenvs.core.batch.simulate import rollout_plans
from rlenvs.core.batch.snapshots import Snapshot
from rlenvs.core.declare.errors import ActionError, SnapshotError
from rlenvs.core.declare.layout import Layout, i8
from rlenvs.core.forms.gym_env import Env
from rlenvs.core.forms.vector_env import VectorEnv

SPEC = thermostat.load()


def make(num_envs=3, spec=SPEC, **keywords):
    batch = KernelBatch(spec, num_envs, **keywords)
    batch.seed(range(num_envs))
    batch.reset()
    return batch


def everything(batch):
    """All that a refused call might have changed."""
    arrays = (batch.states, batch.param_rows, batch.observations, batch.rewards, batch.masks, batch.terminated)
    return [array.tobytes() for array in arrays]


def test_a_snapshot_keeps_the_time_limit_and_the_weights():
    short = make(1, horizon=10, weights={"energy": 3.0})
    for _ in range(4):
        short.step([1])
    other = make(2)
    other.set_state(short.get_state(), 1)
    for _ in range(6):
        assert not other.truncated.any()
        short.step([1])
        other.step([0, 1])
        assert other.rewards[1, 0] == short.rewards[0, 0]
    assert other.truncated[:, 0].tolist() == [False, True]


def test_all_worlds_are_restored_at_once():
    batch = make(randomize={"leak": (0.1, 0.2)})
    batch.step([0, 1, 1])
    arrays, before = batch.arrays(), everything(batch)
    other = make(randomize={"leak": (0.1, 0.2)})
    other.restore(arrays)
    assert everything(other) == before
    batch.step([1, 1, 0])
    other.step([1, 1, 0])
    assert everything(other) == everything(batch)
    for wrong in (make(2).arrays(), {}, {**arrays, "states": arrays["states"][:-1]}):
        with pytest.raises(SnapshotError, match="arrays belong to other worlds, or to a different number of worlds"):
            other.restore(wrong)
        assert everything(other) == everything(batch)


def test_a_state_from_outside_is_taken_in():
    for env in (Env(SPEC), VectorEnv(SPEC, 2)):
        env.reset(seed=0)
        env.step(np.ones(2, int) if isinstance(env, VectorEnv) else 1)
        env.batch.states["room"] = 15.0
        if isinstance(env, Env):
            observation, info = env.sync_from_state()
            assert (observation == env.batch.observations[0, 0]).all()
            assert info["reward_vector"].tolist() == [0.0] * len(SPEC.terms)
        else:
            env.batch.sync_from_state(np.arange(2))
            assert (env.current_infos()["reward_vector"] == 0.0).all()


def test_planning_from_a_snapshot_uses_its_time_limit():
    env, short = Env(SPEC), Env(SPEC, horizon=5)
    env.reset(seed=0)
    short.reset(seed=0)
    rollouts = rollout_plans(env, np.ones((2, 20), int), short.get_state())
    assert rollouts.lengths.tolist() == [5, 5]
    assert rollout_plans(env, np.ones((2, 20), int)).lengths.tolist() == [20, 20]


@given(data=st.data())
@settings(max_examples=200)
def test_a_damaged_snapshot_is_refused_and_changes_nothing(data):
    batch = make()
    batch.step([0, 1, 1])
    whole = batch.get_state(1)
    part = data.draw(st.sampled_from(["state", "params"]))
    raw = getattr(whole, part)
    damage = data.draw(
        st.one_of(
            st.integers(0, len(raw) - 1).map(lambda n: raw[:n]),
            st.just(raw * 2),
            st.binary(max_size=2 * len(raw)),
            st.binary(min_size=len(raw), max_size=len(raw)),
            st.integers(0, 8 * len(raw) - 1).map(lambda n: flipped(raw, n)),
            st.sampled_from([None, "text", 3, bytearray(raw)]),
        )
    )
    if damage == raw and isinstance(damage, bytes):
        return
    before = everything(batch)
    with pytest.raises(SnapshotError):
        batch.set_state(whole._replace(**{part: damage}), 1)
    assert everything(batch) == before


def flipped(raw, bit):
    changed = bytearray(raw)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


@pytest.mark.parametrize("given", [None, b"", (), ("a", b"", b"", 0), {"state": 1}, 3])
def test_what_is_no_snapshot_is_refused(given):
    with pytest.raises(SnapshotError, match="get_state"):
        make().set_state(given)


def test_a_damaged_snapshot_among_others_changes_nothing():
    envs = VectorEnv(SPEC, 3)
    envs.reset(seed=0)
    kept = envs.get_state()
    envs.step([1, 0, 1])
    before = everything(envs.batch)
    with pytest.raises(SnapshotError):
        envs.set_state([kept[0], kept[1]._replace(state=b""), kept[2]])
    assert everything(envs.batch) == before


def test_bytes_of_the_right_checksum_but_another_size_are_refused():
    batch, name = make(), make().setup.fingerprint
    for state, params in [(b"", b""), (b"a" * 3, b"b" * 5)]:
        with pytest.raises(SnapshotError, match="size"):
            batch.set_state(Snapshot.of(name, state, params))


def test_other_options_are_refused_by_name():
    odd = make(1, explosive.SPEC, odd_view=True)
    with pytest.raises(SnapshotError, match="odd_view"):
        make(1, explosive.SPEC).set_state(odd.get_state())


@pytest.mark.parametrize(
    "index", [-1, np.int64(-1), slice(None, None, -1), slice(1, None), slice(2, 0, -1), slice(0, 0)]
)
def test_any_index_that_a_list_takes(index):
    batch, expected = make(5), make(5)
    snapshot = make(1).get_state()
    chosen = np.atleast_1d(np.arange(5)[index])
    for i in chosen.tolist():
        expected.set_state(snapshot, i)
    batch.set_state(snapshot, index)
    assert everything(batch)[2:] == everything(expected)[2:]
    assert batch.digest() == expected.digest()
    if isinstance(index, (int, np.integer)):
        assert batch.get_state(index) == batch.get_state(4)


@pytest.mark.parametrize(("index", "error"), [(5, IndexError), (-6, IndexError), (1.0, TypeError), ("0", TypeError)])
def test_an_index_outside_is_refused(index, error):
    batch = make(5)
    before = everything(batch)
    with pytest.raises(error):
        batch.set_state(batch.get_state(), index)
    with pytest.raises(error):
        batch.get_state(index)
    assert everything(batch) == before


def test_copies_and_pickles_are_whole():
    snapshot = make().get_state(2)
    for again in (copy.deepcopy(snapshot), pickle.loads(pickle.dumps(snapshot)), Snapshot(*snapshot)):
        assert again == snapshot
        assert again.is_whole


# --- refused actions --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("action", [2, -1, 1.0, None, [0, 1], 99])
def test_a_refused_action_does_not_let_the_team_draw(action):
    env = Env(pursuit.SPEC, others="fickle")
    env.reset(seed=0)
    env.step(0)
    before = env.get_state()
    with pytest.raises(ActionError):
        env.step(action)
    assert env.get_state() == before


def test_plans_are_held_to_what_their_agents_can_choose():
    env = Env(pursuit.SPEC)
    env.reset(seed=0)
    plan = np.zeros((2, 3, 3), int)
    plan[:, :, 1] = 2  # a hare may stay
    rollout_plans(env, plan)
    plan[1, 2, 0] = 2  # the hunter may not
    with pytest.raises(ActionError, match=r"hunter: action 2 is not one of 0 \.\.\. 1"):
        rollout_plans(env, plan)


def test_advice_is_a_copy():
    batch = make(spec=pursuit.SPEC)
    advised, played = batch.expert_actions(), batch.player_actions("fickle")
    batch.actions[...] = 7
    assert advised.max() < 3
    assert played.max() < 3


# --- states that no world was in --------------------------------------------------------------------------------------

PLAIN = {"backend": "python"}


def forged(batch, part="state", **fields):
    """A snapshot of a world, with a right checksum over other numbers."""
    whole = batch.get_state()
    rows = np.frombuffer(bytearray(getattr(whole, part)), (batch.states if part == "state" else batch.param_rows).dtype)
    for name, value in fields.items():
        raw = rows[name].view(np.uint8) if rows[name].dtype == bool else rows[name]
        raw[...] = value
    parts = {"state": whole.state, "params": whole.params, part: rows.tobytes()}
    return Snapshot.of(whole.world, **parts)


@pytest.mark.parametrize(
    ("id", "fields", "message"),
    [
        ("Chain-v0", {"number": 10}, r"number = 10, outside \[0, 9\]"),
        ("Chain-v0", {"number": -(2**31)}, r"number = -2147483648, outside"),
        ("Chain-v0", {"elapsed": -1}, "elapsed = -1"),
        ("Chain-v0", {"elapsed": 10**6}, "beyond its time limit"),
        ("Chain-v0", {"rng": 0}, "rng = 0"),
        ("Chain-v0", {"over": 2}, r"over = 2, outside \[0, 1\]"),
        ("ConnectFour-v0", {"turn": 2}, r"turn = 2, outside \[-1, 1\]"),
        ("CartPole-v0", {"theta": np.nan}, "theta, which is not finite"),
        ("CartPole-v0", {"x": -np.inf}, "x, which is not finite"),
        ("SlidingTiles-v0", {"tile": 0}, "every tile exactly once"),
        ("MultiWalker-v0", {"contact_order": 0}, "order of contacts holds one twice"),
    ],
)
def test_states_that_no_world_was_in_are_refused(id, fields, message):
    batch = rlenvs.make_batch(id, 1, **PLAIN)
    batch.seed(0)
    batch.reset()
    before = everything(batch)
    with pytest.raises(SnapshotError, match=message):
        batch.set_state(forged(batch, **fields))
    assert everything(batch) == before
    arrays = batch.arrays()
    arrays["states"] = np.frombuffer(forged(batch, **fields).state, np.uint8)
    with pytest.raises(SnapshotError, match=message):
        batch.restore(arrays)
    assert everything(batch) == before
    batch.set_state(batch.get_state())


@pytest.mark.parametrize(
    ("id", "fields", "message"),
    [
        ("CartPole-v0", {"gravity": 1e9}, "gravity"),
        ("CartPole-v0", {"horizon": 0}, "time limit"),
        ("CartPole-v0", {"weights": np.nan}, "weights"),
        ("Chain-v0", {"follows": 2**40}, "different follows"),
    ],
)
def test_parameters_that_no_world_has_are_refused(id, fields, message):
    batch = rlenvs.make_batch(id, 1, **PLAIN)
    batch.seed(0)
    batch.reset()
    before = everything(batch)
    with pytest.raises(SnapshotError, match=message):
        batch.set_state(forged(batch, "params", **fields))
    assert everything(batch) == before


def test_ranges_do_not_reach_compiled_code():
    plain, ranged = (Layout("state", {"cell": kind, "cells": kind(3)}) for kind in (i8, i8.index_of("area")))
    assert plain.places == ranged.places
    assert plain.fields == ranged.fields


@pytest.mark.parametrize("id", ["Chain-v0", "MiniGridEmpty8x8-v0", "PathFinding-v0", "Highway-v0", "LunarLander-v0"])
def test_forged_states_are_refused_or_run(id):
    path = ROOT / "benchmarks" / "forged_states.py"
    spec = importlib.util.spec_from_file_location("forged_states", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    with np.errstate(all="ignore"):
        outcome, broken = module.attack(rlenvs.core.catalogue.registry.world_of(id), 60.0, seed=1, most=60)
    assert broken == {}
    assert outcome["refused"] > 0
