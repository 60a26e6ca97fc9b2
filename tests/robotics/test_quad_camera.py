"""Scenes and the camera on board: distances and images against independent geometry in NumPy."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit
from numba.extending import register_jitable

from rlenvs.core.declare.kernels import marked
from rlenvs.robotics.quadcopter import camera, scene

for function in marked:
    if not hasattr(function, "_compiled_by_numba"):
        register_jitable(error_model="numpy")(function)
        function._compiled_by_numba = True

render = njit(error_model="numpy")(camera.render)
clearance = njit(error_model="numpy")(scene.clearance)

FOV, RADIUS, HALF_HEIGHT = math.pi / 3, 0.06, 0.0125
NEAR, FAR = 0.05, 12.0
NOBODY = np.zeros((0, 3))
NO_SHAPES = np.zeros((0, 12))
ORANGE = (0.9, 0.5, 0.1)


def rotation(q):
    x, y, z, w = q
    axis, sine = np.array([x, y, z]), math.sqrt(x * x + y * y + z * z)
    if sine == 0.0:
        return np.eye(3)
    axis, angle = axis / sine, 2.0 * math.atan2(sine, w)
    skew = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    return np.eye(3) + math.sin(angle) * skew + (1.0 - math.cos(angle)) * skew @ skew


def product(p, q):
    (ax, ay, az, aw), (bx, by, bz, bw) = p, q
    return (
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    )


def attitude(roll=0.0, pitch=0.0, yaw=0.0):
    about = [np.eye(4)[axis] * math.sin(angle / 2) for axis, angle in ((2, yaw), (1, pitch), (0, roll))]
    for q, angle in zip(about, (yaw, pitch, roll), strict=True):
        q[3] = math.cos(angle / 2)
    return np.array(product(product(about[0], about[1]), about[2]))


def take_image(
    shapes=NO_SHAPES, position=(0, 0, 1), q=(0, 0, 0, 1), drones=NOBODY, me=-1, level=0, size=(48, 64), **given
):
    """Image and depth; buffers are full of rubbish before."""
    image, depth = np.full((*size, 4), 77, np.uint8), np.full(size, -3, np.float32)
    take, near, far = given.get("take", render), given.get("near", NEAR), given.get("far", FAR)
    place = [float(v) for v in position]
    take(shapes, drones, me, RADIUS, HALF_HEIGHT, *place, np.array(q, float), level, FOV, near, far, image, depth)
    return image, depth


def rays(q=(0, 0, 0, 1), size=(48, 64)):
    """Directions (height, width, 3) in the world, 1 m along the camera's axis."""
    rows, columns = size
    pixel = 2.0 * math.tan(FOV / 2.0) / rows
    right = pixel * (np.arange(columns) - (columns - 1) / 2.0)
    up = pixel * ((rows - 1) / 2.0 - np.arange(rows))
    body = np.stack(np.broadcast_arrays(1.0, -right[None, :], up[:, None]), -1)
    return body @ rotation(q).T


def scene_of(*rows):
    shapes = np.zeros((len(rows), 12))
    for i, (put, *numbers) in enumerate(rows):
        put(shapes, i, *numbers)
    return shapes


# --- an independent caster of rays ------------------------------------------------------------------------------------


