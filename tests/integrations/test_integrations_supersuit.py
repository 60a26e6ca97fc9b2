"""SuperSuit: its wrappers on the single and the parallel forms, and its way to vector environments."""

import numpy as np
import pytest

pytest.importorskip("supersuit")

import supersuit
from pettingzoo.test import parallel_api_test

import rlenvs

PLAIN = {"masks": "info", "finished": "keep"}


def play(env, seed=0, steps=20):
    """Observations of all agents under fixed actions."""
    observations, _ = env.reset(seed=seed)
    seen = [copies(observations)]
    for _ in range(steps):
        if not env.agents:
            break
        observations, *_ = env.step(dict.fromkeys(env.agents, 0))
        seen.append(copies(observations))
    return seen


def copies(observations):
    """SuperSuit stacks frames in one array, which later steps write into."""
    return {agent: np.array(observation) for agent, observation in observations.items()}


def test_frames_are_stacked():
    env = supersuit.frame_stack_v1(rlenvs.parallel_env("ParticleSpread-v0"), 3)
    ours = play(rlenvs.parallel_env("ParticleSpread-v0"))
    theirs = play(env)
    size = ours[0]["agent_0"].shape[0]
    assert env.observation_space("agent_0").shape == (3 * size,)
    for t in range(2, 10):
        wanted = np.concatenate([ours[t - 2]["agent_1"], ours[t - 1]["agent_1"], ours[t]["agent_1"]])
        assert np.array_equal(theirs[t]["agent_1"], wanted)


@pytest.mark.parametrize(
    "wrapper",
    [
        lambda env: supersuit.dtype_v0(env, np.float64),
        lambda env: supersuit.flatten_v0(env),
        lambda env: supersuit.clip_reward_v0(env),
        lambda env: supersuit.sticky_actions_v0(env, 0.2),
        lambda env: supersuit.agent_indicator_v0(env),
        lambda env: supersuit.black_death_v3(env),
    ],
)
def test_wrappers_keep_to_the_parallel_api(wrapper):
    parallel_api_test(wrapper(rlenvs.parallel_env("PathFinding-v0", masks="info", agents=2)), num_cycles=50)


def test_boards_are_scaled_to_what_we_call_unit():
    ours = play(rlenvs.parallel_env("PathFinding-v0", masks="info", encoding="unit"))
    theirs = play(supersuit.normalize_obs_v0(rlenvs.parallel_env("PathFinding-v0", masks="info")))
    assert np.array_equal(ours[5]["agent_0"], theirs[5]["agent_0"])


def test_their_padding_and_ours_agree():
    theirs = supersuit.pad_action_space_v0(supersuit.pad_observations_v0(rlenvs.parallel_env("ParticleTag-v0")))
    ours = rlenvs.parallel_env("ParticleTag-v0", pad=True)
    for agent in ours.possible_agents:
        assert theirs.observation_space(agent).shape == ours.observation_space(agent).shape
        assert theirs.action_space(agent) == ours.action_space(agent)
    for a, b in zip(play(theirs), play(ours), strict=True):
        assert all(np.array_equal(a[agent], b[agent]) for agent in b)


@pytest.mark.parametrize("id", ["PathFinding-v0", "Battle-v0", "ParticleSpread-v0"])
def test_teams_become_rows(id):
    """Agents that finish early stay, so SuperSuit takes the team; copies of it are made by pickling."""
    rows = supersuit.pettingzoo_env_to_vec_env_v1(rlenvs.parallel_env(id, **PLAIN, horizon=12))
    rows = supersuit.concat_vec_envs_v1(rows, 2, num_cpus=0, base_class="gymnasium")
    team = rlenvs.parallel_env(id, **PLAIN, horizon=12)
    assert rows.num_envs == 2 * len(team.possible_agents)
    observations, _ = rows.reset(seed=3)
    wanted, _ = team.reset(seed=3)
    for k, agent in enumerate(team.possible_agents):
        assert np.array_equal(observations[k], wanted[agent])
    ends = 0
    for _ in range(30):
        observations, rewards, terminated, truncated, _ = rows.step(np.zeros(rows.num_envs, np.int64))
        ends += np.logical_or(terminated, truncated).reshape(2, -1).all(axis=1).sum()  # each team on its own
        assert np.isfinite(rewards).all()
        assert observations.shape[0] == rows.num_envs
    assert ends >= 2


def test_single_environments():
    env = supersuit.frame_stack_v1(rlenvs.make("QuadHover-v0"), 4)
    observation, _ = env.reset(seed=0)
    assert env.observation_space.contains(observation)
    many = supersuit.gym_vec_env_v0(rlenvs.make("QuadHover-v0"), 3)
    ours = rlenvs.make_vec("QuadHover-v0", 3)
    assert np.array_equal(many.reset(seed=1)[0], ours.reset(seed=1)[0])
    ours.action_space.seed(0)
    for _ in range(10):
        actions = ours.action_space.sample()
        assert np.array_equal(many.step(actions)[0], ours.step(actions)[0])
    many.close()
