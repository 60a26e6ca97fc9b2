"""Memory Gym's games: parity with the original, the numbers of its paper, and that memory is needed."""

from types import SimpleNamespace

import gymnasium
import numpy as np
import pytest
from memory_replay import EPISODES, RECORDED, replay

import rlenvs
from rlenvs.core.catalogue.make import new_batch
from rlenvs.core.declare.errors import ParameterError
from rlenvs.core.declare.setup import Setup
from rlenvs.core.declare.spec import load_world
from rlenvs.single.memory.agent import draw_agent, sign_of
from rlenvs.single.memory.mortar_mayhem import wrap
from rlenvs.single.memory.spotlights import draw_exit, make_door

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
    np.testing.assert_allclose(np.minimum(state["progress"][:known], 1.0), spots[:known, 8], atol=1e-12)
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


def dark():
    screen = np.zeros((84, 84, 3), np.uint8)
    screen[:] = 7, 8, 9
    return screen


def test_agents_of_all_sizes_are_drawn_as_in_the_original():
    for scale, facings in zip((0.1, 0.15, 0.2, 0.25, 0.3, 0.37, 0.44, 0.5), RECORDED["sprites_agent"], strict=True):
        for facing, drawn in enumerate(facings):
            screen = dark()
            draw_agent(screen, 42, 42, facing, scale)
            assert np.array_equal(screen, drawn), (scale, facing)


def test_doors_of_all_sizes_are_drawn_as_in_the_original():
    for scale, doors in zip((0.25, 0.4, 0.5, 0.55, 0.9, 1.0, 1.45, 2.0), RECORDED["sprites_exit"], strict=True):
        for opened, drawn in enumerate(doors):
            screen, p = dark(), SimpleNamespace()
            p.door, p.door_rim = make_door(scale)
            draw_exit(p, SimpleNamespace(exit_x=42, exit_y=42, coins=1 - opened, elapsed=1), screen)
            assert np.array_equal(screen, drawn), (scale, opened)


@pytest.mark.parametrize(
    ("radius", "place", "action", "there"),
    [
        (6, (76, 6), [1, 2], (74, 8)),
        (6, (76, 6), [1, 1], (74, 4)),
        (6, (87, 42), [2, 0], (-3, 42)),
        (5, (1, 1), [1, 1], (-1, -1)),
        (5, (86, 86), [2, 2], (-3, -3)),
    ],
)
def test_the_torus_rounds_as_pygame_2_4_0(radius, place, action, there):
    """ScreenWrapCharacterController on the arena of six tiles; half a pixel is rounded away from zero."""
    p = SimpleNamespace(arena_size=6, agent_speed=3.0, agent_scale=radius / 25.0 + 1e-9)
    s = SimpleNamespace(x=place[0], y=place[1], facing=0)
    wrap(p, s, sign_of(action[0]), sign_of(action[1]))
    assert (s.x, s.y) == there


# --- numbers of the fact card -----------------------------------------------------------------------------------------

ENDLESS_MYSTERY = "rlenvs.single.memory.endless_mystery_path:SPEC"
# uniformly random actions in the original, seeds from 100,000 on: episodes, mean, deviation, mean length
RANDOM = {
    MORTAR: (300, 0.019, 0.044, 60.5),
    GRID: (300, 0.023, 0.056, 47.6),
    f"{GRID}/MortarMayhemBGrid-v0": (300, 0.019, 0.044, 8.2),
    MORTAR_FORMS["EndlessMortarMayhem"]: (300, 0.011, 0.034, 23.5),
    MYSTERY_FORMS["MysteryPath"]: (150, 0.217, 0.077, 512.0),
    MYSTERY_FORMS["MysteryPathGrid"]: (300, 0.013, 0.115, 127.2),
    ENDLESS_MYSTERY: (300, 0.098, 0.106, 26.0),
    SPOTLIGHTS: (200, 0.010, 0.049, 86.0),
    SPOTLIGHT_FORMS["EndlessSearingSpotlights"]: (200, 0.051, 0.107, 95.4),
}


def returns(address, choose, count, **options):
    """Returns and lengths of one episode in each of so many worlds, with the batch."""
    batch = new_batch(load_world(address), count, **{"observation": "vector", **options})
    batch.seed(0)
    batch.reset()
    total, length, over = np.zeros(count), np.zeros(count), np.zeros(count, bool)
    while not over.all():
        batch.step(choose(batch))
        total += batch.rewards[:, 0] * ~over
        length += ~over
        over |= batch.terminated[:, 0] | batch.truncated[:, 0]
    return total, length, batch


