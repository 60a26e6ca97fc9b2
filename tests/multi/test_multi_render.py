"""Images of worlds of several agents and of the sea: what matters is seen, told apart, and inside the frame."""

import itertools

import numpy as np
import pytest
from support.scenes import count, is_color, scene_of, world_at_start

from rlenvs.core.catalogue.registry import catalogue
from rlenvs.core.declare.canvas import AGENT_COLORS, COLORS, Canvas
from rlenvs.multi.battle.figures import FLASH, GROUND, draw_figure
from rlenvs.multi.battle.units import KINDS
from rlenvs.multi.particle.render import BALLOON, BURST, FARTHEST_VIEW
from rlenvs.multi.pathfinding.render import shortest_way

WORLDS = [id for id, row in catalogue.items() if row.address.split(".")[1] == "multi" and "mo-" not in id]
MINI_GAMES = [id for id, row in catalogue.items() if ".minigames." in row.address]
PARTICLES = [id for id, row in catalogue.items() if ".particle." in row.address and "mo-" not in id]


def frames(id, steps=12, **keywords):
    """The scenes at the start, in the middle and at the end of some steps of random actions."""
    batch, _, _ = world_at_start(id, **keywords)
    slots = batch.world.players and [batch.world.players[0]] * batch.agents
    yield scene_of(batch)
    for step in range(steps):
        actions = batch.player_actions(slots) if slots else np.zeros_like(batch.actions)
        batch.step(actions)
        if step in (steps // 2, steps - 1):
            yield scene_of(batch)


def test_drawing_writes_no_state_and_leaves_no_frame_unused():
    for id in WORLDS:
        batch, _, _ = world_at_start(id)
        before = batch.states.tobytes()
        scene = scene_of(batch)
        assert batch.states.tobytes() == before, id
        unused = (scene == COLORS["background"]).all(axis=-1).mean()
        assert unused < 0.1, f"{id}: {unused:.0%} of the scene is background"


# --- particles --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("agents", [3, 16])
def test_landmarks_show_above_agents_that_stand_on_them(agents):
    batch, _, s = world_at_start("ParticleSpread-v0", agents=agents, radius=0.15 if agents == 3 else 0.05)
    s.position[:] = 5.0  # nobody near
    s.position[:] = np.linspace([-0.9, -0.9], [0.9, 0.9], agents)
    s.landmark[:] = s.position
    covered = count(scene_of(batch), "green")
    assert covered > 100 * agents
    s.position[:, 0] = -s.position[::-1, 0]
    s.landmark[:] = s.landmark[:, ::-1] * [[1.0, -1.0]] + [[0.0, 0.05]]
    assert count(scene_of(batch), "red") > 0


def test_an_agent_that_runs_away_stays_in_the_image_or_is_pointed_at():
    batch, _, s = world_at_start("ParticleSimple-v0")
    s.landmark[:] = 0.0
    s.velocity[:] = 0.0
    seen = {}
    for away in (0.9, 1.5, 0.95 * FARTHEST_VIEW, 10.0, 99.0):
        s.position[0] = away, -0.3
        seen[away] = scene_of(batch)
        assert count(seen[away], "blue") > 100, away
        assert count(seen[away], "red") > 60, away  # the landmark's ring does not shrink away
    np.testing.assert_array_equal(is_color(seen[10.0], "red"), is_color(seen[99.0], "red"))
    columns = np.flatnonzero(is_color(seen[99.0], "blue").any(axis=0))
    assert columns.min() > 480
    assert columns.max() < 511  # at the right edge, not cut


def test_roles_differ_in_shape_too():
    """A hunter of the size and colour of prey would still be one: it has horns."""
    batch, p, s = world_at_start("ParticleTag-v0", good=1, adversaries=1, obstacles=0)
    p.adversary_radius = p.good_radius
    dark = []
    for k in range(2):
        s.position[1 - k], s.position[k] = (0.9, 0.9), (0.0, -0.5)
        middle = scene_of(batch)[200:400, 150:350]
        dark.append((middle.max(axis=-1) < 90).sum())
    assert dark[0] > dark[1] + 30


@pytest.mark.parametrize("id", ["ParticleSpeakerListener-v0", "ParticleReference-v0", "ParticleWorldComm-v0"])
def test_words_are_in_balloons(id):
    batch, _, s = world_at_start(id)
    silent = scene_of(batch)
    s.words.reshape(-1)[1] = 1.0
    spoken = scene_of(batch)
    assert count(silent, BALLOON) > 100
    assert count(spoken, BALLOON) > 100
    assert not np.array_equal(silent, spoken)


def test_the_message_and_who_has_it_are_written():
    batch, _, s = world_at_start("ParticleCrypto-v0")
    s.words[:] = 0.0
    undecided = scene_of(batch)
    s.words[:, 0] = 1.0
    s.message = 0
    told = scene_of(batch)
    s.message = 1
    mistaken = scene_of(batch)
    assert count(undecided, "green") == 0
    assert count(told, "green") > 2000
    assert count(mistaken, "green") == 0


def test_contacts_show():
    batch, _, s = world_at_start("ParticleTag-v0")
    s.landmark[:] = [[0.7, 0.7], [0.7, -0.7]]
    s.position[:] = [[-0.5, 0.0], [-0.5, 0.5], [-0.5, -0.5], [0.0, 0.0]]
    assert count(scene_of(batch), BURST) == 0
    s.position[3] = -0.42, 0.0
    assert count(scene_of(batch), BURST) > 20


def test_every_agent_and_goal_of_navigation_has_its_colour():
    batch, _, s = world_at_start("ParticleNavigation-v0", agents=4, obstacles=0)
    s.position[:] = [[-0.8, 0.5], [-0.3, 0.5], [0.3, 0.5], [0.8, 0.5]]
    s.goal[:] = [[-0.8, -0.5], [-0.3, -0.5], [0.3, -0.5], [0.8, -0.5]]
    scene = scene_of(batch)
    half = len(scene) // 2
    for color in ("blue", "orange", "green", "red"):
        assert count(scene[:half], color) > 60, color
        assert count(scene[half:], color) > 60, color


def test_numbers_of_navigation_do_not_lie_on_each_other(monkeypatch):
    batch, _, s = world_at_start("ParticleNavigation-v0", agents=2, obstacles=0)
    s.position[:] = [[-0.8, 0.5], [0.5, 0.5]]
    s.goal[:] = [[-0.78, 0.55], [0.5, -0.5]]
    written, text = [], Canvas.text

    def noted(canvas, position, number, *others, **more):
        written.append((number, *canvas._pixel(position)))
        text(canvas, position, number, *others, **more)

    monkeypatch.setattr(Canvas, "text", noted)
    scene_of(batch)
    assert sorted(number for number, _, _ in written) == ["0", "1", "1"]
    assert all(np.hypot(a[1] - b[1], a[2] - b[2]) > 30 for a, b in itertools.combinations(written, 2))


@pytest.mark.parametrize("id", PARTICLES)
def test_the_square_is_as_large_as_the_frame_allows(id):
    if "Crypto" in id:
        return
    for scene in frames(id, steps=2):
        inside = is_color(scene, (150, 150, 150), 20)  # its border
        rows = np.flatnonzero(inside.sum(axis=1) > 250)
        assert rows.max() - rows.min() > 0.8 * len(scene)


# --- battles ----------------------------------------------------------------------------------------------------------


def silhouette(kind):
    """The pixels of a unit without its letter, as it has none below a certain size."""
    canvas = Canvas(framed=False)
    canvas.clear(GROUND)
    canvas.view(0.0, 512.0, 0.0, 512.0)
    draw_figure(canvas, kind, (256.0, 256.0), 100.0, 0, 1000.0)
    return ~is_color(canvas.pixels(), GROUND)


def test_kinds_of_units_have_silhouettes_of_their_own():
    shapes = [silhouette(kind) for kind in range(len(KINDS))]
    for i, one in enumerate(shapes):
        for j, other in enumerate(shapes[:i]):
            shared = (one & other).sum() / (one | other).sum()
            assert shared < 0.93, f"{KINDS[i]} looks like {KINDS[j]}: {shared:.2f}"


@pytest.mark.parametrize("scenario", ["3m", "2s3z", "27m_vs_30m", "2c_vs_64zg", "MMM2"])
def test_all_units_are_in_the_frame_and_the_fallen_fade(scenario):
    rules = "smax" if scenario in ("3m", "27m_vs_30m") else "smac"
    batch, p, s = world_at_start("Battle-v0", scenario=scenario, rules=rules)
    scene = scene_of(batch)
    widest = is_color(scene, "blue").any(axis=0)
    assert widest.sum() > 20
    for i in (0, len(s.x) - 1):
        s.x[i], s.y[i] = (0.5, 0.5) if i == 0 else (p.width - 0.5, p.height - 0.5)
    scene = scene_of(batch)
    s.standing[0] = s.standing[-1] = False
    fallen = scene_of(batch)
    half = len(scene) // 2
    for color, corner in (("blue", np.s_[half:, :256]), ("orange", np.s_[:half, 256:])):
        assert count(scene[corner], color) > count(fallen[corner], color) + 15


def test_a_unit_of_a_small_battle_is_24_pixels_wide():
    batch, _, s = world_at_start("Battle-v0")
    s.x[:3], s.y[:3] = 8.0, [12.0, 16.0, 20.0]
    rows = np.flatnonzero(is_color(scene_of(batch), "blue")[:, :256].any(axis=1))
    gaps = np.flatnonzero(np.diff(rows) > 3)
    assert len(gaps) == 2
    assert gaps[0] + 1 >= 20  # a disc without its outline


def test_attacks_heals_and_bars_show():
    batch, p, s = world_at_start("Battle-v0", scenario="2 marine, 1 medivac vs 1 zealot", rules="smac")
    s.x[:], s.y[:] = [10.0, 10.0, 7.0, 13.0], [14.0, 18.0, 16.0, 16.0]
    calm = scene_of(batch)
    s.aim[:] = [3, -1, 1, 0]
    s.cooldown[0] = p.unit_cooldown[s.kind[0]]
    s.cooldown[1] = 0.5 * p.unit_cooldown[s.kind[1]]
    s.health[1] *= 0.5
    s.shield[3] *= 0.5
    fight = scene_of(batch)
    assert count(fight, FLASH) > 10 + count(calm, FLASH)  # a flash where it hits
    assert count(fight, "green") > count(calm, "green")  # the beam
    assert count(fight, "sky") < count(calm, "sky")
    assert count(fight, "yellow") > count(calm, "yellow")


@pytest.mark.parametrize("id", MINI_GAMES)
def test_the_field_fills_the_width_and_a_panel_the_rest(id):
    for scene in frames(id, steps=2):
        ground = (np.abs(scene.astype(int) - GROUND).max(axis=-1) <= 2).any(axis=0)
        fog = is_color(scene, (118, 120, 122)).any(axis=0)
        columns = np.flatnonzero(ground | fog)
        assert columns.min() < 15
        assert columns.max() > 496


def test_every_shard_and_the_beacon_show():
    batch, _, s = world_at_start("CollectMineralShards-v0")
    s.there[:] = False
    before = count(scene_of(batch), "green")
    for j in range(len(s.there)):
        s.there[j], s.shard_x[j], s.shard_y[j] = True, 1.0 + j, 3.0 + j % 3 * 4.0
        now = count(scene_of(batch), "green")
        assert now > before + 40
        before = now
    batch, _, s = world_at_start("MoveToBeacon-v0")
    s.beacon_x, s.beacon_y = s.x[0], s.y[0]
    assert count(scene_of(batch), "green") > 400  # around the marine that stands on it


def test_zerglings_that_nobody_sees_are_pale():
    batch, _, s = world_at_start("FindAndDefeatZerglings-v0")
    unseen = scene_of(batch)
    s.x[3:], s.y[3:] = s.x[0] + np.linspace(-4.0, 4.0, 25), s.y[0] + 3.0
    assert count(scene_of(batch), "orange") > 3 * count(unseen, "orange")


# --- path finding -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"level": "hard"}, {"level": "large"}, {"height": 3, "width": 9, "agents": 2}])
def test_every_agent_and_its_goal_show_at_the_start(options):
    batch, _, s = world_at_start("PathFinding-v0", **options)
    scene = scene_of(batch)
    agents = len(s.position)
    for color in AGENT_COLORS[:agents]:
        assert count(scene, color) > 30 * 2 * len(range(AGENT_COLORS.index(color), agents, len(AGENT_COLORS))), color


@pytest.mark.parametrize("on_target", ["finish", "nothing"])
def test_who_has_arrived_stays_in_the_image_with_its_goal(on_target):
    batch, _, s = world_at_start("PathFinding-v0", on_target=on_target, density=0.0)
    empty = count(scene_of(batch), "green")
    s.position[:] = s.goal
    s.settled[:] = 1
    scene = scene_of(batch)
    assert count(scene, "green") > (0 if on_target == "finish" else empty - 2000) + 4 * 60  # ticks
    floor = is_color(scene, (251, 250, 245)) | is_color(scene, (226, 225, 218))
    cell = len(scene) / 8.5
    for row, column in s.goal:
        x, y = scene.shape[1] / 2 + (column - 3.5) * cell, len(scene) / 2 + (row - 3.5) * cell
        around = floor[int(y - cell / 2) : int(y + cell / 2), int(x - cell / 2) : int(x + cell / 2)]
        assert around.mean() < 0.5, f"nothing is left of the goal at {row}, {column}"


def test_the_way_that_is_shown_is_a_shortest_one():
    obstacles = np.array([[0, 1, 0, 0], [0, 1, 0, 1], [0, 0, 0, 0]], bool)
    way = shortest_way(obstacles, (0, 0), (0, 3))
    assert way[0] == (0, 0)
    assert way[-1] == (0, 3)
    assert len(way) == 8
    assert not any(obstacles[cell] for cell in way)
    assert all(abs(a[0] - b[0]) + abs(a[1] - b[1]) == 1 for a, b in itertools.pairwise(way))
    obstacles[2, 1] = True
    assert shortest_way(obstacles, (0, 0), (0, 3)) == []


# --- generals ---------------------------------------------------------------------------------------------------------


def test_the_board_and_the_scores_fill_the_frame_for_all_sizes():
    for options in ({}, {"level": "paper"}, {"players": 8, "opponent": "self", "height": 24, "width": 24}):
        batch, _, s = world_at_start("Generals-v0", **options)
        scene = scene_of(batch)
        right = scene[:, -84:]  # a box with land and army for everybody
        for colour in ("blue", "red", "green", "pink", "orange", "sky", "yellow")[: len(s.home)]:
            assert count(right, colour) > 800, colour
        assert (scene == COLORS["background"]).all(axis=-1).mean() < 0.02


def test_fog_hides_the_other_general_until_the_game_is_over():
    batch, _, s = world_at_start("Generals-v0", opponent="expander")
    board = np.s_[:, :400]
    assert count(scene_of(batch)[board], "red") == 0
    s.over = 1
    assert count(scene_of(batch)[board], "red") > 100


def test_numbers_of_armies_are_as_large_as_cells_allow():
    batch, _, s = world_at_start("Generals-v0", level="paper", opponent="self")
    mine = np.flatnonzero(np.asarray(s.owner) == 1)[0]
    near = next(mine + step for step in (1, -1) if s.terrain[mine + step] == 0)
    s.owner[near], s.army[near] = 1, 888
    with_army = scene_of(batch)
    s.army[near] = 1
    changed = np.abs(with_army.astype(int) - scene_of(batch)).max(axis=-1)[:, :400] > 60
    rows, columns = np.flatnonzero(changed.any(axis=1)), np.flatnonzero(changed.any(axis=0))
    assert rows.max() - rows.min() >= 5
    assert columns.max() - columns.min() >= 12  # a cell is 17 wide


# --- the sea ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sea", ["convex", "concave", "mirrored"])
def test_submarine_and_treasures_show_wherever_it_is(sea):
    batch, p, s = world_at_start("DeepSeaTreasure-v0", map=sea)
    treasures = np.argwhere(p.sea > 0.0)
    for row, column in [(int(s.row), int(s.column)), *treasures.tolist()]:
        s.row, s.column = row, column
        scene = scene_of(batch)
        assert count(scene, "yellow") > 60
        assert count(scene, "orange") > 20 * len(treasures)  # the lid of every chest, of the one that was found too


def test_a_large_sea_is_shown_around_the_submarine():
    sea = np.zeros((60, 80))
    sea[40:, :20], sea[30, 43] = -10.0, 7.5
    batch, _, s = world_at_start("DeepSeaTreasure-v0", map=sea.tolist(), start=[30, 40])
    scene = scene_of(batch)
    assert count(scene, "yellow") > 40
    assert count(scene, "orange") > 20
    s.row = 58
    assert count(scene_of(batch), "yellow") > 40
