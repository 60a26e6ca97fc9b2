"""Drawing verbs for worlds: shapes in the world's own units, on an image without a display.

Every image has the same frame: a head with name, step, return, cost and success, which the core fills in, and the
world's own `caption`; below it the scene; at the bottom the `legend`, where a world gives one. None covers the scene.

Images are drawn at twice their size and scaled down, so edges are smooth. Colors are the Okabe-Ito palette, which
people with color blindness can tell apart.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

COLORS: dict[str, tuple[int, int, int]] = {
    "background": (250, 250, 247),
    "black": (30, 30, 30),
    "grey": (150, 150, 150),
    "light": (222, 222, 216),
    "white": (255, 255, 255),
    "orange": (230, 159, 0),
    "sky": (86, 180, 233),
    "green": (0, 158, 115),
    "yellow": (240, 228, 66),
    "blue": (0, 114, 178),
    "red": (213, 94, 0),
    "pink": (204, 121, 167),
}
AGENT_COLORS = ("blue", "orange", "green", "red", "pink", "sky", "yellow", "black")
Point = Sequence[float] | np.ndarray
Color = str | tuple[int, int, int]
# the frame of an image that is USUAL pixels wide; it grows with the width
USUAL = 512
HEAD, ROW, MARGIN, SWATCH = 44, 20, 10, 11
HEAD_COLOR, HEAD_TEXT, LEGEND_COLOR, RULE = (37, 44, 52), (188, 196, 204), (240, 240, 236), (206, 206, 200)
FAINT, FAINT_EDGE = 32, (160, 160, 154)  # a square in the legend that differs so little from its ground gets an edge
SMALLEST = 9  # size of text in the head; what is longer still is cut
SHAPES = ("square", "disc", "ring", "line", "triangle")


class Head(NamedTuple):
    """What the core writes into the head of an image, beside the world's caption."""

    title: str = ""
    step: str = ""
    totals: str = ""
    mark: str = ""
    success: bool = False


