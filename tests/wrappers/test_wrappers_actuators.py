"""Actuators, repeated actions, sequences of actions and their costs."""

from __future__ import annotations

import copy
import json
import pickle
from types import SimpleNamespace

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.vector import AutoresetMode
from hypothesis import given, settings
from hypothesis import strategies as st
from support.wrapper_helpers import assert_conforms, assert_forms_agree

import rlenvs
from rlenvs.core.check.playing import difference
from rlenvs.core.declare.errors import ActionError, ParameterError
from rlenvs.wrappers.action_cost import ActionCost
from rlenvs.wrappers.action_repeat import ActionRepeat, ActionSequence
from rlenvs.wrappers.actuators import Actuator
from rlenvs.wrappers.forms import wrap
from rlenvs.wrappers.recipes import wrapper_from
from rlenvs.wrappers.stage import Stage

EVERYTHING = Actuator(
    noise=[0.1, 0.2, 0.0, 0.1],
    bias=0.05,
    scale=0.1,
    delay=[1, 3],
    lag=0.05,
    rate_limit=0.4,
    dead_band=0.02,
    quantum=0.01,
    hold=0.2,
    every=2,
    random=0.1,
    blend=0.1,
    neutral=0.1,
)
CHOICES = Actuator(delay=[0, 2], hold=0.3, every=2, random=0.2)
MADE = "rlenvs/QuadHover-v0"


class Still(Stage):
    """Slots that take actions and never change."""

    name = "still"

    def __init__(self, count: int, space: spaces.Space, agents: int = 1, fps: int | None = 30) -> None:
        self.count, self.agents, self.env = count, agents, SimpleNamespace(metadata={"render_fps": fps})
        self.action_spaces, self.observation_spaces = [space] * agents, [spaces.Box(-1, 1, (1,))] * agents
        self.observation, self.reward = np.zeros((count, 1)), np.zeros(count)
        self.terminated, self.truncated = np.zeros((2, count), np.bool_)

    def info(self):
        return {}

    def reset(self, slots, seeds=None, options=None):
        pass

    def step(self, actions, slots):
        self.got = np.array(actions)


class Walker(gymnasium.Env):
    """Terms and costs in info, but not after a reset, as Gymnasium's robots have them."""

    observation_space, action_space = spaces.Box(-1.0, 1.0, (1,)), spaces.Box(-1.0, 1.0, (1,))

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.place = 0
        return np.zeros(1, np.float32), {"place": 0}

    def step(self, action):
        self.place += 1
        info = {"place": self.place, "cost": self.place, "reward_ctrl": -(float(action[0]) ** 2), "cost_text": "none"}
        return np.zeros(1, np.float32), 1.0, False, False, info


def box(channels: int = 2, size: float = 1.0) -> spaces.Box:
    return spaces.Box(-size, size, (channels,), np.float32)


def bound(wrapper, count: int = 1, space: spaces.Space | None = None, seed: int = 0):
    """A wrapper on `Still`, at the start of an episode."""
    wrapper = copy.deepcopy(wrapper)
    wrapper.bind(Still(count, space or box()), 0)
    wrapper.reset(np.ones(count, np.bool_), [seed + i for i in range(count)])
    return wrapper


def executed(wrapper, actions: np.ndarray) -> np.ndarray:
    """What `Still` gets, (steps, slots, ...), for actions (steps, slots, ...)."""
    got = []
    for action in actions:
        wrapper.step(action, np.ones(wrapper.count, np.bool_))
        got.append(wrapper.below.got)
    return np.array(got)


def constant(value, steps: int, count: int, channels: int = 2) -> np.ndarray:
    return np.broadcast_to(np.asarray(value, np.float64), (steps, count, channels))


def uniform(steps: int, count: int, channels: int = 2, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-1.0, 1.0, (steps, count, channels)).astype(np.float32)


# --- each part of the drive -------------------------------------------------------------------------------------------


def test_without_settings_nothing_changes():
    actions = 3.0 * uniform(4, 5)
    assert np.array_equal(executed(bound(Actuator(), 5), actions), actions)
    for id in ("QuadHover-v0", "DeepSeaTreasure-v0", "QuadMultiHover-v0"):
        bare, wrapped = rlenvs.make(id), wrap(rlenvs.make(id), Actuator())
        bare.action_space.seed(0)
        assert not difference(bare.reset(seed=1), _without(wrapped.reset(seed=1)))
        for _ in range(20):
            action = bare.action_space.sample()
            assert not difference(bare.step(action), _without(wrapped.step(action)))
            if bare.unwrapped.batch.over[0]:
                break


