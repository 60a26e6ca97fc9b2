"""Aggregation: a swarm in a box gathers in one place, wherever that is.

## Description
Agents that are all alike move in a square, or along a line, and are rewarded for being near the mean of the swarm. No
place is marked, so they have to agree on one by what they see of each other. It is a task of mean-field control: in the
limit of many agents only the distribution of their positions counts (Cui, Hauck, Fabian and Koeppl, "Learning
Decentralized Partially Observable Mean Field Control for Artificial Collective Behavior", ICLR 2024). A position is
moved by the action and by noise, and kept in the box: x' = clip(x + u + `noise` z), with |u| <= `max_speed` and z
standard normal. The numbers of the paper could not be checked, so all of them are parameters, options and weights.

Scripted players: "mean" goes to the mean of all agents, "neighbors" to that of the agents within `radius`.
`rlenvs.multi.swarm.mean_field` computes the limit of many agents.

## Action Space
The displacement of the step, in units of `max_speed`; longer vectors than 1 are shortened to it.

## Observation Space
The own position, in halves of the side, and how the agents are distributed, oneself included. `observation="global"`:
the share of all agents in each cell of a grid of `bins` by `bins` over the box. `"radius"`: of those within `radius`,
over the square around the agent, and the share of all agents that they are. `"own"`: nothing of the others. `own_noise`
and `histogram_noise` make it noisy.

## Rewards
`spread` is minus the mean distance of all agents to the swarm's mean, the same for all: the order parameter, in `info`
of every step. `distance` (no weight) is minus the agent's own distance; the spread is its mean over agents, and to
learn from it is easier. `variance` (no weight) is minus the mean square. `effort` (weight 0.1) is minus the length of
the agent's own displacement.

## Costs
None.

## Starting State
Agents are uniform in the box.

## Episode End
Truncation: 100 steps. Success is not defined.

## Parameters
Lengths are in meters, and a step is the unit of time.

## Reference Scores
Mean return of all agents together over seeds 0 to 99. The expert is "mean".

## Version History
v0: first version.
"""

import math

from rlenvs.core import at_most, block, continuous, f8, integer, kernel, normal, param, term, uniform, world
from rlenvs.multi.swarm import cells, sight
from rlenvs.multi.swarm.render import draw_aggregation
from rlenvs.multi.swarm.sight import GLOBAL, OPEN, RADIUS

MOST_BINS = 16  # along each axis
LARGEST = 100.0  # m, the side
FARTHEST = 75.0  # m, from the mean

SPEC = world(
    "SwarmAggregation-v0",
    doc=__doc__,
    source="Cui, Hauck, Fabian and Koeppl, ICLR 2024 (Dec-POMFC)",
    agents=True,
    params={
        "side": param(4.0, 0.5, LARGEST, "m", "side of the box"),
        "max_speed": param(0.2, 0.01, 1.0, "m", "longest displacement of a step by the action"),
        "noise": param(0.05, 0.0, 1.0, "m", "standard deviation of the noise on each coordinate in a step"),
        "radius": param(0.5, 0.01, 0.5 * LARGEST, "m", "how far agents see others"),
        "own_noise": param(0.0, 0.0, 1.0, "m", "standard deviation of the noise on the own position"),
        "histogram_noise": sight.HISTOGRAM_NOISE,
    },
    constraints=[at_most("radius", "side", 0.5, "radius must not exceed half the side")],
    options={
        **sight.OPTIONS,
        "dimensions": integer(2, 1, 2, "dimensions of the box"),
        "bins": integer(4, 2, MOST_BINS, "bins of the histogram along each axis"),
    },
    sizes=lambda values: {
        **sight.sizes(values, values.bins**values.dimensions),
        "axes": values.dimensions,
    },
    state={
        "position": f8("agents", "axes"),
        **sight.NOISE,
        "center": f8("axes"),
        **sight.STATE,
    },
    scratch=("center", *sight.SCRATCH),
    observation={
        "position": block("axes", low=-1.0, high=1.0, raw=True, doc="own position, in halves of the side"),
        "histogram": sight.HISTOGRAM,
        "crowd": sight.CROWD,
    },
    action=continuous(size="axes", doc="displacement, in units of `max_speed`"),
    terms={
        "spread": term(-FARTHEST, 0.0, 1.0, "minus the mean distance to the swarm's mean"),
        "distance": term(-2.0 * FARTHEST, 0.0, 0.0, "minus the own distance to the mean"),
        "variance": term(-(FARTHEST**2), 0.0, 0.0, "minus the mean square of this distance"),
        "effort": term(-1.0, 0.0, 0.1, "minus the length of the own displacement"),
    },
    horizon=100,
    fps=10,
    expert_sees="state",
    players=("mean", "neighbors"),
    quick=sight.QUICK,
    probe={"radius": {"observation": "radius"}},
    levels={
        "line": {"dimensions": 1, "bins": 8},
        "local": {"observation": "radius"},
        "noisy": {"own_noise": 0.1, "histogram_noise": 0.05},
        "large": {"agents": 1000},
    },
)


