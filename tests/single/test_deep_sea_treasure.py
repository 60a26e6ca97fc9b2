"""DeepSeaTreasure: the published maps and fronts, maps of one's own, and the front against brute force."""

import itertools
import json

import gymnasium
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.places import DATA

import rlenvs
from rlenvs.core.declare.errors import ParameterError
from rlenvs.pareto import hypervolume
from rlenvs.single.treasure.front import pareto_front
from rlenvs.single.treasure.maps import PUBLISHED

ID = "rlenvs/DeepSeaTreasure-v0"
UP, DOWN, LEFT, RIGHT = range(4)
RECORDED = DATA / "dst_mo_gymnasium.npz"

# (row, column): convex value, concave value, moves from (0, 0); fact card of the published maps
TREASURES = {
    (1, 0): (0.7, 1, 1),
    (2, 1): (8.2, 2, 3),
    (3, 2): (11.5, 3, 5),
    (4, 3): (14.0, 5, 7),
    (4, 4): (15.1, 8, 8),
    (4, 5): (16.1, 16, 9),
    (7, 6): (19.6, 24, 13),
    (7, 7): (20.3, 50, 14),
    (9, 8): (22.4, 74, 17),
    (10, 9): (23.7, 124, 19),
}
HYPERVOLUMES = {  # (map, discount): above (0, -25), above (0, -50)
    ("convex", 1.0): (401.8, 994.3),
    ("convex", 0.99): (360.401, 854.850),
    ("convex", 0.98): (319.746, 731.614),
    ("concave", 1.0): (1155.0, 4255.0),
    ("concave", 0.99): (1101.384, 3688.377),
    ("concave", 0.98): (1020.278, 3175.197),
}


def play(env, actions):
    """Total treasure and time, and whether the episode ended, of a fresh episode."""
    env.reset(seed=0)
    total, ended = np.zeros(2), False
    for action in actions:
        _, _, terminated, truncated, info = env.step(action)
        total += info["reward_treasure"], info["reward_time"]
        ended = terminated or truncated
        if ended:
            break
    return total, ended, info


def cell(env):
    _, s = env.unwrapped.batch.records(0)
    return int(s["row"]), int(s["column"])


# --- published maps ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["convex", "concave", "mirrored"])
def test_treasures_lie_where_they_were_published(name):
    grid, start = PUBLISHED[name]
    shift = 10 if name == "mirrored" else 0
    assert grid.shape == ((11, 20) if shift else (11, 11))
    assert start == (0, shift)
    expected = {(r, c + shift): row[0 if name == "convex" else 1] for (r, c), row in TREASURES.items()}
    assert {tuple(map(int, at)): grid[tuple(at)] for at in np.argwhere(grid > 0)} == expected


@pytest.mark.parametrize("name", ["convex", "concave", "mirrored"])
def test_every_treasure_is_reached_in_the_published_number_of_steps(name):
    env = gymnasium.make(ID, map=name)
    for (row, column), (convex, concave, steps) in TREASURES.items():
        total, ended, info = play(env, [RIGHT] * column + [DOWN] * row)
        assert ended
        assert total == pytest.approx([convex if name == "convex" else concave, -steps])
        assert info["is_success"] == (steps == 19)


@pytest.mark.parametrize(("name", "gamma"), list(HYPERVOLUMES) + [("mirrored", g) for g in (1.0, 0.99, 0.98)])
def test_hypervolumes_of_the_exact_fronts(name, gamma):
    front = pareto_front(name, gamma)
    expected = HYPERVOLUMES["concave" if name == "mirrored" else name, gamma]
    assert len(front) == 10
    # the published numbers have three decimals
    assert [hypervolume(front, (0, low)) for low in (-25, -50)] == pytest.approx(expected, abs=5.1e-4)