def surfaces(shape, place, ray):
    """All meetings of rays with the surface of a shape: a list of (distance, normal in the world), inf for none."""
    kind, yaw = shape[0], shape[7]
    to_world = rotation((0, 0, math.sin(yaw / 2), math.cos(yaw / 2)))
    o, d = (place - shape[1:4]) @ to_world, ray @ to_world
    found = []

    def add(t, on_surface, normal):
        t = np.where(on_surface & np.isfinite(t), t, np.inf)
        found.append((t, np.broadcast_to(normal, d.shape) @ to_world.T))

    def at(t):
        return o + np.where(np.isfinite(t), t, 0.0)[..., None] * d

    def roots(axes, radius):
        a, b = (d[..., axes] ** 2).sum(-1), 2.0 * (d[..., axes] * o[axes]).sum(-1)
        gap = b * b - 4.0 * a * ((o[axes] ** 2).sum() - radius**2)
        return [(np.where(gap >= 0, (-b + sign * np.sqrt(np.abs(gap))) / (2.0 * a), np.nan)) for sign in (-1, 1)]

    if kind == scene.SPHERE:
        for t in roots([0, 1, 2], shape[4]):
            add(t, True, at(t) / shape[4])
    elif kind == scene.BOX:
        half = shape[4:7]
        for axis in range(3):
            for sign in (-1.0, 1.0):
                t = (sign * half[axis] - o[axis]) / d[..., axis]
                others = [k for k in range(3) if k != axis]
                add(t, (np.abs(at(t))[..., others] <= half[others]).all(-1), sign * np.eye(3)[axis])
    else:
        radius, half = shape[4], shape[5]
        for t in roots([0, 1], radius):
            add(t, np.abs(at(t)[..., 2]) <= half, at(t) * [1, 1, 0] / radius)
        for sign in (-1.0, 1.0):
            t = (sign * half - o[2]) / d[..., 2]
            add(t, (at(t)[..., :2] ** 2).sum(-1) <= radius**2, sign * np.eye(3)[2])
    return found


def inside(shape, points):
    """Which points are in the solid."""
    yaw = shape[7]
    p = np.abs((points - shape[1:4]) @ rotation((0, 0, math.sin(yaw / 2), math.cos(yaw / 2))))
    if shape[0] == scene.SPHERE:
        return (p**2).sum(-1) < shape[4] ** 2
    if shape[0] == scene.BOX:
        return (p < shape[4:7]).all(-1)
    return ((p[..., :2] ** 2).sum(-1) < shape[4] ** 2) & (p[..., 2] < shape[5])


def reference(shapes, place, q, size=(48, 64)):
    """Depth and colours of the shapes; colours are -1 on floor and sky, and where a shape is cut by the near plane."""
    place, ray = np.array(place, float), rays(q, size)
    with np.errstate(all="ignore"):
        floor = np.where(ray[..., 2] < 0, place[2] / -ray[..., 2], np.inf)
        depth, color = np.clip(floor, NEAR, FAR), np.full(ray.shape, -1.0)
        for shape in shapes:
            for t, normal in surfaces(shape, place, ray):
                nearer = (t > NEAR) & (t < depth)
                depth = np.where(nearer, t, depth)
                shade = 0.75 + 0.25 * (normal @ np.array(camera.LIGHT))
                color = np.where(nearer[..., None], 255.0 * shape[8:11] * shade[..., None], color)
        for shape in shapes:
            cut = inside(shape, place + NEAR * ray)
            depth, color = np.where(cut, NEAR, depth), np.where(cut[..., None], -1.0, color)
    return depth, color


lengths = st.floats(0.05, 0.8)
bright = st.tuples(*[st.floats(0.2, 1.0)] * 3)
spots = st.tuples(st.floats(-4, 4), st.floats(-4, 4), st.floats(0, 2.5))
angles = st.floats(-3.1, 3.1)
shape_rows = st.one_of(
    st.builds(lambda c, r, k: (scene.put_sphere, *c, r, *k), spots, lengths, bright),
    st.builds(
        lambda c, h, yaw, k: (scene.put_box, *c, *h, yaw, *k),
        spots,
        st.tuples(lengths, lengths, lengths),
        angles,
        bright,
    ),
    st.builds(lambda c, r, h, k: (scene.put_cylinder, *c, r, h, *k), spots, lengths, lengths, bright),
)
scenes = st.lists(shape_rows, min_size=1, max_size=8).map(lambda rows: scene_of(*rows))


