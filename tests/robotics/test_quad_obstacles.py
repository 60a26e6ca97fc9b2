"""QuadObstacles: fields that leave a way, range sensors, the card's numbers, balls that move, and an expert."""

import math
from functools import partial

import gymnasium
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.batches import begun

import rlenvs
from rlenvs.core.declare.errors import ParameterError
from rlenvs.robotics.quadcopter import obstacles, ranges, scene
from rlenvs.robotics.quadcopter.flight import fly_by_keys

NAME = "QuadObstacles-v0"
BALL = math.hypot(0.06, 0.0125)  # around the Crazyflie's hull
GREY = (0.5, 0.5, 0.5)
TERMS = [*obstacles.SPEC.terms, *obstacles.SPEC.costs]


batch = partial(begun, NAME)


def radii_of(shapes):
    return np.where(shapes[..., 0] == scene.BOX, np.hypot(shapes[..., 4], shapes[..., 5]), shapes[..., 4])


def gaps_of(shapes):
    """Distances between outlines seen from above, (..., S, S), infinite on the diagonal."""
    radius, place = radii_of(shapes), shapes[..., 1:3]
    apart = np.linalg.norm(place[..., :, None, :] - place[..., None, :, :], axis=-1)
    return apart - radius[..., :, None] - radius[..., None, :] + np.diag(np.full(shapes.shape[-2], np.inf))


def flown(position, velocity=(0, 0, 0), attitude=(0, 0, 0, 1), goal=(4.5, 0, 1), shapes=(), **keywords):
    """The terms by name, and the batch, after one step from somewhere, among one shape at most."""
    flight = batch(obstacles=1, **keywords)
    _, s = flight.records(0)
    s.shapes[:] = 0.0
    for put, *numbers in shapes:
        put(s.shapes, 0, *numbers, *GREY)
    s.position[0], s.velocity[0], s.attitude[0], s.goal[:] = position, velocity, attitude, goal
    flight.step(np.zeros((1, 4)))
    return dict(zip(TERMS, flight.terms[0, :, 0].tolist(), strict=True)), flight, s


# --- range sensors ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("put", "numbers", "start", "way", "distance"),
    [
        (scene.put_sphere, (3, 0, 1, 0.5), (0, 0, 1), (1, 0, 0), 2.5),
        (scene.put_sphere, (3, 0.3, 1, 0.5), (0, 0, 1), (1, 0, 0), 2.6),
        (scene.put_sphere, (3, 0.51, 1, 0.5), (0, 0, 1), (1, 0, 0), None),
        (scene.put_sphere, (3, 0, 1, 0.5), (0, 0, 1), (-1, 0, 0), None),
        (scene.put_sphere, (3, 0, 1, 0.5), (3.2, 0, 1), (1, 0, 0), 0),
        (scene.put_cylinder, (3, 0.3, 1, 0.5, 1), (0, 0, 1), (1, 0, 0), 2.6),
        (scene.put_cylinder, (3, 0, 1, 0.5, 1), (0, 0, 2.01), (1, 0, 0), None),
        (scene.put_cylinder, (3, 0, 1, 0.5, 1), (3, 0.2, 5), (0, 0, -1), 3),
        (scene.put_cylinder, (3, 0, 1, 0.5, 1), (3, 0.6, 5), (0, 0, -1), None),
        (scene.put_box, (3, 0, 1, 0.5, 0.2, 1, 0), (0, 0, 1), (1, 0, 0), 2.5),
        (scene.put_box, (3, 0, 1, 0.5, 0.2, 1, math.pi / 2), (0, 0, 1), (1, 0, 0), 2.8),
        (scene.put_box, (3, 0, 1, 0.5, 0.5, 1, math.pi / 4), (0, 0, 1), (1, 0, 0), 3 - math.sqrt(0.5)),
        (scene.put_box, (3, 0, 1, 0.5, 0.2, 1, 0), (0, 0.21, 1), (1, 0, 0), None),
        (scene.put_box, (3, 0, 1, 0.5, 0.2, 1, 0), (3, 0, 0), (0, 0, -1), 0),
    ],
)
def test_rays_by_hand(put, numbers, start, way, distance):
    shapes = np.zeros((2, 12))
    put(shapes, 1, *numbers, *GREY)
    found = ranges.ray_to_shape(shapes, 1, *start, *way)
    assert found == pytest.approx(scene.NO_SHAPE if distance is None else distance, abs=1e-12)
    assert ranges.ray_to_shape(shapes, 0, *start, *way) == scene.NO_SHAPE  # an empty row


