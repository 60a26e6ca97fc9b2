"""Scripted players of Hanabi, who see what their agent does: the others' cards, all hints, what lies on the table."""

from rlenvs.core import below, copied, kernel
from rlenvs.multi.hanabi.rules import (
    color_of,
    give_hint,
    is_color_hint,
    is_critical,
    is_legal,
    is_playable,
    is_touched,
    is_useless,
    oldest_untouched,
    rank_of,
    target_of,
)

URGENT, GOOD, NEVER = 20.0, 5.0, -1000.0  # values of hints: given before a play, before a discard; below all others


@kernel
def choose_random(p, s, k, choices, rng):
    """Any allowed move."""
    count = 0
    for action in range(choices):
        count += is_legal(p, s, k, action)
    wanted = below(rng, count)
    for action in range(choices):
        if is_legal(p, s, k, action):
            if wanted == 0:
                return action
            wanted -= 1
    return 0


# --- simple: the learning environment's SimpleAgent -------------------------------------------------------------------


@kernel
def choose_simple(p, s, k):
    """Play the first card of which a hint has told something; else hint the color of a playable card; else discard the
    oldest."""
    hand = s.hand.shape[1]
    for slot in range(hand):
        if s.hand[k, slot] >= 0 and is_touched(s, k, slot):
            return hand + slot
    if s.hints > 0:
        for offset in range(1, s.alive.size):
            other = (k + offset) % s.alive.size
            for slot in range(hand):
                card = s.hand[other, slot]
                if card >= 0 and is_playable(p, s, card) and not s.told_color[other, slot]:
                    return 2 * hand + (offset - 1) * p.colors + color_of(p, card)
    return 0 if s.hints < p.hints else hand


# --- convention -------------------------------------------------------------------------------------------------------


@kernel
def unseen(p, s, k, me, card):
    """How many copies of a kind may be in the hand of player k, as far as both it and player `me` see."""
    color, rank = color_of(p, card), rank_of(p, card)
    left = p.copies[rank] - s.discarded[card] - (1 if s.firework[color] > rank else 0)
    for j in range(s.alive.size):
        if j != k and j != me:
            for slot in range(s.hand.shape[1]):
                left -= s.hand[j, slot] == card
    return left


@kernel
def outlook(p, s, k, slot, me):
    """Copies that a card of player k can be, as far as both it and player `me` know: all of them, the playable and the
    useless ones."""
    total, playable, useless = 0, 0, 0
    for color in range(p.colors):
        if (s.open_colors[k, slot] >> color) & 1 == 1:
            for rank in range(p.ranks):
                if (s.open_ranks[k, slot] >> rank) & 1 == 1:
                    card = color * p.ranks + rank
                    left = max(unseen(p, s, k, me, card), 0)
                    total += left
                    if is_playable(p, s, card):
                        playable += left
                    elif is_useless(p, s, card):
                        useless += left
    return total, playable, useless


@kernel
def will_play(p, s, k, slot, me):
    """Whether player k takes a card for playable: it must be, or a hint has asked for it and it can be."""
    total, playable, _ = outlook(p, s, k, slot, me)
    return total > 0 and (playable == total or (s.focus[k, slot] and playable > 0))


@kernel
def card_to_play(p, s, k, me):
    """The place of the card that player k plays next; the newest that a hint has asked for comes first. -1 for none."""
    found = -1
    for slot in range(s.hand.shape[1] - 1, -1, -1):
        if s.hand[k, slot] >= 0 and will_play(p, s, k, slot, me):
            if s.focus[k, slot]:
                return slot
            found = slot if found < 0 else found
    return found


@kernel
def card_to_discard(p, s, k, me):
    """The place of the card that player k discards next: one that must be useless, or the oldest that no hint has
    touched; else the one that is useless most likely."""
    best, most = 0, -1.0
    for slot in range(s.hand.shape[1]):
        if s.hand[k, slot] >= 0:
            total, _, useless = outlook(p, s, k, slot, me)
            if total > 0 and useless == total:
                return slot
            if useless > most * total:
                best, most = slot, useless / max(total, 1)
    untouched = oldest_untouched(s, k)
    return untouched if untouched >= 0 else best


@kernel
def is_promised(p, s, card, holder, place, me):
    """Whether another copy of a card was touched by a hint, or is one that `me` may have been asked to play."""
    color, rank = color_of(p, card), rank_of(p, card)
    for j in range(s.alive.size):
        for slot in range(s.hand.shape[1]):
            if j == me:
                both = (s.open_colors[j, slot] >> color) & (s.open_ranks[j, slot] >> rank) & 1
                if both == 1 and s.focus[j, slot]:
                    return True
            elif s.hand[j, slot] == card and (j != holder or slot != place) and is_touched(s, j, slot):
                return True
    return False


@kernel
def worth_of_hint(p, s, me, action):
    """How good a hint is: the cards that its receiver plays then, and did not before; dangers averted; waste."""
    after = copied(s)
    give_hint(p, after, me, action)
    k, value = target_of(p, s, me, action), 0.0
    for slot in range(s.hand.shape[1]):
        card = s.hand[k, slot]
        if card < 0:
            continue
        wasted = is_useless(p, s, card) or is_promised(p, s, card, k, slot, me)
        if will_play(p, after, k, slot, me):
            if not is_playable(p, s, card):
                return NEVER
            if not will_play(p, s, k, slot, me):
                value += -5.0 if wasted else 10.0
        elif is_touched(after, k, slot) and not is_touched(s, k, slot):
            value += -1.0 if wasted else 0.5
    if averts_loss(p, s, after, k, me):
        value += URGENT if k == (me + 1) % s.alive.size else GOOD
    return value + 0.1 * (not is_color_hint(p, s, action))


@kernel
def averts_loss(p, s, after, k, me):
    """Whether a hint keeps player k from discarding the last card of its kind."""
    if card_to_play(p, s, k, me) >= 0:
        return False
    lost = card_to_discard(p, s, k, me)
    if s.hand[k, lost] < 0 or not is_critical(p, s, s.hand[k, lost]):
        return False
    return card_to_play(p, after, k, me) >= 0 or card_to_discard(p, after, k, me) != lost


@kernel
def choose_convention(p, s, k, choices):
    """Hints ask for the newest card that they touch, and cards that hints touch are kept."""
    hand, best, most = s.hand.shape[1], -1, NEVER - 1.0
    if s.hints > 0:
        for action in range(2 * hand, choices):
            if is_legal(p, s, k, action):
                value = worth_of_hint(p, s, k, action)
                if value > most:
                    best, most = action, value
    play = card_to_play(p, s, k, k)
    if most >= URGENT:
        return best
    if play >= 0:
        return hand + play
    if most >= GOOD or (s.hints == p.hints and best >= 0):
        return best
    if s.dealt == s.deck.size and s.lives > 1:
        return hand + likeliest(p, s, k)
    return card_to_discard(p, s, k, k) if s.hints < p.hints else hand


@kernel
def likeliest(p, s, k):
    """The place of the card of player k that can be placed most likely."""
    best, most = 0, -1.0
    for slot in range(s.hand.shape[1]):
        if s.hand[k, slot] >= 0:
            total, playable, _ = outlook(p, s, k, slot, k)
            if playable > most * total:
                best, most = slot, playable / max(total, 1)
    return best
