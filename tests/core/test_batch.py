import copy
import gc
import pickle
import weakref

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from hypothesis import given, settings
from hypothesis import strategies as st
from toys import thermostat

import rlenvs
from rlenvs.core import block, discrete, f8, flag, param, term, world
from rlenvs.core.batch.kernel_batch import KernelBatch
from rlenvs.core.declare.errors import ActionError, EpisodeOverError, ParameterError, SnapshotError

SPEC = thermostat.load()


def make(num_envs=4, seed=0, **keywords):
    batch = KernelBatch(SPEC, num_envs, **keywords)
    batch.seed([seed + i for i in range(num_envs)])
    batch.reset()
    return batch


def random_actions(batch, steps, seed=0):
    shape = (steps, batch.num_envs)
    return np.random.default_rng(seed).integers(0, 2, shape)


def test_arithmetic_of_the_example():
    batch = make(1, leak=0.1, power=2.0)
    _, state = batch.records(0)
    state["room"], before_outside = 10.0, state["outside"]
    batch.step([1])
    assert state["room"] == 10.0 + 0.1 * (state["outside"] - 10.0) + 2.0
    assert abs(state["outside"] - before_outside) < 2.0
    comfort = -abs(state["room"] - 20.0) / 10.0
    assert batch.rewards[0, 0] == pytest.approx(comfort - 0.1, abs=1e-15)


@given(seed=st.integers(0, 2**32), num_envs=st.integers(1, 9), index=st.integers(0, 8))
@settings(max_examples=25)
def test_world_i_depends_on_its_own_seed_alone(seed, num_envs, index):
    index %= num_envs
    many, one = make(num_envs, seed), make(1, seed + index)
    for actions in random_actions(many, 30, seed):
        many.step(actions)
        one.step(actions[index : index + 1])
        assert np.array_equal(many.observations[index], one.observations[0])
        assert np.array_equal(many.rewards[index], one.rewards[0])


@pytest.mark.parametrize("threads", [2, 3, 7])
def test_threads_change_nothing(threads):
    serial, parallel = make(101, threads=1), make(101, threads=threads)
    for actions in random_actions(serial, 250):
        serial.step(actions)
        parallel.step(actions)
    assert serial.digest() == parallel.digest()
    assert np.array_equal(serial.observations, parallel.observations)


def test_python_backend_is_the_same_program():
    compiled, plain = make(3), make(3, backend="python")
    for actions in random_actions(compiled, 20):
        compiled.step(actions)
        plain.step(actions)
    assert compiled.digest() == plain.digest()


def test_time_limit_truncates_and_never_terminates():
    batch = make(2, horizon=5, autoreset=AutoresetMode.DISABLED)
    for step in range(5):
        assert not batch.over.any()
        batch.step([0, 1])
        assert batch.truncated.all() == (step == 4)
        assert not batch.terminated.any()
    with pytest.raises(EpisodeOverError, match="environment 0: the episode is over"):
        batch.step([0, 1])
    batch.reset(np.array([True, False]))
    with pytest.raises(EpisodeOverError, match="environment 1"):
        batch.step([0, 1])


def test_next_step_autoreset_pays_nothing_for_the_reset():
    batch = make(1, horizon=3)
    for _ in range(3):
        batch.step([1])
    final = batch.observations.copy()
    batch.step([1])
    assert batch.rewards[0, 0] == 0
    assert not batch.truncated.any()
    assert not np.array_equal(final, batch.observations)
    batch.step([1])
    assert batch.rewards[0, 0] != 0


def test_same_step_autoreset_keeps_the_final_observation():
    stopped = make(1, horizon=3, autoreset=AutoresetMode.DISABLED)
    batch = make(1, horizon=3, autoreset=AutoresetMode.SAME_STEP)
    for _ in range(3):
        stopped.step([1])
        batch.step([1])
    assert batch.truncated.all()
    assert np.array_equal(batch.final_observations, stopped.observations)
    assert np.array_equal(batch.final_terms, stopped.terms)
    assert not np.array_equal(batch.observations, stopped.observations)


@pytest.mark.parametrize("autoreset", AutoresetMode)
def test_which_worlds_are_at_the_start_of_an_episode(autoreset):
    batch = make(2, horizon=3, autoreset=autoreset)
    assert batch.at_start.tolist() == [True, True]
    batch.step([0, 1])
    batch.reset(np.array([False, True]))
    kept = batch.at_start
    assert kept.tolist() == [False, True]
    batch.step([0, 1])
    batch.step([0, 1])
    assert batch.truncated[:, 0].tolist() == [True, False]
    assert batch.at_start.tolist() == [autoreset is AutoresetMode.SAME_STEP, False]
    assert kept.tolist() == [False, True]  # it is no view
    if autoreset is AutoresetMode.NEXT_STEP:
        batch.step([0, 1])
        assert batch.at_start.tolist() == [True, False]


