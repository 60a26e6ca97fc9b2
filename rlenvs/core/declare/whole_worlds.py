"""Pickles of worlds that no module holds, such as those of a notebook."""

from __future__ import annotations

import secrets
from dataclasses import fields
from typing import TYPE_CHECKING

from rlenvs.core.declare.kernels import mark_again

if TYPE_CHECKING:
    from rlenvs.core.declare.spec import World

_whole: dict[str, World] = {}  # the worlds that were pickled whole, in this process or another, by token


def pickled_whole(spec: World) -> tuple[str, bytes]:
    """A world that no module holds, as a token that tells it from others, and its declaration with all functions."""
    import cloudpickle

    token = next((token for token, known in _whole.items() if known is spec), "") or secrets.token_hex(16)
    _whole[token] = spec
    return token, cloudpickle.dumps(({each.name: getattr(spec, each.name) for each in fields(spec)}, spec.given))


def unpickled(kind: type[World], token: str, parts: bytes) -> World:
    """The world of `pickled_whole`; the same object every time."""
    if token not in _whole:
        import cloudpickle

        declared, given = cloudpickle.loads(parts)
        _whole[token] = kind(**declared)
        _whole[token].given = given
        mark_again(_whole[token].kernels.values())
    return _whole[token]
