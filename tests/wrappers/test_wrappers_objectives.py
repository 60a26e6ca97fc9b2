"""Scalarisations, weights in observations, normalised rewards, lexicographic orders."""

from __future__ import annotations

import copy
import itertools
import json
import pickle

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.wrappers import NormalizeReward
from hypothesis import given, settings
from hypothesis import strategies as st
from support.wrapper_helpers import assert_conforms, assert_forms_agree

import rlenvs
from rlenvs.core.check.playing import difference
from rlenvs.core.declare.errors import ParameterError
from rlenvs.wrappers.action_repeat import ActionRepeat
from rlenvs.wrappers.forms import wrap
from rlenvs.wrappers.normalization import NormalizeRewards
from rlenvs.wrappers.objectives import (
    ChebyshevScalarization,
    Lexicographic,
    LinearScalarization,
    chebyshev,
    lexicographically_better,
)
from rlenvs.wrappers.weights_shown import AppendEpisodeReturn, WeightConditioned, draw_simplex

HOVER = "QuadHover-v0"  # terms hover, distance, effort
# the concave front of Deep Sea Treasure: treasure, minus the steps there
FRONT = np.array(
    [(1, -1), (2, -3), (3, -5), (5, -7), (8, -8), (16, -9), (24, -13), (50, -14), (74, -17), (124, -19)], float
)
CHEBYSHEV = ChebyshevScalarization([0.5, 0.3, 0.2], [500.0, 0.0, 0.0])
ORDERED = Lexicographic(["distance", "hover"], 0.5, {"distance": -3.0}, {"distance": [-300, 0], "hover": [0, 600]})


class Coins(gymnasium.Env):
    """Another package's environment with two objectives: the action pays coins and costs time."""

    observation_space, action_space = spaces.Box(-1.0, 1.0, (1,)), spaces.Box(-1.0, 1.0, (1,))
    reward_space = spaces.Box(-1.0, 1.0, (2,))

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return np.zeros(1, np.float32), {}

    def step(self, action):
        return np.zeros(1, np.float32), np.array([action[0], -0.5], np.float32), False, False, {}


def gentle(steps: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-0.1, 0.1, (steps, 4)).astype(np.float32)


def played(id: str, *wrappers, steps: int = 8, seed: int = 0):
    """The rewards and infos of an episode, and the environment."""
    env = wrap(rlenvs.make(id), *wrappers)
    env.reset(seed=seed)
    returned = [env.step(action) for action in gentle(steps)]
    return [r[1] for r in returned], [r[-1] for r in returned], env


# --- linear -----------------------------------------------------------------------------------------------------------


def test_linear_scalarisation_is_the_weighted_sum():
    for id in (HOVER, f"mo-{HOVER}"):
        rewards, infos, env = played(id, LinearScalarization({"hover": 2.0, "effort": -1.0}))
        for reward, info in zip(rewards, infos, strict=True):
            assert isinstance(reward, float)
            vector = info["reward_vector"].astype(float)
            assert reward == pytest.approx(2.0 * vector[0] - vector[2], abs=1e-12)
        assert not hasattr(env, "reward_space")


def test_the_worlds_own_weights_give_its_own_reward():
    weights = rlenvs.make(HOVER).unwrapped.batch.setup.weights.tolist()
    rewards, _, _ = played(f"mo-{HOVER}", LinearScalarization(weights))
    bare = rlenvs.make(HOVER)
    bare.reset(seed=0)
    assert np.allclose(rewards, [bare.step(action)[1] for action in gentle(8)], atol=1e-6)


def test_other_packages_vectors():
    env = wrap(Coins(), LinearScalarization([2.0, 1.0]))
    env.reset(seed=0)
    _, reward, _, _, info = env.step(np.array([0.75], np.float32))
    assert reward == pytest.approx(1.0)
    assert info["reward_vector"].tolist() == [0.75, -0.5]
    with pytest.raises(ParameterError, match="no reward vector"):
        wrap(gymnasium.make("Pendulum-v1"), LinearScalarization([1.0]))


# --- Chebyshev --------------------------------------------------------------------------------------------------------


