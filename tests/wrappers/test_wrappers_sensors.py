"""Sensors: units and channels, settings, the rules of wrappers, presets."""

import copy
import pickle

import gymnasium
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.sensors import Still, readings
from support.wrapper_helpers import assert_conforms, assert_forms_agree
from toys.drop_in import SWING64, WALKERS

import rlenvs
from rlenvs.core.declare.errors import ParameterError
from rlenvs.core.forms.gym_env import Env
from rlenvs.wrappers.adversary import ObservationAdversary
from rlenvs.wrappers.channels import parts_of
from rlenvs.wrappers.forms import wrap
from rlenvs.wrappers.presets import gps, imu, joint_encoder, lidar, noisy, pushed, stuck
from rlenvs.wrappers.sensors import HideObservations, Sensor

# --- units and channels -----------------------------------------------------------------------------------------------


def errors_of(id, *wrappers, steps=6, slots=2000, **keywords):
    """Observation less truth in the physical units of a world's blocks, {block: (samples, numbers)}."""
    env = wrap(rlenvs.make_vec(id, slots, **keywords), *wrappers)
    env.reset(seed=0)
    actions = np.zeros(env.action_space.shape, env.action_space.dtype)
    for _ in range(steps):
        seen, *_, info = env.step(actions)
    difference = (seen.astype(np.float64) - info["true_obs"]) / env.batch.setup.scaling[0]
    names = np.array(parts_of(env.bottom)[0].names)
    return {name: difference[:, names == name] for name in dict.fromkeys(names)}


def test_magnitudes_are_in_physical_units():
    found = errors_of("QuadHover-v0", Sensor("position", noise=0.02), Sensor("rates", uniform=0.3), slots=6000)
    assert found["position"].std() == pytest.approx(0.02, rel=0.03)
    assert np.abs(found["rates"]).max() == pytest.approx(0.3, rel=0.01)
    for name in set(found) - {"position", "rates"}:
        assert not found[name].any()


def test_a_channel_may_be_some_numbers_of_a_block():
    found = errors_of("QuadHover-v0", Sensor(["velocity[2]", "position[0:2]"], noise=[0.1, 0.2, 0.2]), slots=6000)
    assert found["velocity"].std(axis=0) == pytest.approx([0.0, 0.0, 0.1], rel=0.04)
    assert found["position"].std(axis=0) == pytest.approx([0.2, 0.2, 0.0], rel=0.04)
    last = errors_of("QuadHover-v0", Sensor("velocity[-1]", noise=0.1), slots=100)["velocity"]
    assert (last.any(axis=0) == [False, False, True]).all()


def test_zero_is_the_physical_zero_where_a_range_is_not_symmetric():
    """Fingers open from 0 to 0.08 m, so that zero is -1 in the observation."""
    env = wrap(rlenvs.make("PandaPickAndPlace-v0"), Sensor("fingers", dropout=1.0, missing="zero"))
    env.reset(seed=0)
    part = parts_of(env.bottom)[0]
    place = part.names.index("fingers")
    assert part.offset[place] == -1.0
    assert env.step(np.zeros(env.action_space.shape))[0][place] == pytest.approx(-1.0)
    scaled, factors = wrap(rlenvs.make("PandaPickAndPlace-v0"), Sensor("fingers", scale=0.3)), []
    for seed in range(6):
        seen, info = scaled.reset(seed=seed)
        expected = (info["true_obs"][place] + 1.0) * (1.0 + scaled.top.factor[0, 0]) - 1.0
        assert seen[place] == pytest.approx(min(expected, 1.0), abs=1e-5)
        factors.append(seen[place])
    assert min(factors) < 0.9


