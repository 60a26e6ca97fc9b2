"""Catch, escort and surround: the published numbers in level "point", then the same tasks with vehicles that fly."""

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.batches import begun

import rlenvs
from rlenvs.core.catalogue.registry import world_of
from rlenvs.core.declare.errors import ParameterError
from rlenvs.robotics.quadcopter import pursuit

SURROUND, ESCORT, CATCH = TASKS = ("QuadSurround-v0", "QuadEscort-v0", "QuadCatch-v0")
STARTS = np.array([(0, 0, 1), (1, 1, 1), (0, 1, 1), (2, 2, 1)], float)
TARGET, DESTINATION = np.array((1, 1, 2.5)), np.array((-2, -2, 3.0))


def batch(id, worlds=1, backend="python", **keywords):
    return begun(id, worlds, backend=backend, **keywords)


def points(id, places=None, target=None, **keywords):
    """One world of level "point", with its state; vehicles and target at these places."""
    places = STARTS if places is None else np.array(places, float)
    made = batch(id, agents=len(places), level="point", **keywords)
    _, s = made.records(0)
    s.position[:] = places
    if target is not None:
        s.target[:] = target
    return made, s


def act(made, actions=0.0):
    made.step(np.broadcast_to(np.asarray(actions, np.float32), made.actions.shape).copy())


def told(made, name):
    """A term of all agents of the first world."""
    return made.terms[0, list(made.world.terms).index(name)]


# --- level "point": the numbers of the card ---------------------------------------------------------------------------


@pytest.mark.parametrize("id", TASKS)
def test_published_starts_target_and_length(id):
    made = batch(id, level="point")
    p, s = made.records(0)
    np.testing.assert_array_equal(s.position, STARTS)
    np.testing.assert_array_equal(s.target, TARGET)
    assert (p.agents, made.setup.horizon) == (4, 200)
    for t in range(200):
        assert not made.over[0], t
        act(made)
    assert made.over[0]
    assert made.truncated.all()
    assert not made.terminated.any()


@pytest.mark.parametrize("agents", [2, 3, 5, 16])
def test_other_numbers_of_vehicles_start_apart(agents):
    for level in (None, "point"):
        _, s = batch(SURROUND, agents=agents, level=level).records(0)
        np.testing.assert_array_equal(s.position[:4], STARTS[:agents])
        apart = np.linalg.norm(s.position[:, None] - s.position[None], axis=2) + 9.0 * np.eye(agents)
        assert apart.min() == 1.0 if agents > 2 else apart.min() == math.sqrt(2.0)


@given(st.lists(st.floats(-1, 1, width=32), min_size=12, max_size=12))
@settings(max_examples=30, deadline=None)
def test_points_move_by_a_fifth_of_the_action(numbers):
    made, s = points(SURROUND, [(0, 0, 1), (2.9, -2.9, 0.05), (-2.9, 2.9, 2.9), (2.95, 2.95, 1)])
    before, actions = s.position.copy(), np.reshape(numbers, (4, 3)).astype(np.float32)
    act(made, actions)
    np.testing.assert_allclose(
        s.position, np.clip(before + 0.2 * actions.astype(float), (-3, -3, 0), (3, 3, 3)), atol=1e-12
    )


@pytest.mark.parametrize("agents", [2, 4, 7])
def test_points_see_themselves_the_target_and_the_others(agents):
    made = batch(ESCORT, agents=agents, level="point")
    _, s = made.records(0)
    act(made, np.linspace(-1, 1, 3 * agents).reshape(1, agents, 3))
    assert made.observations.shape == (1, agents, 3 * (agents + 1))
    assert made.actions.shape == (1, agents, 3)
    for k in range(agents):
        others = np.delete(s.position, k, axis=0)
        wanted = np.concatenate([s.position[k], s.target, others.ravel()]) / 3.0
        np.testing.assert_allclose(made.observations[0, k], wanted, atol=1e-6)


@pytest.mark.parametrize("id", TASKS)
def test_approach_is_to_where_the_target_was_and_distance_a_mean(id):
    made, s = points(id)
    rng = np.random.default_rng(3)
    for _ in range(60):
        before, target = s.position.copy(), s.target.copy()
        actions = 0.4 * rng.uniform(-1, 1, (4, 3)) + 0.3 * np.clip(STARTS - before, -1, 1)
        act(made, actions)
        assert not made.terminated.any()
        way = np.linalg.norm(before - target, axis=1) - np.linalg.norm(s.position - target, axis=1)
        np.testing.assert_allclose(told(made, "approach"), way, atol=1e-12)
        apart = np.linalg.norm(s.position[:, None] - s.position[None], axis=2).sum(axis=1) / 3
        np.testing.assert_allclose(told(made, "distance"), apart, atol=1e-12)
        np.testing.assert_allclose(made.rewards[0], way + 0.001 * apart, atol=1e-6)


