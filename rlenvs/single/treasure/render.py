"""Images of the sea: water that darkens with depth, rock, chests with their values, and a submarine."""

from typing import Any

import numpy as np

from rlenvs.core.declare.canvas import Canvas
from rlenvs.single.treasure.maps import ROCK, WATER

SHALLOW, DEEP = np.array([150, 214, 240]), np.array([16, 74, 128])
SAND, STONE, STONES, SKY = (214, 182, 120), (98, 84, 72), (112, 97, 84), (232, 244, 250)
PLATE, DARK_INK = (20, 40, 66), (10, 34, 66)
LARGEST, AROUND = 24, 16  # rows and columns in an image; of a larger sea those around the submarine
AIR = 1.3  # above the water, in cells
SMALLEST_VALUE = 8  # pixels


def _blend(share: float) -> tuple[int, int, int]:
    red, green, blue = ((1.0 - share) * SHALLOW + share * DEEP).astype(int).tolist()
    return red, green, blue


def draw_scene(canvas: Canvas, grid: np.ndarray, row: int, column: int) -> None:
    """The sea with its treasures, and the submarine in the cell (row, column)."""
    found = grid[row, column]
    told = [f"found a treasure worth {found:g}" if found > WATER else "searching"]
    if max(grid.shape) > LARGEST:
        told.append(f"row {row} of {grid.shape[0]}, column {column} of {grid.shape[1]}")
    canvas.caption(*told)
    canvas.legend(("yellow", "submarine", "disc"), ("orange", "treasure and what it is worth"), (STONE, "rock"))
    top, bottom = _window(row, grid.shape[0])
    left, right = _window(column, grid.shape[1])
    high = -top + (AIR if top == 0 else 0.0)
    wide, tall = canvas.scene
    pixels = min(wide / (right - left), tall / (high + bottom + 0.25))  # of a cell
    middle, half = (left + right) / 2.0, 0.5 * wide / pixels
    centre, reach = (high - bottom) / 2.0, 0.5 * tall / pixels
    canvas.view(middle - half, middle + half, centre - reach, centre + reach)
    canvas.rectangle(middle - half, centre - reach, middle + half, centre + reach, STONE)
    if top == 0:
        canvas.rectangle(middle - half, 0.0, middle + half, centre + reach, SKY)
        for start, end in ((middle - half, 0.0), (float(grid.shape[1]), middle + half)):
            canvas.rectangle(start, -0.1, end, 0.3, SAND)  # the shore at either side
    _draw_water(canvas, grid, (top, bottom, left, right))
    size = min(round(0.42 * pixels), 15)
    for place in np.argwhere(grid[top:bottom, left:right] > WATER) + (top, left):
        cell = (int(place[0]), int(place[1]))
        _draw_treasure(canvas, grid, cell, 0 if cell == (row, column) else size)
    draw_submarine(canvas, row - (0.4 if found > WATER else 0.0), column)  # above the treasure that it has found
    if found > WATER:
        canvas.text((column + 0.5, -row + 0.55), f"{found:g}", "white", max(size, 11), "centre", ground=PLATE)


def _window(place: int, length: int) -> tuple[int, int]:
    """The first row or column of an image, and the one behind the last."""
    if length <= LARGEST:
        return 0, length
    first = min(max(place - AROUND // 2, 0), length - AROUND)
    return first, first + AROUND


def _draw_water(canvas: Canvas, grid: np.ndarray, window: tuple[int, int, int, int]) -> None:
    """Water and rock, one unit per cell, row 0 from y = 0 down to y = -1."""
    top, bottom, left, right = window
    for row in range(top, bottom):
        canvas.rectangle(left, -row - 1.0, right, -row, _blend(_depth(grid, row)))
        for column in (left + np.flatnonzero(grid[row, left:right] == ROCK)).tolist():
            canvas.rectangle(column, -row - 1.0, column + 1.0, -row, STONE)
            canvas.circle((column + 0.3, -row - 0.6), 0.12, STONES)
            canvas.circle((column + 0.7, -row - 0.35), 0.08, STONES)
            if row == 0 or grid[row - 1, column] != ROCK:
                canvas.rectangle(column, -row - 0.16, column + 1.0, -row, SAND)
    for column in range(left, right if top == 0 else left):
        wave = [(column + t, 0.06 * np.sin(2.0 * np.pi * t)) for t in np.linspace(0.0, 1.0, 9)]
        canvas.line(wave, "white", 2.0)


def _depth(grid: np.ndarray, row: int) -> float:
    return row / max(grid.shape[0] - 1, 1)


def _draw_treasure(canvas: Canvas, grid: np.ndarray, cell: tuple[int, int], size: int) -> None:
    """A chest on the floor of a cell, its value above the lid."""
    x, y = cell[1], -cell[0] - 1.0
    canvas.rectangle(x + 0.16, y + 0.04, x + 0.84, y + 0.32, (128, 72, 18), rounded=0.04)
    canvas.rectangle(x + 0.12, y + 0.30, x + 0.88, y + 0.46, "orange", rounded=0.06)
    canvas.rectangle(x + 0.43, y + 0.18, x + 0.57, y + 0.36, "yellow")
    if size >= SMALLEST_VALUE:
        ink = DARK_INK if _depth(grid, cell[0]) < 0.45 else "white"
        canvas.text((x + 0.5, y + 0.7), f"{grid[cell]:g}", ink, size, "centre")


def draw_submarine(canvas: Canvas, row: float, column: int) -> None:
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
