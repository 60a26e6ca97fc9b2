"""Images of terrain that is explored: the unseen part is dark, the lidar shines from the rover."""

import math
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any

import numpy as np

from rlenvs.core.declare.canvas import Canvas, agent_color
from rlenvs.core.declare.maths import cos, sin
from rlenvs.kits.boards.drawing import view_board
from rlenvs.single.exploration.lidar import FREE, OBSTACLE, ROVER, UNSEEN

SEEN_FREE, SEEN_ROCK = (232, 190, 150), (120, 66, 46)
DARK_FREE, DARK_ROCK = (66, 58, 60), (46, 38, 40)
KEYS = (("down", "s"), ("up", "w"), ("right", "d"), ("left", "a"))


def draw_ground(canvas: Canvas, obstacle: np.ndarray, known: np.ndarray) -> None:
    """The cells of a map, in runs of one color."""
    rows, columns = known.shape
    view_board(canvas, rows, columns, 0.2)
    canvas.rectangle(-0.15, -rows - 0.15, columns + 0.15, 0.15, "black")
    kinds = np.where(known == UNSEEN, 2, 0) + (np.asarray(obstacle) > 0)
    colors = (SEEN_FREE, SEEN_ROCK, DARK_FREE, DARK_ROCK)
    for row, line in enumerate(kinds.tolist()):
        first = 0
        for column in range(1, columns + 1):
            if column == columns or line[column] != line[first]:
                canvas.rectangle(first, -row - 1.0, column, -float(row), colors[line[first]])
                first = column


def draw_rover(canvas: Canvas, row: float, column: float, size: float, color: str = "blue") -> None:
    """A rover, `size` cells wide."""
    x, y, half = column + 0.5, -row - 0.5, 0.5 * size
    for side in (-0.62, 0.62):
        for along in (-0.6, 0.0, 0.6):
            canvas.circle((x + along * half, y + side * half), 0.26 * half, "black")
    canvas.rectangle(x - 0.8 * half, y - 0.5 * half, x + 0.8 * half, y + 0.5 * half, "white", rounded=0.2 * half)
    canvas.rectangle(x - 0.68 * half, y - 0.38 * half, x + 0.68 * half, y + 0.38 * half, color, rounded=0.15 * half)
    canvas.circle((x, y), 0.24 * half, "yellow")


def rover_size(canvas: Canvas, rows: int, columns: int) -> float:
    """Cells that a rover is wide, so that it is 24 pixels at least."""
    cell = min(canvas.scene[0] / columns, canvas.scene[1] / rows)
    return max(1.0, 26.0 / cell)


def on_map(p: Any, padded: Any) -> np.ndarray:
    """The part of a padded map that is the map, (rows, columns)."""
    pad = int(p.pad)
    return np.asarray(padded).reshape(-1, int(p.stride))[pad:-pad, pad:-pad]


def place_of(p: Any, cell: int) -> tuple[int, int]:
    """Row and column of a cell of a padded map."""
    row, column = divmod(int(cell), int(p.stride))
    return row - int(p.pad), column - int(p.pad)


def draw_rays(canvas: Canvas, p: Any, cell: int, lengths: np.ndarray, rows: int, columns: int) -> None:
    """The rays of a lidar at a cell."""
    row, column = place_of(p, cell)
    for channel, whole in enumerate(lengths.tolist()):
        length = min(whole + 0.5, float(p.pad))
        angle = channel * 2.0 * math.pi / len(lengths)
        x = min(max(column + 0.5 + length * sin(angle), 0.0), float(columns))
        y = min(max(row + 0.5 + length * cos(angle), 0.0), float(rows))
        canvas.line([(column + 0.5, -row - 0.5), (x, -y)], "yellow", 1.0)


