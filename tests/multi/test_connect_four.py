"""Connect Four: PettingZoo's rules, known counts of positions, and solved boards."""

import numpy as np
import pytest

import rlenvs
from rlenvs.multi.boards.connect_four import SPEC
from rlenvs.multi.boards.connect_four import data as lines
from rlenvs.multi.boards.connect_four_players import WON

# move sequences of each length; 7^7 lacks the seven that fill a column, then games end
PERFT = [1, 7, 49, 343, 2401, 16807, 117649, 823536]


# of a hash that tells boards apart
MIXED = np.random.default_rng(0).integers(-(2**62), 2**62, 42)


def grow(batch, states, counts):
    """The different positions after one more move, how many sequences lead to each, and which of them ended."""
    parents, choices = (each.ravel() for each in np.indices((len(states), states["cell"].shape[2])))
    legal = states["filled"][parents, choices] < states["cell"].shape[1]
    parents, choices = parents[legal], choices[legal]
    after, over = states[parents], []
    for first in range(0, len(parents), len(batch.states)):
        rows = after[first : first + len(batch.states)]
        count = np.arange(len(rows))
        batch.states[: len(rows)] = rows
        batch.actions[count, rows["turn"], 0] = choices[first : first + len(rows)]
        batch.step_inplace(np.arange(len(batch.states)) < len(rows))
        after[first : first + len(rows)] = batch.states[: len(rows)]
        over.append(batch.over[: len(rows)].copy())
    boards = after["cell"].reshape(len(after), -1)
    hashes = (boards * MIXED[: boards.shape[1]]).sum(axis=1)
    _, kept, same = np.unique(hashes, return_index=True, return_inverse=True)
    return after[kept], np.bincount(same, counts[parents]).astype(np.int64), np.concatenate(over)[kept]


def start(**choices):
    batch = rlenvs.make_batch("ConnectFour-v0", 2048, **choices)
    batch.seed([0] * 2048)
    batch.reset()
    return batch, batch.states[:1].copy()


def test_known_numbers_of_move_sequences():
    batch, states = start()
    counts, ends = np.ones(1, np.int64), []
    for moves in range(1, len(PERFT)):
        states, counts, over = grow(batch, states, counts)
        assert counts.sum() == PERFT[moves]
        ends.append(int(counts[over].sum()))
        states, counts = states[~over], counts[~over]
    assert ends[:6] == [0] * 6
    assert ends[6] == plain_wins(7)


def plain_wins(moves, height=6, width=7):
    """How many sequences of so many moves end with the first line of all, by enumeration in sets of cells."""
    windows = [
        frozenset((r + dr * i, c + dc * i) for i in range(4))
        for r in range(height)
        for c in range(width)
        for dr, dc in ((0, 1), (1, 0), (1, 1), (1, -1))
        if r + 3 * dr < height and 0 <= c + 3 * dc < width
    ]
    level = {((), frozenset(), frozenset()): 1}
    for turn in range(moves):
        following = {}
        for (_, own, other), ways in level.items():
            for column in range(width):
                row = sum(c == column for _, c in own | other)
                if row < height:
                    key = ((), other, own | {(row, column)})
                    following[key] = following.get(key, 0) + ways
        level = following
        won = {key for key in level if any(window <= key[2] for window in windows)}
        if turn + 1 == moves:
            return sum(level[key] for key in won)
        level = {key: ways for key, ways in level.items() if key not in won}
    return 0


def test_every_position_of_four_by_four():
    """161 029 positions can occur (John Tromp's count)."""
    batch, states = start(height=4, width=4)
    counts, total = np.ones(1, np.int64), 1
    while len(states):
        states, counts, over = grow(batch, states, counts)
        total += len(states)
        states, counts = states[~over], counts[~over]
    assert total == 161_029


@pytest.mark.parametrize(
    ("height", "width", "connect", "value"),
    [(4, 4, 4, 0), (3, 3, 3, None), (4, 4, 3, None), (3, 6, 3, None)],
)
def test_solved_boards(height, width, connect, value):
    """The search that looks to the end finds the value that an independent solver with a memory finds."""
    solved = solve(height, width, connect)
    assert value is None or solved == value
    batch = rlenvs.make_batch("ConnectFour-v0", 1, height=height, width=width, connect=connect, depth=10)
    batch.seed([0])
    batch.reset()
    if height * width <= 10:
        batch.player_actions(["negamax", None])
        assert np.sign(batch.states["best"][0, 0]) == solved
    # play on with full depth as the board fills: the better side never loses what it has
    generator = np.random.default_rng(0)
    for _ in range(8):
        batch.seed([int(generator.integers(1000))])
        batch.reset()
        while not batch.over[0]:
            left = height * width - int(batch.states["moves"][0])
            batch.player_actions("random")
            if left <= 10:
                own, other = halves(batch)
                known = solve(height, width, connect, own, other)
                batch.player_actions("negamax")
                assert np.sign(batch.states["best"][0, 0]) == known
                assert abs(batch.states["best"][0, 0]) in {0, *range(WON - 10, WON + 1)}
            batch.step_inplace()


def halves(batch):
    cell = batch.states["cell"][0][::-1]
    mover = int(batch.states["mover"][0])
    own = frozenset((int(r), int(c)) for r, c in np.argwhere(cell == 1 + mover))
    return own, frozenset((int(r), int(c)) for r, c in np.argwhere(cell == 2 - mover))


