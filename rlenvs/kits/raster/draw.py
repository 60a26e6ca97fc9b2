"""Verbs that draw on images, uint8 (rows, columns, 3), in kernels.

x runs along columns, y down the rows, both in whole pixels; what lies outside of the image is left out. A color is a
tuple of three numbers in 0 ... 255. Discs are those of the midpoint algorithm (Bresenham; Pitteway 1967) in an even
square of 2 r x 2 r pixels, whose center is the corner between four of them: so SDL's and pygame's look.
"""

import numpy as np

from rlenvs.core import kernel

LARGEST_RADIUS = 64


def _half_widths(radius: int) -> list[int]:
    """Half the width of each row of the lower half of a disc, from the middle outwards."""
    widths = [0] * radius
    far, excess = radius, 1 - radius  # columns of this row; how far the midpoint lies outside
    for row in range(1, radius + 1):
        if row > 1 and excess >= 0:
            far -= 1
            excess -= 2 * far
        excess += 2 * row + 1
        if excess >= 0 and far > 0:
            widths[far - 1] = row
        widths[row - 1] = far
        if row >= far:
            break
    return widths


WIDTHS = np.zeros((LARGEST_RADIUS + 1, LARGEST_RADIUS), np.uint8)
for _radius in range(LARGEST_RADIUS + 1):
    WIDTHS[_radius, :_radius] = _half_widths(_radius)


@kernel
def half_width(radius, row):
    """Half the width of a disc in a row, counted from its centre (-1 and 0 are the middle rows); 0 outside."""
    up = row if row >= 0 else -1 - row
    return int(WIDTHS[radius, up]) if up < radius else 0


@kernel
def clear(image):
    """All black."""
    pixels = image.reshape(image.size)
    for j in range(pixels.size):
        pixels[j] = 0


@kernel
def copy_image(image, source):
    """Another image of the same shape."""
    pixels, others = image.reshape(image.size), source.reshape(source.size)
    for j in range(pixels.size):
        pixels[j] = others[j]


@kernel
def copy_patch(image, source, x, y, width, height):
    """The same rectangle of another image of the same shape."""
    left, right = max(x, 0), min(x + width, image.shape[1])
    for row in range(max(y, 0), min(y + height, image.shape[0])):
        for column in range(left, right):
            for c in range(3):
                image[row, column, c] = source[row, column, c]


@kernel
def span(image, y, start, stop, color):
    """Columns start ... stop - 1 of a row."""
    if 0 <= y < image.shape[0]:
        for x in range(max(start, 0), min(stop, image.shape[1])):
            image[y, x, 0] = color[0]
            image[y, x, 1] = color[1]
            image[y, x, 2] = color[2]


@kernel
def rectangle(image, x, y, width, height, color):
    """A filled rectangle with its upper left corner at (x, y)."""
    for row in range(max(y, 0), min(y + height, image.shape[0])):
        span(image, row, x, x + width, color)


@kernel
def outline(image, x, y, width, height, thickness, color):
    """The border of a rectangle, drawn inside of it."""
    rectangle(image, x, y, width, min(thickness, height), color)
    rectangle(image, x, y + height - thickness, width, min(thickness, height), color)
    rectangle(image, x, y, min(thickness, width), height, color)
    rectangle(image, x + width - thickness, y, min(thickness, width), height, color)


@kernel
def disc(image, x, y, radius, color):
    """A filled circle: rows y - radius ... y + radius - 1. The radius is at most 64."""
    for row in range(max(-radius, -y), min(radius, image.shape[0] - y)):
        half = half_width(radius, row)
        span(image, y + row, x - half, x + half, color)


@kernel
def dot(image, x, y, color):
    """One pixel."""
    if 0 <= y < image.shape[0] and 0 <= x < image.shape[1]:
        image[y, x, 0] = color[0]
        image[y, x, 1] = color[1]
        image[y, x, 2] = color[2]


@kernel
def mirrored(image, x, y, across, down, color):
    """A pixel of a circle and its seven images, `across` columns and `down` rows from the centre, counted from 1."""
    for turn in range(2):
        a, d = (across, down) if turn == 0 else (down, across)
        dot(image, x + a - 1, y + d - 1, color)
        dot(image, x + a - 1, y - d, color)
        dot(image, x - a, y + d - 1, color)
        dot(image, x - a, y - d, color)


@kernel
def ring(image, x, y, radius, thickness, color):
    """The border of a disc: what lies outside of a disc whose radius is smaller by `thickness` pixels, and of one
    pixel the outermost of each column where it is flat, of each row where it is steep."""
    near, far, inner = 0, radius, max(radius - thickness, 0)
    excess, inner_excess = 1 - far, 1 - inner
    while near < far:
        if excess >= 0:
            far -= 1
            excess -= 2 * far
        if inner_excess >= 0:
            inner -= 1
            inner_excess -= 2 * inner
        near += 1
        excess += 2 * near + 1
        inner_excess += 2 * near + 1
        last = far if thickness == 1 else max(inner + 1, near)
        for down in range(last, far + 1):
            mirrored(image, x, y, near, down, color)


@kernel
def outlined(image, x, y, radius, thickness, color):
    """The border of a disc, or all of it where the border is 0 pixels thick."""
    if thickness == 0:
        disc(image, x, y, radius, color)
    else:
        ring(image, x, y, radius, thickness, color)


@kernel
def line(image, x0, y0, x1, y1, thickness, color):
    """A line: steep ones are `thickness` pixels wide in every row, flat ones high in every column."""
    across, down = x1 - x0, y1 - y0
    steps = max(abs(across), abs(down))
    before = (thickness - 1) // 2
    for step in range(steps + 1):
        # rounded to the nearest pixel
        x = x0 + (2 * across * step + steps) // max(2 * steps, 1)
        y = y0 + (2 * down * step + steps) // max(2 * steps, 1)
        if abs(down) >= abs(across):
            span(image, y, x - before, x - before + thickness, color)
        else:
            rectangle(image, x, y - before, 1, thickness, color)


@kernel
def stamp(image, mask, x, y, color):
    """A colour wherever a mask (rows, columns) is set, its upper left corner at (x, y)."""
    for row in range(max(0, -y), min(mask.shape[0], image.shape[0] - y)):
        for column in range(max(0, -x), min(mask.shape[1], image.shape[1] - x)):
            if mask[row, column]:
                image[y + row, x + column, 0] = color[0]
                image[y + row, x + column, 1] = color[1]
                image[y + row, x + column, 2] = color[2]


@kernel
def transpose(image):
    """Rows and columns of a square image exchanged."""
    for y in range(image.shape[0]):
        for x in range(y):
            for c in range(3):
                kept = image[y, x, c]
                image[y, x, c] = image[x, y, c]
                image[x, y, c] = kept
