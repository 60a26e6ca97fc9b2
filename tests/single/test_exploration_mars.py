"""Mars explorer: the lidar, the rewards, the planners and the terrain of MarsExplorer."""

from pathlib import Path

import gymnasium
import numpy as np
import pytest

import rlenvs
from rlenvs.core.declare.errors import ParameterError
from rlenvs.single.exploration.lidar import FREE, OBSTACLE, ROVER, UNSEEN, scan
from rlenvs.single.exploration.terrain import fill_padding, find_reachable

ID = "rlenvs/MarsExplorer-v0"
DOWN, UP, RIGHT, LEFT = range(4)
RECORDED = np.load(Path(__file__).parents[1] / "data" / "mars_explorer.npz")
CODES = np.zeros(11, int)  # of the recording, which has tenths
CODES[[0, 3, 6, 10]] = UNSEEN, FREE, ROVER, OBSTACLE


def make(**keywords):
    return gymnasium.make(ID, **keywords)


def on_map(env, padded):
    """What lies on the map of a padded array."""
    return padded.reshape(33, 33)[6:-6, 6:-6] if padded.size == 33 * 33 else padded.reshape(39, 39)[9:-9, 9:-9]


def place(env, obstacles):
    """Put these obstacles on the map of an episode that begins."""
    p, s = env.unwrapped.batch.records(0)
    on_map(env, s.obstacle)[:] = obstacles
    fill_padding(p, s)
    s.known[:], s.reachable[:], s.cell = UNSEEN, 0, p.start
    s.in_reach = find_reachable(p, s, s.cell)
    s.seen, s.in_reach_seen = scan(p, s.obstacle, s.known, s.reachable, s.cell, s.lengths)
    return s


def play_expert(env, **reset):
    env.reset(**reset)
    total, over, steps = 0.0, False, 0
    while not over:
        _, reward, ended, late, info = env.step(env.unwrapped.expert_action())
        total, over, steps = total + reward, ended or late, steps + 1
    return total, steps, info


# --- beside the original ----------------------------------------------------------------------------------------------

SETTINGS = {
    "default": {},
    "early": {},
    "lattice": {"horizon": 101},
    "far": {"lidar_range": 9, "lidar_channels": 40, "initial": [10, 7]},
}


@pytest.mark.parametrize("name", list(SETTINGS))
def test_what_is_seen_and_paid_is_the_originals(name):
    """Maps, cells seen, rewards and ends of walks on the original's own terrain."""
    env = make(**SETTINGS[name]) if name != "early" else gymnasium.make("rlenvs/MarsExplorer95-v0")
    part = {key.removeprefix(f"{name}_"): RECORDED[key] for key in RECORDED if key.startswith(f"{name}_")}
    covered = 0
    for episode, length in enumerate(part["length"]):
        env.reset(seed=episode)
        s = place(env, part["obstacles"][episode])
        seen = CODES[part["seen"][episode]]
        assert np.array_equal(on_map(env, s.known), seen[0])
        for t in range(length):
            _, reward, ended, late, info = env.step(int(part["moves"][episode, t]))
            assert np.array_equal(on_map(env, s.known), seen[t + 1])
            assert reward == pytest.approx(part["rewards"][episode, t], abs=1e-5)
            assert (ended or late) == part["done"][episode, t]
        covered += info["is_success"]
    assert 6 <= covered < 12


# --- numbers of the card ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("initial", "cells"), [([0, 0], 39), ([10, 10], 129)])
def test_cells_of_the_first_look_on_an_empty_map(initial, cells):
    observation, _ = make(obstacles=0, initial=initial).reset(seed=0)
    assert np.count_nonzero(observation) == cells


def test_the_cost_planner_on_an_empty_map():
    total, steps, info = play_expert(make(obstacles=0, planner="cost"), seed=0)
    assert (round(total, 6), steps, info["is_success"]) == (777.2, 90, True)


