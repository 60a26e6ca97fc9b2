"""BenchMARL trains on batches of worlds: a task of its own around `BatchEnv`, as its guide says, with and without masks
that forbid something."""

import copy

import pytest

pytest.importorskip("benchmarl")

import torch
from benchmarl.algorithms import IppoConfig, IqlConfig, MappoConfig
from benchmarl.environments.common import TaskClass
from benchmarl.experiment import Experiment, ExperimentConfig
from benchmarl.models.mlp import MlpConfig

from rlenvs.integrations.torchrl import BatchEnv


class Teams(TaskClass):
    """Worlds of an id, the `task` of the configuration."""

    def get_env_fun(self, num_envs, continuous_actions, seed, device):
        config = copy.deepcopy(self.config)
        return lambda: BatchEnv(config["id"], num_envs, seed=seed, device=device, **config["keywords"])

    def supports_continuous_actions(self):
        return self.config["continuous"]

    def supports_discrete_actions(self):
        return not self.config["continuous"]

    def has_render(self, env):
        return False

    def max_steps(self, env):
        return 25

    def group_map(self, env):
        return env.group_map

    def state_spec(self, env):
        return None

    def action_mask_spec(self, env):
        return self.only(env.full_observation_spec_unbatched, "action_mask")

    def observation_spec(self, env):
        return self.only(env.full_observation_spec_unbatched, "observation")

    def info_spec(self, env):
        return None

    def action_spec(self, env):
        return env.full_action_spec_unbatched

    @staticmethod
    def only(spec, name):
        spec = spec.clone()
        if name not in set(spec["agents"].keys()):
            return None
        for other in set(spec["agents"].keys()) - {name}:
            del spec["agents", other]
        return spec

    @staticmethod
    def env_name():
        return "rlenvs"


@pytest.mark.parametrize(
    ("id", "continuous", "algorithm"),
    [
        ("ParticleSpread-v0", False, MappoConfig),
        ("ParticleSpread-v0", True, MappoConfig),
        ("ParticleSpeakerListener-v0", False, IppoConfig),  # whose masks forbid what another agent alone can do
        ("ParticleSpeakerListener-v0", False, IqlConfig),
    ],
)
def test_an_experiment_runs(tmp_path, id, continuous, algorithm):
    torch.set_num_threads(1)
    config = ExperimentConfig.get_from_yaml()
    config.max_n_frames, config.max_n_iters, config.loggers, config.create_json = None, 2, [], False
    config.save_folder, config.evaluation, config.prefer_continuous_actions = str(tmp_path), True, continuous
    config.on_policy_collected_frames_per_batch = config.off_policy_collected_frames_per_batch = 200
    config.on_policy_n_envs_per_worker = config.off_policy_n_envs_per_worker = 4
    config.on_policy_minibatch_size, config.on_policy_n_minibatch_iters = 100, 2
    config.off_policy_n_optimizer_steps, config.off_policy_train_batch_size = 2, 50
    config.evaluation_interval, config.evaluation_episodes, config.render = 200, 2, False
    keywords = {"actions": "continuous", "scaled": True} if continuous else {}
    experiment = Experiment(
        task=Teams("teams", {"id": id, "continuous": continuous, "keywords": {"backend": "python", **keywords}}),
        algorithm_config=algorithm.get_from_yaml(),
        model_config=MlpConfig(num_cells=[16], layer_class=torch.nn.Linear, activation_class=torch.nn.Tanh),
        critic_model_config=MlpConfig(num_cells=[16], layer_class=torch.nn.Linear, activation_class=torch.nn.Tanh),
        seed=0,
        config=config,
    )
    experiment.run()
    assert experiment.total_frames == 400
