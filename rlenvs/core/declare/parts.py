"""The parts of a declaration: parameters, options, spaces, reward terms and costs, agents, scores.

World files write them as `param(...)`, `choice(...)`, `block(...)`, ...; `rlenvs.core.declare.spec` puts them together.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from rlenvs.core.declare.errors import ParameterError, clipped, shortened
from rlenvs.core.declare.inputs import numbers, truth

LONGEST = 1000  # letters of what a function says of an option

# --- parameters and options -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Param:
    """A physical number with a unit; may differ from world to world and from episode to episode."""

    default: float
    low: float
    high: float
    unit: str
    doc: str
    limit: bool = False

    def check(self, name: str, value: Any) -> np.ndarray:
        """The value (one, or one per world) as float64; ParameterError when it is outside the range."""
        number = numbers(name, value)
        if not np.all((number >= self.low) & (number <= self.high)):
            raise ParameterError(
                f"{name}={shortened(value)} is outside its range [{self.low:g}, {self.high:g}] {self.unit}".rstrip()
            )
        return number

    def defaulting(self, value: float, name: str = "default") -> Param:
        """The same with another default."""
        return replace(self, default=float(self.check(name, value)))


def param(default: float, low: float, high: float, unit: str = "", doc: str = "", *, limit: bool = False) -> Param:
    """A parameter: default, allowed range (both ends included), SI unit and meaning.

    `limit` says that it bounds something: it shows where the bound is reached, and may not on one team of the default.
    """
    if not low <= default <= high:
        raise ParameterError(f"the default {default} is outside [{low}, {high}]")
    return Param(float(default), float(low), float(high), unit, doc, limit)


@dataclass(frozen=True)
class Constraint:
    """What has to hold between parameters and options, each of which is inside its own range."""

    names: tuple[str, ...]
    holds: Callable[..., Any]
    doc: str

    def check(self, values: Mapping[str, Any]) -> None:
        """ParameterError with the numbers where it does not hold for these values by name, numbers or arrays."""
        numbers = [values[name] for name in self.names]
        held = np.asarray(self.holds(*numbers))
        if not held.all():
            worst = [float(np.broadcast_to(number, held.shape)[~held][0]) for number in numbers]
            given = ", ".join(f"{name}={number:g}" for name, number in zip(self.names, worst, strict=True))
            raise ParameterError(f"{given} do not go together: {self.doc}")


def constraint(*names: str, holds: Callable[..., Any], doc: str) -> Constraint:
    """What has to hold between parameters, or options.

    Args:
        names: the parameters, and options with whole numbers.
        holds: function of their values, numbers or NumPy arrays, that says whether it holds, element by element.
        doc: what has to hold, in words.
    """
    return Constraint(names, holds, doc)


def at_most(least: str, most: str) -> Constraint:
    """The constraint that one parameter or option is not above another, as between which a start is `drawn_from`."""
    return Constraint((least, most), lambda low, high: low <= high, f"{least} must not exceed {most}")


@dataclass(frozen=True)
class Choice:
    """An option with a fixed list of values; kernels see the index.

    `sets` holds, by value, what the parameters and the weights of reward terms are then, unless a member, a
    level or a keyword says otherwise.
    """

    values: tuple[str, ...]
    doc: str
    sets: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    usual: str = ""
    seen: bool = True

    @property
    def default(self) -> str:
        return self.usual or self.values[0]

    def defaulting(self, value: str, name: str = "default") -> Choice:
        """The same with another default."""
        return replace(self, usual=self.check(name, value))

    def check(self, name: str, value: Any) -> str:
        if not isinstance(value, str) or value not in self.values:
            raise ParameterError(f"{name}={shortened(value)} is not one of {', '.join(map(repr, self.values))}")
        return value

    def code(self, value: str) -> int:
        """The number that kernels see."""
        return self.values.index(self.check("value", value))

    def codes(self, *values: str) -> tuple[int, ...]:
        """The numbers that kernels see, to be compared with by names: `RED, BLUE = COLOUR.codes("red", "blue")`."""
        return tuple(map(self.code, values))


@dataclass(frozen=True)
class Integer:
    """An option that is a whole number."""

    default: int
    low: int
    high: int
    doc: str
    seen: bool = True

    def check(self, name: str, value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not self.low <= value <= self.high:
            raise ParameterError(f"{name}={shortened(value)} must be an integer in [{self.low}, {self.high}]")
        return int(value)

    def defaulting(self, value: int, name: str = "default") -> Integer:
        """The same with another default."""
        return replace(self, default=self.check(name, value))

    def code(self, value: int) -> int:
        return value


@dataclass(frozen=True)
class Flag:
    """An option that is on or off."""

    default: bool
    doc: str
    seen: bool = True

    def check(self, name: str, value: Any) -> bool:
        return truth(name, value)

    def defaulting(self, value: bool, name: str = "default") -> Flag:
        """The same with another default."""
        return replace(self, default=self.check(name, value))

    def code(self, value: bool) -> int:
        return int(value)


@dataclass(frozen=True)
class Free:
    """An option of any JSON-able type, such as a map; the world's `data` function turns it into arrays."""

    default: Any
    parse: Callable[[Any], Any]
    doc: str
    seen: bool = False

    def check(self, name: str, value: Any) -> Any:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", np.exceptions.ComplexWarning)  # of numbers that would lose a part
                return self.parse(value)
        except ParameterError as error:
            if len(str(error)) < LONGEST:
                raise
            raise ParameterError(f"{name}={shortened(value)}: {clipped(str(error))}") from None
        except Exception as error:  # whatever a foreign object raises, and functions that did not expect such a value
            raise ParameterError(f"{name}={shortened(value)}: {clipped(str(error))}") from None

    def defaulting(self, value: Any, name: str = "default") -> Free:
        """The same with another default."""
        self.check(name, value)
        return replace(self, default=value)


