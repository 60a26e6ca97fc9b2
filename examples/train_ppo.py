"""Stable-Baselines3 on the native vector environment: a drone learns to fly to a goal and to hover there.

python examples/train_ppo.py
"""

import argparse

import torch
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback

import rlenvs

ID = "QuadHover-v0"
parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
parser.add_argument("--steps", type=int, default=400_000, help="of all environments together")
steps = parser.parse_args().steps
print("Takes about a minute on two cores; the first time half a minute more, to compile.", flush=True)


class Report(BaseCallback):
    """A line after every eighth rollout."""

    def _on_step(self):
        return True

    def _on_rollout_end(self):
        if self.num_timesteps % (8 * 4096) == 4096 and self.model.ep_info_buffer:
            episodes = self.model.ep_info_buffer
            mean = sum(episode["r"] for episode in episodes) / len(episodes)
            print(f"{self.num_timesteps:8,} steps: mean return {mean:6.1f}", flush=True)


torch.set_num_threads(1)  # the networks are small
envs = rlenvs.sb3_vec_env(ID, 64)
model = PPO(
    "MlpPolicy",
    envs,
    n_steps=64,
    batch_size=1024,
    learning_rate=lambda left: 1e-3 * left,
    gamma=0.98,
    policy_kwargs={"log_std_init": -0.5},
    seed=0,
    device="cpu",
)
model.learn(steps, callback=Report())


def policy(observations):
    return model.predict(observations, deterministic=True)[0]


print("\n100 episodes each, on seeds that training did not see; the largest return possible is 480")
for name, player in (("random", "random"), ("idle", "idle"), ("learnt", policy), ("scripted", "expert")):
    print(f"{name:9}", rlenvs.evaluate(ID, player, seeds=range(1000, 1100)), flush=True)
