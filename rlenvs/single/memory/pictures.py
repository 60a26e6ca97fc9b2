"""Images of tasks in which something seen before is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rlenvs.core.declare.canvas import Canvas, Color
from rlenvs.kits.boards.cards import PAPER, draw_card, mark_card
from rlenvs.kits.tables.drawing import anchor, draw_pointer

NOW, ASKED = "blue", "orange"
LEGEND = ((NOW, "in sight now"), (ASKED, "asked for, no longer in sight"))
MOST_RECENT = 11
GREY: Color = (206, 206, 200)
MOST_STEPS = 40  # of a scale on which each is drawn


class Face(NamedTuple):
    """What is on a card, as in `draw_card`."""

    rank: str = ""
    suit: str | None = None
    paper: Color = PAPER


def draw_recall(canvas: Canvas, faces: Sequence[Face], now: int, asked: int, question: str, first: int = 0) -> None:
    """The card that is asked for beside that in sight, large; below them the last cards in their order.

    Args:
        faces: of cards `first`, first + 1 and so on, up to `now` at least.
        now, asked: numbers of the cards in sight and asked for; below 0 where none is asked for yet.
        question: what is asked for.
    """
    high = 10.0 * canvas.scene[1] / canvas.scene[0]
    canvas.view(0.0, 10.0, 0.0, high)
    for x, card, color, said in ((2.9, asked, ASKED, question), (7.1, now, NOW, "in sight now")):
        canvas.text((x, high - 0.5), said, "black", 16, "centre")
        if card < 0:
            canvas.text((x, high - 3.0), "nothing yet", "grey", 16, "centre")
            continue
        draw_card(canvas, x, high - 3.0, 2.5, *_drawn(faces[card - first], 44))
        mark_card(canvas, x, high - 3.0, 2.5, color)
    shown = list(range(max(first, now - MOST_RECENT + 1), now + 1))
    apart = 0 <= asked < shown[0]
    if apart:
        shown = [asked, *shown[2:]]
    step = 9.6 / MOST_RECENT
    canvas.text((0.2, 2.35), "cards so far, the last one right", "grey", 14)
    for place, card in enumerate(shown):
        x = 0.2 + (place + 0.5) * step + (0.0 if not apart or place == 0 else step)
        draw_card(canvas, x, 1.2, 0.72, *_drawn(faces[card - first], 15))
        if card in (now, asked):
            mark_card(canvas, x, 1.2, 0.72, ASKED if card == asked else NOW)
    if apart:
        canvas.text((0.2 + 1.5 * step, 1.2), "...", "black", 20, "centre")


def _drawn(face: Face, letter: float) -> tuple[str, str | None, float, Color]:
    return face.rank, face.suit, letter, face.paper


def draw_scale(canvas: Canvas, steps: int, now: int, marks: Sequence[tuple[int, int, Color, str]], y: float) -> None:
    """The steps of an episode from 0 to `steps` along a line, with a pointer to that of now.

    Args:
        marks: (first step, last step, colour, what happens in them).
        y: where it lies in a view that is 10 wide.
    """
    step = 9.4 / (steps + 1)
    canvas.rectangle(0.3, y - 0.22, 9.7, y + 0.22, "light")
    for first, last, color, said in marks:
        left, right = 0.3 + first * step, max(0.3 + (last + 1) * step, 0.4 + first * step)
        canvas.rectangle(left, y - 0.22, right, y + 0.22, color)
        middle = 0.5 * (left + right)
        side = anchor(middle, 2.0)
        at = {"left": left, "right": right, "centre": middle}[side]
        canvas.text((at, y - 0.6), said, "black", 15, side)
    for k in range(steps + 2 if steps <= MOST_STEPS else 0):
        canvas.line([(0.3 + k * step, y - 0.22), (0.3 + k * step, y + 0.22)], "white", 1.0)
    x = 0.3 + (min(now, steps) + 0.5) * step
    draw_pointer(canvas, x, y, NOW)
    canvas.text((x, y + 0.9), "now", NOW, 15, anchor(x, 1.0))