def test_channels_of_a_goal_and_of_a_dictionary():
    env = wrap(
        rlenvs.make("PandaReach-v0", form="goal"),
        Sensor("achieved_goal", noise=0.01),
        HideObservations("grip_velocity"),
    )
    bare = rlenvs.make("PandaReach-v0", form="goal")
    seen, info = env.reset(seed=1)
    true, _ = bare.reset(seed=1)
    assert env.observation_space.contains(seen)
    np.testing.assert_array_equal(seen["desired_goal"], true["desired_goal"])
    assert (seen["achieved_goal"] != true["achieved_goal"]).all()
    np.testing.assert_array_equal(seen["observation"], np.delete(true["observation"], [3, 4, 5]))
    assert all((info["true_obs"][name] == true[name]).all() for name in true)
    by_block = wrap(rlenvs.make("PandaReach-v0", form="goal"), Sensor("achieved", noise=0.01)).reset(seed=1)[0]
    np.testing.assert_array_equal(by_block["achieved_goal"], seen["achieved_goal"])


def test_all_channels_of_a_dictionary_and_all_events_together():
    sensor = Sensor(noise=0.01, dropout=0.5)
    env = wrap(rlenvs.make("PandaReach-v0", form="goal"), sensor)
    last, _ = env.reset(seed=1)
    held = []
    for _ in range(30):
        seen = env.step(np.zeros(3))[0]
        held.append([bool((seen[name] == last[name]).all()) for name in seen])
        last = seen
    assert {tuple(slot) for slot in held} == {(True, True, True), (False, True, False)}  # the desired goal stays


def test_channels_by_position_in_environments_of_other_packages():
    env = wrap(gymnasium.make("CartPole-v1"), Sensor("[1]", noise=0.1), Sensor("[2:4]", bias=0.1))
    seen, info = env.reset(seed=0)
    assert ((seen != info["true_obs"]) == [False, True, True, True]).all()
    assert env.observation_space.contains(seen)


def test_appended_numbers_have_no_block_and_are_told_by_position():
    lower = Sensor("position", dropout=0.2, show_missing=True)
    env = wrap(
        rlenvs.make("QuadHover-v0"),
        lower,
        Sensor("[15]", bias=0.1),
        Sensor("velocity", bias=0.2),
        HideObservations("rates"),
    )
    seen, _ = env.reset(seed=0)
    assert seen.shape == (13,)
    part = parts_of(env.top)[0]
    assert part.names[-1] == ""
    assert "rates" not in part.names
    assert part.gain[-1] == 1.0
    with pytest.raises(ParameterError, match="no channel 'rates'"):
        wrap(env, Sensor("rates", noise=0.1))


@pytest.mark.parametrize(
    ("channels", "message"),
    [
        ("positon", "Did you mean 'position'"),
        ("position[7]", "out of range; there are 3"),
        ("position[3:3]", "selects none of 3"),
        ("position[x]", "no channel"),
        (["position", "position[1]"], "twice"),
        ([], "names no channel"),
        (3, "must be a name"),
    ],
)
def test_unknown_channels_are_refused(channels, message):
    for wrapper in (Sensor(channels, noise=0.1), HideObservations(channels)):
        with pytest.raises(ParameterError, match=message):
            wrap(rlenvs.make("QuadHover-v0"), wrapper)


def test_sensors_measure_in_physical_units_in_both_forms():
    for scaled, unit in ((False, 1.0), (True, 8.0)):
        made = wrap(Env(SWING64, backend="python", scaled=scaled), Sensor(channels="speed", quantum=0.5))
        truth = Env(SWING64, backend="python", scaled=scaled).reset(seed=2)[0]
        shown = made.reset(seed=2)[0]
        assert shown[2] * unit == pytest.approx(0.5 * np.round(2.0 * truth[2] * unit))
        assert shown[2] != truth[2]
        assert shown.dtype == truth.dtype
        assert made.observation_space.contains(shown)


def test_whole_numbers_name_the_form_with_real_ones():
    with pytest.raises(ParameterError, match="no real numbers in its observation; with scaled=True it has"):
        wrap(Env(WALKERS, backend="python"), Sensor(noise=0.1))
    wrap(Env(WALKERS, backend="python", scaled=True), Sensor(noise=0.1))