def random_scene(generator, count):
    shapes = np.zeros((count, 12))
    for row in range(count):
        x, y, z, a, b, c = *generator.uniform(-2, 2, 3), *generator.uniform(0.1, 0.8, 3)
        match generator.integers(4):
            case 1:
                scene.put_sphere(shapes, row, x, y, z, a, *GREY)
            case 2:
                scene.put_box(shapes, row, x, y, z, a, b, c, generator.uniform(-4, 4), *GREY)
            case 3:
                scene.put_cylinder(shapes, row, x, y, z, a, b, *GREY)
    return shapes


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6))
def test_a_ray_ends_on_the_surface_and_is_outside_before(seed):
    generator = np.random.default_rng(seed)
    shapes, start, way = random_scene(generator, 1), generator.uniform(-3, 3, 3), generator.normal(size=3)
    way /= np.linalg.norm(way)
    found = ranges.ray_to_shape(shapes, 0, *start, *way)
    inside = scene.clearance(shapes, *start) <= 0.0
    assert (found == 0.0) == inside
    for part in np.linspace(0.0, 0.999, 40) * min(found, 12.0) if not inside else ():
        assert scene.clearance(shapes, *(start + part * way)) > 0.0
    if 0.0 < found < scene.NO_SHAPE:
        assert scene.clearance(shapes, *(start + found * way)) == pytest.approx(0.0, abs=1e-9)


def test_ranges_go_counter_clockwise_from_the_heading_and_see_the_nearest():
    generator = np.random.default_rng(1)
    for count in (1, 4, 7, 90, 91, 92, 93, 94, 95):
        shapes, yaw = random_scene(generator, 12), generator.uniform(-4, 4)
        x, y, z = generator.uniform(-2, 2, 3)
        found = np.zeros(count)
        ranges.measure_ranges(shapes, x, y, z, yaw, 3.0, found)
        for ray, distance in enumerate(found):
            angle = yaw + 2 * math.pi * ray / count
            way = math.cos(angle), math.sin(angle), 0.0
            nearest = min(3.0, *(ranges.ray_to_shape(shapes, row, x, y, z, *way) for row in range(12)))
            assert distance == pytest.approx(nearest, abs=1e-9)


def test_outlines_seen_from_above():
    shapes = np.zeros((4, 12))
    scene.put_sphere(shapes, 1, 0, 0, 0, 0.2, *GREY)
    scene.put_box(shapes, 2, 0, 0, 0, 0.3, 0.4, 9, 1, *GREY)
    scene.put_cylinder(shapes, 3, 0, 0, 0, 0.6, 9, *GREY)
    np.testing.assert_allclose([ranges.outline_radius(shapes, row) for row in range(4)], [0, 0.2, 0.5, 0.6])


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6))
def test_a_way_is_blocked_where_one_of_its_points_is(seed):
    generator = np.random.default_rng(seed)
    shapes = random_scene(generator, 2)
    start, end = generator.uniform(-3, 3, (2, 3))
    points = start + np.linspace(0, 1, 400)[:, None] * (end - start)
    nearest = min(scene.clearance(shapes, *point) for point in points) - 0.1
    if abs(nearest) > 0.01:  # otherwise too close to call for samples
        gap = ranges.gap_on_way(shapes, *start, *end, 0.1)
        assert (gap <= 0.0) == (nearest < 0.0)
        assert gap <= 0.0 or gap == scene.clearance(shapes, *end) - 0.1