def chooser_of(seed):
    generator = np.random.default_rng(seed)

    def choose(batch):
        return generator.integers(0, batch.setup.choices, (batch.num_envs, batch.setup.numbers)).reshape(
            batch.num_envs, *([batch.setup.numbers] if batch.setup.numbers > 1 else [])
        )

    return choose


@pytest.mark.parametrize("address", RANDOM)
def test_random_returns_are_those_of_the_original(address):
    """Within four standard errors of both samples."""
    episodes, mean, deviation, _ = RANDOM[address]
    total, _, _ = returns(address, chooser_of(1), 3000)
    error = np.hypot(deviation / episodes**0.5, total.std() / 3000**0.5)
    assert abs(total.mean() - mean) < 4.0 * error


@pytest.mark.parametrize("address", [*list(RANDOM)[:3], MORTAR_FORMS["MortarMayhemB"]])
def test_who_knows_the_target_gets_all_of_mortar_mayhem(address):
    total, _, batch = returns(address, lambda batch: batch.expert_actions(), 200)
    np.testing.assert_allclose(total, 1.0)
    assert batch.setup.values.command_count == [10]


def test_a_finite_game_takes_the_published_steps():
    """274 steps when all commands are right; the published memory length is 275."""
    _, length, batch = returns(MORTAR, lambda batch: batch.expert_actions(), 20)
    assert set(length) == {274}
    assert batch.setup.horizon == 275


def test_completed_sequences_pay_as_published():
    """0.1 k (k + 1) / 2 for the sequences 1 to k: 1.5 for five, 12.0 for fifteen."""
    batch = new_batch(load_world(MORTAR_FORMS["EndlessMortarMayhem"]), 5, observation="vector")
    batch.seed(0)
    batch.reset()
    total = np.zeros(5)
    for _ in range(3000):
        batch.step(batch.expert_actions())
        total += batch.rewards[:, 0]
        done = batch.states["count"] - 1
        if (done == 5).all():
            np.testing.assert_allclose(total[batch.states["current"] == 0], 1.5)
        if (done == 15).any():
            break
    np.testing.assert_allclose(total[done == 15], 12.0)


def test_who_knows_everything_gets_all_of_searing_spotlights():
    total, _, _ = returns(SPOTLIGHTS, lambda batch: batch.expert_actions(), 200)
    np.testing.assert_allclose(total, 1.25)


def test_who_knows_the_path_gets_all_of_mystery_path():
    batch = new_batch(load_world(MYSTERY_FORMS["MysteryPath"]), 200, observation="vector")
    batch.seed(0)
    batch.reset()
    inner = batch.states["length"] - 2
    total, _, _ = returns(MYSTERY_FORMS["MysteryPath"], lambda batch: batch.expert_actions(), 200)
    np.testing.assert_allclose(total, 1.0 + 0.1 * inner)
    total, _, _ = returns(MYSTERY_FORMS["MysteryPathGrid"], lambda batch: batch.expert_actions(), 200)
    np.testing.assert_allclose(total, 1.0)


def test_paths_are_as_long_as_the_original_s():
    """8,000 paths of the original from left to right: 10.0985 tiles, deviation 1.630; 11.287 walls, 2.737; 16 of them
    go to the left somewhere."""
    batch = new_batch(load_world(MYSTERY_FORMS["MysteryPath"]), 8000, observation="vector", cardinal_origin_choice=[0])
    batch.seed(3)
    batch.reset()
    length, walls = batch.states["length"], batch.states["wall"].sum(axis=1)
    assert abs(length.mean() - 10.0985) < 4.0 * 1.63 * (2 / 8000) ** 0.5
    assert abs(length.std() - 1.630) < 0.06
    assert abs(walls.mean() - 11.287) < 4.0 * 2.737 * (2 / 8000) ** 0.5
    steps = batch.states["path"][:, 1:] // 7 < batch.states["path"][:, :-1] // 7
    inside = np.arange(48) < length[:, None] - 1
    assert 2 <= (steps & inside).any(axis=1).sum() <= 40


def stay_in_the_middle(batch):
    """A policy of the frame alone: to the tile in the middle; while tiles burn, to the one that does not."""
    seen = batch.observations[:, 0]
    burning = seen[:, 4] > 0.5
    goal = np.where(burning[:, None], seen[:, 5:7], 0.0)
    way = (goal - seen[:, :2]) * 42.0
    return np.where(way < -1.5, 1, np.where(way > 1.5, 2, 0))


