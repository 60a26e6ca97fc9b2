"""backend="python": the arithmetic of compiled code."""

import numpy as np
import pytest

import rlenvs
from rlenvs.core import b1, block, copied, discrete, i4, integer, kernel, term, u1, world
from rlenvs.core.batch.engines import new_batch

SPEC = world(
    "SmallNumbersTestWorld-v0",
    doc="Heaps of grains, which are bytes, and lamps.",
    options={"heaps": integer(4, 1, 9, "heaps")},
    sizes=lambda values: {"heaps": values.heaps},
    state={"grains": u1("heaps"), "lamps": b1("heaps"), "total": i4},
    observation={"total": block(low=0, high=3000)},
    action=discrete("nothing", "count"),
    terms={"counted": term(0.0, 3000.0), "burning": term(0.0, 9.0), "product": term(0.0, 1e10)},
    horizon=5,
    same_start=True,
)


@kernel
def count(s):
    """Grains of all heaps, and burning lamps."""
    grains, burning = 0, 0
    for k in range(s.grains.size):
        grains += s.grains[k]
        burning += s.lamps[k]
    return grains, burning


@SPEC.reset
def reset(p, s, rng):
    for k in range(s.grains.size):
        s.grains[k] = 200 + k
        s.lamps[k] = True


@SPEC.step
def step(p, s, a, rng, r):
    s.total, r.burning = count(copied(s))
    r.counted = s.grains[0] + s.grains[1]
    r.product = 1000000 * s.total


@SPEC.observe
def observe(p, s, o):
    o.total = s.total


@pytest.mark.parametrize("backend", ["numba", "python"])
def test_sums_of_small_whole_numbers_do_not_wrap(backend):
    batch = new_batch(SPEC, 1, backend=backend)
    batch.seed([0])
    batch.reset()
    batch.step(np.ones(1, int))
    assert batch.states["total"].tolist() == [806]
    assert np.ravel(batch.terms).tolist() == [401.0, 4.0, 806e6]


def test_a_lidar_may_see_more_than_255_cells_in_plain_python():
    """`coverage="reachable"` sums bytes over what a scan shows."""
    batch = rlenvs.make_batch(
        "MarsExplorer-v0", 1, backend="python", coverage="reachable", obstacles=0, height=33, width=33,
        initial=[16, 16], lidar_range=16, lidar_channels=64,
    )  # fmt: skip
    batch.seed([3])
    batch.reset()
    assert batch.states["in_reach_seen"] == batch.states["seen"]
    assert batch.states["seen"] > 255
