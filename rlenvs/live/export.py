"""Environments as files that a web page plays: kernels as WebAssembly, memory, networks, and a description.

FOLDER/static/                 the page's scripts, the same for all environments
FOLDER/kernels/KEY.wasm        kernels, shared by the environments of a kind
FOLDER/Name-v0/world.json      see `rlenvs.live.describe`; what differs at a level is under its name in `levels`
FOLDER/Name-v0/world.image     the memory of one world (gzip), LEVEL.image at a level
FOLDER/Name-v0/world.labels    names of choices (gzip), where they are many
FOLDER/Name-v0/draw.js         how it looks: `draw(canvas, p, s)`
FOLDER/Name-v0/places.js       where in its image choices lie: `places(canvas, p, s)`, where the world says it
FOLDER/Name-v0/fault.js        what may be wrong with a state in a link: `fault(p, s)`, where the world says it
FOLDER/Name-v0/PPO.safetensors a trained agent's weights
FOLDER/Name-v0/index.html      the page
"""

from __future__ import annotations

import contextlib
import gzip
import json
import shutil
from pathlib import Path
from typing import Any

from rlenvs.agents.film import PAINTER, STYLE
from rlenvs.core.batch.image import MemoryImage
from rlenvs.core.batch.kernel_batch import KernelBatch
from rlenvs.core.catalogue.registry import world_of
from rlenvs.core.declare.errors import MissingExtraError, ParameterError, UnknownNameError, shortened
from rlenvs.core.declare.spec import World, load_world
from rlenvs.core.declare.values import engine_of
from rlenvs.live.describe import description_of
from rlenvs.live.modules import module_of
from rlenvs.live.networks import networks_of
from rlenvs.live.page import write_page
from rlenvs.live.proof import proof_of
from rlenvs.live.translate import draw_module, fault_module, places_module

STATIC, KERNELS = "static", "kernels"
MOST_NAMES = 500  # of choices in world.json
SCRIPTS = Path(__file__).with_name(STATIC)


def write_environment(id: str, folder: Path, kernels: Path | None = None) -> Path:
    """Write the files of an environment, and its page; `write_static` writes what it shares with others. A level with
    kernels of its own is left out where these are not built, and cannot be.

    Args:
        id: of the environment, or the address "module:SPEC" of a world that has none.
        folder: of all environments.
        kernels: a folder of WebAssembly modules, see `rlenvs.live.modules.module_of`.

    Returns:
        the folder of the environment.

    Raises:
        UnknownNameError: there is no such environment.
        ParameterError: a physics engine moves its bodies. MissingExtraError, KernelError, BuildError: as `module_of`.
        TranslationError: its image cannot be drawn in a page.
    """
    world = world_at(id)
    if engine_of(world, {}):
        raise ParameterError(f"{world.name} cannot be played in a page: a physics engine moves its bodies")
    own = folder / world.name
    own.mkdir(parents=True, exist_ok=True)
    usual = _written(world, None, own, kernels)
    found: dict[str, dict[str, Any]] = {"": {}}
    for level in world.levels:
        with contextlib.suppress(MissingExtraError):
            found[level] = _differences(usual, _written(world, level, own, kernels))
    text = json.dumps({"format": 1, **usual, "levels": found}, allow_nan=False, separators=(",", ":"))
    (own / "world.json").write_text(text, encoding="utf-8")
    _write_functions(world, own)
    write_page(world, folder)
    return own


def world_at(id: str) -> World:
    """The world of an id, or at the address "module:SPEC". UnknownNameError where there is none."""
    if ":" not in id.removeprefix("rlenvs:"):
        return world_of(id)
    try:
        found = load_world(id)
    except (ImportError, AttributeError, KeyError, ValueError) as error:
        raise UnknownNameError(f"there is no world at {shortened(id)}: {error}") from None
    if not isinstance(found, World):
        raise UnknownNameError(f"{shortened(id)} is not a world, but a {type(found).__name__}")
    return found


def _write_functions(world: World, own: Path) -> None:
    """Write what is plain Python in the world, and JavaScript in a page."""
    modules = {"draw": draw_module, "state_fault": fault_module, "places": places_module}
    for role, module in modules.items():
        if role in world.functions:
            name = f"{role.removeprefix('state_')}.js"
            (own / name).write_text(module(world, f"../{STATIC}/"), encoding="utf-8")


def write_static(folder: Path) -> None:
    """Write what all environments share."""
    (folder / STATIC).mkdir(parents=True, exist_ok=True)
    for path in shared_files():
        shutil.copyfile(path, folder / STATIC / path.name)


def shared_files() -> list[Path]:
    """The files of `static`: scripts and styles of live pages, and the painter and the style that films have too."""
    return [*SCRIPTS.iterdir(), PAINTER, STYLE]


def _written(world: World, level: str | None, own: Path, kernels: Path | None) -> dict[str, Any]:
    """What world.json says of a level, whose files are written."""
    batch = KernelBatch(world, level=level, threads=1)
    image = MemoryImage(batch.loops.table, batch.loops.table.rows)
    module = module_of(batch.setup, kernels)
    stem = "world" if level is None else level
    name = f"{stem}.image"
    (own / name).write_bytes(gzip.compress(bytes(image.content), mtime=0))
    description = description_of(batch, image)
    _set_many_names_aside(description["action"], own / f"{stem}.labels")
    _copy(module, own.parent / KERNELS / module.name)
    return {
        **description,
        "module": f"../{KERNELS}/{module.name}",
        "image": name,
        "image_bytes": len(image.content),
        "networks": networks_of(batch.setup, own),
        "proof": proof_of(batch),
    }


def _set_many_names_aside(action: dict[str, Any], path: Path) -> None:
    """Put the names of choices into a file of their own, where they are many, and its name in their place."""
    if sum(map(len, action["labels"])) > MOST_NAMES:
        names = json.dumps(action["labels"], separators=(",", ":")).encode()
        path.write_bytes(gzip.compress(names, mtime=0))
        action["labels"] = path.name


def _copy(source: Path, target: Path) -> None:
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)


def _differences(usual: dict[str, Any], level: dict[str, Any]) -> dict[str, Any]:
    """The entries of a level that are not the usual ones."""
    return {name: value for name, value in level.items() if value != usual[name]}