def returns(planner=None, episodes=800):
    """Returns, lengths and successes on random maps of the default; random moves without a planner."""
    batch = rlenvs.make_batch("MarsExplorer-v0", episodes, planner=planner or "path")
    batch.seed(range(episodes))
    batch.reset()
    rng = np.random.default_rng(0)
    total, going = np.zeros(episodes), np.ones(episodes, bool)
    length, covered = np.zeros(episodes), np.zeros(episodes, bool)
    for _ in range(400):
        batch.step(batch.expert_actions() if planner else rng.integers(4, size=batch.actions.shape))
        total[going] += batch.rewards[going, 0]
        length[going] += 1
        covered |= batch.success[:, 0] & going
        going &= ~(batch.terminated[:, 0] | batch.truncated[:, 0])
        if not going.any():
            break
    return total, length, covered


def near(values, mean, spread, count):
    """Within 4 standard errors of the difference of two means, ours and one of `count` episodes."""
    error = np.sqrt(values.var() / len(values) + spread**2 / count)
    return abs(values.mean() - mean) < 4.0 * error


@pytest.mark.budget(5)
def test_the_cost_planner_on_random_maps():
    total, length, covered = returns("cost")
    assert near(total, 632.5, 270.9, 200)
    assert near(covered.astype(float), 151 / 200, 0.43, 200)
    assert abs(length[covered].mean() - 77.5) < 3.0
    assert (length[~covered] == 400).all()


def test_the_utility_planner_as_it_was_programmed():
    total, _, covered = returns("utility", 200)
    assert near(total, -42.1, 44.3, 200)
    assert not covered.any()


def test_random_moves():
    total, length, covered = returns(None)
    assert near(total, -391.8, 17.6, 200)
    assert not covered.any()
    assert (length < 400).all()


def test_the_expert_covers_all_random_maps():
    total, length, covered = returns("path", 200)
    assert covered.mean() > 0.98
    assert total.mean() > 700.0
    assert length.mean() < 90.0


# --- rules ------------------------------------------------------------------------------------------------------------


def test_leaving_the_map_ends_at_once():
    env = make(obstacles=0)
    env.reset(seed=0)
    _, reward, ended, late, info = env.step(UP)
    assert (reward, ended, late, info["is_success"]) == (-400.0, True, False, False)
    assert (info["reward_border"], info["reward_collision"], info["cost"]) == (-400.0, 0.0, 1.0)


def test_a_collision():
    env, wall = make(), np.zeros((21, 21))
    wall[0, 1] = 1
    env.reset(seed=0)
    place(env, wall)
    _, reward, ended, _, info = env.step(RIGHT)
    assert (reward, ended, info["reward_collision"], info["cost_collision_cost"]) == (-400.0, True, -400.0, 1.0)


def test_collisions_as_a_cost():
    env = make(obstacles=0, collisions="cost")
    env.reset(seed=0)
    _, reward, ended, _, info = env.step(UP)
    assert (ended, info["cost"]) == (False, 1.0)
    assert reward == pytest.approx(-0.2)
    assert env.step(DOWN)[4]["cost"] == 0.0


def test_a_step_pays_what_it_reveals():
    env = make(obstacles=0, movement_cost=0.5)
    before = np.count_nonzero(env.reset(seed=0)[0])
    observation, reward, _, _, info = env.step(RIGHT)
    assert reward == np.count_nonzero(observation) - before - 0.5
    assert info["reward_explored"] == pytest.approx(np.count_nonzero(observation) / 441, abs=1e-6)
    assert info["reward_path_length"] == 1
    assert (observation[0, 0, 0], observation[0, 1, 0]) == (np.float32(0.3), np.float32(0.6))


def test_the_bonus_replaces_the_last_reward_or_is_added():
    published, steps, _ = play_expert(make(obstacles=0, planner="cost"), seed=0)
    added, same, info = play_expert(make(obstacles=0, planner="cost", bonus_form="additive"), seed=0)
    assert steps == same
    assert added - published == pytest.approx(info["reward_explore"] - 0.2)
    assert info["reward_explore"] > 0


def test_the_limit_truncates():
    env = make(horizon=3, obstacles=0)
    env.reset(seed=0)
    ends = [env.step(move)[2:4] for move in (RIGHT, LEFT, RIGHT)]
    assert ends == [(False, False), (False, False), (False, True)]


