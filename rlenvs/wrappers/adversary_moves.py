"""How adversaries move: what decides a move, and how a perturbation stays within its bounds.

`rlenvs.wrappers.adversary` says what a move is, and has the adversaries.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from rlenvs.core.compiler.loops import compiled
from rlenvs.core.declare.errors import ParameterError
from rlenvs.wrappers.randomness import bits_at
from rlenvs.wrappers.robustness import uniforms
from rlenvs.wrappers.wrapper import Wrapper, named

Moves = Callable[[np.ndarray], None]
STEP = 0.2  # of a random walk without coupling, as a multiple of eps
NORMS = ("linf", "l2")
SIXTEEN = 0xFFFF
ROUNDING = 1.0 + 1e-14  # what a squared length may be too large by
OPTIONS = {"gradient": ("function", "steps"), "quantal": ("moves", "values", "beta")}


@dataclass(kw_only=True)
class Mover(Wrapper):
    """A wrapper in which somebody moves; `rlenvs.wrappers.adversary` says who, and what comes of it.

    Attributes:
        policy: who moves.
    """

    policy: Any = "random"
    free_start = True  # whether the first perturbation of an episode is coupled to nothing

    def equip(self, radius: np.ndarray, reach: np.ndarray, norm: str) -> None:
        """Make room for k moves. radius: bounds of the perturbation, (k,); reach: of its change in a step, (k,)."""
        self.radius, self.reach, self.ball = radius, reach, norm == "l2"
        self.coupled = np.ones(self.count, np.bool_)  # whose perturbation may not be far from the last one
        self.inverse = np.divide(1.0, radius, out=np.zeros_like(radius), where=radius > 0.0)
        self.step_size = np.where(np.isfinite(reach), np.minimum(reach, radius), STEP * radius)
        self.allocate("move", radius.shape)
        self.allocate("perturbation", radius.shape)
        self._moves = self._player()

    def begin_episode(self, slots: np.ndarray) -> None:
        """An episode begins unperturbed."""
        self.perturbation[slots] = 0.0

    def attack(self, slots: np.ndarray) -> None:
        """Move, and perturb."""
        self.ask_mover(slots)
        self.run_all("attack", self.attacking, slots)

    def ask_mover(self, slots: np.ndarray) -> None:
        """Move, where that takes more than loops."""
        if self.moved_in_python:
            self._moves(slots)

    @property
    def moved_in_python(self) -> bool:
        """Whether moves take more than loops."""
        return self._moves not in (self._random, self._walk, self._given)

    def attacking(self, slots: np.ndarray) -> Iterator[tuple[Any, ...]]:
        """Compiled loops that move, where nobody else does, and perturb."""
        if self._moves in (self._random, self._walk):
            yield draw_moves, slots, self.key, self.clock, self.move
        if self._moves == self._walk:
            yield walk, slots, self.perturbation, self.step_size, self.inverse, self.move
        yield from self._proposing(slots, self.perturbation)

    def propose(self, slots: np.ndarray, p: np.ndarray) -> None:
        """Put the perturbation that the move comes to in the place of the last one."""
        for loop, *arguments in self._proposing(slots, p):
            loop(*arguments)

    def _proposing(self, slots: np.ndarray, p: np.ndarray) -> Iterator[tuple[Any, ...]]:
        if self.free_start:
            yield mark, self.clock, self.coupled
        if self.ball:
            yield project_ball, slots, self.coupled, self.move, self.radius[0], self.reach[0], p
        else:
            yield project_box, slots, self.coupled, self.move, self.radius, self.reach, p

    @property
    def clock(self) -> np.ndarray:
        """The steps made in the episode, (slots,)."""
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
            raise self.setting_error("policy", f"must be {known}")
        self._function = self.function("policy")
        return self._called

    def _given(self, slots: np.ndarray) -> None:
        """Somebody else has filled `move`."""

    def _random(self, slots: np.ndarray) -> None:
        """Loops move."""

    def _walk(self, slots: np.ndarray) -> None:
        """Loops move."""

    def _player_with_options(self, options: dict[str, Any]) -> Moves:
        name = options.pop("name", None)
        if name not in OPTIONS or set(options) - set(OPTIONS[name]):
            wanted = [f'{{"name": "{name}"}} with {list(keys)}' for name, keys in OPTIONS.items()]
            raise self.setting_error("policy", f"is none of: {'; '.join(wanted)}")
        return self._gradient(**options) if name == "gradient" else self._quantal(**options)

    def _gradient(self, function: Any = None, steps: int = 1) -> Moves:
        raise self.setting_error("policy", "is only for perturbed observations")

    def _quantal(self, moves: Any = None, values: Any = None, beta: float = 1.0) -> Moves:
        self._table = np.asarray(moves, np.float64)
        size = len(self.radius)
        if self._table.ndim != 2 or self._table.shape[1] != size or not (np.abs(self._table) <= 1.0).all():
            raise self.setting_error("policy", f"has moves {moves!r}; needed: (n, {size}) numbers in [-1, 1]")
        if isinstance(beta, bool) or not isinstance(beta, (int, float)) or not beta >= 0.0:
            raise self.setting_error("policy", f"has beta={beta!r}; needed: a number, at least 0")
        self._function, self._beta = self._function_of(values, "values"), float(beta)
        return self._quantal_moves

    def _function_of(self, value: Any, option: str) -> Callable[..., Any]:
        found = named(value) if isinstance(value, str) and ":" in value else value
        if not callable(found):
            raise self.setting_error("policy", f'has no {option!r}: a function, or its address "module:name"')
        return found

    def _quantal_moves(self, slots: np.ndarray) -> None:
        found = finite_like(self._function(self.below.observation), (self.count, len(self._table)), "values")
        uniform = np.empty((self.count, 1))
        uniforms(self.key, self.clock, 0, uniform)
        self.move[slots] = self._table[quantal_choice(found, self._beta, uniform[:, 0])][slots]

    def _called(self, slots: np.ndarray) -> None:
        found = self._function(self.below.observation, self.perturbation.copy())
        self.move[slots] = np.clip(finite_like(found, self.move.shape, "policy")[slots], -1.0, 1.0)


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
                raise self.setting_error(
                    "norm", f'requires one number for `{setting}` and `coupling`; "linf" takes one per channel'
                )
            if reach[0] >= 2.0 * radius[0]:
                reach[:] = np.inf  # binds nothing, and shall not by rounding
        self.equip(radius, reach, self.norm)

    def _sized(self, setting: str, value: Any, size: int) -> np.ndarray:
        numbers = np.asarray(value, np.float64)
        if numbers.shape not in ((), (size,)):
            raise ParameterError(f"{type(self).__name__}: {setting}={value!r} must be one number, or {size}")
        return np.broadcast_to(numbers, size).copy()


def finite_like(value: Any, shape: tuple[int, ...], setting: str) -> np.ndarray:
    """What a user's function returned, float64; ParameterError unless it is finite numbers of this shape."""
    array = np.asarray(value)
    if array.shape != shape or array.dtype.kind not in "fiu" or not np.isfinite(array).all():
        raise ParameterError(
            f"the function `{setting}` returned {array.shape}; needed: finite numbers of shape {shape}"
        )
    return array.astype(np.float64)


