"""Exact values and best actions of tables."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np

from rlenvs.core.catalogue.make import make
from rlenvs.core.declare.errors import MissingExtraError, ParameterError
from rlenvs.kits.tables.table import CERTAIN, MOST_SWEEPS, Table, better_policy


class Model(NamedTuple):
    """A finite Markov decision process as matrices.

    Attributes:
        P: by action, the probability (states, states) that the episode goes on in the next state; sparse arrays. What
            a row lacks to 1 is the probability that it ends.
        R: (states, actions) expected rewards of a step, under the weights that the environment has.
        start: (states,) where episodes begin.
        allowed: (states, actions) bool, False for an action that the mask forbids.
        terms: (states, actions, terms) expected values of the reward terms of a step, without weights; None where they
            are not known one by one.
        costs: (states, actions, costs) expected costs of a step; None where they are not known.
    """

    P: tuple[Any, ...]
    R: np.ndarray
    start: np.ndarray
    allowed: np.ndarray
    terms: np.ndarray | None = None
    costs: np.ndarray | None = None


class Solution(NamedTuple):
    """What `solve_mdp` found.

    Attributes:
        values: (states,) expected discounted sums of rewards under the policy. With a horizon those with all of its
            steps left.
        policy: (states,) a best action in each state; with a horizon (horizon, states), a row for each step.
        q: (states, actions) values of taking an action first; -inf where it is not allowed.
        start_value: what is expected of an episode.
    """

    values: np.ndarray
    policy: np.ndarray
    q: np.ndarray
    start_value: float


def model_of(table: Table) -> Model:
    """The matrices of a table.

    Raises:
        MissingExtraError: SciPy is not installed.
    """
    sparse = _scipy().sparse
    found, shape = table.columns, (table.states, table.states)
    state, action = np.divmod(found["pair"], table.actions)
    on = ~found["end"]
    matrices = []
    for each in range(table.actions):
        rows = on & (action == each)
        place = state[rows], found["next_state"][rows]
        matrices.append(sparse.coo_array((found["probability"][rows], place), shape).tocsr())
    start = np.zeros(table.states)
    start[list(table.starts)] = list(table.starts.values())
    terms = table.expected_rewards()
    rewards = terms @ (table.weights or (1.0,))
    costs = table.expected_costs() if table.costs else None
    return Model(tuple(matrices), rewards, start / start.sum(), table.open_actions(), terms, costs)


def model_of_arrays(
    transitions: Sequence[np.ndarray], rewards: np.ndarray, start: np.ndarray, allowed: np.ndarray
) -> Model:
    """A model from matrices (states, states), one for each action.

    Raises:
        MissingExtraError: SciPy is not installed.
    """
    sparse = _scipy().sparse
    return Model(tuple(sparse.csr_array(matrix) for matrix in transitions), rewards, start, allowed)


def _scipy() -> Any:
    try:
        import scipy.sparse.linalg
    except ImportError:
        raise MissingExtraError("the exact model of a world", "exact") from None
    return scipy


def solve_mdp(env: Any, gamma: float = 1.0, horizon: int | None = None) -> Solution:
    """Compute the optimal policy of a finite world and its exact values.

        rlenvs.solve_mdp("FrozenLake-v0", gamma=0.95).start_value

    Without a horizon by policy iteration, each policy evaluated by SciPy's sparse solver; with one by backward
    induction over its steps. Where several states show the same number (`Taxi-v0` with fickle passengers), the policy
    sees more than an agent does, and its value is a bound.

    Args:
        env: the id of a world, an environment, or a `Model`.
        gamma: discount in (0, 1].
        horizon: steps after which episodes are cut off, counted from the start, such as `env.spec.max_episode_steps`;
            None: never.

    Raises:
        AttributeError: the world has no exact model. MissingExtraError: SciPy is not installed.
        ParameterError: a discount or horizon out of range; or, with gamma=1 and no horizon, a model in which some
            policy gains without an end.
    """
    if not isinstance(gamma, Real) or isinstance(gamma, bool) or not 0.0 < gamma <= 1.0:
        raise ParameterError(f"gamma={gamma!r} must be a number in (0, 1]")
    steps = None if horizon is None else steps_of(horizon)
    if isinstance(env, str):
        env = make(env)
    model = env if isinstance(env, Model) else getattr(env, "unwrapped", env).model
    return _by_policy_iteration(model, float(gamma)) if steps is None else _backward(model, gamma, steps)


def steps_of(horizon: Any) -> int:
    """A horizon; ParameterError where it is none."""
    if not isinstance(horizon, Integral) or isinstance(horizon, bool) or horizon < 1:
        raise ParameterError(f"horizon={horizon!r} must be a positive integer")
    return int(horizon)


def _backward(model: Model, gamma: float, horizon: int) -> Solution:
    values, q = np.zeros(len(model.start)), model.R
    first = np.argmax(model.allowed, axis=1)
    policy = np.zeros((horizon, len(model.start)), np.int64)
    for left in range(horizon):
        q = _q(model, gamma, values)
        policy[-1 - left] = better_policy(q, policy[-left] if left else first)
        values = q.max(axis=1)
    return Solution(values, policy, q, float(model.start @ values))


def _q(model: Model, gamma: float, values: np.ndarray) -> np.ndarray:
    q = model.R + gamma * np.stack([matrix @ values for matrix in model.P], axis=1)
    return np.where(model.allowed, q, -np.inf)


def _by_policy_iteration(model: Model, gamma: float) -> Solution:
    """From the policy of value iteration over as many steps as there are states, which ends wherever it should."""
    states = len(model.start)
    values, policy = np.zeros(states), np.argmax(model.allowed, axis=1)
    for _ in range(min(states + 1, MOST_SWEEPS)):
        q = _q(model, gamma, values)
        values, policy = q.max(axis=1), better_policy(q, policy)
    while True:
        values = _evaluated(model, gamma, policy)
        q = _q(model, gamma, values)
        improved = better_policy(q, policy)
        if np.array_equal(improved, policy):
            return Solution(values, policy, q, float(model.start @ values))
        policy = improved


def _evaluated(model: Model, gamma: float, policy: np.ndarray) -> np.ndarray:
    """The values of a policy, from (1 - gamma P) v = R. States from which it never ends and gains nothing are worth 0,
    though their equations have no single solution."""
    scipy = _scipy()
    states = np.arange(len(policy))
    chosen = scipy.sparse.csr_array((len(policy), len(policy)))
    for action, matrix in enumerate(model.P):
        chosen = chosen + scipy.sparse.diags_array((policy == action).astype(float)) @ matrix
    rewards = model.R[states, policy]
    system = (scipy.sparse.eye_array(len(policy)) - gamma * chosen).tocsc()
    if gamma == 1.0:
        solved = _that_end(chosen)
        rest = ~solved
        if (np.abs(rewards[rest]) > 0.0).any():
            raise ParameterError(
                "with gamma=1 the return of some policy is infinite; give a gamma below 1, or a horizon"
            )
        values = np.zeros(len(policy))
        if solved.any():
            values[solved] = scipy.sparse.linalg.spsolve(system[solved][:, solved], rewards[solved])
        return values
    return np.atleast_1d(scipy.sparse.linalg.spsolve(system, rewards))


def _that_end(chosen: Any) -> np.ndarray:
    """The states (bool) from which episodes may end, by the matrix of a policy."""
    ends = np.asarray(chosen.sum(axis=1)).ravel() < 1.0 - CERTAIN
    while True:
        more = ends | (chosen @ ends.astype(float) > 0.0)
        if np.array_equal(more, ends):
            return ends
        ends = more
