"""A canvas that keeps what is drawn as shapes, for films that are drawn again elsewhere, such as in a web page."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from rlenvs.core.declare.canvas import USUAL, Canvas, Color, Drawing, Head, Point, rgb

PARTS = 2  # of a pixel, in which coordinates are counted
Style = tuple[str | int | float, ...]


class Shape(NamedTuple):
    """Something drawn: its style, and its coordinates from the upper left corner of the scene in halves of pixels.

    A style begins with the name of a verb and a color "#rrggbb". What follows in it, and the coordinates:
        circle: width of the line, 0 for a disc; x, y, radius.
        line: width, 1 if closed; x, y of each point. polygon: width, 0 for a filled one; x, y of each point.
        rectangle: width, radius of the corners in halves of pixels; x, y of two corners.
        arrow: width; x, y of both ends.
        text: size, align, color of the plate or "", the text; x, y.
        clip: cuts off what follows; x, y of two corners. paste: fills the scene with an image; its number.
    """

    style: Style
    numbers: tuple[int, ...]


class Frame(NamedTuple):
    """One image as shapes, with what its frame says."""

    scene: tuple[int, int]
    ground: str
    shapes: list[Shape]
    head: Head
    captions: tuple[str, ...]
    legend: list[tuple[str, str, str]]


class Recorder(Drawing):
    """A canvas that keeps shapes in place of pixels. Arguments as for `Drawing`.

    Attributes:
        images: what was pasted since the recorder was made, uint8 (height, width, 3) each.
    """

    def __init__(self, width: int = USUAL, height: int = USUAL, framed: bool = True) -> None:
        self.images: list[np.ndarray] = []
        super().__init__(width, height, framed)

    def clear(self, color: Color = "background") -> None:
        """Begin an empty image."""
        self._shapes: list[Shape] = []
        self._ground = _code(color)
        super().clear(color)

    def _add(self, style: Style, *numbers: float) -> None:
        if all(map(math.isfinite, numbers)):
            self._shapes.append(Shape(style, tuple(round(number) for number in numbers)))

    def _place(self, *halves: float) -> list[float]:
        """Halves of pixels of the scene from halves of pixels of the image."""
        return [PARTS / 2 * (value - (2 * self._top if i % 2 else 0)) for i, value in enumerate(halves)]

    def _points(self, points: Iterable[Point]) -> list[float]:
        return self._place(*(value for point in points for value in self._pixel(point)))

    def _clip(self, x0: float, y0: float, x1: float, y1: float) -> None:
        if self._shapes and self._shapes[-1].style[0] == "clip":
            self._shapes.pop()
        self._add(("clip", ""), *self._place(x0, y0, x1, y1))

    def circle(self, centre: Point, radius: float, color: Color, width: float = 0.0) -> None:
        """A disc, or a ring."""
        radius = PARTS / 2 * max(self._scale * radius, 2.0)
        self._add(("circle", _code(color), width), *self._points([centre]), radius)

    def line(self, points: Iterable[Point], color: Color, width: float = 2.0, closed: bool = False) -> None:
        """A line through points."""
        numbers = self._points(points)
        if len(numbers) > 2:
            self._add(("line", _code(color), width, int(closed)), *numbers)

    def polygon(self, points: Iterable[Point], color: Color, width: float = 0.0) -> None:
        """A filled polygon, or its outline."""
        self._add(("polygon", _code(color), width), *self._points(points))

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
        """A filled rectangle, or its outline."""
        corners = round(PARTS / 2 * rounded * self._scale)
        self._add(("rectangle", _code(color), width, corners), *self._points([(left, top), (right, bottom)]))

    def arrow(self, start: Point, end: Point, color: Color, width: float = 2.0) -> None:
        """A line with a head at its end."""
        self._add(("arrow", _code(color), width), *self._points([start, end]))

    def text(
        self,
        position: Point,
        text: str,
        color: Color = "black",
        size: int = 14,
        align: str = "left",
        ground: Color | None = None,
    ) -> None:
        """A line of text."""
        plate = "" if ground is None else _code(ground)
        self._add(("text", _code(color), size, align, plate, text), *self._points([position]))

    def paste(self, pixels: np.ndarray) -> None:
        """Fill the scene with an image, uint8 (height, width, 3)."""
        self._shapes = [Shape(("paste", ""), (len(self.images),))]
        self.images.append(np.array(pixels))

    def frame(self) -> Frame:
        """What was drawn since `clear`."""
        legend = [(_code(color), label, shape) for color, label, shape in self._legend]
        return Frame(self.scene, self._ground, list(self._shapes), self._head, tuple(self._captions), legend)


def paint(frame: Frame, canvas: Canvas, images: list[np.ndarray]) -> None:
    """Draw a recorded frame on a canvas of the recorder's size."""
    canvas.clear(_rgb(frame.ground))
    canvas.head(frame.head)
    canvas.caption(*frame.captions)
    canvas.legend(*((_rgb(color), label, shape) for color, label, shape in frame.legend))
    _show_area(canvas, frame.scene, [0.0, 0.0, *frame.scene])
    for style, numbers in frame.shapes:
        _paint_shape(canvas, frame.scene, style, [number / PARTS for number in numbers], images)


def _paint_shape(
    canvas: Canvas, scene: tuple[int, int], style: Style, numbers: list[float], images: list[np.ndarray]
) -> None:
    verb, color = style[:2]
    rest: list[Any] = list(style[2:])
    points = [(x, -y) for x, y in zip(numbers[::2], numbers[1::2], strict=False)]
    if verb == "paste":
        canvas.paste(images[round(PARTS * numbers[0])])
    elif verb == "clip":
        _show_area(canvas, scene, numbers)
    elif verb == "circle":
        canvas.circle(points[0], numbers[2], _rgb(color), *rest)
    elif verb == "rectangle":
        (left, top), (right, bottom) = points
        canvas.rectangle(left, bottom, right, top, _rgb(color), rest[0], rest[1] / PARTS)
    elif verb == "arrow":
        canvas.arrow(points[0], points[1], _rgb(color), *rest)
    elif verb == "text":
        size, align, plate, text = rest
        canvas.text(points[0], text, _rgb(color), size, align, _rgb(plate) if plate else None)
    else:
        getattr(canvas, str(verb))(points, _rgb(color), *rest)


def _show_area(canvas: Canvas, scene: tuple[int, int], corners: list[float]) -> None:
    """Let coordinates be pixels of the scene, and cut off what leaves a rectangle."""
    (left, top, right, bottom), (width, height) = corners, scene
    area = (left / width, top / height, right / width, bottom / height)
    canvas.view(left, right, -bottom, -top, area)


def _code(color: Color) -> str:
    return "#{:02x}{:02x}{:02x}".format(*(int(part) for part in rgb(color)))


def _rgb(code: str | int | float) -> tuple[int, int, int]:
    red, green, blue = bytes.fromhex(str(code)[1:])
    return red, green, blue
