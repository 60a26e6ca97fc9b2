"""AirHockey: the numbers of the Robot Air Hockey Challenge, physics within bounds, mirrored games."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rlenvs
from rlenvs.multi.arcade.table import PUCK_BODY, UNIT

LENGTH, WIDTH, PUCK, MALLET = 1.948, 1.038, 0.03165, 0.04815  # m, of the challenge
TABLES = {}


def fresh(num=1, **keywords):
    """One batch for each set of keywords, begun again."""
    key = (num, *sorted(keywords.items()))
    if key not in TABLES:
        TABLES[key] = rlenvs.make_batch("AirHockey-v0", num, **keywords)
    batch = TABLES[key]
    batch.seed([0] * num)
    batch.reset()
    return batch


def put(batch, body, place, velocity=(0.0, 0.0), world=0):
    """A body somewhere, in metres; contacts find it in the next step."""
    s = batch.states
    s["centre"][world, body] = np.multiply(place, UNIT)
    s["frame"][world, body, :2] = np.multiply(place, UNIT)
    s["velocity"][world, body] = np.multiply(velocity, UNIT)
    s["spin"][world, body] = 0.0


def place(batch, body=PUCK_BODY, world=0):
    return batch.states["centre"][world, body] / UNIT


def velocity(batch, body=PUCK_BODY, world=0):
    return batch.states["velocity"][world, body] / UNIT


def idle(batch, steps=1):
    for _ in range(steps):
        batch.step(np.zeros_like(batch.actions))


def energy(batch):
    """Of the puck and the mallets [J]."""
    s = batch.states
    moving = 0.5 * s["mass"][:, 1:] * (s["velocity"][:, 1:] ** 2).sum(-1)
    turning = 0.5 * s["spin"][:, 1] ** 2 / s["inverse_inertia"][:, 1]
    return (moving.sum(1) + turning) / UNIT**2


def test_the_puck_is_the_challenges():
    """10 g and 5e-6 kg m^2; drag 0.005 N s/m slows it by exp(-0.5) in a second."""
    batch = fresh()
    assert batch.states["mass"][0, 1] == pytest.approx(0.01)
    assert 1.0 / batch.states["inverse_inertia"][0, 1] / UNIT**2 == pytest.approx(5e-6, rel=0.01)
    put(batch, PUCK_BODY, (0.0, 0.3), (0.5, 0.0))
    idle(batch, 50)
    assert velocity(batch)[0] == pytest.approx(0.5 * math.exp(-0.005 / 0.01), rel=1e-3)


@pytest.mark.parametrize(("start", "speed", "limit"), [((0.3, 0.4), (0.0, 1.0), WIDTH / 2 - PUCK)])
def test_the_table_is_1948_by_1038_mm(start, speed, limit):
    batch, highest = fresh(drag=0.0), 0.0
    put(batch, PUCK_BODY, start, speed)
    for _ in range(12):
        idle(batch)
        highest = max(highest, place(batch)[1])
    assert highest == pytest.approx(limit, abs=0.02 * 1.0)
    put(batch, PUCK_BODY, (0.9, 0.4), (0.5, 0.0))
    idle(batch, 8)
    assert velocity(batch)[0] == pytest.approx(-0.45, abs=1e-6)
    ends = np.abs(batch.states["vertex"][0].max(axis=0))
    np.testing.assert_allclose(ends / UNIT, [LENGTH / 2, WIDTH / 2], atol=1e-12)


def test_radii_are_those_of_the_challenge():
    radii = batch_radii(fresh())
    assert radii == pytest.approx([PUCK, MALLET, MALLET])


def batch_radii(batch):
    return (batch.states["shape_radius"][0, -3:] / UNIT).tolist()


@pytest.mark.parametrize("speed", [0.12, 1.0, 8.0])
def test_rims_give_back_nine_tenths(speed):
    batch = fresh(drag=0.0)
    put(batch, PUCK_BODY, (0.3, WIDTH / 2 - PUCK - 0.5 * 0.02 * speed), (0.0, speed))
    idle(batch, 2)
    assert velocity(batch)[1] == pytest.approx(-0.9 * speed, rel=1e-6)


@pytest.mark.parametrize("height", [0.0, 0.08, 0.09])
def test_a_goal_is_250_mm_wide(height):
    """The middle of the puck comes within 125 mm less its radius, or it hits the rim."""
    for sign, side in ((1, 0), (-1, 1)):
        for shift, point in ((0.0, 1), (0.05, 0)):
            batch = fresh(drag=0.0)
            put(batch, 2, (-0.3, -0.4))
            put(batch, 3, (0.3, -0.4))
            put(batch, PUCK_BODY, (sign * 0.9, height + shift * (height > 0.0)), (sign * 2.0, 0.0))
            idle(batch, 4)
            scored = point if height > 0.0 else 1
            assert batch.states["score"][0, side] == scored
            assert batch.terms[0, 0, side] in (0.0, 1.0)
            if scored:  # the side that scored has the puck
                assert batch.states["side"][0] == side
                assert 0.2 <= abs(place(batch)[0]) <= 0.7
                assert np.sign(place(batch)[0]) == (1 if side else -1)


def test_who_keeps_the_puck_for_15_s_has_a_fault_and_three_are_a_point():
    batch, faults = fresh(), []
    put(batch, PUCK_BODY, (-0.5, 0.1))
    batch.states["side"][0] = 0
    for step in range(2400):
        idle(batch)
        if batch.terms[0, 4, 0] > 0.0:
            faults.append(step + 1)
            assert batch.terms[0, 1, 0] == (-1.0 if len(faults) == 3 else 0.0)
            assert batch.terms[0, 0, 1] == (1.0 if len(faults) == 3 else 0.0)
    np.testing.assert_allclose(faults, [751, 1502, 2253], atol=3)  # 0.02 s each
    assert batch.states["score"][0].tolist() == [0, 1]


@pytest.mark.parametrize(("x", "vx", "back"), [(0.14, 0.02, True), (0.16, 0.02, False), (0.14, 0.03, False)])
def test_a_puck_that_lies_in_the_middle_is_put_back(x, vx, back):
    batch = fresh(drag=0.0)
    put(batch, PUCK_BODY, (x, 0.0), (vx, 0.0))
    idle(batch)
    assert (abs(place(batch)[0]) >= 0.2) == back


# --- bounds -----------------------------------------------------------------------------------------------------------


@settings(max_examples=40, deadline=None)
@given(st.floats(-0.9, 0.9), st.floats(-0.48, 0.48), st.floats(0.0, 20.0), st.floats(0.0, 6.3), st.integers(0, 99))
def test_the_puck_never_leaves_the_table(x, y, speed, angle, seed):
    """From anywhere at any speed, between mallets that hunt it and squeeze it against the rims."""
    batch = fresh(puck_mass=0.002, mallet_mass=2.0, mallet_speed=5.0, mallet_acceleration=100.0, goals=21)
    put(batch, PUCK_BODY, (x, y), (speed * math.cos(angle), speed * math.sin(angle)))
    rng = np.random.default_rng(seed)
    for _ in range(40):
        actions = batch.player_actions(["chaser", "striker"]).copy()
        if rng.random() < 0.2:
            actions[0] = rng.uniform(-1.0, 1.0, (2, 2))
        batch.step(actions)
        px, py = place(batch)
        assert abs(px) <= 0.5 * LENGTH
        assert abs(py) <= 0.5 * WIDTH - PUCK + 0.012
        assert np.hypot(*velocity(batch)) <= 20.0 + 1e-9
        assert batch.states["contacts_left_out"][0] == 0
        for k in range(2):
            mx, my = place(batch, 2 + k)
            assert abs(my) <= 0.5 * WIDTH - MALLET + 0.012
            assert -0.012 + MALLET <= (2 * k - 1) * mx <= 0.5 * LENGTH - MALLET + 0.012


@pytest.mark.parametrize("speed", [5.0, 12.0, 20.0])
@pytest.mark.parametrize("offset", [0.0, 0.02, -0.05])
@pytest.mark.parametrize("toward", [0.0, 1.0])
def test_nothing_passes_through_a_mallet(speed, offset, toward):
    """The mallet yields to a puck of 10 g hardly: it comes back."""
    batch = fresh(drag=0.0, mallet_speed=5.0, mallet_acceleration=100.0)
    put(batch, 3, (0.6, 0.0), (-5.0 * toward, 0.0))
    put(batch, PUCK_BODY, (0.3, offset), (speed, 0.0))
    for _ in range(6):
        actions = np.zeros_like(batch.actions)
        actions[0, 1, 0] = toward
        batch.step(actions)
        if velocity(batch)[0] < 0.5 * speed:
            break
    assert velocity(batch)[0] < 0.5 * speed
    assert place(batch)[0] < place(batch, 3)[0]
    assert batch.states["score"][0].sum() == 0


@settings(max_examples=25, deadline=None)
@given(st.floats(-0.9, 0.9), st.floats(-0.45, 0.45), st.floats(0.0, 20.0), st.floats(0.0, 6.3))
def test_nothing_makes_energy(x, y, speed, angle):
    """With mallets that are asked to stand still it only falls, also where three things meet."""
    batch = fresh(restitution=1.0, mallet_restitution=1.0, drag=0.0)
    put(batch, PUCK_BODY, (x, y), (speed * math.cos(angle), speed * math.sin(angle)))
    if min(np.hypot(*(place(batch) - place(batch, 2 + k))) for k in range(2)) < PUCK + MALLET:
        return
    before = energy(batch)[0]
    for _ in range(25):
        idle(batch)
        if batch.states["score"][0].any() or batch.states["stay"][0] == 0.0:
            batch.states["score"][0] = 0
            return
        after = energy(batch)[0]
        assert after <= before * (1.0 + 1e-9) + 1e-12
        before = after


def test_a_hit_keeps_the_momentum():
    """A mallet that nobody drives (it is already as fast as asked) and the puck: as two free discs."""
    batch = fresh(drag=0.0, friction=0.0, mallet_acceleration=2.0, substeps=40)
    put(batch, 2, (-0.6, 0.0), (1.0, 0.0))
    put(batch, PUCK_BODY, (-0.6 + PUCK + MALLET + 0.015, 0.0))
    actions = np.zeros_like(batch.actions)
    actions[0, 0, 0] = 0.5
    batch.step(actions)
    u, v = velocity(batch, 2)[0], velocity(batch)[0]
    assert v - u == pytest.approx(0.8, abs=0.02)
    assert 0.3 * u + 0.01 * v == pytest.approx(0.3, abs=0.3 * 2.0 * 0.02)  # what the drive may give in the step


def test_a_game_turned_by_half_a_turn_is_the_same_game():
    """To 1e-9 until the puck meets two things in one step, whose order may differ."""
    games = fresh(2)
    for world, sign in ((0, 1.0), (1, -1.0)):
        put(games, PUCK_BODY, (-0.5 * sign, 0.13 * sign), (0.4 * sign, 0.9 * sign), world)
        games.states["side"][world] = world
    rng = np.random.default_rng(3)
    for _ in range(150):
        own = games.player_actions(["striker", "chaser"])[0].copy()
        own += rng.uniform(-0.3, 0.3, own.shape)
        own = np.clip(own, -1.0, 1.0)
        games.step(np.array([own, own[::-1]]))
        np.testing.assert_allclose(place(games, world=1), -place(games, world=0), atol=1e-9)
        np.testing.assert_allclose(games.observations[1], games.observations[0, ::-1], atol=1e-6)
    assert np.hypot(*velocity(games)) > 0.0


# --- forms ------------------------------------------------------------------------------------------------------------


def test_the_opponent_inside_the_world_is_the_player_outside():
    alone, both = fresh(opponent="striker"), fresh()
    rng = np.random.default_rng(1)
    for _ in range(100):
        move = rng.uniform(-1.0, 1.0, 2)
        actions = both.player_actions([None, "striker"]).copy()
        actions[0, 0] = move
        both.step(actions)
        alone.step(move[None, None])
        np.testing.assert_allclose(alone.observations[0, 0], both.observations[0, 0], atol=1e-5)


def test_the_striker_beats_the_keeper_where_goals_are_wide():
    table = rlenvs.tournament("AirHockey-v0", ["striker", "keeper"], games=12, level="wide")
    assert table.win_rate("striker", "keeper")[0] > 0.6


def test_touches_are_told_with_the_speed_of_the_shot():
    batch = fresh(drag=0.0)
    put(batch, 2, (-0.4, 0.0), (2.0, 0.0))
    put(batch, PUCK_BODY, (-0.3, 0.0))
    actions = np.zeros_like(batch.actions)
    actions[0, 0, 0] = 1.0
    batch.step(actions)
    assert batch.terms[0, 2].tolist() == [1.0, 0.0]
    assert batch.terms[0, 3, 0] == pytest.approx(velocity(batch)[0], rel=1e-6)
    assert batch.terms[0, 3, 0] > 2.5


def test_pictures_show_puck_and_mallets():
    env = rlenvs.make("AirHockey-v0", level="pixels")
    picture, _ = env.reset(seed=4)
    assert picture.shape == (84, 84, 3)
    assert picture.max() == 255
    np.testing.assert_array_equal(picture[..., 1], picture[..., 2])
    after, *_ = env.step(np.array([1.0, 0.0], np.float32))
    np.testing.assert_array_equal(after[..., 1], picture[..., 0])
    scale = 84.0 / LENGTH
    discs = math.pi * (255.0 * PUCK**2 + (190.0 + 110.0) * MALLET**2) * scale**2
    assert picture[..., 0].sum() == pytest.approx(discs, rel=0.1)
