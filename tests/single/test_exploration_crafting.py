"""The crafting world: Crafter's rules one by one, its lives without creatures, the land, the picture, the survivor."""

from pathlib import Path

import gymnasium
import numpy as np
import pytest
from scipy import ndimage

import rlenvs
from rlenvs.single.exploration.crafting_rules import daylight
from rlenvs.single.exploration.crafting_score import score
from rlenvs.single.exploration.crafting_things import (
    ACHIEVEMENTS,
    ACTIONS,
    ARROW,
    CHUNKS,
    COAL,
    COW,
    DIAMOND,
    DRINK,
    ENERGY,
    FOOD,
    FURNACE,
    GRASS,
    HEALTH,
    IRON,
    ITEMS,
    LAVA,
    MATERIALS,
    PATH,
    PLANT,
    SAND,
    SIDE,
    SKELETON,
    STEPS,
    STONE,
    TABLE,
    TREE,
    WATER,
    ZOMBIE,
    add_thing,
    cell_at,
    remove_thing,
)

ID = "rlenvs/Crafting-v0"
RECORDED = np.load(Path(__file__).parents[1] / "data" / "crafter.npz")
ACT = {name: number for number, name in enumerate(ACTIONS)}
ITEM = {name: number for number, name in enumerate(ITEMS)}
DO, NOOP, SLEEP = ACT["do"], ACT["noop"], ACT["sleep"]
LEFT, RIGHT, UP, DOWN = 1, 2, 3, 4


def make(**keywords):
    """An environment whose land is bare grass, with the player in the middle, facing down."""
    env = gymnasium.make(ID, **keywords)
    env.reset(seed=0)
    s = env.unwrapped.batch.records(0)[1]
    clear(s)
    on_land(s.material)[:] = GRASS
    return env, s


def on_land(padded):
    return padded.reshape(74, 74)[5:-5, 5:-5]


def clear(s):
    s.kind[:], s.occupant[:], s.lively[:], s.things = 0, 0, 0, 0


def front(s):
    return s.cell + STEPS[s.facing]


def add(s, kind, cell):
    """A creature that was there before."""
    k = add_thing(s, kind, cell)
    s.born[k] = 0
    return k


def give(s, **items):
    for name, count in items.items():
        s.items[ITEM[name]] = count


# --- beside Crafter ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("life", range(len(RECORDED["length"])))
def test_lives_without_creatures(life):
    """Places, items, achievements, sleep, light and rewards of a life in Crafter's own land."""
    env, s = make()
    on_land(s.material)[:] = RECORDED["land"][life]
    s.items[:] = RECORDED["first_items"][life]
    for t in range(RECORDED["length"][life]):
        _, reward, ended, _, info = env.step(int(RECORDED["actions"][life, t]))
        for k in np.flatnonzero((s.kind > 0) & (s.kind != PLANT)):
            remove_thing(s, k)  # no creature comes
        s.lively[:] = 0
        assert s.cell == cell_at(*RECORDED["place"][life, t].astype(int))
        assert s.facing == RECORDED["facing"][life, t]
        assert s.items.tolist() == RECORDED["items"][life, t].tolist()
        assert s.count.tolist() == RECORDED["counts"][life, t].tolist()
        assert s.sleeping == RECORDED["asleep"][life, t]
        unlocked = sum(info[f"reward_{name}"] for name in ACHIEVEMENTS)
        assert reward - max(unlocked - 1.0, 0.0) == pytest.approx(RECORDED["rewards"][life, t], abs=1e-6)
        assert daylight(t + 1) == pytest.approx(RECORDED["daylight"][life, t], abs=1e-12)
        assert ended == RECORDED["done"][life, t]
    assert np.array_equal(on_land(s.material), RECORDED["last_land"][life])


