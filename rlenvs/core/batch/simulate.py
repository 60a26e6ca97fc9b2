"""Rolling out many action sequences from one state in one call, for search and model-predictive control."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rlenvs.core.batch.kernel_batch import KernelBatch
from rlenvs.core.declare.errors import ActionError
from rlenvs.core.declare.inputs import actions_of, positive
from rlenvs.core.declare.renamed import renamed


class Rollouts(NamedTuple):
    """What came of K action sequences of T steps (A agents; the agent axis is absent in single-agent worlds).

    rewards, costs: float64 (K, T[, A]), zero after the end of an episode; vectors of rewards (K, T, terms) where
    wrappers on a form with such rewards are played.
    observations: (K[, A], ...), at the end of each sequence, of the batch's type, or as they are encoded.
    lengths: int64 (K,), steps played. over: bool (K,), whether the episode ended within the sequence.
    """

    rewards: np.ndarray
    costs: np.ndarray
    observations: np.ndarray
    lengths: np.ndarray
    over: np.ndarray


@renamed
class PlanRollouts:
    """K copies of an environment, including its `rlenvs.wrappers`, for look-ahead planning.

    Args:
        env: an environment of this package in any form, or a batch; it is not changed. Wrappers of this package are
            played; those of other packages are left out.
        num_plans: K.
        threads: threads per call; None decides by the time that a call takes.

    Raises:
        ParameterError: K or threads is no positive integer; wrappers of this package on agents of a parallel form.
        TypeError: no environment of this package.
    """

    def __init__(self, env: Any, num_plans: int, threads: int | None = None) -> None:
        source, count = batch_of(env), positive("num_plans", num_plans)
        self._source = source
        stack = stack_of(env)
        self._stack = None if stack is None else stack.futures(count, threads)
        self.batch = source.clone(count, threads) if self._stack is None else self._stack.batch

    def __call__(self, actions: Any, state: Any = None) -> Rollouts:
        """Play K action sequences from a snapshot, or from where the environment is now.

        Args:
            actions: (K, T, ...), each of the shape of an action; with several agents (K, T, A, ...).
                Numbers are clipped to the bounds of the action space, where no wrapper gets them as they are.
            state: a snapshot, with the wrappers where there are some; None for the present state.

        Raises:
            ActionError: wrong shape or type, NaN, not a choice.
            SnapshotError: the snapshot belongs to another environment.
        """
        if self._stack is not None:
            return self._stack.play(actions, state)
        plan = self._check(actions)
        self.batch.set_state(self._source.get_state() if state is None else state, slice(None))
        start = self.batch.states["elapsed"].copy()
        rewards, costs = self.batch.rollout(plan)
        lengths = self.batch.states["elapsed"] - start
        encode, observations = self.batch.setup.encode, self.batch.observations.copy()
        over = self.batch.over.copy()
        if encode is not None and not self.batch.setup.in_parts:
            observations = encode(observations)
        if not self.batch.world.agents:
            rewards, costs, observations = rewards[:, :, 0], costs[:, :, 0], observations[:, 0]
        return Rollouts(rewards, costs, observations, lengths, over)

    def _check(self, actions: Any) -> np.ndarray:
        batch, setup = self.batch, self.batch.setup
        array = actions_of(batch.world.name, actions)
        per_action = () if setup.single_choice else (setup.action_size,)
        per_step = ((batch.agents,) if batch.world.agents else ()) + per_action
        kinds = "fiu" if setup.continuous else "iu"
        wanted = f"({batch.num_envs}, T{''.join(f', {n}' for n in per_step)})"
        if array.ndim != 2 + len(per_step) or array.shape[0] != batch.num_envs or array.shape[2:] != per_step:
            raise ActionError(
                f"{batch.world.name}: action sequences of shape {array.shape} were given; needed: {wanted}"
            )
        if array.dtype.kind not in kinds:
            raise ActionError(f"{batch.world.name}: actions of type {array.dtype} were given")
        if setup.continuous:
            if np.isnan(array).any():
                raise ActionError(f"{batch.world.name}: the action sequences contain NaN")
            array = np.clip(array, *setup.action_scaling[2:])
        else:
            self._check_choices(array)
        return array.reshape(array.shape[0], array.shape[1], *batch.actions.shape[1:])

    def _check_choices(self, array: np.ndarray) -> None:
        """ActionError for what is no choice of its agent: agents may differ in what they can choose."""
        batch = self.batch
        plans = array.reshape(-1, batch.agents, batch.setup.numbers)
        for k, role in enumerate(batch.setup.roles):
            own = plans[:, k]
            wrong = own[((own < 0) | (own >= batch.setup.own_choices[k])).any(axis=1)]
            if wrong.size:
                who = f", {role.name}" if batch.agents > 1 else ""
                raise ActionError(f"{batch.world.name}{who}: {batch.loader.choice_complaint(wrong[0].tolist(), k)}")


def rollout_plans(env: Any, actions: Any, state: Any = None) -> Rollouts:
    """Simulate K action sequences from one state, without changing the environment.

    Args:
        env: an environment of this package in any form, or a batch; as for `PlanRollouts`.
        actions: (K, T, ...) as for `PlanRollouts`. In a loop, make a `PlanRollouts` once instead.
        state: where to start; None for the environment's present state.

    Raises:
        ActionError, SnapshotError, ParameterError: as `PlanRollouts`.
    """
    name = batch_of(env).world.name
    plan = actions_of(name, actions)
    if plan.ndim < 2 or plan.shape[0] < 1:
        raise ActionError(f"{name}: action sequences of shape {plan.shape} were given; needed: (K, T, ...)")
    return PlanRollouts(env, plan.shape[0])(plan, state)


def batch_of(env: Any) -> KernelBatch:
    """The batch behind an environment, whatever wraps it."""
    if isinstance(env, KernelBatch):
        return env
    inner = getattr(env, "unwrapped", env)
    batch = getattr(inner, "batch", None)
    if not isinstance(batch, KernelBatch):
        raise TypeError(f"{type(env).__name__} is not an environment of rlenvs")
    return batch


def stack_of(env: Any) -> Any:
    """The environment with wrappers of this package within what wraps it; None where there is none."""
    while env is not None and not hasattr(type(env), "futures"):
        env = getattr(env, "env", None)
    return env
