"""Images of worlds that are not compiled, and what colours are in them."""

import numpy as np

import rlenvs
from rlenvs.core.declare.canvas import COLORS, HEAD, Canvas


def world_at_start(id, seed=0, **keywords):
    """A batch of one uncompiled world, its parameters and its state, which may be changed."""
    batch = rlenvs.make_batch(id, backend="python", **keywords)
    batch.seed([seed])
    batch.reset()
    return (batch, *batch.records(0))


def scene_of(batch):
    """The image between head and legend."""
    canvas = Canvas()
    batch.world.functions["draw"](canvas, *batch.records(0))
    return canvas.pixels()[HEAD : canvas._bottom]


def is_color(pixels, color, tolerance=3):
    color = COLORS[color] if isinstance(color, str) else color
    return np.abs(pixels.astype(int) - color).max(axis=-1) <= tolerance


def count(pixels, color):
    return int(is_color(pixels, color).sum())
