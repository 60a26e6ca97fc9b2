"""Trained agents as files that a page plays: weights as they are, and what pages need of their cards."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from rlenvs.agents.card import WEIGHTS, Card
from rlenvs.agents.store import parse_name, read_card, reference_agents
from rlenvs.core.declare.setup import Setup


def networks_of(setup: Setup, folder: Path) -> list[dict[str, Any]]:
    """The reference agents of a world at a level that play it with its usual options; their weights are copied.

    Args:
        setup: of the level. folder: where weights are written.

    Returns:
        of each: name ("PPO"); label; file; architecture, see `rlenvs.agents.architecture`; drawn: whether choices are
        drawn; mean: return, None where it was not measured.
    """
    found = []
    for stem in reference_agents(setup.world.name):
        name, card = parse_name(stem.name), read_card(stem)
        if name.seed is None and name.level == setup.level and _plays(setup, card):
            file = f"{stem.name}{WEIGHTS}"
            shutil.copyfile(stem.with_name(file), folder / file)
            found.append(
                {
                    "name": name.algorithm,
                    "label": card.learner,
                    "file": file,
                    "architecture": card.architecture,
                    "drawn": card.drawn,
                    "mean": card.score.mean if card.score else None,
                }
            )
    return found


def _plays(setup: Setup, card: Card) -> bool:
    """Whether an agent was made for this level with its usual options."""
    return {name: value for name, value in card.keywords.items() if value is not None} in (
        [{}] if setup.level is None else [{"level": setup.level}]
    )