@pytest.mark.parametrize("name", ["convex", "concave", "mirrored"])
def test_as_the_published_original(name):
    record = np.load(RECORDED)
    env = gymnasium.make(ID, map=name)
    assert env.observation_space == gymnasium.spaces.Box(0, 20 if name == "mirrored" else 11, (2,), np.int32)
    assert np.array_equal(PUBLISHED[name][0], record[f"{name}_map"])
    fronts = [pareto_front(name, gamma) for gamma in record["gammas"]]
    np.testing.assert_allclose(fronts, record[f"{name}_front"], rtol=1e-12)  # sums in another order
    for episode, length in enumerate(record[f"{name}_length"]):
        observation, _ = env.reset()
        for t in range(length + 1):
            assert observation.dtype == np.int32
            assert np.array_equal(observation, record[f"{name}_obs"][episode, t])
            if t == length:
                break
            observation, _, terminated, truncated, info = env.step(int(record[f"{name}_actions"][episode, t]))
            assert np.array_equal(info["reward_vector"], record[f"{name}_rewards"][episode, t])
            assert terminated == record[f"{name}_terminated"][episode, t]
            assert truncated == record[f"{name}_truncated"][episode, t]
        assert terminated or truncated


@pytest.mark.parametrize(("name", "richest"), [("convex", 23.7), ("concave", 124.0), ("mirrored", 124.0)])
def test_reward_vectors_have_the_published_space(name, richest):
    env = gymnasium.make("rlenvs/mo-DeepSeaTreasure-v0", map=name)
    assert env.unwrapped.reward_space == gymnasium.spaces.Box(np.float32([0, -1]), np.float32([richest, -1]))
    env.reset(seed=0)
    assert env.unwrapped.reward_space.contains(env.step(DOWN)[1])


def test_the_scaled_form_has_the_first_cell_at_minus_one():
    env, plain = gymnasium.make(ID, scaled=True, map="mirrored"), gymnasium.make(ID, map="mirrored")
    assert env.observation_space == gymnasium.spaces.Box(-1.0, 1.0, (2,), np.float32)
    seen, cells = env.reset(seed=0)[0], plain.reset(seed=0)[0]
    for action in (RIGHT, RIGHT, DOWN, LEFT):
        np.testing.assert_allclose((seen + 1) / 2 * [10, 19], cells, atol=1e-5)
        seen, cells = env.step(action)[0], plain.step(action)[0]


def test_a_table_by_cells_needs_no_conversion():
    env, table = gymnasium.make(ID), np.zeros((11, 11, 4))
    observation, _ = env.reset(seed=0)
    table[tuple(observation)][RIGHT] += 1.0
    assert table[0, 0, RIGHT] == 1.0


def test_the_reference_agent_plays_the_default_form():
    agent, env = rlenvs.load_agent("DeepSeaTreasure-v0"), gymnasium.make(ID)
    observation, _ = env.reset(seed=0)
    total, over = 0.0, False
    while not over:
        action, _ = agent.predict(observation)
        observation, reward, ended, late, _ = env.step(int(action))
        total, over = total + reward, ended or late
    assert total == pytest.approx(agent.card.score.mean)
    with pytest.raises(ParameterError, match="with scaled=False; make it with scaled=False"):
        agent.check(gymnasium.make(ID, scaled=True).unwrapped.batch.setup)


# --- rules ------------------------------------------------------------------------------------------------------------


def test_moves_walls_and_borders():
    env = gymnasium.make(ID, map=[[0, 0, 5], [0, -10, 0], [0, 0, 0]], horizon=50)
    env.reset()
    for action, expected in (
        (UP, (0, 0)),
        (LEFT, (0, 0)),
        (RIGHT, (0, 1)),
        (DOWN, (0, 1)),
        (LEFT, (0, 0)),
        (DOWN, (1, 0)),
    ):
        _, reward, terminated, _, info = env.step(action)
        assert cell(env) == expected
        assert (info["reward_treasure"], info["reward_time"], terminated) == (0.0, -1.0, False)
        assert reward == pytest.approx(-0.1)
    for action in (RIGHT, DOWN, DOWN, RIGHT, RIGHT, RIGHT, UP):
        env.step(action)
    assert cell(env) == (1, 2)
    _, reward, terminated, _, info = env.step(UP)
    assert (terminated, info["is_success"], info["reward_treasure"]) == (True, True, 5.0)
    assert reward == pytest.approx(4.9)


