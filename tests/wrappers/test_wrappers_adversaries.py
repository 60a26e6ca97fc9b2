"""Adversaries of observations, actions, forces and parameters."""

from __future__ import annotations

import copy
import pickle

import gymnasium
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pettingzoo.test import parallel_api_test
from support.wrapper_helpers import HOVER, QUAD, assert_conforms, assert_forms_agree, hover

import rlenvs
from rlenvs.core.check.playing import Player, difference
from rlenvs.core.declare.errors import ParameterError
from rlenvs.wrappers.adversary import ActionAdversary, ForceAdversary, ObservationAdversary, ParameterAdversary
from rlenvs.wrappers.adversary_moves import project_ball, project_box, quantal_choice
from rlenvs.wrappers.forms import wrap
from rlenvs.wrappers.robustness import AdversarialAgents, DomainRandomization


def ran(env, steps, seed=0, zero=False):
    """Info arrays by key, (steps + 1, slots, ...), of an environment with random actions."""
    rng = np.random.default_rng(seed)
    infos = [env.reset(seed=seed)[1]]
    shape = env.action_space.shape
    for _ in range(steps):
        action = np.zeros(shape) if zero else rng.uniform(-1.0, 1.0, shape)
        infos.append(env.step(action.astype(np.float32))[-1])
    return {key: np.array([info[key] for info in infos]) for key in infos[0] if not key.startswith("_")}


# --- projections ------------------------------------------------------------------------------------------------------

ONE = np.ones(1, np.bool_)
NUMBERS = st.lists(st.floats(-1.0, 1.0, allow_subnormal=False), min_size=6, max_size=6)


def dykstra(x, c, radius, reach):
    """Projection on the intersection of two balls, by Dykstra's algorithm."""

    def into(y, middle, r):
        length = np.linalg.norm(y - middle)
        return y if length <= r else middle + (y - middle) * (r / length)

    a, b = np.zeros_like(x), np.zeros_like(x)
    for _ in range(1000):
        y = into(x + a, 0.0, radius)
        a = x + a - y
        z = into(y + b, c, reach)
        b = y + b - z
        if np.abs(z - x).max() < 1e-13:
            break
        x = z
    return x


def test_the_ball_projection_is_exact():
    rng, cases = np.random.default_rng(0), [0, 0, 0, 0]
    for _ in range(400):
        radius, reach = rng.uniform(0.5, 2.0), rng.uniform(0.05, 2.0)
        move, last = rng.uniform(-1.0, 1.0, (1, 3)), rng.normal(size=(1, 3))
        last *= radius * rng.choice([1.0, rng.random()]) / np.linalg.norm(last)
        p = last.copy()
        project_ball(ONE, ONE, move, radius, reach, p)
        np.testing.assert_allclose(p[0], dykstra(radius * move[0], last[0], radius, reach), atol=1e-4 * radius)
        on_outer = abs(np.linalg.norm(p) - radius) < 1e-9
        on_inner = abs(np.linalg.norm(p - last) - reach) < 1e-9
        cases[2 * on_outer + on_inner] += 1
    assert min(cases) > 5, cases  # inside, on either sphere, and where they meet


@given(NUMBERS, NUMBERS, st.floats(0.0, 2.0), st.floats(0.0, 4.5))
def test_the_ball_projection_keeps_both_bounds(u, c, radius, reach):
    move, last = np.array([u]), np.array([c]) * radius / np.sqrt(6.0)
    p = last.copy()
    project_ball(ONE, ONE, move, radius, reach, p)
    assert np.isfinite(p).all()
    assert np.linalg.norm(p) <= radius * (1.0 + 1e-9) + 1e-150  # squares of what is smaller lose digits
    assert np.linalg.norm(p - last) <= reach * (1.0 + 1e-9) + 1e-15


@given(NUMBERS, NUMBERS, st.floats(0.0, 2.0), st.floats(0.0, 4.5))
def test_the_box_projection_is_clipping(u, c, radius, reach):
    move, last = np.array([u]), np.array([c]) * radius
    p = last.copy()
    project_box(ONE, ONE, move, np.full(6, radius), np.full(6, reach), p)
    assert (p == np.clip(radius * move, np.maximum(-radius, last - reach), np.minimum(radius, last + reach))).all()
    free = last.copy()
    project_box(ONE, ~ONE, move, np.full(6, radius), np.full(6, reach), free)
    assert (free == radius * move).all()


