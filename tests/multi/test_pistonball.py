"""Pistons and their ball beside recorded games of PettingZoo's, and their numbers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.places import DATA

import rlenvs
from rlenvs.core.catalogue.registry import world_of
from rlenvs.core.declare.errors import ParameterError

RECORDED = np.load(DATA / "pistonball.npz")
PISTONS = 20


def begin(worlds=1, seed=0, **keywords):
    batch = rlenvs.make_batch("Pistonball-v0", worlds, **keywords)
    batch.seed(seed)
    batch.reset()
    return batch


def start(i):
    """A batch of one world at the start of recorded game i, and its rows: actions, motion, reward, end."""
    batch = begin()
    s, numbers = batch.states, RECORDED["start"][i]
    s["position"][0], s["spin"][0], s["height"][0] = numbers[:2], numbers[2], numbers[3:]
    s["place"][0] = int(numbers[0] - 40.0)
    s["distance"][0] = s["place"][0] - 40.0
    rows = RECORDED["rows"][i]
    return batch, rows[~np.isnan(rows[:, 0])]


def motion(batch):
    s = batch.states
    return np.array([*s["position"][0], *s["velocity"][0], s["angle"][0], s["spin"][0]])


def test_the_ball_falls_and_meets_pistons_as_in_the_original():
    """The first second of game 0: a fall, an impact, friction against the spin, rest on one piston."""
    batch, rows = start(0)
    batch.step(rows[0, :PISTONS].reshape(1, PISTONS, 1))
    np.testing.assert_allclose(motion(batch), rows[0, 20:26], atol=1e-7)
    assert float(batch.rewards[0, 0]) == pytest.approx(rows[0, 26])


@pytest.mark.parametrize("i", range(3))
def test_games_go_as_in_the_original(i):
    """With two pistons under the ball the order in which they are solved differs; places stay near each other."""
    batch, rows = start(i)
    for row in rows[:10]:
        batch.step(row[:PISTONS].reshape(1, PISTONS, 1))
        assert np.abs(motion(batch)[:2] - row[20:22]).max() < 15.0


def test_starts_are_the_originals():
    s = begin(500).states
    assert sorted(set(s["height"].ravel())) == [4.0 * k for k in range(8)]
    x, y = s["position"].T
    assert set(x) == {880.0 - 40 - 40 - 30 + k for k in range(-30, 31)}
    assert set(y) == {560.0 - 40 - 23 - 40 - 32 - 15 + k for k in range(-15, 16)}
    assert 18.0 < np.abs(s["spin"]).max() <= 6.0 * np.pi


def test_pistons_move_four_pixels_within_their_range():
    batch = begin()
    before = batch.states["height"][0].copy()
    batch.step(np.full((1, PISTONS, 1), 0.5))
    np.testing.assert_allclose(batch.states["height"][0], np.minimum(before + 2.0, 64.0))
    batch.step(np.full((1, PISTONS, 1), -5.0))
    np.testing.assert_allclose(batch.states["height"][0], np.maximum(before - 2.0, 0.0))
    for _ in range(20):
        batch.step(np.ones((1, PISTONS, 1)))
    assert (batch.states["height"] == 64.0).all()
    discrete = begin(actions="discrete")
    before = discrete.states["height"][0].copy()
    discrete.step(np.arange(PISTONS)[None] % 3)
    moved = before + 4.0 * (np.arange(PISTONS) % 3 - 1)
    np.testing.assert_allclose(discrete.states["height"][0], np.clip(moved, 0.0, 64.0))


def test_rewards_are_percent_of_the_way_and_a_tenth_a_step():
    batch = begin()
    first = int(batch.states["place"][0])
    total, ended = 0.0, False
    steps = 0
    while not ended and steps < 125:
        steps += 1
        place = int(batch.states["place"][0])
        batch.step(batch.expert_actions())
        ended = bool(batch.terminated.all())
        paid = 100.0 * (place - int(batch.states["place"][0])) / (first - 40.0)
        assert float(batch.rewards[0, 0]) == pytest.approx(paid - (0.0 if ended else 0.1), abs=1e-4)
        assert len(set(batch.rewards[0].tolist())) == 1
        total += float(batch.rewards[0, 0])
    assert ended
    assert bool(batch.success.all())
    assert total == pytest.approx(
        100.0 * (first - int(batch.states["place"][0])) / (first - 40.0) - 0.1 * (steps - 1), abs=1e-3
    )
    assert begin().setup.horizon == 125


def test_it_ends_when_the_ball_will_be_at_the_wall():
    for x, speed, there in ((84.0, 0.0, False), (81.0, 0.0, True), (84.0, -80.0, True)):
        batch = begin(gravity=0.0)
        batch.states["position"][0] = x, 300.0
        batch.states["velocity"][0] = speed, 0.0
        batch.states["spin"][0] = 0.0
        batch.step(np.zeros((1, PISTONS, 1)))
        assert bool(batch.terminated.all()) == there


def test_pictures_have_the_published_shape_and_show_the_present():
    batch = begin(level="pixels")
    space = batch.setup.observation_space
    assert space.shape == (457, 120, 3)
    assert space.dtype == np.uint8
    assert (space.low == 0).all()
    assert (space.high == 255).all()
    before = batch.observations.copy()
    for _ in range(3):
        batch.step(np.ones((1, PISTONS, 1)))
    assert (batch.observations != before).any((2, 3, 4)).all()
    assert (batch.observations[0, 0, :, :20] == (58, 64, 65)).all()  # the wall, left of the first piston
    x, y = batch.states["position"][0]
    k = int((x - 40.0) // 40.0)
    assert batch.observations[0, k, int(y) - 40 - 20, int(x) - 40 * k].tolist() == [65, 159, 221]


EXTREMES = [
    {"gravity": 0.0},
    {"gravity": 1000.0, "gravity_x": 200.0, "ball_radius": 25.0, "piston_speed": 8.0},
    {"ball_elasticity": 2.0, "piston_elasticity": 0.5, "piston_speed": 8.0, "ball_radius": 60.0},
    {"ball_friction": 2.0, "piston_friction": 2.0, "largest_spin": 12.0 * np.pi, "agents": 2},
]


@pytest.mark.parametrize("values", EXTREMES)
def test_extreme_parameters_stay_finite(values):
    batch, generator = begin(16, **values), np.random.default_rng(0)
    space = batch.setup.observation_space
    for _ in range(80):
        batch.step(generator.uniform(-1.0, 1.0, (16, batch.states["height"].shape[1], 1)))
        assert (batch.observations >= space.low).all()
        assert (batch.observations <= space.high).all()
        assert np.abs(batch.states["velocity"]).max() < 1e4


def test_a_ball_that_begins_at_the_wall_is_thrown_far():
    values = {"gravity": 764.0, "gravity_x": 99.5, "ball_friction": 1.65, "ball_elasticity": 0.0, "drop_x": 30.0}
    batch, generator = begin(256, agents=3, **values), np.random.default_rng(0)
    most = 0.0
    for _ in range(60):
        batch.step(generator.uniform(-1.0, 1.0, (256, 3, 1)))
        most = max(most, np.abs(batch.terms).max())
    assert 2000.0 < most <= batch.world.terms["distance"].high


def test_elasticity_shows_with_pistons_that_have_some():
    """The original's pistons have none, so that its `ball_elasticity` changes nothing."""

    def highest(**values):
        batch = begin(8, gravity_x=0.0, **values)
        lowest = np.full(8, 1e9)
        for _ in range(6):
            batch.step(np.zeros((8, PISTONS, 1)))
            lowest = np.minimum(lowest, batch.states["velocity"][:, 1])
        return lowest.min()

    assert highest(ball_elasticity=0.0) == highest(ball_elasticity=2.0)
    assert highest(piston_elasticity=0.5) < highest() - 10.0


