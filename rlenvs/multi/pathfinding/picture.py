"""Pictures of grids with agents: discs with numbers, goals as rings of the same colour."""

from typing import Any

import numpy as np

from rlenvs.core.canvas import Canvas, agent_color

SMALLEST_NUMBER = 9  # pixels; smaller digits cannot be read
FINISH, RESTART = 0, 2


def obstacle_map(p: Any, s: Any) -> np.ndarray:
    """The obstacles of the map, bool (height, width)."""
    r = int(p.radius)
    return np.asarray(s.blocked).reshape(p.frame.shape)[r:-r, r:-r] > 0


def draw_map(canvas: Canvas, p: Any, s: Any) -> None:
    """The map with its agents and goals, and a line that says how many have arrived."""
    obstacles = obstacle_map(p, s)
    height, width = obstacles.shape
    canvas.view(-0.3, width + 0.3, -0.3, height + 0.3, (0.0, 0.07, 1.0, 1.0))
    canvas.rectangle(-0.1, -0.1, width + 0.1, height + 0.1, "grey")
    canvas.rectangle(0, 0, width, height, "white")
    for column in range(1, width):
        canvas.line([(column, 0), (column, height)], "light", 0.5)
    for row in range(1, height):
        canvas.line([(0, row), (width, row)], "light", 0.5)
    for row, column in np.argwhere(obstacles):
        canvas.rectangle(column, height - row - 1, column + 1, height - row, "grey")
    alive = [k for k in range(len(s.position)) if p.on_target != FINISH or s.settled[k] == 0]
    pixels = 480.0 / max(height, width)
    for k in alive:
        canvas.circle(_centre(s.goal[k], height), 0.42, agent_color(k), max(1.0, pixels / 12.0))
        _write_number(canvas, k, _centre(s.goal[k], height), pixels, agent_color(k))
    for k in alive:
        color = agent_color(k)
        canvas.circle(_centre(s.position[k], height), 0.32, color)
        ink = "black" if color in ("yellow", "sky", "orange") else "white"
        _write_number(canvas, k, _centre(s.position[k], height), pixels, ink)
    if p.on_target == RESTART:
        canvas.caption(f"PathFinding   step {s.elapsed}   goals reached {int(np.sum(s.arrivals))}")
    else:
        canvas.caption(f"PathFinding   step {s.elapsed}   on goal {int(np.sum(s.settled > 0))} of {len(s.position)}")


def _centre(place: Any, height: int) -> tuple[float, float]:
    return place[1] + 0.5, height - place[0] - 0.5


def _write_number(canvas: Canvas, k: int, centre: tuple[float, float], pixels: float, color: str) -> None:
    size = min(round(0.36 * pixels), 20)
    if size >= SMALLEST_NUMBER:
        canvas.text(centre, str(k), color, size, "centre")


def text_map(p: Any, s: Any) -> str:
    """A line per row: "." free, "#" obstacle, agents as small letters, their goals as capitals, from "a" on again
    after "z". An agent hides the goal below it."""
    cells = np.where(obstacle_map(p, s), "#", ".")
    alive = [k for k in range(len(s.position)) if p.on_target != FINISH or s.settled[k] == 0]
    for k in alive:
        cells[tuple(s.goal[k])] = chr(ord("A") + k % 26)
    for k in alive:
        cells[tuple(s.position[k])] = chr(ord("a") + k % 26)
    return "\n".join("".join(row) for row in cells)
