"""T-maze: read a sign, walk down a corridor, and turn in the direction that the sign gave.

## Description
The task by which recurrent policies were first shown to learn long dependencies (Bakker, NeurIPS 2001). At the start of
a corridor a sign says whether the goal is to the north or to the south of the junction at its other end. The sign is
visible only in the first cell, and the corridor looks the same everywhere.

## Action Space
The direction of a step. At a wall the agent stays where it is.

## Observation Space
Three numbers, as in the paper: 0 1 1 at the start when the goal is in the north and 1 1 0 when it is in the south,
1 0 1 in the corridor, 0 1 0 at the junction.

## Rewards
4 for the goal; -0.1 for the wrong end, and for each step into a wall.

## Costs
None.

## Starting State
The first cell; where the goal lies is random.

## Episode End
Termination: past the junction, on either side; a success on the side of the goal. Truncation: after 4 `length` + 4
steps.

## Parameters
`length` is the number of steps from the first cell to the junction.

## Reference Scores
Mean return over seeds 0 to 99. The expert knows the goal.

## Version History
v0: first version.
"""

from rlenvs.core import below, block, discrete, i4, integer, term, u1, world

NORTH, EAST, SOUTH, WEST = range(4)
HEDGE, HEDGE_LINE, PATH = (96, 128, 92), (176, 176, 168), (232, 230, 220)

SPEC = world(
    "TMaze-v0",
    doc=__doc__,
    source="T-maze (Bakker, NeurIPS 2001)",
    options={"length": integer(10, 1, 10_000, "steps from the first cell to the junction")},
    state={"cell": i4, "south": u1, "side": i4},
    observation={"signs": block(3, low=0, high=1, raw=True, doc="what the cell looks like")},
    action=discrete("north", "east", "south", "west"),
    terms={
        "goal": term(0, 1, 4.0, "1 at the goal"),
        "mistake": term(0, 1, -0.1, "1 at the wrong end"),
        "still": term(0, 1, -0.1, "1 for a step against a wall"),
        "memory_distance": term(0, 1e5, 0.0, "steps since the start, where the sign was"),
    },
    horizon=lambda values: 4 * values.length + 4,
    expert_sees="state",
    starts=2,
    levels={"easy": {"length": 3}, "hard": {"length": 70}},
)


@SPEC.reset
def reset(p, s, rng):
    s.south = below(rng, 2)


@SPEC.step
def step(p, s, a, rng, r):
    before = s.cell
    if a == EAST:
        s.cell = min(s.cell + 1, p.length)
    elif a == WEST:
        s.cell = max(s.cell - 1, 0)
    elif s.cell == p.length:
        s.side = 1 if a == SOUTH else -1
        hit = (a == SOUTH) == (s.south == 1)
        r.goal = 1.0 if hit else 0.0
        r.mistake = 0.0 if hit else 1.0
        r.success = hit
        r.terminated = True
    r.still = 1.0 if s.cell == before and s.side == 0 else 0.0
    r.memory_distance = s.elapsed + 1.0


@SPEC.observe
def observe(p, s, o):
    start, junction = s.cell == 0, s.cell == p.length
    o.signs[0] = (1.0 if s.south else 0.0) if start else (0.0 if junction else 1.0)
    o.signs[1] = 1.0 if start or junction else 0.0
    o.signs[2] = (0.0 if s.south else 1.0) if start else (0.0 if junction else 1.0)


@SPEC.expert
def expert(p, s, a):
    a[0] = EAST if s.cell < p.length else (SOUTH if s.south else NORTH)


@SPEC.draw
def draw(canvas, p, s):
    canvas.caption(f"cell {s.cell} of {p.length}")
    canvas.legend(
        ("green", "goal, unseen by the agent"), ("orange", "sign: which way to turn"), ("blue", "agent", "disc")
    )
    first = max(0, min(int(s.cell) - 5, p.length - 10))
    last = min(p.length, first + 10)
    wide = last - first + 1.4
    middle = 0.5 * (last - first)
    high = wide * canvas.scene[1] / canvas.scene[0]
    canvas.view(middle - 0.5 * wide, middle + 0.5 * wide, -0.5 * high, 0.5 * high)
    canvas.rectangle(middle - wide, -high, middle + wide, high, HEDGE)
    for cell in range(first, last + 1):
        draw_path(canvas, cell - first, 0.0)
    if last == p.length:
        for side, name in ((1, "north"), (-1, "south")):
            draw_path(canvas, last - first, float(side))
            canvas.text((last - first - 0.65, side), name, "white", 17, "right")
        draw_flag(canvas, last - first, -1.0 if s.south else 1.0)
    way = "south" if s.south else "north"
    if first == 0:
        draw_sign(canvas, 0.0, 1.3, bool(s.south))
        seen = "now" if s.cell == 0 else "no longer"
        canvas.text((-0.45, -1.0), f"sign: {way}", "white", 17)
        canvas.text((-0.45, -1.5), f"seen {seen}", "white", 15)
    else:
        canvas.text((-0.45, 1.0), f"sign, {s.cell} cells back: {way}", "white", 17)
    x, y = float(s.cell - first), -float(s.side)
    canvas.circle((x, y), 0.38, "white")
    canvas.circle((x, y), 0.33, "blue")
    for side in (-0.12, 0.12):
        canvas.circle((x + side, y + 0.08), 0.06, "white")


def draw_path(canvas, x, y):
    """One cell of the maze."""
    canvas.rectangle(x - 0.5, y - 0.5, x + 0.5, y + 0.5, HEDGE_LINE)
    canvas.rectangle(x - 0.47, y - 0.47, x + 0.47, y + 0.47, PATH)


def draw_flag(canvas, x, y):
    """The goal."""
    canvas.rectangle(x - 0.47, y - 0.47, x + 0.47, y + 0.47, "green")
    canvas.line([(x - 0.15, y - 0.35), (x - 0.15, y + 0.35)], "white", 3.0)
    canvas.polygon([(x - 0.15, y + 0.35), (x + 0.3, y + 0.18), (x - 0.15, y)], "white")


def draw_sign(canvas, x, y, south):
    """The sign at the first cell: an arrow to the side of the goal."""
    canvas.line([(x, y - 0.75), (x, y - 0.4)], "orange", 4.0)
    canvas.rectangle(x - 0.4, y - 0.4, x + 0.4, y + 0.6, "orange", rounded=0.1)
    ends = [(x, y + 0.45), (x, y - 0.25)]
    canvas.arrow(*(ends if south else reversed(ends)), "white", 5.0)


@SPEC.text
def text(p, s):
    cells = ["A" if k == s.cell else "." for k in range(min(p.length, 60) + 1)]
    return "".join(cells) + f"\nsign: {('south' if s.south else 'north') if s.cell == 0 else '-'}\n"


@SPEC.keys
def keys(pressed, values):
    for action, name in enumerate(("up", "right", "down", "left")):
        if name in pressed:
            return action
    return None