def test_chebyshev_distance():
    vectors = np.array([[3.0, 1.0], [0.0, 5.0], [4.0, 6.0]])
    assert np.allclose(chebyshev(vectors, [1.0, 2.0], [4.0, 6.0]), [10.0, 4.0, 0.0])
    assert np.allclose(chebyshev(vectors, [1.0, 2.0], [4.0, 6.0], rho=0.1), [10.0 + 1.1, 4.0 + 0.6, 0.0])
    assert chebyshev([5.0, 7.0], [1.0, 2.0], [4.0, 6.0]) == -1.0  # beyond the reference: better still
    weights = np.random.default_rng(0).dirichlet(np.ones(2), 50)[:, None]
    paper = (weights * np.abs(FRONT - [125.0, 0.0])).max(axis=-1)
    assert np.allclose(chebyshev(FRONT, weights, [125.0, 0.0]), paper)


def test_chebyshev_finds_concave_parts_of_a_front_and_weighted_sums_do_not():
    weights = np.linspace(0.001, 0.999, 4000)
    pairs = np.stack([weights, 1.0 - weights], axis=1)[:, None]
    linear = set(np.argmax((pairs * FRONT).sum(axis=-1), axis=1).tolist())
    assert linear == {0, 9}
    assert set(np.argmin(chebyshev(FRONT, pairs, [125.0, 0.0]), axis=1).tolist()) == set(range(10))


@pytest.mark.parametrize("id", [HOVER, f"mo-{HOVER}"])
def test_chebyshev_rewards_add_up_to_the_distance_gained(id):
    rewards, infos, _ = played(id, CHEBYSHEV, steps=20)
    total = np.sum([info["reward_vector"] for info in infos], axis=0, dtype=float)
    assert np.allclose(infos[-1]["accrued"], total)
    weights, point = np.array([0.5, 0.3, 0.2]), np.array([500.0, 0.0, 0.0])

    def distance(vector):
        gaps = weights * (point - vector)
        return gaps.max() + 0.01 * gaps.sum()

    assert infos[-1]["distance"] == pytest.approx(distance(total))
    assert sum(rewards) == pytest.approx(distance(np.zeros(3)) - distance(total))
    assert rewards[0] == pytest.approx(distance(np.zeros(3)) - distance(infos[0]["reward_vector"].astype(float)))


def test_an_episode_begins_from_nothing():
    env = wrap(rlenvs.make(HOVER), CHEBYSHEV, AppendEpisodeReturn())
    runs = []
    for _ in range(2):
        start = env.reset(seed=5)
        assert start[1]["accrued"].tolist() == [0.0, 0.0, 0.0]
        runs.append([start, *[env.step(action) for action in gentle(5)]])
    assert not difference(*runs)


# --- lexicographic ----------------------------------------------------------------------------------------------------


def test_better_compares_term_by_term():
    assert lexicographically_better([2, 0], [1, 9])
    assert not lexicographically_better([1, 9], [2, 0])
    assert lexicographically_better([1, 2], [1, 1])
    assert not lexicographically_better([1, 1], [1, 1])
    assert not lexicographically_better([1.05, 0], [1.0, 9], slack=0.1)
    assert lexicographically_better([1.05, 9], [1.0, 0], slack=0.1)
    assert lexicographically_better([6, 3], [9, 2], thresholds=[5, None])
    assert not lexicographically_better([6, 2], [9, 2], thresholds=[5, None])
    assert lexicographically_better([[1, 2], [0, 9]], [1, 1], thresholds=[np.inf, 5]).tolist() == [True, False]
    assert not lexicographically_better([6, 3], [9, 2])
    assert lexicographically_better([1, 5], [1, 4], slack=[0.0, 0.5])
    assert not lexicographically_better([1, 5], [1, 4], slack=[0.0, 1.5])


VECTORS = st.lists(st.integers(0, 4), min_size=3, max_size=3)


@given(VECTORS, VECTORS, VECTORS)
def test_better_is_a_strict_order(a, b, c):
    caps = [2, None, 3]
    assert not (lexicographically_better(a, b, caps) and lexicographically_better(b, a, caps))
    if lexicographically_better(a, b, caps) and lexicographically_better(b, c, caps):
        assert lexicographically_better(a, c, caps)
    clipped = [tuple(np.minimum(v, [2, 9, 3])) for v in (a, b)]
    assert lexicographically_better(a, b, caps) == (clipped[0] > clipped[1])