@pytest.mark.parametrize(("apart", "crash"), [(0.099, True), (0.101, False)])
def test_points_that_come_closer_than_a_decimetre_end_it_for_all(apart, crash):
    made, _ = points(SURROUND, [(0, 0, 1), (0, apart, 1), (2, 0, 1), (-2, 0, 1)])
    act(made)
    assert made.terminated[0].tolist() == [crash] * 4
    assert made.over[0] == crash
    for name in ("approach", "distance"):
        assert (told(made, name)[:2] == -10.0).tolist() == [crash] * 2
        assert (told(made, name)[2:] >= 0.0).all()
    assert not made.success.any()


@pytest.mark.parametrize(("height", "crash"), [(0.099, True), (0.101, False)])
def test_points_below_the_ground_limit_end_it_for_all(height, crash):
    made, _ = points(ESCORT, [(0, 0, height), (0, 1, 1), (2, 0, 1)])
    act(made)
    assert made.terminated[0].tolist() == [crash] * 3
    assert (told(made, "approach") == -10.0).tolist() == [crash, False, False]
    assert (told(made, "distance") == -10.0).tolist() == [crash, False, False]


def test_the_target_to_surround_stands():
    made, s = points(SURROUND)
    for _ in range(5):
        act(made, 0.5)
        np.testing.assert_array_equal(s.target, TARGET)


def test_the_target_to_escort_stops_one_of_52_parts_before_the_end():
    made, s = points(ESCORT)
    for t in range(60):
        np.testing.assert_allclose(s.target, TARGET + (DESTINATION - TARGET) * min(t, 51) / 52, atol=1e-12)
        act(made)


@pytest.mark.parametrize("id", TASKS)
@pytest.mark.parametrize("number", range(4))
def test_episodes_of_momaland_are_the_same(id, number):
    name = f"{id[4:-3].lower()}/{number}"
    with np.load(Path(__file__).parents[1] / "data" / "momaland_drones.npz") as file:
        actions, target, rewards, ended = (file[f"{name}/{row}"] for row in ("actions", "target", "rewards", "ended"))
    made, s = points(id)
    for t in range(len(actions)):
        act(made, actions[t] / 16)
        np.testing.assert_allclose(s.target, target[t], atol=1e-6)
        np.testing.assert_allclose(
            np.transpose([told(made, "approach"), told(made, "distance")]), rewards[t], atol=1e-6
        )
        assert made.terminated[0].tolist() == [ended[t]] * 4
    assert made.over[0]


@pytest.mark.parametrize("level", [None, "point"])
@pytest.mark.parametrize(("away", "crash"), [(0.095, True), (0.105, False)])
def test_to_touch_the_target_is_a_crash(level, away, crash):
    made, _ = fleet(SURROUND, [(0, 0, 1), (2, 0, 1), (-2, 0, 1)], target=(0, away, 1), level=level)
    act(made)
    assert made.terminated[0].tolist() == [crash] * 3
    for name in ("approach", "distance"):
        assert (told(made, name) == -10.0).tolist() == [crash, False, False]


@pytest.mark.parametrize("action", [0.0, 0.7])
def test_the_target_to_catch_flees_from_the_middle_of_the_vehicles_as_they_were_before_the_step(action):
    made, s = points(CATCH, STARTS - (0.5, 0.25, 0.3), target=(0.4, 0.1, 1.5))
    away = np.array((0.4, 0.1, 1.5)) - s.position.mean(axis=0)
    act(made, action)
    np.testing.assert_allclose(s.target, (0.4, 0.1, 1.5) + 0.1 * away / np.linalg.norm(away), atol=1e-12)


def test_the_target_to_catch_jitters_when_the_middle_is_within_a_fifth_of_a_metre():
    ring = np.array([(1, 0, 0), (0, 1, 0), (-1, 0, 0), (0, -1, 0)], float) + (0, 0, 1.5)
    moves = []
    for seed in range(100):
        made, s = points(CATCH, ring, target=(0.199, 0, 1.5))
        made.seed([seed])
        made.reset()
        s.position[:], s.target[:] = ring, (0.199, 0, 1.5)
        act(made)
        moves.append(s.target - (0.199, 0, 1.5))
    assert (np.min(moves) >= 0.0, np.max(moves) <= 0.01) == (True, True)  # all axes on their own, never back
    np.testing.assert_allclose(np.mean(moves, axis=0), 0.005, atol=0.001)
    np.testing.assert_allclose(np.corrcoef(np.transpose(moves)), np.eye(3), atol=0.3)
    made, s = points(CATCH, ring, target=(0.201, 0, 1.5))
    act(made)
    np.testing.assert_allclose(s.target, (0.301, 0, 1.5), atol=1e-12)


