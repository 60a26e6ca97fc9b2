"""Images of rows of labeled boxes, and keys that choose by number."""

from rlenvs.core import kernel
from rlenvs.core.declare.rng import below

DIGITS = "0123456789"


def draw_boxes(canvas, labels, colors, columns):
    """A box per label, row by row."""
    rows = -(-len(labels) // columns)
    canvas.view(0.0, float(columns), 0.0, float(rows))
    for place, (label, color) in enumerate(zip(labels, colors, strict=True)):
        column, row = place % columns, rows - 1 - place // columns
        canvas.rectangle(column + 0.06, row + 0.06, column + 0.94, row + 0.94, color, rounded=0.1)
        if label:
            canvas.text((column + 0.5, row + 0.5), str(label), "black", size=22, align="centre")


def number_keys(count):
    """Keys for `count` choices: their numbers, from 0 on."""

    def choose(pressed, values):
        return next((int(digit) for digit in DIGITS[:count] if digit in pressed), None)

    return choose


@kernel
def shuffle(cards, rng):
    """All orders are equally likely."""
    for k in range(cards.size - 1, 0, -1):
        j = below(rng, k + 1)
        cards[k], cards[j] = cards[j], cards[k]
