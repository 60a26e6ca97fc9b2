"""Multi-objective: the vector reward of an episode, compared with the exact Pareto front."""

import gymnasium
import numpy as np

import rlenvs  # noqa: F401  (registers the ids)
from rlenvs.single.treasure.front import pareto_front

print("Takes a few seconds; the first time half a minute more, to compile.", flush=True)
env = gymnasium.make("rlenvs/mo-DeepSeaTreasure-v0", map="concave")
print("reward space", env.unwrapped.reward_space)
env.reset(seed=0)
returns = np.zeros(2)
terminated = truncated = False
while not (terminated or truncated):
    _, vector, terminated, truncated, _ = env.step(env.unwrapped.expert_action())
    returns += vector
print("the scripted diver found (treasure, time) =", returns)
print("the exact front:")
for treasure, time in pareto_front("concave", gamma=1.0):
    print(f"  {treasure:6.1f} {time:6.1f}")
