"""Keyboard control: a marked cell, and a queue of orders."""

from collections import deque
from typing import Any

from rlenvs.core.declare.canvas import Canvas
from rlenvs.multi.generals.render import draw_board_image

ARROWS = ("up", "down", "left", "right")
LETTERS = ("w", "s", "a", "d")  # the same directions
STEPS = ((-1, 0), (1, 0), (0, -1), (0, 1))
PASS = 0
AHEAD = 12  # orders that may wait


class Commander:
    """Turns keys into orders for the first player. An arrow sends the army of the marked cell, and the mark goes with
    it, so that a row of arrows marches on; one order is carried out per tick.

    Args:
        values: the options of the game.

    Attributes:
        help: keys, and what they do.
    """

    help = (
        ("arrows", "send the army of the marked cell"),
        ("w a s d", "move the mark"),
        ("space", "the next army sends half"),
        ("b", "build a castle on the marked cell (build=True)"),
        ("q", "clear the queue of orders"),
    )

    def __init__(self, values: Any) -> None:
        self.values = values
        self.begin()

    def begin(self) -> None:
        """A new game: nothing is marked but the general, no order waits."""
        self.mark: tuple[int, int] | None = None
        self.orders: deque[int] = deque()
        self.half = False

    def press(self, keys: list[str], p: Any, s: Any) -> int:
        """The order of this tick, after keys went down in the given order."""
        if self.mark is None:
            self.mark = self._general(p, s)
        for key in keys:
            self._take(key, p, s)
        return self.orders.popleft() if self.orders else PASS

    def _general(self, p: Any, s: Any) -> tuple[int, int]:
        row, column = divmod(int(s.home[0]), int(p.columns))
        return row, column

    def _take(self, key: str, p: Any, s: Any) -> None:
        assert self.mark is not None
        cells = len(s.terrain)
        cell = self.mark[0] * int(p.columns) + self.mark[1]
        if key == "space":
            self.half = not self.half
        elif key == "q":
            self.orders.clear()
        elif key == "b" and self.values.build and len(self.orders) < AHEAD:
            self.orders.append(1 + 8 * cells + cell)
        elif key in LETTERS:
            self._go(LETTERS.index(key), s)
        elif key in ARROWS and len(self.orders) < AHEAD:
            direction = ARROWS.index(key)
            if self._go(direction, s):
                self.orders.append(1 + (direction + 4 * self.half) * cells + cell)
                self.half = False

    def _go(self, direction: int, s: Any) -> bool:
        """Move the mark, if the board goes on there."""
        assert self.mark is not None
        row, column = self.mark[0] + STEPS[direction][0], self.mark[1] + STEPS[direction][1]
        inside = 0 <= row < s.height and 0 <= column < s.width
        if inside:
            self.mark = row, column
        return inside

    def draw(self, canvas: Canvas, p: Any, s: Any) -> None:
        """What the first player sees, with the mark."""
        draw_board_image(canvas, p, s, slot=None if s.over else 0)
        row, column = self._general(p, s) if self.mark is None else self.mark
        top = int(s.height) - row
        canvas.rectangle(column, top - 1, column + 1, top, "black", 4.0)
        canvas.rectangle(column, top - 1, column + 1, top, "yellow", 2.0)
        if self.half:
            canvas.text((column + 0.5, top - 0.15), "half", "black", 10, "centre")
