"""Traffic lights and stop signs at the ends of lanes, in kernels, and drivers who obey them.

A world merges `SIGNAL_DATA` into its data and `STOPS` into its state. A lane names its signal by number (`Network`'s
`sign`). After `act_all` it calls `obey_all`: a driver then brakes for the line at the end of its lane as IDM does for a
car that stands there. At a stop sign the car has to halt before the line once; who goes first then is a matter of
priorities (`priorities.py`). `crossed` tells what an agent's car did at the line.
"""

import math

import numpy as np

from rlenvs.core import f8, i8, kernel
from rlenvs.kits.roads.lanes import LENGTH, SIGN, along
from rlenvs.kits.traffic.cars import CAR_LENGTH, not_zero
from rlenvs.kits.traffic.drivers import BRAKING, COMFORT, LIMIT_OF, TIME_GAP, row_of

KIND, GREEN_TIME, YELLOW_TIME, CYCLE, SHIFT = range(5)  # columns of p.signal; s
LIGHT, STOP = 0.0, 1.0  # kinds
GREEN, YELLOW, RED = range(3)
STANDING, BEFORE_LINE = 0.3, 4.0  # m/s, m: a halt at a stop sign
OBEYED, RAN_RED, RAN_STOP = range(3)  # of `crossed`
SIGNAL_DATA = {"signal": f8("signals", 5)}
STOPS = {
    "halted": i8("cars").index_of("lanes", low=-1),  # the lane at whose end a car has halted, -1 for none
    "line_lane": i8("cars").index_of("lanes", low=-1),  # the lane before whose line it was, for `crossed`
}


def light(green: float, yellow: float, red: float, shift: float = 0.0) -> tuple[float, ...]:
    """A row of `SIGNAL_DATA`: a traffic light, which begins its green `shift` seconds before time 0."""
    return LIGHT, green, yellow, green + yellow + red, shift


def stop_sign() -> tuple[float, ...]:
    """A row of `SIGNAL_DATA`."""
    return STOP, 0.0, 0.0, 1.0, 0.0


def signal_table(rows: list[tuple[float, ...]]) -> dict[str, np.ndarray]:
    """The data of `SIGNAL_DATA`, with a row that no lane names where there are none."""
    return {"signal": np.array(rows or [stop_sign()], np.float64)}


@kernel
def colour(signals, sign, time):
    """What a traffic light shows at a time [s]."""
    phase = (time + signals[sign, SHIFT]) % signals[sign, CYCLE]
    if phase < signals[sign, GREEN_TIME]:
        return GREEN
    return YELLOW if phase < signals[sign, GREEN_TIME] + signals[sign, YELLOW_TIME] else RED


@kernel
def line_distance(net, signals, c, i, time):
    """How far before the front of car i it has to stop for the signal of its lane; infinity where it need not."""
    k = c.lane_of[i]
    sign = net.lane_at[k, SIGN]
    left = net.lane[k, LENGTH] - c.station[i] - 0.5 * c.box[i, 0]
    if sign < 0 or left < 0.0:
        return math.inf
    if signals[sign, KIND] == STOP:
        return math.inf if c.halted[i] == k else left
    shown = colour(signals, sign, time)
    brakes = c.speed[i] * c.speed[i] / (2.0 * 4.0)  # m, at 4 m/s^2: who cannot stop at yellow drives on
    if shown == GREEN or (shown == YELLOW and left < brakes):
        return math.inf
    return left


@kernel
def note_halt(net, signals, c, i):
    """Note that car i halts at a stop sign."""
    k = c.lane_of[i]
    sign = net.lane_at[k, SIGN]
    if c.halted[i] != k:
        c.halted[i] = -1  # it may come back, and has to halt again
    if sign >= 0 and signals[sign, KIND] == STOP:
        left = net.lane[k, LENGTH] - c.station[i] - 0.5 * c.box[i, 0]
        if abs(c.speed[i]) < STANDING and left < BEFORE_LINE:
            c.halted[i] = k


@kernel
def braking_for(drivers, c, i, far):
    """Acceleration [m/s^2] of driver i for something that stands `far` metres before its front, as IDM has it."""
    row, speed = row_of(c, i), c.speed[i]
    comfort = drivers[row, COMFORT]
    calm = 2.0 * math.sqrt(comfort * drivers[row, BRAKING])
    gap = 1.0 + speed * drivers[row, TIME_GAP] * 0.5 + speed * speed / calm
    ratio = gap / not_zero(max(far, 0.1))
    return comfort * (1.0 - ratio * ratio)


@kernel
def obey(net, signals, drivers, c, i, time):
    """Let driver i brake for the signal of its lane."""
    note_halt(net, signals, c, i)
    far = line_distance(net, signals, c, i, time)
    if far < 100.0 and not c.crashed[i]:
        most = drivers[row_of(c, i), LIMIT_OF]
        c.acceleration[i] = max(min(c.acceleration[i], braking_for(drivers, c, i, far)), -most)


@kernel
def obey_all(net, signals, drivers, c, time):
    """Let all drivers brake for the signals of their lanes, and note halts of all cars."""
    for i in range(c.movers):
        if c.driver[i] >= 0:
            obey(net, signals, drivers, c, i, time)
        else:
            note_halt(net, signals, c, i)


@kernel
def crossed(net, signals, c, i, time):
    """Whether car i has just crossed a line that it should not have: OBEYED, RAN_RED or RAN_STOP. To be asked once
    behind every `move_all`, before `obey_all`. Who leaves a lane before its line has crossed nothing."""
    k, before = c.lane_of[i], c.line_lane[i]
    front = c.station[i] + 0.5 * CAR_LENGTH
    c.line_lane[i] = k if front <= net.lane[k, LENGTH] else -1
    if before < 0 or along(net, before, c.x[i], c.y[i]) + 0.5 * CAR_LENGTH <= net.lane[before, LENGTH]:
        return OBEYED
    sign = net.lane_at[before, SIGN]
    if sign < 0:
        return OBEYED
    if signals[sign, KIND] == STOP:
        return OBEYED if c.halted[i] == before else RAN_STOP
    return RAN_RED if colour(signals, sign, time) == RED else OBEYED