def test_multipliers():
    wrapper = Lexicographic(["hover", "distance"], {"hover": 2.0}, None, {"hover": [0, 10], "distance": [-4, 0]})
    made = wrap(rlenvs.make(HOVER), wrapper).wrappers[0]
    assert np.allclose(made.multipliers, np.array([4.0 / 2.0, 1.0]) / (2.0 * 10.0 + 4.0))
    returns = np.array([[10.0, 0.0, 5.0], [0.0, -4.0, 5.0], [3.0, -2.0, 0.0], [99.0, 9.0, 0.0]])
    assert np.allclose(made.utility(returns), [1.0, 0.0, (2 * 3 + 2) / 24, 1.0])


def test_the_scalar_keeps_the_order_of_all_vectors_a_slack_apart():
    ranges = {"hover": [0, 3], "distance": [-2, 0], "effort": [-1, 1]}
    wrapper = Lexicographic(["hover", "distance", "effort"], 0.5, {"hover": 2.0}, ranges)
    made = wrap(rlenvs.make(HOVER), wrapper).wrappers[0]
    grid = itertools.product(np.arange(0, 3.1, 0.5), np.arange(-2, 0.1, 0.5), np.arange(-1, 1.1, 0.5))
    points = np.array(list(grid))
    worth = made.utility(points)
    first = lexicographically_better(points[:, None], points[None], [2.0, None, None])
    assert np.array_equal(first, worth[:, None] > worth[None] + 1e-12)


@given(st.lists(st.floats(0, 1), min_size=6, max_size=6), st.floats(0.05, 0.5))
@settings(max_examples=200, deadline=None)
def test_a_slack_in_an_important_term_outweighs_what_follows(numbers, slack):
    made = _lexicographic(slack)
    a, b = np.array(numbers[:3]), np.array(numbers[3:])
    for k in range(2):
        b[:k] = a[:k]
        if a[k] >= b[k] + slack:
            assert made.utility(a[None])[0] > made.utility(b[None])[0]


MADE: dict[float, Lexicographic] = {}


def _lexicographic(slack: float) -> Lexicographic:
    if not MADE:
        ranges = {name: [0.0, 1.0] for name in ("hover", "distance", "effort")}
        MADE[0.0] = wrap(rlenvs.make(HOVER), Lexicographic(list(ranges), 0.1, None, ranges)).wrappers[0]
    made = copy.copy(MADE[0.0])
    made.slack = slack
    made.multipliers = made._multipliers(["hover", "distance", "effort"])
    return made


@pytest.mark.parametrize("id", [HOVER, f"mo-{HOVER}"])
def test_lexicographic_rewards_add_up(id):
    rewards, infos, env = played(id, ORDERED, steps=20)
    total = np.sum([info["reward_vector"] for info in infos], axis=0, dtype=float)
    clipped = [min(total[1], -3.0), total[0]]
    assert np.allclose(infos[-1]["lexicographic"], clipped)
    utility = env.wrappers[0].utility
    assert sum(rewards) == pytest.approx((utility(total[None]) - utility(np.zeros((1, 3))))[0])


def test_bounds_of_the_world_are_the_default_ranges():
    made = wrap(rlenvs.make("DeepSeaTreasure-v0"), Lexicographic(["treasure", "time"], 0.1)).wrappers[0]
    assert made.floor.tolist() == [0.0, -100.0]
    assert made.cap.tolist() == [100_000.0, 0.0]


# --- numbers in observations ------------------------------------------------------------------------------------------


def test_accrued_rewards_are_shown():
    _, infos, env = played(HOVER, AppendEpisodeReturn({"hover": 0.05, "distance": 100.0, "effort": 2.0}), steps=6)
    seen = env.top.observation[0]
    total = np.sum([info["reward_vector"] for info in infos], axis=0, dtype=float)
    assert np.allclose(infos[-1]["accrued"], total)
    assert np.allclose(seen[-3:], np.clip(total / [0.05, 100.0, 2.0], -1.0, 1.0))
    assert seen[-3] == 1.0  # clipped
    assert env.observation_space.shape == (18,)
    natural = wrap(rlenvs.make("DeepSeaTreasure-v0"), AppendEpisodeReturn()).wrappers[0]
    assert natural.sizes.tolist() == [100_000.0, 100.0]


