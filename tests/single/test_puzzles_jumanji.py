"""The cube, 2048, sliding tiles, Minesweeper and Sokoban beside recorded episodes of Jumanji."""

import numpy as np
import pytest
from support.places import DATA

import rlenvs
from rlenvs.single.puzzles import game_2048
from rlenvs.single.puzzles.rubik.turns import turns

RECORD = np.load(DATA / "jumanji_puzzles.npz")


def state(env):
    return env.unwrapped.batch.records(0)[1]


@pytest.mark.parametrize("size", [2, 3, 4])
def test_turns_of_the_cube(size):
    color = RECORD[f"cube{size}_seen"][0].ravel()
    assert color.tolist() == np.repeat(np.arange(6), size * size).tolist()
    table = turns(size)
    for (face, depth, amount), expected in zip(
        RECORD[f"cube{size}_actions"], RECORD[f"cube{size}_seen"][1:], strict=True
    ):
        color = color[table[(face * (size // 2) + depth) * 3 + amount]]
        assert np.array_equal(color, expected.ravel())


def test_pushes_of_2048():
    """All but the tile that appears."""
    boards = RECORD["2048_seen"].astype(np.uint8)
    for t, action in enumerate(RECORD["2048_actions"]):
        board = boards[t].copy()
        made = game_2048.push(board, int(action))
        assert max(made, 0) == RECORD["2048_rewards"][t]
        fresh = boards[t + 1] != board
        assert fresh.sum() == (1 if made >= 0 else 0)
        assert set(boards[t + 1][fresh].tolist()) <= {1, 2}
        over = not any(game_2048.can_push(boards[t + 1], a) for a in range(4))
        assert over == RECORD["2048_ends"][t]


def test_moves_of_sliding_tiles():
    env = rlenvs.make("SlidingTiles-v0", size=5)
    env.reset(seed=0)
    first = RECORD["tiles_seen"][0].ravel()
    s = state(env)
    s["tile"][:] = first
    s["gap"] = np.flatnonzero(first == 0)[0]
    for action, expected in zip(RECORD["tiles_actions"], RECORD["tiles_seen"][1:], strict=True):
        env.step(int(action))
        assert np.array_equal(state(env)["tile"].reshape(5, 5), expected)


@pytest.mark.parametrize("game", range(4))
def test_games_of_minesweeper(game):
    env = rlenvs.make("Minesweeper-v0")
    env.reset(seed=0)
    s = state(env)
    s["mine"][:] = 0
    s["mine"].reshape(-1)[RECORD[f"mines{game}_mines"]] = 1
    actions, ends = RECORD[f"mines{game}_actions"], RECORD[f"mines{game}_ends"]
    for t, (row, column) in enumerate(actions):
        observation, reward, terminated, _, info = env.step(int(10 * row + column))
        assert reward == RECORD[f"mines{game}_rewards"][t]
        assert terminated == ends[t]
        if reward:
            assert np.array_equal(observation[0], RECORD[f"mines{game}_seen"][t + 1])
    assert info["is_success"] == (game == 0)


def test_an_episode_of_sokoban():
    """Cells: 1 wall, 2 target; 3 player, 4 box."""
    seen = RECORD["sokoban_seen"]
    fixed, variable = seen[0]
    signs = np.where(fixed == 1, "#", np.where(variable == 3, "@", np.where(variable == 4, "$", " ")))
    signs = np.where((fixed == 2) & (variable == 0), ".", signs)
    env = rlenvs.make("Sokoban-v0", levels_from="\n".join("".join(row) for row in signs))
    env.reset(seed=0)
    for t, action in enumerate(RECORD["sokoban_actions"]):
        planes, reward, terminated, *_ = env.step(int(action))
        assert np.array_equal(planes[2] == 1, seen[t + 1, 1] == 4)
        assert np.array_equal(planes[3] == 1, seen[t + 1, 1] == 3)
        assert reward == pytest.approx(RECORD["sokoban_rewards"][t], abs=1e-5)
        assert terminated == RECORD["sokoban_ends"][t]
