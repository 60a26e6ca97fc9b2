"""Imperfect sensors: what a policy sees goes through them after the environment.

    env = wrap(env, Sensor("position", noise=0.02, delay=2), Sensor("velocity", drift=0.1, drift_time=5.0))

White noise, random walk and Gauss-Markov drift are the terms by which IEEE Std 952 describes gyroscopes; losses in
bursts are Gilbert's ("Capacity of a burst-noise channel", Bell System Technical Journal 39, 1960) and Elliott's.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, NamedTuple

import numpy as np
from gymnasium import spaces
from numba import njit

from rlenvs.core.cache import compiled
from rlenvs.wrappers.channels import Channels, Chosen, Part, at, channels_of, leaves, parts_of, replaced, replaced_space
from rlenvs.wrappers.layer import Layer, Observation
from rlenvs.wrappers.randomness import add_normals, bits_from, normal_of, start_of, uniform_of

Numbers = float | Sequence[float]
MAGNITUDES = ("scale", "bias", "walk", "drift", "noise", "density", "uniform", "outlier_size", "quantum", "dead_band")

# places of random numbers within a step, a range for each use
MOST = 1 << 15
WHITE, WALK, DRIFT, UNIFORM, SPIKE, SPIKE_SIZE, LOSS, FAILURE, DELAY, SCALE, BIAS = (
    np.uint64(k * MOST) for k in range(11)
)
HOLD, ZERO, NOISE, READ = 0, 1, 2, 3  # what is read in place of a sample; and the sample
ROWS = 120  # that are worked on together
DRAWN = ("walk", "drift", "noise", "density", "uniform", "outliers", "dropout", "stuck")
MUCH = 60  # numbers to draw per row, from which on threads that share the rows gain more than sharing takes


# --- compiled loops ---------------------------------------------------------------------------------------------------


class Timing(NamedTuple):
    """When samples are taken, and which get lost. Chances are per sample."""

    every: int
    shortest: int
    longest: int
    keep_order: bool
    dropout: float
    enter: float  # chance that samples begin to be missing, and that they go on to be
    stay: float
    stuck: float


class Errors(NamedTuple):
    """What happens to the channels of one array, in its own units: arrays (channels,), empty where there is none."""

    places: np.ndarray  # where they lie in the array
    others: np.ndarray  # where the other numbers lie
    first: int  # the number of the first among all channels of the sensor
    zero: np.ndarray  # where physical zero lies
    walk: np.ndarray
    drift: np.ndarray
    forget: float  # of the drift, per sample
    noise: np.ndarray
    uniform: np.ndarray
    outlier_size: np.ndarray
    outliers: float
    quantum: np.ndarray
    dead_band: np.ndarray
    low: np.ndarray
    high: np.ndarray
    each: bool
    missing: int
    stuck_at: int


class Memory(NamedTuple):
    """What is remembered of the channels of all arrays: arrays (rows, channels), empty where it is not needed."""

    factor: np.ndarray
    offset: np.ndarray
    drifted: np.ndarray
    missing: np.ndarray  # (rows, channels or 1)
    failed: np.ndarray
    past: np.ndarray  # (rows, steps, channels); steps are a power of two
    source: np.ndarray  # (rows,), the step whose sample is read


@compiled(nogil=True)
def begin_memory(
    rows: np.ndarray, key: np.ndarray, scale: np.ndarray, bias: np.ndarray, drift: np.ndarray, memory: Memory
) -> None:
    """Draw what lasts for an episode, and forget the last one."""
    for r in range(rows.size):
        if rows[r]:
            start = start_of(key[r], np.uint64(0))
            for c in range(memory.factor.shape[1]):
                memory.factor[r, c] = scale[c] * normal_of(bits_from(start, SCALE + np.uint64(c)))
            for c in range(memory.offset.shape[1]):
                memory.offset[r, c] = bias[c] * normal_of(bits_from(start, BIAS + np.uint64(c)))
            for c in range(memory.drifted.shape[1]):
                memory.drifted[r, c] = drift[c] * normal_of(bits_from(start, DRIFT + np.uint64(c)))
            memory.missing[r], memory.failed[r] = False, False
            memory.source[r] = 0


@compiled(nogil=True)
def pick_samples(
    start: int, stop: int, rows: np.ndarray, key: np.ndarray, time: np.ndarray, timing: Timing, memory: Memory
) -> None:
    """Which sample each row reads, which get lost, which sensors fail. The first of an episode always arrives."""
    every, shortest, longest, keep_order = timing.every, timing.shortest, timing.longest, timing.keep_order
    missing, failed, source = memory.missing, memory.failed, memory.source
    for r in range(start, stop):
        if rows[r] and time[r] > 0 and (every == 1 or time[r] % every == 0):
            numbers, age = start_of(key[r], time[r]), shortest
            if longest > shortest:
                age += int(uniform_of(bits_from(numbers, DELAY)) * (longest - shortest + 1))
            read = max(time[r] - age, 0)
            source[r] = max(read, source[r]) if keep_order else read
            for c in range(missing.shape[1]):
                chance = timing.stay if missing[r, c] else timing.enter
                if time[r] == every:
                    chance = timing.dropout
                missing[r, c] = uniform_of(bits_from(numbers, LOSS + np.uint64(c))) < chance
            for c in range(failed.shape[1]):
                failed[r, c] |= uniform_of(bits_from(numbers, FAILURE + np.uint64(c))) < timing.stuck


@compiled(nogil=True)
def remember(
    start: int,
    stop: int,
    rows: np.ndarray,
    time: np.ndarray,
    places: np.ndarray,
    first: int,
    true: np.ndarray,
    past: np.ndarray,
) -> None:
    """Keep the true values of channels, for as long as they may still be read."""
    last = past.shape[1] - 1
    for r in range(start, stop):
        if rows[r]:
            slot = time[r] & last
            for j in range(places.size):
                past[r, slot, np.uint64(first + j)] = true[r, np.uint64(places[j])]


@compiled(nogil=True)
def sense(
    start: int,
    stop: int,
    rows: np.ndarray,
    key: np.ndarray,
    time: np.ndarray,
    every: int,
    e: Errors,
    memory: Memory,
    true: np.ndarray,
    seen: np.ndarray,
) -> None:
    """Readings of one array for the rows of a mask, true -> seen, (rows, numbers); `ROWS` rows at a time."""
    who, starts = np.empty(ROWS, np.uint64), np.empty(ROWS, np.uint64)
    x = np.empty(
        (e.places.size, ROWS), true.dtype
    )  # a channel after the other, so that every model is a loop over rows
    z = np.empty((max(e.walk.size, e.drift.size), ROWS), true.dtype)
    kept = memory.missing.shape[1] + memory.failed.shape[1] > 0
    plain = not kept and memory.past.shape[1] + memory.factor.shape[1] + e.quantum.size + e.dead_band.size == 0
    r = start
    while r < stop:
        count = 0
        while r < stop and count < ROWS:
            if rows[r] and (every == 1 or time[r] % every == 0):
                who[count], starts[count] = r, start_of(key[r], time[r])
                count += 1
            r += 1
        x[:, :count] = 0.0
        if memory.offset.shape[1] > 0:
            add_offsets(who[:count], starts[:count], time, e.walk, e.first, memory.offset, x, z)
        if e.drift.size > 0:
            add_drift(who[:count], starts[:count], time, e.drift, e.forget, e.first, memory.drifted, x, z)
        if e.stuck_at == NOISE and memory.failed.shape[1] > 0:
            silence(who[:count], e.each, e.first, memory.failed, x)
        add_noise(starts[:count], e, x)
        if plain:
            read(who[:count], e, true, x, seen)
            continue
        add_samples(who[:count], e, memory, true, x)
        limit(count, e, x)
        store(who[:count], e, memory, true.shape[1], x, seen)


@njit
def add_offsets(
    who: np.ndarray,
    starts: np.ndarray,
    time: np.ndarray,
    walk: np.ndarray,
    first: int,
    offset: np.ndarray,
    x: np.ndarray,
    z: np.ndarray,
) -> None:
    """Offsets, after a step of their random walks."""
    if walk.size > 0:
        z[:] = 0.0
        add_normals(starts, WALK + np.uint64(first), walk, z)
        for j in range(walk.size):
            c = np.uint64(first + j)
            for i in range(who.size):
                offset[who[i], c] += z[j, i] if time[who[i]] > 0 else 0.0
    for j in range(x.shape[0]):
        c = np.uint64(first + j)
        for i in range(who.size):
            x[j, i] += offset[who[i], c]


@njit
def add_drift(
    who: np.ndarray,
    starts: np.ndarray,
    time: np.ndarray,
    drift: np.ndarray,
    forget: float,
    first: int,
    drifted: np.ndarray,
    x: np.ndarray,
    z: np.ndarray,
) -> None:
    """Ornstein-Uhlenbeck processes, exact for any time between samples."""
    z[:] = 0.0
    add_normals(starts, DRIFT + np.uint64(first), drift, z)
    kick = np.sqrt(1.0 - forget**2)
    for j in range(drift.size):
        c = np.uint64(first + j)
        for i in range(who.size):
            r = who[i]
            if time[r] > 0:
                drifted[r, c] = forget * drifted[r, c] + kick * z[j, i]
            x[j, i] += drifted[r, c]


@njit
def silence(who: np.ndarray, each: bool, first: int, failed: np.ndarray, x: np.ndarray) -> None:
    """A sensor that failed to noise has no other errors."""
    for j in range(x.shape[0]):
        c = np.uint64(first + j if each else 0)
        for i in range(who.size):
            if failed[who[i], c]:
                x[j, i] = 0.0


@njit
def add_noise(starts: np.ndarray, e: Errors, x: np.ndarray) -> None:
    """White noise and outliers."""
    first, each, uniform, size, chance = e.first, e.each, e.uniform, e.outlier_size, e.outliers
    add_normals(starts, WHITE + np.uint64(first), e.noise, x)
    for j in range(uniform.size):
        place, half = UNIFORM + np.uint64(first + j), uniform[j]
        for i in range(starts.size):
            x[j, i] += half * (2.0 * uniform_of(bits_from(starts[i], place)) - 1.0)
    for j in range(size.size):
        event, place = SPIKE + np.uint64(first + j if each else 0), SPIKE_SIZE + np.uint64(first + j)
        for i in range(starts.size):
            if uniform_of(bits_from(starts[i], event)) < chance:
                x[j, i] += size[j] * (2.0 * uniform_of(bits_from(starts[i], place)) - 1.0)


@njit
def read(who: np.ndarray, e: Errors, true: np.ndarray, x: np.ndarray, seen: np.ndarray) -> None:
    """Readings where errors are only added: all at once, which is faster."""
    places, lows, highs = e.places, e.low, e.high
    for j in range(x.shape[0]):
        place, low, high = np.uint64(places[j]), lows[j], highs[j]
        for i in range(who.size):
            seen[who[i], place] = min(max(true[who[i], place] + x[j, i], low), high)


@njit
def add_samples(who: np.ndarray, e: Errors, memory: Memory, true: np.ndarray, x: np.ndarray) -> None:
    """The true values, as old as they are, with errors of the factor; zero of sensors that failed to noise."""
    places, zeros, first, each = e.places, e.zero, e.first, e.each
    factor, past, source, failed = memory.factor, memory.past, memory.source, memory.failed
    silent = e.stuck_at == NOISE and failed.shape[1] > 0
    slots = np.empty(ROWS, np.uint64)
    for i in range(who.size):
        slots[i] = source[who[i]] & (past.shape[1] - 1)
    for j in range(x.shape[0]):
        place, channel, zero = np.uint64(places[j]), np.uint64(first + j), zeros[j]
        if factor.shape[1] > 0 or silent:
            for i in range(who.size):
                r = who[i]
                sample = past[r, slots[i], channel] if past.shape[1] > 0 else true[r, place]
                if silent and failed[r, channel if each else np.uint64(0)]:
                    sample = zero
                elif factor.shape[1] > 0:
                    sample += factor[r, channel] * (sample - zero)
                x[j, i] += sample
        elif past.shape[1] > 0:
            for i in range(who.size):
                x[j, i] += past[who[i], slots[i], channel]
        else:
            for i in range(who.size):
                x[j, i] += true[who[i], place]


@njit
def limit(count: int, e: Errors, x: np.ndarray) -> None:
    """Resolution, dead band, saturation."""
    zeros, quantum, dead_band, lows, highs = e.zero, e.quantum, e.dead_band, e.low, e.high
    for j in range(x.shape[0]):
        zero, low, high = zeros[j], lows[j], highs[j]
        if quantum.size > 0 and quantum[j] > 0.0:
            step = quantum[j]
            for i in range(count):
                x[j, i] = zero + step * np.rint((x[j, i] - zero) / step)
        if dead_band.size > 0:
            width = dead_band[j]
            for i in range(count):
                x[j, i] = zero if abs(x[j, i] - zero) < width else x[j, i]
        for i in range(count):
            x[j, i] = min(max(x[j, i], low), high)


@njit
def store(who: np.ndarray, e: Errors, memory: Memory, size: int, x: np.ndarray, seen: np.ndarray) -> None:
    """Write readings, but for samples that are missing and sensors that failed; flags of missing ones behind."""
    places, zeros, lows, highs, first, each = e.places, e.zero, e.low, e.high, e.first, e.each
    missing, failed, missing_as, stuck_at = memory.missing, memory.failed, e.missing, e.stuck_at
    losses, failures = missing.shape[1] > 0, failed.shape[1] > 0
    for j in range(x.shape[0]):
        place, c = np.uint64(places[j]), np.uint64(first + j if each else 0)
        nothing = min(max(zeros[j], lows[j]), highs[j])
        for i in range(who.size):
            r = who[i]
            how = missing_as if losses and missing[r, c] else READ
            if failures and failed[r, c]:
                how = stuck_at
            if how == ZERO:
                seen[r, place] = nothing
            elif how != HOLD:
                seen[r, place] = x[j, i]
    for k in range(size, seen.shape[1]):
        for r in who:
            seen[r, k] = missing[r, k - size]


@compiled(nogil=True)
def copy_around(
    start: int,
    stop: int,
    rows: np.ndarray,
    held: np.ndarray,
    others: np.ndarray,
    missing: np.ndarray,
    failed: np.ndarray,
    true: np.ndarray,
    seen: np.ndarray,
) -> None:
    """The true numbers of the rows of a mask; only the others than channels where a reading may have to stay."""
    for r in range(start, stop):
        if rows[r]:
            some = held[r]
            for c in range(missing.shape[1]):
                some |= missing[r, c]
            for c in range(failed.shape[1]):
                some |= failed[r, c]
            if some:
                for k in range(others.size):
                    seen[r, others[k]] = true[r, others[k]]
            else:
                for i in range(true.shape[1]):
                    seen[r, i] = true[r, i]


@compiled(nogil=True)
def copy_numbers(rows: np.ndarray, source: np.ndarray, target: np.ndarray, true: np.ndarray, seen: np.ndarray) -> None:
    """Some numbers of the rows of a mask, to other places."""
    for r in range(rows.size):
        if rows[r]:
            for k in range(source.size):
                seen[r, target[k]] = true[r, source[k]]


# --- the layers -------------------------------------------------------------------------------------------------------


class Seeing(Layer):
    """A layer that changes observations, and tells the untouched ones if none below does."""

    def notice_truth(self) -> None:
        """Whether this is the lowest such layer."""
        self.tells_truth = self.below.read("true_obs") is None

    def told(self) -> dict[str, Any]:
        """The untouched observation."""
        return {"true_obs": self.below.observation} if self.tells_truth else {}


@dataclass
class Sensor(Seeing):
    """An imperfect sensor for a group of channels. Several sensors are several layers.

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
            "[0:4]"; one or a list; None for all.
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
        burst: mean number of samples that are missing in a row (Gilbert-Elliott), at least 1; None: independent ones.
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
        """Check the settings, and make room for the memories that are needed."""
        chosen = channels_of(self)
        self.number = sum(len(own.index) for own in chosen)
        if self.number > MOST:
            raise self.refuse("channels", f"are {self.number}; a sensor has at most {MOST}")
        self.magnitudes = {name: self._per_channel(name) for name in MAGNITUDES}
        self._check()
        self.timing = self._timing()
        self.idle = not any(np.any(getattr(self, name)) for name in (*MAGNITUDES, "outliers", "dropout", "stuck"))
        self.idle &= self.timing.longest == 0 and self.timing.every == 1 and self.low is None and self.high is None
        self.much = self.number * sum(bool(np.any(getattr(self, name))) for name in DRAWN) >= MUCH
        self.never = np.zeros(self.count, np.bool_)
        self._keep_memory(chosen)
        self.errors = self._errors(chosen)
        self.paths = [own.part.path for own in chosen]
        self.seen_names = self._keep_seen([own.part for own in chosen])
        self.notice_truth()

    # --- settings -----------------------------------------------------------------------------------------------------

    def _per_channel(self, name: str) -> np.ndarray:
        """A magnitude as an array (channels,)."""
        self.check_number(name)
        value = np.asarray(getattr(self, name), np.float64)
        if value.shape not in ((), (self.number,)):
            raise self.refuse(name, f"must be one number, or {self.number}, one per channel")
        return np.broadcast_to(value, (self.number,))

    def _check(self) -> None:
        for name in ("outliers", "dropout", "stuck"):
            self._check_one(name, 1.0)
        for name in ("rate", "drift_time", "dt"):
            self._check_one(name)
        for name in ("keep_order", "show_missing", "each"):
            if not isinstance(getattr(self, name), (bool, np.bool_)):
                raise self.refuse(name, "must be True or False")
        self.check_choice("missing", ("hold", "zero"))
        self.check_choice("stuck_at", ("hold", "zero", "noise"))
        if self.outliers and not np.any(self.outlier_size):
            raise self.refuse("outliers", "want outlier_size > 0")
        if np.any(self.drift) and not self.drift_time:
            raise self.refuse("drift", "wants drift_time > 0, its correlation time in seconds")
        if self.stuck and self.stuck_at == "noise" and not (np.any(self.noise) or np.any(self.density)):
            raise self.refuse("stuck_at", "wants noise > 0 or density > 0")
        if self.show_missing and not self.dropout:
            raise self.refuse("show_missing", "wants dropout > 0; without it the flags would never change")

    def _check_one(self, name: str, high: float = math.inf) -> None:
        self.check_number(name, 0.0, high)
        if np.ndim(getattr(self, name)):
            raise self.refuse(name, "must be one number")

    def _seconds(self) -> float:
        """Seconds per step."""
        if self.dt:
            return self.dt
        seconds = self.below.seconds
        if not seconds:
            raise self.refuse("dt", f"must be given, in seconds per step: {self.name} does not tell its own")
        return seconds

    def _timing(self) -> Timing:
        enter, stay = self._chain()
        self.check_whole("every", 1)
        if self.rate and self.every > 1:
            raise self.refuse("rate", f"contradicts every={self.every}; give one of them")
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
            raise self.refuse("burst", f"must be at least {least:.4g} samples where dropout={self.dropout}")
        return enter, 1.0 - 1.0 / self.burst

    def _delays(self) -> tuple[int, int]:
        """The shortest and the longest delay in steps."""
        setting = "latency" if np.any(self.latency) else "delay"
        if setting == "latency" and np.any(self.delay):
            raise self.refuse("latency", f"contradicts delay={self.delay!r}; give one of them")
        self.check_number(setting)
        given = np.asarray(getattr(self, setting), np.float64)
        if setting == "latency":
            given = np.rint(given / self._seconds())
        if given.shape not in ((), (2,)) or (given != np.rint(given)).any() or given.flat[0] > given.flat[-1]:
            unit = "whole numbers of steps" if setting == "delay" else "seconds"
            raise self.refuse(setting, f"must be one number or [low, high], low <= high, in {unit}")
        if self.batch and given.max() >= self.batch.setup.horizon:
            raise self.refuse(setting, f"is longer than an episode of {self.batch.setup.horizon} steps")
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
            self.keep(name, (size,))
        self.keep("missing_now", (flags * (self.dropout > 0),), np.bool_)
        self.keep("failed", (flags * (self.stuck > 0),), np.bool_)
        steps = 1 << self.timing.longest.bit_length() if self.timing.longest else 0
        kind = np.result_type(*(own.part.space.dtype for own in chosen))
        self.keep("past", (steps, self.number if steps else 0), kind)
        self.keep("source", dtype=np.int64)

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
                    raise self.refuse(name, f"must be one number, or {self.number}, one per channel")
                wanted = np.broadcast_to(value, (self.number,))[own.order] * gain + zero
                low, high = (np.maximum(low, wanted), high) if name == "low" else (low, np.minimum(high, wanted))
        if (low >= high).any() and (self.low is not None or self.high is not None):
            name = "high" if self.low is None else "low"
            raise self.refuse(name, f"leaves no range: low={self.low}, high={self.high}, and the space has bounds too")
        return low, high

    def _keep_seen(self, parts: list[Part]) -> list[str]:
        """Room for what is seen of each array, and the flags behind it."""
        flags = 0
        if self.show_missing:
            space = self.below.observation_space
            if not isinstance(space, spaces.Box) or len(space.shape) != 1:
                raise self.refuse("show_missing", f"wants observations that are vectors, not {space}")
            flags = self.missing_now.shape[1]
            low, high = np.append(space.low, np.zeros(flags)), np.append(space.high, np.ones(flags))
            shown = spaces.Box(low.astype(space.dtype), high.astype(space.dtype), dtype=space.dtype)
            self.observation_spaces = [shown] * len(self.observation_spaces)
        for k, part in enumerate(parts):
            shape = (part.size + flags,) if flags else part.space.shape
            self.keep(f"seen_{k}", shape, part.space.dtype)
        return [f"seen_{k}" for k in range(len(parts))]

    # --- steps --------------------------------------------------------------------------------------------------------

    @property
    def observation(self) -> Observation:
        """The readings."""
        below = self.below.observation
        if self.idle:
            return below
        return replaced(below, {path: getattr(self, n) for path, n in zip(self.paths, self.seen_names, strict=True)})

    def begin(self, rows: np.ndarray) -> None:
        """Draw the errors of an episode, and read the first sample."""
        if not self.idle:
            begin_memory(rows, self.key, self.scales, self.biases, self.drifts, self._memory())
            self.after(rows)

    def after(self, rows: np.ndarray) -> None:
        """Read."""
        if self.idle:
            return
        memory, below = self._memory(), self.below.observation
        if self.timing.longest or self.dropout or self.stuck:
            self._all_rows(pick_samples, rows, self.key, self.time, self.timing, memory)
        for path, name, errors in zip(self.paths, self.seen_names, self.errors, strict=True):
            true, seen = at(below, path), getattr(self, name)
            self._pass_on(rows, errors, true, seen)
            flat = np.ascontiguousarray(true).reshape(self.count, -1), seen.reshape(self.count, -1)
            if self.timing.longest:
                self._all_rows(remember, rows, self.time, errors.places, errors.first, flat[0], self.past)
            self._all_rows(sense, rows, self.key, self.time, self.timing.every, errors, memory, *flat)

    def _all_rows(self, loop: Callable[..., None], rows: np.ndarray, *arguments: Any) -> None:
        """Call a compiled loop, in several threads where there is much to draw for each row."""
        if self.much:
            self.in_threads(loop, rows, *arguments)
        else:
            loop(0, self.count, rows, *arguments)

    def _pass_on(self, rows: np.ndarray, errors: Errors, true: np.ndarray, seen: np.ndarray) -> None:
        """Copy the numbers that are no channels; where no reading is held all of them, which is faster."""
        if not len(errors.others):
            return
        if self.dropout or self.stuck or self.timing.every > 1:
            flat = np.ascontiguousarray(true).reshape(self.count, -1), seen.reshape(self.count, -1)
            held = self.time % self.timing.every > 0 if self.timing.every > 1 else self.never
            self._all_rows(copy_around, rows, held, errors.others, self.missing_now, self.failed, *flat)
        elif rows.all():
            seen[...] = true
        else:
            seen[rows] = true[rows]