def test_a_way_of_any_length_comes_to_an_end(monkeypatch):
    looks = iter(range(1000))

    def counted(*given):
        next(looks)  # StopIteration where there are too many
        return scene.clearance(*given)

    monkeypatch.setattr(ranges, "clearance", counted)
    shapes = np.zeros((1, scene.COLUMNS))
    scene.put_sphere(shapes, 0, 1.0, 0.0, 0.0, 0.2, *GREY)
    for length in (1e3, 1e6, 1e9, 1e12, 1e300):
        assert ranges.gap_on_way(shapes, 0.0, 0.0, 0.0, 0.0, 0.0, length, 0.1) > 0.0


# --- fields -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("keywords", "hull"),
    [
        ({}, (0.06, 0.025)),
        ({"level": "hard"}, (0.06, 0.025)),
        ({"obstacles": 80}, (0.06, 0.025)),
        ({"vehicle": "racer", "obstacles": 40, "moving": 9}, (0.15, 0.05)),
        ({"arena": 5, "hull": (0.3, 0.2), "obstacles": 4}, (0.3, 0.2)),
    ],
)
def test_a_thousand_fields_leave_a_way(keywords, hull):
    """Room for the vehicle and 0.3 m between any two obstacles, half of it at the border, more to start and goal."""
    fields = batch(1000, **keywords)
    p, _ = fields.records(0)
    shapes = np.array([fields.records(i)[1].shapes for i in range(1000)])
    radius, room = radii_of(shapes), 2 * math.hypot(hull[0], hull[1] / 2) + 0.3
    assert (shapes[..., 0] > 0).all()
    assert gaps_of(shapes).min() >= room - 1e-9
    assert (np.abs(shapes[..., 1]) + radius).max() <= p.arena / 2 - 1 - room / 2 + 1e-9
    assert (np.abs(shapes[:, :-2, 2]) + radius[:, :-2]).max() <= p.arena / 2 - room / 2 + 1e-9
    for i in range(3):
        scene.check_scene(fields.records(i)[1].shapes)


@pytest.mark.parametrize(
    "keywords", [{}, {"level": "easy"}, {"obstacles": 80}, {"level": "moving"}, {"kind": "sphere"}]
)
def test_a_pillar_stands_against_either_side(keywords):
    fields = batch(100, **keywords)
    shapes = np.array([fields.records(i)[1].shapes[-2:] for i in range(100)])
    assert (shapes[..., 0] == scene.CYLINDER).all()
    np.testing.assert_allclose(shapes[..., 2], [[-4.75, 4.75]] * 100)
    np.testing.assert_allclose(shapes[..., 3:6], [[[1.25, 0.25, 1.25]] * 2] * 100)  # from the floor to the ceiling
    assert shapes[..., 1].std() > 1.0


def test_sizes_heights_and_kinds_of_obstacles():
    fields = batch(400)
    shapes = np.concatenate([fields.records(i)[1].shapes[:-2] for i in range(400)])
    assert radii_of(shapes).min() == pytest.approx(0.1, abs=1e-3)
    assert radii_of(shapes).max() == pytest.approx(0.25, abs=1e-3)
    balls, boxes, pillars = (shapes[shapes[:, 0] == kind] for kind in (1, 2, 3))
    assert min(len(balls), len(boxes), len(pillars)) > 3000
    assert (pillars[:, [3, 5]] == 1.25).all()  # from the floor to the ceiling at 2.5 m
    np.testing.assert_array_equal(boxes[:, 3], boxes[:, 6])  # on the floor
    assert 2 * boxes[:, 6].min() == pytest.approx(0.5, abs=0.01)
    assert 2 * boxes[:, 6].max() == pytest.approx(2.5, abs=0.01)
    assert (boxes[:, 4] / boxes[:, 5]).max() == pytest.approx(math.sqrt(3), abs=0.01)
    assert (balls[:, 3] - balls[:, 4]).min() == pytest.approx(0, abs=0.01)
    assert (balls[:, 3] + balls[:, 4]).max() == pytest.approx(2.5, abs=0.01)
    for code, kind in enumerate(("sphere", "box", "pillar"), start=1):
        assert (batch(kind=kind).records(0)[1].shapes[:-2, 0] == code).all()


