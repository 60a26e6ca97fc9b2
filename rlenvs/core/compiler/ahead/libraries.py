"""The library of a kind for each target, under a name that follows from all that its code follows from."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import NamedTuple

from rlenvs.core.compiler import keys
from rlenvs.core.compiler.ahead.code import intermediate_code
from rlenvs.core.compiler.ahead.targets import TARGETS, check_linker, link, make_runtime, object_code
from rlenvs.core.compiler.build import CompiledDriver
from rlenvs.core.compiler.digest import ONCE
from rlenvs.core.compiler.entry_points import entry_names
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
        size: bytes.
        seconds: to optimise, compile and link it; 0 where it was there.
    """

    target: str
    path: Path
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
        KernelError: a kernel cannot be compiled. MissingExtraError: ziglang is not installed.
    """
    names = entry_names(setup.world, engine, bool(setup.image_shapes))
    key, code = library_key(driver, names), b""
    for name in targets:
        target, start = TARGETS[name], time.monotonic()
        path = folder / name / f"{key}{target.suffix}"
        if path.exists():
            yield Library(name, path, path.stat().st_size, 0.0)
            continue
        code = code or intermediate_code(driver, names)
        link(object_code(code, target), target, names, folder / RUNTIMES, path)
        yield Library(name, path, path.stat().st_size, time.monotonic() - start)
