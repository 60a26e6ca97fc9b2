"""Images of Minecart: the observations of agents, and the pictures for people."""

import math
from typing import Any

import numpy as np

from rlenvs.core import kernel
from rlenvs.core.declare.maths import sin_cos
from rlenvs.single.objectives.minecart_facts import RADIANS

SIDE = 480  # pixels
MARGIN, SCALE = 0.16, 0.68  # of a picture: what lies around the square, and the square
GROUND, WALL, BASE = (214, 203, 184), (92, 84, 76), (213, 94, 0)
ORES = ((40, 110, 220), (150, 60, 190))
CART, NOSE, HOLD = (45, 45, 48), (250, 205, 60), (236, 236, 232)
LONG, WIDE = 21.0, 14.0  # half of the cart's sides, in pixels


def ore_color(mine: Any) -> tuple[int, int, int]:
    """The color of a mine: its ores, mixed."""
    share = float(mine[2]) / max(float(mine[2] + mine[3]), 1e-9)
    red, green, blue = (round(share * a + (1.0 - share) * b) for a, b in zip(*ORES, strict=True))
    return red, green, blue


def make_picture(values: Any) -> np.ndarray:
    """Ground, walls, base and mines, uint8 (480, 480, 3)."""
    picture = np.full((SIDE, SIDE, 3), WALL, np.uint8)
    place = ((np.arange(SIDE) + 0.5) / SIDE - MARGIN) / SCALE
    x, y = np.meshgrid(place, place)
    edge = 0.06
    picture[(np.minimum(x, y) >= -edge) & (np.maximum(x, y) <= 1.0 + edge)] = GROUND
    picture[(x * x + y * y <= values.base_radius**2) & (np.minimum(x, y) >= -edge)] = BASE
    for row in values.mines:
        distance = np.sqrt((x - row[0]) ** 2 + (y - row[1]) ** 2)
        color = np.array(ore_color(np.array(row)))
        inside = distance <= values.mine_radius
        picture[inside] = (color * 0.45 + np.array(GROUND) * 0.55).astype(np.uint8)
        picture[inside & (distance > values.mine_radius - 0.012)] = color
        there = [k for k in (0, 1) if row[2 + k] > 0.0]
        for n, k in enumerate(there):
            aside = x - row[0] - 0.1 * (n - (len(there) - 1) / 2)
            picture[np.sqrt(aside**2 + (y - row[1]) ** 2) <= 0.048 * math.sqrt(row[2 + k] / 0.2)] = ORES[k]
    return picture


@kernel
def paint(screen, row, column, color):
    screen[row, column, 0] = color[0]
    screen[row, column, 1] = color[1]
    screen[row, column, 2] = color[2]


@kernel
def draw_cart(p, s, screen):
    """The cart: its nose yellow, and its hold filled from the back by the two ores side by side."""
    middle, centre = (MARGIN + SCALE * s.x) * SIDE, (MARGIN + SCALE * s.y) * SIDE
    sine, cosine = sin_cos(s.angle * RADIANS)
    reach = int(LONG + WIDE)
    for row in range(max(int(centre) - reach, 0), min(int(centre) + reach + 1, SIDE)):
        for column in range(max(int(middle) - reach, 0), min(int(middle) + reach + 1, SIDE)):
            right, down = column + 0.5 - middle, row + 0.5 - centre
            ahead, aside = cosine * right + sine * down, cosine * down - sine * right
            if abs(ahead) > LONG or abs(aside) > WIDE:
                continue
            color = CART
            if ahead > LONG - 7.0:
                color = NOSE
            elif abs(aside) <= WIDE - 3.0 and abs(aside) >= 1.0 and abs(ahead + 2.0) <= LONG - 6.0:
                k = 0 if aside < 0.0 else 1
                filled = (ahead + 2.0 + LONG - 6.0) * p.capacity < 2.0 * (LONG - 6.0) * s.load[k]
                color = HOLD if not filled else ORES[0] if k == 0 else ORES[1]
            paint(screen, row, column, color)


