"""Images and texts of grids of cells."""

from typing import Any

import numpy as np

from rlenvs.core.declare.canvas import Canvas
from rlenvs.kits.gridworld.cells import (
    BALL,
    BOX,
    CLOSED,
    DOOR,
    EMPTY,
    GOAL,
    KEY,
    LAVA,
    LOCKED,
    OPEN,
    WALL,
    colour_of,
    kind_of,
    state_of,
)

PAINTS = ((213, 62, 52), (40, 160, 80), (36, 108, 190), (140, 84, 190), (236, 190, 30), (180, 186, 194))
GROUND, LINES, MASONRY, HOT, GLOW = (38, 42, 48), (58, 62, 70), (120, 126, 134), (226, 92, 24), (250, 190, 60)
SEEN = (84, 90, 100)  # ground in view
LETTERS = {WALL: "#", KEY: "k", BALL: "o", BOX: "b", GOAL: "G", LAVA: "~"}
ARROWS = ">v<^"
LEGIBLE = 26.0  # pixels


def draw_cell(canvas: Canvas, x: float, y: float, cell: int, ground: Any) -> None:
    """One cell of size 1, whose lower left corner is (x, y)."""
    kind = kind_of(cell)
    if kind == WALL or cell == 0:
        canvas.rectangle(x, y, x + 1, y + 1, MASONRY)
        return
    canvas.rectangle(x, y, x + 1, y + 1, LINES)
    canvas.rectangle(x + 0.03, y + 0.03, x + 0.97, y + 0.97, ground)
    if kind == LAVA:
        canvas.rectangle(x, y, x + 1, y + 1, HOT)
        for row in (0.25, 0.5, 0.75):
            ends = [(x + 0.1 + 0.2 * i, y + row + (0.06 if i % 2 else -0.06)) for i in range(5)]
            canvas.line(ends, GLOW, 3.0)
    else:
        draw_thing(canvas, x, y, 1.0, cell)


def draw_thing(canvas: Canvas, x: float, y: float, size: float, cell: int) -> None:
    """A goal, a door or an object, whose lower left corner is (x, y)."""
    kind, paint = kind_of(cell), PAINTS[min(colour_of(cell), 5)]
    if kind == GOAL:
        draw_goal(canvas, x, y, size)
    elif kind == DOOR:
        draw_door(canvas, x, y, size, state_of(cell), paint)
    elif kind in (KEY, BALL, BOX):
        draw_object(canvas, x + 0.5 * size, y + 0.5 * size, size, cell)


def draw_goal(canvas: Canvas, x: float, y: float, size: float) -> None:
    """A flag on a green ground."""
    canvas.rectangle(x + 0.06 * size, y + 0.06 * size, x + 0.94 * size, y + 0.94 * size, "green")
    flag = ((0.3, 0.2), (0.3, 0.85), (0.8, 0.65), (0.3, 0.45))
    canvas.polygon([(x + size * right, y + size * up) for right, up in flag], "white")


def draw_door(canvas: Canvas, x: float, y: float, size: float, state: int, paint: Any) -> None:
    """A door: a frame when open, with a lock when locked."""
    edge, middle = 0.02 * size, x + 0.5 * size
    canvas.rectangle(x + edge, y + edge, x + size - edge, y + size - edge, paint, 4.0 if state == OPEN else 0.0)
    if state == OPEN:
        return
    canvas.rectangle(x + 0.12 * size, y + 0.1 * size, x + 0.88 * size, y + 0.9 * size, GROUND, 2.0)
    if state == CLOSED:
        canvas.circle((x + 0.72 * size, y + 0.5 * size), 0.09 * size, GROUND)
    if state == LOCKED:
        canvas.circle((middle, y + 0.56 * size), 0.15 * size, GROUND)
        low, wide = y + 0.25 * size, 0.14 * size
        canvas.polygon([(middle, y + 0.6 * size), (middle + wide, low), (middle - wide, low)], GROUND)


