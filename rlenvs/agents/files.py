"""Agents as files: weights in safetensors, all else in a JSON card beside them. Loading runs no code of theirs.

`hover.safetensors` holds the arrays of `rlenvs.agents.network`, `hover.json` the card, which names the SHA-256 of the
weights. The hashes find damage and mixed-up files; they are no signature, and say nothing of who made a file.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rlenvs.agents.network import Network, State, parts_of
from rlenvs.agents.writing import discard_pending, pending, read_file, take_place, write_pending
from rlenvs.core.errors import AgentFileError, NoAgentError, ParameterError, UnknownNameError, nearest, shortened
from rlenvs.core.registry import NAMESPACE, Entry, catalogue, entry, nearest_ids, world_of
from rlenvs.core.setup import Setup

__all__ = ["Agent", "Card", "load_agent", "reference_agents", "save_agent", "with_score"]

FORMAT, VERSION = "rlenvs agent", 1
REFERENCE = Path(__file__).with_name("reference")
WEIGHTS, CARD = ".safetensors", ".json"
RUN_AGENT = "agent"  # the name, without ending, in the folder of a training run
LARGEST_CARD, LARGEST_HEADER, LARGEST_WEIGHTS = 1 << 20, 1 << 20, 1 << 26  # bytes
TYPES = ("F16", "F32", "F64")  # of arrays; F16 becomes float32 when it is read
LENGTH = 8  # bytes in front of a safetensors header that tell its length
FOREIGN = {
    b"PK\x03\x04": "a zip archive, such as a model saved by Stable-Baselines3 or PyTorch",
    **{b"\x80" + bytes([version]): "a Python pickle, which could run any code" for version in range(1, 6)},
    b"\x93NUMPY": "a NumPy file",
    b"\x89HDF": "an HDF5 file",
}


# --- the card ---------------------------------------------------------------------------------------------------------


def normalized(mean: float, random: float | None, expert: float | None) -> float | None:
    """A mean return on the scale where random has 0 and the expert 1; None where there is no such scale."""
    if random is None or expert is None or random == expert:
        return None
    return (mean - random) / (expert - random)


@dataclass(frozen=True)
class AgentScore:
    """What an agent reached on the seeds first_seed ... first_seed + seeds - 1, as `rlenvs.evaluate` counts.

    Attributes:
        mean, half_width: of the return, with the half width of its 95 % confidence interval.
        success_rate: in [0, 1]. cost, length: means of an episode. costs: mean of an agent's episode by name of a cost.
        seeds, first_seed: how many, and the first.
        against: the scripted player of the other sides; None where sides do not play against each other.
        random, idle, expert: mean returns of the random policy, of doing nothing and of the scripted expert on the same
            seeds; None where not measured, or without an expert.
    """

    mean: float
    half_width: float
    success_rate: float
    cost: float
    length: float
    seeds: int
    first_seed: int
    against: str | None = None
    random: float | None = None
    expert: float | None = None
    idle: float | None = None
    costs: dict[str, float] = field(default_factory=dict)

    @property
    def normalized(self) -> float | None:
        """The mean on the scale where random has 0 and the expert 1; None where there is no such scale."""
        return normalized(self.mean, self.random, self.expert)


@dataclass(frozen=True)
class Card:
    """What is known of an agent.

    Attributes:
        id: the environment, "rlenvs/Name-v0".
        keywords: of `make`, for which the agent is meant: level, options, parameters.
        algorithm: that learnt it, such as "PPO".
        settings: its hyper-parameters.
        architecture: as in `rlenvs.agents.network`.
        steps: environment steps of training, all environments together.
        seeds: of training.
        seconds: wall time of training.
        hardware: {"cpu": name, "cores": number}.
        versions: by package.
        score: None where it was not measured.
        weights: SHA-256 of the weights file in hexadecimal digits; empty before it is saved.
    """

    id: str
    keywords: dict[str, Any]
    algorithm: str
    settings: dict[str, Any]
    architecture: dict[str, Any]
    steps: int
    seeds: list[int]
    seconds: float
    hardware: dict[str, Any]
    versions: dict[str, str]
    score: AgentScore | None = None
    weights: str = ""

    def to_json(self) -> str:
        """The card as the text of its file. ParameterError names what JSON does not know."""
        table: dict[str, Any] = {"format": FORMAT, "version": VERSION, **asdict(self)}
        for name, value in table.items():
            try:
                table[name] = json.loads(json.dumps(value, allow_nan=False))
            except (TypeError, ValueError) as reason:
                raise ParameterError(f"card: {name}={value!r} cannot be written as JSON: {reason}") from None
        return json.dumps({**table, "digest": _digest(table)}, indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str | bytes) -> Card:
        """The card in a text; AgentFileError with the reason where there is none."""
        table = _table(text)
        if table.get("format") != FORMAT:
            raise AgentFileError(f'no card of an agent: it needs "format": "{FORMAT}"')
        if table.get("version") != VERSION:
            raise AgentFileError(
                f"version {table.get('version')!r} of the format; this package reads {VERSION}. Update rlenvs?"
            )
        digest = table.pop("digest", None)
        if digest != _digest(table):
            raise AgentFileError('the card was damaged or edited: its "digest" does not fit what it says')
        values = {name: value for name, value in table.items() if name not in ("format", "version")}
        _check_fields("card", cls, values)
        score = values["score"]
        if isinstance(score, dict):
            score = {"idle": None, "costs": {}, **score}  # cards of old do not have these
        if score is not None:
            _check_fields("card: score", AgentScore, score)
            values["score"] = AgentScore(**score)
        if values["steps"] < 0 or values["seconds"] < 0 or not all(type(seed) is int for seed in values["seeds"]):
            raise AgentFileError("card: steps and seconds must be at least 0, seeds whole numbers")
        return cls(**values)


def _table(text: str | bytes) -> dict[str, Any]:
    def refuse(constant: str) -> None:
        raise ValueError(f"{constant} is no number of JSON")

    def finite(number: str) -> float:
        if math.isinf(float(number)):
            raise ValueError(f"{number[:20]} is too large for a number")
        return float(number)

    try:
        decoded = text if isinstance(text, str) else text.decode("utf-8")
        table = json.loads(decoded, parse_constant=refuse, parse_float=finite)
    except (ValueError, RecursionError) as reason:
        raise AgentFileError(f"not JSON: {reason}") from None
    if not isinstance(table, dict):
        raise AgentFileError("no card of an agent: it must be an object")
    return table


def _digest(table: Mapping[str, Any]) -> str:
    """Of what a card says, however it is laid out."""
    return hashlib.sha256(json.dumps(table, sort_keys=True).encode()).hexdigest()


KINDS: dict[str, tuple[tuple[type, ...], str]] = {
    "str": ((str,), "a text"),
    "int": ((int,), "a whole number"),
    "float": ((int, float), "a number"),
    "float | None": ((int, float, type(None)), "a number or null"),
    "str | None": ((str, type(None)), "a text or null"),
    "list[int]": ((list,), "a list of whole numbers"),
    "AgentScore | None": ((dict, type(None)), "an object or null"),
}


def _check_fields(label: str, cls: Any, table: Any) -> None:
    """AgentFileError unless the table has exactly the fields of a dataclass, each of its type."""
    if not isinstance(table, dict) or set(table) != {part.name for part in fields(cls)}:
        given = sorted(table) if isinstance(table, dict) else type(table).__name__
        raise AgentFileError(f"{label}: it must have {', '.join(part.name for part in fields(cls))}; it has {given}")
    for part in fields(cls):
        kinds, wanted = KINDS.get(str(part.type), ((dict,), "an object"))
        if not isinstance(table[part.name], kinds) or isinstance(table[part.name], bool):
            raise AgentFileError(f"{label}: {part.name} is {table[part.name]!r}; needed: {wanted}")


# --- the agent --------------------------------------------------------------------------------------------------------


class Seen(NamedTuple):
    """What rows of an environment show: observations, masks (or None), and whether each episode has just begun."""

    observations: Any
    masks: np.ndarray | None
    starts: np.ndarray


@dataclass(frozen=True)
class Agent:
    """A learnt policy without exploration. `rlenvs.load_agent` gives one; `rlenvs.evaluate` takes one.

    Attributes:
        card: what is known of it. network: what it computes.
    """

    card: Card
    network: Network = field(repr=False)

    def act(
        self, observation: Any, mask: np.ndarray | None = None, state: State | None = None, start: bool = False
    ) -> tuple[Any, State | None]:
        """What to do for one observation.

        Args:
            observation: as the environment gives it: an array of the shape of its space, or a dictionary of arrays.
            mask: (choices,), nonzero where a choice is allowed (`info["action_mask"]`).
            state: what the call before gave; None at the beginning. Agents without an LSTM give and take None.
            start: whether an episode begins with this observation; the state is forgotten then.

        Returns:
            the action, float32 (numbers,) or an int, and the next state.

        Raises:
            ParameterError: an observation, mask or state of another shape, or not finite.
        """
        actions, state = self.predict(observation, state, np.array(start), action_masks=mask)
        if actions.ndim != (1 if self.network.numbers else 0):
            raise ParameterError(f"act is for one observation; for rows of {np.shape(observation)} use predict")
        return (actions if self.network.numbers else int(actions)), state

    def predict(
        self,
        observation: Any,
        state: State | None = None,
        episode_start: np.ndarray | None = None,
        deterministic: bool = True,
        action_masks: np.ndarray | None = None,
    ) -> tuple[np.ndarray, State | None]:
        """What a Stable-Baselines3 model's `predict` gives, for one observation or for many.

        Args:
            observation: (*rows, *shape), with any number of axes in front, or a dictionary of such arrays.
            state: of the LSTM: two arrays (layers, number of rows, units), or None.
            episode_start: (*rows), true where an episode begins.
            deterministic: agents have no exploration; both values give the same.
            action_masks: (*rows, choices), nonzero where a choice is allowed.

        Returns:
            actions, float32 (*rows, numbers) or int64 (*rows), and the next state.

        Raises:
            ParameterError: arrays of other shapes, or observations that are not finite.
        """
        flat, rows = self._in_rows(observation)
        count = int(np.prod(rows, dtype=int))
        masks = None if action_masks is None else self._masks_in_rows(action_masks, count)
        starts = None if episode_start is None else np.asarray(episode_start).reshape(-1)
        actions, state = self.network.act(flat, masks, state, starts)
        return actions.reshape((*rows, *actions.shape[1:])), state

    def __call__(self, observations: Any) -> np.ndarray:
        """Actions for observations (*rows, *shape). ParameterError for agents with an LSTM: use `predict`."""
        if self.network.memory_shape[0]:
            raise ParameterError("this agent has a memory; use agent.predict(observations, state, episode_start)")
        return self.predict(observations)[0]

    def chooser(self, see: Callable[[], Seen]) -> Callable[[], np.ndarray]:
        """A function that looks, and gives the next actions; it keeps the LSTM's state. For loops like `evaluate`'s."""
        state: State | None = None

        def choose() -> np.ndarray:
            nonlocal state
            observations, masks, starts = see()
            masks = masks if self.network.masked else None
            actions, state = self.predict(observations, state, starts, action_masks=masks)
            return actions

        return choose

    def player(self, setup: Setup, label: str) -> Callable[..., np.ndarray]:
        """The agent as a function (observations, masks, rng) -> actions, as `rlenvs.tournament` takes one.

        Raises:
            ParameterError: an agent with an LSTM, since players are asked without telling them which game it is; or
                one for other spaces than the world's.
        """
        if self.network.memory_shape[0]:
            raise ParameterError(f"{label} has a memory (an LSTM), and players of a tournament are asked without one")
        self.check(setup, label)

        def play(observations: Any, masks: np.ndarray | None, rng: np.random.Generator) -> np.ndarray:
            return self.predict(observations, action_masks=masks if self.network.masked else None)[0]

        return play

    def check(self, setup: Setup, label: str = "the agent") -> None:
        """ParameterError where the spaces of the world's agents, padded to equal size, are not those of this agent."""
        wanted = {name: space.shape for name, space in parts_of(setup.observation_space).items()}
        name = setup.world.name
        if dict(self.network.parts) != wanted:
            raise ParameterError(
                f"{label} was trained for observations {_shapes(dict(self.network.parts))}; those of {name} are "
                f"{_shapes(wanted)} with these keywords"
            )
        mine = ("numbers", self.network.numbers) if self.network.numbers else ("choices", self.network.choices)
        theirs = ("numbers" if setup.continuous else "choices", setup.action_size)
        if mine != theirs:
            raise ParameterError(
                f"{label} was trained for actions of {mine[1]} {mine[0]}; those of {name} have {theirs[1]} {theirs[0]} "
                "with these keywords"
            )

    # agents with roles see shorter rows in the single and parallel forms; a batch pads them with zeros, as training did

    @cached_property
    def _pads(self) -> bool:
        return bool(world_of(self.card.id).roles)

    def _in_rows(self, observation: Any) -> tuple[Any, tuple[int, ...]]:
        """The observation with one axis of rows in front, and the shape of the axes that were there."""
        named = isinstance(observation, Mapping)
        found: dict[str | None, np.ndarray] = {}
        rows: tuple[int, ...] = ()
        for name, shape in self.network.parts:
            if (name is not None) != named or (named and name not in observation):
                continue  # the network says what is missing
            array = np.asarray(observation if name is None else observation[name])
            rows = array.shape[: max(array.ndim - len(shape), 0)]
            array = array.reshape(int(np.prod(rows, dtype=int)), *array.shape[len(rows) :])
            found[name] = self._padded(array, shape[0]) if len(shape) == 1 and array.ndim == 2 else array
        if not named and None in found:
            return found[None], rows
        return (found if len(found) == len(self.network.parts) else observation), rows

    def _masks_in_rows(self, masks: Any, count: int) -> np.ndarray:
        array = np.asarray(masks)
        array = array.reshape(count, -1) if count and array.size % count == 0 else array
        return self._padded(array, self.network.choices) if array.ndim == 2 else array

    def _padded(self, array: np.ndarray, size: int) -> np.ndarray:
        missing = size - array.shape[1]
        return np.pad(array, ((0, 0), (0, missing))) if missing > 0 and self._pads else array


