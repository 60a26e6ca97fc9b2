"""Keys that choose by number, and shuffled cards."""

from rlenvs.core import kernel
from rlenvs.core.declare.rng import below

DIGITS = "0123456789"


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
