"""How users see observations: their vector and its scaling, images, parts of a dictionary, encodings, spaces."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium import spaces

from rlenvs.core.declare.chosen import Chosen
from rlenvs.core.declare.declared_spaces import Block, Parts, Published
from rlenvs.core.declare.encoding import EXACT, Encoding
from rlenvs.core.declare.errors import ParameterError


@dataclass(frozen=True)
class ObservationForm:
    """The observation of one agent.

    Attributes:
        scaling: gain, offset, low and high of each number of the vector, float32 (4, numbers).
        scaled: whether numbers are scaled or clipped at all.
        shape: of the vector as the batch has it, or of the image that stands alone.
        state_space: of the same.
        images: shapes of the images that are there, by name.
        alone: the name of the image that is the whole observation; empty where there are numbers, or several images.
        parts: where the parts of the observation's dictionary lie in the vector; none for a plain vector.
        goal_size: numbers of a goal.
        encode: what turns the batch's observations into the user's; None where they stay as they are.
    """

    scaling: np.ndarray
    scaled: bool
    shape: tuple[int, ...]
    state_space: spaces.Box[Any]
    images: Mapping[str, tuple[int, ...]]
    alone: str
    parts: Mapping[str, slice]
    goal_size: int
    encode: Encoding | None

    @property
    def in_parts(self) -> bool:
        """Whether observations are dictionaries."""
        return bool(self.parts) or (bool(self.images) and not self.alone)

    @property
    def vector_bounds(self) -> tuple[np.ndarray, np.ndarray, Any]:
        """Bounds and type of the observation without its images, as users have it."""
        if self.encode is None:
            return self.state_space.low, self.state_space.high, self.state_space.dtype
        low, high = (bound.reshape(self.encode.shape) for bound in (self.encode.low, self.encode.high))
        return low, high, self.encode.dtype

    def space(self) -> spaces.Space:
        """The vector's space alone, or a dictionary of its parts and of the images."""
        low, high, dtype = self.vector_bounds
        if self.encode is not None and self.encode.kind == "discrete":
            return spaces.Discrete(int(high) + 1)
        if self.encode is not None and self.encode.parts is not None:
            return spaces.Tuple([spaces.Discrete(size) for size in self.encode.parts.sizes])
        if not self.in_parts:
            return spaces.Box(low, high, dtype=dtype)
        vectors = {name: spaces.Box(low[part], high[part], dtype=dtype) for name, part in self.parts.items()}
        return spaces.Dict({**vectors, **self.image_spaces()})

    def space_of_first(self, numbers: int) -> spaces.Space:
        """Of an agent that sees the vector's first numbers alone, and all images."""
        low, high, dtype = self.vector_bounds
        seen = spaces.Box(low[:numbers], high[:numbers], dtype=dtype)
        return spaces.Dict({"state": seen, **self.image_spaces()}) if self.images else seen

    def image_spaces(self) -> dict[str, spaces.Space]:
        """By name."""
        return {name: spaces.Box(0, 255, shape, np.uint8) for name, shape in self.images.items()}


def observation_form(chosen: Chosen, encoding: str) -> ObservationForm:
    """The form of a world's observations in an encoding, one of ENCODINGS.

    Raises:
        ParameterError: nothing is left of the observation, or the encoding is not for it.
    """
    world = chosen.world
    scaling = scaling_of(chosen, world.observation, chosen.scaled)
    scaled = chosen.scaled and not all(part.raw for part in world.observation.values())
    if world.published is not None and world.published.clipped and not chosen.scaled:
        scaling[2:] = _published_bounds(chosen, world.published, scaling)  # beside gain 1 and offset 0
        scaled = True
    shape = _vector_shape(chosen, scaling.shape[1])
    state_space = _state_space(chosen, scaling, shape)
    shapes = {name: chosen.shape(part.shape) for name, part in world.images.items()}
    images = {name: shape for name, shape in shapes.items() if np.prod(shape)}
    parts, goal_size = _parts_of_vector(chosen, scaling.shape[1], bool(images))
    alone = _image_alone(world.name, scaling.shape[1], images)
    if alone:
        shape = images[alone]
        state_space = spaces.Box(0, 255, shape, np.uint8)
    kind = _kind_of(chosen, encoding, images_alone=bool(alone), goals="achieved_goal" in parts)
    encode = _encoding(chosen, kind, scaling, shape) if kind else None
    return ObservationForm(scaling, scaled, shape, state_space, images, alone, parts, goal_size, encode)


def scaling_of(chosen: Chosen, blocks: Mapping[str, Block], scaled: bool) -> np.ndarray:
    """Gain, offset, low and high of each number of some blocks, float32 (4, numbers)."""
    scalings = []
    for part in blocks.values():
        low, high = chosen.range_of(part)
        one, span = np.ones_like(low), high - low
        if part.raw or not scaled:
            scalings.append(np.stack([one, 0.0 * one, low, high]))
            continue
        span = np.where(span > 0.0, span, 2.0)  # what never changes is -1
        scalings.append(np.stack([2.0 / span, -(2.0 * low + span) / span, -one, one]))
    return np.concatenate([np.empty((4, 0)), *scalings], axis=1).astype(np.float32)


def _published_bounds(chosen: Chosen, published: Published, scaling: np.ndarray) -> list[np.ndarray]:
    """Low and high of the published observation space, float64 (numbers,) each."""
    found = []
    for bound, own in zip((published.low, published.high), scaling[2:], strict=True):
        numbers = own if bound is None else bound(chosen.values) if callable(bound) else bound
        found.append(np.broadcast_to(np.asarray(numbers, np.float64), own.shape))
    return found


