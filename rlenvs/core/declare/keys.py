"""The keyboard: which keys steer a world, and what they do."""

from __future__ import annotations

import inspect
import string
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np

from rlenvs.core.declare.setup import Setup
from rlenvs.core.declare.spec import World

KEYS = ("up", "down", "left", "right", "space", "return", *string.ascii_lowercase, *string.digits)
MOST_AT_ONCE = 3  # keys that may be held together


def steered_by_held_keys(world: World) -> bool:
    """Whether what keys do follows from those that are held, and not from the game."""
    hand = world.functions.get("keys")
    return hand is not None and not inspect.isclass(hand)


def steering_keys(setup: Setup) -> dict[str, Any]:
    """The keys that do something by themselves, each with the action of it."""
    hand: Any = setup.world.functions["keys"]
    idle = setup.taken(hand(set(), setup.values))
    found = {key: setup.taken(hand({key}, setup.values)) for key in KEYS}
    return {
        key: action
        for key, action in found.items()
        if action is not None and (idle is None or not np.array_equal(action, idle))
    }


def keys_to_action(setup: Setup) -> dict[tuple[int, ...], Any]:
    """Actions by the codes of the keys held together, in ascending order, as `gymnasium.utils.play.play` requires them.
    Without keys it makes its own action, `noop`."""
    import pygame

    special = {"space": pygame.K_SPACE, "return": pygame.K_RETURN}
    special |= {key: getattr(pygame, f"K_{key.upper()}") for key in ("up", "down", "left", "right")}
    hand: Any = setup.world.functions["keys"]
    table = {}
    for held in _together(list(steering_keys(setup))):
        action = setup.taken(hand(set(held), setup.values))
        if action is not None:
            codes = tuple(sorted(special[key] if key in special else ord(key) for key in held))
            bounds = setup.action_scaling[2:, : np.size(action)]
            limited = np.clip(action, *bounds) if setup.continuous else np.atleast_1d(action)
            table[codes] = setup.shown_action(limited)
    return table


def _together(keys: list[str]) -> Iterator[tuple[str, ...]]:
    for count in range(1, MOST_AT_ONCE + 1):
        yield from combinations(keys, count)
