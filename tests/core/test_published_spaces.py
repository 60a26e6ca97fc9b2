"""Worlds with the spaces of the published environment that they re-implement, and their scaled form."""

import pickle

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import api_test, parallel_api_test
from toys.drop_in import LANE, STRONGEST, SWING, SWING64, WALKERS, swing

import rlenvs
from rlenvs.core import block, continuous, discrete, image, published, term, world
from rlenvs.core.batch.kernel_batch import KernelBatch
from rlenvs.core.catalogue.docs import page
from rlenvs.core.check.rules import RULES
from rlenvs.core.compiler.build import code_key
from rlenvs.core.compiler.kernel_names import kernel_names
from rlenvs.core.declare.errors import ParameterError, UnknownKeywordError
from rlenvs.core.declare.keys import steering_keys
from rlenvs.core.declare.setup import Setup
from rlenvs.core.forms.gym_env import Env
from rlenvs.core.forms.parallel_env import ParallelEnv
from rlenvs.core.forms.text_env import TextEnv
from rlenvs.core.forms.turn_env import aec_env
from rlenvs.core.forms.vector_env import VectorEnv

HEADINGS = 15  # the rule on doc strings
NUMBERS = {rule.number for rule in RULES} - {HEADINGS}
TOYS = (SWING, SWING64, WALKERS)
FORMS = [(toy, scaled) for toy in TOYS for scaled in (False, True)]
IDS = [toy.name + ("-scaled" if scaled else "") for toy, scaled in FORMS]
HIGH = np.array([1.0, 1.0, 8.0])


def env(toy, **keywords):
    return Env(toy, backend="python", **keywords)


# --- conformance ------------------------------------------------------------------------------------------------------


@pytest.mark.budget(4)
@pytest.mark.parametrize(("toy", "scaled"), FORMS, ids=IDS)
def test_worlds_keep_all_rules(toy, scaled):
    rlenvs.check_env(toy, backend="python", only=NUMBERS, scaled=scaled).raise_on_failure()


@pytest.mark.budget(3)
@pytest.mark.parametrize("toy", [SWING64, WALKERS], ids=lambda toy: toy.name)
def test_compiled_worlds_keep_all_rules(toy):
    rlenvs.check_env(toy, only=NUMBERS).raise_on_failure()


def test_the_compiled_scaled_form_is_the_plain_one():
    rlenvs.check_env(SWING64, only={1, 7, 19, 21}, scaled=True).raise_on_failure()


@pytest.mark.filterwarnings("ignore:.*WARN.*")
@pytest.mark.parametrize(("toy", "scaled"), FORMS, ids=IDS)
def test_gymnasium_accepts_them(toy, scaled):
    check_env(env(toy, scaled=scaled), skip_render_check=True)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("scaled", [False, True])
def test_pettingzoo_accepts_them(scaled):
    parallel_api_test(ParallelEnv(WALKERS, backend="python", scaled=scaled), num_cycles=50)
    api_test(aec_env(world=WALKERS, backend="python", scaled=scaled), num_cycles=20)


def test_both_forms_share_their_code():
    """Whether spaces are scaled is data: it changes no key of compiled code."""
    setups = [Setup(SWING, scaled=scaled) for scaled in (False, True)]
    keys = {code_key(one.world, one.action_kind, kernel_names(one.world, one.action_kind, False)) for one in setups}
    assert len(keys) == 1


# --- one agent --------------------------------------------------------------------------------------------------------


def test_the_published_spaces_are_the_default():
    for toy, number in ((SWING, np.float32), (SWING64, np.float64)):
        assert env(toy).observation_space == spaces.Box(-HIGH.astype(number), HIGH.astype(number), dtype=number)
    assert env(SWING).action_space == spaces.Box(-2.0, 2.0, (1,), np.float32)
    for toy in (SWING, SWING64):
        scaled = env(toy, scaled=True)
        assert scaled.observation_space == spaces.Box(-1.0, 1.0, (3,), np.float32)
        assert scaled.action_space == spaces.Box(-1.0, 1.0, (1,), np.float32)


