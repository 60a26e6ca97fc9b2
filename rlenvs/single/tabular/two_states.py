"""Two states: learn values correctly in spite of a time limit.

## Description
The smallest problem in which truncation differs from termination. In state 0 the action "stay" has reward 0, and
"leave" has reward `leave` and terminates the episode; in state 1 every step has reward 1 and nothing terminates.
Episodes start in either state. A learner that treats truncation as termination believes that state 1 is worth little
more than the time left; with discount gamma its value is 1 / (1 - gamma). An example for teaching (Pardo et al., "Time
limits in reinforcement learning", ICML 2018).

## Action Space
stay, leave. Leaving state 1 leads to state 0.

## Observation Space
The number of the state. With `encoding="one_hot"` a one-hot vector.

## Rewards
`reward` is 1 for a step that begins in state 1 and stays there, `leave` for leaving state 0.

## Costs
None.

## Starting State
State 0 or 1, with equal probability.

## Episode End
Termination: leaving state 0. Truncation: 10 steps. Success is not defined.

## Parameters
Settings that change the transition table are options, not parameters.

## Reference Scores
Mean return over seeds 0 to 99. The bound is the exact optimum within the time limit.

## Version History
v0: first version.
"""

from typing import Any

from rlenvs.core import discrete, integer
from rlenvs.kits.boards.drawing import pressed_move
from rlenvs.kits.tables.drawing import END, draw_arrow, draw_loop, draw_state, ways_of
from rlenvs.kits.tables.table import Table
from rlenvs.kits.tables.world import tabular

STAY, LEAVE = 0, 1
COLORS = {"0": (214, 228, 238), "1": (250, 214, 150)}


def build(values: Any) -> Table:
    table = Table(2, 2)
    table.starts = {0: 1.0, 1: 1.0}
    table.add(0, STAY, 0)
    table.add(0, LEAVE, 0, float(values.leave), end=True)
    table.add(1, STAY, 1, 1.0)
    table.add(1, LEAVE, 0)
    return table


SPEC = tabular(
    "TwoStates-v0",
    build,
    (0.0, 100.0),
    doc=__doc__,
    source="after Pardo et al., ICML 2018",
    options={"leave": integer(5, 0, 100, "reward for leaving state 0")},
    action=discrete("stay", "leave"),
    horizon=10,
    fps=2,
    starts=2,
)


@SPEC.draw
def draw(canvas, p, s):
    canvas.legend(("blue", "state now", "ring"), (COLORS["1"], "pays in every step"), (END, "end of the episode"))
    canvas.view(0.0, 10.0, 0.0, 10.0 * canvas.scene[1] / canvas.scene[0])
    places, radius = ((3.6, 4.4), (7.6, 4.4)), 1.0
    for state, (x, y) in enumerate(places):
        draw_state(canvas, x, y, radius, str(state), 30, COLORS[str(state)], state == s.number)
        draw_loop(canvas, x, y, radius, f"stay, {ways_of(p, state, STAY)[0].reward:+g}", 17)
    draw_state(canvas, 0.9, 1.6, 0.7, "end", 16, END, end=True)
    (left, y), (right, _) = places
    draw_arrow(canvas, (left - 0.75, y - 0.75), (1.45, 2.15), "", 17)
    canvas.text((2.6, 2.5), f"leave, {ways_of(p, 0, LEAVE)[0].reward:+g}, ends", "black", 17)
    draw_arrow(canvas, (right - 1.1, y), (left + 1.1, y), f"leave, {ways_of(p, 1, LEAVE)[0].reward:+g}", 17)
    canvas.caption(f"state {s.number}; arrows: action, reward")


@SPEC.text
def text(p, s):
    return "[0] 1" if s.number == 0 else " 0 [1]"


@SPEC.keys
def keys(pressed, values):
    return pressed_move(pressed, (("space",), ("return",)))
