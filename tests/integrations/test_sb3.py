"""The Stable-Baselines3 form: equal to SB3's own vector of environments, and fit for its wrappers and learners."""

import sys
import warnings

import gymnasium
import numpy as np
import pytest

import rlenvs
from rlenvs.core.declare.errors import ActionError, EpisodeOverError, MissingExtraError, ParameterError

pytest.importorskip("stable_baselines3")

from stable_baselines3 import PPO
from stable_baselines3.common.env_checker import check_env
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv, VecMonitor, VecNormalize

from rlenvs.integrations.sb3 import as_sb3

IDS = ["rlenvs/QuadHover-v0", "rlenvs/DeepSeaTreasure-v0"]


def same(a, b):
    """Equal keys, and values equal to the bit and of one type."""
    assert a.keys() == b.keys()
    for key, value in a.items():
        assert type(value) is type(b[key]), key
        assert np.array_equal(value, b[key]), key


@pytest.mark.parametrize("id", IDS)
def test_equals_sb3s_own_vector(id):
    ours = rlenvs.sb3_vec_env(id, 4, horizon=30, monitor=False)
    theirs = DummyVecEnv([lambda: gymnasium.make(id, horizon=30)] * 4)
    assert (ours.observation_space, ours.action_space) == (theirs.observation_space, theirs.action_space)
    for venv in (ours, theirs):
        venv.seed(7)
    assert np.array_equal(ours.reset(), theirs.reset())
    ours.action_space.seed(3)
    ends = 0
    for _ in range(120):
        actions = np.array([ours.action_space.sample() for _ in range(4)])
        (o1, r1, d1, i1), (o2, r2, d2, i2) = ours.step(actions), theirs.step(actions)
        for a, b in ((o1, o2), (r1, r2), (d1, d2)):
            assert a.dtype == b.dtype
            assert np.array_equal(a, b)
        for done, a, b in zip(d1, i1, i2, strict=True):
            if done:
                same(a, b)
                ends += 1
            else:
                assert a == {}
    assert ends >= 8


@pytest.mark.parametrize("id", IDS)
def test_a_vector_environment_gives_the_same(id):
    ours = as_sb3(rlenvs.make_vec(id, 4, horizon=30, autoreset_mode="SAME_STEP"))
    theirs = rlenvs.sb3_vec_env(id, 4, horizon=30)
    assert (ours.observation_space, ours.action_space) == (theirs.observation_space, theirs.action_space)
    for venv in (ours, theirs):
        venv.seed(7)
    assert np.array_equal(ours.reset(), theirs.reset())
    ours.action_space.seed(3)
    for _ in range(70):
        actions = np.array([ours.action_space.sample() for _ in range(4)])
        (o1, r1, d1, i1), (o2, r2, d2, i2) = ours.step(actions), theirs.step(actions)
        for a, b in ((o1, o2), (r1, r2), (d1, d2)):
            assert a.dtype == b.dtype
            assert np.array_equal(a, b)
        for a, b in zip(i1, i2, strict=True):
            for info in (a, b):
                info.get("episode", {}).pop("t", None)
            same(a, b)


def test_tasks_in_one_vector_environment_are_learnt():
    pytest.importorskip("mujoco")
    ten = rlenvs.benchmark("MT10")
    short = {"one_hot": True, "horizon": 3, "backend": "python", "autoreset_mode": "SAME_STEP"}
    venv, beside = as_sb3(ten.vector(10, **short)), ten.vector(10, **short)
    venv.seed(5)
    venv.set_options({"params": {"mass": 1.2}})
    seen, _ = beside.reset(seed=5, options={"params": {"mass": 1.2}})
    assert np.array_equal(venv.reset(), seen)
    assert venv.get_attr("mass", 3) == [1.2]
    actions = np.full((10, 4), 0.5, np.float32)
    for t in range(1, 4):
        seen, rewards, dones, infos = venv.step(actions)
        expected, paid, _, truncated, told = beside.step(actions)
        assert np.array_equal(seen, expected)
        assert np.array_equal(rewards, paid.astype(np.float32))
        assert (dones == (t == 3)).all()
        assert (dones == truncated).all()
    for i, info in enumerate(infos):
        assert np.array_equal(info["terminal_observation"], told["final_obs"][i])
        assert info["is_success"] == told["final_info"]["is_success"][i]
        assert info["TimeLimit.truncated"]
        assert info["episode"]["l"] == 3
    assert np.array_equal(venv.reset(), beside.reset()[0])
    PPO("MlpPolicy", VecNormalize(venv), n_steps=2, batch_size=20, n_epochs=1, device="cpu").learn(40)
    venv.close()
    with pytest.raises(EpisodeOverError, match="closed"):
        venv.reset()