def test_starts_and_goals():
    fields = batch(1000)
    states = [fields.records(i)[1] for i in range(1000)]
    starts, goals = np.array([s.position[0] for s in states]), np.array([s.goal for s in states])
    assert (starts[:, 0] == -4.5).all()
    assert (goals[:, 0] == 4.5).all()
    for places in (starts, goals):
        assert np.abs(places[:, 1]).max() == pytest.approx(4.0, abs=0.02)
        assert places[:, 2].min() == pytest.approx(0.7, abs=0.01)
        assert places[:, 2].max() == pytest.approx(1.5, abs=0.01)
    _, s = batch(arena=20).records(0)
    assert (s.position[0, 0], s.goal[0]) == (-9.5, 9.5)
    assert not s.angles[0].any()


def test_a_grid_holds_the_fields_for_which_random_places_run_out():
    def orders(count):
        """Of fields with one obstacle in each square metre at most, which has which."""
        fields = batch(100, obstacles=count)
        cells = [[(int(x + 4), int(y + 5)) for x, y in fields.records(i)[1].shapes[:, 1:3]] for i in range(100)]
        return [order for order in cells if len(set(order)) == count]

    p, _ = batch().records(0)
    assert obstacles.grid_shape(p.arena, p.hull) == (8, 10)
    full = orders(80)
    assert len(full) > 90
    assert len({order[0] for order in full}) > 40
    assert len(orders(60)) < 5


def test_more_obstacles_than_fit_are_refused_with_how_many_do():
    assert len(batch(obstacles=80).records(0)[1].shapes) == 80
    with pytest.raises(ParameterError, match=r"obstacles=81 .* arena=10.* at most 80 fit"):
        batch(obstacles=81)
    with pytest.raises(ParameterError, match=r"obstacles=64 .* at most 63 fit"):
        batch(obstacles=64, vehicle="racer")
    with pytest.raises(ParameterError, match=r"obstacles=2 .* arena=5.* at most 1 fit"):
        batch(obstacles=2, arena=5, hull=(1.0, 0.1))
    with pytest.raises(ParameterError, match="moving=9 is more than obstacles=8"):
        batch(obstacles=8, moving=9)
    assert len(batch(obstacles=100, arena=20).records(0)[1].shapes) == 100


def test_levels():
    found = {name: batch(level=name).setup.values for name in obstacles.SPEC.levels}
    assert {name: (v.obstacles, v.moving, v.rays) for name, v in found.items()} == {
        "empty": (0, 0, 16),
        "easy": (10, 0, 16),
        "hard": (60, 0, 16),
        "moving": (25, 15, 16),
        "real": (25, 0, 16),
        "vision": (25, 0, 0),
    }
    assert found["vision"].camera == "depth"
    assert all(getattr(found["real"], name) for name in ("ground_effect", "drag", "rotor_lag", "battery", "wind"))


# --- moving obstacles -------------------------------------------------------------------------------------------------


