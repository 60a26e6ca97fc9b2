"""Hanabi: hold cards that only the others see, and place them in order by hints.

## Description
The card game of Antoine Bauza (2010), with the rules, the moves and the observation of the Hanabi learning environment
(Bard et al., "The Hanabi Challenge", 2020). Each player holds cards that all others see, but not the player. In its
turn a player gives a hint, discards a card or plays one. All win or lose together, so players have to
give hints that say more than their words, and to read those of partners.

Players move in turn: the AEC API asks only the player whose turn it is; in the other APIs waiting agents can only
choose 0, which does nothing. Scripted players: "convention" reads a hint as a wish (the newest card that it touches is
to be played; a rank above the lowest that touches the oldest untouched card keeps it), keeps count of cards, and gives
the hint that makes its receiver play most; "simple" is the learning environment's `SimpleAgent`: it plays what was
hinted, hints the colors of playable cards, and discards the oldest card; "random" chooses any allowed move.

Recorded games of the learning environment and of JaxMARL are replayed move for move, with equal observations, allowed
moves and rewards (probabilities of the V0 belief to the last bit but one). What differs: JaxMARL has one move more, to
wait, where all choices of waiting players are 0 here; in JaxMARL before 0.2.0 a game ended one move after the last life
was lost; in 0.2.0 a game whose first hands take the whole deck has one move more; choices that are not allowed raise an
error in the learning environment and have no defined effect in JaxMARL.

Mean scores over 1000 games of players beside themselves (kept when the last life is lost / lost with it), beside those
that the bots of Quuxplusone/Hanabi publish (kept):

| players | "convention" | "random" | SimpleBot | ValueBot | HolmesBot | SmartBot | InfoBot |
|---|---|---|---|---|---|---|---|
| 2 | 21.91 / 21.87 | 1.26 / 0 | 16.92 | 19.79 | 20.75 | 23.09 | 20.00 |
| 3 | 22.18 / 22.13 | 1.18 / 0 | 18.48 | 19.43 | 20.86 | 23.30 | 24.26 |
| 4 | 21.87 / 21.80 | 1.32 / 0 | 19.32 | 19.39 | 20.46 | 22.44 | 24.86 |
| 5 | 20.47 / 20.45 | 1.19 / 0 | 18.50 | 17.76 | 18.40 | 20.69 | 24.89 |

`rlenvs tournament Hanabi-v0 --level keeps` prints what each pair scores together, here over 100 games of two players
(the first one is of the row; mean and half width of its 95 % interval):

| | convention | simple | random |
|---|---|---|---|
| convention | 21.4 ± 0.6 | 3.4 ± 0.5 | 1.8 ± 0.3 |
| simple | 4.3 ± 0.6 | 3.1 ± 0.4 | 1.4 ± 0.3 |
| random | 1.6 ± 0.3 | 1.2 ± 0.3 | 1.4 ± 0.2 |

## Action Space
Discard the card in each place (`hand`), play the card in each place (`hand`), then name a color to the next player,
the one after it and so on (`colors` each), then a rank to each of them (`ranks` each): 20 moves with two players. Place
0 is the oldest card. Masked: discards while all hint tokens are there, hints while none is, hints that match no card,
empty places. Choosing one of these anyway costs a life, and the turn passes.

## Observation Space
The 658 numbers of the learning environment for two players, and the same form for more. Players come in the order of
turns, the observer first. The cards of the others (player, place, kind; kinds are color by color, rank by rank), who
lacks a card; the cards that are left to draw as a thermometer, the rank on each firework, hint tokens and lives as
thermometers; discarded copies of each kind; the last move (its player, what it was, the target of a hint, color, rank,
the places that it shows, the place and the kind of a card, whether it was placed, whether it brought a hint token); and
for each card of each player the kinds that it can be for all that hints have told (`knowledge` "possible"), and the
color and the rank that hints have named.

With `knowledge` "belief" kinds have probabilities instead, by the copies that are neither placed nor discarded (the V0
belief, as in JaxMARL). With "rated" there follow, for each card, the probabilities that it can be placed now, that it
never can, and that it is the last of its kind that is needed, and whether each of these is so, for those who see the
card. With "none" the last part is missing, and with "seer" all players know all cards: "minimal" and "seer" of the
learning environment.

## Rewards
For all players together: `placed` is 1 for a card that is placed on its firework. `lost` is the negative of the score
so far when the last life is lost, so that the return is 0 then, as in the learning environment and in JaxMARL. With
`bombing="keeps"` its weight is 0: the other convention, by which the score stays.

## Costs
None.

## Starting State
A shuffled deck, `hand` cards for each player, all hint tokens and lives. The first agent begins.

## Episode End
Termination: all fireworks are complete, the last life is lost, or everybody has moved once more after the last card was
drawn. Games are never truncated. Success: all fireworks are complete.

## Parameters
`players`, `colors`, `ranks`, `hand`, `hints`, `lives`, `knowledge`, `bombing`. Each color has three cards of the lowest
rank, one of the highest and two of the others.

## Reference Scores
Mean return over seeds 0 to 99, summed over both players, which is twice the score; the expert is "convention".

## Version History
v0: first version.
"""

