"""Measure how wide the letters of images are, and write rlenvs/live/static/widths.js: benchmarks/font_widths.py [FILE]

Legends take as many rows as their texts need, so shapes recorded in a page are Python's only where texts are as wide
as pygame makes them. Advances of letters are whole halves of pixels; what two letters overlap is in 1/64 of them. At 12
pixels, the size of legends in an image of the usual width; texts of up to 30 letters differ by one half of a pixel
in 1 of 20, and by 3 at most.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

TARGET = Path(__file__).parents[1] / "rlenvs" / "live" / "static" / "widths.js"
HEIGHT = 31  # as canvas.py makes a font of 12 pixels
LETTERS = [chr(code) for code in range(32, 127) if chr(code) != "\\"]
PARTS = 64


def advances(font: Any) -> dict[str, int]:
    """How far each letter takes the next one, in halves of pixels."""
    return {letter: font.size(f"|{letter}|")[0] - font.size("||")[0] for letter in LETTERS}


def overlaps(font: Any, wide: dict[str, int]) -> dict[str, dict[str, str]]:
    """Of a letter, by the 1/64 that they come apart, the letters behind it."""
    found: dict[str, dict[str, str]] = {}
    for first in LETTERS:
        for second in LETTERS:
            plain = PARTS * (wide[first] + wide[second] + wide["|"])
            apart = font.size(f"|{first}{second}" * PARTS)[0] - plain
            if apart:
                row = found.setdefault(first, {})
                row[str(apart)] = row.get(str(apart), "") + second
    return found


def main() -> None:
    import pygame

    target = Path(sys.argv[1]) if len(sys.argv) > 1 else TARGET

    pygame.font.init()
    font = pygame.font.Font(None, HEIGHT)
    wide = advances(font)
    tables = {"ADVANCES": wide, "OVERLAPS": overlaps(font, wide)}
    lines = [f"export const {name} = {json.dumps(table, separators=(',', ':'))};" for name, table in tables.items()]
    target.write_text("\n".join(["/** Written by benchmarks/font_widths.py. */", *lines, ""]), encoding="utf-8")
    print(target)


if __name__ == "__main__":
    main()
