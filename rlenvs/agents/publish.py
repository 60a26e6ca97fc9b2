"""Publish a finished run as a reference agent: evaluate it, round its weights, keep its learning curve."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

from rlenvs.agents import store as places
from rlenvs.agents.card import CARD, Card
from rlenvs.agents.curves import published_curve
from rlenvs.agents.files import RUN_AGENT, load_agent, save_agent, with_score
from rlenvs.agents.scores import measure
from rlenvs.agents.store import CURVES, Name, file_name, parse_name, read_card, write_sums
from rlenvs.agents.writing import replace_file
from rlenvs.core.catalogue.registry import world_of
from rlenvs.core.declare.errors import ParameterError

__all__ = ["publish", "publish_curve"]


def publish(folder: str | Path, name: str | None = None, to: Path | None = None, seeds: int = 100) -> Path:
    """Evaluate the agent of a finished run, and add it and the run's learning curve to a store.

    Weights are written as float16, and the score is that of the rounded ones.

    Args:
        folder: of the run, with agent.safetensors, agent.json and progress.csv.
        name: of the files; by default the algorithm, behind the level where the run had one, and with the seed behind
            it where that is not 0.
        to: the store; by default the one that has an agent of that name, else the checkout's.
        seeds: episodes that it is measured on.

    Returns:
        the path of the agent's files without ending.

    Raises:
        AgentFileError: the folder holds no agent; RunError: it holds no learning curve.
        ParameterError: a name that says another level or algorithm than the card, or no store to write to.
    """
    agent = load_agent(Path(folder) / RUN_AGENT)
    world, (level, algorithm, seed) = world_of(agent.card.id).name, _name_of(agent.card)
    name = name or file_name(level, algorithm, seed)
    if parse_name(name)[:2] != (level, algorithm):
        raise ParameterError(f"the agent in {folder} is {file_name(level, algorithm)}; it does not match {name!r}")
    store = to or _home(world, name)
    publish_curve(folder, store)
    stem = store / world / name
    with tempfile.TemporaryDirectory() as rounded:
        agent = load_agent(save_agent(Path(rounded) / RUN_AGENT, agent, half=True))
    save_agent(stem, with_score(agent, measure(agent, seeds)), half=True)
    write_sums(store)
    return stem


def publish_curve(folder: str | Path, to: Path | None = None) -> Path:
    """Add only the learning curve of a run to a store, as for additional seeds; returns the path of the table.

    Raises:
        as `publish` does.
    """
    card = read_card(Path(folder) / RUN_AGENT)
    text = published_curve(Path(folder) / "progress.csv")
    world, (level, algorithm, _) = world_of(card.id).name, _name_of(card)
    name = file_name(level, algorithm)
    store = to or _home(world, name)
    path = store / world / CURVES / f"{name}-seed-{card.seeds[0]}.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, [text.encode()])
    write_sums(store)
    return path


def _name_of(card: Card) -> Name:
    """What the files of an agent are to be called, from its card."""
    level = card.keywords.get("level")
    if not card.seeds:
        raise ParameterError(f"the card of an agent for {card.id} has no training seed")
    if not re.fullmatch(r"\w+", card.algorithm) or (level is not None and not re.fullmatch(r"\w+", str(level))):
        raise ParameterError(
            f"level {level!r} and algorithm {card.algorithm!r} cannot be names of files; needed: letters and digits"
        )
    return Name(level, card.algorithm, card.seeds[0] or None)


def _home(world: str, name: str) -> Path:
    """The store that has an agent of that name, else the checkout's."""
    if (places.REFERENCE / world / f"{name}{CARD}").exists():
        return places.REFERENCE
    if not places.is_checkout():
        raise ParameterError(
            f"rlenvs is not installed from a checkout ({places.CHECKOUT} is missing); give the store with to=FOLDER"
        )
    return places.CHECKOUT
