"""What a player of Hanabi sees, in the order of the Hanabi learning environment. What the last move left as it was is
not written again."""

from rlenvs.core import kernel
from rlenvs.multi.hanabi.rules import color_of, is_color_hint, rank_of, target_of, value_of


@kernel
def clear(numbers):
    for i in range(numbers.size):
        numbers[i] = 0.0


@kernel
def changed_hand(p, s):
    """The player whose hand, or whose knowledge of it, the last move changed; -1 for nobody."""
    if s.move < 0:
        return -1
    return s.mover if s.move < 2 * s.hand.shape[1] else target_of(p, s, s.mover, s.move)


@kernel
def show_hands(p, s, k, o):
    """The cards of the others, and who lacks one."""
    players, hand, changed = s.alive.size, s.hand.shape[1], changed_hand(p, s)
    for j in range(players):
        holder = (k + j) % players
        if s.shown and holder != changed:
            continue
        o.missing[j] = 1.0 if s.hand[holder, hand - 1] < 0 else 0.0
        if j > 0:
            clear(o.hands[j - 1].ravel())
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
        copies = p.copies[rank_of(p, card)]
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
    players, cards = s.alive.size, s.unplaced.size
    colors, ranks = (1 << p.colors) - 1, (1 << p.ranks) - 1
    changed, counted = changed_hand(p, s), belief and 0 <= s.move < 2 * s.hand.shape[1]
    for card in range(cards):
        s.unplaced[card] = left_of(p, s, card) if belief else 1
    spread(p, s, colors, ranks, s.unknown, belief)
    for j in range(players):
        holder = (k + j) % players
        if s.shown and holder != changed and not counted:
            continue
        for slot in range(s.hand.shape[1]):
            row = knowledge[j, slot]
            if s.open_colors[holder, slot] == colors and s.open_ranks[holder, slot] == ranks:
                for card in range(cards):
                    row[card] = s.unknown[card]
            else:
                spread(p, s, s.open_colors[holder, slot], s.open_ranks[holder, slot], row, belief)
            show_told(p, s, holder, slot, row)


@kernel
def spread(p, s, colors, ranks, row, belief):
    """The kinds that a card can be, given as bits of colors and of ranks; with `belief` their probabilities, by the
    copies that are neither placed nor discarded."""
    total = 0
    for card in range(s.unplaced.size):
        count = s.unplaced[card] * ((colors >> p.color[card]) & (ranks >> p.rank[card]) & 1)
        row[card] = count
        total += count
    if belief and total > 0:
        for card in range(s.unplaced.size):
            row[card] /= total


@kernel
def show_told(p, s, holder, slot, row):
    """The color and the rank that hints named."""
    first, last, card = s.unplaced.size, row.size, s.hand[holder, slot]
    for i in range(first, last):
        row[i] = 0.0
    if s.told_color[holder, slot]:
        row[first + color_of(p, card)] = 1.0
    if s.told_rank[holder, slot]:
        row[first + p.colors + rank_of(p, card)] = 1.0


@kernel
def left_of(p, s, card):
    """How many copies of a kind are neither placed nor discarded."""
    placed = s.firework[color_of(p, card)] > rank_of(p, card)
    return p.copies[rank_of(p, card)] - s.discarded[card] - (1 if placed else 0)
