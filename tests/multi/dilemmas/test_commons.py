"""Harvest and Cleanup: recorded steps of the original, what grows and how often, beams, measures, and refusals."""

import numpy as np
import pytest
from support.batches import begun
from support.places import DATA

import rlenvs
from rlenvs.core.declare.errors import ParameterError
from rlenvs.multi.dilemmas.commons_maps import APPLE, EMPTY, PAD, RIVER, STREAM, WALL, WASTE, cleanup_map, harvest_map

RECORDED = np.load(DATA / "sequential_dilemmas.npz")
LEFT, RIGHT, FORWARD, BACK, STAY, TURN_RIGHT, TURN_LEFT, FIRE, CLEAN = range(9)
UP, EAST, DOWN, WEST = range(4)
TRIES = 24  # seeds with which each step is played, as chance decides who gets a cell and who cleans first
NOTHING_GROWS = {"by_one": 0.0, "by_two": 0.0, "by_three": 0.0, "by_river": 0.0, "pollution": 0.0}
CODES = {b" ": EMPTY, b"@": WALL, b"A": APPLE, b"R": RIVER, b"H": WASTE, b"S": STREAM}
OURS = {b" ": ".", b"@": "#", b"A": "A", b"B": "A", b"P": "P", b"R": "R", b"H": "W", b"S": "S"}


def recorded(name):
    return {key.removeprefix(f"{name}_"): array for key, array in RECORDED.items() if key.startswith(name)}


def rows_of(cells):
    return ["".join(OURS[cell] for cell in row) for row in cells]


def padded(cells):
    """The numbers of the cells of the original's map, as our state has them, flat."""
    codes = np.vectorize(CODES.get)(cells).astype(np.uint8)
    return np.pad(codes, [(0, 0)] * (codes.ndim - 2) + [(PAD, PAD)] * 2, constant_values=6).reshape(
        *codes.shape[:-2], -1
    )


def put(batch, ground, places):
    """States of worlds: what lies on the map, and where agents are, (row, column, direction)."""
    s, stride = batch.states, int(batch.records(0)[0].stride)
    s["ground"][:] = ground
    s["waste"][:] = (ground == WASTE).sum(axis=-1)
    s["position"][:] = (places[..., 0] + PAD) * stride + places[..., 1] + PAD
    s["facing"][:] = places[..., 2]
    s["occupant"][:] = 0
    for k in range(places.shape[-2]):
        s["occupant"][np.arange(len(ground)), s["position"][:, k]] = k + 1


def placed(text, *places, **keywords):
    """A batch of one world with a map, in which nothing grows, and agents at (row, column, direction)."""
    batch = begun("Cleanup-v0", map=text, agents=len(places), **{**NOTHING_GROWS, **keywords})
    put(batch, batch.states["ground"].copy(), np.array([places]))
    return batch


def lying(batch):
    """The map in letters."""
    stride = int(batch.records(0)[0].stride)
    letters = np.array(list(".#ARWS "))[batch.states["ground"][0]].reshape(-1, stride)[PAD:-PAD, PAD:-PAD]
    return ["".join(row) for row in letters]


