"""Kitchens: recorded games of Overcooked and OvercookedV2 move for move, their numbers, refusals, scripted cooks."""

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from support.places import DATA

import rlenvs
from rlenvs.core.declare.errors import ParameterError, SnapshotError
from rlenvs.multi.kitchen.layouts import CLASSIC, PUBLISHED, packed, parse_layout
from rlenvs.multi.kitchen.overcooked import SPEC
from rlenvs.multi.kitchen.planes import COUNTERS, URGENCY

RECORDED = DATA / "overcooked.npz"
RECORDED_AI = DATA / "overcooked_ai.npz"
V1, V2 = "Overcooked-v0", "OvercookedV2-v0"
UP, DOWN, RIGHT, LEFT, STAY, INTERACT = range(6)
ONION, PLATE, COOKED = 4, 1, 2
SOUP = 3 * ONION | COOKED | PLATE
TERMS = tuple(SPEC.terms)
STATE = ("cell", "facing", "held", "items", "timer", "recipe")
SHAPED = {"ingredient": 3, "soup": 5, "start": 5, "plate": 3}
ROOM = "WWPWWWW/O     W/W A A X/W     W/WBWWWWW"
GAMES_V1 = [(name, n) for name in CLASSIC for n in (0, 1)]
GAMES_V2 = (
    *("cramped_room", "counter_circuit", "forced_coord", "cramped_room_v2", "asymm_advantages_recipes_left"),
    *("two_rooms_both", "more_fun_coordination", "grounded_coord_simple", "grounded_coord_ring", "test_time_wide"),
    *("demo_cook_simple", "crowd"),
)


def made(id=V1, n=1, **keywords):
    batch = rlenvs.make_batch(id, n, autoreset=AutoresetMode.DISABLED, threads=1, **keywords)
    batch.seed(range(n))
    batch.reset()
    return batch


def put(batch, **fields):
    """Set fields of the first world's state, and observe again."""
    s = batch.records(0)[1]
    for name, value in fields.items():
        if np.ndim(getattr(s, name)):
            getattr(s, name)[:] = value
        else:
            setattr(s, name, value)
    batch.set_state(batch.get_state())
    return batch.records(0)[1]


def terms(batch):
    """The terms of the first world, of each cook, by name."""
    return dict(zip(TERMS, batch.terms[0].tolist(), strict=True))


def play(batch, *actions):
    for action in actions:
        batch.step(np.array([action]))
    return batch.records(0)[1]


# --- parity -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def recorded():
    if not RECORDED.exists():
        pytest.skip("no recorded games of Overcooked")
    return np.load(RECORDED)


def replay(batch, game):
    """Play a recorded game: observations, rewards and shaped rewards are equal. Returns the number of soups."""
    put(batch, **{name: game[f"start_{name}"] for name in STATE})
    soups = 0
    for t, actions in enumerate(game["actions"]):
        np.testing.assert_array_equal(batch.observations[0], game["observed"][t], f"step {t}")
        s = play(batch, actions)
        got = terms(batch)
        np.testing.assert_array_equal(batch.rewards[0], game["rewards"][t], f"step {t}")
        shaped = sum(weight * np.array(got[name]) for name, weight in SHAPED.items())
        np.testing.assert_array_equal(shaped, game["shaped"][t], f"step {t}")
        soups += int(got["served"][0])
        if s.recipe != game["recipes"][t + 1]:
            assert got["served"][0]
            assert batch.records(0)[0].new_recipe
            put(batch, recipe=int(game["recipes"][t + 1]))
    np.testing.assert_array_equal(batch.observations[0], game["observed"][-1])
    assert batch.truncated.all()
    return soups


def of(data, name):
    """The arrays of one game."""
    prefix = f"{name}_"
    return {key.removeprefix(prefix): data[key] for key in data.files if key.startswith(prefix)}


@pytest.mark.parametrize(("name", "n"), GAMES_V1)
def test_games_of_overcooked(recorded, name, n):
    game = of(recorded, f"v1_{name}_{n}")
    batch = made(layout=name, horizon=len(game["actions"]))
    assert PUBLISHED[name].replace("A", " ").replace("a", " ").replace("b", " ").replace("O", "0") == str(
        recorded[f"v1_{name}_layout"]
    ).replace("a", " ").replace("b", " ")
    if n == 0:  # the cooks start where the original puts them, and in its order
        assert batch.records(0)[0].starts.tolist() == game["start_cell"].tolist()
    replay(batch, game)