def test_numbers_are_those_of_gymnasiums_pendulum():
    original, ours = gymnasium.make("Pendulum-v1").unwrapped, env(SWING64)
    assert original.observation_space == env(SWING).observation_space
    assert original.action_space == ours.action_space
    original.reset(seed=0)
    ours.reset(seed=3)
    record = ours.batch.records(0)[1]
    original.state = np.array([record["angle"], record["speed"]])
    rng = np.random.default_rng(0)
    for _ in range(12):
        action = rng.uniform(-3.0, 3.0, 1)
        wanted, paid, *_ = original.step(action)
        seen, reward, *_ = ours.step(action)
        assert seen.dtype == np.float64
        assert seen.astype(np.float32).tolist() == wanted.tolist()
        assert reward == pytest.approx(float(paid), rel=1e-14)


@pytest.mark.parametrize("toy", [SWING, SWING64], ids=lambda toy: toy.name)
def test_the_scaled_form_is_the_same_world(toy):
    plain, scaled = env(toy), env(toy, scaled=True)
    gain = np.array([1.0, 1.0, 1.0 / 8.0])
    rng = np.random.default_rng(0)
    seen, _ = plain.reset(seed=1)
    shown, _ = scaled.reset(seed=1)
    for _ in range(12):
        assert shown.dtype == np.float32
        np.testing.assert_allclose(shown, seen * gain, rtol=0, atol=1e-6)
        action = rng.integers(-24, 25, 1) / 16.0  # exact halves, beyond the bounds too
        seen, reward, *ends = plain.step(STRONGEST * action)[:4]
        shown, paid, *finish = scaled.step(action)[:4]
        assert (reward, ends) == (paid, finish)


def test_advice_is_in_the_space_of_its_form():
    plain, scaled = env(SWING), env(SWING, scaled=True)
    beyond = 0
    for seed in range(10):
        plain.reset(seed=seed)
        scaled.reset(seed=seed)
        record = plain.batch.records(0)[1]
        wanted = 3.0 * np.sin(record["angle"]) + record["speed"]
        beyond += abs(wanted) > STRONGEST
        assert plain.expert_action() == pytest.approx(np.clip(wanted, -2.0, 2.0))
        assert scaled.expert_action() == pytest.approx(np.clip(wanted / 2.0, -1.0, 1.0))
    assert 0 < beyond < 10


def test_experts_in_plain_python_are_scaled_too():
    toy = swing("PlainSwing-v0", "float32")
    kernel = toy.kernels.pop("expert")
    toy.python_expert(kernel)
    scaled = env(toy, scaled=True)
    scaled.reset(seed=1)
    record = scaled.batch.records(0)[1]
    wanted = (3.0 * np.sin(record["angle"]) + record["speed"]) / 2.0
    assert scaled.expert_action() == pytest.approx(np.clip(wanted, -1.0, 1.0))


def test_observations_that_leave_the_published_space_are_clipped_to_it():
    slow, ends = swing("SlowSwing-v0", "float32"), [1.0, 1.0, 0.5]
    slow.published = published("Slow", low=[-end for end in ends], high=ends, clipped=True)
    clipped, plain = env(slow), env(SWING)
    for seed in range(5):
        seen, free = clipped.reset(seed=seed)[0], plain.reset(seed=seed)[0]
        for _ in range(10):
            assert seen.tolist() == np.clip(free, [-1.0, -1.0, -0.5], ends).tolist()
            assert seen in clipped.observation_space
            seen, free = clipped.step([2.0])[0], plain.step([2.0])[0]
    assert abs(free[2]) > 0.5


@pytest.mark.parametrize("scaled", [False, True])
def test_forms_agree(scaled):
    single = env(SWING64, scaled=scaled)
    vector = VectorEnv(SWING64, 3, backend="python", autoreset_mode="SAME_STEP", horizon=4, scaled=scaled)
    seen, _ = single.reset(seed=1)
    rows, _ = vector.reset(seed=0)
    assert rows.dtype == seen.dtype == vector.observation_space.dtype
    assert np.array_equal(seen, rows[1])
    for _ in range(4):
        before = single.step(single.action_space.high)[0]
        *_, infos = vector.step(np.tile(single.action_space.high, (3, 1)))
    assert np.array_equal(infos["final_obs"][1], before)
    assert infos["final_obs"][1].dtype == before.dtype
    twin = pickle.loads(pickle.dumps(vector))
    assert np.array_equal(twin.step(np.zeros((3, 1)))[0], vector.step(np.zeros((3, 1)))[0])
    assert np.array_equal(single.set_state(single.get_state()), before)


