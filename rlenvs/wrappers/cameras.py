"""Imperfect cameras: noise, light, shifts, occlusion and lost frames in the images of an observation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, NamedTuple

import numpy as np
from gymnasium import spaces

from rlenvs.core.compiler.loops import compiled, helper
from rlenvs.core.declare.errors import ParameterError, nearest
from rlenvs.core.declare.maths import log, log1p
from rlenvs.core.declare.renamed import renamed
from rlenvs.wrappers.channels import at, leaves, replaced
from rlenvs.wrappers.randomness import PLACES, Word, bits_from, mix, normal_of, start_of, uniform_of
from rlenvs.wrappers.sensors import Seeing
from rlenvs.wrappers.stage import Observation

ONE = np.uint64(1)
# places of random numbers within a step; the pixels' noise lies below them, two pixels a place
MOST = 1 << 21
DROP, SHIFT, CUT, LIGHT, CONTRAST, SPECKS = (PLACES - np.uint64(k) for k in (1, 2, 4, 6, 8, 10))


class Effects(NamedTuple):
    """What happens to an image."""

    noise: float
    brightness: float
    contrast: float
    blur: int
    shift: int
    cutout: int
    specks: float
    drop: float


@compiled(nogil=True)
def capture(
    slots: np.ndarray, key: np.ndarray, time: np.ndarray, which: int, e: Effects, true: np.ndarray, seen: np.ndarray
) -> None:
    """Images of the slots of a mask, (slots, height, width, colors); which: number of the camera."""
    height, width = true.shape[1], true.shape[2]
    for r in range(slots.size):
        if slots[r]:
            own = mix(key[r] + np.uint64(which))
            start = start_of(own, time[r])
            if time[r] > 0 and uniform_of(bits_from(start, DROP)) < e.drop:
                continue
            down, right = whole(start, SHIFT, 2 * e.shift + 1), whole(start, SHIFT + ONE, 2 * e.shift + 1)
            move(true[r], seen[r], down - e.shift, right - e.shift)
            if e.blur > 0:
                blurred = blur(seen[r], e.blur)
                move(blurred, seen[r], 0, 0)
            if e.brightness > 0.0 or e.contrast > 0.0:
                episode = start_of(own, np.uint64(0))
                lighter = 1.0 + e.brightness * (2.0 * uniform_of(bits_from(episode, LIGHT)) - 1.0)
                sharper = 1.0 + e.contrast * (2.0 * uniform_of(bits_from(episode, CONTRAST)) - 1.0)
                light(seen[r], lighter, sharper)
            if e.noise > 0.0:
                add_grain(start, e.noise, seen[r])
            if e.specks > 0.0:
                add_specks(start, e.specks, seen[r])
            if e.cutout > 0:
                top, left = whole(start, CUT, height - e.cutout + 1), whole(start, CUT + ONE, width - e.cutout + 1)
                seen[r, top : top + e.cutout, left : left + e.cutout] = 0


@helper
def whole(start: Word, place: Word, count: int) -> int:
    """Uniform in 0 ... count - 1."""
    return int(uniform_of(bits_from(start, place)) * count)


@helper
def move(true: np.ndarray, seen: np.ndarray, down: int, right: int) -> None:
    """The image, moved; edges are repeated."""
    height, width = true.shape[0], true.shape[1]
    for i in range(height):
        slot = min(max(i - down, 0), height - 1)
        for j in range(width):
            column = min(max(j - right, 0), width - 1)
            for k in range(true.shape[2]):
                seen[i, j, k] = true[slot, column, k]


@helper
def blur(image: np.ndarray, radius: int) -> np.ndarray:
    """Mean over a square of 2 radius + 1 pixels, edges repeated: along columns, then along slots."""
    size = 2 * radius + 1
    for axis in range(2):
        source, out = image, np.empty_like(image)
        height, width = source.shape[0], source.shape[1]
        for i in range(height):
            for j in range(width):
                for k in range(source.shape[2]):
                    total = radius + 0
                    for d in range(-radius, radius + 1):
                        slot = min(max(i + d, 0), height - 1) if axis == 0 else i
                        column = min(max(j + d, 0), width - 1) if axis == 1 else j
                        total += int(source[slot, column, k])
                    out[i, j, k] = total // size
        image = out
    return image


@helper
def light(image: np.ndarray, brightness: float, contrast: float) -> None:
    """Other brightness, and other contrast about middle gray."""
    table = np.empty(256, np.uint8)
    for value in range(256):
        table[value] = grey((value * brightness - 127.5) * contrast + 127.5)
    for i in range(image.shape[0]):
        for j in range(image.shape[1]):
            for k in range(image.shape[2]):
                image[i, j, k] = table[image[i, j, k]]


@helper
def grey(value: float) -> Any:
    """The nearest of 0 ... 255."""
    return np.uint8(min(max(value + 0.5, 0.0), 255.0))


@helper
def add_grain(start: Word, std: float, image: np.ndarray) -> None:
    """White Gaussian noise on every number of an image."""
    n = 0
    for i in range(image.shape[0]):
        for j in range(image.shape[1]):
            for k in range(image.shape[2]):
                word = bits_from(start, np.uint64(n // 2)) >> np.uint64(32 * (n % 2))
                image[i, j, k] = grey(image[i, j, k] + std * normal_of(word))
                n += 1


@helper
def add_specks(start: Word, share: float, image: np.ndarray) -> None:
    """Salt and pepper: pixels that are black or white. Gaps between them are geometric, so few numbers are drawn."""
    height, width = image.shape[0], image.shape[1]
    scale = 1.0 / log1p(-min(share, 1.0 - 1e-12))
    bits = bits_from(start, SPECKS)
    at = -1.0
    while True:
        bits = mix(bits)
        at += 1.0 + np.floor(log(1.0 - uniform_of(bits)) * scale)
        if at >= height * width:
            break
        image[np.int64(at) // width, np.int64(at) % width] = 255 * (bits & np.uint64(1))


@renamed
@dataclass
class CameraNoise(Seeing):
    """An imperfect camera, for images of type uint8: arrays of a dictionary, or the observation itself.

    An image goes through the effects in this order: random shift, blur, brightness and contrast, noise, specks,
    cutout, lost frames. Effects whose magnitude is 0 are off; with all of them off images are the same bit for bit.
    Images may be (height, width), (height, width, colors) or (colors, height, width); colors are at most 4, or
    else `channels_first` says where they lie.

    Attributes:
        names: the images, by their key in the observation; one or a list; None for all.
        noise: standard deviation of white Gaussian noise, in gray levels (0 ... 255).
        brightness: half the width of a factor about 1, drawn uniformly for every episode.
        contrast: half the width of a factor about 1 on the distance from middle gray, drawn for every episode.
        blur: radius in pixels of the square that is averaged (motion or defocus).
        shift: pixels; images move by up to so many in each direction, drawn for every frame, edges are repeated
            (random shift of DrQ: Kostrikov, Yarats and Fergus, ICLR 2021, who take 4 for images of 84 x 84).
        cutout: side in pixels of a black square, at a random place in every frame (DeVries and Taylor, 2017).
        specks: share of pixels that are black or white (dead pixels, salt and pepper).
        drop: probability that a frame is lost, and the last one is seen again.
        channels_first: images are (colors, height, width); None: where the smaller of the first and last axis is.

    Info: `true_obs`, the observation with the untouched images.

    Raises:
        ParameterError: no such image, or none at all; a negative magnitude, a probability outside [0, 1], a shift or
            a square larger than an image.
    """

    names: str | Sequence[str] | None = None
    _: KW_ONLY
    noise: float = 0.0
    brightness: float = 0.0
    contrast: float = 0.0
    blur: int = 0
    shift: int = 0
    cutout: int = 0
    specks: float = 0.0
    drop: float = 0.0
    channels_first: bool | None = None

    def prepare(self) -> None:
        """Find the images, and check the settings against their sizes."""
        images = dict(self._images())
        self.paths = self._chosen(images)
        self.first_axis = [self._channels_lead(images[path].shape) for path in self.paths]
        for name in ("noise", "brightness", "contrast", "specks", "drop"):
            self.check_number(name, 0.0, np.inf if name == "noise" else 1.0)
            if np.ndim(getattr(self, name)):
                raise self.setting_error(name, "must be one number")
        side = min(side for path, first in zip(self.paths, self.first_axis, strict=True)
                   for side in images[path].shape[int(first) :][:2])  # fmt: skip
        for name, most in (("blur", side - 1), ("shift", side - 1), ("cutout", side)):
            self.check_whole(name, 0, most)
        self.effects = Effects(*(getattr(self, name) for name in Effects._fields))
        self.idle = not any(self.effects)
        for k, path in enumerate(self.paths):
            if np.prod(images[path].shape) > MOST - 64:
                raise self.setting_error("names", f"has an image of more than {MOST - 64} numbers")
            self.allocate(f"seen_{k}", images[path].shape, np.uint8)
        self.notice_truth()

    def _images(self) -> list[tuple[tuple[str, ...], spaces.Box]]:
        found = leaves(self.below.observation_spaces[0])
        return [(path, box) for path, box in found if box.dtype == np.uint8 and len(box.shape) in (2, 3)]

    def _chosen(self, images: dict[tuple[str, ...], spaces.Box]) -> list[tuple[str, ...]]:
        """The keys that lead to the images."""
        if not images:
            raise ParameterError(
                f"{type(self).__name__}: {self.name} has no images (uint8, two or three axes) in its observation"
            )
        if self.names is None:
            return list(images)
        known = {path[-1]: path for path in images if path}
        names = [self.names] if isinstance(self.names, str) else list(self.names)
        for name in names:
            if name not in known:
                raise self.setting_error("names", f"has no image {name!r} in {self.name}. {nearest(str(name), known)}")
        if len(set(names)) < len(names) or not names:
            raise self.setting_error("names", "must name each image once")
        return [known[name] for name in names]

    def _channels_lead(self, shape: tuple[int, ...]) -> bool:
        if len(shape) == 2:
            return False
        return shape[0] < shape[2] if self.channels_first is None else bool(self.channels_first)

    @property
    def observation(self) -> Observation:
        """The images of the cameras."""
        if self.idle:
            return self.below.observation
        return replaced(self.below.observation, {path: getattr(self, f"seen_{k}") for k, path in enumerate(self.paths)})

    def begin_episode(self, slots: np.ndarray) -> None:
        """Take the first images."""
        self.after_step(slots)

    def after_step(self, slots: np.ndarray) -> None:
        """Take images."""
        if self.idle:
            return
        below = self.below.observation
        for k, path in enumerate(self.paths):
            true, seen = at(below, path), getattr(self, f"seen_{k}")
            arrays = (_upright(images, self.first_axis[k]) for images in (true, seen))
            capture(slots, self.key, self.time, k, self.effects, *arrays)


def _upright(images: np.ndarray, channels_lead: bool) -> np.ndarray:
    """The same images as (slots, height, width, colors)."""
    if images.ndim == 3:
        return images[..., None]
    return np.moveaxis(images, 1, 3) if channels_lead else images
