"""Agent files: weights as safetensors, everything else in a JSON card. Loading runs no code from them.

`hover.safetensors` holds the arrays of `rlenvs.agents.network`, `hover.json` the card, which names the SHA-256 of the
weights. The hashes find damage and mixed-up files; they are no signature, and say nothing of who made a file.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from rlenvs.agents.agent import Agent
from rlenvs.agents.card import CARD, WEIGHTS, AgentScore, Card, table_of
from rlenvs.agents.network import Network
from rlenvs.agents.store import RUN_AGENT, check_sum, reference_stem
from rlenvs.agents.writing import discard_pending, pending, take_place, write_pending
from rlenvs.core.catalogue.registry import NAMESPACE, Entry, catalogue, entry, nearest_ids, world_of
from rlenvs.core.declare.errors import AgentFileError, ParameterError, UnknownNameError, shortened
from rlenvs.core.declare.setup import Setup
from rlenvs.core.declare.user_files import read_file

__all__ = ["load_agent", "save_agent", "with_score"]

LARGEST_CARD, LARGEST_HEADER, LARGEST_WEIGHTS = 1 << 20, 1 << 20, 1 << 26  # bytes
TYPES = ("F16", "F32", "F64")  # of arrays; F16 becomes float32 when it is read
LENGTH = 8  # bytes in front of a safetensors header that tell its length
FOREIGN = {
    b"PK\x03\x04": "a zip archive, such as a model saved by Stable-Baselines3 or PyTorch",
    **{b"\x80" + bytes([version]): "a Python pickle, which could run any code" for version in range(1, 6)},
    b"\x93NUMPY": "a NumPy file",
    b"\x89HDF": "an HDF5 file",
}


# --- saving -----------------------------------------------------------------------------------------------------------


def save_agent(path: str | Path, agent: Agent, *, half: bool = False) -> Path:
    """Write an agent's two files, `<path>.safetensors` and `<path>.json`; either ending may be given.

    What was there before stays loadable until the new files are complete: both are written beside the old ones and
    flushed to the disk, then take their places. Should everything stop between the two renamings, `load_agent` finds
    the new card beside the new weights.

    Args:
        path: of one of the two files, or without ending.
        agent: what to write.
        half: write weights as float16, for files of half the size; the agent that is loaded then plays by what is
            left of them, so its score should be taken again.

    Returns:
        the path of the weights.

    Raises:
        AgentFileError: the files cannot be written (no such folder, no permission, a full disk); the old ones are
            untouched then.
        ParameterError: no path or no agent, a card that holds what JSON does not know, or weights that are too large
            for float16.
    """
    from safetensors.numpy import save

    stem = _stem(path)
    if not isinstance(agent, Agent):
        raise ParameterError(
            f"save_agent requires an Agent, such as agent_from_sb3(model, ...), not a {type(agent).__name__}"
        )
    stored = _rounded(agent.network.tensors) if half else agent.network.tensors
    ordered = {name: np.ascontiguousarray(array) for name, array in sorted(stored.items())}
    weights = save(ordered, {"content": _content(ordered)})  # one entry: their order would be random
    card = replace(agent.card, architecture=agent.network.architecture, weights=hashlib.sha256(weights).hexdigest())
    text = card.to_json().encode()
    if len(weights) > LARGEST_WEIGHTS or len(text) > LARGEST_CARD:
        raise AgentFileError(
            f"{stem}: weights of {len(weights)} and a card of {len(text)} bytes exceed the limits of "
            f"{LARGEST_WEIGHTS} and {LARGEST_CARD} for loading"
        )
    place = _beside(stem, WEIGHTS)
    try:
        _finish_interrupted(stem)
        write_pending(place, [weights])
        write_pending(_beside(stem, CARD), [text])
    except (OSError, ValueError) as error:
        for ending in (WEIGHTS, CARD):
            with contextlib.suppress(ValueError):
                discard_pending(_beside(stem, ending))
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise AgentFileError(
            f"{_short(str(place))} cannot be written: {reason}; existing files are unchanged"
        ) from None
    take_place(place)
    take_place(_beside(stem, CARD))
    return place


def _rounded(tensors: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The arrays, weights (not biases, nor statistics) as float16."""
    matrices = {name: array for name, array in tensors.items() if array.ndim > 1 and array.dtype == np.float32}
    most = float(np.finfo(np.float16).max)
    for name, array in matrices.items():
        if np.abs(array).max() > most:
            raise ParameterError(f"{name!r} contains numbers above {most:g}, too large for float16; save without half")
    return {**tensors, **{name: array.astype(np.float16) for name, array in matrices.items()}}


