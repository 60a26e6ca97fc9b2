"""RLlib with several agents: marines share one policy with action masks; dead units leave the episode.

python examples/rllib_multi.py --iterations 50
"""

import argparse

try:
    import ray
    import torch
    from ray.rllib.algorithms.ppo import PPOConfig
    from ray.rllib.core.rl_module.rl_module import RLModuleSpec
    from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule
except ImportError:
    raise SystemExit("This example needs RLlib. Install it with: pip install '.[compile,rllib]'") from None

from rlenvs.integrations.rllib import register

parser = argparse.ArgumentParser()
parser.add_argument("--iterations", type=int, default=2, help="of 2048 steps of the world each")
parser.add_argument("--runners", type=int, default=0, help="processes that sample; 0: this one does")
arguments = parser.parse_args()

torch.set_num_threads(1)  # the networks are small
ray.init(include_dashboard=False, logging_level="ERROR")
config = (
    PPOConfig()
    .environment(register("Battle-v0", scenario="3m", dead="leave"))
    .multi_agent(policies={"marine"}, policy_mapping_fn=lambda agent, episode, **_: "marine")
    .rl_module(rl_module_spec=RLModuleSpec(module_class=ActionMaskingTorchRLModule))
    .env_runners(num_env_runners=arguments.runners, num_envs_per_env_runner=8)
    .training(train_batch_size_per_learner=2048, minibatch_size=512, num_epochs=4, lr=5e-4, lambda_=0.95)
)
algorithm = config.build_algo()
for iteration in range(arguments.iterations):
    found = algorithm.train()["env_runners"]
    print(f"{2048 * (iteration + 1)} steps: mean return of the team {found['episode_return_mean']:.2f}")
algorithm.stop()
ray.shutdown()
