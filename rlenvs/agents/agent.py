"""Saved agents: trained policies that need only NumPy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from rlenvs.agents.card import Card
from rlenvs.agents.kinds import in_words, kinds_in, names_in
from rlenvs.agents.network import Network, State, form_of, parts_of
from rlenvs.core.catalogue.registry import world_of
from rlenvs.core.declare.errors import ParameterError, shortened
from rlenvs.core.declare.setup import Setup

__all__ = ["Agent"]


class Seen(NamedTuple):
    """What rows of an environment show: observations, masks (or None), whether each episode has just begun, and whose
    rows they are, as `Agent.predict` takes it."""

    observations: Any
    masks: np.ndarray | None
    starts: np.ndarray
    agent: str | Sequence[str] | None = None


@dataclass(frozen=True, repr=False)
class Agent:
    """A trained policy, as returned by `rlenvs.load_agent` and accepted by `rlenvs.evaluate`.

    It plays without exploration, unless its settings say `network.drawn`: then its choices are drawn with the
    probabilities that it gives them, as in training. Where agents that are alike meet, or an observation does not tell
    states apart, the likeliest choice of all can block everybody forever.

    Attributes:
        card: what is known of it. network: what it computes.
    """

    card: Card
    network: Network

    def __repr__(self) -> str:
        card, score = self.card, self.card.score
        told = "no score" if score is None else f"return {score.mean:.4g} on {score.seeds} seeds"
        return f"Agent({card.id!r}, {card.learner}, {card.steps:,} steps, {told})"

    @property
    def takes_names(self) -> bool:
        """Whether agent names are needed, because several kinds of agents share the network."""
        return bool(self.network.kinds)

    def act(
        self,
        observation: Any,
        mask: np.ndarray | None = None,
        state: State | None = None,
        start: bool = False,
        agent: str | None = None,
        rng: np.random.Generator | None = None,
    ) -> tuple[Any, State | None]:
        """The action for one observation.

        Args:
            observation: as the environment gives it: an array of the shape of its space, a whole number of a Discrete
                one, or a dictionary of these.
            mask: (choices,), nonzero where a choice is allowed (`info["action_mask"]`).
            state: what the call before gave; None at the beginning. Agents without a memory give and take None.
            start: whether an episode begins with this observation; the state is forgotten then.
            agent: the name of the agent that sees the observation ("adversary_0"), as for `predict`.
            rng: as for `predict`.

        Returns:
            the action, float32 (numbers,), int64 (dimensions,) or an int, and the next state.

        Raises:
            ParameterError: an observation, mask or state of another shape, not finite, or outside a Discrete space; or
                it does not follow which kind of agent is meant.
        """
        actions, state = self.predict(observation, state, np.array(start), action_masks=mask, agent=agent, rng=rng)
        several = self.network.numbers > 0 or len(self.network.counts) > 0
        if actions.ndim != int(several):
            raise ParameterError(
                f"act takes one observation; for an array of shape {np.shape(observation)} use predict"
            )
        return (actions if several else int(actions)), state

    def predict(
        self,
        observation: Any,
        state: State | None = None,
        episode_start: np.ndarray | None = None,
        deterministic: bool | None = None,
        action_masks: np.ndarray | None = None,
        agent: str | Sequence[str] | None = None,
        rng: np.random.Generator | Sequence[np.random.Generator] | None = None,
    ) -> tuple[np.ndarray, State | None]:
        """Like `predict` of a Stable-Baselines3 model, for one observation or many.

        Args:
            observation: (*rows, *shape), with any number of axes in front, or a dictionary of such arrays.
            state: what the call before gave; None at the beginning. Of an LSTM two arrays (layers, number of rows,
                units), of several frames one (frames - 1, number of rows, numbers).
            episode_start: (*rows), true where an episode begins.
            deterministic: whether to take the likeliest choices, or draw them; None as the agent's settings say.
                Actions that are numbers have no exploration: all values give the same.
            action_masks: (*rows, choices), nonzero where a choice is allowed.
            agent: of an agent that was trained with `roles`: the name of the agent that sees all rows ("adversary_0"),
                or one for each place of the last axis of rows. Without it that follows from the rows where it can: from
                their places where the last axis has one for every agent, as in a batch; from their length where only
                one kind of agents sees so much, as in the parallel form. Other agents take no notice of it.

        Returns:
            actions, float32 (*rows, numbers), int64 (*rows, dimensions) or int64 (*rows), and the next state.

        Raises:
            ParameterError: arrays of other shapes, observations that are not finite, or it does not follow which kind
                of agent is meant.
        """
        flat, rows = self._in_rows(observation)
        count = int(np.prod(rows, dtype=int))
        masks = None if action_masks is None else self._masks_in_rows(action_masks, count)
        starts = None if episode_start is None else np.asarray(episode_start).reshape(-1)
        kinds = None
        if self.takes_names and not isinstance(observation, Mapping):
            kinds = self._kinds_of(np.shape(observation), rows, agent)
        drawn = self.card.drawn if deterministic is None else not deterministic
        noise = self._noise(count, rng) if drawn and self.network.choices else None
        actions, state = self.network.act(flat, masks, state, starts, kinds, noise)
        return actions.reshape((*rows, *actions.shape[1:])), state

    def __call__(self, observations: Any, agent: str | Sequence[str] | None = None) -> np.ndarray:
        """Actions for observations (*rows, *shape); agent as for `predict`. ParameterError for agents with a memory (an
        LSTM, several frames): use `predict`."""
        if self.network.memory_shape[0]:
            raise ParameterError("this agent has memory; use agent.predict(observations, state, episode_start)")
        return self.predict(observations, agent=agent)[0]

    def chooser(self, see: Callable[[], Seen], seeds: Sequence[int] = (0,)) -> Callable[[], np.ndarray]:
        """A function that reads the observations and returns the next actions, keeping the agent's memory. For loops
        like that of `evaluate`.

        Args:
            see: looks.
            seeds: of the episodes; where choices are drawn, each has a generator of its own for its rows.
        """
        generators = [np.random.default_rng([seed, 3]) for seed in seeds] if self.card.drawn else None
        state: State | None = None

        def choose() -> np.ndarray:
            nonlocal state
            observations, masks, starts, agent = see()
            masks = masks if self.network.masked else None
            actions, state = self.predict(observations, state, starts, action_masks=masks, agent=agent, rng=generators)
            return actions

        return choose

    def player(self, setup: Setup, label: str) -> Player:
        """The agent as a function (observations, masks, rng) -> actions, as `rlenvs.tournament` takes one.

        Raises:
            ParameterError: an agent with a memory, since players are asked without telling them which game it is; or
                one for other spaces than the world's.
        """
        if self.network.memory_shape[0]:
            raise ParameterError(f"{label} has memory, and tournament players are called without one")
        self.check(setup, label)
        return Player(self)

    def check(self, setup: Setup, label: str = "the agent") -> None:
        """ParameterError if the spaces of the world's agents, padded to equal size, differ from those of this agent."""
        wanted = {name: form_of(space) for name, space in parts_of(setup.observation_space).items()}
        name = setup.world.name
        if self.network.forms != wanted:
            raise ParameterError(
                f"{label} was trained for observations {_texts(self.network.forms)}; those of {name} are "
                f"{_texts(wanted)} with these keywords"
            )
        self._check_form(setup, label)
        self._check_kinds(setup, label)
        counts = self.network.counts
        own = self.network.numbers or self.network.choices
        mine: tuple[str, Any] = ("numbers" if self.network.numbers else "choices", own)
        theirs: tuple[str, Any] = ("numbers" if setup.continuous else "choices", setup.action_size)
        if counts or setup.action_kind == "multi":
            mine, theirs = ("choices", counts or mine[1]), ("choices", setup.choices or theirs[1])
        if mine != theirs:
            raise ParameterError(
                f"{label} was trained for actions of {mine[1]} {mine[0]}; those of {name} have {theirs[1]} {theirs[0]} "
                "with these keywords"
            )
        tells = setup.continuous or self.network.masked or self.network.kinds
        if not tells and len({role.action for role in setup.roles}) > 1:
            raise ParameterError(
                f"{label} does not support masks, and with these keywords agents of {name} have different numbers of "
                f"choices"
            )

    def _check_form(self, setup: Setup, label: str) -> None:
        """ParameterError where the numbers of observations are scaled otherwise than those of the training."""
        world, keywords = setup.world, self.card.keywords
        if world.published is None or all(part.raw for part in world.observation.values()):
            return
        option = world.base.level(keywords.get("level")).options["scaled"]
        scaled = bool(keywords.get("scaled", option.default))
        if scaled != setup.in_scaled_form:
            raise ParameterError(
                f"{label} was trained for {world.name} with scaled={scaled}; make it with scaled={scaled}"
            )

    def _check_kinds(self, setup: Setup, label: str) -> None:
        """ParameterError where the world has agents of kinds that this agent does not know, or with other rows."""
        theirs = {kind["name"]: kind["size"] for kind in kinds_in(setup)}
        if self.network.kinds and not theirs.items() <= self.network.kinds.items():
            raise ParameterError(
                f"{label} was trained for agents of the kinds {in_words(self.network.kinds)}; those of "
                f"{setup.world.name} are {in_words(theirs)} with these keywords"
            )

    # which kind of agent sees a row, for a network that several kinds share

    def _kinds_of(self, shape: tuple[int, ...], rows: tuple[int, ...], agent: str | Sequence[str] | None) -> np.ndarray:
        """The number of the kind of every row, int64 (number of rows,)."""
        size = shape[-1] if shape else 0
        agent = self._seer(size, rows) if agent is None else agent
        several = isinstance(agent, (Sequence, np.ndarray)) and not isinstance(agent, str)
        names: list[Any] = list(agent) if several else [agent]
        if several and rows[-1:] != (len(names),):
            raise ParameterError(
                f"agent={names} names {len(names)} agents, one for each place of the last axis of rows, but the rows "
                f"given are {rows}"
            )
        kinds: Any = self.network.kinds_of(names)
        for name in dict.fromkeys(names):
            self._check_row(size, name)
        return np.broadcast_to(kinds, (*rows[:-1], rows[-1] if rows else 1)).reshape(-1)

    def _check_row(self, size: int, name: str) -> None:
        """ParameterError unless a row of so many numbers is what an agent of this name sees, padded or not."""
        (kind,) = self.network.kinds_of([name])  # type: ignore[misc]
        own, whole = list(self.network.kinds.values())[kind], max(self.network.kinds.values())
        if size not in (own, whole):
            padded = f", or {whole} padded with zeros" if own < whole else ""
            raise ParameterError(f"a row of {size} numbers was given for {name}; needed: {own}{padded}")

    def _seer(self, size: int, rows: tuple[int, ...]) -> str | list[str]:
        """Who sees rows of so many numbers, by their places or else by their length."""
        known = self.network.kinds
        whole = size == max(known.values())
        if whole and rows[-1:] == (len(self._names),):
            return self._names
        found = [name for name, own in known.items() if own == size]
        if len(found) == 1 and not (whole and rows):  # several long rows may be padded ones
            return found[0]
        raise ParameterError(
            f"cannot tell which agent {rows or 'one row'} of {size} numbers belongs to. This agent plays "
            f"{in_words(known)}; pass agent=, such as agent='{next(iter(known))}_0'"
        )

    @cached_property
    def _names(self) -> list[str]:
        return names_in(Setup(world_of(self.card.id), **self.card.keywords))

    # choices that are drawn: what is added to their logits makes the highest one a draw (Gumbel's trick)

    def _noise(self, rows: int, rng: np.random.Generator | Sequence[np.random.Generator] | None) -> np.ndarray:
        """Standard Gumbel noise, float64 (rows, choices)."""
        generators = list(rng) if isinstance(rng, Sequence) else [self._rng if rng is None else rng]
        if not all(isinstance(generator, np.random.Generator) for generator in generators):
            raise ParameterError(f"rng={shortened(rng)} must be a NumPy generator, or several of them")
        if not generators or rows % len(generators):
            raise ParameterError(f"rng: {len(generators)} generators were given, which does not divide {rows} rows")
        shape = (rows // len(generators), self.network.choices)
        return np.concatenate([generator.gumbel(size=shape) for generator in generators])

    @cached_property
    def _rng(self) -> np.random.Generator:
        return np.random.default_rng(0)

    # agents with roles see shorter rows in the single and parallel forms; a batch pads them with zeros, as training did

    @cached_property
    def _pads(self) -> bool:
        return bool(world_of(self.card.id).roles)

    def _in_rows(self, observation: Any) -> tuple[Any, tuple[int, ...]]:
        """The observation with one axis of rows in front, and the shape of the axes that were there."""
        named = isinstance(observation, Mapping)
        found: dict[str | None, np.ndarray] = {}
        rows: tuple[int, ...] = ()
        for name, shape in self.network.parts:
            if (name is not None) != named or (named and name not in observation):
                continue  # the network says what is missing
            array = np.asarray(observation if name is None else observation[name])
            rows = array.shape[: max(array.ndim - len(shape), 0)]
            array = array.reshape(int(np.prod(rows, dtype=int)), *array.shape[len(rows) :])
            found[name] = self._padded(array, shape[0]) if len(shape) == 1 and array.ndim == 2 else array
        if not named and None in found:
            return found[None], rows
        return (found if len(found) == len(self.network.parts) else observation), rows

    def _masks_in_rows(self, masks: Any, count: int) -> np.ndarray:
        array = np.asarray(masks)
        array = array.reshape(count, -1) if count and array.size % count == 0 else array
        return self._padded(array, self.network.choices) if array.ndim == 2 else array

    def _padded(self, array: np.ndarray, size: int) -> np.ndarray:
        missing = size - array.shape[1]
        return np.pad(array, ((0, 0), (0, missing))) if missing > 0 and self._pads else array


@dataclass(frozen=True)
class Player:
    """An agent as a player of tournaments.

    Attributes:
        agent: that plays. role: the name of the agent of the world whose rows it is shown; None where they are alike.
    """

    agent: Agent
    role: str | None = None

    def __call__(self, observations: Any, masks: np.ndarray | None, rng: np.random.Generator) -> np.ndarray:
        """Actions for rows of observations."""
        masks = masks if self.agent.network.masked else None
        return self.agent.predict(observations, action_masks=masks, agent=self.role, rng=rng)[0]


def _texts(forms: Mapping[Any, tuple[int, ...] | int]) -> str:
    texts = {name: f"Discrete({form})" if isinstance(form, int) else f"{form}" for name, form in forms.items()}
    return ", ".join(text if name is None else f"{name!r} {text}" for name, text in texts.items())
