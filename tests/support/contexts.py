"""What the tests of contexts, drift and levels share."""

import numpy as np

import rlenvs
from rlenvs.wrappers.contexts import EpisodeDrift, LevelCurriculum
from rlenvs.wrappers.forms import wrap

HOVER, SPREAD, TAG, SWARM = "QuadHover-v0", "ParticleSpread-v0", "ParticleTag-v0", "QuadMultiHover-v0"
ARMS = [{"arm": 0.03}, {"arm": 0.05, "inertia_x": 2e-5}, {"start_height": 1.2}]
DRIFTS = [
    EpisodeDrift("arm", scale=0.01),
    EpisodeDrift("wind_x", "sine", low=-1.0, high=2.0, period=3, phase=0.5),
    EpisodeDrift("start_height", "steps", low=0.5, high=1.5, period=2),
]
LEVELS = [
    LevelCurriculum(["easy", "hard"], schedule="episodes", episodes=2),
    LevelCurriculum(["easy", "hard"], window=2, threshold=0.5),
]


def made(*wrappers, id=HOVER, **keywords):
    return wrap(rlenvs.make(id, **{"horizon": 3, **keywords}), *wrappers)


def made_vec(count, *wrappers, id=HOVER, **keywords):
    return wrap(rlenvs.make_vec(id, count, **{"horizon": 3, **keywords}), *wrappers)


def episodes(env, count, seed=0, actor=None):
    """The infos with which episodes begin."""
    infos = []
    for e in range(count):
        _, info = env.reset(seed=seed if e == 0 else None)
        infos.append(info)
        over = False
        while not over:
            action = env.expert_action() if actor == "expert" else np.zeros(env.action_space.shape, np.float32)
            *_, terminated, truncated, _ = env.step(action)
            over = terminated or truncated
    return infos


def value(env, name):
    return env.unwrapped.batch.get_params()[name]