def where(batch):
    """Row and column of the agents."""
    stride = int(batch.records(0)[0].stride)
    return [(cell // stride - PAD, cell % stride - PAD) for cell in batch.states["position"][0].tolist()]


@pytest.mark.parametrize("name", ["harvest", "cleanup"])
def test_recorded_steps_are_the_same(name):
    """Where agents go, what they eat, clean and pay, step by step; the rest of a change is growth."""
    game = recorded(name)
    length = len(game["actions"])
    steps = np.repeat(np.arange(length), TRIES)
    batch = begun(f"{name.title()}-v0", len(steps), map=rows_of(game["map"]), **NOTHING_GROWS)
    ground = padded(game["ground"])
    put(batch, ground[steps], game["places"][steps])
    batch.step(game["actions"][steps])
    shape, stride = (length, TRIES, -1), int(batch.records(0)[0].stride)
    later = (game["places"][1:, :, 0] + PAD) * stride + game["places"][1:, :, 1] + PAD
    same = (batch.states["position"].reshape(shape) == later[:, None]).all(axis=2)
    same &= (batch.states["facing"].reshape(shape) == game["places"][1:, None, :, 2]).all(axis=2)
    same &= (batch.rewards.reshape(shape) == game["rewards"][:, None]).all(axis=2)
    ours, theirs = batch.states["ground"].reshape(shape), ground[1:, None]
    grown = (theirs != ours) & ((theirs == APPLE) & (ours == EMPTY) | (theirs == WASTE) & (ours == RIVER))
    same &= ((theirs == ours) | grown).all(axis=2) & ((grown & (theirs == WASTE)).sum(axis=2) <= 1)
    assert same.any(axis=1).all()
    assert (game["rewards"] < -40).sum() >= 4
    assert (game["rewards"] == 1).any()
    if name == "cleanup":
        assert ((ground[:-1] == WASTE) & (ground[1:] == RIVER)).sum() > 10


@pytest.mark.parametrize("name", ["harvest", "cleanup"])
def test_recorded_views_are_the_same(name):
    """But for those of agents that face left or right, which are upside down in the original."""
    game = recorded(name)
    batch = begun(f"{name.title()}-v0", 200, map=rows_of(game["map"]), observation="pixels")
    put(batch, padded(game["ground"])[1:], game["places"][1:])
    batch.sync_from_state(np.arange(200))
    views = game["views"].copy()
    aside = game["places"][1:, :, 2] % 2 == 1
    views[aside] = views[aside][:, ::-1, ::-1]
    np.testing.assert_array_equal(batch.observations, views)


# --- what grows -------------------------------------------------------------------------------------------------------

GROVE = "#######\n#AAA..#\n#AAA.P#\n#AAA..#\n#######"
BY_NUMBER = (0.0, 0.005, 0.02, 0.05, 0.05)


def test_maps_have_the_numbers_of_the_original():
    for name, rows in (("harvest", harvest_map()), ("cleanup", cleanup_map())):
        theirs = "".join(rows_of(recorded(name)["map"]))
        assert (len(rows), len(rows[0])) == recorded(name)["map"].shape
        ours = "".join(rows)
        assert {letter: ours.count(letter) for letter in "APRWS"} == {
            letter: theirs.count(letter) for letter in "APRWS"
        }
    assert ["".join(harvest_map()).count(letter) for letter in "AP"] == [155, 20]
    assert ["".join(cleanup_map()).count(letter) for letter in "APRWS"] == [103, 10, 63, 56, 12]


@pytest.mark.parametrize("number", range(5))
def test_apples_grow_by_the_apples_around(number):
    """0, 0.005, 0.02, 0.05 with none, one, two, three or more in the eight cells around."""
    worlds = 10_000
    batch = begun("Harvest-v0", worlds, map=GROVE, agents=1)
    trees = np.flatnonzero(batch.states["ground"][0] == APPLE)
    batch.states["ground"][:, trees] = EMPTY
    batch.states["ground"][:, np.delete(trees, 4)[-number:] if number else []] = APPLE
    batch.step(np.full((worlds, 1), STAY))
    share, expected = (batch.states["ground"][:, trees[4]] == APPLE).mean(), BY_NUMBER[number]
    assert abs(share - expected) <= 4 * np.sqrt(expected * (1 - expected) / worlds)


def test_agents_keep_apples_from_growing():
    batch = begun("Harvest-v0", 100, map=GROVE, agents=1, by_three=1.0)
    ground = batch.states["ground"].copy()
    middle = np.flatnonzero(ground[0] == APPLE)[4]
    row, column = divmod(int(middle), int(batch.records(0)[0].stride))
    put(batch, ground, np.full((100, 1, 3), (row - PAD, column - PAD, UP)))
    batch.step(np.full((100, 1), STAY))
    assert (batch.rewards == 1).all()
    for _ in range(3):
        batch.step(np.full((100, 1), STAY))
        assert (batch.states["ground"][:, middle] == EMPTY).all()
    batch.step(np.full((100, 1), FORWARD))
    assert (batch.states["ground"][:, middle] == APPLE).all()


RIVERSIDE = "############\n#RRRRRRRRRR#\n#AAAAAAAAAA#\n#AAAAAAAAAA#\n#P.........#\n############"


@pytest.mark.parametrize("wasted", range(6))
def test_apples_and_waste_by_the_river(wasted):
    """Apples: 0.05 (1 - d / 0.4), none from 0.4 on. Waste: at most one cell, with 1 - 0.5^clean, none from 0.4 on."""
    worlds = 4000
    batch = begun("Cleanup-v0", worlds, map=RIVERSIDE, agents=1)
    river, trees = batch.records(0)[0].bank, batch.records(0)[0].tree
    ground = batch.states["ground"].copy()
    ground[:, trees], ground[:, river], ground[:, river[:wasted]] = EMPTY, RIVER, WASTE
    put(batch, ground, np.full((worlds, 1, 3), (4, 1, UP)))
    batch.step(np.full((worlds, 1), STAY))
    expected = 0.05 * max(1 - wasted / 10 / 0.4, 0.0)
    grown = batch.states["ground"][:, trees] == APPLE
    assert abs(grown.mean() - expected) <= 4 * np.sqrt(expected * (1 - expected) / grown.size)
    more = (batch.states["ground"][:, river] == WASTE).sum(axis=1) - wasted
    expected = 1 - 0.5 ** (10 - wasted) if wasted < 4 else 0.0
    assert set(more) <= {0, 1}
    assert abs(more.mean() - expected) <= 4 * np.sqrt(expected * (1 - expected) / worlds)
    assert (batch.states["waste"] == wasted + more).all()
    if wasted < 4:
        cells = np.flatnonzero((batch.states["ground"][:, river] == WASTE).sum(axis=0) < worlds)
        hit = (batch.states["ground"][:, river[cells]] == WASTE).sum(axis=0)
        assert np.abs(hit - worlds / len(cells)).max() < 4 * np.sqrt(worlds / len(cells))


def test_nothing_grows_at_the_start_of_cleanup():
    """56 of 119 cells are waste, more than 0.4 of them."""
    batch = begun("Cleanup-v0", 20)
    for _ in range(50):
        batch.step(np.full((20, 5), STAY))
    assert (batch.states["waste"] == 56).all()
    assert not (batch.states["ground"] == APPLE).any()


def test_a_harvest_of_everything_is_the_last():
    batch = begun("Harvest-v0", 20)
    batch.states["ground"][batch.states["ground"] == APPLE] = EMPTY
    for _ in range(100):
        batch.step(np.full((20, 5), STAY))
    assert not (batch.states["ground"] == APPLE).any()


# --- moves and beams --------------------------------------------------------------------------------------------------

FIELD = "#########\n#.......#\n#.......#\n#.......#\n#.......#\n#.......#\n#.......#\n#.......#\n#A.PPPPP#\n#########"


def test_moves_depend_on_where_an_agent_faces():
    steps = {FORWARD: (-1, 0), RIGHT: (0, 1), BACK: (1, 0), LEFT: (0, -1)}
    for facing in range(4):
        for action, (down, right) in steps.items():
            batch = placed(FIELD, (4, 4, facing))
            batch.step(np.array([[action]]))
            for _ in range(facing):
                down, right = right, -down
            assert where(batch) == [(4 + down, 4 + right)]
    batch = placed(FIELD, (1, 1, UP), (4, 4, UP))
    batch.step(np.array([[FORWARD, TURN_RIGHT]]))
    assert where(batch) == [(1, 1), (4, 4)]
    assert batch.states["facing"][0].tolist() == [UP, EAST]
    batch.step(np.array([[TURN_LEFT, TURN_LEFT]]))
    assert batch.states["facing"][0].tolist() == [WEST, UP]


def test_agents_do_not_pass_through_each_other():
    batch = placed(FIELD, (4, 3, EAST), (4, 4, WEST))
    batch.step(np.array([[FORWARD, FORWARD]]))  # no places are changed
    assert where(batch) == [(4, 3), (4, 4)]
    batch = placed(FIELD, (4, 3, EAST), (4, 4, EAST), (4, 5, EAST))
    batch.step(np.array([[FORWARD, FORWARD, FORWARD]]))  # a row moves on
    assert where(batch) == [(4, 4), (4, 5), (4, 6)]
    batch.step(np.array([[FORWARD, FORWARD, STAY]]))  # and stops
    assert where(batch) == [(4, 4), (4, 5), (4, 6)]
    batch = placed(FIELD, (3, 3, EAST), (3, 4, DOWN), (4, 4, WEST), (4, 3, UP))
    batch.step(np.full((1, 4), FORWARD))  # a circle
    assert where(batch) == [(3, 4), (4, 4), (4, 3), (3, 3)]


def test_one_of_those_who_want_a_cell_gets_it():
    worlds = 1000
    batch = begun("Cleanup-v0", worlds, map=FIELD, agents=3, **NOTHING_GROWS)
    places = np.array([[(4, 3, EAST), (4, 5, WEST), (5, 4, UP)]] * worlds)
    put(batch, batch.states["ground"].copy(), places)
    batch.step(np.full((worlds, 3), FORWARD))
    middle = (4 + PAD) * int(batch.records(0)[0].stride) + 4 + PAD
    there = batch.states["position"] == middle
    assert (there.sum(axis=1) == 1).all()
    assert np.abs(there.sum(axis=0) - worlds / 3).max() < 4 * np.sqrt(worlds * 2 / 9)


def test_beams_hit():
    """Three cells wide; five long in the middle, and from beside the agent on at the sides; agents absorb it."""
    hit = []
    for row in range(1, 9):
        for column in range(1, 8):
            if (row, column) == (7, 4):
                continue
            batch = placed(FIELD, (7, 4, UP), (row, column, UP))
            batch.step(np.array([[FIRE, STAY]]))
            assert batch.rewards[0, 0] == -1
            assert batch.rewards[0, 1] in (0, -50)
            if batch.rewards[0, 1]:
                hit.append((row, column))
    assert hit == sorted([(row, 4) for row in range(2, 7)] + [(row, c) for row in range(3, 8) for c in (3, 5)])
    batch = placed(FIELD, (7, 4, UP), (5, 4, UP), (4, 4, UP))
    batch.step(np.array([[FIRE, STAY, FIRE]]))
    assert batch.rewards[0].tolist() == [-1, -50, -1]


def test_beams_clean_the_first_waste_of_each_row():
    text = "#######\n#.WWW.#\n#.WWW.#\n#..W..#\n#WWWWW#\n#..P.A#\n#######"
    batch = placed(text, (5, 3, UP))
    batch.step(np.array([[CLEAN]]))
    assert lying(batch) == ["#######", "#.WWW.#", "#.WWW.#", "#..W..#", "#WRRRW#", "#.....#", "#######"]
    batch.step(np.array([[CLEAN]]))
    assert lying(batch) == ["#######", "#.WWW.#", "#.RWR.#", "#..R..#", "#WRRRW#", "#.....#", "#######"]
    assert batch.rewards[0].tolist() == [0]
    assert batch.states["waste"][0] == 6


def test_walls_end_beams():
    batch = placed("#######\n#..P..#\n#.###.#\n#..A..#\n#..P..#\n#######", (4, 3, UP), (1, 3, UP))
    batch.step(np.array([[FIRE, STAY]]))
    assert batch.rewards[0].tolist() == [-1, 0]


def test_time_out():
    """Who is hit is away for so many steps, sees nothing, and comes back at a place to start."""
    batch = placed(FIELD, (7, 4, UP), (5, 4, UP), time_out=3)
    batch.step(np.array([[FIRE, STAY]]))
    for left in (3, 2, 1):
        assert batch.states["away"][0].tolist() == [0, left]
        assert not batch.observations[0, 1].any()
        batch.step(np.array([[STAY, FORWARD]]))
    assert batch.states["away"][0].tolist() == [0, 0]
    assert where(batch)[1] in [(8, column) for column in range(3, 8)]
    assert batch.observations[0, 1].any()


# --- measures, rewards, players, refusals -----------------------------------------------------------------------------


def test_measures():
    """Perolat's, at the end, computed again from what happened."""
    batch = begun("Harvest-v0", level="small", by_three=0.5)
    names, steps = list(batch.world.terms), batch.setup.horizon
    dice = np.random.default_rng(3)
    apples, hits = np.zeros((steps, 2)), np.zeros((steps, 2))
    for t in range(steps):
        assert (batch.terms[0, -4:] == 0).all()
        batch.step(dice.choice(8, p=[0.13, 0.13, 0.3, 0.1, 0.04, 0.1, 0.1, 0.1], size=(1, 2)))
        apples[t], hits[t] = batch.terms[0, names.index("apple")], batch.terms[0, names.index("hit")] < 0
    got, times = apples.sum(axis=0), np.arange(1, steps + 1)
    assert got.min() > 1
    assert hits.any()
    gini = np.abs(got[:, None] - got[None]).sum() / (2 * 2 * got.sum())
    late = [times[apples[:, k] > 0].mean() for k in range(2)]
    peace = (1 - hits).sum() / steps
    np.testing.assert_allclose(batch.terms[0, -4:, 0], [got.mean(), 1 - gini, np.mean(late), peace])
    info = rlenvs.parallel_env("Harvest-v0", level="small").reset(seed=0)[1]["agent_0"]
    assert {f"reward_{name}" for name in ("efficiency", "equality", "sustainability", "peace")} <= info.keys()


def mean_apples(id, player):
    batch = begun(id, 4, horizon=500)
    for _ in range(500):
        batch.step(batch.player_actions(player))
    return batch.terms[:, -4, 0].mean()


@pytest.mark.parametrize("id", ["Harvest-v0", "Cleanup-v0"])
def test_who_cooperates_gets_more(id):
    assert mean_apples(id, "cooperator") > 3 * mean_apples(id, "harvester")


def test_nobody_gets_apples_where_all_clean_or_none_does():
    assert mean_apples("Cleanup-v0", "cleaner") < 1
    assert mean_apples("Cleanup-v0", "harvester") == 0


@pytest.mark.parametrize(
    ("keywords", "said"),
    [
        ({"agents": 21}, "agents=21 do not fit: the map has 20 places to start"),
        ({"map": "AAP\nA."}, "line 2 has 2 cells and line 1 has 3"),
        ({"map": "A?P"}, "line 1, column 2: '.' is unknown"),
        ({"map": ""}, "the map is empty"),
        ({"map": "A" * 100 + "P"}, "at most 100 x 100"),
        ({"map": {"AP", "PA"}}, "a list of its lines"),
        ({"map": [["A", "P"]]}, "a list of its lines"),
        ({"map": b"AP"}, "a list of its lines"),
        ({"map": [1] * 1000}, r"not \[1, [1, .]{70,90}\]$"),
        ({"map": "..P"}, "needs apples"),
        ({"map": "A.."}, "places to start"),
        ({"depletion": 0.2, "restoration": 0.3}, "restoration must not exceed depletion"),
    ],
)
def test_refusals(keywords, said):
    with pytest.raises(ParameterError, match=said):
        rlenvs.make_batch("Harvest-v0", 1, **keywords)