@pytest.mark.parametrize("name", GAMES_V2)
def test_games_of_overcooked_v2(recorded, name):
    game = of(recorded, f"v2_{name}")
    changes = any(game["recipes"][:-1] != game["recipes"][1:])
    batch = made(
        V2,
        layout=str(game["layout"]),
        recipes=game["recipes_possible"].tolist(),
        horizon=len(game["actions"]),
        radius=int(game["agent_view_size"]),
        start_cooking=bool(game["start_cooking_interaction"]),
        show_delivery=bool(game["indicate_successful_delivery"]),
        new_recipe=changes,
        weights={"wrong": -20.0 if game["negative"] else 0.0},
    )
    replay(batch, {key: game[key] for key in game if key != "layout"})


@pytest.mark.parametrize("name", CLASSIC)
def test_games_of_overcooked_ai(name):
    """Overcooked-AI's pots wait for a hand, and its layer of counters has those on which something lies, too."""
    game = of(np.load(RECORDED_AI), name)
    batch = made(layout=name, start_cooking=True, horizon=len(game["actions"]))
    assert "/".join(parse_layout(name)).translate(str.maketrans("Aab", "   ")) == str(game["layout"])
    fields = [field for field in STATE if field in game]
    s = put(batch, **{field: game[field][0] for field in fields})
    for t, actions in enumerate(game["actions"].astype(int)):
        seen, theirs = batch.observations[0].copy(), game["observed"][t]
        assert (seen[..., COUNTERS] == theirs[..., COUNTERS] * (s.items == 0).reshape(theirs.shape[1:3])).all()
        seen[..., COUNTERS] = theirs[..., COUNTERS]
        np.testing.assert_array_equal(seen, theirs, f"step {t}")
        s = play(batch, actions)
        for field in fields:
            np.testing.assert_array_equal(getattr(s, field), game[field][t + 1], f"{field}, step {t}")
        assert (batch.rewards[0] == game["rewards"][t]).all()
    assert game["rewards"].sum() >= 5 * 20
    assert batch.truncated.all()


def test_the_recorded_games_have_soups(recorded):
    """Both games of each layout together have soups, and some wrong ones."""
    rewards = {key: recorded[key][:, 0] for key in recorded.files if key.endswith("_rewards")}
    assert sum((reward == 20).sum() for reward in rewards.values()) > 20
    assert sum((reward == -20).sum() for reward in rewards.values()) > 0
    assert sum((reward == -5).sum() for reward in rewards.values()) > 0


def test_published_layouts(recorded):
    """All layouts of OvercookedV2 0.2.0, and no other."""
    theirs = {key.removeprefix("published_"): str(recorded[key]) for key in recorded.files if "published_" in key}
    ours = {name: "/".join(parse_layout(name)).translate(str.maketrans("OAab", "0   ")) for name in PUBLISHED}
    assert ours == theirs
    assert len(ours) == 23


@pytest.mark.parametrize("name", GAMES_V2[:-1])
def test_published_recipes(recorded, name):
    """A published layout has its recipes, however it is given."""
    game = of(recorded, f"v2_{name}")
    theirs = sorted(packed(recipe) for recipe in game["recipes_possible"].tolist())
    level = {} if name == "grounded_coord_simple" else {"level": name}
    for keywords in (level, {"layout": name}, {"layout": PUBLISHED[name]}):
        assert sorted(made(V2, **keywords).records(0)[0].recipes.tolist()) == theirs


# --- numbers of the rules ---------------------------------------------------------------------------------------------


def cells(*places, columns=7):
    return [row * columns + column for row, column in places]