# --- observations -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", ["random", "walk"])
@pytest.mark.parametrize("norm", ["linf", "l2"])
def test_state_perturbations_keep_both_bounds(norm, policy):
    env = hover(
        ObservationAdversary(0.2, coupling=0.03, norm=norm, policy=policy), autoreset_mode="NEXT_STEP", horizon=9
    )
    told = ran(env, 30)
    p = told["perturbation"]
    size = np.abs(p).max(axis=2) if norm == "linf" else np.linalg.norm(p, axis=2)
    change = np.diff(p, axis=0)
    change = np.abs(change).max(axis=2) if norm == "linf" else np.linalg.norm(change, axis=2)
    assert size.max() <= 0.2 * (1.0 + 1e-9)
    begun = (np.arange(1, 31) % 10) == 0  # the tenth call begins the next episode
    assert change[~begun].max() <= 0.03 * (1.0 + 1e-9)
    if policy == "random":
        assert change[~begun].max() > 0.0299
        assert change[begun].mean() > 0.04  # the first one of an episode is not coupled


@pytest.mark.parametrize("norm", ["linf", "l2"])
def test_coupling_of_twice_the_bound_is_none(norm):
    runs = []
    for coupling in (None, 0.2, 0.5):
        player = Player(hover(ObservationAdversary(0.1, coupling=coupling, norm=norm), count=16, horizon=9), seed=1)
        runs.append(player.play(30))
    assert not difference(runs[0], runs[1])
    assert not difference(runs[0], runs[2])
    tight = Player(hover(ObservationAdversary(0.1, coupling=0.15, norm=norm), count=16, horizon=9), seed=1).play(30)
    assert difference(runs[0], tight)


@pytest.mark.parametrize(
    "wrapper", [ObservationAdversary(0.0), ObservationAdversary(0.0, norm="l2", coupling=0.0), ActionAdversary(eps=0.0)]
)
def test_no_magnitude_is_the_identity(wrapper):
    assert_identity(wrapper, HOVER)


@pytest.mark.parametrize(
    "wrapper",
    [ActionAdversary(weight=0.0), ActionAdversary(probability=0.0), ParameterAdversary(QUAD, rate=0.0)],
)
def test_no_share_is_the_identity(wrapper):
    assert_identity(wrapper, HOVER)


def assert_identity(wrapper, id):
    plain, wrapped = rlenvs.make_vec(id, 8, horizon=9), wrap(rlenvs.make_vec(id, 8, horizon=9), wrapper)
    for (a, *one, _), (b, *other, _) in zip(Player(plain).play(20)[1:], Player(wrapped).play(20)[1:], strict=True):
        assert a.tobytes() == b.tobytes()
        assert not difference(one, other)


def test_what_the_agent_sees_is_the_truth_and_the_perturbation():
    env = hover(ObservationAdversary(0.3), count=8)
    seen, info = env.reset(seed=0)
    for _ in range(10):
        expected = np.clip(info["true_obs"] + info["perturbation"], -1.0, 1.0).astype(np.float32)
        np.testing.assert_allclose(seen, expected, atol=1e-7)
        assert (seen != info["true_obs"]).mean() > 0.9
        plain = env.batch.observations[:, 0]
        assert (plain == info["true_obs"]).all()
        seen, *_, info = env.step(np.zeros((8, 4), np.float32))


def test_channels_of_a_state_adversary():
    env = hover(ObservationAdversary(eps=[0.1, 0.0, 0.3], channels=["[2]", "[0:2]"]), count=8)
    seen, info = env.reset(seed=0)
    off = seen - info["true_obs"]
    assert info["perturbation"].shape == (8, 3)
    assert (off[:, 3:] == 0.0).all()
    assert (off[:, 0] == 0.0).all()  # the second of the three
    clear = np.abs(info["true_obs"][:, [1, 2]]) < 0.6
    np.testing.assert_allclose(off[:, 2][clear[:, 1]], info["perturbation"][:, 0][clear[:, 1]], atol=1e-7)
    np.testing.assert_allclose(off[:, 1][clear[:, 0]], info["perturbation"][:, 2][clear[:, 0]], atol=1e-7)


