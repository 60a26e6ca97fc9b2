"""Hindsight experience replay: SAC learns to push a cube to a goal from a sparse reward (-1 or 0).

    python examples/learn_to_push.py                    # succeeds in about four of five episodes
    python examples/learn_to_push.py --steps 256000     # in nineteen of twenty

Before training, the scripted expert plays in a quarter of the environments. Without it, the cube hardly ever moves.
"""

import argparse
import time

import numpy as np
import torch
from stable_baselines3 import SAC, HerReplayBuffer
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import VecNormalize

import rlenvs

ID, ENVIRONMENTS, SHOWN, WARM_UP = "PandaPush-v0", 64, 16, 300
parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=179_200, help="of all environments together")
steps = parser.parse_args().steps
print(
    f"Takes about {max(steps / 20_000, 1.0):.0f} minutes on two cores; the first time half a minute more, to compile.",
    flush=True,
)


class ShownSAC(SAC):
    def _sample_action(self, learning_starts, action_noise=None, n_envs=1):
        actions, stored = super()._sample_action(learning_starts, action_noise, n_envs)
        if self.num_timesteps < learning_starts:
            advice = worlds.batch.expert_actions()[:SHOWN, 0]
            actions[:SHOWN] = stored[:SHOWN] = np.clip(advice + noise.normal(0.0, 0.1, advice.shape), -1.0, 1.0)
        return actions, stored


class Report(BaseCallback):
    """A line every few seconds."""

    told = 0.0

    def _on_step(self):
        episodes = self.model.ep_info_buffer
        if time.monotonic() - self.told > 3.0 and episodes:
            self.told = time.monotonic()
            mean = sum(episode["r"] for episode in episodes) / len(episodes)
            doing = "learning" if self.num_timesteps > self.model.learning_starts else "collecting"
            print(f"{self.num_timesteps:8,} steps, {doing}: return of the last 100 episodes {mean:6.1f}", flush=True)
        return True


class ApartHerReplayBuffer(HerReplayBuffer):
    """No hindsight where the cube did not move: it would teach to leave the cube alone."""

    def _sample_goals(self, steps, environments):
        goals = super()._sample_goals(steps, environments)
        start = self.observations["achieved_goal"][self.ep_start[steps, environments], environments]
        near = np.linalg.norm(goals - start, axis=1, keepdims=True) < 0.05
        return np.where(near, self.observations["desired_goal"][steps, environments], goals)


torch.set_num_threads(1)  # the networks are small
noise = np.random.default_rng(0)
worlds = rlenvs.sb3_vec_env(ID, ENVIRONMENTS, form="goal")
envs = VecNormalize(worlds, norm_reward=False)
model = ShownSAC(
    "MultiInputPolicy",
    envs,
    replay_buffer_class=ApartHerReplayBuffer,
    learning_starts=WARM_UP * ENVIRONMENTS,
    gradient_steps=6,
    learning_rate=1e-3,
    gamma=0.95,
    tau=0.05,
    ent_coef=0.03,
    seed=0,
    device="cpu",
)
model.learn(steps, callback=Report())


def policy(observations):
    return model.predict(envs.normalize_obs(observations), deterministic=True)[0]


print("\n100 episodes each, on seeds that training did not see")
for name, tried in (("random", "random"), ("learnt", policy), ("scripted", "expert")):
    print(f"{name:9}", rlenvs.evaluate(ID, tried, seeds=range(1000, 1100), form="goal"), flush=True)
