"""Battle-v0: forms and invariants."""

import gymnasium
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.battles import (
    ATTACK,
    EAST,
    NORTH,
    SOUTH,
    STOP,
    WEST,
    begun,
    make,
    placed,
)

import rlenvs
from rlenvs.multi.battle import orders
from rlenvs.multi.battle.battle import SPEC
from rlenvs.multi.battle.scenarios import SCENARIOS
from rlenvs.multi.battle.units import SMAX

CASES = (
    {"scenario": "8m"},
    {"scenario": "2s3z", "opponent": "self", "dead": "leave"},
    {"scenario": "MMM2", "rules": "smac", "opponent": "self"},
    {"scenario": "bane_vs_bane", "rules": "smac", "observation": "smac"},
    {"scenario": "zerg_10_vs_11", "rules": "smac", "observation": "conic", "dead": "leave"},
    {"scenario": "1c3s5z", "rules": "smac", "opponent": "kiting"},
    {"scenario": "2s_vs_1sc", "rules": "smac", "opponent": "random", "feature_map": 9},
    {"scenario": "smacv2_10_units", "deadly_walls": False},
)


@settings(max_examples=24, deadline=None)
@given(st.sampled_from(CASES), st.integers(0, 10**6), st.sampled_from(["any", "kiting", "plain", "random"]))
def test_invariants(choices, seed, player):
    batch = begun(seed=seed, **choices)
    p, s = batch.records(0)
    dice = np.random.default_rng(seed)
    before = np.ones(len(s.x), bool)
    for _ in range(60):
        if s.over:
            break
        assert (s.health >= 0).all()
        assert (s.health <= p.unit_health[s.kind]).all()
        assert (s.shield >= 0).all()
        assert (s.shield <= p.unit_shield[s.kind]).all()
        assert ((s.health > 0) == s.standing).all()
        assert (before | ~s.standing).all()  # nobody rises again
        assert batch.masks.any(axis=-1).all()
        assert batch.setup.observation_space.contains(batch.get_observations((0, 0))) or batch.world.roles
        assert np.abs(batch.observations).max() <= 1
        assert np.abs(batch.central()).max() <= 1
        assert ((s.body > 0) == s.standing).all()
        before = s.standing.copy()
        if player == "any":
            batch.step(
                dice.integers(0, batch.setup.roles[0].action, (1, batch.agents)) % [r.action for r in batch.setup.roles]
            )
        else:
            batch.step(batch.player_actions(player))
            living = batch.costs[0][s.alive]
            assert not living.any()


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10**6))
def test_self_play_is_zero_sum(seed):
    batch = begun(seed=seed, scenario="3m", opponent="self")
    while not batch.records(0)[1].over:
        batch.step(batch.player_actions("random" if seed % 2 else "kiting"))
        assert batch.rewards[0, 0] == -batch.rewards[0, 3]


@pytest.mark.usefixtures("strict_kit")
@pytest.mark.parametrize(
    "choices",
    [
        {"dead": "leave"},
        {"scenario": "3s_vs_5z", "opponent": "self", "observation": "smac", "rules": "smac"},
        {"scenario": "MMM", "rules": "smac", "opponent": "self", "dead": "leave"},
        {"scenario": "terran_5_vs_5", "rules": "smac", "observation": "conic"},
    ],
)
def test_pettingzoo(choices):
    from pettingzoo.test import api_test, parallel_api_test

    parallel_api_test(rlenvs.parallel_env("Battle-v0", **choices), 60)
    api_test(rlenvs.aec_env("Battle-v0", **choices), 40)


@pytest.mark.usefixtures("strict_kit")
@pytest.mark.slow
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_pettingzoo_on_every_scenario(scenario):
    from pettingzoo.test import parallel_api_test

    parallel_api_test(rlenvs.parallel_env("Battle-v0", scenario=scenario, rules="smac"), 20)
    if all(unit in SMAX for unit in SCENARIOS[scenario].units):
        parallel_api_test(rlenvs.parallel_env("Battle-v0", scenario=scenario, opponent="self"), 20)


def test_names_and_spaces_of_agents():
    env = rlenvs.parallel_env("Battle-v0", scenario="3s_vs_5z", opponent="self", rules="smac", observation="smac")
    observations, _ = env.reset(seed=0)
    assert env.agents == [*(f"ally_{k}" for k in range(3)), *(f"enemy_{k}" for k in range(5))]
    assert env.action_space("ally_0").n == 11
    assert env.action_space("enemy_0").n == 9
    for agent in env.agents:
        assert env.observation_space(agent).contains(observations[agent])
    assert env.state().shape == (68,)


def test_the_single_form_with_a_scripted_team():
    env = gymnasium.make("rlenvs/Battle-v0", scenario="2s3z", others="kiting", opponent="random")
    env.reset(seed=0)
    done, info = False, {}
    while not done:
        _, _, terminated, truncated, info = env.step(env.unwrapped.expert_action())
        done = terminated or truncated
    assert info["is_success"]


def test_a_hundred_a_side():
    batch = begun(2, scenario="100 marine vs 100 marine", opponent="self")
    s = batch.records(0)[1]
    assert s.standing.all()
    for _ in range(12):
        batch.step(batch.player_actions("plain"))
    assert 0 < s.standing.sum() < 200
    assert abs(s.y - 16).max() < 16


def test_compiled_and_plain_python_agree():
    for choices in (
        {"scenario": "2s3z"},
        {"scenario": "MMM", "rules": "smac"},
        {"scenario": "zerg_5_vs_5", "rules": "smac"},
    ):
        fast, slow = (begun(1, 5, backend=backend, **choices) for backend in ("numba", "python"))
        for _ in range(6):
            actions = fast.player_actions("kiting").copy()
            fast.step(actions)
            slow.step(actions)
        np.testing.assert_allclose(fast.records(0)[1].health, slow.records(0)[1].health, atol=1e-9)
        np.testing.assert_allclose(fast.observations, slow.observations, atol=1e-5)


def test_text_and_image():
    _, p, s = placed("1 marine vs 1 zealot", [(3.5, 31.5), (30.5, 0.5)])
    rows = SPEC.functions["text"](p, s).split("\n")
    assert (rows[0][3], rows[15][30]) == ("M", "z")
    assert (len(rows), len(rows[0])) == (16, 32)
    env = rlenvs.parallel_env("Battle-v0", scenario="MMM", rules="smac", render_mode="rgb_array")
    env.reset(seed=0)
    for _ in range(10):
        env.step(env.expert_actions())
    image = env.render()
    assert image.shape == (512, 512, 3)
    assert len(np.unique(image.reshape(-1, 3), axis=0)) > 30


def test_keys():
    values = make(scenario="3m").setup.values
    pressed = ("x", "up", "right", "down", "left", "3", "4")
    assert [SPEC.functions["keys"]({key}, values) for key in pressed] == [
        STOP,
        NORTH,
        EAST,
        SOUTH,
        WEST,
        ATTACK + 2,
        STOP,
    ]


def test_legality_is_the_mask():
    batch = begun(10, scenario="MMM", rules="smac", opponent="self")
    for _ in range(20):
        batch.step(batch.player_actions("random"))
    for i in range(10):
        p, s = batch.records(i)
        for k in range(batch.agents):
            wanted = [orders.legal(p, s, k, choice) for choice in range(batch.setup.action_size)]
            assert batch.masks[i, k].tolist() == [int(ok) for ok in wanted]
