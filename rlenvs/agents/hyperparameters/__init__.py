"""Hyperparameters: one TOML file per family, and defaults by algorithm where it says nothing.

`quadcopter.toml` begins with what holds for the family, a table per algorithm; then a table per environment, and per
level that needs one, with what differs.

    [PPO]
    steps = 500_000                   # environment steps, all environments together
    num_envs = 64                     # worlds side by side; with several agents, each gives a slot per agent
    [PPO.hyperparameters]             # keywords of the algorithm; "linear 1e-3" falls to 0 over the training
    learning_rate = "linear 1e-3"
    [PPO.network]
    layers = [64, 64]

    [QuadHover-v0]
    algorithms = ["PPO", "SAC"]       # agents that are shipped; the first is what `rlenvs train` takes
    seeds = 3                         # runs of each, from seed 0 on, 1 by default; or by algorithm, {PPO = 3}
    environment.action = "rpm"        # keywords of make
    training.weights = {goal = 2.0}   # keywords of make in training alone
    [QuadHover-v0.SAC]
    steps = 200_000
    [QuadHover-v0.levels.hard]
    algorithms = ["PPO"]
    PPO.network.layers = [256, 256]

What several environments or levels have in common has a name, and is written once:

    [shared.sparse]                   # all that an environment's table may hold but levels; it may be like another one
    training.weights = {progress = 0.1}
    PPO.num_envs = 128
    [QuadGate-v0]
    like = "sparse"                   # as if it stood here, before all else

Later tables win, key by key: defaults, family, family's algorithm, environment, environment's algorithm, level, level's
algorithm; what one is like comes right before it. Tables that other runs may need: [normalize] observations, rewards;
[hindsight] goals; [expert] steps; [costs] limits; [league] size.
"""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from rlenvs.agents.card import IMITATING
from rlenvs.core.catalogue.registry import entry, world_of
from rlenvs.core.declare.errors import ParameterError, UnknownNameError, nearest
from rlenvs.core.declare.setup import Setup
from rlenvs.core.declare.spec import World
from rlenvs.core.declare.user_files import read_file

__all__ = ["settings_for"]

FOLDER = Path(__file__).parent
ON_POLICY = ("PPO", "MaskablePPO", "RecurrentPPO", "PPOLagrangian", "MAPPO")
OFF_POLICY = ("SAC", "TQC", "TD3", "DDPG", "DQN", "QRDQN")
ALGORITHMS = (*ON_POLICY, *OFF_POLICY, *IMITATING)
QUANTILES = ("TQC", "QRDQN")  # that learn a distribution of the return
LEAGUE = ("PPO", "MaskablePPO")  # that may play in a league
FRAMES = ("PPO", "MaskablePPO", "PPOLagrangian", *OFF_POLICY)  # that may look at several frames
PLANES = ("PPO", "MaskablePPO", "PPOLagrangian", *IMITATING)  # that may have convolutions as their head
MOST_ENVS = 1 << 18  # side by side; learners keep a Python object of each
Table = dict[str, Any]


