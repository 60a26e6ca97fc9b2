"""What a folder of libraries holds, as users' processes read it."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from rlenvs.core.compiler.ahead.libraries import Library
from rlenvs.core.compiler.ahead.targets import write_whole
from rlenvs.version import __version__

MANIFEST, FORMAT = "manifest.json", 1


def add_libraries(folder: Path, libraries: Iterable[Library]) -> None:
    """Write libraries into the manifest of their folder, beside what is there; what has no file any more goes.

    Args:
        folder: of all libraries.
        libraries: that lie in it, under their keys.
    """
    known = read_manifest(folder)["libraries"]
    for library in libraries:
        known.setdefault(library.path.stem, {})[library.target] = {
            "file": library.path.relative_to(folder).as_posix(),
            "sha256": hashlib.sha256(library.path.read_bytes()).hexdigest(),
            "functions": sorted(library.functions),
        }
    write_manifest(folder, known)


def add_loops(folder: Path, libraries: Iterable[Library], functions: Mapping[str, Collection[str]]) -> None:
    """Write libraries of loops into the manifest of their folder, under the key of each loop.

    Args:
        folder: of all libraries.
        libraries: that lie in it.
        functions: of each loop, by its key.
    """
    known = read_manifest(folder)["libraries"]
    for library in libraries:
        said = {
            "file": library.path.relative_to(folder).as_posix(),
            "sha256": hashlib.sha256(library.path.read_bytes()).hexdigest(),
        }
        for key, names in functions.items():
            known.setdefault(key, {})[library.target] = {**said, "functions": sorted(names)}
    write_manifest(folder, known)


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest of a folder; an empty one where there is none that can be read."""
    try:
        found = json.loads((folder / MANIFEST).read_text())
    except (OSError, ValueError):
        found = {}
    return found if found.get("format") == FORMAT else {"format": FORMAT, "libraries": {}}


def keep_only(folder: Path, keys: Collection[str]) -> None:
    """Remove all other keys, and the libraries that no key names any more.

    Args:
        folder: of all libraries.
        keys: that stay.
    """
    known = read_manifest(folder)["libraries"]
    kept = {key: entries for key, entries in known.items() if key in keys}
    named = {folder / entry["file"] for entries in kept.values() for entry in entries.values()}
    for target in {target for entries in known.values() for target in entries}:
        for path in set((folder / target).iterdir()) - named:
            path.unlink()
    write_manifest(folder, kept)


def write_manifest(folder: Path, libraries: dict[str, Any]) -> None:
    """Write the manifest of a folder as a whole.

    Args:
        folder: of all libraries.
        libraries: by key and target, as in the manifest; those without a file are left out.
    """
    kept = {
        key: {target: entry for target, entry in sorted(entries.items()) if (folder / entry["file"]).is_file()}
        for key, entries in sorted(libraries.items())
    }
    made_with = {"rlenvs": __version__, **{name: importlib.metadata.version(name) for name in ("numba", "llvmlite")}}
    content = {"format": FORMAT, "made_with": made_with, "libraries": {key: one for key, one in kept.items() if one}}
    write_whole(json.dumps(content, indent=1).encode(), folder / MANIFEST)
