"""What a training run is: its settings, checked, and as TOML."""

from __future__ import annotations

import json
import math
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from rlenvs.agents.card import IMITATING
from rlenvs.core.declare.errors import ParameterError, UnknownNameError, nearest
from rlenvs.core.declare.user_files import read_file

ON_POLICY = ("PPO", "MaskablePPO", "RecurrentPPO", "PPOLagrangian", "MAPPO")
OFF_POLICY = ("SAC", "TQC", "TD3", "DDPG", "DQN", "QRDQN")
ALGORITHMS = (*ON_POLICY, *OFF_POLICY, *IMITATING)
QUANTILES = ("TQC", "QRDQN")  # that learn a distribution of the return
LEAGUE = ("PPO", "MaskablePPO")  # that may play in a league
FRAMES = ("PPO", "MaskablePPO", "PPOLagrangian", *OFF_POLICY)  # that may look at several frames
PLANES = ("PPO", "MaskablePPO", "PPOLagrangian", *IMITATING)  # that may have convolutions as their head
MOST_ENVS = 1 << 18  # side by side; learners keep a Python object of each
LARGEST = 1 << 20  # bytes of a file
Table = dict[str, Any]


@dataclass(frozen=True)
class Settings:
    """What a training run is, apart from its seed.

    Attributes:
        algorithm: of ALGORITHMS.
        steps: environment steps, all environments together; rounded up to whole rollouts.
        num_envs: parallel environments.
        hyperparameters: keywords of the algorithm's class in Stable-Baselines3 or sb3-contrib, or of
            `rlenvs.agents.imitate`; numbers for `action_noise` (standard deviation), and "linear x" for schedules that
            fall from x to 0.
        network: "layers" (units of each), "activation" ("tanh" or "relu"), "log_std" (at the start; PPO on numbers),
            "memory" (units of the LSTM; RecurrentPPO), "quantiles" (of the distribution of returns; QUANTILES),
            "frames" (how many of the last observations are shown side by side, where one does not tell enough; FRAMES),
            "convolutions" (channels of each, 3 x 3, in front of all else; observations with planes or an image),
            "stride" (of each convolution, 1), "head" ("flat"; or "planes": the last choices of an action are planes as
            large as the board, rated by a convolution, and "layers" are those of the value; for PLANES), "roles"
            (whether the network is shown which kind of agent it plays; worlds with several kinds), "drawn" (whether
            the agent samples its actions when it is evaluated and used, as in training; ON_POLICY, choices),
            "precision" (of the products in hidden layers while it learns, "float32" or "bfloat16"; ON_POLICY).
        normalize: "observations", "rewards": whether running statistics scale them.
        hindsight: "goals": relabelled transitions per real one, of worlds with goals (OFF_POLICY); empty without.
        expert: "steps": how many of the first ones the scripted expert decides (OFF_POLICY), with "noise", the
            standard deviation of what is added to actions that are numbers.
        costs: of PPOLagrangian: "limits" (mean cost of an agent's episode by name; the customary ones by default),
            "learning_rate" and "start" of the multipliers.
        league: "size" (past policies that are kept), "every" (steps between them), "scripted" and "past" (shares of
            the worlds against these; the rest is against the present policy), where teams play against each other
            (LEAGUE); empty where one policy plays all teams.
        anneal: "share": of the training, by which the weights of rewards in [training] become those of evaluation;
            "after": the share until which they stay.
        environment: keywords of `make`.
        training: keywords of `make` that hold in training alone, not in evaluation.
    """

    algorithm: str
    steps: int
    num_envs: int
    hyperparameters: Table = field(default_factory=dict)
    network: Table = field(default_factory=dict)
    normalize: Table = field(default_factory=dict)
    hindsight: Table = field(default_factory=dict)
    expert: Table = field(default_factory=dict)
    costs: Table = field(default_factory=dict)
    league: Table = field(default_factory=dict)
    anneal: Table = field(default_factory=dict)
    environment: Table = field(default_factory=dict)
    training: Table = field(default_factory=dict)

    @property
    def train_keywords(self) -> Table:
        """Keywords of `make` for the environments of training."""
        return {**self.environment, **self.training}

    def to_dict(self) -> Table:
        """As tables; empty ones are left out."""
        return {name: value for name, value in asdict(self).items() if value != {}}


