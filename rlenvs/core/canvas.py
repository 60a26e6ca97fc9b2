"""Drawing verbs for worlds: shapes in the world's own units, on a picture without a display.

Pictures are drawn at twice their size and scaled down, so edges are smooth. Colours are the Okabe-Ito palette, which
people with colour blindness can tell apart.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
from typing import Any

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
Point = Sequence[float]
Color = str | tuple[int, int, int]


class Canvas:
    """A picture.

    Args:
        width, height: size in pixels.

    `view(...)` chooses what part of the world is shown where; all coordinates and lengths after it are in the world's
    units, y upwards. A colour is a name of COLORS or (red, green, blue).
    """

    def __init__(self, width: int = 512, height: int = 512) -> None:
        os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "hide")
        import pygame

        pygame.font.init()
        self._pygame = pygame
        self.width, self.height = width, height
        self._surface = pygame.Surface((2 * width, 2 * height))
        self._fonts: dict[int, Any] = {}
        self.clear()

    def clear(self, color: Color = "background") -> None:
        """Fill the whole picture, and show the unit square until the next `view`."""
        self._surface.set_clip(None)
        self._surface.fill(_rgb(color))
        self.view(0.0, 1.0, 0.0, 1.0)

    def view(
        self,
        left: float,
        right: float,
        bottom: float,
        top: float,
        area: tuple[float, float, float, float] = (0.0, 0.0, 1.0, 1.0),
    ) -> None:
        """Show the world's rectangle, undistorted and centred, in an area of the picture.

        Args:
            left, right, bottom, top: the part of the world.
            area: (left, top, right, bottom) as fractions of the picture, from its upper left corner.
        """
        x0, y0, x1, y1 = (
            2 * self.width * area[0],
            2 * self.height * area[1],
            2 * self.width * area[2],
            2 * self.height * area[3],
        )
        self._scale = min((x1 - x0) / (right - left), (y1 - y0) / (top - bottom))
        self._origin = (
            (x0 + x1) / 2 - self._scale * (left + right) / 2,
            (y0 + y1) / 2 + self._scale * (bottom + top) / 2,
        )
        self._surface.set_clip(None)
        self._surface.set_clip((int(x0), int(y0), math.ceil(x1 - x0), math.ceil(y1 - y0)))

    def _pixel(self, point: Point) -> tuple[float, float]:
        return self._origin[0] + self._scale * float(point[0]), self._origin[1] - self._scale * float(point[1])

    def _thickness(self, width: float) -> int:
        return max(2, round(2 * width))

    def circle(self, centre: Point, radius: float, color: Color, width: float = 0.0) -> None:
        """A disc, or a ring whose line is `width` pixels wide."""
        thickness = self._thickness(width) if width else 0
        self._pygame.draw.circle(
            self._surface, _rgb(color), self._pixel(centre), max(self._scale * radius, 2.0), thickness
        )

    def line(self, points: Iterable[Point], color: Color, width: float = 2.0, closed: bool = False) -> None:
        """A line through points, `width` pixels wide."""
        pixels = [self._pixel(point) for point in points]
        if len(pixels) > 1:
            self._pygame.draw.lines(self._surface, _rgb(color), closed, pixels, self._thickness(width))

    def polygon(self, points: Iterable[Point], color: Color, width: float = 0.0) -> None:
        """A filled polygon, or its outline."""
        pixels = [self._pixel(point) for point in points]
        self._pygame.draw.polygon(self._surface, _rgb(color), pixels, self._thickness(width) if width else 0)

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
        self._pygame.draw.rect(self._surface, _rgb(color), box, thickness, radius)

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
        draw.line(self._surface, _rgb(color), (x0, y0), base, self._thickness(width))
        corners = [
            (x1, y1),
            (base[0] - 0.5 * head * uy, base[1] + 0.5 * head * ux),
            (base[0] + 0.5 * head * uy, base[1] - 0.5 * head * ux),
        ]
        draw.polygon(self._surface, _rgb(color), corners)

    def text(self, position: Point, text: str, color: Color = "black", size: int = 14, align: str = "left") -> None:
        """A line of text of `size` pixels at a point of the world: its "left" end, "centre" or "right" end."""
        image = self._font(size).render(text, True, _rgb(color))
        x, y = self._pixel(position)
        shift = {"left": 0.0, "centre": 0.5, "right": 1.0}[align]
        self._surface.blit(image, (x - shift * image.get_width(), y - image.get_height() / 2))

    def photo(self, pixels: np.ndarray) -> None:
        """Fill the picture with another one, uint8 (height, width, 3)."""
        image = self._pygame.surfarray.make_surface(np.ascontiguousarray(pixels.transpose(1, 0, 2)))
        self._surface.set_clip(None)
        self._surface.blit(self._pygame.transform.smoothscale(image, self._surface.get_size()), (0, 0))

    def caption(self, *lines: str, color: Color = "black", size: int = 14) -> None:
        """Lines of text in the upper left corner of the picture, over everything else."""
        clip = self._surface.get_clip()
        self._surface.set_clip(None)
        for row, line in enumerate(lines):
            image = self._font(size).render(line, True, _rgb(color), _rgb("background"))
            self._surface.blit(image, (12, 10 + row * 2 * (size + 5)))
        self._surface.set_clip(clip)

    def _font(self, size: int) -> Any:
        if size not in self._fonts:
            self._fonts[size] = self._pygame.font.Font(None, round(2.6 * size))
        return self._fonts[size]

    def pixels(self) -> np.ndarray:
        """The picture as uint8 (height, width, 3)."""
        return np.ascontiguousarray(self._pygame.surfarray.array3d(self._reduced()).transpose(1, 0, 2))

    def _reduced(self) -> Any:
        return self._pygame.transform.smoothscale(self._surface, (self.width, self.height))

    def show(self, window: Any) -> None:
        """Copy the picture to a pygame window surface."""
        window.blit(self._reduced(), (0, 0))


def _rgb(color: Color) -> tuple[int, int, int]:
    return COLORS[color] if isinstance(color, str) else color


def agent_color(index: int) -> str:
    """The colour of an agent."""
    return AGENT_COLORS[index % len(AGENT_COLORS)]
