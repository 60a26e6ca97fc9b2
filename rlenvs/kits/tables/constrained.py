"""The best policy of a table whose mean costs stay within limits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from rlenvs.core.catalogue.make import make
from rlenvs.core.declare.errors import MissingExtraError, ParameterError
from rlenvs.kits.tables.solve import Model, steps_of


class ConstrainedSolution(NamedTuple):
    """What `solve_constrained` found.

    Attributes:
        start_value: what is expected of an episode.
        costs: (costs,) what it is expected to cost.
        multipliers: (costs,) what one more unit of each limit is worth.
        policy: (horizon, states, actions) the probability of each action; 0 everywhere in states that are never seen.
    """

    start_value: float
    costs: np.ndarray
    multipliers: np.ndarray
    policy: np.ndarray


def solve_constrained(env: Any, horizon: int, limits: Sequence[float] | None = None) -> ConstrainedSolution:
    """Compute the optimal policy of a finite world under limits on its costs; it may be stochastic.

    By a linear program over how often each action is taken in each state at each step (Altman, "Constrained Markov
    decision processes", 1999).

        rlenvs.solve_constrained("CostParadox-v0", horizon=9).start_value

    Args:
        env: the id of a world, an environment, or a `Model`.
        horizon: steps after which episodes are cut off, counted from the start.
        limits: of an episode's mean costs, in the order of the costs; None: the customary ones of the world.

    Raises:
        AttributeError: the world has no exact model. MissingExtraError: SciPy is not installed.
        ParameterError: a horizon out of range, costs that the model does not know, another number of limits, or limits
            that no policy keeps.
    """
    steps = steps_of(horizon)
    env = make(env) if isinstance(env, str) else env
    bare = getattr(env, "unwrapped", env)
    model = env if isinstance(env, Model) else bare.model
    if model.costs is None:
        raise ParameterError("solve_constrained requires a world whose exact model has costs; use solve")
    if limits is None:
        if isinstance(env, Model):
            raise ParameterError(
                "limits=None is only for worlds, which have default limits; a Model needs explicit limits"
            )
        limits = list(bare.batch.world.cost_limits.values())
    most = np.asarray(limits, float)
    if most.shape != model.costs.shape[2:]:
        raise ParameterError(f"limits={limits!r}: needed: {model.costs.shape[2]}, one for each cost")
    return _by_linear_program(model, model.costs, steps, most)


def _by_linear_program(model: Model, costs: np.ndarray, steps: int, limits: np.ndarray) -> ConstrainedSolution:
    try:
        from scipy import optimize, sparse
    except ImportError:
        raise MissingExtraError("the exact model of a world", "exact") from None
    states, actions = model.R.shape
    open_pairs = np.flatnonzero(np.tile(model.allowed.ravel(), steps))  # variables: (steps, states, actions)
    leaving = sparse.kron(sparse.eye_array(states), np.ones((1, actions)))
    pairs = np.arange(states) * actions
    entering = sum(
        sparse.coo_array((m.data, (m.col, pairs[m.row] + action)), (states, states * actions))
        for action, m in enumerate(matrix.tocoo() for matrix in model.P)
    )
    flow = sparse.kron(sparse.eye_array(steps), leaving) - sparse.kron(sparse.eye_array(steps, k=-1), entering)
    begin = np.concatenate([model.start, np.zeros((steps - 1) * states)])
    rewards, charged = np.tile(model.R.ravel(), steps), np.tile(costs.reshape(states * actions, -1).T, steps)
    found = optimize.linprog(
        -rewards[open_pairs], charged[:, open_pairs], limits, flow.tocsc()[:, open_pairs], begin, method="highs"
    )
    if found.x is None:
        raise ParameterError(f"limits={limits.tolist()}: no policy satisfies them")
    taken = np.zeros(steps * states * actions)
    taken[open_pairs] = np.maximum(found.x, 0.0)
    often = taken.reshape(steps, states, actions)
    seen = often.sum(axis=2, keepdims=True)
    policy = np.divide(often, seen, out=np.zeros_like(often), where=seen > 0.0)
    return ConstrainedSolution(-float(found.fun), charged @ taken, -found.ineqlin.marginals, policy)
