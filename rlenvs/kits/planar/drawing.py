"""Shapes of a planar world on a canvas."""

from __future__ import annotations

from typing import Any

from rlenvs.core.declare.canvas import Canvas, Color
from rlenvs.kits.planar.shapes import CIRCLE, EDGE


def outline(s: Any, k: int) -> list[tuple[float, float]]:
    """The vertices of a shape in the world; of a circle its center."""
    b, first = int(s.shape_body[k]), int(s.shape_first[k])
    x, y, c, sn = (float(number) for number in s.frame[b])
    points = s.vertex[first : first + int(s.shape_size[k])]
    return [(x + c * float(u) - sn * float(v), y + sn * float(u) + c * float(v)) for u, v in points]


def draw_shape(canvas: Canvas, s: Any, k: int, color: Color | str, width: float = 0.0) -> None:
    """One shape: filled, or its outline where a width in pixels is given; edges are lines."""
    points = outline(s, k)
    if s.shape_kind[k] == CIRCLE:
        canvas.circle(points[0], float(s.shape_radius[k]), color, width)
    elif s.shape_kind[k] == EDGE:
        canvas.line(points, color, width or 3.0)
    elif width:
        canvas.line([*points, points[0]], color, width)
    else:
        canvas.polygon(points, color)