def quantal_choice(values: np.ndarray, beta: float, uniform: np.ndarray) -> np.ndarray:
    """Which moves a boundedly rational adversary makes: drawn with probabilities proportional to exp(-values / beta).

    Args:
        values: of the moves for the agent, (slots, n). beta: temperature; 0 takes the least value, the first one of
            equals. uniform: numbers of [0, 1), (slots,).

    Returns:
        indices (slots,).
    """
    least = values.min(axis=1, keepdims=True)
    if beta == 0.0:
        return np.argmin(values, axis=1)
    with np.errstate(over="ignore"):
        weights = np.exp(-(values - least) / beta)
    sums = np.cumsum(weights, axis=1)
    return np.minimum((sums <= uniform[:, None] * sums[:, -1:]).sum(axis=1), values.shape[1] - 1)


@compiled(nogil=True)
def mark(clock: np.ndarray, out: np.ndarray) -> None:
    """Whose episodes have begun."""
    for i in range(out.size):
        out[i] = clock[i] > 0


@compiled(nogil=True)
def draw_moves(slots: np.ndarray, key: np.ndarray, time: np.ndarray, move: np.ndarray) -> None:
    """Uniform numbers of (-1, 1), four from each 64 bits."""
    for i in range(len(slots)):
        if slots[i]:
            bits = np.int64(0)
            for j in range(move.shape[1]):
                bits = np.int64(bits_at(key[i], time[i], j // 4)) if j % 4 == 0 else bits >> 16
                move[i, j] = (float(bits & SIXTEEN) + 0.5) * (1.0 / 32768.0) - 1.0


@compiled(nogil=True)
def walk(slots: np.ndarray, p: np.ndarray, step: np.ndarray, inverse: np.ndarray, move: np.ndarray) -> None:
    """Turn uniform moves into those of a random walk from the last perturbations."""
    for i in range(len(slots)):
        if slots[i]:
            for j in range(inverse.size):
                u = (p[i, j] + step[j] * move[i, j]) * inverse[j]
                u = -1.0 if u < -1.0 else u
                move[i, j] = 1.0 if u > 1.0 else u


@compiled(nogil=True)
def project_box(
    slots: np.ndarray,
    coupled: np.ndarray,
    move: np.ndarray,
    radius: np.ndarray,
    reach: np.ndarray,
    p: np.ndarray,
) -> None:
    """Put radius * move, clipped to within `reach` of p and to within `radius` of 0, into p."""
    for i in range(len(slots)):
        if slots[i]:
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
    slots: np.ndarray,
    coupled: np.ndarray,
    move: np.ndarray,
    radius: float,
    reach: float,
    p: np.ndarray,
) -> None:
    """Put the point closest to radius * move, in the balls of `reach` around p and of `radius` around 0, into p."""
    for i in range(len(slots)):
        if slots[i]:
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
