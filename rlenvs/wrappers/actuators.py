"""Imperfect actuators: what lies between a policy's commands and what the environment executes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium import spaces

from rlenvs.core.compiler.loops import compiled
from rlenvs.core.declare.errors import ParameterError
from rlenvs.wrappers.masked import fill, flat, put_rows
from rlenvs.wrappers.randomness import bits_at, normal_of, uniform_of
from rlenvs.wrappers.wrapper import Wrapper

Numbers = float | Sequence[float]
# places of random numbers within a step; the first 65536 are the channels' noise, two channels a place
HOLD, SWITCH, DELAY, CHOICE, SCALE, BIAS = (k << 16 for k in range(1, 7))
HALFWAY = np.uint64(32)  # where the second number of 64 bits begins
# what choices cannot have
NUMERIC = ("noise", "bias", "scale", "lag", "rate_limit", "dead_band", "quantum", "blend")


@dataclass
class Actuator(Wrapper):
    """An imperfect actuator: the policy's action passes through it before it reaches the environment.

    In this order, which is that of an actuator at the end of a line: rate of decisions (`every`), delay, repeated
    actions (`hold`), random actions (`random`, `blend`), dead band, quantization, errors (`scale`, `bias`, `noise`),
    saturation at the bounds of the action space, rate limit, lag. Saturation comes before the two that have a memory,
    so they never wind up, and what is executed lies in the action space. An action beyond the bounds counts as the
    nearest within. Settings of several numbers have one per channel of the action. Choices (Discrete) take `every`,
    `delay`, `hold` and `random` alone.

    Before the first action arrives, `neutral` is executed; it is also what memories begin with in every episode. Each
    agent has an actuator of its own; in the single form of a world with many, what the others do goes through none.

    Attributes:
        noise: standard deviation of white noise, in the action's unit.
        bias: standard deviation of an offset that is drawn anew for every episode.
        scale: standard deviation of an error of the gain, drawn anew for every episode: executed = (1 + error) chosen.
        delay: steps. [low, high]: each command travels a time of its own, drawn uniformly; the newest that has arrived
            is executed, so one that is overtaken never is (random action delays of Bouteiller et al., ICLR 2021).
        lag: time constant in seconds of a first-order filter, a_f += (1 - exp(-dt / lag)) (a - a_f).
        rate_limit: the largest change in one step, in the action's unit.
        dead_band: smaller actions, in absolute value, are 0.
        quantum: actions are rounded to multiples of this.
        hold: probability that the last action is executed once more: sticky actions (Machado et al., JAIR 2018).
        every: the policy's action is taken in each `every`-th step only, and kept in between.
        random: probability that a uniformly random action replaces the chosen one: the probabilistic action-robust
            rule (PR-MDP) of Tessler, Efroni and Mannor, ICML 2019, with a random opponent.
        blend: weight w of a uniformly random action in (1 - w) chosen + w random: their noisy rule (NR-MDP).
        neutral: None: zero, or what is nearest to it in the space; of choices the first.
        dt: seconds per step; 0: the environment's own.

    Info: `action`, what the environment got; `raw_action`, what the policy chose. Of several wrappers that report them,
    `action` is the lowest one's and `raw_action` the highest one's.

    Raises:
        ParameterError: a probability outside [0, 1], a negative magnitude, not one number per channel, a setting that
            choices cannot have, a delay beyond the horizon, `random` or `blend` without bounds, an unknown `dt`.
    """

    noise: Numbers = 0.0
    bias: Numbers = 0.0
    scale: Numbers = 0.0
    delay: int | Sequence[int] = 0
    lag: Numbers = 0.0
    rate_limit: Numbers = 0.0
    dead_band: Numbers = 0.0
    quantum: Numbers = 0.0
    hold: float = 0.0
    every: int = 1
    random: float = 0.0
    blend: float = 0.0
    neutral: Numbers | None = None
    dt: float = 0.0

    def prepare(self) -> None:
        """Check the settings, and allocate the required memory."""
        self._read_space()
        self.numbers = {name: self._per_channel(name) for name in NUMERIC if name != "blend"}
        for name in ("hold", "random", "blend"):
            self.check_number(name, 0.0, 1.0)
            if np.ndim(getattr(self, name)):
                raise self.setting_error(name, "must be one number")
        if not self.continuous:
            for name in NUMERIC:
                if np.any(getattr(self, name)):
                    raise self.setting_error(name, f"requires continuous actions; those of {self.name} are discrete")
        if (self.random or self.blend) and not np.isfinite([self.low, self.high]).all():
            raise self.setting_error(
                "random" if self.random else "blend", "requires an action space with finite bounds"
            )
        self.check_whole("every", 1)
        self.shortest, self.longest = self._delays()
        self.on = {name for name in (*NUMERIC, "delay", "hold", "random") if np.any(getattr(self, name))}
        self.idle = not self.on and self.every == 1
        self.passed = None if self.idle else self.action
        self._keep_memories()
        self.info_below = self.below.read("action") is not None
        self.entries_last = not self.info_below or self.lasting("action") is not None

    def _read_space(self) -> None:
        """Bounds (agents, channels) and type of actions, with choices as whole numbers."""
        space = max(self.action_spaces, key=lambda each: each.shape or ())
        if not isinstance(space, (spaces.Box, spaces.Discrete)):
            raise ParameterError(f"{type(self).__name__}: {self.name} has the actions {space}; needed: Box or Discrete")
        bounds = [bounds_of(each, int(np.prod(space.shape or ()))) for each in self.action_spaces]
        self.low, self.high = np.array([low for low, _ in bounds]), np.array([high for _, high in bounds])
        self.channels = self.low.shape[1]
        self.wanted = np.zeros((self.count, self.channels))  # on its way from what was chosen to what is executed
        self.allocate("action", space.shape or (), space.dtype)
        self.allocate("raw_action", space.shape or (), space.dtype)

    def _per_channel(self, name: str) -> np.ndarray:
        """A setting as an array (channels,)."""
        self.check_number(name)
        value = np.asarray(getattr(self, name), np.float64)
        if value.shape not in ((), (self.channels,)):
            raise self.setting_error(name, f"must be one number, or {self.channels}, one per channel of the action")
        return np.broadcast_to(value, (self.channels,)).copy()

    def _delays(self) -> tuple[int, int]:
        """The shortest and the longest delay."""
        low, high = whole_range(self, "delay", 0)
        if self.batch is not None and low >= self.batch.setup.horizon:
            horizon = self.batch.setup.horizon
            raise self.setting_error("delay", f"means that no action arrives within an episode of {horizon} steps")
        return low, high

    def _keep_memories(self) -> None:
        self.start = self._neutral()
        numbers, size = self.numbers, (self.channels,)
        if self.every > 1:
            self.allocate("taken", size)
        if self.longest:
            self.allocate("sent", (self.longest + 1, *size))
        if self.hold:
            self.allocate("last", size)
        self.uneven = bool({"scale", "bias"} & self.on)
        if self.uneven:
            self.allocate("factor", size, fill=1.0)
            self.allocate("offset", size)
        if "rate_limit" in self.on:
            self.allocate("slewed", size)
            self.most = np.where(numbers["rate_limit"] > 0.0, numbers["rate_limit"], np.inf)
        if "lag" in self.on:
            self.allocate("filtered", size)
            self.gain = -np.expm1(-self._seconds() / np.where(numbers["lag"] > 0.0, numbers["lag"], np.nan))
            self.gain[numbers["lag"] == 0.0] = 1.0

    def _neutral(self) -> np.ndarray:
        """What is executed before the first action arrives, (agents, channels)."""
        if self.neutral is None:
            return np.clip(0.0, self.low, self.high)
        self.check_number("neutral", -np.inf)
        value = np.asarray(self.neutral, np.float64)
        if value.shape not in ((), (self.channels,)):
            raise self.setting_error(
                "neutral", f"must be one number, or {self.channels}, one per channel of the action"
            )
        if (value < self.low).any() or (value > self.high).any() or (not self.continuous and value != value.round()):
            raise self.setting_error("neutral", f"is not in the action space {self.action_spaces[0]}")
        return np.broadcast_to(value, self.low.shape).copy()

    def _seconds(self) -> float:
        self.check_number("dt")
        seconds = self.dt or self.below.seconds
        if not seconds:
            raise self.setting_error(
                "dt", f"has no effect, and {self.name} does not define its seconds per step: give dt"
            )
        return float(seconds)

    def begin_episode(self, slots: np.ndarray) -> None:
        """Fill memories with the neutral action; draw errors that last for the episode."""
        for name in ("raw_action", "action", "taken", "sent", "last", "slewed", "filtered"):
            if name in self.kept:
                fill(getattr(self, name), self.start, slots)
        if self.uneven:
            draw_errors(slots, self.key, self.numbers["scale"], self.numbers["bias"], self.factor, self.offset)

    def acting(self, slots: np.ndarray) -> Iterator[tuple[Any, ...]]:
        """The processing of commands, as compiled loops and their arguments."""
        command, bounds = self.wanted, (self.low, self.high)
        yield put_rows, flat(self.raw_action), command, slots
        if not self.idle:
            yield saturate, command, *bounds
            yield from self._transmit(command, slots)
        if self.continuous and not self.idle:
            yield from self._drive(command, slots)
        yield put_rows, flat(self.action), command, slots

    def _transmit(self, command: np.ndarray, slots: np.ndarray) -> Iterator[tuple[Any, ...]]:
        """Which action arrives at the actuator; works in place, as all that follows."""
        episode = self.key, self.time
        if self.every > 1:
            yield take_every, command, slots, self.time, self.every, self.taken
        if self.longest:
            yield delay, command, slots, *episode, self.shortest, self.longest, self.sent
        if self.hold:
            yield repeat, command, slots, *episode, float(self.hold), self.last
        if self.random or self.blend:
            chances = float(self.random), float(self.blend)
            yield mix_random, command, *episode, *chances, self.continuous, self.low, self.high

    def _drive(self, command: np.ndarray, slots: np.ndarray) -> Iterator[tuple[Any, ...]]:
        """What the actuator makes of it."""
        numbers = self.numbers
        if "dead_band" in self.on:
            yield silence, command, numbers["dead_band"]
        if "quantum" in self.on:
            yield quantise, command, numbers["quantum"]
        if self.uneven:
            yield distort, command, self.factor, self.offset
        if "noise" in self.on:
            yield disturb, command, self.key, self.time, numbers["noise"]
        if self.on & {"quantum", "scale", "bias", "noise"}:
            yield saturate, command, self.low, self.high
        if "rate_limit" in self.on:
            yield slew, command, slots, self.most, self.slewed
        if "lag" in self.on:
            yield smooth, command, slots, self.gain, self.filtered

    def entries(self) -> dict[str, Any]:
        """The chosen and the executed actions."""
        executed = self.below.read("action") if self.info_below else self.action
        return {"raw_action": self.raw_action, "action": executed}


def whole_range(wrapper: Wrapper, setting: str, least: int) -> tuple[int, int]:
    """The lowest and the highest value of a setting that is a whole number or [low, high]."""
    given: Any = getattr(wrapper, setting)
    pair = [given, given] if np.ndim(given) == 0 else list(given)
    whole = all(isinstance(n, (int, np.integer)) and not isinstance(n, bool) for n in pair)
    if len(pair) != 2 or not whole or not least <= pair[0] <= pair[1]:
        raise wrapper.setting_error(setting, f"must be a whole number, or [low, high], with {least} <= low <= high")
    return int(pair[0]), int(pair[1])


def bounds_of(space: spaces.Space, channels: int) -> tuple[np.ndarray, np.ndarray]:
    """Bounds of an action as arrays of some channels; what an agent lacks is 0."""
    low, high = np.zeros((2, channels))
    if isinstance(space, spaces.Discrete):
        low[:], high[:] = space.start, space.start + space.n - 1
    elif isinstance(space, spaces.Box):
        low[: space.low.size], high[: space.low.size] = space.low.ravel(), space.high.ravel()
    return low, high


@compiled(nogil=True)
def saturate(command: np.ndarray, low: np.ndarray, high: np.ndarray) -> None:
    """To the nearest number within bounds (agents, channels)."""
    agents = low.shape[0]
    for i in range(command.shape[0]):
        k = i % agents
        for j in range(command.shape[1]):
            command[i, j] = min(max(command[i, j], low[k, j]), high[k, j])


@compiled(nogil=True)
def silence(command: np.ndarray, width: np.ndarray) -> None:
    """0 within the dead band."""
    for i in range(command.shape[0]):
        for j in range(command.shape[1]):
            if abs(command[i, j]) < width[j]:
                command[i, j] = 0.0


@compiled(nogil=True)
def distort(command: np.ndarray, factor: np.ndarray, offset: np.ndarray) -> None:
    """Errors of gain and offset."""
    for i in range(command.shape[0]):
        for j in range(command.shape[1]):
            command[i, j] = command[i, j] * factor[i, j]
            command[i, j] = command[i, j] + offset[i, j]


@compiled(nogil=True)
def take_every(command: np.ndarray, slots: np.ndarray, time: np.ndarray, every: int, taken: np.ndarray) -> None:
    """A new command in each `every`-th step of an episode, the one before in all others."""
    for i in range(slots.size):
        if slots[i]:
            new = time[i] % every == 0
            for j in range(command.shape[1]):
                if new:
                    taken[i, j] = command[i, j]
                else:
                    command[i, j] = taken[i, j]


@compiled(nogil=True)
def delay(
    command: np.ndarray, slots: np.ndarray, key: np.ndarray, time: np.ndarray, low: int, high: int, sent: np.ndarray
) -> None:
    """The newest command that has arrived. The command of time t travels low to high steps, as the random number of t
    says; sent (slots, high + 1, channels) holds those under way, at t modulo its length."""
    places = sent.shape[1]
    for i in range(slots.size):
        if not slots[i]:
            continue
        now = time[i]
        for j in range(command.shape[1]):
            sent[i, now % places, j] = command[i, j]
        age = low
        while age < min(now + 1, high):
            travel = low + np.int64(uniform_of(bits_at(key[i], now - age, DELAY)) * (high - low + 1))
            if travel <= age:
                break
            age += 1
        for j in range(command.shape[1]):
            command[i, j] = sent[i, (now - age) % places, j]


@compiled(nogil=True)
def repeat(
    command: np.ndarray, slots: np.ndarray, key: np.ndarray, time: np.ndarray, chance: float, last: np.ndarray
) -> None:
    """With some chance the command of the step before."""
    for i in range(slots.size):
        if slots[i]:
            again = uniform_of(bits_at(key[i], time[i], HOLD)) < chance
            for j in range(command.shape[1]):
                if again:
                    command[i, j] = last[i, j]
                else:
                    last[i, j] = command[i, j]


@compiled(nogil=True)
def mix_random(
    command: np.ndarray,
    key: np.ndarray,
    time: np.ndarray,
    chance: float,
    weight: float,
    continuous: bool,
    low: np.ndarray,
    high: np.ndarray,
) -> None:
    """A random command instead with some chance; then the mean of the command and another random one, by weight."""
    agents, channels = low.shape
    for i in range(command.shape[0]):
        k = i % agents
        replaced = chance > 0.0 and uniform_of(bits_at(key[i], time[i], SWITCH)) < chance
        for j in range(channels):
            if replaced:
                u = uniform_of(bits_at(key[i], time[i], CHOICE + j))
                if continuous:
                    command[i, j] = low[k, j] + u * (high[k, j] - low[k, j])
                else:
                    command[i, j] = low[k, j] + np.floor(u * (high[k, j] - low[k, j] + 1.0))
            if weight > 0.0:
                u = uniform_of(bits_at(key[i], time[i], CHOICE + channels + j))
                command[i, j] += weight * (low[k, j] + u * (high[k, j] - low[k, j]) - command[i, j])


@compiled(nogil=True)
def quantise(command: np.ndarray, quantum: np.ndarray) -> None:
    """To the nearest multiple, where a channel has a quantum."""
    for i in range(command.shape[0]):
        for j in range(command.shape[1]):
            if quantum[j] > 0.0:
                command[i, j] = quantum[j] * np.round(command[i, j] / quantum[j])


@compiled(nogil=True)
def draw_errors(
    slots: np.ndarray, key: np.ndarray, scale: np.ndarray, bias: np.ndarray, factor: np.ndarray, offset: np.ndarray
) -> None:
    """The errors of an episode."""
    for i in range(slots.size):
        if slots[i]:
            for j in range(scale.size):
                factor[i, j] = 1.0 + scale[j] * normal_of(bits_at(key[i], 0, SCALE + j))
                offset[i, j] = bias[j] * normal_of(bits_at(key[i], 0, BIAS + j))


@compiled(nogil=True)
def disturb(command: np.ndarray, key: np.ndarray, time: np.ndarray, noise: np.ndarray) -> None:
    """White noise; two channels share 64 random bits."""
    channels = command.shape[1]
    for i in range(command.shape[0]):
        for j in range(0, channels, 2):
            bits = bits_at(key[i], time[i], j // 2)
            command[i, j] += noise[j] * normal_of(bits)
            if j + 1 < channels:
                command[i, j + 1] += noise[j + 1] * normal_of(bits >> HALFWAY)


@compiled(nogil=True)
def slew(command: np.ndarray, slots: np.ndarray, most: np.ndarray, slewed: np.ndarray) -> None:
    """Towards the command by no more than the rate limit."""
    for i in range(slots.size):
        if slots[i]:
            for j in range(most.size):
                slewed[i, j] += min(max(command[i, j] - slewed[i, j], -most[j]), most[j])
                command[i, j] = slewed[i, j]


@compiled(nogil=True)
def smooth(command: np.ndarray, slots: np.ndarray, gain: np.ndarray, filtered: np.ndarray) -> None:
    """A first-order filter."""
    for i in range(slots.size):
        if slots[i]:
            for j in range(gain.size):
                filtered[i, j] += gain[j] * (command[i, j] - filtered[i, j])
                command[i, j] = filtered[i, j]
