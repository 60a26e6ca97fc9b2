"""The errors that rlenvs raises, one class per way of being wrong."""

from __future__ import annotations

from collections.abc import Iterable

from rlenvs.version import DISTRIBUTION

LONGEST_LINE = 4000  # letters of a message that may quote what users gave


class RlenvsError(Exception):
    """Base of all errors of this package. Their texts may quote files and options: they hold no control characters, and
    their lines are cut where they are very long."""

    def __str__(self) -> str:
        return "\n".join(clipped(line, LONGEST_LINE) for line in printable(super().__str__()).split("\n"))


class UnknownNameError(RlenvsError, ValueError):
    """An id, keyword, term or level that does not exist; the message names the nearest ones."""


class UnknownKeywordError(UnknownNameError, TypeError):
    """A keyword that `make` does not know for this environment."""


class ParameterError(RlenvsError, ValueError):
    """A parameter or option outside what the environment allows."""


class ActionError(RlenvsError, ValueError):
    """An action of the wrong shape or type, NaN, or outside a Discrete space."""


class EpisodeOverError(RlenvsError, RuntimeError):
    """A step after the end of an episode, before the first reset, or of a closed environment."""


class SnapshotError(RlenvsError, ValueError):
    """A snapshot that belongs to another environment or to other sizes."""


class ReplayError(RlenvsError, ValueError):
    """A file that is no replay, or a replay that does not come out as it says."""


class NoAgentError(UnknownNameError):
    """An environment that has no reference agent."""


class AgentFileError(RlenvsError, ValueError):
    """A file that holds no agent, a damaged one, or one for another environment; or an agent that cannot be saved."""


class RunError(RlenvsError, RuntimeError):
    """A training run that cannot begin, go on or be written; the message says what is left where."""


class CacheError(RlenvsError, PermissionError):
    """A folder for compiled code that another user could have written to; the message says how to mend it."""


class EngineError(RlenvsError, RuntimeError):
    """A physics engine cannot go on: too many worlds, no screen, or a client that was closed from outside."""


class RenderError(EngineError):
    """A physics engine has nothing to draw with: no OpenGL works on this machine."""


class KernelError(RlenvsError, TypeError):
    """A kernel that does not compile; the message names the file, the line and the reason.

    Attributes:
        full: the compiler's own report.
    """

    def __init__(self, message: str, full: str = "") -> None:
        super().__init__(message)
        self.full = full


class ConformanceError(RlenvsError, AssertionError):
    """An environment breaks a rule that `rlenvs.check` holds all environments to; the message is the report."""


class MissingExtraError(RlenvsError, ImportError):
    """An optional dependency is not installed; the message holds the command that installs it."""

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__(
            f"{feature} needs an optional dependency. Install it with: pip install '{DISTRIBUTION}[{extra}]'"
        )


class DependencyError(RlenvsError, ImportError):
    """A library in a version that does not work here; the message holds the command that installs another."""


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
    """A sentence that names the known names closest to `name`, or all when none is close."""
    from difflib import get_close_matches

    known = sorted(known)
    close = get_close_matches(str(name), known, n=3, cutoff=0.5)
    if close:
        return f"Did you mean {' or '.join(map(repr, close))}?"
    return f"Known: {', '.join(map(repr, known)) or 'none'}."