def _without(returned: tuple) -> tuple:
    *rest, info = returned
    return (*rest, {key: value for key, value in info.items() if key not in ("action", "raw_action", "repeats")})


def test_a_fixed_delay_shifts_actions_and_begins_with_neutral():
    actions = uniform(12, 3)
    got = executed(bound(Actuator(delay=4), 3), actions)
    assert np.array_equal(got[4:], actions[:-4])
    assert (got[:4] == 0.0).all()
    assert (executed(bound(Actuator(delay=4, neutral=[0.5, -0.25]), 3), actions)[:4] == [0.5, -0.25]).all()


def test_zero_outside_the_space_makes_the_nearest_action_neutral():
    wrapper = bound(
        Actuator(delay=1), 1, spaces.Box(np.array([0.5, -1.0], np.float32), np.array([1.0, -0.25], np.float32))
    )
    assert executed(wrapper, constant(0.7, 1, 1)).tolist() == [[[0.5, -0.25]]]


def test_random_delays_execute_the_newest_that_has_arrived():
    steps, count = 40, 4096
    sent = np.broadcast_to((np.arange(steps)[:, None, None] + 1.0) / 64, (steps, count, 1))
    got = executed(bound(Actuator(delay=[1, 3]), count, box(1)), sent)[..., 0] * 64 - 1  # when it was sent
    age = np.arange(steps)[:, None] - got
    age = age[3:]
    assert age.min() == 1
    assert age.max() == 3
    # the last one has arrived with probability 1/3; if not, the one before with 2/3; the third always has
    for steps_old, share in {1: 1 / 3, 2: 4 / 9, 3: 2 / 9}.items():
        assert np.mean(age == steps_old) == pytest.approx(share, abs=0.005)
    assert (np.diff(got, axis=0) >= 0).all()  # never an older one after a newer one
    assert (got[:3] <= np.array([-1, 0, 1])[:, None]).all()
    assert (got[0] == -1).all()


def test_every_holds_actions_for_some_steps():
    actions = uniform(9, 2)
    got = executed(bound(Actuator(every=3), 2), actions)
    assert np.array_equal(got, np.repeat(actions[::3], 3, axis=0))


def test_sticky_actions_repeat_with_the_given_probability():
    actions = uniform(50, 2000)
    got = executed(bound(Actuator(hold=0.25), 2000), actions)
    fresh = (got == actions).all(axis=2)
    assert np.mean(fresh) == pytest.approx(0.75, abs=0.005)
    assert np.mean(fresh[0]) == pytest.approx(0.75, abs=0.03)
    before = np.concatenate([np.zeros((1, 2000, 2)), got[:-1]])
    assert np.array_equal(got[~fresh], before[~fresh])
    joint = np.mean(~fresh[1:] & ~fresh[:-1])
    assert joint == pytest.approx(0.25**2, abs=0.005)  # independent from step to step


def test_dead_band_and_quantum():
    actions = np.array([[[0.09, -0.11], [0.1, 0.0], [0.26, -0.24]]])
    got = executed(bound(Actuator(dead_band=0.1), 3), actions)
    assert np.allclose(got, [[[0.0, -0.11], [0.1, 0.0], [0.26, -0.24]]])
    got = executed(bound(Actuator(quantum=[0.25, 0.0]), 3), actions)
    assert np.allclose(got, [[[0.0, -0.11], [0.0, 0.0], [0.25, -0.24]]])


def test_white_noise_has_its_moments():
    wrapper = bound(Actuator(noise=[0.5, 2.0, 1.0, 0.0]), 4096, box(4, 100.0))
    got = executed(wrapper, constant(7.0, 30, 4096, 4)).astype(np.float64) - 7.0
    assert (got[..., 3] == 0.0).all()
    for channel, sigma in ((0, 0.5), (1, 2.0), (2, 1.0)):
        values = got[..., channel]
        assert values.std() == pytest.approx(sigma, rel=0.02)
        assert abs(values.mean()) < 0.02 * sigma
        assert np.mean(np.abs(values) < sigma) == pytest.approx(0.6827, abs=0.005)
        assert abs(np.corrcoef(values[1:].ravel(), values[:-1].ravel())[0, 1]) < 0.01
        assert abs(np.corrcoef(values[:, 1:].ravel(), values[:, :-1].ravel())[0, 1]) < 0.01
    together = np.corrcoef(got[..., :3].reshape(-1, 3).T)
    assert np.abs(together - np.eye(3)).max() < 0.01