def test_dictionaries_get_a_part():
    for keywords in ({"camera": "rgb", "camera_width": 8, "camera_height": 6},):
        env = wrap(rlenvs.make(HOVER, **keywords), WeightConditioned(), AppendEpisodeReturn())
        seen, info = env.reset(seed=0)
        assert env.observation_space.contains(seen)
        assert np.array_equal(seen["weights"], info["weights"])
        assert seen["accrued"].tolist() == [0.0] * 3
    team = wrap(rlenvs.parallel_env("ParticleSpread-v0"), WeightConditioned())
    seen, infos = team.reset(seed=0)
    for agent in team.agents:
        assert team.observation_space(agent).contains(seen[agent])
        assert np.array_equal(seen[agent][-2:], infos[agent]["weights"])
    with pytest.raises(ParameterError, match="already have 'weights'"):
        wrap(rlenvs.make(HOVER, camera="rgb"), WeightConditioned(), WeightConditioned())


def test_weights_are_uniform_on_the_simplex():
    for low in (0.0, 0.1):
        out, key = (
            np.zeros((20000, 3), np.float32),
            np.random.default_rng(0).integers(0, 2**63, 20000).astype(np.uint64),
        )
        draw_simplex(np.ones(20000, np.bool_), key, low, out)
        assert np.allclose(out.sum(axis=1), 1.0, atol=1e-6)
        assert out.min() >= low
        spread = (out - low) / (1.0 - 3 * low)  # Dirichlet(1, 1, 1)
        assert np.allclose(spread.mean(axis=0), 1 / 3, atol=0.006)
        assert np.allclose(spread.var(axis=0), 2 / 9 / 4, rtol=0.03)
        assert np.corrcoef(spread[:, 0], spread[:, 1])[0, 1] == pytest.approx(-0.5, abs=0.02)
        assert np.mean(spread[:, 0] < 0.5) == pytest.approx(1 - 0.5**2, abs=0.01)  # Beta(1, 2)


def test_weights_are_seen_used_and_drawn_per_episode():
    env = wrap(rlenvs.make(HOVER), WeightConditioned())
    drawn = []
    for episode in range(4):
        seen, info = env.reset(seed=0 if episode == 0 else None)
        assert np.array_equal(seen[-3:], info["weights"])
        drawn.append(info["weights"])
        for action in gentle(3):
            seen, reward, _, _, info = env.step(action)
            assert np.array_equal(info["weights"], drawn[-1])
            assert np.array_equal(seen[-3:], drawn[-1])
            assert reward == pytest.approx(float(info["reward_vector"].astype(float) @ drawn[-1]), abs=1e-6)
    assert len({tuple(w.tolist()) for w in drawn}) == 4
    assert np.array_equal(env.reset(seed=0)[1]["weights"], drawn[0])


def test_weights_given():
    env = wrap(rlenvs.make(HOVER), WeightConditioned({"hover": 0.75, "effort": 0.25}))
    assert env.reset(seed=0)[1]["weights"].tolist() == [0.75, 0.0, 0.25]
    assert env.reset(options={"weights": [0.5, 0.5, 0.0]})[1]["weights"].tolist() == [0.5, 0.5, 0.0]
    assert env.reset()[1]["weights"].tolist() == [0.75, 0.0, 0.25]
    _, info = env.reset(options={"weights": {"distance": 1}, "params": {"mass": 0.03}})
    assert info["weights"].tolist() == [0.0, 1.0, 0.0]
    assert env.unwrapped.batch.get_params()["mass"] == 0.03
    vec = wrap(rlenvs.make_vec(HOVER, 3), WeightConditioned())
    grid = np.eye(3)
    assert np.array_equal(vec.reset(seed=0, options={"weights": grid})[1]["weights"], grid)
    mask = np.array([False, True, False])
    weights = vec.reset(options={"weights": [0.5, 0.25, 0.25], "reset_mask": mask})[1]["weights"]
    assert np.array_equal(weights, [[1, 0, 0], [0.5, 0.25, 0.25], [0, 0, 1]])
    for wrong in ([1.0, 1.0, 0.0], [0.5, 0.5], [1.5, -0.5, 0.0], {"speed": 1.0}, np.eye(3)[:2]):
        with pytest.raises(ParameterError, match="weights"):
            vec.reset(options={"weights": wrong})


