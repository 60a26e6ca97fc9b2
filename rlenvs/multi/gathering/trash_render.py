"""Images and texts of the trash grid."""

from typing import Any

from rlenvs.core.declare.canvas import Canvas, Color
from rlenvs.kits.boards.drawing import draw_letter, draw_table, draw_tile, view_board

FLOOR, STATION = (236, 236, 230), (176, 216, 186)
SMALL, BIG = (230, 159, 0), (150, 75, 30)
BODIES: tuple[Color, ...] = ((0, 114, 178), (86, 150, 200), (120, 94, 160), (0, 130, 130), (90, 90, 100), (60, 80, 140))
DOWN, ACROSS = (-1, 0, 1, 0), (0, 1, 0, -1)
PLACES = ((0.0, 0.0), (-0.2, 0.2), (0.2, -0.2), (0.2, 0.2), (-0.2, -0.2), (0.0, 0.25))


def draw_trash(canvas: Canvas, p: Any, s: Any) -> None:
    rows, columns = s.trash.shape
    canvas.caption(f"{int(s.left)} pieces left")
    canvas.legend(
        ("blue", "robot, with its load", "disc"), (SMALL, "small trash"), (BIG, "big trash"), (STATION, "station")
    )
    pixels = view_board(canvas, rows, columns)
    draw_table(canvas)
    for row in range(rows):
        for column in range(columns):
            station = row >= rows - 2 and column >= columns - 4
            draw_tile(canvas, row, column, STATION if station else FLOOR, 0.02)
            if s.trash[row, column] == 1:
                draw_tile(canvas, row, column, SMALL, 0.26, 0.08)
            elif s.trash[row, column] == 2:
                draw_tile(canvas, row, column, BIG, 0.1, 0.08)
    for k in range(len(s.row)):
        there = [j for j in range(len(s.row)) if s.row[j] == s.row[k] and s.column[j] == s.column[k]]
        shift = PLACES[there.index(k) + 1] if len(there) > 1 else PLACES[0]
        draw_robot(canvas, s, k, shift, 0.36 if len(there) == 1 else 0.24, pixels)


def draw_robot(canvas: Canvas, s: Any, k: int, shift: tuple[float, float], radius: float, pixels: float) -> None:
    """A disc with a nose where it looks, and the number of pieces that it carries."""
    row, column, direction = int(s.row[k]) - shift[1], int(s.column[k]) + shift[0], int(s.direction[k])
    x, y = column + 0.5, -row - 0.5
    right, up = ACROSS[direction], -DOWN[direction]
    tip, back, wide = 1.3 * radius, 0.5 * radius, 0.8 * radius
    nose = [(x + tip * right, y + tip * up)]
    for side in (1, -1):
        nose.append((x + back * right - side * wide * up, y + back * up + side * wide * right))
    canvas.circle((x, y), radius + 0.04, "white")
    canvas.polygon(nose, BODIES[k % len(BODIES)])
    canvas.circle((x, y), radius, BODIES[k % len(BODIES)])
    draw_letter(canvas, row, column, str(int(s.load[k])), 1.2 * radius * pixels, "white")


def trash_text(p: Any, s: Any) -> str:
    """The grid: robots "A", "B" and so on, small trash "s", big trash "b", the station "_"."""
    rows, columns = s.trash.shape
    lines = []
    for row in range(rows):
        cells = [(".", "s", "b")[int(s.trash[row, column])] for column in range(columns)]
        if row >= rows - 2:
            cells[columns - 4 :] = ["_" if cell == "." else cell for cell in cells[columns - 4 :]]
        for k in range(len(s.row)):
            if row == int(s.row[k]):
                cells[int(s.column[k])] = "ABCDEF"[k]
        lines.append("".join(cells))
    loads = [f"{'ABCDEF'[k]} faces {'NESW'[int(s.direction[k])]}, carries {int(s.load[k])}" for k in range(len(s.row))]
    return "\n".join([*lines, *loads])
