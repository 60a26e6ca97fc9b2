"""The images of quadcopters: what is where, what hides what, and that nothing odd in a state stops them."""

import math
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest

from rlenvs.core.declare.canvas import COLORS, Canvas
from rlenvs.robotics.quadcopter.painter import Camera, Scene3D, nice_length
from rlenvs.robotics.quadcopter.render import (
    Flight,
    course_heading,
    draw_course_flight,
    draw_room_flight,
    gate_color,
    rotation_matrix,
)
from rlenvs.robotics.quadcopter.scene import CYLINDER

SQUARE = np.array([(4.0, 0.0, 1.5, 1.57), (0.0, 4.0, 1.5, 3.14), (-4.0, 0.0, 1.5, -1.57), (0.0, -4.0, 1.5, 0.0)])

CRAZYFLIE = SimpleNamespace(
    arm=0.0397, rotor=math.sqrt(0.5) * np.array([(1, -1, 0), (-1, -1, 0), (-1, 1, 0), (1, 1, 0)])
)


def state(*positions, yaw=0.0, velocity=(0.0, 0.0, 0.0)):
    count = len(positions)
    attitude = np.tile([0.0, 0.0, math.sin(yaw / 2), math.cos(yaw / 2)], (count, 1))
    return SimpleNamespace(
        position=np.array(positions, float), attitude=attitude, velocity=np.tile(np.array(velocity, float), (count, 1))
    )


def pillar(x, y, color, radius=0.3, height=4.0):
    return [CYLINDER, x, y, height / 2, radius, height / 2, 0.0, 0.0, *color, 0.0]


def where(pixels, color, tolerance=12):
    """Rows and columns, as fractions of the image, of all pixels of a colour."""
    rows, columns = np.nonzero(np.abs(pixels.astype(int) - COLORS[color]).max(axis=2) <= tolerance)
    return rows / pixels.shape[0], columns / pixels.shape[1]


def test_known_points_lie_where_perspective_puts_them():
    camera = Camera((0.0, 0.0, 1.0), (10.0, 0.0, 1.0), field_of_view=math.pi / 2)
    points = [(2.0, 0.0, 1.0), (2.0, -1.0, 1.0), (4.0, 0.0, 3.0), (5.0, 5.0, 1.0)]
    np.testing.assert_allclose(camera.project(points), [(0.0, 0.0), (0.5, 0.0), (0.0, 0.5), (-1.0, 0.0)], atol=1e-12)
    np.testing.assert_allclose(camera.see([(2.0, -1.0, 4.0)]), [(1.0, 3.0, 2.0)], atol=1e-12)
    tilted = Camera((-3.0, 0.0, 4.0), (0.0, 0.0, 0.0))
    np.testing.assert_allclose(tilted.see([(0.0, 0.0, 0.0)]), [(0.0, 0.0, 5.0)], atol=1e-12)
    np.testing.assert_allclose(tilted.see([(0.0, 0.0, 1.0)]), [(0.0, 0.6, 4.2)], atol=1e-12)

    canvas = Canvas(framed=False)
    scene = Scene3D(canvas, camera)
    scene.disc((2.0, -1.0, 2.0), 0.1, "red")
    scene.paint()
    rows, columns = where(canvas.pixels(), "red")
    assert (rows.mean(), columns.mean()) == pytest.approx((0.25, 0.75), abs=0.005)
    assert np.ptp(rows) == pytest.approx(0.05, abs=0.006)  # 0.2 m at a depth of 2 m, where the image is 4 m wide


