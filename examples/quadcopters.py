"""Quadcopters: one flight with two physics engines, an onboard camera, and a swarm."""

import importlib.util

import gymnasium
import numpy as np

import rlenvs

print("Takes about 10 s; the first time two minutes more, to compile three environments.", flush=True)

# the same flight by this package's kernels and, where it is installed, by PyBullet
engines = ["kernel", "pybullet"] if importlib.util.find_spec("pybullet") else ["kernel"]
for physics in engines:
    env = gymnasium.make("rlenvs/QuadHover-v0", physics=physics, level="real")
    env.reset(seed=0)
    for _ in range(60):
        observation, *_, info = env.step(env.unwrapped.expert_action())
    print(f"{physics:9} position after 2 s: {np.round(2 * observation[:3], 3)} m", flush=True)
    env.close()

# a racer that sees: its observations are the vector and two images
racer = gymnasium.make("rlenvs/QuadRace-v0", camera="rgbd")
observation, _ = racer.reset(seed=0)
print({name: array.shape for name, array in observation.items()}, flush=True)

# twenty vehicles, each with a goal of its own, under each other's downwash
swarm = rlenvs.parallel_env("QuadMultiHover-v0", agents=20, downwash=True)
swarm.reset(seed=0)
while swarm.agents:
    _, _, _, _, infos = swarm.step(swarm.expert_actions())
print(f"{sum(info['is_success'] for info in infos.values())} of {len(infos)} succeeded together")
