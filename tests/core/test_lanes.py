"""Several worlds at a time give what one after the other gives, to the bit."""

import copy
import pickle

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from hypothesis import given, settings
from hypothesis import strategies as st
from toys import crossroads, explosive

from rlenvs.core.batch import loops
from rlenvs.core.batch.kernel_batch import KernelBatch
from rlenvs.core.catalogue import registry
from rlenvs.core.compiler.lanes.blocks import WIDTH
from rlenvs.core.compiler.lanes.kernels import LaneKernels
from rlenvs.core.compiler.lanes.trees import LaneError

MODES = [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP]


class OneByOne(KernelBatch):
    """The same without lanes."""

    in_lanes = False


@pytest.fixture(autouse=True)
def few_are_enough(monkeypatch):
    monkeypatch.setattr(loops, "LEAST_IN_LANES", WIDTH)


def twins(world, count, seed=0, **choices):
    """A batch in lanes, and one that steps world after world, both at the start of an episode."""
    made = KernelBatch(world, count, **choices), OneByOne(world, count, **choices)
    for batch in made:
        batch.seed(seed)
        batch.reset()
    return made


def random_actions(batch, rng):
    if batch.setup.continuous:
        low, high = batch.setup.action_scaling[2:]
        return rng.uniform(low, high, batch.actions.shape)
    return rng.integers(0, batch.setup.own_choices.reshape(batch.actions.shape[1:]), batch.actions.shape)


def public_arrays(batch):
    hidden = ("_split", "_split_masks")  # room for intermediate results
    return {name: rows for name, rows in batch.loops.table.rows.items() if name not in hidden and rows.size}


def assert_same(one, other):
    for name, array in public_arrays(one).items():
        assert array.tobytes() == other.loops.table.rows[name].tobytes(), name


def play(lanes, alone, steps, rng, sleepy=False):
    """Step both with the same random actions, and compare everything after every step."""
    assert lanes.in_lanes
    for _ in range(steps):
        actions = random_actions(lanes, rng)
        only = rng.random(lanes.num_envs) < 0.8 if sleepy else None
        for batch in (lanes, alone):
            batch.load_actions(actions)
            batch.step_inplace(only)
        assert_same(lanes, alone)


@pytest.mark.parametrize("id", ["QuadHover-v0", "ParticleTag-v0", "SafePointGoal-v0", "BreakableBottles-v0"])
def test_worlds_with_parameters_of_their_own(id):
    """With those of all worlds, rule 19 of `rlenvs.check_env` looks at every world."""
    lanes, alone = twins(registry.world_of(id), 27)
    for name, param in list(lanes.world.params.items())[:5]:
        if not any(name in constraint.names for constraint in lanes.world.constraints):
            values = np.linspace(0.5, 1.0, 27) * lanes.get_params()[name]
            for batch in (lanes, alone):
                batch.set_params({name: np.clip(values, param.low, param.high)})
    for batch in (lanes, alone):
        batch.own_params()
    play(lanes, alone, 40, np.random.default_rng(1))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("count", [8, 9, 15, 16, 40])
def test_whatever_ways_the_worlds_take(mode, count):
    lanes, alone = twins(crossroads.SPEC, count, autoreset=mode)
    play(lanes, alone, 120, np.random.default_rng(count), sleepy=True)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32), width=st.integers(1, 8), way=st.sampled_from(["up", "down"]), pull=st.floats(0, 2))
def test_whatever_the_seed_and_the_options(seed, width, way, pull):
    lanes, alone = twins(crossroads.SPEC, 16, seed, width=width, way=way, pull=pull)
    play(lanes, alone, 40, np.random.default_rng(seed))


@pytest.mark.parametrize("agents", [1, 2, 3, 4])
def test_rows_of_few_numbers(agents):
    """Those of 1, 2 or 4 numbers without gaps are copied together, unless worlds in between are asleep."""
    lanes, alone = twins(registry.world_of("ParticleSpread-v0"), 24, agents=agents)
    play(lanes, alone, 4, np.random.default_rng(agents))
    play(lanes, alone, 8, np.random.default_rng(agents), sleepy=True)