def test_balls_fly_straight_at_their_speed_until_they_bounce_and_never_overlap():
    flight = batch(level="moving", obstacle_speed=0.8, collision_ends=False)
    _, s = flight.records(0)
    before, turned = s.shapes.copy(), 0
    assert (s.shapes[:15, 0] == scene.SPHERE).all()
    assert ((s.shapes[:15, 3] >= 0.7) & (s.shapes[:15, 3] <= 1.5)).all()
    for _ in range(400):
        s.position[0], s.velocity[0] = (-4.5, 0, 1), 0
        drift, last = s.drift.copy(), s.shapes.copy()
        flight.step(np.zeros((1, 4)))
        np.testing.assert_array_equal(s.shapes[15:], before[15:])
        np.testing.assert_allclose(np.linalg.norm(s.drift[:15], axis=1), 0.8)
        moved = s.shapes[:15, 1:3] - last[:15, 1:3]
        straight = (s.drift[:15] == drift[:15]).all(axis=1) & moved.any(axis=1)
        np.testing.assert_allclose(moved[straight], drift[:15][straight] / 30)
        assert not moved[~straight].any()  # a ball that bounces stands still for a step
        assert gaps_of(s.shapes).min() >= -1e-9
        assert (np.abs(s.shapes[:15, 1]) + s.shapes[:15, 4]).max() <= 4
        assert (np.abs(s.shapes[:15, 2]) + s.shapes[:15, 4]).max() <= 5
        turned += (~straight).sum()
    assert turned > 20
    assert np.linalg.norm(s.shapes[:15, 1:3] - before[:15, 1:3], axis=1).min() > 0


@pytest.mark.parametrize(
    ("place", "drift", "then"),
    [
        ((3.79, 0), (1, 0.5), (-1, 0.5)),
        ((-3.79, 0), (-1, 0.5), (1, 0.5)),
        ((0, 4.79), (1, 0.5), (1, -0.5)),
        ((0, -4.79), (1, -0.5), (1, 0.5)),
        ((1.59, 2), (1, 0.5), (-1, 0.5)),  # a pillar stands at (2, 2)
        ((2, 2.41), (0.5, -1), (0.5, 1)),
        ((1.5, 2), (1, 0.5), (1, 0.5)),
    ],
)
def test_balls_bounce_off_borders_and_obstacles(place, drift, then):
    flight = batch(obstacles=2, moving=1)
    _, s = flight.records(0)
    scene.put_sphere(s.shapes, 0, *place, 1, 0.2, *GREY)
    scene.put_cylinder(s.shapes, 1, 2, 2, 1, 0.2, 1, *GREY)
    s.drift[0] = drift
    flight.step(np.zeros((1, 4)))
    np.testing.assert_allclose(s.drift[0], then, atol=0.1)  # the normal turns a little with the way of a step
    moved = (s.shapes[0, 1:3] - place).tolist()
    assert moved == pytest.approx([v / 30 for v in drift] if drift == then else [0, 0])


# --- the task ---------------------------------------------------------------------------------------------------------


def test_progress_distance_effort_and_the_reward():
    terms, flight, s = flown((0, 0, 1), velocity=(1, 0, 0), goal=(3, 0, 1))
    moved = s.position[0, 0]
    assert moved == pytest.approx(1 / 30, rel=0.05)
    assert terms["progress"] == pytest.approx(moved, rel=1e-3)
    assert terms["distance"] == pytest.approx(-math.dist(s.position[0], (3, 0, 1)))
    assert terms["goal"] == terms["effort"] == 0.0
    assert flight.rewards[0, 0] == pytest.approx(terms["progress"])
    terms, *_ = flown((0, 0, 1), velocity=(-1, 0, 0), goal=(3, 0, 1))
    assert terms["progress"] < -0.03
    flight = batch()
    flight.step(np.array([[1.0, 0.5, 0, 0]]))
    assert flight.terms[0, TERMS.index("effort"), 0] == -1.25 / 4


@pytest.mark.parametrize(("distance", "reached"), [(0.24, True), (0.26, False)])
def test_the_goal_is_reached_at_a_quarter_of_a_metre_and_ends_the_episode(distance, reached):
    terms, flight, _ = flown((0, 0, 1), goal=(0, distance, 1))
    assert flight.success[0, 0] == flight.terminated[0, 0] == reached
    assert terms["goal"] == reached
    assert flight.rewards[0, 0] == pytest.approx(10.0 * reached, abs=0.01)


