"""The rules of the village: the night, what players tell of themselves, and what scripted players conclude from it."""

from rlenvs.core import below, choice, kernel
from rlenvs.multi.deduction.meeting import (
    ACTING,
    EVIL,
    KILLED,
    NOBODY,
    NOW,
    PASS,
    VOTING,
    has_lied,
    is_known_evil,
    is_open,
    is_word,
    learn,
    open_meeting,
    remove,
    support,
)

SEER, DOCTOR = 2, 3  # after the villager (good) and the werewolf (evil)
FIRST_PLAYER = 1
INNOCENT, WEREWOLF = 1, 2  # what a player that claims to be the seer has told of another one
VOTE = choice("majority", "plurality", doc="how many votes it takes: more than half of the living, or most")
(MAJORITY,) = VOTE.codes("majority")


@kernel
def may_point(s, k, j):
    """Whether player k may choose player j at night: werewolves another one, the seer anybody else, the doctor
    anybody."""
    if s.fate[j] != 0 or (s.role[k] != EVIL and s.role[k] != SEER and s.role[k] != DOCTOR):
        return False
    if s.role[k] == EVIL:
        return s.role[j] != EVIL
    return j != k or s.role[k] == DOCTOR


@kernel
def is_legal(s, k, action):
    n = s.living.size
    if action == PASS or not s.living[k]:
        return action == PASS
    if s.phase == ACTING:
        return action < FIRST_PLAYER + n and may_point(s, k, action - FIRST_PLAYER)
    if s.phase == VOTING:
        return action < FIRST_PLAYER + n and is_open(s, k, action - FIRST_PLAYER)
    word = action - FIRST_PLAYER - n + 1
    return word > 0 and is_word(s, k, word) and (word <= 2 * n or (word - 1) % n != k)


@kernel
def pointed_at(s, a, k):
    """Whom player k chose at night, NOBODY where it may not or did not."""
    j = a[k] - FIRST_PLAYER
    if s.living[k] and 0 <= j < s.living.size and may_point(s, k, j):
        return j
    return NOBODY


@kernel
def victim_of_night(s, a, rng):
    """Whom the werewolves attack: one of those who chose decides, at random."""
    count, found = 0, NOBODY
    for k in range(s.living.size):
        count += s.role[k] == EVIL and pointed_at(s, a, k) != NOBODY
    left = below(rng, count)
    for k in range(s.living.size):
        if s.role[k] == EVIL and pointed_at(s, a, k) != NOBODY:
            found = pointed_at(s, a, k) if left == 0 else found
            left -= 1
    return found


@kernel
def pass_night(s, a, reveal, rng):
    """The seer learns a role, and the victim dies unless the doctor protects it; then the meeting begins."""
    victim, guarded = victim_of_night(s, a, rng), NOBODY
    for k in range(s.living.size):
        j = pointed_at(s, a, k)
        s.heard[k] = s.living[k] and s.role[k] == EVIL
        if s.role[k] == SEER and j != NOBODY:
            learn(s, k, j)
        if s.role[k] == DOCTOR:
            guarded = j
    if victim != NOBODY and victim != guarded:
        remove(s, victim, KILLED, reveal)
    open_meeting(s)


@kernel
def note_claims(s):
    """Who claims to be the seer, and what it tells; whom it calls a werewolf it accuses."""
    n = s.living.size
    for k in range(n):
        word = s.said[k] - 1 - 2 * n
        if word >= 0:
            s.claimed[k, word % n] = WEREWOLF if word < n else INNOCENT
            if word < n:
                s.accused[k, word % n] = NOW


# --- what scripted players conclude -----------------------------------------------------------------------------------


@kernel
def claims_seer(s, i):
    """Whether player i has claimed to be the seer."""
    found = False
    for j in range(s.living.size):
        found = found or s.claimed[i, j] > 0
    return found


@kernel
def other_seer(s, k):
    """Another player in the game that has claimed to be the seer, the first one not known to be evil; else NOBODY."""
    found = NOBODY
    for j in range(s.living.size - 1, -1, -1):
        if is_open(s, k, j) and claims_seer(s, j) and not is_known_evil(s, k, j):
            found = j
    return found


@kernel
def may_be_seer(s, k, i):
    """Whether player i claims to be the seer, and player k knows nothing against it."""
    if not claims_seer(s, i) or is_known_evil(s, k, i) or has_lied(s, k, i):
        return False
    found = s.role[k] != SEER or i == k
    for j in range(s.living.size):
        found = found and not (is_known_evil(s, k, j) and s.claimed[i, j] == INNOCENT)
    return found


@kernel
def has_rival(s, k, i):
    """Whether another player may be the seer that player i claims to be. Who is killed at night was no werewolf."""
    found = False
    for j in range(s.living.size):
        found = found or (j != i and may_be_seer(s, k, j) and (s.fate[i] != KILLED or s.fate[j] == KILLED))
    return found


@kernel
def suspicion(s, k, j):
    """How much speaks against player j in the eyes of player k, who is good. Only the word of a seer without a rival
    counts, twice as much as an accusation, and rivals speak against each other as much."""
    found = support(s, k, j) + (3 if has_lied(s, k, j) or is_known_evil(s, k, j) else 0)
    if claims_seer(s, j):
        found += 3 if not may_be_seer(s, k, j) else 2 if has_rival(s, k, j) else 0
    for i in range(s.living.size):
        if s.claimed[i, j] > 0 and may_be_seer(s, k, i) and not has_rival(s, k, i):
            found += 2 if s.claimed[i, j] == WEREWOLF else -2
    return found


@kernel
def most_suspect(s, k):
    """The player that player k, who is good, finds most suspect, the first of equals; NOBODY where nothing is against
    anybody."""
    found, most = NOBODY, 0
    for j in range(s.living.size):
        if is_open(s, k, j) and not (s.known[k, j] > 0 and not is_known_evil(s, k, j)):
            value = suspicion(s, k, j)
            if value > most:
                found, most = j, value
    return found
