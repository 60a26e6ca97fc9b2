"""Images of grids with agents: discs with numbers, goals as squares of the same color and number, paths."""

from collections import deque
from typing import Any

import numpy as np

from rlenvs.core.declare.canvas import COLORS, Canvas, agent_color
from rlenvs.multi.pathfinding.metrics import FINISH, RESTART

FLOOR, GRID, WALL, WALL_TOP, THIN_WALL = (
    (251, 250, 245),
    (226, 225, 218),
    (74, 80, 88),
    (104, 111, 120),
    (176, 180, 184),
)
SMALL_CELL = 16.0  # pixels; walls of smaller ones are pale, so that agents stand out
SMALLEST_DOT = 3.0  # pixels; on large maps agents and goals are larger than their cells
SMALLEST_LABELLED, SMALLEST_NUMBER = 12.5, 7  # pixels of a cell with a number, and of the number
FEW = 12  # agents with ways
MOST_LINES = 64  # agents with lines to their goals, where ways are not shown
DARK_INK = ("yellow", "sky", "orange")
MOVES = ((-1, 0), (1, 0), (0, -1), (0, 1))
Cell = tuple[int, int]


def obstacle_map(p: Any, s: Any) -> np.ndarray:
    """The obstacles of the map, bool (height, width)."""
    r = int(p.radius)
    return np.asarray(s.blocked).reshape(p.frame.shape)[r:-r, r:-r] > 0


def draw_map(canvas: Canvas, p: Any, s: Any) -> None:
    """The map with its agents and goals; agents that have arrived have a tick."""
    count, arrived = len(s.position), s.settled > 0
    if p.on_target == RESTART:
        canvas.caption(f"goals reached {int(np.sum(s.arrivals))}")
    else:
        canvas.caption(f"on their goals {int(arrived.sum())} of {count}")
    canvas.legend(
        ("blue", "agent", "disc"),
        ("blue", "its goal: same color and number" if count > 1 else "its goal"),
        *([("sky", "shortest way", "line")] if count <= FEW else []),
        *([("green", "arrived")] if p.on_target != RESTART else []),
        ("grey", "wall"),
    )
    grid = _Grid(canvas, obstacle_map(p, s))
    gone = arrived & (p.on_target == FINISH)  # arrived agents are no longer in anybody's way
    for k in np.flatnonzero(~arrived).tolist():
        grid.way(k, s.position[k], s.goal[k], count)
    for k in range(count):
        grid.goal(k, s.goal[k], 0.45 if gone[k] else 1.0)
    for k in np.flatnonzero(gone).tolist():
        grid.tick(s.goal[k])  # below agents that pass
    for k in np.flatnonzero(~gone).tolist():
        grid.agent(k, s.position[k])
    if p.on_target != RESTART:
        for k in np.flatnonzero(arrived & ~gone).tolist():
            grid.tick(s.goal[k])


def shortest_way(obstacles: np.ndarray, start: Any, goal: Any) -> list[Cell]:
    """Cells from start to goal, both included, past obstacles; empty when there is no way."""
    first, last = (int(start[0]), int(start[1])), (int(goal[0]), int(goal[1]))
    before: dict[Cell, Cell | None] = {last: None}
    queue = deque([last])
    while queue and first not in before:
        row, column = queue.popleft()
        for down, right in MOVES:
            cell = (row + down, column + right)
            inside = 0 <= cell[0] < obstacles.shape[0] and 0 <= cell[1] < obstacles.shape[1]
            if inside and not obstacles[cell] and cell not in before:
                before[cell] = (row, column)
                queue.append(cell)
    way, here = [], first if first in before else None
    while here is not None:
        way.append(here)
        here = before[here]
    return way


