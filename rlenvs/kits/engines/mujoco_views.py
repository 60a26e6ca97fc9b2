"""What is read of environments of Gymnasium that MuJoCo moves, of worlds whose state is MuJoCo's."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from rlenvs.core import instead, view
from rlenvs.core.declare.drop_in import Instead, View

WAY = "write `env.unwrapped.batch.states`, fields qpos and qvel, then call `env.unwrapped.sync_from_state()`"


class Readings(SimpleNamespace):
    """Arrays of MuJoCo's MjData under their names, copies that cannot be written to."""

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            f"data has no {name!r} here; it has {', '.join(vars(self))}. For all of MuJoCo's: "
            "data = mujoco.MjData(env.unwrapped.model), copy qpos and qvel into it, then mujoco.mj_forward"
        )


def _data(setup: Any, p: Any, s: Any) -> Readings:
    found = {name: np.array(s[name]) for name in s.dtype.names if s[name].dtype == np.float64}
    for array in found.values():
        array.flags.writeable = False
    return Readings(**{**found, "time": float(found["time"].ravel()[0])})


def _model(setup: Any) -> Any:
    from rlenvs.kits.engines.mujoco import compiled  # an extra

    return compiled(setup.world, setup.values)


def _frame_skip(setup: Any, p: Any, s: Any) -> int:
    return round(1.0 / (setup.fps * _model(setup).opt.timestep))


def _state_vector(setup: Any, p: Any, s: Any) -> Callable[[], np.ndarray]:
    return lambda: np.concatenate([s["qpos"], s["qvel"]])


VIEWS: dict[str, View | Instead] = {
    "data": view(_data, "`qpos`, `qvel`, `ctrl`, `time` and the other arrays of MuJoCo's MjData in the state"),
    "dt": view(lambda setup, p, s: 1.0 / setup.fps, "seconds per control step"),
    "frame_skip": view(_frame_skip, "physics steps per control step"),
    "init_qpos": view(lambda setup, p, s: _model(setup).qpos0, "`qpos` of the model"),
    "init_qvel": view(lambda setup, p, s: np.zeros(_model(setup).nv), "zeros"),
    "state_vector": view(_state_vector, "function that gives `qpos` and `qvel` in one array"),
    "do_simulation": instead("step() moves the robot; `rlenvs.make_batch` has parts of steps"),
    "mujoco_renderer": instead('render() gives images, with `render_mode="rgb_array"`'),
    "get_body_com": instead("mujoco.mj_forward gives places of bodies: see `data`"),
}
