"""What sensors do to numbers: errors, losses, delays, as compiled loops over slots; `Sensor` says what each means."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rlenvs.core.compiler.loops import compiled, helper
from rlenvs.wrappers.randomness import add_normals, bits_from, normal_of, start_of, uniform_of

# places of random numbers within a step, a range for each use
MOST = 1 << 15
WHITE, WALK, DRIFT, UNIFORM, SPIKE, SPIKE_SIZE, LOSS, FAILURE, DELAY, SCALE, BIAS = (
    np.uint64(k * MOST) for k in range(11)
)
HOLD, ZERO, NOISE, READ = 0, 1, 2, 3  # what is read in place of a sample; and the sample
ROWS = 120  # that are worked on together


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
    """What is remembered of the channels of all arrays: arrays (slots, channels), empty where it is not needed."""

    factor: np.ndarray
    offset: np.ndarray
    drifted: np.ndarray
    missing: np.ndarray  # (slots, channels or 1)
    failed: np.ndarray
    past: np.ndarray  # (slots, steps, channels); steps are a power of two
    source: np.ndarray  # (slots,), the step whose sample is read


@compiled(nogil=True)
def begin_memory(
    slots: np.ndarray, key: np.ndarray, scale: np.ndarray, bias: np.ndarray, drift: np.ndarray, memory: Memory
) -> None:
    """Draw what lasts for an episode, and forget the last one."""
    for r in range(slots.size):
        if slots[r]:
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
    start: int, stop: int, slots: np.ndarray, key: np.ndarray, time: np.ndarray, timing: Timing, memory: Memory
) -> None:
    """Which sample each slot reads, which get lost, which sensors fail. The first of an episode always arrives."""
    every, shortest, longest, keep_order = timing.every, timing.shortest, timing.longest, timing.keep_order
    missing, failed, source = memory.missing, memory.failed, memory.source
    for r in range(start, stop):
        if slots[r] and time[r] > 0 and (every == 1 or time[r] % every == 0):
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
    slots: np.ndarray,
    time: np.ndarray,
    places: np.ndarray,
    first: int,
    true: np.ndarray,
    past: np.ndarray,
) -> None:
    """Keep the true values of channels, for as long as they may still be read."""
    last = past.shape[1] - 1
    for r in range(start, stop):
        if slots[r]:
            slot = time[r] & last
            for j in range(places.size):
                past[r, slot, np.uint64(first + j)] = true[r, np.uint64(places[j])]


@compiled(nogil=True)
def sense(
    start: int,
    stop: int,
    slots: np.ndarray,
    key: np.ndarray,
    time: np.ndarray,
    every: int,
    e: Errors,
    memory: Memory,
    true: np.ndarray,
    seen: np.ndarray,
) -> None:
    """Readings of one array for the slots of a mask, true -> seen, (slots, numbers); `ROWS` slots at a time."""
    rows = min(ROWS, stop - start)
    who, starts = np.empty(rows, np.uint64), np.empty(rows, np.uint64)
    # a channel after the other, so that every model is a loop over slots
    x = np.empty((e.places.size, rows), true.dtype)
    z = np.empty((max(e.walk.size, e.drift.size), rows), true.dtype)
    kept = memory.missing.shape[1] + memory.failed.shape[1] > 0
    plain = not kept and memory.past.shape[1] + memory.factor.shape[1] + e.quantum.size + e.dead_band.size == 0
    r = start
    while r < stop:
        count = 0
        while r < stop and count < rows:
            if slots[r] and (every == 1 or time[r] % every == 0):
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


@helper
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


@helper
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


@helper
def silence(who: np.ndarray, each: bool, first: int, failed: np.ndarray, x: np.ndarray) -> None:
    """A sensor that failed to noise has no other errors."""
    for j in range(x.shape[0]):
        c = np.uint64(first + j if each else 0)
        for i in range(who.size):
            if failed[who[i], c]:
                x[j, i] = 0.0


@helper
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


@helper
def read(who: np.ndarray, e: Errors, true: np.ndarray, x: np.ndarray, seen: np.ndarray) -> None:
    """Readings where errors are only added: all at once, which is faster."""
    places, lows, highs = e.places, e.low, e.high
    for j in range(x.shape[0]):
        place, low, high = np.uint64(places[j]), lows[j], highs[j]
        for i in range(who.size):
            seen[who[i], place] = min(max(true[who[i], place] + x[j, i], low), high)


@helper
def add_samples(who: np.ndarray, e: Errors, memory: Memory, true: np.ndarray, x: np.ndarray) -> None:
    """The true values, as old as they are, with errors of the factor; zero of sensors that failed to noise."""
    places, zeros, first, each = e.places, e.zero, e.first, e.each
    factor, past, source, failed = memory.factor, memory.past, memory.source, memory.failed
    silent = e.stuck_at == NOISE and failed.shape[1] > 0
    slots = np.empty(who.size, np.uint64)
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


@helper
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


@helper
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
    slots: np.ndarray,
    time: np.ndarray,
    every: int,
    others: np.ndarray,
    missing: np.ndarray,
    failed: np.ndarray,
    true: np.ndarray,
    seen: np.ndarray,
) -> None:
    """The true numbers of the slots of a mask; only the others than channels where a reading may have to stay."""
    for r in range(start, stop):
        if slots[r]:
            some = time[r] % every > 0
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