def test_the_recorded_lives_are_rich():
    had = (RECORDED["counts"][:, -1] > 0).any(0)
    without = {name for name, one in zip(ACHIEVEMENTS, had, strict=True) if not one}
    assert without <= {"collect_sapling", "defeat_skeleton", "defeat_zombie", "eat_cow", "eat_plant"}


# --- taking, placing, making ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("material", "needs", "item", "leaves"),
    [
        (TREE, None, "wood", GRASS),
        (STONE, "wood_pickaxe", "stone", PATH),
        (COAL, "wood_pickaxe", "coal", PATH),
        (IRON, "stone_pickaxe", "iron", PATH),
        (DIAMOND, "iron_pickaxe", "diamond", PATH),
    ],
)
def test_what_is_collected(material, needs, item, leaves):
    env, s = make()
    s.material[front(s)] = material
    if needs:
        _, _, _, _, info = env.step(DO)
        assert s.material[front(s)] == material
        assert info[f"reward_collect_{item}"] == 0.0
        give(s, **{needs: 1})
    _, reward, _, _, info = env.step(DO)
    assert (s.items[ITEM[item]], s.material[front(s)]) == (1, leaves)
    assert info[f"reward_collect_{item}"] == 1.0
    assert reward == pytest.approx(1.0)
    s.material[front(s)] = material
    assert env.step(DO)[1] == pytest.approx(0.0)  # paid once
    assert s.items[ITEM[item]] == 2


def test_water_is_drunk_and_stays():
    env, s = make()
    s.material[front(s)], s.thirst = WATER, 15.0
    give(s, drink=3)
    env.step(DO)
    assert (s.items[DRINK], s.material[front(s)], s.thirst) == (4, WATER, 1.0)


def test_a_sapling_in_one_of_ten():
    env, s = make()
    found = 0
    for _ in range(2000):
        give(s, sapling=0, health=9, food=9, drink=9, energy=9)
        env.step(DO)
        s.lively[:] = 0
        found += s.items[ITEM["sapling"]]
    assert 150 < found < 250


@pytest.mark.parametrize(
    ("what", "costs", "on"),
    [
        ("stone", {"stone": 1}, {GRASS, SAND, PATH, WATER, LAVA}),
        ("table", {"wood": 2}, {GRASS, SAND, PATH}),
        ("furnace", {"stone": 4}, {GRASS, SAND, PATH}),
        ("plant", {"sapling": 1}, {GRASS}),
    ],
)
def test_what_is_placed_where(what, costs, on):
    env, s = make()
    (item, count), action = next(iter(costs.items())), ACT[f"place_{what}"]
    for material in range(1, len(MATERIALS) + 1):
        s.occupant[:], s.kind[:] = 0, 0
        s.material[front(s)] = material
        give(s, **{item: count - 1})
        env.step(action)
        assert s.items[ITEM[item]] == count - 1  # too few
        give(s, **{item: count})
        env.step(action)
        s.lively[:] = 0
        assert (s.items[ITEM[item]] == 0) == (material in on)
        if material in on and what != "plant":
            assert s.material[front(s)] == {"stone": STONE, "table": TABLE, "furnace": FURNACE}[what]
    assert s.unlocked[ACHIEVEMENTS.index(f"place_{what}")]


@pytest.mark.parametrize(
    ("tool", "costs", "furnace"),
    [
        ("wood_pickaxe", {"wood": 1}, False),
        ("stone_pickaxe", {"wood": 1, "stone": 1}, False),
        ("iron_pickaxe", {"wood": 1, "coal": 1, "iron": 1}, True),
        ("wood_sword", {"wood": 1}, False),
        ("stone_sword", {"wood": 1, "stone": 1}, False),
        ("iron_sword", {"wood": 1, "coal": 1, "iron": 1}, True),
    ],
)
def test_recipes_of_tools(tool, costs, furnace):
    env, s = make()
    action = ACT[f"make_{tool}"]
    give(s, **costs)
    env.step(action)
    assert s.items[ITEM[tool]] == 0  # no table
    s.material[s.cell + 74 + 1] = TABLE  # a corner is near
    if furnace:
        env.step(action)
        assert s.items[ITEM[tool]] == 0
        s.material[s.cell - 74] = FURNACE
    for missing in costs:
        give(s, **costs)
        give(s, **{missing: 0})
        env.step(action)
        assert s.items[ITEM[tool]] == 0
    give(s, **costs)
    _, _, _, _, info = env.step(action)
    assert (s.items[ITEM[tool]], info[f"reward_make_{tool}"]) == (1, 1.0)
    assert not s.items[[ITEM[name] for name in costs]].any()


