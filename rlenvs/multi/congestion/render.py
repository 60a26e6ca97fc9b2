"""Images of congestion worlds."""

import math
from typing import Any

from rlenvs.core.canvas import Canvas, Color
from rlenvs.core.maths import exp

SAND, SAND_EDGE, SEA, FOAM = (244, 226, 178), (222, 200, 146), (108, 184, 214), (236, 246, 250)
FIRST, SECOND = "blue", "red"
PLATE = (255, 255, 255)


def draw_beach(canvas: Canvas, p: Any, s: Any) -> None:
    """The beach from above, people in rows from the sea on, the first agent with a ring; below each section how many
    are in it and how many enjoy it."""
    counts = s.count.tolist()
    sections, psi = len(counts), float(p.psi)
    canvas.legend((FIRST, "first type", "disc"), (SECOND, "second type", "disc"), ("black", "first agent", "ring"))
    wide, tall = canvas.scene
    height = 10.0 * tall / wide
    canvas.view(0.0, 10.0, 0.0, height)
    canvas.rectangle(0.0, 0.0, 10.0, height, SAND)
    _draw_sea(canvas, height)
    low, high, width = 1.35, height - 1.5, 10.0 / sections
    most = max(max(first + second for first, second in counts), 1)
    side = _side(width - 0.3, high - low, most)
    for j in range(sections):
        left = j * width
        if j:
            canvas.line([(left, 0.0), (left, high + 0.2)], SAND_EDGE, 2.0)
        members = [k for k in range(s.section.size) if s.section[k] == j]
        members.sort(key=lambda k: (int(s.kind[k]), k))
        _draw_people(canvas, s, members, left + 0.15, high, width - 0.3, side)
        _draw_number(canvas, left + width / 2, sum(counts[j]), psi, sections)
    mixtures = [min(pair) / max(sum(pair), 1) for pair in counts]
    occupation = sum(sum(pair) * exp(-sum(pair) / psi) for pair in counts)
    canvas.caption(f"occupation {occupation:.2f}, mixture {sum(mixtures) / sections:.3f}, capacity {psi:g}")


def _draw_sea(canvas: Canvas, height: float) -> None:
    shore = [(0.25 * t, height - 1.0 + 0.12 * math.sin(0.9 * t)) for t in range(41)]
    canvas.polygon([*shore, (10.0, height), (0.0, height)], SEA)
    canvas.line(shore, FOAM, 4.0)
    for row in range(2):
        y = height - 0.35 - 0.3 * row
        canvas.line([(0.25 * t, y + 0.05 * math.sin(1.4 * t + row)) for t in range(41)], FOAM, 1.0)


def _side(width: float, height: float, people: int) -> float:
    """The side of the square that each person gets, so that a section holds so many."""
    side = min(0.55, width)
    while int(width / side + 1e-9) * int(height / side + 1e-9) < people:
        side *= 0.97
    return side


def _draw_people(
    canvas: Canvas, s: Any, members: list[int], left: float, top: float, width: float, side: float
) -> None:
    columns = int(width / side + 1e-9)
    margin = (width - columns * side) / 2
    for n, k in enumerate(members):
        row, column = divmod(n, columns)
        centre = (left + margin + (column + 0.5) * side, top - (row + 0.5) * side)
        canvas.circle(centre, 0.42 * side, FIRST if s.kind[k] == 0 else SECOND)
        if k == 0:
            canvas.circle(centre, max(0.55 * side, 0.14), "black", 2.5)


def _draw_number(canvas: Canvas, x: float, people: int, psi: float, sections: int) -> None:
    """How many are in a section, and, as a bar, how much of what its capacity allows they enjoy."""
    size = 15 if sections <= 8 else 11 if sections <= 14 else 8
    canvas.text((x, 1.05), str(people), "black", size, "centre")
    share = people * exp(-people / psi) / (psi / math.e)
    half = min(0.6, 4.2 / sections)
    color: Color = "green" if share > 0.5 else "orange" if share > 0.15 else "red"
    canvas.rectangle(x - half, 0.42, x + half, 0.68, PLATE, rounded=0.08)
    if share > 0.02:
        canvas.rectangle(x - half, 0.42, x - half + 2.0 * half * min(share, 1.0), 0.68, color, rounded=0.08)
    canvas.rectangle(x - half, 0.42, x + half, 0.68, "grey", 1.0, rounded=0.08)