# --- settings that cannot be ------------------------------------------------------------------------------------------

BAD = [
    ({"noise": -0.1}, "noise"),
    ({"noise": [0.1, 0.2]}, "noise.*3"),
    ({"bias": "much"}, "bias"),
    ({"drift": 0.1}, "drift.*drift_time"),
    ({"outliers": 0.1}, "outliers.*outlier_size"),
    ({"outliers": 1.5, "outlier_size": 1.0}, "outliers"),
    ({"dropout": -0.1}, "dropout"),
    ({"dropout": 0.9, "burst": 2.0}, "burst.*at least 9"),
    ({"dropout": 0.1, "burst": 0.5}, "burst.*at least 1"),
    ({"missing": "nan"}, "missing"),
    ({"stuck_at": "noise", "stuck": 0.1}, "stuck_at"),
    ({"show_missing": True}, "show_missing"),
    ({"delay": [3, 1]}, "delay"),
    ({"delay": -1}, "delay"),
    ({"delay": 0.5}, "delay"),
    ({"delay": 100_000}, "delay.*longer than an episode"),
    ({"delay": 1, "latency": 0.1}, "latency.*delay"),
    ({"every": 0}, "every"),
    ({"every": 2, "rate": 5.0}, "rate.*every"),
    ({"low": 1.0, "high": -1.0}, "low"),
    ({"low": 5.0}, "low"),
    ({"high": float("nan")}, "high"),
    ({"quantum": float("inf")}, "quantum"),
    ({"dt": -1.0}, "dt"),
    ({"each": "no"}, "each"),
]


@pytest.mark.parametrize(("bad", "message"), BAD)
def test_impossible_settings_are_refused_by_name(bad, message):
    with pytest.raises(ParameterError, match=f"Sensor: {message}"):
        wrap(rlenvs.make("QuadHover-v0"), Sensor("position", **bad))


def test_what_does_not_fit_the_environment_is_refused():
    unknown = Still()
    unknown.metadata = {}
    with pytest.raises(ParameterError, match="dt"):
        wrap(unknown, Sensor(walk=0.1))
    wrap(unknown, Sensor(walk=0.1, dt=0.1), Sensor(noise=0.1))
    with pytest.raises(ParameterError, match="vectors"):
        wrap(rlenvs.make("PandaReach-v0", form="goal"), Sensor(dropout=0.1, show_missing=True))
    with pytest.raises(ParameterError, match="no real numbers"):
        wrap(gymnasium.make("FrozenLake-v1"), Sensor(noise=0.1))
    with pytest.raises(ParameterError, match="no observation"):
        wrap(rlenvs.make("QuadHover-v0"), HideObservations())


# --- the rules of wrappers --------------------------------------------------------------------------------------------

ZERO = dict.fromkeys(("scale", "bias", "walk", "drift", "noise", "density", "uniform", "quantum", "dead_band"), 0.0)
RICH = Sensor(
    ["position", "velocity[1]"], delay=[1, 3], scale=0.1, bias=0.1, walk=0.1, drift=0.2, drift_time=0.5, noise=0.02,
    uniform=0.01, outliers=0.2, outlier_size=0.5, dropout=0.3, burst=2.0, stuck=0.02, quantum=0.01, dead_band=0.005,
    show_missing=True, each=True,
)  # fmt: skip


def test_nothing_changes_where_all_magnitudes_are_zero():
    bare, sensed = rlenvs.make("QuadHover-v0"), wrap(rlenvs.make("QuadHover-v0"), Sensor(**ZERO), Sensor(delay=0))
    np.testing.assert_array_equal(bare.reset(seed=3)[0], sensed.reset(seed=3)[0])
    for step in range(20):
        action = np.full(4, 0.1 * np.sin(step), np.float32)
        one, two = bare.step(action), sensed.step(action)
        np.testing.assert_array_equal(one[0], two[0])
        assert one[1:4] == two[1:4]