def test_the_target_to_catch_stays_in_the_box():
    made, s = points(CATCH, STARTS, target=(2.99, 2.99, 2.99))
    act(made)
    np.testing.assert_array_equal(s.target, (3, 3, 3))
    made, s = points(CATCH, STARTS + (0, 0, 1), target=(-2.99, -2.99, 0.01))
    act(made)
    np.testing.assert_array_equal(s.target, (-3, -3, 0.2))


def test_points_have_no_engine():
    with pytest.raises(ParameterError, match="no bodies"):
        rlenvs.make_batch(CATCH, 1, level="point", physics="pybullet")


# --- vehicles that fly ------------------------------------------------------------------------------------------------


def fleet(id, places=STARTS, target=None, **keywords):
    made = batch(id, agents=len(places), **keywords)
    _, s = made.records(0)
    s.position[:] = places
    if target is not None:
        s.target[:] = target
    return made, s


@pytest.mark.parametrize("id", TASKS)
def test_flights_start_there_too(id):
    made = batch(id)
    p, s = made.records(0)
    np.testing.assert_array_equal(s.position, STARTS)
    np.testing.assert_array_equal(s.target, TARGET)
    assert (made.setup.horizon, p.control_hz, p.physics_hz, p.speed_limit) == (200, 30, 240, 1.5)
    assert made.actions.shape == (1, 4, 4)


@pytest.mark.parametrize("id", TASKS)
def test_terms_of_flights_are_the_same(id):
    made, s = fleet(id)
    for _ in range(20):
        before, target = s.position.copy(), s.target.copy()
        made.expert_actions()
        made.step_inplace()
        way = np.linalg.norm(before - target, axis=1) - np.linalg.norm(s.position - target, axis=1)
        apart = np.linalg.norm(s.position[:, None] - s.position[None], axis=2).sum(axis=1) / 3
        np.testing.assert_allclose(told(made, "approach"), way, atol=1e-12)
        np.testing.assert_allclose(told(made, "distance"), apart, atol=1e-12)


@pytest.mark.parametrize(
    ("place", "tilt", "crash"),
    [
        ((3.99, 0, 1), 0.0, False),
        ((4.01, 0, 1), 0.0, True),
        ((0, -4.01, 1), 0.0, True),
        ((0, -1, 3.99), 0.0, False),
        ((0, -1, 4.01), 0.0, True),
        ((0, -1, 0.11), 0.0, False),
        ((0, -1, 0.09), 0.0, True),
        ((0, -1, 1), 1.48, False),
        ((0, -1, 1), -1.52, True),
        ((0.119, 1, 1), 0.0, True),  # hulls have a radius of 0.06 m
        ((0.125, 1, 1), 0.0, False),
        ((0, 1, 1.095), 0.0, True),  # one above the other, nearer than `closest`
        ((0, 1, 1.105), 0.0, False),
    ],
)
def test_what_a_crash_of_flights_is(place, tilt, crash):
    made, s = fleet(SURROUND, [(0, 1, 1), place, (2, 0, 1)], control_hz=240, action="rpm")
    s.attitude[1] = (math.sin(tilt / 2), 0, 0, math.cos(tilt / 2))
    act(made)
    assert made.terminated[0].tolist() == [crash] * 3
    assert (told(made, "approach")[1] == -10.0) == (told(made, "distance")[1] == -10.0) == crash
    assert told(made, "approach")[2] > -1.0


def test_targets_of_flights_move_with_their_speed():
    made, s = fleet(ESCORT, target_speed=0.6)
    way = DESTINATION - TARGET
    for t in range(5):
        np.testing.assert_allclose(s.target, TARGET + way / np.linalg.norm(way) * 0.02 * t, atol=1e-12)
        act(made)
    np.testing.assert_allclose(s.target_velocity, 0.6 * way / np.linalg.norm(way), atol=1e-9)
    made, s = fleet(CATCH, target=(2, 1, 1), target_speed=0.6)
    act(made)
    assert np.linalg.norm(s.target - (2, 1, 1)) == pytest.approx(0.02)
    assert s.target[0] > 2.0
    made, s = fleet(CATCH, target=STARTS.mean(axis=0), target_speed=0.6)
    act(made)
    assert np.linalg.norm(s.target - STARTS.mean(axis=0)) == pytest.approx(0.002)
    made, s = fleet(CATCH, STARTS + (0, 0, 1), target=(0.75, 1, 0.505))
    act(made)
    assert s.target[2] == 0.5


