"""Particle worlds: physics, their rules one by one, navigation."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.particles import DOWN, LEFT, MODULES, NONE, RIGHT, UP, make, play, put, spec_of, state_of, terms_of

from rlenvs.core.batch.kernel_batch import KernelBatch
from rlenvs.core.declare.errors import ParameterError
from rlenvs.core.declare.setup import Setup
from rlenvs.multi.particle.graph import graph
from rlenvs.multi.particle.metrics import metrics
from rlenvs.multi.particle.physics import leaving

# --- physics ----------------------------------------------------------------------------------------------------------


def test_the_penalty_for_leaving():
    xs = [0.0, 0.89, -0.95, 0.99, 1.0, -1.5, 2.0, 3.0, 50.0]
    wanted = [0.0, 0.0, 0.5, 0.9, 1.0, np.exp(1.0), np.exp(2.0), 10.0, 10.0]
    assert [leaving(x) for x in xs] == pytest.approx(wanted)


def test_an_agent_glides_as_its_damping_says():
    batch = make("simple", backend="python", damping=0.5, time_step=0.2)
    put(batch, position=0.0, velocity=[[1.0, 0.0]])
    s = play(batch, [NONE])
    assert s.position[0].tolist() == [0.2, 0.0]  # with the old velocity
    assert s.velocity[0].tolist() == [0.5, 0.0]
    for action, velocity in ((LEFT, [-1.0, 0.0]), (RIGHT, [1.0, 0.0]), (DOWN, [0.0, -1.0]), (UP, [0.0, 1.0])):
        put(batch, position=0.0, velocity=0.0)
        assert play(batch, [action]).velocity[0].tolist() == velocity


@settings(max_examples=20, deadline=None)
@given(
    st.sampled_from(["spread", "tag"]),
    st.floats(0.0, 0.95),
    st.floats(0.02, 0.5),
    st.floats(0.0, 1000.0),
    st.floats(0.0001, 0.02),
    st.integers(0, 99),
)
def test_everything_stays_finite_and_in_the_world(module, damping, time_step, force, margin, seed):
    batch = make(
        module, backend="python", horizon=30, damping=damping, time_step=time_step, contact_force=force,
        contact_margin=margin,
    )  # fmt: skip
    batch.seed([seed])
    batch.reset()
    s = put(batch, position=0.0)  # all in one point
    dice = np.random.default_rng(seed)
    while not s.over:
        batch.step(dice.integers(0, 5, (1, batch.agents)))
        assert np.abs(s.position).max() <= 100.0
        assert np.abs(s.velocity).max() <= 100.0
        assert batch.setup.state_space.contains(batch.observations[0, 0])
        assert np.isfinite(batch.terms).all()


# --- rules ------------------------------------------------------------------------------------------------------------


def test_spread_ends_when_all_landmarks_are_covered():
    batch = make("spread", backend="python", end_on_success=True, agents=2)
    for far, covered in ((0.101, False), (0.099, True)):
        put(batch, position=[[0.5, 0.0], [-0.5, 0.0]], velocity=0.0, landmark=[[0.5, far], [-0.5, 0.0]])
        play(batch, [NONE, NONE])
        assert batch.success[0].tolist() == batch.terminated[0].tolist() == [covered] * 2
        assert batch.rewards[0].tolist() == pytest.approx([-far / 2] * 2)
    other = make("spread", backend="python", agents=2)
    put(other, position=[[0.5, 0.0], [-0.5, 0.0]], landmark=[[0.5, 0.0], [-0.5, 0.0]])
    play(other, [NONE, NONE])
    assert other.success.all()
    assert not other.terminated.any()


def test_spread_counts_touches():
    batch = make("spread", backend="python", landmarks=1)
    put(batch, position=[[0.0, 0.0], [0.29, 0.0], [-0.29, 0.0]], velocity=0.0)
    play(batch, [NONE] * 3)
    terms = terms_of(batch)
    assert terms["collision"].tolist() == [-2.0, -1.0, -1.0]
    assert terms["contact"].tolist() == [1.0] * 3
    put(batch, position=[[0.0, 0.0], [0.31, 0.0], [-0.31, 0.0]], velocity=0.0)
    play(batch, [NONE] * 3)
    assert not terms_of(batch)["collision"].any()


def test_tag_is_won_by_touching_all_prey_once():
    batch = make("tag", backend="python", good=2, obstacles=0, end_on_success=True)
    apart = [[0.0, 0.0], [0.9, 0.9], [0.9, -0.9], [0.1, 0.0], [-0.9, 0.0]]
    put(batch, position=apart, velocity=0.0)
    play(batch, [NONE] * 5)
    terms = terms_of(batch)
    assert terms["tag"].tolist() == [1.0, 1.0, 1.0, -1.0, 0.0]
    assert batch.rewards[0, 0] == 10.0
    assert batch.success[0].tolist() == [False] * 5  # one of two: neither side has won
    assert not batch.terminated.any()
    put(batch, position=[apart[4], *apart[1:4], [-0.8, 0.0]], velocity=0.0)
    play(batch, [NONE] * 5)
    assert batch.success[0].tolist() == [True, True, True, False, False]
    assert not batch.terminated.any()  # not at the same time
    put(batch, position=[[0.0, 0.0], *apart[1:3], [0.1, 0.0], [-0.1, 0.0]], velocity=0.0)
    play(batch, [NONE] * 5)
    assert batch.terminated.all()


def test_tag_s_cost_is_for_obstacles_and_one_s_own():
    batch = make("tag", backend="python", obstacles=1)
    put(batch, position=[[0.0, 0.0], [0.1, 0.0], [0.9, 0.9], [-0.1, 0.0]], velocity=0.0, landmark=[[-0.9, 0.0]])
    play(batch, [NONE] * 4)
    assert terms_of(batch)["collision"].tolist() == [1.0, 1.0, 0.0, 0.0]
    put(batch, position=[[0.0, 0.0], [0.5, 0.0], [0.9, 0.9], [-0.67, 0.0]], velocity=0.0)
    play(batch, [NONE] * 4)
    assert terms_of(batch)["collision"].tolist() == [0.0, 0.0, 0.0, 1.0]


def test_what_is_out_of_view_is_zero():
    batch = make("tag", backend="python", view_radius=1.0, obstacles=1)
    put(batch, position=[[0.0, 0.0], [1.1, 0.0], [0.0, 0.5], [0.9, 0.0]], velocity=1.0, landmark=[[0.0, -1.1]])
    seen = batch.observations[0, 0].tolist()
    assert seen == pytest.approx([1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.5, 0.9, 0.0, 1.0, 1.0])
    put(batch, position=[[0.0, 0.0], [1.1, 0.0], [0.0, 0.5], [1.9, 0.0]])
    assert batch.observations[0, 0, -4:].tolist() == [0.0] * 4  # neither its place nor its velocity


@pytest.mark.parametrize("module", ["adversary", "push"])
def test_who_is_nearer_to_the_goal_wins(module):
    batch = make(module, backend="python", **({"good": 1} if module == "adversary" else {}))
    for places, winner in (((0.3, -0.2), 1), ((0.2, -0.3), 0), ((0.3, -0.3), None)):
        put(batch, position=[[x, 0.0] for x in places], velocity=0.0, landmark=0.0, goal=0)
        play(batch, [NONE, NONE])
        assert batch.success[0].tolist() == [winner == 0, winner == 1]


def test_crypto_by_hand():
    batch = make("crypto", backend="python")
    put(batch, message=1, key=0)
    play(batch, [0, 1, 2])
    assert batch.rewards[0].tolist() == [-2.0, 2.0, 2.0]
    assert batch.success[0].tolist() == [False, True, True]
    play(batch, [1, 0, 2])
    assert batch.rewards[0].tolist() == [0.0, -2.0, -2.0]
    assert batch.success[0].tolist() == [True, False, False]
    play(batch, [3, 2, 0])
    assert batch.success[0].tolist() == [False] * 3
    silent = make("crypto", backend="python", actions="continuous")
    play(silent, np.zeros((3, 4)))
    assert silent.rewards[0].tolist() == [0.0] * 3
    put(silent, message=0)
    play(silent, [[0.5, 0.0, 0.0, 0.0], [1.0, 0.25, 0.0, 0.0], [0.0] * 4])
    assert silent.rewards[0].tolist() == pytest.approx([-0.25, 0.25 - 0.0625, 0.25 - 0.0625])


def crypto_success(slots):
    batch = make("crypto", 60, backend="python")
    while not batch.over.all():
        batch.step(batch.player_actions(slots))
    return batch.success.mean(axis=0)


def test_the_cipher_keeps_eve_out_and_plain_words_do_not():
    eve, bob, alice = crypto_success("cipher")
    assert 0.3 < eve < 0.7  # half of the keys change nothing
    assert bob == alice == pytest.approx(1.0 - eve)
    assert crypto_success("plain").tolist() == [1.0, 0.0, 0.0]


def test_speech_reaches_the_listener_a_step_later():
    batch = make("speaker_listener", backend="python")
    put(batch, goal=2)
    assert batch.observations[0, 0, :3].tolist() == pytest.approx([0.15, 0.15, 0.65])
    assert batch.observations[0, 1, -3:].tolist() == [0.0] * 3
    play(batch, [1, NONE])
    assert batch.observations[0, 1, -3:].tolist() == [0.0, 1.0, 0.0]
    numbers = make("speaker_listener", backend="python", actions="continuous")
    play(numbers, [[0.0, 0.5, 0.75, 0.0, 0.0], [0.0] * 5])
    assert numbers.observations[0, 1, -3:].tolist() == [0.0, 0.5, 0.75]
    scaled = make("speaker_listener", backend="python", actions="continuous", scaled=True)
    play(scaled, [[-1.0, 0.0, 0.5], [0.0, 0.0, 0.0]])
    assert scaled.observations[0, 1, -3:].tolist() == [0.0, 0.5, 0.75]


def test_forests_hide():
    batch = make("world_comm", backend="python", adversaries=2, good=1, obstacles=0, food=1, forests=1)
    inside, outside = [0.0, 0.0], [0.9, 0.9]

    def sees_prey():
        first = 4 + 2 * 2 + 2  # own, food and forest, the other adversary
        return [bool(np.any(batch.observations[0, k, first : first + 2])) for k in range(2)]

    for hunter, prey, seen in ((outside, inside, False), (inside, outside, False), (inside, [0.1, 0.0], True)):
        put(batch, position=[[-0.9, -0.9], hunter, prey], landmark=[[-0.9, 0.9], inside])
        assert sees_prey() == [True, seen]  # the leader always does


# --- navigation -------------------------------------------------------------------------------------------------------


def navigation_state(batch):
    s = state_of(batch)
    return np.asarray(s.position), np.asarray(s.goal), np.asarray(s.obstacle)


@settings(max_examples=12, deadline=None)
@given(
    st.integers(1, 10),
    st.integers(0, 8),
    st.integers(1, 20),
    st.floats(0.8, 4.0),
    st.floats(0.1, 2.0),
    st.integers(0, 99),
)
def test_the_grid_finds_what_looking_at_everybody_finds(agents, obstacles, neighbours, side, reach, seed):
    choices = {"agents": agents, "obstacles": obstacles, "side": side, "connection_radius": reach}
    batch = make("navigation", backend="python", observation="graph", neighbours=neighbours, **choices)
    batch.seed([seed])
    batch.reset()
    dice = np.random.default_rng(seed)
    position, goal, obstacle = navigation_state(batch)
    put(batch, position=dice.uniform(-0.7 * side, 0.7 * side, position.shape))  # also outside the square
    for _ in range(3):
        play(batch, dice.integers(0, 5, agents))
        entities = np.concatenate([position, goal, obstacle])
        distances = np.linalg.norm(position[:, None] - entities[None], axis=2)
        touching = distances < 0.1
        others = touching[:, :agents].sum(axis=1) - 1
        np.testing.assert_array_equal(terms_of(batch)["collision"], -others)
        np.testing.assert_array_equal(terms_of(batch)["obstacle"], -touching[:, 2 * agents :].any(axis=1).astype(float))
        _, nodes, edges = graph(batch.observations[0])
        for k in range(agents):
            near = [j for j in np.argsort(distances[k], kind="stable") if j != k and distances[k, j] < reach]
            chosen = [k, *near[:neighbours]]
            np.testing.assert_allclose(nodes[k, : len(chosen), 2:4], entities[chosen] - position[k], atol=1e-5)
            assert (nodes[k, len(chosen) :, 6] == -1).all()
            between = np.linalg.norm(entities[chosen][:, None] - entities[chosen][None], axis=2)
            wanted = np.where((between < reach) & (np.array(chosen) < agents)[:, None], between, 0.0)
            np.testing.assert_allclose(edges[k, : len(chosen), : len(chosen)], wanted, atol=1e-5)


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 20), st.integers(0, 20), st.floats(1.8, 8.0), st.integers(0, 99))
def test_starts_touch_nothing(agents, obstacles, side, seed):
    batch = make("navigation", backend="python", agents=agents, obstacles=obstacles, side=side)
    batch.seed([seed])
    batch.reset()
    position, goal, obstacle = navigation_state(batch)
    assert np.abs(position).max() <= side / 2
    assert np.abs(np.concatenate([goal, obstacle])).max() <= 0.4 * side
    for points in (position, goal):
        gaps = np.linalg.norm(points[:, None] - points[None], axis=2) + np.eye(agents)
        assert gaps.min() >= 0.1
        assert obstacles == 0 or np.linalg.norm(points[:, None] - obstacle[None], axis=2).min() >= 0.1


def test_full_squares_are_filled_nevertheless():
    batch = make("navigation", backend="python", agents=25, obstacles=0, side=0.5)
    assert np.abs(state_of(batch).position).max() <= 0.25


def test_rewards_of_navigation():
    batch = make("navigation", backend="python", agents=2, obstacles=1, contact_force=0.0)
    place = {"position": [[0.0, 0.0], [0.5, 0.0]], "velocity": 0.0, "goal": [[0.0, 0.09], [0.5, 0.2]]}
    put(batch, obstacle=[[0.5, -0.09]], **place)
    play(batch, [NONE, NONE])
    apart = np.linalg.norm(state_of(batch).goal[1] - state_of(batch).position[1])
    assert batch.rewards[0].tolist() == pytest.approx([5.0, -apart - 5.0])
    assert batch.success[0].tolist() == [True, False]
    shared = make(
        "navigation", backend="python", agents=2, obstacles=1, contact_force=0.0, collaborative=True, end_on_goal=True
    )
    put(shared, obstacle=[[0.5, -0.09]], **place)
    play(shared, [NONE, NONE])
    assert shared.rewards[0].tolist() == pytest.approx([-apart] * 2)
    assert shared.terminated[0].tolist() == [True, False]
    before = state_of(shared).position[0].copy()
    play(shared, [UP, UP], [UP, UP])
    assert state_of(shared).position[0].tolist() == before.tolist()  # done, it stays


def test_metrics_of_navigation():
    batch = make("navigation", backend="python", agents=2, horizon=10)
    s = put(batch, elapsed=10, arrival=[4, 0], contacts=[3, 1])
    assert metrics(None, s) == {"T": pytest.approx(0.7), "collisions": 4.0, "S": 0.0}
    s = put(batch, arrival=[4, 5])
    assert metrics(None, s) == {"T": pytest.approx(0.45), "collisions": 4.0, "S": 1.0}


@pytest.mark.slow
def test_a_thousand_agents():
    batch = KernelBatch(spec_of("navigation"), 1, level="large")
    batch.seed([0])
    batch.reset()
    assert batch.observations.shape == (1, 1000, 6 + 7 * 9 + 81)
    while not batch.over.all():
        batch.rollout(batch.expert_actions().reshape(1, 1, 1000, 1))
    scores = metrics(*batch.records(0))
    assert scores["T"] > 0.98  # most goals are more than 5 m away
    assert scores["collisions"] < 1000


def test_graphs_of_bad_sizes():
    with pytest.raises(ParameterError, match="give neighbours"):
        Setup(spec_of("navigation"), agents=100, observation="graph")
    with pytest.raises(ValueError, match='observation="graph"'):
        graph(np.zeros((3, 6)))
    with pytest.raises(ValueError, match="15 numbers"):
        graph(np.zeros(15))
    own, nodes, edges = graph(np.arange(6 + 7 * 2 + 4))
    assert (own.tolist(), nodes[1, 0], edges[1].tolist()) == ([0, 1, 2, 3, 4, 5], 13, [22, 23])


@pytest.mark.parametrize("module", [*MODULES, "navigation"])
def test_an_episode_has_25_steps(module):
    assert Setup(spec_of(module)).horizon == 25
