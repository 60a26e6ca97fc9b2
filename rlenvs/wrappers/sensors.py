"""Imperfect sensors: what a policy sees goes through them after the environment.

    env = wrap(env, Sensor("position", noise=0.02, delay=2), Sensor("velocity", drift=0.1, drift_time=5.0))

White noise, random walk and Gauss-Markov drift are the terms by which IEEE Std 952 describes gyroscopes; losses in
bursts are Gilbert's ("Capacity of a burst-noise channel", Bell System Technical Journal 39, 1960) and Elliott's.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from gymnasium import spaces

from rlenvs.core.compiler.loops import compiled
from rlenvs.wrappers.channels import Channels, Chosen, Part, at, channels_of, leaves, parts_of, replaced, replaced_space
from rlenvs.wrappers.loops import Loops
from rlenvs.wrappers.measurement import (
    MOST,
    Errors,
    Memory,
    Timing,
    begin_memory,
    copy_around,
    pick_samples,
    remember,
    sense,
)
from rlenvs.wrappers.stage import Observation
from rlenvs.wrappers.wrapper import Wrapper

Numbers = float | Sequence[float]
MAGNITUDES = ("scale", "bias", "walk", "drift", "noise", "density", "uniform", "outlier_size", "quantum", "dead_band")
DRAWN = ("walk", "drift", "noise", "density", "uniform", "outliers", "dropout", "stuck")
MUCH = 60  # numbers to draw per slot, from which on threads that share the slots gain more than sharing takes


@compiled(nogil=True)
def copy_numbers(slots: np.ndarray, source: np.ndarray, target: np.ndarray, true: np.ndarray, seen: np.ndarray) -> None:
    """Some numbers of the slots of a mask, to other places."""
    for r in range(slots.size):
        if slots[r]:
            for k in range(source.size):
                seen[r, target[k]] = true[r, source[k]]


class Seeing(Wrapper):
    """A wrapper that changes observations, and reports the true ones if none below does."""

    def notice_truth(self) -> None:
        """Whether this is the lowest such wrapper."""
        self.tells_truth = self.below.read("true_obs") is None

    def entries(self) -> dict[str, Any]:
        """The untouched observation."""
        return {"true_obs": self.below.observation} if self.tells_truth else {}


@dataclass
class Sensor(Seeing):
    """An imperfect sensor for a group of observation channels. Use one wrapper per sensor.

    A sample goes through the models in this order: rate (`every`, `rate`), delay, errors with a memory (`scale`,
    `bias`, `walk`, `drift`), noise (`noise`, `density`, `uniform`), outliers, loss and failure (`dropout`, `stuck`),
    resolution (`quantum`, `dead_band`), saturation (`low`, `high`, and always the bounds of the observation space).
    What is held when a sample is missing is the last reading that arrived. Rewards, costs and ends stay those of the
    true state. Models whose magnitude is 0 are off; with all of them off observations are the same bit for bit.

    Magnitudes are in the channel's physical unit (the table of the world's observation; the unit of the number itself
    where it has no block), and zero is the physical zero. Each is one number, or one per channel. Values that the world
    has already clipped to the range of its observation come clipped.

    Attributes:
        channels: names such as "velocity", "velocity[2]", "velocity[0:2]", or for numbers without a block "[3]",
            "[0:4]"; one or a list; None for all but "desired_goal", which is given and not measured. Rewards follow
            from the true goals: `compute_reward` gives them for `true_obs`.
        every: steps between samples; the last reading is held in between (zero-order hold).
        rate: in Hz, in place of `every`: steps between samples are rounded, and at least 1.
        delay: steps. [low, high]: drawn uniformly for each sample; then readings may come out of order.
        latency: in seconds, in place of `delay`, rounded to steps; a number or [low, high].
        keep_order: an older sample never follows a newer one: the newer one is read again.
        scale: standard deviation of an error of the factor, drawn anew for every episode: reading = (1 + error) value.
        bias: standard deviation of an offset, drawn anew for every episode.
        walk: random walk of the offset: its standard deviation after a time t is walk * sqrt(t), in unit / sqrt(s).
        drift: standard deviation of a stationary Ornstein-Uhlenbeck (Gauss-Markov) process.
        drift_time: its correlation time in seconds: the correlation after a time t is exp(-t / drift_time).
        noise: standard deviation of white Gaussian noise.
        density: white noise as data sheets have it, in unit / sqrt(Hz): standard deviation density / sqrt(time between
            samples). It adds to `noise` in variance.
        uniform: half the width of white uniform noise.
        outliers: probability of an outlier per sample.
        outlier_size: half the width of the uniform distribution that an outlier adds.
        dropout: probability that a sample is missing.
        burst: mean number of samples that are missing in a slot (Gilbert-Elliott), at least 1; None: independent ones.
        missing: "hold" (the last reading) or "zero", what is read then.
        show_missing: append flags to the observation, 1 while a sample is missing: one, or with `each` one per channel.
        stuck: probability per step that the sensor fails until the episode ends.
        stuck_at: "hold", "zero" or "noise" (zero with the noise and the outliers), what is read then.
        each: outliers, losses and failures hit each channel by itself; otherwise all of the sensor together.
        quantum: resolution; readings are rounded to multiples of it.
        dead_band: smaller readings, in absolute value, are zero.
        low, high: saturation; None: the bounds of the space.
        dt: seconds per step; 0: the environment's own.

    Info: `true_obs`, the observation without any sensor.

    Raises:
        ParameterError: an unknown channel, a negative magnitude, not one number per channel, a probability outside
            [0, 1], outliers without a size, drift without a time, bursts that are too short for the rate of losses, a
            delay beyond the horizon, an empty range, an unknown `dt`.
    """

    channels: Channels = None
    _: KW_ONLY
    every: int = 1
    rate: float = 0.0
    delay: int | Sequence[int] = 0
    latency: float | Sequence[float] = 0.0
    keep_order: bool = False
    scale: Numbers = 0.0
    bias: Numbers = 0.0
    walk: Numbers = 0.0
    drift: Numbers = 0.0
    drift_time: float = 0.0
    noise: Numbers = 0.0
    density: Numbers = 0.0
    uniform: Numbers = 0.0
    outliers: float = 0.0
    outlier_size: Numbers = 0.0
    dropout: float = 0.0
    burst: float | None = None
    missing: str = "hold"
    show_missing: bool = False
    stuck: float = 0.0
    stuck_at: str = "hold"
    each: bool = False
    quantum: Numbers = 0.0
    dead_band: Numbers = 0.0
    low: Numbers | None = None
    high: Numbers | None = None
    dt: float = 0.0

    def prepare(self) -> None:
        """Check the settings, and allocate the required memory."""
        chosen = channels_of(self)
        self.number = sum(len(own.index) for own in chosen)
        if self.number > MOST:
            raise self.setting_error("channels", f"are {self.number}; a sensor has at most {MOST}")
        self.magnitudes = {name: self._per_channel(name) for name in MAGNITUDES}
        self._check()
        self.timing = self._timing()
        self.idle = not any(np.any(getattr(self, name)) for name in (*MAGNITUDES, "outliers", "dropout", "stuck"))
        self.idle &= self.timing.longest == 0 and self.timing.every == 1 and self.low is None and self.high is None
        self.much = self.count > 1 and self.number * sum(bool(np.any(getattr(self, name))) for name in DRAWN) >= MUCH
        self._keep_memory(chosen)
        self.errors = self._errors(chosen)
        self.paths = [own.part.path for own in chosen]
        self.seen_names = self._keep_seen([own.part for own in chosen])
        self.shows_own()
        self.notice_truth()

    # --- settings -----------------------------------------------------------------------------------------------------

    def _per_channel(self, name: str) -> np.ndarray:
        """A magnitude as an array (channels,)."""
        self.check_number(name)
        value = np.asarray(getattr(self, name), np.float64)
        if value.shape not in ((), (self.number,)):
            raise self.setting_error(name, f"must be one number, or {self.number}, one per channel")
        return np.broadcast_to(value, (self.number,))

    def _check(self) -> None:
        for name in ("outliers", "dropout", "stuck"):
            self._check_one(name, 1.0)
        for name in ("rate", "drift_time", "dt"):
            self._check_one(name)
        for name in ("keep_order", "show_missing", "each"):
            if not isinstance(getattr(self, name), (bool, np.bool_)):
                raise self.setting_error(name, "must be True or False")
        self.check_choice("missing", ("hold", "zero"))
        self.check_choice("stuck_at", ("hold", "zero", "noise"))
        if self.outliers and not np.any(self.outlier_size):
            raise self.setting_error("outliers", "require outlier_size > 0")
        if np.any(self.drift) and not self.drift_time:
            raise self.setting_error("drift", "requires drift_time > 0, its correlation time in seconds")
        if self.stuck and self.stuck_at == "noise" and not (np.any(self.noise) or np.any(self.density)):
            raise self.setting_error("stuck_at", "requires noise > 0 or density > 0")
        if self.show_missing and not self.dropout:
            raise self.setting_error("show_missing", "requires dropout > 0; without it the flags would never change")

    def _check_one(self, name: str, high: float = math.inf) -> None:
        self.check_number(name, 0.0, high)
        if np.ndim(getattr(self, name)):
            raise self.setting_error(name, "must be one number")

    def _seconds(self) -> float:
        """Seconds per step."""
        if self.dt:
            return self.dt
        seconds = self.below.seconds
        if not seconds:
            raise self.setting_error("dt", f"must be given, in seconds per step: {self.name} does not define its own")
        return seconds

    def _timing(self) -> Timing:
        enter, stay = self._chain()
        self.check_whole("every", 1)
        if self.rate and self.every > 1:
            raise self.setting_error("rate", f"contradicts every={self.every}; give one of them")
        every = max(round(1.0 / (self.rate * self._seconds())), 1) if self.rate else self.every
        stuck = 1.0 - (1.0 - self.stuck) ** every
        return Timing(every, *self._delays(), bool(self.keep_order), float(self.dropout), enter, stay, stuck)

    def _chain(self) -> tuple[float, float]:
        """The chances that losses begin and go on, of a chain with the wanted rate of losses and mean length."""
        if self.burst is None or self.dropout in (0.0, 1.0):
            return float(self.dropout), float(self.dropout)
        self._check_one("burst")
        enter = self.dropout / (max(self.burst, 1.0) * (1.0 - self.dropout))
        if self.burst < 1.0 or enter > 1.0:
            least = max(self.dropout / (1.0 - self.dropout), 1.0)
            raise self.setting_error("burst", f"must be at least {least:.4g} samples where dropout={self.dropout}")
        return enter, 1.0 - 1.0 / self.burst

    def _delays(self) -> tuple[int, int]:
        """The shortest and the longest delay in steps."""
        setting = "latency" if np.any(self.latency) else "delay"
        if setting == "latency" and np.any(self.delay):
            raise self.setting_error("latency", f"contradicts delay={self.delay!r}; give one of them")
        self.check_number(setting)
        given = np.asarray(getattr(self, setting), np.float64)
        if setting == "latency":
            given = np.rint(given / self._seconds())
        if given.shape not in ((), (2,)) or (given != np.rint(given)).any() or given.flat[0] > given.flat[-1]:
            unit = "whole numbers of steps" if setting == "delay" else "seconds"
            raise self.setting_error(setting, f"must be one number or [low, high], low <= high, in {unit}")
        if self.batch and given.max() >= self.batch.setup.horizon:
            raise self.setting_error(setting, f"is longer than an episode of {self.batch.setup.horizon} steps")
        return int(given.flat[0]), int(given.flat[-1])

    # --- arrays -------------------------------------------------------------------------------------------------------

    def _keep_memory(self, chosen: list[Chosen]) -> None:
        on = {name: bool(values.any()) for name, values in self.magnitudes.items()}
        flags = self.number if self.each else 1
        sizes = {
            "factor": self.number * on["scale"],
            "offset": self.number * (on["bias"] or on["walk"]),
            "drifted": self.number * on["drift"],
        }
        for name, size in sizes.items():
            self.allocate(name, (size,))
        self.allocate("missing_now", (flags * (self.dropout > 0),), np.bool_)
        self.allocate("failed", (flags * (self.stuck > 0),), np.bool_)
        steps = 1 << self.timing.longest.bit_length() if self.timing.longest else 0
        kind = np.result_type(*(own.part.space.dtype for own in chosen))
        self.allocate("past", (steps, self.number if steps else 0), kind)
        self.allocate("source", dtype=np.int64)

    def _memory(self) -> Memory:
        return Memory(self.factor, self.offset, self.drifted, self.missing_now, self.failed, self.past, self.source)

    def _errors(self, chosen: list[Chosen]) -> list[Errors]:
        """The errors of each array, in its units, with channels in the order in which they lie side by side."""
        dt = self._seconds() * self.timing.every if any(map(np.any, (self.walk, self.drift, self.density))) else 1.0
        values = {**self.magnitudes, "walk": self.magnitudes["walk"] * math.sqrt(dt)}
        values["outlier_size"] = values["outlier_size"] * (self.outliers > 0.0)
        values["noise"] = np.hypot(values["noise"], values.pop("density") / math.sqrt(dt))
        forget = math.exp(-dt / self.drift_time) if self.drift_time else 0.0
        gains = np.concatenate([own.part.gain[own.index] for own in chosen])
        order = np.concatenate([own.order for own in chosen])
        self.scales = values["scale"][order]
        self.biases, self.drifts = values["bias"][order] * gains, values["drift"][order] * gains
        errors, first = [], 0
        for own in chosen:
            errors.append(self._errors_of(own, first, values, forget))
            first += len(own.index)
        return errors

    def _errors_of(self, own: Chosen, first: int, values: dict[str, np.ndarray], forget: float) -> Errors:
        gain, zero, dtype = own.part.gain[own.index], own.part.offset[own.index], own.part.space.dtype

        def scaled(name: str) -> np.ndarray:
            value = (values[name][own.order] * gain).astype(dtype)
            return value if value.any() else value[:0]

        low, high = (bound.astype(dtype) for bound in self._range(own, gain, zero))
        others = np.setdiff1d(np.arange(own.part.size), own.index).astype(np.uint64)
        return Errors(
            places=own.index, others=others, first=first, zero=zero.astype(dtype), walk=scaled("walk"),
            drift=scaled("drift"), forget=forget, noise=scaled("noise"), uniform=scaled("uniform"),
            outlier_size=scaled("outlier_size"), outliers=float(self.outliers),
            quantum=scaled("quantum"), dead_band=scaled("dead_band"), low=low, high=high, each=bool(self.each),
            missing=("hold", "zero").index(self.missing), stuck_at=("hold", "zero", "noise").index(self.stuck_at),
        )  # fmt: skip

    def _range(self, own: Chosen, gain: np.ndarray, zero: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Saturation: the bounds of the space, or what is asked for within them."""
        bounds = [own.part.space.low, own.part.space.high]
        low, high = (each.reshape(-1)[own.index].astype(np.float64) for each in bounds)
        for name in ("low", "high"):
            if getattr(self, name) is not None:
                self.check_number(name, -math.inf)
                value = np.asarray(getattr(self, name), np.float64)
                if value.shape not in ((), (self.number,)):
                    raise self.setting_error(name, f"must be one number, or {self.number}, one per channel")
                wanted = np.broadcast_to(value, (self.number,))[own.order] * gain + zero
                low, high = (np.maximum(low, wanted), high) if name == "low" else (low, np.minimum(high, wanted))
        if (low >= high).any() and (self.low is not None or self.high is not None):
            name = "high" if self.low is None else "low"
            raise self.setting_error(
                name, f"leaves no range: low={self.low}, high={self.high}, and the bounds of the space"
            )
        return low, high

    def _keep_seen(self, parts: list[Part]) -> list[str]:
        """Room for what is seen of each array, and the flags behind it."""
        flags = 0
        if self.show_missing:
            space = self.below.observation_space
            if not isinstance(space, spaces.Box) or len(space.shape) != 1:
                raise self.setting_error("show_missing", f"requires observations that are vectors, not {space}")
            flags = self.missing_now.shape[1]
            low, high = np.append(space.low, np.zeros(flags)), np.append(space.high, np.ones(flags))
            shown = spaces.Box(low.astype(space.dtype), high.astype(space.dtype), dtype=space.dtype)
            self.observation_spaces = [shown] * len(self.observation_spaces)
        for k, part in enumerate(parts):
            shape = (part.size + flags,) if flags else part.space.shape
            self.allocate(f"seen_{k}", shape, part.space.dtype)
        return [f"seen_{k}" for k in range(len(parts))]

    # --- steps --------------------------------------------------------------------------------------------------------

    def seen(self) -> Observation:
        """The readings."""
        below = self.below.observation
        if self.idle:
            return below
        return replaced(below, {path: getattr(self, n) for path, n in zip(self.paths, self.seen_names, strict=True)})

    def begin_episode(self, slots: np.ndarray) -> None:
        """Draw the errors of an episode, and read the first sample."""
        if not self.idle:
            begin_memory(slots, self.key, self.scales, self.biases, self.drifts, self._memory())
            self.after_step(slots)

    def run_all(self, name: str, loops: Callable[[np.ndarray], Loops], slots: np.ndarray, lasting: bool = True) -> None:
        """Compute the readings of many slots in threads."""
        if not self.much or self.one_slot:
            super().run_all(name, loops, slots, lasting)
            return
        for loop, _, _, *arguments in loops(slots):
            self.in_threads(loop, *arguments)

    def looking(self, slots: np.ndarray) -> Iterator[tuple[Any, ...]]:
        """The loops that compute the readings of a step: compiled loops (start, stop, slots, ...) and their
        arguments."""
        if self.idle:
            return
        all_slots = 0, self.count, slots
        memory, below, timing = self._memory(), self.below.observation, self.timing
        if timing.longest or self.dropout or self.stuck:
            yield pick_samples, *all_slots, self.key, self.time, timing, memory
        for path, name, errors in zip(self.paths, self.seen_names, self.errors, strict=True):
            true, seen = np.ascontiguousarray(at(below, path)).reshape(self.count, -1), getattr(self, name)
            flat = true, seen.reshape(self.count, -1)
            if len(errors.others):
                missing, failed = self.missing_now, self.failed
                yield copy_around, *all_slots, self.time, timing.every, errors.others, missing, failed, *flat
            if timing.longest:
                yield remember, *all_slots, self.time, errors.places, errors.first, true, self.past
            yield sense, *all_slots, self.key, self.time, timing.every, errors, memory, *flat


