"""The exceptions raised by rlenvs, one class per kind of error."""

from __future__ import annotations

from collections.abc import Iterable

from rlenvs.version import DISTRIBUTION

LONGEST_LINE = 4000  # letters of a message that may quote what users gave
MOST_NAMED = 40  # names that a message lists


class RlenvsError(Exception):
    """Base of all errors of this package. Messages may quote files and options: they contain no control characters, and
    very long lines are shortened."""

    def __str__(self) -> str:
        return "\n".join(clipped(line, LONGEST_LINE) for line in printable(super().__str__()).split("\n"))


class UnknownNameError(RlenvsError, ValueError):
    """An id, keyword, term or level that does not exist; the message suggests the closest matches."""


class UnknownKeywordError(UnknownNameError, TypeError):
    """A keyword argument that this environment does not have."""


class ParameterError(RlenvsError, ValueError):
    """A parameter or option outside what the environment allows."""


class ActionError(RlenvsError, ValueError):
    """An action of the wrong shape or type, NaN, or outside a Discrete space."""


class EpisodeOverError(RlenvsError, RuntimeError):
    """A step after the end of an episode, before the first reset, or of a closed environment."""


class SnapshotError(RlenvsError, ValueError):
    """A snapshot that belongs to another environment or to other sizes."""


class SessionError(RlenvsError, LookupError):
    """A session of a server that is not there, has not begun, or would go beyond the server's limits."""


class BridgeError(RlenvsError, ConnectionError):
    """An engine or a trainer outside that cannot be reached, refuses, or does not keep to the protocol."""


class LostConnectionError(BridgeError):
    """A connection to an engine or a trainer outside that ended in the middle of an exchange."""


class ReplayError(RlenvsError, ValueError):
    """A file that is not a replay, or a replay that cannot be reproduced."""


class NoAgentError(UnknownNameError):
    """An environment that has no reference agent."""


class AgentFileError(RlenvsError, ValueError):
    """A file without an agent, a damaged one, or an agent for another environment; or an agent that cannot be saved."""


class RunError(RlenvsError, RuntimeError):
    """A training run that cannot start, continue or be saved; the message says what is left where."""


class ClusterError(RlenvsError, RuntimeError):
    """A cluster that cannot be reached, has another version, or loses a piece of work again and again."""


class CacheError(RlenvsError, PermissionError):
    """A folder for compiled code that another user could have written to; the message says how to fix it."""


class EngineError(RlenvsError, RuntimeError):
    """A physics engine cannot go on: too many worlds, no display, or a client that was closed from outside."""


class RenderError(EngineError):
    """A physics engine cannot render: OpenGL does not work on this machine."""


class KernelError(RlenvsError, TypeError):
    """A kernel that does not compile; the message names the file, the line and the reason.

    Attributes:
        full: the compiler's own report.
    """

    def __init__(self, message: str, full: str = "") -> None:
        super().__init__(message)
        self.full = full


class ConformanceError(RlenvsError, AssertionError):
    """An environment violates a rule of `rlenvs.check_env`; the message is the report."""


class MissingExtraError(RlenvsError, ImportError):
    """An optional dependency is not installed; the message contains the command to install it."""

    def __init__(self, feature: str, extra: str) -> None:
        self.missing = feature, extra
        super().__init__(
            f"{feature} needs an optional dependency. Install it with: pip install '{DISTRIBUTION}[{extra}]'"
        )

    def __reduce__(self) -> tuple[type[MissingExtraError], tuple[str, str]]:
        return type(self), self.missing


class DependencyError(RlenvsError, ImportError):
    """An incompatible version of a library; the message contains the command to install another."""


def printable(text: str) -> str:
    """The text with control characters, which could steer a terminal, written as \\x1b and the like; lines stay."""
    return "".join(c if c in "\n\t" or c.isprintable() or c == "\u00a0" else ascii(c)[1:-1] for c in text)


def clipped(text: str, length: int = 300) -> str:
    """A text, cut in its middle where it is long."""
    if len(text) <= length:
        return text
    return f"{text[: length - length // 4]} ... {text[-(length // 4) :]}"


def shortened(value: object, length: int = 80) -> str:
    """How a value is written in Python, cut in its middle where it is long: a path says most at its end."""
    try:
        text = repr(value)
    except Exception:  # an integer of more digits than Python writes, a foreign __repr__
        text = f"<{type(value).__name__}>"
    return text if len(text) <= length else clipped(text, length - 5)


def nearest(name: str, known: Iterable[str]) -> str:
    """A sentence that names the known names closest to `name`, or the first ones when none is close."""
    from difflib import get_close_matches

    known = sorted(set(known))
    close = get_close_matches(str(name), known, n=3, cutoff=0.5)
    if close:
        return f"Did you mean {' or '.join(map(repr, close))}?"
    more = f" and {len(known) - MOST_NAMED} others" if len(known) > MOST_NAMED else ""
    return f"Known: {', '.join(map(repr, known[:MOST_NAMED])) or 'none'}{more}."