def test_channels_without_magnitude_are_the_same_bit_for_bit():
    env = wrap(rlenvs.make("QuadHover-v0"), Sensor(noise=[0.0] * 14 + [0.5]))
    env.reset(seed=3)
    for _ in range(10):
        seen, *_, info = env.step(np.full(4, 0.3))
        np.testing.assert_array_equal(seen[:14], info["true_obs"][:14])


def test_rewards_and_costs_are_those_of_the_truth():
    bare, sensed = (
        rlenvs.make("SafePointGoal-v0"),
        wrap(rlenvs.make("SafePointGoal-v0"), Sensor(noise=3.0, dropout=0.5)),
    )
    bare.reset(seed=3)
    sensed.reset(seed=3)
    for _ in range(30):
        action = np.array([1.0, 0.3], np.float32)
        one, two = bare.step(action), sensed.step(action)
        assert one[1:4] == two[1:4]
        assert one[4]["cost"] == two[4]["cost"]
        np.testing.assert_array_equal(one[0], two[4]["true_obs"])


def test_the_same_noise_whatever_the_policy_does():
    sensor = Sensor(noise=0.1, outliers=0.1, outlier_size=1.0, drift=0.1, drift_time=1.0, bias=0.3)
    errors = []
    for action in (-0.2, 0.2):
        env = wrap(rlenvs.make("HalfCheetah-v0"), sensor)
        seen, info = env.reset(seed=5)
        own = [seen - info["true_obs"]]
        for _ in range(10):
            seen, *_, info = env.step(np.full(6, action))
            own.append(seen.astype(float) - info["true_obs"])
        errors.append(own)
    np.testing.assert_allclose(errors[0], errors[1], atol=1e-5)


def test_two_sensors_of_a_kind_draw_different_numbers():
    one = readings(Sensor(noise=1.0), 100, size=50)
    two = readings([Sensor(noise=1.0), Sensor(noise=1.0)], 100, size=50) - one
    assert two.std() == pytest.approx(1.0, rel=0.05)
    assert abs((one * two).mean()) < 0.1


def test_the_lowest_sensor_tells_the_truth():
    env = wrap(rlenvs.make("QuadHover-v0"), Sensor(bias=0.1), Sensor(bias=0.1), HideObservations("velocity"))
    bare = rlenvs.make("QuadHover-v0")
    np.testing.assert_array_equal(env.reset(seed=2)[1]["true_obs"], bare.reset(seed=2)[0])


@pytest.mark.parametrize(
    ("id", "keywords", "wrappers"),
    [
        ("QuadHover-v0", {}, [RICH, Sensor("rates", every=2, noise=0.1), HideObservations("to_goal")]),
        ("SafePointGoal-v0", {}, [Sensor(noise=0.1, dropout=0.2, delay=[0, 2], keep_order=True), *imu("gyro", "gyro")]),
        ("DeepSeaTreasure-v0", {"scaled": True}, [Sensor(noise=0.1, dropout=0.2, each=True)]),
        ("ParticleSpread-v0", {}, [Sensor(noise=0.1, stuck=0.1)]),
        ("PandaReach-v0", {"form": "goal"},
         [Sensor(noise=0.01, dropout=0.2, each=True), HideObservations("grip_velocity")]),
    ],
)  # fmt: skip
def test_all_forms_agree(id, keywords, wrappers):
    assert_forms_agree(id, *wrappers, **keywords)