def test_rotation_matrix_turns_body_axes_into_the_world():
    yaw = [0.0, 0.0, math.sqrt(0.5), math.sqrt(0.5)]
    np.testing.assert_allclose(rotation_matrix(yaw) @ (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), atol=1e-12)
    cyclic = rotation_matrix([0.5, 0.5, 0.5, 0.5])  # by 120 degrees about the diagonal: x to y, y to z, z to x
    np.testing.assert_allclose(cyclic, [[0, 0, 1], [1, 0, 0], [0, 1, 0]], atol=1e-12)
    nose_down = [0.0, math.sin(0.1), 0.0, math.cos(0.1)]
    both = rotation_matrix([yaw, nose_down])
    assert both.shape == (2, 3, 3)
    np.testing.assert_allclose(both[1][:, 0], (math.cos(0.2), 0.0, -math.sin(0.2)), atol=1e-12)


def width_of(pixels, color):
    """In pixels, of everything in a colour in the scene without the map."""
    pixels = pixels.copy()
    pixels[330:, :150] = 0
    columns = where(pixels, color, 60)[1]
    return 512 * np.ptp(columns)


@pytest.mark.parametrize("goal", [(0.0, 0.0, 1.0), (1.2, -1.1, 0.2), (-1.4, 1.4, 1.9), (0.3, 0.2, 1.1)])
def test_a_vehicle_in_a_room_is_large_wherever_it_and_its_goal_are(goal):
    for position in ((0.0, 0.0, 1.0), (-1.3, -1.2, 0.4)):
        canvas = Canvas()
        draw_room_flight(canvas, CRAZYFLIE, state(position), [goal], room=1.5, ceiling=2.0)
        pixels = canvas.pixels()[44:]
        assert width_of(pixels, "orange") > 24, "front rotors"
        assert len(where(pixels, "green", 30)[0]) > 60, "the goal"


def test_vehicles_keep_their_colours_and_numbers_when_others_are_lost():
    three = state((0.0, 0.0, 1.0), (0.8, 0.0, 1.0), (0.0, 0.8, 1.0))
    two = SimpleNamespace(**{name: getattr(three, name)[1:] for name in ("position", "attitude", "velocity")})
    two.numbers = [1, 2]
    flights = [Flight(CRAZYFLIE, s, 0.0, (), (), (), (), (0.0, 0.0, 0.0)) for s in (three, two)]
    assert [flights[0].color(k) for k in (1, 2)] == [flights[1].color(k) for k in (0, 1)]


def test_an_empty_room_can_be_drawn():
    canvas = Canvas()
    nobody = SimpleNamespace(position=np.zeros((0, 3)), attitude=np.zeros((0, 4)), velocity=np.zeros((0, 3)))
    draw_room_flight(canvas, CRAZYFLIE, nobody)
    assert canvas.pixels().std() > 5.0


@pytest.mark.parametrize("height", [0.6, 1.5, 3.4])
def test_what_is_nearer_hides_what_is_behind_it_whatever_the_heights(height):
    def orange_pixels(*distances):
        canvas = Canvas(framed=False)
        scene = Scene3D(canvas, Camera((-8.0, 0.0, 6.0), (0.0, 0.0, height)))
        scene.disc((0.0, 0.0, height), 0.15, "orange")
        for x in distances:
            scene.cylinder((x, 0.0, 2.0), 0.3, 2.0, "blue")
        scene.paint()
        return len(where(canvas.pixels(), "orange")[0])

    alone = orange_pixels()
    assert alone > 50
    assert orange_pixels(0.45, 2.0) == alone
    assert orange_pixels(-0.45) == 0


def test_a_box_between_two_things_is_sorted_by_its_parts():
    canvas = Canvas(framed=False)
    scene = Scene3D(canvas, Camera((-6.0, -6.0, 2.0), (0.0, 0.0, 1.0)))
    scene.disc((4.0, -0.6, 1.0), 0.2, "orange")  # in front of the wall, though farther away than its middle
    scene.disc((-4.0, 0.6, 1.0), 0.2, "green")  # behind the wall, though nearer than its middle
    scene.box((0.0, 0.0, 1.0), (5.0, 0.1, 1.0), 0.0, "grey")
    scene.paint()
    assert len(where(canvas.pixels(), "orange")[0]) > 50
    assert len(where(canvas.pixels(), "green")[0]) == 0


