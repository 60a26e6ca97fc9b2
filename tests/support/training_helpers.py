"""Small trainings of every algorithm, for the tests of runs, their files and their command."""

import hashlib
import signal

from rlenvs.agents import runs
from rlenvs.agents.checkpoint import read_checkpoint
from rlenvs.agents.hyperparameters.settings import settings_from
from rlenvs.core.catalogue.registry import catalogue

HOVER, SEA, REACH, MAZE = "QuadHover-v0", "DeepSeaTreasure-v0", "PandaReach-v0", "PathFinding-v0"
BATTLE = "Battle-v0"
GENERALS, SMALL_BOARD = "Generals-v0", {"height": 6, "width": 7}
PLANES = {"convolutions": [4, 4], "head": "planes", "layers": [4]}
IDS = [id for id in catalogue if "/mo-" not in id and id.startswith("rlenvs/")]
ON = {"n_steps": 16, "batch_size": 32, "n_epochs": 1}
OFF = {"learning_starts": 60, "batch_size": 16, "train_freq": 1, "gradient_steps": 1, "buffer_size": 250}
ASK = {"rounds": 4, "epochs": 2, "batch_size": 16}
SMALL = {"layers": [8]}


def small(algorithm, id=HOVER, steps=None, **tables):
    usual = ON if "PPO" in algorithm else ASK if algorithm in ("DAgger", "BC") else OFF
    hyperparameters = {**usual, **tables.pop("hyperparameters", {})}
    network = tables.pop("network", {**SMALL, **({"memory": 8} if algorithm == "RecurrentPPO" else {})})
    steps = steps or (256 if "PPO" in algorithm else 160)
    return settings_from(
        {"algorithm": algorithm, "steps": steps, "num_envs": 4, "hyperparameters": hyperparameters,
         "network": network, **tables}, "a test",
    )  # fmt: skip


CASES = {
    "PPO": (HOVER, small("PPO")),
    "PPO-normalised": (HOVER, small("PPO", normalize={"observations": True, "rewards": True})),
    "PPO-sde": (HOVER, small("PPO", hyperparameters={"use_sde": True})),
    "PPO-agents": ("ParticleSpread-v0", small("PPO", "ParticleSpread-v0", steps=768)),
    "PPO-frames": (HOVER, small("PPO", network={**SMALL, "frames": 3}, normalize={"observations": True})),
    "MaskablePPO": (SEA, small("MaskablePPO", SEA)),
    "RecurrentPPO": (HOVER, small("RecurrentPPO")),
    "SAC": (HOVER, small("SAC", expert={"steps": 80, "noise": 0.1})),
    "SAC-normalised": (HOVER, small("SAC", normalize={"observations": True})),
    "TD3": (HOVER, small("TD3", hyperparameters={"action_noise": 0.1})),
    "DQN": (SEA, small("DQN", SEA, hyperparameters={"exploration_final_eps": 0.8, "target_update_interval": 20})),
    "PPOLagrangian": (
        "ParticleSpread-v0",
        small(
            "PPOLagrangian",
            steps=1536,
            normalize={"observations": True, "rewards": True},
            costs={"limits": {"contact": 0.0}, "learning_rate": 0.5, "start": 0.1},
        ),
    ),
    "MAPPO": (
        "ParticleSpread-v0",
        small("MAPPO", steps=768, normalize={"observations": True, "rewards": True}),
    ),
    "MAPPO-masked": (BATTLE, small("MAPPO", steps=768, environment={"horizon": 10})),
    "PPO-league": (
        "ParticleTag-v0",
        small(
            "PPO",
            steps=1536,
            normalize={"observations": True, "rewards": True},
            league={"size": 2, "every": 200, "scripted": 0.5, "past": 0.5},
        ),
    ),
    "PPO-frames-league": (
        "ParticleTag-v0",
        small("PPO", steps=768, network={**SMALL, "frames": 2}, league={"every": 200, "scripted": 0.0, "past": 0.5}),
    ),
    "PPO-roles-league": (
        "ParticleTag-v0",
        small(
            "PPO",
            steps=1536,
            network={**SMALL, "roles": True},
            normalize={"observations": True, "rewards": True},
            league={"size": 2, "every": 200, "scripted": 0.5, "past": 0.5},
        ),
    ),
    "MaskablePPO-roles": (
        "ParticleSpeakerListener-v0",
        small("MaskablePPO", steps=768, network={**SMALL, "roles": True}, normalize={"observations": True}),
    ),
    "MAPPO-roles": (
        "ParticleTag-v0",
        small("MAPPO", steps=768, network={**SMALL, "roles": True}, normalize={"observations": True}),
    ),
    "MaskablePPO-league": (
        GENERALS,
        small(
            "MaskablePPO",
            GENERALS,
            network=PLANES,
            environment={**SMALL_BOARD, "opponent": "self"},
            league={"every": 100, "scripted": 0.5, "past": 0.0},
        ),
    ),
    "PPOLagrangian-masked": ("Sokoban-v0", small("PPOLagrangian", environment={"horizon": 10})),
    "TD3-normalised": (HOVER, small("TD3", normalize={"observations": True, "rewards": True})),
    "DDPG": (HOVER, small("DDPG", hyperparameters={"action_noise": 0.1})),
    "TQC": (HOVER, small("TQC", network={"layers": [8], "quantiles": 5})),
    "QRDQN": (
        SEA,
        small(
            "QRDQN",
            SEA,
            hyperparameters={"exploration_final_eps": 0.8, "target_update_interval": 20},
            network={"layers": [8], "quantiles": 5},
        ),
    ),
    "SAC-full": (HOVER, small("SAC", hyperparameters={"buffer_size": 80})),
    "DAgger": (SEA, small("DAgger", SEA)),
    "BC": (HOVER, small("BC")),
    "DAgger-normalised": (HOVER, small("DAgger", normalize={"observations": True})),
    "DAgger-planes": (GENERALS, small("DAgger", GENERALS, network=PLANES, environment=SMALL_BOARD)),
    "MaskablePPO-planes": (
        GENERALS,
        small("MaskablePPO", GENERALS, steps=768, network=PLANES, environment=SMALL_BOARD),
    ),
}


class StopAfter:
    """A wish to stop that comes at the n-th look."""

    number = int(signal.SIGINT)

    def __init__(self, looks):
        self.looks = looks

    @property
    def wanted(self):
        self.looks -= 1
        return self.looks < 0


def weights(folder):
    """A hash of all parameters and optimiser states in a run's checkpoint."""
    digest = hashlib.sha256()

    def add(part):
        if isinstance(part, dict):
            for key in part:
                add(part[key])
        elif isinstance(part, (list, tuple)):
            for value in part:
                add(value)
        else:
            digest.update(part.numpy().tobytes() if hasattr(part, "numpy") else repr(part).encode())

    add(read_checkpoint(folder / runs.CHECKPOINT)["state"]["parameters"])
    return digest.hexdigest()