class Drawing:
    """Where things lie in an image, and what its head and legend say: what painting and recording share.

    Args:
        width, height: size in pixels.
        framed: with head and legend; without them the scene fills the image.

    `view(...)` chooses what part of the world is shown where; all coordinates and lengths after it are in the world's
    units, y upwards. A color is a name of COLORS or (red, green, blue).

    `viewer` is the slot of the agent that a person plays; None shows everything. A world with hidden information draws
    no more for a viewer than that agent may know.
    """

    viewer: int | None = None

    def __init__(self, width: int = USUAL, height: int = USUAL, framed: bool = True) -> None:
        os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "hide")
        import pygame

        pygame.font.init()
        self._pygame = pygame
        self.width, self.height, self.framed = width, height, framed
        self._unit = width / USUAL
        self._fonts: dict[int, Any] = {}
        self.clear()

    def clear(self, color: Color = "background") -> None:
        """An empty image, without caption and legend, that shows the unit square until the next `view`."""
        self._captions: tuple[str, ...] = ()
        self._legend: list[tuple[Color, str, str]] = []
        self._head = Head()
        self._top, self._bottom = (self._px(HEAD) if self.framed else 0), self.height
        self.view(0.0, 1.0, 0.0, 1.0)

    def _px(self, length: float) -> int:
        """A length of the frame in pixels."""
        return round(length * self._unit)

    @property
    def scene(self) -> tuple[int, int]:
        """Width and height in pixels of what lies between head and legend."""
        return self.width, self._bottom - self._top

    def view(
        self,
        left: float,
        right: float,
        bottom: float,
        top: float,
        area: tuple[float, float, float, float] = (0.0, 0.0, 1.0, 1.0),
    ) -> None:
        """Show the world's rectangle, undistorted and centered, in an area of the scene.

        Args:
            left, right, bottom, top: the part of the world.
            area: (left, top, right, bottom) as fractions of the scene, from its upper left corner.
        """
        width, height = self.scene
        x0, x1 = (2 * width * part for part in area[::2])
        y0, y1 = (2 * (self._top + height * part) for part in area[1::2])
        self._scale = min((x1 - x0) / (right - left), (y1 - y0) / (top - bottom))
        self._origin = (
            (x0 + x1) / 2 - self._scale * (left + right) / 2,
            (y0 + y1) / 2 + self._scale * (bottom + top) / 2,
        )
        self._clip(x0, y0, x1, y1)

    def _clip(self, x0: float, y0: float, x1: float, y1: float) -> None:
        """What is drawn from now on is cut off at a rectangle, in halves of pixels of the image."""
        raise NotImplementedError

    def paste(self, pixels: np.ndarray) -> None:
        """Fill the scene with an image, uint8 (height, width, 3)."""
        raise NotImplementedError

    def _pixel(self, point: Point) -> tuple[float, float]:
        """Where a point of the world lies, in halves of pixels of the image."""
        return self._origin[0] + self._scale * float(point[0]), self._origin[1] - self._scale * float(point[1])

    # --- the frame ----------------------------------------------------------------------------------------------------

    def caption(self, *lines: str) -> None:
        """What a world says in the head of its image, a line or parts of it: "distance to goal 0.13 m"."""
        self._captions = lines

    def legend(self, *entries: tuple[Color, str] | tuple[Color, str, str]) -> None:
        """Say at the bottom what colors stand for. It takes its place from the scene, so it comes before `view`.

        Args:
            entries: (color, what has it) or (color, what has it, shape), a shape of SHAPES, "square" by default.
        """
        if not self.framed:
            return
        self._legend = [(entry[0], entry[1], entry[2] if len(entry) > 2 else SHAPES[0]) for entry in entries]
        self._bottom = self.height - self._px(ROW) * len(self._legend_rows())
        self.view(0.0, 1.0, 0.0, 1.0)

    def head(self, head: Head) -> None:
        """What the core writes into the head."""
        self._head = head

    def _legend_rows(self) -> list[list[tuple[int, Color, str, str]]]:
        """The entries with their places from the left, in as many rows as they need."""
        rows: list[list[tuple[int, Color, str, str]]] = []
        start, x = 2 * self._px(MARGIN), 2 * self.width
        for color, label, shape in self._legend:
            width = 2 * self._px(SWATCH + 5) + self._font(self._px(12)).size(label)[0]
            if x + width > 2 * self.width - start:
                rows.append([])
                x = start
            rows[-1].append((x, color, label, shape))
            x += width + 2 * self._px(14)
        return rows

    def _font(self, size: int) -> Any:
        if size not in self._fonts:
            self._fonts[size] = self._pygame.font.Font(None, round(2.6 * size))
        return self._fonts[size]