def test_snapshot_and_the_same_actions_give_the_same_future():
    batch = make(3)
    plan = random_actions(batch, 40)
    for actions in plan[:20]:
        batch.step(actions)
    snapshots = [pickle.loads(pickle.dumps(batch.get_state(i))) for i in range(3)]
    observed = batch.observations.copy()
    for actions in plan[20:]:
        batch.step(actions)
    digest, final = batch.digest(), batch.observations.copy()
    for i, snapshot in enumerate(snapshots):
        batch.set_state(snapshot, i)
    assert np.array_equal(batch.observations, observed)
    for actions in plan[20:]:
        batch.step(actions)
    assert batch.digest() == digest
    assert np.array_equal(batch.observations, final)


def test_a_snapshot_brings_its_parameters():
    batch, other = make(2, leak=[0.02, 0.2]), make(2)
    other.set_state(batch.get_state(1), 0)
    assert other.get_params(0)["leak"] == 0.2
    assert other.get_params(1)["leak"] == 0.05


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda b: pickle.loads(pickle.dumps(b))])
def test_copies_are_exact_and_independent(duplicate):
    batch = make(3, leak=[0.02, 0.05, 0.2])
    plan = random_actions(batch, 20)
    for actions in plan[:10]:
        batch.step(actions)
    twin = duplicate(batch)
    before = batch.digest()
    for actions in plan[10:]:
        twin.step(actions)
    assert batch.digest() == before
    for actions in plan[10:]:
        batch.step(actions)
    assert batch.digest() == twin.digest()
    assert np.array_equal(batch.observations, twin.observations)


def test_a_copy_holds_the_outcome_of_the_last_step():
    batch = make(3)
    batch.step([1, 0, 1])
    twin = pickle.loads(pickle.dumps(batch))
    for name in ("rewards", "reward_vectors", "terms", "costs", "observations"):
        assert np.array_equal(getattr(twin, name), getattr(batch, name)), name
    assert twin.reward_vectors.any()


def test_contexts_one_per_world():
    leaks = np.array([0.01, 0.05, 0.2])
    batch = make(3, leak=leaks)
    for i, leak in enumerate(leaks):
        one = make(1, i, leak=float(leak))
        one.step([0])
        assert batch.get_params(i)["leak"] == leak
    batch.step([0, 0, 0])
    assert np.array_equal(batch.observations[2], one.observations[0])


def test_randomized_parameters_are_drawn_at_every_reset_and_seeded():
    first, second = (make(50, randomize={"leak": (0.02, 0.1)}, horizon=2) for _ in range(2))
    leaks = [first.get_params(i)["leak"] for i in range(50)]
    assert leaks == [second.get_params(i)["leak"] for i in range(50)]
    assert min(leaks) >= 0.02
    assert max(leaks) <= 0.1
    assert len(set(leaks)) == 50
    for _ in range(3):
        first.step(np.zeros(50, int))
    assert leaks != [first.get_params(i)["leak"] for i in range(50)]


def test_weights_change_the_scalar_reward_alone():
    plain, weighted = make(1), make(1, weights={"energy": 0.5})
    plain.step([1])
    weighted.step([1])
    assert weighted.rewards[0, 0] == pytest.approx(plain.rewards[0, 0] - 0.4)
    assert np.array_equal(plain.terms, weighted.terms)


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        ([0, 1, 0], r"shape \(3,\)"),
        ([0.0, 1.0], "float64"),
        (["on", "off"], "type <U3"),
        ([0, 2], "environment 1: action 2 is not one of 0 ... 1"),
        ([-1, 0], "environment 0: action -1"),
        (None, "object"),
        ([True, False], "bool"),
    ],
)
def test_bad_actions_are_refused_and_nothing_moves(actions, message):
    batch = make(2)
    before = batch.digest()
    with pytest.raises(ActionError, match=message):
        batch.step(actions)
    assert batch.digest() == before
    batch.step([0, 1])


def test_no_step_before_the_first_reset():
    with pytest.raises(EpisodeOverError, match="call reset"):
        KernelBatch(SPEC, 2).step([0, 0])


@pytest.mark.parametrize(
    "keywords",
    [
        {"num_envs": 0},
        {"num_envs": 2.0},
        {"num_envs": True},
        {"threads": 0},
        {"autoreset": "NextStep"},
        {"leak": 0.5},
        {"leak": float("nan")},
        {"leak": "much"},
        {"leak": [0.1, 0.1]},
        {"horizon": 0},
        {"level": "impossible"},
        {"weights": {"comfrt": 1.0}},
        {"weights": {"comfort": float("inf")}},
        {"randomize": {"leek": (0.1, 0.2)}},
        {"randomize": {"leak": (0.2, 0.1)}},
        {"randomize": {"leak": (0.1, 0.9)}},
        {"leek": 0.1},
        {"max_steps": 3},
        {"max_episode_steps": 3, "horizon": 4},
    ],
)
def test_bad_keywords_are_refused(keywords):
    with pytest.raises((ParameterError, ValueError)):
        KernelBatch(SPEC, **{"num_envs": 3, **keywords})