def test_noise_does_not_depend_on_the_policy():
    one, two = (bound(EVERYTHING, 7, box(4)) for _ in range(2))
    calm = Actuator(noise=0.1, bias=0.1)
    first, second = (executed(bound(calm, 7, box(4)), constant(a, 6, 7, 4)) for a in (0.0, 0.25))
    assert np.allclose(first, second - 0.25, atol=1e-6)
    actions = uniform(20, 7, 4)
    executed(one, actions[:10])
    executed(two, -actions[:10])
    held = [wrapper.time.copy() for wrapper in (one, two)]
    assert np.array_equal(*held)
    for wrapper in (one, two):
        wrapper.reset(np.ones(7, np.bool_))
    assert np.array_equal(executed(one, actions), executed(two, actions))


def test_bias_and_scale_are_drawn_once_per_episode():
    wrapper = bound(Actuator(bias=[0.3, 0.0], scale=[0.0, 0.2]), 20000, box(2, 100.0))
    got = executed(wrapper, constant([1.0, 2.0], 2, 20000))
    assert np.array_equal(got[0], got[1])
    assert got[0, :, 0].std() == pytest.approx(0.3, rel=0.02)
    assert got[0, :, 0].mean() == pytest.approx(1.0, abs=0.01)
    assert got[0, :, 1].std() == pytest.approx(2.0 * 0.2, rel=0.02)
    wrapper.reset(np.ones(20000, np.bool_))
    again = executed(wrapper, constant([1.0, 2.0], 1, 20000))
    assert abs(np.corrcoef(got[0, :, 0], again[0, :, 0])[0, 1]) < 0.03


def test_rate_limit_ramps():
    got = executed(bound(Actuator(rate_limit=[0.25, 0.0])), constant([1.0, 1.0], 6, 1))
    assert got[:, 0, 0].tolist() == [0.25, 0.5, 0.75, 1.0, 1.0, 1.0]
    assert (got[:, 0, 1] == 1.0).all()


def test_lag_is_a_first_order_filter():
    got = executed(bound(Actuator(lag=[0.05, 0.0], dt=0.02)), constant([1.0, 1.0], 10, 1))
    assert np.allclose(got[:, 0, 0], 1.0 - np.exp(-0.02 * np.arange(1, 11) / 0.05), rtol=1e-6)
    assert (got[:, 0, 1] == 1.0).all()


def test_lag_takes_the_environments_seconds_per_step():
    env = wrap(rlenvs.make("QuadHover-v0", control_hz=48), Actuator(lag=0.1))
    env.reset(seed=0)
    assert np.allclose(env.step(np.ones(4, np.float32))[-1]["action"], 1.0 - np.exp(-1.0 / 48 / 0.1))
    slow = wrap(rlenvs.make("QuadHover-v0", control_hz=48), ActionRepeat(3), Actuator(lag=0.1))
    assert slow.wrappers[1].seconds == pytest.approx(3 / 48)
    assert wrap(gymnasium.make("Pendulum-v1"), Actuator()).top.seconds == pytest.approx(0.05)
    assert wrap(gymnasium.make("MountainCarContinuous-v0"), Actuator()).top.seconds == pytest.approx(1 / 30)


def test_what_is_executed_saturates_before_the_memories():
    got = executed(bound(Actuator(rate_limit=0.5)), constant([9.0, -9.0], 6, 1))
    assert got[-1].tolist() == [[1.0, -1.0]]
    back = bound(Actuator(rate_limit=0.5))
    executed(back, constant(9.0, 6, 1))
    assert executed(back, constant(0.0, 2, 1))[:, 0, 0].tolist() == [0.5, 0.0]  # nothing was wound up


def test_the_probabilistic_rule_replaces_actions():
    got = executed(bound(Actuator(random=0.2), 4096), constant(0.5, 25, 4096))
    replaced = (got != 0.5).any(axis=2)
    assert np.mean(replaced) == pytest.approx(0.2, abs=0.005)
    drawn = got[replaced]
    assert drawn.std() == pytest.approx(1 / np.sqrt(3), rel=0.02)
    assert abs(drawn.mean()) < 0.02
    assert abs(np.corrcoef(drawn.T)[0, 1]) < 0.02


