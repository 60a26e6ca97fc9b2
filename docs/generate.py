"""Write the page of every environment, and the table of environments in README.md, from the declarations.

    python docs/generate.py

Pages go to docs/environments/<name>.md. The table replaces what stands between the lines `<!-- environments -->` and
`<!-- /environments -->` of README.md.
"""

from __future__ import annotations

from pathlib import Path

import rlenvs  # noqa: F401  (registers the environments)
from rlenvs.core.docs import documented, gallery_table, page
from rlenvs.core.registry import world_of

ROOT = Path(__file__).resolve().parent.parent
PAGES = ROOT / "docs" / "environments"
README = ROOT / "README.md"
START, STOP = "<!-- environments -->", "<!-- /environments -->"


def pages() -> dict[Path, str]:
    """The text of every page by its path."""
    return {PAGES / f"{world.name}.md": page(world) for world in (world_of(row.id) for row in documented())}


def with_table(readme: str) -> str:
    """The README with the table brought up to date; SystemExit when its place is not marked."""
    before, start, rest = readme.partition(START)
    _, stop, after = rest.partition(STOP)
    if not start or not stop:
        raise SystemExit(f"README.md needs the line {START} and after it the line {STOP}; the table goes between them")
    return f"{before}{START}\n{gallery_table()}\n{STOP}{after}"


def main() -> None:
    """Write everything; pages of environments that are gone are deleted."""
    if not README.exists():
        raise SystemExit(f"README.md is missing; it needs the lines {START} and {STOP}")
    readme = with_table(README.read_text(encoding="utf-8"))
    PAGES.mkdir(exist_ok=True)
    wanted = pages()
    for path in set(PAGES.glob("*.md")) - set(wanted):
        path.unlink()
    for path, text in wanted.items():
        path.write_text(text, encoding="utf-8")
    README.write_text(readme, encoding="utf-8")
    print(f"{len(wanted)} pages in docs/environments, and the table in README.md")


if __name__ == "__main__":
    main()
