"""Videos of policies: frames, and GIF, WebP or MP4 files of them."""

from __future__ import annotations

import importlib
import math
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode

from rlenvs.agents.evaluate import Chooser, Policy, begin_episode, check_policy
from rlenvs.core.batch.kernel_batch import KernelBatch
from rlenvs.core.catalogue.make import make_batch
from rlenvs.core.catalogue.registry import world_of
from rlenvs.core.declare.canvas import Canvas, Head
from rlenvs.core.declare.errors import MissingExtraError, ParameterError, UnknownNameError, nearest
from rlenvs.core.declare.inputs import first_seed_of
from rlenvs.core.declare.spec import World
from rlenvs.core.forms.render import Renderer, check_image

__all__ = ["diagram", "save", "video", "watch"]

SUFFIXES = (".gif", ".webp", ".mp4")
IMAGES_PER_SECOND = 15  # of GIF and WebP; more only makes the file larger
PALETTE_IMAGES = 24  # from which a GIF's palette is made


def video(
    id: str,
    policy: Policy,
    seed: int = 0,
    seconds: float = 8.0,
    every: int = 1,
    against: str | None = None,
    **keywords: Any,
) -> Iterator[np.ndarray]:
    """Images of one world, uint8 (height, width, 3). An episode that ends is followed by the next one.

    Args:
        policy: as for `rlenvs.evaluate`.
        seconds: length at the world's own frames per second.
        every: one image every so many steps.
        against: where teams play against each other, the scripted player of all teams but the first.
        keywords: of `rlenvs.make_batch`.

    Raises:
        UnknownNameError: an id, policy or keyword that does not exist, or a world without a scripted expert.
        ParameterError: a world without an image, or a parameter outside its range.
    """
    batch, choose = _begin(id, policy, seed, against, keywords)
    renderer = Renderer("rgb_array", batch)
    for step in range(max(1, round(seconds * batch.setup.fps))):
        if step % every == 0:
            yield renderer.image(0)
        batch.step(choose())


def diagrams_of(world: World) -> list[str]:
    """The names of the diagrams that a world has of an episode."""
    return [role.removeprefix("diagram ") for role in world.functions if role.startswith("diagram ")]


def diagram(id: str, name: str, policy: Policy, seed: int = 0, steps: int | None = None, **keywords: Any) -> np.ndarray:
    """A diagram of an episode, uint8 (height, width, 3).

    Args:
        name: one of `diagrams_of(world)`.
        steps: how many at most; None for the whole episode.
        id, policy, seed, keywords: as for `video`.

    Raises:
        UnknownNameError: an id, diagram, policy or keyword that does not exist, or a world without a scripted expert.
        ParameterError: a parameter outside its range.
    """
    known = diagrams_of(world_of(id))
    if name not in known:
        raise UnknownNameError(f"{world_of(id).name} has no diagram {name!r}. {nearest(name, known)}")
    batch, choose = _begin(id, policy, seed, None, keywords)
    drawing = batch.world.functions[f"diagram {name}"]()
    for _ in range(batch.setup.horizon if steps is None else min(steps, batch.setup.horizon)):
        batch.step(choose())
        drawing.note(*batch.records(0))
        if batch.states["over"][0]:
            break
    canvas = Canvas()
    drawing.draw(canvas)
    canvas.head(Head(batch.world.name))
    return canvas.pixels()


def save_image(path: Path, image: np.ndarray) -> None:
    """Write an image, uint8 (height, width, 3), to a PNG file, creating the folder if needed."""
    from PIL import Image

    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(image).save(path)


def watch(
    id: str,
    policy: Policy,
    seed: int = 0,
    seconds: float | None = None,
    against: str | None = None,
    **keywords: Any,
) -> int:
    """Show a policy in a window in real time, until Esc is pressed, the window is closed, or the time is up.

    Args:
        seconds: how long; None for no end.
        id, policy, seed, against, keywords: as for `video`.

    Returns:
        how many steps were shown.

    Raises:
        as `video` does.
    """
    import pygame

    batch, choose = _begin(id, policy, seed, against, keywords)
    renderer = Renderer("human", batch)
    last = None if seconds is None else max(1, round(seconds * batch.setup.fps))
    shown = 0
    try:
        while shown != last:
            renderer.image(0)
            shown += 1
            if any(_leaves(event, pygame) for event in pygame.event.get()):
                break
            batch.step(choose())
    finally:
        renderer.close()
        batch.close()
    return shown


