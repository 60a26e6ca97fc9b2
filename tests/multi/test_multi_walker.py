"""Walkers beside recorded walks of PettingZoo's, and their numbers."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.places import ROOT
from support.recorded_teams import CASES, WALKERS, case_of, start

import rlenvs
from rlenvs.core.catalogue.registry import world_of
from rlenvs.core.declare.errors import ParameterError
from rlenvs.multi.planar.walkers import FIRST, HULL, PACKAGE, PARTS

STEP = 14.0 / 30.0
PACKAGE_MASS = 13.714286 / 3.0  # kg: 240 / 30 * 3 / 1.75 m by a third of a metre


def begin(worlds=1, seed=0, **keywords):
    batch = rlenvs.make_batch("MultiWalker-v0", worlds, **keywords)
    batch.seed(seed)
    batch.reset()
    return batch


def walked(i):
    """Observations and rewards of a recorded walk played again, and whether ours ended."""
    batch = start(i, shared_reward=i != 2)
    seen, paid, ended = [batch.observations[0].copy()], [np.zeros(WALKERS)], False
    for actions in case_of(i)[0][1:]:
        batch.step(actions[None])
        seen.append(batch.observations[0].copy())
        paid.append(batch.rewards[0].copy())
        ended = bool(batch.terminated.all())
        if ended:
            break
    return np.array(seen), np.array(paid), ended


FEET, LIDAR = [8, 13], range(14, 24)  # of an observation


@pytest.mark.parametrize("i", range(CASES))
def test_walks_begin_as_pettingzoos(i):
    """Impacts, friction, limits, motors and lidar from the first step on, in which hips half a metre apart are brought
    together: what 180 iterations in float32 leave of that differs, and grows with contacts."""
    ours, paid, _ = walked(i)
    _, seen, rewards, _ = case_of(i)
    error = np.abs(ours[:9] - seen[:9])
    assert np.delete(error[0], LIDAR, 1).max() < 1e-6  # the lidar saw our own ground then
    assert error[1].max() < (1e-5 if i == 0 else 1e-3)
    assert np.delete(error[1:], FEET, 2).max() < 0.1
    np.testing.assert_allclose(paid[1:9], rewards[1:9], atol=2e-3)


def test_walkers_without_torque_lose_the_package_as_pettingzoos():
    ours, paid, ended = walked(0)
    _, seen, rewards, fell = case_of(0)
    assert ended
    assert fell
    assert abs(len(ours) - len(seen)) <= 6
    assert paid.sum(0)[0] == pytest.approx(rewards.sum(0)[0], abs=5.0)


@pytest.mark.slow
def test_the_random_policys_return_is_pettingzoos():
    """Mean of 600 episodes of PettingZoo's, with its error, beside 200 of ours: within four standard errors."""
    batch, generator = begin(200), np.random.default_rng(0)
    total, going = np.zeros(200), np.ones(200, bool)
    for _ in range(250):
        batch.step(generator.uniform(-1.0, 1.0, (200, WALKERS, 4)))
        total[going] += batch.rewards[going].mean(1)
        going &= ~(batch.terminated.any(1) | batch.truncated.any(1))
        if not going.any():
            break
    theirs, error = -99.724, 0.858
    assert abs(total.mean() - theirs) < 4.0 * np.hypot(error, total.std(ddof=1) / np.sqrt(200))


def test_spaces_and_limits_are_the_published_ones():
    env = rlenvs.parallel_env("rlenvs/MultiWalker-v0")
    assert len(env.possible_agents) == 3
    agent = env.possible_agents[0]
    space = env.observation_space(agent)
    assert space.shape == (31,)
    assert space.dtype == np.float32
    assert np.isinf(space.low).all()
    assert np.isinf(space.high).all()
    assert env.action_space(agent).shape == (4,)
    assert (env.action_space(agent).low == -1.0).all()
    assert begin().setup.horizon == 500


