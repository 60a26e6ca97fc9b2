"""Hindsight experience replay: SAC learns to push a cube to a place from rewards that are only -1 or 0.

python examples/learn_to_push.py --steps 300000
"""

import argparse

import numpy as np
import torch
from stable_baselines3 import SAC, HerReplayBuffer
from stable_baselines3.common.vec_env import VecNormalize

import rlenvs

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=10_000, help="of all environments together")
steps = parser.parse_args().steps

torch.set_num_threads(1)  # the networks are small
envs = VecNormalize(rlenvs.sb3_vec_env("PandaPush-v0", 32, form="goal"), norm_reward=False)
model = SAC(
    "MultiInputPolicy",
    envs,
    replay_buffer_class=HerReplayBuffer,
    learning_starts=3200,  # two episodes in every environment: hindsight needs whole ones
    gradient_steps=8,
    batch_size=256,
    gamma=0.95,
    tau=0.05,
    learning_rate=1e-3,
    ent_coef=0.03,
    seed=0,
    device="cpu",
)
model.learn(steps)


def policy(observations: dict[str, np.ndarray]) -> np.ndarray:
    return model.predict(envs.normalize_obs(observations), deterministic=True)[0]


for name, tried in (("random", "random"), ("learnt", policy), ("scripted", "expert")):
    print(f"{name:9}", rlenvs.evaluate("PandaPush-v0", tried, seeds=range(1000, 1100), form="goal"))