# --- normalisation ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("id", [HOVER, f"mo-{HOVER}"])
def test_normalised_rewards_are_divided_by_the_spread_of_returns(id, shared):
    rewards, infos, env = played(id, NormalizeRewards(discount=0.9, shared=shared), steps=30)
    vectors = np.array([info["reward_vector"] for info in infos], float)
    returns, so_far = np.zeros(3), []
    for vector, reward, info in zip(vectors, rewards, infos, strict=True):
        returns = 0.9 * returns + vector
        so_far.append(returns)
        mean = np.sum(so_far, axis=0) / (len(so_far) + 1)  # with a sample in advance: mean 0, variance 1
        variance = (1.0 + mean**2 + np.sum((np.array(so_far) - mean) ** 2, axis=0)) / (len(so_far) + 1)
        normal = vector / np.sqrt(variance + 1e-8)
        assert np.allclose(info["normalized_rewards"], normal)
        weights = env.unwrapped.batch.setup.weights
        expected = normal if id.startswith("mo-") else normal @ weights
        assert np.allclose(reward, expected, rtol=1e-5)
    if id.startswith("mo-"):
        assert env.reward_space.contains(rewards[-1])


def test_seeds_forget_statistics():
    vec = wrap(rlenvs.make_vec(HOVER, 3), NormalizeRewards())
    runs = []
    for _ in range(2):
        vec.reset(seed=1)
        runs.append([vec.step(np.tile(action, (3, 1))) for action in gentle(4)])
    assert not difference(*runs)
    learned = vec.wrappers[0].variance.copy()
    vec.reset()
    vec.reset(seed=1, options={"reset_mask": np.array([True, False, False])})
    assert np.array_equal(vec.wrappers[0].variance, learned)  # shared, and not all have got a seed
    slots = wrap(rlenvs.make_vec(HOVER, 3), NormalizeRewards(shared=False))
    slots.reset(seed=1)
    slots.step(np.zeros((3, 4), np.float32))
    slots.reset(seed=1, options={"reset_mask": np.array([True, False, False])})
    assert slots.wrappers[0].samples.tolist() == [1.0, 2.0, 2.0]


def test_one_term_approaches_gymnasiums_wrapper():
    ours, stock = wrap(Coins(), NormalizeRewards()), NormalizeReward(First(Coins()), gamma=0.99)
    ours.reset(seed=0)
    stock.reset(seed=0)
    for action in np.random.default_rng(0).normal(0.3, 0.4, (3000, 1)).astype(np.float32):
        mine, theirs = ours.step(action)[1][0], stock.step(action)[1]
    assert mine == pytest.approx(theirs, rel=0.01)


class First(gymnasium.RewardWrapper):
    def reward(self, reward):
        return float(reward[0])


def test_shared_statistics_are_those_of_all_slots():
    wrapper = NormalizeRewards(discount=0.8)
    vec = wrap(rlenvs.make_vec(HOVER, 5), wrapper)
    vec.reset(seed=0)
    returns, samples = np.zeros((5, 3)), [np.zeros((0, 3))]
    for action in gentle(12):
        infos = vec.step(np.tile(action, (5, 1)))[-1]
        returns = 0.8 * returns + infos["reward_vector"]
        samples.append(returns.copy())
    mean, every = np.concatenate(samples).sum(axis=0) / 61, np.concatenate(samples)
    made = vec.wrappers[0]
    assert np.allclose(made.mean, mean)
    assert np.allclose(made.variance, (1.0 + mean**2 + ((every - mean) ** 2).sum(axis=0)) / 61)
    assert (made.samples == 61).all()
    fixed = wrap(rlenvs.make(HOVER), made.fixed())
    assert json.loads(json.dumps(fixed.recipe))[0]["scale"] == pytest.approx(np.sqrt(made.variance[0] + 1e-8))
    fixed.reset(seed=0)
    info = fixed.step(gentle(1)[0])[-1]
    assert np.allclose(info["normalized_rewards"], info["reward_vector"] / np.sqrt(made.variance[0]), rtol=1e-6)