SIDES = [
    (scene.put_cylinder, (1, 0, 1.25, 0.2, 1.25), (0.8, 0, 1)),
    (scene.put_sphere, (1, 0, 1, 0.2), (1, 0, 1.2)),
    (scene.put_box, (1, 0, 0.5, 0.2, 0.1, 0.5, 0), (1, 0.1, 0.7)),
]


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize(("gap", "proximity"), [(0.31, 0), (0.15, 0.5), (0.03, 0.9), (-0.002, 1)])
def test_collision_and_proximity(side, gap, proximity):
    put, numbers, surface = side
    away = np.sign(np.array(surface) - (*numbers[:2], surface[2] if surface[:2] != (1, 0) else 1))
    terms, flight, _ = flown(surface + (BALL + gap) * away, shapes=[(put, *numbers)])
    assert terms["proximity"] == pytest.approx(proximity, abs=0.01)
    assert terms["clearance"] == -terms["proximity"]
    assert terms["collision"] == (gap < 0)
    assert flight.terminated[0, 0] == (gap < 0)
    assert flight.costs[0, 0] == pytest.approx(terms["proximity"] + terms["collision"])
    assert not flight.success[0, 0]


def test_collisions_need_not_end_the_episode_and_a_crash_is_no_success():
    pillar = [(scene.put_cylinder, 1, 0, 1.25, 0.2, 1.25)]
    terms, flight, _ = flown((1, 0, 1), shapes=pillar, collision_ends=False)
    assert terms["collision"] == 1
    assert not flight.terminated[0, 0]
    _, flight, _ = flown((1, 0, 1), shapes=pillar, goal=(1, 0, 1))
    assert flight.terminated[0, 0]
    assert not flight.success[0, 0]


def test_nothing_is_skipped_in_one_step():
    for x, hit in ((1.0, 1), (2.0, 0)):
        terms, _, s = flown((0, 0, 1), velocity=(45, 0, 0), shapes=[(scene.put_cylinder, x, 0, 1.25, 0.1, 1.25)])
        assert 1.4 < s.position[0, 0] < 1.6
        assert terms["collision"] == hit


def turned(angle, axis):
    half = np.zeros(3)
    half[axis] = math.sin(angle / 2)
    return (*half, math.cos(angle / 2))


@pytest.mark.parametrize(
    ("position", "attitude", "tilt", "geofence", "ends"),
    [
        ((4.69, -4.69, 2.29), (0, 0, 0, 1), 0, 0, False),
        ((4.71, 0, 1), (0, 0, 0, 1), 0, 1, False),
        ((0, -4.71, 1), (0, 0, 0, 1), 0, 1, False),
        ((0, 0, 2.31), (0, 0, 0, 1), 0, 1, False),
        ((0, 0, 0.19), (0, 0, 0, 1), 0, 1, False),
        ((0, 0, 0.21), (0, 0, 0, 1), 0, 0, False),
        ((4.99, 4.99, 2.49), (0, 0, 0, 1), 0, 1, False),
        ((-5.01, 0, 1), (0, 0, 0, 1), 0, 1, True),
        ((0, 5.01, 1), (0, 0, 0, 1), 0, 1, True),
        ((0, 0, 2.51), (0, 0, 0, 1), 0, 1, True),
        ((0, 0, 1), turned(0.49, 0), 0, 0, False),
        ((0, 0, 1), turned(-0.51, 1), 1, 0, False),
        ((0, 0, 1), turned(1.19, 0), 1, 0, False),
        ((0, 0, 1), turned(1.21, 0), 1, 0, True),
        ((0, 0, 1), turned(-1.21, 1), 1, 0, True),
    ],
)
def test_tilt_geofence_and_ends(position, attitude, tilt, geofence, ends):
    # rotors that keep their speed do not turn the vehicle
    terms, flight, _ = flown(position, attitude=attitude, goal=(4.5, 3, 1), action="rpm", gravity=1.0)
    assert (terms["tilt"], terms["geofence"]) == (tilt, geofence)
    assert flight.terminated[0, 0] == ends
    assert not flight.success[0, 0]


