"""Chain: a small reward nearby, a large one far away.

## Description
States in a row. The far end gives 1 in every step, the near end 0.01, so a learner that does not explore stays where it
started: the "RiverSwim" and "chain" problems of exploration (Strehl and Littman, "An analysis of model-based interval
estimation", JCSS 2008; Osband et al., "Deep exploration via randomized value functions", JMLR 2019). With `current`
each step to the right may fail, like swimming against a river.

## Action Space
left, right. At an end a step has no effect.

## Observation Space
The number of the state, from 0 on the left. With `encoding="one_hot"` a one-hot vector.

## Rewards
`reward` is 1 for a step to the right in the last state, 0.01 for one to the left in the first.

## Costs
None.

## Starting State
State 1, next to the near end.

## Episode End
Truncation: after `length` + 9 steps, so the agent has to go straight to the far end; with `current` ten times as many.
Success in each step in which the far end gives its reward.

## Parameters
Settings that change the transition table are options, not parameters.

## Reference Scores
Mean return over seeds 0 to 99. The bound is the exact optimum.

## Version History
v0: first version.
"""

from typing import Any

from rlenvs.core import discrete, flag, integer
from rlenvs.kits.boards.drawing import pressed_move
from rlenvs.kits.tables.drawing import Row, draw_row
from rlenvs.kits.tables.table import Table
from rlenvs.kits.tables.world import tabular

NEAR, FAR = 0.01, 1.0
SWIMS, HELD, WASHED = 0.35, 0.6, 0.05  # against the current: a step succeeds, stays, falls back
LEFT, RIGHT = 0, 1
PALE = (240, 214, 150)


def build(values: Any) -> Table:
    last = values.length - 1
    table = Table(values.length, 2)
    table.starts[1] = 1.0
    table.map = ["N" + "." * (values.length - 2) + "F"]
    for state in range(values.length):
        left, right = max(state - 1, 0), min(state + 1, last)
        at_first, at_last = state == 0, state == last
        table.add(state, LEFT, left, NEAR if at_first else 0.0)
        if not values.current:
            table.add(state, RIGHT, right, FAR if at_last else 0.0, success=at_last)
            continue
        # as in RiverSwim: at the ends what cannot happen stays where it is
        ways = {right: SWIMS, state: HELD, left: WASHED}
        if at_first:
            ways = {right: SWIMS, state: HELD + WASHED}
        if at_last:
            ways = {state: SWIMS + HELD, left: WASHED}
        for after, probability in ways.items():
            won = at_last and after == last
            table.add(state, RIGHT, after, FAR if won else 0.0, probability=probability, success=won)
    return table


SPEC = tabular(
    "Chain-v0",
    build,
    (0.0, FAR),
    doc=__doc__,
    source="Strehl and Littman, JCSS 74 (2008); Osband et al., JMLR 20 (2019)",
    options={
        "length": integer(10, 3, 1000, "states"),
        "current": flag(False, "whether steps to the right may fail"),
    },
    action=discrete("left", "right"),
    horizon=lambda values: (values.length + 9) * (10 if values.current else 1),
    fps=4,
    same_start=True,
    levels={"hard": {"length": 50}, "river": {"length": 6, "current": True}},
)


@SPEC.draw
def draw(canvas, p, s):
    last = p.shown.size - 1
    canvas.legend(
        ("blue", "state of the walker", "ring"), (PALE, f"left pays {NEAR}"), ("orange", f"right pays {FAR:g}")
    )
    worth = {0: f"left pays {NEAR}", last: f"right pays {FAR:g}"}
    row = Row(worth, {0: PALE, last: "orange"}, (), [(RIGHT, "right", "black"), (LEFT, "left", "grey")])
    draw_row(canvas, p, int(s.number), row)
    canvas.caption(f"state {s.number} of 0 to {last}")


@SPEC.text
def text(p, s):
    cells = ["N", *"." * (p.shown.size - 2), "F"]
    cells[int(s.number)] = "X"
    return "".join(cells)


@SPEC.keys
def keys(pressed, values):
    return pressed_move(pressed, (("left", "a"), ("right", "d")))