class _Grid:
    """A map on a canvas, one unit per cell, walls all around it."""

    def __init__(self, canvas: Canvas, obstacles: np.ndarray) -> None:
        self.canvas, self.obstacles = canvas, obstacles
        self.height, self.width = obstacles.shape
        wide, tall = canvas.scene
        self.pixels = min(wide / (self.width + 0.5), tall / (self.height + 0.5))  # of a cell
        across, along = 0.5 * wide / self.pixels, 0.5 * tall / self.pixels
        x, y = 0.5 * self.width, 0.5 * self.height
        canvas.view(x - across, x + across, y - along, y + along)
        wall = THIN_WALL if self.pixels < SMALL_CELL else WALL
        canvas.rectangle(x - across, y - along, x + across, y + along, wall)
        canvas.rectangle(0, 0, self.width, self.height, FLOOR)
        for column in range(1, self.width):
            canvas.line([(column, 0), (column, self.height)], GRID, 1.0)
        for row in range(1, self.height):
            canvas.line([(0, row), (self.width, row)], GRID, 1.0)
        for row, column in np.argwhere(obstacles).tolist():
            low = self.height - row - 1
            canvas.rectangle(column, low, column + 1, low + 1, wall)
            if self.pixels >= SMALL_CELL:
                canvas.rectangle(column + 0.08, low + 0.22, column + 0.92, low + 0.92, WALL_TOP)

    def centre(self, place: Any) -> tuple[float, float]:
        return float(place[1]) + 0.5, self.height - float(place[0]) - 0.5

    def goal(self, k: int, place: Any, life: float) -> None:
        (x, y), color = self.centre(place), agent_color(k)
        size = 0.46 if self.pixels >= SMALL_CELL else max(0.55, SMALLEST_DOT / self.pixels)
        self.canvas.rectangle(x - size, y - size, x + size, y + size, _pale(color, life), rounded=0.12)
        size -= max(0.1, 1.5 / self.pixels)
        self.canvas.rectangle(x - size, y - size, x + size, y + size, _pale(color, 0.3 * life), rounded=0.1)
        self.number(k, (x, y), "black")

    def agent(self, k: int, place: Any) -> None:
        centre, color = self.centre(place), agent_color(k)
        radius = 0.38 if self.pixels >= SMALL_CELL else max(0.5, SMALLEST_DOT / self.pixels)
        self.canvas.circle(centre, radius, "black")
        self.canvas.circle(centre, radius - min(0.08, 1.2 / self.pixels), color)
        self.number(k, centre, "black" if color in DARK_INK else "white")

    def way(self, k: int, place: Any, goal: Any, count: int) -> None:
        """The shortest way of one of few agents, a straight line of one of some, nothing of many."""
        if count <= FEW:
            cells = shortest_way(self.obstacles, place, goal)
            shift = 0.05 * (k % 5 - 2)  # ways that share cells lie beside each other
            points = [(x + shift, y + shift) for x, y in map(self.centre, cells)]
            self.canvas.line(points, _pale(agent_color(k), 0.6), 3.0)
        elif count <= MOST_LINES:
            self.canvas.line([self.centre(place), self.centre(goal)], _pale(agent_color(k), 0.45), 1.0)

    def tick(self, place: Any) -> None:
        """A mark on the goal of an agent that has arrived."""
        x, y = self.centre(place)
        self.canvas.circle((x + 0.27, y + 0.3), 0.23, "white")
        self.canvas.circle((x + 0.27, y + 0.3), 0.2, "green")
        if self.pixels >= 24.0:
            self.canvas.line([(x + 0.17, y + 0.3), (x + 0.25, y + 0.21), (x + 0.38, y + 0.4)], "white", 2.5)

    def number(self, k: int, centre: Any, color: str) -> None:
        size = min(round((0.5 if k < 10 else 0.42 if k < 100 else 0.33) * self.pixels), 22)
        if self.pixels >= SMALLEST_LABELLED:
            self.canvas.text(centre, str(k), color, max(size, SMALLEST_NUMBER), "centre")


def _pale(color: str, share: float) -> tuple[int, int, int]:
    red, green, blue = (round(share * a + (1.0 - share) * b) for a, b in zip(COLORS[color], FLOOR, strict=True))
    return red, green, blue


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
