"""The contract of a world and everything that the core makes of it.

World files import from here: `world` and its parts, `kernel`, the random functions and the field types. The names are
loaded at first use, since `import rlenvs` passes through here and needs none of them.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rlenvs.core.kernels import kernel
    from rlenvs.core.layout import b1, f4, f8, i1, i2, i4, i8, u1, u8
    from rlenvs.core.rng import below, normal, uniform
    from rlenvs.core.spec import (
        Score,
        World,
        block,
        choice,
        constraint,
        continuous,
        cost,
        discrete,
        flag,
        free,
        image,
        integer,
        param,
        role,
        term,
        world,
    )

_HOMES = {
    "kernels": ("kernel",),
    "layout": ("b1", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u8"),
    "rng": ("below", "normal", "uniform"),
    "spec": (
        *("Score", "World", "block", "choice", "constraint", "continuous", "cost", "discrete", "flag", "free", "image"),
        *("integer", "param", "role", "term", "world"),
    ),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = list(_HOME_OF)


def __getattr__(name: str) -> object:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'rlenvs.core' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(f"rlenvs.core.{_HOME_OF[name]}"), name)
