"""The keyboard: which keys steer a world, and what they do."""

from __future__ import annotations

import inspect
import string
from collections.abc import Callable, Iterable, Iterator
from itertools import combinations
from typing import Any

import numpy as np

from rlenvs.core.declare.setup import Setup
from rlenvs.core.declare.spec import World

KEYS = ("up", "down", "left", "right", "space", "return", *string.ascii_lowercase, *string.digits)
MOST_AT_ONCE = 3  # keys that may be held together
ROW = "1234567890abcdefghij"  # of choices without keys of their own, in their order


def steered_by_held_keys(world: World) -> bool:
    """Whether what keys do follows from those that are held, and not from the game."""
    hand = world.functions.get("keys")
    return hand is not None and not inspect.isclass(hand)


def held_keys(setup: Setup) -> Callable[[set[str], Any], Any] | None:
    """What keys do that are held: the world's own function, else a key for each choice, where they are few; None where
    they do nothing."""
    if steered_by_held_keys(setup.world):
        own: Any = setup.world.functions["keys"]
        return own
    if not setup.single_choice or setup.action_size > len(ROW):
        return None
    return lambda pressed, values: next((n for n in range(setup.action_size) if ROW[n] in pressed), None)


def steering_keys(setup: Setup) -> dict[str, Any]:
    """The keys that do something by themselves, each with the action of it."""
    hand: Any = held_keys(setup)
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
    return {
        tuple(sorted(special[key] if key in special else ord(key) for key in held)): action
        for held, action in held_actions(setup)
    }


def held_actions(setup: Setup) -> Iterator[tuple[tuple[str, ...], Any]]:
    """The keys that may be held together, fewest first, each with the first agent's action as its action space has
    it."""
    keys = list(steering_keys(setup))
    for count in range(1, MOST_AT_ONCE + 1):
        for held in combinations(keys, count):
            action = action_of_keys(setup, held)
            if action is not None:
                yield held, action


def action_of_keys(setup: Setup, held: Iterable[str]) -> Any:
    """The first agent's action, as its action space has it, while keys are held; None where the game waits."""
    hand: Any = held_keys(setup)
    action = setup.taken(hand(set(held), setup.values))
    if action is None:
        return None
    bounds = setup.action_scaling[2:, : np.size(action)]
    return setup.shown_action(np.clip(action, *bounds) if setup.continuous else np.atleast_1d(action))


def meaning_of(setup: Setup, action: Any) -> str:
    """What an action of the world's own keys does, in words."""
    labels = setup.action.labels
    if setup.single_choice:
        return labels[int(action)] if labels else f"action {int(action)}"
    if not setup.continuous:
        starts = np.cumsum((0, *setup.choices[:-1]))
        return ", ".join(setup.choice_name(place) for place in (starts + action).tolist())
    names = labels or [f"action {j}" for j in range(setup.action_size)]
    return ", ".join(f"{name} {value:+g}" for name, value in zip(names, action, strict=True) if value)
