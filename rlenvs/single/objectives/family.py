"""What the worlds of the family share: a table whose outcomes have a reward for each objective, and its exact front."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from rlenvs.core import World
from rlenvs.core.declare.parts import Term
from rlenvs.kits.tables.table import Table
from rlenvs.kits.tables.world import tabular

SOURCE = "MO-Gymnasium 1.3.2"
MOST_POINTS = 2000  # of one state: a front that has more is given up soon, and the coverage set says what it is like


def multi_objective(name: str, build: Callable[[Any], Table], terms: Mapping[str, Term], **declared: Any) -> World:
    """A world that plays a table with several objectives, and knows its exact front. Its kernel `step` is its own.

    Args:
        name, build: as for `tabular`.
        terms: the objectives, in the order of the table.
        declared: the other keywords of `tabular`.
    """
    spec = tabular(name, build, terms, **declared)

    def front(values: Any, horizon: int, gamma: float) -> np.ndarray:
        from rlenvs.pareto import TooManyPointsError, coverage_set, pareto_front  # SciPy is an extra

        model = spec.functions["exact_model"](values)
        try:
            return pareto_front(model, gamma, horizon, most=MOST_POINTS).values
        except TooManyPointsError:
            corners = coverage_set(model, gamma, horizon).values
            if len(corners) > 1:
                raise
            return corners  # the best under all weights, so the best in each objective: it dominates all others

    spec.pareto_front(front)
    return spec


def weights_of(terms: Mapping[str, Term]) -> list[float]:
    """The default weights of the objectives, under which the scripted expert acts."""
    return [term.weight for term in terms.values()]