# the tables with a fixed list of keys, and what each value has to be
KEYS: dict[str, dict[str, str]] = {
    "network": {
        "layers": "sizes",
        "activation": "activation",
        "log_std": "number",
        "memory": "size",
        "quantiles": "size",
        "frames": "size",
        "convolutions": "sizes",
        "stride": "size",
        "head": "head",
        "roles": "flag",
        "drawn": "flag",
        "precision": "precision",
    },
    "normalize": {"observations": "flag", "rewards": "flag"},
    "hindsight": {"goals": "size"},
    "expert": {"steps": "size", "noise": "amount"},
    "league": {"size": "size", "every": "size", "scripted": "share", "past": "share"},
    "anneal": {"share": "share", "after": "share"},
    "costs": {"limits": "amounts", "learning_rate": "amount", "start": "amount"},
}
ACTIVATIONS = ("tanh", "relu")
HEADS = ("flat", "planes")
PRECISIONS = ("float32", "bfloat16")  # of products in hidden layers
WANTED = {
    "sizes": "a list of positive integers",
    "size": "a positive integer",
    "count": "an integer of at least 0",
    "number": "a number",
    "amount": "a number of at least 0",
    "share": "a number from 0 to 1",
    "amounts": "a table of numbers of at least 0",
    "flag": "true or false",
    "activation": " or ".join(map(repr, ACTIVATIONS)),
    "head": " or ".join(map(repr, HEADS)),
    "precision": " or ".join(map(repr, PRECISIONS)),
}
FREE = ("hyperparameters", "environment", "training")


def with_changes(
    settings: Settings,
    *,
    algorithm: str | None = None,
    steps: int | None = None,
    num_envs: int | None = None,
    hyperparameters: Mapping[str, Any] | None = None,
    environment: Mapping[str, Any] | None = None,
) -> Settings:
    """The settings with some of them replaced, and checked; what replaces keywords of `make` holds in training too."""
    environment = environment or {}
    table = {
        **settings.to_dict(),
        **{k: v for k, v in (("algorithm", algorithm), ("steps", steps), ("num_envs", num_envs)) if v is not None},
        "hyperparameters": {**settings.hyperparameters, **(hyperparameters or {})},
        "environment": {**settings.environment, **environment},
        "training": {k: v for k, v in settings.training.items() if k not in environment},
    }
    return settings_from(table, "these settings")


def differences(old: Settings, new: Settings) -> list[str]:
    """What differs, a text "name: old -> new" each."""
    before, after = _flat(old.to_dict()), _flat(new.to_dict())
    names = [*before, *(name for name in after if name not in before)]
    return [
        f"{name}: {before.get(name, 'nothing')} -> {after.get(name, 'nothing')}"
        for name in names
        if before.get(name) != after.get(name)
    ]


def _flat(table: Table) -> Table:
    flat: Table = {}
    for name, value in table.items():
        flat.update({f"{name}.{key}": v for key, v in value.items()} if isinstance(value, dict) else {name: value})
    return flat


# --- checks -----------------------------------------------------------------------------------------------------------