def test_a_frame_is_not_enough_for_mortar_mayhem():
    """Whoever sees only the present stays at the level of chance: a command is right when its target is the middle."""
    total, _, _ = returns(MORTAR, stay_in_the_middle, 2000)
    random, _, _ = returns(MORTAR, chooser_of(2), 2000)
    assert total.mean() < 0.05
    assert random.mean() < 0.03


def test_shapes_are_the_published_ones():
    for address, action, shape in (
        (MORTAR, [3, 3], (84, 84, 3)),
        (SPOTLIGHTS, [3, 3], (84, 84, 3)),
        (MYSTERY_FORMS["MysteryPath"], [3, 3], (84, 84, 3)),
        (GRID, 4, (84, 84, 3)),
        (ENDLESS_MYSTERY, 4, (84, 84, 3)),
    ):
        setup = Setup(load_world(address))
        assert setup.observation_space.shape == shape
        assert setup.observation_space.dtype == np.uint8
        assert setup.action_space == (
            gymnasium.spaces.Discrete(4) if action == 4 else gymnasium.spaces.MultiDiscrete(action)
        )
    with_commands = Setup(load_world(MORTAR_FORMS["MortarMayhemB"])).observation_space
    assert with_commands["state"].shape == (180,)
    assert with_commands["screen"].shape == (84, 84, 3)


def test_commands_stand_in_the_vector_in_the_published_order():
    """Stay, right, left, up, down, right down, right up, left down, left up."""
    batch = new_batch(load_world(MORTAR_FORMS["MortarMayhemB"]), 1)
    batch.seed(0)
    batch.reset()
    batch.states["commands"][0, :10] = [4, 0, 2, 3, 1, 5, 6, 7, 8, 4]
    batch.recompute_observations()
    rows = batch.observations[0, 0].reshape(20, 9)
    assert rows[:10].argmax(axis=1).tolist() == [0, 1, 2, 3, 4, 5, 6, 7, 8, 0]
    assert rows[:10].sum() == 10
    assert not rows[10:].any()