def _shapes(parts: Mapping[Any, tuple[int, ...]]) -> str:
    return ", ".join(f"{shape}" if name is None else f"{name!r} {shape}" for name, shape in parts.items())


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
        raise ParameterError(f"save_agent wants an Agent, such as agent_from(model, ...), not a {type(agent).__name__}")
    stored = _rounded(agent.network.tensors) if half else agent.network.tensors
    ordered = {name: np.ascontiguousarray(array) for name, array in sorted(stored.items())}
    weights = save(ordered, {"content": _content(ordered)})  # one entry: their order would be random
    card = replace(agent.card, architecture=agent.network.architecture, weights=hashlib.sha256(weights).hexdigest())
    text = card.to_json().encode()
    if len(weights) > LARGEST_WEIGHTS or len(text) > LARGEST_CARD:
        raise AgentFileError(
            f"{stem}: weights of {len(weights)} and a card of {len(text)} bytes are more than the {LARGEST_WEIGHTS} "
            f"and {LARGEST_CARD} that are loaded"
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
            f"{_short(str(place))} cannot be written: {reason}; what was there before is untouched"
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
            raise ParameterError(f"{name!r} holds numbers above {most:g}, which float16 cannot; save without half")
    return {**tensors, **{name: array.astype(np.float16) for name, array in matrices.items()}}


def _finish_interrupted(stem: Path) -> None:
    """Where a save stopped between its two renamings, make up for the second, so that the card is not overwritten."""
    weights, card = _beside(stem, WEIGHTS), pending(_beside(stem, CARD))
    if weights.exists() and card.exists():
        with contextlib.suppress(AgentFileError):
            if Card.from_json(card.read_bytes()).weights == hashlib.sha256(weights.read_bytes()).hexdigest():
                take_place(_beside(stem, CARD))


def _stem(path: str | Path) -> Path:
    if not isinstance(path, (str, Path)) or not Path(path).name:
        raise ParameterError(f"{path!r} is no path of an agent's files, such as 'mine.safetensors'")
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


def load_agent(source: str | Path, *, id: str | None = None, level: str | None = None) -> Agent:
    """Load an agent from its files, or the reference agent of an environment.

    Nothing is used before all of this is known: both files are there and whole, the hashes fit, the arrays are those of
    the architecture and finite, the environment exists, and its spaces are the agent's.

    Args:
        source: an id, with or without "rlenvs/", for its reference agent; or one of the two files, or their path
            without ending.
        id: the environment that the agent has to be for.
        level: of the reference agent; the agent of the defaults where the level has none of its own.

    Raises:
        AgentFileError: with the reason: a file is missing, cut off, damaged, of another kind (a pickle, a zip archive),
            of an unknown version, belongs to other weights, is for another environment or other spaces, holds NaN.
        UnknownNameError: no such id or level, or (NoAgentError) no reference agent for it.
        ParameterError: neither a text nor a path.
    """
    stem = _find(source, level)
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


def _find(source: str | Path, level: str | None) -> Path:
    if is_id(source):
        return reference_stem(str(source), level)
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
    raise AgentFileError(f"{_short(str(folder))} is a folder without an agent; name the file of one{advice}")


def reference_stem(id: str, level: str | None = None) -> Path:
    """Where the reference agent of an environment lies; UnknownNameError where there is none."""
    world = world_of(id)
    if level is not None and level not in world.levels:
        raise UnknownNameError(f"{world.name} has no level {level!r}. {nearest(level, world.levels)}")
    for name in [f"{world.name}-{level}"] * (level is not None) + [world.name]:
        if _beside(REFERENCE / name, CARD).exists():
            return REFERENCE / name
    raise NoAgentError(f"there is no reference agent for {world.name} yet; train one with: rlenvs train {world.name}")


def reference_agents() -> list[Path]:
    """The reference agents that exist: their files without ending, sorted by name."""
    return sorted(_stem(path) for path in REFERENCE.glob(f"*{CARD}"))


def _load(stem: Path, id: str | None) -> Agent:
    weights = _read(_beside(stem, WEIGHTS), LARGEST_WEIGHTS)
    text = _read(_beside(stem, CARD), LARGEST_CARD)
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
        raise AgentFileError(f"an agent for an environment that is not known here: {reason}") from None


def _read(path: Path, largest: int) -> bytes:
    """All of a file, looked at only as far as it can be one of an agent."""
    try:
        data = read_file(path, largest)
    except FileNotFoundError:
        raise AgentFileError(f"{_short(path.name)} is missing; an agent is two files, {WEIGHTS} and {CARD}") from None
    except OSError as error:
        raise AgentFileError(f"{_short(path.name)} cannot be read: {error.strerror}") from None
    for head, kind in FOREIGN.items():
        # the length of a safetensors header may begin with the same bytes; the header itself follows then
        if data.startswith(head) and data[LENGTH : LENGTH + 1] != b"{":
            raise AgentFileError(f"{path.name} is {kind}; it was not opened. Agents have weights in safetensors")
    if len(data) > largest:
        raise AgentFileError(f"{path.name} has more than the {largest} bytes that an agent may have")
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
        raise AgentFileError(f"{name} is intact, but belongs to another card than {stem.name}{CARD}; were files mixed?")
    raise AgentFileError(f"{name} was damaged: its bytes are not those that were saved")


def _header(weights: bytes) -> dict[str, Any]:
    """The head of a safetensors file; AgentFileError when it is none, or when data are missing behind it."""
    length = int.from_bytes(weights[:LENGTH], "little")
    if len(weights) < LENGTH or weights[LENGTH : LENGTH + 1] != b"{":
        raise AgentFileError("the weights are no safetensors file, or cut off within the first bytes")
    if length > LARGEST_HEADER:
        raise AgentFileError(f"the weights claim a header of {length} bytes; more than {LARGEST_HEADER} are not read")
    try:
        header = _table(weights[LENGTH : LENGTH + length])
        ends = [part["data_offsets"][1] for name, part in header.items() if name != "__metadata__"]
        missing = LENGTH + length + max([0, *ends]) - len(weights)
    except (AgentFileError, TypeError, KeyError, IndexError):
        if LENGTH + length > len(weights):
            raise AgentFileError("the weights are cut off within their header") from None
        raise AgentFileError("the weights have a header that cannot be read") from None
    if missing > 0:
        raise AgentFileError(f"the weights are cut off: {missing} bytes are missing at the end")
    types = [part.get("dtype") for name, part in header.items() if name != "__metadata__"]
    if not isinstance(header.get("__metadata__", {}), dict) or not all(found in TYPES for found in types):
        raise AgentFileError("the weights have a header that is none of an agent's")
    return header


def _tensors(weights: bytes) -> dict[str, np.ndarray]:
    from safetensors import SafetensorError
    from safetensors.numpy import load

    _header(weights)
    try:
        return load(weights)
    except (SafetensorError, KeyError, TypeError, ValueError) as reason:
        raise AgentFileError(f"the weights are no sound safetensors file: {reason}") from None


def _widened(array: np.ndarray) -> np.ndarray:
    return array.astype(np.float32) if array.dtype == np.float16 else array


def with_score(agent: Agent, score: AgentScore | None) -> Agent:
    """The agent with another score on its card."""
    return Agent(replace(agent.card, score=score), agent.network)
