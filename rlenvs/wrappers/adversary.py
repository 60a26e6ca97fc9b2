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
| a function, "module:name" | f(observation, perturbation), (rows, k), of the true observations and p_(t-1) |
| "given" | what somebody has written into the layer's array `move` (rows, k) |
| {"name": "gradient", "function": f, "steps": n} | of observations: down the slope f(observation) |
| {"name": "quantal", "moves": m, "values": f, "beta": b} | one of the rows of m (n, k), drawn |

"gradient" with one step is the fast gradient (sign) method; with more, projected gradient descent with steps of
2.5 eps / n. "quantal" is the boundedly rational adversary of QARL (Reddi et al., arXiv 2311.01642): a move's
probability is proportional to exp(-Q / beta), and f(observation) gives the values Q (rows, n) that the moves have for
the agent; beta -> 0 takes the worst, beta -> infinity any. Functions see all rows, also those of ended episodes.
`AdversarialGame` gives the moves to a second player instead.
"""

from __future__ import annotations

import copy
import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from pettingzoo import ParallelEnv

from rlenvs.core.cache import compiled
from rlenvs.core.errors import ActionError, EpisodeOverError, ParameterError, nearest
from rlenvs.wrappers.channels import at, channels_of, replaced
from rlenvs.wrappers.forms import WrappedEnv, row_of, wrap
from rlenvs.wrappers.layer import Layer, named
from rlenvs.wrappers.masked import put
from rlenvs.wrappers.randomness import bits_at, uniform_of
from rlenvs.wrappers.robustness import OnParameters, uniforms

Moves = Callable[[np.ndarray], None]

SWITCHING = 1 << 19  # place of the number that decides whether the adversary acts
STEP = 0.2  # of a random walk without coupling, as a multiple of eps
NORMS = ("linf", "l2")
SIXTEEN = 0xFFFF
ADDED, MIXED, SWITCHED = 0, 1, 2  # rules of ActionAdversary
ROUNDING = 1.0 + 1e-14  # what a squared length may be too large by
OPTIONS = {"gradient": ("function", "steps"), "quantal": ("moves", "values", "beta")}


@dataclass(kw_only=True)
class Mover(Layer):
    """A layer in which somebody moves; the module's docstring says who, and what comes of it.

    Attributes:
        policy: who moves.
    """

    policy: Any = "random"
    free_start = True  # whether the first perturbation of an episode is coupled to nothing

    def equip(self, radius: np.ndarray, reach: np.ndarray, norm: str) -> None:
        """Make room for k moves. radius: bounds of the perturbation, (k,); reach: of its change in a step, (k,)."""
        self.radius, self.reach, self.ball = radius, reach, norm == "l2"
        self._always = np.ones(self.count, np.bool_)
        self.inverse = np.divide(1.0, radius, out=np.zeros_like(radius), where=radius > 0.0)
        self.step_size = np.where(np.isfinite(reach), np.minimum(reach, radius), STEP * radius)
        self.keep("move", radius.shape)
        self.keep("perturbation", radius.shape)
        self._moves = self._player()

    def begin(self, rows: np.ndarray) -> None:
        """An episode begins unperturbed."""
        self.perturbation[rows] = 0.0

    def attack(self, rows: np.ndarray) -> None:
        """Move, and perturb."""
        self._moves(rows)
        self.propose(rows, self.perturbation)

    def propose(self, rows: np.ndarray, p: np.ndarray) -> None:
        """Put the perturbation that the move comes to in the place of the last one."""
        coupled = self.clock > 0 if self.free_start else self._always
        if self.ball:
            project_ball(rows, coupled, self.move, self.radius[0], self.reach[0], p)
        else:
            project_box(rows, coupled, self.move, self.radius, self.reach, p)

    @property
    def clock(self) -> np.ndarray:
        """The steps made in the episode, (rows,)."""
        return self.time

    # --- who moves ----------------------------------------------------------------------------------------------------

    def _player(self) -> Moves:
        """What fills `move`."""
        own = {"random": self._random, "walk": self._walk, "given": self._given}
        if isinstance(self.policy, Mapping):
            return self._player_with_options(dict(self.policy))
        if isinstance(self.policy, str) and self.policy in own:
            return own[self.policy]
        if isinstance(self.policy, str) and ":" not in self.policy:
            known = f'one of {list(own)}, {{"name": one of {list(OPTIONS)}, ...}}, or a function'
            raise self.refuse("policy", f"must be {known}")
        self._function = self.function("policy")
        return self._called

    def _given(self, rows: np.ndarray) -> None:
        """Somebody else has filled `move`."""

    def _random(self, rows: np.ndarray) -> None:
        draw_moves(rows, self.key, self.clock, self.move)

    def _walk(self, rows: np.ndarray) -> None:
        draw_moves(rows, self.key, self.clock, self.move)
        walk(rows, self.perturbation, self.step_size, self.inverse, self.move)

    def _player_with_options(self, options: dict[str, Any]) -> Moves:
        name = options.pop("name", None)
        if name not in OPTIONS or set(options) - set(OPTIONS[name]):
            wanted = [f'{{"name": "{name}"}} with {list(keys)}' for name, keys in OPTIONS.items()]
            raise self.refuse("policy", f"is none of: {'; '.join(wanted)}")
        return self._gradient(**options) if name == "gradient" else self._quantal(**options)

    def _gradient(self, function: Any = None, steps: int = 1) -> Moves:
        raise self.refuse("policy", "goes for perturbed observations only")

    def _quantal(self, moves: Any = None, values: Any = None, beta: float = 1.0) -> Moves:
        self._table = np.asarray(moves, np.float64)
        size = len(self.radius)
        if self._table.ndim != 2 or self._table.shape[1] != size or not (np.abs(self._table) <= 1.0).all():
            raise self.refuse("policy", f"has moves {moves!r}; needed: (n, {size}) numbers in [-1, 1]")
        if isinstance(beta, bool) or not isinstance(beta, (int, float)) or not beta >= 0.0:
            raise self.refuse("policy", f"has beta={beta!r}; needed: a number, at least 0")
        self._function, self._beta = self._function_of(values, "values"), float(beta)
        return self._quantal_moves

    def _function_of(self, value: Any, option: str) -> Callable[..., Any]:
        found = named(value) if isinstance(value, str) and ":" in value else value
        if not callable(found):
            raise self.refuse("policy", f'has no {option!r}: a function, or its address "module:name"')
        return found

    def _quantal_moves(self, rows: np.ndarray) -> None:
        found = _numbers(self._function(self.below.observation), (self.count, len(self._table)), "values")
        uniform = np.empty((self.count, 1))
        uniforms(self.key, self.clock, 0, uniform)
        self.move[rows] = self._table[quantal_choice(found, self._beta, uniform[:, 0])][rows]

    def _called(self, rows: np.ndarray) -> None:
        found = self._function(self.below.observation, self.perturbation.copy())
        self.move[rows] = np.clip(_numbers(found, self.move.shape, "policy")[rows], -1.0, 1.0)


@dataclass(kw_only=True)
class Adversary(Mover):
    """What adversaries have whose perturbations are bounded by a norm.

    Attributes:
        coupling: how far the perturbation may go in a step, in its unit, one number or, with "linf", one per channel;
            None: as far as its bound.
        norm: "linf" or "l2".
    """

    coupling: Any = None
    norm: str = "linf"

    def bounded(self, setting: str, bound: Any, size: int) -> None:
        """Make room for k moves whose bound, one number or (k,), is a setting."""
        self.check_choice("norm", NORMS)
        if self.coupling is not None:
            self.check_number("coupling")
        radius = self._sized(setting, bound, size)
        reach = self._sized("coupling", np.inf if self.coupling is None else self.coupling, size)
        if self.norm == "l2":
            if np.ndim(bound) or np.ndim(self.coupling):
                raise self.refuse(
                    "norm", f'wants one number for `{setting}` and `coupling`; "linf" takes one per channel'
                )
            if reach[0] >= 2.0 * radius[0]:
                reach[:] = np.inf  # binds nothing, and shall not by rounding
        self.equip(radius, reach, self.norm)

    def _sized(self, setting: str, value: Any, size: int) -> np.ndarray:
        numbers = np.asarray(value, np.float64)
        if numbers.shape not in ((), (size,)):
            raise ParameterError(f"{type(self).__name__}: {setting}={value!r} must be one number, or {size}")
        return np.broadcast_to(numbers, size).copy()


def _numbers(value: Any, shape: tuple[int, ...], setting: str) -> np.ndarray:
    array = np.asarray(value)
    if array.shape != shape or array.dtype.kind not in "fiu" or not np.isfinite(array).all():
        raise ParameterError(
            f"the function `{setting}` returned {array.shape}; needed: finite numbers of shape {shape}"
        )
    return array.astype(np.float64)


def quantal_choice(values: np.ndarray, beta: float, uniform: np.ndarray) -> np.ndarray:
    """Which moves a boundedly rational adversary makes: drawn with probabilities proportional to exp(-values / beta).

    Args:
        values: of the moves for the agent, (rows, n). beta: temperature; 0 takes the least value, the first one of
            equals. uniform: numbers of [0, 1), (rows,).

    Returns:
        indices (rows,).
    """
    least = values.min(axis=1, keepdims=True)
    if beta == 0.0:
        return np.argmin(values, axis=1)
    with np.errstate(over="ignore"):
        weights = np.exp(-(values - least) / beta)
    sums = np.cumsum(weights, axis=1)
    return np.minimum((sums <= uniform[:, None] * sums[:, -1:]).sum(axis=1), values.shape[1] - 1)


# --- adversaries ------------------------------------------------------------------------------------------------------


@dataclass
class StateAdversary(Adversary):
    """Perturbs what the agent observes, not what is (state-adversarial MDP: Zhang et al., arXiv 2003.08938).

    The adversary moves when it has seen the observation that it perturbs; the first one of an episode too. Observations
    are clipped to their space afterwards. The function of the policy "gradient" returns (rows, k), the slopes of the
    agent's value along the k channels.

    Info: `perturbation`, float64 (k,); `true_obs`, the observation as it was, unless a layer below tells it.

    Attributes:
        eps: bound of the perturbation, in units of the observation (worlds of this package scale theirs to [-1, 1]):
            one number, or with "linf" one per channel.
        channels: which of the observation's numbers are perturbed, by name, such as "position", "velocity[2]" or
            "[0:4]", or a list of names; None: all.

    Raises:
        ParameterError: a negative bound, an unknown channel, an observation without real numbers.
    """

    eps: Any
    channels: Any = None

    def prepare(self) -> None:
        self.check_number("eps")
        self._chosen = channels_of(self)
        for k, chosen in enumerate(self._chosen):
            self.keep(f"disturbed{k}", chosen.part.space.shape, chosen.part.space.dtype)
        self.tells_truth = self.below.read("true_obs") is None
        self.bounded("eps", self.eps, sum(len(chosen.index) for chosen in self._chosen))

    @property
    def observation(self) -> Any:
        """What the agent sees."""
        own = {chosen.part.path: getattr(self, f"disturbed{k}") for k, chosen in enumerate(self._chosen)}
        return replaced(self.below.observation, own)

    def begin(self, rows: np.ndarray) -> None:
        super().begin(rows)
        self.after(rows)

    def after(self, rows: np.ndarray) -> None:
        self.attack(rows)
        for k, chosen in enumerate(self._chosen):
            part, space = chosen.part, chosen.part.space
            truth = at(self.below.observation, part.path).reshape(self.count, -1)
            out = getattr(self, f"disturbed{k}").reshape(self.count, -1)
            bounds = space.low.ravel(), space.high.ravel()
            if len(chosen.index) == part.size == len(self.radius):
                add_everywhere(rows, truth, self.perturbation, *bounds, out)
            else:
                put(out, truth, rows)
                places, columns = chosen.index.astype(np.uint64), chosen.order.astype(np.uint64)
                add_at(rows, truth, places, self.perturbation, columns, *bounds, out)

    def told(self) -> dict[str, Any]:
        told: dict[str, Any] = {"perturbation": self.perturbation}
        if self.tells_truth:
            told["true_obs"] = self.below.observation
        return told

    def _gradient(self, function: Any = None, steps: int = 1) -> Moves:
        self._function, self._descents = self._function_of(function, "function"), steps
        if isinstance(steps, bool) or not isinstance(steps, int) or steps < 1:
            raise self.refuse("policy", f"has steps={steps!r}; needed: a whole number, at least 1")
        return self._gradient_moves

    def _gradient_moves(self, rows: np.ndarray) -> None:
        stride = 1.0 if self._descents == 1 else 2.5 / self._descents
        trial = np.zeros_like(self.perturbation)
        for _ in range(self._descents):
            slope = _numbers(self._function(self._shifted(trial)), trial.shape, "function")
            place = np.divide(trial, self.radius, out=np.zeros_like(trial), where=self.radius > 0.0)
            self.move[rows] = np.clip(place - stride * self._direction(slope), -1.0, 1.0)[rows]
            trial[:] = self.perturbation
            self.propose(rows, trial)

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
    """Has a hand in the agent's actions (Tessler et al., "Action robust reinforcement learning", ICML 2019).

    Three rules, by what is given. `eps` alone: the action is a + p, with |p| <= eps in units of the action. `weight`:
    the noisy action (1 - weight) * a + weight * b. `probability`: with it the adversary's action b in the place of
    the agent's. b is the point p of [-1, 1]^k in the action space; `eps`, then 1 unless given, bounds p. With
    `probability` actions may also be choices; b is then one of them, whatever masks say.

    Info: `raw_action`, what the policy said, and `action`, what the environment got (of several layers that tell them,
    the highest one's and the lowest one's); `action_perturbation`, p as float64 (k,); with `probability` also
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
            raise self.refuse("weight", "and `probability` are two rules; give one of them")
        if self.weight is None and self.probability is None and self.eps is None:
            raise self.refuse("eps", "is missing: give `eps`, `weight` or `probability`")
        self.rule, self.share = ADDED, 0.0
        for setting, rule in (("weight", MIXED), ("probability", SWITCHED)):
            if getattr(self, setting) is not None:
                self.check_number(setting, 0.0, 1.0)
                self.rule, self.share = rule, float(getattr(self, setting))
        if self.eps is not None:
            self.check_number("eps", 0.0, np.inf if self.rule == ADDED else 1.0)
        self.told_below = self.below.read("action") is not None
        self.keep("acted", dtype=np.bool_)
        self._open_space()

    def _open_space(self) -> None:
        space, eps = self.action_space, 1.0 if self.eps is None else self.eps
        if isinstance(space, spaces.Box) and len(space.shape) == 1 and space.is_bounded():
            self.low, self.high = space.low.astype(np.float64), space.high.astype(np.float64)
            self.keep("raw_action", space.shape, space.dtype)
            self.keep("action", space.shape, space.dtype)
            self.bounded("eps", eps, space.shape[0])
        elif isinstance(space, spaces.Discrete) and self.rule == SWITCHED:
            self.low, self.high = np.array([float(space.start)]), np.array([float(space.start + space.n - 1)])
            self.keep("raw_action", dtype=np.int64)
            self.keep("action", dtype=np.int64)
            self.bounded("eps", eps, 1)
        else:
            wanted = "bounded vectors of numbers or, with `probability`, choices"
            raise ParameterError(f"ActionAdversary: {self.name} has actions {space}; needed: {wanted}")

    def begin(self, rows: np.ndarray) -> None:
        super().begin(rows)
        self.raw_action[rows], self.action[rows], self.acted[rows] = 0, 0, False

    def act(self, actions: np.ndarray, rows: np.ndarray) -> np.ndarray:
        self.attack(rows)
        if self.rule == SWITCHED:
            decide(rows, self.key, self.time, self.share, self.acted)
        if not self.continuous:
            self.raw_action[rows] = actions[rows]
            self.action[rows] = np.where(self.acted, self._choices(), actions)[rows]
            return self.action
        bounds = self.low, self.high
        if self.rule == ADDED:
            add_to_actions(rows, actions, self.perturbation, *bounds, self.raw_action, self.action)
        else:
            share = self.acted if self.rule == SWITCHED else np.ones(self.count, np.bool_)
            weight = 1.0 if self.rule == SWITCHED else self.share
            blend(rows, actions, self.perturbation, share, weight, *bounds, self.raw_action, self.action)
        return self.action

    def _choices(self) -> np.ndarray:
        """The choices that the perturbations, numbers of [-1, 1], stand for."""
        count = self.high[0] - self.low[0] + 1.0
        steps = np.floor(0.5 * (self.perturbation[:, 0] + 1.0) * count)
        return (self.low[0] + np.minimum(steps, count - 1.0)).astype(np.int64)

    def told(self) -> dict[str, Any]:
        executed = self.below.read("action") if self.told_below else self.action
        told = {"raw_action": self.raw_action, "action": executed, "action_perturbation": self.perturbation}
        return {**told, "adversary_acted": self.acted} if self.rule == SWITCHED else told


