"""An onboard camera: color and depth images of a scene, by casting a ray through every pixel.

A pinhole with square pixels. No OpenGL, no meshes: floor and sky are computed per pixel, and each shape is intersected
with the rays of its bounding rectangle. Different from the camera of gym-pybullet-drones: images are not distorted
(there the aspect ratio is 1 at 64 x 48 pixels), and the horizon tilts when the vehicle rolls unless `level` is set.

Inner loops use 32-bit numbers only, and select instead of branching, so that the compiler can vectorize them.
"""

import math

import numpy as np

from rlenvs.core import kernel, maths
from rlenvs.core.declare.canvas import AGENT_COLORS, COLORS
from rlenvs.robotics.quadcopter.scene import BLUE, BOX, CYLINDER, GREEN, KIND, RED, SPHERE, YAW, A, B, C, X, Y, Z

# 32-bit, because one 64-bit number turns a whole expression into 64 bits
ZERO, HALF, ONE = np.float32(0.0), np.float32(0.5), np.float32(1.0)
TINY = np.float32(1e-6)  # instead of zero in a direction: a ray along a face meets it far away

TILES_PER_METRE = np.float32(2.0)
TILE_OFFSET = np.float32(4096.0)  # even, so that truncation rounds down on both sides of the origin
HORIZON = np.float32(1000.0)  # m, floor beyond is not told from sky
FADE = np.float32(6.0**2)  # m^2; at this distance the floor is half haze
DARK_TILE = (np.float32(112.0), np.float32(110.0), np.float32(104.0))
LIGHT_TILE = (np.float32(176.0), np.float32(172.0), np.float32(162.0))
HAZE = (np.float32(214.0), np.float32(226.0), np.float32(236.0))
ZENITH = (np.float32(70.0), np.float32(130.0), np.float32(200.0))

LIGHT = (0.42, 0.30, 0.8565)  # towards the light, length 1
AMBIENT, DIFFUSE = np.float32(0.75), np.float32(0.25)

DRONE_BODY = (0.13, 0.13, 0.15)
DRONE_COLORS = np.array([COLORS[name] for name in AGENT_COLORS]) / 255.0
RIM = np.float32(0.5)  # of the squared radius: ends of cylinders have the colour of the side outside


# --- vectors are tuples of three numbers ------------------------------------------------------------------------------


@kernel
def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@kernel
def cross(a, b):
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@kernel
def ahead(start, factor, direction):
    """start + factor x direction."""
    return start[0] + factor * direction[0], start[1] + factor * direction[1], start[2] + factor * direction[2]


@kernel
def turned(v, cosine, sine):
    """In axes that are turned about the vertical."""
    return cosine * v[0] + sine * v[1], cosine * v[1] - sine * v[0], v[2]


@kernel
def single(v):
    """In 32 bits."""
    return np.float32(v[0]), np.float32(v[1]), np.float32(v[2])


@kernel
def off_zero(number):
    return number if abs(number) > TINY else TINY


# --- pixels -----------------------------------------------------------------------------------------------------------


@kernel
def column_slope(column, columns, pixel):
    """How far the rays of a column of pixels go to the right per metre ahead."""
    return pixel * (np.float32(np.int32(column)) - HALF * np.float32(np.int32(columns - 1)))


@kernel
def row_slope(row, rows, pixel):
    """How far the rays of a row of pixels go up per metre ahead."""
    return pixel * (HALF * np.float32(np.int32(rows - 1)) - np.float32(np.int32(row)))


@kernel
def packed(red, green, blue):
    """The four bytes of an opaque pixel from colours 0..255, as one number (little-endian machines)."""
    red_byte, green_byte, blue_byte = np.int32(red), np.int32(green), np.int32(blue)
    return red_byte | (green_byte << np.int32(8)) | (blue_byte << np.int32(16)) | np.int32(-16777216)


@kernel
def brightness(cosine):
    """Lambert's law on top of an ambient light; from 0.5, turned away, to 1."""
    return AMBIENT + DIFFUSE * min(max(cosine, -ONE), ONE)


@kernel
def blend(first, second, weight):
    return first + weight * (second - first)


# --- what is drawn ----------------------------------------------------------------------------------------------------