def test_no_more_than_nine_of_anything():
    env, s = make()
    give(s, wood=9)
    s.material[front(s)] = TREE
    env.step(DO)
    assert s.items[ITEM["wood"]] == 9


# --- vitals -----------------------------------------------------------------------------------------------------------


def test_vitals_fall_at_their_pace():
    env, s = make()
    low = {FOOD: 26, DRINK: 21, ENERGY: 31}
    for step in range(1, 63):
        env.step(NOOP)
        s.lively[:] = 0
        for vital, every in low.items():
            assert s.items[vital] == 9 - step // every


def test_health_comes_and_goes():
    env, s = make()
    give(s, health=5)
    s.felt = s.last_health = 5
    rewards = [env.step(NOOP)[1] for _ in range(26)]
    assert s.items[HEALTH] == 6
    assert rewards[-1] == pytest.approx(0.1)
    give(s, food=0, drink=0)
    s.recover, lost = 0.0, []
    for step in range(1, 33):
        _, reward, _, _, info = env.step(NOOP)
        give(s, drink=0)
        if reward < 0:
            lost.append((step, round(reward, 6), info["cost_damage"]))
    assert lost == [(16, -0.1, 1.0), (32, -0.1, 1.0)]


def test_sleep_until_the_energy_is_full():
    env, s = make()
    assert env.step(SLEEP)[4]["action_mask"][SLEEP] == 0  # not tired
    assert not s.sleeping
    give(s, energy=8)
    env.step(SLEEP)
    assert s.sleeping
    here = s.cell
    steps = 0
    while s.sleeping:
        _, _, _, _, info = env.step(LEFT)  # asleep, all actions are to sleep on
        s.lively[:] = 0
        steps += 1
        assert steps < 40
    assert info["reward_wake_up"] == 1.0
    assert s.items[ENERGY] == 9
    assert s.cell == here + STEPS[0]  # awake, it goes


def test_a_blow_wakes():
    env, s = make()
    give(s, energy=3)
    env.step(SLEEP)
    s.items[HEALTH] -= 2
    env.step(NOOP)
    assert not s.sleeping
    assert not s.count[ACHIEVEMENTS.index("wake_up")]


def test_lava_kills():
    env, s = make()
    s.material[s.cell + STEPS[0]] = LAVA
    _, reward, ended, _, info = env.step(LEFT)
    assert ended
    assert reward == pytest.approx(-0.9)
    assert (info["cost_damage"], info["is_success"]) == (9.0, False)


@pytest.mark.parametrize("material", range(1, len(MATERIALS) + 1))
def test_where_the_player_walks(material):
    env, s = make()
    here = s.cell
    s.material[here + STEPS[1]] = material
    env.step(RIGHT)
    assert (s.cell != here) == (material in (GRASS, PATH, SAND, LAVA))
    assert s.facing == 1


def test_days_and_nights():
    assert daylight(0) == pytest.approx(1 - abs(np.cos(0.3 * np.pi)) ** 3)
    assert daylight(60) == pytest.approx(1.0)
    assert daylight(210) < 1e-9
    assert daylight(300) == daylight(0)