def test_random_moves_are_uniform_and_white():
    p = ran(hover(ObservationAdversary(0.5), count=2048, horizon=1000), 30, zero=True)["perturbation"]
    assert np.abs(p.mean(axis=(0, 1))).max() < 0.004  # 3.5 standard deviations
    np.testing.assert_allclose(p.std(axis=(0, 1)), 0.5 / np.sqrt(3.0), rtol=0.02)
    assert abs((p[1:] * p[:-1]).mean()) < 0.001
    flat = p.reshape(-1, p.shape[2])
    off = np.corrcoef(flat.T) - np.eye(p.shape[2])
    assert np.abs(off).max() < 0.03
    counts, _ = np.histogram(p, bins=10, range=(-0.5, 0.5))
    np.testing.assert_allclose(counts / p.size, 0.1, rtol=0.02)


def test_a_walk_is_one():
    p = ran(hover(ObservationAdversary(10.0, coupling=0.1, policy="walk"), count=256, horizon=1000), 50, zero=True)[
        "perturbation"
    ]
    steps = np.diff(p, axis=0)
    assert np.abs(p[0]).max() <= 0.1
    np.testing.assert_allclose(steps.std(), 0.1 / np.sqrt(3.0), rtol=0.01)
    np.testing.assert_allclose(p[50].var(), 51 * 0.01 / 3.0, rtol=0.1)
    free = ran(hover(ObservationAdversary(10.0, policy="walk"), count=64, horizon=1000), 5, zero=True)["perturbation"]
    assert 1.9 < np.abs(np.diff(free, axis=0)).max() <= 2.0  # eps / 5


def test_perturbations_do_not_depend_on_the_policy():
    wrapper = ObservationAdversary(0.1, coupling=0.02)
    idle, busy = (ran(hover(wrapper, count=4, horizon=9), 9, zero=zero)["perturbation"] for zero in (True, False))
    assert (idle == busy).all()


# --- policies of adversaries ------------------------------------------------------------------------------------------

SLOPE = np.linspace(-1.0, 1.3, 15)


def slope(observation):
    """Of the value SLOPE @ observation."""
    return np.broadcast_to(SLOPE, observation.shape)


def bowl(observation):
    """The slope of the value |observation|^2 / 2."""
    return observation


def upwards(observation, perturbation):
    return np.full(perturbation.shape, 5.0) - perturbation


def costly(observation):
    """Values of three moves; the second is the worst for the agent."""
    return np.tile([1.0, -0.5, 0.25], (len(observation), 1))


def broken(observation, perturbation=None):
    return np.full((len(observation), 2), np.nan)


HERE = "test_wrappers_adversaries"
CORNERS = [[1.0] * 4, [-1.0] * 4, [0.0] * 4]
QUANTAL = {"name": "quantal", "moves": CORNERS, "values": f"{HERE}:costly", "beta": 0.5}


def test_gradient_steps_go_down_the_slope():
    for norm, expected in (("linf", -0.1 * np.sign(SLOPE)), ("l2", -0.1 * SLOPE / np.linalg.norm(SLOPE))):
        for steps in (1, 7):
            policy = {"name": "gradient", "function": f"{HERE}:slope", "steps": steps}
            p = ran(hover(ObservationAdversary(0.1, norm=norm, policy=policy), count=3), 2)["perturbation"]
            np.testing.assert_allclose(p, np.broadcast_to(expected, p.shape), rtol=1e-9)
            coupled = ObservationAdversary(0.1, coupling=0.01, norm=norm, policy=policy)
            q = ran(hover(coupled, count=3), 2)["perturbation"]
            np.testing.assert_allclose(q[0], p[0])


def test_projected_gradient_descent_sees_where_it_is():
    """Of a bowl, descent from a nearby point stops at the bottom, which one step of full length jumps over."""
    values = {}
    for steps in (1, 20):
        policy = {"name": "gradient", "function": f"{HERE}:bowl", "steps": steps}
        told = (
            ran(hover(ObservationAdversary(0.5, policy=policy, channels="[0:3]"), count=16), 0) if steps < 0 else None
        )
        wrapper = ObservationAdversary(0.5, policy=policy)
        told = ran(hover(wrapper, count=16), 1)
        values[steps] = ((told["true_obs"] + told["perturbation"]) ** 2).sum(axis=2).mean()
    assert values[20] < 0.5 * values[1]


