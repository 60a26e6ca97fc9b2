"""Libraries of compiled code that were made ahead of their use: found by their key, checked, opened.

A folder of libraries holds `manifest.json`, which says of each key and target where the library lies, its SHA-256 and
its functions. Such folders are the package `rlenvs_kernels`, where it is installed, and `kernels` in the folders for
compiled code. What does not fit is passed over, with a line on standard error.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import json
import os
import platform
import sys
from collections.abc import Collection, Iterator, Mapping
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from rlenvs.core.compiler.cache import cache_folders, fault_of
from rlenvs.core.compiler.digest import SETTINGS
from rlenvs.core.compiler.installed import tell_once
from rlenvs.core.declare.errors import clipped
from rlenvs.core.declare.inputs import one_of
from rlenvs.core.declare.user_files import read_whole, reason

FORMAT = 1
PACKAGE, MANIFEST, FOLDER = "rlenvs_kernels", "manifest.json", "kernels"
LARGEST = 1 << 26  # bytes of a file
MEMORY = "use_memory"  # a function of libraries whose code makes arrays: takes the addresses of `malloc` and `free`
NONE = "none"  # of RLENVS_TARGET: no libraries
V3 = frozenset({"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe"})  # as /proc/cpuinfo has them
V4 = V3 | {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}


class Found(NamedTuple):
    """A library that a manifest names.

    Attributes:
        target: the processor and system for which it was made.
        path: of the file.
        sha256: of its content.
        functions: that it has.
    """

    target: str
    path: Path
    sha256: str
    functions: frozenset[str]


def library(key: str, functions: Mapping[str, int], what: str, spare: Collection[str] = ()) -> dict[str, Any] | None:
    """The functions of the best library with a key for this processor; None where there is none that fits.

    Args:
        key: see `rlenvs.core.compiler.keys.library_key`.
        functions: those that are wanted, and how many whole numbers each takes.
        what: it is, for messages.
        spare: those of the functions that a library need not have.

    Returns:
        by name, functions that take whole numbers and return one, with the attribute `address`.
    """
    for found in candidates(key):
        try:
            return _opened(found, functions, spare)
        except (OSError, ValueError, AttributeError) as error:
            told = reason(error) if isinstance(error, OSError) else str(error)
            tell_once(f"the library of {what} in {found.path} is passed over: {clipped(told)}")
    return None


def candidates(key: str) -> list[Found]:
    """The libraries with a key that this processor can run, the best first.

    Raises:
        CacheError: as `cache_folders`. ParameterError: RLENVS_TARGET names no target of this machine.
    """
    wanted = one_of("RLENVS_TARGET", os.environ.get("RLENVS_TARGET") or "", ("", NONE, *targets()))
    if wanted == NONE or _compiles_otherwise():
        return []
    entries = [(folder, entry) for folder in folders() if (entry := _manifest(folder).get(key))]
    chosen = [wanted] if wanted else targets()
    return [found for target in chosen for folder, entry in entries for found in _entries(folder, entry, target)]


def folders() -> list[Path]:
    """The folders of libraries."""
    package = package_folder()
    kept = [folder / FOLDER for folder in cache_folders()]
    return [*([package] if package else []), *(folder for folder in kept if _is_safe(folder))]


@functools.cache
def targets() -> tuple[str, ...]:
    """The targets whose libraries this machine can run, the best first."""
    machine = platform.machine().lower()
    if sys.maxsize < 1 << 32:
        return ()
    if sys.platform == "linux" and machine == "x86_64":
        flags = _flags()
        levels = ("x86-64-v4" * (flags >= V4), "x86-64-v3" * (flags >= V3), "x86-64")
        return tuple(filter(None, levels))
    names = {("linux", "aarch64"): "aarch64-linux", ("darwin", "arm64"): "macos-arm64"}
    names["win32", "amd64"] = "windows-x86-64"
    name = names.get((sys.platform, machine))
    return (name,) if name else ()


def _flags() -> frozenset[str]:
    """What the processor can do, by the system's names."""
    try:
        with open("/proc/cpuinfo") as file:
            for line in file:
                if line.startswith("flags"):
                    return frozenset(line.partition(":")[2].split())
    except OSError:
        pass
    return frozenset()


def _compiles_otherwise() -> bool:
    """Whether numba has been set to compile other code than it does by default, such as with checks of bounds."""
    numba = sys.modules.get("numba")
    asked = any(os.environ.get(f"NUMBA_{name}") for name in SETTINGS)
    return asked or bool(getattr(getattr(numba, "config", None), "BOUNDSCHECK", None))