Option = Choice | Integer | Flag | Free


def choice(*values: str, doc: str = "", sets: Mapping[str, Mapping[str, float]] | None = None) -> Choice:
    """An option with the given values; the first is the default.

    Args:
        values: what may be chosen.
        doc: its meaning.
        sets: values of parameters and weights of reward terms by choice, such as the masses of several vehicles.
    """
    return Choice(values, doc, dict(sets or {}))


def integer(default: int, low: int, high: int, doc: str = "") -> Integer:
    """An option that is an integer in [low, high]."""
    return Integer(default, low, high, doc)


def flag(default: bool, doc: str = "") -> Flag:
    """An option that is True or False."""
    return Flag(default, doc)


def free(default: Any, parse: Callable[[Any], Any], doc: str = "") -> Free:
    """An option of any JSON-able type; `parse` checks it, raising ValueError with the reason."""
    return Free(default, parse, doc)


def for_data(option: Choice | Integer | Flag | Free) -> Any:
    """The same option, of which kernels see nothing: only what plain Python makes of the values depends on it (data,
    sizes, bounds). Worlds that differ in such options alone share compiled code."""
    return replace(option, seen=False)


# --- spaces -----------------------------------------------------------------------------------------------------------


Bound = float | Callable[[Any], Sequence[float]]


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
        raise ParameterError("a logarithmic observation block has to be raw")
    low, high = (bound if callable(bound) else float(bound) for bound in (low, high))
    return Block(shape, low, high, unit, doc, raw, constant, whole, logarithmic)


MOST_DISCRETE = 2**24  # up to here the float32 arrays of a batch hold every whole number


