"""How users give actions, and how kernels see them: numbers with their bounds, choices, one choice for several."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium import spaces

from rlenvs.core.declare.chosen import Chosen
from rlenvs.core.declare.declared_spaces import Action, Continuous, DiscreteChoice, MultiChoice
from rlenvs.core.declare.errors import ParameterError
from rlenvs.core.declare.masked_spaces import MultiBinary, MultiDiscrete

MOST_FLAT = 100_000  # choices of a flat action


@dataclass(frozen=True)
class ActionForm:
    """The action of one agent.

    Attributes:
        action: as users give it.
        size: choices of a Discrete one, else numbers.
        declared: what the world declares, in whatever form it is given.
        choices: of each of its numbers; none where they are continuous.
        dimensions: of a flat action, the choices of each number that it stands for.
        numbers: how many it has.
        scaling: what leads from the numbers that users give to those that kernels see: gain, offset, and the bounds of
            what users give, float64 (4, numbers).
        converted: whether these differ.
        doing_nothing: the numbers of an agent that does nothing, (numbers,).
    """

    action: Action
    size: int
    declared: tuple[Any, ...]
    choices: tuple[int, ...]
    dimensions: tuple[int, ...]
    numbers: int
    scaling: np.ndarray
    converted: bool
    doing_nothing: np.ndarray

    @property
    def continuous(self) -> bool:
        """Whether actions are numbers; otherwise they are choices."""
        return isinstance(self.action, Continuous)

    @property
    def single_choice(self) -> bool:
        """Whether an action is one choice, and one whole number for users; otherwise it is an array of numbers."""
        return isinstance(self.action, DiscreteChoice)

    @property
    def binary(self) -> bool:
        """Whether an action is several choices of 0 or 1."""
        return isinstance(self.action, MultiChoice) and self.action.binary

    @property
    def kind(self) -> str:
        """What the driver is compiled for: "continuous", "discrete", "multi" (several choices) or "flat" (one that
        stands for several)."""
        if self.dimensions:
            return "flat"
        return "continuous" if self.continuous else "discrete" if self.single_choice else "multi"

    def space(self, size: int) -> spaces.Space:
        """Of so many choices, or numbers."""
        if self.continuous:
            low, high = self.scaling[2:, :size].astype(np.float32)
            return spaces.Box(low, high, dtype=np.float32)
        if self.single_choice:
            return spaces.Discrete(size)
        return MultiBinary(size) if self.binary else MultiDiscrete(list(self.choices[:size]))

    def spread(self, numbers: np.ndarray) -> np.ndarray:
        """Numbers in [-1, 1], (..., numbers of an action), spread over the bounds of actions."""
        low, high = self.scaling[2:]
        plain = (low == -1.0) & (high == 1.0)
        return np.where(plain, numbers, low + 0.5 * (numbers + 1.0) * (high - low))

    def taken(self, action: Any) -> Any:
        """An action of the world's own functions (keys, words) as its forms take it: flat or scaled where these are."""
        if action is not None and self.converted:
            gain, offset = self.scaling[:2, : np.size(action)]
            return (np.asarray(action, np.float64) - offset) / gain
        if action is None or not self.dimensions:
            return action
        return int(np.ravel_multi_index(tuple(np.asarray(action, np.int64)), self.dimensions))

    def number_name(self, j: int) -> str:
        """What errors call a number of an action of several."""
        labels = self.action.labels
        return f"dimension {j} ({labels[j]})" if j < len(labels) else f"dimension {j}"

    def labels_of(self, j: int) -> tuple[str, ...]:
        """The names of the choices of a number of an action; none where they have no names."""
        if isinstance(self.action, MultiChoice):
            return self.action.choices[j if len(self.action.choices) > 1 else 0].labels
        return self.action.labels

    def choice_name(self, place: int) -> str:
        """What messages call the choice of an entry of a mask."""
        for j, count in enumerate(self.choices):
            if place < count or j == self.numbers - 1:
                break
            place -= count
        labels = self.labels_of(j)
        name = f"choice {place} ({labels[place]})" if labels else f"choice {place}"
        return f"{name} of {self.number_name(j)}" if self.numbers > 1 else name

    def parts_of_mask(self, masks: np.ndarray) -> list[np.ndarray]:
        """Masks (..., choices), or what belongs to their entries, by number of the action."""
        return np.split(masks, np.cumsum(self.choices)[:-1], axis=-1)


