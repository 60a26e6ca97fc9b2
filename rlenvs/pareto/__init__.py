"""Pareto fronts: exact fronts of finite worlds with the policies that attain them, indicators, utilities, plots."""

from typing import TYPE_CHECKING

from rlenvs.core.declare.lazy import lazy_names

if TYPE_CHECKING:
    from rlenvs.pareto.fronts import Front as Front
    from rlenvs.pareto.fronts import coverage_set as coverage_set
    from rlenvs.pareto.fronts import pareto_front as pareto_front
    from rlenvs.pareto.indicators import cardinality as cardinality
    from rlenvs.pareto.indicators import expected_utility as expected_utility
    from rlenvs.pareto.indicators import hypervolume as hypervolume
    from rlenvs.pareto.indicators import igd_plus as igd_plus
    from rlenvs.pareto.indicators import simplex_weights as simplex_weights
    from rlenvs.pareto.indicators import sparsity as sparsity
    from rlenvs.pareto.learning import ParetoQ as ParetoQ
    from rlenvs.pareto.learning import pareto_q_learning as pareto_q_learning
    from rlenvs.pareto.plots import plot as plot
    from rlenvs.pareto.policies import OpenLoopPolicy as OpenLoopPolicy
    from rlenvs.pareto.policies import Policy as Policy
    from rlenvs.pareto.policies import PolicyReturns as PolicyReturns
    from rlenvs.pareto.policies import TabularPolicy as TabularPolicy
    from rlenvs.pareto.policies import TreePolicy as TreePolicy
    from rlenvs.pareto.policies import exact_value as exact_value
    from rlenvs.pareto.policies import play_policy as play_policy
    from rlenvs.pareto.sets import TooManyPointsError as TooManyPointsError
    from rlenvs.pareto.sets import nondominated as nondominated
    from rlenvs.pareto.sets import supported as supported
    from rlenvs.pareto.utilities import Utility as Utility
    from rlenvs.pareto.utilities import utility_of as utility_of
else:
    __all__, __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "fronts": "Front coverage_set pareto_front",
            "indicators": "cardinality expected_utility hypervolume igd_plus simplex_weights sparsity",
            "learning": "ParetoQ pareto_q_learning",
            "plots": "plot",
            "policies": "TreePolicy Policy PolicyReturns OpenLoopPolicy TabularPolicy exact_value play_policy",
            "sets": "TooManyPointsError nondominated supported",
            "utilities": "Utility utility_of",
        },
    )
