"""Attributes of environments that follow from their world: physical parameters, and what code written for the published
environment reads."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from rlenvs.core.batch.kernel_batch import KernelBatch
from rlenvs.core.declare.drop_in import Instead
from rlenvs.core.declare.errors import ParameterError

SHARED = (bool, int, float, str, dict, type(None))  # attributes of a vector form that hold for each environment
WAY = "change the state through `batch.states` and `refresh()`, or restore a snapshot with `set_state(snapshot)`"


def attribute_of(batch: KernelBatch, index: int, name: str, form: str) -> Any:
    """An attribute of one world.

    Raises:
        AttributeError: there is none of this name; it says what takes the place of an attribute of the original.
    """
    found = batch.world.drop_in.views.get(name)
    if isinstance(found, Instead):
        raise AttributeError(f"{batch.world.name} has no attribute {name!r}: {found.doc}")
    p, s = batch.records(index)
    if found is not None:
        return read_only(found.read(batch.setup, p, s))
    if name in batch.world.params:
        return float(p[name])
    raise AttributeError(f"{form} has no attribute {name!r}")


def model_of(batch: KernelBatch) -> Any:
    """The exact model of a finite world, or the model by which an engine moves the bodies.

    Raises:
        AttributeError: the world has neither. MissingExtraError: what makes it is not installed.
    """
    engine: Any = getattr(batch, "engine", None)
    if hasattr(engine, "model"):
        return copy.copy(engine.model)
    return batch.setup.exact_model()


def read_only(value: Any) -> Any:
    """The value; an array as one of its own that cannot be written to."""
    if isinstance(value, np.ndarray):
        value = value.copy()
        value.flags.writeable = False
    return value


class Assigns:
    """An environment whose physical parameters can be assigned to, and whose other attributes of the world cannot."""

    batch: KernelBatch

    def __setattr__(self, name: str, value: Any) -> None:
        batch = self.__dict__.get("batch")
        if batch is not None and name not in self.__dict__ and not hasattr(type(self), name):
            if name in batch.world.params:
                batch.set_params({name: value})
                return
            if name in batch.world.drop_in.views:
                raise AttributeError(f"{batch.world.name}: {name!r} can only be read; {WAY}")
        super().__setattr__(name, value)


def values_by_world(env: Any, name: str) -> list[Any]:
    """An attribute of each environment of a vector form.

    Raises:
        AttributeError: nothing of that name is there for single environments.
    """
    batch: KernelBatch = env.batch
    if name in OF_EACH:
        return [partial(OF_EACH[name], env, i) for i in range(env.num_envs)]
    shared = {"action_space": env.single_action_space, "observation_space": env.single_observation_space}
    if name in shared:
        return [shared[name]] * env.num_envs
    if name in batch.world.params or name in batch.world.drop_in.views:
        return [attribute_of(batch, i, name, type(env).__name__) for i in range(env.num_envs)]
    if name == "spec" or isinstance(getattr(env, name, env), SHARED):
        return [getattr(env, name)] * env.num_envs
    raise AttributeError(
        f"{type(env).__name__}: {name!r} is not available for single environments of a batch; available are "
        f"{', '.join([*OF_EACH, *shared, *batch.world.params, *batch.world.drop_in.views])}. "
        'vectorization_mode="sync" makes an object for each environment'
    )


def set_values(batch: KernelBatch, name: str, values: Any) -> None:
    """Set a physical parameter of all worlds, or of each, see `VectorEnv.set_attr`."""
    if name not in batch.world.params:
        known = ", ".join(batch.world.params) or "it has none"
        raise AttributeError(f"{batch.world.name}: {name!r} cannot be set; physical parameters can: {known}")
    if isinstance(values, (list, tuple, np.ndarray)):
        if len(values) != batch.num_envs:
            raise ParameterError(f"{name}: {len(values)} values were given for {batch.num_envs} environments")
        values = np.asarray(values)
    batch.set_params({name: values})


def _render(env: Any, i: int) -> Any:
    return env.renderer.image(i)


def _get_state(env: Any, i: int) -> Any:
    return env.batch.get_state(i)


def _set_state(env: Any, i: int, snapshot: Any) -> Any:
    env.batch.set_state(snapshot, i)
    return env.batch.get_observations((i, 0))


def _action_masks(env: Any, i: int) -> np.ndarray:
    return env.batch.masks[i, 0].astype(np.bool_)


def _expert_action(env: Any, i: int) -> Any:
    return env.batch.setup.shown_action(env.batch.expert_actions()[i, 0])


OF_EACH: dict[str, Callable[..., Any]] = {
    "render": _render,
    "get_state": _get_state,
    "set_state": _set_state,
    "action_masks": _action_masks,
    "expert_action": _expert_action,
}