def test_a_soup_from_the_pile_to_the_window():
    """Three onions, 20 steps, a plate, 20 points; each way point pays its shaped term."""
    batch = made(layout=ROOM)
    pot, room = cells((0, 2))[0], cells((1, 2), (3, 5))
    s = put(batch, cell=room, facing=[UP, UP], held=[ONION, 0])
    for onions in range(1, 4):
        put(batch, held=[ONION, 0])
        play(batch, (INTERACT, STAY))
        assert terms(batch)["ingredient"] == [1, 0]
        assert s.held[0] == 0
        assert s.items[pot] == onions * ONION
    assert s.timer[pot] == 19  # the step of the third onion counts
    play(batch, *[(STAY, STAY)] * 18)
    assert s.timer[pot] == 1
    put(batch, held=[PLATE, 0])
    play(batch, (INTERACT, STAY))
    assert s.held[0] == PLATE  # not yet done: it is in the next step
    assert s.items[pot] == 3 * ONION | COOKED
    play(batch, (INTERACT, STAY))
    assert s.held[0] == SOUP
    assert s.items[pot] == 0
    assert terms(batch)["soup"] == [1, 0]
    put(batch, cell=cells((2, 5), (3, 1)), facing=[RIGHT, UP])
    play(batch, (INTERACT, STAY))
    assert terms(batch)["served"] == [1, 1]
    assert batch.rewards[0].tolist() == [20, 20]
    assert batch.success.all()
    assert not batch.terminated.any()
    assert s.served == 1
    play(batch, (INTERACT, STAY))
    assert batch.rewards[0].tolist() == [0, 0]


def test_the_shaped_reward():
    """3 for an onion in the pot, 5 for a soup, 3 for a plate; soups pay 20 as before."""
    weights = made(layout=ROOM, reward="shaped").records(0)[0].weights
    assert dict(zip(TERMS, weights.tolist(), strict=True)) == {"served": 20, "wrong": 0, "button": -5, **SHAPED}
    assert made(V2).records(0)[0].weights.tolist() == [20, -20, -5, 0, 0, 0, 0]


def test_plates_that_are_of_use():
    """As many plates are rewarded as pots are in use, none while one lies on a counter; the second cook who takes one
    sees that of the first."""
    batch = made(layout=ROOM)
    pot, plates = cells((0, 2))[0], cells((3, 1), (3, 5))
    put(batch, cell=plates, facing=[DOWN, UP])
    play(batch, (INTERACT, STAY))
    assert terms(batch)["plate"] == [0, 0]  # no pot is in use
    items = np.zeros(35, int)
    items[pot] = ONION
    put(batch, cell=plates, facing=[DOWN, UP], held=[0, 0], items=items)
    play(batch, (INTERACT, STAY))
    assert terms(batch)["plate"] == [1, 0]
    put(batch, held=[0, PLATE])
    play(batch, (INTERACT, STAY))
    assert terms(batch)["plate"] == [0, 0]
    items[0] = PLATE
    put(batch, held=[0, 0], items=items)
    play(batch, (INTERACT, STAY))
    assert terms(batch)["plate"] == [0, 0]
    both = made(layout="WWPWWW/O A  W/B A  X/WWBWWW", layers="onions")
    items = np.zeros(24, int)
    items[2] = ONION
    put(both, cell=[13, 14], facing=[LEFT, DOWN], items=items)
    play(both, (INTERACT, INTERACT))
    assert terms(both)["plate"] == [1, 0]


def test_wrong_soups_and_buttons():
    """A wrong soup pays nothing in Overcooked and -20 in OvercookedV2; the button costs 5, and shows the recipe in the
    next nine observations."""
    batch = made(V2, radius=0, start="fixed")
    p, s = batch.records(0)
    button, window = (int(np.flatnonzero(p.ground == code)[0]) for code in (5, 2))
    put(batch, cell=[button - 1, window - 1], facing=[RIGHT, RIGHT], held=[0, SOUP], recipe=3 * 16)
    play(batch, (INTERACT, INTERACT))
    assert terms(batch)["button"] == [1, 1]
    assert terms(batch)["wrong"] == [1, 1]
    assert batch.rewards[0].tolist() == [-25, -25]
    assert s.held[1] == 0
    kinds = int(p.ingredients)
    recipe = 2 * (7 + kinds) + 6 + kinds + (2 + kinds) + 2 + 1  # of ingredient 1
    row, column = divmod(button, int(p.columns))
    shown = []
    for _ in range(11):
        shown.append(int(batch.observations[0, 0, row, column, recipe]))
        play(batch, (STAY, STAY))
    assert shown == [3] * 9 + [0] * 2
    assert made().records(0)[0].weights[TERMS.index("wrong")] == 0