def test_functions_move():
    p = ran(hover(ObservationAdversary(0.1, policy=f"{HERE}:upwards"), count=3), 3)["perturbation"]
    assert (p == 0.1).all()
    p = ran(hover(ObservationAdversary(0.1, policy=upwards, coupling=0.04), count=3), 3)["perturbation"]
    np.testing.assert_allclose(p[:, 0, 0], 0.1)
    with pytest.raises(ParameterError, match="finite numbers"):
        hover(ObservationAdversary(0.1, policy=broken)).reset(seed=0)


def test_quantal_adversaries_are_softmax():
    values, uniform = costly(np.zeros((200000, 1))), (np.arange(200000) + 0.5) / 200000
    for beta in (0.3, 1.0, 5.0):
        found = np.bincount(quantal_choice(values, beta, uniform), minlength=3) / 200000
        weights = np.exp(-values[0] / beta)
        np.testing.assert_allclose(found, weights / weights.sum(), atol=1e-5)
    assert (quantal_choice(values, 0.0, uniform) == 1).all()
    assert (quantal_choice(values, 1e-300, uniform) == 1).all()
    np.testing.assert_allclose(np.bincount(quantal_choice(values, np.inf, uniform)) / 200000, 1.0 / 3.0, atol=1e-5)


def test_a_quantal_policy_draws_its_moves():
    told = ran(hover(ActionAdversary(eps=0.5, policy=QUANTAL), count=512, horizon=1000), 20, zero=True)
    p = told["action_perturbation"][1:]
    weights = np.exp(-np.array([1.0, -0.5, 0.25]) / 0.5)
    for move, share in zip(CORNERS, weights / weights.sum(), strict=True):
        assert (p == 0.5 * np.array(move)).all(axis=2).mean() == pytest.approx(share, abs=0.015)
    drawn = p[..., 0]
    assert abs(np.corrcoef(drawn[1:].ravel(), drawn[:-1].ravel())[0, 1]) < 0.03


@pytest.mark.parametrize(
    "wrapper",
    [
        ObservationAdversary(0.1, policy={"name": "gradient", "function": f"{HERE}:bowl", "steps": 3}, coupling=0.05),
        ActionAdversary(weight=0.3, policy=QUANTAL, coupling=0.5),
        ObservationAdversary(0.1, policy=f"{HERE}:upwards", norm="l2", coupling=0.01),
    ],
)
def test_copies_in_mid_episode_go_on_alike(wrapper):
    env = wrap(rlenvs.make(HOVER, horizon=9), wrapper)
    player = Player(env, seed=4)
    player.play(5)
    others = [copy.deepcopy(player), pickle.loads(pickle.dumps(player))]
    state = env.get_state()
    record = player.play(12)
    for other in others:
        assert not difference(record, other.play(12))
    env.set_state(pickle.loads(pickle.dumps(state)))
    again = [env.step(np.full(4, 0.1, np.float32)) for _ in range(3)]
    env.set_state(state)
    assert not difference(again, [env.step(np.full(4, 0.1, np.float32)) for _ in range(3)])
    made = gymnasium.make(wrap(rlenvs.make(HOVER), wrapper).spec)
    spec = wrap(rlenvs.make(HOVER), wrapper).spec
    assert not difference(
        Player(made, 2).play(4), Player(gymnasium.make(type(spec).from_json(spec.to_json())), 2).play(4)
    )


