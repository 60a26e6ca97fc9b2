"""Scripted players of the ship. Each plays both roles, by what its agent observes."""

from rlenvs.core import below, kernel
from rlenvs.multi.deduction.meeting import (
    ACTING,
    EVIL,
    GOOD,
    NOBODY,
    PASS,
    SILENCE,
    TALKING,
    accuse,
    any_victim,
    choice_of_player,
    choice_of_word,
    has_lied,
    is_known_evil,
    is_open,
    known_evil,
    most_accused,
)
from rlenvs.multi.deduction.ship import (
    BUTTON,
    FIRST_PLAYER,
    REPORT,
    TASK,
    has_body,
    is_caught,
    is_here,
    is_legal,
    most_suspect,
    nearest_task,
    random_move,
    start_room,
    step_towards,
)


@kernel
def choose_random(p, s, k, rng):
    """Any allowed action."""
    n, rooms = s.living.size, s.open.shape[1]
    count, found, actions = 0, PASS, FIRST_PLAYER + 3 * n + 2 * rooms
    for action in range(actions):
        count += is_legal(p, s, k, action)
    left = below(rng, count)
    for action in range(actions):
        if is_legal(p, s, k, action):
            found = action if left == 0 else found
            left -= 1
    return found


# --- between meetings -------------------------------------------------------------------------------------------------


@kernel
def roam(p, s, k, rng):
    return hunt(p, s, k, rng, False) if s.role[k] == EVIL else work(p, s, k)


@kernel
def work(p, s, k):
    """A crew member: reports, calls a meeting when it knows an impostor, does its tasks, then waits at the start."""
    if has_body(s, s.room[k]):
        return REPORT
    if known_evil(s, k) != NOBODY and s.buttons > 0:
        return BUTTON if s.room[k] == start_room(p) else step_towards(p, s.room[k], start_room(p))
    if s.open[k, s.room[k]] > 0:
        return TASK
    return step_towards(p, s.room[k], nearest_task(p, s, k))


@kernel
def hunt(p, s, k, rng, bold):
    """An impostor: kills whom it is alone with, or if bold whoever is there, and stays with a single victim until it
    may kill."""
    victims, victim = 0, NOBODY
    for j in range(s.living.size):
        if is_here(s, k, j) and not is_known_evil(s, k, j):
            victims, victim = victims + 1, j
    if s.cooldown[k] == 0 and (victims == 1 or (bold and victims > 1)):
        return FIRST_PLAYER + victim
    if victims == 1 and not has_body(s, s.room[k]):
        return PASS
    return random_move(p, s, k, rng)


# --- in meetings ------------------------------------------------------------------------------------------------------


@kernel
def claim(s, room, worked):
    """The word that one was in a room, or did a task there."""
    n, rooms = s.living.size, s.open.shape[1]
    return 1 + 2 * n + room + (rooms if worked else 0)


@kernel
def alibi(s, k):
    """The truth on where the meeting found one; then vouching for somebody who was there."""
    if s.spoken == 0:
        return claim(s, s.room[k], s.worked[k])
    for j in range(s.living.size):
        if is_here(s, k, j) and not (s.role[k] == GOOD and is_known_evil(s, k, j)):
            return 1 + s.living.size + j
    return SILENCE


@kernel
def own_evidence(s, k):
    """Whom player k, who is good, has caught itself: killing, accusing somebody who is good, or telling a lie about its
    room; NOBODY without evidence."""
    found = known_evil(s, k)
    for j in range(s.living.size):
        if found == NOBODY and is_open(s, k, j) and (has_lied(s, k, j) or is_caught(s, k, j)):
            found = j
    return found


@kernel
def frame(s, k, rng):
    """Whom an impostor wants voted out: the one most accused, else anybody."""
    found = most_accused(s, k)
    return found if found != NOBODY else any_victim(s, k, rng)


@kernel
def false_alibi(s, k, rng):
    """A task in the room where it was if somebody saw it there; else in another one."""
    seen, rooms = False, s.open.shape[1]
    for j in range(s.living.size):
        seen = seen or is_here(s, k, j)
    return claim(s, s.room[k] if seen else (s.room[k] + 1 + below(rng, rooms - 1)) % rooms, True)


@kernel
def choose_honest(p, s, k, rng):
    """As crew: says whom it has caught and where it was, and votes for who is most suspect. As impostor: kills, tells
    the truth on its room, and votes with the others."""
    evil = s.role[k] == EVIL
    if s.phase == ACTING:
        return roam(p, s, k, rng)
    if s.phase == TALKING:
        caught = NOBODY if evil else own_evidence(s, k)
        return choice_of_word(alibi(s, k) if caught == NOBODY else accuse(caught), FIRST_PLAYER + s.living.size)
    if evil:
        return choice_of_player(most_accused(s, k), FIRST_PLAYER)
    known = known_evil(s, k)
    return choice_of_player(known if known != NOBODY else most_suspect(s, k), FIRST_PLAYER)


@kernel
def choose_liar(p, s, k, rng):
    """As crew: honest. As impostor: claims tasks that it did not do, then accuses somebody, and votes so."""
    if s.role[k] != EVIL or s.phase == ACTING:
        return choose_honest(p, s, k, rng)
    if s.phase == TALKING:
        word = false_alibi(s, k, rng) if s.spoken == 0 else accuse(frame(s, k, rng))
        return choice_of_word(word, FIRST_PLAYER + s.living.size)
    return choice_of_player(frame(s, k, rng), FIRST_PLAYER)


@kernel
def choose_bold(p, s, k, rng):
    """As crew: honest. As impostor: a liar that kills whenever it may, seen or not."""
    if s.role[k] == EVIL and s.phase == ACTING:
        return hunt(p, s, k, rng, True)
    return choose_liar(p, s, k, rng)


@kernel
def choose_silent(p, s, k, rng):
    """Never speaks; as crew it votes for whom it saw kill, as impostor for nobody."""
    if s.phase == ACTING:
        return roam(p, s, k, rng)
    if s.phase == TALKING or s.role[k] == EVIL:
        return PASS
    return choice_of_player(known_evil(s, k), FIRST_PLAYER)


@kernel
def choose_parrot(p, s, k, rng):
    """Repeats the accusation that most others make, and votes so."""
    if s.phase == ACTING:
        return roam(p, s, k, rng)
    found = most_accused(s, k)
    if s.phase == TALKING:
        return choice_of_word(accuse(found), FIRST_PLAYER + s.living.size)
    return choice_of_player(found, FIRST_PLAYER)
