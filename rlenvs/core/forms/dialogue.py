"""What text forms add to a text and cut from it: the turns before, budgets of tokens, and what replaces a reply.

A token is here a run of letters, digits and underscores, or one other mark that is no space: `<move(north)>` has six.
Language models split texts otherwise, into about as many.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from rlenvs.core.declare.errors import ParameterError, shortened
from rlenvs.core.declare.inputs import one_of, positive

TOKEN = re.compile(r"\w+|[^\w\s]", re.ASCII)
LONGEST_DESCRIPTION = 1_000_000  # characters
FALLBACKS = ("wait", "random", "error")
LEAST_TOKENS = 20  # of an observation: less tells nothing
MOST_TURNS, MOST_TOKENS = 1000, 1_000_000
MARK = "(lines left out: {})"
MARK_TOKENS = 7
SHOWN_REPLY = 200  # characters


def one_line(text: str) -> str:
    """A text on one line, in printable ASCII."""
    return " ".join("".join(letter if " " <= letter <= "~" else " " for letter in text).split())


def tokens_in(text: str) -> int:
    """How many tokens a text has."""
    return sum(1 for _ in TOKEN.finditer(text))


def first_tokens(text: str, count: int) -> str:
    """A text up to the end of its token number `count`."""
    last = next(itertools.islice(TOKEN.finditer(text), count, None), None)
    return text if last is None else text[: last.start()].rstrip()


def without_middle(text: str, most: int) -> str:
    """A text of at most so many tokens. Whole lines are taken by turns from its end, where the actions are told, and
    from its beginning, until the next does not fit; a line in their midst says how many are left out. Where the last
    line alone is too long, it is cut behind its first tokens."""
    lines = text.splitlines()
    head: list[str] = []
    tail: list[str] = []
    if tokens_in(text) <= most:
        return text
    room = most - MARK_TOKENS
    while True:
        at_end = len(tail) <= len(head)
        cost = tokens_in(lines[-1 if at_end else 0])
        if cost > room:
            break
        room -= cost
        (tail if at_end else head).append(lines.pop(-1 if at_end else 0))
    if not tail:
        tail = [first_tokens(lines.pop(), room)]
    return "\n".join([*head, MARK.format(len(lines)), *reversed(tail)])


@dataclass(frozen=True)
class TextOptions:
    """Options that all text forms have.

    Attributes:
        text_history: how many of the last turns (what was read, the reply, its reward) stand before a text.
        text_tokens: that a text may have, 20 or more; 0 for no bound. The oldest turns go first, whole, then lines of
            the text (`without_middle`).
        reply_tokens: that are read of a reply, the first ones; 0 for all.
        fallback: what becomes of a reply that is no legal action: "wait" plays the world's no-op, or the lowest legal
            action where there is none; "random" a legal one, each equally likely; both count it. With "error" the step
            is refused.

    Raises:
        ParameterError: a value that is none of these.
    """

    text_history: int = 0
    text_tokens: int = 0
    reply_tokens: int = 0
    fallback: str = "wait"

    def __post_init__(self) -> None:
        for name in ("text_history", "text_tokens", "reply_tokens"):
            value = getattr(self, name)
            if isinstance(value, bool) or value != 0:
                object.__setattr__(self, name, positive(name, value, ", or 0"))
        for name, most in (("text_history", MOST_TURNS), ("text_tokens", MOST_TOKENS), ("reply_tokens", MOST_TOKENS)):
            if getattr(self, name) > most:
                raise ParameterError(f"{name}={shortened(getattr(self, name))} must be at most {most}")
        if 0 < self.text_tokens < LEAST_TOKENS:
            raise ParameterError(f"text_tokens={self.text_tokens} must be {LEAST_TOKENS} or more, or 0 for no bound")
        one_of("fallback", self.fallback, FALLBACKS)

    def cut_reply(self, reply: Any) -> Any:
        """What is read of a reply."""
        return first_tokens(reply, self.reply_tokens) if self.reply_tokens and isinstance(reply, str) else reply


class NumericAction(NamedTuple):
    """An action of the numeric form in the place of a reply, for agents of a text form that do not speak."""

    value: Any

    def as_array(self, continuous: bool) -> np.ndarray:
        """The numbers, or the choices.

        Raises:
            ValueError: it has none of these.
        """
        try:
            given = np.asarray(self.value)
        except Exception:  # whatever a foreign __array__ raises, and ragged lists
            given = np.empty(0, object)
        if given.dtype.kind not in ("fiu" if continuous else "iu"):
            raise ValueError(f"{self} is not {'numbers' if continuous else 'whole numbers'}")
        return given

    def __str__(self) -> str:
        value = self.value.tolist() if isinstance(self.value, (np.ndarray, np.generic)) else self.value
        return f"action {shortened(value)}"


class PastTurn(NamedTuple):
    """What an agent read, what it replied, and what came of it, a line each of the latter."""

    text: str
    reply: str
    outcome: str


class Dialogue:
    """What one agent has read and replied.

    Args:
        options: of the form.

    Attributes:
        turns: the last ones, the oldest first.
    """

    def __init__(self, options: TextOptions, turns: Sequence[PastTurn] = ()) -> None:
        self.options = options
        self.turns = tuple(turns)[-options.text_history :] if options.text_history else ()
        self._text = ""

    def tell(self, text: str) -> str:
        """A text as the agent reads it."""
        self._text = text
        most = self.options.text_tokens
        past = [_retold(turn, age) for age, turn in zip(range(len(self.turns), 0, -1), self.turns, strict=True)]
        while past:
            whole = "\n".join([*past, "Now:", text])
            if len(whole) <= LONGEST_DESCRIPTION and not (most and tokens_in(whole) > most):
                return whole
            past.pop(0)
        return without_middle(text, most) if most else text

    def add(self, reply: Any, reward: Any, reason: str) -> None:
        """Keep the turn that has ended.

        Args:
            reply: of the agent. reward: for it. reason: why another action was taken; "" where none was.
        """
        if self.options.text_history:
            value = np.round(np.asarray(reward, np.float64), 4).tolist()
            outcome = one_line(f"Reward {value}.{f' Not used: {reason}.' if reason else ''}")
            said = str(reply) if isinstance(reply, (str, NumericAction)) else ""
            turn = PastTurn(self._text, one_line(said)[:SHOWN_REPLY], outcome)
            self.turns = (*self.turns, turn)[-self.options.text_history :]


def _retold(turn: PastTurn, age: int) -> str:
    return f"{age} step{'s' * (age > 1)} ago:\n{turn.text}\nYour reply: {turn.reply}\n{turn.outcome}"