@pytest.mark.parametrize(
    ("wrapper", "message"),
    [
        (ObservationAdversary(-0.1), "eps=-0.1"),
        (ObservationAdversary("much"), "eps='much' is not a number"),
        (ObservationAdversary([0.1, 0.2]), r"eps=\[0.1, 0.2\] must be one number, or 15"),
        (ObservationAdversary(0.1, coupling=-1.0), "coupling=-1"),
        (ObservationAdversary(0.1, norm="l1"), "norm='l1'"),
        (ObservationAdversary([0.1] * 15, norm="l2"), "norm='l2' requires one number"),
        (ObservationAdversary(0.1, channels="altitude"), "no channel 'altitude'"),
        (ObservationAdversary(0.1, policy="greedy"), "policy='greedy' must be one of"),
        (ObservationAdversary(0.1, policy={"name": "greedy"}), "is none of"),
        (ObservationAdversary(0.1, policy={"name": "gradient"}), "'function'"),
        (ObservationAdversary(0.1, policy={"name": "gradient", "function": slope, "steps": 0}), "steps=0"),
        (ObservationAdversary(0.1, policy=f"{HERE}:nothing"), "cannot import"),
        (ActionAdversary(), "eps=None is missing"),
        (ActionAdversary(weight=0.1, probability=0.1), "exclude each other"),
        (ActionAdversary(weight=1.1), "weight=1.1"),
        (ActionAdversary(probability=-0.1), "probability=-0.1"),
        (ActionAdversary(weight=0.1, eps=2.0), "eps=2.0"),
        (ActionAdversary(eps=0.1, policy={"name": "gradient", "function": slope}), "only for perturbed observations"),
        (ActionAdversary(eps=0.1, policy={**QUANTAL, "moves": [[2.0] * 4]}), r"in \[-1, 1\]"),
        (ActionAdversary(eps=0.1, policy={**QUANTAL, "beta": -1.0}), "beta=-1"),
        (ActionAdversary(eps=0.1, policy={**QUANTAL, "values": None}), "'values'"),
        (ParameterAdversary(QUAD, rate=-0.1), "rate=-0.1"),
        (ParameterAdversary(QUAD, rate={"mass": 0.1}), "an entry for each"),
        (ParameterAdversary({"mass": (0.03, 0.04)}), "nominal value"),
        (ForceAdversary(), "simulated by MuJoCo"),
        (AdversarialAgents(), "parallel multi-agent environment"),
    ],
)
def test_impossible_settings_are_refused(wrapper, message):
    with pytest.raises(ParameterError, match=message):
        hover(wrapper, count=2)


# --- actions ----------------------------------------------------------------------------------------------------------


def test_an_added_perturbation():
    told = ran(hover(ActionAdversary(eps=0.3, coupling=0.05), count=64, horizon=1000), 20)
    raw, action, p = told["raw_action"][1:], told["action"][1:], told["action_perturbation"][1:]
    np.testing.assert_allclose(action, np.clip(raw + p, -1.0, 1.0), atol=1e-7)
    assert np.abs(p).max() <= 0.3
    assert np.abs(p).max() > 0.25
    assert np.abs(np.diff(p, axis=0)).max() <= 0.05 + 1e-12


def test_the_noisy_action_rule():
    env = hover(ActionAdversary(weight=0.15), count=64, horizon=1000)
    told = ran(env, 20)
    raw, action, p = told["raw_action"][1:], told["action"][1:], told["action_perturbation"][1:]
    np.testing.assert_allclose(action, 0.85 * raw + 0.15 * p, atol=1e-7)
    assert (env.batch.actions[:, 0] == action[-1]).all()
    pendulum = wrap(gymnasium.make("Pendulum-v1"), ActionAdversary(weight=0.5, policy=upwards))
    pendulum.reset(seed=0)
    *_, info = pendulum.step(np.array([1.0], np.float32))
    assert info["action"] == pytest.approx([0.5 * 1.0 + 0.5 * 2.0])  # p = 1 is the upper end, 2 N m


def test_the_probabilistic_rule():
    told = ran(hover(ActionAdversary(probability=0.3), count=512, horizon=1000), 40)
    raw, action, p, acted = (told[k][1:] for k in ("raw_action", "action", "action_perturbation", "adversary_acted"))
    assert acted.mean() == pytest.approx(0.3, abs=0.01)
    assert abs(np.corrcoef(acted[1:].ravel(), acted[:-1].ravel())[0, 1]) < 0.02
    np.testing.assert_allclose(action[acted], p[acted], atol=1e-7)
    assert (action[~acted] == raw[~acted]).all()


def test_the_probabilistic_rule_of_choices():
    env = wrap(rlenvs.make_vec("DeepSeaTreasure-v0", 256, horizon=40), ActionAdversary(probability=0.5))
    env.reset(seed=0)
    actions, acts, counts = np.zeros(256, np.int64), [], np.zeros(4)
    for _ in range(30):
        played = ~env.batch.over  # the others begin an episode
        info = env.step(actions)[-1]
        acts.append(info["adversary_acted"][played].mean())
        counts += np.bincount(info["action"][info["adversary_acted"]], minlength=4)
        assert (info["action"][~info["adversary_acted"]] == 0).all()
    assert np.mean(acts) == pytest.approx(0.5, abs=0.03)
    np.testing.assert_allclose(counts / counts.sum(), 0.25, atol=0.02)
    with pytest.raises(ParameterError, match="with `probability`, choices"):
        wrap(rlenvs.make("DeepSeaTreasure-v0"), ActionAdversary(weight=0.5))


