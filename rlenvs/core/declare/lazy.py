"""The public names of a package whose modules are heavy: loaded at first use, and completed by the tab key."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable, Mapping

from rlenvs.core.declare.renamed import new_name


def lazy_names(
    package: str, homes: Mapping[str, str]
) -> tuple[list[str], Callable[[str], object], Callable[[], list[str]]]:
    """The `__all__`, `__getattr__` and `__dir__` of a package.

    Args:
        package: its name.
        homes: its modules, and the names that each of them holds, with spaces between them.
    """
    home_of = {name: f"{package}.{home}" for home, names in homes.items() for name in names.split()}

    def get(name: str) -> object:
        if name not in home_of:
            name = new_name(package, name)
        if name not in home_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = importlib.import_module(home_of[name])
        return getattr(home, name) if hasattr(home, name) else importlib.import_module(f"{home_of[name]}.{name}")

    def names() -> list[str]:
        present = vars(sys.modules[package]).items()
        return sorted({*home_of, *(name for name, value in present if name[:2] == "__" or inspect.ismodule(value))})

    return sorted(home_of), get, names
