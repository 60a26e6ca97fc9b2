"""Images of playing cards."""

from __future__ import annotations

import math

from rlenvs.core.declare.canvas import Canvas, Color

SUITS = ("clubs", "diamonds", "hearts", "spades")
PAPER, EDGE, SHADE, BACK = (255, 255, 255), (120, 120, 120), (214, 210, 200), (60, 96, 150)
INKS: dict[str, Color] = {"clubs": "black", "diamonds": (204, 32, 44), "hearts": (204, 32, 44), "spades": "black"}
TALL = 1.4  # times as high as wide


def draw_card(
    canvas: Canvas,
    x: float,
    y: float,
    width: float,
    rank: str = "",
    suit: str | None = None,
    letter: float = 20.0,
    paper: Color = PAPER,
) -> None:
    """A card, face up, around a point.

    Args:
        x, y: its middle. width: of the card, in units of the world.
        rank: in its corner; in its middle where there is no suit.
        suit: one of SUITS.
        letter: size of the rank in pixels.
        paper: colour of the card.
    """
    _plate(canvas, x, y, width, paper)
    if suit is None:
        canvas.text((x, y), rank, "black", round(letter), "centre")
        return
    draw_suit(canvas, x, y - (0.1 * width if rank else 0.0), (0.6 if rank else 0.75) * width, suit)
    if rank:
        canvas.text((x - 0.3 * width, y + 0.5 * width), rank, INKS[suit], round(letter), "centre")


def draw_back(canvas: Canvas, x: float, y: float, width: float) -> None:
    """A card, face down."""
    _plate(canvas, x, y, width, PAPER)
    half, high = 0.42 * width, (0.5 * TALL - 0.08) * width
    canvas.rectangle(x - half, y - high, x + half, y + high, BACK, rounded=0.05 * width)
    for row in (-0.4, 0.0, 0.4):
        lozenge = [(x, y + (row + 0.16) * width), (x + 0.16 * width, y + row * width)]
        canvas.polygon([*lozenge, (x, y + (row - 0.16) * width), (x - 0.16 * width, y + row * width)], "sky")


def draw_suit(canvas: Canvas, x: float, y: float, size: float, suit: str) -> None:
    """The sign of a suit around a point, `size` high."""
    ink, half = INKS[suit], 0.5 * size
    if suit == "diamonds":
        canvas.polygon([(x, y + half), (x + 0.74 * half, y), (x, y - half), (x - 0.74 * half, y)], ink)
    elif suit == "hearts":
        canvas.polygon([(x + u * half, y + v * half) for u, v in HEART], ink)
    elif suit == "spades":
        canvas.polygon([(x + 0.9 * u * half, y + (0.16 - 0.8 * v) * half) for u, v in HEART], ink)
        _stem(canvas, x, y, half, ink)
    else:
        for u, v in ((0.0, 0.48), (-0.48, -0.18), (0.48, -0.18)):
            canvas.circle((x + u * half, y + v * half), 0.43 * half, ink)
        _stem(canvas, x, y, half, ink)


def mark_card(canvas: Canvas, x: float, y: float, width: float, color: Color) -> None:
    """A frame around a card."""
    half, high = 0.57 * width, (0.5 * TALL + 0.07) * width
    canvas.rectangle(x - half, y - high, x + half, y + high, color, 4.0, rounded=0.12 * width)


def _plate(canvas: Canvas, x: float, y: float, width: float, paper: Color) -> None:
    half, high, round_by = 0.5 * width, 0.5 * TALL * width, 0.08 * width
    canvas.rectangle(x - half, y - high, x + half, y + high, paper, rounded=round_by)
    canvas.rectangle(x - half, y - high, x + half, y + high, EDGE, 1.0, rounded=round_by)


def _stem(canvas: Canvas, x: float, y: float, half: float, ink: Color) -> None:
    canvas.polygon([(x, y + 0.2 * half), (x + 0.34 * half, y - half), (x - 0.34 * half, y - half)], ink)


def _heart(points: int = 24) -> list[tuple[float, float]]:
    """Around 0, from -1 to 1."""
    found = []
    for k in range(points):
        t = 2.0 * math.pi * k / points
        up = 13.0 * math.cos(t) - 5.0 * math.cos(2 * t) - 2.0 * math.cos(3 * t) - math.cos(4 * t)
        found.append((math.sin(t) ** 3, (up + 2.5) / 14.5))
    return found


HEART = _heart()
