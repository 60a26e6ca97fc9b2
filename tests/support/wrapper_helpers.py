"""What all tests of wrappers share."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, SyncVectorEnv

import rlenvs
from rlenvs.core.check import check_env
from rlenvs.core.check.playing import Player
from rlenvs.core.check.verdicts import compare, vector_record
from rlenvs.wrappers.forms import wrap

HOVER = "QuadHover-v0"
BUSY = {"hazards": 20, "extent": 0.8, "hazard_radius": 0.4}  # so dense that random actions pay for hazards soon
FENCED = {"action": "velocity"}  # the actions of QuadHover-v0 that its geofence bounds
QUAD = {"mass": (0.02, 0.027, 0.04), "gravity": (8.0, 9.8, 11.0)}  # an uncertainty set


def hover(*wrappers: Any, count: int = 64, **keywords: Any) -> Any:
    """Worlds whose episodes end with the horizon only, whatever the actions."""
    return wrap(rlenvs.make_vec(HOVER, count, **{"crash_tilt": 3.2, **keywords}), *wrappers)


def assert_conforms(id: str, *wrappers: Any, **keywords: Any) -> None:
    """`rlenvs.check_env` of a wrapped environment passes."""
    check_env(wrap(rlenvs.make(id, **keywords), *wrappers)).raise_on_failure()


def assert_forms_agree(id: str, *wrappers: Any, horizon: int = 12, steps: int = 30, **keywords: Any) -> None:
    """The vector form with wrappers does in every autoreset mode what Gymnasium's SyncVectorEnv makes of single forms
    with the same wrappers and the seeds s, s + 1, ...: observations, rewards, flags, infos, finals."""
    keywords = {"horizon": horizon, **keywords}

    def single() -> Any:
        return wrap(rlenvs.make(id, **keywords), *wrappers)

    for mode in AutoresetMode:
        ours = Player(wrap(rlenvs.make_vec(id, 3, autoreset_mode=mode, **keywords), *wrappers), seed=7).play(steps)
        sync = SyncVectorEnv([single] * 3, autoreset_mode=mode)
        if hasattr(sync.envs[0], "reward_space"):  # its array of rewards has no room for vectors
            sync._rewards = np.zeros((3, *sync.envs[0].reward_space.shape), np.float32)
        stock = Player(sync, seed=7).play(steps)
        compare(f"{mode.name}: vector form and single forms", vector_record(ours), vector_record(stock))


def fast(stage: Any, actions: np.ndarray, slots: Any) -> np.ndarray:
    """Full thrust forward is dangerous."""
    return np.asarray(actions[:, 0] > 0.5)


def never(stage: Any, actions: np.ndarray, slots: Any) -> np.ndarray:
    """No action is dangerous."""
    return np.zeros(stage.count, np.bool_)
