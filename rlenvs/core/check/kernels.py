"""Rules on the kernels of a world."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rlenvs.core.check.playing import roll
from rlenvs.core.check.subject import Subject
from rlenvs.core.check.verdicts import Failed, NotApplicable


def backends_agree(t: Subject) -> str:
    """19. The kernels as plain Python give what the compiled ones give.

    Integers must be equal, floats to 1e-9, what is float32 (observations) to 1e-5: compiled code may use another power
    or sine, whose last bit differs, and NumPy keeps float32 where numba takes float64. To mend: avoid integer overflow,
    uninitialised locals and arithmetic on booleans; take float(...) of float32 fields before computing with them.
    """
    if t.backend != "numba":
        raise NotApplicable("checked with the numba backend only")
    batches = [t.batch(2), replace(t, backend="python").batch(2)]
    first = roll(batches[0], 20)
    second = roll(batches[1], 20, actions=first.actions)
    if not np.allclose(first.observations, second.observations, rtol=0, atol=1e-5):
        worst = np.abs(first.observations - second.observations).max()
        raise Failed(f"observations differ by {worst:g}")
    for name in t.world.state:
        a, b = (batch._states[name] for batch in batches)
        slack = {"f8": 1e-9, "f4": 1e-5}.get(a.dtype.str[1:], 0.0)
        unequal = np.argwhere(~np.isclose(a, b, rtol=slack, atol=slack, equal_nan=True))
        if len(unequal):
            at = tuple(unequal[0].tolist())
            place = f"{name}{list(at[1:]) if at[1:] else ''} of world {at[0]}"
            raise Failed(f"after 20 steps the state {place} is {a[at]!r} compiled and {b[at]!r} as plain Python")
    return "20 steps of 2 worlds"