@settings(max_examples=60, deadline=None)
@given(
    scenes, st.tuples(st.floats(-3, 3), st.floats(-3, 3), st.floats(0.1, 3)), angles, st.floats(-1, 1), st.floats(-1, 1)
)
def test_every_pixel_against_a_caster_in_numpy(shapes, place, roll, pitch, aside):
    place = np.add(place, (0.01234, 0.03217, 0.00713))  # no edge runs through the middles of many pixels
    to_shape = shapes[0, 1:4] - place
    q = attitude(roll + 0.01347, pitch, math.atan2(to_shape[1], to_shape[0]) + aside)
    image, depth = take_image(shapes, place, q)
    expected, color = reference(shapes, place, q)
    wrong = np.abs(depth - expected) > 1e-3 * expected
    assert wrong.sum() <= 6  # of 3072
    lit = (color[..., 0] >= 0) & ~wrong
    assert (np.abs(image[..., :3] - color).max(-1)[lit] > 2).sum() <= 6
    assert (image[..., 3] == 255).all()


@pytest.mark.parametrize("size", [(1, 1), (13, 17), (24, 100)])
def test_images_of_any_size(size):
    shapes = scene_of((scene.put_sphere, 2, 0, 1, 0.7, *ORANGE), (scene.put_box, 3, 1, 1, 0.3, 0.5, 0.7, 0.4, *ORANGE))
    q = attitude(0.3, 0.1, 0.2)
    _, depth = take_image(shapes, (0, 0.2, 1.2), q, size=size)
    expected, _ = reference(shapes, (0, 0.2, 1.2), q, size)
    assert (np.abs(depth - expected) > 1e-3 * expected).mean() < 0.005


def test_plain_python_gives_the_same_image():
    shapes = scene_of(
        (scene.put_sphere, 2, 0.4, 1, 0.3, *ORANGE),
        (scene.put_box, 3, -0.5, 1, 0.3, 0.5, 0.7, 0.4, *ORANGE),
        (scene.put_cylinder, 2, -0.7, 0.4, 0.2, 0.4, *ORANGE),
    )
    drones = np.array([[0.0, 0.0, 1.0], [0.6, 0.1, 0.8]])
    situation = {"q": attitude(0.2, 0.1, 0.05), "drones": drones, "me": 0, "size": (24, 32)}
    image, depth = take_image(shapes, **situation)
    plain_image, plain_depth = take_image(shapes, **situation, take=camera.render)
    assert (np.abs(depth - plain_depth) < 1e-5 * depth).mean() > 0.995
    assert (np.abs(image.astype(int) - plain_image) <= 1).mean() > 0.995


# --- known distances --------------------------------------------------------------------------------------------------


def test_a_sphere_straight_ahead():
    """Its nearest point is met by the middle of an image with odd sizes, and its edge where the tangents are."""
    size = (49, 65)
    _, depth = take_image(scene_of((scene.put_sphere, 3, 0, 1, 0.5, *ORANGE)), size=size, far=100.0)
    assert depth[24, 32] == pytest.approx(2.5, rel=1e-6)
    covered = depth[24] < 3.0
    tangent = math.tan(math.asin(0.5 / 3.0)) / (2.0 * math.tan(FOV / 2) / 49)
    assert covered.sum() == 2 * math.floor(tangent) + 1
    assert (covered == covered[::-1]).all()


def test_square_pixels_and_the_vertical_field_of_view():
    """A face of 2 m x 2 m at distance sqrt(3) m is just as high as the image, and as wide as it is high."""
    shapes = scene_of((scene.put_box, math.sqrt(3.0) + 0.5, 0, 2, 0.5, 0.999, 0.999, 0.0, *ORANGE))
    _, depth = take_image(shapes, (0, 0, 2), size=(48, 64), far=100.0)
    face = np.isclose(depth, math.sqrt(3.0), rtol=1e-6)
    assert face.sum() == 48 * 48
    assert face[:, 8:56].all()
    larger = scene_of((scene.put_box, math.sqrt(3.0) + 0.5, 0, 2, 0.5, 0.97, 0.97, 0.0, *ORANGE))
    _, depth = take_image(larger, (0, 0, 2), far=100.0)
    assert np.isclose(depth, math.sqrt(3.0), rtol=1e-6).sum() == 46 * 46


