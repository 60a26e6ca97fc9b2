"""Options that the core gives to the worlds that have something to choose."""

from __future__ import annotations

from collections.abc import Mapping

from rlenvs.core.declare.declared_spaces import Published
from rlenvs.core.declare.options import Option, choice, flag

FORM: dict[str, Option] = {
    "form": choice(
        "flat", "goal", doc='observation: one vector, or a dictionary "observation", "achieved_goal", "desired_goal"'
    )
}


def form_option(goal: tuple[str, str] | None, options: Mapping[str, Option]) -> dict[str, Option]:
    """Of worlds with goals: what form observations have."""
    return FORM if goal and "form" not in options else {}


def physics_option(engines: Mapping[str, str]) -> dict[str, Option]:
    """Of worlds with engines: what moves the bodies."""
    if not engines:
        return {}
    return {"physics": choice("kernel", *engines, doc="what moves the bodies: this package's kernels, or an engine")}


def scaled_option(published: Published | None, options: Mapping[str, Option]) -> dict[str, Option]:
    """Of worlds that re-implement another environment: whose spaces they have."""
    if published is None or "scaled" in options:  # a member has its kind's
        return {}
    return {"scaled": flag(False, f"the form of this package's own worlds in place of the spaces of {published.id}")}
