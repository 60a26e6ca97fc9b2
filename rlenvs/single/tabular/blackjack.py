"""Blackjack: decide whether to take another card against a dealer.

## Description
A player against a dealer, with cards drawn from an infinite deck. The player takes cards until they stick or have more
than 21; then the dealer, who shows one card, draws to 17 or more. An ace counts 11 if the sum does not exceed 21
(Sutton and Barto, "Reinforcement Learning", 2nd edition, examples 5.1 and 5.3). Gymnasium's Blackjack-v1 (1.3): its
rules, its keywords and its registered defaults, which are the rules of the book. Different: the observation is one
number instead of three, which `encoding="tuple"` gives; the dealer's play is part of the table, so
`env.unwrapped.model` has the exact matrices and `rlenvs.solve_mdp` the basic strategy.

## Action Space
stick, hit.

## Observation Space
One number: ((sum - 4) 10 + card - 1) 2 + ace, for the player's sum from 4 to 31, the dealer's card (1 an ace) and
whether an ace counts 11. With `encoding="tuple"` these three numbers, as in the original; with `encoding="one_hot"` a
one-hot vector.

## Rewards
`reward` is 1 for winning, -1 for losing, 0 for a draw. An ace and a ten at the start, a natural, always win unless the
dealer also has a natural, as in the book. With `sab=False` a natural counts like any other 21, but wins 1.5 with
`natural=True`, which has no effect with `sab`.

## Costs
None.

## Starting State
Two cards for the player, one for the dealer.

## Episode End
Termination: the player sticks or has more than 21. Success: winning. Truncation: 22 steps, which no hand reaches.

## Parameters
Settings that change the transition table are options, not parameters.

## Reference Scores
Mean return over seeds 0 to 99. The bound is the exact optimum.

## Version History
v0: first version.
"""

import functools
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from rlenvs.core import discrete, drop_in, flag, instead, value_of
from rlenvs.core.declare.declared_spaces import Parts
from rlenvs.kits.boards.cards import SUITS, draw_back, draw_card
from rlenvs.kits.boards.drawing import pressed_move
from rlenvs.kits.tables.table import Table
from rlenvs.kits.tables.world import tabular

CARDS = {card: (4.0 if card == 10 else 1.0) / 13.0 for card in range(1, 11)}  # 1 is an ace; four ranks count 10
LEAST, MOST, BEST = 4, 31, 21
STICK, HIT = range(2)
SHOWN = (MOST - LEAST + 1) * 20  # numbers that are observed; naturals come behind them, one for each card of the dealer
FELT, FELT_LINE, FELT_TEXT, CARD = (46, 110, 72), (86, 148, 110), (206, 226, 212), 1.9
Hand = tuple[int, bool]  # sum, and whether an ace in it counts 11


def with_card(hand: Hand, card: int) -> Hand:
    """The hand with one more card."""
    total, ace = hand
    if card == 1 and total + 11 <= BEST:
        return total + 11, True
    return (total + card - 10, False) if ace and total + card > BEST else (total + card, ace)


@functools.cache
def dealt(hand: Hand, cards: int = 1) -> dict[tuple[int, bool], float]:
    """The probability of what the dealer ends with: a sum, 0 for more than 21, and whether it is a natural."""
    if hand[0] >= 17 and cards > 1:
        return {(hand[0] if hand[0] <= BEST else 0, hand[0] == BEST and cards == 2): 1.0}
    ends: dict[tuple[int, bool], float] = defaultdict(float)
    for card, probability in CARDS.items():
        for end, chance in dealt(with_card(hand, card), cards + 1).items():
            ends[end] += probability * chance
    return dict(ends)


def number_of(hand: Hand, card: int) -> int:
    return ((hand[0] - LEAST) * 10 + card - 1) * 2 + hand[1]


def split(number: Any) -> tuple[Any, Any, Any]:
    """The player's sum, the dealer's card, and 1 where an ace counts 11, of numbers that are observed."""
    rest, ace = divmod(number, 2)
    total, card = divmod(rest, 10)
    return total + LEAST, card + 1, ace


def parts_of(number: int) -> tuple[int, int, bool]:
    """`split` of one number, with a truth value for the ace."""
    total, card, ace = split(number)
    return total, card, bool(ace)


def payoffs(values: Any, total: int, card: int, natural: bool) -> Iterator[tuple[float, float]]:
    """What sticking may be worth, and with which probability."""
    for (end, dealers), probability in dealt(with_card((0, False), card)).items():
        reward = float(total > end) - float(total < end)
        if natural and values.sab and not dealers:
            reward = 1.0
        elif natural and values.natural and not values.sab and reward == 1.0:
            reward = 1.5
        yield reward, probability


