"""What holds for an algorithm where no file says anything else."""

from __future__ import annotations

from rlenvs.agents.card import IMITATING
from rlenvs.agents.hyperparameters.settings import Table

_ON_POLICY: Table = {
    "steps": 1_000_000,
    "num_envs": 64,
    "hyperparameters": {
        "learning_rate": "linear 1e-3",
        "n_steps": 64,
        "batch_size": 1024,
        "n_epochs": 10,
        "gamma": 0.98,
        "gae_lambda": 0.95,
    },
    "network": {"layers": [64, 64], "activation": "tanh"},
}
_OFF_POLICY: Table = {
    "steps": 300_000,
    "num_envs": 8,
    "hyperparameters": {
        "learning_rate": 1e-3,
        "buffer_size": 300_000,
        "learning_starts": 5_000,
        "batch_size": 256,
        "gamma": 0.98,
        "train_freq": 1,
        "gradient_steps": 4,
    },
    "network": {"layers": [256, 256], "activation": "relu"},
}
_NOISY: Table = {**_OFF_POLICY, "hyperparameters": {**_OFF_POLICY["hyperparameters"], "action_noise": 0.1}}
_EXPLORING: Table = {
    **_OFF_POLICY,
    "hyperparameters": {**_OFF_POLICY["hyperparameters"], "exploration_fraction": 0.3},
}
_IMITATING: Table = {
    "steps": 300_000,
    "num_envs": 64,
    "hyperparameters": {"learning_rate": "linear 1e-3", "rounds": 10, "epochs": 2, "batch_size": 1024},
    "network": {"layers": [128, 128], "activation": "relu"},
    "normalize": {"observations": True},
}
DEFAULTS: dict[str, Table] = {
    "PPO": _ON_POLICY,
    "MaskablePPO": _ON_POLICY,
    "PPOLagrangian": _ON_POLICY,
    "MAPPO": {**_ON_POLICY, "normalize": {"rewards": True}},
    "RecurrentPPO": {**_ON_POLICY, "network": {**_ON_POLICY["network"], "memory": 64}},
    "SAC": _OFF_POLICY,
    "TQC": _OFF_POLICY,
    "TD3": _NOISY,
    "DDPG": _NOISY,
    "DQN": _EXPLORING,
    "QRDQN": {**_EXPLORING, "network": {**_OFF_POLICY["network"], "quantiles": 50}},
    **dict.fromkeys(IMITATING, _IMITATING),
}
