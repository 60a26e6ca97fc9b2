"""Files that are there whole or not at all: written beside the old one, on the disk, before they take its place."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any


def pending(path: Path) -> Path:
    """Where the new content of a file waits."""
    return path.with_name(f".{path.name}.new")


def write_pending(path: Path, parts: Iterable[Any]) -> None:
    """Write bytes beside `path`, and onto the disk; OSError where that cannot be."""
    with open(pending(path), "wb") as file:
        for part in parts:
            file.write(part)
        file.flush()
        os.fsync(file.fileno())


def discard_pending(path: Path) -> None:
    """Remove what waits beside `path`, if anything does."""
    with contextlib.suppress(OSError):
        pending(path).unlink()


def take_place(path: Path) -> None:
    """Put what waits beside `path` into its place, on the disk too; OSError where it cannot."""
    os.replace(pending(path), path)
    with contextlib.suppress(OSError):  # folders cannot be opened on Windows
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def replace_file(path: Path, parts: Iterable[Any]) -> None:
    """Write bytes to a file, whole or not at all: what was there before stays until they are on the disk; OSError where
    they cannot be written."""
    try:
        write_pending(path, parts)
        take_place(path)
    except BaseException:
        discard_pending(path)
        raise