def test_given_scale_and_shift():
    wrapper = NormalizeRewards(scale={"hover": 2.0, "distance": 4.0, "effort": 1.0}, shift={"hover": 1.0})
    _, infos, env = played(HOVER, wrapper)
    for info in infos:
        assert np.allclose(info["normalized_rewards"], (info["reward_vector"] - [1.0, 0.0, 0.0]) / [2.0, 4.0, 1.0])
    assert env.wrappers[0].fixed().scale == [2.0, 4.0, 1.0]
    assert env.wrappers[0].fixed().shift == [1.0, 0.0, 0.0]


def test_scalarisations_take_normalised_vectors():
    for id in (HOVER, f"mo-{HOVER}"):
        wrappers = NormalizeRewards(shared=False), LinearScalarization([1.0, 0.5, 0.0])
        rewards, infos, _ = played(id, *wrappers)
        for reward, info in zip(rewards, infos, strict=True):
            assert reward == pytest.approx(info["normalized_rewards"] @ [1.0, 0.5, 0.0])
    with pytest.raises(ParameterError, match="already normalized below"):
        wrap(rlenvs.make(HOVER), NormalizeRewards(), NormalizeRewards())
    for wrapper, setting in ((AppendEpisodeReturn(), "scale"), (Lexicographic(["hover"], 1.0), "ranges")):
        with pytest.raises(ParameterError, match=f"{setting}=None must be given"):
            wrap(rlenvs.make(HOVER), NormalizeRewards(), wrapper)


def test_going_back_takes_shared_statistics_back():
    vec = wrap(rlenvs.make_vec(HOVER, 3), NormalizeRewards(), LinearScalarization([1, 1, 1]))
    vec.reset(seed=0)
    actions = np.random.default_rng(0).uniform(-0.1, 0.1, (8, 3, 4)).astype(np.float32)
    for action in actions[:4]:
        vec.step(action)
    state = pickle.loads(pickle.dumps(vec.get_state()))
    twin = copy.deepcopy(vec)
    expected = [vec.step(action) for action in actions[4:]]
    vec.set_state(state)
    assert not difference(expected, [vec.step(action) for action in actions[4:]])
    assert not difference(expected, [twin.step(action) for action in actions[4:]])
    now = vec.wrappers[0].samples.copy()
    vec.top.set_state(state[1], 1)
    assert (vec.wrappers[0].samples == now - 12).all()


# --- on environments --------------------------------------------------------------------------------------------------


STACKS = [
    (LinearScalarization([0.3, 0.3, 0.4]),),
    (AppendEpisodeReturn(), CHEBYSHEV),
    (ActionRepeat(2), ORDERED),
    (WeightConditioned(low=0.1),),
    (NormalizeRewards(shared=False), WeightConditioned()),
    (NormalizeRewards(scale=[1.0, 2.0, 3.0]),),
]


@pytest.mark.parametrize("wrappers", STACKS)
@pytest.mark.parametrize("id", [HOVER, f"mo-{HOVER}"])
def test_forms_agree(id, wrappers):
    assert_forms_agree(id, *wrappers)


@pytest.mark.parametrize(
    "id", ["DeepSeaTreasure-v0", "mo-DeepSeaTreasure-v0", "ParticleSpread-v0", "mo-SafePointGoal-v0"]
)
def test_forms_agree_elsewhere(id):
    terms = len(rlenvs.make(id).unwrapped.batch.world.terms)
    assert_forms_agree(id, WeightConditioned())
    assert_forms_agree(id, ChebyshevScalarization([1.0] * terms, [10.0] * terms))


@pytest.mark.parametrize("wrappers", [STACKS[1], STACKS[4]])
def test_stacks_conform(wrappers):
    assert_conforms(HOVER, *wrappers)


def test_normalised_vectors_conform():
    assert_conforms("mo-DeepSeaTreasure-v0", NormalizeRewards(shared=False))
    assert_conforms("ParticleSpread-v0", WeightConditioned())


def test_agents_have_weights_of_their_own():
    team = wrap(rlenvs.parallel_env("ParticleSpread-v0", vector_reward=True), WeightConditioned())
    single = wrap(rlenvs.make("ParticleSpread-v0"), WeightConditioned())
    _, infos = team.reset(seed=3)
    weights = [tuple(info["weights"].tolist()) for info in infos.values()]
    assert len(set(weights)) == len(weights)
    assert np.array_equal(single.reset(seed=3)[1]["weights"], weights[0])
    rewards, infos = team.step(dict.fromkeys(team.agents, 1))[1::3]
    for agent, w in zip(rewards, weights, strict=True):
        assert rewards[agent] == pytest.approx(infos[agent]["reward_vector"] @ np.array(w), abs=1e-5)


