"""What the page of a member says apart from that of its kind."""

from __future__ import annotations

from rlenvs.core.catalogue.registry import NAMESPACE, catalogue
from rlenvs.core.declare.spec import World

TABLE_HEAD = 2  # lines


def kind_with_page(world: World) -> World | None:
    """The kind of a member, where that is an environment with a page of its own."""
    kind = world.kind
    return kind if kind is not world and f"{NAMESPACE}/{kind.name}" in catalogue else None


def differing(section: str, of_kind: str) -> str:
    """The paragraphs of a section that its kind's does not have, and of its tables the rows."""
    paragraphs, rows = of_kind.split("\n\n"), of_kind.splitlines()
    kept = []
    for paragraph in section.split("\n\n"):
        if paragraph in paragraphs:
            continue
        lines = paragraph.splitlines()
        if paragraph.startswith("| "):
            lines = lines[:TABLE_HEAD] + [line for line in lines[TABLE_HEAD:] if line not in rows]
        kept.append("\n".join(lines))
    return "\n\n".join(kept)


def beside_kind(section: str, of_kind: str, name: str, heading: str) -> str:
    """A section of a member's page: what differs, and where the rest stands; whole where that is no longer.

    Args:
        section: of the member. of_kind: the same section of its kind.
        name: of the kind, such as "CartPole-v0". heading: of the section.
    """
    own, link = differing(section, of_kind), f"[{name}]({name}.md#{heading.lower().replace(' ', '-')})"
    short = f"{own}\n\nAll else as in {link}." if own else f"As in {link}."
    return short if len(short) < len(section) else section
