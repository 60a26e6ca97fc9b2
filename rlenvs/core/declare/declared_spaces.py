"""The parts of a declaration that spaces are made of: blocks and images of observations, actions, published spaces."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rlenvs.core.declare.errors import ParameterError

Bound = float | Callable[[Any], Sequence[float]]


@dataclass(frozen=True)
class Parts:
    """What the number of a `discrete_block` is made of, for `encoding="tuple"`: the space is a Tuple of Discrete ones.

    Attributes:
        sizes: how many values each part may have, from 0 on.
        split: function of a number, or of an array of them, that gives its parts.
    """

    sizes: tuple[int, ...]
    split: Callable[[Any], tuple[Any, ...]]


@dataclass(frozen=True)
class Block:
    """A named part of the observation.

    Kernels write physical values; the core scales [low, high] to [-1, 1] and clips.
    """

    shape: tuple[int | str, ...]
    low: Bound
    high: Bound
    unit: str
    doc: str
    raw: bool
    constant: bool
    whole: bool = False
    logarithmic: bool = False
    discrete: bool = False
    parts: Parts | None = None

    def bounds(self, values: Any, shape: tuple[int, ...]) -> np.ndarray:
        """The range of every number, float64 (2, *shape), for the given parameter and option values.

        Raises:
            ParameterError: a bound that is not finite, or above the other.
        """
        found = np.empty((2, *shape))
        for i, bound in enumerate((self.low, self.high)):
            numbers = np.asarray(bound(values) if callable(bound) else bound, np.float64)
            found[i] = numbers.reshape(numbers.shape + (1,) * (len(shape) - 1)) if numbers.ndim else numbers
        if not np.isfinite(found).all() or (found[0] > found[1]).any():
            raise ParameterError(f"an observation block needs finite low <= high, not {found.tolist()}")
        return found


def block(
    *shape: int | str,
    low: Bound,
    high: Bound,
    unit: str = "",
    doc: str = "",
    raw: bool = False,
    constant: bool = False,
    whole: bool = False,
    logarithmic: bool = False,
) -> Block:
    """Part of an observation.

    Args:
        shape: dimensions, integers or names of sizes; none for a single number. A block that is alone, or whose sisters
            are all empty, keeps its dimensions in the observation; several are joined.
        low, high: range in the stated unit; values outside are clipped. Or functions of the values that give one number
            for each entry of the first axis, such as a range per plane; low == high says that a number never changes.
        raw: pass the values on unscaled (images, counts). The kernel then has to stay inside [low, high].
        constant: declares that elements of this block may never change.
        whole: declares that the values are whole numbers. Users then may ask for integers.
        logarithmic: of numbers that grow by factors, such as sizes of armies; `encoding="unit"` and "uint8" show their
            logarithms then. Numbers that are 0 or 1 stay what they are. Goes with raw.
    """
    if not (callable(low) or callable(high)) and not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise ParameterError(f"an observation block needs finite low < high, not [{low}, {high}]")
    if logarithmic and not raw:
        raise ParameterError("a logarithmic observation block must be raw")
    low, high = (bound if callable(bound) else float(bound) for bound in (low, high))
    return Block(shape, low, high, unit, doc, raw, constant, whole, logarithmic)


MOST_DISCRETE = 2**24  # up to here the float32 arrays of a batch hold every whole number


def discrete_block(
    n: int | Callable[[Any], int], doc: str = "", *, constant: bool = False, parts: Parts | None = None
) -> Block:
    """An observation that is one of n integers, such as the index of a cell: the space is Discrete(n).

    It is the only block of its world, but for such with a named size, which may be 0; where they are not, the
    observation is a vector, this number among its numbers. Kernels write the number, 0 ... n - 1. An `encoding` gives a
    Box in its place.

    Args:
        n: how many there are, at most 2**24; or a function of the values that says so.
        doc: what the number says.
        constant: declares that it may never change.
        parts: what the number is made of, for `encoding="tuple"`.
    """
    if not callable(n) and not 1 <= n <= MOST_DISCRETE:
        raise ParameterError(f"a discrete observation has 1 ... {MOST_DISCRETE} values, not {n}")
    high: Any = (lambda values: n(values) - 1.0) if callable(n) else n - 1.0
    return Block((), 0.0, high, "", doc, raw=True, constant=constant, whole=True, discrete=True, parts=parts)


@dataclass(frozen=True)
class Image:
    """An image in the observation: uint8, (height, width, channels)."""

    shape: tuple[int | str, ...]
    doc: str


def image(*shape: int | str, doc: str = "") -> Image:
    """Part of an observation that is an image: (height, width, channels), integers or names of sizes.

    Where the named sizes are zero there is no image, and the observation is the plain vector. The only image of a
    world without blocks is the observation itself.
    """
    if len(shape) != 3:
        raise ParameterError(f"an image has the shape (height, width, channels), not {shape}")
    return Image(shape, doc)


@dataclass(frozen=True)
class Continuous:
    """An action of numbers, which kernels see in [low, high]; `idle`, in each of them, is to do nothing."""

    labels: tuple[str, ...]
    size: int | str
    doc: str
    idle: float = 0.0
    low: float | tuple[float, ...] = -1.0
    high: float | tuple[float, ...] = 1.0


@dataclass(frozen=True)
class DiscreteChoice:
    """An action that is one of several choices; `idle` is the one that comes nearest to doing nothing."""

    labels: tuple[str, ...]
    size: int | str
    doc: str
    idle: int = 0


@dataclass(frozen=True)
class MultiChoice:
    """An action of several choices at once, one in each of `size` dimensions; `choices` holds one of each dimension, or
    one for all. `binary`: each is 0 or 1."""

    labels: tuple[str, ...]
    choices: tuple[DiscreteChoice, ...]
    size: int | str
    doc: str
    binary: bool = False


Action = Continuous | DiscreteChoice | MultiChoice


def continuous(
    *labels: str,
    size: int | str | None = None,
    doc: str = "",
    low: float | Sequence[float] = -1.0,
    high: float | Sequence[float] = 1.0,
) -> Continuous:
    """Box action, one number per label, or `size` numbers (an integer or the name of a size).

    Kernels see numbers in [low, high]; users give numbers in [-1, 1], which the core maps to them, or numbers in
    [low, high] where the world is `published` with these bounds and they do not ask for `scaled=True`.

    Args:
        labels, size: how many numbers.
        doc: what they are.
        low, high: the range of all of them, or one for each.
    """
    lows, highs = np.atleast_1d(np.asarray(low, np.float64)), np.atleast_1d(np.asarray(high, np.float64))
    if not (np.isfinite(lows).all() and np.isfinite(highs).all() and (lows < highs).all()):
        raise ParameterError(f"an action needs finite low < high, not [{low}, {high}]")
    ends = [float(end) if isinstance(end, (int, float)) else tuple(map(float, end)) for end in (low, high)]
    return Continuous(labels, len(labels) if size is None else size, doc, low=ends[0], high=ends[1])


def discrete(*labels: str, size: int | str | None = None, doc: str = "", idle: int = 0) -> DiscreteChoice:
    """Discrete action, one choice per label, or `size` choices; `idle` is the choice that does nothing, or the
    least."""
    return DiscreteChoice(labels, len(labels) if size is None else size, doc, idle)


def multi_discrete(dimensions: Mapping[str, DiscreteChoice], doc: str = "") -> MultiChoice:
    """MultiDiscrete action: one choice per dimension in every step.

        multi_discrete({"move": discrete("stay", "left", "right"), "tool": discrete(size="tools")})

    Kernels see `a` as int64, a number per dimension, with a leading agent axis where there are agents. The mask has the
    choices of the first dimension, then those of the second, and so on. It says of each dimension by itself what is
    allowed: where choices depend on each other, `step` decides what a forbidden combination does (nothing, in most
    worlds), unless users ask for `flat_actions=True`, whose mask allows a combination where it allows all of its parts.

    Args:
        dimensions: a `discrete(...)` by name.
        doc: what the action is.
    """
    if not dimensions:
        raise ParameterError("a MultiDiscrete action has at least one dimension")
    return MultiChoice(tuple(dimensions), tuple(dimensions.values()), len(dimensions), doc)


def multi_binary(*labels: str, size: int | str | None = None, doc: str = "") -> MultiChoice:
    """MultiBinary action, 0 or 1 for each label, or `size` of them (an integer or the name of a size).

    Kernels see `a` as for `multi_discrete`; the mask has two entries per label, for 0 and for 1. Idle is all 0."""
    return MultiChoice(labels, (discrete("off", "on"),), len(labels) if size is None else size, doc, True)


# --- the spaces of a published environment ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Published:
    """The spaces of the published environment that a world re-implements: what its observations are by default."""

    id: str
    dtype: str
    low: Bound | Sequence[float] | None
    high: Bound | Sequence[float] | None
    reward: Callable[[Any], tuple[Sequence[float], Sequence[float]]] | None
    state: str
    clipped: bool


DTYPES = ("float32", "float64", "int32")  # of published observations
STATES = ("stacked", "joined")


def published(
    id: str,
    dtype: str = "float32",
    *,
    low: Bound | Sequence[float] | None = None,
    high: Bound | Sequence[float] | None = None,
    reward: Callable[[Any], tuple[Sequence[float], Sequence[float]]] | None = None,
    state: str = "stacked",
    clipped: bool = False,
) -> Published:
    """The spaces of the published environment that a world reimplements. They are the default, in the units that the
    kernels write; `scaled=True` gives this package's scaled observations.

    Actions are choices, or numbers with the bounds of `continuous(..., low=, high=)`. Where the scaled form has another
    number of them, `action` is a function of the values, which tells the forms apart by `values.scaled`; kernels see
    `p.scaled`.

    Args:
        id: whose spaces these are, such as "Gymnasium HalfCheetah-v5".
        dtype: of its observation, "float32", "float64" (kernels then write float64) or "int32" (all blocks are whole
            numbers).
        low, high: of its observation space: one number, one per number of the observation, or a function of the values
            that gives them; infinite ones too. None for the ranges of the blocks.
        reward: function of the values that gives low and high of its reward space, where it pays vectors.
        state: the observations of all agents as the central state, "stacked" (agents, numbers) or, as in PettingZoo's
            own environments, "joined" one after the other, each as long as it is.
        clipped: observations are clipped to these bounds: for originals whose observations leave their own space. Type
            "float32" alone.

    Raises:
        ParameterError: another type or state; `clipped` with another type than "float32".
    """
    if dtype not in DTYPES or state not in STATES:
        raise ParameterError(f"published: dtype={dtype!r} is one of {DTYPES}, state={state!r} one of {STATES}")
    if clipped and dtype != "float32":
        raise ParameterError(f"published: clipped=True is for dtype='float32', not {dtype!r}")
    return Published(id, dtype, low, high, reward, state, clipped)