def test_bodies_close_to_the_camera_become_outlines():
    def orange_pixels(cutaway):
        canvas = Canvas(framed=False)
        scene = Scene3D(canvas, Camera((-8.0, 0.0, 2.0), (0.0, 0.0, 2.0)), cutaway=cutaway)
        scene.disc((0.0, 0.0, 2.0), 0.15, "orange")
        scene.cylinder((-5.0, 0.0, 2.0), 1.0, 2.0, "blue")
        scene.paint()
        return len(where(canvas.pixels(), "orange")[0])

    assert orange_pixels(2.5) == 0
    seen = orange_pixels(4.0)
    assert seen > 50
    assert orange_pixels(9.0) == seen  # what is no body stays filled


def test_a_line_that_ends_behind_the_camera_is_cut_off_where_it_leaves_the_image():
    canvas = Canvas(framed=False)
    camera = Camera((0.0, 0.0, 1.0), (10.0, 0.0, 1.0), field_of_view=math.pi / 2)
    scene = Scene3D(canvas, camera)
    scene.line([(10.0, 0.0, 0.0), (-10.0, 5.0, 0.0)], "red", 4.0)
    scene.paint()
    rows, columns = where(canvas.pixels(), "red")
    for x, y in camera.project([(6.0, 1.0, 0.0), (4.0, 1.5, 0.0), (2.5, 1.875, 0.0)]):
        assert np.hypot(columns - 0.5 - 0.5 * x, rows - 0.5 + 0.5 * y).min() < 0.01


def test_the_map_shows_vehicles_where_they_are():
    canvas = Canvas(framed=False)
    draw_course_flight(canvas, CRAZYFLIE, state((6.0, -3.0, 1.0)), arena=(8.0, 8.0, 4.0))
    first = canvas.pixels()
    canvas.clear()
    draw_course_flight(canvas, CRAZYFLIE, state((-2.0, 5.0, 1.0)), arena=(8.0, 8.0, 4.0))
    second = canvas.pixels()
    places = []
    for pixels in (first, second):
        rows, columns = where(pixels[:180, 320:], "blue")  # the corner of the map
        places.append((columns.mean() * 192, -rows.mean() * 180))
    moved = np.subtract(places[0], places[1])
    metre = 0.28 * 512 / (8.0 * 2.48)  # the panel is as high as the arena and margins of 0.12 and 0.36 of its half size
    np.testing.assert_allclose(moved / metre, (8.0, -8.0), atol=0.15)


def test_a_flyer_outside_the_arena_is_kept_at_the_edge_of_the_map():
    canvas = Canvas(framed=False)
    draw_course_flight(canvas, CRAZYFLIE, state((500.0, 0.0, 1.0)), arena=(8.0, 8.0, 4.0))
    rows, columns = where(canvas.pixels()[:180, 320:], "blue")
    assert len(rows) > 10
    assert columns.max() * 192 + 320 < 0.98 * 512


@pytest.mark.budget(8)
@pytest.mark.parametrize(
    "position",
    [(0.0, 0.0, -3.0), (30.0, -50.0, 1.0), (1e7, 1e7, 1e7), (-4.0, 0.0, 200.0), (2.2, -3.0, 2.6), (0.0, 0.0, 0.0)],
)
def test_odd_places_are_drawn_without_errors(position):
    canvas = Canvas(framed=False)
    shapes = [
        pillar(-3.0, 0.1, (0.5, 0.4, 0.3)),
        [1, 0, 0, 1, 0.5, *7 * [0.5]],
        [2, 1, 1, 1, 9, 0.2, 1, 0.3, *4 * [0.5]],
    ]
    s = state(position, (0.0, 1.0, 1.0), velocity=(3.0, 0.0, 40.0))
    things = {"goals": [(99.0, 0.0, 1.0)], "links": [(0, 1)], "path": [position, (0.0, 0.0, 0.0)], "shapes": shapes}
    draw_room_flight(canvas, CRAZYFLIE, s, **things)
    for follow in (None, 0, 1):
        draw_course_flight(canvas, CRAZYFLIE, s, **things, follow=follow, wind=(1.0, 0.0, 0.0))
        draw_course_flight(canvas, CRAZYFLIE, s, SQUARE, arena=(6.0, 6.0, 3.0), **things, follow=follow)


