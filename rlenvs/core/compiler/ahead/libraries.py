"""The library of a kind for each target, under a name that follows from all that its code follows from."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rlenvs.core.compiler import keys
from rlenvs.core.compiler.ahead.code import intermediate_code
from rlenvs.core.compiler.ahead.targets import TARGETS, BuildError, check_linker, link, make_runtime, object_code
from rlenvs.core.compiler.build import CompiledDriver
from rlenvs.core.compiler.digest import ONCE
from rlenvs.core.compiler.entry_points import LANES, entry_names
from rlenvs.core.declare.errors import KernelError
from rlenvs.core.declare.setup import Setup

RUNTIMES = "runtimes"  # the folder of what libraries take functions from


def prepare(targets: Collection[str], folder: Path) -> None:
    """Make what the libraries of several kinds share, before processes build these side by side.

    Args:
        targets: names of TARGETS.
        folder: of all libraries.

    Raises:
        MissingExtraError: ziglang is not installed.
    """
    check_linker()
    for name in targets:
        if TARGETS[name].linker != "macho":
            make_runtime(TARGETS[name], folder / RUNTIMES)


class Library(NamedTuple):
    """A library that was asked for.

    Attributes:
        target: a name of TARGETS.
        path: where it lies.
        functions: that it has.
        size: bytes.
        seconds: of a processor, to optimise and link it; 0 where it was there.
    """

    target: str
    path: Path
    functions: list[str]
    size: int
    seconds: float


def library_key(driver: CompiledDriver, names: Collection[str]) -> str:
    """The key of a driver's library, see `keys.library_key`.

    Args:
        driver: of a kind.
        names: of the library's functions.

    Raises:
        KernelError: the code can't be kept, as its kernels use what has no value to hash.
    """
    key = keys.library_key(driver.digest, names)
    if key.startswith(ONCE):
        raise KernelError(f"{driver.world.name} has kernels whose code cannot be kept: they use values without a hash")
    return key


def build_libraries(
    setup: Setup, driver: CompiledDriver, engine: bool, targets: Collection[str], folder: Path
) -> Iterator[Library]:
    """Make the libraries of a setup's kind that are missing.

    Args:
        setup: of a world of the kind.
        driver: its compiled driver.
        engine: whether an engine moves the bodies.
        targets: names of TARGETS.
        folder: of all libraries; there is one in it for each target.

    Raises:
        KernelError: a kernel cannot be compiled. MissingExtraError: ziglang is not installed. BuildError: a library
            cannot be linked.
    """
    names = entry_names(setup.world, engine, bool(setup.image_shapes))
    asked = names if any(TARGETS[name].lanes for name in targets) else without_lanes(names)
    key = library_key(driver, names)
    yield from make_libraries(key, asked, lambda: intermediate_code(driver, asked), targets, folder)


def make_libraries(
    key: str, names: Sequence[str], make_code: Callable[[], bytes], targets: Collection[str], folder: Path
) -> Iterator[Library]:
    """Make the libraries of a key that are missing, each in a copy of this process: what LLVM makes of code depends on
    what the process has made for other processors.

    Args:
        key: names the files.
        names: of the functions.
        make_code: gives their module's bitcode; called if a library is missing.
        targets: names of TARGETS.
        folder: of all libraries; there is one in it for each target.

    Raises:
        BuildError: a library cannot be linked.
    """
    code = b""
    for name in targets:
        target, seconds = TARGETS[name], 0.0
        path = folder / name / f"{key}{target.suffix}"
        shown = list(names) if target.lanes else without_lanes(names)
        if not path.exists():
            code = code or make_code()
            start = seconds_used()
            in_copy(_make, code, name, shown, folder, path)
            seconds = seconds_used() - start
        yield Library(name, path, shown, path.stat().st_size, seconds)


def without_lanes(names: Collection[str]) -> list[str]:
    """The functions that step one world after the other."""
    return [name for name in names if name not in LANES]


def seconds_used() -> float:
    """Of processors, by this process and those that it has waited for."""
    return sum(os.times()[:4])


def _make(code: bytes, name: str, shown: Sequence[str], folder: Path, path: Path) -> None:
    link(object_code(code, TARGETS[name], shown), TARGETS[name], shown, folder / RUNTIMES, path)


def in_copy(work: Callable[..., object], *arguments: Any) -> None:
    """Do some work in a copy of this process, and wait for it.

    Args:
        work: writes its results to files.
        arguments: of it.

    Raises:
        BuildError: it has failed.
    """
    fork = multiprocessing.get_context("fork")
    faults, sender = fork.Pipe(duplex=False)
    process = fork.Process(target=_report, args=(sender, work, arguments))
    process.start()
    sender.close()
    fault = "its process ended"
    with contextlib.suppress(EOFError):
        fault = faults.recv()
    process.join()
    if fault:
        raise BuildError(fault)


def _report(sender: Any, work: Callable[..., object], arguments: Sequence[Any]) -> None:
    """Do some work; send why it failed, or nothing."""
    try:
        work(*arguments)
    except Exception as error:
        sender.send(str(error) or repr(error))
    else:
        sender.send("")