@dataclass
class Mask(Seeing):
    """Hide channels, such as velocities, so that the policy has to infer them.

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
        """Find the channels, and make room for what is seen."""
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

    def _without(self, own: Chosen) -> Part:
        """The part without the channels of a group, or with zeros in their place; and which numbers to copy to it."""
        part, others = own.part, np.setdiff1d(np.arange(own.part.size), own.index)
        if self.remove:
            part = part.only(others, self._box(own, others))
        name = f"seen_{len(self.seen_names)}"
        seen = self.keep(name, part.space.shape, part.space.dtype).reshape(self.count, -1)
        if not self.remove:
            low, high = (bound.reshape(-1)[own.index] for bound in (part.space.low, part.space.high))
            seen[:, own.index] = np.clip(part.offset[own.index], low, high)
        self.seen_names.append(name)
        source = others.astype(np.uint64)
        self.copies.append((part.path, source, np.arange(len(others), dtype=np.uint64) if self.remove else source))
        return part

    def _box(self, own: Chosen, others: np.ndarray) -> spaces.Box:
        if len(own.part.space.shape) != 1:
            raise self.refuse(
                "remove", f"wants a vector to shorten, not {own.part.space}; remove=False keeps its shape"
            )
        if not len(others):
            raise self.refuse("channels", "leaves nothing to see; remove=False keeps the channels as zeros")
        return _box_of(own.part.space, others)

    @property
    def observation(self) -> Observation:
        """What is left to see."""
        seen = {path: getattr(self, name) for name, (path, _, _) in zip(self.seen_names, self.copies, strict=True)}
        return replaced(self.below.observation, seen)

    def begin(self, rows: np.ndarray) -> None:
        """Look."""
        self.after(rows)

    def after(self, rows: np.ndarray) -> None:
        """Look."""
        below = self.below.observation
        for name, (path, source, target) in zip(self.seen_names, self.copies, strict=True):
            true, seen = np.ascontiguousarray(at(below, path)), getattr(self, name)
            copy_numbers(rows, source, target, true.reshape(self.count, -1), seen.reshape(self.count, -1))


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
