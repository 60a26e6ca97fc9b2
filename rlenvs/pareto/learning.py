"""Pareto Q-learning: learn the whole front of a finite world from experience."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral
from typing import Any

import numpy as np

from rlenvs.core.declare.errors import ParameterError, shortened
from rlenvs.core.declare.renamed import renamed
from rlenvs.pareto.fronts import Front, checked_gamma
from rlenvs.pareto.learning_tables import FULL, Rule, Tables, choose, note, replay_backwards, sweep
from rlenvs.pareto.policies import batch_of
from rlenvs.pareto.sets import TooManyPointsError, descending

__all__ = ["ParetoQ", "pareto_q_learning"]
SWEEPS = 500  # over all states, at most, when a front is asked for
STILL = 1e-9  # sets that change by less have settled


def pareto_q_learning(env: Any, gamma: float = 1.0, steps: int = 100_000, **settings: Any) -> Front:
    """Learn the Pareto front of a finite world from experience only, with a policy for each point.

        front = rlenvs.pareto.pareto_q_learning("DeepSeaTreasure-v0", steps=50_000)
        rlenvs.pareto.play_policy("DeepSeaTreasure-v0", front.policies[0]).mean

    Args:
        env: the id of a world, or an environment made with the options that are meant. It is not touched.
        gamma: discount in (0, 1].
        steps: of all worlds of the batch together.
        settings: of `ParetoQ`.

    Returns:
        a front whose values are what was learned. What its policies are really worth is for `play_policy` to say, and,
        where there is an exact model, for `exact_value`.

    Raises:
        As `ParetoQ`.
    """
    learner = ParetoQ(env, gamma, **settings)
    learner.learn(steps)
    return learner.front()


@renamed
class ParetoQ:
    """Pareto Q-learning (Van Moffaert and Nowe, "Multi-Objective Reinforcement Learning using Sets of Pareto Dominating
    Policies", JMLR 2014), in compiled loops over a batch of worlds.

    Of each action in each state it learns the mean reward vector and how often which state followed. The set of an
    action is the mean reward plus all discounted sums of a vector of each state that may follow, weighted by how often
    it did; the set of a state, what no other dominates of its actions' sets. In worlds without chance these are the
    paper's sets; the sums over the states that may follow are those of White ("Multi-objective infinite-horizon
    discounted Markov decision processes", 1982). Sets are computed anew backwards along each episode that has ended.
    A policy follows a vector of the set of the first state, then the vectors that it was summed from.

    Actions are, with a chance that falls from 1 to `least_exploration`, those that were tried least in the state,
    otherwise the first action of a vector drawn from the set of the state (choice by cardinality, as in the paper).

    Args:
        env: the id of a world that numbers its states, or an environment made with the options that are meant.
        gamma: discount in (0, 1].
        num_envs: how many of them learn together.
        resolution: vectors that are nowhere better by more than this count as equal. In worlds with chance, where means
            are never quite the same, sets stay small with it. One number, or one per objective.
        timed: whether sets depend on the steps that were made, so that the time limit counts: for worlds in which one
            does something else shortly before the end, and for those where nothing, neither a discount nor a price of
            a step, keeps a policy from waiting forever.
        most: vectors in a set; more are refused.
        exploring: steps after which exploration is at its least.
        least_exploration: in [0, 1].
        seed: of worlds and choices.

    Raises:
        ParameterError: a setting out of range, or a world that does not number its states, has several agents or other
            actions than single choices.
    """

    def __init__(
        self,
        env: Any,
        gamma: float = 1.0,
        *,
        num_envs: int = 32,
        resolution: Any = 1e-6,
        timed: bool = False,
        most: int = 512,
        exploring: int = 50_000,
        least_exploration: float = 0.2,
        seed: int = 0,
    ) -> None:
        for name, value in (("num_envs", num_envs), ("most", most), ("exploring", exploring)):
            if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
                raise ParameterError(f"{name}={shortened(value)} must be a positive integer")
        if not 0.0 <= least_exploration <= 1.0:
            raise ParameterError(f"least_exploration={shortened(least_exploration)} must be in [0, 1]")
        self.gamma = checked_gamma(gamma)
        self.batch = batch_of(env).clone(int(num_envs))
        setup, world = self.batch.setup, self.batch.world
        numbered = world.functions.get("state_number")
        if (
            numbered is None
            or self.batch.agents > 1
            or setup.continuous
            or self.batch.actions.shape[2:] not in ((), (1,))
        ):
            raise ParameterError(
                f"Pareto Q-learning requires a world with numbered states, one agent and a Discrete action; "
                f"{world.name} is not one"
            )
        self._number_of: Callable[..., np.ndarray] = numbered
        self.objectives = tuple(world.terms)
        size = len(self.objectives)
        try:
            self.resolution = np.broadcast_to(np.asarray(resolution, np.float64), (size,)).copy()
        except ValueError:
            self.resolution = np.full(1, np.nan)
        if not (self.resolution >= 0.0).all():
            raise ParameterError(f"resolution={shortened(resolution)} must be one or {size} nonnegative numbers")
        self.horizon = setup.horizon
        self._rule = Rule(self.gamma, self.horizon, self.resolution)
        self.exploring, self.least_exploration, self.most = int(exploring), float(least_exploration), int(most)
        self.steps = 0
        self._random = np.random.default_rng(seed)
        self.tables = Tables(setup.action_size, size, self.horizon if timed else 1)
        self.batch.seed([seed * 1_000_003 + i for i in range(int(num_envs))])
        self.batch.reset()
        self._path = np.zeros((2, int(num_envs), self.horizon), np.int64)  # states and actions of the episodes
        self._rows = self._states()
        self._starts = np.zeros(0, np.int64)
        self._begin(np.ones(int(num_envs), np.bool_))

    def _states(self) -> np.ndarray:
        """The rows of the states that the worlds are in."""
        numbers = np.asarray(self._number_of(self.batch.setup.values, self.batch.states), np.int64)
        return self.tables.rows_of(numbers)

    def _begin(self, worlds: np.ndarray) -> None:
        self._starts = np.union1d(self._starts, self._rows[worlds])

    def learn(self, steps: int) -> None:
        """Make this many more steps, summed over all worlds."""
        batch, tables, count = self.batch, self.tables, self.batch.num_envs
        masked = "mask" in batch.world.kernels
        until = self.steps + int(steps)
        terms = len(self.objectives)
        while self.steps < until:
            exploration = max(self.least_exploration, 1.0 - self.steps / self.exploring)
            allowed = batch.masks[:, 0] > 0 if masked else np.ones((count, tables.actions), np.bool_)
            elapsed = np.array(batch.states["elapsed"], np.int64)
            time = np.minimum(elapsed, tables.layers - 1)
            draws = self._random.random((count, 3))
            before = self._rows
            actions = np.zeros(count, np.int64)
            choose(before, time, allowed, draws, exploration, tables.all, actions)
            batch.load_actions(actions.reshape(count, 1))
            batch.step_inplace()
            after = self._states()
            paid = np.ascontiguousarray(batch.terms[:, :terms, 0])
            ended = np.ascontiguousarray(batch.terminated[:, 0])
            left = np.ones(count, np.bool_)
            while note(left, before, actions, paid, after, ended, tables.all):
                tables.widen()
            self._path[:, np.arange(count), elapsed] = before, actions
            over = batch.over.copy()
            for world in np.flatnonzero(over).tolist():
                path = self._path[0, world, : elapsed[world] + 1]
                while replay_backwards(path, self._rule, tables.all):
                    self._deepen()
            self._rows = after
            if over.any():
                batch.reset(over)
                self._rows = self._states()
                self._begin(over)
            self.steps += count

    def _deepen(self) -> None:
        if self.tables.depth >= self.most:
            raise TooManyPointsError(
                f"a state has more than {self.most} nondominated vectors; use a coarser `resolution` or a larger `most`"
            )
        self.tables.deepen(self.most)

    def settle(self) -> None:
        """Recompute the sets of all states, the newest first, until they no longer change."""
        tables = self.tables
        for _ in range(SWEEPS):
            change = sweep(tables.known, self._rule, tables.all)
            if change == FULL:
                self._deepen()
            elif change < STILL:
                return

    def front(self) -> Front:
        """The learned front: the vectors of the initial state, each with the policy that attains it.

        Raises:
            ParameterError: episodes begin in several states.
        """
        if len(self._starts) != 1:
            raise ParameterError(
                f"episodes of {self.batch.world.name} start in {len(self._starts)} states, but a set belongs to one"
            )
        self.settle()
        start = int(self._starts[0]) * self.tables.layers
        values = self.tables.values[start, : self.tables.sizes[start]].copy()
        order = descending(values)
        links = Links(self.tables)
        policies = [Followed(links, start, i) for i in order]
        return Front(values[order], policies, self.objectives, self.gamma, self.horizon, stochastic=False)


# --- policies ---------------------------------------------------------------------------------------------------------


class Links:
    """What policies need of tables: copies, which learning does not change any more."""

    def __init__(self, tables: Tables) -> None:
        self.layers, self.row_of = tables.layers, tables.row_of.copy()
        self.follows, self.first, self.next = tables.follows.copy(), tables.first.copy(), tables.next.copy()
        self.sizes = tables.sizes.copy()

    def row(self, state: int) -> int:
        """The row of a state; -1 of one that was never seen."""
        return int(self.row_of[state]) if state < len(self.row_of) else -1


class Followed:
    """The policy that follows a vector, then the vectors that it was summed from. Its memory is the place of a set, and
    the number of the vector; in a state that was never seen after the action, the first vector of that state.

    Args:
        links: of the tables.
        place: of the set of the first state.
        number: of the vector.
    """

    def __init__(self, links: Links, place: int, number: int) -> None:
        self.links, self.place, self.number = links, place, number

    def first(self, state: int) -> tuple[int, int]:
        """The vector to follow."""
        return self.place, self.number

    def action(self, memory: tuple[int, int], state: int) -> int:
        """The action of the vector."""
        place, number = memory
        return int(self.links.first[place, number]) if place >= 0 else 0

    def after(self, memory: tuple[int, int], state: int) -> tuple[int, int]:
        """The vector that it was summed from."""
        links, (place, number) = self.links, memory
        row = links.row(state)
        if row < 0:
            return -1, 0
        old, layer = divmod(place, links.layers)
        to = row * links.layers + min(layer + 1, links.layers - 1)
        if place < 0:
            return (to, 0) if links.sizes[to] else (-1, 0)
        among = np.flatnonzero(links.follows[old, links.first[place, number]] == row)
        known = int(links.next[place, number, among[0]]) if len(among) else 0
        return (to, known) if known < links.sizes[to] else (-1, 0)
