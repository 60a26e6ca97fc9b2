"""The WebAssembly module of an environment's kernels: found in a folder of libraries, else built there."""

from __future__ import annotations

from pathlib import Path

from rlenvs.core.compiler.build import compiled_driver, key_of_library
from rlenvs.core.compiler.cache import cache_folders
from rlenvs.core.compiler.ready import FOLDER
from rlenvs.core.declare.errors import ParameterError
from rlenvs.core.declare.setup import Setup

TARGET, SUFFIX = "wasm32", ".wasm"


def known_module(setup: Setup, folder: Path | None = None) -> Path | None:
    """As `module_of`; None where the module would have to be built."""
    path = _path_of(setup, folder or _usual_folder())
    return path if path.exists() else None


def module_of(setup: Setup, folder: Path | None = None) -> Path:
    """The file of the module.

    Args:
        setup: of an environment that no engine moves.
        folder: of libraries, see `rlenvs.core.check.libraries`; the one in the cache folder by default.

    Raises:
        ParameterError: there is no folder that can be written to. MissingExtraError: the module has to be built, and
            numba or ziglang is not installed. KernelError, BuildError: it cannot be built.
    """
    folder = folder or _usual_folder()
    path = _path_of(setup, folder)
    if not path.exists():
        from rlenvs.core.compiler.ahead.libraries import build_libraries, prepare

        prepare([TARGET], folder)
        (path,) = (one.path for one in build_libraries(setup, compiled_driver(setup), False, [TARGET], folder))
    return path


def _path_of(setup: Setup, folder: Path) -> Path:
    return folder / TARGET / f"{key_of_library(setup)}{SUFFIX}"


def _usual_folder() -> Path:
    for folder in cache_folders()[:1]:
        return folder / FOLDER
    raise ParameterError("there is no folder to build WebAssembly modules in; set RLENVS_CACHE_DIR to one of your own")