# RARL (Pinto et al., ICML 2017), as RRLS has them
FORCED_BODIES = {
    "Ant-v0": ("torso", "front_left_leg", "front_right_leg"),
    "HalfCheetah-v0": ("torso", "bfoot", "ffoot"),
}


@dataclass
class ForceAdversary(Adversary):
    """Pushes bodies of a MuJoCo world: forces at their centres of mass, in axes of the world, held for a step.

    The forces are MuJoCo's `xfrc_applied`; what a world observes of external forces (Ant's contacts) contains them. A
    push along y does nothing to the HalfCheetah, which is planar; take axes="xz" there.

    Info: `force`, float64 (k,) in N: the first body's axes, then the next one's.

    Attributes:
        bodies: their names in the model; None: those of RRLS's force sets, for Ant-v0 and HalfCheetah-v0.
        limit: bound of the force in N, one number or, with "linf", one per component. RRLS has 3.
        axes: the components, out of "xyz".

    Raises:
        ParameterError: not a MuJoCo world, an unknown body or axis, a negative bound.
    """

    bodies: list[str] | None = None
    limit: Any = 3.0
    axes: str = "xy"

    def prepare(self) -> None:
        if self.batch is None or "xfrc_applied" not in (self.batch._states.dtype.names or ()) or self.agents > 1:
            raise self.refuse("bodies", f"needs a single-agent world that MuJoCo moves; {self.name} is not one")
        if not isinstance(self.axes, str) or not self.axes or sorted({*self.axes} & {*"xyz"}) != sorted(self.axes):
            raise self.refuse("axes", 'must be different letters out of "xyz"')
        self.check_number("limit")
        self._ids, self._columns = self._bodies(), np.array(["xyz".index(axis) for axis in self.axes])
        self.bounded("limit", self.limit, len(self._ids) * len(self._columns))

    def _bodies(self) -> np.ndarray:
        model = self.batch.engine.model
        known = [model.body(i).name for i in range(model.nbody)]
        chosen = FORCED_BODIES.get(self.name) if self.bodies is None else self.bodies
        if not chosen:
            raise self.refuse("bodies", f"must name some: {self.name} has {[name for name in known[1:] if name]}")
        for name in chosen:
            if name not in known[1:] or not name:
                raise self.refuse("bodies", f"has {name!r}. {nearest(str(name), known[1:])}")
        return np.array([known.index(name) for name in chosen])

    def act(self, actions: np.ndarray, rows: np.ndarray) -> np.ndarray:
        self.attack(rows)
        field = self.batch._states["xfrc_applied"]
        forces = self.perturbation[rows].reshape(-1, len(self._ids), len(self._columns))
        field[np.ix_(np.flatnonzero(rows), self._ids, self._columns)] = forces
        return actions

    def told(self) -> dict[str, Any]:
        return {"force": self.perturbation}


