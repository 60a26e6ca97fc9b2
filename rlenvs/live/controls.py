"""How a person acts in a page: what the actions of an environment are called, their bounds, and what keys do."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from rlenvs.core.declare.keys import action_of_keys, held_actions, held_keys, meaning_of, steering_keys
from rlenvs.core.declare.setup import Setup

Held = tuple[tuple[str, ...], Any]


def controls_of(setup: Setup) -> dict[str, Any]:
    """The first agent's actions and keys, as JSON has them.

    Returns:
        kind: "continuous", "discrete", "multi" (several choices) or "flat" (one choice that stands for several).
        choices: of each number of an action; empty where actions are continuous. labels: their names, by number.
        numbers: names of the numbers of an action. low, high: their bounds, None where there is none; empty where
            actions are choices.
        idle: the action that does nothing.
        keys: see `_keys`; None where keys do not steer.
    """
    size = setup.roles[0].action
    choices = [] if setup.continuous else setup.own_choices[0].tolist()
    count = size if setup.continuous else len(choices)
    low, high = setup.action_scaling[2:, :count].tolist() if setup.continuous else ([], [])
    names = () if setup.single_choice else setup.action.labels
    return {
        "kind": setup.action_kind,
        "choices": choices,
        "labels": [list(setup.labels_of(j)) for j in range(len(choices))],
        "numbers": [names[j] if j < len(names) else f"number {j + 1}" for j in range(count)],
        "low": [_finite(value) for value in low],
        "high": [_finite(value) for value in high],
        "idle": _plain(setup.shown_action(setup.idle[0])),
        "keys": _keys(setup) if held_keys(setup) else None,
    }


def _keys(setup: Setup) -> dict[str, Any]:
    """What keys do: none: the action while no key is held, None where the game waits for one. held: pairs of keys and
    the action while they are held; the first pair counts of which all keys are. help: pairs of a key and its
    meaning."""
    return {
        "none": _plain(action_of_keys(setup, ())),
        "held": [[list(held), _plain(action)] for held, action in _needed(setup)],
        "help": [[key, meaning_of(setup, action)] for key, action in steering_keys(setup).items()],
    }


def _needed(setup: Setup) -> list[Held]:
    """The pairs of keys and action without those that follow from others, most keys first."""
    kept: list[Held] = []
    for _, group in itertools.groupby(held_actions(setup), key=lambda pair: len(pair[0])):
        kept = [pair for pair in group if not _follows(pair, kept)] + kept
    return kept


def _follows(pair: Held, known: list[Held]) -> bool:
    """Whether a page that knows these pairs finds the action of another one."""
    found = [action for keys, action in known if set(keys) <= set(pair[0])]
    return bool(found) and np.array_equal(found[0], pair[1])


def _plain(action: Any) -> Any:
    """An action as JSON has it."""
    return action.tolist() if isinstance(action, np.ndarray) else action


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