def test_bodies_and_where_they_start():
    """A package of 240 / 30 * 3 / 1.75 m by 1/3 m; walkers ten steps of the ground apart."""
    s = begin().states
    assert 1.0 / s["inverse_mass"][0, PACKAGE] == pytest.approx(PACKAGE_MASS, rel=1e-5)
    assert 1.0 / s["inverse_mass"][0, FIRST + HULL] == pytest.approx(5.4222226, rel=1e-6)
    hulls = s["frame"][0, FIRST::PARTS, 0]
    np.testing.assert_allclose(hulls, STEP * (10.0 + 10.0 * np.arange(3)))
    assert s["frame"][0, PACKAGE, 0] == pytest.approx(STEP * 20.0)
    assert s["frame"][0, PACKAGE, 1] == pytest.approx(400.0 / 120.0 + 3.4)
    assert s["ground"].shape == (1, 200, 2)
    assert (s["ground"][0, :21, 1] == 400.0 / 120.0).all()


def test_terms_and_shared_rewards():
    alone, together = begin(shared_reward=False), begin()
    actions = np.random.default_rng(1).uniform(-1.0, 1.0, (8, 1, 3, 4))
    for action in actions:
        before = float(alone.states["frame"][0, PACKAGE, 0]), alone.states["angle"][0, FIRST::PARTS].copy()
        slant = float(alone.states["angle"][0, PACKAGE])
        alone.step(action)
        together.step(action)
    after = float(alone.states["frame"][0, PACKAGE, 0]), alone.states["angle"][0, FIRST::PARTS]
    progress, lean = 130.0 / 30.0 * (after[0] - before[0]), 5.0 * (np.abs(before[1]) - np.abs(after[1]))
    np.testing.assert_allclose(alone.rewards[0], progress + lean, atol=1e-5)
    np.testing.assert_allclose(together.rewards[0], progress + lean.mean(), atol=1e-5)
    stability = alone.reward_vectors[0, 0, 1]
    assert stability == pytest.approx(-abs(float(alone.states["angle"][0, PACKAGE]) - slant), abs=1e-6)


def lay_down(batch, k):
    """All of walker k lower, so that its hull is in the ground."""
    s, parts = batch.states, slice(FIRST + PARTS * k, FIRST + PARTS * (k + 1))
    down = s["frame"][0, parts, 1][0] - 400.0 / 120.0 - 0.2
    for name in ("centre", "frame", "swept"):
        s[name][0, parts, 1] -= down
    first = 200 + PARTS * k
    s["shape_box"][0, first : first + PARTS, 1] -= down


def test_a_fall_costs_ten_and_a_hundred_and_ends_the_episode():
    batch = begin(shared_reward=False)
    lay_down(batch, 1)
    for _ in range(5):
        batch.step(np.zeros((1, 3, 4)))
        if batch.terminated.any():
            break
    assert batch.terminated.all()
    assert batch.rewards[0, 1] - batch.rewards[0, 0] == pytest.approx(-10.0, abs=5.0)
    assert (batch.rewards[0] < -90.0).all()


def test_who_falls_is_taken_out_and_paid_once_where_others_go_on():
    batch = begin(terminate_on_fall=False, shared_reward=False)
    lay_down(batch, 0)
    ends = []
    for _ in range(6):
        batch.step(np.zeros((1, 3, 4)))
        ends.append(batch.terminated[0].tolist())
        if ends[-1][0]:
            break
    assert ends[-1] == [True, False, False]
    assert batch.rewards[0, 0] < -90.0
    s = batch.states
    gone = slice(FIRST, FIRST + PARTS)
    assert (s["inverse_mass"][0, gone] == 0.0).all()
    resting = s["centre"][0, gone].copy()
    batch.step(np.zeros((1, 3, 4)))
    np.testing.assert_array_equal(s["centre"][0, gone], resting)
    assert batch.observations[0, 1, 24:26].tolist() == [0.0, 0.0]  # nobody is left of walker 1


def test_the_end_lies_ten_steps_before_the_last_point():
    for x, there in ((190 * STEP - 0.1, False), (190 * STEP + 0.1, True)):
        batch = begin()
        for name in ("centre", "frame", "swept"):
            batch.states[name][0, PACKAGE, :2] += [x - STEP * 20.0, 30.0]
        batch.step(np.zeros((1, 3, 4)))
        assert bool(batch.terminated.all()) == there
        assert bool(batch.success[0, 0]) == there


