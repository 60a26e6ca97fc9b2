"""Channels: the numbers of an observation by name, and their physical units.

The observation of a world is made of named blocks, mapped from physical ranges to [-1, 1]; `"velocity"` names a block,
`"velocity[2]"` and `"velocity[0:2]"` some of its numbers. An array without blocks (of another package's environment, or
numbers that a wrapper has added) is named by position, `"[3]"` or `"[0:4]"`, in its own units. In a dictionary the
names of its arrays count too: `"achieved_goal"`, `"observation[0:3]"`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from gymnasium import spaces

from rlenvs.core.declare.errors import ParameterError, nearest
from rlenvs.core.declare.layout import resolved
from rlenvs.core.declare.setup import Setup
from rlenvs.wrappers.stage import Observation, Stage
from rlenvs.wrappers.wrapper import Wrapper

Channels = str | Sequence[str] | None
NAME = re.compile(r"(\w*)(?:\[(-?\d+)\]|\[(-?\d*):(-?\d*)\])?")


@dataclass(frozen=True)
class Part:
    """One array of numbers in an observation.

    Attributes:
        path: the keys that lead to it; none where the observation is an array.
        space: of a slot, of the longest one where agents differ.
        names: the block of each number; empty where it has none.
        gain, offset: (numbers,); the observation is gain * physical value + offset.
    """

    path: tuple[str, ...]
    space: spaces.Box
    names: tuple[str, ...]
    gain: np.ndarray
    offset: np.ndarray

    @property
    def size(self) -> int:
        """How many numbers there are."""
        return len(self.names)

    def only(self, kept: np.ndarray, space: spaces.Box) -> Part:
        """The part with some of its numbers (indices)."""
        names = tuple(self.names[i] for i in kept)
        return replace(self, space=space, names=names, gain=self.gain[kept], offset=self.offset[kept])


@dataclass(frozen=True)
class Chosen:
    """Channels that lie in one part.

    Attributes:
        part: the part.
        index: (channels,) where they lie in it, flattened.
        order: (channels,) where they stand among all that were named.
    """

    part: Part
    index: np.ndarray
    order: np.ndarray


def channels_of(wrapper: Wrapper, setting: str = "channels") -> list[Chosen]:
    """The channels that a wrapper's setting names, below it; None stands for all that is measured, which a desired goal
    is not.

    Raises:
        ParameterError: an unknown channel, one named twice, or an observation without real numbers.
    """
    parts = parts_of(wrapper.below)
    named = getattr(wrapper, setting)
    if not parts:
        whole = wrapper.batch is not None and wrapper.batch.setup.world.published is not None
        hint = "; with scaled=True it has" if whole and not wrapper.batch.setup.in_scaled_form else ""
        raise ParameterError(f"{type(wrapper).__name__}: {wrapper.name} has no real numbers in its observation{hint}")
    if named is None:
        measured = [k for k, part in enumerate(parts) if part.path[-1:] != ("desired_goal",)]
        found = [(k, i) for k in measured for i in range(parts[k].size)]
    elif isinstance(named, str) or (isinstance(named, Sequence) and all(isinstance(name, str) for name in named)):
        found = [at for name in ([named] if isinstance(named, str) else named) for at in _found(wrapper, parts, name)]
    else:
        raise wrapper.setting_error(setting, "must be a name, a list of names, or None for all")
    if not found:
        raise wrapper.setting_error(setting, "names no channel")
    if len(set(found)) < len(found):
        raise wrapper.setting_error(setting, "names a channel twice")
    return [_chosen(part, k, found) for k, part in enumerate(parts) if any(at[0] == k for at in found)]


def _chosen(part: Part, k: int, found: list[tuple[int, int]]) -> Chosen:
    order = np.array([place for place, at in enumerate(found) if at[0] == k])
    return Chosen(part, np.array([found[place][1] for place in order]), order)


def _found(wrapper: Wrapper, parts: list[Part], name: str) -> list[tuple[int, int]]:
    """Part and place of the channels of one name."""
    match = NAME.fullmatch(name.replace(" ", ""))
    known = sorted({block for part in parts for block in part.names if block} | {p.path[-1] for p in parts if p.path})
    candidates = _candidates(parts, match[1]) if match and name else []
    if match is None or not candidates:
        hint = nearest(name.partition("[")[0], known) if known else 'Channels are named by position: "[3]", "[0:4]".'
        raise ParameterError(f"{type(wrapper).__name__}: {wrapper.name} has no channel {name!r}. {hint}")
    return _picked(wrapper, name, match, candidates)


def _candidates(parts: list[Part], name: str) -> list[tuple[int, int]]:
    """The numbers of a block, or else of an array of this name; of the only array where there is no name."""
    blocks = [(k, i) for k, part in enumerate(parts) for i in range(part.size) if name and part.names[i] == name]
    arrays = [k for k, part in enumerate(parts) if (part.path[-1:] == (name,) if name else len(parts) == 1)]
    return blocks or [(k, i) for k in arrays for i in range(parts[k].size)]


def _picked(wrapper: Wrapper, name: str, match: re.Match[str], numbers: list[tuple[int, int]]) -> list[tuple[int, int]]:
    one, first, last = match[2], match[3], match[4]
    if one is not None:
        if not -len(numbers) <= int(one) < len(numbers):
            raise ParameterError(
                f"{type(wrapper).__name__}: {name!r} is out of range; there are {len(numbers)} numbers"
            )
        return [numbers[int(one)]]
    if first is None:
        return numbers
    picked = numbers[int(first) if first else None : int(last) if last else None]
    if not picked:
        raise ParameterError(f"{type(wrapper).__name__}: {name!r} selects none of {len(numbers)} numbers")
    return picked


# --- the parts of a stage ---------------------------------------------------------------------------------------------


def parts_of(stage: Stage) -> list[Part]:
    """The arrays of real numbers in a stage's observation; with blocks as far as they are known.

    A wrapper that takes numbers away says what is left in its attribute `parts`. Numbers that a wrapper has added
    behind those below have no block; where it changed the bounds, the units are lost.
    """
    parts = getattr(stage, "parts", None)
    if parts is not None:
        return parts
    below = getattr(stage, "below", None)
    boxes = _boxes(stage)
    if below is not None:
        known = {part.path: part for part in parts_of(below)}
        return [_fitted(known.get(path), path, box) for path, box in boxes]
    setup = stage.batch.setup if stage.batch else None
    if setup is None or (setup.encode is not None and not setup.encode.keeps_units):
        return [_plain(path, box) for path, box in boxes]
    return [_blocks(setup, path, box) for path, box in boxes]


def _boxes(stage: Stage) -> list[tuple[tuple[str, ...], spaces.Box]]:
    """Keys and spaces of the arrays of real numbers.

    Raises:
        ParameterError: the agents' observations are of different kinds.
    """
    longest = max(stage.observation_spaces, key=spaces.utils.flatdim)
    boxes = [(path, box) for path, box in leaves(longest) if box.dtype is not None and box.dtype.kind == "f"]
    for space in stage.observation_spaces:
        own = dict(leaves(space))
        if not all(path in own and _begins(box, own[path]) for path, box in boxes):
            return [(path, box) for path, box in leaves(stage.observation_space) if box.dtype.kind == "f"]
    return boxes


def _begins(longer: spaces.Box, shorter: spaces.Box) -> bool:
    """Whether a vector's space begins with another one."""
    if longer.shape == shorter.shape:
        return longer == shorter
    n = shorter.shape[0]
    same = len(longer.shape) == len(shorter.shape) == 1 and n < longer.shape[0]
    return same and bool((longer.low[:n] == shorter.low).all() and (longer.high[:n] == shorter.high).all())