@dataclass(frozen=True)
class Settings:
    """What a training run is, apart from its seed.

    Attributes:
        algorithm: of ALGORITHMS.
        steps: environment steps, all environments together; rounded up to whole rollouts.
        num_envs: worlds side by side.
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
            the agent draws its choices when it is evaluated and used, as in training; ON_POLICY, choices).
        normalize: "observations", "rewards": whether running statistics scale them.
        hindsight: "goals": relabelled transitions per real one, of worlds with goals (OFF_POLICY); empty without.
        expert: "steps": how many of the first ones the scripted expert decides (OFF_POLICY), with "noise", the
            standard deviation of what is added to actions that are numbers.
        costs: of PPOLagrangian: "limits" (mean cost of an agent's episode by name; the customary ones by default),
            "learning_rate" and "start" of the multipliers.
        league: "size" (past policies that are kept), "every" (steps between them), "scripted" and "past" (shares of
            the worlds against these; the rest is against the present policy), where teams play against each other
            (LEAGUE); empty where one policy plays all teams.
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
    },
    "normalize": {"observations": "flag", "rewards": "flag"},
    "hindsight": {"goals": "size"},
    "expert": {"steps": "size", "noise": "amount"},
    "league": {"size": "size", "every": "size", "scripted": "share", "past": "share"},
    "costs": {"limits": "amounts", "learning_rate": "amount", "start": "amount"},
}
ACTIVATIONS = ("tanh", "relu")
HEADS = ("flat", "planes")
WANTED = {
    "sizes": "a list of positive integers",
    "size": "a positive integer",
    "number": "a number",
    "amount": "a number of at least 0",
    "share": "a number from 0 to 1",
    "amounts": "a table of numbers of at least 0",
    "flag": "true or false",
    "activation": " or ".join(map(repr, ACTIVATIONS)),
    "head": " or ".join(map(repr, HEADS)),
}
FREE = ("hyperparameters", "environment", "training")
TEXTS = ("found", "like")
PARTS = ("algorithms", "seeds", *TEXTS, "environment", "training")  # of a family's file, beside a table per algorithm

_ON_POLICY: Table = {
    "steps": 1_000_000,
    "num_envs": 64,
    "hyperparameters": {
        "learning_rate": "linear 1e-3",
        "n_steps": 64,
        "batch_size": 1024,
        "n_epochs": 10,
        "gamma": 0.98,
        "gae_lambda": 0.95,
    },
    "network": {"layers": [64, 64], "activation": "tanh"},
}
_OFF_POLICY: Table = {
    "steps": 300_000,
    "num_envs": 8,
    "hyperparameters": {
        "learning_rate": 1e-3,
        "buffer_size": 300_000,
        "learning_starts": 5_000,
        "batch_size": 256,
        "gamma": 0.98,
        "train_freq": 1,
        "gradient_steps": 4,
    },
    "network": {"layers": [256, 256], "activation": "relu"},
}
_NOISY: Table = {**_OFF_POLICY, "hyperparameters": {**_OFF_POLICY["hyperparameters"], "action_noise": 0.1}}
_EXPLORING: Table = {
    **_OFF_POLICY,
    "hyperparameters": {**_OFF_POLICY["hyperparameters"], "exploration_fraction": 0.3},
}
_IMITATING: Table = {
    "steps": 300_000,
    "num_envs": 64,
    "hyperparameters": {"learning_rate": "linear 1e-3", "rounds": 10, "epochs": 2, "batch_size": 1024},
    "network": {"layers": [128, 128], "activation": "relu"},
    "normalize": {"observations": True},
}
DEFAULTS: dict[str, Table] = {
    "PPO": _ON_POLICY,
    "MaskablePPO": _ON_POLICY,
    "PPOLagrangian": _ON_POLICY,
    "MAPPO": {**_ON_POLICY, "normalize": {"rewards": True}},
    "RecurrentPPO": {**_ON_POLICY, "network": {**_ON_POLICY["network"], "memory": 64}},
    "SAC": _OFF_POLICY,
    "TQC": _OFF_POLICY,
    "TD3": _NOISY,
    "DDPG": _NOISY,
    "DQN": _EXPLORING,
    "QRDQN": {**_EXPLORING, "network": {**_OFF_POLICY["network"], "quantiles": 50}},
    **dict.fromkeys(IMITATING, _IMITATING),
}


# --- finding ----------------------------------------------------------------------------------------------------------


def family_file(id: str) -> Path:
    """Where the settings of an environment's family lie, or would lie: named after the package of its module;
    own.toml for a world in none."""
    address = entry(id).address
    module = (address.address if isinstance(address, World) else address).partition(":")[0]
    return FOLDER / f"{module.rpartition('.')[0].rpartition('.')[2] or 'own'}.toml"


def family_tables(id: str, level: Any = None) -> list[Table]:
    """What the family's file says: for the family, for the environment, and for the level where it has a table; before
    each what it is like.

    Raises:
        ParameterError, UnknownNameError: the file is no TOML, or has a key or is like a table that does not exist.
    """
    return [table for part in _parts_of_file(id, level) for table in part]


def level_tables(id: str, level: str) -> list[Table]:
    """What the family's file says for a level alone; nothing where it has no table."""
    return _parts_of_file(id, level)[2]


