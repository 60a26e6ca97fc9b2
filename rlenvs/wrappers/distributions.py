"""Curricula over ranges of parameters: automatic domain randomization, and a self-paced normal distribution."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rlenvs.core.declare.errors import ParameterError
from rlenvs.wrappers.curriculum import Curriculum, normals, uniforms


@dataclass
class ADR(Curriculum):
    """Automatic domain randomization (OpenAI et al., "Solving Rubik's Cube with a Robot Hand", 2019, algorithm 1).

    Parameters are uniform between bounds. With the probability `boundary` one parameter, any, stands at one of its
    bounds, either; the performances of these episodes are kept per bound. When a bound has `buffer` of them, their mean
    decides and they are forgotten: at `high` or above the bound moves out by `step`, at `low` or below in. Bounds
    stay within `limits`, and the range keeps what it had at the start.

    Numbers of contexts are -1 for an episode inside, 2 j for the lower and 2 j + 1 for the upper bound of parameter j.

    Args:
        start: [low, high] at the beginning, by parameter; equal, or a range.
        step: how far a bound moves, by parameter, in its unit.
        limits: [low, high] that the range may grow to, by parameter; the declared range where not given.
        low, high: performances, low < high.
        measure: what performance is: "return" or "success".
        boundary: probability of an episode at a bound; paper: 0.5.
        buffer: episodes per decision; paper: 240.
    """

    listens = True
    learned = ("bounds", "buffers")

    start: dict[str, list[float]] = field(default_factory=dict)
    step: dict[str, float] = field(default_factory=dict)
    limits: dict[str, list[float]] = field(default_factory=dict)
    low: float = 0.2
    high: float = 0.8
    measure: str = "success"
    boundary: float = 0.5
    buffer: int = 240

    def begin(self, count: int = 0) -> None:
        """See `Curriculum`."""
        super().begin(count)
        self._check_settings()
        self.bounds = np.array([self.start[name] for name in self.names], np.float64)
        self.outer = np.array([self.limits.get(name, [-math.inf, math.inf]) for name in self.names], np.float64)
        self.steps = np.array([self.step[name] for name in self.names], np.float64)
        self.buffers: list[list[float]] = [[] for _ in range(2 * len(self.names))]

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters, in the order of `start`."""
        return tuple(self.start)

    def fit(self, ranges: Mapping[str, tuple[float, float]]) -> None:
        """See `Curriculum`."""
        for j, name in enumerate(self.names):
            low, high = ranges[name]
            least, most = self.limits.get(name, self.start[name])
            if least < low or most > high:
                setting = "limits" if name in self.limits else "start"
                raise self.setting_error(setting, f"exceeds the range of {name}, [{low:g}, {high:g}]")
            self.outer[j] = self.limits.get(name, [low, high])

    def _check_settings(self) -> None:
        if not self.start or self.step.keys() != self.start.keys():
            raise self.setting_error(
                "step", f"must have an entry for each parameter of start={self.start}, at least one"
            )
        if not self.limits.keys() <= self.start.keys():
            raise self.setting_error("limits", f"has parameters that start={self.start} does not have")
        for name, (low, high) in self.start.items():
            least, most = self.limits.get(name, [-math.inf, math.inf])
            if not least <= low <= high <= most:
                raise self.setting_error("start", f"needs low <= high within limits={self.limits}, for {name}")
            if not 0.0 < self.step[name] < math.inf:
                raise self.setting_error("step", f"must be above 0, for {name}")
        if not self.low < self.high:
            raise self.setting_error("low", f"must be below high={self.high}")
        if self.measure not in ("return", "success"):
            raise self.setting_error("measure", "is not one of ['return', 'success']")
        self.check("boundary", 0.0, 1.0)
        self.check("buffer", 1, whole=True)

    def choose(self, streams: np.ndarray, episodes: np.ndarray) -> np.ndarray:
        """See `Curriculum`."""
        any_bound = (uniforms(streams, episodes, 1) * len(self.buffers)).astype(np.int64)
        return np.where(uniforms(streams, episodes, 0) < self.boundary, any_bound, -1)

    def values(self, ids: np.ndarray, streams: np.ndarray, episodes: np.ndarray) -> np.ndarray:
        """See `Curriculum`."""
        values = np.empty((len(ids), len(self.names)))
        for j, (low, high) in enumerate(self.bounds):
            inside = low + uniforms(streams, episodes, 2 + j) * (high - low)
            values[:, j] = np.where(ids == 2 * j, low, np.where(ids == 2 * j + 1, high, inside))
        return values

    def report(self, ids: np.ndarray, contexts: np.ndarray, returns: np.ndarray, successes: np.ndarray) -> None:
        """Record performances at bounds; move a bound when it has enough of them."""
        performances = returns if self.measure == "return" else successes
        for i, performance in zip(ids, performances, strict=True):
            if i >= 0:
                self.buffers[i].append(float(performance))
                if len(self.buffers[i]) >= self.buffer:
                    self._decide(int(i))

    def _decide(self, i: int) -> None:
        j, side = divmod(i, 2)
        mean = float(np.mean(self.buffers[i]))
        self.buffers[i] = []
        outwards = int(mean >= self.high) - int(mean <= self.low)
        moved = self.bounds[j, side] + outwards * self.steps[j] * (1 if side else -1)
        first = self.start[self.names[j]]
        low, high = (first[1], self.outer[j, 1]) if side else (self.outer[j, 0], first[0])
        self.bounds[j, side] = min(max(moved, low), high)