def test_snapshots_copies_and_specs_go_on_alike():
    wrappers = NormalizeRewards(shared=False), WeightConditioned(), AppendEpisodeReturn([9.0, 9.0, 9.0])
    env = wrap(gymnasium.make(f"rlenvs/{HOVER}"), *wrappers)
    env.reset(seed=4)
    actions = gentle(12)
    for action in actions[:5]:
        env.step(action)
    others = [copy.deepcopy(env), pickle.loads(pickle.dumps(env)), gymnasium.make(env.spec)]
    others[-1].get_wrapper_attr("set_state")(pickle.loads(pickle.dumps(env.get_state())))
    expected = [env.step(action) for action in actions[5:]]
    for other in others[:2]:
        assert not difference(expected, [other.step(action) for action in actions[5:]])
    again = wrap(rlenvs.make(HOVER), *json.loads(json.dumps(env.recipe)))
    assert again.recipe == env.recipe
    assert not difference(env.reset(seed=6), again.reset(seed=6))


@pytest.mark.parametrize(
    ("wrapper", "said"),
    [
        (LinearScalarization([1.0, 2.0]), "weights=.*3 finite numbers"),
        (LinearScalarization({"hoover": 1.0}), "no term 'hoover'. Did you mean 'hover'"),
        (LinearScalarization([1.0, 2.0, float("nan")]), "weights="),
        (LinearScalarization("even"), "weights="),
        (ChebyshevScalarization([-1.0, 1.0, 1.0], [0, 0, 0]), "weights=.*at least 0"),
        (ChebyshevScalarization([0.0, 0.0, 0.0], [0, 0, 0]), "weights=.*not all 0"),
        (ChebyshevScalarization([1, 1, 1], {"hover": 1.0}), "reference=.*has no entry for.*distance"),
        (ChebyshevScalarization([1, 1, 1], [0, 0, 0], rho=-0.1), "rho="),
        (Lexicographic([], 1.0), "order="),
        (Lexicographic(["hover", "hover"], 1.0), "order="),
        (Lexicographic(["speed"], 1.0), "order="),
        (Lexicographic(["hover", "distance"], 0.0), "slack="),
        (Lexicographic(["hover", "distance"], {"distance": 1.0}), "slack=.*one for hover"),
        (Lexicographic(["hover"], 1.0, {"effort": 1.0}), "thresholds="),
        (Lexicographic(["hover"], 1.0, None, {"hover": [3.0, 1.0]}), "ranges="),
        (Lexicographic(["hover"], 1.0, {"hover": -1.0}, {"hover": [0.0, 1.0]}), "ranges="),
        (Lexicographic(["hover", "distance"], 1e-30), "too fine"),
        (AppendEpisodeReturn([1.0, 0.0, 1.0]), "scale=.*positive"),
        (AppendEpisodeReturn({"hover": 1.0}), "scale=.*all terms"),
        (WeightConditioned(low=0.4), "low="),
        (WeightConditioned([0.5, 0.5, 0.5]), "weights=.*sum 1"),
        (WeightConditioned([1.0, 0.0, 0.0], low=0.1), "low="),
        (NormalizeRewards(discount=1.1), "discount="),
        (NormalizeRewards(epsilon=-1.0), "epsilon="),
        (NormalizeRewards(scale=[1.0, -1.0, 1.0]), "scale="),
        (NormalizeRewards(shift=[1.0, 1.0, 1.0]), "shift="),
    ],
)
def test_impossible_settings_are_refused(wrapper, said):
    with pytest.raises(ParameterError, match=said):
        wrap(rlenvs.make(HOVER), wrapper)


def test_observations_that_cannot_be_extended_are_refused():
    class Cells(Coins):
        observation_space = spaces.Discrete(4)

    with pytest.raises(ParameterError, match="vectors of floats or integers and dictionaries"):
        wrap(Cells(), WeightConditioned())
    for wrapper in (AppendEpisodeReturn(), Lexicographic(["0"], 1.0)):
        with pytest.raises(ParameterError, match="must be given"):
            wrap(Coins(), wrapper)