def test_the_mask_names_the_moves_that_lead_elsewhere():
    env = gymnasium.make(ID, map=[[0, 0, 5], [0, -10, 0], [0, 0, 0]])
    seen = set()
    for seed in range(20):
        _, info = env.reset(seed=seed)
        env.action_space.seed(seed)
        for _ in range(20):
            before, state = cell(env), env.unwrapped.get_state()
            for action in range(4):
                env.unwrapped.set_state(state)
                env.step(action)
                assert (cell(env) != before) == info["action_mask"][action]
            env.unwrapped.set_state(state)
            seen.add(before)
            _, _, terminated, _, info = env.step(env.action_space.sample())
            if terminated:
                break
    assert len(seen) >= 6


def test_horizon_and_observation_range():
    env = gymnasium.make(ID)
    assert env.reset()[0].tolist() == [0, 0]
    for t in range(100):
        observation, _, terminated, truncated, _ = env.step(RIGHT)
        assert (terminated, truncated) == (False, t == 99)
    assert observation.tolist() == [0, 10]


@pytest.mark.parametrize("grid", [[[0, 3]], [[0], [0], [3]], [[0, 0, 3, -10, 7]], np.array([[0, 0], [0, 2.5], [0, 0]])])
def test_maps_of_any_shape(grid):
    env = gymnasium.make(ID, map=grid)
    observation, _ = env.reset(seed=1)
    assert env.observation_space.contains(observation)
    for _ in range(3):
        observation, _, terminated, _, info = env.step(env.unwrapped.expert_action())
        assert env.observation_space.contains(observation)
        if terminated:
            break
    assert info["is_success"]  # the 7 behind rock counts for nothing
    json.dumps(vars(env.unwrapped.batch.setup.values))


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"map": "conwex"}, "'convex'"),
        ({"map": 3}, "2-D grid"),
        ({"map": [1, 2]}, "2-D grid"),
        ({"map": []}, "empty"),
        ({"map": [[]]}, "empty"),
        ({"map": [[0, 1], [0]]}, "lengths"),
        ({"map": [[0, float("nan")]]}, "nan at"),
        ({"map": [[0, float("inf")]]}, "inf at"),
        ({"map": [[0, -3]]}, r"-3.0 at \(0, 1\)"),
        ({"map": [[0, 1001]]}, "1001"),
        ({"map": [[0] * 1001 + [1]]}, "too large"),
        ({"map": [[0, 0]]}, "no treasure"),
        ({"map": [[0, -10, 4]]}, "no treasure"),
        ({"map": [[-10, 4]]}, "rock"),
        ({"map": [[4, 0]]}, "a treasure"),
        ({"start": (3, 0)}, "rock"),
        ({"start": (11, 0)}, "outside"),
        ({"start": (0, -1)}, "outside"),
        ({"start": (0.5, 0)}, "two integers"),
        ({"start": "here"}, "two integers"),
    ],
)
def test_impossible_maps_are_refused(keywords, message):
    with pytest.raises(ParameterError, match=message):
        gymnasium.make(ID, **keywords)
    with pytest.raises(ParameterError, match=message):
        pareto_front(**keywords)


def test_start_option():
    env = gymnasium.make(ID, start=(9, 10))
    env.reset()
    assert cell(env) == (9, 10)
    total, ended, _ = play(env, [DOWN, LEFT])
    assert ended
    assert total == pytest.approx([23.7, -2])
    assert pareto_front(start=(9, 10)).tolist() == [[23.7, -2.0]]


# --- expert and forms -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["convex", "concave", "mirrored"])
def test_the_expert_takes_the_shortest_way_to_the_richest_treasure(name):
    env = gymnasium.make(ID, map=name)
    env.reset()
    steps, terminated = 0, False
    while not terminated:
        _, _, terminated, _, info = env.step(env.unwrapped.expert_action())
        steps += 1
    assert steps == 19
    assert info["is_success"]