def test_pots_that_wait_for_a_hand():
    batch = made(V2, layout="cramped_room_v2", recipes=[[0, 0, 1]], radius=0, start="fixed", start_cooking=True)
    pot, items = 2, np.zeros(20, int)
    items[pot] = 2 * ONION
    s = put(batch, cell=[7, 8], facing=[UP, UP], held=[16, 0], items=items)
    play(batch, (INTERACT, STAY), (STAY, STAY))
    assert terms(batch)["ingredient"] == [0, 0]
    assert s.items[pot] == 2 * ONION + 16
    assert s.timer[pot] == 0
    play(batch, (INTERACT, STAY))
    assert terms(batch)["start"] == [1, 0]
    assert s.timer[pot] == 19


def test_an_ingredient_too_many_is_not_rewarded():
    batch = made(V2, layout="cramped_room_v2", recipes=[[0, 1, 1]], radius=0, start="fixed")
    items = np.zeros(20, int)
    items[2] = ONION
    put(batch, cell=[7, 8], facing=[UP, UP], held=[ONION, 0], items=items)
    play(batch, (INTERACT, STAY))
    assert terms(batch)["ingredient"] == [0, 0]
    put(batch, held=[16, 0])
    play(batch, (INTERACT, STAY))
    assert terms(batch)["ingredient"] == [1, 0]


@pytest.mark.parametrize(
    ("starts", "actions", "ends"),
    [
        (((1, 1), (1, 3)), (RIGHT, LEFT), ((1, 1), (1, 3))),  # the same cell
        (((1, 1), (1, 2)), (RIGHT, LEFT), ((1, 1), (1, 2))),  # a swap
        (((1, 1), (1, 2)), (RIGHT, RIGHT), ((1, 2), (1, 3))),  # in a row
        (((1, 1), (1, 2)), (RIGHT, STAY), ((1, 1), (1, 2))),
        (((1, 1), (1, 2), (1, 3)), (RIGHT, RIGHT, STAY), ((1, 1), (1, 2), (1, 3))),  # who is blocked blocks
        (((1, 1), (1, 2), (2, 2)), (RIGHT, LEFT, UP), ((1, 1), (1, 2), (2, 2))),
        (((1, 1), (1, 2), (2, 2), (2, 1)), (RIGHT, DOWN, LEFT, UP), ((1, 2), (2, 2), (2, 1), (1, 1))),  # in a circle
        (((1, 1), (1, 2), (2, 1)), (UP, LEFT, STAY), ((1, 1), (1, 2), (2, 1))),  # into a counter
    ],
)
def test_moves(starts, actions, ends):
    batch = made(layout=ROOM, cooks=len(starts), start="placed")
    s = put(batch, cell=cells(*starts))
    play(batch, actions)
    assert s.cell.tolist() == cells(*ends)
    for facing, action in zip(s.facing.tolist(), actions, strict=True):
        assert facing == action or action == STAY


def test_layers_and_urgency():
    """26 layers, or 17 + n + 4 (n + 2) for n ingredients, one more that shows deliveries; fewer than 40 steps are
    urgent; the window of a radius is cut out of the whole."""
    batch = made(horizon=50)
    assert batch.observations.shape == (1, 2, 4, 5, 26)
    for t in range(50):
        assert (batch.observations[0, ..., URGENCY] == (50 - t < 40)).all()
        play(batch, (STAY, STAY))
    assert made().setup.horizon == 400
    assert made(V2).observations.shape == (1, 2, 5, 5, 17 + 3 + 4 * 5)
    assert made(V2, layout="fun_coordination", show_delivery=True).observations.shape[-1] == 17 + 4 + 4 * 6 + 1
    whole, part = made(layout="asymm_advantages"), made(layout="asymm_advantages", radius=1)
    assert whole.records(0)[1].cell.tolist() == part.records(0)[1].cell.tolist()
    for k, cell in enumerate(whole.records(0)[1].cell.tolist()):
        row, column = divmod(cell, 9)
        seen = whole.observations[0, k, row - 1 : row + 2, column - 1 : column + 2]
        np.testing.assert_array_equal(part.observations[0, k], seen)


