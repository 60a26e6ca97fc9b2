"""Adversaries: bounded perturbations of observations, actions, forces and parameters, scripted or by a second player.

A *move* u in [-1, 1]^k is what an adversary decides in a step. It proposes the perturbation eps * u, which is projected
to what is within reach:

    |p_t| <= eps    and, where `coupling` is given and the episode goes on,    |p_t - p_(t-1)| <= coupling

with the maximum norm ("linf") or the Euclidean one ("l2"): the temporally coupled perturbations of GRAD (Liang et al.,
arXiv 2307.12062). coupling >= 2 eps binds nothing; the paper's usual value is eps / 5. Both projections are exact.

Who moves is the setting `policy` of all adversaries:

| policy | move |
|---|---|
| "random" | uniform in [-1, 1]^k |
| "walk" | from p_(t-1) by a uniform step within `coupling`, or within eps / 5 without |
| a function, "module:name" | f(observation, perturbation), (slots, k), of the true observations and p_(t-1) |
| "given" | what somebody has written into the wrapper's array `move` (slots, k) |
| {"name": "gradient", "function": f, "steps": n} | of observations: down the slope f(observation) |
| {"name": "quantal", "moves": m, "values": f, "beta": b} | one of the slots of m (n, k), drawn |

"gradient" with one step is the fast gradient (sign) method; with more, projected gradient descent with steps of
2.5 eps / n. "quantal" is the boundedly rational adversary of QARL (Reddi et al., arXiv 2311.01642): a move's
probability is proportional to exp(-Q / beta), and f(observation) gives the values Q (slots, n) that the moves have for
the agent; beta -> 0 takes the worst, beta -> infinity any. Functions see all slots, also those of ended episodes.
`AdversarialGame` gives the moves to a second player instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium import spaces

from rlenvs.core.declare.errors import ParameterError, nearest
from rlenvs.wrappers.adversary_loops import (
    add_at,
    add_everywhere,
    add_to_actions,
    blend,
    decide,
    place_parameters,
    switch,
)
from rlenvs.wrappers.adversary_moves import Adversary, Mover, Moves, finite_like
from rlenvs.wrappers.channels import at, channels_of, replaced
from rlenvs.wrappers.masked import put_rows
from rlenvs.wrappers.robustness import OnParameters

ADDED, MIXED, SWITCHED = 0, 1, 2  # rules of ActionAdversary


@dataclass
class ObservationAdversary(Adversary):
    """An adversary that perturbs the observation, not the state (state-adversarial MDP, SA-MDP: Zhang et al., arXiv
    2003.08938).

    The adversary moves when it has seen the observation that it perturbs; the first one of an episode too. Observations
    are clipped to their space afterwards. The function of the policy "gradient" returns (slots, k), the slopes of the
    agent's value along the k channels.

    Info: `perturbation`, float64 (k,); `true_obs`, the observation as it was, unless a wrapper below reports it.

    Attributes:
        eps: bound of the perturbation, in units of the observation (worlds of this package scale theirs to [-1, 1]):
            one number, or with "linf" one per channel.
        channels: which of the observation's numbers are perturbed, by name, such as "position", "velocity[2]" or
            "[0:4]", or a list of names; None: all but "desired_goal".

    Raises:
        ParameterError: a negative bound, an unknown channel, an observation without real numbers.
    """

    eps: Any
    channels: Any = None

    def prepare(self) -> None:
        self.check_number("eps")
        self._chosen = channels_of(self)
        for k, chosen in enumerate(self._chosen):
            self.allocate(f"disturbed{k}", chosen.part.space.shape, chosen.part.space.dtype)
        self.shows_own()
        self.tells_truth = self.below.read("true_obs") is None
        self.bounded("eps", self.eps, sum(len(chosen.index) for chosen in self._chosen))

    def seen(self) -> Any:
        """The perturbed observation."""
        own = {chosen.part.path: getattr(self, f"disturbed{k}") for k, chosen in enumerate(self._chosen)}
        return replaced(self.below.observation, own)

    def begin_episode(self, slots: np.ndarray) -> None:
        super().begin_episode(slots)
        self.after_step(slots)

    def after_step(self, slots: np.ndarray) -> None:
        self.ask_mover(slots)
        super().after_step(slots)

    @property
    def looks_in_python(self) -> bool:
        """Where a function moves."""
        return self.moved_in_python

    def looking(self, slots: np.ndarray) -> Iterator[tuple[Any, ...]]:
        """Perturb the observation."""
        yield from self.attacking(slots)
        for k, chosen in enumerate(self._chosen):
            part, space = chosen.part, chosen.part.space
            truth = at(self.below.observation, part.path).reshape(self.count, -1)
            out = getattr(self, f"disturbed{k}").reshape(self.count, -1)
            bounds = space.low.ravel(), space.high.ravel()
            if len(chosen.index) == part.size == len(self.radius):
                yield add_everywhere, slots, truth, self.perturbation, *bounds, out
            else:
                yield put_rows, out, truth, slots
                places, columns = chosen.index.astype(np.uint64), chosen.order.astype(np.uint64)
                yield add_at, slots, truth, places, self.perturbation, columns, *bounds, out

    def entries(self) -> dict[str, Any]:
        told: dict[str, Any] = {"perturbation": self.perturbation}
        if self.tells_truth:
            told["true_obs"] = self.below.observation
        return told

    def _gradient(self, function: Any = None, steps: int = 1) -> Moves:
        self._function, self._descents = self._function_of(function, "function"), steps
        if isinstance(steps, bool) or not isinstance(steps, int) or steps < 1:
            raise self.setting_error("policy", f"has steps={steps!r}; needed: a whole number, at least 1")
        return self._gradient_moves

    def _gradient_moves(self, slots: np.ndarray) -> None:
        stride = 1.0 if self._descents == 1 else 2.5 / self._descents
        trial = np.zeros_like(self.perturbation)
        for _ in range(self._descents):
            slope = finite_like(self._function(self._shifted(trial)), trial.shape, "function")
            place = np.divide(trial, self.radius, out=np.zeros_like(trial), where=self.radius > 0.0)
            self.move[slots] = np.clip(place - stride * self._direction(slope), -1.0, 1.0)[slots]
            trial[:] = self.perturbation
            self.propose(slots, trial)

    def _shifted(self, p: np.ndarray) -> Any:
        """The observations with a perturbation, unclipped."""
        shifted = {}
        for chosen in self._chosen:
            truth = at(self.below.observation, chosen.part.path)
            numbers = truth.reshape(self.count, -1).copy()
            numbers[:, chosen.index] += p[:, chosen.order].astype(numbers.dtype)
            shifted[chosen.part.path] = numbers.reshape(truth.shape)
        return replaced(self.below.observation, shifted)

    def _direction(self, slope: np.ndarray) -> np.ndarray:
        """The steepest ascent in the norm, of length 1."""
        if not self.ball:
            return np.sign(slope)
        length = np.linalg.norm(slope, axis=1, keepdims=True)
        return np.divide(slope, length, out=np.zeros_like(slope), where=length > 0.0)


@dataclass
class ActionAdversary(Adversary):
    """An adversary that perturbs or replaces the agent's actions (Tessler et al., "Action robust reinforcement
    learning", ICML 2019).

    Three rules, by what is given. `eps` alone: the action is a + p, with |p| <= eps in units of the action. `weight`:
    the noisy action (1 - weight) * a + weight * b. `probability`: with it the adversary's action b in the place of
    the agent's. b is the point p of [-1, 1]^k in the action space; `eps`, then 1 unless given, bounds p. With
    `probability` actions may also be choices; b is then one of them, whatever masks say.

    Info: `raw_action`, what the policy said, and `action`, what the environment got (of several wrappers that report
    them, the highest one's and the lowest one's); `action_perturbation`, p as float64 (k,); with `probability` also
    `adversary_acted`, bool.

    Attributes:
        eps: bound of the perturbation, one number or one per channel with "linf".
        weight: share of the adversary in the action, within [0, 1].
        probability: that the adversary acts, within [0, 1].

    Raises:
        ParameterError: not exactly one rule, a number out of range, or choices with another rule than `probability`.
    """

    eps: Any = None
    weight: float | None = None
    probability: float | None = None

    def prepare(self) -> None:
        if self.weight is not None and self.probability is not None:
            raise self.setting_error("weight", "and `probability` exclude each other; give one of them")
        if self.weight is None and self.probability is None and self.eps is None:
            raise self.setting_error("eps", "is missing: give `eps`, `weight` or `probability`")
        self.rule, self.share = ADDED, 0.0
        for setting, rule in (("weight", MIXED), ("probability", SWITCHED)):
            if getattr(self, setting) is not None:
                self.check_number(setting, 0.0, 1.0)
                self.rule, self.share = rule, float(getattr(self, setting))
        if self.eps is not None:
            self.check_number("eps", 0.0, np.inf if self.rule == ADDED else 1.0)
        self.info_below = self.below.read("action") is not None
        self.entries_last = not self.info_below or self.lasting("action") is not None
        self.allocate("acted", dtype=np.bool_)
        self.acting_now = self.acted if self.rule == SWITCHED else np.ones(self.count, np.bool_)
        self._open_space()

    def _open_space(self) -> None:
        space, eps = self.action_space, 1.0 if self.eps is None else self.eps
        if isinstance(space, spaces.Box) and len(space.shape) == 1 and space.is_bounded():
            self.low, self.high = space.low.astype(np.float64), space.high.astype(np.float64)
            self.allocate("raw_action", space.shape, space.dtype)
            self.passed = self.allocate("action", space.shape, space.dtype)
            self.wanted = np.zeros((self.count, *space.shape))
            self.bounded("eps", eps, space.shape[0])
        elif isinstance(space, spaces.Discrete) and self.rule == SWITCHED:
            self.low, self.high = np.array([float(space.start)]), np.array([float(space.start + space.n - 1)])
            self.allocate("raw_action", dtype=np.int64)
            self.passed = self.allocate("action", dtype=np.int64)
            self.wanted = np.zeros((self.count, 1))
            self.bounded("eps", eps, 1)
        else:
            wanted = "bounded vectors of numbers or, with `probability`, choices"
            raise ParameterError(f"ActionAdversary: {self.name} has actions {space}; needed: {wanted}")

    def begin_episode(self, slots: np.ndarray) -> None:
        super().begin_episode(slots)
        self.raw_action[slots], self.action[slots], self.acted[slots] = 0, 0, False

    def act(self, actions: np.ndarray, slots: np.ndarray) -> np.ndarray:
        self.ask_mover(slots)
        return super().act(actions, slots)

    @property
    def acts_in_python(self) -> bool:
        """Where a function moves."""
        return self.moved_in_python

    def acting(self, slots: np.ndarray) -> Iterator[tuple[Any, ...]]:
        """Choose the adversary's move and apply the rule."""
        yield from self.attacking(slots)
        if self.rule == SWITCHED:
            yield decide, slots, self.key, self.time, self.share, self.acted
        told = self.raw_action, self.action
        bounds = self.low, self.high
        if not self.continuous:
            yield switch, slots, self.wanted, self.perturbation, self.acted, *bounds, *told
        elif self.rule == ADDED:
            yield add_to_actions, slots, self.wanted, self.perturbation, *bounds, *told
        else:
            weight = 1.0 if self.rule == SWITCHED else self.share
            yield blend, slots, self.wanted, self.perturbation, self.acting_now, weight, *bounds, *told

    def entries(self) -> dict[str, Any]:
        executed = self.below.read("action") if self.info_below else self.action
        told = {"raw_action": self.raw_action, "action": executed, "action_perturbation": self.perturbation}
        return {**told, "adversary_acted": self.acted} if self.rule == SWITCHED else told