def test_momalands_two_objectives_come_first():
    batch = begin(level="momaland", shared_reward=False)
    lay_down(batch, 2)
    for _ in range(5):
        batch.step(np.zeros((1, 3, 4)))
        if batch.terminated.any():
            break
    progress, stability, *others = batch.reward_vectors[0, 2]
    assert progress == pytest.approx(-110.0, abs=3.0)
    assert stability == pytest.approx(-110.0, abs=1.0)
    assert others == [0.0, 0.0, 0.0]


EXTREMES = [
    {"gravity": 0.0},
    {"package_density": 100.0, "hull_density": 0.1, "gravity": -20.0},
    {"package_density": 0.01, "hull_density": 50.0, "friction": 0.0},
    {"motors_torque": 200.0, "speed_hip": 15.0, "speed_knee": 15.0, "friction": 10.0, "fps": 20.0},
]


@pytest.mark.parametrize("values", EXTREMES)
def test_extreme_parameters_stay_finite(values):
    """Masses of the package and the hulls up to 1 : 1000 in density, no gravity, strong motors."""
    batch, generator = begin(4, **values), np.random.default_rng(0)
    for _ in range(60):
        batch.step(generator.uniform(-1.0, 1.0, (4, 3, 4)))
        assert np.isfinite(batch.observations).all()
        assert np.abs(batch.states["velocity"]).max() < 1e3
        assert batch.states["contacts_left_out"].max() == 0
    assert (batch.setup.observation_space.low <= batch.observations.min()).all()


def test_beyond_the_ranges_is_refused():
    for values in ({"gravity": 1.0}, {"agents": 11}, {"terrain_length": 59}, {"package_density": float("nan")}):
        with pytest.raises(ParameterError):
            rlenvs.make_batch("MultiWalker-v0", **values)


def test_the_forms_with_vectors_are_there():
    ids = {row["id"]: row["tags"] for row in json.loads((ROOT / "rlenvs" / "catalogue.json").read_text())}
    assert "multi-objective" in ids["MultiWalker-v0"]
    assert "multi-objective" in ids["Pistonball-v0"]


# --- numbers ----------------------------------------------------------------------------------------------------------


def test_numbers_are_pettingzoos():
    """multiwalker_v9's constants and keywords, and the prices of its rewards."""
    world = world_of("rlenvs/MultiWalker-v0")
    numbers = {
        "gravity": -10.0, "friction": 2.5, "package_density": 1.0, "package_friction": 0.5, "hull_density": 5.0,
        "terrain_step": 14.0 / 30.0, "terrain_height": 400.0 / 30.0 / 4.0, "motors_torque": 80.0, "speed_hip": 4.0,
        "speed_knee": 6.0, "lidar_range": 160.0 / 30.0, "initial_random": 5.0, "position_noise": 1e-3,
        "angle_noise": 1e-3, "fps": 50.0,
    }  # fmt: skip
    ours = {"tilt_limit": 0.2}
    assert {name: part.default for name, part in world.params.items()} == numbers | ours
    weights = {"progress": 1.0, "stability": 0.0, "lean": 1.0, "fall": 10.0, "drop": 100.0}
    assert {name: part.weight for name, part in world.terms.items()} == weights
    flags = {"shared_reward": True, "terminate_on_fall": True, "remove_on_fall": True, "momaland": False}
    assert {name: world.options[name].default for name in flags} == flags


def test_the_ground_wanders_as_the_originals():
    """Slopes are 0.8 of the one before, a hundredth back to the middle, and up to a thirtieth by chance; the ground
    rests where a spot of grass of five to nine points begins."""
    y = begin(200).states["ground"][..., 1]
    steps, away = np.diff(y, axis=1), np.sign(400.0 / 120.0 - y[:, :-1])
    rests = steps[:, 22:] == 0.0
    for row in rests:
        assert set(np.diff(np.flatnonzero(row))) <= {5, 6, 7, 8, 9}
    now, before, back = steps[:, 23:], steps[:, 22:-1], away[:, 23:]
    moving = (now != 0.0) & (before != 0.0)
    chance = (now - 0.8 * before - 0.01 * back)[moving]
    assert 0.0330 < np.abs(chance).max() <= 1.0 / 30.0 + 1e-9
    assert chance.min() < -0.0330