def settings_from(table: Mapping[str, Any], label: str) -> Settings:
    """Settings in tables, checked; `label` says in errors where they come from."""
    known = [part.name for part in fields(Settings)]
    for name in table:
        if name not in known:
            raise UnknownNameError(f"{label}: there is no key {name!r}. {nearest(name, known)}")
    for name in ("algorithm", "steps", "num_envs"):
        if name not in table:
            raise ParameterError(f"{label}: the key {name!r} is missing")
    if table["algorithm"] not in ALGORITHMS:
        raise UnknownNameError(
            f"{label}: there is no algorithm {table['algorithm']!r}. {nearest(str(table['algorithm']), ALGORITHMS)}"
        )
    for name in ("steps", "num_envs"):
        check_value(label, name, table[name], "size")
    if table["num_envs"] > MOST_ENVS:
        raise ParameterError(f"{label}: num_envs={table['num_envs']!r} is too many; needed: up to {MOST_ENVS:,}")
    _check_tables(label, table)
    parts: Table = {name: dict(value) if isinstance(value, Mapping) else value for name, value in table.items()}
    found = Settings(**parts)
    _check_together(label, found)
    return found


def _check_tables(label: str, table: Mapping[str, Any]) -> None:
    for name in (*KEYS, *FREE):
        part = table.get(name, {})
        if not isinstance(part, Mapping):
            raise ParameterError(f"{label}: {name} is {part!r}; needed: a table [{name}]")
        for key, value in part.items():
            if name in KEYS:
                if key not in KEYS[name]:
                    raise UnknownNameError(f"{label}: [{name}] has no key {key!r}. {nearest(key, KEYS[name])}")
                check_value(label, f"[{name}] {key}", value, KEYS[name][key])
            else:
                _check_plain(label, f"[{name}] {key}", value)


def check_value(label: str, name: str, value: Any, kind: str) -> None:
    """ParameterError where a value is not of a kind, one of WANTED."""

    def count(x: Any) -> bool:
        return isinstance(x, int) and not isinstance(x, bool) and x >= 0

    def size(x: Any) -> bool:
        return count(x) and x >= 1

    def number(x: Any) -> bool:
        return isinstance(x, (int, float)) and not isinstance(x, bool) and math.isfinite(x)

    fine = {
        "sizes": lambda x: isinstance(x, (list, tuple)) and all(map(size, x)),
        "size": size,
        "count": count,
        "number": number,
        "amount": lambda x: number(x) and x >= 0,
        "share": lambda x: number(x) and 0 <= x <= 1,
        "amounts": lambda x: isinstance(x, Mapping) and all(number(y) and y >= 0 for y in x.values()),
        "flag": lambda x: isinstance(x, bool),
        "activation": lambda x: x in ACTIVATIONS,
        "head": lambda x: x in HEADS,
        "precision": lambda x: x in PRECISIONS,
    }
    if not fine[kind](value):
        raise ParameterError(f"{label}: {name}={value!r} must be {WANTED[kind]}")


def _check_plain(label: str, name: str, value: Any) -> None:
    """ParameterError unless a value can be written as JSON and TOML."""
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        raise ParameterError(
            f"{label}: {name}={value!r} must be a number, string, true, false, or lists and tables of these"
        ) from None
    if value is None:
        raise ParameterError(f"{label}: {name} is null; leave it out")


def _check_together(label: str, found: Settings) -> None:
    """ParameterError where parts of the settings do not go with each other."""
    for name in ("hindsight", "expert"):
        if getattr(found, name) and found.algorithm not in OFF_POLICY:
            raise ParameterError(f"{label}: [{name}] is for {', '.join(OFF_POLICY)}, not for {found.algorithm}")
    if found.league and found.algorithm not in LEAGUE:
        raise ParameterError(f"{label}: [league] is for {', '.join(LEAGUE)}, not for {found.algorithm}")
    if sum(found.league.get(name, 0) for name in ("scripted", "past")) > 1:
        raise ParameterError(f"{label}: [league] scripted and past are shares of the worlds; their sum must be up to 1")
    if found.costs and found.algorithm != "PPOLagrangian":
        raise ParameterError(f"{label}: [costs] is for PPOLagrangian, not for {found.algorithm}")
    if found.anneal and found.algorithm in IMITATING:
        raise ParameterError(f"{label}: [anneal] is for algorithms that learn from rewards, not for {found.algorithm}")
    share, after = found.anneal.get("share"), found.anneal.get("after", 0.0)
    if found.anneal and (share is None or after > share or after == share > 0):
        raise ParameterError(f"{label}: [anneal] needs a share, and after={after} must be smaller than it ({share})")
    if found.hindsight and found.environment.get("form") != "goal":
        raise ParameterError(f'{label}: [hindsight] needs observations with goals: form = "goal" in [environment]')
    _check_network(label, found)
    if "frames" in found.network:
        _check_frames(label, found)
    _check_convolutions(label, found)


