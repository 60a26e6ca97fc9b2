"""Films of policies: frames, and GIF or MP4 files of them."""

from __future__ import annotations

import importlib
import math
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode

from rlenvs.agents.evaluate import Policy, check_policy, chooser
from rlenvs.core.errors import MissingExtraError, ParameterError
from rlenvs.core.make import make_batch
from rlenvs.core.registry import world_of
from rlenvs.core.render import Renderer, check_mode

SUFFIXES = (".gif", ".mp4")
GIF_FPS = 15  # viewers of GIFs are slow; more only makes the file larger


def film(
    id: str, policy: Policy, seed: int = 0, seconds: float = 8.0, every: int = 1, **keywords: Any
) -> Iterator[np.ndarray]:
    """Pictures of one world, uint8 (height, width, 3). An episode that ends is followed by the next one.

    Args:
        policy: as for `rlenvs.evaluate`.
        seconds: length at the world's own frames per second.
        every: one picture every so many steps.
        keywords: of `rlenvs.make_batch`.

    Raises:
        UnknownNameError: an id, policy or keyword that does not exist, or a world without a scripted expert.
        ParameterError: a world without a picture, or a parameter outside its range.
    """
    world = world_of(id)
    check_policy(world, policy)
    check_mode(world, "rgb_array")
    batch = make_batch(id, 1, autoreset=AutoresetMode.NEXT_STEP, **keywords)
    fps = batch.setup.fps
    renderer = Renderer("rgb_array", fps)
    batch.seed([seed])
    batch.reset()
    choose = chooser(batch, policy, [seed])
    for step in range(max(1, round(seconds * fps))):
        if step % every == 0:
            yield renderer.picture(batch, 0)
        batch.step(choose())


def pace(path: Path, fps: float) -> tuple[int, float]:
    """How many steps there are from picture to picture in such a file, and its pictures per second."""
    every = max(1, round(fps / GIF_FPS)) if path.suffix.lower() == ".gif" else 1
    return every, fps / every


def check_file(path: Path) -> None:
    """ParameterError for a suffix that is no film's; MissingExtraError for MP4 without imageio."""
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise ParameterError(f"{path.name!r} must end in {' or '.join(SUFFIXES)}")
    if suffix == ".mp4":
        try:
            importlib.import_module("imageio_ffmpeg")
        except ImportError:
            raise MissingExtraError("Writing MP4", "video") from None


def save(path: Path, frames: Iterable[np.ndarray], fps: float) -> None:
    """Write pictures, uint8 (height, width, 3), to a GIF or MP4 file; the folder is made when it is missing."""
    check_file(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    (save_gif if path.suffix.lower() == ".gif" else _save_mp4)(path, frames, fps)


def save_gif(path: Path, frames: Iterable[np.ndarray], fps: float) -> None:
    """Write a GIF that repeats for ever. All pictures share one palette: the 256 colours that are most frequent."""
    from PIL import Image

    pictures = list(frames)
    palette = _palette(np.stack(pictures[:: math.ceil(len(pictures) / 8)]))
    none = Image.Dither.NONE
    first, *rest = [Image.fromarray(picture).quantize(palette=palette, dither=none) for picture in pictures]
    first.save(path, save_all=True, append_images=rest, duration=round(1000 / fps), loop=0)


def _palette(pictures: np.ndarray) -> Any:
    """The most frequent colours, exactly: worlds are drawn in few flat colours, and averages would tint them."""
    from PIL import Image

    red, green, blue = np.moveaxis(pictures.astype(np.int32), -1, 0)
    codes, counts = np.unique(red << 16 | green << 8 | blue, return_counts=True)
    codes = codes[np.argsort(-counts)][:256]
    image = Image.new("P", (1, 1))
    image.putpalette(np.stack([codes >> 16, codes >> 8 & 255, codes & 255], axis=1).astype(np.uint8).tobytes())
    return image


def _save_mp4(path: Path, frames: Iterable[np.ndarray], fps: float) -> None:
    from imageio.v2 import get_writer

    writer: Any
    with get_writer(path, fps=fps, macro_block_size=1) as writer:
        for frame in frames:
            writer.append_data(
                frame[: frame.shape[0] // 2 * 2, : frame.shape[1] // 2 * 2]
            )  # the codec wants even sizes