@kernel
def draw_floor_and_sky(pixels, depth, camera, pixel, near, far):
    """Fills every pixel: a checkered floor that fades into haze, and a sky that is darker above."""
    place, forward, right, up = single(camera[0]), single(camera[1]), single(camera[2]), single(camera[3])
    rows, columns = depth.shape
    height = max(place[2], TINY)
    tiles_per_pixel = TILES_PER_METRE * pixel / height  # times the squared distance
    for row in range(rows):
        v = row_slope(row, rows, pixel)
        start = ahead(forward, v, up)
        for column in range(columns):
            u = column_slope(column, columns, pixel)
            ray = ahead(start, u, right)
            square = ONE + u * u + v * v
            elevation = ray[2] / math.sqrt(square)
            sky = elevation > -TINY
            t = min(height / max(-ray[2], TINY), HORIZON)
            tile_x = np.int32(TILES_PER_METRE * (place[0] + t * ray[0]) + TILE_OFFSET)
            tile_y = np.int32(TILES_PER_METRE * (place[1] + t * ray[1]) + TILE_OFFSET)
            odd = np.float32((tile_x ^ tile_y) & np.int32(1))
            # tiles smaller than a pixel would flicker: they become grey as more of them fall into one
            reach = t * t * square
            tiles = tiles_per_pixel * reach
            lightness = HALF + (odd - HALF) / (ONE + tiles * tiles)
            clear = ZERO if sky else FADE / (FADE + reach)
            high = max(elevation, ZERO)
            red = blend(blend(HAZE[0], blend(DARK_TILE[0], LIGHT_TILE[0], lightness), clear), ZENITH[0], high)
            green = blend(blend(HAZE[1], blend(DARK_TILE[1], LIGHT_TILE[1], lightness), clear), ZENITH[1], high)
            blue = blend(blend(HAZE[2], blend(DARK_TILE[2], LIGHT_TILE[2], lightness), clear), ZENITH[2], high)
            pixels[row, column, 0] = packed(red, green, blue)
            depth[row, column] = far if sky else min(max(t, near), far)


@kernel
def draw_sphere(pixels, depth, camera, frame, pixel, near, radius, color):
    place, forward, right, up = single(camera[0]), single(camera[1]), single(camera[2]), single(camera[3])
    light = single(camera[4])
    rows, columns = depth.shape
    left, end, top, bottom = frame
    facing = dot(place, light)
    for row in range(top, bottom):
        start = ahead(forward, row_slope(row, rows, pixel), up)
        for step in range(end - left):
            column = np.uint64(left + step)  # unsigned, or the compiler minds indices from the end
            ray = ahead(start, column_slope(column, columns, pixel), right)
            square = dot(ray, ray)
            miss = cross(place, ray)
            # from the distance at which the ray passes the centre: exact for small spheres far away, too
            inside = radius * radius * square - dot(miss, miss)
            middle, half = -dot(place, ray) / square, math.sqrt(max(inside, ZERO)) / square
            t = max(middle - half, near)
            seen = inside > ZERO and t < middle + half and t < depth[row, column]
            shade = brightness((facing + t * dot(ray, light)) / radius)
            paint = packed(shade * color[0], shade * color[1], shade * color[2])
            pixels[row, column, 0] = paint if seen else pixels[row, column, 0]
            depth[row, column] = t if seen else depth[row, column]


@kernel
def draw_box(pixels, depth, camera, frame, pixel, near, half_sizes, color):
    place, forward, right, up = single(camera[0]), single(camera[1]), single(camera[2]), single(camera[3])
    light = single(camera[4])
    rows, columns = depth.shape
    left, end, top, bottom = frame
    shade_x = brightness(light[0] if place[0] > ZERO else -light[0])
    shade_y = brightness(light[1] if place[1] > ZERO else -light[1])
    shade_z = brightness(light[2] if place[2] > ZERO else -light[2])
    paint_x = packed(shade_x * color[0], shade_x * color[1], shade_x * color[2])
    paint_y = packed(shade_y * color[0], shade_y * color[1], shade_y * color[2])
    paint_z = packed(shade_z * color[0], shade_z * color[1], shade_z * color[2])
    for row in range(top, bottom):
        start = ahead(forward, row_slope(row, rows, pixel), up)
        for step in range(end - left):
            column = np.uint64(left + step)  # unsigned, or the compiler minds indices from the end
            ray = ahead(start, column_slope(column, columns, pixel), right)
            # the ray is between the two faces of an axis from middle - half to middle + half
            inverse_x, inverse_y, inverse_z = ONE / off_zero(ray[0]), ONE / off_zero(ray[1]), ONE / off_zero(ray[2])
            middle_x, half_x = -place[0] * inverse_x, half_sizes[0] * abs(inverse_x)
            middle_y, half_y = -place[1] * inverse_y, half_sizes[1] * abs(inverse_y)
            middle_z, half_z = -place[2] * inverse_z, half_sizes[2] * abs(inverse_z)
            enter_x, enter_y, enter_z = middle_x - half_x, middle_y - half_y, middle_z - half_z
            enter = max(max(enter_x, enter_y), enter_z)
            leave = min(min(middle_x + half_x, middle_y + half_y), middle_z + half_z)
            t = max(enter, near)
            seen = t < leave and t < depth[row, column]
            paint = paint_x if enter == enter_x else (paint_y if enter == enter_y else paint_z)
            pixels[row, column, 0] = paint if seen else pixels[row, column, 0]
            depth[row, column] = t if seen else depth[row, column]


