"""The archive of routes of examples/: its parts, what a short run learns of Minecart's front, and (slow) a long one."""

import importlib.util

import numpy as np
import pytest
from support.places import ROOT

import rlenvs
from rlenvs import pareto
from rlenvs.single.objectives.minecart_front import outer_bound

spec = importlib.util.spec_from_file_location("example_route_archive", ROOT / "examples" / "route_archive.py")
routes = importlib.util.module_from_spec(spec)
spec.loader.exec_module(routes)

LEVEL = {"level": "deterministic"}


def archive(seed=0, count=64, gamma=0.99, **settings):
    return routes.Archive("Minecart-v0", LEVEL, **routes.MINECART, gamma=gamma, count=count, seed=seed, **settings)


def empty_cell(depth=2):
    """counts, times, past, routes, chosen of an archive of one cell."""
    return (
        np.zeros(1, np.int64), np.zeros((1, depth), np.int64), np.zeros((1, depth, 2)),
        np.zeros((1, depth, 4), np.int8), np.zeros((1, depth), np.int64),
    )  # fmt: skip


def test_a_cell_keeps_what_no_other_route_dominates():
    cell = empty_cell()
    counts, times, past, ways, chosen = cell
    way = np.array([1, 2, 3, 4], np.int8)
    assert routes.keep(0, np.array([0.0, 1.0]), 3, way, *cell)
    assert not routes.keep(0, np.array([0.0, 1.0]), 3, way, *cell)  # no better
    assert not routes.keep(0, np.array([0.0, 1.0]), 4, way, *cell)  # slower
    chosen[0, 0] = 5
    assert routes.keep(0, np.array([1.0, 0.0]), 4, way, *cell)
    assert counts[0] == 2
    assert chosen[0].tolist() == [5, 0]
    assert routes.keep(0, np.array([0.5, 0.5]), 2, way[::-1].copy(), *cell)  # full: the slowest one goes
    assert counts[0] == 2
    assert sorted(times[0].tolist()) == [2, 3]
    assert routes.keep(0, np.array([2.0, 2.0]), 1, way, *cell)  # better than all
    assert counts[0] == 1
    assert past[0, 0].tolist() == [2.0, 2.0]
    assert ways[0, 0, 0] == 1


def test_a_changed_route_fits():
    rng = np.random.default_rng(0)
    sizes = set()
    for _ in range(500):
        way = rng.integers(0, 6, 8).astype(np.int8)
        size = routes.change(way, int(rng.integers(0, 9)), 6, rng)
        assert 0 <= size <= 8
        assert ((way >= 0) & (way < 6)).all()
        sizes.add(int(size))
    assert {0, 8} <= sizes


def test_tables_grow_and_lose_nothing():
    learner = archive(count=8)
    learner.learn(4_000)
    cells = int(learner.cells[0])
    assert cells > 4 * 8  # the first room
    keys = learner.arrays["keys"][:cells].tolist()
    assert len(set(keys)) == cells
    learner.make_room()
    for cell, key in enumerate(keys):
        place = (key >> 20) % len(learner.table)
        while learner.table[place] != cell:
            assert learner.table[place] >= 0
            place = (place + 1) % len(learner.table)


@pytest.mark.parametrize("gamma", [1.0, 0.98])
def test_routes_are_worth_what_the_archive_says(gamma):
    """Played in the world itself; and no better than the front allows."""
    learner = archive(gamma=gamma)
    learner.learn(200_000)
    values, ways = learner.front()
    assert len(values) > 3
    env = rlenvs.make("Minecart-v0", **LEVEL)
    outer = outer_bound(gamma)
    for value, way in zip(values, ways, strict=True):
        np.testing.assert_allclose(pareto.play_policy(env, pareto.OpenLoopPolicy(way), gamma).mean, value, atol=1e-9)
        assert (outer >= value - 1e-9).all(axis=1).any()


def test_the_same_seed_learns_the_same():
    first, second, other = archive(), archive(), archive(seed=1)
    for learner in (first, second, other):
        learner.learn(50_000)
    assert first.front()[1] == second.front()[1]
    assert first.cells.tolist() == second.cells.tolist() != other.cells.tolist()


def test_a_second_learner_does_not_disturb_the_first():
    alone, beside, other = archive(), archive(), archive(seed=1)
    for _ in range(4):
        alone.learn(6_400)
    for _ in range(4):
        beside.learn(6_400)
        other.learn(6_400)
    assert beside.cells.tolist() == alone.cells.tolist()
    assert beside.front()[1] == alone.front()[1]


def test_a_short_run_learns_most_of_the_front():
    assert routes.main(["--steps", "1000000", "--worlds", "256"]) > 0.7


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_a_long_run_learns_nearly_the_whole_front(seed):
    assert routes.main(["--steps", "16000000", "--seed", str(seed)]) > 0.96
