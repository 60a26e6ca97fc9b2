"""Noise that depends on the state, normalised observations, decision frequencies, an adversary's own reward."""

import gymnasium
import numpy as np
import pytest
from support.wrapper_helpers import HOVER, assert_conforms, assert_forms_agree, hover

import rlenvs
from rlenvs.agents.decision_frequency import DecisionFrequencies, evaluate_frequencies
from rlenvs.agents.evaluate import evaluate
from rlenvs.core.declare.errors import ParameterError
from rlenvs.wrappers import ActionRepeat, MinorityReward, NormalizeObservations, StateDependentNoise, wrap

SPREAD = "ParticleSpread-v0"

# --- noise ------------------------------------------------------------------------------------------------------------


def ones(observations):
    return np.ones((len(observations), 4))


def test_the_noise_has_the_size_of_the_features():
    env = hover(StateDependentNoise(scale=0.1, features=ones), count=4096)
    env.reset(seed=0)
    _, _, _, _, info = env.step(np.zeros((4096, 4), np.float32))
    noise = info["action"] - info["raw_action"]
    assert noise.std(axis=0) == pytest.approx(0.1 * 2.0, rel=0.05)  # |z| = 2
    assert np.abs(np.corrcoef(noise.T) - np.eye(4)).max() < 0.06


def test_the_same_state_gives_the_same_noise_until_theta_is_drawn_anew():
    def noises(every, steps=6):
        env = wrap(rlenvs.make(HOVER), StateDependentNoise(scale=0.05, every=every, features=ones))
        env.reset(seed=3)
        found = []
        for _ in range(steps):
            info = env.step(np.zeros(4, np.float32))[4]
            found.append(info["action"] - info["raw_action"])
        return np.array(found)

    assert (noises(0) == noises(0)[0]).all()
    three = noises(3)
    assert (three[:3] == three[0]).all()
    assert (three[3:] == three[3]).all()
    assert (three[0] != three[3]).all()
    assert len(np.unique(noises(1), axis=0)) == 6


def test_the_observation_itself_is_the_default_feature():
    env = wrap(rlenvs.make(HOVER), StateDependentNoise(scale=0.2))
    env.reset(seed=1)
    first = env.step(np.zeros(4, np.float32))[4]
    doubled = wrap(rlenvs.make(HOVER), StateDependentNoise(scale=0.1, features=lambda o: 2.0 * o))
    doubled.reset(seed=1)
    assert first["action"] == pytest.approx(doubled.step(np.zeros(4, np.float32))[4]["action"], abs=1e-6)
    assert (first["action"] != 0.0).all()


def test_noisy_actions_stay_within_their_bounds_in_every_form():
    assert_forms_agree(HOVER, StateDependentNoise(scale=3.0, every=2))
    assert_conforms(HOVER, StateDependentNoise(scale=0.3, every=4))
    env = hover(StateDependentNoise(scale=30.0))
    env.reset(seed=0)
    info = env.step(np.zeros((64, 4), np.float32))[4]
    assert np.abs(info["action"]).max() == 1.0


@pytest.mark.parametrize(
    ("id", "wrapper", "reason"),
    [
        ("CartPole-v0", StateDependentNoise(), r"StateDependentNoise: CartPole-v0 has the actions Discrete"),
        (HOVER, StateDependentNoise(scale=-0.1), "scale=-0.1 must be finite and at least 0"),
        (HOVER, StateDependentNoise(scale=[0.1, 0.1]), "must be one number, or 4"),
        (HOVER, StateDependentNoise(every=0.5), "every=0.5 must be a whole number"),
        (HOVER, NormalizeObservations(clip=0.0), "clip=0.0 must be above 0"),
        (HOVER, NormalizeObservations(mean=[0.0]), "variance=None is missing"),
        (HOVER, NormalizeObservations(mean=[0.0], variance=[1.0]), r"must have 15 numbers"),
        ("FrozenLake-v0", NormalizeObservations(), "are not vectors of real numbers"),
    ],
)
def test_settings_that_do_not_fit_are_refused(id, wrapper, reason):
    with pytest.raises(ParameterError, match=reason):
        wrap(rlenvs.make(id), wrapper)


def test_features_of_another_shape_are_refused():
    env = wrap(rlenvs.make(HOVER), StateDependentNoise(features=lambda o: o[0]))
    env.reset(seed=0)
    with pytest.raises(ParameterError, match=r"features=.* gives \(15,\); needed: 1 rows of numbers"):
        env.step(np.zeros(4, np.float32))


# --- observations -----------------------------------------------------------------------------------------------------


def test_normalised_observations_are_gymnasiums():
    ours = wrap(rlenvs.make(HOVER), NormalizeObservations(clip=1e6))
    theirs = gymnasium.wrappers.NormalizeObservation(rlenvs.make(HOVER))
    generator = np.random.default_rng(0)
    for seed in range(3):  # a seed makes ours forget
        options = {"seed": seed} if seed == 0 else {}
        assert ours.reset(**options)[0] == pytest.approx(theirs.reset(**options)[0], abs=1e-4)
        for _ in range(60):
            action = generator.uniform(-1, 1, 4).astype(np.float32)
            mine, other = ours.step(action), theirs.step(action)
            assert mine[0] == pytest.approx(other[0], rel=1e-4, abs=1e-4)
            if mine[2] or mine[3]:
                break