# --- forces -----------------------------------------------------------------------------------------------------------


def test_forces_act_on_the_bodies(mujoco):
    wrapper = ForceAdversary(policy=upwards, axes="xy")  # 3 N everywhere
    env = wrap(rlenvs.make_vec("HalfCheetah-v0", 2), wrapper)
    plain = rlenvs.make_vec("HalfCheetah-v0", 2)
    env.reset(seed=0)
    plain.reset(seed=0)
    before = env.batch.states["qvel"].copy()
    info = env.step(np.zeros((2, 6)))[-1]
    plain.step(np.zeros((2, 6)))
    assert (info["force"] == 3.0).all()
    assert info["force"].shape == (2, 6)
    model = env.batch.engine.model
    applied = env.batch.states["xfrc_applied"]
    ids = [model.body(name).id for name in ("torso", "bfoot", "ffoot")]
    assert (applied[:, ids, :2] == 3.0).all()
    assert applied.sum() == pytest.approx(2 * 6 * 3.0)
    # 9 N along x for 0.05 s: momentum of 0.45 N s more than without, contacts apart
    momentum = (env.batch.states["qvel"][:, 0] - plain.batch.states["qvel"][:, 0]) * 14.0
    assert (momentum > 0.2).all()
    assert np.isfinite(before).all()
    env.reset(seed=0)
    assert (env.batch.states["xfrc_applied"] == 0.0).all()


def test_forces_along_y_do_nothing_to_the_planar_cheetah(mujoco):
    pushed = Player(wrap(rlenvs.make("HalfCheetah-v0"), ForceAdversary(axes="y")), 1).play(10)
    alone = Player(rlenvs.make("HalfCheetah-v0"), 1).play(10)
    np.testing.assert_allclose(pushed[-1][0], alone[-1][0], atol=1e-4)
    for axes, zero in (("xz", False), ("x", False), ("x", True)):
        wrapper = ForceAdversary(axes=axes, limit=0.0 if zero else 3.0)
        record = Player(wrap(rlenvs.make("HalfCheetah-v0"), wrapper), 1).play(10)
        assert bool((record[-1][0] == alone[-1][0]).all()) == zero


def test_force_settings(mujoco):
    ant = wrap(rlenvs.make("Ant-v0"), ForceAdversary())
    assert ant.reset(seed=0)[1]["force"].shape == (6,)
    hopper = wrap(rlenvs.make("Hopper-v0"), ForceAdversary(policy=upwards))
    hopper.step(hopper.reset(seed=0)[0][:3] * 0.0)
    applied = hopper.unwrapped.batch.states["xfrc_applied"][0]
    assert [tuple(where) for where in np.argwhere(applied)] == [(4, 0), (4, 2)]  # the foot, along x and z
    for wrapper, message in (
        (ForceAdversary(bodies=["toso"]), "torso"),
        (ForceAdversary(axes="xx"), "axes"),
        (ForceAdversary(axes="w"), "axes"),
        (ForceAdversary(limit=-1.0), "limit"),
    ):
        with pytest.raises(ParameterError, match=message):
            wrap(rlenvs.make("Ant-v0"), wrapper)
    with pytest.raises(ParameterError, match="must name some"):
        wrap(rlenvs.make("PandaReach-v0"), ForceAdversary())


# --- parameters that move ---------------------------------------------------------------------------------------------


def test_parameters_move_with_bounded_speed_from_the_nominal_ones():
    for rate, most in ((0.05, [0.05 * 0.02, 0.05 * 3.0]), ({"mass": 0.002, "gravity": 0.1}, [0.002, 0.1])):
        env = hover(ParameterAdversary(QUAD, rate=rate), count=64, horizon=9)
        values = ran(env, 30)["parameters"]
        assert (values >= [0.02, 8.0]).all()
        assert (values <= [0.04, 11.0]).all()
        begun = np.arange(31) % 10 == 0
        assert (values[begun] == [0.027, 9.8]).all()
        change = np.abs(np.diff(values, axis=0))[~begun[1:]].max(axis=(0, 1))
        np.testing.assert_allclose(change, most, rtol=1e-6)
        assert (env.batch.param_rows["mass"] == values[-1][:, 0]).all()


