"""A folder for a dataset that appears under its name when it is complete, or not at all."""

from __future__ import annotations

import secrets
import shutil
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, Self

from rlenvs.core.declare.errors import ParameterError, shortened

__all__ = ["NewDataset"]


LONGEST_PART = 255  # bytes, of the common file systems


def unused(name: str, folder: Path) -> Path:
    """The folder that a dataset of this name will have; ParameterError where there is one, or a name is too long."""
    target = folder / name
    if any(len(part.encode()) > LONGEST_PART for part in target.parts):
        raise ParameterError(f"a part of the name {shortened(name)} has more than {LONGEST_PART} bytes; shorten it")
    if target.exists():
        raise ParameterError(
            f"there is already a dataset {name!r} in {folder}. Choose another name or version, or delete it first"
        )
    return target


class NewDataset(ABC):
    """A dataset that is written in a `with` block; after an error nothing is left behind.

    Args:
        name: of the dataset, a path below `folder`.
        folder: of all datasets.

    Attributes:
        path: the folder of the dataset, there when the block has ended.
        unfinished: the hidden folder that becomes it.

    Raises:
        ParameterError: the name is malformed or taken, the folder cannot be written, or the disk is full.
    """

    def __init__(self, name: str, folder: Path) -> None:
        self.name, self.folder = name, folder
        self.path = self.check_target()
        self.unfinished = folder / f".unfinished-{secrets.token_hex(4)}"  # Minari passes over hidden folders

    @abstractmethod
    def check_target(self) -> Path:
        """The folder that the dataset will have; ParameterError where the name is malformed or taken."""

    @abstractmethod
    def open(self, unfinished: Path) -> None:
        """Begin to write, into a folder that was made for it."""

    def close(self) -> None:  # noqa: B027 (most have nothing left)
        """Write what is left."""

    def __enter__(self) -> Self:
        try:
            self.unfinished.mkdir(parents=True)
            self.open(self.unfinished)
        except OSError as error:
            self._remove()
            raise self._complaint(error) from None
        return self

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        try:
            if error is None:
                self.close()
                self.check_target()  # another process may have been faster
                self.path.parent.mkdir(parents=True, exist_ok=True)
                self.unfinished.rename(self.path)
        except OSError as failure:
            raise self._complaint(failure) from None
        finally:
            self._remove()
        if isinstance(error, OSError):
            raise self._complaint(error) from error

    def add_text(self, file: str, text: str) -> None:
        """Write a text file beside the data."""
        (self.unfinished / file).write_text(text, encoding="utf-8")

    def check_room(self, size: int) -> None:
        """OSError where so many bytes more do not fit: HDF5 does not survive a disk that fills up while it writes."""
        room = self.unfinished / "room"
        block = bytes(2**20)
        with room.open("wb", buffering=0) as file:
            for start in range(0, size, len(block)):
                file.write(block[: size - start])
        room.unlink()

    def _remove(self) -> None:
        shutil.rmtree(self.unfinished, ignore_errors=True)

    def _complaint(self, error: OSError) -> ParameterError:
        reason = error.strerror or str(error)
        return ParameterError(
            f"the dataset {self.name!r} cannot be written to {self.folder}: {reason}. Nothing was saved; choose a "
            f"writable folder with enough space"
        )
