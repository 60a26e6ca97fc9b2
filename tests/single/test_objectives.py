"""The finite worlds with several objectives: steps and fronts of the original, exact fronts with policies that are
replayed, and numbers of the published descriptions."""

import itertools

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from support.places import DATA

import rlenvs
from rlenvs import pareto
from rlenvs.core.declare.errors import ParameterError
from rlenvs.single.objectives import four_rooms_shapes
from rlenvs.single.objectives.fruit_tree import leaves

RECORD = np.load(DATA / "mo_gymnasium.npz")
GAMMAS = (1.0, 0.99, 0.98)
UP, DOWN, LEFT, RIGHT = range(4)
RESOURCES, FISH, TREE, BOTTLES, UNBREAKABLE = (
    f"{name}-v0" for name in ("ResourceGathering", "Fishwood", "FruitTree", "BreakableBottles", "UnbreakableBottles")
)
PUBLISHED = {  # in the recording: our world, keywords under which chance decides evenly, keywords of the defaults
    "resources": (RESOURCES, {"danger": 0.5}),
    "fishwood": (FISH, {"fish_chance": 0.5, "wood_chance": 0.5}),
    "breakable": (BOTTLES, {"drop": 0.5}),
    "unbreakable": (UNBREAKABLE, {"drop": 0.5}),
    "fruit5": (TREE, {"depth": 5}),
    "fruit6": (TREE, {}),
    "fruit7": (TREE, {"depth": 7}),
}
ROOMS = "FourRoomsShapes-v0"
COPIES = 40  # of a state, so that both ways that chance may take are seen: neither only with probability 2^-39


def published_front(env, gamma=1.0):
    return env.unwrapped.batch.setup.published_front(gamma)


# --- as the original --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PUBLISHED)
def test_every_recorded_step(name):
    """From the recorded state the recorded action leads to the recorded state, reward and end, for the chance recorded;
    and nothing else happens than that and, where chance decides, the other way that is recorded as often."""
    id, keywords = PUBLISHED[name]
    batch = rlenvs.make_batch(id, COPIES, autoreset=AutoresetMode.DISABLED, **keywords)
    batch.seed(list(range(COPIES)))
    rows = {tuple(row): number for number, row in enumerate(batch.records(0)[0].features.tolist())}
    before, after = (np.minimum(RECORD[f"{name}_{key}"], most_seen(name)) for key in ("before", "after"))
    for t, action in enumerate(RECORD[f"{name}_action"]):
        batch.reset()
        batch.states["number"] = rows[tuple(before[t].tolist())]
        batch.step(np.full((COPIES, 1), action))
        terms = batch.terms[:, : RECORD[f"{name}_reward"].shape[1], 0]
        same = (np.abs(terms.astype(np.float32) - RECORD[f"{name}_reward"][t]) <= 1e-9).all(axis=1)
        same &= batch.states["number"] == rows[tuple(after[t].tolist())]
        same &= batch.terminated[:, 0] == (RECORD[f"{name}_end"][t, 0] and name != "fishwood")
        assert same.any(), t
        other = np.flatnonzero(~same)
        outcomes = {(int(batch.states["number"][i]), *terms[i].tolist()) for i in other}
        assert len(outcomes) <= 1


def most_seen(name):
    """Of broken bottles we see whether there are some, not how many."""
    return np.array([4, 2, 2, 1, 1, 1]) if name == "breakable" else 10_000


@pytest.mark.parametrize("name", PUBLISHED)
def test_spaces_of_the_original(name):
    env = rlenvs.make(f"mo-{PUBLISHED[name][0]}", **({"depth": int(name[-1])} if "fruit" in name else {}))
    rewards = env.unwrapped.reward_space
    low, high = RECORD[f"{name}_reward_space"]
    if "breakable" in name:  # the original's allow any time and leave out that the last bottle is picked up again
        assert (rewards.low.tolist(), rewards.high.tolist()) == ([-1, 0, -1], [0, 50, 1])
        assert env.observation_space.high.tolist() == (
            [4, 2, 2, 1, 1, 1] if name == "breakable" else [4, 2, 2, 3, 3, 3]
        )
        return
    assert rewards == gymnasium.spaces.Box(low, high, dtype=np.float32)
    assert env.observation_space == gymnasium.spaces.Box(*RECORD[f"{name}_space"], dtype=np.int32)