def _leaves(event: Any, pygame: Any) -> bool:
    return event.type == pygame.QUIT or (event.type == pygame.KEYDOWN and event.key == pygame.K_ESCAPE)


def _begin(
    id: str, policy: Policy, seed: int, against: str | None, keywords: dict[str, Any]
) -> tuple[KernelBatch, Chooser]:
    """One world at the start of an episode, and who plays in it."""
    world = world_of(id)
    check_policy(world, policy)
    check_image(world)
    seed = first_seed_of(seed)
    batch = make_batch(id, 1, autoreset=AutoresetMode.NEXT_STEP, **keywords)
    return batch, begin_episode(batch, policy, seed, against)


def pace(path: Path, fps: float) -> tuple[int, float]:
    """How many steps there are from image to image in such a file, and its images per second."""
    every = max(1, round(fps / IMAGES_PER_SECOND)) if path.suffix.lower() != ".mp4" else 1
    return every, fps / every


def check_file(path: Path) -> None:
    """ParameterError for a suffix that is no video's; MissingExtraError for MP4 without imageio."""
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise ParameterError(f"{path.name!r} must end in {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}")
    if suffix == ".mp4":
        try:
            importlib.import_module("imageio_ffmpeg")
        except ImportError:
            raise MissingExtraError("Writing MP4", "video") from None


def save(path: Path, frames: Iterable[np.ndarray], fps: float) -> None:
    """Write images, uint8 (height, width, 3), to a GIF, WebP or MP4 file, creating the folder if needed.

    WebP keeps every pixel; GIF and MP4 keep small saturated things recognizable: of the pixels with a chroma above 40,
    at least 90 % differ by less than 15 (CIE76) from the image. `benchmarks/videos.py` measures it.
    """
    check_file(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    {".gif": save_gif, ".webp": _save_webp, ".mp4": _save_mp4}[path.suffix.lower()](path, frames, fps)


def save_gif(path: Path, frames: Iterable[np.ndarray], fps: float) -> None:
    """Write a GIF that repeats forever. All images share one palette."""
    from PIL import Image

    images = list(frames)
    palette = _palette(np.concatenate(images[:: math.ceil(len(images) / PALETTE_IMAGES)]))
    none = Image.Dither.NONE
    first, *rest = [Image.fromarray(image).quantize(palette=palette, dither=none) for image in images]
    # GIF counts in hundredths of a second, which are shared out so that the video keeps time
    ends = np.round(np.arange(len(images) + 1) * 100.0 / fps)
    durations = (10.0 * np.diff(ends)).astype(int).tolist()
    first.save(path, save_all=True, append_images=rest, duration=durations, loop=0)


def _palette(image: np.ndarray) -> Any:
    """256 colors by their place in the cube of colors, not by their number alone: the most frequent ones, or those of
    a median cut, would all be shades of the background, and a small goal or drone would turn gray."""
    from PIL import Image

    return Image.fromarray(image).quantize(256, method=Image.Quantize.FASTOCTREE)


def _save_webp(path: Path, frames: Iterable[np.ndarray], fps: float) -> None:
    """Without loss: with it WebP halves the resolution of colors, and flat drawings would take more space."""
    from PIL import Image

    first, *rest = map(Image.fromarray, frames)
    duration = round(1000 / fps)
    first.save(path, save_all=True, append_images=rest, duration=duration, loop=0, lossless=True, quality=30, method=1)


def _save_mp4(path: Path, frames: Iterable[np.ndarray], fps: float) -> None:
    """At twice the size: players want colors at half the resolution of the brightness, which small things need."""
    from imageio.v2 import get_writer

    writer: Any
    with get_writer(path, fps=fps, macro_block_size=1, ffmpeg_log_level="error") as writer:
        for frame in frames:
            writer.append_data(frame.repeat(2, axis=0).repeat(2, axis=1))
