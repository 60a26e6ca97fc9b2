"""The rule on loops: kernels come to an end, whatever is drawn and whatever the options are."""

from __future__ import annotations

import contextlib
import math
import signal
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from types import FrameType
from typing import Any

import numpy as np

from rlenvs.core.check.playing import Chooser
from rlenvs.core.check.settings import odd_sizes
from rlenvs.core.check.subject import Subject
from rlenvs.core.check.verdicts import Failed
from rlenvs.core.compiler import driver
from rlenvs.core.declare.options import Choice, Flag, Integer
from rlenvs.core.declare.setup import Setup

SUSPICIOUS = 1.0  # s of computing after which lines are counted
MOST_LINES = 20_000_000  # of a reset or a step from then on: what ends at all has far fewer
BUDGET = 0.05  # s of computing after the usual options, from which on no more is tried but in the long mode
SEEDS = 3
MOST_AGENTS, MOST_BYTES = 8, 20_000  # of a world that plain Python resets soon


def kernels_end(t: Subject) -> str:
    """27. A reset and a step come to an end: in plain Python, under the usual options, at the levels, at the ends of
    sizes and under options drawn at random, no call runs more than twenty million lines.

    Compiled code that never ends cannot be stopped. To mend: bound every `while`, and every draw that is repeated until
    it fits, by a number of trials, with a way to go on behind it; refuse options under which nothing fits.
    """
    end = math.inf
    tried: list[tuple[str, Any]] = []
    resets = 0
    for text, batch in _batches(t):
        _play(batch, 0, text)
        tried.append((text, batch))
        if len(tried) == 1 and not t.long:  # what is loaded at first use does not count
            end = time.process_time() + BUDGET
        if time.process_time() >= end:
            break
    for seed in range(1, SEEDS):
        for text, batch in tried:
            if time.process_time() < end:
                _play(batch, seed, text)
                resets += 1
    return f"{len(tried) + resets} resets and steps, under {len(tried)} settings"


def _batches(t: Subject) -> Iterator[tuple[str, Any]]:
    """A world in plain Python under each of some settings, with the setting in words."""
    for setting in _settings(t):
        try:
            batch = replace(t.plain.having(**setting), backend="python").batch(1)
        except Exception:  # of all that is drawn some is refused; what else it is, other rules tell
            continue
        yield ", ".join(f"{name}={value!r}" for name, value in setting.items()), batch


def _play(batch: Any, seed: int, setting: str) -> None:
    """One reset and one step; Failed where one of them does not end. What else they raise is told by other rules."""
    with contextlib.suppress(Exception), lines_counted(f"with {setting or 'the defaults'} and seed {seed}") as counter:
        batch.seed([seed])
        batch.reset()
        Chooser(batch, "random", seed).load(0)
        counter[0] = 0
        batch.step_inplace()
    if counter[0] > MOST_LINES:
        raise Failed(counter[1])


def _settings(t: Subject) -> Iterator[dict[str, Any]]:
    """The usual options, levels, ends of sizes, and options drawn at random that make a small world."""
    yield {}
    yield from ({"level": level} for level in t.world.levels)
    yield from odd_sizes(replace(t, backend="python"))
    chooser = np.random.default_rng(0)
    for _ in range(200 if t.long else 6):
        setting = {name: _value(option, chooser) for name, option in t.world.options.items() if chooser.random() < 0.5}
        setting = {name: value for name, value in setting.items() if value is not None}
        with contextlib.suppress(Exception):  # refused
            setup = Setup(t.world, **{**t.choices, **setting})
            if setting and setup.agents <= MOST_AGENTS and setup.dtypes["state"].itemsize <= MOST_BYTES:
                yield setting


def _value(option: Any, chooser: np.random.Generator) -> Any:
    """A value of an option, often an end of its range; None where nothing is known of it."""
    if isinstance(option, Flag):
        return bool(chooser.integers(2))
    if isinstance(option, Choice):
        return option.values[chooser.integers(len(option.values))]
    if isinstance(option, Integer):
        ends = (option.low, option.low + 1, option.default, option.high)
        return int(min(option.high, ends[chooser.integers(len(ends))]))
    return None


@contextlib.contextmanager
def lines_counted(what: str) -> Iterator[list[Any]]:
    """Stops plain Python that runs more than MOST_LINES lines. They are counted, which takes its time, when the block
    has computed for a while already.

    Args:
        what: is run, for the complaint.

    Returns:
        The count, which may be set back, and the complaint.
    """
    found: list[Any] = [0, ""]

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        found[0] += event == "line"
        if found[0] > MOST_LINES:
            found[1] = f"{what} a call does not end: more than {MOST_LINES} lines, the last of them in {_place(frame)}"
            raise _EndlessError
        return trace

    def begin(number: int, frame: FrameType | None) -> None:
        sys.settrace(trace)
        while frame:
            frame.f_trace = trace
            frame = frame.f_back

    before = sys.gettrace()
    timed = hasattr(signal, "ITIMER_VIRTUAL") and threading.current_thread() is threading.main_thread()
    handler = signal.signal(signal.SIGVTALRM, begin) if timed else None
    try:
        if timed:
            signal.setitimer(signal.ITIMER_VIRTUAL, SUSPICIOUS)
        else:
            sys.settrace(trace)
        yield found
    finally:
        if timed:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
            signal.signal(signal.SIGVTALRM, handler)
        sys.settrace(before)


def _place(frame: FrameType) -> str:
    """The kernel that the driver called, and its line."""
    while frame.f_back and frame.f_back.f_code.co_filename != driver.__file__:
        frame = frame.f_back
    return f"{frame.f_code.co_name}, line {frame.f_lineno} of {frame.f_code.co_filename}"


class _EndlessError(Exception):
    """Too many lines."""