def test_the_noisy_rule_blends_actions():
    got = executed(bound(Actuator(blend=0.4), 4096), constant(0.5, 25, 4096)).astype(np.float64)
    noise = (got - 0.6 * 0.5) / 0.4
    assert np.abs(noise).max() <= 1.0 + 1e-6
    assert noise.std() == pytest.approx(1 / np.sqrt(3), rel=0.02)
    assert abs(noise.mean()) < 0.01
    assert np.allclose(executed(bound(Actuator(blend=0.0)), constant(0.5, 2, 1)), 0.5)


def test_choices():
    space = spaces.Discrete(5, start=3)
    actions = np.random.default_rng(0).integers(3, 8, (40, 3000))
    got = executed(bound(Actuator(delay=2), 3000, space), actions)
    assert got.dtype == np.int64
    assert np.array_equal(got[2:], actions[:-2])
    assert (got[:2] == 3).all()
    got = executed(bound(Actuator(random=0.5), 3000, space), np.full((40, 3000), 4))
    shares = [np.mean(got == choice) for choice in range(3, 8)]
    assert np.allclose(shares, [0.1, 0.6, 0.1, 0.1, 0.1], atol=0.01)
    assert (executed(bound(Actuator(delay=1, neutral=6), 2, space), actions[:, :2])[0] == 6).all()


def test_the_parts_work_in_the_order_of_a_drive():
    """Against the same pipeline in plain Python, with random parts off."""
    wrapper = Actuator(
        every=2,
        delay=1,
        dead_band=0.1,
        quantum=0.25,
        bias=0.2,
        scale=0.2,
        rate_limit=0.6,
        lag=0.1,
        dt=0.05,
        neutral=0.5,
    )
    wrapper = bound(wrapper, 3)
    actions = 1.5 * uniform(30, 3)
    got = executed(wrapper, actions)
    slewed = filtered = np.full((3, 2), 0.5)
    gain = 1.0 - np.exp(-0.05 / 0.1)
    for t in range(30):
        u = np.clip(actions[(t - 1) // 2 * 2], -1, 1).astype(float) if t >= 1 else np.full((3, 2), 0.5)
        u = np.where(np.abs(u) < 0.1, 0.0, u)
        u = 0.25 * np.round(u / 0.25) * wrapper.factor + wrapper.offset
        slewed = slewed + np.clip(np.clip(u, -1, 1) - slewed, -0.6, 0.6)
        filtered = filtered + gain * (slewed - filtered)
        assert np.allclose(got[t], filtered, atol=1e-6)


@given(
    numbers=st.fixed_dictionaries(
        {
            name: st.sampled_from([0.0, 0.3])
            for name in ("noise", "bias", "scale", "quantum", "dead_band", "blend", "random")
        }
    ),
    limit=st.sampled_from([0.0, 0.2]),
    lag=st.sampled_from([0.0, 0.1]),
    delay=st.sampled_from([0, 2, [0, 3]]),
    size=st.floats(0.1, 50.0),
)
@settings(max_examples=60, deadline=None)
def test_executed_actions_lie_in_the_space_and_keep_the_rate_limit(numbers, limit, lag, delay, size):
    wrapper = bound(Actuator(**numbers, rate_limit=limit, lag=lag, delay=delay, dt=0.05), 4)
    got = executed(wrapper, size * uniform(12, 4))
    assert got.dtype == np.float32
    if any((limit, lag, delay, *numbers.values())):
        assert (np.abs(got) <= 1.0).all()
    if limit:
        assert (np.abs(np.diff(got, axis=0, prepend=0.0)) <= limit + 1e-6).all()


def test_slots_outside_the_mask_keep_everything():
    wrapper = bound(EVERYTHING, 6, box(4))
    executed(wrapper, uniform(5, 6, 4))
    before = [_kept(wrapper, i) for i in range(6)]
    mask = np.array([True, False] * 3)
    wrapper.step(np.full((6, 4), np.float64(0.9)), mask)
    for i in range(6):
        assert bool(difference(before[i], _kept(wrapper, i))) == mask[i]
    wrapper.reset(mask)
    for i in (1, 3, 5):
        assert not difference(before[i], _kept(wrapper, i))


def _kept(wrapper, slot: int) -> dict:
    return {name: getattr(wrapper, name)[slot].copy() for name in wrapper.kept}


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        *[(name, -0.1) for name in ("noise", "bias", "scale", "lag", "rate_limit", "dead_band", "quantum")],
        *[(name, [0.1, 0.1]) for name in ("noise", "lag", "rate_limit", "neutral")],
        *[(name, 1.1) for name in ("hold", "random", "blend")],
        *[("delay", value) for value in (-1, 1.5, [3, 1], [1], [0, 1, 2], 30, True)],
        *[("every", 0), ("every", 1.5), ("neutral", 2.0), ("hold", [0.1] * 4), ("noise", float("nan")), ("noise", "x")],
    ],
)
def test_impossible_settings_are_refused(setting, value):
    with pytest.raises(ParameterError, match=f"Actuator: {setting}="):
        wrap(rlenvs.make("QuadHover-v0", horizon=30), Actuator(**{setting: value}))