def test_coverage_of_the_reachable():
    """A walled corner: 99 % of all cells stay out of sight, but all that a rover can get to is seen."""
    wall = np.zeros((21, 21))
    wall[15, 15:], wall[15:, 15] = 1, 1
    for coverage, covered in (("all", False), ("reachable", True)):
        env = make(coverage=coverage)
        env.reset(seed=0)
        place(env, wall)
        over = False
        while not over:
            _, _, ended, late, info = env.step(env.unwrapped.expert_action())
            over = ended or late
        assert info["is_success"] == covered
        assert info["reward_explored"] < 0.97
        assert info["reward_reachable"] > 0.99


def test_the_mask_forbids_known_obstacles_and_the_border():
    env, wall = make(), np.zeros((21, 21))
    wall[1, 0] = 1
    env.reset(seed=0)
    place(env, wall)
    assert env.step(RIGHT)[4]["action_mask"].tolist() == [1, 0, 1, 1]
    assert env.step(LEFT)[4]["action_mask"].tolist() == [0, 0, 1, 0]
    assert make(masked=False).reset(seed=0)[1]["action_mask"].tolist() == [1, 1, 1, 1]


# --- terrain ----------------------------------------------------------------------------------------------------------


def terrains(count=200, **keywords):
    batch = rlenvs.make_batch("MarsExplorer-v0", count, **keywords)
    batch.seed(range(count))
    batch.reset()
    return batch.states["obstacle"].reshape(count, 33, 33)[:, 6:-6, 6:-6]


def test_free_obstacles():
    maps = terrains(obstacles=1, smallest_obstacle=2, largest_obstacle=3)
    rows, columns = maps.any(2), maps.any(1)
    assert set(rows.sum(1).tolist()) == set(columns.sum(1).tolist()) == {2, 3}
    first = rows.argmax(1)
    assert (first.min(), first.max()) == (1, 18)  # margins 1: seeds from 1 to 18
    assert not maps[:, 0, 0].any()


def test_a_lattice():
    maps = terrains(lattice_rows=3, lattice_columns=3)
    assert np.array_equal(np.argwhere(maps[0]), [(r, c) for r in (1, 10, 19) for c in (1, 10, 19)])
    assert (maps == maps[0]).all()
    moved = np.concatenate(
        [np.argwhere(m[6:15, 6:15]) - 4 for m in terrains(lattice_rows=3, lattice_columns=3, noise=2)]
    )
    assert (moved.min(), moved.max()) == (-2, 1)
    large = terrains(lattice_rows=3, lattice_columns=3, largest_obstacle=4)
    assert (large[:, 10:14, 10:14].any(2).sum(1).max(), large[:, 10:14, 10:14].any(2).sum(1).min()) == (3, 1)


def test_seeds_make_terrain():
    assert np.array_equal(make().reset(seed=4)[0], make().reset(seed=4)[0])
    assert len({each.tobytes() for each in terrains(50)}) == 50


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"initial": [21, 0]}, "outside the map of 21 x 21"),
        ({"initial": [0.5, 0]}, "two integers"),
        ({"initial": "here"}, "initial="),
        ({"row_margin": 10}, "leaves no room"),
        ({"smallest_obstacle": 3}, "above largest_obstacle=2"),
        ({"height": 4}, r"\[5, 128\]"),
        ({"bonus_form": "double"}, "additive"),
    ],
)
def test_what_is_refused(keywords, message):
    with pytest.raises(ParameterError, match=message):
        make(**keywords)


@pytest.mark.parametrize("level", ["easy", "hard", "large", "huge"])
def test_levels_can_be_explored(level):
    env = make(level=level)
    total, _, info = play_expert(env, seed=1)
    assert info["reward_explored"] > 0.97
    assert total > 0.0
    assert env.observation_space.shape == {"large": (42, 42, 1), "huge": (84, 84, 1)}.get(level, (21, 21, 1))


def test_images_and_texts():
    env = make(render_mode="rgb_array")
    env.reset(seed=0)
    before = env.render()
    env.step(RIGHT)
    assert not np.array_equal(before, env.render())
    env = make(render_mode="ansi", obstacles=0, height=5, width=9, row_margin=0, column_margin=0)
    env.reset(seed=0)
    assert env.render().splitlines()[0] == "R......??"
