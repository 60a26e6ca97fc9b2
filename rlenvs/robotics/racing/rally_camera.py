"""The image of RallyRacer's camera: boards, ground, patches and sky, column by column from a scan of the road."""

import math
from typing import Any

from rlenvs.core import kernel, maths
from rlenvs.kits.tracks import lidar
from rlenvs.kits.tracks.road import AT, coordinates, grip_factor, locate
from rlenvs.kits.vehicles.single_track import YAW, X, Y

ROWS_OF_IMAGE, COLUMNS_OF_IMAGE = 64, 128
VIEW = math.radians(90.0)  # of the camera, whose columns are at equal angles
FOCAL = COLUMNS_OF_IMAGE / VIEW  # pixels per unit of height over distance
HEIGHT, BOARD = 0.2, 0.35  # m, of the camera and of the boards
FARTHEST = 30.0  # m
SKY, GROUND, LOOSE, BOARDS = (150, 190, 230), (140, 120, 90), (230, 214, 176), (200, 60, 50)


@kernel
def height(waves: Any, x: float, y: float) -> float:
    """Sum of waves, of height 1 each, at a place."""
    total = 0.0
    for n in range(waves.shape[0]):
        total += maths.sin(waves[n, 0] * x + waves[n, 1] * y + waves[n, 2])
    return total


@kernel
def take_picture(p: Any, s: Any, image: Any) -> None:
    """Fill an image (rows, columns, 3); hills show as light and shade only."""
    x, y = s.car[X], s.car[Y]
    sn, c = maths.sin_cos(s.car[YAW])
    lidar.scan(p.road, s.cell, x, y, c, sn, p.fan, VIEW, FARTHEST, s.distances)
    rows, columns, length = image.shape[0], image.shape[1], p.road[p.road.shape[0] - 1, AT]
    for column in range(columns):
        ray = columns - 1 - column  # beams go from right to left, columns from left to right
        u, v = c * p.fan[0, ray] - sn * p.fan[1, ray], sn * p.fan[0, ray] + c * p.fan[1, ray]
        wall = max(s.distances[ray], 0.05)
        cell = s.cell
        shade = 1.0 / (1.0 + 0.08 * wall)
        for up in range(rows):
            row = rows - 1 - up  # from the car outwards
            below = (row + 0.5 - 0.5 * rows) / FOCAL
            away = HEIGHT / below if below > 0.0 else 1e9
            if away < wall:
                px, py = x + away * u, y + away * v
                cell = locate(p.road, cell, px, py)
                progress, offset = coordinates(p.road, cell, px, py)
                loose = 1.0 - grip_factor(s.patches, length, progress, offset)
                light = 0.93 if int(progress * 2.0) % 2 == 0 else 1.0
                light *= 1.0 + 0.08 * height(s.waves, px, py)
                for k in range(3):
                    image[row, column, k] = int((GROUND[k] + loose * (LOOSE[k] - GROUND[k])) * light)
            elif (HEIGHT - BOARD) / wall <= below:
                for k in range(3):
                    image[row, column, k] = int(BOARDS[k] * shade)
            else:
                for k in range(3):
                    image[row, column, k] = SKY[k]
