"""How units look: a silhouette, a letter and a color each, bars above, and a spot where one fell."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from rlenvs.core.declare.canvas import COLORS, Canvas, Color
from rlenvs.multi.battle.units import KINDS, MEDIVAC

LETTERS = dict(zip(KINDS, "MRSZLHVCBXO", strict=True))
SIDE_COLORS = ("blue", "orange")
INK = ("white", "black")  # on the colours of the sides
GROUND, GRID, BEYOND, EDGE = (226, 224, 214), (214, 212, 200), (92, 94, 98), (56, 58, 62)
SHOT = ((0, 60, 130), (150, 70, 0))  # of either side
FLASH = (255, 196, 0)
BARS = {"health": "green", "shield": "sky", "reload": "yellow"}
LOW_HEALTH = 0.35
ROOM_FOR_LETTER, ROOM_FOR_BARS = 8.0, 6.0  # pixels of a unit's radius
Points = Sequence[tuple[float, float]]


def _ring(count: int, radius: float, inner: float = 0.0, shift: float = 0.0) -> Points:
    """Corners on a circle; with `inner` every other one on a smaller one."""
    corners = []
    for i in range(count):
        size = inner if inner and i % 2 else radius
        angle = 2.0 * math.pi * i / count + shift
        corners.append((size * math.cos(angle), size * math.sin(angle)))
    return corners


class Figure(NamedTuple):
    """A silhouette for a unit of radius 1 that faces right: what is dark, such as weapons and legs, and its body."""

    dark: tuple[Points, ...]
    body: Points


def _bar(x0: float, y0: float, x1: float, y1: float, width: float) -> Points:
    length = math.hypot(x1 - x0, y1 - y0)
    ax, ay = -0.5 * width * (y1 - y0) / length, 0.5 * width * (x1 - x0) / length
    return [(x0 + ax, y0 + ay), (x1 + ax, y1 + ay), (x1 - ax, y1 - ay), (x0 - ax, y0 - ay)]


_DISC = _ring(20, 0.92)
FIGURES = {
    # a rifle
    "marine": Figure((_bar(-0.2, -0.72, 1.45, -0.72, 0.34),), _DISC),
    # broad, with two launchers
    "marauder": Figure((_bar(0.0, 0.85, 1.3, 0.85, 0.5), _bar(0.0, -0.85, 1.3, -0.85, 0.5)), _ring(8, 1.0, 0.0, 0.39)),
    # four legs
    "stalker": Figure(
        tuple(_bar(0.0, 0.0, 1.25 * math.cos(t), 1.25 * math.sin(t), 0.26) for t in (0.7, 2.44, -0.7, -2.44)),
        [(0.95, 0.0), (0.0, 0.72), (-0.95, 0.0), (0.0, -0.72)],
    ),
    # two blades
    "zealot": Figure(
        ([(0.1, 0.95), (1.5, 0.55), (0.1, 0.5)], [(0.1, -0.95), (1.5, -0.55), (0.1, -0.5)]),
        [(0.7, 0.5), (0.0, 0.85), (-0.8, 0.6), (-0.8, -0.6), (0.0, -0.85), (0.7, -0.5)],
    ),
    # slim, with claws
    "zergling": Figure(
        ([(-0.2, 0.4), (1.0, 1.0), (0.3, 0.2)], [(-0.2, -0.4), (1.0, -1.0), (0.3, -0.2)]),
        [(1.15, 0.0), (-0.5, 0.75), (-1.1, 0.0), (-0.5, -0.75)],
    ),
    # a hood and a tail
    "hydralisk": Figure(
        (_bar(-1.5, 0.0, -0.3, 0.0, 0.35),),
        [(0.95, 0.0), (0.55, 0.6), (-0.2, 0.95), (-0.9, 0.35), (-0.9, -0.35), (-0.2, -0.95), (0.55, -0.6)],
    ),
    # a plane with a cross
    "medivac": Figure(
        (_bar(-0.3, -1.2, -0.3, 1.2, 0.5),),
        [(1.0, 0.35), (1.0, -0.35), (0.4, -0.75), (-0.9, -0.75), (-0.9, 0.75), (0.4, 0.75)],
    ),
    # long legs, a wide body
    "colossus": Figure(
        tuple(_bar(0.1 * x, 0.3 * y, 1.05 * x, 1.15 * y, 0.22) for x in (-1, 1) for y in (-1, 1)),
        [(0.45, 0.6), (0.45, -0.6), (0.0, -0.95), (-0.45, -0.6), (-0.45, 0.6), (0.0, 0.95)],
    ),
    # a sack with bumps
    "baneling": Figure((), _ring(16, 1.05, 0.8)),
    # a spine on a root
    "spine_crawler": Figure((_bar(0.0, 0.0, 1.35, 0.0, 0.3),), _ring(12, 1.0, 0.62)),
    # a shell
    "roach": Figure(
        ([(0.5, 0.6), (1.2, 0.35), (0.6, 0.1)], [(0.5, -0.6), (1.2, -0.35), (0.6, -0.1)]),
        [(0.7, 0.45), (0.2, 0.95), (-0.7, 0.8), (-1.0, 0.0), (-0.7, -0.8), (0.2, -0.95), (0.7, -0.45)],
    ),
}


def draw_figure(
    canvas: Canvas,
    kind: int,
    place: Any,
    radius: float,
    side: int,
    pixel: float,
    ahead: Any = (1.0, 0.0),
    life: float = 1.0,
) -> None:
    """A unit.

    Args:
        kind: index in KINDS.
        place, radius: where, and how large.
        side: 0 or 1.
        pixel: size of a pixel, in the units of the view.
        ahead: the direction in which it faces, of length 1.
        life: less than 1 fades it into the ground.
    """
    figure, name = FIGURES[KINDS[kind]], KINDS[kind]
    color, dark = mixed(SIDE_COLORS[side], life), mixed("black", life)
    for part in figure.dark:
        canvas.polygon(_turned(part, place, radius, ahead), dark)
    body = _turned(figure.body, place, radius, ahead)
    canvas.polygon(body, color)
    canvas.line(body, dark, 1.2, closed=True)
    if name == "baneling":
        canvas.circle(place, 0.62 * radius, mixed("green", life))
    if kind == MEDIVAC:
        for part in (_bar(-0.55, 0.0, 0.55, 0.0, 0.34), _bar(0.0, -0.55, 0.0, 0.55, 0.34)):
            canvas.polygon(_turned(part, place, radius, (1.0, 0.0)), mixed("white", life))
    elif radius >= ROOM_FOR_LETTER * pixel and life == 1.0:
        ink = "white" if name == "baneling" else INK[side]
        canvas.text(place, LETTERS[name], ink, min(round(0.85 * radius / pixel), 22), "centre")


def _turned(points: Points, place: Any, size: float, ahead: Any) -> list[tuple[float, float]]:
    ux, uy = size * float(ahead[0]), size * float(ahead[1])
    x0, y0 = float(place[0]), float(place[1])
    return [(x0 + x * ux - y * uy, y0 + x * uy + y * ux) for x, y in points]


def mixed(color: Color, share: float, ground: Color = GROUND) -> tuple[int, int, int]:
    """A color on the ground; a share of 0 is the ground."""
    here, there = (COLORS[c] if isinstance(c, str) else c for c in (color, ground))
    red, green, blue = (round(share * a + (1.0 - share) * b) for a, b in zip(here, there, strict=True))
    return red, green, blue


def draw_fallen(canvas: Canvas, kind: int, place: Any, radius: float, side: int, pixel: float) -> None:
    """Where a unit fell: faded, with a cross."""
    draw_figure(canvas, kind, place, radius, side, pixel, life=0.22)
    x, y, size = float(place[0]), float(place[1]), 0.6 * radius
    for slope in (1.0, -1.0):
        canvas.line([(x - size, y - slope * size), (x + size, y + slope * size)], mixed("black", 0.45), 1.5)


def draw_bars(canvas: Canvas, place: Any, radius: float, pixel: float, shares: dict[str, float]) -> None:
    """Bars above a unit, the first at the bottom: names of BARS, and how full they are."""
    half, tall = max(radius, 8.0 * pixel), 2.5 * pixel
    x, y = float(place[0]), float(place[1]) + 1.1 * radius + 3.0 * pixel
    edge = 0.8 * pixel
    canvas.rectangle(x - half - edge, y - edge, x + half + edge, y + len(shares) * (tall + edge), "black")
    for name, share in shares.items():
        color = "red" if name == "health" and share < LOW_HEALTH else BARS[name]
        canvas.rectangle(x - half, y, x - half + 2.0 * half * min(max(share, 0.0), 1.0), y + tall, color)
        y += tall + edge


def directions(s: Any) -> np.ndarray:
    """Where units look, (units, 2) of length 1: to their targets, else where they walk, else at the other side."""
    places, standing, side = np.stack([s.x, s.y], axis=1), np.asarray(s.standing), np.asarray(s.side)
    ways = np.stack([s.heading_x, s.heading_y], axis=1)
    for i in range(len(places)):
        others = standing & (side != side[i])
        if s.aim[i] >= 0:
            ways[i] = places[s.aim[i]] - places[i]
        elif not ways[i].any() and others.any():
            ways[i] = places[others].mean(axis=0) - places[i]
    length = np.hypot(*ways.T)[:, None]
    return np.where(length > 1e-6, ways / np.maximum(length, 1e-6), [1.0, 0.0])


def in_reach(p: Any, s: Any, i: int, j: int) -> bool:
    """Whether the weapon or the healing beam of unit i reaches unit j."""
    reach = float(p.unit_range[s.kind[i]])
    if p.edge_to_edge:
        reach += float(p.unit_radius[s.kind[i]] + p.unit_radius[s.kind[j]])
    return math.hypot(s.x[j] - s.x[i], s.y[j] - s.y[i]) < reach


def draw_shots(canvas: Canvas, p: Any, s: Any, seconds: float) -> list[tuple[int, int]]:
    """Who aims at whom: thin lines, thick ones for attacks in the last `seconds`, green ones to heal. Returns who hit
    whom, for `draw_flashes`."""
    hits = []
    for i in np.flatnonzero(s.standing).tolist():
        j = int(s.aim[i])
        if j < 0:
            continue
        ends = [(float(s.x[i]), float(s.y[i])), (float(s.x[j]), float(s.y[j]))]
        if s.side[i] == s.side[j]:
            canvas.line(ends, "green", 3.5 if in_reach(p, s, i, j) else 1.0)
        elif s.cooldown[i] > p.unit_cooldown[s.kind[i]] - seconds - 2.0 * p.tick and s.cooldown[i] > 0.0:
            canvas.line(ends, SHOT[s.side[i]], 2.2)
            hits.append((i, j))
        else:
            canvas.line(ends, mixed(SHOT[s.side[i]], 0.35), 1.0)
    return hits


def draw_flashes(canvas: Canvas, s: Any, hits: Sequence[tuple[int, int]], radius: Any, pixel: float) -> None:
    """A flash where each shot hits: at the edge of its target."""
    for i, j in hits:
        dx, dy = float(s.x[i] - s.x[j]), float(s.y[i] - s.y[j])
        share = min(float(radius[j]) / max(math.hypot(dx, dy), 1e-6), 1.0)
        place = float(s.x[j]) + share * dx, float(s.y[j]) + share * dy
        canvas.polygon(_turned(_ring(12, 1.0, 0.5), place, 9.0 * pixel, (1.0, 0.0)), FLASH)


def kinds_told(kinds: Any) -> str:
    """The letters of the kinds that take part: "M marine, V medivac"."""
    names = [KINDS[kind] for kind in sorted(set(np.asarray(kinds).tolist()))]
    return ", ".join(name if name == "medivac" else f"{LETTERS[name]} {name.replace('_', ' ')}" for name in names)