def test_a_state_without_a_drone_axis_gives_the_same_image():
    many = state((0.2, 0.1, 1.0), yaw=0.4)
    one = SimpleNamespace(position=many.position[0], attitude=many.attitude[0], velocity=many.velocity[0])
    images = []
    for s in (many, one):
        canvas = Canvas(framed=False)
        draw_room_flight(canvas, CRAZYFLIE, s, [(0.0, 0.0, 1.2)], room=1.5, ceiling=2.0)
        images.append(canvas.pixels())
    np.testing.assert_array_equal(*images)


def test_a_second_image_on_a_canvas_shows_nothing_of_the_first():
    used, fresh = Canvas(), Canvas()
    draw_course_flight(used, CRAZYFLIE, state((0.0, 0.0, 1.0)), SQUARE)
    used.clear()
    for canvas in (used, fresh):
        draw_room_flight(canvas, CRAZYFLIE, state((0.2, 0.1, 1.0)), [], room=1.5, ceiling=2.0)
    np.testing.assert_array_equal(used.pixels(), fresh.pixels())


def test_the_camera_looks_along_the_course_and_does_not_jump_at_gates():
    assert course_heading(SQUARE, 1, SQUARE[0, :3]) == pytest.approx(1.57)
    assert course_heading(SQUARE, 1, SQUARE[1, :3]) == pytest.approx(3.14, abs=1e-6)
    assert course_heading(SQUARE, 1, np.array([2.0, 2.0, 1.5])) == pytest.approx(0.75 * math.pi, abs=0.01)
    headings = []
    for step in range(401):
        leg, part = divmod(step / 100, 1.0)
        start, end = SQUARE[int(leg) % 4, :3], SQUARE[(int(leg) + 1) % 4, :3]
        headings.append(course_heading(SQUARE, (int(leg) + 1) % 4, start + part * (end - start)))
    turned = [math.remainder(b - a, 2 * math.pi) for a, b in pairwise(headings)]
    assert sum(turned) == pytest.approx(2 * math.pi, abs=0.01)
    assert max(map(abs, turned)) < 0.03


def test_a_reversal_in_place_turns_the_camera_steadily():
    """A split-S: one gate straight above another, passed the other way."""
    gates = np.array([(0.0, 0.0, 3.5, 0.0), (0.0, 0.0, 0.8, math.pi)])
    way = [course_heading(gates, 1, np.array([0.0, 0.0, z])) for z in np.linspace(3.5, 0.8, 101)]
    assert abs(way[-1] - way[0]) == pytest.approx(math.pi)
    assert np.abs(np.diff(way)).max() < 0.07


def test_gates_are_grey_once_passed_and_orange_when_next():
    assert [gate_color(g, 4, 2, 2) for g in range(4)] == ["grey", "grey", "orange", "blue"]
    assert [gate_color(g, 4, 1, 3) for g in range(4)] == ["grey", "orange", "grey", "grey"]
    assert [gate_color(g, 4, 0, 0) for g in range(4)] == ["orange", "blue", "blue", "blue"]


@pytest.mark.parametrize(("longest", "nice"), [(1.0, 1.0), (0.99, 0.5), (4.99, 2.0), (7.0, 5.0), (230.0, 200.0)])
def test_scale_bars_have_round_lengths(longest, nice):
    assert nice_length(longest) == pytest.approx(nice)