def test_vector_reward():
    env = gymnasium.make("rlenvs/mo-DeepSeaTreasure-v0")
    env.reset()
    _, reward, terminated, _, _ = env.step(DOWN)
    assert reward.dtype == np.float32
    assert terminated
    assert reward.tolist() == [np.float32(0.7), -1.0]
    assert env.unwrapped.reward_space.contains(reward)


def test_images():
    for grid in ("convex", [[0, 0, 2]]):
        env = gymnasium.make(ID, map=grid, render_mode="rgb_array")
        env.reset()
        before = env.render()
        env.step(RIGHT)
        assert not np.array_equal(before, env.render())
    env = gymnasium.make(ID, map=[[0, 0, 2], [-10, 0, 0]], render_mode="ansi")
    env.reset()
    assert env.render() == "S.T\n#.."


# --- the front against brute force ------------------------------------------------------------------------------------


def not_dominated(points):
    points = np.unique(points, axis=0)
    worse = [((points >= p).all(1) & (points > p).any(1)).any() for p in points]
    return points[~np.array(worse)]


@st.composite
def seas(draw, longest=4):
    rows, columns = draw(st.integers(1, longest)), draw(st.integers(1, longest))
    values = st.sampled_from([0.0, 0.0, 0.0, -10.0, 1.0, 2.0, 2.5, 7.0])
    grid = [[draw(values) for _ in range(columns)] for _ in range(rows)]
    start = (draw(st.integers(0, rows - 1)), draw(st.integers(0, columns - 1)))
    grid[start[0]][start[1]] = 0.0
    return grid, start


SEQUENCES = np.array(list(itertools.product(range(4), repeat=6)))


@settings(max_examples=60, deadline=None)
@given(seas(), st.sampled_from([1.0, 0.9, 0.5]))
def test_front_is_that_of_all_action_sequences(sea, gamma):
    """Every sequence of six moves, played in the environment itself."""
    grid, start = sea
    keywords = {"map": grid, "start": start, "horizon": 6}
    try:
        front = pareto_front(gamma=gamma, **keywords)
    except ParameterError:
        with pytest.raises(ParameterError):
            gymnasium.make(ID, **keywords)
        return
    discounts = gamma ** np.arange(6)
    returns = []
    for objective in ("treasure", "time"):
        weights = {"treasure": 0.0, "time": 0.0, objective: 1.0}
        batch = rlenvs.make_batch(ID, 1, weights=weights, **keywords)
        batch.seed([0])
        batch.reset()
        returns.append(rlenvs.rollout_plans(batch, SEQUENCES).rewards @ discounts)
    expected = not_dominated(np.round(np.transpose(returns), 9))
    assert sorted(front.round(9).tolist()) == expected.tolist()


@settings(max_examples=60, deadline=None)
@given(seas(longest=6), st.sampled_from([1.0, 0.99, 0.6]), st.integers(1, 40))
def test_front_is_that_of_all_walks(sea, gamma, horizon):
    """Every cell that some walk of n moves ends in, for every n: walks that are not shortest are in it too."""
    grid, start = np.array(sea[0]), sea[1]
    try:
        front = pareto_front(sea[0], gamma, start, horizon)
    except ParameterError:
        return
    here, points = {start}, [(0.0, -sum(gamma**i for i in range(horizon)))]
    for n in range(1, horizon + 1):
        beside = {(r + dr, c + dc) for r, c in here for dr, dc in ((0, 0), (0, 1), (1, 0), (0, -1), (-1, 0))}
        inside = {(r, c) for r, c in beside if 0 <= r < grid.shape[0] and 0 <= c < grid.shape[1] and grid[r, c] != -10}
        points += [(grid[at] * gamma ** (n - 1), -sum(gamma**i for i in range(n))) for at in inside if grid[at] > 0]
        here = {at for at in inside if grid[at] == 0}
    np.testing.assert_allclose(front[::-1], not_dominated(np.round(points, 12))[::-1], atol=1e-9)


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=8))
def test_hypervolume_counts_the_cells_below_the_points(points):
    covered = {(x, y) for px, py in points for x in range(1, px) for y in range(2, py)}
    assert hypervolume(np.array(points, float).reshape(-1, 2), (1, 2)) == len(covered)