def discrete_block(n: int | Callable[[Any], int], doc: str = "", *, constant: bool = False) -> Block:
    """An observation that is one of n whole numbers, such as the number of a cell: the space is Discrete(n).

    It is the only block of its world, but for such with a named size, which may be 0; where they are not, the
    observation is a vector, this number among its numbers. Kernels write the number, 0 ... n - 1. An `encoding` gives a
    Box in its place.

    Args:
        n: how many there are, at most 2**24; or a function of the values that says so.
        doc: what the number says.
        constant: declares that it may never change.
    """
    if not callable(n) and not 1 <= n <= MOST_DISCRETE:
        raise ParameterError(f"a discrete observation has 1 ... {MOST_DISCRETE} values, not {n}")
    high: Any = (lambda values: n(values) - 1.0) if callable(n) else n - 1.0
    return Block((), 0.0, high, "", doc, raw=True, constant=constant, whole=True, discrete=True)


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
    """Discrete action, one choice per label, or `size` choices; `idle` is the choice that does nothing, or least."""
    return DiscreteChoice(labels, len(labels) if size is None else size, doc, idle)


def multi_discrete(dimensions: Mapping[str, DiscreteChoice], doc: str = "") -> MultiChoice:
    """MultiDiscrete action: a choice in each dimension, all made in every step.

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
    """The spaces of the published environment that a world re-implements. They are the world's by default, in the
    units that its kernels write; `scaled=True` gives the form of this package's own worlds.

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


# --- reward terms and costs -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Term:
    """A named part of the reward, with its weight and the bounds of its value."""

    weight: float
    low: float
    high: float
    doc: str


@dataclass(frozen=True)
class Cost:
    """A named constraint cost per step, in [0, high], with the limit per episode that is customary for it."""

    limit: float
    high: float
    doc: str


def term(low: float, high: float, weight: float = 1.0, doc: str = "") -> Term:
    """A reward term: bounds of its value, and its weight in the scalar reward."""
    return Term(float(weight), float(low), float(high), doc)


def cost(limit: float, high: float = 1.0, doc: str = "") -> Cost:
    """A constraint cost: customary limit per episode, largest value per step."""
    return Cost(float(limit), float(high), doc)


# --- data sets --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Recipe:
    """How a named data set of a world is made: who plays how many episodes, and how much of each is kept."""

    episodes: Mapping[str | Callable[..., Any], int]
    kept: int
    doc: str


def recipe(episodes: Mapping[str | Callable[..., Any], int], *, kept: int = 0, doc: str = "") -> Recipe:
    """A named data set, for the function under `@SPEC.datasets`.

    Args:
        episodes: how many episodes each player plays: "random", "expert", or a function of observations and noise,
            (worlds, numbers) of a standard normal distribution for each number of the action, that gives actions.
        kept: consecutive steps kept of each episode, from a random place; 0 for all.
        doc: what it is.
    """
    if not episodes or any(count < 1 for count in episodes.values()) or kept < 0:
        raise ParameterError(f"recipe: episodes={dict(episodes)} and kept={kept} are to be positive")
    return Recipe(episodes, kept, doc)


# --- agents -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Role:
    """An agent of a world whose agents differ: its name, the length of its observation, its number of choices (or of
    numbers, where actions hold several)."""

    name: str
    observation: int
    action: int


def role(name: str, observation: int, action: int) -> Role:
    """An agent that differs from the others.

    Args:
        name: of the agent in the parallel form.
        observation: how many numbers of the observation block it sees, from the first on.
        action: how many of the choices it has, from the first on; how many of the numbers, where actions hold several.
    """
    return Role(name, observation, action)


# --- fronts -----------------------------------------------------------------------------------------------------------


class PublishedFront(NamedTuple):
    """A Pareto front as others published it.

    Attributes:
        points: (points, terms), or None where only a reference point is known.
        reference: (terms,), the usual reference point of hypervolumes.
        source: who published it, and what there is to say about it.
    """

    points: Any
    reference: Sequence[float]
    source: str


# --- scores ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Score:
    """What a policy reaches over fixed seeds.

    Attributes:
        mean: return; half_width: of its 95 % confidence interval.
        note: what there is to say about the policy.
        success: share of the episodes (of the agents) that succeeded, None where there is no such thing.
        costs: mean cost of an agent's episode by name.
    """

    mean: float
    half_width: float
    note: str = ""
    success: float | None = None
    costs: Mapping[str, float] = field(default_factory=dict)