@dataclass
class HideObservations(Seeing):
    """Hide channels of the observation, such as velocities, so that the policy has to infer them.

    Attributes:
        channels: as for `Sensor`; None for all, which have to stay then.
        remove: take them out of the observation space; otherwise they stay, at their physical zero (or at the nearest
            value in the space).

    Info: `true_obs`, the observation with all channels.

    Raises:
        ParameterError: an unknown channel; nothing would be left of an array, or an array to shorten is no vector.
    """

    channels: Channels = None
    _: KW_ONLY
    remove: bool = True

    def prepare(self) -> None:
        """Find the channels, and allocate the observation."""
        parts = {part.path: part for part in parts_of(self.below)}
        self.seen_names: list[str] = []
        self.copies: list[tuple[tuple[str, ...], np.ndarray, np.ndarray]] = []
        chosen = channels_of(self)
        for own in chosen:
            parts[own.part.path] = self._without(own)
        if self.remove:
            self.observation_spaces = [_shortened(space, chosen) for space in self.observation_spaces]
        self.parts = list(parts.values())
        self.notice_truth()
        self.shows_own()

    def _without(self, own: Chosen) -> Part:
        """The part without the channels of a group, or with zeros in their place; and which numbers to copy to it."""
        part, others = own.part, np.setdiff1d(np.arange(own.part.size), own.index)
        if self.remove:
            part = part.only(others, self._box(own, others))
        name = f"seen_{len(self.seen_names)}"
        seen = self.allocate(name, part.space.shape, part.space.dtype).reshape(self.count, -1)
        if not self.remove:
            low, high = (bound.reshape(-1)[own.index] for bound in (part.space.low, part.space.high))
            seen[:, own.index] = np.clip(part.offset[own.index], low, high)
        self.seen_names.append(name)
        source = others.astype(np.uint64)
        self.copies.append((part.path, source, np.arange(len(others), dtype=np.uint64) if self.remove else source))
        return part

    def _box(self, own: Chosen, others: np.ndarray) -> spaces.Box:
        if len(own.part.space.shape) != 1:
            raise self.setting_error("remove", f"requires a vector, not {own.part.space}; remove=False keeps its shape")
        if not len(others):
            raise self.setting_error("channels", "leaves no observation; remove=False keeps the channels as zeros")
        return _box_of(own.part.space, others)

    def seen(self) -> Observation:
        """The remaining observation."""
        seen = {path: getattr(self, name) for name, (path, _, _) in zip(self.seen_names, self.copies, strict=True)}
        return replaced(self.below.observation, seen)

    def begin_episode(self, slots: np.ndarray) -> None:
        """Look."""
        self.after_step(slots)

    def looking(self, slots: np.ndarray) -> Iterator[tuple[Any, ...]]:
        """Look."""
        below = self.below.observation
        for name, (path, source, target) in zip(self.seen_names, self.copies, strict=True):
            true, seen = np.ascontiguousarray(at(below, path)), getattr(self, name)
            yield copy_numbers, slots, source, target, true.reshape(self.count, -1), seen.reshape(self.count, -1)


def _shortened(space: spaces.Space, chosen: Sequence[Chosen]) -> spaces.Space:
    """An agent's space without channels; its vectors may be shorter than the parts'."""
    boxes = dict(leaves(space))
    left = {}
    for own in chosen:
        box = boxes[own.part.path]
        left[own.part.path] = _box_of(box, np.setdiff1d(np.arange(box.shape[0]), own.index))
    return replaced_space(space, left)


def _box_of(box: spaces.Box, kept: np.ndarray) -> spaces.Box:
    return spaces.Box(box.low[kept], box.high[kept], dtype=box.dtype)