@pytest.mark.parametrize("name", [name for name in PUBLISHED if f"{name}_front" in RECORD])
def test_published_fronts(name):
    env = rlenvs.make(PUBLISHED[name][0], **({} if name == "resources" else PUBLISHED[name][1]))
    for gamma, front in zip(RECORD["gammas"], RECORD[f"{name}_front"], strict=True):
        points = published_front(env, gamma).points
        np.testing.assert_allclose(sorted(points.tolist(), reverse=True), front, rtol=1e-12, atol=1e-15)


# --- resource gathering -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("gamma", "published", "ours"), [(1.0, 3.729, 4.0), (0.99, 3.34511, 3.51941), (0.98, 3.021911, 3.13762)]
)
def test_hypervolumes_of_resource_gathering(gamma, published, ours):
    env = rlenvs.make(RESOURCES)
    reference = published_front(env).reference
    assert reference == (-1.0, -1.0, -1.0)
    assert pareto.hypervolume(published_front(env, gamma).points, reference) == pytest.approx(published, abs=5.1e-6)
    assert pareto.hypervolume(env.unwrapped.pareto_front(gamma), reference) == pytest.approx(ours, abs=5.1e-6)


def test_the_undiscounted_front_of_resource_gathering_is_a_way_without_risk():
    env = rlenvs.make(RESOURCES)
    assert env.unwrapped.pareto_front().tolist() == [[0.0, 1.0, 1.0]]
    points = published_front(env).points
    assert sorted(map(tuple, np.round(points, 12).tolist())) == [(-0.1, 0.9, 0.9), (0, 0, 1), (0, 1, 0)]
    assert (points <= [0.0, 1.0, 1.0]).all()
    way = [LEFT] * 2 + [UP] * 4 + [RIGHT] * 2  # to the gold
    way += [LEFT, DOWN, DOWN] + [RIGHT] * 3 + [UP, DOWN, DOWN, DOWN] + [LEFT] * 2
    assert total(env, way) == ([0.0, 1.0, 1.0], 20)
    front = pareto.pareto_front(env, 0.99)
    shortest = front.policies[1]
    assert np.log(front.values[1, 1]) / np.log(0.99) == pytest.approx(17)  # 18 steps
    np.testing.assert_allclose(pareto.play_policy(env, shortest, 0.99).mean, front.values[1], atol=1e-12)


def total(env, actions):
    """The sum of the terms of an episode, and its steps."""
    env.reset(seed=0)
    returns = 0.0
    for steps, action in enumerate(actions, 1):
        _, _, terminated, truncated, info = env.step(action)
        returns = returns + info["reward_vector"]
        if terminated or truncated:
            return returns.tolist(), steps
    raise AssertionError("the episode goes on")


@pytest.mark.parametrize("gamma", GAMMAS)
@pytest.mark.parametrize("danger", [0.1, 0.5])
def test_policies_of_the_fronts_attain_them(gamma, danger):
    env = rlenvs.make(RESOURCES, danger=danger)
    for value, policy in pareto.pareto_front(env, gamma):
        played = pareto.play_policy(env, policy, gamma, 200)
        assert (np.abs(played.mean - value) <= 2 * played.half_width + 1e-12).all()


def test_where_nobody_kills_the_short_way_is_the_front():
    env = rlenvs.make(RESOURCES, danger=0.0)
    front = env.unwrapped.pareto_front(0.9)
    assert published_front(env) is None
    np.testing.assert_allclose(front, [[0, 0.9**7, 0], [0, 0.9**11, 0.9**11], [0, 0, 0.9**9]])


# --- fishwood ---------------------------------------------------------------------------------------------------------