@SPEC.reset
def reset(p, s, rng):
    for k in range(s.position.shape[0]):
        for axis in range(s.position.shape[1]):
            s.position[k, axis] = p.side * uniform(rng, -0.5, 0.5)
    sight.draw_noise(s, rng)


@kernel
def take_mean(s):
    """Fill s.center."""
    for axis in range(s.center.size):
        total = 0.0
        for k in range(s.position.shape[0]):
            total += s.position[k, axis]
        s.center[axis] = total / s.position.shape[0]


@kernel
def square_off(s, k):
    """The square of agent k's distance to the mean."""
    total = 0.0
    for axis in range(s.center.size):
        off = s.position[k, axis] - s.center[axis]
        total += off * off
    return total


@SPEC.step
def step(p, s, a, rng, r):
    agents, half = s.position.shape[0], 0.5 * p.side
    for k in range(agents):
        length = 0.0
        for axis in range(s.center.size):
            length += a[k, axis] * a[k, axis]
        length = math.sqrt(length)
        pace = p.max_speed / max(length, 1.0)
        for axis in range(s.center.size):
            there = s.position[k, axis] + pace * a[k, axis] + p.noise * normal(rng)
            s.position[k, axis] = min(max(there, -half), half)
        r.effort[k] = -p.max_speed * min(length, 1.0)
    take_mean(s)
    distance, variance = 0.0, 0.0
    for k in range(agents):
        square = square_off(s, k)
        r.distance[k] = -math.sqrt(square)
        distance += math.sqrt(square)
        variance += square
    for k in range(agents):
        r.spread[k] = -distance / agents
        r.variance[k] = -variance / agents
    sight.draw_noise(s, rng)


@kernel
def bin_of(s, bins, k, center, half):
    """The bin of agent k's position in a grid over the square around row `center` of positions, or the box (-1)."""
    found, stride = 0, 1
    for axis in range(s.position.shape[1]):
        x = s.position[k, axis]
        if center >= 0:
            x -= s.position[center, axis]
        found += stride * min(max(int((x / half + 1.0) * 0.5 * bins), 0), bins - 1)
        stride *= bins
    return found


@SPEC.observe
def observe(p, s, k, o):
    if k == 0:
        take_mean(s)
        if p.observation == GLOBAL:
            for j in range(s.bin.size):
                s.bin[j] = bin_of(s, p.bins, j, -1, 0.5 * p.side)
        sight.look_at_all(p, s)
    sight.take_dice(s, k)
    for axis in range(s.center.size):
        o.position[axis] = sight.noisy(s, 2.0 * s.position[k, axis] / p.side, 2.0 * p.own_noise / p.side, -1.0, 1.0)
    seen = sight.look_around(p, s, k, OPEN)
    if p.observation == RADIUS:
        for n in range(seen):
            s.bin[s.near[n]] = bin_of(s, p.bins, s.near[n], k, p.radius)
    sight.show(p, s, seen, o)


@kernel
def go(p, s, k, a):
    """Agent k's action, from the way that it wants to go, in meters, which `a` holds."""
    length = 0.0
    for axis in range(s.center.size):
        length += a[k, axis] * a[k, axis]
    scale = 1.0 / max(math.sqrt(length), p.max_speed)
    for axis in range(s.center.size):
        a[k, axis] = min(max(scale * a[k, axis], -1.0), 1.0)


@SPEC.player("mean")
def to_mean(p, s, k, a, rng):
    """To the mean of all agents."""
    for axis in range(s.center.size):
        a[k, axis] = s.center[axis] - s.position[k, axis]
    go(p, s, k, a)


@SPEC.player("neighbors")
def to_neighbors(p, s, k, a, rng):
    """To the mean of the agents within the radius."""
    found = cells.find_neighbors(p, s, k, OPEN)
    for axis in range(s.center.size):
        total = 0.0
        for n in range(found):
            total += s.position[s.near[n], axis]
        a[k, axis] = total / found - s.position[k, axis]
    go(p, s, k, a)


@SPEC.draw
def draw(canvas, p, s):
    draw_aggregation(canvas, p, s)


@SPEC.text
def text(p, s):
    rows = [" ".join(f"{x:.2f}" for x in place) for place in s.position.tolist()]
    return "positions [m]\n" + "\n".join(rows)


@SPEC.keys
def keys(pressed, values):
    right = bool(pressed & {"right", "d"}) - bool(pressed & {"left", "a"})
    up = bool(pressed & {"up", "w"}) - bool(pressed & {"down", "s"})
    return [right, up][: values.dimensions]
