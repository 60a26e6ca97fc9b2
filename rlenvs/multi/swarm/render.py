"""Images of swarms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from rlenvs.core.declare.canvas import Canvas, Color

GROUND, EDGE, AROUND = (253, 252, 248), (176, 182, 186), (232, 235, 236)
FOLLOWS = math.cos(math.pi / 6.0)  # within 30 degrees
SLOW, FAST = (0, 114, 178), (230, 159, 0)


def size_of(agents: int) -> float:
    """The radius of a disc, in sides of the square: 27 pixels wide, less in crowds of more than 100."""
    return 0.031 * min(1.0, math.sqrt(100.0 / agents))


def draw_square(canvas: Canvas, low: float, side: float) -> None:
    """The ground, with its lower left corner at (low, low)."""
    room = 0.04 * side
    canvas.view(low - room, low + side + room, low - room, low + side + room)
    canvas.rectangle(low - side, low - side, low + 2.0 * side, low + 2.0 * side, AROUND)
    canvas.rectangle(low, low, low + side, low + side, GROUND)
    canvas.rectangle(low, low, low + side, low + side, EDGE, 2.0)


def draw_disc(canvas: Canvas, x: float, y: float, radius: float, color: Color) -> None:
    canvas.circle((x, y), radius, "white")
    canvas.circle((x, y), 0.85 * radius, color)


def draw_aggregation(canvas: Canvas, p: Any, s: Any) -> None:
    """The box, the agents, their mean and their mean distance to it."""
    side = float(p.side)
    places = np.asarray(s.position).tolist()
    points = [(place[0], place[1] if len(place) > 1 else 0.0) for place in places]
    x, y = sum(point[0] for point in points) / len(points), sum(point[1] for point in points) / len(points)
    spread = sum(math.hypot(point[0] - x, point[1] - y) for point in points) / len(points)
    canvas.legend(
        ("blue", "agent", "disc"), ("green", "mean of the swarm", "disc"), ("orange", "mean distance", "ring")
    )
    canvas.caption(f"mean distance {spread:.2f} m")
    draw_square(canvas, -0.5 * side, side)
    if len(places[0]) == 1:
        canvas.line([(-0.5 * side, 0.0), (0.5 * side, 0.0)], EDGE, 2.0)
    radius = size_of(len(points)) * side
    for point in points:
        draw_disc(canvas, point[0], point[1], radius, "blue")
    canvas.circle((x, y), spread, "orange", 3.0)
    draw_disc(canvas, x, y, 0.03 * side, "green")


def blend(share: float) -> Color:
    """A color between those of slow and fast oscillators."""
    r, g, b = (round(slow + share * (fast - slow)) for slow, fast in zip(SLOW, FAST, strict=True))
    return (r, g, b)


def draw_kuramoto(canvas: Canvas, p: Any, s: Any) -> None:
    """The circle of phases, an agent at each, and the mean vector."""
    phases, rates = np.asarray(s.angle).tolist(), np.asarray(s.frequency).tolist()
    x, y = sum(math.cos(phase) for phase in phases), sum(math.sin(phase) for phase in phases)
    x, y = x / len(phases), y / len(phases)
    canvas.legend((SLOW, "slow", "disc"), (FAST, "fast", "disc"), ("green", "mean vector", "line"))
    canvas.caption(f"order {math.hypot(x, y):.2f}")
    canvas.view(-1.15, 1.15, -1.15, 1.15)
    canvas.rectangle(-3.0, -3.0, 3.0, 3.0, GROUND)
    canvas.circle((0.0, 0.0), 1.0, EDGE, 2.0)
    radius = 2.3 * size_of(len(phases))
    for phase, rate in zip(phases, rates, strict=True):
        share = 0.5 + 0.25 * rate / max(float(p.frequency_spread), 1e-9)
        draw_disc(canvas, math.cos(phase), math.sin(phase), radius, blend(min(max(share, 0.0), 1.0)))
    canvas.circle((0.0, 0.0), 0.04, "green")
    canvas.arrow((0.0, 0.0), (x, y), "green", 6.0)


def draw_bird(canvas: Canvas, x: float, y: float, heading: float, size: float, color: Color) -> None:
    """A triangle that points ahead."""
    c, d = math.cos(heading), math.sin(heading)
    for scale, paint in ((1.25 * size, "white"), (size, color)):
        corners = [(1.2, 0.0), (-0.9, 0.8), (-0.45, 0.0), (-0.9, -0.8)]
        canvas.polygon([(x + scale * (a * c - b * d), y + scale * (a * d + b * c)) for a, b in corners], paint)


def draw_vicsek(canvas: Canvas, p: Any, s: Any) -> None:
    """The square, agents as triangles, the mean vector, and the target direction."""
    side, headings = float(p.side), np.asarray(s.angle).tolist()
    x, y = sum(math.cos(h) for h in headings) / len(headings), sum(math.sin(h) for h in headings) / len(headings)
    target, aimed = float(s.target), int(p.task) > 0
    entries = [("green", "within 30 degrees", "triangle"), ("blue", "other", "triangle"), ("orange", "mean", "line")]
    canvas.legend(*entries, *([("pink", "target", "line")] if aimed else []))
    canvas.caption(f"order {math.hypot(x, y):.2f}")
    draw_square(canvas, 0.0, side)
    radius = size_of(len(headings)) * side
    for k, (place, heading) in enumerate(zip(np.asarray(s.position).tolist(), headings, strict=True)):
        wanted = target + (math.pi if int(p.task) == 3 and k % 2 == 1 else 0.0) if aimed else math.atan2(y, x)
        color = "green" if math.cos(heading - wanted) > FOLLOWS else "blue"
        draw_bird(canvas, place[0], place[1], heading, radius, color)
    middle, reach = 0.5 * side, 0.4 * side
    if aimed:
        tip = (middle + reach * math.cos(target), middle + reach * math.sin(target))
        canvas.arrow((middle, middle), tip, "pink", 6.0)
    canvas.arrow((middle, middle), (middle + reach * x, middle + reach * y), "orange", 6.0)


def draw_epidemic(canvas: Canvas, p: Any, s: Any) -> None:
    """The square with the agents, infected or not, protected or not."""
    side, infected, protected = float(p.side), np.asarray(s.infected).tolist(), np.asarray(s.protected).tolist()
    canvas.legend(("blue", "susceptible", "disc"), ("red", "infected", "disc"), ("green", "protected", "ring"))
    canvas.caption(f"infected {sum(infected)} of {len(infected)}")
    draw_square(canvas, 0.0, side)
    radius, ring = size_of(len(infected)) * side, 130.0 * size_of(len(infected))  # the ring is 4 pixels wide at most
    for k, (x, y) in enumerate(np.asarray(s.position).tolist()):
        draw_disc(canvas, x, y, radius, "red" if infected[k] else "blue")
        if protected[k]:
            canvas.circle((x, y), 1.15 * radius, "green", ring)
