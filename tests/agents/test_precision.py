"""Hidden layers that multiply in bfloat16 while an agent learns."""

import numpy as np
import pytest
import torch

from rlenvs.agents.export import network_of
from rlenvs.agents.hyperparameters.settings import settings_from
from rlenvs.agents.network import Network
from rlenvs.agents.train import learn, new_model
from rlenvs.core.declare.errors import ParameterError

TABLE = {"steps": 512, "num_envs": 8, "hyperparameters": {"n_steps": 32, "batch_size": 64, "n_epochs": 1}}


def model_of(id, **changes):
    return new_model(id, settings_from({"algorithm": "PPO", **TABLE, **changes}, "these settings"), 0)


@pytest.mark.parametrize(
    ("id", "algorithm"), [("CartPole-v0", "PPO"), ("Blackjack-v0", "MaskablePPO"), ("ParticleSpread-v0", "MAPPO")]
)
@pytest.mark.budget(15)
def test_products_are_rounded_and_nothing_else(id, algorithm):
    exact, rounded = (
        model_of(id, algorithm=algorithm, network={"layers": [64, 64], "precision": precision})
        for precision in ("float32", "bfloat16")
    )
    rounded.policy.load_state_dict(exact.policy.state_dict())
    seen, _ = exact.policy.obs_to_tensor(exact.env.reset())
    features = exact.policy.extract_features(seen)
    for fine, coarse in zip(exact.policy.mlp_extractor(features), rounded.policy.mlp_extractor(features), strict=True):
        assert coarse.dtype == torch.float32
        assert 1e-5 < (fine - coarse).abs().max() < 0.05, "8 bits"
    assert all(part.dtype == torch.float32 for part in rounded.policy.parameters())


@pytest.mark.budget(15)
def test_it_learns_and_becomes_an_agent():
    model = model_of("CartPole-v0", network={"precision": "bfloat16"})
    before = [part.detach().clone() for part in model.policy.parameters()]
    learn(model, "CartPole-v0", 512)
    assert all((a != b).any() for a, b in zip(before, model.policy.parameters(), strict=True))
    actions, _ = Network(*network_of(model)).act(np.zeros((3, 4), np.float32))
    assert actions.shape == (3,)


def test_it_is_for_algorithms_that_learn_by_rollouts():
    with pytest.raises(ParameterError, match=r"precision is for PPO, .*, not for DQN"):
        model_of("CartPole-v0", algorithm="DQN", hyperparameters={}, network={"precision": "bfloat16"})
    with pytest.raises(ParameterError, match="precision='half' must be 'float32' or 'bfloat16'"):
        model_of("CartPole-v0", network={"precision": "half"})