def action_form(chosen: Chosen, flat: bool) -> ActionForm:
    """The form of a world's actions, with `flat` one choice among all combinations of several.

    Raises:
        ParameterError: a flat form of numbers, or of too many combinations; bounds that do not fit.
    """
    action = chosen.world.action_of(chosen.values)
    size = chosen.size(action.size)
    declared: tuple[Any, ...] = (type(action).__name__, size)
    if isinstance(action, Continuous):
        if flat:
            raise ParameterError(
                f"{chosen.world.name}: flat_actions is for discrete actions, and its actions are continuous"
            )
        return _of_numbers(chosen, action, size)
    choices: tuple[int, ...] = (size,)
    idle: tuple[int, ...] = (action.idle,) if isinstance(action, DiscreteChoice) else ()
    dimensions: tuple[int, ...] = ()
    if isinstance(action, MultiChoice):
        times = 1 if len(action.choices) == size else size
        choices = tuple(chosen.size(part.size) for part in action.choices) * times
        idle = tuple(part.idle for part in action.choices) * times
        declared = (*declared, choices)
        if flat:
            dimensions, action = choices, _flattened(chosen.world.name, action, choices, idle)
            size, choices, idle = action.size, (action.size,), (action.idle,)
    count = len(choices)
    plain = np.ones((4, count))
    return ActionForm(action, size, declared, choices, dimensions, count, plain, False, np.array(idle, np.int64))


def _flattened(name: str, action: MultiChoice, choices: tuple[int, ...], idle: tuple[int, ...]) -> Any:
    """One choice among all combinations."""
    count = math.prod(choices)
    if count > MOST_FLAT:
        raise ParameterError(
            f"{name}: flat_actions=True would have {count:,} choices, one for each combination of "
            f"{' x '.join(map(str, choices))}; at most {MOST_FLAT:,} are possible"
        )
    return DiscreteChoice((), count, action.doc, int(np.ravel_multi_index(idle, choices)))


def _of_numbers(chosen: Chosen, action: Continuous, size: int) -> ActionForm:
    """The form of a continuous action."""
    low, high = (_ends_of(chosen.world.name, end, size) for end in (action.low, action.high))
    plain = (low == -1.0) & (high == 1.0)
    if chosen.scaled:
        gain, offset = np.where(plain, 1.0, 0.5 * (high - low)), np.where(plain, 0.0, 0.5 * (high + low))
        low, high = -np.ones(size), np.ones(size)
    else:
        gain, offset = np.ones(size), np.zeros(size)
    converted = chosen.scaled and not bool(plain.all())
    scaling = np.stack([gain, offset, low, high])
    idle = np.clip((action.idle - offset) / gain, low, high)
    return ActionForm(action, size, (type(action).__name__, size), (), (), size, scaling, converted, idle)


def _ends_of(name: str, end: float | tuple[float, ...], numbers: int) -> np.ndarray:
    """A bound of each number of an action."""
    if isinstance(end, tuple) and len(end) != numbers:
        raise ParameterError(f"{name}: {len(end)} bounds for {numbers} numbers of an action")
    return np.broadcast_to(np.asarray(end, np.float64), (numbers,))


def counts_of(space: spaces.Space) -> list[int]:
    """How many choices each dimension of a Discrete, MultiDiscrete or MultiBinary space has."""
    if isinstance(space, spaces.MultiDiscrete):
        return space.nvec.reshape(-1).tolist()
    assert isinstance(space, (spaces.Discrete, spaces.MultiBinary))
    return [int(space.n)] if isinstance(space, spaces.Discrete) else [2] * math.prod(space.shape)


def first_action(space: spaces.Space) -> Any:
    """An action, or a number for all of it, of a space whose meaning is not known: its first choice, or 0."""
    if isinstance(space, spaces.MultiDiscrete):
        return space.start
    return int(space.start) if isinstance(space, spaces.Discrete) else 0