def leaves(space: spaces.Space, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], spaces.Box]]:
    """The arrays of an observation space, and the keys that lead to them."""
    if isinstance(space, spaces.Dict):
        for name, inner in space.items():
            yield from leaves(inner, (*path, name))
    elif isinstance(space, spaces.Box):
        yield path, space


def _plain(path: tuple[str, ...], box: spaces.Box) -> Part:
    size = int(np.prod(box.shape))
    return Part(path, box, ("",) * size, np.ones(size), np.zeros(size))


def _blocks(setup: Setup, path: tuple[str, ...], box: spaces.Box) -> Part:
    """A part of a world's own observation."""
    gain, offset = setup.scaling[:2].astype(np.float64)
    names = [
        name
        for name, part in setup.world.observation.items()
        for _ in range(int(np.prod(resolved(part.shape, setup.sizes), dtype=int)))
    ]
    where, own = setup.vector_parts.get(path[-1] if path else "", slice(None)), slice(int(np.prod(box.shape)))
    return Part(path, box, tuple(names[where][own]), gain[where][own], offset[where][own])


def _fitted(part: Part | None, path: tuple[str, ...], box: spaces.Box) -> Part:
    """A part as a wrapper shows it: with the blocks below, if it has them still."""
    own = _plain(path, box)
    if part is None or not (box == part.space or _begins(box, part.space)):
        return own
    n = part.size
    gain, offset = np.r_[part.gain, own.gain[n:]], np.r_[part.offset, own.offset[n:]]
    return replace(own, names=part.names + own.names[n:], gain=gain, offset=offset)


# --- observations that may be dictionaries ----------------------------------------------------------------------------


def at(observation: Observation, path: tuple[str, ...]) -> np.ndarray:
    """The array to which some keys lead."""
    for name in path:
        observation = observation[name]
    return observation


def replaced(observation: Observation, arrays: Mapping[tuple[str, ...], Any]) -> Observation:
    """The observation with other arrays at some paths."""
    if () in arrays:
        return arrays[()]
    changed = dict(observation)
    for name in {path[0] for path in arrays}:
        inner = {path[1:]: array for path, array in arrays.items() if path[0] == name}
        changed[name] = replaced(changed[name], inner)
    return changed


def replaced_space(space: spaces.Space, boxes: Mapping[tuple[str, ...], spaces.Space]) -> spaces.Space:
    """The space with others at some paths."""
    if () in boxes:
        return boxes[()]
    assert isinstance(space, spaces.Dict)
    changed = dict(space.spaces)
    for name in {path[0] for path in boxes}:
        inner = {path[1:]: box for path, box in boxes.items() if path[0] == name}
        changed[name] = replaced_space(changed[name], inner)
    return spaces.Dict(changed)