def test_the_front_of_fishwood_is_a_line():
    env = rlenvs.make(FISH)
    fished = np.arange(199, -1, -1)
    expected = np.stack([0.1 * fished, 0.9 * (200 - fished)], axis=1)
    front = env.unwrapped.pareto_front()
    np.testing.assert_allclose(front, expected, atol=1e-9)
    assert pareto.hypervolume(front, published_front(env).reference) == pytest.approx(1791.0)
    np.testing.assert_allclose(pareto.coverage_set(env).values, [[19.9, 0.9], [0.0, 180.0]])
    with pytest.raises(ParameterError, match="coverage_set"):
        env.unwrapped.pareto_front(0.99)
    sum_of = (1 - 0.99**200) / 0.01
    np.testing.assert_allclose(pareto.coverage_set(env, 0.99).values, [[0.1 * (sum_of - 1), 0.9], [0, 0.9 * sum_of]])


class Alternating:
    """Fish until there is one, then two woods: a policy for min(fish, wood // 2) that does not look at what it has."""

    def first(self, state):
        return 0

    def action(self, memory, state):
        return int(memory % 6 == 5)

    def after(self, memory, state):
        return memory + 1


def test_the_expected_utility_is_less_than_the_utility_of_what_is_expected():
    found = pareto.utility_of(FISH, Alternating(), lambda v: min(v[0], v[1] // 2), episodes=400)
    assert found.esr + found.esr_half_width < found.ser - 0.5


@pytest.mark.parametrize("compat", [False, True])
def test_the_end_of_the_time_terminates_as_in_the_original_only_under_compat(compat):
    env = rlenvs.make(FISH, compat=compat)
    env.reset(seed=0)
    ends = [env.step(0)[2:4] for _ in range(200)]
    assert ends[:-1] == [(False, False)] * 199
    assert ends[-1] == (compat, True)
    assert RECORD["fishwood_end"][199].tolist() == [True, True]


# --- breakable bottles ------------------------------------------------------------------------------------------------


def test_bottles_have_the_published_number_of_states():
    assert len(rlenvs.make(BOTTLES).unwrapped.model.start) == 360


@pytest.mark.budget(7)
def test_the_fronts_of_the_bottles():
    """One at a time takes 18 steps. Two at a time take 10 steps, and each of the three moves from a cell between drops
    one with probability 0.1; who has dropped one goes back for another."""
    env = rlenvs.make(BOTTLES)
    front = env.unwrapped.pareto_front()
    kept = 0.9**3
    np.testing.assert_allclose(front[1], [-18, 50, 0], atol=1e-9)
    np.testing.assert_allclose(front[0, 1:], [50, -(1 - kept)], atol=1e-9)
    trip = [LEFT_BOTTLE] * 4 + [PICK] + [RIGHT_BOTTLE] * 4
    assert total(env, trip * 2) == ([-18, 50, 0], 18)
    assert pareto.hypervolume(front, published_front(env).reference) == pytest.approx(8971.657577, abs=1e-5)
    mended = rlenvs.make(UNBREAKABLE).unwrapped.pareto_front()
    np.testing.assert_allclose(mended, [[-10.966667, 50, 0]], atol=1e-6)
    assert pareto.hypervolume(mended, published_front(env).reference) == pytest.approx(9183.4)
    for value, policy in pareto.pareto_front(env):
        played = pareto.play_policy(env, policy, episodes=2000)
        assert (np.abs(played.mean - value) <= 2 * played.half_width + 1e-9).all()


LEFT_BOTTLE, RIGHT_BOTTLE, PICK = range(3)


@pytest.mark.budget(3)
def test_corners_of_the_discounted_bottles():
    corners = pareto.coverage_set(BOTTLES, 0.99)
    assert len(corners) == 3
    assert pareto.hypervolume(corners.values, (-101, -1, -2)) == pytest.approx(8177.361109, abs=1e-5)
    for value, policy in corners:
        played = pareto.play_policy(BOTTLES, policy, 0.99, 2000)
        assert (np.abs(played.mean - value) <= 2 * played.half_width + 1e-9).all()
    with pytest.raises(ParameterError, match="coverage_set"):
        rlenvs.make(BOTTLES).unwrapped.pareto_front(0.99)


# --- fruit tree -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("depth", "gamma", "expected"),
    [(5, 1.0, 8808.4187), (6, 1.0, 12575.8733), (7, 1.0, 17665.2844), (6, 0.99, 9302.3782), (6, 0.98, 6859.9417)],
)
def test_hypervolumes_of_the_fruit_trees(depth, gamma, expected):
    env = rlenvs.make(TREE, depth=depth)
    front, published = env.unwrapped.pareto_front(gamma), published_front(env, gamma)
    assert len(front) == 2**depth
    np.testing.assert_allclose(front, sorted(published.points.tolist(), reverse=True), rtol=1e-12)
    assert published.reference == (0.0,) * 6
    assert pareto.hypervolume(front, published.reference) == pytest.approx(expected, abs=5.1e-5)


@pytest.mark.parametrize("depth", [5, 6, 7])
def test_every_leaf_is_found_and_is_the_best_for_some_weights(depth):
    env = rlenvs.make(TREE, depth=depth)
    for leaf, way in enumerate(itertools.product((0, 1), repeat=depth)):
        assert total(env, way) == (leaves()[depth][leaf].astype(np.float32).tolist(), depth)
    assert pareto.supported(leaves()[depth]).sum() == 2**depth
    if depth == 5:  # more corners take long
        assert len(pareto.coverage_set(env)) == 2**depth


# --- four rooms with shapes -------------------------------------------------------------------------------------------


def test_every_recorded_step_among_the_shapes():
    env = rlenvs.make(f"mo-{ROOMS}")
    assert env.observation_space == gymnasium.spaces.Box(*RECORD["rooms_space"], dtype=np.int32)
    assert env.unwrapped.reward_space == gymnasium.spaces.Box(*RECORD["rooms_reward_space"], dtype=np.float32)
    observation, _ = env.reset(seed=0)
    for t, action in enumerate(RECORD["rooms_action"]):
        assert observation.tolist() == RECORD["rooms_before"][t].tolist()
        observation, reward, *ends, _ = env.step(int(action))
        assert observation.tolist() == RECORD["rooms_after"][t].tolist()
        np.testing.assert_allclose(reward, RECORD["rooms_reward"][t], atol=1e-9)
        assert ends == RECORD["rooms_end"][t].tolist()
        if any(ends):
            observation, _ = env.reset()
    assert RECORD["rooms_reward"].sum() > 20
    assert RECORD["rooms_end"].any(axis=0).all()


def test_shapes_lie_where_they_were_published():
    published = (
        {(0, 0), (2, 6), (6, 10), (12, 12)},
        {(0, 5), (5, 0), (7, 7), (10, 6)},
        {(5, 5), (6, 2), (7, 12), (12, 7)},
    )
    found = zip(four_rooms_shapes.SHAPES, four_rooms_shapes.KINDS, strict=True)
    assert sorted(found) == sorted((cell, kind) for kind, cells in enumerate(published) for cell in cells)
    walls = {(r, c) for r, row in enumerate(four_rooms_shapes.MAP) for c, letter in enumerate(row) if letter == "X"}
    beside = {(0, 6), (1, 6), (4, 6), (5, 6), (7, 6), (8, 6), (11, 6), (12, 6)}
    assert walls == beside | {(6, c) for c in (0, 1, 4, 5, 6, 7, 8, 11, 12)}


def test_the_undiscounted_front_of_the_shapes_is_one_point_that_the_expert_attains():
    env = rlenvs.make(ROOMS)
    env.reset(seed=0)
    steps, returns, over = 0, np.zeros(3), False
    while not over:
        _, _, over, _, info = env.step(int(env.unwrapped.batch.expert_actions().item()))
        steps, returns = steps + 1, returns + info["reward_vector"]
    assert returns.tolist() == env.unwrapped.pareto_front()[0].tolist() == [5.0, 5.0, 5.0]  # 4 of a kind and the goal
    assert info["is_success"]
    assert steps == 74
