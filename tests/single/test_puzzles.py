"""Lights out, sliding tiles, 2048, Minesweeper: rules, provable lengths, experts."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rlenvs
from rlenvs.core.catalogue.registry import world_of
from rlenvs.core.declare.errors import ParameterError
from rlenvs.core.declare.setup import Setup
from rlenvs.single.puzzles import game_2048, lights_out, minesweeper
from rlenvs.single.puzzles.binary import quiet_patterns, solving_matrix
from rlenvs.single.puzzles.sliding_solver import FAR, distance, distance_table

LIGHTS, TILES, GAME, MINES = (f"rlenvs/{name}-v0" for name in ("LightsOut", "SlidingTiles", "Game2048", "Minesweeper"))


def state(env):
    return env.unwrapped.batch.records(0)[1]


def played(env, seed=0, most=2000):
    """An episode of the expert: its length, return, whether it succeeded."""
    env.reset(seed=seed)
    total, over, steps, info = 0.0, False, 0, {}
    while not over and steps < most:
        _, reward, terminated, truncated, info = env.step(env.unwrapped.expert_action())
        total, over, steps = total + reward, terminated or truncated, steps + 1
    return steps, total, info["is_success"]


# --- lights out -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("size", "quiet"), [(2, 0), (3, 0), (4, 4), (5, 2), (6, 0), (7, 0), (8, 0), (9, 8), (10, 0)])
def test_patterns_that_change_nothing(size, quiet):
    """The published dimensions of the null space (OEIS A159257)."""
    matrix = lights_out.effects(size)
    patterns = quiet_patterns(matrix)
    assert len(patterns) == 2**quiet
    assert not ((matrix.astype(int) @ patterns.T) % 2).any()


def test_no_start_of_5_by_5_needs_more_than_15_presses():
    patterns = quiet_patterns(lights_out.effects(5)).astype(int)
    rng = np.random.default_rng(0)
    presses = rng.integers(2, size=(4000, 25))
    least = (presses[:, None] ^ patterns).sum(axis=2).min(axis=1)
    assert least.max() <= 15
    # the heaviest: as many presses inside each region in which the patterns agree as outside of it
    regions = {}
    for lamp in range(25):
        regions.setdefault(tuple(patterns[:, lamp]), []).append(lamp)
    counts = [range(len(lamps) + 1) for lamps in regions.values()]
    heaviest = max(
        min(
            sum(len(lamps) - n if bit else n for n, lamps, bit in zip(chosen, regions.values(), bits, strict=True))
            for bits in np.array(list(regions)).T
        )
        for chosen in itertools.product(*counts)
    )
    assert heaviest == 15


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 6), st.integers(0, 2**20))
def test_the_matrix_solves_what_can_be_solved(size, seed):
    matrix = lights_out.effects(size).astype(int)
    lit = matrix @ np.random.default_rng(seed).integers(2, size=size * size) % 2
    assert np.array_equal(matrix @ (solving_matrix(matrix.astype(np.uint8)).astype(int) @ lit % 2) % 2, lit)


def test_a_press_switches_a_lamp_and_its_neighbours():
    env = rlenvs.make(LIGHTS)
    env.reset(seed=0)
    for cell, switched in ((12, {7, 11, 12, 13, 17}), (0, {0, 1, 5}), (24, {24, 23, 19}), (10, {10, 5, 15, 11})):
        before = state(env)["lit"].ravel().copy()
        observation, *_ = env.step(cell)
        assert set(np.flatnonzero(before != state(env)["lit"].ravel()).tolist()) == switched
        assert np.array_equal(observation, state(env)["lit"])


@pytest.mark.parametrize("size", [2, 3, 5, 8])
def test_the_lights_expert_needs_no_more_presses_than_there_were(size):
    for presses in (1, 3):
        env = rlenvs.make(LIGHTS, size=size, presses=presses)
        for seed in range(5):
            steps, total, success = played(env, seed)
            assert success
            assert steps <= presses
            assert total == pytest.approx(1.0 - 0.01 * steps)


def test_starts_with_any_number_of_presses_in_a_range():
    env, found = rlenvs.make(LIGHTS, presses=5, fewest_presses=2), set()
    for seed in range(200):
        env.reset(seed=seed)
        p, s = env.unwrapped.batch.records(0)
        found.add(int(lights_out.shortest_solution(p, s)))
    assert found == {2, 3, 4, 5}
    env = rlenvs.make(LIGHTS, presses=3, fewest_presses=3)
    assert np.array_equal(env.reset(seed=1)[0], rlenvs.make(LIGHTS, presses=3).reset(seed=1)[0])


@pytest.mark.parametrize(
    ("name", "least", "most"),
    [(LIGHTS, "fewest_presses", "presses"), ("RubiksCube-v0", "shortest_scramble", "scramble")],
)
def test_a_number_is_drawn_from_no_more_than_the_other_end(name, least, most):
    with pytest.raises(
        ParameterError, match=f"{least}=4, {most}=3 violate a constraint: {least} must not exceed {most}"
    ):
        rlenvs.make(name, **{least: 4, most: 3})
    rlenvs.make(name, **{least: 3, most: 3}).close()


def test_the_lights_expert_is_as_short_as_all_sets_of_presses():
    """3 x 3: every set of presses tried."""
    matrix, env = lights_out.effects(3).astype(int), rlenvs.make(LIGHTS, size=3)
    every = np.array(list(itertools.product((0, 1), repeat=9)))
    for seed in range(10):
        env.reset(seed=seed)
        lit = state(env)["lit"].ravel().astype(int)
        least = every[((every @ matrix.T) % 2 == lit).all(axis=1)].sum(axis=1).min()
        assert played(env, seed)[0] == least


# --- sliding tiles ----------------------------------------------------------------------------------------------------


def test_distances_of_the_eight_puzzle():
    table = distance_table(3)
    reached = table[table < FAR]
    assert len(reached) == 181_440
    assert reached.max() == 31
    assert (reached == 31).sum() == 2
    assert reached.mean() == pytest.approx(21.97, abs=0.005)
    small = distance_table(2)
    assert ((small < FAR).sum(), small[small < FAR].max()) == (12, 6)


@pytest.mark.parametrize("size", [2, 3, 4, 5])
def test_every_start_of_tiles_is_solved(size):
    env = rlenvs.make(TILES, size=size)
    for seed in range(3):
        env.reset(seed=seed)
        tiles = state(env)["tile"].copy()
        assert sorted(tiles.tolist()) == list(range(size * size))
        steps, _, success = played(env, seed)
        assert success
        if size <= 3:
            assert steps == distance(tiles)


def test_starts_of_tiles_are_uniform_and_moves_are_counted():
    batch = rlenvs.make_batch(TILES, 6000, size=2)
    batch.seed(range(6000))
    batch.reset()
    orders, counts = np.unique(batch.states["tile"], axis=0, return_counts=True)
    assert len(orders) == 11  # all but the solved one
    assert counts.min() > 430  # 545 each, but for chance
    env = rlenvs.make(TILES, shuffle_moves=5)
    for seed in range(20):
        env.reset(seed=seed)
        assert distance(state(env)["tile"]) <= 5


def test_the_gap_moves_and_stays_on_the_board():
    env = rlenvs.make(TILES, one_hot=True)
    observation, info = env.reset(seed=3)
    for _ in range(60):
        before, gap = state(env)["tile"].copy(), int(state(env)["gap"])
        row, column = divmod(gap, 3)
        legal = [row > 0, column < 2, row < 2, column > 0]
        assert info["action_mask"].tolist() == legal
        assert np.array_equal(observation.argmax(axis=0).ravel(), before)
        action = env.action_space.sample()
        observation, _, terminated, _, info = env.step(action)
        after = state(env)["tile"]
        assert (before == after).all() == (not legal[action])
        if legal[action]:
            cell = gap + (-3, 1, 3, -1)[action]
            assert after[cell] == 0
            assert after[gap] == before[cell]
        if terminated:
            break


# --- 2048 -------------------------------------------------------------------------------------------------------------


def pushed_row(row):
    """A row pushed to its beginning, by the rules in words."""
    tiles, made, found = [k for k in row if k], 0, []
    while tiles:
        if len(tiles) > 1 and tiles[0] == tiles[1]:
            found.append(tiles[0] + 1)
            made += 2 ** (tiles[0] + 1)
            tiles = tiles[2:]
        else:
            found.append(tiles.pop(0))
    return found + [0] * (len(row) - len(found)), made


@settings(max_examples=150, deadline=None)
@given(st.lists(st.integers(0, 4), min_size=16, max_size=16), st.integers(0, 3))
def test_pushes_merge_by_the_rules(cells, action):
    board = np.array(cells, np.uint8).reshape(4, 4)
    turned = {0: board.T, 1: board[:, ::-1], 2: board[::-1].T, 3: board}[action]
    rows, sums = zip(*(pushed_row(row.tolist()) for row in turned), strict=True)
    rows = np.array(rows)
    expected = {0: rows.T, 1: rows[:, ::-1], 2: rows.T[::-1], 3: rows}[action]
    changed = not np.array_equal(expected, board)
    assert game_2048.can_push(board, action) == changed
    made = game_2048.push(after := board.copy(), action)
    assert np.array_equal(after, expected)
    assert made == (sum(sums) if changed else -1)


@pytest.mark.parametrize(
    ("row", "after", "made"),
    [
        ([1, 1, 1, 1], [2, 2, 0, 0], 8),
        ([1, 1, 2, 0], [2, 2, 0, 0], 4),
        ([2, 1, 1, 0], [2, 2, 0, 0], 4),
        ([1, 0, 0, 1], [2, 0, 0, 0], 4),
        ([1, 1, 1, 0], [2, 1, 0, 0], 4),
    ],
)
def test_a_tile_merges_once(row, after, made):
    board = np.zeros((4, 4), np.uint8)
    board[0] = row
    assert game_2048.push(board, 3) == made
    assert board[0].tolist() == after


def test_new_tiles():
    batch = rlenvs.make_batch(GAME, 4000)
    batch.seed(range(4000))
    batch.reset()
    board = batch.states["exponent"].reshape(4000, 16)
    assert ((board > 0).sum(axis=1) == 2).all()
    assert set(board.ravel().tolist()) == {0, 1, 2}
    assert (board == 2).sum() / (board > 0).sum() == pytest.approx(0.1, abs=0.012)
    assert np.abs((board > 0).mean(axis=0) - 0.125).max() < 0.03


def test_a_move_that_changes_nothing_adds_no_tile():
    env = rlenvs.make(GAME)
    env.reset(seed=1)
    seen = 0
    for _ in range(300):
        before = state(env)["exponent"].copy()
        action = env.action_space.sample()
        legal = env.unwrapped.batch.masks[0, 0, action]
        _, reward, terminated, _, info = env.step(action)
        after = state(env)["exponent"]
        if not legal:
            assert np.array_equal(before, after)
            assert reward == 0.0
            seen += 1
        else:
            assert 2.0 ** after[after > 0].astype(float) @ np.ones((after > 0).sum()) in (
                (2.0 ** before[before > 0].astype(float)).sum() + 2,
                (2.0 ** before[before > 0].astype(float)).sum() + 4,
            )
        assert info["reward_moved"] == legal
        if terminated:
            assert not env.unwrapped.batch.masks.any()
            break
    assert seen


def test_the_2048_expert_reaches_2048_in_many_games():
    won = [played(rlenvs.make(GAME), seed, 10_000)[2] for seed in range(6)]
    assert sum(won) >= 2


# --- minesweeper ------------------------------------------------------------------------------------------------------


def test_numbers_say_how_many_mines_lie_around():
    env = rlenvs.make(MINES, rows=6, columns=8, mines=9)
    env.reset(seed=4)
    mine = state(env)["mine"].copy()
    assert mine.sum() == 9
    padded = np.pad(mine.astype(int), 1)
    around = sum(padded[1 + r : 7 + r, 1 + c : 9 + c] for r in (-1, 0, 1) for c in (-1, 0, 1)) - mine
    for opened, cell in enumerate(np.flatnonzero(mine.ravel() == 0), start=1):
        observation, reward, terminated, _, info = env.step(int(cell))
        assert reward == 1.0
        assert observation[0].ravel()[cell] == around.ravel()[cell]
        assert (observation[0] >= 0).sum() == opened
        assert info["action_mask"].sum() == 48 - opened
        assert terminated == (opened == 39)
    assert info["is_success"]


def test_a_mine_ends_the_episode_without_success():
    env = rlenvs.make(MINES)
    env.reset(seed=0)
    cell = int(np.flatnonzero(state(env)["mine"].ravel())[0])
    _, reward, terminated, _, info = env.step(cell)
    assert (reward, terminated, info["is_success"], info["reward_mine"]) == (0.0, True, False, -1.0)


def test_an_open_cell_changes_nothing():
    env = rlenvs.make(MINES)
    env.reset(seed=0)
    cell = int(np.flatnonzero(state(env)["mine"].ravel() == 0)[0])
    first, *_ = env.step(cell)
    second, reward, terminated, *_ = env.step(cell)
    assert np.array_equal(first, second)
    assert (reward, terminated) == (0.0, False)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(0, 80), st.sampled_from(["safe", "clear"]), st.integers(1, 30))
def test_first_clicks(seed, cell, first, mines):
    env = rlenvs.make(MINES, rows=9, columns=9, mines=mines, first_click=first, backend="python")
    env.reset(seed=seed)
    observation, _, _, _, info = env.step(cell)
    assert state(env)["mine"].sum() == mines
    assert info["reward_opened"] == 1.0
    if first == "clear":
        assert observation[0].ravel()[cell] == 0


def test_openings_spread_over_cells_without_numbers():
    env = rlenvs.make(MINES, spread=True, first_click="clear", mines=5)
    for seed in range(10):
        observation, _ = env.reset(seed=seed)
        observation, *_ = env.step(55)
        board, mine = observation[0], state(env)["mine"]
        assert not ((board >= 0) & (mine == 1)).any()
        for row, column in np.argwhere(board == 0):
            assert (board[max(row - 1, 0) : row + 2, max(column - 1, 0) : column + 2] >= 0).all()


def test_the_expert_opens_no_mine_where_numbers_decide():
    """What the expert calls free is, in every step of a hundred games."""
    expert_sees_free = 0
    batch = rlenvs.make_batch(MINES, 100)
    batch.seed(range(100))
    batch.reset()
    for _ in range(60):
        actions = batch.expert_actions()[:, 0, 0].astype(int)
        known = batch.states["known"].reshape(100, -1)[np.arange(100), actions]
        mine = batch.states["mine"].reshape(100, -1)[np.arange(100), actions]
        on = batch.states["over"] == 0
        free = (known == minesweeper.FREE) & on
        assert not mine[free].any()
        mined = batch.states["known"].reshape(100, -1) == minesweeper.MINED
        assert batch.states["mine"].reshape(100, -1)[mined & on[:, None]].all()
        expert_sees_free += free.sum()
        batch.step(batch.actions.copy())
    assert expert_sees_free > 3000


def test_the_expert_wins_most_games():
    won = sum(played(rlenvs.make(MINES, first_click="clear"), seed)[2] for seed in range(30))
    assert won >= 24


@pytest.mark.parametrize(
    ("id", "keywords", "message"),
    [
        (LIGHTS, {"size": 1}, "size=1"),
        (TILES, {"size": 6}, "size=6"),
        (GAME, {"four": 1.5}, "four=1.5"),
        (MINES, {"mines": 100}, "mines=100 on 10 x 10 cells leave none to open; at most 99"),
    ],
)
def test_what_cannot_be_played_is_refused(id, keywords, message):
    with pytest.raises(ParameterError, match=message):
        rlenvs.make(id, **keywords)


def test_texts():
    for id, expected in ((LIGHTS, "*."), (TILES, "12345678."), (GAME, "24."), (MINES, "#")):
        env = rlenvs.make(id, render_mode="ansi")
        env.reset(seed=0)
        assert set(env.render()) - {" ", "\n"} <= set(expected)


@pytest.mark.parametrize("moves", [12, 24, 9996])
def test_a_shuffle_that_goes_round_is_refused(moves):
    with pytest.raises(ParameterError, match=f"shuffle_moves={moves} always returns .* another number of moves"):
        rlenvs.make("SlidingTiles-v0", size=2, shuffle_moves=moves)
    Setup(world_of("SlidingTiles-v0"), size=3, shuffle_moves=moves)


def test_shuffles_by_moves_take_none_back():
    """Three moves of the gap that do not undo each other leave three tiles one step from their places."""
    for seed in range(40):
        env = rlenvs.make("SlidingTiles-v0", size=3, shuffle_moves=3)
        env.reset(seed=seed)
        assert state(env).far == 3


def test_distances_and_places_of_tiles_are_paid():
    env = rlenvs.make("SlidingTiles-v0", size=3)
    env.reset(seed=4)
    rng, places = np.random.default_rng(0), lambda: np.argsort(state(env).tile)[1:]
    for _ in range(60):
        before = places()
        *_, info = env.step(int(rng.integers(4)))
        aim, (old, new) = np.arange(8), (before, places())
        far = [np.abs(at // 3 - aim // 3).sum() + np.abs(at % 3 - aim % 3).sum() for at in (old, new)]
        assert info["reward_distance"] == far[0] - far[1]
        assert info["reward_placed"] == (new == aim).sum() - (old == aim).sum()


def test_dark_lamps_are_paid_where_they_are_weighted():
    env = rlenvs.make("LightsOut-v0")
    lamps, _ = env.reset(seed=1)
    for action in (0, 7, 12, 24):
        before = lamps.sum()
        lamps, *_, info = env.step(action)
        assert info["reward_dark"] == before - lamps.sum()


def test_a_mine_that_was_opened_is_seen_as_eight():
    env = rlenvs.make("Minesweeper-v0", one_hot=False, first_click="any")
    env.reset(seed=0)
    mine = int(np.flatnonzero(state(env).mine)[0])
    env.step(mine)
    assert state(env).seen.ravel()[mine] == 9


@pytest.mark.parametrize("first", ["safe", "clear"])
def test_only_the_first_click_is_made_safe(first):
    env = rlenvs.make("Minesweeper-v0", first_click=first)
    env.reset(seed=0)
    env.step(0)
    _, _, over, _, info = env.step(int(np.flatnonzero(state(env).mine)[0]))
    assert over
    assert info["reward_mine"] == -1.0