def test_random_starts():
    """Directions, cells of a cook's room, and what lies where, with the frequencies of OvercookedV2."""
    n = 4000
    turned = made(n=n).states
    assert (turned["cell"] == [6, 8]).all()
    near = pytest.approx(n / 4, abs=4 * np.sqrt(n * 3 / 16))
    assert np.bincount(turned["facing"][:, 0]).tolist() == [near] * 4
    placed = made(n=n, layout="forced_coord", start="placed").states
    assert set(placed["cell"][:, 0].tolist()) == {6, 11, 16}
    assert set(placed["cell"][:, 1].tolist()) == {8, 13, 18}
    assert not placed["items"].any()
    three = made(n=n, start="placed", cooks=3).states["cell"]
    assert all(len(set(row)) == 3 for row in three.tolist())
    filled = made(n=n, start="anything").states
    bound = 4 * np.sqrt(0.25 / n)
    held = filled["held"][:, 0]
    for item, share in ((0, 0.5), (PLATE, 0.1), (ONION, 0.25), (SOUP, 0.15)):
        assert (held == item).mean() == pytest.approx(share, abs=bound)
    pot, timer = filled["items"][:, 2], filled["timer"][:, 2]
    assert (pot == 0).mean() == pytest.approx(0.4, abs=bound)
    assert (timer > 0).mean() == pytest.approx(0.15, abs=bound)
    assert (pot & COOKED > 0).mean() == pytest.approx(0.1, abs=bound)
    assert set(timer.tolist()) == set(range(21))
    counter = filled["items"][:, 0]
    for item, share in ((0, 0.5), (PLATE, 0.1), (ONION, 0.3), (SOUP, 0.1)):
        assert (counter == item).mean() == pytest.approx(share, abs=bound)


def test_recipes_change_with_a_soup_and_others_can_be_asked_for():
    n = 400
    batch = made(V2, n=n, recipes=[[0, 0, 1], [1, 1, 1]], radius=0, layout="cramped_room_v2", start="fixed")
    drawn = batch.states["recipe"]
    assert set(drawn.tolist()) == {2 * ONION + 16, 3 * 16}
    assert (drawn == 48).mean() == pytest.approx(0.5, abs=4 * np.sqrt(0.25 / n))
    before = drawn.copy()
    batch.states["cell"][:] = [[13, 6]] * n
    batch.states["facing"][:] = [[DOWN, UP]] * n
    batch.states["held"][:, 0] = before | PLATE | COOKED
    batch.step(np.tile([INTERACT, STAY], (n, 1)))
    assert (batch.terms[:, 0] == 1).all()
    assert (batch.states["recipe"] != before).mean() == pytest.approx(0.5, abs=4 * np.sqrt(0.25 / n))


# --- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("keywords", "words"),
    [
        ({"layout": "cramped_rom"}, "no published layout of this name"),
        ({"layout": 1.5}, "layout=1.5: 'float' object is not iterable; needed: a published layout, or a text with"),
        ({"layout": "WWWWW/OA AO/W   W/WBWXW"}, "no pot 'P'"),
        ({"layout": "WWPWW/OA AO/W   W/WBWWW"}, "no serving window 'X'"),
        ({"layout": "WWPWW/OA AO/W   W/WWWXW"}, "no pile of plates 'B'"),
        ({"layout": "WWPWW/WA AW/W   W/WBWXW"}, "no pile of ingredient '0'"),
        ({"layout": "WWPWWWW/OA AOWX/W   WWW/WBWWWWW"}, "no cook reaches a serving window"),
        ({"layout": "WWWWWWP/OA AOWW/W   WWW/WBWXWWW"}, "no cook reaches a pot"),
        ({"layout": "WWPWWWWWW/OA  WW AX/W   WW  W/WBWWWWWWW"}, "no soup can be served"),
        ({"layout": "WWPWW/O   O/W   W/WBWXW"}, "mark where cooks start"),
        ({"layout": "WWPWW/OA A /W   W/WBWXW"}, "floor at the edge, row 1, column 4"),
        ({"layout": "WWPWW/OA AOW/W   W/WBWXW"}, "all of one length"),
        ({"layout": "WWPWW/OA?AO/W   W/WBWXW"}, "'?' is no cell"),
        ({"layout": "WWPWW/Oa aO/W   W/WBWXW"}, "once each"),
        ({"layout": {"WPW", "OAX", "WBW"}}, "needed: a text, or a list of its lines, not {"),
        ({"layout": [111, 222, 333]}, "needed: a text, or a list of its lines, not"),
        ({"cooks": 3}, "mark more of them"),
        (
            {"cooks": 1, "layout": "forced_coord"},
            "no cook reaches a serving window 'X'; .*, or use more cooks than cooks=1",
        ),
        ({"cooks": 7, "start": "placed"}, "in a room of 6 cells"),
        ({"layout": "cramped_room_v2"}, "layers='recipes'"),
        ({"recipes": [[0, 0]]}, "of 3 ingredients"),
        (
            {"recipes": [[0, 0, 0.5]]},
            "'float' object cannot be interpreted as an integer; needed: triples of ingredients",
        ),
        ({"recipes": ["000"]}, "'str' object cannot be interpreted as an integer; needed: triples of ingredients"),
        ({"recipes": [[0, 0, 5]], "layers": "recipes"}, "no pile of ingredient '5'"),
    ],
)
def test_refusals(keywords, words):
    with pytest.raises(ParameterError, match=words.replace("?", r"\?")):
        made(**keywords)


