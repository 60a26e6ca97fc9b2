"""OmniSafe: an update of PPO-Lagrangian through the cost adapter, with the real library."""

import importlib.util
import math
import sys

import numpy as np
import pytest

import rlenvs

if importlib.util.find_spec("omnisafe") is None:
    pytest.skip("OmniSafe is not installed", allow_module_level=True)

from rlenvs.integrations.safety import omnisafe_env

IDS = ["rlenvs/SafePointGoal-v0", "rlenvs/QuadObstacles-v0"]


@pytest.fixture(scope="module")
def omnisafe():
    omnisafe_env(IDS)
    return importlib.import_module("omnisafe")


@pytest.mark.parametrize(("id", "num_envs"), [(IDS[0], 1), (IDS[0], 4), (IDS[1], 4)])
def test_ppo_lagrangian_updates(omnisafe, tmp_path, monkeypatch, id, num_envs):
    monkeypatch.chdir(tmp_path)
    agent = omnisafe.Agent(
        "PPOLag",
        id,
        custom_cfgs={
            "seed": 0,
            "train_cfgs": {"total_steps": 800, "vector_env_nums": num_envs, "torch_threads": 1, "device": "cpu"},
            "algo_cfgs": {"steps_per_epoch": 400, "update_iters": 2},
            "lagrange_cfgs": {"lagrangian_multiplier_init": 0.1, "cost_limit": 0.0},
            "logger_cfgs": {"use_wandb": False, "use_tensorboard": False, "log_dir": str(tmp_path)},
            "env_cfgs": {"horizon": 50},
        },
    )
    before = [weight.detach().clone() for weight in agent.agent._actor_critic.actor.parameters()]
    mean_return, mean_cost, length = agent.learn()
    assert math.isfinite(mean_return)
    assert mean_cost >= 0
    assert 1 <= length <= 50
    after = list(agent.agent._actor_critic.actor.parameters())
    assert any(not np.array_equal(a.numpy(), b.detach().numpy()) for a, b in zip(before, after, strict=True))


def test_the_cost_that_it_sees_is_ours(omnisafe, tmp_path, monkeypatch):
    """The same steps in OmniSafe's form and in ours cost the same."""
    monkeypatch.chdir(tmp_path)
    import torch
    from omnisafe.envs.core import make

    theirs, ours = make(IDS[0], num_envs=16, hazards=20), rlenvs.make_vec(IDS[0], 16, hazards=20)
    theirs.reset(seed=1)
    ours.reset(seed=1)
    action, total = np.tile(np.array([1.0, 0.2], np.float32), (16, 1)), 0.0
    for _ in range(100):
        cost, found = theirs.step(torch.as_tensor(action))[2], ours.step(action)[4]["cost"]
        assert cost.numpy() == pytest.approx(found)
        total += found.sum()
    assert total > 0, "no costs were met; take other actions"


def test_its_own_tasks_say_why_they_are_not_there(omnisafe):
    module = sys.modules["safety_gymnasium"]
    if hasattr(module, "__file__"):
        pytest.skip("Safety-Gymnasium is installed and works")
    with pytest.raises(ImportError, match="cannot be imported with gymnasium"):
        module.make  # noqa: B018
