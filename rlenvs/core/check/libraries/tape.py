"""What numba's loops do with the memory of a batch, written down so that other code can be asked to do the same.

A tape begins with an image of the memory. Then come lines, all numbers of which are decimal:

    move PLACE                the 8 bytes there are an address in the image: add where the image lies
    watch PLACE BYTES         a part of the image that is looked at; without addresses
    write PLACE START BYTES   copy bytes of the tape's data into the image
    call NAME RECORD NUMBER...
                              call an entry point with the address of the batch's record, and these numbers
    look                      say what the last call returned, and the CRC-32 of every part that is watched
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from rlenvs.core.batch.image import MemoryImage
from rlenvs.core.batch.kernel_batch import KernelBatch
from rlenvs.core.compiler.entry_points import LANES


@dataclass
class Tape:
    """A tape that is being written, and what numba's loops say.

    Attributes:
        batch: whose loops are called; its address table must be complete, and must not change.
        watched: its arrays by name; with those of calls.
    """

    batch: KernelBatch
    watched: dict[str, np.ndarray]
    said: list[str] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)  # of each line that was said
    _lines: list[str] = field(default_factory=list)
    _data: bytearray = field(default_factory=bytearray)
    _code: int = 0

    def __post_init__(self) -> None:
        self._image = image = MemoryImage(self.batch.loops.table, self.watched)
        for name, array in self.watched.items():
            self._lines += [f"watch {image.places[name]} {array.nbytes}"] * bool(array.nbytes)
            assert array.flags.c_contiguous, name
        self._lines += [f"move {place}" for place in image.addresses]

    def write(self, array: np.ndarray) -> None:
        """Have what now lies in an array that is watched."""
        self._lines.append(f"write {self._image.place_of(array)} {len(self._data)} {array.nbytes}")
        self._data.extend(array.tobytes())

    def call(self, name: str, *numbers: int) -> int:
        """Call an entry point of the batch's driver. Returns what it does."""
        driver: Any = self.batch.loops.driver
        entry = driver.run_blocks(LANES[name]) if name in LANES else getattr(driver, name)
        self._lines.append(" ".join(map(str, ("call", name, self._image.record, *numbers))))
        self._code = entry(self.batch.loops.address, *numbers) or 0
        return self._code

    def look(self, label: str) -> None:
        """Note what lies in memory.

        Args:
            label: says when this is.
        """
        hashes = [f"{zlib.crc32(array.tobytes()):08x}" for array in self.watched.values() if array.nbytes]
        self._lines.append("look")
        self.labels.append(label)
        self.said.append(" ".join((str(self._code), *hashes)))

    def save(self, folder: Path) -> None:
        """Write the files "tape", "image" and "data" into a folder."""
        (folder / "tape").write_text("".join(f"{line}\n" for line in self._lines))
        (folder / "image").write_bytes(self._image.content)
        (folder / "data").write_bytes(self._data)

    def difference(self, said: list[str]) -> str:
        """The first difference of what other code has said from what numba's loops said; empty where there is none."""
        names = ["result", *(name for name, array in self.watched.items() if array.nbytes)]
        for label, wanted, found in zip(self.labels, self.said, said, strict=False):
            if wanted != found:
                pairs = zip(names, wanted.split(), found.split(), strict=False)
                return f"{label}: {', '.join(name for name, one, other in pairs if one != other)}"
        return "" if len(said) == len(self.said) else f"it ends after {len(said)} of {len(self.said)} looks"
