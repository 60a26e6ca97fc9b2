"""What a player of Hanabi sees, in the order of the Hanabi learning environment."""

from rlenvs.core import kernel
from rlenvs.multi.hanabi.rules import color_of, is_color_hint, target_of, value_of


@kernel
def clear(numbers):
    for i in range(numbers.size):
        numbers[i] = 0.0


@kernel
def show_hands(p, s, k, o):
    """The cards of the others, and who lacks one."""
    others, hand = s.alive.size, s.hand.shape[1]
    clear(o.hands.ravel())
    for j in range(others):
        holder = (k + j) % others
        o.missing[j] = 1.0 if s.hand[holder, hand - 1] < 0 else 0.0
        if j > 0:
            for slot in range(hand):
                if s.hand[holder, slot] >= 0:
                    o.hands[j - 1, slot, s.hand[holder, slot]] = 1.0


@kernel
def show_board(p, s, o):
    for i in range(o.deck.size):
        o.deck[i] = 1.0 if i < s.deck.size - s.dealt else 0.0
    for color in range(p.colors):
        for rank in range(p.ranks):
            o.fireworks[color, rank] = 1.0 if s.firework[color] == rank + 1 else 0.0
    for i in range(p.hints):
        o.hints[i] = 1.0 if i < s.hints else 0.0
    for i in range(p.lives):
        o.lives[i] = 1.0 if i < s.lives else 0.0


@kernel
def show_discards(p, s, discards):
    place = 0
    for card in range(s.discarded.size):
        copies = p.copies[card % p.ranks]
        for i in range(copies):
            discards[place + i] = 1.0 if i < s.discarded[card] else 0.0
        place += copies


@kernel
def show_last(p, s, k, o):
    """The last move; all zero before the first."""
    others, hand, move = s.alive.size, s.hand.shape[1], s.move
    clear(o.last_player)
    clear(o.last_kind)
    clear(o.last_target)
    clear(o.last_color)
    clear(o.last_rank)
    clear(o.last_revealed)
    clear(o.last_place)
    clear(o.last_card)
    o.last_effect[0] = 1.0 if s.scored else 0.0
    o.last_effect[1] = 1.0 if s.gained else 0.0
    if s.mover >= 0:
        o.last_player[(s.mover - k + others) % others] = 1.0
    if move >= 2 * hand:
        show_hint(p, s, k, o)
    elif move >= 0:
        o.last_kind[0 if move >= hand else 1] = 1.0
        o.last_place[move % hand] = 1.0
        o.last_card[s.card] = 1.0


@kernel
def show_hint(p, s, k, o):
    """The last move, which was a hint."""
    others = s.alive.size
    o.last_target[(target_of(p, s, s.mover, s.move) - k + others) % others] = 1.0
    if is_color_hint(p, s, s.move):
        o.last_kind[2] = 1.0
        o.last_color[value_of(p, s, s.move)] = 1.0
    else:
        o.last_kind[3] = 1.0
        o.last_rank[value_of(p, s, s.move)] = 1.0
    for slot in range(s.hand.shape[1]):
        o.last_revealed[slot] = (s.revealed >> slot) & 1


@kernel
def show_knowledge(p, s, k, knowledge, belief):
    """What each card can be for all that its holder was told, then the color and the rank that hints named."""
    others, cards = s.alive.size, s.discarded.size
    clear(knowledge.ravel())
    for j in range(others):
        holder = (k + j) % others
        for slot in range(s.hand.shape[1]):
            row = knowledge[j, slot]
            if s.hand[holder, slot] >= 0:
                show_kinds(p, s, holder, slot, row, belief)
                if s.told_color[holder, slot]:
                    row[cards + s.hand[holder, slot] // p.ranks] = 1.0
                if s.told_rank[holder, slot]:
                    row[cards + p.colors + s.hand[holder, slot] % p.ranks] = 1.0


@kernel
def show_kinds(p, s, holder, slot, row, belief):
    """The kinds that a card can be; with `belief` their probabilities, by the copies that are neither placed nor
    discarded."""
    colors, ranks, total = s.open_colors[holder, slot], s.open_ranks[holder, slot], 0.0
    for color in range(p.colors):
        if (colors >> color) & 1:
            for rank in range(p.ranks):
                if (ranks >> rank) & 1:
                    card = color * p.ranks + rank
                    row[card] = left_of(p, s, card) if belief else 1.0
                    total += row[card]
    if belief:
        for card in range(s.discarded.size):
            row[card] /= max(total, 1.0)


@kernel
def left_of(p, s, card):
    """How many copies of a kind are neither placed nor discarded."""
    rank = card % p.ranks
    return float(p.copies[rank] - s.discarded[card] - (1 if s.firework[color_of(p, card)] > rank else 0))
