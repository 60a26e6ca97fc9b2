"""The page of scores: docs/scores.md, with tables that score_table.js sorts and filters."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator, Mapping

from parts import raw, search_form, select

from rlenvs.agents.score_page import known, standing

KINDS = {
    "robotics": "robotics",
    "multi-agent": "several agents",
    "constrained": "with costs",
    "multi-objective": "multi-objective",
}
SOLVED = {
    "solved": "yes: 0.8 of the expert",
    "unsafe": "only over a limit of costs",
    "open": "no",
    "none": "no agent yet",
    "nothing": "nothing to compare with",
}
ROWS = {"default": "default settings", "level": "levels"}
TABLE = re.compile(r"(?:^\|.*\n?)+", re.MULTILINE)
NAME = re.compile(r"\| ([A-Z]\w*-v\d+)")
BOX = ":::{div} long-table"


def score_page(text: str, families: list[str]) -> str:
    """The page: how to read it, folded up; what to filter by; each table in a box that scrolls."""
    head, _, rest = text.partition("\n## ")
    title, _, prose = head.partition("\n\n")
    rest = TABLE.sub(lambda found: f"{BOX}\n{_with_links(found[0])}\n:::\n", f"## {rest}")
    rest = rest.replace(BOX, f"{filters(families)}\n\n{BOX}", 1)
    folded = f":::{{dropdown}} How to read the tables\n{prose.strip()}\n:::"
    return f"---\nhide-toc: true\n---\n{title}\n\n{folded}\n\n{rest}"


def _with_links(table: str) -> str:
    """A table whose names lead to pages; rows without a name, which may be sorted away, get the one above them."""
    lines, name = [], ""
    for line in table.splitlines():
        found = NAME.match(line)
        name = found[1] if found else name
        line = f"| {name} |{line.removeprefix('|  |')}" if line.startswith("|  |") else line
        lines.append(NAME.sub(r"| [\1](environments/\1.md)", line, count=1))
    return "\n".join(lines)


def filters(families: list[str]) -> str:
    """The form, and as data what is known of a row by its label."""
    choices: Mapping[str, tuple[str, Mapping[str, str]]] = {
        "family": ("Family", {family: family for family in families}),
        "tags": ("Kind", KINDS),
        "solved": ("Solved by learning", SOLVED),
        "rows": ("Rows", ROWS),
    }
    form = search_form("score-filters", "".join(select(key, *told) for key, told in choices.items()))
    data = html.escape(json.dumps(dict(standings()), separators=(",", ":")))
    scripts = "".join(f'<script src="_static/{name}.js"></script>' for name in ("environments", "score_table"))
    return raw(scripts + form.replace("<form", f'<form data-standings="{data}"', 1))


def standings() -> Iterator[tuple[str, str]]:
    """Of every row that has agents: its label without an opponent, and which of SOLVED it is."""
    for one in known():
        yield one.name if one.level is None else f"{one.name} (level={one.level})", standing(one)