def test_shared_statistics_are_those_of_all_worlds():
    env = hover(NormalizeObservations(), count=512)
    env.reset(seed=0)
    for _ in range(20):
        seen = env.step(env.action_space.sample())[0]
    assert np.abs(seen).max() <= 10.0
    fixed = env.wrappers[0].fixed()
    other = hover(fixed, count=512)
    other.reset(seed=0)
    bare = rlenvs.make_vec(HOVER, 512, crash_tilt=3.2)
    bare.reset(seed=0)
    actions = env.action_space.sample()
    expected = (bare.step(actions)[0] - fixed.mean) / np.sqrt(np.array(fixed.variance) + 1e-8)
    assert other.step(actions)[0] == pytest.approx(np.clip(expected, -10, 10), abs=1e-4)


def test_normalised_observations_conform():
    fixed = NormalizeObservations(mean=[0.1] * 15, variance=[0.25] * 15)
    assert_forms_agree(HOVER, fixed)
    assert_forms_agree(HOVER, NormalizeObservations(shared=False))
    assert_conforms(HOVER, NormalizeObservations(shared=False))


# --- decision frequencies ---------------------------------------------------------------------------------------------


def test_the_frequency_averaged_score():
    curve = DecisionFrequencies(np.array([1, 2, 4]), np.arange(2), np.array([[8.0, 12.0], [5.0, 7.0], [0.0, 4.0]]))
    assert curve.means.tolist() == [10.0, 6.0, 2.0]
    # over 1, 1/2, 1/4: (1 + 0.6) / 2 * 0.5 + (0.6 + 0.2) / 2 * 0.25, by 0.75
    assert curve.score() == pytest.approx((0.8 * 0.5 + 0.4 * 0.25) / 0.75)
    assert curve.score(reference=20.0) == pytest.approx(curve.score() / 2.0)
    assert curve.score(reference=12.0, base=2.0) == pytest.approx((0.6 * 0.5 + 0.2 * 0.25) / 0.75)
    even = DecisionFrequencies(np.array([1, 2]), np.arange(1), np.array([[4.0], [1.0]]))
    assert even.score() == pytest.approx((1.0 + 0.25) / 2.0)
    with pytest.raises(ParameterError, match="to define a scale"):
        curve.score(reference=1.0, base=1.0)


def test_frequencies_are_those_of_repeated_actions():
    found = evaluate_frequencies(HOVER, "expert", (4, 1), seeds=3)
    assert found.periods.tolist() == [1, 4]
    assert found.returns[0] == pytest.approx(evaluate(HOVER, "expert", 3).returns)
    assert (found.returns[1] == evaluate(HOVER, "expert", 3, wrappers=[ActionRepeat(4)]).returns).all()
    assert found.means[1] < found.means[0]
    for periods in ((), (1, 1), (0,), (1.5,)):
        with pytest.raises(ParameterError, match="periods"):
            evaluate_frequencies(HOVER, "expert", periods, seeds=2)


# --- an adversary within a team ---------------------------------------------------------------------------------------


def team(*wrappers):
    env = rlenvs.parallel_env(SPREAD)
    env = wrap(env, *wrappers) if wrappers else env
    env.reset(seed=0)
    return env, {agent: env.action_space(agent).sample() for agent in env.agents}


def test_the_adversary_is_paid_for_the_victims_failure():
    env, actions = team(MinorityReward(["agent_1"]))
    bare, _ = team()
    paid, before = env.step(actions)[1], bare.step(actions)[1]
    assert {name: paid[name] for name in ("agent_0", "agent_2")} == {n: before[n] for n in ("agent_0", "agent_2")}
    assert paid["agent_1"] == pytest.approx(-(before["agent_0"] + before["agent_2"]) / 2.0)
    assert paid["agent_1"] > 0.0


def test_the_adversary_is_paid_by_terms_and_a_bonus():
    first = next(iter(rlenvs.make_batch(SPREAD).world.terms))
    wrapper = MinorityReward(["agent_0"], terms={first: -2.0}, bonus=lambda stage, slots: np.full(stage.count, 7.0))
    env, actions = team(wrapper)
    _, paid, _, _, infos = env.step(actions)
    told = [infos[name][f"reward_{first}"] for name in ("agent_1", "agent_2")]
    assert paid["agent_0"] == pytest.approx(-2.0 * np.mean(told) + 7.0)
    assert infos["agent_0"]["raw_reward"] < 0.0


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({}, "must be a list of agents"),
        ({"adversaries": ["agent_9"]}, "'agent_9'"),
        ({"adversaries": ["agent_0", "agent_1", "agent_2"]}, "leaves no agent to attack"),
        ({"adversaries": ["agent_0"], "terms": {"speed": 1.0}}, "contains 'speed', which is not a reward term"),
    ],
)
def test_minorities_that_are_refused(settings, reason):
    with pytest.raises(ParameterError, match=reason):
        team(MinorityReward(**settings))


def test_a_single_agent_has_no_minority():
    with pytest.raises(ParameterError, match="requires a parallel multi-agent environment"):
        wrap(rlenvs.make(HOVER), MinorityReward(["agent_0"]))
