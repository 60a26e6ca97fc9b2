"""Wrappers under the names of MO-Gymnasium and MOMAland; the numbers are those of MO-Gymnasium 1.3.2's own wrappers."""

from __future__ import annotations

import pickle

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.utils.env_checker import check_env
from support.wrapper_helpers import assert_conforms, assert_forms_agree

import rlenvs
from rlenvs.core.declare.errors import ActionError, EpisodeOverError, ParameterError
from rlenvs.integrations.mo_gymnasium import (
    LinearReward,
    MOClipReward,
    MOMaxAndSkipObservation,
    MONormalizeReward,
    MORecordEpisodeStatistics,
)
from rlenvs.integrations.momaland import (
    CentraliseAgent,
    LinearizeReward,
    NormalizeReward,
    RecordEpisodeStatistics,
)
from rlenvs.wrappers import (
    ActionRepeat,
    ClipRewards,
    EpisodeStatistics,
    LinearScalarization,
    NormalizeRewards,
    WeightConditioned,
    wrap,
)

SEA, TEAM = "mo-DeepSeaTreasure-v0", "mo-ParticleSpread-v0"
PAID = np.array([[1, -0.5], [2, -0.25], [-1, -1], [0.5, -0.5], [3, -2], [0, -1], [4, 0.5], [-2, -0.5]], np.float32)
ENDS = ["", "", "terminated", "", "truncated", "", "", "terminated"]


class Told(gymnasium.Env):
    """Pays what stands above, whatever is done."""

    observation_space, action_space = spaces.Box(-10, 10, (2,)), spaces.Discrete(2)
    reward_space, reward_dim = spaces.Box(-5, 5, (2,)), 2
    step_now = -1

    def reset(self, *, seed=None, options=None):
        return np.zeros(2, np.float32), {}

    def step(self, action):
        t = self.step_now = (self.step_now + 1) % len(PAID)
        seen = np.array([t, -t], np.float32)
        return seen, PAID[t].copy(), ENDS[t] == "terminated", ENDS[t] == "truncated", {}


def play(env, steps=16):
    """Observations, rewards and infos; episodes follow each other."""
    env.reset(seed=0)
    found = []
    for _ in range(steps):
        seen, reward, terminated, truncated, info = env.step(0)
        found.append((seen, reward, info))
        if terminated or truncated:
            env.reset()
    return found


# --- MO-Gymnasium -----------------------------------------------------------------------------------------------------


def test_normalised_rewards_are_the_published_ones():
    env = MONormalizeReward(MONormalizeReward(Told(), 0), 1, gamma=0.5)
    published = [
        (70.7142105102539, -44.722251892089844),
        (2.00984787940979, -31.62119483947754),
        (-0.613909125328064, -4.24087381362915),
        (0.32245320081710815, -1.9994001388549805),
        (1.8992645740509033, -2.7215709686279297),
        (0.0, -1.2561837434768677),
        (1.7254407405853271, 0.646790623664856),
        (-0.7875819206237793, -0.6588373184204102),
        (0.39722269773483276, -0.690256655216217),
        (0.8371769785881042, -0.35713717341423035),
        (-0.4229893386363983, -1.4981870651245117),
        (0.21732302010059357, -0.7823646068572998),
        (1.3314889669418335, -2.741081714630127),
        (0.0, -1.3166296482086182),
        (1.591001033782959, 0.6681458353996277),
        (-0.7767371535301208, -0.673155665397644),
    ]
    assert np.allclose([reward for _, reward, _ in play(env)], published, rtol=1e-6, atol=0)


def test_frozen_statistics_stay():
    env = MONormalizeReward(Told(), 0)
    play(env, 5)
    env.wrappers[-1].frozen = True
    before = env.wrappers[-1].variance.copy()
    env.step(0)
    assert np.array_equal(env.wrappers[-1].variance, before)


def test_sums_of_episodes_are_the_published_ones():
    told = [info.get("episode") for _, _, info in play(MORecordEpisodeStatistics(Told(), gamma=0.9))]
    assert [i for i, own in enumerate(told) if own] == [2, 4, 7, 10, 12, 15]
    published = {
        2: ([2.0, -1.75], [1.99, -1.535], 3),
        4: ([3.5, -2.5], [3.2, -2.3], 2),
        7: ([2, -1], [1.98, -0.955], 3),
    }
    for i, (total, discounted, length) in published.items():
        assert told[i]["r"] == pytest.approx(total)
        assert told[i]["dr"] == pytest.approx(discounted)
        assert told[i]["l"] == length
        assert told[i]["t"] >= 0.0
    assert told[10]["dr"] == pytest.approx([1.99, -1.535])  # nothing is left over of what was before


