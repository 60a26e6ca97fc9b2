"""What runs in turn: of so many parts another one with each commit."""

import functools
import subprocess
import zlib
from collections.abc import Sequence

from support.tree import ROOT


@functools.cache
def commits() -> int | None:
    """How many commits lead here; None where git does not say it, or knows the last ones alone."""
    try:
        shallow, count = (_git("rev-parse", "--is-shallow-repository"), _git("rev-list", "--count", "HEAD"))
    except (OSError, subprocess.CalledProcessError):
        return None
    return int(count) if shallow == "false" else None


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


def has_its_turn(name: str, parts: int) -> bool:
    """Whether what has this name runs with the present commit; without git all that there is."""
    count = commits()
    return count is None or (zlib.crc32(name.encode()) + count) % parts == 0


def few_in_turn(names: Sequence[str], most: int) -> set[str]:
    """So many of these names at most, others with each commit; without git the same ones always."""
    order = sorted(names, key=lambda name: zlib.crc32(name.encode()))
    first = (commits() or 0) * most % max(len(order), 1)
    return set((order + order)[first : first + most])
