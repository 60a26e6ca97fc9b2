"""The rules of Hanabi: dealing, hints and what they tell, cards that are played and discarded, and the end."""

from rlenvs.core import below, kernel

# --- cards ------------------------------------------------------------------------------------------------------------


@kernel
def color_of(p, card):
    return p.color[card]


@kernel
def rank_of(p, card):
    return p.rank[card]


@kernel
def is_playable(p, s, card):
    return s.firework[color_of(p, card)] == rank_of(p, card)


@kernel
def is_useless(p, s, card):
    """Whether a card can no longer be placed: it lies there already, or all copies of a lower one are discarded."""
    color, rank = color_of(p, card), rank_of(p, card)
    if s.firework[color] > rank:
        return True
    gone = 0
    for lower in range(s.firework[color], rank):
        gone += s.discarded[color * p.ranks + lower] == p.copies[lower]
    return gone > 0


@kernel
def is_critical(p, s, card):
    """Whether a card is the last of its kind and can still be placed."""
    return s.discarded[card] == p.copies[rank_of(p, card)] - 1 and not is_useless(p, s, card)


@kernel
def score_of(s):
    """How many cards lie on the fireworks."""
    total = 0
    for color in range(s.firework.size):
        total += s.firework[color]
    return total


# --- hands ------------------------------------------------------------------------------------------------------------


@kernel
def shuffle_deck(p, s, rng):
    place = 0
    for color in range(p.colors):
        for rank in range(p.ranks):
            for _ in range(p.copies[rank]):
                s.deck[place] = color * p.ranks + rank
                place += 1
    for i in range(s.deck.size - 1, 0, -1):
        j = below(rng, i + 1)
        s.deck[i], s.deck[j] = s.deck[j], s.deck[i]


@kernel
def draw_card(p, s, k, slot, seer):
    """The next card of the deck into a place of a hand; the place stays empty where the deck is."""
    s.hand[k, slot] = -1
    s.open_colors[k, slot] = 0
    s.open_ranks[k, slot] = 0
    s.told_color[k, slot] = seer
    s.told_rank[k, slot] = seer
    s.focus[k, slot] = False
    if s.dealt < s.deck.size:
        card = s.deck[s.dealt]
        s.dealt += 1
        s.hand[k, slot] = card
        s.open_colors[k, slot] = 1 << color_of(p, card) if seer else (1 << p.colors) - 1
        s.open_ranks[k, slot] = 1 << rank_of(p, card) if seer else (1 << p.ranks) - 1
    else:
        s.told_color[k, slot] = False
        s.told_rank[k, slot] = False


@kernel
def take_card(p, s, k, slot, seer):
    """A card out of a hand; newer ones move up, and the hand gets a new one."""
    card, last = s.hand[k, slot], s.hand.shape[1] - 1
    for i in range(slot, last):
        s.hand[k, i] = s.hand[k, i + 1]
        s.open_colors[k, i] = s.open_colors[k, i + 1]
        s.open_ranks[k, i] = s.open_ranks[k, i + 1]
        s.told_color[k, i] = s.told_color[k, i + 1]
        s.told_rank[k, i] = s.told_rank[k, i + 1]
        s.focus[k, i] = s.focus[k, i + 1]
    draw_card(p, s, k, last, seer)
    return card


@kernel
def is_touched(s, k, slot):
    """Whether a hint has told something of a card that it is."""
    return s.told_color[k, slot] or s.told_rank[k, slot]


@kernel
def oldest_untouched(s, k):
    """The place of the oldest card of which no hint has told anything; -1 where there is none."""
    for slot in range(s.hand.shape[1]):
        if s.hand[k, slot] >= 0 and not is_touched(s, k, slot):
            return slot
    return -1


# --- moves ------------------------------------------------------------------------------------------------------------
# discard each place, play each place, then for each other player in turn the colors, then for each the ranks


@kernel
def is_color_hint(p, s, action):
    return action < 2 * s.hand.shape[1] + (s.alive.size - 1) * p.colors


@kernel
def target_of(p, s, k, action):
    """The player to whom a hint is given."""
    action -= 2 * s.hand.shape[1]
    colors = (s.alive.size - 1) * p.colors
    offset = action // p.colors if action < colors else (action - colors) // p.ranks
    return (k + 1 + offset) % s.alive.size


