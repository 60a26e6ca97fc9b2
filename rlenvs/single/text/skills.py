"""Skills that seeds of games name: rules in their declarative form, see `rule_set`.

A skill changes properties, so that one follows from another: what is raw is cut and cooked, what is empty is filled,
boiled and poured.
"""

from __future__ import annotations

from typing import Any


def _changed(kind: str, old: str, new: str, where: str = "held") -> dict[str, Any]:
    """A thing that has a property and gets another in its place."""
    return {"kind": kind, "where": where, "is": old, "becomes": new, "loses": old}


_HEATER, _TOOL = {"kind": "heater"}, {"where": "held"}
SKILLS: dict[str, tuple[str, dict[str, Any]]] = {
    "wash": ("wash {0} in {1}", {"first": _changed("portable", "dirty", "clean"), "second": {"kind": "basin"}}),
    "cut": (
        "cut {0} with {1}",
        {"first": _changed("portable", "whole", "sliced"), "second": {"kind": "blade", **_TOOL}},
    ),
    "cook": ("cook {0} on {1}", {"first": _changed("portable", "raw", "cooked"), "second": _HEATER}),
    "fill": ("fill {0} at {1}", {"first": _changed("vessel", "empty", "full"), "second": {"kind": "tap"}}),
    "boil": (
        "boil {0} on {1}",
        {"first": {"kind": "vessel", "where": "held", "is": "full", "becomes": "hot"}, "second": _HEATER},
    ),
    "steep": (
        "steep {0} in {1}",
        {
            "first": {"kind": "leaf", "where": "held"},
            "second": {"kind": "vessel", "where": "held", "is": "hot", "becomes": "brewed", "loses": "hot"},
            "goes": "away",
        },
    ),
    "pour": (
        "pour {0} into {1}",
        {
            "first": {"kind": "vessel", "where": "held", "is": "full", "becomes": "empty", "loses": ["full", "brewed"]},
            "second": _changed("vessel", "empty", "full"),
        },
    ),
    "plant": (
        "plant {0} in {1}",
        {
            "first": {"kind": "seedling", "where": "held"},
            "second": _changed("soil", "bare", "planted", "here"),
            "goes": "away",
        },
    ),
    "water": (
        "water {0} with {1}",
        {
            "first": {"kind": "soil", "is": "planted", "becomes": "watered"},
            "second": _changed("vessel", "full", "empty"),
        },
    ),
    "sweep": (
        "sweep {0} with {1}",
        {"first": _changed("ground", "dusty", "swept", "here"), "second": {"kind": "broom", **_TOOL}},
    ),
    "light": (
        "light {0} with {1}",
        {"first": _changed("wick", "unlit", "lit", "seen"), "second": {"kind": "lighter", **_TOOL}},
    ),
    "start": ("start {0}", {"first": _changed("appliance", "idle", "running", "here")}),
    "mend": (
        "mend {0} with {1}",
        {"first": _changed("portable", "torn", "mended"), "second": {"kind": "needle", **_TOOL}},
    ),
}