def test_vectors_that_sb3_cannot_step_are_refused():
    for mode in ("NEXT_STEP", "DISABLED"):
        with pytest.raises(ParameterError, match=f"{mode}.*autoreset_mode='SAME_STEP'"):
            as_sb3(rlenvs.make_vec(IDS[1], 2, autoreset_mode=mode))
    with pytest.raises(ParameterError, match="vector rewards"):
        as_sb3(rlenvs.make_vec("mo-DeepSeaTreasure-v0", 2, autoreset_mode="SAME_STEP"))
    with pytest.raises(ParameterError, match="copy=True"):
        as_sb3(rlenvs.make_vec(IDS[1], 2, autoreset_mode="SAME_STEP", copy=False))
    venv = as_sb3(rlenvs.make_vec(IDS[0], 3, autoreset_mode="SAME_STEP"), monitor=False)
    venv.reset()
    before = venv.get_attr("mass")
    with pytest.raises(ParameterError, match=r"all of its 3 worlds.*indices=\[1\]"):
        venv.set_attr("mass", 1.1, [1])
    with pytest.raises(ParameterError, match="all of its 3 worlds"):
        venv.env_method("expert_action", indices=0)
    with pytest.raises(ParameterError, match="one dictionary"):
        venv.set_options([{}] * 3)
    assert venv.get_attr("mass") == before
    assert len(venv.env_method("expert_action")) == 3
    assert venv.get_images() == [None] * 3
    assert venv.env_is_wrapped(Monitor) == [False] * 3


@pytest.mark.parametrize("id", IDS)
def test_nothing_is_shared_between_steps(id):
    venv = rlenvs.sb3_vec_env(id, 2)
    first = venv.reset()
    kept = first.copy()
    action = np.array([venv.action_space.sample() for _ in range(2)])
    one, two = venv.step(action), venv.step(action)
    assert np.array_equal(first, kept)
    for a, b in zip(one[:3], two[:3], strict=True):
        assert not np.shares_memory(a, b)
    one[3][0]["mine"] = 1
    assert all("mine" not in info for info in (one[3][1], *two[3], *venv.step(action)[3]))


@pytest.mark.parametrize("id", IDS)
def test_sb3s_checker_is_content(id):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(gymnasium.make(id).unwrapped, warn=True)


def test_episode_statistics_equal_vec_monitors():
    ours = rlenvs.sb3_vec_env(IDS[1], 3, horizon=25)
    theirs = VecMonitor(rlenvs.sb3_vec_env(IDS[1], 3, horizon=25, monitor=False))
    for venv in (ours, theirs):
        venv.seed(1)
        venv.reset()
    rng, seen = np.random.default_rng(0), 0
    for _ in range(100):
        actions = rng.integers(4, size=3)
        for a, b in zip(ours.step(actions)[3], theirs.step(actions)[3], strict=True):
            assert ("episode" in a) == ("episode" in b)
            if "episode" in a:
                seen += 1
                assert a["episode"]["r"] == pytest.approx(b["episode"]["r"], abs=1e-5)  # theirs sums in float32
                assert a["episode"]["l"] == b["episode"]["l"]
    assert seen > 5