@kernel
def draw_cylinder(pixels, depth, camera, frame, pixel, near, radius, half_height, color, side_color):
    """An upright cylinder; its ends have another colour in the middle."""
    place, forward, right, up = single(camera[0]), single(camera[1]), single(camera[2]), single(camera[3])
    light = single(camera[4])
    rows, columns = depth.shape
    left, end, top, bottom = frame
    shade_end = brightness(light[2] if place[2] > ZERO else -light[2])
    rim = RIM * radius * radius
    for row in range(top, bottom):
        start = ahead(forward, row_slope(row, rows, pixel), up)
        for step in range(end - left):
            column = np.uint64(left + step)  # unsigned, or the compiler minds indices from the end
            ray = ahead(start, column_slope(column, columns, pixel), right)
            ray_x, ray_y = off_zero(ray[0]), ray[1]
            square = ray_x * ray_x + ray_y * ray_y
            miss = place[0] * ray_y - place[1] * ray_x
            inside = radius * radius * square - miss * miss
            middle, half = -(place[0] * ray_x + place[1] * ray_y) / square, math.sqrt(max(inside, ZERO)) / square
            inverse_z = ONE / off_zero(ray[2])
            middle_z, half_z = -place[2] * inverse_z, half_height * abs(inverse_z)
            enter_side, enter_end = middle - half, middle_z - half_z
            t = max(max(enter_side, enter_end), near)
            seen = inside > ZERO and t < min(middle + half, middle_z + half_z) and t < depth[row, column]
            on_end = enter_end > enter_side
            x, y = place[0] + t * ray_x, place[1] + t * ray_y
            in_middle = on_end and x * x + y * y < rim
            shade_side = brightness((x * light[0] + y * light[1]) / radius)
            shade = shade_end if on_end else shade_side
            red = shade * (color[0] if in_middle else side_color[0])
            green = shade * (color[1] if in_middle else side_color[1])
            blue = shade * (color[2] if in_middle else side_color[2])
            pixels[row, column, 0] = packed(red, green, blue) if seen else pixels[row, column, 0]
            depth[row, column] = t if seen else depth[row, column]


# --- where it is drawn ------------------------------------------------------------------------------------------------


@kernel
def axes_of(attitude, level):
    """Forward, right and up of the camera in the world."""
    x, y, z, w = attitude[0], attitude[1], attitude[2], attitude[3]
    forward = (1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y + w * z), 2.0 * (x * z - w * y))
    right = (2.0 * (w * z - x * y), 2.0 * (x * x + z * z) - 1.0, -2.0 * (y * z + w * x))
    across = math.sqrt(forward[0] * forward[0] + forward[1] * forward[1])
    if level and across > 1e-6:  # straight up or down no direction is level: keep the body's
        right = (forward[1] / across, -forward[0] / across, 0.0)
    return forward, right, cross(right, forward)


@kernel
def relative_to(camera, x, y, z, yaw):
    """The camera (place, forward, right, up, light) in the axes of a shape."""
    cosine, sine = maths.cos(yaw), maths.sin(yaw)
    place = (camera[0][0] - x, camera[0][1] - y, camera[0][2] - z)
    return (
        turned(place, cosine, sine),
        turned(camera[1], cosine, sine),
        turned(camera[2], cosine, sine),
        turned(camera[3], cosine, sine),
        turned(camera[4], cosine, sine),
    )


@kernel
def frame_of(camera, half_x, half_y, half_z, pixel, near, rows, columns):
    """The pixels in which a box around the origin can be seen: first and end column, first and end row.

    A box that reaches behind the plane at distance `near` may be seen in every pixel.
    """
    place, forward, right, up = camera[0], camera[1], camera[2], camera[3]
    low_u, high_u, low_v, high_v = math.inf, -math.inf, math.inf, -math.inf
    nearest, farthest = math.inf, -math.inf
    for corner in range(8):
        corner_x = half_x if corner & 1 else -half_x
        corner_y = half_y if corner & 2 else -half_y
        corner_z = half_z if corner & 4 else -half_z
        offset = (corner_x - place[0], corner_y - place[1], corner_z - place[2])
        distance = dot(offset, forward)
        nearest, farthest = min(nearest, distance), max(farthest, distance)
        inverse = 1.0 / max(distance, near)
        u, v = dot(offset, right) * inverse, dot(offset, up) * inverse
        low_u, high_u = min(low_u, u), max(high_u, u)
        low_v, high_v = min(low_v, v), max(high_v, v)
    if farthest < near:
        return 0, 0, 0, 0
    if nearest < near:
        return 0, columns, 0, rows
    middle_column, middle_row = 0.5 * (columns - 1), 0.5 * (rows - 1)
    left = max(math.floor(middle_column + low_u / pixel), 0)
    end = min(math.ceil(middle_column + high_u / pixel) + 1, columns)
    top = max(math.floor(middle_row - high_v / pixel), 0)
    bottom = min(math.ceil(middle_row - low_v / pixel) + 1, rows)
    return left, max(end, left), top, max(bottom, top)


