"""What the base install has to do, without pytest or any extra: a script that plays all environments, one part of them
compiled, another one with each commit, the others in plain Python.

python base_install.py          all compiled
python base_install.py 1/8      an eighth of them; 2/8: another eighth
"""

import os
import subprocess
import sys

os.environ["SDL_VIDEODRIVER"] = "dummy"

import gymnasium
import numpy as np
from support.rotation import commits

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
    assert "pip install 'rlenvs-suite[mujoco]'" in text, text
    assert "\n" not in text
    return True


def play(env_id, backend):
    env = gymnasium.make(env_id, render_mode="rgb_array", backend=backend)
    env.action_space.seed(0)
    env.reset(seed=0)
    for _ in range(20 if backend == "numba" else 2):
        observation, _, terminated, truncated, _ = env.step(env.action_space.sample())
        assert env.observation_space.contains(observation)
        if terminated or truncated:
            env.reset()
    assert env.render().dtype == np.uint8
    env.close()


def play_team(env_id, backend):
    parallel = rlenvs.parallel_env(env_id, backend=backend)
    parallel.reset(seed=0)
    parallel.step({agent: parallel.action_space(agent).sample() for agent in parallel.agents})


def main(backend, ids):
    for extra in ("torch", "stable_baselines3", "mujoco", "pybullet", "ray"):
        assert extra not in sys.modules, extra
    teams = rlenvs.list_envs("multi-agent")
    for env_id in ids:
        if needs_an_extra(env_id):
            print("needs an extra", env_id)
            continue
        play(env_id, backend)
        if env_id in teams:
            play_team(env_id, backend)
        print("ok", env_id, backend)


def stem(env_id):
    """An id without the mark of its form with vector rewards, which shares its code."""
    return env_id.replace("/mo-", "/")


def part(text):
    """The ids of a part such as "1/8", each beside its "mo-" form; and all others."""
    first, every = map(int, text.split("/"))
    stems = sorted(set(map(stem, rlenvs.list_envs())))[(first + (commits() or 0)) % every :: every]
    ids = sorted(rlenvs.list_envs(), key=stem)
    return [id for id in ids if stem(id) in stems], [id for id in ids if stem(id) not in stems]


if __name__ == "__main__":
    given = sys.argv[1:] or ["1/1"]
    if given[0] in ("numba", "python"):
        main(*given[:1], given[1:])
        sys.exit()
    for backend, chosen in zip(("numba", "python"), part(given[0]), strict=True):
        for begin in range(0, len(chosen), AT_ONCE):
            subprocess.run([sys.executable, __file__, backend, *chosen[begin : begin + AT_ONCE]], check=True)
    print(sys.version.split()[0], given[0], "passed")