def test_beyond_the_ranges_is_refused():
    for values in ({"gravity": -1.0}, {"agents": 1}, {"ball_radius": 61.0}):
        with pytest.raises(ParameterError):
            rlenvs.make_batch("Pistonball-v0", **values)


def test_numbers_are_pettingzoos():
    """pistonball_v6's constants and keywords: ball_friction 0.3 and ball_elasticity 1.5 there, 0.64 of the pistons."""
    world = world_of("rlenvs/Pistonball-v0")
    numbers = {
        "gravity": 750.0, "gravity_x": 0.0, "ball_radius": 40.0, "ball_friction": 0.3, "piston_friction": 0.64,
        "ball_elasticity": 1.5, "piston_elasticity": 0.0, "piston_speed": 4.0, "largest_spin": 6.0 * np.pi,
        "drop_x": 30.0, "drop_y": 15.0,
    }  # fmt: skip
    assert {name: part.default for name, part in world.params.items()} == numbers
    assert {name: part.weight for name, part in world.terms.items()} == {"distance": 1.0, "time": 1.0}
    assert world.options["agents"].default == PISTONS


BATCHES = {}


@settings(max_examples=25, deadline=None)
@given(
    st.integers(0, 10**6), st.lists(st.floats(-1.0, 1.0), min_size=20, max_size=20), st.integers(1, 6),
    st.sampled_from([{}, {"piston_elasticity": 0.5, "ball_elasticity": 2.0, "piston_speed": 8.0}]),
)  # fmt: skip
def test_invariants_of_a_game(seed, moves, hold, values):
    """Pistons stay within their range, the ball within the walls; terms sum to the reward; what was paid is the way
    that the ball came nearer; effort is a share."""
    key = tuple(values.items())
    batch = BATCHES.setdefault(key, rlenvs.make_batch("Pistonball-v0", 1, **values))
    batch.seed([seed])
    batch.reset()
    s, first, paid = batch.states, int(batch.states["place"][0]), 0.0
    for step in range(12):
        batch.step(np.roll(moves, step // hold).reshape(1, PISTONS, 1))
        assert (s["height"] >= 0.0).all()
        assert (s["height"] <= 64.0).all()
        assert 41.0 <= s["position"][0, 0] <= 880.0 - 41.0
        assert 41.0 <= s["position"][0, 1] <= 560.0 - 41.0
        distance, time = batch.terms[0][:2]
        np.testing.assert_allclose(batch.rewards[0], distance + time, atol=1e-4)
        paid += float(distance[0])
        assert (batch.costs[0] >= 0.0).all()
        assert (batch.costs[0] <= 1.0 + 1e-6).all()
        if batch.terminated.any():
            break
    assert paid == pytest.approx(100.0 * (first - int(s["place"][0])) / (first - 40.0), abs=1e-3)
