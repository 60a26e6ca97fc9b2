"""Small gray pictures of a court for observations: rectangles and discs whose edges cover parts of pixels.

The frames are the channels of the image, the newest first, so one image shows in which direction things move.
"""

from __future__ import annotations

import math

from rlenvs.core import kernel

SIDE, FRAMES = 84, 3  # pixels along a side; how many moments a picture shows


@kernel
def brighten(image, y, x, c, share, grey):
    """A pixel of which a share is covered."""
    image[y, x, c] = max(int(image[y, x, c]), int(share * grey + 0.5))


@kernel
def fill_box(image, c, left, top, right, bottom, grey):
    """A rectangle, in pixels from the upper left corner, in frame c."""
    for y in range(max(math.floor(top), 0), min(math.ceil(bottom), image.shape[0])):
        high = min(bottom, y + 1.0) - max(top, y * 1.0)
        for x in range(max(math.floor(left), 0), min(math.ceil(right), image.shape[1])):
            brighten(image, y, x, c, high * (min(right, x + 1.0) - max(left, x * 1.0)), grey)


@kernel
def fill_disc(image, c, middle_x, middle_y, radius, grey):
    """A disc, in pixels, in frame c; its edge is one pixel wide."""
    for y in range(max(math.floor(middle_y - radius) - 1, 0), min(int(middle_y + radius) + 2, image.shape[0])):
        for x in range(max(math.floor(middle_x - radius) - 1, 0), min(int(middle_x + radius) + 2, image.shape[1])):
            dx, dy = x + 0.5 - middle_x, y + 0.5 - middle_y
            share = radius + 0.5 - math.sqrt(dx * dx + dy * dy)
            if share > 0.0:
                brighten(image, y, x, c, min(share, 1.0), grey)
