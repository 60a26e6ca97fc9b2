"""Snapshots of an environment with its wrappers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rlenvs.core.declare.errors import SnapshotError
from rlenvs.wrappers.wrapper import Wrapper


class WrappedState(tuple):
    """A snapshot of an environment and of its wrappers: a part for the environment, then one per wrapper with what it
    keeps of all agents. Picklable. It fits every form in which a world has as many slots: one in the single and vector
    forms, in the parallel form one per agent."""

    __slots__ = ()


def check_state(state: Any, wrappers: Sequence[Wrapper], name: str) -> WrappedState:
    """SnapshotError unless a snapshot has a part for the environment, and one for each of these wrappers."""
    if not isinstance(state, WrappedState) or len(state) != len(wrappers) + 1:
        raise SnapshotError(f"{name}: this is not a snapshot of an environment with {len(wrappers)} wrappers")
    bottom = wrappers[0].below
    bottom.check_part(state[0])
    for wrapper, kept in zip(wrappers, state[1:], strict=True):
        if not wrapper.accepts_state(kept):
            own, here = wrapper.slots_kept(kept), bottom.agents
            if own not in (None, here):
                raise SnapshotError(
                    f"{name}: this is a snapshot of the {state[0][2]} form with {own} agents in wrappers; the "
                    f"{bottom.form} form here has {here}. Restore it in a {state[0][2]} environment, or wrap that "
                    f"form here"
                )
            raise SnapshotError(
                f"{name}: the part of {type(wrapper).__name__} in this snapshot is damaged, or belongs to another "
                f"environment"
            )
    return state
