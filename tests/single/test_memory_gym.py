"""Memory Gym's games: parity with the original, the numbers of its paper, and that memory is needed."""

import numpy as np
import pytest
from memory_replay import EPISODES, replay

MORTAR = "rlenvs.single.memory.mortar_mayhem:SPEC"
GRID = "rlenvs.single.memory.mortar_mayhem_grid:SPEC"
MORTAR_FORMS = {
    "MortarMayhem": MORTAR,
    "MortarMayhemGrid": GRID,
    "MortarMayhemB": f"{MORTAR}/MortarMayhemB-v0",
    "MortarMayhemBGrid": f"{GRID}/MortarMayhemBGrid-v0",
    "EndlessMortarMayhem": f"{MORTAR}/EndlessMortarMayhem-v0",
}


def inject_mortar(state, batch, record, t):
    """The commands, and at the start the place of the agent."""
    commands = record["commands"][t]
    known = int((commands >= 0).sum())
    state["commands"][:known] = commands[:known]
    if t == 0:
        state["x"], state["y"] = record["agent"][0]
        state["target_x"], state["target_y"] = record["target"][0]
        state["cue"] = commands[0] if state["cue"] >= 0 else -1
    assert known == min(int(state["count"]), 40)
    assert (state["target_x"], state["target_y"]) == tuple(record["target"][t])


@pytest.mark.parametrize("episode", range(EPISODES))
@pytest.mark.parametrize("name", MORTAR_FORMS)
def test_mortar_mayhem_plays_as_the_original(name, episode):
    found = replay(MORTAR_FORMS[name], name, episode, inject_mortar)
    assert (found.reward, found.place, found.ends) == (0.0, 0, 0)
    print(name, episode, np.mean(found.pixels), max(found.pixels))
    assert max(found.pixels) <= 4  # edges of the circle of "stay"
