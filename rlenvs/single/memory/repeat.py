"""Repeat previous: name the suit of the card dealt some cards earlier.

## Description
A task of POPGym (Morad et al., ICLR 2023). Cards are dealt one by one from a shuffled deck, and only the suit of the
last one is seen. The answer is the suit of the card dealt `k` - 1 cards earlier (`k` = 1: the visible one), so `k`
suits have to be remembered and replaced one by one. As in the original, `level="medium"` has 2 decks and k = 32,
`level="hard"` 3 decks and k = 64. Spaces, rewards and lengths are the original's.

## Action Space
A suit.

## Observation Space
The suit of the visible card.

## Rewards
`right` is 1 for a right answer and -1 for a wrong one, divided by their number in an episode, so that answering
everything correctly gives 1. Before the k-th card answers do not count and there is no reward.

## Costs
None.

## Starting State
A shuffled deck with its first card visible.

## Episode End
Truncation: when one card is left, 52 `decks` - 1 steps. `is_success` means that there were answers so far and all were
right.

## Parameters
`k` is less than the number of cards.

## Reference Scores
Mean return over seeds 0 to 99. The expert looks the card up.

## Version History
v0: first version.
"""

from rlenvs.core import discrete, discrete_block, flag, i4, integer, term, u1, world
from rlenvs.core.declare.errors import ParameterError
from rlenvs.kits.boards.cards import SUITS
from rlenvs.single.memory.boxes import number_keys, shuffle
from rlenvs.single.memory.pictures import LEGEND, Face, draw_recall


def sizes(values):
    cards = 52 * values.decks
    if values.k >= cards:
        raise ParameterError(f"k={values.k} must be less than the number of cards, {cards}; take more decks")
    return {"cards": cards}


SPEC = world(
    "RepeatPrevious-v0",
    doc=__doc__,
    source="POPGym RepeatPrevious (Morad et al., ICLR 2023)",
    options={
        "decks": integer(1, 1, 64, "decks of 52 cards"),
        "k": integer(4, 1, 1000, "which card to name, counted back from 1, the visible one"),
        "first": flag(False, "the first card is asked for, whatever k is"),
    },
    sizes=sizes,
    state={"deck": u1("cards").within(0, 3), "right": i4, "wrong": i4},
    observation={"suit": discrete_block(4, "of the card in sight")},
    action=discrete(*SUITS),
    terms={
        "right": term(-1, 1, 1.0, "1 for a right answer and -1 for a wrong one, divided by their number"),
        "memory_distance": term(0, 1e4, 0.0, "steps since the card that was asked for was seen"),
    },
    horizon=lambda values: 52 * values.decks - 1,
    expert_sees="state",
    levels={"medium": {"decks": 2, "k": 32}, "hard": {"decks": 3, "k": 64}},
)
SPEC.member(
    "RepeatFirst-v0",
    "Repeat first: keep naming the suit of the first card while others are dealt.",
    source="POPGym RepeatFirst (Morad et al., ICLR 2023)",
    first=True,
    k=1,
    levels={"medium": {"decks": 8}, "hard": {"decks": 16}},
)


@SPEC.state_fault
def state_fault(p, s):
    return "" if s.elapsed < s.deck.size else f"step {s.elapsed} of {s.deck.size} cards"


@SPEC.reset
def reset(p, s, rng):
    for k in range(s.deck.size):
        s.deck[k] = k % 4
    shuffle(s.deck, rng)


@SPEC.step
def step(p, s, a, rng, r):
    seen = s.elapsed  # the place of the card in sight
    asked = 0 if p.first else seen - p.k + 1
    if asked >= 0:
        r.right = (1.0 if a == s.deck[asked] else -1.0) / (s.deck.size - p.k)
        r.memory_distance = seen - asked
        s.right += int(a == s.deck[asked])
        s.wrong += int(a != s.deck[asked])
    r.success = s.wrong == 0 and s.right > 0


@SPEC.observe
def observe(p, s, o):
    o.suit = s.deck[min(s.elapsed, s.deck.size - 1)]


@SPEC.expert
def expert(p, s, a):
    a[0] = s.deck[0 if p.first else max(s.elapsed - p.k + 1, 0)]


@SPEC.draw
def draw(canvas, p, s):
    canvas.caption(f"card {s.elapsed + 1} of {s.deck.size}, {s.right} right, {s.wrong} wrong")
    canvas.legend(*LEGEND)
    now = min(int(s.elapsed), s.deck.size - 1)
    asked = 0 if p.first else max(int(s.elapsed) - int(p.k) + 1, -1)
    question = "suit of the first card?" if p.first else f"suit {p.k - 1} cards before?" if p.k > 1 else "suit?"
    draw_recall(canvas, [Face("", SUITS[suit]) for suit in s.deck[: now + 1]], now, asked, question)


@SPEC.text
def text(p, s):
    return f"card {s.elapsed + 1} of {s.deck.size}: {SUITS[s.deck[min(s.elapsed, s.deck.size - 1)]]}\n"


SPEC.keys(number_keys(len(SUITS)))
