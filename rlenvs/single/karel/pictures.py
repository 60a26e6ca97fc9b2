"""Images and texts of Karel's grid."""

from typing import Any

from rlenvs.core.declare.canvas import Canvas, Color
from rlenvs.kits.boards.drawing import draw_tile, view_board
from rlenvs.single.karel.rules import DOOR_KEY, DOWN, FOUR_CORNERS, ONE_STROKE, RIGHT, SNAKE, TASK

WALL, FLOOR, MARKER, TAIL, CORNER = (74, 78, 86), (238, 236, 230), (230, 159, 0), (0, 158, 115), (200, 226, 200)
STROKE = (150, 170, 190)
KAREL = "blue"


def draw_world(canvas: Canvas, p: Any, s: Any) -> None:
    rows, columns = s.wall.shape
    snake = int(p.task) == SNAKE
    canvas.caption(TASK.values[int(p.task)].replace("_", " "), f"{100 * float(s.progress):.0f} % done")
    entries: list[tuple[Color, str] | tuple[Color, str, str]] = [(KAREL, "Karel", "disc")]
    if int(p.task) == ONE_STROKE:
        entries.append((STROKE, "visited"))
    else:
        entries.append((MARKER, "meal" if snake else "marker", "disc"))
    if snake:
        entries.append((TAIL, "tail"))
    if int(p.task) == FOUR_CORNERS:
        entries.append((CORNER, "to be marked"))
    canvas.legend(*entries)
    view_board(canvas, rows, columns)
    for row in range(rows):
        for column in range(columns):
            draw_cell(canvas, p, s, row, column)
    draw_karel(canvas, int(s.row), int(s.column), int(s.direction))


def draw_cell(canvas: Canvas, p: Any, s: Any, row: int, column: int) -> None:
    """Floor or wall, and what lies there."""
    rows, columns = s.wall.shape
    count = int(s.markers[row, column])
    corner = int(p.task) == FOUR_CORNERS and row in (1, rows - 2) and column in (1, columns - 2)
    inside = 0 < row < rows - 1 and 0 < column < columns - 1
    wall = STROKE if inside and int(p.task) == ONE_STROKE else WALL
    color = wall if s.wall[row, column] else CORNER if corner else FLOOR
    draw_tile(canvas, row, column, color, 0.02, 0.06)
    if int(p.task) == SNAKE and count == 2:
        draw_tile(canvas, row, column, TAIL, 0.08, 0.3)
    elif count == 1:
        canvas.circle((column + 0.5, -row - 0.5), 0.36, MARKER)
    elif count == 2:
        canvas.circle((column + 0.31, -row - 0.5), 0.28, MARKER)
        canvas.circle((column + 0.69, -row - 0.5), 0.28, MARKER)
    if int(p.task) == DOOR_KEY and not s.wall[row, column] and column == columns // 2:
        draw_tile(canvas, row, column, "green", 0.35, 0.1)


def draw_karel(canvas: Canvas, row: int, column: int, direction: int) -> None:
    """A triangle that points where Karel looks."""
    x, y = column + 0.5, -row - 0.5
    right, up = RIGHT[direction], -DOWN[direction]
    points = [(x + 0.42 * right, y + 0.42 * up)]
    for side in (1, -1):
        points.append((x - 0.3 * right - side * 0.34 * up, y - 0.3 * up + side * 0.34 * right))
    canvas.polygon(points, KAREL)
    canvas.polygon(points, "white", 2.0)


def grid_text(p: Any, s: Any) -> str:
    """The grid, a letter for each cell."""
    rows, columns = s.wall.shape
    lines = []
    for row in range(rows):
        cells = [
            "#" if s.wall[row, column] else (".", "1", "2")[int(s.markers[row, column])] for column in range(columns)
        ]
        if row == int(s.row):
            cells[int(s.column)] = "^>v<"[int(s.direction)]
        lines.append("".join(cells))
    return "\n".join(lines)