@kernel
def value_of(p, s, action):
    """The color or the rank that a hint names."""
    action -= 2 * s.hand.shape[1]
    colors = (s.alive.size - 1) * p.colors
    return action % p.colors if action < colors else (action - colors) % p.ranks


@kernel
def matching(p, s, k, by_color, value):
    """The places of a hand with a color or a rank, as bits."""
    bits = 0
    for slot in range(s.hand.shape[1]):
        card = s.hand[k, slot]
        if card >= 0 and (color_of(p, card) if by_color else rank_of(p, card)) == value:
            bits |= 1 << slot
    return bits


@kernel
def bits_of_hand(p, s, k, by_color):
    """The colors or the ranks of the cards in a hand, as bits."""
    bits = 0
    for slot in range(s.hand.shape[1]):
        card = s.hand[k, slot]
        if card >= 0:
            bits |= 1 << (color_of(p, card) if by_color else rank_of(p, card))
    return bits


@kernel
def mark_legal(p, s, k, m):
    """All moves that the player who is to move may choose."""
    hand, players, place = s.hand.shape[1], s.alive.size, 2 * s.hand.shape[1]
    for slot in range(hand):
        held = s.hand[k, slot] >= 0
        m[slot] = held and s.hints < p.hints
        m[hand + slot] = held
    for by_color in (True, False):
        for offset in range(1, players):
            bits = bits_of_hand(p, s, (k + offset) % players, by_color) if s.hints > 0 else 0
            values = p.colors if by_color else p.ranks
            for value in range(values):
                m[place + value] = (bits >> value) & 1
            place += values


@kernel
def is_legal(p, s, k, action):
    """Whether the player who is to move may choose an action."""
    hand = s.hand.shape[1]
    if action < hand:
        return s.hints < p.hints and s.hand[k, action] >= 0
    if action < 2 * hand:
        return s.hand[k, action - hand] >= 0
    by_color = is_color_hint(p, s, action)
    return s.hints > 0 and matching(p, s, target_of(p, s, k, action), by_color, value_of(p, s, action)) > 0


@kernel
def give_hint(p, s, k, action):
    """A legal hint: all cards of a color or a rank are shown to their holder."""
    target, by_color, value = target_of(p, s, k, action), is_color_hint(p, s, action), value_of(p, s, action)
    s.revealed = matching(p, s, target, by_color, value)
    s.hints -= 1
    note_focus(s, target, by_color, value)
    for slot in range(s.hand.shape[1]):
        if s.hand[target, slot] >= 0:
            shown = (s.revealed >> slot) & 1
            if by_color:
                s.open_colors[target, slot] = told_bits(s.open_colors[target, slot], value, shown)
                s.told_color[target, slot] = s.told_color[target, slot] or shown == 1
            else:
                s.open_ranks[target, slot] = told_bits(s.open_ranks[target, slot], value, shown)
                s.told_rank[target, slot] = s.told_rank[target, slot] or shown == 1


@kernel
def told_bits(bits, value, shown):
    """What a card may be after a hint: the value, or any other than it."""
    return bits & (1 << value) if shown == 1 else bits & ~(1 << value)


@kernel
def note_focus(s, target, by_color, value):
    """The card that a hint asks to play, by the convention of the player "convention": the newest of those that no
    hint had touched. A hint of a rank above the lowest that touches the oldest untouched card only keeps it."""
    newest, oldest = -1, oldest_untouched(s, target)
    for slot in range(s.hand.shape[1]):
        if (s.revealed >> slot) & 1 == 1 and not is_touched(s, target, slot):
            newest = slot
    keeps = not by_color and value > 0 and oldest >= 0 and (s.revealed >> oldest) & 1 == 1
    if newest >= 0 and not keeps:
        s.focus[target, newest] = True


@kernel
def discard_card(p, s, k, slot, seer):
    s.card = take_card(p, s, k, slot, seer)
    s.discarded[s.card] += 1
    s.hints += 1


@kernel
def play_card(p, s, k, slot, seer):
    """A card onto its firework; one that does not fit is discarded, and costs a life."""
    s.card = take_card(p, s, k, slot, seer)
    s.scored = is_playable(p, s, s.card)
    if s.scored:
        color = color_of(p, s.card)
        s.firework[color] += 1
        s.gained = s.firework[color] == p.ranks and s.hints < p.hints
        s.hints += s.gained
    else:
        s.discarded[s.card] += 1
        s.lives -= 1
