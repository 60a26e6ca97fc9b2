"""The folder of a submission: how much is in it, and how it is removed, whatever is in it."""

from __future__ import annotations

import contextlib
import itertools
import os
from collections.abc import Callable
from pathlib import Path

MOST_BYTES, MOST_ENTRIES = 64 * 2**20, 4096


def too_much(folder: Path) -> str:
    """What of a folder is too much, in words; empty if nothing is. Looks no farther than the first thing that is."""
    entries = size = 0
    waiting = [str(folder)]
    while waiting:
        try:
            found = list(os.scandir(waiting.pop()))
        except OSError as error:
            return f"the submission made a folder that cannot be read ({type(error).__name__})"
        for entry in found:
            entries += 1
            with contextlib.suppress(OSError):
                size += entry.stat(follow_symlinks=False).st_size
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
            if size > MOST_BYTES or entries > MOST_ENTRIES:
                return f"the submission wrote more than {MOST_BYTES // 2**20} MiB or {MOST_ENTRIES} files"
    return ""


def remove(folder: Path) -> None:
    """Remove a folder, as far as the system lets us. Folders in folders are brought up one level at a time, so that
    neither depth nor the length of a path counts."""
    fresh = (folder / f"up-{os.urandom(8).hex()}-{number}" for number in itertools.count())
    removed = True
    while removed:
        removed = False
        for inner in _emptied(folder, lambda entry: None):
            _emptied(Path(inner.path), lambda entry: os.rename(entry.path, next(fresh)))
            with contextlib.suppress(OSError):
                os.rmdir(inner.path)
                removed = True
    with contextlib.suppress(OSError):
        folder.rmdir()


def _emptied(folder: Path, move: Callable[[os.DirEntry[str]], None]) -> list[os.DirEntry[str]]:
    """Remove the files of a folder, move its folders, and give these."""
    with contextlib.suppress(OSError):
        folder.chmod(0o700)
    folders = []
    with contextlib.suppress(OSError):
        for entry in list(os.scandir(folder)):
            with contextlib.suppress(OSError):
                if not entry.is_dir(follow_symlinks=False):
                    os.unlink(entry.path)
                    continue
                os.chmod(entry.path, 0o700)
                folders.append(entry)
                move(entry)
    return folders