@dataclass
class SelfPaced(Curriculum):
    """Self-paced deep reinforcement learning (Klink et al., NeurIPS 2020; in automl/SPaCE): a normal distribution of
    contexts moves from an easy start to the target, as fast as the values allow.

    Each update makes one natural-gradient step on mean and log standard deviation, uphill on

        mean of w_i V_i - alpha KL(p || target),   w_i = p(c_i) / p_old(c_i),

    shortened until it goes uphill and KL(p_old || p) <= max_kl. alpha is 0 in the first `offset` updates, and then
    zeta max(mean of V, 0) / KL(p_old || target). Here the parameters are independent of each other; the original has a
    full covariance. Draws outside of the limits are put on them.

    Numbers of contexts are all -1. `update` takes contexts and the values V of their initial states; or, with `every`,
    returns stand in for values. The defaults are those of the original's point mass.

    Args:
        start, target: [mean, standard deviation] by parameter, in its unit.
        limits: [low, high] by parameter; the declared range where not given.
        max_kl: how far one update may go, in nats.
        zeta: weight of the target against the value.
        offset: updates before the target pulls.
        least_std: lower bounds of standard deviations by parameter, while KL(p || target) is above `kl_threshold`.
        kl_threshold: in nats.
        every: 0, or the number of ended episodes after which an update is made of their returns.
    """

    listens = True
    learned = ("mean", "std", "updates", "contexts", "returns")

    start: dict[str, list[float]] = field(default_factory=dict)
    target: dict[str, list[float]] = field(default_factory=dict)
    limits: dict[str, list[float]] = field(default_factory=dict)
    max_kl: float = 0.05
    zeta: float = 1.6
    offset: int = 70
    least_std: dict[str, float] = field(default_factory=dict)
    kl_threshold: float = 8000.0
    every: int = 0

    def begin(self, count: int = 0) -> None:
        """See `Curriculum`."""
        super().begin(count)
        self._check_settings()
        self.mean, self.std = np.array([self.start[name] for name in self.names], np.float64).T.copy()
        self.goal, self.goal_std = np.array([self.target[name] for name in self.names], np.float64).T
        self.outer = np.array([self.limits.get(name, [-math.inf, math.inf]) for name in self.names], np.float64)
        self.least = np.array([self.least_std.get(name, 0.0) for name in self.names], np.float64)
        self.updates = 0
        self.contexts: list[list[float]] = []
        self.returns: list[float] = []

    def _check_settings(self) -> None:
        if not self.start or self.target.keys() != self.start.keys():
            raise self.setting_error(
                "target", f"must have an entry for each parameter of start={self.start}, at least one"
            )
        for setting in ("start", "target"):
            for name, (mean, std) in getattr(self, setting).items():
                low, high = self.limits.get(name, [-math.inf, math.inf])
                if not low <= mean <= high or not 0.0 < std < math.inf:
                    raise self.setting_error(
                        setting, f"needs a mean within limits={self.limits} and a std above 0, for {name}"
                    )
        for setting in ("limits", "least_std"):
            if not getattr(self, setting).keys() <= self.start.keys():
                raise self.setting_error(setting, f"has parameters that start={self.start} does not have")
        self.check("max_kl", 1e-9)
        self.check("zeta", 0.0)
        self.check("kl_threshold", 0.0)
        self.check("offset", 0, whole=True)
        self.check("every", 0, whole=True)

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters, in the order of `start`."""
        return tuple(self.start)

    def fit(self, ranges: Mapping[str, tuple[float, float]]) -> None:
        """See `Curriculum`."""
        for j, name in enumerate(self.names):
            low, high = ranges[name]
            given = [*self.limits.get(name, []), self.start[name][0], self.target[name][0]]
            if min(given) < low or max(given) > high:
                setting = "limits" if name in self.limits else "start"
                raise self.setting_error(setting, f"or target exceeds the range of {name}, [{low:g}, {high:g}]")
            self.outer[j] = self.limits.get(name, [low, high])

    def choose(self, streams: np.ndarray, episodes: np.ndarray) -> np.ndarray:
        """See `Curriculum`."""
        return np.full(len(streams), -1, np.int64)

    def values(self, ids: np.ndarray, streams: np.ndarray, episodes: np.ndarray) -> np.ndarray:
        """See `Curriculum`."""
        draws = np.stack([normals(streams, episodes, j) for j in range(len(self.names))], axis=1)
        return np.clip(self.mean + self.std * draws, self.outer[:, 0], self.outer[:, 1])

    def update(self, contexts: Any, values: Any) -> None:
        """Move the distribution, given contexts drawn from it, (n, features), and values of their initial states, (n,).

        Raises:
            ParameterError: the wrong shapes, or not finite.
        """
        c, v = np.array(contexts, np.float64), np.array(values, np.float64)
        if c.shape != (len(v), len(self.names)) or not len(v) or not (np.isfinite(c).all() and np.isfinite(v).all()):
            raise ParameterError(
                f"SelfPaced: contexts {c.shape} and values {v.shape}; needed: finite, (n, features), (n,)"
            )
        far = normal_kl(self.mean, self.std, self.goal, self.goal_std)
        alpha = min(self.zeta * max(v.mean(), 0.0) / max(far, 1e-10), 1e5) if self.updates >= self.offset else 0.0
        self.updates += 1
        up_mean, up_log = self.gradient(c, v, alpha)
        step_mean, step_log = self.std**2 * up_mean, 0.5 * up_log  # the Fisher information is 1 / std^2, and 2
        length = float(step_mean @ up_mean + step_log @ up_log)
        if length > 1e-20:
            self._move(c, v, alpha, step_mean, step_log, math.sqrt(2.0 * self.max_kl / length))

    def _move(
        self, c: np.ndarray, v: np.ndarray, alpha: float, step_mean: np.ndarray, step_log: np.ndarray, size: float
    ) -> None:
        """Take the step, or the largest part of it that is allowed."""
        before = self.objective(self.mean, self.std, c, v, alpha)
        for _ in range(40):
            mean, std = self.mean + size * step_mean, self.std * np.exp(np.clip(size * step_log, -30.0, 30.0))
            near = normal_kl(self.mean, self.std, mean, std) <= self.max_kl
            if near and self.objective(mean, std, c, v, alpha) >= before:
                if normal_kl(mean, std, self.goal, self.goal_std) > self.kl_threshold:
                    std = np.maximum(std, self.least)
                self.mean, self.std = mean, std
                return
            size *= 0.8

    def objective(self, mean: np.ndarray, std: np.ndarray, c: np.ndarray, v: np.ndarray, alpha: float) -> float:
        """The objective of an update, for a candidate distribution."""
        ratio = np.exp(_log_normal(c, mean, std) - _log_normal(c, self.mean, self.std))
        return float((ratio * v).mean() - alpha * normal_kl(mean, std, self.goal, self.goal_std))

    def gradient(self, c: np.ndarray, v: np.ndarray, alpha: float) -> tuple[np.ndarray, np.ndarray]:
        """The gradient of the objective at the current distribution, with respect to mean and log standard
        deviation."""
        scaled = (c - self.mean) / self.std
        value_mean = (v[:, None] * scaled / self.std).mean(axis=0)
        value_log = (v[:, None] * (scaled**2 - 1.0)).mean(axis=0)
        pull_mean = (self.mean - self.goal) / self.goal_std**2
        pull_log = (self.std / self.goal_std) ** 2 - 1.0
        return value_mean - alpha * pull_mean, value_log - alpha * pull_log

    def report(self, ids: np.ndarray, contexts: np.ndarray, returns: np.ndarray, successes: np.ndarray) -> None:
        """With `every`, keep contexts and returns, and update from them."""
        if self.every:
            self.contexts += contexts.tolist()
            self.returns += returns.tolist()
            if len(self.returns) >= self.every:
                self.update(self.contexts, self.returns)
                self.contexts, self.returns = [], []


def normal_kl(mean: np.ndarray, std: np.ndarray, other: np.ndarray, other_std: np.ndarray) -> float:
    """KL divergence from one normal distribution of independent numbers to another, in nats."""
    parts = np.log(other_std / std) + (std**2 + (mean - other) ** 2) / (2.0 * other_std**2) - 0.5
    return float(parts.sum())


def _log_normal(x: np.ndarray, mean: np.ndarray, std: np.ndarray) -> np.ndarray:
    return (-0.5 * ((x - mean) / std) ** 2 - np.log(std)).sum(axis=1)
