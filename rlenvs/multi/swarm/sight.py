"""What agents of a swarm observe of the others: how they are distributed over bins, all of them or those within a
radius. It is the same whatever the order of the agents, and as long whatever their number.

The noise of what an agent observes follows from two words of the state and its index, so that observing changes
nothing, and the same state always looks the same.
"""

from typing import Any

import numpy as np

from rlenvs.core import block, choice, i4, integer, kernel, normal, param, u8
from rlenvs.core.declare.rng import next_word
from rlenvs.core.declare.splitmix import FIRST, GOLDEN, SECOND
from rlenvs.multi.swarm import cells

FEWEST, MOST = 2, 1000  # agents
OBSERVATION = choice(
    *("global", "radius", "own"),
    doc="whether agents observe how all others are distributed, those within `radius`, or only themselves",
)
GLOBAL, RADIUS, OWN = OBSERVATION.codes("global", "radius", "own")
CONTACTS = choice("all", "radius", doc="whether agents affect all others, or those within `radius`")
(WITHIN,) = CONTACTS.codes("radius")
OPEN, CLOSED = range(2)  # the sides of the square; of a closed one opposite sides are the same
BINS = integer(8, 2, 64, "bins of the histogram")
PLACES = {
    "side": param(1.0, 0.1, 100.0, "m", "side of the square"),
    "radius": param(0.2, 0.01, 50.0, "m", "how far agents see, or affect, others"),
}
OPTIONS: dict[str, Any] = {"agents": integer(50, FEWEST, MOST, "number of agents"), "observation": OBSERVATION}
HISTOGRAM_NOISE = param(0.0, 0.0, 0.5, "", "standard deviation of the noise on each share of the histogram")
STATE = {
    **cells.CELLS,
    "bin": i4("agents"),  # of each agent
    "counts": i4("bins"),
    "dice": u8(2),  # the generator of an agent's noise
}
SCRATCH = tuple(STATE)
NOISE = {"noise": u8(2)}  # drawn in every step
HISTOGRAM = block("bins", low=0.0, high=1.0, raw=True, constant=True, doc="share of the agents in each bin")
CROWD = block("sighted", low=0.0, high=1.0, raw=True, doc="share of all agents that are within the radius")
QUICK = {"agents": 6}
PROBE = {name: {"observation": "radius"} for name in PLACES}

_27, _30, _31 = (np.uint64(n) for n in (27, 30, 31))


def sizes(values: Any, bins: int) -> dict[str, int]:
    """Of what is declared here, for that many bins."""
    return {
        "agents": values.agents,
        "cells": cells.cells_for(values.agents),
        "bins": 0 if values.observation == "own" else bins,
        "sighted": int(values.observation == "radius"),
    }


@kernel
def draw_noise(s: Any, rng: Any) -> None:
    """In every step and reset: the words that the noise of this step follows from."""
    s.noise[0] = next_word(rng)
    s.noise[1] = next_word(rng)


@kernel
def take_dice(s: Any, k: int) -> None:
    """Let s.dice be the generator of agent k's noise in this step."""
    for n in range(2):
        word = s.noise[n] + np.uint64(k + 1) * GOLDEN
        word = (word ^ (word >> _30)) * FIRST
        word = (word ^ (word >> _27)) * SECOND
        s.dice[n] = word ^ (word >> _31)


@kernel
def noisy(s: Any, value: float, size: float, low: float, high: float) -> float:
    """A value with noise of a standard deviation, kept in [low, high]."""
    if size > 0.0:
        value += size * normal(s.dice)
    return min(max(value, low), high)


@kernel
def look_at_all(p: Any, s: Any) -> None:
    """Once for all agents, when s.bin is filled: sort them into cells, and count those of each bin."""
    cells.sort_into_cells(p, s)
    if p.observation == GLOBAL:
        for n in range(s.counts.size):
            s.counts[n] = 0
        for k in range(s.bin.size):
            s.counts[s.bin[k]] += 1


@kernel
def look_around(p: Any, s: Any, k: int, closed: int) -> int:
    """How many agents agent k observes, itself included; with observation="radius" they are in s.near."""
    return cells.find_neighbors(p, s, k, closed) if p.observation == RADIUS else s.bin.size


@kernel
def show(p: Any, s: Any, seen: int, o: Any) -> None:
    """Fill the histogram with the shares of the agents that are seen."""
    if p.observation == RADIUS:
        for n in range(s.counts.size):
            s.counts[n] = 0
        for n in range(seen):
            s.counts[s.bin[s.near[n]]] += 1
        o.crowd[0] = seen / s.bin.size
    for n in range(s.counts.size):
        o.histogram[n] = noisy(s, s.counts[n] / seen, p.histogram_noise, 0.0, 1.0)
