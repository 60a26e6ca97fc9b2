"""Images of tables: states as discs, what actions lead to as arrows with their probabilities and rewards."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from rlenvs.core.declare.canvas import Canvas, Color
from rlenvs.kits.tables.world import FIRST_BITS, FIRST_MOST

STATE, STATE_EDGE, END, HERE = (214, 228, 238), (120, 140, 156), (190, 196, 204), (0, 114, 178)
GROUND = (250, 250, 247)  # of a canvas
CURVE = 14  # points of an arrow that bends
MOST_ARROWS = 4  # outcomes of an action that are drawn one by one


class Way(NamedTuple):
    """One of the outcomes of an action, as `ways_of` reads them from the arrays of a world.

    Attributes:
        state: that follows. probability: of it. reward: of the first objective. end: whether the episode ends.
    """

    state: int
    probability: float
    reward: float
    end: bool


def ways_of(p: Any, state: int, action: int) -> list[Way]:
    """What may come of an action in a state, from the parameters of a world that plays a table."""
    span = int(p.span[state, action])
    first, count = span & FIRST_MOST, span >> FIRST_BITS
    found, before = [], 0.0
    for j in range(first, first + count):
        gain = p.gain[j] if p.gain.ndim == 1 else p.gain[j, 0]
        found.append(Way(int(p.follows[j]) >> 2, float(p.chance[j]) - before, float(gain), bool(p.follows[j] & 2)))
        before = float(p.chance[j])
    return found


def number_text(number: float) -> str:
    """A reward or a probability in a few letters."""
    for whole in (2, 3):
        if 0.0 < number < 1.0 and abs(number * whole - round(number * whole)) < 1e-9:
            return f"{round(number * whole)}/{whole}"
    return f"{number:.3g}"


def anchor(x: float, margin: float) -> str:
    """Which side of a text lies at x, so that it stays in a view that is 10 wide."""
    return "left" if x < margin else "right" if x > 10.0 - margin else "centre"


def draw_pointer(canvas: Canvas, x: float, y: float, color: Color) -> None:
    """A triangle that points down to a row at y."""
    canvas.polygon([(x, y + 0.26), (x - 0.2, y + 0.62), (x + 0.2, y + 0.62)], color)


def draw_state(
    canvas: Canvas,
    x: float,
    y: float,
    radius: float,
    label: str,
    letter: float,
    color: Color = STATE,
    here: bool = False,
    end: bool = False,
) -> None:
    """A state as a disc, one that ends the episode as a square; with a thick blue edge where the walker is."""
    if end:
        box = (x - 0.85 * radius, y - 0.85 * radius, x + 0.85 * radius, y + 0.85 * radius)
        canvas.rectangle(*box, color)
        canvas.rectangle(*box, HERE if here else STATE_EDGE, 5.0 if here else 1.5)
    else:
        canvas.circle((x, y), radius, color)
        canvas.circle((x, y), radius, HERE if here else STATE_EDGE, 5.0 if here else 1.5)
    if letter >= 8.0:
        canvas.text((x, y), label, "black", round(letter), "centre")


def draw_arrow(
    canvas: Canvas,
    start: Sequence[float],
    end: Sequence[float],
    label: str,
    letter: float,
    color: Color = "black",
    bend: float = 0.0,
    width: float = 2.0,
) -> None:
    """An arrow that bends to its left by a part of its length, with a label at its middle."""
    (x0, y0), (x1, y1) = start, end
    control = (0.5 * (x0 + x1) - 2.0 * bend * (y1 - y0), 0.5 * (y0 + y1) + 2.0 * bend * (x1 - x0))
    points = []
    for k in range(CURVE + 1):
        t = k / CURVE
        a, b, c = (1.0 - t) ** 2, 2.0 * t * (1.0 - t), t * t
        points.append((a * x0 + b * control[0] + c * x1, a * y0 + b * control[1] + c * y1))
    if abs(bend) < 1e-9:
        points = [points[0], points[CURVE // 2], points[-1]]
    _draw_way(canvas, points, color, width)
    if label:
        canvas.text(points[len(points) // 2], label, color, round(letter), "centre", ground=GROUND)


def draw_loop(
    canvas: Canvas,
    x: float,
    y: float,
    radius: float,
    label: str,
    letter: float,
    color: Color = "black",
    side: float = 1.0,
    width: float = 2.0,
) -> None:
    """An arrow from a state to itself, above it, or below for a `side` of -1."""
    points = []
    for k in range(2 * CURVE + 1):
        angle = math.pi * (-0.28 + 1.56 * k / (2 * CURVE))
        points.append((x + 0.62 * radius * math.cos(angle), y + side * radius * (1.35 + 0.62 * math.sin(angle))))
    _draw_way(canvas, points, color, width)
    if label:
        canvas.text((x, y + side * 2.05 * radius), label, color, round(letter), "centre", ground=GROUND)


def _draw_way(canvas: Canvas, points: list[tuple[float, float]], color: Color, width: float) -> None:
    back = max(2, len(points) // 6)
    canvas.line(points[:-1], color, width)
    canvas.arrow(points[-min(back, len(points))], points[-1], color, width)


# --- rows of states ---------------------------------------------------------------------------------------------------


class Row(NamedTuple):
    """How a row of states looks.

    Attributes:
        labels: of some states, by number, such as what they are worth; others show their number.
        colors: of some states. ends: states in which the episode is over.
        actions: (number, name, colour) of each action whose outcomes are shown.
    """

    labels: Mapping[int, str]
    colors: Mapping[int, Color]
    ends: Sequence[int]
    actions: Sequence[tuple[int, str, Color]]


NEAR, WHOLE = 7, 64  # states of the close-up; states of a row up to which each is drawn


def draw_row(canvas: Canvas, p: Any, here: int, row: Row) -> None:
    """States in a row: all of them above, those around the walker below, with what its actions may lead to."""
    wide, tall = canvas.scene
    high = 10.0 * tall / wide
    canvas.view(0.0, 10.0, 0.0, high)
    states = int(p.shown.size)
    left = _draw_whole(canvas, states, here, row, 0.82 * high)
    near = min(NEAR, states)
    first = min(max(here - near // 2, 0), states - near)
    step = 9.4 / near
    radius, y = min(0.4 * step, 0.8), 0.36 * high
    places = {state: 0.3 + (state - first + 0.5) * step for state in range(first, first + near)}
    for x, side in ((left(first), 0.3), (left(first + near), 9.7)):
        canvas.line([(x, 0.82 * high - 0.32), (side, y + 2.1 * radius + 0.9)], (206, 206, 200), 1.5)
    letter = 0.5 * radius * wide / 10.0
    canvas.line([(places[first], y), (places[first + near - 1], y)], (206, 206, 200), 2.0)
    for state, x in places.items():
        color = row.colors.get(state, END if state in row.ends else STATE)
        draw_state(canvas, x, y, radius, str(state), letter, color, state == here, state in row.ends)
    for n, (action, name, color) in enumerate(row.actions):
        if here not in row.ends:
            _draw_ways(canvas, ways_of(p, here, action), places, here, (y, radius), name, color, 1.0 - 2.0 * (n % 2))


def _draw_whole(canvas: Canvas, states: int, here: int, row: Row, y: float) -> Any:
    """All states, small; gives the function from a state to its left edge."""
    step = 9.4 / states

    def left(state: int) -> float:
        return 0.3 + state * step

    half = 0.5 * step
    canvas.rectangle(0.3, y - 0.22, 9.7, y + 0.22, STATE)
    shown = range(states) if states <= WHOLE else sorted({*row.colors, *row.ends})
    for state in shown:
        x, color = left(state) + 0.5 * step, row.colors.get(state, END if state in row.ends else STATE)
        canvas.rectangle(left(state), y - 0.22, max(left(state) + step, left(state) + 0.06), y + 0.22, color)
        if states <= WHOLE:
            canvas.rectangle(left(state), y - 0.22, left(state) + step, y + 0.22, "white", 1.0)
        if state in row.labels:
            side = anchor(x, 1.0)
            canvas.text(
                (x + {"left": -half, "right": half, "centre": 0.0}[side], y - 0.55),
                row.labels[state],
                "black",
                16,
                side,
            )
    draw_pointer(canvas, left(here) + 0.5 * step, y, HERE)
    return left


def _draw_ways(
    canvas: Canvas,
    ways: list[Way],
    places: Mapping[int, float],
    here: int,
    row: tuple[float, float],
    name: str,
    color: Color,
    side: float,
) -> None:
    """The outcomes of one action as arrows, above the row or, for a `side` of -1, below it."""
    (y, radius), x0 = row, places[here]
    if len(ways) > MOST_ARROWS:
        reach = max(abs(way.state - here) for way in ways)
        said = f"{name} to one of the {reach} nearest states on either side, equally likely".strip()
        canvas.text((5.0, y + side * 2.2 * radius + 0.4 * side), said, color, 15, "centre")
        return
    for way in ways:
        part = "" if len(ways) == 1 else number_text(way.probability)
        paid = f"{way.reward:+.3g}" if way.reward else ""
        said = ", ".join(each for each in (f"{name} {part}".strip(), paid) if each)
        if way.state == here:
            draw_loop(canvas, x0, y, radius, "", 15, color, side)
            edge = anchor(x0, 1.2)
            at = {"left": x0 - radius, "right": x0 + radius, "centre": x0}[edge]
            canvas.text((at, y + side * (2.05 * radius + 0.4)), said, color, 15, edge)
        elif way.state in places:
            x1 = places[way.state]
            turn = math.copysign(0.55, x1 - x0)
            start = (x0 + turn * radius, y + 0.84 * side * radius)
            end = (x1 - turn * radius, y + 0.84 * side * radius)
            draw_arrow(canvas, start, end, "", 15, color, side * math.copysign(0.3, x1 - x0))
            up = 0.84 * radius + 0.3 * (abs(x1 - x0) - 1.1 * radius) + 0.35
            canvas.text((0.5 * (x0 + x1), y + side * up), said, color, 15, "centre")
