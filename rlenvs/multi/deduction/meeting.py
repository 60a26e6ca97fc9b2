"""What the games share: hidden roles, who knows and accuses whom, the discussion, the vote and the end.

A player's word is a number: 0 is silence, then it accuses player j, vouches for player j, then what the game adds. The
actions that name a player begin at `players`, those that are words follow them.
"""

from typing import Any

from rlenvs.core import b1, below, block, i1, i2, i8, kernel

MOST_PLAYERS, MOST_ROUNDS = 10, 4
GOOD, EVIL = 0, 1  # roles; all further ones are good
ACTING, TALKING, VOTING = range(3)  # phases
PASS, SILENCE, NOBODY = 0, 0, -1
PRESENT, KILLED, EJECTED = range(3)  # fates
EARLIER, NOW = 1, 2  # when a player accused another one


def table_state(roles: int) -> dict[str, Any]:
    """The fields of the state."""
    return {
        "phase": i8.within(ACTING, VOTING),
        "spoken": i8.up_to("rounds"),  # of the discussion
        "role": i1("agents").within(0, roles - 1),
        "living": b1("agents"),
        "fate": i1("agents").within(PRESENT, EJECTED),  # as everybody knows
        "known": i1("agents", "agents").within(0, roles),  # 1 + the role that the first knows the second to have
        "said": i2("agents").index_of("words"),  # in the last round
        "vote": i1("agents").index_of("agents", low=NOBODY),  # in the last vote
        "accused": i1("agents", "agents").within(0, NOW),  # whether and when the first accused the second
        "wronged": i1("agents").within(0, MOST_PLAYERS),  # votes by which one who is good ejected another one
        "heard": b1("agents"),  # who had the floor in the last step
    }


def bits(*shape: Any, doc: str) -> Any:
    """A block of numbers that are 0 or 1; some stay what they are."""
    return block(*shape, low=0, high=1, raw=True, constant=True, whole=True, doc=doc)


def counts(*shape: Any, high: int, doc: str) -> Any:
    """A block of small whole numbers, passed on as they are; some stay what they are."""
    return block(*shape, low=0, high=high, raw=True, constant=True, whole=True, doc=doc)


def table_blocks(roles: int, phases: str) -> dict[str, Any]:
    """The blocks of the observation."""
    return {
        "me": bits("agents", doc="which player one is"),
        "phase": bits(3, doc=phases),
        "spoken": counts(high=MOST_ROUNDS, doc="rounds of the discussion so far"),
        "living": bits(doc="whether one lives"),
        "present": bits("agents", doc="who is in the game, as everybody knows"),
        "known": bits("agents", roles, doc="the roles that one knows, one's own among them"),
        "said": bits("agents", "words", doc="the word of each player in the last round, silence first"),
        "votes": bits("agents", "agents", doc="who voted for whom in the last vote"),
        "accused": counts("agents", "agents", high=NOW, doc="who accused whom, 2: in this meeting"),
    }


@kernel
def show_table(s, k, o):
    n = s.living.size
    o.phase[:] = 0.0
    o.phase[s.phase] = 1.0
    o.spoken = s.spoken
    o.living = s.living[k]
    o.known[:] = 0.0
    o.said[:] = 0.0
    o.votes[:] = 0.0
    for i in range(n):
        o.me[i] = i == k
        o.present[i] = s.fate[i] == PRESENT
        o.said[i, s.said[i]] = 1.0
        if s.known[k, i] > 0:
            o.known[i, s.known[k, i] - 1] = 1.0
        if s.vote[i] != NOBODY:
            o.votes[i, s.vote[i]] = 1.0
        for j in range(n):
            o.accused[i, j] = s.accused[i, j]


@kernel
def learn(s, k, j):
    """Player k learns the role of player j."""
    s.known[k, j] = 1 + s.role[j]


@kernel
def give_role(s, role, count, rng):
    """So many random players of those without a role get one."""
    n = s.living.size
    for _ in range(count):
        free = 0
        for k in range(n):
            free += s.role[k] == GOOD
        left = below(rng, free)
        for k in range(n):
            if s.role[k] == GOOD:
                if left == 0:
                    s.role[k] = role
                left -= 1


@kernel
def seat_players(s):
    """All live and know their own roles; those who are evil know each other."""
    n = s.living.size
    for k in range(n):
        s.living[k] = True
        s.vote[k] = NOBODY
        for j in range(n):
            if j == k or (s.role[k] == EVIL and s.role[j] == EVIL):
                learn(s, k, j)


@kernel
def is_open(s, k, j):
    """Whether player k may name player j: another one that is in the game, as far as everybody knows."""
    return j != k and s.fate[j] == PRESENT


# --- discussion and vote ----------------------------------------------------------------------------------------------


@kernel
def open_meeting(s):
    n = s.living.size
    s.phase = TALKING
    s.spoken = 0
    for k in range(n):
        s.said[k] = SILENCE
        s.vote[k] = NOBODY
        for j in range(n):
            s.accused[k, j] = min(s.accused[k, j], EARLIER)


@kernel
def named_in(word, n):
    """The player that a word accuses or vouches for, -1 for other words."""
    return (word - 1) % n if 1 <= word <= 2 * n else NOBODY


@kernel
def is_word(s, k, word):
    """Whether player k may say it: accusations and vouching are about others who are in the game."""
    j = named_in(word, s.living.size)
    return j == NOBODY or is_open(s, k, j)


