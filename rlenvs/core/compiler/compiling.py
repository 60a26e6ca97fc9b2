"""What goes for all that is compiled: nothing breaks into it."""

from __future__ import annotations

import contextlib
import functools
import signal
import threading
from collections.abc import Iterable, Iterator
from typing import Any


@contextlib.contextmanager
def signals_held() -> Iterator[None]:
    """Signals whose handler is Python's (Ctrl-C, an alarm) are answered when the block is over: what they raise in the
    midst of the compiler would leave half of a function behind, on which LLVM may crash."""
    if threading.current_thread() is not threading.main_thread():
        yield  # handlers run in the main thread alone
        return
    held: dict[int, None] = {}
    with contextlib.ExitStack() as after:
        after.callback(_raise_all, held)
        for number in signal.valid_signals():
            handler = signal.getsignal(number)
            if callable(handler):
                after.callback(signal.signal, number, handler)
                signal.signal(number, lambda number, frame: held.setdefault(number))
        yield


def _raise_all(held: Iterable[int]) -> None:
    for number in held:
        signal.raise_signal(number)


def undisturbed(dispatcher: Any) -> Any:
    """A function of numba's that is compiled with `signals_held`."""
    compile_now = dispatcher.compile

    @functools.wraps(compile_now)
    def compile_undisturbed(signature: Any) -> Any:
        with signals_held():
            return compile_now(signature)

    dispatcher.compile = compile_undisturbed
    return dispatcher
