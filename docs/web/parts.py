"""Small pieces of HTML that several pages are made of."""

from __future__ import annotations

import html
from collections.abc import Mapping


def raw(text: str) -> str:
    """HTML inside Markdown."""
    return f"```{{raw}} html\n{text}\n```"


def select(key: str, label: str, choices: Mapping[str, str]) -> str:
    """A labelled list of choices for a form: values and how they are shown, "any" first."""
    options = "".join(
        f'<option value="{html.escape(value)}">{html.escape(shown)}</option>' for value, shown in choices.items()
    )
    return f'<label>{label}<select name="{key}"><option value="">any</option>{options}</select></label>'


def search_form(key: str, selects: str) -> str:
    """A form with a search field, lists of choices, a count, and a button that clears it."""
    field = '<input type="search" name="q" autocomplete="off" placeholder="drone, StarCraft, goal-conditioned, POMDP">'
    search = f'<label class="filter-search">Search{field}</label>'
    end = '<p class="filter-count" role="status"></p><button type="button" class="filter-clear">Show all</button>'
    return f'<form class="filters" id="{key}">{search}{selects}<div class="filter-end">{end}</div></form>'
