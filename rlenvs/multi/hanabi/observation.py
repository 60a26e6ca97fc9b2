"""What a player of Hanabi sees, in the order of the Hanabi learning environment. What the last move left as it was is
not written again."""

from rlenvs.core import kernel
from rlenvs.multi.hanabi.rules import (
    color_of,
    is_color_hint,
    is_critical,
    is_playable,
    is_useless,
    rank_of,
    target_of,
    value_of,
)


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
def show_knowledge(p, s, k, knowledge, belief, rated):
    """What each card can be for all that its holder was told, then the color and the rank that hints named; then, if
    wanted, what the card is worth."""
    players, changed = s.alive.size, changed_hand(p, s)
    # a card that left a hand is counted out, which changes the probabilities of all others
    counted = belief and 0 <= s.move < 2 * s.hand.shape[1]
    if belief:
        for card in range(s.unplaced.size):
            s.unplaced[card] = left_of(p, s, card)
    for j in range(players):
        holder = (k + j) % players
        if s.shown and holder != changed and not counted:
            continue
        for slot in range(s.hand.shape[1]):
            row, kinds = knowledge[j, slot], open_kinds(p, s, holder, slot)
            if belief:
                show_belief(s, kinds, row)
            else:
                for card in range(s.unplaced.size):
                    row[card] = (kinds >> card) & 1
            show_told(p, s, holder, slot, row)
            if rated:
                show_worth(p, s, holder, slot, j > 0, row)


@kernel
def open_kinds(p, s, holder, slot):
    """The kinds that a card can be for all that hints have told, as bits."""
    kinds = 0
    for color in range(p.colors):
        if (s.open_colors[holder, slot] >> color) & 1 == 1:
            kinds |= s.open_ranks[holder, slot] << (color * p.ranks)
    return kinds


@kernel
def show_belief(s, kinds, row):
    """Probabilities of the kinds of a card, by the copies that are neither placed nor discarded."""
    total = 0
    for card in range(s.unplaced.size):
        total += s.unplaced[card] * ((kinds >> card) & 1)
    share = 1.0 / max(total, 1)  # in float64, whose products round to the nearest float32 of the quotients
    for card in range(s.unplaced.size):
        row[card] = s.unplaced[card] * ((kinds >> card) & 1) * share


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
def show_worth(p, s, holder, slot, seen, row):
    """The probabilities that a card can be placed now, never, and that it is the last of its kind that is needed; then
    whether it is so, for those who see it. From the probabilities of its kinds, which are in the row already."""
    first, card = s.unplaced.size + p.colors + p.ranks, s.hand[holder, slot]
    playable, useless, critical = 0.0, 0.0, 0.0
    for kind in range(s.unplaced.size):
        if row[kind] > 0.0:
            playable += row[kind] if is_playable(p, s, kind) else 0.0
            useless += row[kind] if is_useless(p, s, kind) else 0.0
            critical += row[kind] if is_critical(p, s, kind) else 0.0
    row[first] = min(playable, 1.0)
    row[first + 1] = min(useless, 1.0)
    row[first + 2] = min(critical, 1.0)
    if seen and card >= 0:
        row[first + 3] = 1.0 if is_playable(p, s, card) else 0.0
        row[first + 4] = 1.0 if is_useless(p, s, card) else 0.0
        row[first + 5] = 1.0 if is_critical(p, s, card) else 0.0


@kernel
def left_of(p, s, card):
    """How many copies of a kind are neither placed nor discarded."""
    placed = s.firework[color_of(p, card)] > rank_of(p, card)
    return p.copies[rank_of(p, card)] - s.discarded[card] - (1 if placed else 0)