def test_an_agent_of_the_parallel_form_reads_what_the_single_form_reads():
    wrappers = [Sensor("position", noise=0.1, delay=1, dropout=0.3), Sensor("velocity", drift=0.3, drift_time=1.0)]
    many = wrap(rlenvs.parallel_env("QuadMultiHover-v0"), *wrappers)
    seen, _ = many.reset(seed=4)
    one = wrap(rlenvs.make("QuadMultiHover-v0"), *wrappers)
    alone, _ = one.reset(seed=4)
    np.testing.assert_array_equal(seen["agent_0"], alone)
    assert (seen["agent_0"] != seen["agent_1"]).any()
    for _ in range(10):
        actions = {agent: np.zeros(4) for agent in many.agents}
        seen, *_, infos = many.step(actions)
        errors = [seen[agent].astype(float) - infos[agent]["true_obs"] for agent in many.agents]
        assert not np.allclose(errors[0], errors[1])
        for agent in many.agents:
            assert many.observation_space(agent).contains(seen[agent])


def test_agents_with_different_observations():
    env = wrap(rlenvs.parallel_env("ParticleWorldComm-v0"), Sensor(noise=0.1), HideObservations("[0:2]"))
    bare = rlenvs.parallel_env("ParticleWorldComm-v0")
    seen, _ = env.reset(seed=0)
    true, _ = bare.reset(seed=0)
    sizes = {len(value) for value in seen.values()}
    assert len(sizes) > 1
    for agent, value in seen.items():
        assert env.observation_space(agent).contains(value)
        assert len(value) == len(true[agent]) - 2
        assert (value != true[agent][2:]).all()


def play(env, steps):
    return [env.step(np.full(env.action_space.shape, 0.1))[0] for _ in range(steps)]


def test_copies_pickles_and_snapshots_go_on_the_same():
    env = wrap(rlenvs.make("QuadHover-v0"), RICH, HideObservations("rates"))
    env.reset(seed=9)
    play(env, 5)
    snapshot = pickle.loads(pickle.dumps(env.get_state()))
    copies = [copy.deepcopy(env), pickle.loads(pickle.dumps(env))]
    future = play(env, 8)
    for other in copies:
        np.testing.assert_array_equal(play(other, 8), future)
    env.set_state(snapshot)
    np.testing.assert_array_equal(play(env, 8), future)


def test_a_sensor_is_made_again_from_the_specification():
    env = wrap(rlenvs.make("QuadHover-v0"), RICH, HideObservations("velocity", remove=False))
    again = gymnasium.make(env.spec)
    np.testing.assert_array_equal(env.reset(seed=2)[0], again.reset(seed=2)[0])
    assert again.observation_space == env.observation_space


@pytest.mark.parametrize("wrappers", [[RICH], [HideObservations("velocity")], [*gps("position", "velocity", cep=0.1)]])
def test_sensors_conform(wrappers):
    assert_conforms("QuadHover-v0", *wrappers)


def test_masked_channels_are_gone_or_zero():
    bare = rlenvs.make("QuadHover-v0")
    true, _ = bare.reset(seed=1)
    hidden = [
        i
        for i, name in enumerate(parts_of(wrap(bare, HideObservations("velocity")).bottom)[0].names)
        if name == "velocity"
    ]
    gone, _ = wrap(rlenvs.make("QuadHover-v0"), HideObservations("velocity")).reset(seed=1)
    np.testing.assert_array_equal(gone, np.delete(true, hidden))
    zero, _ = wrap(rlenvs.make("QuadHover-v0"), HideObservations("velocity", remove=False)).reset(seed=1)
    assert not zero[hidden].any()
    np.testing.assert_array_equal(np.delete(zero, hidden), gone)


@settings(max_examples=25, deadline=None)
@given(
    noise=st.floats(0, 10),
    delay=st.integers(0, 5),
    every=st.integers(1, 4),
    dropout=st.floats(0, 1),
    stuck=st.floats(0, 0.5),
    quantum=st.floats(0, 1),
    each=st.booleans(),
    seed=st.integers(0, 1000),
)
def test_observations_stay_in_the_space_and_repeat(noise, delay, every, dropout, stuck, quantum, each, seed):
    sensor = Sensor(
        ["position", "rates"], noise=noise, delay=delay, every=every, dropout=dropout, stuck=stuck, quantum=quantum,
        each=each,
    )  # fmt: skip
    env = wrap(rlenvs.make("QuadHover-v0"), sensor)
    runs = []
    for _ in range(2):
        seen, _ = env.reset(seed=seed)
        run = [seen, *(play(env, 6))]
        assert all(env.observation_space.contains(each) for each in run)
        runs.append(run)
    np.testing.assert_array_equal(runs[0], runs[1])