def draw_terrain(canvas: Canvas, p: Any, s: Any) -> None:
    """A map with one rover, its rays and the cells that it has been on."""
    known = on_map(p, s.known)
    rows, columns = known.shape
    seen = 100.0 * float(s.seen) / known.size
    canvas.caption(f"seen {seen:.1f} %", f"moves {int(s.moves)}")
    canvas.legend(
        ("blue", "rover", "disc"),
        (SEEN_FREE, "seen, free"),
        (SEEN_ROCK, "seen, obstacle"),
        (DARK_FREE, "unseen"),
        ("sky", "track", "line"),
    )
    draw_ground(canvas, on_map(p, s.obstacle), known)
    draw_rays(canvas, p, int(s.cell), s.lengths, rows, columns)
    draw_track(canvas, on_map(p, s.track), int(s.moves))
    draw_rover(canvas, *place_of(p, s.cell), rover_size(canvas, rows, columns))


def draw_track(canvas: Canvas, track: np.ndarray, moves: int, shown: int = 60) -> None:
    """The latest cells that a rover was on, as far as they lie beside each other."""
    order = np.argsort(track, axis=None)[::-1][:shown]
    cells = [divmod(int(cell), track.shape[1]) for cell in order if track.flat[cell] > max(moves - shown, 0)]
    for (r, c), (r2, c2) in pairwise(cells):
        if abs(r - r2) + abs(c - c2) == 1:
            canvas.line([(c + 0.5, -r - 0.5), (c2 + 0.5, -r2 - 0.5)], "sky", 3.0)


def draw_team(canvas: Canvas, p: Any, s: Any) -> None:
    """A map with several rovers, each in a color of its own; those out of the game are gray."""
    known = on_map(p, s.known)
    rows, columns = known.shape
    canvas.caption(f"seen {100.0 * float(s.seen) / known.size:.1f} %")
    canvas.legend(
        ("blue", "rover", "disc"),
        (SEEN_FREE, "seen, free"),
        (SEEN_ROCK, "seen, obstacle"),
        (DARK_FREE, "unseen"),
        ("grey", "out of the game", "disc"),
    )
    draw_ground(canvas, on_map(p, s.obstacle), known)
    for k, cell in enumerate(np.asarray(s.cell).tolist()):
        color = agent_color(k) if s.alive[k] else "grey"
        draw_rover(canvas, *place_of(p, cell), rover_size(canvas, rows, columns), color)


def draw_driver(canvas: Canvas, p: Any, s: Any, height: Callable[[float, float], float]) -> None:
    """A map with hills, lighter where they are higher, and a rover with a heading."""
    known, obstacle = on_map(p, s.known), on_map(p, s.obstacle)
    rows, columns = known.shape
    canvas.caption(f"seen {100.0 * float(s.seen) / known.size:.1f} %", f"way {float(s.way):.1f}")
    canvas.legend(("blue", "rover", "disc"), (SEEN_FREE, "seen, higher is lighter"), (SEEN_ROCK, "seen, obstacle"))
    draw_ground(canvas, obstacle, known)
    highest = max(float(p.hill_height), 0.01)
    for row in range(rows):
        for column in range(columns):
            if known[row, column] != UNSEEN and not obstacle[row, column]:
                light = 0.85 + 0.22 * min(max(height(row + 0.5, column + 0.5) / highest, -1.0), 0.6)
                red, green, blue = (min(round(light * part), 255) for part in SEEN_FREE)
                canvas.rectangle(column, -row - 1.0, column + 1.0, -float(row), (red, green, blue))
    draw_rays(canvas, p, int(s.cell), s.lengths, rows, columns)
    x, y = float(s.column), -float(s.row)
    size = rover_size(canvas, rows, columns)
    canvas.circle((x, y), 0.5 * size, "white")
    canvas.circle((x, y), 0.42 * size, "blue")
    ahead = (x + 0.8 * size * cos(float(s.heading)), y - 0.8 * size * sin(float(s.heading)))
    canvas.arrow((x, y), ahead, "yellow", 3.0)


def terrain_text(p: Any, s: Any, rovers: Iterable[int]) -> str:
    """What is known, a character per cell: "?" unseen, "." free, "#" obstacle, "R" a rover."""
    letters = {UNSEEN: "?", FREE: ".", OBSTACLE: "#", ROVER: "R"}
    lines = [[letters[int(cell)] for cell in row] for row in on_map(p, s.known)]
    for cell in rovers:
        row, column = place_of(p, cell)
        lines[row][column] = "R"
    return "\n".join(map("".join, lines))
