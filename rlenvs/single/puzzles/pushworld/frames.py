"""The published frames: every cell is a tile with its color and a line where its object ends."""

from __future__ import annotations

import numpy as np

FILLS = {  # fill and border of a cell
    "empty": ((255, 255, 255), (255, 255, 255)),
    "wall": ((10, 10, 10), (5, 5, 5)),
    "agent wall": ((250, 199, 30), (125, 100, 15)),
    "agent": ((0, 220, 0), (0, 110, 0)),
    "object": ((220, 0, 0), (110, 0, 0)),
    "other": ((70, 155, 255), (35, 72, 127)),
    "goal": ((0, 0, 0), (185, 0, 0)),  # its inside is transparent
}
# sides and corners of a cell, in the order of the bits of its neighbours: rows, columns
SIDES = ((0, -1), (0, 1), (-1, 0), (1, 0), (-1, -1), (1, -1), (-1, 1), (1, 1))


class Tiles:
    """Images of cells, each made when it is first asked for.

    Args:
        size: pixels per cell.
        border: pixels of a line.
    """

    def __init__(self, size: int, border: int) -> None:
        self.size, self.border = size, border
        self._numbers: dict[tuple[str, int], int] = {}
        self._images: list[np.ndarray] = []
        self._opaque: list[np.ndarray] = []

    def number(self, kind: str, around: int) -> int:
        """Of the tile of a kind of cell with the given neighbors of the same object."""
        if (kind, around) not in self._numbers:
            self._numbers[kind, around] = len(self._images)
            fill, line = FILLS[kind]
            edge = self._edge(around) if kind != "empty" else np.zeros((self.size,) * 2, np.bool_)
            image = np.empty((self.size, self.size, 3), np.uint8)
            image[:] = fill
            image[edge] = line
            self._images.append(image)
            self._opaque.append(edge if kind == "goal" else np.ones_like(edge))
        return self._numbers[kind, around]

    def _edge(self, around: int) -> np.ndarray:
        """The pixels of a line towards each neighbor that is not of the object."""
        ends = {-1: slice(0, self.border), 0: slice(None), 1: slice(self.size - self.border, None)}
        edge = np.zeros((self.size, self.size), np.bool_)
        for bit, (row, column) in enumerate(SIDES):
            if not around >> bit & 1:
                edge[ends[row], ends[column]] = True
        return edge

    @property
    def images(self) -> np.ndarray:
        """All tiles so far, uint8 (tiles, size, size, 3)."""
        return np.array(self._images).reshape(-1, self.size, self.size, 3)

    @property
    def opaque(self) -> np.ndarray:
        """Which of their pixels cover what is below, uint8 (tiles, size, size)."""
        return np.array(self._opaque, np.uint8).reshape(-1, self.size, self.size)
