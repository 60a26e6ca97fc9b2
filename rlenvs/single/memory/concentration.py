"""Concentration: find pairs among cards that are face down.

## Description
The game of pairs, as a task of POPGym (Morad et al., ICLR 2023). Each step turns a card over. Two cards stay face up if
they are a pair and are turned back otherwise, so the agent has to remember what it saw. The default asks for pairs of
ranks, as the hard form there does; `level="easy"` for pairs of colors, `level="medium"` with two decks. Different from
the original: cards that are already face up are masked, and turning one of them, or the same card twice, never makes a
pair (the original rewards a pair of open cards repeatedly); the time limit truncates.

## Action Space
The card to turn.

## Observation Space
For each card its color or rank, or one more than the largest of these if it is face down.

`recall=True` (`level="recall"`) adds, for policies without memory, what a player with perfect memory would know of each
card: 1 if it is face down and known to make a pair (with the open card, or if none is open, with another card seen
before), -1 if it was seen and makes no such pair, is open, or was already matched, 0 if it was never turned.

## Rewards
`pair` is 1 divided by the number of pairs. `miss` is -2 divided by the number of steps for two cards that are not a
pair.

## Costs
None.

## Starting State
Shuffled cards, all face down.

## Episode End
Termination: all pairs are found (a success). Truncation: after as many steps as a player with perfect memory needs on
average, 104 for one deck.

## Parameters
Decks have 52 cards.

## Reference Scores
Mean return over seeds 0 to 99. The expert knows all cards.

## Version History
v0: first version.
"""

import math

from rlenvs.core import block, choice, discrete, flag, i2, i4, integer, kernel, term, u1, world
from rlenvs.kits.boards.cards import BACK, PAPER, TALL, draw_back, draw_card, mark_card
from rlenvs.single.memory.boxes import shuffle

RANKS, PAIR = ("A", *map(str, range(2, 11)), "J", "Q", "K"), (178, 224, 206)  # names of cards, paper of found ones
VALUES = (13, 2)  # how many ranks and colours there are
DOWN, OPEN, FOUND = 0, 1, 2
PAIRS_OF_RANKS = 0


def number_of_cards(values):
    return 52 * values.decks


def sizes(values):
    cards = number_of_cards(values)
    return {"cards": cards, "recalled": cards if values.recall else 0}


def steps(values):
    cards = number_of_cards(values)
    return math.ceil(2 * cards - cards / (2 * cards - 1))


def face_down(values):
    return VALUES[0 if values.pairs_of == "ranks" else 1]


SPEC = world(
    "Concentration-v0",
    doc=__doc__,
    source="POPGym Concentration (Morad et al., ICLR 2023)",
    options={
        "decks": integer(1, 1, 8, "decks of 52 cards"),
        "pairs_of": choice("ranks", "colors", doc="what two cards of a pair share"),
        "recall": flag(False, "whether the observation also tells which cards are known to make a pair"),
    },
    sizes=sizes,
    state={
        "deck": u1("cards").index_of("cards"),
        "lies": u1("cards"),  # face down, open for now, or found
        "first": i2.up_to("cards"),  # the open card, from 1 on; 0 where there is none
        "pairs": i4,
        "turned_at": i4("cards"),
    },
    observation={
        "cards": block("cards", low=0, high=face_down, raw=True, whole=True, doc="values, or face down"),
        "pairs": block("recalled", low=-1, high=1, raw=True, whole=True, doc="which cards are known to make a pair"),
    },
    action=lambda values: discrete(
        *(f"card {k + 1}" for k in range(number_of_cards(values))), size="cards", doc="the card to turn"
    ),
    terms={
        "pair": term(0, 1, 1.0, "1 for a pair, divided by their number"),
        "miss": term(-1, 0, 1.0, "-2 for two cards that are not a pair, divided by the number of steps"),
        "memory_distance": term(0, 1e4, 0.0, "steps since the second card of a pair was last seen; 0 if never"),
    },
    horizon=steps,
    expert_sees="state",
    levels={
        "easy": {"pairs_of": "colors"},
        "medium": {"pairs_of": "colors", "decks": 2},
        "hard": {"decks": 2},
        "recall": {"recall": True},
    },
)


@SPEC.reset
def reset(p, s, rng):
    values = VALUES[p.pairs_of]
    for k in range(s.deck.size):
        s.deck[k] = k % values
    shuffle(s.deck, rng)


@kernel
def turn_back(s):
    """Two cards that were no pair are shown for a step."""
    for k in range(s.deck.size):
        if s.lies[k] == OPEN:
            s.lies[k] = DOWN


