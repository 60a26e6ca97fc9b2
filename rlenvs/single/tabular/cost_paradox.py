"""Cost paradox: every rewarding action is costly, and only a stochastic policy is optimal within the limit.

## Description
Small constrained problems on which a Lagrangian learner oscillates. With a multiplier below the optimal one the risky
choice is worth more, above it less, and at the optimum both are worth the same, so the policy swings from one to the
other and only its average converges. The task is to make the last policy good, not the average one (ReLOAD: Moskovitz
et al., "ReLOAD: reinforcement learning with optimistic ascent-descent for last-iterate convergence in constrained
MDPs", ICML 2023, which has a paradoxical constrained problem and Catch with a constraint). The measure is the gap of
the last policy: the distance of its return from the optimum, plus the excess of its mean cost over the limit. The
graphs, numbers and limits are this package's; only the idea is from the paper.

- `problem="catch"`: a ball falls 9 rows over 5 columns; below, a paddle that starts in the middle has to catch it. Each
  move costs 1. Catching all balls takes 1.2 moves on average, and 0.6 are allowed, so the optimal policy catches one in
  four balls at the border, for a return of 0.4; the multiplier is 1. Rows, columns and rewards are those of bsuite's
  Catch (Osband et al., 2020).
- `problem="arms"`: one state, two arms; the risky arm has reward 1 and cost 1, the safe arm neither. With a limit of 30
  in 100 steps the best policy pulls the risky arm with probability 0.3; the multiplier is 1.
- `problem="toll"`: a trip on the toll road takes 2 steps and costs 1, a trip around it takes 3 steps and costs nothing;
  each trip has reward 1. With a limit of 12 in 100 steps the optimal return is 112 / 3; the multiplier is 1 / 3.

## Action Space
In "catch" left, stay, right; in "arms" safe, risky; in "toll" around, toll, which matters only at the crossing.

## Observation Space
The number of the state: in "catch" 25 times the ball's row, plus 5 times its column, plus the paddle's; in "arms" 0; in
"toll" 0 at the crossing, 1 on the toll road, 2 and 3 on the detour. With `encoding="one_hot"` a one-hot vector.

## Rewards
`reward` is 1 for catching the ball and -1 for missing it; 1 for the risky arm; 1 for returning to the crossing.

## Costs
`risk` is 1 for a move of the paddle, for the risky arm, or for entering the toll road. The limits on the mean cost of
an episode are 0.6, 30 (level arms) and 12 (level toll).

## Starting State
The ball in a uniformly drawn column of the first row; the arms; the crossing.

## Episode End
Truncation: 100 steps. Termination in "catch": the ball has fallen, after 9 steps, a success if it is caught. Success is
not defined in the other problems.

## Parameters
Settings that change the transition table are options, not parameters.

## Reference Scores
Mean return over seeds 0 to 99. The expert keeps the limit by ignoring the balls at the border, and in "arms" and "toll"
by counting steps, which a policy that sees only the state cannot do. The bound is the exact optimum within the limit
(`rlenvs.solve_constrained`); no deterministic policy of the state attains it.

## Version History
v0: first version.
"""

import math
from typing import Any

from rlenvs.core import Score, choice, cost, discrete, kernel, term
from rlenvs.kits.boards.drawing import draw_tile, pressed_move, view_board
from rlenvs.kits.tables.drawing import draw_arrow, draw_loop, draw_state
from rlenvs.kits.tables.table import Table
from rlenvs.kits.tables.world import outcome, tabular

PROBLEMS = ("catch", "arms", "toll")
CATCH, ARMS, TOLL = range(3)
SAFE, RISKY = 0, 1
LEFT, STAY, RIGHT = 0, 1, 2
ROWS, COLUMNS = 10, 5
CELLS = COLUMNS * COLUMNS  # states of a row: the ball's column, and the paddle's
ARMS_LIMIT, TOLL_LIMIT, CATCH_LIMIT = 30.0, 12.0, 0.6
GROUND = (236, 240, 244)  # of the board in images
SPOTS = ((2.0, 6.6), (8.0, 6.6), (2.0, 1.9), (8.0, 1.9))  # of the states of "toll" in images


def arms(table: Table) -> None:
    table.starts[0] = 1.0
    table.add(0, SAFE, 0, (0.0, 0.0))
    table.add(0, RISKY, 0, (1.0, 1.0))


def toll(table: Table) -> None:
    table.starts[0] = 1.0
    table.add(0, SAFE, 2, (0.0, 0.0))
    table.add(0, RISKY, 1, (0.0, 1.0))
    for state, after in ((1, 0), (2, 3), (3, 0)):
        for action in (SAFE, RISKY):
            table.add(state, action, after, (float(after == 0), 0.0))