@pytest.mark.parametrize("scaled", [False, True])
def test_futures_are_what_steps_give(scaled):
    single = env(SWING64, scaled=scaled)
    single.reset(seed=0)
    plan = 1.5 * single.action_space.high * np.ones((2, 3, 1))
    found = rlenvs.rollout_plans(single, plan)
    rewards = []
    for action in plan[0]:
        seen, reward, *_ = single.step(action)
        rewards.append(reward)
    assert found.observations.dtype == seen.dtype
    assert np.array_equal(found.observations[0], seen)
    assert found.rewards[0].tolist() == rewards


def test_encodings_go_with_both_forms():
    for toy in (SWING, SWING64):
        coded = [env(toy, encoding="unit", scaled=scaled) for scaled in (False, True)]
        seen = [one.reset(seed=4)[0] for one in coded]
        assert seen[0].dtype == seen[1].dtype == np.float32
        np.testing.assert_allclose(*seen, atol=1e-6)
        assert coded[0].observation_space == coded[1].observation_space == spaces.Box(0.0, 1.0, (3,), np.float32)


def test_a_snapshot_fits_both_forms():
    plain, scaled = env(SWING), env(SWING, scaled=True)
    seen, _ = plain.reset(seed=0)
    scaled.reset(seed=1)
    np.testing.assert_allclose(scaled.set_state(plain.get_state()) * HIGH, seen, atol=1e-6)
    paid = scaled.step(np.array([0.5]))[1]
    assert scaled.batch.setup.in_scaled_form
    assert scaled.observation_space.contains(scaled.step(np.array([0.5]))[0])
    assert plain.step(np.array([1.0]))[1] == paid


def test_words_and_keys_speak_the_form():
    told = TextEnv(SWING, backend="python")
    assert "1 numbers from -2 to 2" in told.reset(seed=0)[0]
    told.step("<set(1.5)>")
    assert told.numeric.batch.actions[0, 0].tolist() == [1.5]
    assert "from -1 to 1" in TextEnv(SWING, backend="python", scaled=True).reset(seed=0)[0]
    assert steering_keys(Setup(SWING))["left"] == [2.0]
    assert steering_keys(Setup(SWING, scaled=True))["left"] == [1.0]


# --- several agents, whole numbers ------------------------------------------------------------------------------------


def test_whole_numbers_and_joined_states():
    plain, scaled = ParallelEnv(WALKERS, backend="python"), ParallelEnv(WALKERS, backend="python", scaled=True)
    assert plain.observation_space("talker") == spaces.Box(0, LANE, (3,), np.int32)
    assert plain.observation_space("walker") == spaces.Box(0, LANE, (2,), np.int32)
    assert scaled.observation_space("walker") == spaces.Box(0.0, LANE - 1.0, (2,), np.float32)
    seen, shown = plain.reset(seed=0)[0], scaled.reset(seed=0)[0]
    for agent in plain.agents:
        assert seen[agent].dtype == np.int32
        assert seen[agent].tolist() == shown[agent].tolist()
    assert plain.state_space.shape == (5,)
    assert plain.state().tolist() == [*seen["talker"], *seen["walker"]]
    assert plain.state_space.contains(plain.state())
    assert scaled.state_space.shape == scaled.state().shape == (2, 3)


def test_reward_spaces_are_published_too():
    assert env(WALKERS, vector_reward=True).reward_space == spaces.Box(1.0 - LANE, 0.0, (1,), np.float32)
    assert env(WALKERS, vector_reward=True, scaled=True).reward_space == spaces.Box(-5.0, 0.0, (1,), np.float32)


# --- declarations and errors ------------------------------------------------------------------------------------------

COMMON = {"doc": "", "state": {}, "terms": {"nothing": term(0, 1)}, "horizon": 3, "action": discrete("a")}


