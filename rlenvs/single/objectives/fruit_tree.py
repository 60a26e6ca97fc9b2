"""Fruit tree: walk down a binary tree to one of many fruits, each optimal for some preference.

## Description
A complete binary tree. From its root the agent goes left or right, five, six or seven times, and finds a fruit with six
nutrients at the leaf (Yang, Sun and Narasimhan, "A generalized algorithm for multi-objective reinforcement learning and
policy adaptation", NeurIPS 2019). No leaf is better than another in all nutrients, so the front has as many points as
the tree has leaves, and each of them is optimal for some weights. Values of the leaves, spaces and rewards are
MO-Gymnasium's (1.3, MIT License). Different: `is_success`, `env.unwrapped.model`, and a time limit, which no episode
reaches.

## Action Space
Left or right.

## Observation Space
The level of the tree, starting at 0, and the position in it from the left, integers. Scaled to [-1, 1] with
`scaled=True`.

## Rewards
The nutrients of a fruit, in [0, 10]; 0 before. The default weights are all 1.

## Costs
None.

## Starting State
The root.

## Episode End
Termination: at a leaf. Truncation: 10 steps. `is_success` means that it is the fruit with the largest sum of nutrients,
which is the one the scripted expert takes.

## Parameters
Settings that change the transition table are options, not parameters.

## Reference Scores
Mean return over seeds 0 to 99. The bound is the exact optimum under the default weights.

## Version History
v0: first version.
"""

import functools
import json
from pathlib import Path
from typing import Any

import numpy as np

from rlenvs.core import PublishedFront, block, discrete, integer, published, term
from rlenvs.kits.boards.drawing import ARROWS, pressed_move
from rlenvs.kits.tables.table import Table
from rlenvs.kits.tables.world import outcome
from rlenvs.single.objectives.family import SOURCE, multi_objective, weights_of

NUTRIENTS = ("protein", "carbs", "fats", "vitamins", "minerals", "water")
TERMS = {name: term(0.0, 10.0, 1.0, f"{name} of the fruit") for name in NUTRIENTS}
COLORS = ("red", "yellow", "orange", "green", "pink", "blue")


@functools.cache
def leaves() -> dict[int, np.ndarray]:
    """(2 ** depth, 6) values of the fruits of a tree, from left to right, by its depth."""
    found = json.loads(Path(__file__).with_name("fruits.json").read_text(encoding="utf-8"))
    return {int(depth): np.array(fruits) for depth, fruits in found.items()}


def place_of(number: int) -> tuple[int, int]:
    """Level and place of a node; nodes are numbered level by level."""
    level = (int(number) + 1).bit_length() - 1
    return level, int(number) + 1 - 2**level


def build(values: Any) -> Table:
    fruits = leaves()[values.depth]
    nodes, best = len(fruits) - 1, int(fruits.sum(axis=1).argmax())
    table = Table(nodes + len(fruits), 2, weights_of(TERMS))
    table.starts[0] = 1.0
    table.features = np.array([place_of(state) for state in range(table.states)], float)
    for state in range(nodes):
        for action in (0, 1):
            follows = 2 * state + 1 + action
            leaf = follows - nodes
            reward = tuple(fruits[leaf].tolist()) if leaf >= 0 else (0.0,) * len(NUTRIENTS)
            table.add(state, action, follows, reward, end=leaf >= 0, success=leaf == best)
    for state in range(nodes, table.states):
        table.stay(state)
    return table


SPEC = multi_objective(
    "FruitTree-v0",
    build,
    TERMS,
    doc=__doc__,
    source="MO-Gymnasium fruit-tree (Yang, Sun and Narasimhan, NeurIPS 2019)",
    options={"depth": integer(6, 5, 7, "levels below the root")},
    seen=block(
        2,
        low=0.0,
        high=lambda values: [values.depth, 2**values.depth - 1.0],
        whole=True,
        doc="level, position from the left",
    ),
    action=discrete("left", "right"),
    published=published(
        "MO-Gymnasium fruit-tree-v0",
        "int32",
        low=0.0,
        high=lambda values: 2.0**values.depth - 1.0,
        reward=lambda values: ([0.0] * 6, [10.0] * 6),
    ),
    horizon=10,
    fps=2,
    same_start=True,
    levels={"depth5": {"depth": 5}, "depth7": {"depth": 7}},
)


@SPEC.step
def step(p, s, a, rng, r):
    j = outcome(p, s, a, rng, r)
    r.protein = p.gain[j, 0]
    r.carbs = p.gain[j, 1]
    r.fats = p.gain[j, 2]
    r.vitamins = p.gain[j, 3]
    r.minerals = p.gain[j, 4]
    r.water = p.gain[j, 5]


@SPEC.published_front
def published_front(values, gamma):
    points = leaves()[values.depth] * gamma ** (values.depth - 1)
    return PublishedFront(points, (0.0,) * len(NUTRIENTS), f"{SOURCE}, `pareto_front` of the environment")


@SPEC.draw
def draw(canvas, p, s):
    depth = (len(p.features) + 1).bit_length() - 2
    level, place = place_of(s.number)
    canvas.legend(("blue", "current node", "disc"), ("green", "within reach", "disc"), ("grey", "unreachable", "disc"))
    wide, tall = canvas.scene
    canvas.view(0.0, 1.0, 0.0, tall / wide)
    high = tall / wide
    low, step = 0.34 * high, 0.6 * high / depth

    def at(row: int, column: int) -> tuple[float, float]:
        return 0.02 + 0.96 * (column + 0.5) / 2**row, low + (depth - row) * step

    def reached(row: int, column: int) -> bool:
        return column >> (row - level) == place if row >= level else place >> (level - row) == column

    for row in range(depth):
        for column in range(2**row):
            for side in (0, 1):
                on = reached(row, column) and reached(row + 1, 2 * column + side)
                canvas.line(
                    [at(row, column), at(row + 1, 2 * column + side)], (120, 84, 50) if on else "grey", 3 if on else 1
                )
    for row in range(depth + 1):
        for column in range(2**row):
            on = reached(row, column)
            size = min(0.012, 0.4 / 2**row) if row < depth else min(0.01, 0.44 / 2**row)
            canvas.circle(at(row, column), size, "green" if on else "grey")
    canvas.circle(at(level, place), 0.024, "white")
    canvas.circle(at(level, place), 0.02, "blue")
    _draw_fruits(canvas, depth, level, place, high)


def _draw_fruits(canvas: Any, depth: int, level: int, place: int, high: float) -> None:
    """What the fruits within reach have, as bars: the mean, and at a leaf the fruit's own."""
    span = 2 ** (depth - level)
    fruits = leaves()[depth][place * span : (place + 1) * span]
    for k, (name, color) in enumerate(zip(NUTRIENTS, COLORS, strict=True)):
        x, value = 0.04 + 0.16 * k, float(fruits[:, k].mean())
        canvas.rectangle(x, 0.05 * high, x + 0.11, (0.05 + 0.022 * value) * high, color)
        canvas.text((x + 0.055, 0.025 * high), f"{name} {value:.1f}", "black", 11, "centre")
    canvas.caption("the fruit" if span == 1 else f"mean of the {span} reachable fruits")


@SPEC.text
def text(p, s):
    level, place = place_of(s.number)
    return f"level {level}, position {place}"


@SPEC.keys
def keys(pressed, values):
    return pressed_move(pressed, ARROWS[:2])