import numpy as np

from rlenvs.core import (
    Score,
    b1,
    block,
    choice,
    constraint,
    data_option,
    discrete,
    i1,
    i8,
    integer,
    kernel,
    term,
    world,
)
from rlenvs.multi.hanabi.observation import show_board, show_discards, show_hands, show_knowledge, show_last
from rlenvs.multi.hanabi.players import choose_convention, choose_random, choose_simple
from rlenvs.multi.hanabi.render import LETTERS, draw_table_of
from rlenvs.multi.hanabi.rules import (
    discard_card,
    draw_card,
    give_hint,
    is_legal,
    mark_legal,
    play_card,
    score_of,
    shuffle_deck,
)

KNOWLEDGE = choice("possible", "belief", "none", "seer", "rated", doc="what the observation says of each card")
BELIEF, NONE, SEER, RATED = KNOWLEDGE.codes("belief", "none", "seer", "rated")
WORTH = 6  # what "rated" says of each card beyond its kind
MOST, LARGEST_HAND = 8, 8  # colors and ranks, cards in a hand


def copies_of(ranks):
    """How many cards of each rank a color has."""
    return [3 if rank == 0 else 1 if rank == ranks - 1 else 2 for rank in range(ranks)]


def hand_of(values):
    """How many cards a player holds."""
    return values.hand or (5 if values.players < 4 else 4)


def choice_names(values):
    """Of all moves, in their order; the next player is 1 on."""
    places, others = range(1, hand_of(values) + 1), range(1, values.players)
    to = ["" if values.players == 2 else f" to player {k} on" for k in others]
    hints = [f"hint {LETTERS[color]}{who}" for who in to for color in range(values.colors)]
    hints += [f"hint {rank + 1}{who}" for who in to for rank in range(values.ranks)]
    return [*(f"discard card {n}" for n in places), *(f"play card {n}" for n in places), *hints]


def sizes_of(values):
    hand, deck = hand_of(values), values.colors * sum(copies_of(values.ranks))
    told, rated = values.knowledge != "none", values.knowledge == "rated"
    return {
        "agents": values.players,
        "others": values.players - 1,
        "hand": hand,
        "colors": values.colors,
        "ranks": values.ranks,
        "cards": values.colors * values.ranks,
        "hints": values.hints,
        "lives": values.lives,
        "deck": deck,
        "drawn": deck - values.players * hand,
        "choices": 2 * hand + (values.players - 1) * (values.colors + values.ranks),
        "told": values.players if told else 0,  # whose cards the last part of the observation is about
        "facts": told * (values.colors * values.ranks + values.colors + values.ranks + rated * WORTH),
    }


def horizon_of(values):
    """More moves than a game has: each card that is drawn was discarded or played, which brings a hint at most."""
    sizes = sizes_of(values)
    return 2 * sizes["drawn"] + values.hints + values.lives + 2 * values.players + 1


def bits(*shape, doc=""):
    """A block of numbers that are 0 or 1; some stay what they are."""
    return block(*shape, low=0, high=1, raw=True, constant=True, whole=True, doc=doc)


