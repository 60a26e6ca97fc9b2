"""What the base install has to do, without pytest or any extra: a script, run with all ids or with every second one.

python base_install.py          all
python base_install.py 1/2      the first, third, ...; 2/2 the others
"""

import os
import subprocess
import sys

os.environ["SDL_VIDEODRIVER"] = "dummy"

import gymnasium
import numpy as np

import rlenvs
from rlenvs.core.declare.errors import MissingExtraError

AT_ONCE = 40  # ids in one process, which keeps the memory that compiling took


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


def play(env_id):
    env = gymnasium.make(env_id, render_mode="rgb_array")
    env.action_space.seed(0)
    env.reset(seed=0)
    for _ in range(20):
        observation, _, terminated, truncated, _ = env.step(env.action_space.sample())
        assert env.observation_space.contains(observation)
        if terminated or truncated:
            env.reset()
    assert env.render().dtype == np.uint8
    env.close()


def play_team(env_id):
    parallel = rlenvs.parallel_env(env_id)
    parallel.reset(seed=0)
    parallel.step({agent: parallel.action_space(agent).sample() for agent in parallel.agents})


def main(ids):
    for extra in ("torch", "stable_baselines3", "mujoco", "pybullet", "ray"):
        assert extra not in sys.modules, extra
    teams = rlenvs.list_envs("multi-agent")
    for env_id in ids:
        if needs_an_extra(env_id):
            print("needs an extra", env_id)
            continue
        play(env_id)
        if env_id in teams:
            play_team(env_id)
        print("ok", env_id)


def stem(env_id):
    """An id without the mark of its form with vector rewards, which shares its code."""
    return env_id.replace("/mo-", "/")


def part(text):
    """The ids of a part such as "1/2", each beside its "mo-" form."""
    first, every = map(int, text.split("/"))
    stems = sorted(set(map(stem, rlenvs.list_envs())))[first - 1 :: every]
    return sorted((env_id for env_id in rlenvs.list_envs() if stem(env_id) in stems), key=stem)


if __name__ == "__main__":
    given = sys.argv[1:] or ["1/1"]
    if given[0].startswith("rlenvs/"):
        main(given)
        sys.exit()
    chosen = part(given[0])
    for begin in range(0, len(chosen), AT_ONCE):
        subprocess.run([sys.executable, __file__, *chosen[begin : begin + AT_ONCE]], check=True)
    print(sys.version.split()[0], given[0], "passed")
