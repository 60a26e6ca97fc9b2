"""PaddleDuel: the numbers of the arcade machine, exact flight, mirrored games."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rlenvs
from rlenvs.multi.arcade.paddle_duel import DOWN, FACE, STAY, TOP, UP

NEAR = FACE - 2.0  # px, where the ball touches a paddle
ROOM = TOP - 2.0  # px, where it touches a wall


def court(num=1, **keywords):
    batch = rlenvs.make_batch("PaddleDuel-v0", num, **keywords)
    batch.seed(list(range(num)))
    batch.reset()
    return batch


ONE = {}


def fresh(**keywords):
    """One batch of one world for each set of keywords, begun again."""
    key = tuple(sorted(keywords.items()))
    if key not in ONE:
        ONE[key] = court(**keywords)
    batch = ONE[key]
    batch.seed([0])
    batch.reset()
    return batch


def put(batch, ball, velocity, paddles=(0.0, 0.0), hits=0, passed=0):
    states = batch.states
    states["ball"][0], states["velocity"][0], states["paddle"][0] = ball, velocity, paddles
    states["hits"][0], states["passed"][0] = hits, passed


def stay(batch, steps=1):
    for _ in range(steps):
        batch.step(np.zeros_like(batch.actions))


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize(("part", "lines"), [*enumerate([-3, -2, -1, 0, 0, 1, 2, 3])])
def test_each_eighth_of_a_paddle_has_its_own_angle(side, part, lines):
    batch, sign = fresh(frames=1), 2 * side - 1
    offset = (part + 0.5) * 2.0 - 8.0  # of the 16 lines of a paddle
    put(batch, (sign * (NEAR - 0.5), 20.0 + offset), (sign * 1.0, 0.0), (20.0, 20.0))
    stay(batch)
    assert tuple(batch.states["velocity"][0]) == (-sign * 1.0, lines)
    assert batch.states["hits"][0] == 1


@pytest.mark.parametrize(("hits", "speed"), [(0, 1), (2, 1), (3, 2), (10, 2), (11, 3), (40, 3)])
def test_the_ball_is_faster_after_4_and_12_hits(hits, speed):
    batch = fresh(frames=1)
    put(batch, (NEAR - 0.5, 0.0), (1.0, 0.0), hits=hits)
    stay(batch)
    assert batch.states["velocity"][0, 0] == -speed


@pytest.mark.parametrize("side", [0, 1])
def test_a_point_goes_to_the_other_side_and_the_ball_to_who_missed(side):
    batch, sign = fresh(frames=4), 2 * side - 1
    put(batch, (sign * 187.0, 50.0), (sign * 3.0, 0.0), hits=20, passed=1)
    stay(batch)
    winner = 1 - side
    assert batch.states["score"][0, winner] == 1
    assert batch.states["score"][0, side] == 0
    assert batch.terms[0, :3, winner].tolist() == [1.0, 0.0, 0.0]  # goal, concede, hit
    assert batch.terms[0, :3, side].tolist() == [0.0, -1.0, 0.0]
    assert batch.rewards[0].sum() == 0.0
    assert batch.states["velocity"][0, 0] == sign * 1.0
    assert batch.states["hits"][0] == 0
    assert batch.states["ball"][0, 0] == 0.0


def test_the_court_is_375_by_246_and_what_is_in_it():
    batch = fresh(frames=1)
    put(batch, (0.0, 246 / 2 - 2.0 - 0.5), (1.0, 1.0))
    stay(batch)
    assert tuple(batch.states["ball"][0]) == (1.0, 246 / 2 - 2.0 - 0.5)
    for x, point in ((375 / 2 + 2.0 - 1.5, 0), (375 / 2 + 2.0 - 0.5, 1)):
        put(batch, (x, 0.0), (1.0, 0.0), passed=1)
        stay(batch)
        assert batch.states["score"][0, 0] == point


@settings(max_examples=60, deadline=None)
@given(
    st.floats(-120.0, 120.0), st.floats(-ROOM, ROOM), st.floats(0.25, 24.0), st.floats(-12.0, 12.0), st.integers(0, 1),
    st.floats(-9.9, 9.9),
)  # fmt: skip
def test_no_ball_passes_a_paddle_that_is_there(x, y, speed, across, side, offset):
    """Also those of 24 px per frame, which cross a paddle in a sixth of a frame; and none is hit that is not there."""
    batch, sign = fresh(frames=12), 2 * side - 1
    frames = (NEAR - sign * x) / speed
    swing = (y + across * frames + ROOM) % (4.0 * ROOM)
    arrival = ROOM - abs(2.0 * ROOM - swing)
    limit = TOP - 8.0
    for shift in (offset, math.copysign(10.1, -arrival)):
        height = arrival + shift
        if abs(height) > limit:
            continue
        put(batch, (x, y), (sign * speed, across), (height, height))
        before = batch.states["score"][0].copy()
        for _ in range(math.ceil((frames + 1e-6) / 12.0)):
            if batch.states["hits"][0] == 0 and (batch.states["score"][0] == before).all():
                stay(batch)
        hit = batch.states["hits"][0] >= 1
        assert hit == (shift == offset)
        batch.states["score"][0] = 0


def test_a_mirrored_game_is_the_mirror_of_a_game_to_the_bit():
    games = court(2, points=21)
    states = games.states
    states["rng"][1] = states["rng"][0]
    mirror(states)
    rng = np.random.default_rng(0)
    for _ in range(600):
        moves = np.where(rng.random(2) < 0.5, follow(states), rng.integers(0, 3, 2))
        games.step(np.array([moves, moves[::-1]]))
        assert states["ball"][1, 0] == -states["ball"][0, 0]
        assert states["ball"][1, 1] == states["ball"][0, 1]
        np.testing.assert_array_equal(states["paddle"][1], states["paddle"][0, ::-1])
        np.testing.assert_array_equal(states["score"][1], states["score"][0, ::-1])
        np.testing.assert_array_equal(games.observations[1], games.observations[0, ::-1])
    assert states["score"][0].min() > 0


def mirror(states):
    states["ball"][1], states["velocity"][1] = states["ball"][0] * [-1, 1], states["velocity"][0] * [-1, 1]


def follow(states):
    away = states["ball"][0, 1] - states["paddle"][0]
    return np.where(away > 4.0, UP, np.where(away < -4.0, DOWN, STAY))


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 1000), st.lists(st.integers(0, 8), min_size=20, max_size=60))
def test_ball_and_paddles_stay_in_the_court(seed, moves):
    batch = fresh(ball_speed=8.0, speed_up=8.0, steepness=12.0, paddle_speed=12.0, frames=12, points=21)
    batch.seed([seed])
    batch.reset()
    for move in moves:
        batch.step(np.array([[move % 3, move // 3]]))
        if batch.over[0]:
            break
        assert abs(batch.states["ball"][0, 1]) <= ROOM
        assert np.abs(batch.states["paddle"][0]).max() <= TOP - 8.0
        assert np.abs(batch.states["velocity"][0]).max() <= 24.0


def test_a_game_ends_with_the_last_point():
    batch = fresh(points=2, frames=4)
    for point in (1, 2):
        put(batch, (187.0, 0.0), (3.0, 0.0), passed=1)
        stay(batch)
        assert bool(batch.over[0]) == (point == 2)
    assert batch.success[0].tolist() == [True, False]


@pytest.mark.parametrize("player", ["ace", "follower", "novice"])
def test_the_opponent_inside_the_world_is_the_player_outside(player):
    alone, both = court(opponent=player), court()
    assert alone.agents == 1
    rng = np.random.default_rng(1)
    for _ in range(200):
        move = int(rng.integers(0, 3))
        actions = both.player_actions([None, player]).copy()
        actions[0, 0] = move
        both.step(actions)
        alone.step(np.array([[move]]))
        np.testing.assert_array_equal(alone.observations[0, 0], both.observations[0, 0])
        assert alone.rewards[0, 0] == both.rewards[0, 0]


def test_players_differ_in_strength():
    table = rlenvs.tournament("PaddleDuel-v0", games=12)
    assert table.players[0] == "ace"
    assert table.players[-1] == "random"
    assert table.win_rate("ace", "follower")[0] > 0.9


def test_pictures_show_three_moments_of_the_court():
    env = rlenvs.make("PaddleDuel-v0", level="pixels")
    first, _ = env.reset(seed=4)
    assert first.shape == (84, 84, 3)
    seen = [first[..., 0]]
    for _ in range(3):
        picture, *_ = env.step(1)
        np.testing.assert_array_equal(picture[..., 1], seen[-1])
        seen.append(picture[..., 0])
    np.testing.assert_array_equal(picture[..., 2], seen[-3])
    area = 84.0 * 84.0 / (375.0 * 246.0)
    wanted = 255.0 * (16.0 + 64.0) * area + 150.0 * 64.0 * area
    assert picture[..., 0].sum() == pytest.approx(wanted, rel=0.02)