# --- folders ----------------------------------------------------------------------------------------------------------


@functools.cache
def package_folder() -> Path | None:
    """Where the package of libraries is installed; what only lies in the working directory is none."""
    here = os.path.realpath(os.curdir)
    paths = [path for path in sys.path if path and os.path.realpath(path) != here]
    spec = PathFinder.find_spec(PACKAGE, paths)
    return Path(spec.origin).parent if spec and spec.origin else None


def _is_safe(folder: Path) -> bool:
    """Whether there is such a folder, and nobody else can have put code into it."""
    try:
        fault = fault_of(folder.stat())
    except OSError:
        return False
    if fault:
        tell_once(f"libraries in {folder} are passed over: the folder {fault}")
    return not fault


@functools.cache
def _manifest(folder: Path) -> Mapping[str, Any]:
    """What the manifest of a folder says by key; nothing where it has none, or one of another format."""
    path = folder / MANIFEST
    try:
        content = json.loads(read_whole(path, LARGEST))
        if not isinstance(content, dict) or content.get("format") != FORMAT:
            raise ValueError(f"it is no manifest of format {FORMAT}")
        libraries = content.get("libraries")
        if not isinstance(libraries, dict):
            raise ValueError("it names no libraries")
        return libraries
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        told = reason(error) if isinstance(error, OSError) else str(error)
        tell_once(f"libraries in {folder} are passed over: {path.name}: {clipped(told)}")
        return {}


def _entries(folder: Path, entry: Any, target: str) -> Iterator[Found]:
    """What the manifest says of a key's library for a target."""
    said = entry.get(target) if isinstance(entry, dict) else None
    if not isinstance(said, dict):
        return
    file, checksum, functions = (said.get(name) for name in ("file", "sha256", "functions"))
    if not (isinstance(file, str) and isinstance(checksum, str) and isinstance(functions, list)):
        tell_once(f"libraries in {folder} are passed over where {MANIFEST} does not say what they are")
        return
    inside = PurePosixPath(file)
    if inside.is_absolute() or ".." in inside.parts or "\\" in file:
        tell_once(f"libraries in {folder} are passed over where {MANIFEST} names files elsewhere")
        return
    yield Found(target, folder / inside, checksum, frozenset(map(str, functions)))


# --- libraries --------------------------------------------------------------------------------------------------------


def _opened(found: Found, functions: Mapping[str, int], spare: Collection[str]) -> dict[str, Any]:
    """The functions of a library, once its content is what the manifest says."""
    missing = functions.keys() - found.functions
    if missing - set(spare):
        raise ValueError(f"it has no function {min(missing)}")
    if hashlib.sha256(read_whole(found.path, LARGEST)).hexdigest() != found.sha256:
        raise ValueError("it is damaged, or not the file that was put there")
    opened = ctypes.CDLL(str(found.path))
    if MEMORY in found.functions:
        getattr(opened, MEMORY)(*map(ctypes.c_int64, _memory()))
    return {name: _function(getattr(opened, name), count) for name, count in functions.items() if name not in missing}


@functools.cache
def _memory() -> tuple[int, ...]:
    """The addresses of the system's functions for memory."""
    system = ctypes.cdll.msvcrt if sys.platform == "win32" else ctypes.CDLL(None)
    return tuple(ctypes.cast(function, ctypes.c_void_p).value or 0 for function in (system.malloc, system.free))


def _function(found: Any, count: int) -> Any:
    """A function of a library for Python."""
    address = ctypes.cast(found, ctypes.c_void_p).value
    kind = _entry_type()
    if kind is not None:
        return kind(address, count)
    found.argtypes, found.restype, found.address = [ctypes.c_int64] * count, ctypes.c_int64, address
    return found


def _entry_type() -> Any:
    """What calls functions faster than `ctypes`; None where it is not there."""
    return getattr(_calls(), "Entry", None)


def caller_type() -> Any:
    """What calls loops outside of worlds with their arguments; None where it is not there."""
    return getattr(_calls(), "Caller", None)


@functools.cache
def _calls() -> Any:
    """The extension of the package of libraries; None where it is not there, or does not work."""
    folder = package_folder()
    spec = PathFinder.find_spec(f"{PACKAGE}._call", [str(folder)]) if folder else None
    if spec is None or spec.loader is None:
        return None
    try:
        module = sys.modules.get(spec.name)
        if module is None:
            module = module_from_spec(spec)
            spec.loader.exec_module(module)
            sys.modules[spec.name] = module
        return module
    except ImportError:
        return None
