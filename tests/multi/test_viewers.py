"""A person who plays sees no more than the agent may know, `Canvas.viewer`."""

from __future__ import annotations

import numpy as np
import pytest

import rlenvs
from rlenvs.core.forms.recorder import Recorder
from rlenvs.core.forms.render import compose
from rlenvs.multi.generals.board import MOUNTAIN


def shapes_of(batch, viewer):
    recorder = Recorder()
    recorder.viewer = viewer
    compose(batch, 0, recorder)
    return recorder.frame().shapes


def started(id, **keywords):
    batch = rlenvs.make_batch(id, 1, **keywords)
    batch.seed([3])
    batch.reset()
    return batch, batch.records(0)[1]


def change_own_hand(s):
    for slot in range(s.hand.shape[1]):
        s.hand[0, slot] = (s.hand[0, slot] + 7) % 25


def change_hidden_walls(s):
    hidden = (np.asarray(s.half) == 1) & ~np.asarray(s.known)
    s.wall[hidden] = 1 - s.wall[hidden]


def change_fog(s):
    hidden = np.flatnonzero((np.asarray(s.seen[0]) == 0) & (np.asarray(s.terrain) != MOUNTAIN))
    s.army[hidden[:5]] = 77


def change_bulb(s):
    s.turn = 2
    s.bulb = not s.bulb
    s.been[1:] = True


def change_recipe(s):
    s.recipe = 12 if s.recipe == 48 else 48


CHANGES = {
    "Hanabi-v0": (change_own_hand, {}),
    "SplitMaze-v0": (change_hidden_walls, {}),
    "Generals-v0": (change_fog, {}),
    "SwitchRiddle-v0": (change_bulb, {}),
    "OvercookedV2-v0": (change_recipe, {"radius": 1}),
}


@pytest.mark.parametrize("id", CHANGES)
def test_what_an_agent_does_not_know_is_not_drawn_for_it(id):
    change, keywords = CHANGES[id]
    batch, s = started(id, **keywords)
    if id == "SwitchRiddle-v0":
        s.turn = 1
    whole, own, other = (shapes_of(batch, viewer) for viewer in (None, 0, 1))
    change(s)
    assert shapes_of(batch, None) != whole
    assert shapes_of(batch, 0) == own
    assert shapes_of(batch, 1) != other or id in ("Generals-v0", "OvercookedV2-v0")  # the other may be far away, too


def test_a_hand_shows_what_hints_have_told():
    batch, s = started("Hanabi-v0")
    before = shapes_of(batch, 0)
    s.told_rank[0, 2] = True
    rank = str(int(s.hand[0, 2]) % 5 + 1)
    texts = [shape.style[-1] for shape in shapes_of(batch, 0) if shape.style[0] == "text"]
    assert texts.count(rank) == [shape.style[-1] for shape in before if shape.style[0] == "text"].count(rank) + 2
