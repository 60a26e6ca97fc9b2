"""Pictures of the sea: water that darkens with depth, rock, chests with their values, and a submarine."""

from typing import Any

import numpy as np

from rlenvs.core.canvas import Canvas
from rlenvs.single.treasure.maps import ROCK, WATER

SHALLOW, DEEP = np.array([150, 214, 240]), np.array([16, 74, 128])
SAND, STONE, SKY = (214, 182, 120), (98, 84, 72), (232, 244, 250)


def _blend(share: float) -> tuple[int, int, int]:
    red, green, blue = ((1.0 - share) * SHALLOW + share * DEEP).astype(int).tolist()
    return red, green, blue


def draw_sea(canvas: Canvas, grid: np.ndarray) -> None:
    """The map, one unit per cell, its row 0 from y = 0 down to y = -1, sky above."""
    rows, columns = grid.shape
    canvas.rectangle(-1.0, 0.0, columns + 1.0, 2.0, SKY)
    for row in range(rows):
        for column in range(columns):
            color = STONE if grid[row, column] == ROCK else _blend(row / max(rows - 1, 1))
            canvas.rectangle(column, -row - 1.0, column + 1.0, -row, color)
            if grid[row, column] == ROCK and (row == 0 or grid[row - 1, column] != ROCK):
                canvas.rectangle(column, -row - 0.16, column + 1.0, -row, SAND)
    for row in range(rows):
        for column in range(columns):
            if grid[row, column] > WATER:
                draw_treasure(canvas, column, -row - 1.0, grid[row, column])
    for column in range(columns):
        wave = [(column + t, 0.06 * np.sin(2.0 * np.pi * t)) for t in np.linspace(0.0, 1.0, 9)]
        canvas.line(wave, "white", 2.0)


def draw_treasure(canvas: Canvas, x: float, y: float, value: float) -> None:
    """A chest on the floor of the cell whose lower left corner is (x, y), its value above the lid."""
    canvas.rectangle(x + 0.18, y + 0.06, x + 0.82, y + 0.32, (150, 92, 30), rounded=0.04)
    canvas.rectangle(x + 0.15, y + 0.30, x + 0.85, y + 0.42, "orange", rounded=0.05)
    canvas.rectangle(x + 0.45, y + 0.20, x + 0.55, y + 0.34, "yellow")
    canvas.text((x + 0.5, y + 0.68), f"{value:g}", "white", size=13, align="centre")


def draw_submarine(canvas: Canvas, row: int, column: int) -> None:
    """The submarine, in the cell (row, column)."""
    x, y = column + 0.5, -row - 0.5
    canvas.rectangle(x - 0.05, y + 0.12, x + 0.17, y + 0.36, "red", rounded=0.05)
    canvas.line([(x + 0.1, y + 0.36), (x + 0.1, y + 0.44), (x + 0.2, y + 0.44)], "black", 2.0)
    canvas.polygon([(x - 0.30, y - 0.02), (x - 0.46, y + 0.18), (x - 0.46, y - 0.22)], "red")
    canvas.rectangle(x - 0.38, y - 0.2, x + 0.42, y + 0.16, "yellow", rounded=0.17)
    canvas.rectangle(x - 0.38, y - 0.2, x + 0.42, y + 0.16, "black", 1.5, rounded=0.17)
    for port in (-0.12, 0.08, 0.28):
        canvas.circle((x + port, y - 0.01), 0.07, "black")
        canvas.circle((x + port, y - 0.01), 0.045, "sky")


def sea_text(grid: Any, row: int, column: int) -> str:
    """The map in letters: S submarine, T treasure, # rock, . water."""
    lines = [["#" if v == ROCK else "T" if v > WATER else "." for v in line] for line in grid]
    lines[row][column] = "S"
    return "\n".join("".join(line) for line in lines)
