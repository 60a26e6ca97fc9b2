"""Exact Pareto fronts of finite worlds, with a policy for every point."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any

import numpy as np

from rlenvs.core.declare.errors import ParameterError, shortened
from rlenvs.kits.tables.solve import Model, Solution, solve_mdp
from rlenvs.pareto.policies import OpenLoopPolicy, Policy, TabularPolicy, TreePolicy, batch_of
from rlenvs.pareto.sets import TOLERANCE, TooManyPointsError, descending, nondominated, supported

__all__ = ["Front", "coverage_set", "pareto_front"]

MOST_POINTS = 20_000  # of one state, before a front is given up
MOST_STEPS = 10_000  # without a horizon
MOST_ROUNDS = 200


@dataclass(frozen=True)
class Front:
    """Nondominated points, each with a policy that attains it.

    Attributes:
        values: (points, objectives) expected discounted returns, in descending order.
        policies: one for each point, to be replayed by `rlenvs.pareto.play_policy`.
        objectives: names of the reward terms.
        gamma, horizon: discount, and the steps after which episodes are cut off; None for never.
        stochastic: whether mixtures of these policies count: then the points are the corners of the front, and what
            lies between them is reached by drawing one of the policies at the start.
    """

    values: np.ndarray
    policies: Sequence[Policy]
    objectives: Sequence[str]
    gamma: float
    horizon: int | None
    stochastic: bool

    def __len__(self) -> int:
        return len(self.values)

    def __iter__(self) -> Iterator[tuple[np.ndarray, Policy]]:
        return zip(self.values, self.policies, strict=True)

    def convex(self) -> Front:
        """The convex coverage set: the points that are optimal for some weights."""
        return self.at(np.flatnonzero(supported(self.values)), stochastic=True)

    def best(self, weights: Sequence[float]) -> tuple[np.ndarray, Policy]:
        """The point with the largest weighted sum, and its policy."""
        at = int(np.argmax(self.values @ np.asarray(weights, np.float64)))
        return self.values[at], self.policies[at]

    def at(self, places: Sequence[int] | np.ndarray, **changes: Any) -> Front:
        """The points at these indices, with changed attributes if given."""
        policies = [self.policies[i] for i in places]
        return replace(self, values=self.values[np.asarray(places, np.int64)], policies=policies, **changes)


def pareto_front(env: Any, gamma: float = 1.0, horizon: int | None = -1, most: int = MOST_POINTS) -> Front:
    """The exact Pareto front of all deterministic policies of a finite world, including those with memory.

        front = rlenvs.pareto.pareto_front("ResourceGathering-v0", gamma=0.99)

    By backward induction on sets of vectors (White, "Multi-objective infinite-horizon discounted Markov decision
    processes", 1982): what can be had with t steps left is what no other dominates of all sums of a step's terms and
    of one vector of each state that may follow. It ends early where more time gives nothing new.

    Args:
        env: the id of a world, an environment made with the options that are meant, or a `Model` with `terms`.
        gamma: discount in (0, 1].
        horizon: steps after which episodes are cut off; -1 for the time limit of the world, None for never.
        most: how many points a state may have before this gives up.

    Raises:
        AttributeError: the world has neither an exact model nor routes of its own. MissingExtraError: SciPy is not
            installed.
        ParameterError: a discount or horizon out of range. TooManyPointsError: a front with more points than `most`, as
            where every mixture of two activities is another point: `coverage_set` has few.
    """
    if routed := _by_routes(env, gamma, horizon):
        return routed
    model, names, horizon = _problem(env, gamma, horizon)
    root = _Induction(model, float(gamma), most).root(MOST_STEPS if horizon is None else horizon, horizon is None)
    plans = [root[i] for i in descending([plan.value for plan in root])]
    return Front(np.array([plan.value for plan in plans]), plans, names, float(gamma), horizon, stochastic=False)


def coverage_set(env: Any, gamma: float = 1.0, horizon: int | None = -1) -> Front:
    """The exact convex coverage set of a finite world: an optimal policy for all weights. These are the corners of the
    front of stochastic policies.

    By optimistic linear support (Roijers, Whiteson and Oliehoek, "Computing convex coverage sets for faster
    multi-objective coordination", JAIR 2015): the world is solved for the weights at every corner of what the policies
    found so far are worth. Where none of them brings more, nothing can, as the best value is convex in the weights.

    Args:
        env, gamma, horizon: as for `pareto_front`.

    Raises:
        As `pareto_front`; or with three objectives or more MissingExtraError, without SciPy.
    """
    if routed := _by_routes(env, gamma, horizon):
        return routed.convex()
    model, names, horizon = _problem(env, gamma, horizon)
    support = _LinearSupport(model, float(gamma), horizon)
    support.run()
    values = np.array(support.values)
    front = Front(values, support.policies, names, float(gamma), horizon, stochastic=True)
    kept = np.flatnonzero(supported(values))
    return front.at([kept[i] for i in descending(values[kept])])


def checked_gamma(gamma: Any) -> float:
    """A discount; ParameterError unless it is a number in (0, 1]."""
    if isinstance(gamma, bool) or not isinstance(gamma, Real) or not 0.0 < float(gamma) <= 1.0:
        raise ParameterError(f"gamma={shortened(gamma)} must be a number in (0, 1]")
    return float(gamma)


def _by_routes(env: Any, gamma: Any, horizon: Any) -> Front | None:
    """The front of a world that knows the actions which attain it, whatever happens; None for others."""
    if isinstance(env, Model):
        return None
    setup = batch_of(env).setup
    routes = setup.world.functions.get("pareto_routes")
    if routes is None:
        return None
    _check(gamma, horizon)
    horizon = setup.horizon if horizon == -1 else horizon
    steps = MOST_STEPS if horizon is None else int(horizon)
    values, actions = routes(setup.values, steps, float(gamma))
    policies = [OpenLoopPolicy(each) for each in actions]
    return Front(values, policies, tuple(setup.world.terms), float(gamma), horizon, stochastic=False)


def _problem(env: Any, gamma: Any, horizon: Any) -> tuple[Model, Sequence[str], int | None]:
    """The model, the names of its objectives, the horizon, all checked."""
    _check(gamma, horizon)
    names: Sequence[str] = ()
    if isinstance(env, Model):
        model = env
    else:
        setup = batch_of(env).setup
        model, names = setup.exact_model(), tuple(setup.world.terms)
        horizon = setup.horizon if horizon == -1 else horizon
    if model.terms is None:
        raise ParameterError("this model has one reward and no terms; fronts need a model with terms")
    names = names or [f"objective {i}" for i in range(model.terms.shape[2])]
    return model, names, None if horizon is None or horizon == -1 else int(horizon)


def _check(gamma: Any, horizon: Any) -> None:
    """ParameterError where they are out of range."""
    checked_gamma(gamma)
    if horizon is not None and (isinstance(horizon, bool) or not isinstance(horizon, Integral) or horizon < -1):
        raise ParameterError(f"horizon={shortened(horizon)} must be a positive integer, -1 or None")
    if horizon == 0:
        raise ParameterError(
            "horizon=0 must be a positive integer, -1 for the world's time limit, or None for no limit"
        )


# --- Pareto fronts ----------------------------------------------------------------------------------------------------


class _Induction:
    """Sets of plans for every state, with one step more at a time."""

    def __init__(self, model: Model, gamma: float, most: int) -> None:
        assert model.terms is not None
        self.model, self.gamma, self.most, self.terms = model, gamma, most, model.terms
        self.starts = {int(state): float(model.start[state]) for state in np.flatnonzero(model.start)}
        self.follows = self._reachable()
        none = TreePolicy(-1, np.zeros(self.terms.shape[2]), {}, closed=False)
        self.plans: dict[int, list[TreePolicy]] = {state: [none] for state in self.follows}

    def _reachable(self) -> dict[int, list[tuple[int, np.ndarray, np.ndarray]]]:
        """Of each state that an episode may come to: actions, the states that may follow, with which probability."""
        found: dict[int, list[tuple[int, np.ndarray, np.ndarray]]] = {}
        waiting = list(self.starts)
        while waiting:
            state = waiting.pop()
            if state in found:
                continue
            found[state] = []
            for action in np.flatnonzero(self.model.allowed[state]):
                rows = self.model.P[action]
                part = slice(rows.indptr[state], rows.indptr[state + 1])
                found[state].append((int(action), rows.indices[part], rows.data[part]))
                waiting.extend(rows.indices[part].tolist())
        return found

    def root(self, steps: int, endless: bool) -> list[TreePolicy]:
        """The plans of an episode of so many steps."""
        changed: set[int] = set()
        for step in range(steps):
            before = self.plans
            self.plans = {
                state: self._better(state, before) if step == 0 or self._hangs_on(state, changed) else plans
                for state, plans in before.items()
            }
            changed = {state for state, plans in self.plans.items() if not _same(plans, before[state])}
            if not changed:
                break
        else:
            if endless:
                raise ParameterError(
                    f"the front still changes after {steps} steps; give a horizon (the world's time limit is -1)"
                )
        sums, chosen = self._sums(0.0 * self.terms[0, 0], list(self.starts), list(self.starts.values()), 1.0)
        found = [TreePolicy(-1, value, plans) for value, plans in zip(sums, chosen, strict=True)]
        return [plan for plan, kept in zip(found, nondominated(sums), strict=True) if kept]

    def _hangs_on(self, state: int, changed: set[int]) -> bool:
        return any(after in changed for _, states, _ in self.follows[state] for after in states.tolist())

    def _better(self, state: int, before: Mapping[int, list[TreePolicy]]) -> list[TreePolicy]:
        """What one step more gives; plans that need no more time stay the same objects."""
        found: list[TreePolicy] = []
        for action, states, chances in self.follows[state]:
            sums, chosen = self._sums(self.terms[state, action], states.tolist(), chances.tolist(), self.gamma)
            found += [TreePolicy(action, value, plans) for value, plans in zip(sums, chosen, strict=True)]
        old = [plan for plan in before[state] if plan.closed]
        together = old + found
        kept = nondominated(np.array([plan.value for plan in together]))
        plans = _known([plan for plan, keep in zip(together, kept, strict=True) if keep], old)
        self._check(len(plans))
        return plans

    def _sums(
        self, gain: np.ndarray, states: Sequence[int], chances: Sequence[float], gamma: float
    ) -> tuple[np.ndarray, list[dict[int, TreePolicy]]]:
        """A step's terms with one vector of each state that may follow, in all ways that may be of use."""
        values = gain[None]
        chosen: list[dict[int, TreePolicy]] = [{}]
        for state, chance in zip(states, chances, strict=True):
            plans = self.plans[state]
            more = gamma * chance * np.array([plan.value for plan in plans])
            self._check(len(values) * len(plans) // 100)
            values = (values[:, None] + more).reshape(-1, values.shape[1])
            kept = np.flatnonzero(nondominated(values))
            pairs = [divmod(int(i), len(plans)) for i in kept]
            values, chosen = values[kept], [{**chosen[i], state: plans[j]} for i, j in pairs]
            self._check(len(values))
        return values, chosen

    def _check(self, count: int) -> None:
        if count > self.most:
            raise TooManyPointsError(
                f"a state has more than {self.most} nondominated points; use coverage_set, a shorter horizon, or a "
                f"larger `most`"
            )


def _known(plans: list[TreePolicy], old: list[TreePolicy]) -> list[TreePolicy]:
    """The plans, those that are worth the same as an old one replaced by it."""
    if not old:
        return plans
    values = np.array([plan.value for plan in old])
    found = {}
    for plan in plans:
        near = np.flatnonzero((np.abs(values - plan.value) <= TOLERANCE).all(axis=1))
        each = old[near[0]] if near.size else plan
        found[id(each)] = each
    return list(found.values())


def _same(plans: list[TreePolicy], before: list[TreePolicy]) -> bool:
    """Whether nothing changes any more: the same objects, none of which waits for the end of the time."""
    return len(plans) == len(before) and all(a is b for a, b in zip(plans, before, strict=True))


# --- convex coverage sets ---------------------------------------------------------------------------------------------


class _LinearSupport:
    """Policies, and what they are worth, until no weights are left under which there is a better one."""

    def __init__(self, model: Model, gamma: float, horizon: int | None) -> None:
        assert model.terms is not None
        self.model, self.gamma, self.horizon, self.terms = model, gamma, horizon, model.terms
        self.values: list[np.ndarray] = []
        self.policies: list[Policy] = []
        self._asked: set[tuple[float, ...]] = set()

    def run(self) -> None:
        """Ask for policies at all corners, until none is better than what is there."""
        count = self.terms.shape[2]
        corners: Sequence[np.ndarray] = [*np.eye(count), np.full(count, 1.0 / count)]
        for _ in range(MOST_ROUNDS):
            news = [self._ask(weights) for weights in corners]
            if not any(news) or not corners:
                return
            corners = self._corners()
        raise ParameterError(f"the coverage set is not complete after {MOST_ROUNDS} rounds; give a shorter horizon")

    def _ask(self, weights: np.ndarray) -> bool:
        """Solve for the weights; whether that gives more than the policies so far."""
        key = tuple(np.round(weights, 12).tolist())
        if key in self._asked:
            return False
        self._asked.add(key)
        found = solve_mdp(self.model._replace(R=self.terms @ weights), self.gamma, self.horizon)
        known = max((float(value @ weights) for value in self.values), default=-np.inf)
        if found.start_value <= known + TOLERANCE * max(1.0, abs(known)):
            return False
        self.values.append(self._value(found))
        self.policies.append(TabularPolicy(found.policy))
        return True

    def _value(self, found: Solution) -> np.ndarray:
        """The vector that a policy is worth, term by term."""
        states = np.arange(len(self.model.start))
        if self.horizon is None:
            only = np.zeros(self.model.allowed.shape, bool)
            only[states, found.policy] = True
            alone = self.model._replace(allowed=only)
            parts = np.moveaxis(self.terms, 2, 0)
            return np.array([solve_mdp(alone._replace(R=part), self.gamma).start_value for part in parts])
        values = np.zeros((len(states), self.terms.shape[2]))
        for row in found.policy[::-1]:
            after = np.zeros_like(values)
            for action, matrix in enumerate(self.model.P):
                after[row == action] = (matrix @ values)[row == action]
            values = self.terms[states, row] + self.gamma * after
        return self.model.start @ values

    def _corners(self) -> Sequence[np.ndarray]:
        """The weights at the corners of the upper envelope of all values."""
        values = np.array(self.values)[supported(self.values)]
        if values.shape[1] == 1:
            return []
        return _corner_weights_of_pairs(values) if values.shape[1] == 2 else _corner_weights(values)


def _corner_weights_of_pairs(values: np.ndarray) -> list[np.ndarray]:
    """Where neighbors on the hull are worth the same."""
    order = values[np.argsort(values[:, 0])]
    found = []
    for (x, y), (x1, y1) in itertools.pairwise(order.tolist()):
        share = (y - y1) / ((x1 - x) + (y - y1))
        found.append(np.array([share, 1.0 - share]))
    return found


def _corner_weights(values: np.ndarray) -> list[np.ndarray]:
    """The corners of {(w, x): x >= w . value for all values, w on the simplex}, by SciPy's qhull."""
    from scipy.spatial import HalfspaceIntersection

    count, most = values.shape[1], float(np.abs(values).max()) + 1.0
    free = values[:, :-1] - values[:, -1:]  # the last weight is 1 minus the others
    above = np.column_stack([free, -np.ones(len(values)), values[:, -1]])
    simplex = np.column_stack([-np.eye(count - 1), np.zeros((count - 1, 2))])
    ends = np.array([[*[1.0] * (count - 1), 0.0, -1.0], [*[0.0] * (count - 1), 1.0, -4.0 * most]])
    inside = np.array([*[1.0 / count] * (count - 1), 2.0 * most])
    found = HalfspaceIntersection(np.vstack([above, simplex, ends]), inside).intersections
    found = found[(found[:, -1] < 3.0 * most) & np.isfinite(found).all(axis=1)]
    weights = np.clip(np.column_stack([found[:, :-1], 1.0 - found[:, :-1].sum(axis=1)]), 0.0, 1.0)
    return list(np.unique(np.round(weights / weights.sum(axis=1, keepdims=True), 12), axis=0))