SPEC = world(
    "Hanabi-v0",
    doc=__doc__,
    source="Hanabi (Antoine Bauza, 2010); Bard, Foerster et al., The Hanabi Challenge: A New Frontier for AI Research, "
    "Artificial Intelligence 280, 2020 (rules, moves, observation, SimpleAgent); JaxMARL (the V0 belief)",
    agents=True,
    turns=True,
    options={
        "players": data_option(integer(2, 2, 5, "number of players")),
        "colors": integer(5, 1, MOST, "colors of the cards"),
        "ranks": integer(5, 1, MOST, "ranks of the cards"),
        "hand": data_option(integer(0, 0, LARGEST_HAND, "cards in a hand; 0: 5 for two and three players, else 4")),
        "hints": integer(8, 1, 20, "hint tokens"),
        "lives": integer(3, 1, 10, "cards that may be misplayed, the last of which ends the game"),
        "knowledge": KNOWLEDGE,
        "bombing": data_option(
            choice(
                "loses",
                "keeps",
                doc="what losing the last life does to the score",
                sets={"keeps": {"lost": 0.0}},
            )
        ),
    },
    constraints=[
        constraint(
            "players",
            "hand",
            "colors",
            "ranks",
            holds=lambda players, hand, colors, ranks: (
                players * (hand + (hand == 0) * (5 - (players > 3))) <= colors * (2 * ranks + (ranks == 1))
            ),
            doc="the deck has a card for each place of all hands: players * hand <= colors * cards of a color",
        )
    ],
    sizes=sizes_of,
    players=("convention", "simple", "random"),
    scratch=("unplaced",),
    expert_sees="state",  # convention remembers which cards hints asked for, as a player with a memory does
    data={"copies": i8("ranks"), "color": i8("cards"), "rank": i8("cards")},  # of ranks; of kinds of cards
    state={
        "turn": i8.index_of("agents", low=-1),  # the player that is to move, -1 when the game is over
        "left": i8.up_to("agents"),  # moves after the last card was drawn that are still to come
        "hints": i8.up_to("hints"),
        "lives": i8.up_to("lives"),
        "dealt": i8.up_to("deck"),
        "mover": i8.index_of("agents", low=-1),  # the last move: who, which, the card, the cards that a hint showed
        "move": i8.index_of("choices", low=-1),
        "card": i8.index_of("cards"),
        "revealed": i8.within(0, 2**LARGEST_HAND - 1),
        "scored": b1,
        "gained": b1,
        "deck": i1("deck").index_of("cards"),  # kinds of cards, the first hands first
        "hand": i1("agents", "hand").index_of("cards", low=-1),  # kinds of cards, the oldest first; -1 for no card
        "open_colors": i8("agents", "hand").within(0, 2**MOST - 1),  # bits of what a card can be for all hints
        "open_ranks": i8("agents", "hand").within(0, 2**MOST - 1),
        "told_color": b1("agents", "hand"),  # whether a hint has named it
        "told_rank": b1("agents", "hand"),
        "focus": b1("agents", "hand"),  # whether a hint asked for it, by the convention of a scripted player
        "firework": i1("colors").up_to("ranks"),  # how many cards lie there
        "discarded": i1("cards").within(0, 3),
        "unplaced": i8("cards"),  # scratch: copies of each kind that are neither placed nor discarded
    },
    observation={
        "hands": bits("others", "hand", "cards", doc="cards of the others"),
        "missing": bits("agents", doc="who lacks a card"),
        "deck": bits("drawn", doc="cards left to draw, thermometer"),
        "fireworks": bits("colors", "ranks", doc="the rank on each firework"),
        "hints": bits("hints", doc="hint tokens, thermometer"),
        "lives": bits("lives", doc="lives, thermometer"),
        "discards": bits("deck", doc="discarded copies of each kind, thermometers"),
        "last_player": bits("agents", doc="who made the last move"),
        "last_kind": bits(4, doc="play, discard, hint of a color, of a rank"),
        "last_target": bits("agents", doc="who got the hint"),
        "last_color": bits("colors", doc="the color that it named"),
        "last_rank": bits("ranks", doc="the rank that it named"),
        "last_revealed": bits("hand", doc="the places that it showed"),
        "last_place": bits("hand", doc="where the played or discarded card was"),
        "last_card": bits("cards", doc="which one it was"),
        "last_effect": bits(2, doc="it was placed; that brought a hint token"),
        "knowledge": block(
            "told",
            "hand",
            "facts",
            low=0,
            high=1,
            raw=True,
            constant=True,
            doc="for each card, its possible kinds, and the color and rank that hints named",
        ),
    },
    action=lambda values: discrete(*choice_names(values), size="choices"),
    terms={
        "placed": term(0.0, 1.0, 1.0, "1 for a card that is placed"),
        "lost": term(-float(MOST * MOST), 0.0, 1.0, "the negative of the score when the last life is lost"),
    },
    incremental=True,
    horizon=horizon_of,
    fps=2,
    levels={
        "three": {"players": 3},
        "four": {"players": 4},
        "five": {"players": 5},
        "small": {"colors": 2, "hand": 2, "hints": 3, "lives": 1},
        "very_small": {"colors": 1, "hand": 2, "hints": 3, "lives": 1},
        "belief": {"knowledge": "belief"},
        "keeps": {"bombing": "keeps"},
    },
    scores={"bound": Score(50, 0, "all fireworks complete, 25 for each of both; not to be had from every deck")},
)


@SPEC.make_data
def data(values):
    """How many cards of each rank a color has; color and rank of each kind."""
    color, rank = np.divmod(np.arange(values.colors * values.ranks), values.ranks)
    return {"copies": copies_of(values.ranks), "color": color, "rank": rank}