@pytest.mark.parametrize(
    "call",
    [
        lambda: pareto_front(gamma=0.0),
        lambda: pareto_front(gamma=1.1),
        lambda: pareto_front(gamma=float("nan")),
        lambda: pareto_front(horizon=0),
        lambda: hypervolume([[1, 2, 3]], (0, 0)),
        lambda: hypervolume([[1, 2]], (0, 0, 0)),
        lambda: hypervolume([[1, float("inf")]], (0, 0)),
    ],
)
def test_bad_arguments(call):
    with pytest.raises(ParameterError):
        call()


@pytest.mark.parametrize(("name", "gamma"), list(HYPERVOLUMES) + [("mirrored", 0.98)])
def test_the_environment_knows_its_front(name, gamma):
    front = gymnasium.make("rlenvs/mo-DeepSeaTreasure-v0", map=name).unwrapped.pareto_front(gamma)
    expected = HYPERVOLUMES["concave" if name == "mirrored" else name, gamma]
    assert [hypervolume(front, (0, low)) for low in (-25, -50)] == pytest.approx(expected, abs=5.1e-4)
    assert np.array_equal(front, pareto_front(name, gamma))


@settings(max_examples=30, deadline=None)
@given(seas(longest=3), st.sampled_from([1.0, 0.8]), st.integers(1, 6))
def test_the_front_of_the_environment_is_that_of_what_it_pays(sea, gamma, horizon):
    """Vector rewards of every sequence of moves, as a learner of this environment would add them up."""
    try:
        envs = rlenvs.make_vec(
            "mo-DeepSeaTreasure-v0", 4**horizon, map=sea[0], start=sea[1], horizon=horizon, autoreset_mode="NEXT_STEP"
        )
    except ParameterError:
        return
    envs.reset(seed=0)
    returns, going = np.zeros((envs.num_envs, 2)), np.ones(envs.num_envs, bool)
    for t, actions in enumerate(SEQUENCES[: 4**horizon, -horizon:].T):
        _, rewards, terminated, truncated, _ = envs.step(actions)
        returns[going] += gamma**t * rewards[going]
        going &= ~(terminated | truncated)
    expected = not_dominated(np.round(returns, 6))
    assert sorted(envs.unwrapped.pareto_front(gamma).round(6).tolist()) == expected.tolist()


def test_the_front_counts_the_time_limit_and_the_start():
    env = gymnasium.make(ID, map="concave", horizon=8)
    assert env.unwrapped.pareto_front()[:, 1].min() == -8
    assert gymnasium.make(ID, start=(9, 10)).unwrapped.pareto_front().tolist() == [[23.7, -2.0]]
    for gamma in (0, 1.5, float("nan"), "a", None, True):
        with pytest.raises(ParameterError, match=r"gamma=.* must be a number in \(0, 1\]"):
            env.unwrapped.pareto_front(gamma)


def test_a_world_that_knows_no_front_says_so():
    with pytest.raises(NotImplementedError, match="QuadHover-v0 has no exact Pareto front"):
        gymnasium.make("rlenvs/mo-QuadHover-v0").unwrapped.pareto_front(0.9)


def test_pareto_q_learning_counts_states_in_whole_numbers():
    env = gymnasium.make("rlenvs/mo-DeepSeaTreasure-v0", map="mirrored", encoding="integer")
    space, (observation, _) = env.observation_space, env.reset(seed=0)
    assert space.dtype == np.int32
    assert (space.low.tolist(), space.high.tolist()) == ([0, 0], [10, 19])
    assert np.ravel_multi_index(observation, space.high - space.low + 1) == 10


def test_no_treasure_within_the_horizon():
    assert pareto_front([[0, 0, 0, 4]], horizon=2).tolist() == [[0.0, -2.0]]


@pytest.mark.parametrize("gamma", [0, 1.5, float("nan"), "a", None])
def test_a_discount_outside_its_range_is_refused(gamma):
    with pytest.raises(ParameterError, match="must be a number in"):
        pareto_front("convex", gamma=gamma)
