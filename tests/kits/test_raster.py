"""Drawing on small images: shapes pixel by pixel, and what lies outside."""

import numpy as np
import pytest

from rlenvs.kits.raster import draw as raster

WHITE = (255, 255, 255)
# half the width of each row from the middle on, of discs as pygame-ce 2.5.8 draws them
WIDTHS = {
    1: [1],
    2: [2, 1],
    3: [3, 2, 1],
    6: [6, 6, 5, 4, 3, 2],
    10: [10, 10, 10, 9, 9, 8, 7, 6, 5, 3],
    14: [14, 14, 14, 13, 13, 13, 12, 11, 11, 10, 9, 7, 6, 3],
}


def drawn(verb, *arguments, side=32):
    """The mask of what a verb draws."""
    image = np.zeros((side, side, 3), np.uint8)
    verb(image, *arguments, WHITE)
    return image[:, :, 0] > 0


@pytest.mark.parametrize("radius", WIDTHS)
def test_discs_have_the_rows_of_the_midpoint_algorithm(radius):
    mask = drawn(raster.disc, 16, 16, radius)
    rows = mask.sum(axis=1)
    assert rows[16 : 16 + radius].tolist() == [2 * width for width in WIDTHS[radius]]
    assert np.array_equal(mask, mask.T)
    assert np.array_equal(mask[16 - radius : 16 + radius], mask[16 - radius : 16 + radius][::-1])
    assert mask.sum() == 4 * sum(WIDTHS[radius])


def test_rings_and_outlines_are_hollow():
    whole, ring = drawn(raster.disc, 16, 16, 10), drawn(raster.ring, 16, 16, 10, 2)
    assert np.array_equal(whole & ~ring, drawn(raster.disc, 16, 16, 8))
    frame = drawn(raster.outline, 4, 5, 6, 7, 1)
    assert frame.sum() == 2 * 6 + 2 * 5
    assert not frame[6:11, 5:9].any()


def test_lines_are_as_thick_as_asked():
    for thickness in (1, 2, 3):
        across = drawn(raster.line, 3, 10, 20, 10, thickness)
        down = drawn(raster.line, 10, 3, 10, 20, thickness)
        slanting = drawn(raster.line, 3, 3, 20, 20, thickness)
        assert across.sum() == down.sum() == slanting.sum() == 18 * thickness
    assert drawn(raster.line, 5, 5, 5, 5, 1).sum() == 1


@pytest.mark.parametrize("place", [(-3, -3), (33, 5), (5, 40), (-100, 0), (16, -9)])
def test_what_lies_outside_is_left_out(place):
    large = np.zeros((200, 200, 3), np.uint8)
    shift = 100
    x, y = place
    for verb, arguments in (
        (raster.disc, (9,)),
        (raster.ring, (9, 2)),
        (raster.rectangle, (7, 8)),
        (raster.outline, (7, 8, 2)),
    ):
        large[:] = 0
        if abs(x) < 90 and abs(y) < 90:
            verb(large, x + shift, y + shift, *arguments, WHITE)
        expected = large[shift : shift + 32, shift : shift + 32, 0] > 0
        assert np.array_equal(drawn(verb, x, y, *arguments), expected)


def test_stamps_patches_and_copies():
    mask = np.eye(4, dtype=np.uint8)
    image, other = np.zeros((6, 6, 3), np.uint8), np.full((6, 6, 3), 7, np.uint8)
    raster.stamp(image, mask, -1, 2, (1, 2, 3))
    assert [tuple(place) for place in np.argwhere(image[:, :, 2] == 3)] == [(3, 0), (4, 1), (5, 2)]
    raster.copy_patch(image, other, 4, 4, 9, 9)
    assert (image[4:, 4:] == 7).all()
    assert (image == 7).all(axis=2).sum() == 4
    raster.copy_image(image, other)
    assert np.array_equal(image, other)
    raster.clear(image)
    assert not image.any()


def test_transposing_exchanges_rows_and_columns():
    image = np.arange(5 * 5 * 3, dtype=np.uint8).reshape(5, 5, 3)
    expected = image.transpose(1, 0, 2).copy()
    raster.transpose(image)
    assert np.array_equal(image, expected)
