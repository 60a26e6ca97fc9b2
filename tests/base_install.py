"""What the base install has to do, without pytest or any extra: run as a script."""

import os
import sys

os.environ["SDL_VIDEODRIVER"] = "dummy"

import gymnasium
import numpy as np

import rlenvs
from rlenvs.core.errors import MissingExtraError

for extra in ("torch", "stable_baselines3", "mujoco", "pybullet", "ray"):
    assert extra not in sys.modules, extra


def needs_an_extra(env_id):
    """Whether the world's engine is not installed; making it has to say in one line what is missing."""
    try:
        gymnasium.make(env_id).close()
    except MissingExtraError as error:
        text = str(error)
    else:
        return False
    assert "pip install 'rlenvs[mujoco]'" in text, text
    assert "\n" not in text
    return True


for env_id in rlenvs.list_envs():
    if needs_an_extra(env_id):
        print("needs an extra", env_id)
        continue
    env = gymnasium.make(env_id, render_mode="rgb_array")
    env.action_space.seed(0)
    observation, info = env.reset(seed=0)
    for _ in range(20):
        observation, reward, terminated, truncated, info = env.step(env.action_space.sample())
        assert env.observation_space.contains(observation)
        if terminated or truncated:
            env.reset()
    assert env.render().dtype == np.uint8
    env.close()
    print("ok", env_id)

for env_id in rlenvs.list_envs("multi-agent"):
    if needs_an_extra(env_id):
        continue
    parallel = rlenvs.parallel_env(env_id)
    parallel.reset(seed=0)
    parallel.step({agent: parallel.action_space(agent).sample() for agent in parallel.agents})
print(sys.version.split()[0], "passed")
