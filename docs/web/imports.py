"""Which files of the package a file of it imports."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def followed(starts: Iterable[Path]) -> set[Path]:
    """Files, and all that they import, directly or through others."""
    found: set[Path] = set()
    todo = list(starts)
    while todo:
        path = todo.pop()
        if path not in found:
            found.add(path)
            todo += imported(path)
    return found


@functools.cache
def imported(path: Path) -> frozenset[Path]:
    """The files of the package that a file imports itself, inside functions too, but not for type checkers alone."""
    modules = _modules(ast.parse(path.read_bytes()))
    return frozenset(file for module in modules for file in files_of(module))


def files_of(module: str) -> list[Path]:
    """The files that run for a name that is imported: those of its module and of the packages around it; none of
    other packages."""
    places = [ROOT.joinpath(*module.split(".")[:count]) for count in range(1, module.count(".") + 2)]
    choices = [path for place in places for path in (place / "__init__.py", place.with_suffix(".py"))]
    return [path for path in choices if places[0].name == "rlenvs" and path.is_file()]


def _modules(tree: ast.Module) -> Iterator[str]:
    """What may be a module among what is imported."""
    todo: list[ast.AST] = [tree]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            continue
        todo += ast.iter_child_nodes(node)
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