def solve(height, width, connect, own=frozenset(), other=frozenset()):
    """1, 0 or -1 for the side that is to move, both playing best."""
    windows = {(r, c): [] for r in range(height) for c in range(width)}
    for r, c in list(windows):
        for dr, dc in ((0, 1), (1, 0), (1, 1), (1, -1)):
            line = [(r + dr * i, c + dc * i) for i in range(connect)]
            if all(place in windows for place in line):
                for place in line:
                    windows[place].append(sum(1 << (x * width + y) for x, y in line))
    bits = {place: 1 << (place[0] * width + place[1]) for place in windows}
    full = sum(bits.values())
    known = {}

    def value(mine, theirs):
        if mine | theirs == full:
            return 0
        if (mine, theirs) in known:
            return known[mine, theirs]
        best = -1
        for c in range(width):
            r = next((r for r in range(height) if not (mine | theirs) & bits[r, c]), None)
            if r is None:
                continue
            after = mine | bits[r, c]
            won = any(after & line == line for line in windows[r, c])
            best = max(best, 1 if won else -value(theirs, after))
            if best == 1:
                break
        known[mine, theirs] = best
        return best

    return value(sum(bits[place] for place in own), sum(bits[place] for place in other))


def test_the_weights_of_cells_are_numbers_of_lines():
    """69 lines of four on the usual board; three go through a corner, thirteen through the middle."""
    values = rlenvs.make_batch("ConnectFour-v0").setup.values
    worth = np.array(lines(values)["worth"])
    assert worth.sum() == 4 * 69
    assert (worth[0, 0], worth[2, 3], worth[3, 3], worth.max()) == (3, 13, 13, 13)


def test_fast_win_is_one_less_the_share_of_the_cells():
    batch = rlenvs.make_batch("ConnectFour-v0")
    batch.seed([0])
    batch.reset()
    for move in range(7):  # four in the first column
        batch.actions[...] = 0
        batch.actions[0, move % 2, 0] = move % 2
        batch.step_inplace()
    assert batch.terms[0].tolist() == [[1.0, -1.0], [1.0 - 7 / 42, 7 / 42 - 1.0]]
    assert batch.rewards[0].tolist() == [1.0, -1.0]
    assert batch.success[0].tolist() == [True, False]


def test_a_full_board_is_a_draw():
    batch = rlenvs.make_batch("ConnectFour-v0", height=3, width=3, connect=4)
    batch.seed([0])
    batch.reset()
    for move in range(9):
        batch.actions[...] = 0
        batch.actions[0, move % 2, 0] = move // 3
        batch.step_inplace()
    assert batch.terminated[0].tolist() == [True, True]
    assert not batch.terms.any()
    assert not batch.success.any()


@pytest.mark.parametrize("height", [3, 6, 12])
@pytest.mark.parametrize("width", [3, 7, 12])
def test_columns_go_to_the_majority(height, width):
    batch = rlenvs.make_batch("ConnectFour-v0", 20, level="columns", height=height, width=width)
    batch.seed(range(20))
    batch.reset()
    while not batch.over[0]:
        before = batch.states["cell"].copy()
        batch.player_actions("random")
        batch.step_inplace()
    cell = batch.states["cell"][0]
    lead = np.sign((cell == 1).sum(axis=0) - (cell == 2).sum(axis=0))
    wanted = np.zeros(7)
    wanted[: min(width, 7)] = lead[:7]
    assert before.shape[1:] == (height, width)
    np.testing.assert_array_equal(batch.terms[0, 2:, 0], wanted)
    np.testing.assert_array_equal(batch.terms[0, 2:, 1], -wanted)
    assert rlenvs.make("mo-ConnectFour-v0", level="columns").unwrapped.reward_space.shape == (9,)
    assert rlenvs.make("mo-ConnectFour-v0").unwrapped.reward_space.shape == (2,)


def test_step_parity_with_pettingzoo():
    from pettingzoo.classic import connect_four_v3

    theirs, ours = connect_four_v3.env(), rlenvs.aec_env("ConnectFour-v0")
    generator = np.random.default_rng(0)
    for game in range(40):
        theirs.reset(seed=game)
        ours.reset(seed=game)
        while True:
            (seen, reward, ended, cut, _), own = theirs.last(), ours.last()
            np.testing.assert_array_equal(own[0]["observation"], seen["observation"])
            assert own[1:4] == (reward, ended, cut)
            if ended or cut:
                break
            np.testing.assert_array_equal(own[0]["action_mask"], seen["action_mask"])
            action = int(generator.choice(np.flatnonzero(seen["action_mask"])))
            theirs.step(action)
            ours.step(action)


def test_greedy_wins_and_prevents():
    batch = rlenvs.make_batch("ConnectFour-v0", 2)
    batch.seed([0, 1])
    batch.reset()
    batch.states["cell"][:, 5, :3] = 1
    batch.states["filled"][:, :3] = 1
    batch.states["mover"][1] = batch.states["turn"][1] = 1
    for player in ("greedy", "negamax"):
        actions = batch.player_actions(player)[..., 0]
        assert actions.tolist() == [[3, 0], [0, 3]]


def test_an_image_of_every_kind_of_end():
    for seed in range(3):
        env = rlenvs.make("ConnectFour-v0", render_mode="rgb_array", level="easy")
        env.reset(seed=seed)
        over = False
        while not over:
            *_, over, _, _ = env.step(env.unwrapped.expert_action())
        assert env.render().shape == (512, 512, 3)


def test_keys():
    hand = SPEC.functions["keys"](rlenvs.make_batch("ConnectFour-v0").setup.values)
    state = rlenvs.make_batch("ConnectFour-v0").states[0]
    state["turn"] = 0
    assert hand.press(["9", "3"], None, state) == 2
    assert hand.press([], None, state) is None
    state["turn"] = 1
    assert hand.press(["3"], None, state) == 0