class Canvas(Drawing):
    """An image that is painted. Arguments as for `Drawing`."""

    def __init__(self, width: int = USUAL, height: int = USUAL, framed: bool = True) -> None:
        import pygame

        self._surface = pygame.Surface((2 * width, 2 * height))
        super().__init__(width, height, framed)

    def clear(self, color: Color = "background") -> None:
        """Fill the whole image, without caption and legend, and show the unit square until the next `view`."""
        self._surface.set_clip(None)
        self._surface.fill(rgb(color))
        super().clear(color)

    def _clip(self, x0: float, y0: float, x1: float, y1: float) -> None:
        self._surface.set_clip(None)
        self._surface.set_clip((int(x0), int(y0), math.ceil(x1 - x0), math.ceil(y1 - y0)))

    def _thickness(self, width: float) -> int:
        return max(2, round(2 * width))

    def circle(self, centre: Point, radius: float, color: Color, width: float = 0.0) -> None:
        """A disc, or a ring whose line is `width` pixels wide."""
        thickness = self._thickness(width) if width else 0
        self._pygame.draw.circle(
            self._surface, rgb(color), self._pixel(centre), max(self._scale * radius, 2.0), thickness
        )

    def line(self, points: Iterable[Point], color: Color, width: float = 2.0, closed: bool = False) -> None:
        """A line through points, `width` pixels wide."""
        pixels = [self._pixel(point) for point in points]
        if len(pixels) > 1:
            self._pygame.draw.lines(self._surface, rgb(color), closed, pixels, self._thickness(width))

    def polygon(self, points: Iterable[Point], color: Color, width: float = 0.0) -> None:
        """A filled polygon, or its outline."""
        pixels = [self._pixel(point) for point in points]
        self._pygame.draw.polygon(self._surface, rgb(color), pixels, self._thickness(width) if width else 0)

    def rectangle(
        self,
        left: float,
        bottom: float,
        right: float,
        top: float,
        color: Color,
        width: float = 0.0,
        rounded: float = 0.0,
    ) -> None:
        """A filled rectangle, or its outline; `rounded` is the radius of its corners."""
        (x0, y0), (x1, y1) = self._pixel((left, top)), self._pixel((right, bottom))
        box = (round(x0), round(y0), round(x1) - round(x0), round(y1) - round(y0))
        thickness = self._thickness(width) if width else 0
        radius = round(rounded * self._scale) if rounded else -1
        self._pygame.draw.rect(self._surface, rgb(color), box, thickness, radius)

    def arrow(self, start: Point, end: Point, color: Color, width: float = 2.0) -> None:
        """A line with a head at its end."""
        (x0, y0), (x1, y1) = self._pixel(start), self._pixel(end)
        length = math.hypot(x1 - x0, y1 - y0)
        if length < 1e-9:
            return
        ux, uy = (x1 - x0) / length, (y1 - y0) / length
        head = min(6.0 * width, length)
        base = (x1 - head * ux, y1 - head * uy)
        draw = self._pygame.draw
        draw.line(self._surface, rgb(color), (x0, y0), base, self._thickness(width))
        corners = [
            (x1, y1),
            (base[0] - 0.5 * head * uy, base[1] + 0.5 * head * ux),
            (base[0] + 0.5 * head * uy, base[1] - 0.5 * head * ux),
        ]
        draw.polygon(self._surface, rgb(color), corners)

    def text(
        self,
        position: Point,
        text: str,
        color: Color = "black",
        size: int = 14,
        align: str = "left",
        ground: Color | None = None,
    ) -> None:
        """A line of text of `size` pixels at a point of the world: its "left" end, "centre" or "right" end. `ground` is
        the color of a plate behind it, for text on a busy scene."""
        image = self._font(size).render(text, True, rgb(color))
        x, y = self._pixel(position)
        shift = {"left": 0.0, "centre": 0.5, "right": 1.0}[align]
        box = image.get_rect(topleft=(round(x - shift * image.get_width()), round(y - image.get_height() / 2)))
        if ground is not None:
            self._pygame.draw.rect(self._surface, rgb(ground), box.inflate(12, 4), 0, 8)
        self._surface.blit(image, box)

    def paste(self, pixels: np.ndarray) -> None:
        """Fill the scene with an image, uint8 (height, width, 3)."""
        image = self._pygame.image.frombuffer(np.ascontiguousarray(pixels).data, pixels.shape[1::-1], "RGB")
        width, height = self.scene
        self._surface.set_clip(None)
        self._surface.blit(self._pygame.transform.scale(image, (2 * width, 2 * height)), (0, 2 * self._top))

    # --- the frame ----------------------------------------------------------------------------------------------------

    def _paint_frame(self) -> None:
        if not self.framed:
            return
        clip = self._surface.get_clip()
        self._surface.set_clip(None)
        self._paint_head()
        self._paint_legend()
        self._surface.set_clip(clip)

    def _paint_head(self) -> None:
        """Name and step in the first row, caption and totals in the second."""
        head, margin = self._head, 2 * self._px(MARGIN)
        self._surface.fill(HEAD_COLOR, (0, 0, 2 * self.width, 2 * self._top))
        rows = [round(2 * self._top * part) for part in (0.29, 0.72)]
        right = 2 * self.width - margin
        step = self._write((right, rows[0]), head.step, HEAD_TEXT, 13, 1.0)
        title = self._write((margin, rows[0]), head.title, "white", 15, room=step.left - 2 * margin)
        if head.mark:
            self._paint_mark((title.right + margin, rows[0]), head.mark, head.success)
        totals = self._write((right, rows[1]), head.totals, "white", 13, 1.0)
        self._write((margin, rows[1]), "   ".join(self._captions), HEAD_TEXT, 13, room=totals.left - 2 * margin)

    def _paint_mark(self, left: tuple[int, int], text: str, good: bool) -> None:
        image = self._font(self._px(12)).render(text, True, rgb("white"))
        box = image.get_rect(midleft=(left[0] + self._px(MARGIN), left[1]))
        plate = box.inflate(2 * self._px(MARGIN), self._px(6))
        self._pygame.draw.rect(self._surface, rgb("green") if good else (110, 116, 122), plate, 0, plate.height // 2)
        self._surface.blit(image, box)

    def _write(
        self, place: tuple[int, int], text: str, color: Color, size: int, align: float = 0.0, room: int | None = None
    ) -> Any:
        """Text in the frame, as small as it has to be for its room; returns the rectangle that it takes."""
        while room is not None and size > SMALLEST and self._font(self._px(size)).size(text)[0] > room:
            size -= 1
        font = self._font(self._px(size))
        if room is not None and font.size(text)[0] > room:
            while text and font.size(text + "...")[0] > room:
                text = text[:-1]
            text += "..."
        image = font.render(text, True, rgb(color))
        box = image.get_rect(topleft=(round(place[0] - align * image.get_width()), place[1] - image.get_height() // 2))
        self._surface.blit(image, box)
        return box

    def _paint_legend(self) -> None:
        height = 2 * self._px(ROW)
        self._surface.fill(LEGEND_COLOR, (0, 2 * self._bottom, 2 * self.width, 2 * (self.height - self._bottom)))
        for row, entries in enumerate(self._legend_rows()):
            y = 2 * self._bottom + row * height + height // 2
            for x, color, label, shape in entries:
                self._paint_swatch(x, y, 2 * self._px(SWATCH), color, shape)
                self._write((x + 2 * self._px(SWATCH + 5), y), label, "black", 12)
        if self._legend:
            self._surface.fill(RULE, (0, 2 * self._bottom, 2 * self.width, 2))

    def _paint_swatch(self, x: int, y: int, size: int, color: Color, shape: str) -> None:
        draw, ink, half = self._pygame.draw, rgb(color), size // 2
        if shape in ("disc", "ring"):
            draw.circle(self._surface, ink, (x + half, y), half, size // 4 if shape == "ring" else 0)
        elif shape == "line":
            draw.line(self._surface, ink, (x, y), (x + size, y), size // 4)
        elif shape == "triangle":
            draw.polygon(self._surface, ink, [(x, y + half), (x + half, y - half), (x + size, y + half)])
        else:
            draw.rect(self._surface, ink, (x, y - half, size, size), 0, size // 5)
            if max(abs(own - there) for own, there in zip(ink, LEGEND_COLOR, strict=True)) < FAINT:
                draw.rect(self._surface, FAINT_EDGE, (x, y - half, size, size), 2, size // 5)

    def pixels(self) -> np.ndarray:
        """The image as uint8 (height, width, 3)."""
        self._paint_frame()
        buffer = bytearray(self._pygame.image.tobytes(self._reduced(), "RGB"))  # which an array may write to
        return np.frombuffer(buffer, np.uint8).reshape(self.height, self.width, 3)

    def _reduced(self) -> Any:
        return self._pygame.transform.smoothscale(self._surface, (self.width, self.height))

    def show(self, window: Any) -> None:
        """Copy the image to a pygame window surface."""
        self._paint_frame()
        window.blit(self._reduced(), (0, 0))


def rgb(color: Color) -> tuple[int, int, int]:
    """A color as (red, green, blue)."""
    return COLORS[color] if isinstance(color, str) else color


def agent_color(index: int) -> str:
    """The color of an agent."""
    return AGENT_COLORS[index % len(AGENT_COLORS)]