# 15 parameters: the scene, the camera and the images that it takes
@kernel
def render(shapes, drones, me, radius, half_height, x, y, z, attitude, level, fov, near, far, image, depth):
    """Take an image of the floor, the shapes and the drones.

    Args:
        shapes: (S, 12), see scene.py.
        drones: (D, 3), positions of all drones [m]; drawn as upright cylinders of `radius` and `half_height` [m].
        me: index of the drone that is not drawn because it carries the camera; -1 draws all.
        x, y, z: position of the camera [m].
        attitude: (4,), quaternion x, y, z, w from body to world. The camera looks along body x.
        level: 0: the image's upwards is body z, so the horizon rolls with the body; 1: it stays level.
        fov: vertical field of view [rad].
        near, far: range of the camera along its axis [m]. What is nearer is cut off at `near`: a camera inside a shape
            sees it everywhere. Nothing but floor and sky is drawn beyond `far`.
        image: (height, width, 4) uint8, C-contiguous; becomes red, green, blue, 255.
        depth: (height, width) float32; becomes the distance along the camera's axis [m], near..far, `far` for the sky.
    """
    pixels = image.view(np.int32)
    rows, columns = depth.shape
    forward, right, up = axes_of(attitude, level)
    camera = ((x, y, z), forward, right, up, LIGHT)
    side = 2.0 * maths.tan(0.5 * fov) / rows
    pixel, front = np.float32(side), np.float32(near)
    draw_floor_and_sky(pixels, depth, camera, pixel, front, np.float32(far))
    for i in range(shapes.shape[0]):
        kind = shapes[i, KIND]
        color = single((255.0 * shapes[i, RED], 255.0 * shapes[i, GREEN], 255.0 * shapes[i, BLUE]))
        size = single((shapes[i, A], shapes[i, B], shapes[i, C]))
        if kind == SPHERE:
            view = relative_to(camera, shapes[i, X], shapes[i, Y], shapes[i, Z], 0.0)
            frame = frame_of(view, size[0], size[0], size[0], side, near, rows, columns)
            draw_sphere(pixels, depth, view, frame, pixel, front, size[0], color)
        elif kind == BOX:
            view = relative_to(camera, shapes[i, X], shapes[i, Y], shapes[i, Z], shapes[i, YAW])
            frame = frame_of(view, size[0], size[1], size[2], side, near, rows, columns)
            draw_box(pixels, depth, view, frame, pixel, front, size, color)
        elif kind == CYLINDER:
            view = relative_to(camera, shapes[i, X], shapes[i, Y], shapes[i, Z], 0.0)
            frame = frame_of(view, size[0], size[0], size[1], side, near, rows, columns)
            draw_cylinder(pixels, depth, view, frame, pixel, front, size[0], size[1], color, color)
    body = single((255.0 * DRONE_BODY[0], 255.0 * DRONE_BODY[1], 255.0 * DRONE_BODY[2]))
    for k in range(drones.shape[0]):
        if k != me:
            hue = k % DRONE_COLORS.shape[0]
            band = single((255.0 * DRONE_COLORS[hue, 0], 255.0 * DRONE_COLORS[hue, 1], 255.0 * DRONE_COLORS[hue, 2]))
            view = relative_to(camera, drones[k, 0], drones[k, 1], drones[k, 2], 0.0)
            frame = frame_of(view, radius, radius, half_height, side, near, rows, columns)
            sizes = np.float32(radius), np.float32(half_height)
            draw_cylinder(pixels, depth, view, frame, pixel, front, sizes[0], sizes[1], body, band)


@kernel
def depth_to_bytes(depth, far, out):
    """Depth as 255 x depth / far, rounded. depth: (height, width) [m], 0..far; out: the same shape, uint8."""
    for row in range(depth.shape[0]):
        for column in range(depth.shape[1]):
            out[row, column] = np.uint8(255.0 * depth[row, column] / far + 0.5)