def test_settings_that_do_not_fit_the_environment_are_refused():
    for setting in ("noise", "bias", "scale", "lag", "rate_limit", "dead_band", "quantum", "blend"):
        with pytest.raises(ParameterError, match=f"{setting}=.*are discrete"):
            wrap(rlenvs.make("DeepSeaTreasure-v0"), Actuator(**{setting: 0.1}))
    for neutral in (4, 0.5):
        with pytest.raises(ParameterError, match="neutral"):
            wrap(rlenvs.make("DeepSeaTreasure-v0"), Actuator(delay=1, neutral=neutral))
    with pytest.raises(ParameterError, match="finite bounds"):
        bound(Actuator(random=0.1), 1, spaces.Box(-np.inf, np.inf, (2,)))
    with pytest.raises(ParameterError, match="dt="):
        copy.deepcopy(Actuator(lag=0.1)).bind(Still(1, box(), fps=None), 0)
    with pytest.raises(ParameterError, match="Box or Discrete"):
        bound(Actuator(), 1, spaces.MultiDiscrete([2, 2]))


# --- on environments --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("id", "wrappers"),
    [
        ("QuadHover-v0", (EVERYTHING,)),
        ("QuadHover-v0", (ActionRepeat([1, 3]), Actuator(noise=0.1, delay=2), ActionCost(0.1, 0.2))),
        ("QuadHover-v0", (Actuator(noise=0.1), ActionSequence(3))),
        ("mo-SafePointGoal-v0", (Actuator(hold=0.25, lag=0.1), ActionRepeat(2))),
        ("DeepSeaTreasure-v0", (CHOICES, ActionRepeat(2))),
        ("ParticleSpread-v0", (CHOICES, ActionRepeat(2))),
        ("QuadMultiHover-v0", (EVERYTHING,)),
    ],
)
def test_forms_agree(id, wrappers):
    assert_forms_agree(id, *wrappers)


@pytest.mark.parametrize("id", ["Ant-v0", "PandaReach-v0"])
def test_forms_agree_with_mujoco(id):
    pytest.importorskip("mujoco")
    assert_forms_agree(id, Actuator(noise=0.1, delay=[0, 2], lag=0.05, hold=0.2), ActionRepeat(2), horizon=6, steps=8)


@pytest.mark.parametrize(
    ("id", "wrappers"),
    [
        ("QuadHover-v0", (EVERYTHING, ActionRepeat([1, 2]), ActionCost(0.01, 0.1))),
        pytest.param("DeepSeaTreasure-v0", (CHOICES, ActionRepeat(2)), marks=pytest.mark.slow),
        ("mo-QuadHover-v0", (Actuator(noise=0.1), ActionRepeat(3))),
        pytest.param("QuadMultiHover-v0", (ActionRepeat(2), ActionCost(0.01, 0.1)), marks=pytest.mark.slow),
    ],
)
def test_stacks_conform(id, wrappers):
    assert_conforms(id, *wrappers)


def test_agents_have_drives_of_their_own_and_the_first_is_that_of_the_single_form():
    wrapper = Actuator(noise=0.1, bias=0.1, delay=[0, 2], hold=0.2)
    parallel = wrap(rlenvs.parallel_env("QuadMultiHover-v0"), wrapper)
    single = wrap(rlenvs.make("QuadMultiHover-v0"), wrapper)
    parallel.reset(seed=3)
    single.reset(seed=3)
    rng, agents = np.random.default_rng(0), list(parallel.agents)
    alike = []
    for _ in range(8):
        action = rng.uniform(-1, 1, parallel.action_space(agents[0]).shape).astype(np.float32)
        infos = parallel.step(dict.fromkeys(agents, action))[-1]
        told = single.step(action)[-1]
        assert np.array_equal(infos[agents[0]]["action"], told["action"])
        assert np.array_equal(infos[agents[1]]["raw_action"], action)
        alike.append(np.array_equal(infos[agents[0]]["action"], infos[agents[1]]["action"]))
    assert not all(alike)