def test_spotlights_come_when_and_as_published():
    """4 at first, one more every 40 steps; radii 7 to 13; 0.0025 to 0.0075 of the way per step."""
    batch = new_batch(load_world(SPOTLIGHTS), 500, observation="vector", agent_health=1000, horizon=1000)
    batch.seed(0)
    batch.reset()
    assert (batch.states["spots"] == 4).all()
    radii, speeds = batch.states["radius"][:, :4], batch.states["speed"][:, :4]
    assert (radii.min(), radii.max()) == (7, 13)
    assert 0.0025 <= speeds.min() < 0.0026
    assert 0.0074 < speeds.max() <= 0.0075
    for step in range(1, 121):
        batch.step(np.zeros((500, 2), int))
        going = ~batch.states["over"] & (batch.states["elapsed"] == step)
        assert (batch.states["spawned"][going] == step // 40).all()


def test_intervals_may_shrink_as_they_were_meant_to():
    world = load_world(SPOTLIGHTS)
    published = new_batch(world, 1).setup.data["list_intervals"]
    shrinking = new_batch(world, 1, schedule="shrinking").setup.data["list_intervals"]
    assert set(published.tolist()) == {40}
    assert shrinking[:4].tolist() == [40, 38, 37, 35]


@pytest.mark.parametrize("address", [MORTAR_FORMS["EndlessMortarMayhem"], SPOTLIGHTS, MYSTERY_FORMS["MysteryPath"]])
def test_the_time_limit_truncates_unless_it_is_to_be_compatible(address):
    for compat in (False, True):
        batch = new_batch(load_world(address), 1, compat=compat, horizon=4)
        batch.seed(0)
        batch.reset()
        for _ in range(4):
            batch.step(np.zeros((1, 2), int))
        assert batch.truncated[0, 0]
        assert batch.terminated[0, 0] == compat


def test_memory_distance_counts_from_the_cue():
    """The first command was last shown two steps after the start, and is due from step 40 on."""
    env = gymnasium.make("rlenvs/MortarMayhem-v0", observation="vector")
    env.reset(seed=0)
    for step in range(1, 45):
        *_, info = env.step([0, 0])
        assert info["reward_memory_distance"] == max(step - 2, 0)
        assert 0.0 <= info["reward_target_x"] <= 0.8


def test_failing_the_last_command_is_no_success():
    """The original reports success then."""
    batch = new_batch(load_world(GRID), 64, observation="vector", command_count=[1])
    batch.seed(0)
    batch.reset()
    while not batch.states["over"].all():
        batch.step(np.zeros(64, int))
    stayed = batch.states["commands"][:, 0] == 4
    np.testing.assert_array_equal(batch.success[:, 0], stayed)
    assert 0 < stayed.sum() < 64


@pytest.mark.parametrize(
    ("id", "keywords"),
    [
        ("MortarMayhem-v0", {"command_count": [0]}),
        ("MortarMayhem-v0", {"command_count": []}),
        ("MortarMayhem-v0", {"command_show_duration": [1.5]}),
        ("MortarMayhem-v0", {"arena_size": 7}),
        ("MysteryPath-v0", {"cardinal_origin_choice": [4]}),
        ("SearingSpotlights-v0", {"spot_min_radius": 20.0, "spot_max_radius": 10.0}),
        ("SearingSpotlights-v0", {"exit_scale": 9}),
        ("EndlessMysteryPath-v0", {"camera_offset_scale": 6.0}),
    ],
)
def test_bad_options_are_refused(id, keywords):
    with pytest.raises(ParameterError, match=next(iter(keywords))):
        rlenvs.make_batch(id, 1, **keywords)


@pytest.mark.budget(4)
@pytest.mark.parametrize(
    ("id", "keywords"),
    [
        ("MortarMayhem-v0", {"arena_size": 2, "agent_scale": 0.5, "agent_speed": 8.0, "explosion_delay": [1]}),
        ("EndlessMortarMayhem-v0", {"arena_size": 2, "explosion_delay": [1], "explosion_duration": [1]}),
        ("MysteryPath-v0", {"agent_scale": 0.5, "agent_speed": 8.0, "show_goal": True, "show_origin": True}),
        ("EndlessMysteryPath-v0", {"agent_speed": 8.0, "show_background": True, "camera_offset_scale": 0.0}),
        ("SearingSpotlights-v0", {"num_coins": [8], "initial_spawns": 20, "spot_max_radius": 40.0, "exit_scale": 2.0}),
        ("SearingSpotlights-v0", {"num_coins": [], "use_exit": False, "black_background": True, "compat": True}),
        ("EndlessSearingSpotlights-v0", {"spawn_interval": 1, "coin_scale": 2.0, "light_dim_off_duration": 0}),
    ],
)
def test_extremes_stay_inside_their_arrays(id, keywords):
    """Plain Python raises an error where compiled code would write beside an array."""
    batch = rlenvs.make_batch(id, 1, backend="python", **keywords)
    batch.seed(0)
    batch.reset()
    choose = chooser_of(0)
    for _ in range(12):
        batch.step(choose(batch))
    vectors = rlenvs.make_batch(id, 50, observation="vector", **keywords)
    vectors.seed(0)
    vectors.reset()
    for _ in range(300):
        vectors.step(choose(vectors))
    assert vectors.setup.observation_space.contains(vectors.observations[0, 0])


def endless_path(count=60):
    batch = new_batch(load_world(ENDLESS_MYSTERY), count, observation="vector")
    batch.seed(0)
    batch.reset()
    return batch, batch.states


def test_the_endless_path_ends_when_stamina_is_out():
    batch, s = endless_path()
    for step in range(1, 21):
        batch.step(np.zeros(60, int))
        assert (s["over"] == (step == 20)).all()


def test_the_second_fall_at_a_place_ends_the_endless_path():
    """Three steps of 3 px lead from the middle of a tile over its border; one more brings the agent back."""
    batch, s = endless_path()
    start = s["start"].copy()
    goes_up = s["onward"][np.arange(60), start] == start - 1
    for step in range(1, 8):
        batch.step(np.full(60, 2))
        assert (s["fails"][~goes_up] == (0 if step < 3 else 1 if step < 7 else 2)).all()
        assert (batch.terminated[~goes_up, 0] == (step == 7)).all()
    assert 0 < goes_up.sum() < 60


def test_a_fall_before_the_farthest_column_ends_the_endless_path():
    batch, s = endless_path()
    goes_up = s["onward"][np.arange(60), s["start"]] == s["start"] - 1
    s["farthest"] = 1
    for step in range(1, 4):
        batch.step(np.full(60, 2))
        assert (batch.terminated[~goes_up, 0] == (step == 3)).all()