def _parts_of_file(id: str, level: Any) -> list[list[Table]]:
    """The tables of the family, of the environment and of the level."""
    file = family_file(id)
    if not file.exists():
        return [[], [], []]
    family = read_toml(file)
    shared = family.pop("shared", {})
    name = entry(id).id.rpartition("/")[2].removeprefix("mo-")
    environments = {key: family.pop(key) for key in list(family) if re.fullmatch(r".+-v\d+", key)}
    own = dict(environments.get(name, {}))
    levels = own.pop("levels", {})
    parts = [
        _with_likes(family, shared, file.name, file.name),
        _with_likes(own, shared, file.name, f"{file.name}: {name}"),
    ]
    if not (isinstance(level, str) and level in levels):
        return [*parts, []]
    return [*parts, _with_likes(levels[level], shared, file.name, f"{file.name}: {name}, level {level}")]


def _with_likes(table: Table, shared: Any, file: str, label: str) -> list[Table]:
    """A table, and before it those that it is like, all of them checked."""
    _check_part(table, label)
    found = [table]
    names: list[str] = []
    while "like" in found[0]:
        name = found[0]["like"]
        if not isinstance(shared, Mapping) or name not in shared:
            known = f" {nearest(name, shared)}" if isinstance(shared, Mapping) and shared else ""
            raise UnknownNameError(f"{label}: like={name!r}, and {file} has no table [shared.{name}].{known}")
        if name in names:
            raise ParameterError(f"{label}: like goes round in a ring: {' -> '.join([*names, name])}")
        names.append(name)
        if not isinstance(shared[name], Mapping):
            raise ParameterError(f"{file}: shared.{name}={shared[name]!r} must be a table")
        _check_part(shared[name], f"{file}: shared.{name}")
        found.insert(0, shared[name])
    return found


def _check_part(table: Table, label: str) -> None:
    known = (*PARTS, *ALGORITHMS)
    for name in table:
        if name not in known:
            raise UnknownNameError(f"{label}: there is no key {name!r}. {nearest(name, known)}")
    listed = table.get("algorithms", ["PPO"])
    if not isinstance(listed, list) or not listed or not set(map(str, listed)) <= set(ALGORITHMS):
        raise ParameterError(f"{label}: algorithms={listed!r} must be a list of some of {', '.join(ALGORITHMS)}")
    if "seeds" in table:
        counts = table["seeds"] if isinstance(table["seeds"], Mapping) else {"": table["seeds"]}
        for name, count in counts.items():
            _check(label, f"seeds.{name}" if name else "seeds", count, "size")
            if name and name not in ALGORITHMS:
                raise UnknownNameError(f"{label}, seeds: there is no algorithm {name!r}. {nearest(name, ALGORITHMS)}")
    for name in TEXTS:
        if not isinstance(table.get(name, ""), str):
            raise ParameterError(f"{label}: {name}={table[name]!r} must be a text")
    for name in set(table) - {"algorithms", "seeds", *TEXTS}:
        if not isinstance(table[name], Mapping):
            raise ParameterError(f"{label}: {name}={table[name]!r} must be a table")


def algorithms_of(id: str, level: Any = None) -> list[str]:
    """The algorithms whose agents are shipped for an environment, or for one of its levels: those of the family's file.

    The first is what `rlenvs train` takes. Where the file names none, by the kind of world: SAC (with hindsight) for
    goals, MaskablePPO for masks, else PPO.
    """
    for table in reversed(family_tables(id, level)):
        if "algorithms" in table:
            return list(table["algorithms"])
    return ["SAC" if world_of(id).goal else "MaskablePPO" if needs_masks(Setup(world_of(id))) else "PPO"]


def needs_masks(setup: Setup) -> bool:
    """Whether some choices are not there, now and then or for some agents: MaskablePPO and imitation know masks."""
    return "mask" in setup.world.kernels or len({role.action for role in setup.roles}) > 1


def found_of(id: str) -> str:
    """What was found where learning an environment falls short of the expert, in words, or ""."""
    own = _parts_of_file(id, None)[1]
    return next((table["found"] for table in reversed(own) if "found" in table), "")