def draw_object(canvas: Canvas, x: float, y: float, size: float, cell: int) -> None:
    """A key, a ball or a box around a point."""
    kind, paint = kind_of(cell), PAINTS[min(colour_of(cell), 5)]
    if kind == BALL:
        canvas.circle((x, y), 0.34 * size, paint)
        canvas.circle((x - 0.1 * size, y + 0.12 * size), 0.08 * size, "white")
    elif kind == BOX:
        canvas.rectangle(x - 0.36 * size, y - 0.32 * size, x + 0.36 * size, y + 0.32 * size, paint)
        canvas.rectangle(x - 0.36 * size, y - 0.32 * size, x + 0.36 * size, y + 0.32 * size, "black", 2.0)
        canvas.line([(x - 0.36 * size, y + 0.1 * size), (x + 0.36 * size, y + 0.1 * size)], "black", 2.0)
    else:
        canvas.circle((x - 0.2 * size, y), 0.2 * size, paint)
        canvas.circle((x - 0.2 * size, y), 0.08 * size, GROUND)
        canvas.rectangle(x, y - 0.06 * size, x + 0.4 * size, y + 0.06 * size, paint)
        for tooth in (0.2, 0.32):
            canvas.rectangle(x + tooth * size, y - 0.2 * size, x + (tooth + 0.08) * size, y, paint)


def draw_agent(canvas: Canvas, x: float, y: float, direction: int, size: float) -> None:
    """A triangle that points where the agent looks, centered on a point."""
    turn = ((1, 0), (0, -1), (-1, 0), (0, 1))[direction]
    corners = ((0.4, 0.0), (-0.34, 0.32), (-0.18, 0.0), (-0.34, -0.32))
    for scale, color in ((1.12 * size, "white"), (0.92 * size, "red")):
        points = [
            (x + scale * (a * turn[0] - b * turn[1]), y + scale * (a * turn[1] + b * turn[0])) for a, b in corners
        ]
        canvas.polygon(points, color)


def outside_of(cells: Any) -> Any:
    """Which cells (columns, rows) are empty and lie outside of all rooms, where walls do not enclose the whole grid."""
    empty = cells & 15 == EMPTY
    found = empty.copy()
    found[1:-1, 1:-1] = False
    while True:
        near = found.copy()
        near[1:] |= found[:-1]
        near[:-1] |= found[1:]
        near[:, 1:] |= found[:, :-1]
        near[:, :-1] |= found[:, 1:]
        near &= empty
        if (near == found).all():
            return found
        found = near


def legend_of(cells: Any) -> list[tuple[Any, ...]]:
    """What the colours of a grid stand for."""
    kinds = cells & 15
    there = [entry for kind, entry in ((GOAL, ("green", "goal")), (LAVA, (HOT, "lava"))) if (kinds == kind).any()]
    return [("red", "agent", "triangle"), *there, (SEEN, "in view"), (GROUND, "not in view")]


def draw_grid(canvas: Canvas, cells: Any, seen: Any, at: tuple[int, int], direction: int, carried: int) -> None:
    """A grid of cells (columns, rows) with its agent and what it carries; cells that are `seen` are lighter."""
    outside = outside_of(cells)
    inside = np.argwhere(~outside)
    (left, top), (right, bottom) = inside.min(axis=0), inside.max(axis=0) + 1
    columns, rows = int(right - left), int(bottom - top)
    canvas.view(left - 0.1, right + 0.1, -bottom - 0.1, 0.1 - top)
    size = max(1.0, LEGIBLE * max(columns / canvas.scene[0], rows / canvas.scene[1]))
    for x in range(cells.shape[0]):
        for y in range(cells.shape[1]):
            if outside[x, y]:
                continue
            draw_cell(canvas, x, -y - 1.0, int(cells[x, y]), SEEN if seen[x, y] else GROUND)
    if size > 1.0:  # on large grids, what matters is larger than its cell
        for x, y in zip(*(cells & 15 >= DOOR).nonzero(), strict=True):
            low, left = -y - 0.5 - 0.5 * size, x + 0.5 - 0.5 * size
            draw_thing(canvas, left, low, size, int(cells[x, y]))
    middle, centre = at[0] + 0.5, -at[1] - 0.5
    draw_agent(canvas, middle, centre, direction, size)
    if carried:
        middle, centre = middle + 0.26 * size, centre + 0.26 * size
        canvas.circle((middle, centre), 0.24 * size, "white")
        draw_object(canvas, middle, centre, 0.5 * size, carried)


def grid_text(cells: Any, at: tuple[int, int], direction: int) -> str:
    """A grid of cells in letters: # wall, D door (d when closed, ' when open), k key, o ball, b box, ~ lava, G goal."""
    lines = []
    for y in range(cells.shape[1]):
        line = ""
        for x in range(cells.shape[0]):
            cell = int(cells[x, y])
            kind = kind_of(cell)
            letter = "'dD"[state_of(cell)] if kind == DOOR else LETTERS.get(kind, "." if cell else " ")
            line += ARROWS[direction] if (x, y) == at else letter
        lines.append(line.rstrip())
    return "\n".join(lines)