@pytest.mark.parametrize("pitch", [0.3, 0.8, math.pi / 2])
def test_floor_at_a_known_pitch(pitch):
    """Ahead and down by `pitch`, the floor is height / sin(pitch) away; the depth of a row follows from its angle."""
    _, depth = take_image(position=(0.3, -0.2, 1.5), q=attitude(pitch=pitch), size=(49, 65), far=100.0)
    assert depth[24, 32] == pytest.approx(1.5 / math.sin(pitch), rel=1e-5)
    v = math.tan(FOV / 2) * (2 * 24 - 2 * 48) / 49  # the lowest row
    assert depth[48, 5] == pytest.approx(1.5 / (math.sin(pitch) - v * math.cos(pitch)), rel=1e-5)


def test_side_and_end_of_a_cylinder():
    shapes = scene_of((scene.put_cylinder, 2, 0, 1, 0.3, 0.4, *ORANGE))
    _, depth = take_image(shapes, size=(49, 65))
    assert depth[24, 32] == pytest.approx(1.7, rel=1e-6)
    for height, met in ((3.0, 1.4), (0.2, 0.6)):  # on its upper end from above, on its lower end from below
        down = attitude(pitch=math.copysign(math.pi / 2, height - 1.0))
        _, depth = take_image(shapes, (2, 0, height), down, size=(49, 65))
        assert depth[24, 32] == pytest.approx(abs(height - met), rel=1e-5)


def test_boxes_turn_with_their_yaw():
    """Turned by 45 degrees, an edge points at the camera."""
    shapes = scene_of((scene.put_box, 2, 0, 1, 0.5, 0.5, 0.5, math.pi / 4, *ORANGE))
    _, depth = take_image(shapes, size=(49, 65))
    assert depth[24, 32] == pytest.approx(2.0 - 0.5 * math.sqrt(2.0), rel=1e-6)
    for yaw in (0.3, -0.3):  # turned to the left, its near end is on the right
        _, depth = take_image(scene_of((scene.put_box, 2, 0, 1, 0.5, 0.1, 0.1, yaw, *ORANGE)), size=(49, 65))
        assert depth.min() == pytest.approx(2.0 - 0.5 * math.cos(0.3) - 0.1 * math.sin(0.3), abs=0.01)
        assert (depth[24].argmin() - 32) * yaw > 0


def test_a_wall_that_passes_the_camera():
    """From 1 m behind to 2 m ahead: its far end is in the middle of the image, its near part at the right edge."""
    wall = scene_of((scene.put_box, 0.5, -0.49, 1, 1.584, 0.01, 2, math.atan2(-1.02, 3), *ORANGE))
    _, depth = take_image(wall)
    expected, _ = reference(wall, (0, 0, 1), (0, 0, 0, 1))
    assert (np.abs(depth - expected) > 1e-3 * expected).sum() <= 6
    assert (depth[:, 63] < 1.0).all()


def test_near_and_far():
    ball = scene_of((scene.put_sphere, 3, 0, 1, 0.5, *ORANGE))
    image, depth = take_image(ball, far=2.4)
    empty, _ = take_image(far=2.4)
    assert (image == empty).all()
    assert depth.max() == np.float32(2.4)
    _, depth = take_image(ball, position=(3, 0, 1), near=0.2)
    assert (depth == np.float32(0.2)).all()  # inside: it is everywhere
    _, depth = take_image(ball, position=(3.7, 0, 1))
    assert (depth > 1.0).all()  # behind the camera: nowhere
    dome = scene_of((scene.put_sphere, 0, 0, 1, 1, *ORANGE))
    assert (take_image(dome, position=(0.9, 0.9, 1))[1] > 1.0).all()  # beside the camera, and its box reaches ahead
    _, depth = take_image(position=(0, 0, 0.0125), q=attitude(pitch=0.5))
    assert depth.min() == np.float32(NEAR)  # standing on the floor