def _check_network(label: str, found: Settings) -> None:
    if "memory" in found.network and found.algorithm != "RecurrentPPO":
        raise ParameterError(f"{label}: [network] memory is for RecurrentPPO, not for {found.algorithm}")
    if "quantiles" in found.network and found.algorithm not in QUANTILES:
        raise ParameterError(f"{label}: [network] quantiles is for {', '.join(QUANTILES)}, not for {found.algorithm}")
    for key in ("log_std", "drawn", "precision"):
        if key in found.network and found.algorithm not in ON_POLICY:
            raise ParameterError(f"{label}: [network] {key} is for {', '.join(ON_POLICY)}, not for {found.algorithm}")


def _check_convolutions(label: str, found: Settings) -> None:
    network = found.network
    if network.get("roles") and network.get("convolutions"):
        raise ParameterError(
            f"{label}: [network] roles requires one observation vector; leave out roles or convolutions"
        )
    if not network.get("convolutions"):
        for name in ("stride", "head"):
            if name in network:
                raise ParameterError(f"{label}: [network] {name} requires convolutions, and there are none")
    if network.get("head") == "planes":
        if network.get("stride", 1) != 1:
            raise ParameterError(f'{label}: [network] head = "planes" needs a stride of 1')
        if found.algorithm not in PLANES:
            raise ParameterError(
                f'{label}: [network] head = "planes" is for {", ".join(PLANES)}, not for {found.algorithm}'
            )


def _check_frames(label: str, found: Settings) -> None:
    if found.algorithm not in FRAMES:
        raise ParameterError(f"{label}: [network] frames is for {', '.join(FRAMES)}, not for {found.algorithm}")
    if found.hindsight:
        raise ParameterError(f"{label}: [network] frames cannot be combined with [hindsight]; leave out one of them")
    for name in ("roles", "convolutions"):
        if found.network.get(name):
            raise ParameterError(f"{label}: [network] frames cannot be combined with {name}; leave out one of them")


# --- files ------------------------------------------------------------------------------------------------------------


def read_settings(path: str | Path) -> Settings:
    """The settings in a file.

    Raises:
        ParameterError: no such file, no TOML, an unknown or missing key, or a value that does not fit.
    """
    return settings_from(read_toml(path), str(path))


def read_toml(path: str | Path) -> Table:
    """A TOML file as tables; ParameterError with the reason where it is none."""
    try:
        return tomllib.loads(read_file(path, LARGEST).decode("utf-8"))
    except OSError as error:
        raise ParameterError(f"{path} cannot be read: {error.strerror or error}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ParameterError(f"{path} is not a valid TOML file: {error}") from None


def toml(table: Mapping[str, Any]) -> str:
    """Tables as TOML: plain values first, then a [table] each."""
    lines = [f"{name} = {_value(v)}" for name, v in table.items() if not isinstance(v, Mapping)]
    for name, part in table.items():
        if isinstance(part, Mapping):
            lines += ["", f"[{name}]", *(f"{_key(key)} = {_value(value)}" for key, value in part.items())]
    return "\n".join(lines) + "\n"


def _key(name: str) -> str:
    return name if name.replace("_", "").replace("-", "").isalnum() and name.isascii() else json.dumps(name)


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(key)} = {_value(v)}" for key, v in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_value, value)) + "]"
    return json.dumps(value, allow_nan=False)