def test_repeated_actions_are_the_published_ones():
    found = play(MOMaxAndSkipObservation(Told(), 2), 4)
    assert [reward.tolist() for _, reward, _ in found] == [[3, -0.75], [-1, -1], [3.5, -2.5], [4, -0.5]]
    assert [seen.tolist() for seen, _, _ in found] == [[1, 0], [2, -2], [4, -3], [6, -5]]  # the second ended early


def test_one_objective_cut_off():
    rewards = np.array([reward for _, reward, _ in play(MOClipReward(Told(), 0, -0.5, 1.5), 8)])
    assert np.array_equal(rewards[:, 0], np.clip(PAID[:, 0], -0.5, 1.5))
    assert np.array_equal(rewards[:, 1], PAID[:, 1])
    env = MOClipReward(Told(), 1, None, 0.0)
    assert env.reward_space.high.tolist() == [5.0, 0.0]
    assert env.reward_space.low.tolist() == [-5.0, -5.0]


def test_weighted_sums_and_what_they_were_made_of():
    env = LinearReward(Told(), weight=np.array([0.25, 2.0]))
    for _, reward, info in play(env, 5):
        assert reward == pytest.approx(info["vector_reward"] @ info["reward_weights"])
    env.wrappers[-1].set_weights([1.0, 0.0])
    assert env.step(0)[1] == 0.0
    with pytest.raises(ParameterError, match="2 finite numbers"):
        env.wrappers[-1].set_weights([1.0])
    assert env.step(0)[1] == 4.0  # the last good ones
    assert play(LinearReward(Told()), 1)[0][1] == 0.5


@pytest.mark.parametrize("skip", [1, 2.0, True])
def test_skips_that_are_none(skip):
    with pytest.raises(ParameterError, match="at least 2"):
        MOMaxAndSkipObservation(Told(), skip)


FORMS = [
    lambda env: LinearReward(env, [0.5, 0.25]),
    lambda env: MONormalizeReward(env, 0),
    lambda env: MOClipReward(env, 1, -0.5, None),
    lambda env: MORecordEpisodeStatistics(env, 0.9),
    lambda env: MOMaxAndSkipObservation(env, 2),
]


@pytest.mark.parametrize("put_on", FORMS)
def test_single_and_vector_forms_pay_the_same(put_on):
    """A vector of one world pays what the single form pays, statistics that worlds share among them."""
    one, many = put_on(rlenvs.make(SEA, horizon=9)), put_on(rlenvs.make_vec(SEA, 1, horizon=9))
    assert np.array_equal(one.reset(seed=3)[0], many.reset(seed=3)[0][0])
    one.action_space.seed(0)
    ended = False
    for _ in range(40):
        action = one.action_space.sample()
        found = many.step([action])
        if ended:
            one.reset()
            ended = False
            continue
        seen, reward, terminated, truncated, info = one.step(action)
        ended = terminated or truncated
        assert np.array_equal(seen, found[0][0])
        assert np.array_equal(reward, found[1][0])
        assert ("episode" in info) == ("episode" in found[4]) == (ended and "episode" in info)
        if "episode" in info:
            assert found[4]["_episode"].tolist() == [True]
            assert np.array_equal(info["episode"]["dr"], found[4]["episode"]["dr"][0])


PLAIN = [
    EpisodeStatistics(0.9),
    ClipRewards({"time": -0.5}, {"treasure": 3.0}),
    NormalizeRewards(shared=False, only=["treasure"]),
    ActionRepeat(3, show="max"),
]


@pytest.mark.parametrize("wrapper", PLAIN, ids=lambda wrapper: type(wrapper).__name__)
@pytest.mark.parametrize("id", [SEA, "DeepSeaTreasure-v0"])
def test_they_conform_in_every_form(id, wrapper):
    assert_conforms(id, wrapper)
    assert_forms_agree(id, wrapper)


def test_what_is_weighed_is_what_the_wrappers_below_made():
    env = wrap(rlenvs.make("DeepSeaTreasure-v0"), ClipRewards({"time": -0.5}), LinearScalarization({"time": 2.0}))
    env.reset(seed=0)
    _, reward, _, _, info = env.step(3)
    assert reward == -1.0
    assert info["clipped_rewards"].tolist() == [0.0, -0.5]
    assert info["reward_vector"].tolist() == [0.0, -1.0]


