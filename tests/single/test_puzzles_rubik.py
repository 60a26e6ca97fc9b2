"""The Rubik's cube: turns from geometry, orders of sequences, the table of the 2 x 2 x 2 cube, experts."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rlenvs
from rlenvs.single.puzzles.rubik.table import distance, table
from rlenvs.single.puzzles.rubik.turns import FACES, inverse, rotations, turn_names, turns

BIG, SMALL = "rlenvs/RubiksCube-v0", "rlenvs/RubiksCube2x2-v0"
UP, FRONT, RIGHT, BACK, LEFT, DOWN = range(0, 18, 3)
# positions of the 2 x 2 x 2 cube by number of turns to the aim, quarter and half turns (Rokicki; OEIS A079762)
COUNTS = [1, 9, 54, 321, 1847, 9992, 50136, 227536, 870072, 1887748, 623800, 2644]


def state(env):
    return env.unwrapped.batch.records(0)[1]


def order_of(*names):
    """After how often a sequence of turns leads back."""
    start = np.arange(54)
    once = start
    for turn in names:
        once = once[turns(3)[turn]]
    now, times = once, 1
    while not np.array_equal(now, start):
        now, times = now[once], times + 1
    return times


def test_orders_of_known_sequences():
    assert order_of(UP) == 4
    assert order_of(UP + 2) == 2
    assert order_of(RIGHT, UP) == 105
    assert order_of(RIGHT, UP, RIGHT + 1, UP + 1) == 6
    assert order_of(RIGHT + 2, UP + 2) == 6
    assert order_of(RIGHT, UP + 2, DOWN + 1, BACK, DOWN + 1) == 1260  # the largest there is


@pytest.mark.parametrize("size", [2, 3, 4, 5])
def test_turns_are_permutations_with_inverses(size):
    found = turns(size)
    assert found.shape == (18 * (size // 2), 6 * size * size)
    assert len(turn_names(size)) == len(found)
    for k, turn in enumerate(found):
        assert sorted(turn.tolist()) == list(range(turn.size))
        assert np.array_equal(turn[found[inverse(k)]], np.arange(turn.size))
    assert len(rotations(size)) == 24


def test_a_quarter_turn_moves_what_one_sees():
    """Up clockwise: front's first row goes to the left; right clockwise: front's last column goes up."""
    color = np.repeat(np.arange(6), 9)[turns(3)[UP]].reshape(6, 3, 3)
    assert (color[FACES.index("left"), 0] == FACES.index("front")).all()
    assert (color[FACES.index("front"), 0] == FACES.index("right")).all()
    assert (color[FACES.index("left"), 1:] == FACES.index("left")).all()
    color = np.repeat(np.arange(6), 9)[turns(3)[RIGHT]].reshape(6, 3, 3)
    assert (color[FACES.index("up"), :, 2] == FACES.index("front")).all()
    assert (color[FACES.index("back"), :, 0] == FACES.index("up")).all()
    turned = np.arange(54)[turns(3)[FRONT]].reshape(6, 3, 3)[1]
    assert turned.tolist() == np.rot90(np.arange(9, 18).reshape(3, 3), -1).tolist()


def test_positions_of_the_small_cube_by_distance():
    assert np.bincount(table()).tolist() == COUNTS
    assert sum(COUNTS) == 3_674_160


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 17), max_size=12), st.integers(0, 23))
def test_distances_do_not_depend_on_how_the_cube_is_held(sequence, way):
    color = np.repeat(np.arange(6, dtype=np.uint8), 4)
    for turn in sequence:
        color = color[turns(2)[turn]]
    far = distance(color)
    assert far <= len(sequence)
    assert distance(color[rotations(2)[way]]) == far
    beside = [distance(color[turn]) for turn in turns(2)]
    assert min(beside) == max(far - 1, 1 if far == 0 else 0)
    assert max(beside) <= far + 1


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.lists(st.integers(0, 17), max_size=30))
def test_the_memory_leads_back(seed, extra):
    env = rlenvs.make(BIG, scramble=8, horizon=500)
    env.reset(seed=seed)
    for turn in extra:
        if env.step(turn)[2]:
            return
    s = state(env)
    color = s["color"].copy()
    for turn in s["memory"][: int(s["remembered"])][::-1]:
        color = color[turns(3)[inverse(int(turn))]]
    assert color.tolist() == np.repeat(np.arange(6), 9).tolist()


def test_the_expert_undoes_the_scramble():
    env = rlenvs.make(BIG, scramble=20)
    env.reset(seed=3)
    for step in range(20):
        _, reward, terminated, _, info = env.step(env.unwrapped.expert_action())
        assert (reward, terminated) == (float(step == 19), step == 19)
    assert info["is_success"]


def test_the_small_expert_takes_a_shortest_way():
    for seed in range(10):
        env = rlenvs.make(SMALL)
        env.reset(seed=seed)
        far = distance(state(env)["color"])
        assert 1 <= far <= 11
        for step in range(1, far + 1):
            assert env.step(env.unwrapped.expert_action())[2] == (step == far)


def test_starts_after_any_number_of_turns_in_a_range():
    env, found = rlenvs.make(BIG, scramble=6, shortest_scramble=3), set()
    for seed in range(100):
        env.reset(seed=seed)
        found.add(int(state(env).remembered))
    assert found == {3, 4, 5, 6}


def test_observations_scrambles_and_sizes():
    env = rlenvs.make(BIG)
    planes, _ = env.reset(seed=0)
    assert planes.shape == (6, 6, 3, 3)
    assert (planes.sum(axis=0) == 1).all()
    assert planes.argmax(axis=0).ravel().tolist() == state(env)["color"].tolist()
    numbers, _ = rlenvs.make(BIG, one_hot=False).reset(seed=0)
    assert numbers[0].tolist() == planes.argmax(axis=0).tolist()
    assert rlenvs.make(BIG, size=5).action_space.n == 36
    assert rlenvs.make(BIG, level="easy").unwrapped.batch.setup.horizon == 200
    for seed in range(20):
        near = rlenvs.make(SMALL, scramble=2)
        near.reset(seed=seed)
        assert distance(state(near)["color"]) in (1, 2)


def test_a_turned_cube_is_solved_too():
    """Turning both sides of the small cube is holding it differently."""
    env = rlenvs.make(SMALL, scramble=1)
    for seed in range(5):
        env.reset(seed=seed)
        assert env.step(env.unwrapped.expert_action())[2]


@pytest.mark.parametrize("size", [2, 3, 5])
def test_texts_show_the_net(size):
    env = rlenvs.make(BIG, size=size, render_mode="ansi")
    env.reset(seed=0)
    lines = env.render().splitlines()
    assert len(lines) == 3 * size
    assert sum(len(line.replace(" ", "")) for line in lines) == 6 * size * size


def test_uniform_is_the_change_in_stickers_of_the_commonest_colours():
    env = rlenvs.make("RubiksCube-v0", one_hot=False)
    observation, _ = env.reset(seed=2)

    def commonest(stickers):
        return sum(np.bincount(face.astype(int).ravel()).max() for face in np.asarray(stickers).reshape(6, 9))

    rng = np.random.default_rng(0)
    for _ in range(30):
        before = commonest(observation)
        observation, *_, info = env.step(int(rng.integers(18)))
        assert info["reward_uniform"] == commonest(observation) - before
