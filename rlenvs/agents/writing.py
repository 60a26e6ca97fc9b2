"""Files that are there whole or not at all: written beside the old one, on the disk, before they take its place. And
files from others: read as far as they may be long, and only where they are files."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
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


def read_file(path: Path, largest: int) -> bytes:
    """The first `largest` + 1 bytes of a file. A pipe, a device or a folder is refused at once, not waited for.

    Raises:
        OSError: it cannot be read or is no plain file; `strerror` says why.
    """
    try:
        # without waiting for somebody to write to a pipe
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except ValueError:  # a NUL in its name
        raise OSError(errno.EINVAL, "its name holds a character that names cannot") from None
    mode = os.fstat(handle).st_mode
    if not stat.S_ISREG(mode):
        os.close(handle)
        if stat.S_ISDIR(mode):
            raise OSError(errno.EISDIR, os.strerror(errno.EISDIR))
        raise OSError(errno.EINVAL, "it is no plain file")
    with open(handle, "rb") as file:
        return file.read(largest + 1)
