"""Markdown, as pages are written in."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def markdown_table(head: Iterable[str], lines: Iterable[Iterable[Any]]) -> str:
    """A table as Markdown."""
    names = list(head)
    rows = [[str(cell).replace("|", r"\|").replace("\n", " ") for cell in line] for line in lines]
    return "\n".join(f"| {' | '.join(row)} |" for row in [names, ["---"] * len(names), *rows])