def test_what_is_nearer_hides_what_is_farther():
    rows = [
        (scene.put_box, 2, 0, 1, 0.1, 0.2, 0.2, 0.0, 1, 0, 0),
        (scene.put_sphere, 4, 0, 1, 0.5, 0, 1, 0),
        (scene.put_cylinder, 3, 0.2, 1, 0.1, 3, 0, 0, 1),
    ]
    images = [take_image(scene_of(*order)) for order in (rows, rows[::-1], [rows[1], rows[2], rows[0]])]
    image, depth = images[0]
    assert image[24, 32, 0] > 100
    assert (image[24, 32, 1:3] == 0).all()
    for other_image, other_depth in images[1:]:
        assert (image == other_image).all()
        assert (depth == other_depth).all()
    sunk = scene_of((scene.put_sphere, 2, 0, -1.0, 0.5, *ORANGE))
    assert (take_image(sunk, q=attitude(pitch=0.5))[0] == take_image(q=attitude(pitch=0.5))[0]).all()


def test_empty_rows_are_not_drawn():
    shapes = np.ones((3, 12))
    shapes[:, scene.KIND] = scene.NOTHING
    assert (take_image(shapes)[0] == take_image()[0]).all()


# --- attitudes --------------------------------------------------------------------------------------------------------


def test_a_symmetric_scene_gives_a_symmetric_depth():
    shapes = np.zeros((7, 12))
    scene.put_gate(shapes, 0, 2.5, 0, 1, 0.0, 0.5, 0.2, *ORANGE)
    for row, y in ((4, -0.9), (5, 0.9)):
        scene.put_cylinder(shapes, row, 2.0, y, 1, 0.1, 0.6, *ORANGE)
    scene.put_sphere(shapes, 6, 4, 0, 1, 0.4, *ORANGE)
    _, depth = take_image(shapes)
    assert np.abs(depth - depth[:, ::-1]).max() < 1e-4
    assert (depth[:, :32] < 3).any()


def test_left_is_left_and_up_is_up():
    _, depth = take_image(scene_of((scene.put_sphere, 2, 0.5, 1.4, 0.2, *ORANGE)))
    rows, columns = np.nonzero(depth < 2.5)
    high = rows < 20
    assert (columns[high] < 26).all()
    assert high.any()


def test_the_image_rolls_with_the_body():
    """Rolled by 90 degrees the square image is the level one turned by 90 degrees; by 180 it is upside down."""
    shapes = scene_of(
        (scene.put_sphere, 2, 0.5, 1.4, 0.3, *ORANGE), (scene.put_box, 3, -1, 1, 0.2, 0.3, 0.6, 0.2, *ORANGE)
    )
    _, upright = take_image(shapes, size=(48, 48))
    for turns in (1, 2, 3):  # to the right
        _, rolled = take_image(shapes, q=attitude(roll=turns * math.pi / 2), size=(48, 48))
        assert (np.abs(rolled - np.rot90(upright, turns)) > 1e-3 * upright).mean() < 0.005


def test_level_keeps_the_horizon_and_the_direction():
    shapes = scene_of((scene.put_sphere, 2, 0.5, 1.4, 0.3, *ORANGE))
    _, expected = take_image(shapes, q=attitude(0, 0.2, 0.1))
    _, level = take_image(shapes, q=attitude(0.7, 0.2, 0.1), level=1)
    _, rolled = take_image(shapes, q=attitude(0.7, 0.2, 0.1))
    assert (np.abs(level - expected) > 1e-3 * expected).mean() < 0.005
    assert (np.abs(rolled - expected) > 1e-3 * expected).mean() > 0.2
    down = [take_image(position=(0.1, 0.2, 1), q=attitude(0.3, math.pi / 2, 0.0), level=level)[0] for level in (0, 1)]
    assert (down[0] == down[1]).mean() > 0.99  # no direction is level: the body's axes are kept


# --- colours ----------------------------------------------------------------------------------------------------------


def test_tiles_of_half_a_metre():
    """Seen from straight above, the colour changes at multiples of 0.5 m, also across the origin."""
    for x, y in ((0.0, 0.0), (-3.1, 2.2)):
        q = attitude(pitch=math.pi / 2)
        image, _ = take_image(position=(x, y, 1.0), q=q)
        hits = np.array([x, y]) + rays(q)[..., :2]
        light = image[..., 0] > 140
        expected = np.floor(2 * hits).astype(int).sum(-1) % 2 == 1
        assert (light == expected).mean() > 0.99