@pytest.mark.parametrize(
    ("off", "apart", "done"), [(0.95, 0.5, True), (1.05, 0.5, False), (0.5, 0.21, True), (0.5, 0.19, False)]
)
def test_success_is_to_be_near_and_apart(off, apart, done):
    for level in (None, "point"):
        places = [(0, apart / 2, 1), (0, -apart / 2, 1)]
        across = math.sqrt(off**2 - (apart / 2) ** 2)
        made, _ = fleet(SURROUND, places, target=(across, 0, 1), level=level)
        act(made)
        assert made.success[0].tolist() == [done] * 2


def test_flights_of_all_actions_and_rates_stay_in_the_bounds_of_the_terms():
    for keywords in (
        {"action": "rpm", "action_range": 1.0, "control_hz": 2, "physics_hz": 240},
        {"action": "velocity", "speed_limit": 10.0, "tilt_limit": 3.1, "ground": 0.0, "closest": 0.0},
        {"action": "position", "agents": 16, "target_speed": 3.0, "closest": 0.5},
        {"level": "point", "agents": 16, "closest": 0.0, "ground": 0.0},
    ):
        made = batch(CATCH, 32, "numba", **keywords)
        rng = np.random.default_rng(0)
        for _ in range(200):
            made.load_actions(rng.choice((-1.0, 1.0, 0.3), made.actions.shape).astype(np.float32))
            made.step_inplace()
            for i, term in enumerate(made.world.terms.values()):
                assert (made.terms[:, i] >= term.low).all()
                assert (made.terms[:, i] <= term.high).all()


def test_hulls_that_touch_at_the_start_are_refused():
    with pytest.raises(ParameterError, match="hardly fit"):
        rlenvs.make_batch(SURROUND, 1, hull=(0.5, 0.1))
    rlenvs.make_batch(SURROUND, 1, hull=(0.4, 0.1))


# --- experts and forms ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("id", TASKS)
@pytest.mark.parametrize(
    "keywords",
    [{}, {"level": "point"}, {"agents": 2}, {"agents": 16}, {"agents": 16, "level": "point"}, {"action": "position"}],
    ids=str,
)
def test_experts_gather_around_the_target_without_crashes(id, keywords):
    made = batch(id, 8, "numba", **keywords)
    for t in range(200):
        made.expert_actions()
        made.step_inplace()
        assert not made.terminated.any(), t
    assert made.success.all()
    for i in range(8):
        _, s = made.records(i)
        apart = np.linalg.norm(s.position[:, None] - s.position[None], axis=2) + 9.0 * np.eye(len(s.position))
        assert apart.min() > 0.3


@pytest.mark.parametrize(("id", "last", "worth"), [(SURROUND, 20, 10.8), (CATCH, 35, 15.1), (ESCORT, 25, 13.6)])
def test_waiting_in_corners_pays_more_than_the_ring_as_the_pages_say(id, last, worth):
    made, s = points(id)
    corners, total = np.array([(-3, -3, 1), (3, -3, 1), (-3, 3, 1), (3, 3, 1)], float), 0.0
    for t in range(200):
        made.expert_actions()
        actions = made.actions.copy()
        if t < 200 - last:
            actions[0] = np.clip((corners - s.position) / 0.2, -1, 1)
        made.load_actions(actions)
        made.step_inplace()
        total += made.rewards.sum()
    assert total == pytest.approx(worth, abs=0.05)
    assert made.success.all()


@pytest.mark.parametrize("id", TASKS)
def test_vector_rewards_in_every_form(id):
    for level in (None, "point"):
        parallel = rlenvs.parallel_env(id, level=level, vector_reward=True)
        parallel.reset(seed=0)
        _, rewards, *_ = parallel.step({a: parallel.action_space(a).sample() for a in parallel.agents})
        assert {reward.shape for reward in rewards.values()} == {(2,)}
        single = rlenvs.make(f"mo-{id}", level=level, others="expert")
        single.reset(seed=0)
        assert single.step(single.action_space.sample())[1].shape == (2,)
        turns = rlenvs.aec_env(id, level=level, vector_reward=True)
        turns.reset(seed=0)
        for agent in turns.agent_iter(4):
            turns.step(turns.action_space(agent).sample())
        assert {reward.shape for reward in turns.rewards.values()} == {(2,)}


def test_keys_steer_points_and_flights():
    press = pursuit.KIND.functions["keys"]
    made = batch(CATCH, level="point")
    assert press({"w", "left", "down"}, made.setup.values) == [1.0, 1.0, -1.0]
    assert len(press({"w"}, batch(CATCH).setup.values)) == 4


@pytest.mark.parametrize("id", [ESCORT, CATCH])
def test_the_target_of_level_slow_has_a_third_of_the_speed(id):
    def way(level):
        made = batch(id, level=level)
        _, s = made.records(0)
        before = s.target.copy()
        act(made)
        return np.linalg.norm(s.target - before)

    assert way("slow") == pytest.approx(way(None) / 3, rel=0.02)
    assert "slow" not in world_of(SURROUND).levels
