"""Model cards of agents: everything known about an agent except its weights, as a JSON file."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from rlenvs.core.declare.errors import AgentFileError, ParameterError

__all__ = ["AgentScore", "Card"]

FORMAT, VERSION = "rlenvs agent", 1
WEIGHTS, CARD = ".safetensors", ".json"  # endings of an agent's two files
IMITATING = ("DAgger", "BC")


def normalized(mean: float, random: float | None, expert: float | None) -> float | None:
    """A mean return on the scale where random has 0 and the expert 1; None where there is no such scale."""
    if random is None or expert is None or random == expert:
        return None
    return (mean - random) / (expert - random)


def with_conditions(
    algorithm: str, keywords: Mapping[str, Any], settings: Mapping[str, Any], first: Sequence[str] = ()
) -> str:
    """An algorithm, followed in parentheses by how its task and play differ from the declared environment and level.

    Args:
        algorithm: the learning algorithm.
        keywords: of `make`, with which the agent plays.
        settings: of the training, as a card has them.
        first: further entries, shown first in the parentheses.
    """
    network = settings.get("network", {})
    training = [f"{name}={_setting(value)}" for name, value in settings.get("training", {}).items()]
    told = [*first, *(f"{name}={value}" for name, value in keywords.items() if name != "level")]
    told += [f"{network['frames']} stacked frames"] if network.get("frames", 1) > 1 else []
    told += [f"trained with {' and '.join(training)}"] if training else []
    told += ["samples its actions"] if network.get("drawn") else []
    return f"{algorithm} ({', '.join(told)})" if told else algorithm


def _setting(value: Any) -> str:
    """A setting in a table: of a table, its entries."""
    return " ".join(f"{name}:{each:g}" for name, each in value.items()) if isinstance(value, dict) else str(value)


@dataclass(frozen=True)
class AgentScore:
    """The score of an agent on the seeds first_seed ... first_seed + seeds - 1, computed as in `rlenvs.evaluate`.

    Attributes:
        mean, half_width: of the return, with the half width of its 95 % confidence interval.
        success_rate: in [0, 1]. length: mean of an episode. costs: mean of an agent's episode by name of a cost; cost:
            mean of an episode's `info["cost"]`, summed over all agents.
        seeds, first_seed: how many, and the first.
        against: the scripted player of the other teams; None where teams do not play against each other.
        random, idle, expert: mean returns of the random policy, of doing nothing and of the scripted expert on the same
            seeds; None where not measured, or without an expert.
        expert_success: success rate of the scripted expert on the same seeds; None likewise.
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
    expert_success: float | None = None

    @property
    def normalized(self) -> float | None:
        """The mean, scaled so that random actions score 0 and the expert 1; None if there is no such scale."""
        return normalized(self.mean, self.random, self.expert)


@dataclass(frozen=True)
class Card:
    """The model card of an agent.

    Attributes:
        id: the environment, "rlenvs/Name-v0".
        keywords: of `make`, for which the agent is meant: level, options, parameters.
        algorithm: that learned it, such as "PPO".
        settings: its hyperparameters.
        architecture: as in `rlenvs.agents.network`.
        steps: environment steps of training, all environments together.
        seeds: of training.
        seconds: wall time of training.
        hardware: {"cpu": name, "kind": what compilers call it, such as "znver3", "cores": number}.
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

    @property
    def imitates(self) -> bool:
        """Whether the agent learned from a scripted expert, not only from reward."""
        return self.algorithm in IMITATING or bool(self.settings.get("expert"))

    @property
    def drawn(self) -> bool:
        """Whether the agent samples its actions from its policy instead of taking the most likely one."""
        return bool(self.settings.get("network", {}).get("drawn"))

    @property
    def described(self) -> str:
        """The algorithm, with the differences between its task and the declared environment; see `with_conditions`."""
        return with_conditions(self.algorithm, self.keywords, self.settings)

    @property
    def learner(self) -> str:
        """A description for people: `described`, and whether the agent imitates the expert."""
        return with_conditions(self.algorithm, self.keywords, self.settings, ["imitates the expert"] * self.imitates)

    def to_json(self) -> str:
        """The card as JSON text. ParameterError if a value cannot be written as JSON."""
        table: dict[str, Any] = {"format": FORMAT, "version": VERSION, **asdict(self)}
        for name, value in table.items():
            try:
                table[name] = json.loads(json.dumps(value, allow_nan=False))
            except (TypeError, ValueError) as reason:
                raise ParameterError(f"card: {name}={value!r} cannot be written as JSON: {reason}") from None
        return json.dumps({**table, "digest": digest_of(table)}, indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str | bytes) -> Card:
        """Parse a card from JSON text; AgentFileError with the reason if it is invalid."""
        table = table_of(text)
        if table.get("format") != FORMAT:
            raise AgentFileError(f'not an agent card: it needs "format": "{FORMAT}"')
        if table.get("version") != VERSION:
            raise AgentFileError(
                f"version {table.get('version')!r} of the format; this package reads {VERSION}. Update rlenvs?"
            )
        digest = table.pop("digest", None)
        if digest != digest_of(table):
            raise AgentFileError('the card was damaged or edited: its "digest" does not match its contents')
        values = {name: value for name, value in table.items() if name not in ("format", "version")}
        _check_fields("card", cls, values)
        score = values["score"]
        if isinstance(score, dict):
            score = {"idle": None, "costs": {}, "expert_success": None, **score}  # cards of old do not have these
        if score is not None:
            _check_fields("card: score", AgentScore, score)
            values["score"] = AgentScore(**score)
        if values["steps"] < 0 or values["seconds"] < 0 or not all(type(seed) is int for seed in values["seeds"]):
            raise AgentFileError("card: steps and seconds must be at least 0, seeds must be integers")
        return cls(**values)


def table_of(text: str | bytes) -> dict[str, Any]:
    """The object in a text of JSON; AgentFileError where there is none, or numbers that are not finite."""

    def refuse(constant: str) -> None:
        raise ValueError(f"{constant} is not a JSON number")

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
        raise AgentFileError("not an agent card: it must be an object")
    return table


def digest_of(table: Mapping[str, Any]) -> str:
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