def test_floor_fades_into_the_haze_and_the_sky_darkens_upwards():
    image, _ = take_image(position=(0, 0, 1), far=1000.0, size=(480, 640))
    column = image[:, 320, :3].astype(int)
    haze = np.array(camera.HAZE)
    assert np.abs(column[241:243] - haze).max() <= 3
    assert np.abs(column[238] - haze).max() <= 3
    assert np.abs(column[479] - haze).max() > 40
    assert (np.diff(column[:240, 0]) >= 0).all()
    assert column[0, 2] > column[0, 0] + 30


def test_tiles_smaller_than_a_pixel_do_not_flicker():
    image, _ = take_image(position=(0.1, 0.2, 1), q=attitude(yaw=0.3))
    far, near = (np.abs(np.diff(image[row, :, 0].astype(int))).max() for row in (27, 47))
    assert far <= 2  # 12 m away, seven tiles to a pixel
    assert near > 30


def test_faces_are_told_apart_by_their_light():
    """Three faces of a grey box, 0.75 + 0.25 cos of their colour."""
    shapes = scene_of((scene.put_box, 2, 0, 0.5, 0.4, 0.4, 0.4, math.pi / 4, 0.6, 0.6, 0.6))
    image, _ = take_image(shapes, (0, 0, 1.5), attitude(pitch=0.45))
    _, color = reference(shapes, (0, 0, 1.5), attitude(pitch=0.45))
    tones, pixels = np.unique(image[..., 0][color[..., 0] >= 0], return_counts=True)
    a = math.sqrt(0.5)
    cosines = (camera.LIGHT[2], a * (-camera.LIGHT[0] + camera.LIGHT[1]), a * (-camera.LIGHT[0] - camera.LIGHT[1]))
    assert set(tones[pixels > 20]) == {int(153 * (0.75 + 0.25 * cosine)) for cosine in cosines}
    assert math.isclose(sum(v * v for v in camera.LIGHT), 1.0, abs_tol=1e-4)


def test_other_drones_are_discs_with_a_colour_each():
    drones = np.array([[0.0, 0, 1], [0.5, 0, 0.9], [0.5, 0.25, 0.9], [0.5, -0.25, 0.9]])
    image, depth = take_image(drones=drones, me=0, far=100.0, size=(480, 640))
    assert (image != take_image(size=(480, 640), far=100.0)[0]).any(-1).mean() > 0.01
    without = take_image(drones=drones[1:], me=-1, far=100.0, size=(480, 640))[1]
    assert (depth == without).all()  # the carrier is not in its image
    for k in (1, 2, 3):
        place = np.array([*drones[k, :2], drones[k, 2] + HALF_HEIGHT])  # middle of the upper end
        forward, left, up = place - [0, 0, 1]
        row, column = (
            round(middle - v / forward / (2 * math.tan(FOV / 2) / 480)) for middle, v in ((239.5, up), (319.5, left))
        )
        assert image[row, column, :3].max() < 45
        assert depth[row, column] == pytest.approx(forward, abs=0.03)
        band = image[row + 3 : row + 40, column, :3].astype(float)
        hues = band[band.max(1) > 60] / 255.0
        assert np.abs(hues[0] - 0.96 * camera.DRONE_COLORS[k]).max() < 0.05
    covered = (depth[280:340] < 0.6).any(0).sum() * 2 * math.tan(FOV / 2) / 480
    tangents = 2 * math.tan(math.asin(RADIUS / 0.5))
    for side in (1, -1):
        edge = math.atan2(0.25, 0.5) + side * math.asin(RADIUS / math.hypot(0.5, 0.25))
        tangents += 2 * side * math.tan(edge)
    assert covered == pytest.approx(tangents, rel=0.02)


def test_carrier_number_minus_one_draws_all():
    drones = np.array([[0.5, 0.0, 1.0]])
    assert (take_image(drones=drones, me=-1)[1] < 0.6).any()
    assert not (take_image(drones=drones, me=0)[1] < 0.6).any()


