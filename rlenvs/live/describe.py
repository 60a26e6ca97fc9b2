"""What a page has to know of an environment: world.json."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from rlenvs.agents.store import references_of
from rlenvs.core.batch.image import MemoryImage
from rlenvs.core.batch.kernel_batch import KernelBatch
from rlenvs.core.catalogue.docs import summary
from rlenvs.core.declare.chosen import data_of, sizes_of
from rlenvs.core.declare.limits import LONGEST
from rlenvs.core.declare.parts import limits_of
from rlenvs.core.declare.setup import Setup
from rlenvs.core.declare.spec import World
from rlenvs.live.controls import controls_of
from rlenvs.live.proof import HASHED, has_kernel_expert

# the arrays of a batch that a page reads or writes
READ = ("states", "param_rows", "actions", "_begin", "_slots", "_failed", *HASHED[1:])


def description_of(batch: KernelBatch, image: MemoryImage) -> dict[str, Any]:
    """All that a page has to know of a world at one level, but for its files, as JSON has it.

    Args:
        batch: of one world. image: its memory.
    """
    setup, world = batch.setup, batch.world
    return {
        "id": world.name,
        "summary": summary(world.doc),
        "seconds": 1.0 / setup.fps,
        "horizon": setup.horizon,
        "endless": LONGEST,
        "agents": setup.agents,
        "several": world.agents,
        "agent_names": [role.name for role in setup.roles],
        "teams": list(setup.teams),
        "turns": world.turns,
        "masked": "mask" in world.kernels,
        "incremental": world.incremental,
        "pointed": "places" in world.functions and setup.single_choice,
        "action": {**controls_of(setup), **_actions(setup)},
        "observation": _observation(setup),
        "params": params_of(setup),
        "values": {name: getattr(setup.values, name) for name in world.params},
        "constraints": _orders(world),
        "options": {name: _plain(getattr(setup.values, name)) for name in world.options},
        "terms": [
            {"name": name, "weight": float(weight), "doc": term.doc}
            for (name, term), weight in zip(world.terms.items(), setup.weights, strict=True)
        ],
        "costs": [{"name": name, "limit": cost.limit, "doc": cost.doc} for name, cost in world.costs.items()],
        "limit": _limit(world),
        "expert": has_kernel_expert(world),
        "players": list(world.players),
        "scores": _scores(world),
        "fingerprint": setup.fingerprint,
        "hashed": list(HASHED),
        "record": image.record,
        "addresses": image.addresses,
        "arrays": _arrays(batch, image),
        "state_ranges": _ranges(setup),
        "guarded": "state_fault" in world.functions,
    }


def _arrays(batch: KernelBatch, image: MemoryImage) -> dict[str, Any]:
    """By name where an array lies, how many bytes it has, its shape; the type of its numbers, or the fields of its
    records: type, offset and shape by name."""
    found = {}
    for name in READ:
        array = batch.loops.table.rows[name]
        entry: dict[str, Any] = {"place": image.places[name], "bytes": array.nbytes, "shape": list(array.shape)}
        if array.dtype.names:
            entry["fields"] = _fields(array.dtype)
        else:
            entry["type"] = _code(array.dtype)
        found[name] = entry
    return found


def _fields(dtype: np.dtype) -> dict[str, list[Any]]:
    assert dtype.fields is not None
    parts = {name: part for name, part in dtype.fields.items() if not name.startswith("_gap")}
    return {name: [_code(kind.base), offset, list(kind.shape)] for name, (kind, offset, *_) in parts.items()}


def _code(dtype: np.dtype) -> str:
    return f"{dtype.kind}{dtype.itemsize}"


def _actions(setup: Setup) -> dict[str, Any]:
    """Of all agents: how many numbers an action has, how many choices each of them, or its bounds."""
    low, high = setup.action_scaling[2:].tolist() if setup.continuous else ([], [])
    return {
        "count": setup.numbers,
        "single": setup.single_choice,
        "parts": list(setup.choices),
        "own": setup.own_choices.tolist(),
        "lows": low,
        "highs": high,
        "nothing": setup.idle.tolist(),
    }


def _observation(setup: Setup) -> dict[str, Any]:
    """The shape of the vector, and images by name; `alone` names the image that is all there is."""
    return {
        "shape": list(setup.observation_shape),
        "images": {name: list(shape) for name, shape in setup.image_shapes.items()},
        "alone": setup.alone,
        "discrete": type(setup.observation_space).__name__ == "Discrete",
    }


# --- parameters -------------------------------------------------------------------------------------------------------


class _Noting:
    """Values of parameters and options that note in a set which of them are read."""

    def __init__(self, values: SimpleNamespace, read: set[str]) -> None:
        object.__setattr__(self, "_noted", (values, read))

    def __getattribute__(self, name: str) -> Any:
        values, read = object.__getattribute__(self, "_noted")
        read.update(vars(values) if name == "__dict__" else [name])
        return getattr(values, name)


def params_of(setup: Setup) -> list[dict[str, Any]]:
    """The parameters with their ranges. `live`: whether a page may change it; it may not where sizes or data follow
    from it, which Python computes when an environment is made, or a rule between several that only Python knows."""
    fixed = read_by_python(setup)
    fixed.update(name for rule in setup.world.constraints if rule.factor is None for name in rule.names)
    return [
        {
            "name": name,
            "unit": param.unit,
            "doc": param.doc,
            "low": param.low,
            "high": param.high,
            "live": name not in fixed,
        }
        for name, param in setup.world.params.items()
    ]


def read_by_python(setup: Setup) -> set[str]:
    """The parameters and options from which sizes or data follow."""
    read: set[str] = set()
    values: Any = _Noting(setup.values, read)
    data_of(setup.world, values)
    sizes_of(setup.world, values)
    return read


def _orders(world: World) -> list[dict[str, Any]]:
    """The rules between parameters: one is at most a number of times another."""
    return [
        {"least": rule.names[0], "most": rule.names[1], "factor": rule.factor, "doc": rule.doc}
        for rule in world.constraints
        if rule.factor is not None and set(rule.names) <= set(world.params)
    ]


# --- what pages tell --------------------------------------------------------------------------------------------------


def _limit(world: World) -> str | None:
    """What follows the cost in the head of an image, see `EpisodeTotals.head`; None where there are no limits."""
    limits = set(limits_of(world.costs).values())
    return (f" / {next(iter(limits)):g}" if len(limits) == 1 else "") if limits else None


def _scores(world: World) -> list[dict[str, Any]]:
    """Mean returns of the policies whose scores are known."""
    found = references_of(world.base, world.level_name or None)
    return [{"who": who, "label": who, "mean": score.mean} for who, score in found.items()]


def _ranges(setup: Setup) -> dict[str, list[float]]:
    """The least and most of the fields of a state that declare it, by name; truth values aside."""
    found = {}
    for name, kind in setup.world.layouts["state"].fields.items():
        if kind.range is not None:
            most = setup.sizes[kind.range.most] if isinstance(kind.range.most, str) else kind.range.most
            found[name] = [kind.range.least, most + kind.range.beyond]
    return found


def _plain(value: Any) -> Any:
    """An option as JSON has it; its text where JSON does not know it."""
    return value if isinstance(value, (str, bool, int, float, list, dict, type(None))) else str(value)
