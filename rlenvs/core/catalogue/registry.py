"""The registry of ids and the addresses of their worlds. Nothing heavy is imported until an environment is made."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import json
import re
import sys
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import gymnasium

from rlenvs.core.declare.errors import UnknownNameError, nearest, shortened
from rlenvs.core.declare.parts import limits_of
from rlenvs.core.declare.renamed import TAGS as OLD_TAGS
from rlenvs.core.declare.renamed import warn_renamed
from rlenvs.core.forms.time_limit import LimitSpec

if TYPE_CHECKING:
    from rlenvs.core.declare.spec import World

NAMESPACE = "rlenvs"
TAGS = ("single", "multi-agent", "robotics", "constrained", "multi-objective")
LIKE, LIKE_LETTERS = 0.6, 3  # how much alike names have to be, in [0, 1]; letters of a part of a name that count
MUCH = 100  # letters of a name that are looked at


@dataclass(frozen=True)
class Entry:
    """A registered world.

    Attributes:
        id: "rlenvs/Name-v0".
        address: where it lies, "module:name" or "module:name/member"; or the world itself.
        tags: of TAGS.
        summary: the task in a sentence; empty where it has to be read from the declaration.
        reward_threshold: the return from which Gymnasium's registry counts the environment that it re-implements as
            solved; None where that has none.
    """

    id: str
    address: str | World
    tags: tuple[str, ...]
    summary: str = ""
    reward_threshold: float | None = None


catalogue: dict[str, Entry] = {}


def register(name: str, world: str | World, tags: Sequence[str] | None = None) -> None:
    """Register a world as "rlenvs/<name>", and as "rlenvs/mo-<name>" if it is multi-objective.

    Args:
        name: "Name-v0".
        world: its address "module:SPEC", or "module:SPEC/member", a string, so that nothing is imported now; or the
            world itself, such as one of a notebook.
        tags: of TAGS; None for those that follow from the declaration, which is imported for that. "multi-agent"
            registers the world with PettingZoo as well.

    Raises:
        UnknownNameError: a tag that does not exist.
    """
    threshold = None
    if tags is None:
        from rlenvs.core.declare.spec import load_world

        loaded = load_world(world)
        tags, threshold = tags_of(loaded), loaded.reward_threshold
    for tag in tags:
        if tag not in TAGS:
            raise UnknownNameError(f"{name}: there is no tag {tag!r}. {nearest(tag, TAGS)}")
    _register_forms(name, world, tags, "", threshold)


def tags_of(world: World) -> tuple[str, ...]:
    """The tags that follow from a declaration and from where it lies."""
    tags = {
        "single": not world.agents,
        "multi-agent": world.agents,
        "robotics": world.address.startswith("rlenvs.robotics."),
        "constrained": bool(limits_of(world.costs)),
        "multi-objective": len(world.terms) > 1,
    }
    return tuple(name for name, holds in tags.items() if holds)


def register_catalogue(path: Path) -> None:
    """Register all worlds of a catalogue, see `rlenvs.core.catalogue.rows`."""
    for row in json.loads(path.read_text(encoding="utf-8")):
        _register_forms(row["id"], row["address"], row["tags"], row["summary"], row.get("reward_threshold"))


def _register_forms(
    name: str, world: str | World, tags: Sequence[str], summary: str, reward_threshold: float | None
) -> None:
    _register_form(Entry(f"{NAMESPACE}/{name}", world, tuple(tags), summary, reward_threshold))
    if "multi-objective" in tags:
        _register_form(Entry(f"{NAMESPACE}/mo-{name}", world, tuple(tags), summary))


def _register_form(row: Entry) -> None:
    catalogue[row.id] = row
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # importing twice, or registering one's own world again, is fine
        gymnasium.register(
            row.id,
            entry_point="rlenvs.core.forms.gym_env:Env",
            vector_entry_point="rlenvs.core.forms.vector_env:VectorEnv",
            reward_threshold=row.reward_threshold,
            kwargs=form_of(row),
            # these wrappers take time at every step; the environments refuse a step before reset themselves, and
            # `rlenvs.check_env` looks at more than the checker does
            disable_env_checker=True,
            order_enforce=False,
        )
    gymnasium.registry[row.id] = LimitSpec.of(gymnasium.registry[row.id])
    if "multi-agent" in row.tags and "pettingzoo" in sys.modules:
        _register_with_pettingzoo(row)


def entry(id: str) -> Entry:
    """The entry of an id, with or without the namespace; UnknownNameError names the nearest ids."""
    if not isinstance(id, str):
        raise UnknownNameError(f"an id is a string such as 'rlenvs/QuadHover-v0', not {id!r}")
    full = id.removeprefix("rlenvs:")
    full = full if "/" in full else f"{NAMESPACE}/{full}"
    if full not in catalogue:
        raise UnknownNameError(f"there is no environment {shortened(id)}. {nearest_ids(id)}")
    return catalogue[full]


def nearest_ids(name: str) -> str:
    """A sentence that suggests the ids closest to a name, or `rlenvs list` if none is close."""
    wanted = _stem(name[:MUCH])
    ids = [id for id in catalogue if id.startswith(f"{NAMESPACE}/mo-") == name.rpartition("/")[2].startswith("mo-")]
    likeness = {id: SequenceMatcher(None, wanted, _stem(id)).ratio() for id in ids}
    if len(wanted) >= LIKE_LETTERS:
        likeness |= {id: max(likeness[id], LIKE) for id in ids if wanted in _stem(id)}
    best = max(likeness.values(), default=0.0)
    near = sorted((id for id in ids if likeness[id] >= max(LIKE, best - 0.1)), key=lambda id: (-likeness[id], id))[:3]
    if near:
        return f"Did you mean {' or '.join(map(repr, near))}?"
    return f"No id is similar. Run `rlenvs list` to see all {len(ids)} environments."


def _stem(id: str) -> str:
    """A name without namespace, form, version and capitals."""
    name = id.lower().rpartition("/")[2].removeprefix("mo-")
    return re.sub(r"[^a-z0-9]", "", re.sub(r"-v\d+$", "", name))


def world_of(id: str) -> World:
    """The declaration behind an id."""
    from rlenvs.core.declare.spec import load_world

    return load_world(entry(id).address)


def list_envs(tag: str | None = None) -> list[str]:
    """List all environment ids, or those with a tag ("single", "multi-agent", "robotics", "constrained",
    "multi-objective")."""
    if tag is not None and tag in OLD_TAGS:
        warn_renamed(f"the tag {tag!r}", repr(OLD_TAGS[tag]), 2)
        tag = OLD_TAGS[tag]
    if tag is not None and tag not in TAGS:
        raise UnknownNameError(f"there is no tag {tag!r}. {nearest(tag, TAGS)}")
    return sorted(id for id, row in catalogue.items() if tag is None or tag in row.tags)


# --- PettingZoo -------------------------------------------------------------------------------------------------------


def form_of(row: Entry) -> dict[str, Any]:
    """What every form of an id is made with: the world, and under an id with "mo-" that rewards are vectors."""
    vectors = {"vector_reward": True} if row.id.startswith(f"{NAMESPACE}/mo-") else {}
    return {"world": row.address, **vectors}


def _register_with_pettingzoo(row: Entry) -> None:
    import pettingzoo

    if not hasattr(pettingzoo, "register"):  # before 1.27 there was no registry
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for form, home in {"parallel": "parallel_env", "aec": "turn_env"}.items():
            pettingzoo.register(form, row.id, f"rlenvs.core.forms.{home}:{form}_env", kwargs=form_of(row))


def _register_all_with_pettingzoo() -> None:
    for row in catalogue.values():
        if "multi-agent" in row.tags:
            _register_with_pettingzoo(row)


class _AfterPettingZoo(importlib.abc.MetaPathFinder):
    """Registers the worlds when PettingZoo is imported; importing it here would cost a tenth of a second for all.

    Who only asks whether PettingZoo is there, as TorchRL does, finds it, and the worlds wait for the import.
    """

    asking = False

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name != "pettingzoo" or self.asking:
            return None
        self.asking = True  # the other finders
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self.asking = False
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def execute_and_register(module: ModuleType) -> None:
                execute(module)
                if self in sys.meta_path:
                    sys.meta_path.remove(self)
                _register_all_with_pettingzoo()

            spec.loader.exec_module = execute_and_register  # type: ignore[method-assign]
        return spec


def watch_pettingzoo() -> None:
    """Register multi-agent worlds with PettingZoo, now or as soon as it is imported."""
    if "pettingzoo" in sys.modules:
        _register_all_with_pettingzoo()
    elif not any(isinstance(finder, _AfterPettingZoo) for finder in sys.meta_path):
        sys.meta_path.insert(0, _AfterPettingZoo())
