"""Deep sea treasure: worth against time, with the exact set of best trade-offs."""

from rlenvs.core.registry import register
from rlenvs.single.treasure.front import hypervolume, pareto_front

__all__ = ["hypervolume", "pareto_front"]

register("DeepSeaTreasure-v0", "rlenvs.single.treasure.deep_sea_treasure:SPEC", ("single", "multi-objective"))
