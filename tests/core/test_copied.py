"""Copies of a state in kernels: experts try plans in them, and the world stays as it is."""

import numpy as np
import pytest

from rlenvs.core import block, copied, discrete, f8, i8, integer, kernel, term, world
from rlenvs.core.batch.engines import new_batch

SPEC = world(
    "CopiedTestWorld-v0",
    doc="A walker on a line of which some places are holes.",
    options={"length": integer(7, 5, 40, "places")},
    sizes=lambda values: {"length": values.length},
    state={"at": i8, "hole": f8("length"), "seen": f8("length")},
    observation={"at": block(low=0, high=40)},
    action=discrete("left", "right", doc="where to"),
    terms={"fallen": term(-1.0, 0.0)},
    horizon=20,
    expert_sees="state",
)


@kernel
def move(s, a):
    """Go to the next place, and look at it."""
    s.at = min(max(s.at + (1 if a == 1 else -1), 0), s.hole.size - 1)
    s.seen[s.at] += 1.0


@SPEC.reset
def reset(p, s, rng):
    s.at = s.hole.size // 2
    s.hole[s.hole.size - 1] = 1.0


@SPEC.step
def step(p, s, a, rng, r):
    move(s, a)
    r.fallen = -s.hole[s.at]


@SPEC.observe
def observe(p, s, o):
    o.at = s.at


@kernel
def falls(s, a, steps):
    """Whether who goes one way for some steps comes to a hole."""
    c = copied(s)
    for _ in range(steps):
        move(c, a)
        if c.hole[c.at] > 0.0:
            return True
    return False


@SPEC.expert
def expert(p, s, a):
    tries = 0
    for _ in range(200):  # many copies one after the other, each gone before the next
        tries += 1 if falls(s, 1, s.hole.size) else 0
    a[0] = 0 if tries == 200 else 1


@pytest.mark.parametrize("backend", ["numba", "python"])
@pytest.mark.parametrize("length", [5, 40])
def test_plans_are_tried_in_a_copy(backend, length):
    batch = new_batch(SPEC, 3, backend=backend, length=length)
    batch.seed([0, 1, 2])
    batch.reset()
    batch.states["hole"][1] = 0.0
    before = batch.states.tobytes()
    assert np.ravel(batch.expert_actions()).tolist() == [0, 1, 0]
    assert batch.states.tobytes() == before