# RARL (Pinto et al., ICML 2017), as RRLS has them; whether the body is planar
FORCED_BODIES = {
    "Ant-v0": (("torso", "front_left_leg", "front_right_leg"), False),
    "HalfCheetah-v0": (("torso", "bfoot", "ffoot"), True),
    "Hopper-v0": (("foot",), True),
    "HumanoidStandup-v0": (("torso", "right_thigh", "left_foot"), False),
    "InvertedPendulum-v0": (("pole",), True),
    "Walker2d-v0": (("leg", "foot_left"), True),
}


@dataclass
class ForceAdversary(Adversary):
    """An adversary that pushes bodies of a MuJoCo world with forces at their centers of mass, in world axes, held for a
    step.

    The forces are MuJoCo's `xfrc_applied`; what a world observes of external forces (Ant's contacts) contains them.
    RRLS pushes along x and y, which does nothing along y to planar robots; they are pushed along x and z unless
    axes="xy".

    Info: `force`, float64 (k,) in N: the first body's axes, then the next one's.

    Attributes:
        bodies: their names in the model; None: those of RRLS's force sets, for Ant-v0, HalfCheetah-v0, Hopper-v0,
            HumanoidStandup-v0, InvertedPendulum-v0 and Walker2d-v0.
        limit: bound of the force in N, one number or, with "linf", one per component. RRLS has 3.
        axes: the components, out of "xyz"; None: "xz" for the planar ones of these robots, "xy" for all others.

    Raises:
        ParameterError: not a MuJoCo world, an unknown body or axis, a negative bound.
    """

    bodies: list[str] | None = None
    limit: Any = 3.0
    axes: str | None = None

    def prepare(self) -> None:
        if self.batch is None or "xfrc_applied" not in (self.batch.states.dtype.names or ()) or self.agents > 1:
            raise self.setting_error(
                "bodies", f"requires a single-agent world simulated by MuJoCo; {self.name} is not one"
            )
        _, planar = FORCED_BODIES.get(self.name, ((), False))
        axes = ("xz" if planar else "xy") if self.axes is None else self.axes
        if not isinstance(axes, str) or not axes or sorted({*axes} & {*"xyz"}) != sorted(axes):
            raise self.setting_error("axes", 'must be different letters of "xyz"')
        self.check_number("limit")
        self._ids, self._columns = self._bodies(), np.array(["xyz".index(axis) for axis in axes])
        self.bounded("limit", self.limit, len(self._ids) * len(self._columns))

    def _bodies(self) -> np.ndarray:
        model = self.batch.engine.model
        known = [model.body(i).name for i in range(model.nbody)]
        chosen = FORCED_BODIES.get(self.name, ((), False))[0] if self.bodies is None else self.bodies
        if not chosen:
            raise self.setting_error(
                "bodies", f"must name some: {self.name} has {[name for name in known[1:] if name]}"
            )
        for name in chosen:
            if name not in known[1:] or not name:
                raise self.setting_error("bodies", f"has {name!r}. {nearest(str(name), known[1:])}")
        return np.array([known.index(name) for name in chosen])

    def act(self, actions: np.ndarray, slots: np.ndarray) -> np.ndarray:
        self.attack(slots)
        field = self.batch.states["xfrc_applied"]
        forces = self.perturbation[slots].reshape(-1, len(self._ids), len(self._columns))
        field[np.ix_(np.flatnonzero(slots), self._ids, self._columns)] = forces
        return actions

    def entries(self) -> dict[str, Any]:
        return {"force": self.perturbation}