def test_two_normalisations_share_the_terms_and_not_one():
    env = wrap(rlenvs.make(SEA), NormalizeRewards(only=["time"]), NormalizeRewards(only=[0]))
    env.reset(seed=0)
    assert env.step(3)[1][1] != -1.0
    with pytest.raises(ParameterError, match="already normalized below"):
        wrap(env, NormalizeRewards(only=["time"]))


BAD = [float("nan"), 1.0], [1.0], [1.0, 2.0, 3.0], [0.0, 0.0], [float("inf"), 1.0], ["a", "b"], {"gold": 1.0}, {}, []


@pytest.mark.parametrize("weights", BAD, ids=str)
@pytest.mark.parametrize("wrapper", [LinearScalarization, WeightConditioned])
def test_weights_that_are_none(weights, wrapper):
    for env in (rlenvs.make(SEA), rlenvs.make_vec(SEA, 2)):
        with pytest.raises(ParameterError, match=r"weights="):
            wrap(env, wrapper(weights))


@pytest.mark.parametrize(
    "weights", [{"time": float("nan")}, {"time": [1.0, 2.0]}, {"time": 0.0, "treasure": 0.0}, [1.0, 2.0], {"time": "a"}]
)
def test_weights_of_make_that_are_none(weights):
    for make in (rlenvs.make, lambda id, **keywords: rlenvs.make_vec(id, 2, **keywords)):
        with pytest.raises(ParameterError, match="weights"):
            make("DeepSeaTreasure-v0", weights=weights)


def test_weights_of_make_may_leave_single_terms_out():
    assert rlenvs.make("DeepSeaTreasure-v0", weights={"time": 0.0}).unwrapped.batch.setup.weights[1] == 0.0


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"low": {"gold": 1.0}}, "'gold'"),
        ({"low": {"time": 1.0}, "high": {"time": 0.0}}, "is above"),
        ({"high": {"time": float("nan")}}, "must have numbers"),
        ({"high": [1.0]}, "2 finite numbers"),
    ],
)
def test_bounds_that_are_none(settings, said):
    with pytest.raises(ParameterError, match=said):
        wrap(rlenvs.make(SEA), ClipRewards(**settings))


def test_maximum_of_dictionaries_is_refused():
    with pytest.raises(ParameterError, match="dictionaries"):
        wrap(rlenvs.make("PandaReach-v0", form="goal"), ActionRepeat(2, show="max"))


# --- MOMAland ---------------------------------------------------------------------------------------------------------


def team(**keywords):
    return rlenvs.parallel_env(TEAM, horizon=6, **keywords)


def weights_of(env):
    count = env.reward_space(env.possible_agents[0]).shape[0]
    return {agent: np.arange(count) + 1.0 + k for k, agent in enumerate(env.possible_agents)}


def play_team(env, steps=6):
    env.reset(seed=1)
    rng = np.random.default_rng(0)
    found = []
    for _ in range(steps):
        _, rewards, _, _, infos = env.step({agent: int(rng.integers(5)) for agent in env.agents})
        found.append((rewards, infos))
    return found


def test_each_agent_has_weights_of_its_own():
    weights = weights_of(team())
    for rewards, infos in play_team(LinearizeReward(team(), weights)):
        for agent, reward in rewards.items():
            assert reward == pytest.approx(infos[agent]["reward_vector"] @ weights[agent], rel=1e-6)
            assert np.array_equal(infos[agent]["reward_weights"], weights[agent])


def test_aec_form_pays_what_the_parallel_form_pays():
    weights = weights_of(team())
    parallel = play_team(LinearizeReward(team(), weights), 2)
    env = LinearizeReward(rlenvs.aec_env(TEAM, horizon=6), weights)
    env.reset(seed=1)
    rng = np.random.default_rng(0)
    for k in range(2):
        for agent in env.possible_agents:
            assert env.agent_selection == agent
            env.step(int(rng.integers(5)))
        assert env.rewards == pytest.approx(parallel[k][0])


