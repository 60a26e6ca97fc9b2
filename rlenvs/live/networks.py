"""Trained agents as files that a page plays: weights as they are, and what pages need of their cards."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from rlenvs.agents.card import WEIGHTS
from rlenvs.agents.files import load_agent
from rlenvs.agents.store import parse_name, read_card, reference_agents
from rlenvs.core.declare.errors import ParameterError
from rlenvs.core.declare.setup import Setup


def networks_of(setup: Setup, folder: Path) -> list[dict[str, Any]]:
    """The reference agents of a world at a level that play it with its usual options; their weights are copied. A level
    without agents has those of the defaults, as for `load_agent`, if its spaces are the same.

    Args:
        setup: of the level. folder: where weights are written.

    Returns:
        of each: name ("PPO"); label; file; architecture, see `rlenvs.agents.architecture`; drawn: whether choices are
        drawn; mean: return, None where it was not measured at this level.
    """
    own = _agents_at(setup, setup.level)
    found = own or [stem for stem in _agents_at(setup, None) if _fits(stem, setup)]
    for stem in found:
        shutil.copyfile(stem.with_name(_file(stem)), folder / _file(stem))
    return [_entry(stem, measured=bool(own)) for stem in found]


def _agents_at(setup: Setup, level: str | None) -> list[Path]:
    """The agents that were made for a level with its usual options."""
    keywords = {} if level is None else {"level": level}
    stems = [(stem, parse_name(stem.name)) for stem in reference_agents(setup.world.name)]
    there = [stem for stem, name in stems if name.seed is None and name.level == level]
    return [stem for stem in there if read_card(stem).keywords == keywords]


def _fits(stem: Path, setup: Setup) -> bool:
    try:
        load_agent(stem).check(setup)
    except ParameterError:
        return False
    return True


def _entry(stem: Path, measured: bool) -> dict[str, Any]:
    card = read_card(stem)
    return {
        "name": parse_name(stem.name).algorithm,
        "label": card.learner,
        "file": _file(stem),
        "architecture": card.architecture,
        "drawn": card.drawn,
        "mean": card.score.mean if measured and card.score else None,
    }


def _file(stem: Path) -> str:
    return f"{stem.name}{WEIGHTS}"