# --- presets ----------------------------------------------------------------------------------------------------------


def test_presets_have_the_figures_of_their_sources():
    gyro, accelerometer = imu("gyro", "accelerometer")
    assert gyro.density == pytest.approx(3.394e-4, rel=1e-3)
    assert gyro.bias == pytest.approx(8.727e-3, rel=1e-3)
    assert gyro.drift == pytest.approx(3.8785e-5 * np.sqrt(500.0), rel=1e-3)
    assert (accelerometer.density, accelerometer.drift_time) == (0.004, 300.0)
    position, velocity = gps("position", "velocity")
    assert position.drift * np.sqrt(2 * np.log(2)) == pytest.approx(2.5)
    assert (position.rate, position.latency, velocity.noise) == (5.0, 0.12, 0.05)
    (encoder,) = joint_encoder("joints")
    assert encoder.quantum == pytest.approx(np.radians(0.02197), rel=1e-3)
    assert imu("gyro", noise=0.1)[0].noise == 0.1


def test_presets_of_failures():
    found = errors_of("QuadHover-v0", *noisy("position", noise=0.02), slots=2000)
    assert found["position"].std() == pytest.approx(0.02, rel=0.05)
    held = errors_of("CartPole-v0", *stuck(share=0.2, samples=2), slots=2000)
    assert np.any([each.any(axis=1) for each in held.values()], axis=0).mean() == pytest.approx(0.2, abs=0.03)
    (still,) = stuck("position", share=0.2)
    assert (still.dropout, still.burst) == (0.2, 25.0)
    pytest.importorskip("mujoco")
    env = wrap(rlenvs.make("Swimmer-v0"), *pushed(axes="xy", force=2.0))
    env.reset(seed=0)
    forces = np.array([env.step(np.zeros(2))[-1]["force"] for _ in range(50)])
    assert forces.shape == (50, 2)
    assert 1.5 < np.abs(forces).max() <= 2.0


def test_presets_fit_worlds():
    env = wrap(rlenvs.make("SafePointGoal-v0"), *imu("gyro", "accelerometer"), *lidar("goal_lidar", noise=0.02))
    env.reset(seed=0)
    assert env.observation_space.contains(env.step(np.zeros(2))[0])
    half = errors_of("QuadHover-v0", *gps("position", cep=0.3), slots=4000, steps=30)["position"]
    assert (np.hypot(half[:, 0], half[:, 1]) < 0.3).mean() == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize("wrapper", [Sensor(noise=0.3), ObservationAdversary(eps=0.3)])
def test_desired_goals_are_no_measurements(wrapper):
    """So hindsight replay can tell the step's reward from the goals."""
    pytest.importorskip("mujoco")
    env = wrap(rlenvs.make("PandaReach-v0", form="goal"), wrapper)
    seen, info = env.reset(seed=0)
    for _ in range(5):
        assert not np.array_equal(seen["achieved_goal"], info["true_obs"]["achieved_goal"])
        assert not np.array_equal(seen["observation"], info["true_obs"]["observation"])
        seen, reward, _, _, info = env.step(env.action_space.sample())
        np.testing.assert_array_equal(seen["desired_goal"], info["true_obs"]["desired_goal"])
        true = info["true_obs"]["achieved_goal"]
        assert env.unwrapped.compute_reward(true, seen["desired_goal"], info) == pytest.approx(reward, abs=1e-6)
