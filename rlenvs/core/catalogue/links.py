"""Environments from links to pages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rlenvs.core.batch.links import read_link, snapshot_of, usual_setup
from rlenvs.core.catalogue.make import make as make_single
from rlenvs.core.catalogue.registry import world_of
from rlenvs.core.declare.errors import SnapshotError, UnknownNameError


def from_link(text: str, make: Callable[..., Any] = make_single, **keywords: Any) -> Any:
    """The environment in exactly the state that a page shows, with its level and parameters.

    A link is data: it runs nothing, and what it holds is checked as a snapshot is.

    Args:
        text: the link that a page, or `env.unwrapped.link()`, gave.
        make: makes the environment: `rlenvs.make`, or `rlenvs.parallel_env`.
        keywords: of `make`, such as render_mode; no options.

    Raises:
        SnapshotError: no link, a damaged one, one of another version, or one to an environment that is not there.
    """
    link = read_link(text)
    try:
        world = world_of(link.id)
        snapshot = snapshot_of(link, usual_setup(world, link.level))
    except UnknownNameError as error:
        raise SnapshotError(f"the link is to an environment that is not there: {error}") from None
    env = make(link.id, level=link.level, **keywords)
    if link.seed is not None:
        env.reset(seed=link.seed)
    env.unwrapped.set_state(snapshot)
    return env
