"""From the keywords of `make` to everything that a batch needs: values, sizes, spaces, weights."""

from __future__ import annotations

import copy
import functools
import hashlib
import itertools
from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces

from rlenvs.core.declare.action_form import ActionForm, action_form, first_action
from rlenvs.core.declare.agents import roles_of, teams_of
from rlenvs.core.declare.chosen import Chosen, data_of, in_scaled_form, sizes_of
from rlenvs.core.declare.drop_in import translated
from rlenvs.core.declare.encoding import ENCODINGS
from rlenvs.core.declare.errors import ParameterError, shortened
from rlenvs.core.declare.goals import choices_with_goal_rewards, terms_beside_goals
from rlenvs.core.declare.inputs import mapping, one_of, truth
from rlenvs.core.declare.limits import check_limit, one_limit
from rlenvs.core.declare.observation_form import ObservationForm, observation_form, scaling_of
from rlenvs.core.declare.options import Free
from rlenvs.core.declare.parts import Role
from rlenvs.core.declare.ranges import Numbers, ranges_of
from rlenvs.core.declare.spec import World
from rlenvs.core.declare.values import random_ranges_of, range_example, values_of, weights_of


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
            [0, 1]; "uint8", the same in 0 ... 255; "integer", int32, where a world declares whole numbers; "one_hot",
            of one that is Discrete; "tuple", its parts, where a world declares some.
        flat_actions: whether several choices made at once are one choice among all their combinations: a Discrete
            action in place of a MultiDiscrete or MultiBinary one. The last dimension runs fastest, and the mask allows
            a combination where it allows each of its parts.
        values: parameters and options by name, or by the names in `world.drop_in`. A parameter may be an array with one
            number per world.

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
        values, weights = translated(world, values, mapping("weights", weights, {next(iter(world.terms)): 2.0}))
        usual = values.pop("horizon", None)
        self.values, self.contexts = values_of(world, values)
        horizon = one_limit(horizon=horizon, max_episode_steps=max_episode_steps, max_cycles=max_cycles)
        usual = world.horizon_of(self.values) if usual is None else usual
        self.horizon = check_limit("horizon", usual) if horizon is None else horizon
        self.fps = world.fps_of(self.values)
        self.weights = weights_of(world, self.values, weights)
        self.random_ranges = random_ranges_of(world, mapping("randomize", randomize, range_example(world)))
        self.check_together({**vars(self.values), **self.contexts})
        self.check_ranges(self.random_ranges)
        if world.goal and self.values.form == "goal":
            self.check_goal_reward("form='goal'", "form='flat'")
        self.data = data_of(world, self.values)
        self.sizes = sizes_of(world, self.values)
        self.agents = self.sizes["agents"]
        self.in_scaled_form = in_scaled_form(world, self.values)
        self.chosen = Chosen(world, self.values, self.sizes, self.in_scaled_form)
        actions = action_form(self.chosen, self.flat_actions)
        self.dtypes = {name: layout.dtype(self.sizes) for name, layout in world.layouts.items()}
        observations = observation_form(self.chosen, self.encoding)
        self._take_actions(actions)
        self._take_observations(observations)
        self.reward_space = _reward_space(self.chosen)
        self.teams = teams_of(self.chosen)
        self.roles = roles_of(self.chosen, actions, self.scaling.shape[1])
        self.central_scaling = scaling_of(self.chosen, world.central, True)
        low, high = self._central_bounds()
        self.central_space = spaces.Box(low, high, dtype=low.dtype)
        self.own_choices = _own_choices(actions, self.roles)
        # how long the mask of each agent is
        self.mask_lengths = [role.action if self.single_choice else sum(self.choices) or 1 for role in self.roles]
        self.idle = _idle_actions(actions, self.own_choices)

    def _take_actions(self, form: ActionForm) -> None:
        """What users see of an `ActionForm`."""
        self.actions, self.action, self.action_size, self.numbers = form, form.action, form.size, form.numbers
        self.choices, self.dimensions = form.choices, form.dimensions
        self.action_scaling, self.converted = form.scaling, form.converted
        self.continuous, self.single_choice, self.binary = form.continuous, form.single_choice, form.binary
        self.action_kind, self.action_space = form.kind, form.space(form.size)
        self.spread_action, self.taken, self.parts_of_mask = form.spread, form.taken, form.parts_of_mask
        self.number_name, self.labels_of, self.choice_name = form.number_name, form.labels_of, form.choice_name

    def _take_observations(self, form: ObservationForm) -> None:
        """What users see of an `ObservationForm`."""
        self.observations, self.scaling, self.scaled = form, form.scaling, form.scaled
        self.observation_shape, self.state_space, self.observation_space = form.shape, form.state_space, form.space()
        self.image_shapes, self.alone = form.images, form.alone
        self.vector_parts, self.goal_size = form.parts, form.goal_size
        self.in_parts, self.in_goal_form = form.in_parts, "achieved_goal" in form.parts
        self.encode = form.encode

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
            remedy = choices_with_goal_rewards(self.world, self.values)
            raise ParameterError(
                f"{self.world.name}: {wanted} needs a reward that depends only on the goals, but the weighted terms "
                f"{weighty} do not; {remedy}, or {otherwise}"
            )

    @functools.cached_property
    def beside_goals(self) -> list[str]:
        """The terms with a weight that `goal_outcome` does not fill, in a world with goals."""
        return terms_beside_goals(self.world, self.weights)

    @functools.cached_property
    def fingerprint(self) -> str:
        """What two setups have in common whose snapshots fit each other."""
        shape = [str(dtype) for dtype in self.dtypes.values()], self.sizes, *self.actions.declared
        text = repr((self.world.name, *shape))
        return f"{self.world.name}/{hashlib.sha256(text.encode()).hexdigest()[:12]}"

    @functools.cached_property
    def state_ranges(self) -> list[Numbers]:
        """The ranges of the state's fields, to which states from outside are held."""
        return ranges_of(self.world.layouts["state"], self.sizes)

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

    def _central_bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Of the central state: its own blocks, or the observations of all agents."""
        if self.world.central:
            blocks = list(self.world.central.values())
            shape = self.chosen.shape(blocks[0].shape) if len(blocks) == 1 else (-1,)
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
        role = self.roles[agent]
        if not self.world.observation:
            return copy.deepcopy(self.observation_space), self.actions.space(role.action)
        return self.observations.space_of_first(role.observation), self.actions.space(role.action)

    def pareto_front(self, gamma: float = 1.0) -> np.ndarray:
        """The exact Pareto front, see `World.front`: float64 (points, reward terms).

        Raises:
            NotImplementedError: the world knows none. ParameterError: a discount outside (0, 1].
        """
        if "pareto_front" not in self.world.functions:
            raise NotImplementedError(
                f"{self.world.name} has no exact Pareto front; estimate one from the returns of policies"
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


def _reward_space(chosen: Chosen) -> spaces.Box[Any]:
    """Of the reward terms, as the published environment has it or as they are declared."""
    terms, published = chosen.world.terms.values(), chosen.world.published
    ends = [term.low for term in terms], [term.high for term in terms]
    if published is not None and published.reward is not None and not chosen.scaled:
        ends = published.reward(chosen.values)  # type: ignore[assignment]
    low, high = (np.asarray(end, np.float32) for end in ends)
    return spaces.Box(low, high)


def _own_choices(actions: ActionForm, roles: tuple[Role, ...]) -> np.ndarray:
    """How many choices each agent has for each number of its action, int64 (A, numbers); none where numbers are
    continuous."""
    if actions.single_choice:
        return np.array([[role.action] for role in roles], np.int64)
    return np.tile(np.array(actions.choices, np.int64), (len(roles), 1))


def _idle_actions(actions: ActionForm, own_choices: np.ndarray) -> np.ndarray:
    """Each agent's action, (A, numbers), when it does nothing; 0 for who lacks that choice."""
    if actions.continuous:
        return np.tile(actions.doing_nothing, (len(own_choices), 1))
    return np.where(actions.doing_nothing < own_choices, actions.doing_nothing, 0)