def _is_discrete(chosen: Chosen) -> bool:
    """Whether a discrete_block is all there is; in a longer vector it is a number like the others."""
    parts = chosen.world.observation.values()
    numbers = sum(math.prod(chosen.shape(part.shape)) for part in parts)
    return numbers == 1 and any(part.discrete for part in parts)


def _vector_shape(chosen: Chosen, numbers: int) -> tuple[int, ...]:
    """A block's own shape where it is all there is, with the empty ones beside it."""
    blocks = list(chosen.world.observation.values())
    present = [shape for part in blocks if math.prod(shape := chosen.shape(part.shape))]
    if len(blocks) == 1 or _is_discrete(chosen) or (len(present) == 1 and len(present[0]) > 1):
        return present[0] if present else (0,)
    return (numbers,)


def _state_space(chosen: Chosen, scaling: np.ndarray, shape: tuple[int, ...]) -> spaces.Box[Any]:
    """Of the vector as the batch has it."""
    published, bounds = chosen.world.published, list(scaling[2:])
    if published is not None and not chosen.scaled and published.dtype != "int32":
        bounds = _published_bounds(chosen, published, scaling)
    number: Any = np.float64 if chosen.world.seen_as.code == "f8" and not chosen.scaled else np.float32
    low, high = (bound.reshape(shape).astype(number) for bound in bounds)
    return spaces.Box(low, high, dtype=number)


def _parts_of_vector(chosen: Chosen, numbers: int, images: bool) -> tuple[dict[str, slice], int]:
    """Where the parts of the observation's dictionary lie in the vector (none for a plain vector), and the numbers
    of a goal."""
    world = chosen.world
    size = int(np.prod(chosen.shape(world.observation[world.goal[0]].shape))) if world.goal else 0
    if world.goal and chosen.values.form == "goal":
        first = numbers - 2 * size
        starts = {"observation": 0, "achieved_goal": first, "desired_goal": first + size}
        ends = [first, first + size, first + 2 * size]
        return {name: slice(start, end) for (name, start), end in zip(starts.items(), ends, strict=True)}, size
    return ({"state": slice(None)} if images and numbers else {}), size


def _image_alone(name: str, numbers: int, images: Mapping[str, tuple[int, ...]]) -> str:
    """The name of the image that is the whole observation; empty where there are numbers, or several images."""
    if numbers:
        return ""
    if not images:
        raise ParameterError(f"{name}: no numbers and no images are left of the observation")
    return next(iter(images)) if len(images) == 1 else ""


# --- encodings --------------------------------------------------------------------------------------------------------


def _kind_of(chosen: Chosen, encoding: str, images_alone: bool, goals: bool) -> str:
    """What kind of `Encoding` a world's observations need; empty where they stay as they are."""
    parts, name, discrete = chosen.world.observation, chosen.world.name, _is_discrete(chosen)
    if encoding == "float" and not discrete:
        return _published_kind(chosen)
    if not parts or images_alone:
        raise ParameterError(
            f"{name}: encoding={encoding!r} is for numeric observations, and its observation consists of images"
        )
    if goals:
        raise ParameterError(f"{name}: encoding={encoding!r} does not go with form='goal', whose goals are floats")
    if encoding == "integer" and not all(part.whole for part in parts.values()):
        fraction = next(name for name, part in parts.items() if not part.whole)
        raise ParameterError(
            f"{name}: encoding='integer' requires integer observations, and {fraction!r} is not one; use "
            f"encoding='unit' or 'uint8'"
        )
    if encoding == "one_hot" and not discrete:
        raise ParameterError(
            f"{name}: encoding='one_hot' requires an observation that is one of n integers; use encoding='unit'"
        )
    if encoding == "tuple" and not (discrete and _parts_of_number(chosen)):
        raise ParameterError(
            f"{name}: encoding='tuple' requires an observation that combines several integers, as in Blackjack"
        )
    return "discrete" if encoding == "float" else encoding


def _parts_of_number(chosen: Chosen) -> Parts | None:
    """Of the sole whole number that is observed."""
    return next((part.parts for part in chosen.world.observation.values() if part.parts is not None), None)


def _published_kind(chosen: Chosen) -> str:
    """Whole numbers where the published form has these; float32 in the scaled form of a world whose kernels write
    float64."""
    published = chosen.world.published
    if published is None or (published.dtype == "float64") != chosen.scaled or published.dtype == "float32":
        return ""
    return "float32" if chosen.scaled else "published"


def _encoding(chosen: Chosen, kind: str, scaling: np.ndarray, shape: tuple[int, ...]) -> Encoding:
    """Of a kind of `Encoding`, or "published": whole numbers in the published bounds."""
    parts, published = chosen.world.observation.values(), chosen.world.published
    ranges = [chosen.range_of(part) for part in parts]
    physical = np.concatenate([np.empty((2, 0)), *ranges], axis=1)
    whole = kind in ("integer", "published")
    if whole and np.abs(physical).max(initial=0) > EXACT:
        raise ParameterError(f"{chosen.world.name}: whole numbers as observations are exact up to {EXACT} alone")
    logs = np.repeat([part.logarithmic for part in parts], [part.shape[1] for part in ranges])
    made_of = _parts_of_number(chosen) if kind == "tuple" else None
    encode = Encoding("integer" if whole else kind, shape, scaling, physical, logs, made_of)
    if kind == "published":
        assert published is not None
        encode.low, encode.high = (b.astype(np.int32) for b in _published_bounds(chosen, published, scaling))
    return encode
