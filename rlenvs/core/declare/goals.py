"""Which terms of a reward follow from goals alone, as hindsight replay asks for."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from rlenvs.core.declare.kernels import attributes_written
from rlenvs.core.declare.options import Choice
from rlenvs.core.declare.spec import World
from rlenvs.core.declare.values import presets_of


def terms_beside_goals(world: World, weights: np.ndarray) -> list[str]:
    """The terms with a weight that `goal_outcome` does not fill, in a world with goals."""
    graded = attributes_written(world.kernels["goal_outcome"])
    return [name for name, weight in zip(world.terms, weights, strict=True) if weight and name not in graded]


def choices_with_goal_rewards(world: World, values: SimpleNamespace) -> str:
    """The choices under which the reward follows from goals, for messages."""
    graded, chosen, found = attributes_written(world.kernels["goal_outcome"]), vars(values), []
    for name, option in world.options.items():
        if not (isinstance(option, Choice) and option.sets):
            continue
        for value in option.values:
            presets = presets_of(world, {**chosen, name: value})
            weights = {term: presets.get(term, known.weight) for term, known in world.terms.items()}
            if value != chosen[name] and all(term in graded for term, weight in weights.items() if weight):
                found.append(f"{name}={value!r}")
    return f"take {' or '.join(found)}" if found else "give them the weight 0 by weights={...}"
