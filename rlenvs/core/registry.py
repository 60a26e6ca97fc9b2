"""Ids, and where the worlds behind them lie. Nothing heavy is imported until an environment is made."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Any

import gymnasium

from rlenvs.core.errors import UnknownNameError, nearest

if TYPE_CHECKING:
    from rlenvs.core.spec import World

NAMESPACE = "rlenvs"
KINDS = ("single", "multi-agent", "multi-objective", "safe", "robotics")


@dataclass(frozen=True)
class Entry:
    """A registered world: its id, where it lies, and what kinds it is of."""

    id: str
    address: str
    kinds: tuple[str, ...]


catalogue: dict[str, Entry] = {}


def register(name: str, address: str, kinds: Sequence[str] = ("single",)) -> None:
    """Register a world under "rlenvs/<name>", and "rlenvs/mo-<name>" when it is multi-objective.

    Args:
        name: "Name-v0".
        address: "module:SPEC", as a string, so that nothing is imported now and worker processes find it too.
        kinds: of KINDS. "multi-agent" registers the world with PettingZoo as well.

    Raises:
        UnknownNameError: a kind that does not exist.
    """
    for kind in kinds:
        if kind not in KINDS:
            raise UnknownNameError(f"{name}: {kind!r} is no kind of environment. {nearest(kind, KINDS)}")
    _register_form(name, address, kinds, {})
    if "multi-objective" in kinds:
        _register_form(f"mo-{name}", address, kinds, {"vector_reward": True})


def _register_form(name: str, address: str, kinds: Sequence[str], extra: dict[str, Any]) -> None:
    full = f"{NAMESPACE}/{name}"
    catalogue[full] = Entry(full, address, tuple(kinds))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # importing twice, or registering one's own world again, is fine
        gymnasium.register(
            full,
            entry_point="rlenvs.core.gym_env:Env",
            vector_entry_point="rlenvs.core.vector_env:VectorEnv",
            kwargs={"world": address, **extra},
            # these wrappers take time at every step; the environments refuse a step before reset themselves, and
            # `rlenvs.check` looks at more than the checker does
            disable_env_checker=True,
            order_enforce=False,
        )
    if "multi-agent" in kinds and not extra and "pettingzoo" in sys.modules:
        _register_with_pettingzoo(catalogue[full])


def entry(id: str) -> Entry:
    """The entry of an id, with or without the namespace; UnknownNameError names the nearest ids."""
    full = id.removeprefix("rlenvs:")
    full = full if "/" in full else f"{NAMESPACE}/{full}"
    if full not in catalogue:
        raise UnknownNameError(f"there is no environment {id!r}. {nearest(full, catalogue)}")
    return catalogue[full]


def world_of(id: str) -> World:
    """The declaration behind an id."""
    from rlenvs.core.spec import load_world

    return load_world(entry(id).address)


def list_envs(kind: str | None = None) -> list[str]:
    """All ids, or those of one kind ("single", "multi-agent", "multi-objective", "safe", "robotics")."""
    if kind is not None and kind not in KINDS:
        raise UnknownNameError(f"there is no kind {kind!r}. {nearest(kind, KINDS)}")
    return sorted(id for id, row in catalogue.items() if kind is None or kind in row.kinds)


# --- PettingZoo -------------------------------------------------------------------------------------------------------


def _register_with_pettingzoo(row: Entry) -> None:
    import pettingzoo

    if not hasattr(pettingzoo, "register"):  # before 1.27 there was no registry
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for form in ("parallel", "aec"):
            pettingzoo.register(form, row.id, f"rlenvs.core.parallel_env:{form}_env", kwargs={"world": row.address})


def _register_all_with_pettingzoo() -> None:
    for row in catalogue.values():
        if "multi-agent" in row.kinds and not row.id.startswith(f"{NAMESPACE}/mo-"):
            _register_with_pettingzoo(row)


class _AfterPettingZoo(importlib.abc.MetaPathFinder):
    """Registers the worlds when PettingZoo is imported; importing it here would cost a tenth of a second for all."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name != "pettingzoo":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def execute_and_register(module: ModuleType) -> None:
                execute(module)
                _register_all_with_pettingzoo()

            spec.loader.exec_module = execute_and_register  # type: ignore[method-assign]
        return spec


def watch_pettingzoo() -> None:
    """Register multi-agent worlds with PettingZoo, now or as soon as it is imported."""
    if "pettingzoo" in sys.modules:
        _register_all_with_pettingzoo()
    elif not any(isinstance(finder, _AfterPettingZoo) for finder in sys.meta_path):
        sys.meta_path.insert(0, _AfterPettingZoo())


def register_families(packages: Iterable[ModuleType]) -> None:
    """Import every family folder of the given packages; each registers its worlds in its __init__."""
    import pkgutil

    for package in packages:
        for family in pkgutil.iter_modules(package.__path__):
            if family.ispkg:
                importlib.import_module(f"{package.__name__}.{family.name}")
