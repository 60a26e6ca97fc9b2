"""Where the code of a world comes from on this machine; nothing is compiled, no library is opened."""

from __future__ import annotations

from rlenvs.core.compiler.build import wanted_library
from rlenvs.core.compiler.cache import cache_folders
from rlenvs.core.compiler.digest import ONCE, Digest
from rlenvs.core.compiler.entry_points import LANES, RUN
from rlenvs.core.compiler.installed import numba_is_installed
from rlenvs.core.compiler.kernel_names import kernel_names
from rlenvs.core.compiler.keys import digest_of
from rlenvs.core.compiler.ready import candidates
from rlenvs.core.declare.action_form import action_form
from rlenvs.core.declare.chosen import Chosen, in_scaled_form, sizes_of
from rlenvs.core.declare.observation_form import observation_form
from rlenvs.core.declare.spec import World
from rlenvs.core.declare.values import engine_of, values_of

CACHE, COMPILED, NOWHERE = "cache", "compiled", ""


def origin_of(world: World) -> str:
    """Where the code of a world with its default options comes from: the target of a library, CACHE, COMPILED where
    numba compiles it at its first use, or NOWHERE.

    Raises:
        MissingExtraError: the world needs an engine that is not installed. CacheError: see `cache_folders`.
    """
    values, _ = values_of(world, {})
    chosen = Chosen(world, values, sizes_of(world, values), in_scaled_form(world, values))
    kind, images = action_form(chosen, False).kind, bool(observation_form(chosen, "float").images)
    engine = bool(engine_of(world, {}))
    digest = digest_of(world, kind, kernel_names(world, kind, engine))
    key, functions = wanted_library(world, digest, engine, images)
    for found in candidates(key):
        if found.path.is_file() and functions.keys() - found.functions <= LANES.keys():
            return found.target
    if not numba_is_installed():
        return NOWHERE
    return CACHE if _is_kept(digest, world) else COMPILED


def _is_kept(digest: Digest, world: World) -> bool:
    key = digest.key(world.name)
    return ONCE not in key and any(any(folder.glob(f"{key}.{RUN}-*.bin")) for folder in cache_folders())
