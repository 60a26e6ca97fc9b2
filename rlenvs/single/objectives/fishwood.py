"""Fishwood: catch fish or chop wood, for a utility that needs both in every episode.

## Description
The agent is at the river, where it may catch a fish, or in the woods, where it may find wood; each step chooses where
to be next (Roijers, Steckelmacher and Nowe, "Multi-objective reinforcement learning for the expected utility of the
return", ALA 2018). It is designed for nonlinear utilities such as min(fish, wood // 2): the expected utility of the
returns (ESR) is then less than the utility of the expected returns (SER), and a policy that considers what it has
collected so far outperforms any policy that does not. `rlenvs.pareto.utility_of` evaluates both. Spaces, probabilities
and steps are MO-Gymnasium's (1.3), whose docstring swaps the objectives. Different: the time limit truncates and does
not terminate; with `compat=True` it does both, as in the original. Without a discount the exact front has 200 points,
all on one line, since each of the 200 steps except the first goes to one or the other; with a discount there are too
many points to list, and the two corners (`rlenvs.pareto.coverage_set`) describe the front.

## Action Space
Where to be next: at the river (fish), or in the woods (wood).

## Observation Space
The place: 0 at the river, 1 in the woods. Scaled to [-1, 1] with `scaled=True`.

## Rewards
`fish` is 1 with probability 0.1 in a step that begins at the river, `wood` is 1 with probability 0.9 in one that
begins in the woods. Under the default weights a fish is worth five times as much as wood, so collecting only wood is
optimal.

## Costs
None.

## Starting State
In the woods.

## Episode End
Truncation: 200 steps. Success is not defined.

## Parameters
Settings that change the transition table are options, not parameters.

## Reference Scores
Mean return over seeds 0 to 99. The bound is the exact optimum under the default weights.

## Version History
v0: first version.
"""

from typing import Any

import numpy as np

from rlenvs.core import PublishedFront, block, discrete, flag, json_option, published, term
from rlenvs.kits.boards.drawing import ARROWS, pressed_move
from rlenvs.kits.tables.table import Table
from rlenvs.kits.tables.world import outcome, parse_probability
from rlenvs.single.objectives.family import multi_objective, weights_of

RIVER, WOODS = 0, 1
TERMS = {"fish": term(0.0, 1.0, 1.0, "1 for a fish"), "wood": term(0.0, 1.0, 0.2, "1 for wood")}


def build(values: Any) -> Table:
    table = Table(2, 2, weights_of(TERMS))
    table.starts[WOODS] = 1.0
    table.features = np.array([[RIVER], [WOODS]], float)
    found = {RIVER: (values.fish_chance, (1.0, 0.0)), WOODS: (values.wood_chance, (0.0, 1.0))}
    for place, (chance, reward) in found.items():
        for action in (RIVER, WOODS):
            if chance > 0.0:
                table.add(place, action, action, reward, probability=chance)
            if chance < 1.0:
                table.add(place, action, action, (0.0, 0.0), probability=1.0 - chance)
    return table


SPEC = multi_objective(
    "Fishwood-v0",
    build,
    TERMS,
    doc=__doc__,
    source="MO-Gymnasium fishwood (Roijers, Steckelmacher and Nowe, ALA 2018)",
    options={
        "fish_chance": json_option(0.1, parse_probability, "probability of a fish at the river"),
        "wood_chance": json_option(0.9, parse_probability, "probability of wood in the woods"),
    },
    kernel_options={"compat": flag(False, "whether the time limit also terminates the episode, as in the original")},
    seen=block(1, low=0.0, high=1.0, whole=True, doc="0 at the river, 1 in the woods"),
    action=discrete("fish", "wood", idle=0),
    published=published("MO-Gymnasium fishwood-v0", "int32", low=0.0, high=1.0, reward=lambda values: ([0, 0], [1, 1])),
    horizon=200,
    fps=8,
    same_start=True,
    levels={"plenty": {"fish_chance": 0.5, "wood_chance": 0.5}},
)


@SPEC.step
def step(p, s, a, rng, r):
    j = outcome(p, s, a, rng, r)
    r.fish = p.gain[j, 0]
    r.wood = p.gain[j, 1]
    if p.compat and s.elapsed + 1 >= p.horizon:
        r.terminated = True


@SPEC.published_front
def published_front(values, gamma):
    return PublishedFront(None, (0.0, 0.0), "no front has been published; the reference point is ours")


@SPEC.draw
def draw(canvas, p, s):
    place = int(s.number)
    wide, tall = canvas.scene
    high = 10.0 * tall / wide
    canvas.view(0.0, 10.0, 0.0, high)
    canvas.rectangle(0.0, 0.0, 10.0, high, (178, 206, 140))
    canvas.rectangle(0.0, 0.0, 4.2, high, (92, 168, 214))
    for k in range(6):
        y = 0.9 + k * (high - 1.6) / 5.0
        canvas.line([(0.5 + 0.3 * t, y + 0.12 * (-1) ** t) for t in range(11)], "white", 2.0)
    for k, (x, y) in enumerate(((0.9, 0.2), (2.7, 0.42), (1.3, 0.62), (3.0, 0.8))):
        _draw_fish(canvas, x, y * high, 1 if k % 2 else -1)
    for x, y in ((6.0, 0.1), (8.6, 0.16), (5.6, 0.55), (9.0, 0.58), (7.3, 0.75)):
        _draw_tree(canvas, x, y * high)
    x, y = (2.2, 0.5 * high) if place == RIVER else (7.3, 0.42 * high)
    canvas.rectangle(x - 0.3, y - 0.8, x + 0.3, y + 0.1, "orange", rounded=0.15)
    canvas.circle((x, y + 0.45), 0.38, (236, 196, 160))
    tool = [(x + 0.3, y - 0.2), (x + 1.2, y + 0.9)]
    canvas.line(tool, (110, 70, 40), 5.0)
    if place == RIVER:
        canvas.line([tool[1], (x + 1.3, y - 0.9)], "white", 2.0)
    else:
        canvas.rectangle(x + 0.95, y + 0.65, x + 1.5, y + 1.1, (120, 124, 132), rounded=0.08)
    canvas.caption("at the river: a fish now and then" if place == RIVER else "in the woods: wood most of the time")


def _draw_fish(canvas: Any, x: float, y: float, side: int) -> None:
    canvas.circle((x, y), 0.25, (232, 236, 240))
    canvas.circle((x + 0.2 * side, y), 0.18, (232, 236, 240))
    canvas.polygon([(x - 0.2 * side, y), (x - 0.6 * side, y + 0.25), (x - 0.6 * side, y - 0.25)], (232, 236, 240))
    canvas.circle((x + 0.25 * side, y + 0.05), 0.05, "black")


def _draw_tree(canvas: Any, x: float, y: float) -> None:
    canvas.rectangle(x - 0.15, y, x + 0.15, y + 0.6, (120, 78, 44))
    for k in range(3):
        low = y + 0.5 + 0.45 * k
        canvas.polygon([(x - 0.75 + 0.15 * k, low), (x + 0.75 - 0.15 * k, low), (x, low + 0.9)], (52, 118, 64))


@SPEC.text
def text(p, s):
    return "[river]  woods " if s.number == RIVER else " river  [woods]"


@SPEC.keys
def keys(pressed, values):
    return pressed_move(pressed, ARROWS[:2])
