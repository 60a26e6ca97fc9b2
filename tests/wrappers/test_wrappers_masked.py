"""Loops over the slots of a mask: the short way for one slot does what the compiled loops do, to the bit."""

from __future__ import annotations

import numpy as np
import pytest

from rlenvs.wrappers import masked

KINDS = [np.float64, np.float32, np.int64, np.bool_]


@pytest.mark.parametrize("shape", [(), (3,), (2, 2)])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("asked", [True, False])
def test_one_slot_fares_as_one_of_two(kind, shape, asked):
    rng = np.random.default_rng(0)
    start = rng.uniform(0.0, 3.0, (1, *shape)).astype(kind)
    for given in KINDS:
        values = rng.uniform(0.0, 3.0, (1, *shape)).astype(given)
        loops = [lambda target, values, slots: masked.clear(target, slots)]
        if given == kind:
            loops += [masked.put, lambda target, values, slots: masked.put_number(target, 1, slots)]
            loops += [masked.add] if kind != np.bool_ else []
        elif kind in (np.float64, np.float32):
            loops += [masked.put, masked.add]
        for loop in loops:
            one, two = start.copy(), np.repeat(start, 2, axis=0)
            loop(one, values, np.array([asked]))
            loop(two, np.repeat(values, 2, axis=0), np.array([asked, False]))
            assert one.dtype == two.dtype
            assert one.tobytes() == two[:1].tobytes()


def test_a_column_may_be_put_into_a_row():
    target = np.zeros(1, np.int64)
    masked.put(target, np.array([[3.0]]), np.ones(1, np.bool_))
    assert target.tolist() == [3]