def seeds_of(id: str, level: Any, algorithm: str) -> int:
    """How many runs of an algorithm are shipped."""
    found = next((table["seeds"] for table in reversed(family_tables(id, level)) if "seeds" in table), 1)
    return int(found.get(algorithm, 1) if isinstance(found, Mapping) else found)


def _merged(base: Table, differing: Mapping[str, Any]) -> Table:
    """Tables with some keys replaced; an empty one leaves nothing of the one before."""
    merged = dict(base)
    for name, value in differing.items():
        old = merged.get(name)
        if isinstance(old, Mapping) and isinstance(value, Mapping) and value:
            value = {**old, **value}
        merged[name] = value
    return merged


def settings_for(
    id: str,
    *,
    algorithm: str | None = None,
    steps: int | None = None,
    num_envs: int | None = None,
    hyperparameters: Mapping[str, Any] | None = None,
    environment: Mapping[str, Any] | None = None,
) -> Settings:
    """The settings of an environment, with changes.

    Args:
        id: the environment.
        algorithm: by default the first that the family's file names for the environment.
        steps, num_envs, hyperparameters, environment: replace those of the file, one by one. A level that
            `environment` names may have its own in the file.

    Raises:
        UnknownNameError: an id, algorithm, or keyword that does not exist.
        ParameterError: a value that does not fit.
    """
    if algorithm is not None and algorithm not in ALGORITHMS:
        raise UnknownNameError(f"there is no algorithm {algorithm!r}. {nearest(algorithm, ALGORITHMS)}")
    level = (environment or {}).get("level")
    found = _own(id, algorithm or algorithms_of(id, level)[0], level)
    changed = with_changes(
        found, steps=steps, num_envs=num_envs, hyperparameters=hyperparameters, environment=environment
    )
    Setup(world_of(id), **changed.train_keywords)  # refuses what the world does not have
    return changed


def _own(id: str, algorithm: str, level: Any) -> Settings:
    """The settings of an algorithm for an environment: its defaults with what the tables of the file say."""
    table: Table = {"algorithm": algorithm, **DEFAULTS[algorithm]}
    if world_of(id).goal and algorithm in OFF_POLICY:
        table |= {"hindsight": {"goals": 4}, "environment": {"form": "goal"}}
    for part in family_tables(id, level):
        common: Table = {name: part[name] for name in ("environment", "training") if name in part}
        table = _merged(_merged(table, common), part.get(algorithm, {}))
    return settings_from(table, f"{family_file(id).name}: {entry(id).id.rpartition('/')[2]}, {algorithm}")


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


# --- reading and writing ----------------------------------------------------------------------------------------------


def read_settings(path: str | Path) -> Settings:
    """The settings in a file.

    Raises:
        ParameterError: no such file, no TOML, an unknown or missing key, or a value that does not fit.
    """
    return settings_from(read_toml(path), str(path))


LARGEST = 1 << 20  # bytes of a file


