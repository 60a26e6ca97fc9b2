"""Cells of tables of scores: costs and success, the same on all pages and in the terminal."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rlenvs.core.declare.spec import World

COST = (
    '"Cost" is what an episode costs an agent: each named cost summed over the steps, the mean over agents and '
    "episodes. Of several costs it is the one that is highest beside its limit. *Unsafe*: a cost is above its limit."
)


def cost_cells(costs: Mapping[str, float], limits: Mapping[str, float]) -> tuple[str, str, bool]:
    """Of the mean costs that have limits, the one that is highest beside its limit (name and number), and that limit;
    then whether all limits hold."""
    limited = [name for name in costs if name in limits]
    if not limited:
        return "", "", True

    def share(name: str) -> float:
        return costs[name] / limits[name] if limits[name] > 0.0 else math.inf if costs[name] > 0.0 else 0.0

    worst = max(limited, key=share)
    return f"{worst} {costs[worst]:.3g}", f"{limits[worst]:g}", all(costs[name] <= limits[name] for name in limited)


def has_success(world: World) -> bool:
    """Whether the world says of an episode that it succeeded."""
    return "Success is not defined" not in " ".join(world.doc.split())


def success_cell(rate: float | None, safe: bool) -> str:
    """A success rate as text, None where success is not defined, marked where a limit of costs was broken."""
    told = [] if rate is None else [f"{100 * rate:.0f} %"]
    return ", ".join([*told, *["unsafe"] * (not safe)])