def draw_minecart(canvas: Any, p: Any, s: Any) -> None:
    """The square with its base and mines, the cart, and what it carries."""
    canvas.legend(
        ("red", "base"),
        (ORES[0], "first ore"),
        (ORES[1], "second ore"),
        (NOSE, "front of the cart"),
    )
    wide, tall = canvas.scene
    across = 1.2 * wide / tall
    canvas.view(0.5 - across / 2, 0.5 + across / 2, -1.1, 0.1)
    canvas.rectangle(-0.5, -2.0, 2.0, 0.5, WALL)
    canvas.rectangle(-0.05, -1.05, 1.05, 0.05, GROUND)
    _draw_base(canvas, float(p.base_radius))
    for mine in p.mine:
        _draw_mine(canvas, mine, float(p.mine_radius))
    _draw_cart(canvas, p, s)
    first, second = float(s.load[0]), float(s.load[1])
    canvas.caption(f"load {first:.2f} + {second:.2f} of {float(p.capacity):g}, speed {float(s.speed):.3f}")


def _draw_base(canvas: Any, radius: float) -> None:
    edge = 0.05
    beyond = math.degrees(math.asin(min(edge / radius, 1.0)))  # as far as the ground goes
    turns = np.linspace(-beyond, 90.0 + beyond, 40)
    arc = [(radius * math.cos(t * RADIANS), -radius * math.sin(t * RADIANS)) for t in turns]
    canvas.polygon([(-edge, edge), *arc], "red")


def _draw_mine(canvas: Any, mine: Any, radius: float) -> None:
    """What is in reach, and in it each ore's yield as heaps."""
    x, y = float(mine[0]), -float(mine[1])
    color = ore_color(mine)
    canvas.circle((x, y), radius, tuple(round(0.35 * c + 0.65 * g) for c, g in zip(color, GROUND, strict=True)))
    canvas.circle((x, y), radius, color, 2.0)
    heaps = [k for k in (0, 1) if mine[2 + k] > 0.0]
    for place, k in enumerate(heaps):
        size = 0.055 * math.sqrt(float(mine[2 + k]) / 0.2)
        left = x + 0.125 * (place - (len(heaps) - 1) / 2)
        for dx, dy in ((-0.5, -0.3), (0.5, -0.3), (0.0, 0.45)):
            canvas.circle((left + size * dx, y + size * dy), 0.55 * size, "white")
            canvas.circle((left + size * dx, y + size * dy), 0.46 * size, ORES[k])


def _draw_cart(canvas: Any, p: Any, s: Any) -> None:
    x, y, angle = float(s.x), -float(s.y), -float(s.angle) * RADIANS

    def at(ahead: float, aside: float) -> tuple[float, float]:
        return (
            x + ahead * math.cos(angle) - aside * math.sin(angle),
            y + ahead * math.sin(angle) + aside * math.cos(angle),
        )

    def box(back: float, front: float, low: float, high: float, color: Any) -> None:
        canvas.polygon([at(back, low), at(front, low), at(front, high), at(back, high)], color)

    for back in (-0.042, 0.03):
        box(back - 0.014, back + 0.014, -0.056, 0.056, "black")
    box(-0.07, 0.07, -0.048, 0.048, "white")
    box(-0.066, 0.066, -0.044, 0.044, CART)
    canvas.polygon([at(0.046, -0.044), at(0.086, 0.0), at(0.046, 0.044)], NOSE)
    for k, (low, high) in enumerate(((0.003, 0.037), (-0.037, -0.003))):
        box(-0.058, 0.04, low, high, HOLD)
        filled = -0.058 + 0.098 * min(float(s.load[k]) / float(p.capacity), 1.0)
        box(-0.058, filled, low, high, ORES[k])
