"""Worlds in words: what an agent reads, and how its reply is parsed. Strict: a reply is exactly one order.

    <name()>    <name(argument)>    <name(argument, argument)>

A world says in `@SPEC.describe` what an agent observes and which orders it may give, and turns a reply into an action
in `@SPEC.parse_action`; both are plain Python, and `read_order` does the reading. An empty text asks
`@SPEC.parse_action` for what an agent does that says nothing. Declared with `free=True`, it reads any text. A world
without them is described by the blocks of its observation, and takes `<choose(label or number)>`, with one for each
dimension of an action of several choices, or `<set(number, ...)>` where actions are continuous.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rlenvs.core.declare.errors import ActionError, nearest
from rlenvs.core.forms.dialogue import NumericAction, TextOptions, one_line

if TYPE_CHECKING:
    from rlenvs.core.batch.kernel_batch import KernelBatch

MESSAGE = re.compile(r"(.*)<\s*say\s*\(([^()<>]*)\)\s*>\s*", re.ASCII | re.DOTALL | re.IGNORECASE)
ORDER = re.compile(r"\s*<\s*([A-Za-z_]\w*)\s*\(([^()<>]*)\)\s*>\s*", re.ASCII)
LONGEST_REPLY = 1000  # characters
SHOWN = 60  # characters of a reply in messages
MOST_NAMED = 40  # choices


def check_reply(reply: Any) -> None:
    """ValueError when a reply is no text, or too long."""
    if not isinstance(reply, str):
        raise ValueError(f"the reply must be a string, not {type(reply).__name__}")
    if len(reply) > LONGEST_REPLY:
        raise ValueError(f"the reply has {len(reply)} characters; at most {LONGEST_REPLY} are read")


def read_order(reply: Any) -> tuple[str, tuple[str, ...]]:
    """The name and the arguments of the one order that a reply is.

    Raises:
        ValueError: the reply is anything else, with the reason.
    """
    check_reply(reply)
    found = ORDER.fullmatch(reply)
    if found is None:
        raise ValueError(f"{shortened(reply)} is not exactly one command such as <name(argument)>")
    arguments = tuple(part.strip() for part in found[2].split(",")) if found[2].strip() else ()
    return found[1].lower(), arguments


def split_message(reply: Any) -> tuple[Any, str]:
    """A reply without `<say(message)>` at its end, and the message on one line, in printable ASCII; "" if none."""
    found = MESSAGE.fullmatch(reply) if isinstance(reply, str) and len(reply) <= LONGEST_REPLY else None
    if found is None:
        return reply, ""
    return found[1], one_line(found[2])


def expect(name: str, arguments: Sequence[str], count: int) -> None:
    """ValueError when an order has another number of arguments than it needs."""
    if len(arguments) != count:
        raise ValueError(f"<{name}(...)> takes {count} arguments, not {len(arguments)}")


def one_of(word: str, known: Sequence[str], what: str) -> int:
    """The index of a word among the known ones; ValueError names the nearest."""
    if word.lower() not in known:
        raise ValueError(f"there is no {what} {shortened(word)}. {nearest(word.lower(), known)}")
    return known.index(word.lower())


def shortened(text: str) -> str:
    """A reply, or a part of one, as messages quote it."""
    return repr(text if len(text) <= SHOWN else f"{text[:SHOWN]}...")


class Interpreter:
    """Describes one world of a batch to its agents, and reads their replies.

    Args:
        batch: whose first world is described.
        options: of the text form, which say how much of a reply is read, and what replaces it.
    """

    def __init__(self, batch: KernelBatch, options: TextOptions) -> None:
        self.batch, self.options = batch, options
        self._masked = "mask" in batch.world.kernels

    @property
    def _takes_any_text(self) -> bool:
        return "parse_reply" in self.batch.world.functions

    @property
    def _parser(self) -> Callable[..., Any] | None:
        """What the world reads replies with; None where it does not."""
        functions = self.batch.world.functions
        return functions.get("parse_reply", functions.get("parse_action"))

    def describe(self, k: int) -> str:
        """What agent k observes, in words."""
        world = self.batch.world
        if "describe" in world.functions:
            return world.functions["describe"](*self.batch.records(0), k)
        return "\n".join(
            [f"{world.name}, step {int(self.batch.records(0)[1].elapsed)}.", *observed(self.batch, 0, k), self._task(k)]
        )

    def act(self, reply: Any, k: int) -> tuple[Any, str]:
        """The action of agent k that a reply stands for, and "". Where it stands for none, or for one that is not
        legal: the action that is taken instead, and why.

        Raises:
            ActionError: it stands for none, and that is to be an error.
        """
        action, reason = self.read(reply, k)
        if reason and self.options.fallback == "error":
            raise ActionError(f"{self.batch.world.name}, {self.batch.setup.roles[k].name}: {reason}")
        return (self.fallback(k) if reason else action), reason

    def read(self, reply: Any, k: int) -> tuple[Any, str]:
        """The action of agent k that a reply stands for, and ""; None, and why, where it stands for no legal one."""
        read = self.options.cut_reply(reply)
        try:
            if isinstance(reply, NumericAction):
                return self._legal(reply.as_array(self.batch.setup.continuous), str(reply), k), ""
            return self._legal(self._understand(read, k), read, k), ""
        except ValueError as error:
            cut = isinstance(reply, str) and read != reply
            return None, f"{error}{f'; only its first {self.options.reply_tokens} tokens were read' if cut else ''}"

    def fallback(self, k: int) -> Any:
        """What is done in the place of a reply that is no legal action."""
        return self._drawn(k) if self.options.fallback == "random" else self.idle(k)

    def _drawn(self, k: int) -> Any:
        """A legal action, each equally likely; it follows from the state, so that a snapshot needs to keep nothing."""
        setup = self.batch.setup
        generator = np.random.default_rng([zlib.crc32(self.batch.states[0].tobytes()), k])
        if setup.continuous:
            low, high = setup.action_scaling[2:]
            return setup.shown_action(generator.uniform(low, high), k)
        drawn = [int(generator.choice(np.flatnonzero(part))) for part in self._masks(k)]
        return drawn[0] if setup.single_choice else np.array(drawn)

    def idle(self, k: int) -> Any:
        """What an agent does that says nothing: what the world makes of an empty text, else the lowest legal action, or
        nothing, where actions are continuous."""
        setup, function = self.batch.setup, self._parser
        if function is not None:
            try:
                return self._legal(setup.taken(function("", *self.batch.records(0), k)), "", k)
            except ValueError:
                pass  # the world does not say
        if setup.continuous:
            return setup.shown_action(setup.idle[k], k)
        lowest = [int(np.argmax(part)) for part in self._masks(k)]
        return lowest[0] if setup.single_choice else np.array(lowest)

    def _understand(self, reply: Any, k: int) -> Any:
        parse = self._parser
        if parse is not None:
            (check_reply if self._takes_any_text else read_order)(reply)  # what is none never reaches the world
            return self.batch.setup.taken(parse(reply, *self.batch.records(0), k))
        name, arguments = read_order(reply)
        if self.batch.setup.continuous:
            return self._numbers(name, arguments)
        setup = self.batch.setup
        if name != "choose":
            wanted = "label or number" if setup.single_choice else "label or number, ..."
            raise ValueError(f"there is no command <{name}(...)>; the command is <choose({wanted})>")
        expect(name, arguments, setup.numbers)
        chosen = [_choice(word, setup.labels_of(j)) for j, word in enumerate(arguments)]
        return chosen[0] if setup.single_choice else np.array(chosen)

    def _numbers(self, name: str, arguments: Sequence[str]) -> np.ndarray:
        if name != "set":
            raise ValueError(f"there is no command <{name}(...)>; the command is <set(number, ...)>")
        return np.array([_decimal(word) for word in arguments])

    def _legal(self, action: Any, reply: str, k: int) -> Any:
        setup = self.batch.setup
        count = setup.roles[k].action
        if setup.continuous:
            with np.errstate(over="ignore"):  # what float32 cannot hold is refused below
                numbers = np.asarray(action, np.float32)
            if numbers.shape != (count,) or not np.isfinite(numbers).all():
                raise ValueError(f"needed: {count} finite numbers, not {numbers.tolist()}")
            return numbers
        try:
            choices = np.asarray(action, np.int64).reshape(-1)
        except OverflowError:
            raise ValueError(f"there is no choice as large as in {shortened(reply.strip())}") from None
        if len(choices) != setup.numbers:
            raise ValueError(f"needed: {setup.numbers} choices, not {len(choices)}")
        for choice, part in zip(choices.tolist(), self._masks(k), strict=True):
            if not 0 <= choice < len(part):
                raise ValueError(f"there is no choice {choice}; choices are 0 to {len(part) - 1}")
            if not part[choice]:
                raise ValueError(f"{shortened(reply.strip())} is not legal now")
        return int(choices[0]) if setup.single_choice else choices

    def _masks(self, k: int) -> list[np.ndarray]:
        """What agent k may choose now, by number of its action."""
        setup = self.batch.setup
        mask = self.batch.masks[0, k, : setup.mask_lengths[k]]
        mask = mask if self._masked else np.ones_like(mask)
        return [mask] if setup.single_choice else setup.parts_of_mask(mask)

    def _task(self, k: int) -> str:
        action, setup = self.batch.setup.action, self.batch.setup
        if setup.continuous:
            labels = ", ".join(action.labels) or action.doc
            count = setup.roles[k].action
            low, high = setup.action_scaling[2:, :count]
            ends = f"{low.min():g} to {high.max():g}"
            if len({*low.tolist()}) > 1 or len({*high.tolist()}) > 1:
                ends = ", ".join(f"{a:g} to {b:g}" for a, b in zip(low, high, strict=True))
            return f"Reply <set(...)> with {count} numbers from {ends}: {labels}."
        parts = [_named(part, setup.labels_of(j)) for j, part in enumerate(self._masks(k))]
        if setup.single_choice:
            return f"Reply <choose(number)>. {action.doc or 'Choices'}: {parts[0]}."
        lines = [f"{setup.number_name(j)}: {part}." for j, part in enumerate(parts)]
        return "\n".join([f"Reply <choose(number, ...)>, a number per dimension. {action.doc}".rstrip(), *lines])


def observed(batch: KernelBatch, index: int, k: int) -> list[str]:
    """The blocks of what agent k of a world observes, in their own units, a line each."""
    world, setup = batch.world, batch.setup
    if not world.observation or setup.alone:
        return [f"{name}: an image {shape}" for name, shape in setup.image_shapes.items()]
    gain, offset = setup.scaling[0], setup.scaling[1]
    values = (batch.observations[index, k].reshape(-1).astype(np.float64) - offset) / gain
    lines, first = [], 0
    for name, part in world.observation.items():
        shape = tuple(setup.sizes[size] if isinstance(size, str) else size for size in part.shape)
        count = int(np.prod(shape, dtype=int))
        numbers = np.round(values[first : first + count].reshape(shape), 3).tolist()
        note = ", ".join(filter(None, (part.doc, f"in {part.unit}" if part.unit else "")))
        lines.append(f"{name}{f' ({note})' if note else ''}: {numbers}")
        first += count
    return lines


def _choice(word: str, labels: Sequence[str]) -> int:
    """The choice that a word names, by its number or label; ValueError where there is none."""
    if word.isascii() and word.isdigit():
        return int(word)
    return one_of(word, [label.lower() for label in labels], "choice")


def _decimal(word: str) -> float:
    """A number as it is written in replies; other scripts' digits and underscores, which Python takes, are none."""
    try:
        return float("" if "_" in word else word.encode("ascii"))
    except ValueError:
        raise ValueError(f"{shortened(word)} is not a number") from None


def _named(allowed: np.ndarray, labels: Sequence[str]) -> str:
    """The choices that a mask allows, in words."""
    named = [f"{j} {labels[j]}" if labels else str(j) for j in np.flatnonzero(allowed).tolist()]
    if len(named) == len(allowed) > MOST_NAMED:
        named = [f"0 to {len(named) - 1}"]
    return ", ".join(named)
