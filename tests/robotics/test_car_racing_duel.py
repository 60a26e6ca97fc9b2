"""CarRacingDuel: alone it is CarRacing; tiles are shared by order; contacts keep momentum."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rlenvs
from rlenvs.robotics.racing.car import HULL, VEHICLES, shapes_of
from rlenvs.robotics.racing.car_contacts import capsule_of

BATCHES = {}
LIGHT, SMALL = 0.06048, 0.0074592  # kg, kg m^2: a wheel


def fresh(seed=0, **keywords):
    """One batch of one world for each set of keywords, begun again."""
    key = tuple(sorted(keywords.items()))
    if key not in BATCHES:
        BATCHES[key] = rlenvs.make_batch("CarRacingDuel-v0", 1, **keywords)
    batch = BATCHES[key]
    batch.seed([seed])
    batch.reset()
    return batch


def steer(batch, *actions):
    """A step in which cars get these actions, in [-1, 1]."""
    batch.step(np.array([actions], dtype=batch.actions.dtype))


IDLE, GAS = (0.0, -1.0, -1.0), (0.0, 0.0, -1.0)


def park(batch, c, x, y, angle, vx=0.0, vy=0.0, spin=0.0):
    """A car, its wheels in their places."""
    body, hinges = batch.states["body"][0, c], shapes_of("race car")["hinge"]
    cs, sn = np.cos(angle), np.sin(angle)
    body[:] = 0.0
    body[:, 2], body[:, 3], body[:, 4], body[:, 5] = angle, vx, vy, spin
    body[0, :2] = x, y
    for w, (u, v) in enumerate(hinges):
        ax, ay = cs * u - sn * v, sn * u + cs * v
        body[1 + w, :2] = x + ax, y + ay
        body[1 + w, 3:5] = vx - spin * ay, vy + spin * ax


def momentum(batch):
    """Of all cars: mass times velocity, and angular momentum about the origin."""
    mass, _, _, inertia, _, _ = shapes_of("race car")["build"]
    total = np.zeros(3)
    for car in batch.states["body"][0]:
        for b, (x, y, _, vx, vy, spin) in enumerate(car):
            m, i = (mass, inertia) if b == HULL else (LIGHT, SMALL)
            total += m * vx, m * vy, m * (x * vy - y * vx) + i * spin
    return total


def energy(batch):
    mass, _, _, inertia, _, _ = shapes_of("race car")["build"]
    total = 0.0
    for car in batch.states["body"][0]:
        for b, (_, _, _, vx, vy, spin) in enumerate(car):
            m, i = (mass, inertia) if b == HULL else (LIGHT, SMALL)
            total += 0.5 * m * (vx * vx + vy * vy) + 0.5 * i * spin * spin
    return total


@pytest.mark.parametrize("seed", [0, 3])
def test_one_car_is_car_racing_to_the_bit(seed):
    alone = rlenvs.make_batch("CarRacing-v0", 1, level="vector", scaled=True)
    alone.seed([seed])
    alone.reset()
    duel = fresh(seed, cars=1, direction="ccw")
    for _ in range(150):
        action = alone.expert_actions()[0, 0].copy()
        alone.step(action[None, None])
        duel.step(action[None, None])
        np.testing.assert_array_equal(alone.states["body"][0], duel.states["body"][0])
        assert alone.rewards[0, 0] == duel.rewards[0, 0]
    assert alone.rewards[0, 0] != 0.0


def test_a_tile_pays_less_for_each_car_that_was_there():
    """1000 / N to the first of two, half of it to the second; of four three quarters, half, a quarter."""
    for cars in (2, 4):
        batch = fresh(1, cars=cars)
        earned = np.zeros(cars)
        for _ in range(150):
            batch.step(batch.player_actions(["racer"] * cars))
            earned += batch.terms[0, 0]
        visited = batch.states["visited"][0].astype(bool)
        tiles = int(batch.states["tiles"][0])
        there = visited.sum(0)
        shares = sum(sum(1.0 - k / cars for k in range(n)) for n in there)
        assert earned.sum() == pytest.approx(1000.0 / tiles * shares)
        assert there.max() == cars
    assert earned.max() > earned.min()


def test_the_first_to_a_tile_has_all_of_it():
    batch = fresh(1)
    n, front = 1000.0 / int(batch.states["tiles"][0]), 40
    x, y, across = batch.states["gate"][0, front]
    park(batch, 0, x, y, across)
    steer(batch, IDLE, IDLE)  # pays what the start owed, too
    first = batch.states["visited"][0, 0, front]
    assert first
    gate = batch.states["gate"][0, front]
    park(batch, 1, gate[0] + 3.0 * np.cos(across), gate[1] + 3.0 * np.sin(across), across)
    steer(batch, IDLE, IDLE)
    earlier, new = batch.states["visited"][0, :, 30:50]
    assert (new * earlier).any()
    assert batch.terms[0, 0, 1] == pytest.approx(n * (new * (1.0 - 0.5 * earlier)).sum())


def test_cars_start_in_lines_of_two_five_tiles_apart_in_random_order():
    batch, orders = fresh(0, cars=6), set()
    for seed in range(4):
        batch = fresh(seed, cars=6)
        grid, gates, tiles = batch.states["grid"][0], batch.states["gate"][0], int(batch.states["tiles"][0])
        orders.add(tuple(grid))
        assert sorted(grid) == list(range(6))
        for c, place in enumerate(grid):
            x, y, across = gates[-5 * (place // 2) % tiles]
            right = np.array([np.cos(across), np.sin(across)])
            away = batch.states["body"][0, c, HULL, :2] - (x, y)
            assert away @ right == pytest.approx(3.0 if place % 2 else -3.0, abs=0.05)
            assert abs(away @ [-right[1], right[0]]) < 0.2
    assert len(orders) > 1


def test_a_clockwise_track_is_the_mirror_of_the_other():
    left, right = fresh(5, cars=1, direction="ccw"), fresh(5, cars=1, direction="cw")
    n = int(left.states["tiles"][0])
    np.testing.assert_allclose(right.states["gate"][0, :n], left.states["gate"][0, :n] * [-1.0, 1.0, -1.0])
    assert (right.states["kerb"][0, :n] == -left.states["kerb"][0, :n]).mean() > 0.99
    for t in range(60):
        side = 0.2 * np.sin(0.2 * t)
        steer(left, (side, 0.0, -1.0))
        steer(right, (-side, 0.0, -1.0))
        ours, theirs = left.states["body"][0, 0, HULL], right.states["body"][0, 0, HULL]
        np.testing.assert_allclose(theirs[:2], ours[:2] * [-1.0, 1.0], atol=0.01)
    turned = [fresh(seed, cars=1).states["gate"][0, 60, 0] > 0.0 for seed in range(8)]
    assert 0 < sum(turned) <= 8


# --- contacts ---------------------------------------------------------------------------------------------------------


def test_capsules_are_as_wide_and_long_as_hulls():
    """In metres; the race car's hull is 120 units of 2 cm wide and 250 long, the bus's 180 and 760."""
    for vehicle, width, length in (("race car", 2.4, 5.0), ("street car", 2.6, 5.1), ("bus", 3.6, 15.2)):
        radius, low, high = capsule_of(shapes_of(vehicle)["part"])
        assert 2.0 * radius == pytest.approx(width)
        assert high - low + 2.0 * radius == pytest.approx(length)
    assert set(VEHICLES) == {"race car", "street car", "bus"}


@settings(max_examples=40, deadline=None)
@given(
    st.floats(-2.0, 2.0), st.floats(1.0, 4.5), st.floats(-3.2, 3.2), st.floats(-40.0, 40.0), st.floats(-80.0, 0.0),
    st.floats(-3.0, 3.0), st.floats(0.0, 1.0),
)  # fmt: skip
def test_contacts_keep_momentum_and_make_no_energy(x, y, angle, vx, vy, spin, bounce):
    """On a plain without friction (0.3 of almost nothing), far from the road."""
    batch = fresh(cars=2, bounce=1.0 if bounce > 0.5 else 0.0, friction_limit=100.0, grass_friction=0.1)
    batch.states["wheel"][0] = 0.0
    park(batch, 0, 230.0, -230.0, 0.3)
    park(batch, 1, 230.0 + x, -230.0 + y, angle, vx, vy, spin)
    before, kinetic = momentum(batch), energy(batch)
    steer(batch, IDLE, IDLE)
    after = momentum(batch)
    push = 2.0 * 4 * 10.0 * 0.02  # N s that the grass can give to both cars
    assert np.abs(after[:2] - before[:2]).max() <= push
    assert energy(batch) <= kinetic + push * 100.0 / 4.0
    if batch.terms[0, 4, 0] == 0.0:
        return
    assert batch.terms[0, 4].tolist() == [-1.0, -1.0]


def test_a_contact_keeps_both_momenta_to_rounding():
    """The impulse alone, called as the step does."""
    from rlenvs.robotics.racing.car_contacts import collide

    batch = fresh(cars=2)
    p, s = batch.records(0)
    rng = np.random.default_rng(0)
    touched = 0
    for _ in range(30):
        x, y, angle, vx, vy, spin = rng.uniform(-1.0, 1.0, 6) * [2.5, 4.0, 3.2, 60.0, 60.0, 5.0]
        park(batch, 0, 10.0, 20.0, 0.3, 5.0, 2.0, 0.5)
        park(batch, 1, 10.0 + x, 20.0 + y, angle, vx, vy, spin)
        linear, kinetic, before = momentum(batch)[:2], energy(batch), batch.states["body"][0].copy()
        where = batch.states["body"][0, :, 0, :2].mean(0)
        if collide(p, s, 0, 1):
            touched += 1
            np.testing.assert_allclose(momentum(batch)[:2], linear, atol=1e-3)
            np.testing.assert_allclose(batch.states["body"][0, :, 0, :2].mean(0), where, atol=1e-9)
            assert energy(batch) <= kinetic * (1.0 + 1e-5) + 1e-9
            after = batch.states["body"][0]
            before[..., :2] = after[..., :2]  # taken apart, before the impulse
            assert about_contact(after) == pytest.approx(about_contact(before), rel=1e-5, abs=1e-3)
    assert touched > 10


def about_contact(bodies):
    """Angular momentum about the middle between the hulls."""
    mass, _, _, inertia, _, _ = shapes_of("race car")["build"]
    middle = bodies[:, 0, :2].mean(0)
    total = 0.0
    for car in bodies:
        for b, (x, y, _, vx, vy, spin) in enumerate(car):
            m, i = (mass, inertia) if b == HULL else (LIGHT, SMALL)
            total += m * ((x - middle[0]) * vy - (y - middle[1]) * vx) + i * spin
    return total


@pytest.mark.parametrize("turned", [0.0, 1.5708])
@pytest.mark.parametrize("start", [4.0, 5.5, 7.0])
def test_no_car_drives_through_another_at_the_top_speed(turned, start):
    """Head on, and into a car that stands across, at 94 m/s."""
    batch = fresh(cars=2)
    park(batch, 0, 230.0, -230.0, 0.0, 0.0, 94.0)
    speed = -94.0 if turned == 0.0 else 0.0
    park(batch, 1, 230.0, -230.0 + start, np.pi if turned == 0.0 else turned, 0.0, speed)
    for _ in range(6):
        steer(batch, IDLE, IDLE)
        body = batch.states["body"][0, :, HULL]
        assert body[1, 1] > body[0, 1]
    assert body[0, 4] < 94.0 - 20.0


def test_cars_that_touch_are_apart_after_the_step():
    batch = fresh(cars=2)
    park(batch, 0, 230.0, -230.0, 0.0)
    park(batch, 1, 231.0, -229.0, 0.0)
    steer(batch, IDLE, IDLE)
    assert batch.terms[0, 4].tolist() == [-1.0, -1.0]
    away = batch.states["body"][0, 1, HULL, :2] - batch.states["body"][0, 0, HULL, :2]
    assert np.hypot(*away) >= 2.4 - 1e-6


# --- ends -------------------------------------------------------------------------------------------------------------


def test_a_car_that_leaves_the_playfield_is_out_alone():
    batch = fresh(cars=3)
    park(batch, 1, 0.0, 2000.0 / 6.0 + 1.0, 0.0)
    steer(batch, IDLE, IDLE, IDLE)
    assert batch.terms[0, 2].tolist() == [0.0, -100.0, 0.0]
    assert batch.states["alive"][0].tolist() == [True, False, True]
    assert not batch.over[0]
    steer(batch, GAS, GAS, GAS)
    assert batch.rewards[0, 1] == 0.0


def test_the_race_is_over_when_a_car_has_all_tiles():
    batch = fresh(cars=2)
    n = int(batch.states["tiles"][0])
    batch.states["visited"][0, 1, :n], batch.states["visits"][0, 1] = 1, n
    steer(batch, IDLE, IDLE)
    assert batch.over[0]
    assert batch.success[0].tolist() == [False, True]


@pytest.mark.parametrize(("level", "share", "over"), [("lap", 0.91, True), ("lap", 0.89, False), (None, 0.99, False)])
def test_at_level_lap_the_race_is_won_by_closing_the_lap(level, share, over):
    """With cars at the start, on the first tile."""
    batch = fresh(cars=2, level=level)
    n = int(share * batch.states["tiles"][0])
    for c in range(2):
        batch.states["visited"][0, c, : n - c], batch.states["visits"][0, c] = 1, n - c
    batch.states["visits"][0, 1] = 0
    steer(batch, IDLE, IDLE)
    assert batch.over[0] == over
    assert batch.success[0].tolist() == [True, False]  # it leads in any case


def test_who_drives_backwards_is_told():
    batch = fresh(cars=2)
    x, y, across = batch.states["gate"][0, 3]
    park(batch, 1, x, y, across + np.pi)
    steer(batch, IDLE, IDLE)
    assert batch.terms[0, 3].tolist() == [0.0, -1.0]
    assert batch.observations[0, 0, -1] < batch.observations[0, 1, -1]
    assert batch.observations[0, 0].size == 48 + 6 + 1
    env = rlenvs.parallel_env("CarRacingDuel-v0", level="pixels")
    pictures, _ = env.reset(seed=0)
    assert pictures["agent_0"].shape == (96, 96, 3)
    assert tuple(pictures["agent_0"][2, 93]) != (0, 0, 255)


def test_rivals_are_where_they_are():
    batch = fresh(cars=3, neighbours=2)
    park(batch, 0, 230.0, -230.0, 0.0, 0.0, 10.0)
    park(batch, 1, 237.0, -216.0, np.pi / 2, 0.0, 30.0)
    park(batch, 2, 200.0, -230.0, 0.0, 0.0, 10.0)
    batch.recompute_observations()
    seen = batch.observations[0, 0, 48:60].reshape(2, 6)
    np.testing.assert_allclose(seen[0], [0.1, 0.2, 0.0, 0.2, 1.0, 0.0], atol=1e-5)
    np.testing.assert_allclose(seen[1], [-30.0 / 70.0, 0.0, 0.0, 0.0, 0.0, 1.0], atol=1e-5)


def test_the_racer_wins():
    table = rlenvs.tournament("CarRacingDuel-v0", ["racer", "steady", "rookie"], games=4)
    assert table.players == ("racer", "steady", "rookie")