# --- creatures --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("sword", "damage"), [(None, 1), ("wood_sword", 2), ("stone_sword", 3), ("iron_sword", 5)])
def test_what_blows_take(sword, damage):
    env, s = make()
    if sword:
        give(s, **{sword: 1})
    for kind, health, name in ((ZOMBIE, 5, "defeat_zombie"), (SKELETON, 3, "defeat_skeleton"), (COW, 3, "eat_cow")):
        clear(s)
        give(s, food=2, health=9)
        s.hunger = 10.0
        k = add(s, kind, front(s))
        blows = -(-health // damage)
        for blow in range(blows):
            give(s, health=9)
            s.material[s.at[k] + np.array(STEPS)] = WATER  # it cannot move
            s.material[s.cell] = GRASS
            _, _, _, _, info = env.step(DO)
            s.lively[:] = 0
            assert info[f"reward_{name}"] == (1.0 if blow == blows - 1 else 0.0)
        assert s.kind[k] == 0
        assert s.items[FOOD] == (8 if kind == COW else 2)


def test_a_zombie_strikes_every_sixth_step_and_harder_who_sleeps():
    for sleeping, damage in ((0, 2), (1, 7)):
        env, s = make()
        give(s, energy=1)
        k = add(s, ZOMBIE, s.cell + 74)
        s.material[s.at[k] + np.array(STEPS)] = WATER
        s.material[s.cell] = GRASS
        s.sleeping = sleeping
        losses = []
        for step in range(14):
            give(s, health=9, food=9, drink=9)
            s.last_health = s.felt = 9
            s.strength[k] = 5
            _, _, _, _, info = env.step(NOOP)
            s.lively[:] = 0
            if info["cost_damage"]:
                losses.append((step, info["cost_damage"]))
            s.sleeping = sleeping
        assert losses == [(0, damage), (6, damage), (12, damage)]


def test_zombies_come():
    far = []
    for seed in range(20):
        env, s = make()
        env.unwrapped.batch.states["rng"][0] += np.uint64(seed)
        k = add(s, ZOMBIE, s.cell + 6 * 74)
        for _ in range(8):
            env.step(NOOP)
            s.lively[:] = 0
        far.append(abs(s.at[k] // 74 - s.cell // 74) + abs(s.at[k] % 74 - s.cell % 74))
    assert np.mean(far) < 2.5


def test_skeletons_shoot_and_arrows_hit():
    env, s = make()
    on_land(s.material)[:] = PATH
    add(s, SKELETON, s.cell + 5 * 74)
    shots, hits = 0, 0
    for _ in range(300):
        give(s, health=9, food=9, drink=9, energy=9)
        s.last_health = s.felt = 9
        _, _, _, _, info = env.step(NOOP)
        s.lively[:] = 0
        shots += np.count_nonzero(s.kind == ARROW)
        hits += info["cost_damage"] == 2.0
    assert SKELETON in s.kind  # others come, and one too many goes
    assert shots > 5
    assert hits > 2


def test_arrows_fly_straight_break_tables_and_end_at_stone():
    env, s = make()
    for what, left in ((TABLE, PATH), (FURNACE, PATH), (STONE, STONE), (TREE, TREE)):
        clear(s)
        on_land(s.material)[:] = GRASS
        goal = s.cell - 4 * 74
        s.material[goal] = what
        s.material[goal + 74] = WATER  # over which it flies
        k = add(s, ARROW, s.cell - 74)
        s.heading[k] = 0
        places = []
        for _ in range(4):
            env.step(NOOP)
            s.lively[:] = 0
            places.append(int(s.at[k] - s.cell) // 74 if s.kind[k] else None)
        assert places == [-2, -3, None, None]
        assert s.material[goal] == left


def test_plants_ripen_and_are_eaten():
    env, s = make()
    give(s, sapling=1, food=1)
    env.step(ACT["place_plant"])
    k = int(s.occupant[front(s)]) - 1
    assert s.kind[k] == PLANT
    s.timer[k] = 299
    env.step(DO)
    assert s.items[FOOD] == 1  # not yet
    s.lively[:] = 0
    s.timer[k] = 301
    _, _, _, _, info = env.step(DO)
    assert info["reward_eat_plant"] == 1.0
    assert (s.items[FOOD], s.timer[k]) == (5, 1)
    add(s, COW, s.at[k] + 1)
    s.material[s.at[k] + 1 + np.array(STEPS)] = WATER
    env.step(NOOP)
    assert s.kind[k] == 0  # a creature beside it


def test_creatures_far_away_rest():
    env, s = make()
    near, far = add(s, COW, s.cell + 12), add(s, COW, s.cell - 18)
    places = set()
    for _ in range(40):
        env.step(NOOP)
        places.add((int(s.at[near]), int(s.at[far])))
    assert len({place for place, _ in places}) > 1
    assert {place for _, place in places} == {int(s.cell - 18)}


def test_chunks_are_balanced():
    """Zombies in the dark up to three in a chunk, one cow where there is none; on bare land no skeletons."""
    env, s = make()
    on_land(s.material)[:] = WATER
    on_land(s.material)[:12, :12] = GRASS
    s.lively[:] = 1
    env.unwrapped.batch.states["elapsed"][0] = 180
    most = 0
    for _ in range(60):
        give(s, health=9, food=9, drink=9, energy=9)
        env.step(NOOP)
        most = max(most, np.count_nonzero(s.kind == ZOMBIE))
    assert 1 <= most <= 4
    assert not (s.kind == SKELETON).any()
    env.unwrapped.batch.states["elapsed"][0] = 300 + 30
    for _ in range(60):
        give(s, health=9, food=9, drink=9, energy=9)
        env.step(NOOP)
    assert np.count_nonzero(s.kind == ZOMBIE) <= 2


# --- land, observation, mask, ends ------------------------------------------------------------------------------------


# cells of each material in 600 lands of Crafter's, seeds from 1000 on: mean and standard deviation between lands
LANDS = {
    "water": (876.6, 246.5),
    "grass": (1769.8, 273.8),
    "stone": (577.5, 148.9),
    "path": (345.4, 120.1),
    "sand": (232.6, 53.7),
    "tree": (191.5, 40.0),
    "lava": (31.5, 18.3),
    "coal": (50.2, 16.2),
    "iron": (17.8, 8.14),
    "diamond": (3.19, 1.94),
}
CREATURES = {COW: (26.1, 6.75), ZOMBIE: (14.7, 4.21), SKELETON: (9.72, 4.46)}


def test_lands_are_as_in_crafter_and_differ_as_much():
    """Means within 4 standard errors, spreads within as many."""
    batch = rlenvs.make_batch("Crafting-v0", 500)
    batch.seed(range(5000, 5500))
    batch.reset()
    lands, kinds = batch.states["material"].reshape(500, 74, 74)[:, 5:-5, 5:-5], batch.states["kind"]
    assert lands.shape[1:] == (SIDE, SIDE)
    counts = {name: (known, (lands == MATERIALS.index(name) + 1).sum(axis=(1, 2))) for name, known in LANDS.items()}
    counts |= {kind: (known, (kinds == kind).sum(axis=1)) for kind, known in CREATURES.items()}
    for name, ((mean, spread), found) in counts.items():
        assert abs(found.mean() - mean) < 4.0 * spread * np.sqrt(1 / 600 + 1 / 500), name
        assert found.std() == pytest.approx(spread, rel=4.0 * np.sqrt(0.5 / 600 + 0.5 / 500)), name
    assert len({land.tobytes() for land in lands}) == 500


def test_lakes_are_as_large_as_in_crafter():
    """The largest one of each land: 424.8 cells of 600 lands on average, with a standard deviation of 209.6."""
    batch = rlenvs.make_batch("Crafting-v0", 200)
    batch.seed(range(7000, 7200))
    batch.reset()
    wet = batch.states["material"].reshape(200, 74, 74)[:, 5:-5, 5:-5] == MATERIALS.index("water") + 1
    largest = [np.bincount(ndimage.label(land)[0].ravel())[1:].max() for land in wet]
    assert abs(np.mean(largest) - 424.8) < 4.0 * 209.6 * np.sqrt(1 / 600 + 1 / 200)
    assert 150.0 < np.std(largest) < 270.0


def test_what_is_seen():
    env, s = make()
    s.material[s.cell - 4 * 74 - 3] = TABLE
    k = add(s, PLANT, s.cell + 4 * 74 + 3)
    s.timer[k] = 400
    observation, *_ = env.step(NOOP)
    materials = observation[: 63 * 12].reshape(9, 7, 12)
    things = observation[63 * 12 : 63 * 18].reshape(9, 7, 6)
    assert materials[0, 0, TABLE - 1] == 1.0
    assert np.count_nonzero(materials) == 63
    assert things[8, 6].tolist() == [0, 0, 0, 0, 0, 1]  # ripe
    assert observation.size == 63 * 18 + 16 + 4 + 2
    assert observation[63 * 18 : 63 * 18 + 16].tolist() == [1.0] * 4 + [-1.0] * 12
    assert observation[-6:-2].tolist() == [0, 0, 0, 1]
    s.cell = cell_at(0, 0)
    observation, *_ = env.step(UP)
    assert np.count_nonzero(observation[: 63 * 12].reshape(9, 7, 12)[:4]) == 0  # beyond the border


def test_the_picture():
    env, s = make(pixels=True)
    observation, *_ = env.step(NOOP)
    assert observation["screen"].shape == (64, 64, 3)
    assert not observation["screen"][63].any()  # 9 tiles of 7 pixels
    before = observation["screen"].copy()
    s.material[s.cell + 74] = LAVA
    observation, *_ = env.step(NOOP)
    changed = np.argwhere((observation["screen"].astype(int) - before > 20).any(2))
    assert changed.min(0).tolist()[1] >= 35
    assert changed.max(0).tolist()[1] < 42


def test_the_mask_names_what_does_something():
    env, s = make()
    _, _, _, _, info = env.step(NOOP)
    mask = dict(zip(ACTIONS, info["action_mask"].tolist(), strict=True))
    assert (mask["move_left"], mask["do"], mask["noop"]) == (1, 1, 1)
    assert not any(mask[name] for name in ACTIONS if name.startswith(("place", "make", "sleep")))
    give(s, wood=3, stone=5, energy=3)
    s.material[s.cell + 74] = TABLE
    _, _, _, _, info = env.step(NOOP)
    mask = dict(zip(ACTIONS, info["action_mask"].tolist(), strict=True))
    allowed = {name for name, one in mask.items() if one}
    assert {"place_stone", "place_table", "place_furnace", "make_wood_pickaxe", "make_stone_sword", "sleep"} <= allowed
    assert not allowed & {"make_iron_sword", "place_plant"}


def test_the_limit_is_ten_thousand_steps():
    assert gymnasium.make(ID).unwrapped.batch.setup.horizon == 10_000
    env, s = make(horizon=5)
    assert [env.step(NOOP)[2:4] for _ in range(5)] == [(False, False)] * 4 + [(False, True)]
    assert s.lively.size == CHUNKS**2


def test_the_score_of_the_benchmark():
    assert score([1.0] * 22) == pytest.approx(100.0)
    assert score([0.0] * 22) == 0.0
    assert score([1.0] + [0.0] * 21) == pytest.approx(101 ** (1 / 22) - 1)


def test_the_survivor_finds_most_achievements():
    result = rlenvs.evaluate("Crafting-v0", "expert", seeds=range(40))
    assert result.mean > 15.0
    assert rlenvs.evaluate("Crafting-v0", "random", seeds=range(20)).mean < 6.0
