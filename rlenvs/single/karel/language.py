"""The Karel language of LEAPS and HPRL: programs as rows of tokens, which kernels read, check and run.

    program    DEF run m( statements m)
    statement  move | turnLeft | turnRight | pickMarker | putMarker
               REPEAT R=n r( statements r)                                       n from 0 to 19
               WHILE c( condition c) w( statements w)
               IF c( condition c) i( statements i)
               IFELSE c( condition c) i( statements i) ELSE e( statements e)
    condition  frontIsClear | leftIsClear | rightIsClear | markersPresent | noMarkersPresent | not c( condition c)

A token is a number from 0 to 50: its place in `TOKENS`. Token 0, "", stands behind the end of a program.
"""

from typing import Any

import numpy as np

from rlenvs.core import kernel
from rlenvs.core.declare.errors import nearest, shortened
from rlenvs.single.karel.rules import ACTIONS, PERCEPTIONS, perceives

__all__ = ["TOKENS", "decode", "encode", "parse_program", "read_program"]

MOST_REPEATS = 19
TOKENS = (
    "",
    *ACTIONS,
    *PERCEPTIONS,
    *("DEF", "run", "REPEAT", "WHILE", "IF", "IFELSE", "ELSE", "not"),
    *("m(", "r(", "w(", "i(", "e(", "c("),
    *("m)", "r)", "w)", "i)", "e)", "c)"),
    *(f"R={n}" for n in range(MOST_REPEATS + 1)),
)
END = 0
FIRST_ACTION, FIRST_PERCEPTION, FIRST_NUMBER = (TOKENS.index(name) for name in (ACTIONS[0], PERCEPTIONS[0], "R=0"))
DEF, RUN, REPEAT, WHILE, IF, IFELSE, ELSE, NOT = (FIRST_PERCEPTION + len(PERCEPTIONS) + k for k in range(8))
M_OPEN, R_OPEN, W_OPEN, I_OPEN, E_OPEN, C_OPEN = (NOT + 1 + k for k in range(6))
BRACKETS = 6  # from an opening bracket to the closing one
M_CLOSE, R_CLOSE, W_CLOSE, I_CLOSE, E_CLOSE, C_CLOSE = (C_OPEN + 1 + k for k in range(BRACKETS))
PLACE, CALLS = 0, 1  # of a run: the next token, and the calls so far
ENDED, HALTED = -1, -2


# --- reading ----------------------------------------------------------------------------------------------------------


@kernel
def token_at(tokens, j):
    """A token; END behind the last one."""
    return int(tokens[j]) if j < tokens.size else END


@kernel
def is_action(token):
    return FIRST_ACTION <= token < FIRST_PERCEPTION


@kernel
def condition_end(tokens, j):
    """Where the condition that begins at j is over; minus the place of its first wrong token."""
    if token_at(tokens, j) != C_OPEN:
        return -j
    j += 1
    depth = 1
    while token_at(tokens, j) == NOT:
        if token_at(tokens, j + 1) != C_OPEN:
            return -(j + 1)
        depth += 1
        j += 2
    if not FIRST_PERCEPTION <= token_at(tokens, j) < DEF:
        return -j
    for _ in range(depth):
        j += 1
        if token_at(tokens, j) != C_CLOSE:
            return -j
    return j + 1


@kernel
def block_start(tokens, j):
    """Where the block of the WHILE, IF, IFELSE or REPEAT at j opens; minus the place of the first wrong token."""
    head = token_at(tokens, j)
    bracket = I_OPEN
    if head == REPEAT:
        if token_at(tokens, j + 1) < FIRST_NUMBER:
            return -(j + 1)
        start = j + 2
        bracket = R_OPEN
    else:
        start = condition_end(tokens, j + 1)
        if head == WHILE:
            bracket = W_OPEN
    if start < 0 or token_at(tokens, start) == bracket:
        return start
    return -start


@kernel
def close_block(tokens, code, opened, j):
    """Link the brackets of a block that ends at j with what the block belongs to. Returns where reading goes on."""
    head = int(code[opened - 1, 0])
    code[opened, 0] = j
    code[j, 0] = j
    if tokens[opened] == W_OPEN or tokens[opened] == R_OPEN:
        code[j, 0] = head
    elif tokens[opened] == E_OPEN:
        code[head, 0] = j  # the end of the first branch leads behind the second
    return j + 3 if tokens[head] == IFELSE else j + 1


@kernel
def read_program(tokens, code):
    """Check a program, and link its tokens. Returns how many tokens it has, or minus the place of the first wrong one.

    `code` (tokens, 2) gets in column 0, of a head (REPEAT, WHILE, IF, IFELSE), where its block opens; of an opening
    bracket, where it closes; of a closing one, to where the run goes back (REPEAT, WHILE) or behind what it goes on.
    Column 1 of an opening bracket is the number of its statements.
    """
    for j in range(3):
        if token_at(tokens, j) != (DEF, RUN, M_OPEN)[j]:
            return -j
    opened, j = 2, 3
    code[1, 0] = 0
    code[2, 0], code[2, 1] = 0, 0
    while j < tokens.size:
        token = token_at(tokens, j)
        if is_action(token):
            code[opened, 1] += 1
            j += 1
        elif REPEAT <= token <= IFELSE:
            start = block_start(tokens, j)
            if start < 0:
                return start
            code[opened, 1] += 1
            code[j, 0] = start
            code[start - 1, 0] = j
            code[start, 0], code[start, 1] = opened, 0  # what is open around it, until it closes
            opened, j = start, start + 1
        elif token != tokens[opened] + BRACKETS or code[opened, 1] == 0:
            return -j
        elif token == M_CLOSE:
            code[2, 0], code[j, 0] = j, j
            for k in range(j + 1, tokens.size):
                if tokens[k] != END:
                    return -k
            return j + 1
        else:
            around = int(code[opened, 0])
            after = close_block(tokens, code, opened, j)
            opened = around
            if after == j + 3:
                if token_at(tokens, j + 1) != ELSE:
                    return -(j + 1)
                if token_at(tokens, j + 2) != E_OPEN:
                    return -(j + 2)
                code[j + 1, 0] = j
                code[j + 2, 0], code[j + 2, 1] = opened, 0
                opened = j + 2
            j = after
    return -tokens.size