@kernel
def talk(s, a, first, rounds):
    """A round of the discussion; the words begin at action `first`. Who may not say what it chose is silent."""
    n = s.living.size
    for k in range(n):
        word = a[k] - first + 1 if s.living[k] and a[k] >= first else SILENCE
        s.said[k] = word if is_word(s, k, word) else SILENCE
        s.heard[k] = s.living[k]
        if 1 <= s.said[k] <= n:
            s.accused[k, s.said[k] - 1] = NOW
    s.spoken += 1
    if s.spoken >= rounds:
        s.phase = VOTING


@kernel
def votes_for(s, j):
    """How many votes player j has, or nobody."""
    count = 0
    for k in range(s.living.size):
        count += s.living[k] and s.vote[k] == j
    return count


@kernel
def hold_vote(s, a, first, majority):
    """Who is voted out, if anybody: the player with the most votes where no other and not nobody has as many, or with
    `majority` the one for whom more than half of the living vote."""
    n, living, out = s.living.size, 0, NOBODY
    for k in range(n):
        j = a[k] - first
        s.vote[k] = j if s.living[k] and 0 <= j < n and is_open(s, k, min(max(j, 0), n - 1)) else NOBODY
        living += s.living[k]
    most = 0 if majority else votes_for(s, NOBODY)
    for j in range(n):
        count = votes_for(s, j)
        if count > most:
            out, most = j, count
        elif count == most:
            out = NOBODY
    return out if not majority or 2 * most > living else NOBODY


@kernel
def remove(s, j, fate, reveal):
    """Player j is out of the game, and everybody knows how; with `reveal` also who it was."""
    s.living[j] = False
    s.fate[j] = fate
    if reveal:
        for k in range(s.living.size):
            learn(s, k, j)


@kernel
def blame(s, out):
    """Count against those who are good that they voted out one of them; paid at the end, since it tells a role."""
    for k in range(s.living.size):
        if out != NOBODY and s.vote[k] == out and s.role[k] != EVIL and s.role[max(out, 0)] != EVIL:
            s.wronged[k] += 1


# --- the end ----------------------------------------------------------------------------------------------------------


@kernel
def winners(s):
    """The side that has won: GOOD when nobody evil lives, EVIL when at least as many live as others; else NOBODY."""
    good, evil = 0, 0
    for k in range(s.living.size):
        evil += s.living[k] and s.role[k] == EVIL
        good += s.living[k] and s.role[k] != EVIL
    return GOOD if evil == 0 else EVIL if evil >= good else NOBODY


@kernel
def settle(s, side, r):
    """The end, where a side has won; the dead win and lose with theirs."""
    for k in range(s.living.size):
        won = (s.role[k] == EVIL) == (side == EVIL)
        r.won[k] = 0.0 if side == NOBODY else 1.0 if won else -1.0
        r.innocent_ejected[k] = 0.0 if side == NOBODY else s.wronged[k]
        r.success[k] = side != NOBODY and won
        r.terminated[k] = side != NOBODY


# --- what scripted players conclude -----------------------------------------------------------------------------------


@kernel
def is_known_evil(s, k, j):
    return s.known[k, j] == 1 + EVIL


@kernel
def known_evil(s, k):
    """A player in the game that player k, who is good, knows to be evil; else NOBODY."""
    found = NOBODY
    for j in range(s.living.size - 1, -1, -1):
        if is_open(s, k, j) and is_known_evil(s, k, j):
            found = j
    return found


@kernel
def has_lied(s, k, i):
    """Whether player i accused somebody that player k knows to be good, such as itself."""
    found = False
    for j in range(s.living.size):
        found = found or (s.accused[i, j] > 0 and s.known[k, j] > 0 and not is_known_evil(s, k, j))
    return found


@kernel
def support(s, k, j):
    """How many players accuse player j in this meeting, less those that vouch for it now, of those that player k may
    believe."""
    n, found = s.living.size, 0
    for i in range(n):
        if i != k and s.living[i] and not has_lied(s, k, i):
            found += s.accused[i, j] == NOW
            found -= 1 if s.said[i] == 1 + n + j else 0
    return found


@kernel
def most_accused(s, k):
    """The player most of the others accuse in this meeting, not one that player k, if evil, knows as its like; the
    first of equals, NOBODY where none is accused."""
    n, found, most = s.living.size, NOBODY, 0
    for j in range(n):
        if is_open(s, k, j) and not (s.role[k] == EVIL and is_known_evil(s, k, j)):
            count = 0
            for i in range(n):
                count += i != k and s.living[i] and s.accused[i, j] == NOW
            if count > most:
                found, most = j, count
    return found


@kernel
def any_victim(s, k, rng):
    """A random other player in the game that player k does not know to be evil; NOBODY where there is none."""
    count, found = 0, NOBODY
    for j in range(s.living.size):
        count += is_open(s, k, j) and not is_known_evil(s, k, j)
    left = below(rng, count)
    for j in range(s.living.size):
        if is_open(s, k, j) and not is_known_evil(s, k, j):
            found = j if left == 0 else found
            left -= 1
    return found


@kernel
def accuse(j):
    """The word that accuses player j; silence for nobody."""
    return 1 + j


@kernel
def choice_of_word(word, first):
    return PASS if word == SILENCE else first + word - 1


@kernel
def choice_of_player(j, first):
    return PASS if j == NOBODY else first + j


def playing(choose):
    """A scripted player that passes when it is dead, and else does what `choose` (p, s, k, rng) says."""

    def play(p, s, k, a, rng):
        a[k] = choose(p, s, k, rng) if s.living[k] else PASS

    return play
