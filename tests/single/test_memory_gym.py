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


SPOTLIGHTS = "rlenvs.single.memory.searing_spotlights:SPEC"
SPOTLIGHT_FORMS = {
    "SearingSpotlights": SPOTLIGHTS,
    "EndlessSearingSpotlights": f"{SPOTLIGHTS}/EndlessSearingSpotlights-v0",
}


def inject_spotlights(state, batch, record, t):
    """Spotlights that are new, coins that are new; at the start everything."""
    spots = record["spots"][t]
    known = int(np.isfinite(spots[:, 0]).sum())
    if t == 0:
        state["x"], state["y"] = record["agent"][0]
        state["facing"] = record["rotation"][0] // 45
        state["exit_x"], state["exit_y"] = record["exit"][0]
    assert state["spots"] == known
    new = [k for k in range(known) if t == 0 or spots[k, 8] <= spots[k, 7]]
    for k in new:
        state["ends"][k], state["radius"][k] = spots[k, :6], spots[k, 6]
        state["speed"][k], state["progress"][k] = spots[k, 7], spots[k, 8]
        state["spot_x"][k], state["spot_y"][k] = spots[k, :2]
    np.testing.assert_allclose(state["progress"][:known], spots[:known, 8], atol=1e-12)
    coins = record["coins"][t][record["coins"][t][:, 0] >= 0]
    assert state["coins"] == len(coins)
    if t == 0 or name_of(batch).startswith("Endless"):
        state["coin_x"][: len(coins)], state["coin_y"][: len(coins)] = coins.T
    assert state["health"] == record["health"][t]


def name_of(batch):
    return batch.world.name


@pytest.mark.parametrize("episode", range(EPISODES))
@pytest.mark.parametrize("name", SPOTLIGHT_FORMS)
def test_searing_spotlights_plays_as_the_original(name, episode):
    found = replay(SPOTLIGHT_FORMS[name], name, episode, inject_spotlights, compat=True)
    print(name, episode, np.mean(found.pixels), max(found.pixels), found)
    assert found.reward < 1e-12
    assert (found.place, found.ends) == (0, 0)
    assert max(found.pixels) <= 4


MYSTERY_FORMS = {
    "MysteryPath": "rlenvs.single.memory.mystery_path:SPEC",
    "MysteryPathGrid": "rlenvs.single.memory.mystery_path_grid:SPEC",
}


def inject_path(state, batch, record, t):
    """The path, and at the start the place of the agent."""
    if t:
        return
    path = record["path"][0]
    path = path[path[:, 0] >= 0]
    tiles = 7 * path[:, 0] + path[:, 1]
    state["path"][: len(tiles)], state["length"] = tiles, len(tiles)
    state["place_of"][:] = 0
    state["place_of"][tiles] = np.arange(1, len(tiles) + 1)
    state["x"], state["y"] = record["agent"][0]


@pytest.mark.parametrize("episode", range(EPISODES))
@pytest.mark.parametrize("name", MYSTERY_FORMS)
def test_mystery_path_plays_as_the_original(name, episode):
    found = replay(MYSTERY_FORMS[name], name, episode, inject_path, compat=False)
    assert found.reward < 1e-12
    assert (found.place, found.ends) == (0, 0)
    assert max(found.pixels) == 0


def inject_endless_path(state, batch, record, t):
    """All tiles that are known so far."""
    path = record["path"][t]
    path = path[path[:, 0] >= 0]
    tiles = 7 * path[:, 0] + path[:, 1]
    marks = state["marks"].copy()
    state["marks"][:] = 0
    state["marks"][tiles] = 1
    state["marks"][tiles] |= marks[tiles]
    state["back"][tiles[1:]], state["onward"][tiles[:-1]] = tiles[:-1], tiles[1:]
    state["back"][tiles[0]] = -1
    if t == 0:
        state["x"], state["y"] = record["agent"][0]
        state["start"] = state["place"] = tiles[0]
    state["last"], state["end_row"] = tiles[-1], tiles[-1] % 7


@pytest.mark.parametrize("episode", range(EPISODES))
def test_endless_mystery_path_plays_as_the_original(episode):
    address = "rlenvs.single.memory.endless_mystery_path:SPEC"
    found = replay(address, "EndlessMysteryPath", episode, inject_endless_path)
    assert found.reward < 1e-12
    assert (found.place, found.ends) == (0, 0)
    assert max(found.pixels) == 0