def test_only_one_objective_of_one_agent_is_normalised():
    plain, changed = play_team(team()), play_team(NormalizeReward(team(), "agent_1", 0))
    for (before, _), (after, _) in zip(plain, changed, strict=True):
        assert np.array_equal(before["agent_0"], after["agent_0"])
        assert before["agent_1"][1] == after["agent_1"][1]
        assert before["agent_1"][0] != after["agent_1"][0]
    with pytest.raises(ParameterError, match="must name agents"):
        NormalizeReward(team(), "agent_9", 0)
    with pytest.raises(ParameterError, match="only parallel environments"):
        wrap(rlenvs.make(SEA), NormalizeRewards(only={"agent_0": [0]}))


def test_sums_of_a_teams_episode():
    found = play_team(RecordEpisodeStatistics(team()))
    assert not any("episode" in own for _, infos in found[:-1] for own in infos.values())
    for agent, own in found[-1][1].items():
        assert own["episode"]["r"] == pytest.approx(np.sum([rewards[agent] for rewards, _ in found], axis=0), rel=1e-6)
        assert own["episode"]["l"] == 6


@pytest.mark.parametrize("weights", [{"agent_0": [1.0, 1.0]}, [1.0, 1.0], {}])
def test_weights_that_leave_agents_out(weights):
    with pytest.raises(ParameterError, match="weights"):
        LinearizeReward(team(), weights)
    with pytest.raises(ParameterError, match="weights"):
        LinearizeReward(team(), {**weights_of(team()), "agent_0": [0.0, 0.0]})


@pytest.mark.parametrize("share", ["sum", "average"])
@pytest.mark.parametrize("mapping", [False, True])
def test_a_team_as_one_agent(mapping, share):
    env, bare = CentraliseAgent(team(), mapping, share), team()
    check_env_quietly(env)
    seen, _ = env.reset(seed=2)
    parts, _ = bare.reset(seed=2)
    env.action_space.seed(0)
    for step in range(6):
        assert np.array_equal(seen, np.concatenate(list(parts.values())))
        assert env.observation_space.contains(seen)
        action = env.action_space.sample()
        choices = np.unravel_index(action, (5, 5, 5)) if mapping else action
        seen, reward, terminated, truncated, info = env.step(action)
        parts, rewards, _, cuts, _ = bare.step(dict(zip(bare.agents, map(int, choices), strict=True)))
        together = np.sum(list(rewards.values()), axis=0) / (3 if share == "average" else 1)
        assert np.allclose(reward, together, rtol=1e-6)
        assert env.reward_space.contains(reward)
        assert (terminated, truncated) == (False, step == 5)
        assert set(info["agents"]) == set(rewards)
    assert all(cuts.values())
    with pytest.raises(EpisodeOverError):
        env.step(env.action_space.sample())


def check_env_quietly(env):
    """Gymnasium's check, on what pays a number, as it asks for."""

    class Weighed(gymnasium.RewardWrapper):
        def reward(self, reward):
            return float(np.sum(reward))

    check_env(Weighed(env), skip_render_check=True)


def test_a_team_with_vectors_of_actions_as_one_agent():
    env = CentraliseAgent(rlenvs.parallel_env("QuadMultiHover-v0", horizon=3))
    assert env.action_space.shape == (sum(space.shape[0] for space in env.choices),)
    env.reset(seed=0)
    assert isinstance(env.step(env.action_space.sample())[1], float)
    with pytest.raises(ActionError, match="numbers"):
        env.step(np.full(env.action_space.shape, np.nan, np.float32))


def test_teams_that_cannot_be_one_agent():
    for given, keywords in [
        (rlenvs.aec_env(TEAM), {}),
        (team(), {"reward_type": "most"}),
        (rlenvs.parallel_env("Battle-v0"), {}),
        (rlenvs.parallel_env("QuadMultiHover-v0"), {"action_mapping": True}),
    ]:
        with pytest.raises(ParameterError):
            CentraliseAgent(given, **keywords)
    env = CentraliseAgent(team())
    env.reset(seed=0)
    with pytest.raises(ActionError):
        env.step([0, 1, 9])


def test_statistics_are_part_of_snapshots_and_copies():
    env = wrap(rlenvs.make(SEA, horizon=4), EpisodeStatistics(0.5))
    env.reset(seed=0)
    env.step(3)
    state = pickle.loads(pickle.dumps(env.get_state()))
    first = [env.step(3)[4] for _ in range(3)][-1]["statistics"]
    env.set_state(state)
    again = [env.step(3)[4] for _ in range(3)][-1]["statistics"]
    assert np.array_equal(first["dr"], again["dr"])
    assert first["l"] == again["l"] == 4
