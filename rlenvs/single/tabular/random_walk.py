"""Random walk: predict the value of each state of a walk that actions do not influence.

## Description
A walker starts in the middle of a row of states and goes left or right with equal probability, whatever the action: a
prediction problem. The exact values are known, so the error of any estimation method can be measured (Sutton and Barto,
"Reinforcement Learning", 2nd edition, examples 6.2, 7.1 and 9.1). `env.unwrapped.model` and `rlenvs.solve_mdp` give the
values: with rewards of -1 and 1 at the ends they increase linearly.

## Action Space
One action: go on.

## Observation Space
The number of the state: 0 for the left end, `length` + 1 for the right one. With `encoding="one_hot"` a one-hot vector.

## Rewards
`reward` is `left` for leaving at the left end and 1 at the right one.

## Costs
None.

## Starting State
The middle.

## Episode End
Termination: at either end. Truncation: 10 000 steps. Success is not defined.

## Parameters
Settings that change the transition table are options, not parameters.

## Reference Scores
Mean return over seeds 0 to 99. Every policy has the same return.

## Version History
v0: first version.
"""

from typing import Any

from rlenvs.core import discrete, integer
from rlenvs.kits.tables.drawing import Row, draw_row, ways_of
from rlenvs.kits.tables.table import Table
from rlenvs.kits.tables.world import tabular


def build(values: Any) -> Table:
    right = values.length + 1
    table = Table(values.length + 2, 1)
    table.starts[(values.length + 1) // 2] = 1.0
    for end in (0, right):
        table.stay(end)
    reach = min(values.jump, values.length)
    for state in range(1, right):
        chances: dict[int, float] = {}
        for step in (*range(-reach, 0), *range(1, reach + 1)):
            after = min(max(state + step, 0), right)
            chances[after] = chances.get(after, 0.0) + 0.5 / reach
        for after, probability in chances.items():
            reward = 1.0 if after == right else float(values.left) if after == 0 else 0.0
            table.add(state, 0, after, reward, probability=probability, end=after in (0, right))
    return table


SPEC = tabular(
    "RandomWalk-v0",
    build,
    (-1.0, 1.0),
    doc=__doc__,
    source="Sutton and Barto, Reinforcement Learning, 2018",
    options={
        "length": integer(19, 1, 1000, "states between the ends"),
        "left": integer(-1, -1, 0, "reward for leaving at the left end"),
        "jump": integer(1, 1, 100, "the longest step; all lengths up to it are equally likely"),
    },
    action=discrete("go on"),
    horizon=10_000,
    fps=8,
    same_start=True,
    levels={"five": {"length": 5, "left": 0}, "thousand": {"length": 1000, "jump": 100}},
)


def worth_of_left(p: Any) -> float:
    """What leaving at the left end is worth."""
    return next(way.reward for way in ways_of(p, 1, 0) if way.state == 0)


@SPEC.draw
def draw(canvas, p, s):
    last = p.shown.size - 1
    canvas.legend(("blue", "state of the walker", "ring"), ("orange", "end of the episode"))
    left = worth_of_left(p)
    worth = {0: f"left end pays {left:g}", last: "right end pays 1"}
    draw_row(canvas, p, int(s.number), Row(worth, {0: "orange", last: "orange"}, (0, last), [(0, "", "black")]))
    canvas.caption(f"state {s.number} of 0 to {last}; arrows: probability, reward")


@SPEC.text
def text(p, s):
    cells = ["L", *"." * (p.shown.size - 2), "R"]
    cells[int(s.number)] = "X"
    return "".join(cells)


@SPEC.keys
def keys(pressed, values):
    """The space bar goes on."""
    return 0 if "space" in pressed else None