def test_without_a_rate_parameters_are_anywhere_in_the_set():
    values = ran(hover(ParameterAdversary(QUAD), count=512, horizon=1000), 20)["parameters"][1:]
    unit = (values - [0.02, 8.0]) / [0.02, 3.0]
    np.testing.assert_allclose(unit.mean(axis=(0, 1)), 0.5, atol=0.01)
    np.testing.assert_allclose(unit.std(axis=(0, 1)), np.sqrt(1.0 / 12.0), atol=0.005)
    corner = ran(hover(ParameterAdversary(QUAD, policy=upwards), count=2), 2)["parameters"]
    assert (corner[1:] == [0.04, 11.0]).all()


# --- all forms --------------------------------------------------------------------------------------------------------

WRAPPERS = {
    "state": ObservationAdversary(0.1, coupling=0.02, policy="walk"),
    "state, l2": ObservationAdversary(0.1, norm="l2", coupling=0.05, channels=["position", "[-1]"]),
    "state, gradient": ObservationAdversary(0.1, policy={"name": "gradient", "function": f"{HERE}:slope"}),
    "added": ActionAdversary(eps=0.2, coupling=0.1),
    "mixed": ActionAdversary(weight=0.15, policy=QUANTAL),
    "switched": ActionAdversary(probability=0.3, norm="l2"),
    "moving": ParameterAdversary(QUAD, rate=0.05),
    "drawn": DomainRandomization({"mass": (0.02, 0.04), "start_height": (0.5, 0.7)}),
}


@pytest.mark.parametrize("name", WRAPPERS)
def test_forms_agree(name):
    wrapper = WRAPPERS[name]
    if name == "state, l2":
        wrapper = ObservationAdversary(0.1, norm="l2", coupling=0.05, channels=["[0:2]", "[-1]"])
    assert_forms_agree(HOVER, wrapper)


def test_forms_of_mixed_attacks_agree():
    assert_forms_agree(
        HOVER,
        DomainRandomization({"arm": (0.03, 0.05)}),
        ParameterAdversary(QUAD, rate={"mass": 0.001, "gravity": 0.1}),
        ActionAdversary(eps=0.1),
        ObservationAdversary(0.1),
    )


def test_forms_agree_in_other_worlds():
    assert_forms_agree("DeepSeaTreasure-v0", ActionAdversary(probability=0.3))
    assert_forms_agree(
        "SafePointGoal-v0", ObservationAdversary(0.1, coupling=0.02), ActionAdversary(weight=0.2), steps=15
    )


def test_forms_agree_with_mujoco(mujoco):
    assert_forms_agree("HalfCheetah-v0", ForceAdversary(coupling=0.5), steps=14)
    assert_forms_agree("Ant-v0", DomainRandomization("rrls-ant-1"), horizon=4, steps=6)


@pytest.mark.parametrize("name", ["state", "switched", "moving", "drawn"])
def test_conformance(name):
    assert_conforms(HOVER, WRAPPERS[name])


@pytest.mark.parametrize(
    ("id", "wrapper"),
    [
        ("ParticleSpread-v0", ObservationAdversary(0.1, coupling=0.05)),
        ("ParticleSpread-v0", ActionAdversary(probability=0.2)),
        ("QuadMultiHover-v0", ActionAdversary(eps=0.1)),
        ("QuadMultiHover-v0", ParameterAdversary({"mass": (0.02, 0.027, 0.04)}, rate=0.1)),
    ],
)
@pytest.mark.filterwarnings("ignore:.*reset ignores")
def test_parallel_forms(id, wrapper):
    env = wrap(rlenvs.parallel_env(id), wrapper)
    parallel_api_test(env, 30)
    record = Player(env, 3).play(10)
    again = pickle.loads(pickle.dumps(wrap(rlenvs.parallel_env(id), wrapper)))
    assert not difference(record, Player(again, 3).play(10))
    # the first agent's numbers are those of the single form
    first, single = env.possible_agents[0], wrap(rlenvs.make(id, others="idle"), wrapper)
    key = next(key for key in ("perturbation", "action_perturbation", "parameters") if key in single.reset(seed=3)[1])
    infos, info = env.reset(seed=3)[1], single.reset(seed=3)[1]
    for _ in range(4):
        assert (infos[first][key] == info[key]).all()
        infos = env.step({agent: 0 * env.action_space(agent).sample() for agent in env.agents})[-1]
        info = single.step(0 * single.action_space.sample())[-1]
