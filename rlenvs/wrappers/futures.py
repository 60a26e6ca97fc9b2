"""Planned actions in copies of an environment with its wrappers, for `rlenvs.rollout_plans`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rlenvs.core.batch.simulate import Rollouts
from rlenvs.core.declare.errors import ActionError, ParameterError
from rlenvs.core.declare.inputs import actions_of
from rlenvs.core.forms.vector_env import VectorEnv
from rlenvs.wrappers.action_checks import check_actions
from rlenvs.wrappers.slot_values import copied
from rlenvs.wrappers.slots import stranger_on
from rlenvs.wrappers.wrapped_states import WrappedState, check_state
from rlenvs.wrappers.wrapper import Wrapper


class Futures:
    """K worlds like that of an environment, with wrappers like its own.

    Args:
        env: a single or vector form with wrappers.
        count: K. threads: as for a batch.

    Raises:
        ParameterError: wrappers of another package between the world and the wrappers.
    """

    def __init__(self, env: Any, count: int, threads: int | None) -> None:
        stranger = stranger_on(env.env)
        if stranger is not None:
            raise ParameterError(
                f"rollout_plans: {type(stranger).__name__} is below the wrappers of {env.top.name} and cannot be "
                f"copied for several plans; put it above them, or step copies of the environment, `copy.deepcopy(env)`"
            )
        inner = env.env.unwrapped
        batch = inner.batch.clone(count, threads)
        form = VectorEnv.of(batch, vector_reward=inner.vector_reward, others=inner.others, illegal=inner.illegal)
        self._env, self._played = env, env.same_wrappers_on(form)
        self.batch, self.count = batch, count

    def play(self, actions: Any, state: WrappedState | None) -> Rollouts:
        """Play plans (K, T, ...) from a snapshot, or from where the environment is now.

        Raises:
            ActionError: wrong shape or type, NaN, not a choice.
            SnapshotError: the snapshot is not one of this environment with these wrappers.
        """
        top, space = self._played.top, self._played.single_action_space
        plans = actions_of(top.name, actions)
        if plans.shape[:1] != (self.count,) or plans.ndim != 2 + len(space.shape or ()):
            shown = "".join(f", {n}" for n in space.shape or ())
            raise ActionError(
                f"{top.name}: action sequences of shape {plans.shape} were given; needed: ({self.count}, T{shown})"
            )
        everyone = np.ones(self.count, np.bool_)
        steps = [check_actions(plans[:, t], space, everyone, top.name) for t in range(plans.shape[1])]
        state = self._env.top.get_state(0) if state is None else check_state(state, self._played.wrappers, top.name)
        for k in range(self.count):
            top.set_state(state, k)
        return roll(top, steps)


def roll(top: Wrapper, steps: Sequence[np.ndarray]) -> Rollouts:
    """Step the slots of a stack by planned actions (slots, ...), up to the ends of their episodes."""
    rewards = np.zeros((top.count, len(steps), *top.reward.shape[1:]))
    costs, lengths = np.zeros((top.count, len(steps))), np.zeros(top.count, np.int64)
    for t, actions in enumerate(steps):
        going = ~top.over
        if not going.any():
            break
        top.step(actions, going)
        rewards[going, t] = top.reward[going]
        cost = top.read("cost")
        if cost is not None:
            costs[going, t] = cost[going]
        lengths += going
    return Rollouts(rewards, costs, copied(top.observation), lengths, top.over.copy())