def test_learns_and_logs():
    venv = VecNormalize(rlenvs.sb3_vec_env(IDS[1], 8))
    model = PPO("MlpPolicy", venv, n_steps=32, batch_size=64, n_epochs=1, seed=0, device="cpu")
    model.learn(512)
    assert model.ep_info_buffer
    assert model.ep_success_buffer
    assert np.isfinite(model.ep_info_buffer[0]["r"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        evaluate_policy(model, rlenvs.sb3_vec_env(IDS[1], 2), n_eval_episodes=2)


def test_wrong_calls():
    venv = rlenvs.sb3_vec_env(IDS[1], 2)
    with pytest.raises(EpisodeOverError):
        venv.step(np.zeros(2, int))
    venv.reset()
    with pytest.raises(ActionError, match="2 slots"):
        venv.step(np.zeros(3, int))
    with pytest.raises(ActionError, match="environment 1: action 4"):
        venv.step(np.array([0, 4]))
    with pytest.raises(ParameterError, match="rlenvs/DeepSeaTreasure-v0"):
        rlenvs.sb3_vec_env("mo-DeepSeaTreasure-v0", 2)


def test_missing_sb3_is_one_clear_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "stable_baselines3.common.vec_env", None)
    for name in ("sb3", "sb3_vectors"):
        monkeypatch.delitem(sys.modules, f"rlenvs.integrations.{name}", raising=False)
    with pytest.raises(MissingExtraError, match=r"rlenvs-suite\[sb3\]"):
        rlenvs.sb3_vec_env(IDS[0], 1)


def test_attributes_methods_and_options():
    venv = rlenvs.sb3_vec_env(IDS[0], 3)
    venv.set_options({"params": {"mass": 0.03}})
    venv.reset()
    assert venv.get_attr("mass") == [0.03] * 3
    venv.set_attr("mass", 0.02, indices=[1])
    assert venv.get_attr("mass") == [0.03, 0.02, 0.03]
    with pytest.raises(ParameterError):
        venv.set_attr("colour", 1)
    with pytest.raises(AttributeError):
        venv.get_attr("colour")
    assert not venv.has_attr("colour")
    state = venv.env_method("get_state", indices=0)[0]
    moved = venv.step(np.ones((3, 4), np.float32))[0]
    venv.env_method("set_state", state, indices=0)
    assert np.array_equal(venv.step(np.ones((3, 4), np.float32))[0][0], moved[0])
    masked = rlenvs.sb3_vec_env(IDS[1], 2)
    masked.reset()
    assert masked.env_method("action_masks")[1].tolist() == [False, True, False, True]
    assert masked.env_method("expert_action") == [3, 3]


def test_images():
    venv = rlenvs.sb3_vec_env(IDS[1], 2, render_mode="rgb_array")
    venv.reset()
    venv.step(np.array([3, 3]))
    assert len(venv.get_images()) == 2
    assert venv.render().shape == (1024, 512, 3)


@pytest.mark.budget(8)
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_worker_processes_after_threads(method):
    """A fork copies no threads: the child must not wait for those of its parent's pool."""
    batch = rlenvs.make_batch(IDS[0], 64, threads=2)
    batch.seed(range(64))
    batch.reset()
    batch.step(np.zeros((64, 4)))
    venv = SubprocVecEnv([lambda: gymnasium.make("rlenvs:rlenvs/QuadHover-v0")] * 2, start_method=method)
    try:
        venv.seed(0)
        observations = venv.reset()
        venv.step(np.zeros((2, 4), np.float32))
    finally:
        venv.close()
    expected = rlenvs.sb3_vec_env(IDS[0], 2)
    expected.seed(0)
    assert np.array_equal(observations, expected.reset())


def test_agents_are_slots_that_share_a_policy():
    from rlenvs.integrations.sb3 import SB3VecEnv

    venv = SB3VecEnv("toys.countdown:SPEC", 2)
    assert venv.num_envs == 6
    venv.seed(0)
    venv.reset()
    log = [venv.step(np.zeros(6, int)) for _ in range(4)]
    # agent k of the world below dies after k + 1 steps, the last with the world, at step 3
    dones = np.array([step[2] for step in log]).reshape(4, 2, 3)[:, 0]
    assert dones.tolist() == [[True, False, False], [False, True, False], [True, True, True], [True, False, False]]
    idle = [[info.get("idle", False) for info in step[3][:3]] for step in log]
    assert idle == [[False] * 3, [True, False, False], [True, True, False], [False] * 3]
    assert [log[0][3][0]["episode"]["l"], log[1][3][1]["episode"]["l"], log[2][3][2]["episode"]["l"]] == [1, 2, 3]
    assert log[2][3][0] == {"idle": True}
    assert log[0][3][0]["terminal_observation"].tolist() == [pytest.approx(-0.8)]
    assert log[2][3][2]["terminal_observation"].tolist() == [pytest.approx(-0.4)]
    assert log[2][0][:3].tolist() == [[-1.0]] * 3


@pytest.mark.parametrize("id", ["ParticleTag-v0", "ParticleWorldComm-v0"])
def test_last_observations_are_as_long_as_the_others(id):
    """Agents that see less have padded slots; where an episode is cut off, PPO asks for the value of the last one."""
    venv = rlenvs.sb3_vec_env(id, 2)
    venv.reset()
    ended = 0
    for _ in range(60):
        _, _, _, infos = venv.step(np.zeros(venv.num_envs, np.int64))
        for info in infos:
            if "terminal_observation" in info:
                ended += 1
                assert info["terminal_observation"].shape == venv.observation_space.shape
    assert ended >= venv.num_envs


@pytest.mark.parametrize(
    ("id", "keywords", "images"),
    [
        ("Generals-v0", {"opponent": "random", "height": 8, "width": 8, "encoding": "unit"}, False),
        ("PathFinding-v0", {"agents": 2, "encoding": "uint8"}, True),
        ("PathFinding-v0", {"agents": 2, "encoding": "uint8", "radius": 18}, True),
    ],
)
def test_convolutions_over_boards(id, keywords, images):
    import torch
    from stable_baselines3.common.vec_env import VecTransposeImage

    from rlenvs.agents.boards import BoardFeatures

    small = {
        "features_extractor_class": BoardFeatures,
        "features_extractor_kwargs": {"channels": [4, 4], "activation": torch.nn.ReLU},
    }
    own = {} if "radius" in keywords else small  # SB3's network takes boards of 36 x 36 and more
    envs = rlenvs.sb3_vec_env(id, 2, **keywords)
    model = PPO(
        "CnnPolicy", envs, n_steps=8, batch_size=16, policy_kwargs={**own, "normalize_images": images}, n_epochs=1
    )
    assert not isinstance(model.get_env(), VecTransposeImage)  # planes come first already
    before = [weight.detach().clone() for weight in model.policy.features_extractor.parameters()]
    model.learn(32)
    after = list(model.policy.features_extractor.parameters())
    assert all(torch.isfinite(weight).all() for weight in after)
    assert any(not torch.equal(a, b) for a, b in zip(before, after, strict=True))