@dataclass
class ParameterAdversary(OnParameters, Mover):
    """An adversary that changes physical parameters within an uncertainty set, with bounded speed, in every step
    (transition uncertainty).

    An episode begins with the nominal values. The set is the linear image of the moves' cube: RRLS's DynamicAdversarial
    (Zouitine et al., arXiv 2406.08406) with, besides, a bounded rate. The agents of a world are in it together: in the
    parallel form the first agent's slot counts.

    Info: `parameters`, float64 (k,), in the order of the set. With MuJoCo every change compiles a model, some 8 ms a
    world.

    Attributes:
        set: an `UncertaintySet`, its ranges {name: (low, high)}, or the name of a published one ("rrls-ant-2").
        rate: largest change in a step: as a share of each range, or {name: change in the parameter's unit}; None: any.

    Raises:
        ParameterError: a parameter that the world does not have, a range wider than it allows, nominal values outside.
    """

    set: Any
    rate: Any = None
    free_start = False

    def prepare(self) -> None:
        super().prepare()
        self.nominal = self.region.nominal(self.usual)
        self.half = 0.5 * (self.high - self.low)
        offset = self.nominal - 0.5 * (self.low + self.high)
        self.home = np.divide(offset, self.half, out=np.zeros_like(offset), where=self.half > 0.0)
        self.equip(np.ones(len(self.names)), self._reach(), "linf")
        self._rows: Any = None  # the batch's parameters, where loops may write them
        # within the set they cannot contradict each other, nor those that somebody else may have changed
        together = all(self._decides(rule) for rule in self.batch.world.constraints)
        self._by_loops = together and self.agents == 1 and not self.batch.moved_by_engine

    def _decides(self, rule: Any) -> bool:
        """Whether a constraint is about parameters of the set alone, or about none of them."""
        return {*rule.names} <= {*self.names} or {*rule.names}.isdisjoint(self.names)

    def _reach(self) -> np.ndarray:
        """The rate, as a change of places in [-1, 1]."""
        names = self.names
        if isinstance(self.rate, Mapping):
            if {*self.rate} != {*names}:
                raise self.setting_error("rate", f"must have an entry for each of {list(names)}")
            changes = np.array([self.rate[name] for name in names], np.float64)
            if not (changes >= 0.0).all():
                raise self.setting_error("rate", "must be at least 0")
            return np.divide(changes, self.half, out=np.zeros_like(changes), where=self.half > 0.0)
        if self.rate is None:
            return np.full(len(names), np.inf)
        self.check_number("rate")
        if np.ndim(self.rate):
            raise self.setting_error("rate", "must be one number, or {name: number}")
        return np.full(len(names), 2.0 * self.rate)

    def assign(self, worlds: np.ndarray) -> None:
        """Reset to the nominal values."""
        self.fill(self.values, worlds, np.broadcast_to(self.nominal, (len(worlds), len(self.names))))

    def begin_episode(self, slots: np.ndarray) -> None:
        self.perturbation[slots] = self.home

    @property
    def clock(self) -> np.ndarray:
        """The steps of the world's episode so far, counted by the agent that lives longest."""
        return self.time if self.agents == 1 else self._by_world(self.time)

    def _by_world(self, values: np.ndarray) -> np.ndarray:
        return np.repeat(values.reshape(-1, self.agents).max(axis=1), self.agents)

    def act(self, actions: np.ndarray, slots: np.ndarray) -> np.ndarray:
        slots = slots if self.agents == 1 else self._by_world(slots)
        self.ask_mover(slots)
        if self._by_loops and self.batch.own_params() is not self._rows:
            self._rows = self.batch.own_params()
            self.unbind()
        self.run_all("place", self._placing, slots)
        if not self._by_loops:
            if self.agents > 1:
                self.values[:] = np.repeat(self.values[:: self.agents], self.agents, axis=0)
            self.set_params({name: self.values[:, j] for j, name in enumerate(self.names)}, slots)
        return actions

    def _placing(self, slots: np.ndarray) -> Iterator[tuple[Any, ...]]:
        yield from self.attacking(slots)
        cube = self.perturbation, self.home, self.nominal
        yield place_parameters, slots, *cube, self.low, self.high, self.values
        for j, name in enumerate(self.names if self._by_loops else ()):
            yield put_rows, self._rows[name][:, None], self.values[:, j : j + 1], slots