def test_parameters_of_each_world_its_own():
    lanes, alone = twins(crossroads.SPEC, 24)
    for batch in (lanes, alone):
        batch.set_params({"pull": np.linspace(0, 2, 24), "limit": np.linspace(2, 9, 24)[::-1]})
    play(lanes, alone, 60, np.random.default_rng(3))
    for batch in (lanes, alone):
        batch.set_params({"limit": 3.0})
    play(lanes, alone, 20, np.random.default_rng(4))


def test_threads_change_nothing():
    lanes, alone = twins(crossroads.SPEC, 200, threads=2)
    play(lanes, alone, 50, np.random.default_rng(5))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("odd", ["", "odd_reward", "odd_view"])
def test_one_world_breaks_off_and_harms_nobody_else(mode, odd):
    world = explosive.SPEC.member("Explosive-v1", lanes=True)
    lanes, alone = twins(world, 17, autoreset=mode, **({odd: True} if odd else {}))
    if not odd:
        for batch in (lanes, alone):
            batch.set_params({"growth": np.where(np.arange(17) % 5 == 2, 1e308, 0.1)})
    broken = 0
    for _ in range(8):
        for batch in (lanes, alone):
            batch.load_actions(np.ones(batch.actions.shape))
            batch.step_inplace()
        broken += int((alone.broken if mode is AutoresetMode.NEXT_STEP else (alone.final_errors != "")).sum())
        assert_same(lanes, alone)
    assert broken > 0


def test_snapshots_and_copies_go_in_and_out():
    lanes, alone = twins(crossroads.SPEC, 16)
    play(lanes, alone, 10, np.random.default_rng(6))
    kept = [lanes.get_state(i) for i in range(16)]
    play(lanes, alone, 10, np.random.default_rng(7))
    for batch in (lanes, alone):
        for i in range(16):
            batch.set_state(kept[15 - i], i)
    play(lanes, alone, 10, np.random.default_rng(8))
    play(pickle.loads(pickle.dumps(lanes)), copy.deepcopy(alone), 10, np.random.default_rng(9))


def test_few_worlds_images_and_plain_python_are_not_in_lanes(monkeypatch):
    monkeypatch.setattr(loops, "LEAST_IN_LANES", 4 * WIDTH)
    assert not KernelBatch(crossroads.SPEC, 4 * WIDTH - 1).in_lanes
    assert KernelBatch(crossroads.SPEC, 4 * WIDTH).in_lanes
    assert not KernelBatch(crossroads.SPEC, 4 * WIDTH, backend="python").in_lanes


# --- what has no lane form --------------------------------------------------------------------------------------------


def calls_itself(s):
    if s > 0.0:
        calls_itself(s - 1.0)


def catches(s):
    try:
        s.x = 1.0
    finally:
        s.x = 2.0


def walks(s):
    for j in (1, 2, 3):
        s.x = j


def writes_to_all(p, s):
    p.pull = s.x


def takes_every_second(s):
    s.row[::2]


def takes_up_to(s):
    s.row[s.count : s.found]


def takes_as_many(s):
    s.row[s.count : s.count + s.found]


def form_of(function):
    count = function.__code__.co_argcount
    kernels = LaneKernels("tests", [], [], lambda made: None, {})
    return kernels.form(function, (False,) * (count - 1) + (True,), False)


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (calls_itself, "calls itself"),
        (catches, "Try has no lane form"),
        (walks, "range"),
        (writes_to_all, "p.pull, which the worlds share"),
        (takes_every_second, "slices"),
        (takes_up_to, "a.i : i . n."),
        (takes_as_many, "the same length"),
        (eval("lambda s: s.x"), "source"),
    ],
)
def test_what_has_no_lane_form_is_named_with_its_place(function, words):
    with pytest.raises(LaneError, match=words) as raised:
        form_of(function)
    if function.__name__ != "<lambda>":
        assert function.__name__ in str(raised.value)
