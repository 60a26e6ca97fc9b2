"""Deep sea treasure: worth against time. `front.py` has the exact set of best trade-offs."""

from rlenvs.core.registry import register

register("DeepSeaTreasure-v0", "rlenvs.single.treasure.deep_sea_treasure:SPEC", ("single", "multi-objective"))
