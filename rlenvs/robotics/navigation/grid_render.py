"""Images and texts of robots among walls on a grid."""

import math
from typing import Any

import numpy as np

from rlenvs.core.declare.canvas import Canvas, agent_color

FLOOR, GRID, WALL, DOT = (250, 249, 244), (232, 231, 225), (82, 88, 96), (214, 70, 60)
SHOWN_BEAMS = 100  # of the lidar of the first robot


def draw_scene(canvas: Canvas, p: Any, s: Any) -> None:
    """The map with row 0 below, robots with a yellow nose, goals as rings of their colors, what the first one sees."""
    arrived, crashed = int(np.sum(s.arrived)), int(np.sum(s.crashed))
    canvas.caption(f"arrived {arrived} of {len(s.heading)}", f"crashed {crashed}")
    canvas.legend(
        ("blue", "first robot"), ("blue", "its goal", "ring"), (DOT, "its lidar", "disc"), ("black", "crashed")
    )
    rows, columns, cell = int(p.rows), int(p.columns), float(p.cell)
    canvas.view(0.0, columns * cell, 0.0, rows * cell)
    canvas.rectangle(-100.0, -100.0, 200.0, 200.0, WALL)
    for n, wall in enumerate(np.asarray(s.wall).tolist()):
        if not wall:
            x, y = n % columns * cell, n // columns * cell
            canvas.rectangle(x, y, x + cell, y + cell, FLOOR)
            if cell > 0.5:
                canvas.rectangle(x, y, x + cell, y + cell, GRID, 1.0)
    for k, (x, y) in enumerate(np.asarray(s.goal).tolist()):
        _draw_goal(canvas, p, s, k, (x, y))
    _draw_lidar(canvas, p, s)
    for k in range(len(s.heading)):
        _draw_robot(canvas, p, s, k)


def _draw_goal(canvas: Canvas, p: Any, s: Any, k: int, place: tuple[float, float]) -> None:
    radius = float(p.goal_radius)
    canvas.circle(place, radius, "green" if s.arrived[k] else agent_color(k), 4.0)
    canvas.circle(place, 0.3 * radius, "green" if s.arrived[k] else agent_color(k))


def _draw_lidar(canvas: Canvas, p: Any, s: Any) -> None:
    """Where beams of the first robot end, unless at their reach."""
    x, y, heading = float(s.place[0, 0]), float(s.place[0, 1]), float(s.heading[0])
    beams = len(s.beam[0])
    last = int(p.reach / p.resolution + 1e-9) - 1
    size = 0.05 * min(float(p.cell), 0.8) + 0.02
    for j in range(0, beams, max(beams // SHOWN_BEAMS, 1)):
        if s.beam[0, j] < last:
            angle = heading + math.pi * (2.0 * j / max(beams - 1, 1) - 1.0)
            far = float(s.beam[0, j]) * float(p.reach) / last
            canvas.circle((x + far * math.cos(angle), y + far * math.sin(angle)), size, DOT)


def _draw_robot(canvas: Canvas, p: Any, s: Any, k: int) -> None:
    long, wide = 0.5 * float(p.body_length), 0.5 * float(p.body_width)
    canvas.polygon(_box(s, k, -long, long, wide), "black")
    if not s.crashed[k]:
        canvas.polygon(_box(s, k, 0.06 - long, long - 0.06, wide - 0.06), agent_color(k))
    canvas.polygon(_box(s, k, 0.45 * long, 0.9 * long, 0.6 * wide), "yellow")


def _box(s: Any, k: int, rear: float, front: float, side: float) -> list[tuple[float, float]]:
    """Corners of a part of robot k, from `rear` to `front` along its heading."""
    x, y, heading = float(s.place[k, 0]), float(s.place[k, 1]), float(s.heading[k])
    c, n = math.cos(heading), math.sin(heading)
    corners = ((front, side), (front, -side), (rear, -side), (rear, side))
    return [(x + c * u - n * v, y + n * u + c * v) for u, v in corners]


def text_scene(p: Any, s: Any) -> str:
    """A line per row, the last first: "#" walls, "." free, a capital for each robot, a small letter for its goal."""
    rows, columns = int(p.rows), int(p.columns)
    cells = np.where(np.asarray(s.wall).reshape(rows, columns) > 0, "#", ".")
    for first, places in (("a", s.goal), ("A", s.place)):
        for k, (x, y) in enumerate(np.asarray(places).tolist()):
            row = min(max(int(y / p.cell), 0), rows - 1)
            cells[row, min(max(int(x / p.cell), 0), columns - 1)] = chr(ord(first) + k)
    return "\n".join("".join(row) for row in cells[::-1])
