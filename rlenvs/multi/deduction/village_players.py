"""Scripted players of Werewolf. Each plays all roles, by what its agent observes."""

from rlenvs.core import below, kernel
from rlenvs.multi.deduction.meeting import (
    ACTING,
    EVIL,
    NOBODY,
    NOW,
    PASS,
    PRESENT,
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
from rlenvs.multi.deduction.village import (
    DOCTOR,
    FIRST_PLAYER,
    SEER,
    claims_seer,
    is_legal,
    most_suspect,
    other_seer,
)


@kernel
def choose_random(p, s, k, rng):
    """Any allowed action; werewolves, the seer and the doctor always choose somebody at night."""
    n = s.living.size
    count, found, actions = 0, PASS, FIRST_PLAYER + 5 * n
    for action in range(actions):
        count += is_legal(s, k, action)
    first = 1 if count > 1 and s.phase == ACTING else 0
    left = below(rng, count - first)
    for action in range(first, actions):
        if is_legal(s, k, action):
            found = action if left == 0 else found
            left -= 1
    return found


# --- at night ---------------------------------------------------------------------------------------------------------


@kernel
def any_unknown(s, k, rng):
    """A random other player in the game whose role player k does not know; NOBODY where there is none."""
    count, found = 0, NOBODY
    for j in range(s.living.size):
        count += is_open(s, k, j) and s.known[k, j] == 0
    left = below(rng, count)
    for j in range(s.living.size):
        if is_open(s, k, j) and s.known[k, j] == 0:
            found = j if left == 0 else found
            left -= 1
    return found


@kernel
def at_night(s, k, rng):
    """Werewolves attack who claims to be the seer, and the doctor protects it; else, as the seer does, anybody."""
    seer = other_seer(s, k)
    if s.role[k] == SEER:
        return choice_of_player(any_unknown(s, k, rng), FIRST_PLAYER)
    if s.role[k] == DOCTOR:
        return FIRST_PLAYER + (seer if seer != NOBODY else k)
    if s.role[k] == EVIL:
        return choice_of_player(seer if seer != NOBODY else any_victim(s, k, rng), FIRST_PLAYER)
    return PASS


# --- in meetings ------------------------------------------------------------------------------------------------------


@kernel
def finding(s, k):
    """The word by which the seer tells what it knows: of a werewolf first, then of those of whom it has not told;
    SILENCE when all is told."""
    n, found = s.living.size, SILENCE
    evil = known_evil(s, k)
    if evil != NOBODY:
        return 1 + 2 * n + evil
    for j in range(n):
        if is_open(s, k, j) and s.known[k, j] > 0 and s.claimed[k, j] == 0:
            found = 1 + 3 * n + j
    return found


@kernel
def own_evidence(s, k):
    """Whom player k, who is good, has caught: known to be a werewolf, accusing somebody who is good, or, for the seer,
    claiming its role; NOBODY without evidence."""
    found = known_evil(s, k)
    for j in range(s.living.size):
        if found == NOBODY and is_open(s, k, j) and (has_lied(s, k, j) or (s.role[k] == SEER and claims_seer(s, j))):
            found = j
    return found


@kernel
def choose_honest(p, s, k, rng):
    """The seer tells what it learns; the good accuse whom they have caught and vote for who is most suspect, by the
    word of a seer above all; werewolves are silent and vote with the others."""
    n, evil = s.living.size, s.role[k] == EVIL
    if s.phase == ACTING:
        return at_night(s, k, rng)
    if s.phase == TALKING:
        if evil:
            return PASS
        told = finding(s, k) if s.role[k] == SEER else SILENCE
        return choice_of_word(told if told != SILENCE else accuse(own_evidence(s, k)), FIRST_PLAYER + n)
    return choice_of_player(most_accused(s, k) if evil else most_suspect(s, k), FIRST_PLAYER)


@kernel
def frame(s, k, rng):
    """Whom a werewolf wants voted out: who claims to be the seer, who is most accused, or anybody."""
    seer, most = other_seer(s, k), most_accused(s, k)
    return seer if seer != NOBODY else most if most != NOBODY else any_victim(s, k, rng)


@kernel
def leads(s, k):
    """Whether player k is the first of the werewolves in the game."""
    found = True
    for j in range(k):
        found = found and not (is_open(s, k, j) and is_known_evil(s, k, j))
    return found


@kernel
def choose_liar(p, s, k, rng):
    """As werewolf, the first of them claims to be the seer and to have found one; the others join in most accusations
    and all vote so. Otherwise honest."""
    n = s.living.size
    if s.role[k] != EVIL or s.phase == ACTING:
        return choose_honest(p, s, k, rng)
    target = most_accused(s, k)
    if leads(s, k):
        target = frame(s, k, rng)
        for j in range(n):
            if s.accused[k, j] == NOW and is_open(s, k, j):
                target = j
    if s.phase != TALKING:
        return choice_of_player(target, FIRST_PLAYER)
    if leads(s, k) and target != NOBODY:
        return FIRST_PLAYER + 3 * n + target
    return choice_of_word(accuse(target), FIRST_PLAYER + n)


@kernel
def choose_silent(p, s, k, rng):
    """Never speaks; the good vote for whom they know to be a werewolf, werewolves for nobody."""
    if s.phase == ACTING:
        return at_night(s, k, rng)
    if s.phase == TALKING or s.role[k] == EVIL:
        return PASS
    return choice_of_player(known_evil(s, k), FIRST_PLAYER)


@kernel
def choose_parrot(p, s, k, rng):
    """Repeats the accusation that most others make, and votes so."""
    if s.phase == ACTING:
        return at_night(s, k, rng)
    found = most_accused(s, k)
    if s.phase == TALKING:
        return choice_of_word(accuse(found), FIRST_PLAYER + s.living.size)
    return choice_of_player(found, FIRST_PLAYER)


# --- the common lottery -----------------------------------------------------------------------------------------------


@kernel
def present_before(s, j):
    """How many players in the game come before player j."""
    count = 0
    for i in range(j):
        count += s.fate[i] == PRESENT
    return count


@kernel
def drawn_player(s):
    """The player drawn by the words of the last round: each player in the game has drawn the one that it accuses, or
    itself where it accuses nobody, and the sum of their places is the place of the one that all draw together."""
    n, count, total, found = s.living.size, 0, 0, NOBODY
    for k in range(n):
        if s.fate[k] == PRESENT:
            count += 1
            total += present_before(s, s.said[k] - 1 if 1 <= s.said[k] <= n else k)
    for j in range(n):
        if s.fate[j] == PRESENT and present_before(s, j) == total % max(count, 1):
            found = j
    return found


@kernel
def choose_lottery(p, s, k, rng):
    """The good draw together whom they vote out; werewolves take part, and attack anybody. Without seer and doctor
    nothing is better (Braverman et al.)."""
    n = s.living.size
    if s.phase == ACTING:
        target = any_unknown(s, k, rng) if s.role[k] == SEER else any_victim(s, k, rng)
        return choice_of_player(target, FIRST_PLAYER) if s.role[k] == EVIL or s.role[k] >= SEER else PASS
    if s.phase == TALKING:
        count = 0
        for j in range(n):
            count += s.fate[j] == PRESENT
        left, drawn = below(rng, count), k
        for j in range(n):
            if s.fate[j] == PRESENT:
                drawn = j if left == 0 else drawn
                left -= 1
        return PASS if drawn == k else FIRST_PLAYER + n + drawn
    drawn = drawn_player(s)
    return PASS if drawn == k else choice_of_player(drawn, FIRST_PLAYER)
