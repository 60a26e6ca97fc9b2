"""Where agents that ship with rlenvs lie: folders, with a folder per environment."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

DATA = "rlenvs_agents"  # the package of data


def stores() -> list[Path]:
    """The folders that exist, in the order in which they are looked at: this package's own, the checkout's, and that of
    the installed package of data."""
    package = Path(__file__).resolve().parent
    found = [package / "reference", package.parent.parent / "agents" / DATA]
    spec = find_spec(DATA)
    found += [Path(place) for place in (spec and spec.submodule_search_locations) or []]
    return [place for place in dict.fromkeys(found) if place.is_dir()]