@dataclass
class ParameterAdversary(OnParameters, Mover):
    """Moves physical parameters within an uncertainty set, with bounded speed, in every step (transition uncertainty).

    An episode begins with the nominal values. The set is the linear image of the moves' cube: RRLS's DynamicAdversarial
    (Zouitine et al., arXiv 2406.08406) with, besides, a bounded rate. The agents of a world are in it together: in the
    parallel form the first agent's row counts.

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

    def _reach(self) -> np.ndarray:
        """The rate, as a change of places in [-1, 1]."""
        names = self.names
        if isinstance(self.rate, Mapping):
            if {*self.rate} != {*names}:
                raise self.refuse("rate", f"must have an entry for each of {list(names)}")
            changes = np.array([self.rate[name] for name in names], np.float64)
            if not (changes >= 0.0).all():
                raise self.refuse("rate", "must be at least 0")
            return np.divide(changes, self.half, out=np.zeros_like(changes), where=self.half > 0.0)
        if self.rate is None:
            return np.full(len(names), np.inf)
        self.check_number("rate")
        if np.ndim(self.rate):
            raise self.refuse("rate", "must be one number, or {name: number}")
        return np.full(len(names), 2.0 * self.rate)

    def assign(self, worlds: np.ndarray) -> None:
        """Back to the nominal values."""
        self.fill(self.values, worlds, np.broadcast_to(self.nominal, (len(worlds), len(self.names))))

    def begin(self, rows: np.ndarray) -> None:
        self.perturbation[rows] = self.home

    @property
    def clock(self) -> np.ndarray:
        """The steps made in the world's episode: by its agent that lives longest."""
        return self.time if self.agents == 1 else self._by_world(self.time)

    def _by_world(self, values: np.ndarray) -> np.ndarray:
        return np.repeat(values.reshape(-1, self.agents).max(axis=1), self.agents)

    def act(self, actions: np.ndarray, rows: np.ndarray) -> np.ndarray:
        rows = rows if self.agents == 1 else self._by_world(rows)
        self.attack(rows)
        place_parameters(rows, self.perturbation, self.home, self.nominal, self.low, self.high, self.values)
        if self.agents > 1:
            self.values[:] = np.repeat(self.values[:: self.agents], self.agents, axis=0)
        self.set_params({name: self.values[:, j] for j, name in enumerate(self.names)}, rows)
        return actions


