"""The keys under which compiled code is kept, and libraries are found. No names, no texts take part in them."""

from __future__ import annotations

import functools
from collections.abc import Collection, Mapping
from pathlib import Path
from types import FunctionType
from typing import Any

from rlenvs.core.compiler.digest import ONCE, Digest
from rlenvs.core.compiler.entry_points import LANES
from rlenvs.core.compiler.lanes.blocks import WIDTH
from rlenvs.core.compiler.plain import TEMPLATES
from rlenvs.core.declare.arrays import batch_layout, row_layouts
from rlenvs.core.declare.spec import World

ROOM = Path(__file__).parent
# the modules of this package that make machine code themselves
MAKERS = [ROOM / f"{name}.py" for name in ("intermediate", "records", "thread_loops")]
AHEAD = [ROOM / "ahead" / name for name in ("code.py", "targets.py", "support.c")]  # and what libraries are made by


def digest_of(world: World, kind: str, names: Mapping[str, Any]) -> Digest:
    """The hash of what decides the compiled code: kernels, the constants that they use, layouts.

    Args:
        world: the declaration.
        kind: of action, see `Setup.action_kind`.
        names: its kernels, see `kernel_names`.

    Raises:
        KernelError: a global that a kernel uses has changed since it was used first.
    """
    digest = Digest()
    digest.add(contents(*MAKERS, *TEMPLATES))
    layouts = row_layouts(world, kind)
    for name, layout in (*layouts.items(), ("", batch_layout(tuple(layouts)))):
        digest.add(f"{name} {layout.places}")
    for name, value in sorted(names.items()):
        digest.add(name)
        digest.add(value)
    return digest


def code_key(world: World, kind: str, names: Mapping[str, Any]) -> str:
    """The key of code that is compiled here; arguments and errors as those of `digest_of`."""
    return digest_of(world, kind, names).key(world.name)


def lane_key(key: str, own: bool) -> str:
    """The key of what is compiled for lanes.

    Args:
        key: that of the same driver, for one world after the other.
        own: whether every world has parameters of its own.
    """
    digest = Digest()
    digest.add(f"{key} {WIDTH} {own}")
    digest.add(contents(*sorted(ROOM.glob("lanes/*.py"))))
    return (ONCE if key.startswith(ONCE) else "") + digest.hexdigest()


def library_key(digest: Digest, functions: Collection[str]) -> str:
    """The key of a library: the same with all versions of Python, NumPy and numba.

    Args:
        digest: see `digest_of`.
        functions: of the library, see `entry_names`.
    """
    key = digest.hexdigest()
    together = Digest()
    together.add(key)
    for own in (LANES[name] for name in functions if name in LANES):
        together.add(lane_key(key, own))
    together.add(contents(*AHEAD))
    return (ONCE if key.startswith(ONCE) else "") + together.hexdigest()


def loop_key(function: FunctionType, options: Mapping[str, Any]) -> str:
    """The key under which libraries have a loop outside of worlds.

    Args:
        function: the loop.
        options: of numba's `njit`.
    """
    digest = Digest()
    digest.add(repr(sorted(options.items())))
    digest.add(function)
    made_by = (ROOM / "ahead" / "loops.py", ROOM / "ahead" / "memory.py", *AHEAD)
    digest.add(contents(ROOM / "arguments.py", ROOM / "loop_entries.py", *made_by))
    return digest.hexdigest()


def threads_key() -> str:
    """The key of the library of `thread_loops`."""
    digest = Digest()
    digest.add(contents(ROOM / "thread_loops.py", ROOM / "thread_table.py", ROOM / "chains.py", *AHEAD))
    return digest.hexdigest()


@functools.cache
def contents(*paths: Path) -> bytes:
    """What files hold, one after the other, whatever ends their lines."""
    return b"\0".join(path.read_bytes().replace(b"\r\n", b"\n") for path in paths)
