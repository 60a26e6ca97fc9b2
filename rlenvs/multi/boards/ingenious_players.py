"""Scripted players of Ingenious."""

from rlenvs.core import below, kernel
from rlenvs.multi.boards.ingenious_rules import MOST, RACK, choice_of, is_free, keeping, points_at

HOPELESS = -1


@kernel
def choose_random(p, s, k, rng):
    """Any move that is allowed."""
    places, tiles, free = p.place.shape[0], 0, 0
    if s.offered:
        return keeping(p) + below(rng, 2)
    for slot in range(RACK):
        tiles += s.rack[k, slot, 0] >= 0
    for place in range(places):
        free += is_free(p, s, place)
    left = below(rng, max(tiles * free, 1))
    for slot in range(RACK):
        if s.rack[k, slot, 0] >= 0:
            for place in range(places):
                if is_free(p, s, place):
                    if left == 0:
                        return choice_of(p, s, k, slot, place)
                    left -= 1
    return 0


@kernel
def worth_of(score, points, balanced):
    """What more points in a colour are worth: as many as count, or the more the less one has."""
    after = min(score + points, MOST)
    if not balanced:
        return after - score
    return (MOST - score) ** 2 - (MOST - after) ** 2


@kernel
def choose_best(p, s, k, balanced, rng):
    """The move that is worth most, any of these; balanced, the first of these."""
    places = p.place.shape[0]
    best, chosen, count = HOPELESS, 0, 0
    if s.offered:
        return keeping(p) + 1  # none of its tiles is of use for its lowest score
    for place in range(places):
        if not is_free(p, s, place):
            continue
        first, second = p.place[place, 0], p.place[place, 1]
        for slot in range(RACK):
            one, two = s.rack[k, slot, 0], s.rack[k, slot, 1]
            if one < 0:
                continue
            points = points_at(p, s, first, second, one)
            more = points_at(p, s, second, first, two)
            if one == two:
                value = worth_of(s.score[k, one], points + more, balanced)
            else:
                value = worth_of(s.score[k, one], points, balanced) + worth_of(s.score[k, two], more, balanced)
            count = 1 if value > best else count + (value == best)
            if value > best or (value == best and not balanced and below(rng, count) == 0):
                best, chosen = value, choice_of(p, s, k, slot, place)
    return chosen