# --- running ----------------------------------------------------------------------------------------------------------


@kernel
def holds(s, tokens, head):
    """Whether the condition of the head at a place holds."""
    j, value = head + 2, True
    while token_at(tokens, j) == NOT:
        value = not value
        j += 2
    return perceives(s, token_at(tokens, j) - FIRST_PERCEPTION) == value


@kernel
def enter(code, run, opened):
    """Go into a block. A sequence of n statements is n - 1 pairs, each of which takes two calls."""
    run[CALLS] += 2 * max(int(code[opened, 1]) - 1, 0)
    run[PLACE] = opened + 1


@kernel
def branch(s, tokens, code, left, run, j):
    """Go on at a head: into its block, into the other one, or behind it."""
    run[CALLS] += 2
    opened = int(code[j, 0])
    if tokens[j] == REPEAT:
        left[j] = tokens[j + 1] - FIRST_NUMBER
        inside = left[j] > 0
    else:
        inside = holds(s, tokens, j)
    if inside:
        enter(code, run, opened)
    elif tokens[j] == IFELSE:
        enter(code, run, int(code[opened, 0]) + 2)
    else:
        run[PLACE] = code[opened, 0] + 1


@kernel
def leave(s, tokens, code, left, run, j):
    """Go on at a closing bracket: back into its block, or behind it."""
    head = int(code[j, 0])
    again = False
    if tokens[j] == W_CLOSE:
        again = holds(s, tokens, head)
    elif tokens[j] == R_CLOSE:
        left[head] -= 1
        again = left[head] > 0
    if again:
        enter(code, run, int(code[head, 0]))
    elif tokens[j] == I_CLOSE or tokens[j] == E_CLOSE:
        run[PLACE] = head + 1
    else:
        run[PLACE] = j + 1


@kernel
def next_action(s, tokens, code, left, run, most_calls):
    """Run a program up to its next action, and return that, ENDED, or HALTED after too many calls.

    Calls are counted as HPRL's interpreter does, which is a tree of functions: one for the program and each statement,
    one more for a statement with a block, two for each pair of statements when their sequence begins.
    """
    while run[PLACE] < tokens.size:
        j = int(run[PLACE])
        token = int(tokens[j])
        if run[CALLS] > most_calls:
            return HALTED
        if is_action(token):
            run[CALLS] += 1
            run[PLACE] = j + 1
            return token - FIRST_ACTION if run[CALLS] <= most_calls else HALTED
        if token == DEF:
            run[CALLS] += 1
            enter(code, run, 2)
        elif REPEAT <= token <= IFELSE:
            branch(s, tokens, code, left, run, j)
        elif R_CLOSE <= token <= E_CLOSE:
            leave(s, tokens, code, left, run, j)
        else:
            run[PLACE] = tokens.size  # the end of the program
    return ENDED


# --- texts ------------------------------------------------------------------------------------------------------------


def read_words(text: str) -> list[int]:
    """The tokens of a program in words; ValueError where a word is none of the language."""
    for word in text.split():
        if word not in TOKENS:
            raise ValueError(f"{shortened(word)} is not a token of the Karel language. {nearest(word, TOKENS[1:])}")
    return [TOKENS.index(word) for word in text.split()]


def encode(text: str, length: int) -> np.ndarray:
    """The action for a program in words, int64 (length,), with zeros at its end.

    ValueError where a word is unknown, where the program breaks the grammar, or has more than `length` tokens.
    """
    words = read_words(text)
    if len(words) > length:
        raise ValueError(f"the program has {len(words)} tokens, at most {length} fit (program_length)")
    tokens = np.zeros(length, np.int64)
    tokens[: len(words)] = words
    fault = -read_program(tokens, np.zeros((length, 2), np.int64))
    if fault >= 0:
        found = f'"{TOKENS[tokens[fault]]}"' if fault < len(words) else "the end"
        around = " ".join(TOKENS[token] for token in tokens[max(fault - 3, 0) : fault])
        raise ValueError(f'token {fault + 1} of the program cannot be {found}, behind "{around}"')
    return tokens


def parse_program(value: Any) -> str:
    """A program in words, checked, with single spaces; "" stays. ValueError where it is none."""
    if not isinstance(value, str):
        raise ValueError(f"needs a program in words, not {type(value).__name__}")
    words = value.split()
    return decode(encode(value, len(words))) if words else ""


def decode(tokens: Any) -> str:
    """The words of a row of tokens, up to the first 0."""
    numbers = np.asarray(tokens, np.int64)
    ends = np.flatnonzero(numbers == END)
    return " ".join(TOKENS[token] for token in numbers[: ends[0] if ends.size else None])