def catch(table: Table) -> None:
    table.starts = {COLUMNS * ball + COLUMNS // 2: 1.0 for ball in range(COLUMNS)}
    for state in range(table.states):
        row, place = divmod(state, CELLS)
        ball, paddle = divmod(place, COLUMNS)
        for action in (LEFT, STAY, RIGHT):
            moved = min(max(paddle + action - STAY, 0), COLUMNS - 1)
            risk = float(action != STAY)
            after = min(row + 1, ROWS - 2) * CELLS + COLUMNS * ball + moved
            down, caught = row == ROWS - 2, ball == moved
            reward = (1.0 if caught else -1.0) if down else 0.0
            table.add(state, action, after, (reward, risk), end=down, success=down and caught)


def build(values: Any) -> Table:
    problem = PROBLEMS.index(values.problem)
    states, actions = (((ROWS - 1) * CELLS, 3), (1, 2), (4, 2))[problem]
    table = Table(states, actions, weights=(1.0,), costs=1)
    (catch, arms, toll)[problem](table)
    return table


SPEC = tabular(
    "CostParadox-v0",
    build,
    {"reward": term(-1.0, 1.0, doc="as in the table")},
    doc=__doc__,
    source="after ReLOAD, Moskovitz et al., arXiv 2302.01275; numbers ours",
    kernel_options={"problem": choice(*PROBLEMS, doc="which of the three problems")},
    action=lambda values: (
        discrete("left", "stay", "right", idle=STAY)
        if values.problem == "catch"
        else discrete("around", "toll")
        if values.problem == "toll"
        else discrete("safe", "risky")
    ),
    costs={"risk": cost(CATCH_LIMIT, doc="1 for a move of the paddle")},
    horizon=100,
    fps=4,
    starts=COLUMNS,
    expert_sees="state",
    levels={
        "arms": {
            "problem": "arms",
            "same_start": True,
            "costs": {"risk": cost(ARMS_LIMIT, doc="1 for the risky arm")},
            "scores": {"bound": Score(30, 0, "exact optimum within the limit")},
        },
        "toll": {
            "problem": "toll",
            "same_start": True,
            "costs": {"risk": cost(TOLL_LIMIT, doc="1 for the toll road")},
            "scores": {"bound": Score(37.33, 0, "exact optimum within the limit, 112 / 3")},
        },
    },
    scores={"bound": Score(0.4, 0, "exact optimum within the limit")},
)


@SPEC.step
def step(p, s, a, rng, r):
    j = outcome(p, s, a, rng, r)
    r.reward = p.gain[j, 0]
    r.risk = p.gain[j, 1]


@kernel
def columns_of(number):
    """The columns of the ball and of the paddle in a state of "catch"."""
    place = number % CELLS
    return place // COLUMNS, place % COLUMNS


@SPEC.expert
def expert(p, s, a):
    """Risky as long as the limit lasts; in "catch" after balls that take one move at most."""
    if p.problem == CATCH:
        ball, paddle = columns_of(s.number)
        near = abs(ball - paddle) <= 1
        a[0] = STAY + ball - paddle if near else STAY
    elif p.problem == ARMS:
        a[0] = RISKY if s.elapsed < ARMS_LIMIT else SAFE
    else:
        a[0] = RISKY if s.elapsed < 2.0 * TOLL_LIMIT else SAFE


@SPEC.draw
def draw(canvas, p, s):
    if p.problem == CATCH:
        canvas.legend(("orange", "ball that falls", "disc"), ("blue", "paddle; a move costs 1"))
        draw_catch(canvas, int(s.number))
        return
    canvas.legend(("blue", "state now", "ring"), ("green", "costs nothing"), ("red", "costs 1"))
    canvas.view(0.0, 10.0, 0.0, 10.0 * canvas.scene[1] / canvas.scene[0])
    if p.problem == ARMS:
        draw_state(canvas, 5.0, 4.3, 1.2, "start", 22, here=True)
        draw_loop(canvas, 5.0, 4.3, 1.2, "safe arm: reward 0, cost 0", 17, "green", width=3.0)
        draw_loop(canvas, 5.0, 4.3, 1.2, "risky arm: reward 1, cost 1", 17, "red", -1.0, width=3.0)
        canvas.caption("both arms lead back")
        return
    draw_roads(canvas, int(s.number))
    canvas.caption(("crossing", "toll road", "way around", "way around")[int(s.number)])


def draw_roads(canvas: Any, here: int) -> None:
    """The states of "toll", and what leads from one to the next."""
    for state, ((x, y), name) in enumerate(zip(SPOTS, ("crossing", "toll road", "around", "around"), strict=True)):
        draw_state(canvas, x, y, 0.95, name, 15, here=state == here)
    for start, end, label, color, bend in (
        (0, 1, "toll, cost 1", "red", 0.2),
        (1, 0, "reward 1", "black", 0.2),
        (0, 2, "around", "green", 0.0),
        (2, 3, "", "green", 0.0),
        (3, 0, "reward 1", "black", 0.0),
    ):
        (x0, y0), (x1, y1) = SPOTS[start], SPOTS[end]
        away = math.hypot(x1 - x0, y1 - y0)
        u, v = 1.05 * (x1 - x0) / away, 1.05 * (y1 - y0) / away
        draw_arrow(canvas, (x0 + u, y0 + v), (x1 - u, y1 - v), label, 15, color, bend, 3.0)


def draw_catch(canvas: Any, number: int) -> None:
    """The ball above the paddle, on a board."""
    row, (ball, paddle) = number // CELLS, columns_of(number)
    view_board(canvas, ROWS, COLUMNS)
    for cell in range(ROWS * COLUMNS):
        draw_tile(canvas, *divmod(cell, COLUMNS), GROUND)
    canvas.circle((ball + 0.5, -row - 0.5), 0.36, "orange")
    if row < ROWS - 2:
        canvas.arrow((ball + 0.5, -row - 1.05), (ball + 0.5, -row - 1.75), "orange", 3.0)
    canvas.rectangle(paddle + 0.06, -ROWS + 0.35, paddle + 0.94, -ROWS + 0.65, "blue", rounded=0.12)


@SPEC.text
def text(p, s):
    if p.problem == CATCH:
        ball, paddle = columns_of(int(s.number))
        return f"ball in row {int(s.number) // CELLS}, column {ball}; paddle in column {paddle}"
    return f"state {s.number}"


@SPEC.keys
def keys(pressed, values):
    if values.problem == "catch":
        return pressed_move(pressed, (("left", "a"), ("down", "s"), ("right", "d")))
    return pressed_move(pressed, (("space",), ("return",)))