@SPEC.step
def step(p, s, a, rng, r):
    if s.first == 0:
        turn_back(s)
    wrong = s.lies[a] != DOWN  # an open card
    s.lies[a] = max(s.lies[a], OPEN)
    if s.first == 0:
        s.first = a + 1
    else:
        other = s.first - 1
        fits = not wrong and s.lies[other] == OPEN and other != a and s.deck[other] == s.deck[a]
        s.first = 0
        if fits:
            s.lies[a], s.lies[other] = FOUND, FOUND
            s.pairs += 1
            r.pair = 2.0 / s.deck.size
            r.memory_distance = s.elapsed + 1 - s.turned_at[a] if s.turned_at[a] > 0 else 0.0
        else:
            r.miss = -2.0 / allowed_steps(s)
    s.turned_at[a] = s.elapsed + 1
    if 2 * s.pairs == s.deck.size:
        r.success = True
        r.terminated = True


@kernel
def allowed_steps(s):
    """How many steps a player with perfect memory needs on average."""
    cards = float(s.deck.size)
    return math.ceil(2.0 * cards - cards / (2.0 * cards - 1.0))


@kernel
def lies_down(s, k):
    """Whether a card lies face down, or is turned back in this step."""
    return s.lies[k] == DOWN or (s.lies[k] == OPEN and s.first == 0)


@kernel
def makes_pair(s, k):
    """Whether a card is known to make a pair with the open one, or with any that was seen where none is open."""
    if s.turned_at[k] == 0 or not lies_down(s, k):
        return False
    if s.first > 0:
        return s.deck[k] == s.deck[s.first - 1]
    found = False
    for other in range(s.deck.size):
        known = other != k and s.turned_at[other] > 0 and lies_down(s, other)
        found = found or (known and s.deck[other] == s.deck[k])
    return found


@SPEC.observe
def observe(p, s, o):
    for k in range(o.pairs.size):
        o.pairs[k] = 1.0 if makes_pair(s, k) else (-1.0 if s.turned_at[k] > 0 else 0.0)
    hidden = VALUES[p.pairs_of]
    for k in range(s.deck.size):
        o.cards[k] = s.deck[k] if s.lies[k] != DOWN else hidden


@SPEC.mask
def mask(p, s, m):
    """Cards that lie face down; those that are turned back in this step too."""
    for k in range(s.deck.size):
        m[k] = lies_down(s, k)


@SPEC.expert
def expert(p, s, a):
    a[0] = 0
    for k in range(s.deck.size):
        if s.lies[k] == FOUND or k == s.first - 1:
            continue
        if s.first == 0 or s.deck[k] == s.deck[s.first - 1]:
            a[0] = k
            break


def cards_on_table(canvas, count):
    """The width that a card takes, and the middles of all."""
    high = 10.0 * canvas.scene[1] / canvas.scene[0]
    columns = next(n for n in range(1, count + 1) if -(-count // n) * TALL * 9.8 / n <= high - 0.2)
    side = 9.8 / columns
    places = [divmod(k, columns) for k in range(count)]
    return side, [(0.1 + (column + 0.5) * side, high - 0.1 - (row + 0.5) * TALL * side) for row, column in places]


@SPEC.draw
def draw(canvas, p, s):
    canvas.caption(f"{s.pairs} of {s.deck.size // 2} pairs")
    canvas.legend((BACK, "face down"), ("orange", "open"), (PAIR, "found, a pair"))
    canvas.view(0.0, 10.0, 0.0, 10.0 * canvas.scene[1] / canvas.scene[0])
    side, middles = cards_on_table(canvas, s.deck.size)
    for k, (x, y) in enumerate(middles):
        if s.lies[k] == DOWN:
            draw_back(canvas, x, y, 0.84 * side)
            continue
        color = PAIR if s.lies[k] == FOUND else PAPER
        if p.pairs_of == PAIRS_OF_RANKS:
            draw_card(canvas, x, y, 0.84 * side, RANKS[s.deck[k]], None, 26 * side, color)
        else:
            draw_card(canvas, x, y, 0.84 * side, "", ("spades", "hearts")[s.deck[k]], 12, color)
        if s.lies[k] == OPEN:
            mark_card(canvas, x, y, 0.8 * side, "orange")


@SPEC.places
def places(canvas, p, s):
    return [[middle] for middle in cards_on_table(canvas, s.deck.size)[1]]


@SPEC.text
def text(p, s):
    marks = [str(s.deck[k]) if s.lies[k] else "?" for k in range(s.deck.size)]
    return "\n".join(" ".join(marks[k : k + 13]) for k in range(0, len(marks), 13)) + "\n"