def _finish_interrupted(stem: Path) -> None:
    """Where a save stopped between its two renamings, make up for the second, so that the card is not overwritten."""
    weights, card = _beside(stem, WEIGHTS), pending(_beside(stem, CARD))
    if weights.exists() and card.exists():
        with contextlib.suppress(AgentFileError):
            made_for = Card.from_json(_read(card, LARGEST_CARD)).weights
            if made_for == hashlib.sha256(_read(weights, LARGEST_WEIGHTS)).hexdigest():
                take_place(_beside(stem, CARD))


def _stem(path: str | Path) -> Path:
    if not isinstance(path, (str, Path)) or not Path(path).name:
        raise ParameterError(f"{path!r} is not a path of agent files, such as 'mine.safetensors'")
    path = Path(path)
    return path.with_suffix("") if path.suffix in (WEIGHTS, CARD) else path


def _beside(stem: Path, ending: str) -> Path:
    return stem.with_name(stem.name + ending)


def _content(tensors: Mapping[str, np.ndarray]) -> str:
    """A hash of the arrays themselves; it tells a damaged file from the intact file of another card."""
    digest = hashlib.sha256()
    for name, array in sorted(tensors.items()):
        digest.update(f"{name} {array.dtype} {array.shape} ".encode() + np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


# --- loading ----------------------------------------------------------------------------------------------------------


def load_agent(
    source: str | Path, *, id: str | None = None, level: str | None = None, algorithm: str | None = None
) -> Agent:
    """Load an agent from its files, or the reference agent of an environment.

    Nothing is used before all of this is known: both files are there and whole, the hashes fit, the arrays are those of
    the architecture and finite, the environment exists, and its spaces are the agent's.

    Args:
        source: an id, with or without "rlenvs/", for its reference agent; or one of the two files, or their path
            without ending.
        id: the environment that the agent has to be for.
        level: of the reference agent; the agent of the defaults where the level has none of its own.
        algorithm: of the reference agent, such as "PPO". By default the best one that learned by reinforcement, else
            one that imitates the scripted expert.

    Raises:
        AgentFileError: with the reason: a file is missing, cut off, damaged, of another kind (a pickle, a zip archive),
            of an unknown version, belongs to other weights, is for another environment or other spaces, holds NaN.
        UnknownNameError: no such id or level, or (NoAgentError) no reference agent for it.
        ParameterError: neither a text nor a path.
    """
    stem = _find(source, level, algorithm)
    if id is not None:
        entry(id)
    elif is_id(source):
        id = str(source)
    try:
        return _load(stem, id)
    except AgentFileError as reason:
        raise AgentFileError(f"{_short(str(stem))}: {reason}") from None


def _short(text: str, length: int = 150) -> str:
    """The end of a path."""
    return text if len(text) <= length else f"... {text[-length:]}"


def is_id(source: str | Path) -> bool:
    """Whether a text is the id of an environment, with or without "rlenvs/"."""
    if not isinstance(source, str):
        return False
    name = source.removeprefix("rlenvs:")
    return name in catalogue or f"{NAMESPACE}/{name}" in catalogue


def _find(source: str | Path, level: str | None, algorithm: str | None) -> Path:
    if is_id(source):
        return reference_stem(str(source), level, algorithm)
    stem = _stem(source)
    if os.path.isdir(source):
        return _in_folder(Path(source))
    if isinstance(source, Path) or source.endswith((WEIGHTS, CARD)) or os.path.exists(_beside(stem, WEIGHTS)):
        return stem
    advice = "" if len(Path(source).parts) > 2 else f" {nearest_ids(source)}"
    raise UnknownNameError(f"there is no environment and no agent file {shortened(source)}.{advice}")


def _in_folder(folder: Path) -> Path:
    """The agent of the run in a folder."""
    if (folder / f"{RUN_AGENT}{WEIGHTS}").exists():
        return folder / RUN_AGENT
    found = sorted(folder.glob(f"*/{RUN_AGENT}{WEIGHTS}"))
    advice = f", such as {found[0]}" if found else ""
    raise AgentFileError(f"{_short(str(folder))} is a folder without an agent; give an agent file{advice}")


def _load(stem: Path, id: str | None) -> Agent:
    weights = _read(_beside(stem, WEIGHTS), LARGEST_WEIGHTS)
    text = _read(_beside(stem, CARD), LARGEST_CARD)
    check_sum(_beside(stem, WEIGHTS), weights)
    check_sum(_beside(stem, CARD), text)
    card = Card.from_json(text)
    if hashlib.sha256(weights).hexdigest() != card.weights:
        card = _other_card(stem, weights)
    known = _entry_of(card.id)
    if id is not None and known.address != entry(id).address:
        raise AgentFileError(f"an agent for {card.id}, not for {id}")
    tensors = {name: _widened(array) for name, array in _tensors(weights).items()}
    try:
        agent = Agent(card, Network(card.architecture, tensors))
        agent.check(Setup(world_of(known.id), **card.keywords))
    except (ValueError, TypeError, ArithmeticError, LookupError) as reason:
        raise AgentFileError(f"{reason}") from None
    return agent


def _entry_of(id: str) -> Entry:
    try:
        return entry(id)
    except UnknownNameError as reason:
        raise AgentFileError(f"an agent for an unknown environment: {reason}") from None


def _read(path: Path, largest: int) -> bytes:
    """All of a file, looked at only as far as it can be one of an agent."""
    try:
        data = read_file(path, largest)
    except FileNotFoundError:
        message = f"{_short(path.name)} is missing; an agent consists of two files, {WEIGHTS} and {CARD}"
        raise AgentFileError(message) from None
    except OSError as error:
        raise AgentFileError(f"{_short(path.name)} cannot be read: {error.strerror}") from None
    for head, kind in FOREIGN.items():
        # the length of a safetensors header may begin with the same bytes; the header itself follows then
        if data.startswith(head) and data[LENGTH : LENGTH + 1] != b"{":
            raise AgentFileError(f"{path.name} is {kind}; it was not opened. Agent weights are stored as safetensors")
    if len(data) > largest:
        raise AgentFileError(f"{path.name} has more than the {largest} bytes allowed for an agent")
    return data


def _other_card(stem: Path, weights: bytes) -> Card:
    """The card of weights that do not belong to the one in its place: that of a save which was interrupted."""
    waiting = pending(_beside(stem, CARD))
    if waiting.exists():
        with contextlib.suppress(AgentFileError):
            card = Card.from_json(_read(waiting, LARGEST_CARD))
            if hashlib.sha256(weights).hexdigest() == card.weights:
                return card
    name = f"{stem.name}{WEIGHTS}"
    content = _header(weights).get("__metadata__", {}).get("content")
    if content == _content(_tensors(weights)):
        raise AgentFileError(f"{name} is intact, but does not belong to {stem.name}{CARD}; were files mixed up?")
    raise AgentFileError(f"{name} is damaged: its contents differ from what was saved")


def _header(weights: bytes) -> dict[str, Any]:
    """The head of a safetensors file; AgentFileError when it is none, or when data are missing behind it."""
    length = int.from_bytes(weights[:LENGTH], "little")
    if len(weights) < LENGTH or weights[LENGTH : LENGTH + 1] != b"{":
        raise AgentFileError("the weights are not a safetensors file, or are truncated within the first bytes")
    if length > LARGEST_HEADER:
        raise AgentFileError(f"the weights claim a header of {length} bytes; at most {LARGEST_HEADER} are supported")
    try:
        header = table_of(weights[LENGTH : LENGTH + length])
        ends = [part["data_offsets"][1] for name, part in header.items() if name != "__metadata__"]
        missing = LENGTH + length + max([0, *ends]) - len(weights)
    except (AgentFileError, TypeError, KeyError, IndexError):
        if LENGTH + length > len(weights):
            raise AgentFileError("the weights are truncated within their header") from None
        raise AgentFileError("the weights have an unreadable header") from None
    if missing > 0:
        raise AgentFileError(f"the weights are truncated: {missing} bytes are missing at the end")
    types = [part.get("dtype") for name, part in header.items() if name != "__metadata__"]
    if not isinstance(header.get("__metadata__", {}), dict) or not all(found in TYPES for found in types):
        raise AgentFileError("the weights have a header that does not belong to an agent")
    return header


def _tensors(weights: bytes) -> dict[str, np.ndarray]:
    from safetensors import SafetensorError
    from safetensors.numpy import load

    _header(weights)
    try:
        return load(weights)
    except (SafetensorError, KeyError, TypeError, ValueError) as reason:
        raise AgentFileError(f"the weights are not a valid safetensors file: {reason}") from None


def _widened(array: np.ndarray) -> np.ndarray:
    return array.astype(np.float32) if array.dtype == np.float16 else array


def with_score(agent: Agent, score: AgentScore | None) -> Agent:
    """A copy of the agent with a new score on its card."""
    return Agent(replace(agent.card, score=score), agent.network)
