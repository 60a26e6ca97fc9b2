"""Whether code can be compiled here: numba is an optional dependency."""

from __future__ import annotations

import importlib.util
import sys

from rlenvs.core.declare.errors import MissingExtraError
from rlenvs.version import DISTRIBUTION

EXTRA = "compile"
ADVICE = f"Install numba with: pip install '{DISTRIBUTION}[{EXTRA}]'"
_told: set[str] = set()


def numba_is_installed() -> bool:
    """Whether numba is there; it is not imported."""
    return sys.modules.get("numba") is not None or importlib.util.find_spec("numba") is not None


def need_numba(what: str) -> None:
    """See whether something can be compiled.

    Args:
        what: it is.

    Raises:
        MissingExtraError: numba is not installed.
    """
    if not numba_is_installed():
        raise MissingExtraError(f"compiling {what}", EXTRA)


def tell_once(text: str) -> None:
    """Say something on standard error, once in a process."""
    if text not in _told:
        _told.add(text)
        print(f"rlenvs: {text}", file=sys.stderr)
