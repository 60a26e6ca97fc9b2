"""Hyperparameters: one TOML file per family, with defaults by algorithm.

`quadcopter.toml` begins with what holds for the family, a table per algorithm; then a table per environment, and per
level that needs one, with what differs.

    [PPO]
    steps = 500_000                   # environment steps, all environments together
    num_envs = 64                     # parallel environments; with several agents, each gives a slot per agent
    [PPO.hyperparameters]             # keywords of the algorithm; "linear 1e-3" falls to 0 over the training
    learning_rate = "linear 1e-3" [PPO.network] layers = [64, 64]

    [QuadHover-v0]
    algorithms = ["PPO", "SAC"]       # agents that are shipped; the first is what `rlenvs train` takes
    seeds = 3                         # runs of each that are shipped, seeds 0 to 2; 1 by default, 0 for none; or by
                                      # algorithm, {PPO = 3}, with 1 of the others
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
[hindsight] goals; [expert] steps; [costs] limits; [league] size; [anneal] share, after.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rlenvs.agents.hyperparameters.defaults import DEFAULTS
from rlenvs.agents.hyperparameters.settings import (
    ALGORITHMS,
    OFF_POLICY,
    Settings,
    Table,
    check_value,
    read_toml,
    settings_from,
    with_changes,
)
from rlenvs.core.catalogue.registry import entry, world_of
from rlenvs.core.declare.errors import ParameterError, UnknownNameError, nearest
from rlenvs.core.declare.setup import Setup
from rlenvs.core.declare.spec import World

__all__ = ["settings_for"]

FOLDER = Path(__file__).parent
TEXTS = ("found", "like")
PARTS = ("algorithms", "seeds", *TEXTS, "environment", "training")  # of a family's file, beside a table per algorithm


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
            raise UnknownNameError(f"{label}: like={name!r}, but {file} has no table [shared.{name}].{known}")
        if name in names:
            raise ParameterError(f"{label}: like is circular: {' -> '.join([*names, name])}")
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
        raise ParameterError(f"{label}: algorithms={listed!r} must be a list with entries from {', '.join(ALGORITHMS)}")
    if "seeds" in table:
        counts = table["seeds"] if isinstance(table["seeds"], Mapping) else {"": table["seeds"]}
        for name, count in counts.items():
            check_value(label, f"seeds.{name}" if name else "seeds", count, "count")
            if name and name not in ALGORITHMS:
                raise UnknownNameError(f"{label}, seeds: there is no algorithm {name!r}. {nearest(name, ALGORITHMS)}")
    for name in TEXTS:
        if not isinstance(table.get(name, ""), str):
            raise ParameterError(f"{label}: {name}={table[name]!r} must be a string")
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
    """How many runs of an algorithm are shipped, with the seeds 0, 1, 2 ...: the `seeds` of the level's table, else of
    the environment's, else of the family's; 1 where none has any, or has some for other algorithms alone.

    0: none is shipped, so `rlenvs train --todo` trains none; `rlenvs train ID` does. A family with few agents has 0
    before its tables, and the environments that have agents more.
    """
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
    """The training settings of an environment, with changes.

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
