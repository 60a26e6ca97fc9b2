"""The parts of a declaration that users choose values of: parameters, options, and what has to hold between them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from rlenvs.core.declare.errors import ParameterError, clipped, shortened
from rlenvs.core.declare.inputs import numbers, truth

LONGEST = 1000  # letters of what a function says of an option


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
    """What has to hold between parameters and options, each of which is inside its own range. With a factor, it is that
    the first is at most so many times the second."""

    names: tuple[str, ...]
    holds: Callable[..., Any]
    doc: str
    factor: float | None = None

    def check(self, values: Mapping[str, Any]) -> None:
        """ParameterError with the numbers where it does not hold for these values by name, numbers or arrays."""
        numbers = [values[name] for name in self.names]
        held = np.asarray(self.holds(*numbers))
        if not held.all():
            worst = [float(np.broadcast_to(number, held.shape)[~held][0]) for number in numbers]
            given = ", ".join(f"{name}={number:g}" for name, number in zip(self.names, worst, strict=True))
            raise ParameterError(f"{given} violate a constraint: {self.doc}")


def constraint(*names: str, holds: Callable[..., Any], doc: str) -> Constraint:
    """A constraint between parameters or options.

    Args:
        names: the parameters, and options with whole numbers.
        holds: function of their values, numbers or NumPy arrays, that says whether it holds, element by element.
        doc: what has to hold, in words.
    """
    return Constraint(names, holds, doc)


def at_most(least: str, most: str, factor: float = 1.0, doc: str = "") -> Constraint:
    """The constraint that one parameter or option does not exceed another, for example the two bounds of `drawn_from`.

    Args:
        least, most: their names.
        factor: how many times the other one it may be.
        doc: what has to hold, in words.
    """
    told = doc or f"{least} must not exceed {most}"
    return Constraint((least, most), lambda low, high: low <= factor * high, told, factor)


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
            needed = "" if isinstance(error, ValueError) or not self.doc else f"; needed: {self.doc}"
            raise ParameterError(f"{name}={shortened(value)}: {clipped(str(error))}{needed}") from None

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


def json_option(default: Any, parse: Callable[[Any], Any], doc: str = "") -> Free:
    """An option of any JSON type; `parse` checks it, raising ValueError with the reason."""
    return Free(default, parse, doc)


def data_option(option: Choice | Integer | Flag | Free) -> Any:
    """The same option, hidden from kernels: only values computed in plain Python depend on it (data, sizes, bounds).
    Worlds that differ only in such options share compiled code."""
    return replace(option, seen=False)