def test_depth_as_bytes():
    depth, out = np.array([[0.0, 1.0, 3.0, 12.0]], np.float32), np.zeros((1, 4), np.uint8)
    camera.depth_to_bytes(depth, 12.0, out)
    assert out.tolist() == [[0, 21, 64, 255]]


# --- scenes -----------------------------------------------------------------------------------------------------------


def sampled_surface(shape, count=60_000):
    """Points on the surface of a shape."""
    rng, yaw = np.random.default_rng(0), shape[7]
    if shape[0] == scene.SPHERE:
        points = rng.normal(size=(count, 3))
        points *= shape[4] / np.linalg.norm(points, axis=1, keepdims=True)
    elif shape[0] == scene.BOX:
        points = rng.uniform(-1, 1, (count, 3)) * shape[4:7]
        axis = rng.integers(0, 3, count)
        points[np.arange(count), axis] = rng.choice([-1, 1], count) * shape[4:7][axis]
    else:
        angle, end = rng.uniform(-np.pi, np.pi, count), rng.random(count) < 0.5
        radius = shape[4] * np.where(end, np.sqrt(rng.random(count)), 1.0)
        z = shape[5] * np.where(end, rng.choice([-1, 1], count), rng.uniform(-1, 1, count))
        points = np.stack([radius * np.cos(angle), radius * np.sin(angle), z], 1)
    return shape[1:4] + points @ rotation((0, 0, math.sin(yaw / 2), math.cos(yaw / 2))).T


@settings(max_examples=60, deadline=None)
@given(shape_rows, st.tuples(st.floats(-1.2, 1.2), st.floats(-1.2, 1.2), st.floats(-1.2, 1.2)))
def test_clearance_of_a_shape_against_samples_of_its_surface(row, offset):
    shapes = scene_of(row)
    point = shapes[0, 1:4] + offset
    distance = clearance(shapes, *point)
    sampled = np.sqrt(((sampled_surface(shapes[0]) - point) ** 2).sum(1)).min()
    assert abs(distance) == pytest.approx(sampled, abs=0.02)
    assert abs(distance) <= sampled + 1e-9
    assert (distance < 0) == inside(shapes[0], point)


def test_clearance_is_that_of_the_nearest_shape():
    assert clearance(NO_SHAPES, 0.0, 0.0, 0.0) == scene.NO_SHAPE
    assert clearance(np.zeros((2, 12)), 0.0, 0.0, 0.0) == scene.NO_SHAPE
    shapes = scene_of((scene.put_sphere, 2, 0, 0, 0.5, *ORANGE), (scene.put_sphere, -1, 0, 0, 0.3, *ORANGE))
    assert clearance(shapes, 0.0, 0.0, 0.0) == pytest.approx(0.7)
    box = scene_of((scene.put_box, 0, 0, 0, 1, 2, 3, math.pi / 2, *ORANGE))  # its long side now along x
    assert clearance(box, 3.0, 3.0, 0.0) == pytest.approx(math.sqrt(5.0))
    assert clearance(box, 0.0, 0.9, 0.0) == pytest.approx(-0.1)
    assert clearance(scene_of((scene.put_cylinder, 0, 0, 1, 0.5, 1, *ORANGE)), 0.9, 0.0, 2.3) == pytest.approx(0.5)


@pytest.mark.parametrize("yaw", [0.0, 0.7, math.pi / 2])
def test_a_gate_is_a_frame_around_its_opening(yaw):
    shapes = np.zeros((6, 12))
    scene.put_gate(shapes, 1, 1.0, 2.0, 1.5, yaw, 0.5, 0.2, *ORANGE)
    assert (shapes[[0, 5]] == 0).all()
    assert scene.GATE_ROWS == 4
    along, left = np.array([math.cos(yaw), math.sin(yaw), 0]), np.array([-math.sin(yaw), math.cos(yaw), 0])
    centre, up = np.array([1.0, 2.0, 1.5]), np.array([0, 0, 1.0])

    def gap(forward, across, higher):
        return clearance(shapes, *(centre + forward * along + across * left + higher * up))

    assert gap(0, 0, 0) == pytest.approx(0.5)
    assert gap(0.7, 0.6, 0) == pytest.approx(0.6)  # from the front face of a bar, whose half thickness is 0.1
    for across, higher in ((0.6, 0), (-0.6, 0), (0, 0.6), (0, -0.6)):
        assert gap(0, across, higher) == pytest.approx(-0.1)
    for across in (-0.69, 0.69):
        for higher in (-0.69, 0.69):
            assert gap(0, across, higher) == pytest.approx(-0.01)
    assert gap(0, 0.9, 0) == pytest.approx(0.2)
    scene.check_scene(shapes)


