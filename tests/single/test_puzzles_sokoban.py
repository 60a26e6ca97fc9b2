"""Sokoban: pushes, rewards of the I2A paper, rooms that can be solved, levels as text, dead ends."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rlenvs
from rlenvs.core.declare.errors import ParameterError
from rlenvs.single.puzzles.sokoban.levels import read_levels
from rlenvs.single.puzzles.sokoban.solver import solve

ID = "rlenvs/Sokoban-v0"
UP, RIGHT, DOWN, LEFT = range(4)
TWO = """; first
######
#@ $.#
######

; second
#######
# .$  #
#  $ @#
# .   #
#######
"""


def made(level, **keywords):
    env = rlenvs.make(ID, levels_from=level + "\n", **keywords)
    env.reset(seed=0)
    return env


def state(env):
    return env.unwrapped.batch.records(0)[1]


def test_one_box_is_pushed_and_never_pulled():
    env = made("#######\n#@$ .$#\n#    .#\n#######", render_mode="ansi")
    env.step(RIGHT)
    assert env.render() == "#######\n# @$.$#\n#    .#\n#######"
    env.step(LEFT)
    assert env.render() == "#######\n#@ $.$#\n#    .#\n#######"
    for _ in range(3):
        env.step(RIGHT)
    assert env.render() == "#######\n#  @*$#\n#    .#\n#######"  # two boxes in a row stay
    assert env.step(RIGHT)[4]["action_mask"].tolist() == [0, 0, 1, 1]


def test_rewards_are_those_of_the_paper():
    env = made("########\n#@$.   #\n#  $.  #\n########")
    _, reward, terminated, _, info = env.step(RIGHT)
    assert (reward, terminated) == (pytest.approx(0.9), False)  # on a target
    _, reward, *_ = env.step(RIGHT)
    assert reward == pytest.approx(-1.1)  # off again
    env = made("#######\n#@$.  #\n#######")
    _, reward, terminated, _, info = env.step(RIGHT)
    assert (reward, terminated, info["is_success"]) == (pytest.approx(10.9), True, True)
    env = made("#######\n#@$ . #\n#######")
    assert env.step(LEFT)[1] == pytest.approx(-0.1)


def test_time_limit():
    assert rlenvs.make(ID).spec.max_episode_steps == 120


def test_a_corner_is_a_dead_end():
    env = made("######\n#    #\n#@$ .#\n#    #\n######")
    assert env.step(RIGHT)[4]["cost_dead_end"] == 0.0
    env = made("######\n# .  #\n# $  #\n#@   #\n######")
    env.step(RIGHT)
    env = made("######\n#    #\n# @$ #\n# .  #\n######")
    assert env.step(RIGHT)[4]["cost_dead_end"] == 1.0  # along the right wall there is no target


def reference(wall, target, box, player, action):
    """The rules with sets of cells."""
    step = ((-1, 0), (0, 1), (1, 0), (0, -1))[action]
    ahead = (player[0] + step[0], player[1] + step[1])
    beyond = (ahead[0] + step[0], ahead[1] + step[1])
    if ahead in wall or (ahead in box and (beyond in wall or beyond in box)):
        return box, player
    return ((box - {ahead}) | {beyond} if ahead in box else box), ahead


def cells(grid):
    return set(map(tuple, np.argwhere(grid).tolist()))


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.lists(st.integers(0, 3), min_size=1, max_size=80))
def test_steps_follow_the_rules(seed, actions):
    env = rlenvs.make(ID, rows=7, columns=8, boxes=3)
    env.reset(seed=seed)
    s = state(env)
    wall, target, box = (cells(grid) for grid in (s["wall"], s["target"], s["box"]))
    player = divmod(int(s["player"]), 8)
    for action in actions:
        before = len(box & target)
        box, player = reference(wall, target, box, player, action)
        planes, reward, terminated, _, _ = env.step(action)
        s = state(env)
        assert cells(s["box"]) == box == cells(planes[2])
        assert divmod(int(s["player"]), 8) == player
        assert cells(planes[3]) == {player}
        change = len(box & target) - before
        assert terminated == (box == target)
        assert reward == pytest.approx(-0.1 + change + 10.0 * terminated)
        if terminated:
            break


def test_rooms_are_closed_and_can_be_solved():
    batch = rlenvs.make_batch(ID, 200)
    batch.seed(range(200))
    batch.reset()
    s = batch.states
    assert (s["box"].sum(axis=(1, 2)) == 4).all()
    assert (s["target"].sum(axis=(1, 2)) == 4).all()
    assert s["wall"][:, 0].all()
    assert s["wall"][:, -1].all()
    assert s["wall"][:, :, 0].all()
    assert s["wall"][:, :, -1].all()
    assert not (s["wall"] & (s["box"] | s["target"])).any()
    assert (s["on_target"] == 4).sum() == 0
    assert ((s["box"] & s["target"]).sum(axis=(1, 2)) == 0).mean() > 0.5
    lengths = []
    for i in range(25):
        plan = solve(batch.records(i)[1])
        assert plan
        lengths.append(len(plan))
    assert np.mean(lengths) > 10


def test_the_expert_solves_rooms_shortest():
    for seed in range(5):
        env = rlenvs.make(ID, level="easy")
        env.reset(seed=seed)
        length = len(solve(state(env)))
        for step in range(1, length + 1):
            terminated = env.step(env.unwrapped.expert_action())[2]
            assert terminated == (step == length)


def test_levels_are_read_and_filled_up(tmp_path):
    levels = read_levels(TWO, "two")
    assert [level.name for level in levels] == ["two:0", "two:1"]
    assert [level.box.sum() for level in levels] == [1, 2]
    (tmp_path / "two.txt").write_text(TWO)
    for given_levels in (TWO, str(tmp_path), str(tmp_path / "two.txt"), tmp_path):
        env = rlenvs.make(ID, levels_from=given_levels, number=0)
        assert env.observation_space.shape == (4, 5, 7)
        planes, _ = env.reset(seed=0)
        assert planes[0, 3:].all()
        assert env.step(RIGHT)[1] == pytest.approx(-0.1)
        assert env.step(RIGHT)[2]
    seen = {rlenvs.make(ID, levels_from=TWO).reset(seed=seed)[0][2].sum() for seed in range(10)}
    assert seen == {1.0, 2.0}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("####\n#@x#\n####", "line 2, column 3: 'x' is unknown"),
        ("####\n# $.#\n####", "has 0 players"),
        ("######\n#@@$.#\n######", "has 2 players"),
        ("######\n#@ $$.#\n######", "2 boxes and 1 targets"),
        ("#####\n#@* #\n#####", "nothing to solve"),
        ("#####\n#@$.\n#####", "open at its line 2, column 5"),
        ("; a\n#####\n#@$.#\n#####\n\n#####\n#@ .#\n#####", "level 1 .from line 6. has 0 boxes and 1 targets"),
        ("########\n#@.#$###\n########", "outside the player's room"),
        ("\n", "contains no level"),
    ],
)
def test_faulty_levels_are_refused(text, message):
    with pytest.raises(ParameterError, match=message):
        rlenvs.make(ID, levels_from=text)


def test_levels_are_texts():
    for source in (5, ["#####\n#@$.#\n#####", 7]):
        with pytest.raises(ParameterError, match="needed: a text, a list of texts"):
            rlenvs.make(ID, levels_from=source)


def test_rooms_have_room():
    with pytest.raises(ParameterError, match="boxes=12 do not fit into a room of 6 x 6"):
        rlenvs.make(ID, rows=6, columns=6, boxes=12)
    with pytest.raises(ParameterError, match="there is no text file"):
        rlenvs.make(ID, levels_from="nowhere")


def test_planes_and_counts_follow_what_changed():
    """Only what a step changed is written and counted; it is what the whole room shows."""
    batch = rlenvs.make_batch(ID, 64, horizon=40)
    batch.seed(range(64))
    batch.reset()
    rng, pushes = np.random.default_rng(0), 0
    for _ in range(150):
        batch.step(rng.integers(4, size=batch.actions.shape))
        s = batch.states
        pushes += int(s["pushed"].sum())
        player = np.arange(100) == s["player"][:, None]
        shown = [s["wall"].reshape(64, 100), s["target"].reshape(64, 100), s["box"].reshape(64, 100), player]
        assert np.array_equal(batch.observations.reshape(64, 4, 100), np.stack(shown, 1))
        assert np.array_equal(s["on_target"], (s["box"] & s["target"]).sum((1, 2)))
        assert np.array_equal(s["dead"], (s["box"] & (s["pushes"] == 0)).sum((1, 2)))
    assert pushes > 300


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_progress_is_what_the_search_says_of_one_box(seed):
    """Alone, a box is at least as many pushes away as `progress` counts; over an episode these differences add up."""
    env = rlenvs.make(ID, rows=7, columns=8, boxes=1)
    env.reset(seed=seed)
    s = state(env)
    start, paid, ended = int(s.far), 0.0, False
    pushes = 0
    while not ended:
        *_, ended, _, info = env.step(env.unwrapped.expert_action())
        pushes += int(state(env).pushed)
        paid += info["reward_progress"]
    assert paid == start <= pushes


def test_a_box_that_is_lost_is_as_far_away_as_there_are_cells():
    env = made("#######\n#@$ . #\n#  $ .#\n#     #\n#######")
    assert [env.step(action)[-1]["reward_progress"] for action in (DOWN, RIGHT, RIGHT)] == [0.0, 0.0, 1.0]
    env = made("######\n#@   #\n#$ . #\n#    #\n#    #\n######")
    assert state(env).far == state(env).dead * 36 == 36  # at a wall without a target
    env = made("######\n#    #\n#@$. #\n#    #\n######")
    assert state(env).far == 1
    env = made("#######\n#    @#\n# . $ #\n#     #\n#######")
    assert state(env).far == 2
    assert env.step(DOWN)[-1]["reward_progress"] == 0.0
    assert env.step(LEFT)[-1]["reward_progress"] == 1.0
    assert env.unwrapped.batch.setup.world.terms["progress"].weight == 0.0