@pytest.mark.parametrize("text", ["WPW\r\nOAX\r\nWBW\r\n", "\n  \nWPW\n\nOAX\nWBW", ["WPW", "OAX", "WBW"]])
def test_lines_of_layouts(text):
    assert parse_layout(text) == ("WPW", "OAX", "WBW")


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"cell": [6, 6]}, "two cooks are in one cell"),
        ({"cell": [0, 6]}, "no cook can be"),
        ({"recipe": 3 * 16}, "the recipe is none"),
    ],
)
def test_impossible_states(fields, words):
    with pytest.raises(SnapshotError, match=words):
        put(made(), **fields)


# --- scripted cooks ---------------------------------------------------------------------------------------------------


def soups(id, players, **keywords):
    """How many soups these players serve in an episode."""
    batch = made(id, **keywords)
    while not batch.over.all():
        batch.player_actions(players)
        batch.step_inplace()
    return int(batch.records(0)[1].served)


@pytest.mark.parametrize("name", CLASSIC)
def test_planners_serve_in_all_classic_kitchens(name):
    """10 soups and more, 200 points, as self-play does that is published."""
    assert soups(V1, ["planner", "planner"], layout=name) >= 9


@pytest.mark.parametrize("name", [name for name in PUBLISHED if name != "long_room"])
def test_planners_serve_in_all_kitchens_of_version_2(name):
    assert soups(V2, ["planner", "planner"], layout=name) >= 5


def test_styles():
    """Greedy cooks serve without help, onion_only never does, and left_hand uses the left pot alone."""
    assert soups(V1, ["greedy", None]) >= 5
    assert soups(V1, ["stubborn", "stubborn"]) == 0  # they wait for each other
    assert soups(V1, ["onion_only", "onion_only"]) == 0
    assert soups(V1, ["onion_only", "planner"]) >= 5
    batch = made(layout="counter_circuit")
    used = set()
    for _ in range(100):
        batch.player_actions(["left_hand", None])
        batch.step_inplace()
        used |= {int(cell) for cell in (0, 1, 2, 3, 4, 5, 6, 7) if batch.records(0)[1].items[cell]}
    assert used == {3}


@pytest.mark.parametrize("layout", ["cramped_room_v2", "grounded_coord_simple"])
def test_cooks_clear_up_what_others_leave(layout):
    """From anything in hands, in pots and on counters, planners still serve."""
    batch = made(V2, 16, start="anything", layout=layout)
    while not batch.over.all():
        batch.player_actions(["planner", "planner"])
        batch.step_inplace()
    assert (batch.states["served"] >= 8).all()


def test_texts_and_keys():
    batch = made()
    p, s = batch.records(0)
    text = SPEC.functions["text"](p, s)
    assert text.splitlines()[0] == "##P##"
    assert "cook 0 holds nothing" in text
    assert SPEC.functions["keys"]({"space"}, None) == INTERACT
    assert SPEC.functions["keys"](set(), None) == STAY
