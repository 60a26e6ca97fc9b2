"""SameGame: every board against an implementation of lists, points per colour, whose they are, and players."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rlenvs
from rlenvs.multi.boards.same_game import NAMES, SPEC


def test_the_published_board():
    """15 rows, 15 columns, five colours, one player."""
    env = rlenvs.make("SameGame-v0")
    batch = env.unwrapped.batch
    env.reset(seed=0)
    assert batch.states["tile"].shape == (1, 15, 15)
    assert np.unique(batch.states["tile"]).tolist() == [1, 2, 3, 4, 5]
    assert batch.agents == 1


def columns_of(tiles):
    """A board as lists of colours from the bottom up, without empty columns."""
    stacks = [[int(color) for color in tiles[::-1, x] if color] for x in range(tiles.shape[1])]
    return [stack for stack in stacks if stack]


def group_at(stacks, x, y):
    """The places that are connected with one, of its colour."""
    found, new = set(), {(x, y)}
    while new:
        found |= new
        around = {(a + dx, b + dy) for a, b in new for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1))}
        new = {
            (a, b)
            for a, b in around - found
            if 0 <= a < len(stacks) and 0 <= b < len(stacks[a]) and stacks[a][b] == stacks[x][y]
        }
    return found


def without(stacks, gone):
    left = [[color for y, color in enumerate(stack) if (x, y) not in gone] for x, stack in enumerate(stacks)]
    return [stack for stack in left if stack]


def tiles_of(stacks, height, width):
    tiles = np.zeros((height, width), np.uint8)
    for x, stack in enumerate(stacks):
        for y, color in enumerate(stack):
            tiles[height - 1 - y, x] = color
    return tiles


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    height=st.integers(3, 16),
    width=st.integers(3, 16),
    colors=st.integers(2, 5),
    players=st.integers(1, 5),
    reward=st.sampled_from(["individual", "team"]),
)
def test_whole_games_by_the_plain_rules(seed, height, width, colors, players, reward):
    choices = {"height": height, "width": width, "colors": colors, "players": players, "reward": reward}
    batch = rlenvs.make_batch("SameGame-v0", 1, **choices)
    batch.seed([seed])
    batch.reset()
    stacks = columns_of(batch.states["tile"][0])
    assert {color for stack in stacks for color in stack} <= set(range(1, colors + 1))
    assert [len(stack) for stack in stacks] == [height] * width
    generator = np.random.default_rng(seed)
    total, turn, paid = np.zeros(players), 0, np.zeros(players)
    while True:
        mover = turn % players
        groups = {
            (height - 1 - y) * width + x: group_at(stacks, x, y)
            for x, stack in enumerate(stacks)
            for y in range(len(stack))
        }
        legal = sorted(cell for cell, group in groups.items() if len(group) > 1)
        if not legal:
            break
        assert batch.states["turn"][0] == mover
        assert np.flatnonzero(batch.masks[0, mover]).tolist() == legal
        assert (batch.masks[0].sum(axis=1) == [len(legal) if k == mover else 1 for k in range(players)]).all()
        cell = legal[int(generator.integers(len(legal)))]
        y, x = height - 1 - cell // width, cell % width
        color, group = stacks[x][y], groups[cell]
        stacks = without(stacks, group)
        batch.actions[...] = 0
        batch.actions[0, mover, 0] = cell
        batch.step_inplace()
        np.testing.assert_array_equal(batch.states["tile"][0], tiles_of(stacks, height, width))
        wanted = np.zeros((len(NAMES), players))
        wanted[color - 1, slice(None) if reward == "team" else mover] = len(group) ** 2
        np.testing.assert_array_equal(batch.terms[0], wanted)
        np.testing.assert_array_equal(batch.rewards[0], wanted.sum(axis=0))
        total[mover] += len(group) ** 2
        paid += batch.rewards[0]
        turn += 1
    assert batch.over[0]
    assert batch.terminated.all()
    np.testing.assert_array_equal(batch.states["points"][0], total)
    np.testing.assert_array_equal(paid, np.full(players, total.sum()) if reward == "team" else total)
    if players > 1 and reward == "individual":
        assert batch.success[0].tolist() == (total == total.max()).tolist()
    else:
        assert batch.success[0].tolist() == [total.sum() >= 2000] * players


@pytest.mark.parametrize(("size", "points"), [(2, 4), (3, 9), (9, 81)])
def test_points_are_the_square(size, points):
    batch = rlenvs.make_batch("SameGame-v0", 1, height=3, width=3, colors=2)
    batch.seed([0])
    batch.reset()
    tiles = np.full((3, 3), 0, np.uint8)
    tiles.reshape(-1)[::-1][:size] = 3
    batch.states["tile"][0] = tiles
    batch.actions[0, 0, 0] = 8
    batch.step_inplace()
    assert batch.rewards[0, 0] == batch.terms[0, 2, 0] == points
    assert batch.over[0]
    assert not batch.states["tile"].any()


def test_an_illegal_choice_passes_the_turn():
    batch = rlenvs.make_batch("SameGame-v0", 1, players=3)
    batch.seed([0])
    batch.reset()
    before = batch.states["tile"].copy()
    batch.actions[0, :, 0] = [int(np.flatnonzero(batch.masks[0, 0] == 0)[0]), 0, 0]
    batch.step_inplace()
    np.testing.assert_array_equal(batch.states["tile"], before)
    assert batch.states["turn"][0] == 1
    assert not batch.rewards.any()


def points_of(player, worlds=40, **choices):
    batch = rlenvs.make_batch("SameGame-v0", worlds, **choices)
    batch.seed(range(worlds))
    batch.reset()
    done, total = np.zeros(worlds, bool), np.zeros(worlds)
    while not done.all():
        batch.player_actions(player)
        batch.step_inplace()
        total += np.where(done, 0.0, batch.rewards[:, 0])
        done |= batch.over
    return total.mean()


def test_better_players_make_more_points():
    means = [points_of(player, height=8, width=8, colors=3) for player in ("planner", "tabu", "random")]
    assert means[0] > 1.2 * means[1] > 1.2 * 1.2 * means[2]


def test_the_greedy_player_takes_the_largest_group():
    batch = rlenvs.make_batch("SameGame-v0", 8, height=7, width=9, colors=3)
    batch.seed(range(8))
    batch.reset()
    for world, action in enumerate(batch.player_actions("greedy")[:, 0, 0].tolist()):
        stacks = columns_of(batch.states["tile"][world])
        sizes = {(x, y): len(group_at(stacks, x, y)) for x, stack in enumerate(stacks) for y in range(len(stack))}
        assert sizes[action % 9, 6 - action // 9] == max(sizes.values())


def test_a_tournament_of_three():
    result = rlenvs.tournament(
        "SameGame-v0", ["tabu", "greedy", "random"], games=12, make={"players": 3}, height=6, width=6, colors=3
    )
    assert result.teams == 3
    assert rlenvs.make("mo-SameGame-v0").unwrapped.reward_space.shape == (5,)


def test_keys():
    batch = rlenvs.make_batch("SameGame-v0")
    batch.seed([0])
    batch.reset()
    hand = SPEC.functions["keys"](batch.setup.values)
    keys = ["right"] * 5
    while hand.press([*keys, "space"], *batch.records(0)) is None:
        keys = ["up"]
    assert hand.column == 5
    assert hand.press([], *batch.records(0)) is None


def test_planes_come_first_where_that_is_wanted():
    last, first = (rlenvs.make("SameGame-v0", level="small", height=6, planes_first=way) for way in (False, True))
    shown, turned = last.reset(seed=2)[0], first.reset(seed=2)[0]
    for _ in range(6):
        assert (shown.shape, turned.shape) == ((6, 8, 3), (3, 6, 8))
        assert np.array_equal(np.moveaxis(shown, 2, 0), turned)
        action = last.unwrapped.expert_action()
        shown, turned = last.step(action)[0], first.step(action)[0]