PAIRS = {
    "spheres": ((scene.put_sphere, 0, 0, 1, 0.5), (scene.put_sphere, 0, 0.9, 1, 0.4), (0, 1, 0)),
    "sphere, box": ((scene.put_box, 0, 0, 1, 0.5, 0.3, 0.2, 0.0), (scene.put_sphere, 0.9, 0, 1, 0.4), (1, 0, 0)),
    "sphere, end": ((scene.put_cylinder, 0, 0, 1, 0.5, 0.3), (scene.put_sphere, 0.2, 0, 1.7, 0.4), (0, 0, 1)),
    "cylinders": (
        (scene.put_cylinder, 0, 0, 1, 0.5, 0.3),
        (scene.put_cylinder, 0.54, 0.72, 1.5, 0.4, 0.4),
        (0.6, 0.8, 0),
    ),
    "stacked": ((scene.put_cylinder, 0, 0, 1, 0.5, 0.3), (scene.put_box, 0.2, 0, 1.8, 0.4, 0.4, 0.5, 0.3), (0, 0, 1)),
    "boxes": ((scene.put_box, 0, 0, 1, 0.5, 0.5, 1, 0), (scene.put_box, 1.1, 0, 1, 0.6, 2, 1, 0), (1, 0, 0)),
    "corner": (
        (scene.put_box, 0, 0, 1, 0.5, 0.5, 1, math.pi / 4),
        (scene.put_box, 1 + math.sqrt(0.5), 0, 1, 1, 2, 1, 0),
        (1, 0, 0),
    ),
    "column": ((scene.put_box, 0, 0, 1, 0.5, 2, 1, 0.0), (scene.put_cylinder, 0.8, 0, 1, 0.3, 1), (1, 0, 0)),
}


@pytest.mark.parametrize("pair", PAIRS)
def test_overlapping_shapes_are_refused_and_touching_ones_are_not(pair):
    """The pairs touch; the second shape is moved along the given direction."""
    first, second, direction = PAIRS[pair]
    for shift in (-0.01, 0.0, 0.01):
        place = np.array(second[1:4]) + shift * np.array(direction)
        moved = (second[0], *place, *second[4:])
        for rows in ((first, moved), (moved, first)):
            shapes = scene_of(*[(*row, *ORANGE) for row in rows])
            if shift < 0:
                with pytest.raises(ValueError, match=r"shape 0 \(.* at .*\) and shape 1 \(.*\) overlap by 0\.01 m"):
                    scene.check_scene(shapes)
            else:
                scene.check_scene(shapes)


@settings(max_examples=80, deadline=None)
@given(shape_rows, shape_rows)
def test_shapes_that_share_a_point_are_refused(first, second):
    shapes = scene_of(first, second)
    shapes[1, 1:4] = shapes[0, 1:4] + 0.3 * (shapes[1, 1:4] - shapes[0, 1:4])
    points = shapes[0, 1:4] + np.random.default_rng(0).uniform(-1.2, 1.2, (20_000, 3))
    if (inside(shapes[0], points) & inside(shapes[1], points)).any():
        with pytest.raises(ValueError, match="overlap"):
            scene.check_scene(shapes)


def test_unknown_kinds_are_refused():
    shapes = np.zeros((2, 12))
    shapes[1, scene.KIND] = 4
    with pytest.raises(ValueError, match="shape 1 has kind 4; known are 0 nothing, 1 sphere, 2 box, 3 cylinder"):
        scene.check_scene(shapes)
