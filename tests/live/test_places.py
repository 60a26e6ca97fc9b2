"""Where choices lie in images, for people who point at them."""

import numpy as np
import pytest
from support.drawn import compare
from support.node import needs_node

from rlenvs.core.batch.kernel_batch import KernelBatch
from rlenvs.core.catalogue.registry import list_envs, world_of
from rlenvs.core.forms.recorder import Recorder
from rlenvs.core.forms.render import compose

PLACED = [id.partition("/")[2] for id in list_envs() if "places" in world_of(id.partition("/")[2]).functions]


def places_in(batch):
    """The choices of a batch's first world with their points, in halves of pixels of the scene."""
    recorder = Recorder()
    compose(batch, 0, recorder)
    paths = batch.world.functions["places"](recorder, *batch.records(0))
    return recorder, [np.reshape(recorder._points(path), (-1, 2)) for path in paths]


@pytest.mark.budget(20)
@pytest.mark.parametrize("id", PLACED)
def test_each_choice_has_a_place_of_its_own(id):
    """All that is allowed lies in the scene, and two choices at one place are told apart by a list."""
    batch = KernelBatch(world_of(id), threads=1)
    batch.seed([0])
    batch.reset()
    recorder, paths = places_in(batch)
    assert len(paths) == batch.setup.action_size
    allowed = np.flatnonzero(batch.masks[0, 0]) if "mask" in batch.world.kernels else range(len(paths))
    pointed = [paths[choice] for choice in allowed if len(paths[choice])]
    assert len(pointed) >= len(allowed) - 3  # what is only in the list: pass, no order, keep, exchange
    points = np.concatenate(pointed) if pointed else np.zeros((0, 2))
    assert (points >= 0).all()
    assert (points <= 2 * np.array(recorder.scene)).all()


def test_an_army_that_is_pointed_at_twice_sends_half():
    batch = KernelBatch(world_of("Generals-v0"), threads=1)
    batch.seed([0])
    batch.reset()
    _, paths = places_in(batch)
    cells = (len(paths) - 1) // 8
    assert len(paths[0]) == 0
    for way in range(4):
        once, twice = paths[1 + way * cells + 30], paths[1 + (way + 4) * cells + 30]
        assert np.array_equal(twice, [once[0], *once])


def test_a_move_of_breakthrough_goes_on_to_the_next_row():
    batch = KernelBatch(world_of("Breakthrough-v0"), threads=1)
    batch.seed([0])
    batch.reset()
    _, paths = places_in(batch)
    cell = paths[1][1] - paths[1][0]  # straight on
    assert cell[0] == 0
    assert cell[1] < 0  # upwards, for white
    left, right = (paths[3 * 8 + d] for d in (0, 2))  # of the second column
    assert left[1] - left[0] == pytest.approx([cell[1], cell[1]])
    assert right[1] - right[0] == pytest.approx([-cell[1], cell[1]])


@needs_node
@pytest.mark.budget(30)
@pytest.mark.parametrize("id", ["LightsOut-v0", "Breakthrough-v0", "Ingenious-v0", "Generals-v0", "MoveToBeacon-v0"])
def test_places_in_pages_are_those_of_python(id, tmp_path, monkeypatch):
    functions = world_of(id).functions
    shown, places = functions["draw"], functions["places"]

    def draw(canvas, p, s):
        shown(canvas, p, s)
        for path in places(canvas, p, s):
            for point in path:
                canvas.circle(point, 0.1, "red")

    monkeypatch.setitem(functions, "draw", draw)
    found = compare(id, tmp_path, steps=10, frames=2)
    assert found.equal == found.frames, found.difference
