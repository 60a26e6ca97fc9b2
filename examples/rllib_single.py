"""RLlib (new API stack) with one agent, by the plain id: every env runner creates one batch of worlds.

    python examples/rllib_single.py --iterations 15 --runners 2

The id begins with "rlenvs:" so that RLlib's own processes import the package too.
"""

import argparse

try:
    import ray
    import torch
    from ray.rllib.algorithms.ppo import PPOConfig
    from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig
except ImportError:
    raise SystemExit("This example needs RLlib. Install it with: pip install '.[compile,rllib]'") from None

parser = argparse.ArgumentParser()
parser.add_argument("--iterations", type=int, default=5, help="of 8192 steps each; 15 to see it hover")
parser.add_argument("--runners", type=int, default=0, help="processes that sample; 0: this one does")
arguments = parser.parse_args()

torch.set_num_threads(1)  # the networks are small
ray.init(include_dashboard=False, logging_level="ERROR")
config = (
    PPOConfig()
    .environment(
        "rlenvs:rlenvs/QuadHover-v0",
        env_config={"action": "one_d_rpm", "level": "easy"},
        normalize_actions=False,  # actions are in [-1, 1] already, and worlds clip them
    )
    .env_runners(
        num_env_runners=arguments.runners,
        num_envs_per_env_runner=64 // max(1, arguments.runners),
        gym_env_vectorize_mode="vector_entry_point",
    )
    .training(
        train_batch_size_per_learner=8192,
        minibatch_size=2048,
        num_epochs=10,
        lr=1e-3,
        gamma=0.98,
        lambda_=0.95,
        vf_clip_param=float("inf"),  # RLlib's 10 is far below the returns of this world
    )
    .rl_module(model_config=DefaultModelConfig(fcnet_hiddens=[64, 64], free_log_std=True))
)
algorithm = config.build_algo()
for iteration in range(arguments.iterations):
    found = algorithm.train()["env_runners"]
    mean = found.get("episode_return_mean", float("nan"))  # no episode has ended yet
    print(f"{8192 * (iteration + 1)} steps: mean return {mean:.0f} (the most possible is 480)")
algorithm.stop()
ray.shutdown()