# --- compiled ---------------------------------------------------------------------------------------------------------


@compiled(nogil=True)
def draw_moves(rows: np.ndarray, key: np.ndarray, time: np.ndarray, move: np.ndarray) -> None:
    """Uniform numbers of (-1, 1), four from each 64 bits."""
    for i in range(len(rows)):
        if rows[i]:
            bits = np.int64(0)
            for j in range(move.shape[1]):
                bits = np.int64(bits_at(key[i], time[i], j // 4)) if j % 4 == 0 else bits >> 16
                move[i, j] = (float(bits & SIXTEEN) + 0.5) * (1.0 / 32768.0) - 1.0


@compiled(nogil=True)
def walk(rows: np.ndarray, p: np.ndarray, step: np.ndarray, inverse: np.ndarray, move: np.ndarray) -> None:
    """Turn uniform moves into those of a random walk from the last perturbations."""
    for i in range(len(rows)):
        if rows[i]:
            for j in range(inverse.size):
                u = (p[i, j] + step[j] * move[i, j]) * inverse[j]
                u = -1.0 if u < -1.0 else u
                move[i, j] = 1.0 if u > 1.0 else u


@compiled(nogil=True)
def project_box(
    rows: np.ndarray,
    coupled: np.ndarray,
    move: np.ndarray,
    radius: np.ndarray,
    reach: np.ndarray,
    p: np.ndarray,
) -> None:
    """Put radius * move, clipped to within `reach` of p and to within `radius` of 0, into p."""
    for i in range(len(rows)):
        if rows[i]:
            if coupled[i]:
                for j in range(radius.size):
                    x, low, high = radius[j] * move[i, j], p[i, j] - reach[j], p[i, j] + reach[j]
                    x = low if x < low else x
                    x = high if x > high else x
                    x = -radius[j] if x < -radius[j] else x
                    p[i, j] = radius[j] if x > radius[j] else x
            else:
                for j in range(radius.size):
                    p[i, j] = radius[j] * move[i, j]


@compiled(nogil=True, fastmath={"reassoc"})
def project_ball(
    rows: np.ndarray,
    coupled: np.ndarray,
    move: np.ndarray,
    radius: float,
    reach: float,
    p: np.ndarray,
) -> None:
    """Put the point closest to radius * move, in the balls of `reach` around p and of `radius` around 0, into p."""
    for i in range(len(rows)):
        if rows[i]:
            xx, xc, cc = 0.0, 0.0, 0.0
            for j in range(p.shape[1]):
                x = radius * move[i, j]
                xx += x * x
                xc += x * p[i, j]
                cc += p[i, j] * p[i, j]
            of_x, of_c = closest(xx, xc, cc, radius, reach if coupled[i] else np.inf)
            for j in range(p.shape[1]):
                p[i, j] = of_x * (radius * move[i, j]) + of_c * p[i, j]


@compiled(nogil=True)
def closest(xx: float, xc: float, cc: float, radius: float, reach: float) -> tuple[float, float]:
    """The point closest to x in |y| <= radius and |y - c| <= reach, as y = first * x + second * c, from the inner
    products of x and c. |c| <= radius."""
    most, far = radius * radius * ROUNDING, reach * reach * ROUNDING
    inner = 1.0 if xx <= most else radius / math.sqrt(xx)
    if inner * inner * xx - 2.0 * inner * xc + cc <= far:
        return inner, 0.0
    off = xx - 2.0 * xc + cc
    outer = 1.0 if off <= far else reach / math.sqrt(off)
    if outer * outer * xx + 2.0 * outer * (1.0 - outer) * xc + (1.0 - outer) * (1.0 - outer) * cc <= most:
        return outer, 1.0 - outer
    # both bounds hold with equality: on the circle in which the spheres meet
    along = 0.5 * (radius * radius - reach * reach + cc) / cc
    across = math.sqrt(max(radius * radius - along * along * cc, 0.0))
    rest = xx - xc * xc / cc
    share = across / math.sqrt(rest) if rest > 1e-300 else 0.0
    return share, along - share * xc / cc


@compiled(nogil=True)
def add_everywhere(
    rows: np.ndarray,
    values: np.ndarray,
    p: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    out: np.ndarray,
) -> None:
    """out = values + p, clipped; what is not perturbed stays as it is, to the bit."""
    for i in range(len(rows)):
        if rows[i]:
            for j in range(low.size):
                x = low.dtype.type(values[i, j] + p[i, j])
                x = low[j] if x < low[j] else x
                x = high[j] if x > high[j] else x
                out[i, j] = values[i, j] if p[i, j] == 0.0 else x


@compiled(nogil=True)
def add_at(
    rows: np.ndarray,
    values: np.ndarray,
    places: np.ndarray,
    p: np.ndarray,
    columns: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    out: np.ndarray,
) -> None:
    """As `add_everywhere`, of some columns of p at some places; the others of these rows are left as they are."""
    for i in range(len(rows)):
        if rows[i]:
            for j in range(places.size):
                k, added = places[j], p[i, columns[j]]
                x = low.dtype.type(values[i, k] + added)
                x = low[k] if x < low[k] else x
                x = high[k] if x > high[k] else x
                out[i, k] = values[i, k] if added == 0.0 else x


@compiled(nogil=True)
def decide(rows: np.ndarray, key: np.ndarray, time: np.ndarray, probability: float, out: np.ndarray) -> None:
    """Whether the adversary acts."""
    for i in range(len(rows)):
        if rows[i]:
            out[i] = uniform_of(bits_at(key[i], time[i], SWITCHING)) < probability


@compiled(nogil=True)
def add_to_actions(
    rows: np.ndarray,
    actions: np.ndarray,
    p: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    raw: np.ndarray,
    out: np.ndarray,
) -> None:
    """out = action + p, clipped; raw = action."""
    for i in range(len(rows)):
        if rows[i]:
            for j in range(low.size):
                x = actions[i, j] + p[i, j]
                x = low[j] if x < low[j] else x
                x = high[j] if x > high[j] else x
                raw[i, j] = actions[i, j]
                out[i, j] = actions[i, j] if p[i, j] == 0.0 else x


@compiled(nogil=True)
def blend(
    rows: np.ndarray,
    actions: np.ndarray,
    p: np.ndarray,
    acting: np.ndarray,
    weight: float,
    low: np.ndarray,
    high: np.ndarray,
    raw: np.ndarray,
    out: np.ndarray,
) -> None:
    """out = (1 - weight) * action + weight * b where the adversary acts, b being the point p of the cube in the box
    [low, high]; raw = action."""
    for i in range(len(rows)):
        if rows[i]:
            share = weight if acting[i] else 0.0
            for j in range(low.size):
                own = min(max(actions[i, j], low[j]), high[j])
                other = 0.5 * (low[j] + high[j]) + 0.5 * (high[j] - low[j]) * p[i, j]
                raw[i, j] = actions[i, j]
                out[i, j] = (1.0 - share) * own + share * other if share > 0.0 else actions[i, j]


@compiled(nogil=True)
def place_parameters(
    rows: np.ndarray,
    p: np.ndarray,
    home: np.ndarray,
    nominal: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    out: np.ndarray,
) -> None:
    """The parameters at the places p of the cube, of which `home` is the place of the nominal ones."""
    for i in range(len(rows)):
        if rows[i]:
            for j in range(low.size):
                value = nominal[j] + 0.5 * (high[j] - low[j]) * (p[i, j] - home[j])
                value = low[j] if p[i, j] <= -1.0 else value
                out[i, j] = high[j] if p[i, j] >= 1.0 else min(max(value, low[j]), high[j])


# --- two players ------------------------------------------------------------------------------------------------------

AGENT, ADVERSARY = "agent", "adversary"


class AdversarialGame(ParallelEnv):
    """The zero-sum game of an agent and an adversary: a PettingZoo parallel environment.

    "agent" plays the environment. "adversary" gives the moves, [-1, 1]^k, and is paid the opposite. Both move at once:
    a `StateAdversary`'s move decides on the observation that the step returns (the first one of an episode is perturbed
    by options["move"], or not at all), all others' on the step itself. The adversary observes what the agent would
    without it, flat, and then p_(t-1), of parameters the place in the cube: the game would be partially observable
    otherwise.

    Infos: the agent's are those of the environment with the layer; the adversary's hold `perturbation`.

    Args:
        env: a gymnasium.Env, of this package or not, with layers or not, with one reward.
        layer: the adversary; its `policy` does not count.

    Raises:
        TypeError: another form of environment, or a layer that is no adversary.
        ParameterError: a setting of the layer does not fit the environment, or rewards are vectors.
    """

    def __init__(self, env: gymnasium.Env, layer: Mover) -> None:
        if not isinstance(env, gymnasium.Env):
            raise TypeError(f"AdversarialGame wants a gymnasium.Env, not {type(env).__name__}")
        if not isinstance(layer, Mover):
            raise TypeError(f"AdversarialGame wants an adversary such as StateAdversary, not {type(layer).__name__}")
        player = copy.deepcopy(layer)
        player.policy = "given"
        self.env: WrappedEnv = wrap(env, player)
        if self.env.top.reward.ndim > 1:
            raise ParameterError(f"{self.env.top.name}: a game wants one reward, not a vector")
        self.possible_agents: list[str] = [AGENT, ADVERSARY]
        self.agents: list[str] = []
        self.render_mode = env.render_mode
        self.metadata = {**env.metadata, "name": f"{self.env.top.name}, a game", "is_parallelizable": True}
        self._make_spaces()

    def _make_spaces(self) -> None:
        layer = self.layer
        seen, size = spaces.flatten_space(layer.below.observation_spaces[0]), len(layer.radius)
        assert isinstance(seen, spaces.Box)
        low = np.concatenate([seen.low, -layer.radius.astype(np.float32)])
        high = np.concatenate([seen.high, layer.radius.astype(np.float32)])
        self.observation_spaces = {
            AGENT: self.env.observation_space,
            ADVERSARY: spaces.Box(low, high, dtype=np.float32),
        }
        self.action_spaces = {AGENT: self.env.action_space, ADVERSARY: spaces.Box(-1.0, 1.0, (size,), np.float32)}

    @property
    def layer(self) -> Mover:
        """The adversary's layer."""
        return self.env.layers[-1]  # type: ignore[return-value]

    def observation_space(self, agent: str) -> spaces.Space:
        """The observation space of an agent, the same object on every call."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space:
        """The action space of an agent, the same object on every call."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[dict, dict]:
        """Begin an episode. options: those of the environment, and "move", the adversary's first one."""
        options = dict(options or {})
        self._move(options.pop("move", np.zeros(len(self.layer.radius))))
        unknown = sorted({*options} - {"params"}) if self.layer.batch else []
        if unknown:  # PettingZoo's own tests pass options that no environment knows
            warnings.warn(f"{self.metadata['name']}: reset ignores the options {unknown}", stacklevel=2)
        known = {name: value for name, value in options.items() if name not in unknown}
        seen, info = self.env.reset(seed=seed, options=known or None)
        self.agents = [AGENT, ADVERSARY]
        return self._observations(seen), self._infos(info)

    def _move(self, move: Any) -> None:
        array, size = np.asarray(move), len(self.layer.radius)
        if array.shape != (size,) or array.dtype.kind not in "fiu" or not np.isfinite(array).all():
            raise ActionError(f"{self.metadata['name']}: the adversary's move {move!r} must be {size} finite numbers")
        self.layer.move[0] = np.clip(array, -1.0, 1.0)

    def step(self, actions: dict[str, Any]) -> tuple[dict, dict, dict, dict, dict]:
        """Advance by one step, with the agent's action and the adversary's move.

        Raises:
            ActionError: one is missing, or has the wrong shape or type, or is not finite.
            EpisodeOverError: the episode is over.
        """
        if not self.agents:
            raise EpisodeOverError(f"{self.metadata['name']}: the episode is over, or never began; call reset()")
        if {*actions} != {AGENT, ADVERSARY}:
            raise ActionError(
                f"{self.metadata['name']}: actions of {sorted(actions)} were given; needed: both players'"
            )
        self._move(actions[ADVERSARY])
        seen, reward, terminated, truncated, info = self.env.step(actions[AGENT])
        self.agents = [] if terminated or truncated else self.agents
        rewards = {AGENT: float(reward), ADVERSARY: -float(reward)}
        ends, cuts = dict.fromkeys(rewards, terminated), dict.fromkeys(rewards, truncated)
        return self._observations(seen), rewards, ends, cuts, self._infos(info)

    def _observations(self, seen: Any) -> dict[str, Any]:
        below = self.layer.below
        truth = spaces.flatten(below.observation_spaces[0], row_of(below.observation, 0, below.observation_spaces[0]))
        noticed = np.concatenate([truth, self.layer.perturbation[0]]).astype(np.float32)
        return {AGENT: seen, ADVERSARY: noticed}

    def _infos(self, info: dict[str, Any]) -> dict[str, dict[str, Any]]:
        return {AGENT: info, ADVERSARY: {"perturbation": self.layer.perturbation[0].copy()}}

    def get_state(self) -> tuple[list[str], Any]:
        """A snapshot of the environment, its layers and the game."""
        return list(self.agents), self.env.get_state()

    def set_state(self, state: tuple[list[str], Any]) -> dict[str, Any]:
        """Go back to a snapshot; returns the observations."""
        self.agents = list(state[0])
        return self._observations(self.env.set_state(state[1]))

    def render(self) -> Any:
        """The environment's picture."""
        return self.env.render()

    def close(self) -> None:
        """Close the environment."""
        self.env.close()