def test_all_walkers_are_pushed_by_the_same_force_of_up_to_five_newtons():
    still, pushed = begin(64, initial_random=0.0).states, begin(64).states
    force = pushed["force"][:, FIRST + HULL :: PARTS, 0]
    assert (force == force[:, :1]).all()
    assert 4.5 < np.abs(force).max() <= 5.0
    assert np.abs(force.mean()) < 1.5
    assert (still["force"] == 0.0).all()


def test_others_and_the_package_are_seen_with_noise():
    """Deviations of a thousandth, of the package's length and of a radian."""
    batch = begin(400)
    noise = batch.states["noise"].reshape(-1, 7)
    np.testing.assert_allclose(noise.std(0), 1e-3, rtol=0.1)
    s, seen = batch.states, batch.observations[:, 1]
    length = 240.0 / 30.0 * 3 / 1.75
    hull, package = s["frame"][:, FIRST + PARTS + HULL], s["frame"][:, PACKAGE]
    exact = (package[:, :2] - hull[:, :2]) / length
    np.testing.assert_allclose(seen[:, 28:30] - exact, s["noise"][:, 1, 4:6], atol=1e-6)
    np.testing.assert_allclose(seen[:, 30] - s["angle"][:, PACKAGE], s["noise"][:, 1, 6], atol=1e-6)
    left, right = (s["frame"][:, FIRST + PARTS * k + HULL, :2] for k in (0, 2))
    np.testing.assert_allclose(seen[:, 24:26] - (left - hull[:, :2]) / length, s["noise"][:, 1, :2], atol=1e-6)
    np.testing.assert_allclose(seen[:, 26:28] - (right - hull[:, :2]) / length, s["noise"][:, 1, 2:4], atol=1e-6)


@pytest.mark.parametrize(("metres", "success"), [(4.9, False), (5.1, True)])
def test_five_metres_at_the_time_limit_are_a_success(metres, success):
    batch = begin()
    batch.states["elapsed"][0] = 499
    for name in ("centre", "frame", "swept"):
        batch.states[name][0, PACKAGE, :2] += [metres, 30.0]
    batch.step(np.zeros((1, 3, 4)))
    assert batch.truncated.all()
    assert bool(batch.success[0, 0]) == success


@pytest.mark.parametrize(("slant", "cost"), [(0.19, 0.0), (0.21, 1.0), (-0.21, 1.0)])
def test_an_inclined_package_costs(slant, cost):
    batch = begin(gravity=0.0)
    batch.states["angle"][0, PACKAGE] = slant
    batch.states["centre"][0, PACKAGE, 1] += 30.0
    batch.states["frame"][0, PACKAGE] = [
        *(batch.states["frame"][0, PACKAGE, :2] + [0.0, 30.0]), np.cos(slant), np.sin(slant),
    ]  # fmt: skip
    batch.step(np.zeros((1, 3, 4)))
    assert (batch.costs[0] == cost).all()


# --- what holds always ------------------------------------------------------------------------------------------------


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 10**6), st.lists(st.integers(0, 255), min_size=30, max_size=30), st.booleans())
def test_invariants_of_a_walk(seed, moves, alone):
    """Terms sum to the reward; nothing is below the ground; a package that touched something else than hulls ended the
    episode."""
    batch = BATCHES.setdefault(alone, rlenvs.make_batch("MultiWalker-v0", 1, shared_reward=not alone))
    batch.seed([seed])
    batch.reset()
    generator = np.random.default_rng(moves)
    weights, s = np.array([1.0, 0.0, 1.0, 10.0, 100.0]), batch.states
    for move in moves:
        batch.step(np.round(generator.uniform(-1.0, 1.0, (1, 3, 4))) * (move / 255.0))
        terms = batch.terms[0][: len(weights)]
        np.testing.assert_allclose(batch.rewards[0], weights @ terms, atol=1e-4)
        assert not alone or np.isfinite(terms).all()
        low = np.interp(s["frame"][0, 1:, 0], *s["ground"][0].T)
        assert (s["centre"][0, 1:, 1] > low - 0.02).all()
        if batch.terminated.any():
            break
        assert s["dropped"][0] == 0
        assert (s["fallen"][0] == 0).all()


BATCHES = {}
