"""The mountain cars with several objectives: steps of the original, and what its variants pay."""

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from hypothesis import given, settings
from hypothesis import strategies as st
from support.places import DATA

import rlenvs
from rlenvs.agents.evaluate import evaluate

RECORD = np.load(DATA / "mo_gymnasium_physics.npz")
CAR, CONTINUOUS = "MountainCarObjectives-v0", "MountainCarContinuousObjectives-v0"
FEW = 30  # worlds of a batch
VARIANTS = {
    "car": (CAR, None, ("time", "reverse", "forward")),
    "car3d": (CAR, "3d", ("time", "move", "speed")),
    "timemove": (CAR, "timemove", ("time", "move")),
    "timespeed": (CAR, "timespeed", ("time", "speed")),
    "continuous": (CONTINUOUS, "compat", ("time", "effort")),
}


@pytest.mark.parametrize("name", VARIANTS)
def test_every_recorded_step(name):
    id, level, terms = VARIANTS[name]
    keys = ("before", "action", "after", "reward", "end")
    before, action, after, reward, end = (RECORD[f"{name}_{key}"] for key in keys)
    batch = rlenvs.make_batch(id, FEW, autoreset=AutoresetMode.DISABLED, level=level)
    batch.seed(list(range(FEW)))
    assert tuple(batch.world.terms) == terms
    for first in range(0, len(before), FEW):
        rows = slice(first, first + FEW)
        batch.reset()
        batch.states["x"], batch.states["v"] = before[rows].T
        batch.step(action[rows].reshape((FEW, 1, 1) if name == "continuous" else (FEW, 1)))
        found = np.stack([batch.states["x"], batch.states["v"]], axis=1)
        np.testing.assert_allclose(found, after[rows], rtol=0, atol=1e-9)
        np.testing.assert_allclose(batch.terms[:, : len(terms), 0], reward[rows], rtol=0, atol=1e-9)
        assert (batch.terminated[:, 0] == end[rows]).all()
    assert 5 < end.sum() < len(end) - 5
    assert (after[:, 0] == -1.2).sum() > 3  # at the wall


@pytest.mark.parametrize("name", VARIANTS)
def test_spaces_of_the_original(name):
    """But for the bounds that the original's own rewards leave: time is 0 at the goal, a push of 2 costs 4."""
    id, level, _ = VARIANTS[name]
    low, high = RECORD[f"{name}_reward_space"]
    high[0] = 0.0
    if name == "continuous":
        low[1] = -4.0
        assert RECORD["continuous_reward"][:, 1].min() < -3.9
    else:
        assert RECORD[f"{name}_reward"][:, 0].max() == 0.0
    env = rlenvs.make(f"mo-{id}", level=level)
    assert env.unwrapped.reward_space == gymnasium.spaces.Box(low.astype(np.float32), high.astype(np.float32))
    original = gymnasium.make("MountainCar-v0" if id == CAR else "MountainCarContinuous-v0")
    assert env.observation_space == original.observation_space
    assert env.spec.max_episode_steps == (200 if id == CAR else 999)
    if level != "compat":
        assert env.action_space == original.action_space


def test_pushes_beyond_one_cost_more_only_under_compat():
    for level, cost in ((None, 1.0), ("compat", 2.25)):
        env = rlenvs.make(f"mo-{CONTINUOUS}", level=level)
        env.reset(seed=0)
        observation, reward, *_ = env.step(np.array([1.5], np.float32))
        assert reward.tolist() == [-1.0, -cost]
        again = rlenvs.make(CONTINUOUS)
        again.reset(seed=0)
        assert again.step(np.array([1.0], np.float32))[0].tolist() == observation.tolist()  # moved as by 1


@pytest.mark.parametrize(("ours", "plain"), [(CAR, "MountainCar-v0"), (CONTINUOUS, "MountainCarContinuous-v0")])
def test_the_car_is_that_of_the_plain_world(ours, plain):
    rng = np.random.default_rng(0)
    one, other = (rlenvs.make(id) for id in (ours, plain))
    assert one.reset(seed=5)[0].tolist() == other.reset(seed=5)[0].tolist()
    for _ in range(120):
        action = int(rng.integers(3)) if ours == CAR else rng.uniform(-1, 1, 1).astype(np.float32)
        a, b = one.step(action), other.step(action)
        assert a[0].tolist() == b[0].tolist()
        assert a[2:4] == b[2:4]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 2), min_size=1, max_size=60), st.integers(0, 10_000))
def test_the_variants_say_the_same_of_the_same_ride(actions, seed):
    """move is reverse and forward, and speed is that of the car."""
    envs = [rlenvs.make(CAR, level=level) for level in (None, "3d", "timemove", "timespeed")]
    for env in envs:
        env.reset(seed=seed)
    for action in actions:
        plain, three, moves, speeds = (env.step(action) for env in envs)
        time, reverse, forward = plain[4]["reward_vector"]
        assert three[4]["reward_vector"][:2].tolist() == [time, reverse + forward] == moves[4]["reward_vector"].tolist()
        assert three[4]["reward_vector"][[0, 2]].tolist() == speeds[4]["reward_vector"].tolist()
        assert three[4]["reward_vector"][2] == np.float32(15 * abs(envs[1].unwrapped.batch.states["v"][0]))
        if plain[2]:
            assert time == 0.0
            break


@pytest.mark.budget(4)
def test_experts():
    """Both are ahead of the plain worlds' experts under these weights, and reach the goal from everywhere."""
    found, plain = evaluate(CAR, "expert", 50), evaluate("MountainCar-v0", "expert", 50)
    assert found.success_rate == 1.0
    assert found.mean > 1.2 * plain.mean + 1.0  # each step with a push, but the last one's time
    assert evaluate(CONTINUOUS, "expert", 50).success_rate == 1.0
    assert evaluate(CONTINUOUS, "expert", 50).mean > -125
    for level in ("3d", "timemove", "timespeed"):
        assert evaluate(CAR, "expert", 20, level=level).success_rate == 1.0
