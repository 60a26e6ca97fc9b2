"""Images of Hanabi: fireworks, tokens, all hands with what hints have told of each card, and the discards."""

from typing import Any

from rlenvs.core.declare.canvas import Canvas

INKS = (
    (206, 60, 52),
    (236, 196, 40),
    (62, 158, 84),
    (244, 244, 240),
    (48, 116, 196),
    (140, 84, 178),
    (232, 132, 36),
    (60, 60, 64),
)
LETTERS = "RYGWBPOK"
TABLE, EMPTY, EDGE, PANEL, MOVER = (58, 66, 78), (82, 92, 106), (30, 34, 42), (226, 226, 220), (86, 180, 233)
FULL, SPENT, LIFE = (240, 228, 66), (96, 104, 116), (213, 94, 0)


def ink_on(color: int) -> str:
    """The color of letters that can be read on a card."""
    return "black" if color in (1, 3, 6) else "white"


def draw_plate(canvas: Canvas, x: float, y: float, wide: float, tall: float, color: Any) -> None:
    """A card around a point, in pixels."""
    canvas.rectangle(x - wide / 2, y - tall / 2, x + wide / 2, y + tall / 2, EDGE, rounded=5.0)
    canvas.rectangle(x - wide / 2 + 1.5, y - tall / 2 + 1.5, x + wide / 2 - 1.5, y + tall / 2 - 1.5, color, rounded=4.0)


def draw_table_of(canvas: Canvas, p: Any, s: Any) -> None:
    told = f"player {int(s.turn) + 1} to move" if s.turn >= 0 else "the game is over"
    canvas.caption(f"score {int(sum(s.firework))}", told)
    canvas.legend((FULL, "hint token", "disc"), (LIFE, "life", "disc"), (MOVER, "to move"), (PANEL, "told by hints"))
    width, height = canvas.scene
    canvas.view(0.0, width, 0.0, height)
    canvas.rectangle(0.0, 0.0, width, height, TABLE)
    draw_fireworks(canvas, p, s, width, height)
    draw_hands(canvas, p, s, width, height - 86.0, 74.0)
    draw_discards(canvas, p, s, width)


def draw_fireworks(canvas: Canvas, p: Any, s: Any, width: float, height: float) -> None:
    """The topmost card of each color, the deck, and the tokens."""
    step = min(0.62 * width / p.colors, 64.0)
    for color, top in enumerate(int(n) for n in s.firework):
        x = 10.0 + step * (color + 0.5)
        draw_plate(canvas, x, height - 44.0, step - 8.0, 68.0, INKS[color] if top else EMPTY)
        label, ink = (str(top), ink_on(color)) if top else (LETTERS[color], INKS[color])
        canvas.text((x, height - 44.0), label, ink, 24, "centre")
    left = 0.66 * width
    draw_row(canvas, left, height - 20.0, width - 12.0, int(s.hints), int(p.hints), FULL)
    draw_row(canvas, left, height - 46.0, width - 12.0, int(s.lives), int(p.lives), LIFE)
    canvas.text((left, height - 72.0), f"{len(s.deck) - int(s.dealt)} cards left to draw", "white", 14)


def draw_row(canvas: Canvas, left: float, y: float, right: float, full: int, most: int, color: Any) -> None:
    """Tokens in a row."""
    step = min((right - left) / most, 22.0)
    for i in range(most):
        canvas.circle((left + step * (i + 0.5), y), 0.42 * step, color if i < full else SPENT)


def draw_hands(canvas: Canvas, p: Any, s: Any, width: float, top: float, bottom: float) -> None:
    """A row for each player: its cards, and below each what hints have told its holder. A viewer's own show their backs
    and what was told."""
    players, hand = s.hand.shape
    tall = (top - bottom) / players
    wide = min((width - 96.0) / hand, 76.0)
    card = min(tall - 28.0, 76.0)
    for k in range(players):
        y = top - tall * (k + 0.5)
        if s.turn == k:
            canvas.rectangle(4.0, y - tall / 2 + 2.0, width - 4.0, y + tall / 2 - 2.0, MOVER, 3.0, rounded=8.0)
        canvas.text((14.0, y), f"player {k + 1}", "white", 15)
        for slot in range(hand):
            kind, x = int(s.hand[k, slot]), 92.0 + wide * (slot + 0.5)
            if kind < 0:
                continue
            color, rank = divmod(kind, int(p.ranks))
            up = y + 11.0
            shown = k != canvas.viewer or s.turn < 0
            draw_plate(
                canvas,
                x,
                up,
                min(wide - 8.0, 0.8 * card + 8.0),
                card,
                INKS[color] if shown or s.told_color[k, slot] else EMPTY,
            )
            if shown or s.told_rank[k, slot]:
                ink = ink_on(color) if shown or s.told_color[k, slot] else "white"
                canvas.text((x, up), str(rank + 1), ink, 24 if card > 40 else 18, "centre")
            said = (LETTERS[color] if s.told_color[k, slot] else "") + (str(rank + 1) if s.told_rank[k, slot] else "")
            if said:
                canvas.text((x, up - card / 2 - 11.0), said, "black", 14, "centre", PANEL)


def draw_discards(canvas: Canvas, p: Any, s: Any, width: float) -> None:
    """A small card for each that is gone."""
    gone = [kind for kind, count in enumerate(s.discarded) for _ in range(int(count))]
    canvas.text((14.0, 60.0), "discards", "white", 13)
    step = min((width - 20.0) / max(len(gone), 1), 26.0) if len(gone) <= 22 else (width - 20.0) / ((len(gone) + 1) // 2)
    step, across = min(step, 26.0), max(int((width - 20.0) / min(step, 26.0)), 1)
    for i, kind in enumerate(gone):
        color, rank = divmod(kind, int(p.ranks))
        x, y = 10.0 + step * (i % across + 0.5), 38.0 - 26.0 * (i // across)
        draw_plate(canvas, x, y, step - 2.0, 24.0, INKS[color])
        canvas.text((x, y), str(rank + 1), ink_on(color), 13, "centre")
