"""Play a tape (`tape.py`) by a native library: python play.py LIBRARY FOLDER. Needs nothing but Python."""

from __future__ import annotations

import ctypes
import sys
import zlib
from pathlib import Path

ALIGNED = 64  # bytes


def play(library: str, folder: Path) -> None:
    """Print what a library says to the tape in a folder."""
    loaded, image = ctypes.CDLL(library), (folder / "image").read_bytes()
    data = (folder / "data").read_bytes()
    room = ctypes.create_string_buffer(len(image) + ALIGNED)
    base = -(-ctypes.addressof(room) // ALIGNED) * ALIGNED
    ctypes.memmove(base, image, len(image))
    watched, code = [], 0
    for line in (folder / "tape").read_text().splitlines():
        verb, *words = line.split()
        if verb == "call":
            entry = loaded[words[0]]
            entry.restype = ctypes.c_int64
            record, *numbers = map(int, words[1:])
            code = entry(*map(ctypes.c_int64, (base + record, *numbers)))
            continue
        numbers = list(map(int, words))
        if verb == "move":
            word = ctypes.c_int64.from_address(base + numbers[0])
            word.value += base
        elif verb == "watch":
            watched.append(numbers)
        elif verb == "write":
            place, start, count = numbers
            ctypes.memmove(base + place, data[start : start + count], count)
        elif verb == "look":
            hashes = (zlib.crc32(ctypes.string_at(base + place, count)) for place, count in watched)
            print(code, *(f"{number:08x}" for number in hashes))


if __name__ == "__main__":
    play(sys.argv[1], Path(sys.argv[2]))