def test_agents_with_different_actions():
    env = wrap(rlenvs.parallel_env("ParticleSpeakerListener-v0"), Actuator(random=0.9, hold=0.2), ActionSequence(2))
    env.reset(seed=0)
    for agent in env.agents:
        env.action_space(agent).seed(0)
    seen = {agent: set() for agent in env.agents}
    for _ in range(12):
        _, _, _, _, infos = env.step({agent: env.action_space(agent).sample() for agent in env.agents})
        for agent, info in infos.items():
            seen[agent].add(info["action"])
            assert info["action"] < env.action_space(agent).nvec[0]
    assert all(len(choices) > 1 for choices in seen.values())


def test_stacked_actuators_tell_the_first_and_the_last_action():
    env = wrap(rlenvs.make("QuadHover-v0"), Actuator(quantum=0.5), Actuator(dead_band=0.3))
    env.reset(seed=0)
    info = env.step(np.array([0.2, 0.4, 0.8, -1.0], np.float32))[-1]
    assert np.allclose(info["raw_action"], [0.2, 0.4, 0.8, -1.0])
    assert info["action"].tolist() == [0.0, 0.5, 1.0, -1.0]


def test_snapshots_copies_and_recipes_go_on_alike():
    wrappers = EVERYTHING, ActionRepeat([1, 3]), ActionCost(0.1, 0.2)
    env = wrap(gymnasium.make(MADE).unwrapped, *wrappers)
    env.reset(seed=4)
    actions = 0.1 * uniform(12, 1, 4)[:, 0]
    for action in actions[:5]:
        env.step(action)
    others = [copy.deepcopy(env), pickle.loads(pickle.dumps(env)), wrap(rlenvs.make("QuadHover-v0"), *wrappers)]
    others[-1].set_state(pickle.loads(pickle.dumps(env.get_state())))
    expected = [env.step(action) for action in actions[5:]]
    for other in others:
        assert not difference(expected, [other.step(action) for action in actions[5:]])
    again = wrap(rlenvs.make("QuadHover-v0"), *json.loads(json.dumps(env.recipe)))
    assert again.recipe == env.recipe
    assert wrapper_from(env.recipe[0]) == EVERYTHING


def test_specs_make_the_same_environment():
    env = wrap(gymnasium.make(MADE), EVERYTHING, ActionSequence(2))
    again = gymnasium.make(env.spec)
    assert again.action_space == env.action_space
    action = np.full(8, 0.3, np.float32)
    assert not difference([env.reset(seed=2), env.step(action)], [again.reset(seed=2), again.step(action)])


# --- several steps ----------------------------------------------------------------------------------------------------


SUMMED = ("reward_hover", "reward_distance", "reward_effort", "cost", "cost_tilt", "cost_geofence", "reward_vector")


def test_action_repeat_sums_rewards_terms_and_costs():
    bare, env = rlenvs.make("QuadHover-v0", horizon=10), wrap(rlenvs.make("QuadHover-v0", horizon=10), ActionRepeat(4))
    bare.reset(seed=0)
    assert env.reset(seed=0)[1]["repeats"] == 0
    action = np.array([0.1, 0.2, -0.1, 0.05], np.float32)
    for made in (4, 4, 2):
        seen, reward, terminated, truncated, info = env.step(action)
        steps = [bare.step(action) for _ in range(made)]
        assert info["repeats"] == made
        assert reward == pytest.approx(sum(step[1] for step in steps))
        for key in SUMMED:
            assert np.allclose(info[key], np.sum([step[-1][key] for step in steps], axis=0))
        assert np.array_equal(seen, steps[-1][0])
        assert (terminated, truncated) == steps[-1][2:4]
    assert truncated


def test_costs_are_summed():
    bare, env = rlenvs.make("SafePointGoal-v0"), wrap(rlenvs.make("SafePointGoal-v0"), ActionRepeat(10))
    total = 0.0
    for seed in range(6):
        bare.reset(seed=seed)
        env.reset(seed=seed)
        for _ in range(15):
            action = np.array([1.0, 0.0], np.float32)
            info = env.step(action)[-1]
            costs = [bare.step(action)[-1]["cost"] for _ in range(10)]
            assert info["cost"] == info["cost_hazards"] == sum(costs)
            total += sum(costs)
    assert total > 10