def test_worlds_of_one_form_say_so():
    toy = world("One-v0", observation={"x": block(low=0, high=1)}, **COMMON)
    with pytest.raises(
        UnknownKeywordError, match=r"One-v0: unexpected keyword argument 'scaled'. `scaled` is only for"
    ):
        Setup(toy, scaled=True)
    with pytest.raises(ParameterError, match="scaled"):
        Setup(SWING, scaled="yes")


def test_own_worlds_may_see_actions_in_their_units():
    """Without a published form users give numbers in [-1, 1], and kernels see the declared range."""
    own = {**COMMON, "action": continuous("push", "turn", low=(0.0, -3.0), high=(4.0, 3.0))}
    toy = Setup(world("Own-v0", observation={"x": block(low=0, high=1)}, **own))
    assert toy.action_space == spaces.Box(-1.0, 1.0, (2,), np.float32)
    assert toy.action_scaling[:2].tolist() == [[2.0, 3.0], [2.0, 0.0]]
    assert toy.idle.tolist() == [[-1.0, 0.0]]


@pytest.mark.budget(6)
@pytest.mark.parametrize("scaled", [False, True])
def test_images_beside_published_numbers(scaled):
    """Numbers keep the published type and bounds under "state"."""
    toy = swing("SeenSwing-v0", "float64", images={"screen": image(2, 3, 3)})

    @toy.observe_images
    def observe_images(p, s, i):
        i.screen[1, 2, 0] = int(100.0 + 10.0 * s.speed)

    rlenvs.check_env(toy, backend="python", only=NUMBERS, scaled=scaled).raise_on_failure()
    seeing, plain = env(toy, scaled=scaled), env(SWING64, scaled=scaled)
    assert seeing.observation_space["state"] == plain.observation_space
    seen, numbers = seeing.reset(seed=3)[0], plain.reset(seed=3)[0]
    assert seen["state"].dtype == numbers.dtype == (np.float32 if scaled else np.float64)
    assert seen["state"].tolist() == numbers.tolist()
    assert seen["screen"][1, 2, 0] > 0
    assert seen in seeing.observation_space


def test_declarations_that_contradict_themselves_are_refused():
    with pytest.raises(ParameterError, match="dtype='float16'"):
        published("x", "float16")
    with pytest.raises(ParameterError, match="clipped=True is for dtype='float32', not 'float64'"):
        published("x", "float64", clipped=True)
    with pytest.raises(ParameterError, match="whole numbers"):
        world("A-v0", observation={"x": block(low=0, high=1)}, published=published("x", "int32"), **COMMON)
    whole = {"x": block(low=0, high=1, whole=True)}
    with pytest.raises(ParameterError, match="without images"):
        world("A-v0", observation=whole, images={"i": image(4, 4, 3)}, published=published("x", "int32"), **COMMON)
    with pytest.raises(ParameterError, match="finite low < high"):
        continuous("push", low=1.0, high=0.0)
    wrong = world(
        "B-v0",
        observation={"x": block(low=0, high=1)},
        **{**COMMON, "action": continuous("push", low=(0.0, 0.0))},
    )
    with pytest.raises(ParameterError, match="2 bounds for 1 numbers"):
        Setup(wrong)


def test_batches_take_actions_in_published_units():
    batch = KernelBatch(SWING, 2, backend="python")
    batch.seed(0)
    batch.reset()
    batch.step(np.array([[5.0], [-1.5]]))
    assert batch.actions[:, 0, 0].tolist() == [2.0, -1.5]


def test_pages_tell_both_forms():
    told = page(SWING)
    assert "Gymnasium Pendulum-v1" in told
    assert "`scaled`" in told
    assert "[-2, 2]" in told


@pytest.mark.parametrize("scaled", [False, True])
def test_stable_baselines_learns_in_both_forms(scaled):
    from stable_baselines3 import PPO
    from stable_baselines3.common.env_checker import check_env as sb3_check

    sb3_check(env(SWING64, scaled=scaled))
    model = PPO("MlpPolicy", env(SWING64, scaled=scaled), n_steps=16, batch_size=16, n_epochs=1, device="cpu")
    model.learn(32)
    seen, _ = env(SWING64, scaled=scaled).reset(seed=0)
    assert env(SWING64, scaled=scaled).action_space.contains(model.predict(seen)[0])
