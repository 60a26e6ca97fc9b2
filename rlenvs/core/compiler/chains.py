"""Calls of compiled code, one after the other, in one."""

from __future__ import annotations

from rlenvs.core.compiler.cache import compiled
from rlenvs.core.compiler.thread_loops import _load, call_loop


@compiled("void(int64)", nogil=True)
def run_all(address: int) -> None:
    """Make calls: their number lies there, and behind it where the code and the arguments of each are."""
    for k in range(_load(address)):
        place = address + 8 + 16 * k
        call_loop(_load(place), _load(place + 8), 0, 0, 0)