def test_repeats_of_repeats():
    one, two = (
        wrap(rlenvs.make("QuadHover-v0"), *wrappers) for wrappers in ((ActionRepeat(6),), (ActionRepeat(2),) * 2)
    )
    three = wrap(rlenvs.make("QuadHover-v0"), ActionRepeat(3), Actuator(), ActionSequence(2))
    action = np.array([0.1, 0.2, -0.1, 0.05], np.float32)
    for env in (one, two, three):
        env.reset(seed=0)
    expected, info = one.step(action)[-1], three.step(np.tile(action, 2))[-1]
    for key in SUMMED:
        assert np.allclose(info[key], expected[key])
    assert info["repeats"] == 2
    assert np.allclose(two.step(action)[-1]["reward_hover"], 4 / 6 * expected["reward_hover"], rtol=0.1)


def test_one_repeat_changes_nothing():
    for id in ("QuadHover-v0", "mo-DeepSeaTreasure-v0"):
        for wrapper in (ActionRepeat(1), ActionSequence(1)):
            bare, env = rlenvs.make(id), wrap(rlenvs.make(id), wrapper)
            assert not difference(bare.reset(seed=1), _without(env.reset(seed=1)))
            for k in range(5):
                action = np.full(4, 0.02 * k, np.float32) if bare.unwrapped.batch.setup.continuous else 3
                plan = action if wrapper == ActionRepeat(1) or np.ndim(action) else np.array([action])
                assert not difference(bare.step(action), _without(env.step(plan)))


def test_slots_stop_by_themselves():
    vec = wrap(rlenvs.make_vec("QuadHover-v0", 64, autoreset_mode=AutoresetMode.DISABLED), ActionRepeat(240))
    vec.reset(seed=0)
    actions = np.random.default_rng(0).uniform(-1, 1, (64, 4)).astype(np.float32)
    _, _, terminated, truncated, infos = vec.step(actions)
    assert (terminated | truncated).all()
    assert len(set(infos["repeats"].tolist())) > 10  # ends at different times
    assert np.array_equal(vec.batch.states["elapsed"], infos["repeats"])


def test_drawn_repeats_are_uniform_and_seeded():
    wrapper = bound(ActionRepeat([2, 5]), 4096)
    made = []
    for _ in range(10):
        wrapper.step(np.zeros((4096, 2)), np.ones(4096, np.bool_))
        made.append(wrapper.repeats.copy())
    shares = [np.mean(np.array(made) == n) for n in (2, 3, 4, 5)]
    assert np.allclose(shares, 0.25, atol=0.01)
    assert np.array_equal(bound(ActionRepeat([2, 5]), 4096).key, bound(ActionRepeat([2, 5]), 4096).key)


def test_a_sequence_is_its_actions_one_after_the_other():
    bare, env = rlenvs.make("QuadHover-v0"), wrap(rlenvs.make("QuadHover-v0"), ActionSequence(3))
    assert env.action_space == spaces.Box(-1.0, 1.0, (12,), np.float32)
    bare.reset(seed=0)
    env.reset(seed=0)
    for plan in uniform(4, 1, 12)[:, 0]:
        seen, reward, _, _, info = env.step(plan)
        steps = [bare.step(plan[4 * k : 4 * k + 4]) for k in range(3)]
        assert np.array_equal(seen, steps[-1][0])
        assert reward == pytest.approx(sum(step[1] for step in steps))
        assert info["repeats"] == 3


def test_sequences_of_choices():
    bare, env = rlenvs.make("DeepSeaTreasure-v0"), wrap(rlenvs.make("DeepSeaTreasure-v0"), ActionSequence(3))
    assert env.action_space == spaces.MultiDiscrete([4, 4, 4])
    env.reset(seed=0)
    bare.reset(seed=0)
    steps = [bare.step(action) for action in (3, 3, 1)]
    seen, reward, terminated, _, info = env.step(np.array([3, 3, 1]))
    assert np.array_equal(seen, steps[-1][0])
    assert (reward, terminated, info["repeats"]) == (pytest.approx(sum(step[1] for step in steps)), False, 3)
    vec = wrap(rlenvs.make_vec("DeepSeaTreasure-v0", 2), ActionSequence(3))
    vec.reset(seed=0)
    slots = vec.step(np.array([[3, 3, 1], [1, 3, 3]]))
    assert np.array_equal(slots[0][0], seen)
    assert slots[1].tolist() == [reward, pytest.approx(0.7 - 0.1)]
    assert slots[-1]["repeats"].tolist() == [3, 1]
    state = env.get_state()
    with pytest.raises(ActionError, match="is not in MultiDiscrete"):
        env.step(np.array([3, 3, 4]))
    assert not difference(state, env.get_state())