def test_times_speeds_and_limits_of_the_declaration():
    assert batch().setup.horizon == 600
    assert batch(arena=20, control_hz=48).setup.horizon == 1920
    assert batch().setup.values.speed_limit == 1.0
    assert batch(vehicle="racer").setup.values.speed_limit == 1.6667
    values = batch().setup.values
    assert (values.action, values.vehicle, values.arena, values.obstacles) == ("velocity", "cf2x", 10, 25)
    assert {name: cost.limit for name, cost in obstacles.SPEC.costs.items()} == {
        "collision": 0.0,
        "proximity": 10.0,
        "tilt": 25.0,
        "geofence": 25.0,
    }
    assert {name: term.weight for name, term in obstacles.SPEC.terms.items()} == {
        "progress": 1.0,
        "goal": 10.0,
        "distance": 0.0,
        "clearance": 0.0,
        "effort": 0.0,
    }


def test_observations():
    flight = batch(rays=4)
    _, s = flight.records(0)
    s.shapes[:] = 0.0
    scene.put_cylinder(s.shapes, 0, 1, 0, 1, 0.5, 1, *GREY)
    scene.put_sphere(s.shapes, 1, 0, -3, 1, 1, *GREY)
    s.position[0], s.goal[:] = (0, 0, 1), (3, -1, 2)
    flight.step(np.zeros((1, 4)))
    seen = flight.observations[0, 0]
    assert seen.shape == (12 + 3 + 4,)
    np.testing.assert_allclose(20 * seen[12:15], s.goal - s.position[0], atol=1e-5)
    np.testing.assert_allclose(2.5 * (seen[15:] + 1), [0.5, 5, 5, 2], atol=0.01)
    assert batch(rays=0).observations.shape == (1, 1, 15)
    images = gymnasium.make(f"rlenvs/{NAME}", level="vision").reset(seed=0)[0]
    assert images["state"].shape == (15,)
    assert images["depth"][:20].min() < 255  # obstacles above the horizon


def ends(worlds, choose, **keywords):
    """Share of successes, and of flights that end with a collision, in first episodes."""
    flights = batch(worlds, **keywords)
    live, success, collision = np.ones(worlds, bool), np.zeros(worlds, bool), np.zeros(worlds, bool)
    for _ in range(flights.setup.horizon):
        choose(flights)
        flights.step_inplace()
        success |= live & flights.success[:, 0]
        collision |= live & (flights.terms[:, TERMS.index("collision"), 0] > 0)
        live &= ~(flights.terminated[:, 0] | flights.truncated[:, 0])
        if not live.any():
            break
    return success.mean(), collision.mean()


@pytest.mark.budget(5)
@pytest.mark.parametrize(
    "keywords",
    [
        *({"level": level} for level in (None, "empty", "easy", "hard", "real")),
        {"level": "vision", "camera_width": 4, "camera_height": 4},
        *({"action": action} for action in ("rpm", "thrust_rates", "position")),
        {"vehicle": "racer", "obstacles": 40},
    ],
)
def test_the_expert_arrives(keywords):
    assert ends(100, lambda flights: flights.expert_actions(), **keywords)[0] >= 0.98


@pytest.mark.parametrize("level", [None, "easy", "hard", "moving", "real"])
def test_the_expert_keeps_within_the_limits_of_costs(level):
    found = rlenvs.evaluate(NAME, "expert", 50, level=level)
    assert found.success_rate >= 0.96
    assert all(found.mean_costs[name] < cost.limit or not cost.limit for name, cost in obstacles.SPEC.costs.items())
    assert found.mean_costs["collision"] <= 0.04


def test_the_expert_mostly_evades_balls():
    assert ends(100, lambda flights: flights.expert_actions(), level="moving")[0] >= 0.95