@SPEC.state_fault
def state_fault(p, s):
    """Each card of the game is once in the deck, and once drawn it is in a hand, on a firework or discarded."""
    copies = np.tile(p.copies, int(p.colors))
    if (np.bincount(s.deck, minlength=copies.size) != copies).any():
        return "the deck has other cards than the game"
    drawn = np.bincount(s.deck[: int(s.dealt)], minlength=copies.size)
    held = np.bincount(s.hand[s.hand >= 0], minlength=copies.size)
    placed = (np.asarray(s.firework)[:, None] > np.arange(int(p.ranks))).ravel()
    return "" if (held + placed + s.discarded == drawn).all() else "a card is missing, or in two places"


@SPEC.reset
def reset(p, s, rng):
    shuffle_deck(p, s, rng)
    for k in range(s.alive.size):
        for slot in range(s.hand.shape[1]):
            draw_card(p, s, k, slot, p.knowledge == SEER)
    s.hints = p.hints
    s.lives = p.lives
    s.left = s.alive.size
    s.mover = -1
    s.move = -1


@SPEC.step
def step(p, s, a, rng, r):
    k, hand, before = max(s.turn, 0), s.hand.shape[1], score_of(s)
    action, last_round, seer = a[k], s.dealt == s.deck.size, p.knowledge == SEER
    s.mover, s.move, s.revealed, s.scored, s.gained = k, action, 0, False, False
    if not is_legal(p, s, k, action):
        s.move = -1
        s.lives -= 1
    elif action < hand:
        discard_card(p, s, k, action, seer)
    elif action < 2 * hand:
        play_card(p, s, k, action - hand, seer)
    else:
        give_hint(p, s, k, action)
    s.left -= last_round
    s.turn = (k + 1) % s.alive.size
    settle(s, before, r)


@kernel
def settle(s, before, r):
    """The reward of a move, and the end of the game."""
    score = score_of(s)
    complete = score == s.discarded.size
    over = complete or s.lives <= 0 or s.left <= 0
    if over:
        s.turn = -1
    for k in range(s.alive.size):
        r.placed[k] = score - before
        r.lost[k] = -score if s.lives <= 0 else 0.0
        r.terminated[k] = over
        r.success[k] = complete


@SPEC.mask
def mask(p, s, k, m):
    if s.turn == k:
        mark_legal(p, s, k, m)
        return
    for action in range(m.size):
        m[action] = 1 if action == 0 else 0


@SPEC.observe
def observe(p, s, k, o):
    show_hands(p, s, k, o)
    show_board(p, s, o)
    if not s.shown or s.move < 2 * s.hand.shape[1]:
        show_discards(p, s, o.discards)
    show_last(p, s, k, o)
    if p.knowledge != NONE:
        rated = p.knowledge == RATED
        show_knowledge(p, s, k, o.knowledge, rated or p.knowledge == BELIEF, rated)


# --- players ----------------------------------------------------------------------------------------------------------


@kernel
def choices_of(p, s):
    return 2 * s.hand.shape[1] + (s.alive.size - 1) * (p.colors + p.ranks)


@SPEC.player("convention")
def play_convention(p, s, k, a, rng):
    a[k] = choose_convention(p, s, k, choices_of(p, s)) if s.turn == k else 0


@SPEC.player("simple")
def play_simple(p, s, k, a, rng):
    a[k] = choose_simple(p, s, k) if s.turn == k else 0


@SPEC.player("random")
def play_random(p, s, k, a, rng):
    a[k] = choose_random(p, s, k, choices_of(p, s), rng) if s.turn == k else 0


# --- images -----------------------------------------------------------------------------------------------------------


@SPEC.draw
def draw(canvas, p, s):
    draw_table_of(canvas, p, s)


@SPEC.text
def text(p, s):
    names, ranks = "RYGWBPOK", int(p.ranks)
    piles = " ".join(f"{names[c]}{int(top)}" for c, top in enumerate(s.firework))
    lines = [f"fireworks {piles}   hints {int(s.hints)}   lives {int(s.lives)}   deck {len(s.deck) - int(s.dealt)}"]
    for k, cards in enumerate(s.hand):
        shown = " ".join(f"{names[int(c) // ranks]}{int(c) % ranks + 1}" if c >= 0 else "--" for c in cards)
        lines.append(f"{'>' if s.turn == k else ' '} player {k + 1}: {shown}")
    gone = [f"{names[c // ranks]}{c % ranks + 1}" for c, n in enumerate(s.discarded) for _ in range(int(n))]
    return "\n".join([*lines, "discards " + " ".join(gone)])
