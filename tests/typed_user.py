"""A user's script that mypy reads as strictly as it can, against the installed package (`run.py package`)."""

from typing import Any

import gymnasium

import rlenvs
from rlenvs.core import World, kernel, param
from rlenvs.wrappers import CostBudget, Sensor, wrap


def mean_return(id: str, seeds: int) -> float:
    env: gymnasium.Env[Any, Any] = rlenvs.make(id, mass=0.03)
    envs = rlenvs.make_vec(id, 4)
    envs.reset(seed=0)
    wrapped = wrap(env, Sensor("position", noise=0.02), CostBudget(limit=25.0))
    wrapped.reset(seed=0)
    batch = rlenvs.make_batch(id, 16)
    batch.seed(list(range(16)))
    return float(rlenvs.evaluate(id, "expert", seeds=seeds).mean)


def describe(world: World) -> str:
    return f"{world.name}: {param(1.0, 0.5, 2.0, 'kg', 'a mass')} {kernel}"


ids: list[str] = rlenvs.list_envs()
rlenvs.maek("QuadHover-v0")  # type: ignore[attr-defined]  # strict mypy complains of ignores that nothing needs
rlenvs.make_vec("QuadHover-v0", "4")  # type: ignore[arg-type]