@pytest.mark.parametrize("action", ["velocity", "rpm", "position"])
def test_random_actions_do_not_arrive_even_in_an_empty_field(action):
    generator = np.random.default_rng(0)
    size = 3 if action == "position" else 4
    shake = lambda flights: flights.load_actions(generator.uniform(-1, 1, (30, 1, size)))  # noqa: E731
    assert ends(30, shake, level="empty", action=action)[0] == 0


@pytest.mark.parametrize("off", [0.1, 0.4])
@pytest.mark.parametrize(
    "keywords",
    [
        *({"level": level} for level in (None, "easy", "hard", "moving")),
        {"level": "vision", "camera_width": 4, "camera_height": 4},
    ],
)
def test_a_blind_flight_along_the_border_meets_a_pillar(keywords, off):
    """To the side near start and goal, along it, and back: it looks at its own place and the goal alone."""
    sides = {}

    def along_the_border(flights):
        for i in range(50):
            _, s = flights.records(i)
            x, y, z = s.position[0]
            side = sides.setdefault(i, math.copysign(5.0 - off, y + s.goal[1]))
            ahead = 4.5 - x if x > -4.3 or abs(y - side) < 0.1 else -4.5 - x
            way = np.array([ahead, (s.goal[1] if x > 4.4 else side) - y, s.goal[2] - z])
            size = np.linalg.norm(way)
            flights.actions[i] = [*(way / size), min(1.0, 2.0 * size)]

    success, collision = ends(50, along_the_border, **keywords)
    assert success == 0.0
    assert collision == 1.0


def test_flying_straight_to_the_goal_collides():
    def straight(flights):
        for i in range(100):
            _, s = flights.records(i)
            way = s.goal - s.position[0]
            flights.actions[i] = [*(way / np.linalg.norm(way)), 1.0]

    success, collision = ends(100, straight, level="hard")
    assert success < 0.3
    assert collision > 0.7


def test_images_and_keys():
    env = gymnasium.make(f"rlenvs/{NAME}", render_mode="rgb_array")
    env.reset(seed=0)
    assert len(np.unique(env.render().reshape(-1, 3), axis=0)) > 20
    for action in ("rpm", "one_d_rpm", "thrust_rates", "velocity", "position", "one_d_position"):
        made = batch(action=action)
        for pressed in (set(), {"up", "w"}, {"left", "s"}):
            assert len(fly_by_keys(pressed, made.setup.values)) == made.setup.action_size


def bullet_flight(put, numbers, speed, drift=(0, 0)):
    """x of a vehicle that flies along x from (0.3, 0, 1) for a second, and whether it collided."""
    pytest.importorskip("pybullet")
    flight = batch(obstacles=1, moving=int(any(drift)), physics="pybullet", collision_ends=False)
    _, s = flight.records(0)
    put(s.shapes, 0, *numbers, *GREY)
    s.drift[0], s.position[0], s.velocity[0], s.goal[:] = drift, (0.3, 0, 1), (speed, 0, 0), (4.5, 3, 1)
    flight.engine.place(np.array([0]))
    collided = False
    for _ in range(24):
        flight.step(np.array([[1.0, 0, 0, speed]]))
        collided |= bool(flight.terms[0, TERMS.index("collision"), 0])
    return s.position[0, 0], collided


def test_pybullet_stops_at_pillars_and_knows_where_balls_have_moved():
    x, collided = bullet_flight(scene.put_cylinder, (1, 0, 1.25, 0.2, 1.25), 1.0)
    assert collided
    assert x < 0.76
    x, collided = bullet_flight(scene.put_sphere, (1, 0, 1, 0.2), 1.0, drift=(0, 3))
    assert not collided
    assert x > 1.0
    x, collided = bullet_flight(scene.put_sphere, (1, 0, 1, 0.2), 0.0, drift=(-1, 0))
    assert collided
    assert x < 0.25