def test_unknown_keyword_names_the_nearest():
    with pytest.raises(TypeError, match="Did you mean 'leak'"):
        KernelBatch(SPEC, leek=0.1)
    with pytest.raises(TypeError, match="Use 'horizon'"):
        KernelBatch(SPEC, max_steps=3)


def test_a_foreign_snapshot_is_refused():
    hover = rlenvs.make_batch("QuadHover-v0")
    with pytest.raises(SnapshotError, match=r"QuadHover-v0/\w+ does not fit Thermostat-v0"):
        make(1).set_state(hover.get_state())


def test_memory_is_flat_over_resets():
    batch = make(64)
    size = batch.nbytes
    for _ in range(50):
        batch.reset()
    assert batch.nbytes == size


def test_declared_data_has_to_be_given():
    bare = world(
        "Bare-v0",
        doc="",
        state={},
        data={"map": f8(2)},
        observation={"x": block(low=0, high=1)},
        action=discrete("stay"),
        terms={"t": term(0, 1)},
        horizon=1,
    )
    with pytest.raises(ParameterError, match=r"declares the data \['map'\].*gives \[\]"):
        KernelBatch(bare)


CLASHES = {
    "weights": {"data": {"weights": f8(2)}},
    "horizon": {"params": {"horizon": param(1.0, 0.0, 2.0, "", "")}},
    "gain": {"params": {"gain": param(1.0, 0.0, 2.0, "", "")}, "options": {"gain": flag(True, "seen by kernels")}},
}


@pytest.mark.parametrize("taken", CLASHES)
def test_names_that_stand_for_two_things_are_refused(taken):
    """Kernels would read the one as the other, such as a world's own array as the weights of rewards."""
    words = rf"Clash-v0: (the core already keeps \['{taken}'\]|\['{taken}'\] declared twice)"
    with pytest.raises(ParameterError, match=words):
        world(
            "Clash-v0",
            doc="",
            state={},
            observation={"x": block(low=0, high=1)},
            action=discrete("stay"),
            terms={"t": term(0, 1)},
            horizon=1,
            **CLASHES[taken],
        )


def test_parameters_of_some_worlds():
    batch = make(3)
    batch.set_params({"leak": 0.1}, np.array([False, True, False]))
    assert [batch.get_params(i)["leak"] for i in range(3)] == [0.05, 0.1, 0.05]
    batch.set_params({"leak": [0.02, 0.03, 0.04]}, np.array([True, False, True]))
    assert [batch.get_params(i)["leak"] for i in range(3)] == [0.02, 0.1, 0.04]
    for bad in ({"leak": [0.1, 0.2]}, {"leak": 0.1, "power": 99.0}, {"leek": 0.1}):
        with pytest.raises(ParameterError):
            batch.set_params(bad)
    assert [batch.get_params(i)["leak"] for i in range(3)] == [0.02, 0.1, 0.04]


@pytest.mark.parametrize("backend", ["numba", "python"])
def test_a_clone_has_memory_of_its_own(backend):
    batch = rlenvs.make_batch("DeepSeaTreasure-v0", 2, backend=backend)
    batch.seed([0, 1])
    batch.reset()
    before = batch.digest()
    clone = batch.clone(3)
    clone.set_state(batch.get_state(1), slice(None))
    assert (clone.states == batch.states[1]).all()
    assert clone.setup is batch.setup
    clone.load_actions(np.ones(3, np.int64))
    clone.step_inplace()
    assert (clone.states["elapsed"] == 1).all()
    assert batch.digest() == before
    assert batch.clone().num_envs == 2
    with pytest.raises(ParameterError, match="num_envs=0"):
        batch.clone(0)


def test_written_states_are_seen_after_a_refresh():
    batch = rlenvs.make_batch("QuadHover-v0", 2)
    batch.seed([0, 1])
    batch.reset()
    batch.states[0] = batch.states[1]
    batch.sync_from_state(np.array([0]))
    assert (batch.observations[0] == batch.observations[1]).all()
    assert len(batch.param_rows) == 1
    batch.own_params()["mass"][0] = 0.03
    assert batch.param_rows["mass"].tolist() == [0.03, 0.027]


def test_memory_is_given_back_as_soon_as_nobody_has_the_batch():
    """Its parts know arrays, not the batch, so it takes no garbage collector to find it."""
    gc.disable()
    try:
        batch = make(backend="python")
        batch.step(np.zeros(4, np.int64))
        batch.expert_actions()
        gone = weakref.ref(batch), weakref.ref(batch.states)
        del batch
        assert [each() for each in gone] == [None, None]
    finally:
        gc.enable()
