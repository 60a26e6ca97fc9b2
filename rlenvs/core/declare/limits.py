"""The wishes for a time limit, by the three names that it has: `horizon`, `max_episode_steps` and `max_cycles`."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlenvs.core.declare.errors import ParameterError, shortened

LIMIT_NAMES = ("horizon", "max_episode_steps", "max_cycles")
LONGEST = 2**62  # steps; kernels count in 64 bits
NONE = -1  # Gymnasium's word for no limit; a world then has the longest one


class ShownLimit(int):
    """The limit in a spec: what follows from the other keywords, not a wish. `make(env.spec, ...)` passes it on."""


class EarlierLimit(int):
    """The limit that an environment was made with, in the keywords of its spec; gives way to those of a later call."""


def newest(keywords: dict[str, Any]) -> dict[str, Any]:
    """The wishes for a limit by their names; those of an earlier call where there are no others."""
    wishes = {name: keywords.get(name) for name in LIMIT_NAMES}
    found = {name: wish for name, wish in wishes.items() if wish is not None and not isinstance(wish, ShownLimit)}
    return {name: wish for name, wish in found.items() if not isinstance(wish, EarlierLimit)} or found


def one_limit(**wishes: Any) -> int | None:
    """The wish for a limit among those by several names; None where there is none.

    Raises:
        ParameterError: a wish that is no number of steps, or wishes that differ.
    """
    found = {name: check_limit(name, value) for name, value in newest(wishes).items()}
    if len(set(found.values())) > 1:
        given = " and ".join(f"{name}={value!r}" for name, value in found.items())
        raise ParameterError(f"{given} are aliases of the same limit, the steps until truncation; give one of them")
    return next(iter(found.values()), None)


def check_limit(name: str, value: Any) -> int:
    """A number of steps as Python's integer, LONGEST for -1, which stands for none; ParameterError otherwise."""
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if whole and value == NONE:
        return LONGEST
    if not whole or not 1 <= value <= LONGEST:
        raise ParameterError(
            f"{name}={shortened(value)} must be an integer in [1, {LONGEST}] (steps until truncation), or -1 for none"
        )
    return int(value)
