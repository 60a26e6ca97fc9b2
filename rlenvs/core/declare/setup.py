"""From the keywords of `make` to everything that a batch needs: values, sizes, spaces, weights."""

from __future__ import annotations

import copy
import dataclasses
import functools
import hashlib
import itertools
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces

from rlenvs.core.declare.encoding import ENCODINGS, EXACT, Encoding
from rlenvs.core.declare.errors import ParameterError, UnknownNameError, nearest, shortened
from rlenvs.core.declare.inputs import mapping, numbers, one_of, truth
from rlenvs.core.declare.kernels import attributes_written
from rlenvs.core.declare.limits import check_limit, one_limit
from rlenvs.core.declare.masked_spaces import MultiBinary, MultiDiscrete
from rlenvs.core.declare.parts import (
    Action,
    Block,
    Choice,
    Continuous,
    DiscreteChoice,
    Free,
    MultiChoice,
    Published,
    Role,
)
from rlenvs.core.declare.ranges import Numbers, ranges_of
from rlenvs.core.declare.spec import World
from rlenvs.core.declare.values import load_engine, presets_of, range_example, values_of

MOST_FLAT = 100_000  # choices of a flat action


class Setup:
    """A world with all its choices made.

    Args:
        world: the declaration; `setup.world` is that of the level where there is one.
        level: name of one of the world's levels, which replaces the defaults.
        horizon: steps until truncation; None for the world's own. Gymnasium's name max_episode_steps and PettingZoo's
            max_cycles mean the same.
        weights: weight by reward term, for terms whose weight is to differ from the default.
        randomize: (low, high) by parameter; drawn uniformly at every reset.
        encoding: what kind of numbers observations are: "float", as the world declares them; "unit", float32 in
            [0, 1]; "uint8", the same in 0 ... 255; "integer", int32, where a world declares whole numbers.
        flat_actions: whether several choices made at once are one choice among all their combinations: a Discrete
            action in place of a MultiDiscrete or MultiBinary one. The last dimension runs fastest, and the mask allows
            a combination where it allows each of its parts.
        values: parameters and options by name. A parameter may be an array with one number per world.

    Raises:
        UnknownKeywordError, UnknownNameError: a keyword, level or term that does not exist.
        ParameterError: a value outside its range.
    """

    def __init__(
        self,
        world: World,
        *,
        level: str | None = None,
        horizon: int | None = None,
        max_episode_steps: int | None = None,
        max_cycles: int | None = None,
        weights: Mapping[str, float] | None = None,
        randomize: Mapping[str, tuple[float, float]] | None = None,
        encoding: str = "float",
        flat_actions: bool = False,
        **values: Any,
    ) -> None:
        self.world = world = world.level(level)
        self.encoding = one_of("encoding", encoding, ENCODINGS)
        self.flat_actions = truth("flat_actions", flat_actions)
        self.level = level
        self.values, self.contexts = values_of(world, values)
        horizon = one_limit(horizon=horizon, max_episode_steps=max_episode_steps, max_cycles=max_cycles)
        self.horizon = check_limit("horizon", world.horizon_of(self.values)) if horizon is None else horizon
        self.fps = world.fps_of(self.values)
        self.weights = self._resolve_weights(mapping("weights", weights, {next(iter(world.terms)): 2.0}))
        self.random_ranges = self._resolve_ranges(mapping("randomize", randomize, range_example(world)))
        self.check_together({**vars(self.values), **self.contexts})
        self.check_ranges(self.random_ranges)
        if world.goal and self.values.form == "goal":
            self.check_goal_reward("form='goal'", "form='flat'")
        self._resolve_sizes()

    def check_together(self, values: Mapping[str, Any]) -> None:
        """ParameterError where values of all parameters by name, numbers or one per world, contradict each other."""
        for rule in self.world.constraints:
            rule.check(values)

    def check_ranges(self, ranges: Mapping[str, tuple[float, float]]) -> None:
        """ParameterError where (low, high) by name allow values that contradict each other, or the other parameters."""
        values = {**vars(self.values), **self.contexts}
        for rule in self.world.constraints:
            for ends in itertools.product(*(ranges.get(name, (values[name],)) for name in rule.names)):
                rule.check(dict(zip(rule.names, ends, strict=True)))

    def check_goal_reward(self, wanted: str, otherwise: str) -> None:
        """ParameterError where the reward does not follow from goals alone.

        Args:
            wanted: what asks for it, for the message.
            otherwise: what to do without, for the message.
        """
        if self.beside_goals:
            weighty = ", ".join(f"{name!r}" for name in self.beside_goals)
            raise ParameterError(
                f"{self.world.name}: {wanted} needs a reward that follows from the goals alone, and the terms "
                f"{weighty}, which have a weight, do not; {self._goal_rewards()}, or {otherwise}"
            )

    @functools.cached_property
    def beside_goals(self) -> list[str]:
        """The terms with a weight that `goal_outcome` does not fill, in a world with goals."""
        weights = zip(self.world.terms, self.weights, strict=True)
        return [name for name, weight in weights if weight and name not in self._graded]

    @functools.cached_property
    def _graded(self) -> frozenset[str]:
        """What `goal_outcome` fills."""
        return attributes_written(self.world.kernels["goal_outcome"])

    def _goal_rewards(self) -> str:
        """The choices under which the reward follows from goals, for messages."""
        chosen, found = vars(self.values), []
        for name, option in self.world.options.items():
            if not (isinstance(option, Choice) and option.sets):
                continue
            for value in option.values:
                presets = presets_of(self.world, {**chosen, name: value})
                weights = {term: presets.get(term, known.weight) for term, known in self.world.terms.items()}
                if value != chosen[name] and all(term in self._graded for term, weight in weights.items() if weight):
                    found.append(f"{name}={value!r}")
        return f"take {' or '.join(found)}" if found else "give them the weight 0 by weights={...}"

    def _preset_weights(self) -> dict[str, float]:
        """The weights that go with the choices made."""
        presets = presets_of(self.world, vars(self.values))
        return {name: value for name, value in presets.items() if name in self.world.terms}

    def _resolve_weights(self, weights: Mapping[str, float]) -> np.ndarray:
        terms = self.world.terms
        for name in weights:
            if name not in terms:
                raise UnknownNameError(f"{self.world.name} has no reward term {name!r}. {nearest(name, terms)}")
            number = numbers(f"weights[{name!r}]", weights[name])
            if number.ndim or not np.isfinite(number):
                raise ParameterError(f"weights[{name!r}]={shortened(weights[name])} must be one finite number")
        chosen = {**self._preset_weights(), **weights}
        found = np.array([chosen.get(name, term.weight) for name, term in terms.items()], np.float64)
        if weights and not found.any():
            raise ParameterError(f"weights={shortened(weights)} leave all terms of {self.world.name} without a weight")
        return found

    def _resolve_ranges(self, ranges: Mapping[str, tuple[float, float]]) -> dict[str, tuple[float, float]]:
        resolved = {}
        for name, bounds in ranges.items():
            declared = self.world.params.get(name)
            if declared is None:
                raise UnknownNameError(
                    f"randomize: {self.world.name} has no parameter {name!r}. {nearest(name, self.world.params)}"
                )
            pair = declared.check(f"randomize[{name!r}]", bounds)
            if pair.shape != (2,) or pair[0] > pair[1]:
                raise ParameterError(f"randomize[{name!r}]={shortened(bounds)} must be (low, high) with low <= high")
            resolved[name] = (float(pair[0]), float(pair[1]))
        return resolved

    def _resolve_sizes(self) -> None:
        world = self.world
        self.data = self._resolve_data()
        self.sizes: dict[str, int] = {"agents": 1, **world.sizes(self.values), **self._engine_sizes()}
        self.agents = self.sizes["agents"]
        self._resolve_action()
        self.dtypes = {name: layout.dtype(self.sizes) for name, layout in world.layouts.items()}
        self.scaling = self._scaling_of(world.observation, self.in_scaled_form)
        self.central_scaling = self._scaling_of(world.central, True)
        self.scaled = self.in_scaled_form and not all(part.raw for part in world.observation.values())
        if world.published is not None and world.published.clipped and not self.in_scaled_form:
            self.scaling[2:] = self._published_bounds(world.published)  # beside gain 1 and offset 0
            self.scaled = True
        self._make_spaces()
        self.teams = self._resolve_teams()
        self.roles = self._resolve_roles()
        low, high = self._central_bounds()
        self.central_space = spaces.Box(low, high, dtype=low.dtype)
        self.own_choices = self._own_choices()
        # how long the mask of each agent is
        self.mask_lengths = [role.action if self.single_choice else sum(self.choices) or 1 for role in self.roles]
        self.idle = self._resolve_idle()

    @functools.cached_property
    def fingerprint(self) -> str:
        """What two setups have in common whose snapshots fit each other."""
        shape = [str(dtype) for dtype in self.dtypes.values()], self.sizes, *self._declared_action
        text = repr((self.world.name, *shape))
        return f"{self.world.name}/{hashlib.sha256(text.encode()).hexdigest()[:12]}"

    @functools.cached_property
    def state_ranges(self) -> list[Numbers]:
        """The ranges of the state's fields, to which states from outside are held."""
        return ranges_of(self.world.layouts["state"], self.sizes)

    def _resolve_action(self) -> None:
        """The action, its size (choices of a Discrete one, else numbers), and the choices of each of its numbers: none
        where they are continuous."""
        self.action: Action = self.world.action_of(self.values)
        self.action_size = self._size(self.action.size)
        self._declared_action: tuple[Any, ...] = (type(self.action).__name__, self.action_size)
        self.choices: tuple[int, ...] = () if self.continuous else (self.action_size,)
        self.dimensions: tuple[int, ...] = ()  # of a flat action: the choices of each number that it stands for
        if isinstance(self.action, MultiChoice):
            own = [self._size(part.size) for part in self.action.choices]
            self.choices = tuple(own if len(own) == self.action_size else own * self.action_size)
            self._declared_action = (*self._declared_action, self.choices)
        if self.flat_actions:
            self._flatten_action()
        self.numbers = self.action_size if self.continuous else len(self.choices)
        self._scale_action()

    def _scale_action(self) -> None:
        """What leads from the numbers that users give to those that kernels see: gain, offset, and the bounds of what
        users give, float64 (4, numbers)."""
        self.action_scaling, self.converted = np.ones((4, self.numbers)), False
        if not isinstance(self.action, Continuous):
            return
        low, high = self._ends_of(self.action.low), self._ends_of(self.action.high)
        plain = (low == -1.0) & (high == 1.0)
        if self.world.barriers and not plain.all():
            raise ParameterError(
                f"{self.world.name}: with barriers, kernels see actions in [-1, 1]; leave out low, high"
            )
        gain = np.where(plain, 1.0, 0.5 * (high - low))
        offset = np.where(plain, 0.0, 0.5 * (high + low))
        self.converted = self.in_scaled_form and not plain.all()
        if self.in_scaled_form:
            low, high = -np.ones(self.numbers), np.ones(self.numbers)
        else:
            gain, offset = np.ones(self.numbers), np.zeros(self.numbers)
        self.action_scaling = np.stack([gain, offset, low, high])

    def _ends_of(self, end: float | tuple[float, ...]) -> np.ndarray:
        """A bound of each number of an action."""
        if isinstance(end, tuple) and len(end) != self.numbers:
            raise ParameterError(f"{self.world.name}: {len(end)} bounds for {self.numbers} numbers of an action")
        return np.broadcast_to(np.asarray(end, np.float64), (self.numbers,))

    @property
    def in_scaled_form(self) -> bool:
        """Whether spaces are those of this package's own worlds, and not of the published environment that the world
        re-implements."""
        return bool(getattr(self.values, "scaled", True)) or self.world.published is None

    def spread_action(self, numbers: np.ndarray) -> np.ndarray:
        """Numbers in [-1, 1], (..., numbers of an action), spread over the bounds of actions."""
        low, high = self.action_scaling[2:]
        plain = (low == -1.0) & (high == 1.0)
        return np.where(plain, numbers, low + 0.5 * (numbers + 1.0) * (high - low))

    def _flatten_action(self) -> None:
        """One choice among all combinations."""
        if self.continuous:
            raise ParameterError(f"{self.world.name}: flat_actions is for choices, and its actions are numbers")
        if not isinstance(self.action, MultiChoice):
            return
        self.dimensions, count = self.choices, math.prod(self.choices)
        if count > MOST_FLAT:
            raise ParameterError(
                f"{self.world.name}: flat_actions=True would have {count:,} choices, one for each combination of "
                f"{' x '.join(map(str, self.dimensions))}; at most {MOST_FLAT:,} are possible"
            )
        idle = int(np.ravel_multi_index(self._idle_choices(), self.dimensions))
        self.action = DiscreteChoice((), count, self.action.doc, idle)
        self.action_size, self.choices = count, (count,)

    def _idle_choices(self) -> tuple[int, ...]:
        """What each number of an action of choices is when an agent does nothing."""
        if isinstance(self.action, MultiChoice):
            own = [part.idle for part in self.action.choices]
            return tuple(own if len(own) == self.action_size else own * self.action_size)
        assert isinstance(self.action, DiscreteChoice)
        return (self.action.idle,)

    def _engine_sizes(self) -> Mapping[str, int]:
        return load_engine(self.world.engine).sizes(self.world, self.values) if self.world.engine else {}

    def _resolve_data(self) -> dict[str, np.ndarray]:
        function = self.world.functions.get("data")
        data = {name: np.asarray(value) for name, value in (function(self.values) if function else {}).items()}
        if set(data) != set(self.world.data):
            raise ParameterError(
                f"{self.world.name} declares the data {sorted(self.world.data)}, and its function under "
                f"@SPEC.make_data gives {sorted(data)}"
            )
        return data

    def _size(self, size: int | str) -> int:
        return self.sizes[size] if isinstance(size, str) else size

    def _resolve_teams(self) -> tuple[int, ...]:
        """The team of each agent; all on one team where teams do not play against each other."""
        teams = tuple(map(int, self.world.teams(self.values))) if self.world.teams else (0,) * self.agents
        if len(teams) != self.agents or sorted(set(teams)) != list(range(len(set(teams)))):
            raise ParameterError(
                f"{self.world.name}: teams={teams} must give a team 0, 1, ... to each of {self.agents} agents"
            )
        return teams

    def _resolve_roles(self) -> tuple[Role, ...]:
        """Name, length of the observation and size of the action of each agent."""
        whole = self.scaling.shape[1], self.action_size
        if not self.world.roles:
            return tuple(Role(f"agent_{k}", *whole) for k in range(self.agents))
        roles = tuple(self.world.roles(self.values))
        if self.dimensions or not (self.continuous or self.single_choice):
            roles = self._with_all_choices(roles)
        names = {role.name for role in roles}
        largest = max(role.observation for role in roles), max(role.action for role in roles)
        if len(names) != self.agents or len(roles) != self.agents or largest != whole:
            raise ParameterError(
                f"{self.world.name}: roles={roles} must be {self.agents}, of different names, the largest observation "
                f"and action of sizes {whole}"
            )
        return roles

    def _with_all_choices(self, roles: tuple[Role, ...]) -> tuple[Role, ...]:
        """Agents may differ in what they see; of actions of several choices each has all."""
        wanted = len(self.dimensions or self.choices)
        if any(role.action != wanted for role in roles):
            raise ParameterError(f"{self.world.name}: all agents have all {wanted} choices of an action; roles={roles}")
        return tuple(dataclasses.replace(role, action=self.action_size) for role in roles)

    def _own_choices(self) -> np.ndarray:
        """How many choices each agent has for each number of its action, int64 (A, numbers); none where numbers are
        continuous."""
        if self.single_choice:
            return np.array([[role.action] for role in self.roles], np.int64)
        return np.tile(np.array(self.choices, np.int64), (self.agents, 1))

    def _resolve_idle(self) -> np.ndarray:
        """Each agent's action, (A, numbers), when it does nothing; 0 for who lacks that choice."""
        if isinstance(self.action, Continuous):
            gain, offset, low, high = self.action_scaling
            idle = np.clip((self.action.idle - offset) / gain, low, high)
            return np.tile(idle, (self.agents, 1))
        idle = np.array(self._idle_choices(), np.int64)
        return np.where(idle < self.own_choices, idle, 0)

    def idle_in(self, space: spaces.Space, agent: int = 0) -> Any:
        """What an agent does that does nothing, in an action space that a wrapper may have changed: then the space's
        first choice, or 0. One number, or an array."""
        if any(space == self.agent_spaces(who)[1] for who in (agent, None)):
            return self.idle[agent, : self.roles[agent].action] if self.action_kind == "multi" else self.idle[agent, 0]
        return first_action(space)

    def shown_action(self, numbers: np.ndarray, agent: int | None = 0) -> Any:
        """Rows of a batch's `actions` of one agent, (..., numbers), as its action space has them; new arrays. None for
        the agent: as the space that all slots share has them."""
        if self.single_choice:
            return numbers[..., 0].copy() if numbers.ndim > 1 else int(numbers[0])
        count = None if agent is None else self.roles[agent].action
        return numbers[..., :count].astype(self.action_space.dtype)

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

    def taken(self, action: Any) -> Any:
        """An action of the world's own functions (keys, words) as its forms take it: flat or scaled where these are."""
        if action is not None and self.converted:
            gain, offset = self.action_scaling[:2, : np.size(action)]
            return (np.asarray(action, np.float64) - offset) / gain
        if action is None or not self.dimensions:
            return action
        return int(np.ravel_multi_index(tuple(np.asarray(action, np.int64)), self.dimensions))

    def parts_of_mask(self, masks: np.ndarray) -> list[np.ndarray]:
        """Masks (..., choices), or what belongs to their entries, by number of the action."""
        return np.split(masks, np.cumsum(self.choices)[:-1], axis=-1)

    def _scaling_of(self, blocks: Mapping[str, Block], scaled: bool) -> np.ndarray:
        """Gain, offset, low and high of each number of some blocks, float32 (4, numbers)."""
        scalings = []
        for part in blocks.values():
            low, high = self._range_of(part)
            one, span = np.ones_like(low), high - low
            if part.raw or not scaled:
                scalings.append(np.stack([one, 0.0 * one, low, high]))
                continue
            span = np.where(span > 0.0, span, 2.0)  # what never changes is -1
            scalings.append(np.stack([2.0 / span, -(2.0 * low + span) / span, -one, one]))
        return np.concatenate([np.empty((4, 0)), *scalings], axis=1).astype(np.float32)

    def _range_of(self, part: Block) -> np.ndarray:
        """The physical range of each number of a block, float64 (2, numbers)."""
        return part.bounds(self.values, tuple(self._size(d) for d in part.shape)).reshape(2, -1)

    def _is_discrete(self) -> bool:
        """Whether a discrete_block is all there is; in a longer vector it is a number like the others."""
        return self.scaling.shape[1] == 1 and any(part.discrete for part in self.world.observation.values())

    def _resolve_encoding(self) -> Encoding | None:
        """What turns the batch's observations into the user's; None where they stay as they are."""
        parts, name = self.world.observation, self.world.name
        discrete = self._is_discrete()
        if self.encoding == "float" and not discrete:
            return self._published_encoding()
        if not parts or self.alone:
            raise ParameterError(f"{name}: encoding={self.encoding!r} is for numbers, and its observation is images")
        if self.in_goal_form:
            raise ParameterError(
                f"{name}: encoding={self.encoding!r} does not go with form='goal', whose goals are floats"
            )
        if self.encoding == "integer" and not all(part.whole for part in parts.values()):
            fraction = next(name for name, part in parts.items() if not part.whole)
            raise ParameterError(
                f"{name}: encoding='integer' is for observations of whole numbers, and {fraction!r} is none; "
                "encoding='unit' and 'uint8' are for all"
            )
        if self.encoding == "one_hot" and not discrete:
            raise ParameterError(
                f"{name}: encoding='one_hot' is for an observation that is one of n whole numbers; 'unit' is for all"
            )
        return self._encoding_as("discrete" if self.encoding == "float" else self.encoding)

    def _published_encoding(self) -> Encoding | None:
        """Whole numbers where the published form has these; float32 in the scaled form of a world whose kernels write
        float64; None where observations stay as they are."""
        published = self.world.published
        if published is None or (published.dtype == "float64") != self.in_scaled_form or published.dtype == "float32":
            return None
        if self.in_scaled_form:
            return self._encoding_as("float32")
        encode = self._encoding_as("integer")
        encode.low, encode.high = (bound.astype(np.int32) for bound in self._published_bounds(published))
        return encode

    def _encoding_as(self, kind: str) -> Encoding:
        parts = self.world.observation.values()
        ranges = [self._range_of(part) for part in parts]
        physical = np.concatenate([np.empty((2, 0)), *ranges], axis=1)
        if kind == "integer" and np.abs(physical).max(initial=0) > EXACT:
            raise ParameterError(f"{self.world.name}: whole numbers as observations are exact up to {EXACT} alone")
        counts = [part.shape[1] for part in ranges]
        logs = np.repeat([part.logarithmic for part in parts], counts)
        return Encoding(kind, self.observation_shape, self.scaling, physical, logs)

    def _published_bounds(self, published: Published) -> list[np.ndarray]:
        """Low and high of the published observation space, float64 (numbers,) each."""
        found = []
        for bound, own in zip((published.low, published.high), self.scaling[2:], strict=True):
            numbers = own if bound is None else bound(self.values) if callable(bound) else bound
            found.append(np.broadcast_to(np.asarray(numbers, np.float64), own.shape))
        return found

    def _observation_bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Low and high of the batch's observations, of their shape."""
        published = self.world.published
        bounds = list(self.scaling[2:])
        if published is not None and not self.in_scaled_form and published.dtype != "int32":
            bounds = self._published_bounds(published)
        low, high = (bound.reshape(self.observation_shape) for bound in bounds)
        return low, high

    def _make_spaces(self) -> None:
        blocks = list(self.world.observation.values())
        self.observation_shape: tuple[int, ...] = (self.scaling.shape[1],)
        present = [shape for part in blocks if math.prod(shape := tuple(self._size(d) for d in part.shape))]
        if len(blocks) == 1 or self._is_discrete() or (len(present) == 1 and len(present[0]) > 1):
            self.observation_shape = present[0] if present else (0,)
        low, high = self._observation_bounds()
        number: Any = np.float64 if self.world.seen_as.code == "f8" and not self.in_scaled_form else np.float32
        self.state_space: spaces.Box[Any] = spaces.Box(low.astype(number), high.astype(number), dtype=number)
        self.vector_parts, self.goal_size = self._vector_parts()
        self.alone = self._image_alone()
        if self.alone:
            self.observation_shape = self.image_shapes[self.alone]
            self.state_space = spaces.Box(0, 255, self.observation_shape, np.uint8)
        self.encode = self._resolve_encoding()
        self.observation_space = self._observation_space()
        self.action_space = self._action_space(self.action_size)
        terms, published = self.world.terms.values(), self.world.published
        ends = [term.low for term in terms], [term.high for term in terms]
        if published is not None and published.reward is not None and not self.in_scaled_form:
            ends = published.reward(self.values)  # type: ignore[assignment]
        low, high = (np.asarray(end, np.float32) for end in ends)
        self.reward_space = spaces.Box(low, high)

    def _central_bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Of the central state: its own blocks, or the observations of all agents."""
        if self.world.central:
            blocks = list(self.world.central.values())
            shape = tuple(self._size(d) for d in blocks[0].shape) if len(blocks) == 1 else (-1,)
            return self.central_scaling[2].reshape(shape), self.central_scaling[3].reshape(shape)
        low, high = (np.stack([end] * self.agents) for end in (self.state_space.low, self.state_space.high))
        return self._joined(low[None])[0], self._joined(high[None])[0]

    def central_of(self, observations: np.ndarray) -> np.ndarray:
        """The central states (N, ...) of worlds that declare none: the observations (N, A, ...) of all agents. New
        arrays."""
        return self._joined(observations).astype(self.central_space.dtype)

    def _joined(self, rows: np.ndarray) -> np.ndarray:
        """Rows of all agents (N, A, ...), one after the other where the published central state has them so."""
        published = self.world.published
        if published is None or published.state == "stacked" or self.in_scaled_form:
            return rows
        return np.concatenate([rows[:, k, : role.observation] for k, role in enumerate(self.roles)], axis=1)

    def agent_spaces(self, agent: int | None) -> tuple[spaces.Space, spaces.Space]:
        """The observation space (without a mask) and the action space of one agent; new objects. None: those into which
        every agent's fit."""
        if not self.world.roles or agent is None:
            return copy.deepcopy(self.observation_space), copy.deepcopy(self.action_space)
        role, (low, high, dtype) = self.roles[agent], self._vector_bounds()
        if not self.world.observation:
            return copy.deepcopy(self.observation_space), self._action_space(role.action)
        observed: spaces.Space = spaces.Box(low[: role.observation], high[: role.observation], dtype=dtype)
        if self.image_shapes:
            observed = spaces.Dict({"state": observed, **self._image_spaces()})
        return observed, self._action_space(role.action)

    def _action_space(self, size: int) -> spaces.Space:
        """Of so many choices, or numbers."""
        if isinstance(self.action, Continuous):
            low, high = self.action_scaling[2:, :size].astype(np.float32)
            return spaces.Box(low, high, dtype=np.float32)
        if isinstance(self.action, DiscreteChoice):
            return spaces.Discrete(size)
        return MultiBinary(size) if self.action.binary else MultiDiscrete(list(self.choices[:size]))

    def _observation_space(self) -> spaces.Space:
        """The vector's space alone, or a dictionary of its parts and of the images."""
        low, high, dtype = self._vector_bounds()
        if self.encode is not None and self.encode.kind == "discrete":
            return spaces.Discrete(int(high) + 1)
        if not self.in_parts:
            return spaces.Box(low, high, dtype=dtype)
        vectors = {name: spaces.Box(low[part], high[part], dtype=dtype) for name, part in self.vector_parts.items()}
        return spaces.Dict({**vectors, **self._image_spaces()})

    def _vector_bounds(self) -> tuple[np.ndarray, np.ndarray, Any]:
        """Bounds and type of the observation without its images, as users have it."""
        if self.encode is None:
            return self.state_space.low, self.state_space.high, self.state_space.dtype
        low, high = (bound.reshape(self.encode.shape) for bound in (self.encode.low, self.encode.high))
        return low, high, self.encode.dtype

    def pareto_front(self, gamma: float = 1.0) -> np.ndarray:
        """The exact Pareto front, see `World.front`: float64 (points, reward terms).

        Raises:
            NotImplementedError: the world knows none. ParameterError: a discount outside (0, 1].
        """
        if "pareto_front" not in self.world.functions:
            raise NotImplementedError(
                f"{self.world.name} knows no exact Pareto front; estimate one from the returns of policies"
            )
        if isinstance(gamma, bool) or not isinstance(gamma, (int, float, np.number)) or not 0.0 < gamma <= 1.0:
            raise ParameterError(f"gamma={shortened(gamma)} must be a number in (0, 1]")
        front = np.asarray(self.world.functions["pareto_front"](self.values, self.horizon, float(gamma)), np.float64)
        return front.reshape(-1, len(self.world.terms))

    def published_front(self, gamma: float = 1.0) -> Any:
        """What others published as the front with these options, a `PublishedFront`; None where nobody did."""
        known = self.world.functions.get("published_front")
        return known(self.values, float(gamma)) if known else None

    def exact_model(self) -> Any:
        """The exact model of a finite world, see `rlenvs.kits.tables.solve.Model`.

        Raises:
            AttributeError: the world has none. MissingExtraError: what makes it is not installed.
        """
        if "exact_model" not in self.world.functions:
            raise AttributeError(f"{self.world.name} has no exact model; tabular worlds have one")
        model = self.world.functions["exact_model"](self.values)
        return model if model.terms is None else model._replace(R=model.terms @ self.weights)

    def _image_spaces(self) -> dict[str, spaces.Space]:
        return {name: spaces.Box(0, 255, shape, np.uint8) for name, shape in self.image_shapes.items()}

    def _vector_parts(self) -> tuple[dict[str, slice], int]:
        """Where the parts of the observation's dictionary lie in the vector (none for a plain vector), and the numbers
        of a goal."""
        world = self.world
        shapes = {name: tuple(self._size(d) for d in part.shape) for name, part in world.images.items()}
        self.image_shapes = {name: shape for name, shape in shapes.items() if np.prod(shape)}
        size = int(np.prod([self._size(d) for d in world.observation[world.goal[0]].shape])) if world.goal else 0
        if world.goal and self.values.form == "goal":
            first = self.scaling.shape[1] - 2 * size
            starts = {"observation": 0, "achieved_goal": first, "desired_goal": first + size}
            ends = [first, first + size, first + 2 * size]
            return {name: slice(start, end) for (name, start), end in zip(starts.items(), ends, strict=True)}, size
        return ({"state": slice(None)} if self.image_shapes and self.scaling.shape[1] else {}), size

    def _image_alone(self) -> str:
        """The name of the image that is the whole observation; empty where there are numbers, or several images."""
        if self.scaling.shape[1]:
            return ""
        if not self.image_shapes:
            raise ParameterError(f"{self.world.name}: no numbers and no images are left of the observation")
        return next(iter(self.image_shapes)) if len(self.image_shapes) == 1 else ""

    @property
    def in_parts(self) -> bool:
        """Whether observations are dictionaries."""
        return bool(self.vector_parts) or (bool(self.image_shapes) and not self.alone)

    @property
    def in_goal_form(self) -> bool:
        """Whether observations are dictionaries with an achieved and a desired goal."""
        return "achieved_goal" in self.vector_parts

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
    def action_kind(self) -> str:
        """What the driver is compiled for: "continuous", "discrete", "multi" (several choices) or "flat" (one that
        stands for several)."""
        if self.dimensions:
            return "flat"
        return "continuous" if self.continuous else "discrete" if self.single_choice else "multi"

    def params_row(self) -> np.ndarray:
        """One record of parameters, with every world's common values."""
        row = np.zeros(1, self.dtypes["params"])
        for name, value in vars(self.values).items():
            option = self.world.options.get(name)
            if option is None:
                row[name] = value
            elif option.seen and not isinstance(option, Free):
                row[name] = option.code(value)
        for name, array in self.data.items():
            row[name] = array
        row["horizon"], row["weights"] = self.horizon, self.weights
        return row


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
