"""Policies that attain the points of a front, and their returns when played in the world."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from rlenvs.core.catalogue.make import make
from rlenvs.core.declare.errors import ParameterError, shortened

__all__ = ["OpenLoopPolicy", "Policy", "PolicyReturns", "TabularPolicy", "TreePolicy", "exact_value", "play_policy"]


class Policy(Protocol):
    """A deterministic policy with memory, on state numbers."""

    def first(self, state: int) -> Any:
        """The memory at the start of an episode."""

    def action(self, memory: Any, state: int) -> int:
        """What to do."""

    def after(self, memory: Any, state: int) -> Any:
        """The memory for the next step, which starts in `state`."""


class TreePolicy:
    """An action, and a plan for each possible next state: a policy found by dynamic programming.

    Attributes:
        action_now: what to do; -1 where nothing is planned any more.
        value: what is expected of it.
        follows: the plan for each state that may come next.
        closed: whether nothing but the end of the episode ends it, however much time is left.
    """

    __slots__ = ("action_now", "closed", "follows", "value")

    def __init__(
        self, action_now: int, value: np.ndarray, follows: Mapping[int, TreePolicy], closed: bool = True
    ) -> None:
        self.action_now, self.value, self.follows = action_now, value, follows
        self.closed: bool = closed and all(plan.closed for plan in follows.values())

    def first(self, state: int) -> TreePolicy:
        """The plan for the initial state."""
        return self.follows[state]

    def action(self, memory: TreePolicy, state: int) -> int:
        """The action of the plan."""
        return max(memory.action_now, 0)

    def after(self, memory: TreePolicy, state: int) -> TreePolicy:
        """The plan for the next state."""
        return memory.follows[state] if memory.follows else memory


class TabularPolicy:
    """An action for each state, the same in all steps or one row per step.

    Args:
        actions: (states,) or (steps, states).
    """

    def __init__(self, actions: np.ndarray) -> None:
        self.actions = np.atleast_2d(actions)

    def first(self, state: int) -> int:
        """The first row."""
        return 0

    def action(self, memory: int, state: int) -> int:
        """The action of the current row for the state."""
        return int(self.actions[memory, state])

    def after(self, memory: int, state: int) -> int:
        """The next row, or the last one."""
        return min(memory + 1, len(self.actions) - 1)


class OpenLoopPolicy:
    """An open-loop sequence of actions, for deterministic worlds, or worlds with one step.

    Args:
        actions: the last one is repeated when there is time left. For a team, a row for each step, with an action of
            each agent.
    """

    def __init__(self, actions: Sequence[Any] | np.ndarray) -> None:
        self.actions: list[Any] = np.asarray(actions, np.int64).tolist()

    def first(self, state: int) -> int:
        """The first action."""
        return 0

    def action(self, memory: int, state: int) -> Any:
        """The action of this step."""
        return self.actions[memory]

    def after(self, memory: int, state: int) -> int:
        """The next one."""
        return min(memory + 1, len(self.actions) - 1)


class PolicyReturns(NamedTuple):
    """The returns of a policy played in the world.

    Attributes:
        mean: (terms,) mean discounted return.
        half_width: (terms,) of its 95 % confidence interval; 0 where all episodes gave the same.
        returns: (episodes, terms).
    """

    mean: np.ndarray
    half_width: np.ndarray
    returns: np.ndarray


def play_policy(env: Any, policy: Policy, gamma: float = 1.0, episodes: int = 1, seed: int = 0) -> PolicyReturns:
    """Play a policy in the world itself instead of its model, to verify a point of a front.

        front = rlenvs.pareto.pareto_front("ResourceGathering-v0")
        rlenvs.pareto.play_policy("ResourceGathering-v0", front.policies[0], episodes=10_000).mean

    Of a team the returns are those of its first agent.

    Args:
        env: the id of a world, or an environment made with the options that are meant. It is not touched.
        policy: of `Front.policies`, or an `OpenLoopPolicy`.
        gamma: discount.
        episodes: how many; one is enough where nothing is left to chance.
        seed: of the first episode; the next one has the next seed.

    Raises:
        ParameterError: the world does not number its states, as policies of a model need it, or episodes below 1.
    """
    if isinstance(episodes, bool) or not isinstance(episodes, (int, np.integer)) or episodes < 1:
        raise ParameterError(f"episodes={shortened(episodes)} must be a positive integer")
    batch = batch_of(env).clone(int(episodes))
    numbered = batch.world.functions.get("state_number")
    if numbered is None and not isinstance(policy, OpenLoopPolicy):
        raise ParameterError(
            f"{batch.world.name} does not number its states, so only an OpenLoopPolicy can be replayed"
        )
    batch.seed(list(range(seed, seed + int(episodes))))
    batch.reset()
    returns = _play(batch, numbered, policy, gamma)
    spread = returns.std(axis=0, ddof=1) if episodes > 1 else np.zeros(returns.shape[1])
    return PolicyReturns(returns.mean(axis=0), 1.96 * spread / np.sqrt(episodes), returns)


def exact_value(env: Any, policy: Policy, gamma: float = 1.0) -> np.ndarray:
    """The exact value of a policy in the model of a world, up to its time limit: expected discounted sums, (terms,).

    Args:
        env: the id of a world, or an environment made with the options that are meant.
        policy: of `Front.policies`, or any other on the numbers of states, with memories that can be compared.
        gamma: discount.

    Raises:
        AttributeError: the world has no exact model. MissingExtraError: SciPy is not installed.
    """
    setup = batch_of(env).setup
    model = setup.exact_model()
    total, weight = np.zeros(model.terms.shape[2]), 1.0
    now = {(int(s), policy.first(int(s))): float(model.start[s]) for s in np.flatnonzero(model.start)}
    for _ in range(setup.horizon):
        later: dict[tuple[int, Any], float] = {}
        for (state, memory), chance in now.items():
            action = policy.action(memory, state)
            total += weight * chance * model.terms[state, action]
            rows = model.P[action]
            part = slice(rows.indptr[state], rows.indptr[state + 1])
            for after, share in zip(rows.indices[part].tolist(), rows.data[part].tolist(), strict=True):
                place = after, policy.after(memory, after)
                later[place] = later.get(place, 0.0) + chance * share
        if not later:
            break
        now, weight = later, weight * gamma
    return total


def _play(batch: Any, numbered: Any, policy: Policy, gamma: float) -> np.ndarray:
    """The discounted returns (worlds, terms) of the episode in which each world of a batch begins."""
    values, count = batch.setup.values, batch.num_envs

    def states() -> list[int]:
        return numbered(values, batch.states).tolist() if numbered else [0] * count

    memories: list[Any] = [policy.first(state) for state in states()]
    going = np.ones(count, bool)
    returns, discount = np.zeros((count, len(batch.world.terms))), 1.0
    while going.any():
        now = zip(memories, states(), strict=True)
        actions = [policy.action(memory, state) if on else 0 for on, (memory, state) in zip(going, now, strict=True)]
        batch.load_actions(np.array([np.broadcast_to(action, batch.agents) for action in actions]))
        batch.step_inplace(only=going)  # episodes differ in length
        returns[going] += discount * batch.terms[going, : returns.shape[1], 0]
        discount *= gamma
        going &= ~(batch.terminated[:, 0] | batch.truncated[:, 0])
        follow = zip(memories, states(), strict=True)
        memories = [policy.after(m, state) if on else m for on, (m, state) in zip(going, follow, strict=True)]
    return returns


def batch_of(env: Any) -> Any:
    """The batch behind an id, or behind an environment in any form."""
    if isinstance(env, str):
        env = make(env)
    return getattr(env, "unwrapped", env).batch
