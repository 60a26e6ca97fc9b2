"""The dimensions of actions that are several choices, as pages show them."""

from __future__ import annotations

from itertools import groupby

from gymnasium import spaces

from rlenvs.core.declare.declared_spaces import Continuous
from rlenvs.core.declare.setup import Setup

__all__ = ["dimension_rows", "space_text"]

MOST_ALIKE = 8  # dimensions with the same choices; of more, a table has one row


def _choices_of(setup: Setup, j: int) -> str:
    """The choices of a dimension, in words."""
    named = ", ".join(f"{n} {label}" for n, label in enumerate(setup.labels_of(j)))
    return named or f"0 ... {setup.choices[j] - 1}"


def dimension_rows(setup: Setup) -> list[tuple[str, str, str]]:
    """Number, name and choices of each dimension of an action; many that are alike in one row."""
    names = setup.action.labels or [""] * setup.numbers
    rows = []
    for choices, alike in groupby(range(setup.numbers), lambda j: _choices_of(setup, j)):
        run = list(alike)
        if len(run) > MOST_ALIKE:
            rows.append((f"{run[0]} ... {run[-1]}", f"{names[run[0]]} ... {names[run[-1]]}", choices))
        else:
            rows += [(str(j), names[j], choices) for j in run]
    return rows


def space_text(setup: Setup) -> str:
    """The action space of a setup, such as "Box(4)"."""
    if setup.action_kind == "multi":
        if isinstance(setup.action_space, spaces.MultiBinary):
            return f"MultiBinary({setup.numbers})"
        choices = list(setup.choices)
        alike = len(choices) > MOST_ALIKE and len(set(choices)) == 1
        return f"MultiDiscrete({f'[{choices[0]}] * {len(choices)}' if alike else choices})"
    return f"{'Box' if isinstance(setup.action, Continuous) else 'Discrete'}({setup.action_size})"
