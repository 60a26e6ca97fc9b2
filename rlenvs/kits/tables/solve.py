"""Exact values and best actions of tables."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rlenvs.core.errors import MissingExtraError, ParameterError
from rlenvs.kits.tables.table import TIE, Table, first_best


class Model(NamedTuple):
    """A finite Markov decision process as matrices.

    Attributes:
        P: by action, the probability (states, states) that the episode goes on in the next state; sparse arrays. What
            a row lacks to 1 is the probability that it ends.
        R: (states, actions) expected rewards of a step.
        start: (states,) where episodes begin.
    """

    P: tuple[Any, ...]
    R: np.ndarray
    start: np.ndarray


class Solution(NamedTuple):
    """What `solve` found.

    Attributes:
        values: (states,) expected discounted sums of rewards under the policy. With a horizon those with all of its
            steps left.
        policy: (states,) a best action in each state; with a horizon (horizon, states), a row for each step.
        q: (states, actions) values of taking an action first.
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
    rewards = np.bincount(found["pair"], found["probability"] * found["reward"], table.states * table.actions)
    start = np.zeros(table.states)
    start[list(table.starts)] = list(table.starts.values())
    return Model(tuple(matrices), rewards.reshape(table.states, table.actions), start / start.sum())


def _scipy() -> Any:
    try:
        import scipy.sparse.linalg
    except ImportError:
        raise MissingExtraError("exact models need SciPy: pip install rlenvs[exact]") from None
    return scipy


def solve_model(model: Model, gamma: float = 1.0, horizon: int | None = None) -> Solution:
    """The best policy of a model and its exact values.

    Without a horizon by policy iteration, each policy evaluated by a sparse linear solver; with one by backward
    induction over its steps.

    Args:
        model: the matrices.
        gamma: discount in (0, 1].
        horizon: steps after which episodes are cut off, counted from the start; None: never.

    Raises:
        ParameterError: a discount or horizon out of range; or, with gamma=1 and no horizon, a model whose policies may
            go on for ever.
    """
    if isinstance(gamma, bool) or not 0.0 < gamma <= 1.0:
        raise ParameterError(f"gamma={gamma} must be a number in (0, 1]")
    if horizon is None:
        return _by_policy_iteration(model, gamma)
    if isinstance(horizon, bool) or horizon != int(horizon) or horizon < 1:
        raise ParameterError(f"horizon={horizon} must be a whole number from 1 on, or None")
    values = np.zeros(len(model.start))
    policy = np.zeros((int(horizon), len(model.start)), np.int64)
    q = model.R
    for left in range(int(horizon)):
        q = _q(model, gamma, values)
        policy[-1 - left] = first_best(q)
        values = q.max(axis=1)
    return Solution(values, policy, q, float(model.start @ values))


def _q(model: Model, gamma: float, values: np.ndarray) -> np.ndarray:
    return model.R + gamma * np.stack([matrix @ values for matrix in model.P], axis=1)


def _by_policy_iteration(model: Model, gamma: float) -> Solution:
    """From the policy of the last sweep of value iteration on; ties keep the action, so that it ends."""
    values = np.zeros(len(model.start))
    for _ in range(len(values) + 1):  # long enough to find an end from everywhere
        values = _q(model, gamma, values).max(axis=1)
    policy = first_best(_q(model, gamma, values))
    states = np.arange(len(values))
    while True:
        values = _evaluated(model, gamma, policy)
        q = _q(model, gamma, values)
        better = first_best(q)
        change = q[states, better] > q[states, policy] + TIE * np.maximum(1.0, np.abs(values))
        if not change.any():
            return Solution(values, policy, q, float(model.start @ values))
        policy = np.where(change, better, policy)


def _evaluated(model: Model, gamma: float, policy: np.ndarray) -> np.ndarray:
    """The values of a policy, from (1 - gamma P) v = R."""
    scipy = _scipy()
    states = np.arange(len(policy))
    chosen = scipy.sparse.csr_array((len(policy), len(policy)))
    for action, matrix in enumerate(model.P):
        rows = scipy.sparse.diags_array((policy == action).astype(float))
        chosen = chosen + rows @ matrix
    system = (scipy.sparse.eye_array(len(policy)) - gamma * chosen).tocsc()
    with np.errstate(all="ignore"):
        values = scipy.sparse.linalg.spsolve(system, model.R[states, policy])
    if not np.isfinite(values).all():
        raise ParameterError("with gamma=1 some policy goes on for ever; give a gamma below 1, or a horizon")
    return np.atleast_1d(values)