def add_actions(table: Table, values: Any, here: int, hand: Hand, card: int, natural: bool) -> None:
    """What the two actions do in a state."""
    worth: dict[float, float] = defaultdict(float)
    for reward, probability in payoffs(values, hand[0], card, natural):
        worth[reward] += probability
    for reward, probability in worth.items():
        table.add(here, STICK, here, reward, probability=probability, end=True, success=reward > 0.0)
    for drawn, probability in CARDS.items():
        after = with_card(hand, drawn)
        bust = after[0] > BEST
        table.add(here, HIT, number_of(after, card), -float(bust), probability=probability, end=bust)


def build(values: Any) -> Table:
    table = Table(SHOWN + 10, 2)
    for number in range(SHOWN):
        total, card, ace = parts_of(number)
        if total > BEST or (ace and total < 12):
            table.stay(number)  # the game is over, or there is no such hand
        else:
            add_actions(table, values, number, (total, ace), card, natural=False)
    for card in CARDS:
        table.shown[SHOWN + card - 1] = number_of((BEST, True), card)
        add_actions(table, values, SHOWN + card - 1, (BEST, True), card, natural=True)
    for card, shows in CARDS.items():
        for first, chance in CARDS.items():
            for second, other in CARDS.items():
                hand = with_card(with_card((0, False), first), second)
                state = SHOWN + card - 1 if hand[0] == BEST else number_of(hand, card)
                table.starts[state] = table.starts.get(state, 0.0) + shows * chance * other
    return table


SPEC = tabular(
    "Blackjack-v0",
    build,
    (-1.0, 1.5),
    doc=__doc__,
    source="Gymnasium Blackjack (Towers et al., arXiv 2407.17032); Sutton and Barto, Reinforcement Learning, 2018",
    options={
        "natural": flag(False, "whether a winning natural is worth 1.5; no effect with sab"),
        "sab": flag(True, "the rules of Sutton and Barto: a natural beats everything except another natural"),
    },
    parts=Parts((MOST + 1, 11, 2), split),
    action=discrete("stick", "hit"),
    drop_in=drop_in(
        views={
            "natural": value_of("natural"),
            "sab": value_of("sab"),
            **dict.fromkeys(
                ("player", "dealer"), instead("a hand is its sum and whether an ace counts 11, as observed")
            ),
        }
    ),
    horizon=22,
    fps=2,
)


def told(p: Any, s: Any) -> str:
    total, card, ace = parts_of(int(p.shown[s.number]))
    return f"{total}{' with an ace' if ace else ''} against {'an ace' if card == 1 else card}"


@SPEC.draw
def draw(canvas, p, s):
    total, card, ace = parts_of(int(p.shown[s.number]))
    wide, tall = canvas.scene
    high = 10.0 * tall / wide
    canvas.view(0.0, 10.0, 0.0, high)
    canvas.rectangle(0.0, 0.0, 10.0, high, FELT)
    canvas.rectangle(0.2, 0.2, 9.8, high - 0.2, FELT_LINE, 3.0, rounded=0.6)
    for y, who, count in ((0.76 * high, "dealer", card_name(card)), (0.31 * high, "player", str(total))):
        canvas.text((0.6, y + 0.5), who, "white", 20)
        canvas.text((0.6, y - 0.3), count, "white", 34)
    draw_card(canvas, 4.0, 0.76 * high, CARD, card_name(card), "spades", 24)
    draw_back(canvas, 6.3, 0.76 * high, CARD)
    hand = hand_of(total, ace)
    for k, each in enumerate(hand):
        suit = SUITS[(2, 0, 1, 3)[k % 4]]
        draw_card(canvas, 4.0 + min(2.3, 4.6 / (len(hand) - 1)) * k, 0.31 * high, CARD, card_name(each), suit, 24)
    said = "bust" if total > BEST else "usable ace" if ace else "no usable ace"
    said += "; an example of a hand with this sum"
    canvas.text((4.0 - 0.5 * CARD, 0.31 * high - 1.75), said, FELT_TEXT, 14)
    canvas.caption(told(p, s))


def card_name(card: int) -> str:
    return "A" if card == 1 else str(card)


def hand_of(total: int, ace: bool) -> list[int]:
    """Cards of a hand with a sum, of which the state keeps no more; an ace in it counts 11 or, last of all, 1."""
    if ace:
        return [1, total - 11]
    first = min(10, total - 2)
    rest = total - first
    tens = [10] * ((rest - 1) // 10)
    return [first, *tens, rest - 10 * len(tens)]


@SPEC.text
def text(p, s):
    return told(p, s)


@SPEC.keys
def keys(pressed, values):
    return pressed_move(pressed, (("s",), ("h", "space")))
