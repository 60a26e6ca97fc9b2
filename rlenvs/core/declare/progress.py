"""Words on standard error while something takes its time: a bar on a terminal, plain lines elsewhere.

Nothing is said about what is over within a second. `RLENVS_QUIET=1` silences all of it.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import SupportsFloat, TypeVar

from rlenvs.core.declare.errors import printable

QUIET = "RLENVS_QUIET"
PATIENCE = 1.0  # s before the first word
PAUSE = 4.5  # s from one plain line to the next: longer silence reads as a hang

Item = TypeVar("Item")
_shown: list[Task] = []  # what has taken a second and goes on; only the latest is shown


class Task:
    """Something that takes its time; call it to tell how far it is.

    Attributes:
        text: what is done. done, total: how much of how much; total is None where that is not known.
        detail: anything else worth saying.
        complete: whether it came to its end.
    """

    def __init__(self, text: str, total: float | None = None) -> None:
        self.text, self.total, self.done, self.detail = printable(text), total, 0.0, ""
        self.start, self.complete = time.monotonic(), False

    def __call__(self, done: SupportsFloat | None = None, detail: str | None = None) -> None:
        """Tell how much is done, and what else is worth saying."""
        if done is not None:
            self.done = float(done)
        if detail is not None:
            self.detail = printable(detail)

    @property
    def seconds(self) -> float:
        """Since it began."""
        return time.monotonic() - self.start

    def __str__(self) -> str:
        parts = [] if self.total is None else [f"{self.done:,.0f} of {self.total:,.0f}"]
        parts += [self.detail] * bool(self.detail)
        return f"{self.text}: {', '.join(parts)}" if parts else f"{self.text} ..."


def quiet() -> bool:
    """Whether nothing is to be said: RLENVS_QUIET is set, or there is no standard error."""
    return os.environ.get(QUIET, "") not in ("", "0") or sys.stderr is None


@contextmanager
def progress(text: str, total: float | None = None) -> Iterator[Task]:
    """Say on standard error what is going on for as long as the block runs, if that is longer than a second.

    Args:
        text: what is done, such as "playing 100 episodes".
        total: how much there is to do, where that is known.
    """
    task, over = Task(text, total), threading.Event()
    if quiet():
        yield task
        return
    speaker = threading.Thread(target=_speak, args=(task, over), daemon=True, name="rlenvs progress")
    speaker.start()
    try:
        yield task
        task.complete = True
    finally:
        over.set()
        speaker.join()


def counted(items: Iterable[Item], text: str, total: float | None = None) -> Iterator[Item]:
    """The items, with `progress` on how many were taken."""
    with progress(text, total) as tell:
        for index, item in enumerate(items):
            yield item
            tell(index + 1)


def _speak(task: Task, over: threading.Event) -> None:
    if over.wait(PATIENCE):
        return
    _shown.append(task)
    try:
        (_speak_on_terminal if sys.stderr.isatty() else _speak_in_lines)(task, over)
    except (OSError, ValueError):  # nobody listens any more
        return
    finally:
        _shown.remove(task)


def _innermost(task: Task) -> bool:
    return task is max(_shown, key=lambda other: other.start)


def _speak_in_lines(task: Task, over: threading.Event) -> None:
    said = False
    while True:
        if _innermost(task):
            print(f"{task} ({task.seconds:.0f} s)" if said else str(task), file=sys.stderr, flush=True)
            said = True
        if over.wait(PAUSE if said else 0.1):
            break
    if said and task.complete:
        print(f"{task.text}: done ({task.seconds:.0f} s)", file=sys.stderr, flush=True)


def _speak_on_terminal(task: Task, over: threading.Event) -> None:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn

    bar = () if task.total is None else (BarColumn(bar_width=12),)
    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), *bar, TextColumn("{task.fields[time]}"))
    while not over.is_set():
        if not _innermost(task):
            over.wait(0.1)
            continue
        display = Progress(
            *columns,
            console=Console(stderr=True),
            transient=True,
            refresh_per_second=8,
            redirect_stdout=sys.stdout is not None and sys.stdout.isatty(),  # what goes to a file stays there
        )
        with display:
            shown = display.add_task(str(task), total=task.total, time=_times(task))
            while _innermost(task) and not over.wait(0.12):
                display.update(shown, description=str(task), completed=task.done, time=_times(task))


def _times(task: Task) -> str:
    """The seconds so far, and those that remain where that can be told."""
    if not task.total or not 0 < task.done <= task.total:
        return f"{task.seconds:.0f} s"
    left = task.seconds * (task.total - task.done) / task.done
    return f"{task.seconds:.0f} s, " + (f"{left:.0f} s left" if left < 100 else f"{left / 60:.0f} min left")