def test_vectors_of_rewards_stay_within_their_space():
    env = wrap(rlenvs.make("mo-DeepSeaTreasure-v0"), ActionRepeat(3))
    env.reset(seed=0)
    assert env.reward_space.low.tolist() == [0.0, -3.0]
    assert env.reward_space.contains(env.step(3)[1])
    assert env.step(3)[1].tolist() == [0.0, -3.0]
    team = wrap(rlenvs.parallel_env("ParticleSpread-v0", vector_reward=True), ActionRepeat(2))
    team.reset(seed=0)
    rewards = team.step(dict.fromkeys(team.agents, 0))[1]
    assert {(reward.shape, reward.dtype) for reward in rewards.values()} == {((2,), np.dtype(np.float32))}


def test_other_packages_environments():
    bare, env = gymnasium.make("Pendulum-v1"), wrap(gymnasium.make("Pendulum-v1"), ActionRepeat(5), Actuator(delay=1))
    bare.reset(seed=0)
    env.reset(seed=0)
    _, reward, _, _, info = env.step(np.array([1.0], np.float32))
    assert reward == pytest.approx(sum(bare.step(np.zeros(1, np.float32))[1] for _ in range(5)))
    assert info["action"].tolist() == [0.0]


def test_terms_in_the_info_of_other_packages_are_summed():
    env = wrap(Walker(), ActionRepeat(3))
    for _ in range(2):
        assert set(env.reset(seed=0)[1]) == {"place", "repeats"}
        info = env.step(np.array([0.5]))[-1]
        assert info == {"place": 3, "cost": 6, "reward_ctrl": 3 * -0.25, "cost_text": "none", "repeats": 3}


@pytest.mark.parametrize("steps", [0, -1, 1.5, True, [2, 1], [1, 2, 3], [0, 2]])
def test_impossible_repeats_are_refused(steps):
    with pytest.raises(ParameterError, match="ActionRepeat: steps="):
        wrap(rlenvs.make("QuadHover-v0"), ActionRepeat(steps))
    with pytest.raises(ParameterError, match="ActionSequence: steps="):
        wrap(rlenvs.make("QuadHover-v0"), ActionSequence(steps))


# --- costs ------------------------------------------------------------------------------------------------------------


def test_action_cost_charges_size_and_change():
    bare, env = rlenvs.make("QuadHover-v0"), wrap(rlenvs.make("QuadHover-v0"), ActionCost(0.5, 0.25))
    bare.reset(seed=0)
    assert env.reset(seed=0)[1]["continuity_cost"] == 0.0
    before = None
    for action in uniform(5, 1, 4)[:, 0]:
        change = np.zeros(4) if before is None else action.astype(float) - before
        _, reward, _, _, info = env.step(action)
        cost = 0.5 * np.sum(action.astype(float) ** 2) + 0.25 * np.sum(change**2)
        assert info["action_cost"] == pytest.approx(cost)
        assert reward == pytest.approx(bare.step(action)[1] - cost)
        assert info["continuity_cost"] == pytest.approx(100 * np.mean((change / 2.0) ** 2))
        before = action


def test_a_measure_alone_leaves_the_reward():
    bare, env = rlenvs.make("mo-QuadHover-v0"), wrap(rlenvs.make("mo-QuadHover-v0"), ActionCost())
    bare.reset(seed=0)
    env.reset(seed=0)
    for action in uniform(5, 1, 4)[:, 0]:
        assert np.array_equal(bare.step(action)[1], env.step(action)[1])


def test_impossible_costs_are_refused():
    for setting in ("magnitude", "change"):
        with pytest.raises(ParameterError, match=f"ActionCost: {setting}="):
            wrap(rlenvs.make("QuadHover-v0"), ActionCost(**{setting: -1.0}))
        with pytest.raises(ParameterError, match="scalarization"):
            wrap(rlenvs.make("mo-QuadHover-v0"), ActionCost(**{setting: 1.0}))
    with pytest.raises(ParameterError, match="finite bounds"):
        wrap(rlenvs.make("DeepSeaTreasure-v0"), ActionCost())