def read_toml(path: str | Path) -> Table:
    """A TOML file as tables; ParameterError with the reason where it is none."""
    try:
        return tomllib.loads(read_file(path, LARGEST).decode("utf-8"))
    except OSError as error:
        raise ParameterError(f"{path} cannot be read: {error.strerror or error}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ParameterError(f"{path} is no TOML file: {error}") from None


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
        _check(label, name, table[name], "size")
    if table["num_envs"] > MOST_ENVS:
        raise ParameterError(f"{label}: num_envs={table['num_envs']!r} is too many; needed: up to {MOST_ENVS:,}")
    for name in (*KEYS, *FREE):
        part = table.get(name, {})
        if not isinstance(part, Mapping):
            raise ParameterError(f"{label}: {name} is {part!r}; needed: a table [{name}]")
        for key, value in part.items():
            if name in KEYS:
                if key not in KEYS[name]:
                    raise UnknownNameError(f"{label}: [{name}] has no key {key!r}. {nearest(key, KEYS[name])}")
                _check(label, f"[{name}] {key}", value, KEYS[name][key])
            else:
                _check_plain(label, f"[{name}] {key}", value)
    parts: Table = {name: dict(value) if isinstance(value, Mapping) else value for name, value in table.items()}
    found = Settings(**parts)
    _check_together(label, found)
    return found


def _check(label: str, name: str, value: Any, kind: str) -> None:
    def size(x: Any) -> bool:
        return isinstance(x, int) and not isinstance(x, bool) and x >= 1

    def number(x: Any) -> bool:
        return isinstance(x, (int, float)) and not isinstance(x, bool) and math.isfinite(x)

    fine = {
        "sizes": lambda x: isinstance(x, (list, tuple)) and all(map(size, x)),
        "size": size,
        "number": number,
        "amount": lambda x: number(x) and x >= 0,
        "share": lambda x: number(x) and 0 <= x <= 1,
        "amounts": lambda x: isinstance(x, Mapping) and all(number(y) and y >= 0 for y in x.values()),
        "flag": lambda x: isinstance(x, bool),
        "activation": lambda x: x in ACTIVATIONS,
        "head": lambda x: x in HEADS,
    }
    if not fine[kind](value):
        raise ParameterError(f"{label}: {name}={value!r} must be {WANTED[kind]}")


def _check_plain(label: str, name: str, value: Any) -> None:
    """ParameterError unless a value can be written as JSON and TOML."""
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        raise ParameterError(
            f"{label}: {name}={value!r} must be a number, text, true or false, or lists and tables of these"
        ) from None
    if value is None:
        raise ParameterError(f"{label}: {name} is null; leave it out")


def _check_together(label: str, found: Settings) -> None:
    for name in ("hindsight", "expert"):
        if getattr(found, name) and found.algorithm not in OFF_POLICY:
            raise ParameterError(f"{label}: [{name}] is for {', '.join(OFF_POLICY)}, not for {found.algorithm}")
    if found.league and found.algorithm not in LEAGUE:
        raise ParameterError(f"{label}: [league] is for {', '.join(LEAGUE)}, not for {found.algorithm}")
    if sum(found.league.get(name, 0) for name in ("scripted", "past")) > 1:
        raise ParameterError(f"{label}: [league] scripted and past are shares of the worlds; their sum must be up to 1")
    if found.costs and found.algorithm != "PPOLagrangian":
        raise ParameterError(f"{label}: [costs] is for PPOLagrangian, not for {found.algorithm}")
    if found.hindsight and found.environment.get("form") != "goal":
        raise ParameterError(f'{label}: [hindsight] needs observations with goals: form = "goal" in [environment]')
    if "memory" in found.network and found.algorithm != "RecurrentPPO":
        raise ParameterError(f"{label}: [network] memory is for RecurrentPPO, not for {found.algorithm}")
    if "quantiles" in found.network and found.algorithm not in QUANTILES:
        raise ParameterError(f"{label}: [network] quantiles is for {', '.join(QUANTILES)}, not for {found.algorithm}")
    if "frames" in found.network:
        if found.algorithm not in FRAMES:
            raise ParameterError(f"{label}: [network] frames is for {', '.join(FRAMES)}, not for {found.algorithm}")
        if found.hindsight:
            raise ParameterError(f"{label}: [network] frames does not go with [hindsight]; leave one of them out")
        for name in ("roles", "convolutions"):
            if found.network.get(name):
                raise ParameterError(f"{label}: [network] frames does not go with {name}; leave one of them out")
    if found.network.get("roles") and found.network.get("convolutions"):
        raise ParameterError(f"{label}: [network] roles is for one row of numbers; leave it or convolutions out")
    if not found.network.get("convolutions"):
        for name in ("stride", "head"):
            if name in found.network:
                raise ParameterError(f"{label}: [network] {name} is for convolutions, and there are none")
    if found.network.get("head") == "planes":
        if found.network.get("stride", 1) != 1:
            raise ParameterError(f'{label}: [network] head = "planes" needs a stride of 1')
        if found.algorithm not in PLANES:
            raise ParameterError(
                f'{label}: [network] head = "planes" is for {", ".join(PLANES)}, not for {found.algorithm}'
            )
    for key in ("log_std", "drawn"):
        if key in found.network and found.algorithm not in ON_POLICY:
            raise ParameterError(f"{label}: [network] {key} is for {', '.join(ON_POLICY)}, not for {found.algorithm}")


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
